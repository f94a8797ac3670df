"""Evidence: what was observed. It belongs to the question, never to the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from lifagu.arrays import Floats, Ints, frozen
from lifagu.errors import ModelError, listed
from lifagu.names import Names
from lifagu.ranges import Labels, value_of
from lifagu.tables import potential_fault

Observation = str | Mapping[str, float]


def _none() -> Ints:
    return frozen(np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Observed values (variables ascending, values canonical) and soft evidence (likelihoods per value)."""

    variables: Ints = field(default_factory=_none)
    values: Ints = field(default_factory=_none)
    soft_variables: Ints = field(default_factory=_none)
    likelihoods: tuple[Floats, ...] = ()

    def __bool__(self) -> bool:
        return bool(len(self.variables) or len(self.soft_variables))

    def value_of_each(self, count: int) -> Ints:
        """For each of `count` variables its observed canonical value, -1 where nothing was observed."""
        values = np.full(count, -1, dtype=np.int64)
        values[self.variables] = self.values
        return values

    def renumbered(self, number: Ints) -> Evidence:
        """The evidence of another graph: variable v is number[v] there, -1 if it is not in it; the order is kept."""
        hard, soft = number[self.variables] >= 0, number[self.soft_variables] >= 0
        return Evidence(
            frozen(number[self.variables][hard]),
            frozen(self.values[hard]),
            frozen(number[self.soft_variables][soft]),
            tuple(each for each, kept in zip(self.likelihoods, soft.tolist(), strict=True) if kept),
        )

    def overridden(self, later: Evidence) -> Evidence:
        """This evidence where the later one says nothing, and the later one.

        >>> first = Evidence(np.array([1, 2]), np.array([0, 0]))
        >>> first.overridden(Evidence(np.array([2]), np.array([1]))).values.tolist()
        [0, 1]
        """
        again = np.concatenate((later.variables, later.soft_variables))
        hard, soft = ~np.isin(self.variables, again), ~np.isin(self.soft_variables, again)
        variables = np.concatenate((self.variables[hard], later.variables))
        values = np.concatenate((self.values[hard], later.values))
        soft_variables = np.concatenate((self.soft_variables[soft], later.soft_variables))
        kept = [each for each, stays in zip(self.likelihoods, soft.tolist(), strict=True) if stays]
        likelihoods = [*kept, *later.likelihoods]
        order, soft_order = np.argsort(variables, kind="stable"), np.argsort(soft_variables, kind="stable")
        return Evidence(
            frozen(variables[order]),
            frozen(values[order]),
            frozen(soft_variables[soft_order]),
            tuple(likelihoods[each] for each in soft_order.tolist()),
        )


class Observations(Mapping[str, Observation]):
    """Evidence by name that is bound already: millions of observations without a text each.

    names: of the variables; labels_of(variable): its declared labels and their canonical values.
    """

    def __init__(self, bound: Evidence, names: Names, labels_of: Callable[[int], tuple[Labels, Ints]]) -> None:
        self.bound, self.names, self._labels_of = bound, names, labels_of

    def __len__(self) -> int:
        return len(self.bound.variables) + len(self.bound.soft_variables)

    def __iter__(self) -> Iterator[str]:
        numbers = np.concatenate((self.bound.variables, self.bound.soft_variables))
        return map(self.names.__getitem__, numbers.tolist())

    def __getitem__(self, name: str) -> Observation:
        variable = self.names.find(name)
        if variable is None:
            raise KeyError(name)
        labels, canonical = self._labels_of(variable)
        if (place := _place(self.bound.variables, variable)) is not None:
            return labels[int(np.flatnonzero(canonical == self.bound.values[place])[0])]
        if (place := _place(self.bound.soft_variables, variable)) is not None:
            return dict(zip(labels, self.bound.likelihoods[place][canonical].tolist(), strict=True))
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<{len(self)} observations>"


def _place(ascending: Ints, wanted: int) -> int | None:
    place = int(np.searchsorted(ascending, wanted))
    return place if place < len(ascending) and ascending[place] == wanted else None


EvidenceLike = Evidence | Mapping[str, Observation] | None


def bind_evidence(
    evidence: Mapping[str, Observation], names: Names, labels_of: Callable[[int], tuple[Labels, Ints]]
) -> Evidence:
    """Turn names and labels into numbers. labels_of(variable) gives its declared labels and their canonical values."""
    hard: dict[int, int] = {}
    soft: dict[int, Floats] = {}
    for name, observed in evidence.items():
        variable = names.number(name)
        labels, canonical = labels_of(variable)
        if isinstance(observed, Mapping):
            soft[variable] = likelihood_of(name, observed, labels)[np.argsort(canonical)]
        else:
            hard[variable] = int(canonical[value_of(observed, labels, name)])
    return Evidence(
        frozen(np.array(sorted(hard), dtype=np.int64)),
        frozen(np.array([hard[variable] for variable in sorted(hard)], dtype=np.int64)),
        frozen(np.array(sorted(soft), dtype=np.int64)),
        tuple(frozen(soft[variable]) for variable in sorted(soft)),
    )


def likelihood_of(name: str, observed: Mapping[str, float], labels: Labels) -> Floats:
    """Likelihoods of one variable in its declared order."""
    for label in observed:
        value_of(label, labels, name)
    missing = [label for label in labels if label not in observed]
    if missing:
        raise ModelError(f"soft evidence for '{name}' lacks a likelihood for {listed(missing)}; give one per label")
    try:
        values = np.array([float(observed[label]) for label in labels]) + 0.0
    except (TypeError, ValueError):
        raise ModelError(f"soft evidence for '{name}' holds something that is not a number") from None
    if fault := potential_fault(values):
        raise ModelError(f"soft evidence for '{name}' has {fault}")
    return values
