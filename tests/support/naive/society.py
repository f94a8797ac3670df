"""Sums over histograms for societies: classes of alike members, pairs, something common.

A member of class c has one of the types 0, 1, … of its class. A weight is a product over members,
over ordered pairs of different members, and over whatever else depends on the histograms. Nothing
of lifagu is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from support.naive.inference import TooManyStatesError

MOST = 200_000
Logs = np.ndarray
Pairs = Mapping[tuple[int, int], Logs]
Extra = Callable[[int, list[np.ndarray]], Logs]


def logs(values: Sequence[float] | np.ndarray) -> Logs:
    """Logs in extended precision, of zero as well."""
    with np.errstate(divide="ignore"):
        return np.log(np.array(values, dtype=np.longdouble))


def powers(count: np.ndarray, log: np.longdouble) -> Logs:
    """The log of a potential to some powers; to the power of zero it is one."""
    return np.where(count > 0, count * (log if np.isfinite(log) else 0), 0) + np.where(
        (count > 0) & (log == -np.inf), -np.inf, 0
    )


def added(terms: Logs, axis: int | tuple[int, ...] | None = None) -> Logs:
    """The log of a sum."""
    return np.logaddexp.reduce(terms, axis=axis)


def log_factorials(largest: int) -> Logs:
    """Logs of 0!, 1!, …"""
    return (
        np.concatenate(([0], np.cumsum(logs(range(1, largest + 1)))))
        if largest
        else np.zeros(1, np.longdouble)
    )


@dataclass(frozen=True)
class Society:
    """Sizes of classes; unary[c][e, t]; ordered pairs[c, d][e, t, u]; common[e]; extra(e, …)."""

    sizes: Sequence[int]
    unary: Sequence[Logs]
    pairs: Pairs = field(default_factory=dict)
    common: Logs = field(default_factory=lambda: np.zeros(1, np.longdouble))
    extra: Extra | None = None

    def histograms(self) -> list[np.ndarray]:
        """For each class an array [kind, type] of counts, over all combinations of histograms."""
        own = [
            histograms(size, table.shape[1])
            for size, table in zip(self.sizes, self.unary, strict=True)
        ]
        total = math.prod(map(len, own))
        if total > MOST:
            raise TooManyStatesError(total)
        rest, found = np.arange(total), []
        for each in own:
            rest, chosen = np.divmod(rest, len(each))
            found.append(each[chosen])
        return found

    def weights(self, best: bool = False) -> tuple[Logs, list[np.ndarray]]:
        """[e, kind]: logs of the weights of all states of a kind, or of one; and the histograms."""
        counts = self.histograms()
        found = np.zeros((len(self.common), len(counts[0]) if counts else 1), np.longdouble)
        for given in range(len(self.common)):
            found[given] = self.common[given]
            for own, table in zip(counts, self.unary, strict=True):
                for kind in range(table.shape[1]):
                    found[given] += powers(own[:, kind], table[given, kind])
            for (one, two), table in self.pairs.items():
                for a, b in itertools.product(*map(range, table.shape[1:])):
                    both = counts[one][:, a] * (counts[two][:, b] - (one == two and a == b))
                    found[given] += powers(both, table[given, a, b])
            if self.extra:
                found[given] += self.extra(given, counts)
        if not best:
            for own, size in zip(counts, self.sizes, strict=True):
                factorials = log_factorials(size)
                found += factorials[size] - factorials[own].sum(axis=1)
        return found, counts

    def total(self) -> Logs:
        """[e]: the log of the total weight."""
        return added(self.weights()[0], axis=1)

    def best(self) -> Logs:
        """[e]: the log of the largest weight."""
        return self.weights(best=True)[0].max(axis=1)

    def members(self, *classes: int) -> Logs:
        """[e, t, …]: the log of the total weight where members of these classes have types t, …."""
        found, counts = self.weights()
        shape = [self.unary[each].shape[1] for each in classes]
        table = np.zeros((len(self.common), *shape), np.longdouble)
        for types in itertools.product(*map(range, shape)):
            share = np.ones(found.shape[1], np.longdouble)
            for place, (each, kind) in enumerate(zip(classes, types, strict=True)):
                again = classes[:place].count(each)
                taken = sum(
                    1 for other in range(place) if classes[other] == each and types[other] == kind
                )
                share *= np.maximum(counts[each][:, kind] - taken, 0) / np.longdouble(
                    self.sizes[each] - again
                )
            table[(slice(None), *types)] = added(found + logs(share), axis=1)
        return table


def histograms(members: int, types: int) -> np.ndarray:
    """All histograms, in lexicographic order of the counts."""
    if math.comb(members + types - 1, members) > MOST:
        raise TooManyStatesError("histograms")
    if types == 1:
        return np.array([[members]])
    bars = np.array(
        list(itertools.combinations(range(members + types - 1), types - 1)), dtype=np.int64
    )
    ends = np.full((len(bars), 1), members + types - 1)
    return np.diff(np.hstack((-np.ones_like(ends), bars, ends)), axis=1) - 1
