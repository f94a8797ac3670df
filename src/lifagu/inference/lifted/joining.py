"""Joining A(X) and B(X) into one variable whose values are pairs, so that the pairs can be counted.

Where neither As nor Bs are interchangeable by themselves, because each A has a B of its own, the
pairs often are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, members
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.logs import Table, log_sum
from lifagu.inference.lifted.problem import Problem
from lifagu.inference.lifted.rows import (
    FIRST,
    OWN_FIRST,
    SECOND,
    ByArity,
    Held,
    New,
    RowPlaces,
    join_columns,
)


@dataclass(frozen=True)
class Makeup:
    """How a table's slots became those of the joined one: what they held, sizes of the pair."""

    held: Held
    sizes: tuple[int, int]

    def joined(self, table: Any) -> Any:
        """The table over joined variables: it does not depend on a half it does not know."""
        order, columns = join_columns(self.held)
        shape = [
            table.shape[slot] * (self.sizes[1] if self.held[slot] == OWN_FIRST else 1)
            for slot in columns
        ]
        result = table.transpose(order).reshape(shape)
        for axis, slot in enumerate(columns):
            if self.held[slot] == FIRST:
                result = np.repeat(result, self.sizes[1], axis=axis)
            elif self.held[slot] == SECOND:
                result = np.concatenate([result] * self.sizes[0], axis=axis)
        return result

    def parted(self, joint: Table) -> Table:
        """The joint marginal of the old slots from that of the joined ones."""
        order, columns = join_columns(self.held)
        for axis, slot in enumerate(columns):
            kind = self.held[slot]
            if kind in (FIRST, SECOND):
                halves = joint.reshape(*joint.shape[:axis], *self.sizes, *joint.shape[axis + 1 :])
                joint = log_sum(halves, axis=axis + 1 if kind == FIRST else axis)
        shape = []
        for axis, slot in enumerate(columns):
            shape += list(self.sizes) if self.held[slot] == OWN_FIRST else [joint.shape[axis]]
        return joint.reshape(shape).transpose(np.argsort(order))


@dataclass(frozen=True, eq=False)
class JoinStep(Generic[New]):
    """first[i], second[i] became joined[i]; shapes: old entries, how tables changed, new ones."""

    labels: ByArity
    first: Ints
    second: Ints
    joined: Ints
    sizes: tuple[int, int]
    shapes: list[tuple[RowPlaces, Makeup, RowPlaces]]
    pairs: int
    like: str

    def __str__(self) -> str:
        values = f"{self.sizes[0]} × {self.sizes[1]} values each"
        return f"join {self.pairs} pairs of variables like {self.like} ({values})"

    def walk_back(self, after: Adjoints) -> ByArity:
        """A pair's marginal is that of its halves together."""
        before = after.before(self.labels, {})
        number = after.marginals.of_variable[self.joined]
        for same in members(by_first_occurrence(number)):
            pair = after.marginals[int(self.joined[same[0]])].reshape(self.sizes)
            after.marginals.add_one(self.first[same], log_sum(pair, axis=1))
            after.marginals.add_one(self.second[same], log_sum(pair, axis=0))
        for (arity, rows), makeup, (size, places) in self.shapes:
            numbers = after.of_row[size][places]
            for same in members(by_first_occurrence(numbers)):
                later = partial(self._parted, after, int(numbers[same[0]]), makeup)
                before[arity][rows[same]] = after.joints.later_one(later)
        return before

    @staticmethod
    def _parted(after: Adjoints, number: int, makeup: Makeup) -> Table:
        return makeup.parted(after.joints[number])

    def trace_back(self, values: Assignment[New]) -> None:
        """The value of a pair is that of its halves."""
        first, second = np.divmod(values.of(self.joined), self.sizes[1])
        values.give(self.first, first)
        values.give(self.second, second)


def join(
    problem: Problem[New], first: Ints, second: Ints
) -> tuple[Problem[New], JoinStep[New]] | None:
    """Replace first[i] and second[i] by one variable for their pair of values, everywhere.

    None if some row holds two whole pairs.
    """
    variables = problem.variables
    joined = len(variables) + np.arange(len(first))
    sizes = int(variables.sizes[first[0]]), int(variables.sizes[second[0]])
    entries = problem.rows.join(first, second, joined)
    if entries is None:
        return None
    before = problem.rows.naming(joined, int(first[0]), -1)
    made, shapes, weights = [], [], []
    for entry in entries:
        makeup = Makeup(entry.held, sizes)
        many = before.weight(entry.new)
        label, weight = problem.tables.add(
            problem.tables.made(entry.label).changed(makeup.joined), many
        )
        weights.append(weight)
        made.append((entry.new, np.full(len(entry.old[1]), label)))
        shapes.append((entry.old, makeup))
    everything = [(arity, np.arange(len(labels))) for arity, labels in before.labels.items()]
    left = variables.without(np.concatenate((first, second))).plus(
        [sizes[0] * sizes[1]] * len(first)
    )
    smaller, _, places = problem.exchanged(before, everything, made, left, weights)
    placed = [(old, makeup, place) for (old, makeup), place in zip(shapes, places, strict=True)]
    like = f"{variables.name(int(first[0]))}, {variables.name(int(second[0]))}"
    step = JoinStep[New](
        before.labels, first, second, joined, sizes, placed, before.members(first), like
    )
    return smaller, step
