"""Pivot count: A(X), B(Y) for all X ≠ Y beside A(X), B(X), without a joint histogram of both.

Let h be the histogram of all B. The product over Y ≠ X of t(A(X), B(Y)) depends on A(X), B(X) and h alone:
Σ_b (h_b − [B(X) = b]) · t[A(X), b]. So the N(N−1) rows become N rows on (A(X), B(X), h); every A(X) is eliminated into
a table on (B(X), h); and the Bs are counted into the same h: O(N) where a joint histogram costs O(N³).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints, first_places, group_rows
from lifagu.infer.lifted import rows as row_sets
from lifagu.infer.lifted import steps
from lifagu.infer.lifted.algebra import Table, histograms, log_multinomial
from lifagu.infer.lifted.rows import Place, Rows
from lifagu.infer.lifted.state import State


@dataclass(frozen=True, eq=False)
class PivotStep:
    """Rows t(A(X), B(Y)), X ≠ Y, became rows on (A(X), B(X), h)."""

    before: Rows
    kept: dict[int, Ints]
    old: Ints  # rows of arity 2
    new_of_old: Ints  # which of the new rows each went into
    new: Place
    counts: Ints
    turned: bool  # whether A stands in the second slot

    def __str__(self) -> str:
        return f"pivot {len(self.old)} pairs around a histogram ({len(self.counts)} values)"


@dataclass(frozen=True, eq=False)
class TiedCountStep:
    """Interchangeable variables were counted into the histogram that the pivot introduced.

    entries: arity and rows, slot of the member, slot of the histogram (-1 if it is not there), and the new row of each.
    """

    before: Rows
    kept: dict[int, Ints]
    members: Ints
    variable: int
    counts: Ints
    entries: list[tuple[Place, int, int, Ints, Place]]

    def __str__(self) -> str:
        return f"count {len(self.members)} interchangeable variables into it"


Pivoted = list[steps.MergeStep | steps.EliminateStep | PivotStep | TiedCountStep]


def pivot(state: State) -> Pivoted | None:
    """All steps of one pivot count, or None if there is nothing to pivot; the state is then as it was."""
    restore = state.save()
    for old in state.rows.by_label(2):
        root = math.isqrt(len(old))
        if len(old) == root * (root + 1) and root:  # N(N - 1) rows, for N = root + 1
            for turned in (False, True):
                done = _pivot_around(state, old, turned)
                if done is not None:
                    return done
                restore()
    return None


def _pivot_around(state: State, old: Ints, turned: bool) -> Pivoted | None:
    """Pivot the rows of one table around the variables in its second (or first) slot."""
    label, pairs = int(state.rows.labels[2][old[0]]), state.rows.matrix[2][old]
    pairs = pairs[:, ::-1] if turned else pairs
    first, second = np.unique(pairs[:, 0]), np.unique(pairs[:, 1])
    if not (state.open[first].all() and state.open[second].all()) or len(np.intersect1d(first, second)):
        return None
    partner = _partners(pairs, first, second)
    size = int(state.sizes[second[0]])
    values = steps.number_of_histograms(len(second), size)
    if partner is None or values * size * int(state.sizes[first[0]]) > steps.MOST_ENTRIES:
        return None
    counts = histograms(len(second), size)
    variable = state.add_variable(values)
    table = state.pool[label].T if turned else state.pool[label]
    new = np.column_stack((first, partner, np.full(len(first), variable)))
    made = [(new, state.pool.add(_pivoted(table, counts), len(new)))]
    before = state.rows
    left, kept = before.without({2: old})
    state.rows, places = left.plus(made)
    done: Pivoted = [PivotStep(before, kept, old, np.searchsorted(first, pairs[:, 0]), places[0], counts, turned)]
    costs = row_sets.elimination_costs(state.rows, np.isin(np.arange(len(state.sizes)), first), state.log_sizes)
    largest = float(costs.new.max(initial=0)) + float(np.log2(state.sizes[first[0]]))
    alone = row_sets.independent(state.rows, costs.variables, costs.new, len(state.sizes))
    if len(alone) < len(first) or 2**largest > steps.MOST_ENTRIES:
        return None
    done.append(steps.eliminate(state, first))
    if merged := steps.merge(state):
        done.append(merged)
    counted = _count_into(state, second, variable, counts)
    return None if counted is None else [*done, counted]


def _partners(pairs: Ints, first: Ints, second: Ints) -> Ints | None:
    """For each of the first variables the one of the second it is not paired with, if that is exactly one each."""
    count = len(first)
    if count != len(second) or count < 2 or len(pairs) != count * (count - 1):
        return None
    place = np.searchsorted(first, pairs[:, 0])
    if (np.bincount(place, minlength=count) != count - 1).any():
        return None
    met = np.bincount(place, weights=np.searchsorted(second, pairs[:, 1]), minlength=count).astype(np.int64)
    missing = count * (count - 1) // 2 - met  # rows are distinct, so the sum of all places tells the one that lacks
    return second[missing] if len(np.unique(missing)) == count else None


def _pivoted(table: Table, counts: Ints) -> Table:
    """The table on (a, b', h): Σ_b (h_b − [b' = b]) · t[a, b]."""
    size = counts.shape[1]
    left = np.maximum(counts.T[None, :, :] - np.eye(size, dtype=np.int64)[:, :, None], 0)  # b' × b × h
    total = np.zeros((table.shape[0], size, len(counts)), dtype=np.longdouble)
    for value in range(size):
        often = left[:, value, :][None]
        entry = table[:, value][:, None, None]
        with np.errstate(invalid="ignore"):
            total += np.where(often == 0, 0, often * entry)
    return total


def _count_into(state: State, members: Ints, variable: int, counts: Ints) -> TiedCountStep | None:
    """Count members whose rows hold nothing but themselves, the histogram, and variables common to all of them."""
    inside = np.isin(np.arange(len(state.sizes)), members)
    entries, made, removed = [], [], {}
    for arity in state.rows.arities():
        matrix, labels = state.rows.matrix[arity], state.rows.labels[arity]
        touched = np.flatnonzero(inside[matrix].any(axis=1))
        if not len(touched):
            continue
        removed[arity] = touched
        kind = group_rows(np.column_stack((labels[touched], inside[matrix[touched]])))
        for number, example in enumerate(first_places(kind).tolist()):
            places = touched[kind == number]
            slots = np.flatnonzero(inside[matrix[touched[example]]])
            others = np.delete(matrix[places], slots[0], axis=1)
            if len(slots) > 1 or len(places) != len(members) or (others != others[0]).any():
                return None
            tied = np.flatnonzero(matrix[places[0]] == variable)
            tie = int(tied[0]) if len(tied) else -1
            table = _tied_table(state.pool[int(labels[places[0]])], int(slots[0]), tie, counts)
            rest = [each for each in matrix[places[0]].tolist() if each != variable and not inside[each]]
            made.append((np.array([[variable, *rest]]), state.pool.add(table, 1)))
            entries.append(((arity, places), int(slots[0]), tie, np.zeros(len(places), dtype=np.int64)))
    weights = np.zeros(len(counts), dtype=np.longdouble) if state.maximise else log_multinomial(counts)
    before = state.rows
    left, kept = before.without(removed)
    state.rows, new = left.plus([(np.array([[variable]]), state.pool.add(weights, 1)), *made])
    state.retire(members)
    placed = [(*entry, place) for entry, place in zip(entries, new[1:], strict=True)]
    return TiedCountStep(before, kept, members, variable, counts, placed)


def _tied_table(table: Table, slot: int, tie: int, counts: Ints) -> Table:
    """Σ_b h_b · t[b, …] as a table on (h, others); where the table depends on h itself, at that h."""
    moved = np.moveaxis(table, slot, 0)
    tie -= tie > slot
    total: Table = np.zeros((len(counts), *np.delete(moved.shape[1:], tie if tie >= 0 else [])), dtype=np.longdouble)
    for value in range(counts.shape[1]):
        entry = moved[value][None] if tie < 0 else np.moveaxis(moved[value], tie, 0)
        often = counts[:, value].reshape(-1, *(1,) * (total.ndim - 1))
        with np.errstate(invalid="ignore"):
            total = total + np.where(often == 0, 0, often * entry)
    return total
