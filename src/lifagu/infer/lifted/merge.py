"""Merge: rows over the same variables become one, their tables multiplied; equal rows become a power."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted.adjoints import Adjoints
from lifagu.infer.lifted.assignment import Assignment
from lifagu.infer.lifted.logs import Table
from lifagu.infer.lifted.problem import Problem
from lifagu.infer.lifted.rows import ByArity, New
from lifagu.views import counted


@dataclass(frozen=True, eq=False)
class MergeStep(Generic[New]):
    """Rows over the same variables became one: target and order of each old entry, by arity."""

    looked_at: int
    target: ByArity
    order: ByArity

    def __str__(self) -> str:
        return f"merge rows over the same variables ({counted(self.looked_at, 'row')} looked at)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """A row's joint marginal is the merged row's, with the axes back in its own order."""
        before = {}
        for arity, target in self.target.items():
            before[arity] = np.empty(len(target), dtype=np.int64)
            for same, number, order in after.alike(after.of_row[arity][target], self.order[arity]):
                before[arity][same] = in_order(after, number, order)
        return before

    def trace_back(self, values: Assignment[New]) -> None:
        """No variable was taken away."""


def in_order(after: Adjoints, number: int, order: Ints) -> int:
    """The number of a joint marginal with its axes where they come from: axis i came from axis order[i]."""
    if np.array_equal(order, np.arange(len(order))):
        return number
    return after.joints.later(partial(_transposed, after, number, order))


def _transposed(after: Adjoints, number: int, order: Ints) -> Table:
    return after.joints[number].transpose(np.argsort(order))


def merge(problem: Problem[New]) -> tuple[Problem[New], MergeStep[New]] | None:
    """Rows over the same variables become one; None if there were none."""
    first = len(problem.tables)
    merged = problem.rows.merge(first)
    if not merged.sums:
        return None
    uses = merged.rows.uses(first + len(merged.sums))
    names, weights = np.arange(first + len(merged.sums)), []
    for place, terms in enumerate(merged.sums, first):
        names[place], weight = problem.tables.add(problem.tables.summed(terms, uses[place]), uses[place])
        weights.append(weight)
    labels = {arity: names[numbers] for arity, numbers in merged.rows.labels.items()}
    step = MergeStep[New](problem.rows.count(), merged.target, merged.order)
    return problem.after(merged.rows.relabelled(labels), problem.variables, weights), step
