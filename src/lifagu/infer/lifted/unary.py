"""Counting variables that differ in their unary tables only, as soft evidence leaves them.

They are interchangeable but for those tables, so one histogram still says all that others need to know; its weights are
no longer multinomial but the convolution of what each group of equal unary tables contributes (for two values, the
Poisson binomial distribution).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, members
from lifagu.infer.lifted import rows as row_sets
from lifagu.infer.lifted.algebra import Table, histograms, log_multinomial, symmetric
from lifagu.infer.lifted.rows import Rows
from lifagu.infer.lifted.state import State
from lifagu.infer.lifted.steps import MOST_ENTRIES, Entry, number_of_histograms, replace_members

MOST_WORK = 2**28  # entries that a convolution may look at


@dataclass(frozen=True, eq=False)
class UnaryCountStep:
    """Variables that differ in their unary tables became one variable whose values are histograms.

    groups, unary: members with equal unary tables, and these tables; unary_rows[i]: the rows of arity 1 of group i
    (none where it has no unary table). entries as in `CountStep`, with one member slot each where marginals are wanted.
    """

    before: Rows
    kept: dict[int, Ints]
    groups: tuple[Ints, ...]
    unary: tuple[Table, ...]
    unary_rows: tuple[Ints, ...]
    variable: int
    counts: Ints
    weights: Table
    maximise: bool
    entries: list[Entry]

    def __str__(self) -> str:
        total = sum(map(len, self.groups))
        return f"count {total} variables with {len(self.groups)} different unary tables ({len(self.counts)} histograms)"

    @cached_property
    def shares(self) -> list[Table]:
        """For each group P(a member has value a | histogram): histograms × values.

        A member's value a leaves the histogram without it to all others: u[a] · W₋₁[h − a] / W[h].
        """
        found = []
        size = self.counts.shape[1]
        place = _places(self.counts)
        for number, table in enumerate(self.unary):
            others = [(len(group) - (number == other), self.unary[other]) for other, group in enumerate(self.groups)]
            rest = _convolved([(count, unary) for count, unary in others if count], size, maximise=False)
            share = np.full((len(self.counts), size), -np.inf, dtype=np.longdouble)
            for value in range(size):
                less = self.counts.copy()
                less[:, value] -= 1
                possible = (less >= 0).all(axis=1)
                share[possible, value] = table[value] + rest[_places(less[possible])]
            weight = self.weights[place]
            share -= np.where(np.isneginf(weight), 0, weight)[:, None]
            found.append(np.exp(share))
        return found


def count_unary(state: State, walks: bool) -> UnaryCountStep | None:
    """Count the first class of variables that differ, and in their unary tables only; None if there is none that fits.

    walks: marginals are wanted later; then tables on two or more members are left to other steps.
    """
    wide = Rows(
        {arity: rows for arity, rows in state.rows.matrix.items() if arity != 1},
        {arity: labels for arity, labels in state.rows.labels.items() if arity != 1},
    )
    for chosen in row_sets.twin_classes(wide, state.open, state.sizes, state.pool.slot_classes):
        quotient = row_sets.quotient(wide, chosen, len(state.sizes), len(state.sizes))
        groups = _by_unary(state, chosen)
        if quotient is not None and len(groups[0]) > 1 and quotient.entries and _fits(state, chosen, quotient, walks):
            return _count(state, chosen, quotient, *groups)
    return None


def _fits(state: State, chosen: Ints, quotient: row_sets.Quotient, walks: bool) -> bool:
    values = number_of_histograms(len(chosen), int(state.sizes[chosen[0]]))
    if values > MOST_ENTRIES or values * len(chosen) * int(state.sizes[chosen[0]]) > MOST_WORK:
        return False
    for label, slots, new, _, _ in quotient.entries:
        others = int(np.prod(state.sizes[new[0, 1:]]))
        if values * others > MOST_ENTRIES or not symmetric(state.pool[label], slots) or (walks and len(slots) > 1):
            return False
    return True


def _count(
    state: State,
    chosen: Ints,
    quotient: row_sets.Quotient,
    groups: tuple[Ints, ...],
    unary: tuple[Table, ...],
    unary_rows: tuple[Ints, ...],
) -> UnaryCountStep:
    size = int(state.sizes[chosen[0]])
    counts = histograms(len(chosen), size)
    sizes = [(len(group), table) for group, table in zip(groups, unary, strict=True)]
    weights = _convolved(sizes, size, state.maximise)
    variable = state.add_variable(len(counts))
    before, kept, entries = replace_members(
        state, chosen, quotient, variable, counts, weights[_places(counts)], unary_rows
    )
    return UnaryCountStep(before, kept, groups, unary, unary_rows, variable, counts, weights, state.maximise, entries)


def _by_unary(state: State, chosen: Ints) -> tuple[tuple[Ints, ...], tuple[Table, ...], tuple[Ints, ...]]:
    """Members by their unary table (rows are merged, so each has one at most), the tables, and their rows."""
    label = np.full(len(state.sizes), -1, dtype=np.int64)
    row_of = np.full(len(state.sizes), -1, dtype=np.int64)
    if 1 in state.rows.matrix:
        label[state.rows.matrix[1][:, 0]] = state.rows.labels[1]
        row_of[state.rows.matrix[1][:, 0]] = np.arange(len(state.rows.labels[1]))
    groups, tables, rows = [], [], []
    for places in members(by_first_occurrence(label[chosen] + 1)):
        group = chosen[places]
        number = int(label[group[0]])
        groups.append(group)
        tables.append(state.pool[number] if number >= 0 else np.zeros(state.sizes[group[0]], dtype=np.longdouble))
        rows.append(row_of[group][row_of[group] >= 0])
    return tuple(groups), tuple(tables), tuple(rows)


def _places(counts: Ints) -> tuple[Ints, ...]:
    """Where the histograms stand in an array with one axis per value but the last."""
    return tuple(counts[:, :-1].T) if counts.shape[1] > 1 else (np.zeros(len(counts), dtype=np.int64),)


def _convolved(groups: list[tuple[int, Table]], size: int, maximise: bool) -> Table:
    """log Σ (or max) over assignments with a histogram of the product of unary tables: one axis per value but the last.

    Groups (how many, their table) are added one after another, each of its histograms shifting what there is.
    """
    total: Table = np.zeros((1,) * max(size - 1, 1), dtype=np.longdouble)
    for count, table in groups:
        total = _added(total, count, table, maximise)
    return total


def _added(total: Table, count: int, table: Table, maximise: bool) -> Table:
    """The weights of histograms with one more group."""
    counts, own = _own_weights(count, table, maximise)
    if len(table) == 1:
        return np.asarray(total + own[0])
    wider: Table = np.full([each + count for each in total.shape], -np.inf, dtype=np.longdouble)
    for histogram, weight in zip(counts[:, :-1].tolist(), own, strict=True):
        window = tuple(slice(start, start + length) for start, length in zip(histogram, total.shape, strict=True))
        moved = total + weight
        wider[window] = np.maximum(wider[window], moved) if maximise else np.logaddexp(wider[window], moved)
    return wider


def _own_weights(count: int, table: Table, maximise: bool) -> tuple[Ints, Table]:
    """The histograms of one group of equal unary tables, and their log weights."""
    counts = histograms(count, len(table))
    powers: Table = np.zeros(len(counts), dtype=np.longdouble)
    for value in range(len(table)):
        column = counts[:, value]
        with np.errstate(invalid="ignore"):
            powers += np.where(column == 0, 0, column * table[value])
    return counts, powers if maximise else powers + log_multinomial(counts)


def best_split(step: UnaryCountStep, histogram: Ints) -> list[Ints]:
    """The best histogram of each group among those that add up to the given one."""
    size = len(histogram)
    totals: list[Table] = [np.zeros((1,) * max(size - 1, 1), dtype=np.longdouble)]
    for group, table in zip(step.groups, step.unary, strict=True):
        totals.append(_added(totals[-1], len(group), table, maximise=True))
    left, found = histogram.copy(), []
    for number in range(len(step.groups) - 1, -1, -1):
        counts, own = _own_weights(len(step.groups[number]), step.unary[number], maximise=True)
        rest = left - counts
        possible = np.flatnonzero((rest >= 0).all(axis=1))
        best = possible[np.argmax(own[possible] + totals[number][_places(rest[possible])])]
        found.append(counts[best])
        left = rest[best]
    return found[::-1]
