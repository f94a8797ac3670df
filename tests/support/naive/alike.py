"""Answers by visiting one state of each kind: individuals alike are counted, not listed.

For models whose free variables are of one individual or of none. Individuals are alike if they are
observed alike and no constraint, argument or ground factor names them; permuting them changes no
weight. So one assignment stands for all that give the same number of them the same labels, as often
as there are such assignments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from support.naive.inference import (
    Model,
    TooManyStatesError,
    Weights,
    constants_of,
    is_logical,
    named,
    parse,
)

MOST = 20_000


class Representatives(Weights):
    """One state for each kind of state; individuals of `apart` differ from all others."""

    def __init__(self, model: Model, apart: Sequence[str] = ()) -> None:
        super().__init__(model)
        if any(len(parse(name).terms) > 1 for name in self.free):
            raise TooManyStatesError("a free variable of two individuals")
        alone = {
            *names_of_individuals(model),
            *(term for name in apart for term in parse(name).terms),
        }
        alone |= {
            term
            for name in self.evidence
            if len(parse(name).terms) > 1
            for term in parse(name).terms
        }
        blocks = [
            *self._blocks(model, alone),
            *([[name]] for name in self.free if not parse(name).terms),
        ]
        options = [self._states(block) for block in blocks]
        self.kinds = math.prod(len(own) for _, own in options)
        if self.kinds > MOST:
            raise TooManyStatesError(self.kinds)
        self.places: dict[str, Any] = dict(self.fixed)
        self.members: dict[str, list[str]] = {}
        ways = np.zeros(self.kinds)
        rest = np.arange(self.kinds)
        for block, (places, own) in zip(blocks, options, strict=True):
            rest, chosen = np.divmod(rest, len(own))
            ways += own[chosen]
            self.places |= {name: labels[chosen] for name, labels in places.items()}
            self.members |= {name: column for column in zip(*block, strict=True) for name in column}
        logs = np.zeros(self.kinds)
        for factor in self.factors:
            logs += self.looked_up(factor, self.places.__getitem__)
        for name, own_logs in self.soft.items():
            logs += own_logs[self.places[name]]
        self.log_best = float(logs.max())
        self.logs = logs + ways

    def _blocks(self, model: Model, alone: set[str]) -> Iterator[list[list[str]]]:
        """Individuals that are alike, each given by its free variables in the same order."""
        relations = [each for each in model.get("relations", []) if len(each.get("of", [])) == 1]
        for domain, constants in constants_of(model).items():
            alike: dict[Any, list[list[str]]] = {}
            for constant in constants:
                names = [
                    named(each["name"], [constant]) for each in relations if each["of"] == [domain]
                ]
                seen = tuple((name in self.labels, repr(self.evidence.get(name))) for name in names)
                key = seen, constant if constant in alone else None
                alike.setdefault(key, []).append([name for name in names if name in set(self.free)])
            yield from (block for block in alike.values() if block[0])

    def _states(self, block: list[list[str]]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The labels of each member in each kind of state, and logs of how many states it has."""
        shape = [len(self.labels[name]) for name in block[0]]
        kinds, ways = assortments(math.prod(shape), len(block))
        places = {}
        for member, kind in zip(block, kinds.transpose(), strict=True):
            places |= dict(zip(member, np.unravel_index(kind, shape), strict=True))
        return places, ways

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of all states of a kind, divided by the largest."""
        return np.exp(self.logs - self.logs.max())

    @cached_property
    def log_total(self) -> float:
        """The log of the total weight, minus infinity if there is none."""
        largest = float(self.logs.max())
        return largest + math.log(self.weights.sum()) if largest > -math.inf else -math.inf

    def marginal(self, name: str) -> np.ndarray:
        """The probabilities of a variable's labels: of all alike members, on average."""
        if name in self.fixed:
            return self.with_fixed(np.array(1.0), [name])
        parts = [
            np.bincount(self.places[each], self.weights, len(self.labels[name]))
            for each in self.members[name]
        ]
        return sum(parts) / len(parts) / self.weights.sum()

    def joint(self, names: Sequence[str]) -> np.ndarray:
        """The probabilities of all combinations of labels of variables that are apart."""
        free = [name for name in names if name not in self.fixed]
        shape = [len(self.labels[name]) for name in free]
        index = np.zeros(self.kinds, dtype=np.int64)
        for name, size in zip(free, shape, strict=True):
            index = index * size + self.places[name]
        table = np.bincount(index, self.weights, math.prod(shape)).reshape(shape)
        return self.with_fixed(table / self.weights.sum(), names)


def names_of_individuals(model: Model) -> Iterator[str]:
    """All constants that parfactors, their constraints and ground factors name."""
    for part in ("parfactors", "factors"):
        for entry in model.get(part, []):
            for argument in entry["args"]:
                yield from (
                    term
                    for term in parse(argument).terms
                    if part == "factors" or not is_logical(term)
                )
            for constraint in entry.get("where", []):
                rows = (
                    constraint.get("in", constraint.get("not_in"))
                    if isinstance(constraint, dict)
                    else ()
                )
                yield from itertools.chain.from_iterable(rows)
                yield from constraint.split()[::2] if isinstance(constraint, str) else ()


@cache
def assortments(kinds: int, members: int) -> tuple[np.ndarray, np.ndarray]:
    """All multisets of kinds as ascending rows, and the logs of how many orders each has."""
    if math.comb(kinds + members - 1, members) > MOST:
        raise TooManyStatesError("assortments")
    rows = np.array(
        list(itertools.combinations_with_replacement(range(kinds), members)), dtype=np.int64
    )
    orders = [
        math.factorial(members) // math.prod(map(math.factorial, np.bincount(row).tolist()))
        for row in rows
    ]
    return rows.reshape(-1, members), np.log(np.array(orders, dtype=float))
