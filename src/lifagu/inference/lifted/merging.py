"""Merge: rows over the same variables become one, tables multiplied; equal ones a power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic

import numpy as np

from lifagu.basics.arrays import Ints, first_places, group_rows, members
from lifagu.basics.words import counted
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.logs import Table
from lifagu.inference.lifted.problem import Problem
from lifagu.inference.lifted.rows import Booleans, ByArity, New


@dataclass(frozen=True, eq=False)
class MergeStep(Generic[New]):
    """Rows over the same variables became one: target and order of each old entry, by arity."""

    rows: int
    target: ByArity
    order: ByArity

    def __str__(self) -> str:
        return f"merge rows over the same variables ({counted(self.rows, 'row')} looked at)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """A row's joint marginal is the merged row's, with the axes back in its own order."""
        before = {}
        for arity, target in self.target.items():
            before[arity] = after.of_row[arity][target]
            moved = np.flatnonzero(
                (self.order[arity] != np.arange(arity)).any(axis=1) & (before[arity] >= 0)
            )
            for same in members(group_rows(self.order[arity][moved])) if len(moved) else ():
                rows = moved[same]
                before[arity][rows] = in_order(
                    after, before[arity][rows], self.order[arity][rows[0]]
                )
        return before

    def looked_at(self, before: Mapping[int, Booleans] | None) -> dict[int, Booleans]:
        """The rows looked at on the way back: those that one of before (None: none) is in."""
        after = {}
        for arity, target in self.target.items():
            after[arity] = np.zeros(int(target.max(initial=-1)) + 1, dtype=np.bool_)
            if before is not None:
                after[arity][target[before[arity]]] = True
        return after

    def trace_back(self, values: Assignment[New]) -> None:
        """No variable was taken away."""


def in_order(after: Adjoints, numbers: Ints, order: Ints) -> Ints:
    """Numbers of joint marginals with axes where they come from: axis i from axis order[i]."""
    if np.array_equal(order, np.arange(len(order))):
        return numbers
    found = np.empty_like(numbers)
    for same in after.joints.alike_in_shape(numbers):
        group = group_rows(numbers[same, None])
        distinct = numbers[same[first_places(group)]]
        shape = tuple(np.array(after.joints.shape(int(distinct[0])))[np.argsort(order)].tolist())
        found[same] = after.joints.later(
            partial(_transposed, after, distinct, order), shape, len(distinct)
        )[group]
    return found


def _transposed(after: Adjoints, numbers: Ints, order: Ints) -> Table:
    return after.joints.stack(numbers).transpose(*np.argsort(order), len(order))


def merge(problem: Problem[New]) -> tuple[Problem[New], MergeStep[New]] | None:
    """Rows over the same variables become one; None if there were none."""
    first = len(problem.tables)
    merged = problem.rows.merge(first)
    if not merged.sums:
        return None
    last = first + sum(map(len, merged.sums.values()))
    uses, names, weights, start = merged.rows.uses(last), np.arange(last), [], first
    for sums in merged.sums.values():
        places = slice(start, start + len(sums))
        names[places], weight = problem.tables.add_sums(sums, uses[places])
        weights.append(weight)
        start += len(sums)
    labels = {arity: names[numbers] for arity, numbers in merged.rows.labels.items()}
    step = MergeStep[New](problem.rows.count(), merged.target, merged.order)
    return problem.after(merged.rows.relabelled(labels), problem.variables, weights), step
