"""Counting variables that differ in their unary tables only, as soft evidence leaves them.

They are interchangeable but for those tables, so one histogram still says all that others need to know; its weights are
no longer multinomial but the convolution of what each group of equal unary tables contributes (for two values, the
Poisson binomial distribution).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, members
from lifagu.infer.lifted.algebra import Table, histograms, log_multinomial, symmetric
from lifagu.infer.lifted.rows import Counted, Place, Rows, Twins
from lifagu.infer.lifted.state import State
from lifagu.infer.lifted.steps import MOST_ENTRIES, number_of_histograms, replace_members

MOST_WORK = 2**28  # entries that a convolution may look at


@dataclass(frozen=True, eq=False)
class Groups:
    """Members with equal unary tables: their variables, how many they are, their table, the entries of that table."""

    variables: tuple[Ints, ...]
    counts: tuple[int, ...]
    unary: tuple[Table, ...]
    entries: tuple[Ints, ...]


@dataclass(frozen=True, eq=False)
class UnaryCountStep:
    """Variables that differ in their unary tables became one variable whose values are histograms.

    entries as in `CountStep`; weights: the histograms' own, with one axis per value but the last.
    """

    before: Rows
    kept: dict[int, Ints]
    groups: Groups
    variable: int
    counts: Ints
    weights: Table
    entries: list[tuple[Counted, Place]]
    like: str
    _shares: dict[tuple[int, ...], Table] = field(default_factory=dict)

    def __str__(self) -> str:
        total, different = sum(self.groups.counts), len(self.groups.counts)
        what = f"count {total} variables like {self.like}"
        return f"{what} with {different} different unary tables ({len(self.counts)} histograms)"

    def log_shares(self, owners: tuple[int, ...]) -> Table:
        """log P(members of these groups have values a, b, … | histogram): histograms × values × values ….

        Their values leave the histogram without them to all others: u[a] · v[b] · W₋₂[h − a − b] / W[h].
        """
        if owners not in self._shares:
            self._shares[owners] = self._found_shares(owners)
        return self._shares[owners]

    def _found_shares(self, owners: tuple[int, ...]) -> Table:
        size, groups = self.counts.shape[1], self.groups
        left = [count - owners.count(number) for number, count in enumerate(groups.counts)]
        pairs = zip(left, groups.unary, strict=True)
        rest = _convolved([(count, unary) for count, unary in pairs if count], size, maximise=False)
        weight = self.weights[_places(self.counts)]
        shift = np.where(np.isneginf(weight), 0, weight)
        share = np.full((len(self.counts), *(size,) * len(owners)), -np.inf, dtype=np.longdouble)
        for values in product(range(size), repeat=len(owners)):
            less = self.counts - np.bincount(values, minlength=size)
            possible = (less >= 0).all(axis=1)
            own = sum(groups.unary[owner][value] for owner, value in zip(owners, values, strict=True))
            share[(possible, *values)] = own + rest[_places(less[possible])] - shift[possible]
        return share


def count_unary(state: State, walks: bool) -> UnaryCountStep | None:
    """Count the first class of variables that differ, and in their unary tables only; None if there is none that fits.

    walks: marginals are wanted later, which costs a convolution for each combination of groups in a row.
    """
    wide = state.rows.wide()
    for twins in wide.twins(state.open, state.sizes, state.pool.slot_classes):
        groups = _by_unary(state, twins.variables)
        if twins.logical > 0 or len(groups.counts) < 2:
            continue
        quotient = wide.quotient(twins, len(state.sizes), len(state.sizes))
        if quotient and _fits(state, twins, quotient, len(groups.counts) if walks else 1):
            return _count(state, twins, quotient, groups)
    return None


def _fits(state: State, twins: Twins, quotient: Sequence[Counted], combined: int) -> bool:
    size = int(state.sizes[twins.variables[0]])
    values = number_of_histograms(twins.count, size)
    if values > MOST_ENTRIES:
        return False
    for entry in quotient:
        others = int(np.prod(state.sizes[list(state.rows.example(entry.new)[1:])]))
        if values * others > MOST_ENTRIES or not symmetric(state.pool[entry.label], entry.slots):
            return False
        if values * twins.count * size * combined ** len(entry.slots) > MOST_WORK:
            return False
    return True


def _count(state: State, twins: Twins, quotient: Sequence[Counted], groups: Groups) -> UnaryCountStep:
    size = int(state.sizes[twins.variables[0]])
    counts = histograms(twins.count, size)
    weights = _convolved(list(zip(groups.counts, groups.unary, strict=True)), size, state.maximise)
    variable = state.add_variable(len(counts))
    before, kept, entries = replace_members(
        state, twins.variables, quotient, variable, counts, weights[_places(counts)], groups.entries
    )
    return UnaryCountStep(before, kept, groups, variable, counts, weights, entries, state.name(int(twins.variables[0])))


def _by_unary(state: State, chosen: Ints) -> Groups:
    """Members by their unary table (rows are merged, so each has one at most)."""
    label, entry = state.rows.unary(len(state.sizes))
    groups = [chosen[places] for places in members(by_first_occurrence(label[chosen] + 1))]
    numbers = [int(label[group[0]]) for group in groups]
    nothing = np.zeros(state.sizes[chosen[0]], dtype=np.longdouble)
    return Groups(
        tuple(groups),
        tuple(state.rows.members(group) for group in groups),
        tuple(state.pool[number] if number >= 0 else nothing for number in numbers),
        tuple(entry[group][entry[group] >= 0] for group in groups),
    )


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
    size, groups = len(histogram), step.groups
    totals: list[Table] = [np.zeros((1,) * max(size - 1, 1), dtype=np.longdouble)]
    for count, table in zip(groups.counts, groups.unary, strict=True):
        totals.append(_added(totals[-1], count, table, maximise=True))
    left, found = histogram.copy(), []
    for number in range(len(groups.counts) - 1, -1, -1):
        counts, own = _own_weights(groups.counts[number], groups.unary[number], maximise=True)
        rest = left - counts
        possible = np.flatnonzero((rest >= 0).all(axis=1))
        best = possible[np.argmax(own[possible] + totals[number][_places(rest[possible])])]
        found.append(counts[best])
        left = rest[best]
    return found[::-1]
