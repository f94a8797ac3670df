"""Pivot count: A(X), B(Y) for all X ≠ Y beside A(X), B(X), without a joint histogram of both.

Let h be the histogram of all B. The product over Y ≠ X of t(A(X), B(Y)) depends on A(X), B(X) and h
alone: Σ_b (h_b − [B(X) = b]) · t[A(X), b]. So the N(N−1) rows become N rows on (A(X), B(X), h);
every A(X) is eliminated into a table on (B(X), h); and the Bs are counted into the same h: O(N)
where a joint histogram costs O(N³).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, distinct
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.careful_table import Made, weighted
from lifagu.inference.lifted.counting import MOST_ENTRIES, CountStep, count
from lifagu.inference.lifted.elimination import EliminateStep, eliminate
from lifagu.inference.lifted.integers import histograms, number_of_histograms
from lifagu.inference.lifted.logs import Table, log_integers, log_sum
from lifagu.inference.lifted.merging import MergeStep, merge
from lifagu.inference.lifted.problem import Problem
from lifagu.inference.lifted.rows import Apart, ByArity, New, RowPlaces


@dataclass(frozen=True, eq=False)
class PivotStep(Generic[New]):
    """Rows t(A(X), B(Y)), X ≠ Y, became rows on (A(X), B(X), h).

    labels, kept: the rows before, and which were left alone; old: entries of arity 2; groups: which
    of the new entries each went into; turned: whether A stands in the second slot.
    """

    labels: ByArity
    kept: ByArity
    old: Ints
    groups: Ints
    new: RowPlaces
    counts: NDArray[Any]
    turned: bool
    like: str

    def __str__(self) -> str:
        members = int(self.counts[0].sum())
        what = f"pivot {members * (members - 1)} pairs like {self.like}"
        return f"{what} around a histogram ({len(self.counts)} values)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """P(A(X), B(Y)), X ≠ Y: given B(X) and the histogram, Y is any of the others."""
        before = after.before(self.labels, self.kept)
        arity, places = self.new
        for same, number in after.joints.classes(after.of_row[arity][places[self.groups]]):
            before[2][self.old[same]] = after.joints.later_one(partial(self._pair, after, number))
        return before

    def _pair(self, after: Adjoints, number: int) -> Table:
        """The joint marginal of A(X), B(Y) from that of A(X), B(X) and the histogram."""
        joint = after.joints[number]  # a × b' × h
        total, size = int(self.counts[0].sum()), self.counts.shape[1]
        logs = log_integers(total)
        left = np.maximum(self.counts[:, None, :] - np.eye(size, dtype=np.int64), 0)  # h × b' × b
        shares = logs[left] - logs[total - 1]
        pairs = [log_sum(joint + shares[:, :, value].T, axis=(1, 2)) for value in range(size)]
        pair = np.stack(pairs, axis=1)
        return pair.T if self.turned else pair

    def trace_back(self, values: Assignment[New]) -> None:
        """No variable was taken away."""


Steps = list[MergeStep[New] | EliminateStep[New] | PivotStep[New] | CountStep[New]]


def pivot(
    problem: Problem[New], most: int = MOST_ENTRIES
) -> tuple[Problem[New], Steps[New]] | None:
    """All steps of one pivot count with tables of at most so many entries, or None."""
    rows, open_now = problem.rows, problem.variables.open
    may_go = np.asarray(open_now[rows.scopes(2)].all(axis=1))
    for every in rows.pairings():
        old = every[may_go[every]]
        for turned in (False, True) if len(old) else ():
            if (apart := rows.apart(old, turned)) is None:
                break
            if (found := _pivot_around(problem, old, apart, turned, most)) is not None:
                return found
    return None


def _pivot_around(
    problem: Problem[New], old: Ints, apart: Apart[New], turned: bool, most: int
) -> tuple[Problem[New], Steps[New]] | None:
    """Pivot the rows of one table around the variables in its second (or first) slot."""
    variables, first, second = problem.variables, apart.first, apart.second
    size, members = int(variables.sizes[second.variables[0]]), second.counts[0]
    if size == 1:
        return None
    if number_of_histograms(members, size) * size * int(variables.sizes[first[0]]) > most:
        return None
    paired, step = _paired(problem, old, apart, turned)
    costs = paired.rows.elimination_costs(
        np.isin(np.arange(len(paired.variables)), first), paired.variables.log_sizes
    )
    largest = float(costs.new.max(initial=0)) + float(np.log2(variables.sizes[first[0]]))
    alone = paired.rows.independent(costs.variables, costs.new, len(paired.variables))
    if len(alone) < len(first) or 2**largest > most:
        return None
    smaller, eliminated = eliminate(paired, first)
    done: Steps[New] = [step, eliminated]
    if merged := merge(smaller):
        smaller = merged[0]
        done.append(merged[1])
    counted = count(smaller, second, into=np.array([len(variables)]))
    return None if counted is None else (counted[0], [*done, counted[1]])


def _paired(
    problem: Problem[New], old: Ints, apart: Apart[New], turned: bool
) -> tuple[Problem[New], PivotStep[New]]:
    """The problem with rows on (A(X), B(X), h) for those on (A(X), B(Y)); h is not yet weighed."""
    variables, before = problem.variables, problem.rows
    counts = histograms(apart.second.counts[0], int(variables.sizes[apart.second.variables[0]]))
    histogram = len(variables)
    made = problem.tables.made(int(before.labels[2][old[0]]))
    new = apart.paired(histogram)
    named = before.naming(np.array([histogram]), -1, 0)
    many = named.weight(new)
    label, weight = problem.tables.add(
        _pivoted(made.changed(np.transpose) if turned else made, counts, many), many
    )
    smaller, kept, (place,) = problem.exchanged(
        named,
        [(2, old)],
        [(new, np.full(len(distinct(apart.groups)), label))],
        variables.plus([len(counts)], opened=False),
        [weight],
    )
    first, second = int(apart.first[0]), int(apart.second.variables[0])
    like = f"{variables.name(first)}, {variables.name(second)}"
    return smaller, PivotStep(before.labels, kept, old, apart.groups, place, counts, turned, like)


def _pivoted(made: Made, counts: NDArray[Any], many: int) -> Made:
    """The table on (a, b', h): Σ_b (h_b − [b' = b]) · t[a, b]."""
    size = counts.shape[1]
    # b' × b × h
    left = np.maximum(counts.T[None, :, :] - np.eye(size, dtype=np.int64)[:, :, None], 0)

    def term(value: int) -> tuple[Ints, Made]:
        return left[None, :, value, :], made.changed(lambda table: table[:, value, None, None])

    return weighted([term(value) for value in range(size)], many)
