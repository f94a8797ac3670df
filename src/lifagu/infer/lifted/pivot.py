"""Pivot count: A(X), B(Y) for all X ≠ Y beside A(X), B(X), without a joint histogram of both.

Let h be the histogram of all B. The product over Y ≠ X of t(A(X), B(Y)) depends on A(X), B(X) and h alone:
Σ_b (h_b − [B(X) = b]) · t[A(X), b]. So the N(N−1) rows become N rows on (A(X), B(X), h); every A(X) is eliminated into
a table on (B(X), h); and the Bs are counted into the same h: O(N) where a joint histogram costs O(N³).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted import steps
from lifagu.infer.lifted.algebra import Table, histograms, powers
from lifagu.infer.lifted.rows import Apart, Place, Rows
from lifagu.infer.lifted.state import State


@dataclass(frozen=True, eq=False)
class PivotStep:
    """Rows t(A(X), B(Y)), X ≠ Y, became rows on (A(X), B(X), h)."""

    before: Rows
    kept: dict[int, Ints]
    old: Ints  # entries of arity 2
    groups: Ints  # which of the new entries each went into
    new: Place
    counts: Ints
    turned: bool  # whether A stands in the second slot
    like: str

    def __str__(self) -> str:
        members = int(self.counts[0].sum())
        what = f"pivot {members * (members - 1)} pairs like {self.like}"
        return f"{what} around a histogram ({len(self.counts)} values)"


Pivoted = list[steps.MergeStep | steps.EliminateStep | PivotStep | steps.CountStep]


def pivot(state: State) -> Pivoted | None:
    """All steps of one pivot count, or None if there is nothing to pivot; the state is then as it was."""
    restore = state.save()
    for old in state.rows.pairings():
        for turned in (False, True):
            if (apart := state.rows.apart(old, turned)) is None:
                break
            if (done := _pivot_around(state, old, apart, turned)) is not None:
                return done
            restore()
    return None


def _pivot_around(state: State, old: Ints, apart: Apart, turned: bool) -> Pivoted | None:
    """Pivot the rows of one table around the variables in its second (or first) slot."""
    first, second = apart.first, apart.second
    if not (state.open[first].all() and state.open[second.variables].all()):
        return None
    label = int(state.rows.labels[2][old[0]])
    size = int(state.sizes[second.variables[0]])
    values = steps.number_of_histograms(second.count, size)
    if values * size * int(state.sizes[first[0]]) > steps.MOST_ENTRIES:
        return None
    counts = histograms(second.count, size)
    variable = state.add_variable(values)
    pivoted = sum(_pivoted(table.T if turned else table, counts) for table in state.pool.parts(label))
    before, new = state.rows, apart.paired(variable)
    left, kept = before.without({2: old})
    state.rows, places = left.plus([(new, state.pool.add(np.asarray(pivoted), before.weight(new)))])
    like = f"{state.name(int(first[0]))}, {state.name(int(second.variables[0]))}"
    done: Pivoted = [PivotStep(before, kept, old, apart.groups, places[0], counts, turned, like)]
    costs = state.rows.elimination_costs(np.isin(np.arange(len(state.sizes)), first), state.log_sizes)
    largest = float(costs.new.max(initial=0)) + float(np.log2(state.sizes[first[0]]))
    alone = state.rows.independent(costs.variables, costs.new, len(state.sizes))
    if len(alone) < len(first) or 2**largest > steps.MOST_ENTRIES:
        return None
    done.append(steps.eliminate(state, first))
    if merged := steps.merge(state):
        done.append(merged)
    counted = steps.count(state, second, into=variable)
    return None if counted is None else [*done, counted]


def _pivoted(table: Table, counts: Ints) -> Table:
    """The table on (a, b', h): Σ_b (h_b − [b' = b]) · t[a, b]."""
    size = counts.shape[1]
    left = np.maximum(counts.T[None, :, :] - np.eye(size, dtype=np.int64)[:, :, None], 0)  # b' × b × h
    total = np.zeros((table.shape[0], size, len(counts)), dtype=np.longdouble)
    for value in range(size):
        total += powers(left[:, value, :][None], table[:, value][:, None, None])
    return total
