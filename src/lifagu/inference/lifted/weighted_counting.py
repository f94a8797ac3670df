"""Counting variables that differ in their unary tables only, as soft evidence leaves them.

They are interchangeable but for those tables, so one histogram still says all that others need to
know; its weights are no longer multinomial but the convolution of what each group of equal unary
tables contributes (for two values, the Poisson binomial distribution).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, by_first_occurrence, group_rows, members
from lifagu.basics.cached import cached_property
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.careful_table import Made
from lifagu.inference.lifted.convolution import (
    Convolution,
    as_array,
    convolution,
    convolved,
    places,
)
from lifagu.inference.lifted.counting import MOST_ENTRIES, countable, replace_members, spread_shares
from lifagu.inference.lifted.integers import histograms, number_of_histograms
from lifagu.inference.lifted.logs import UNIT, Table, log_multinomial, log_sum, powers, span
from lifagu.inference.lifted.merging import in_order
from lifagu.inference.lifted.problem import Problem
from lifagu.inference.lifted.rows import ByArity, Classes, CountedRows, New, RowPlaces, RowSet

MOST_WORK = 2**28  # entries that a convolution may look at


@dataclass(frozen=True, eq=False)
class UnaryGroup:
    """Members with equal unary tables: variables, how many, their table, and its entries."""

    variables: Ints
    count: int
    unary: Table
    entries: Ints

    def weights(self, maximise: bool = False) -> Table:
        """log Σ (or max) over assignments with a histogram of the product of the unary tables."""
        size = len(self.unary)
        counts = histograms(self.count, size)
        total = np.zeros(len(counts), dtype=np.longdouble) if maximise else log_multinomial(counts)
        for value in range(size):
            total = total + powers(counts[:, value], self.unary[value : value + 1])
        return as_array(counts, total)

    def fewer(self, less: int) -> UnaryGroup:
        """The group without some of its members."""
        return UnaryGroup(self.variables, self.count - less, self.unary, self.entries)


@dataclass(frozen=True, eq=False)
class Weighed:
    """A class whose members differ in unary tables: groups of equal ones, histogram weights."""

    groups: tuple[UnaryGroup, ...]
    counts: NDArray[Any]
    maximise: bool
    _shares: dict[tuple[int, ...], Table] = field(default_factory=dict)

    @cached_property
    def convolution(self) -> Convolution:
        """The weights of all groups together."""
        return convolution([group.weights(self.maximise) for group in self.groups], self.maximise)

    @property
    def made(self) -> Made:
        """The weights as a table: sums of positive terms, off by a few units of their logs."""
        weights = self.convolution.weights[places(self.counts)]
        members_of = int(self.counts[0].sum())
        units = members_of + span(weights) * (2 + np.log2(1 + len(self.groups)))
        return Made(weights, 8 * UNIT * units)

    def marginals(self, histogram: Table) -> list[Table]:
        """The marginal of each group's members, given the histogram's log probabilities."""
        weights = self.convolution.weights[places(self.counts)]
        outside = as_array(self.counts, histogram - np.where(np.isneginf(weights), 0, weights))
        found = []
        for group, given in zip(self.groups, self.convolution.leaves_given(outside), strict=True):
            counts = histograms(group.count, len(group.unary))
            own = (group.weights() + given)[places(counts)]
            with np.errstate(divide="ignore"):
                shares = np.log(counts.astype(np.longdouble)) - np.log(np.longdouble(group.count))
            found.append(log_sum(own[:, None] + shares, axis=0))
        return found

    def log_shares(self, owners: tuple[int, ...]) -> Table:
        """log P(members of these groups have values a, b, … | histogram): histograms × values × ….

        Their values leave the histogram without them to all others: u[a] · v[b] · W₋₂[h − a − b] /
        W[h].
        """
        if owners not in self._shares:
            self._shares[owners] = self._found_shares(owners)
        return self._shares[owners]

    def _found_shares(self, owners: tuple[int, ...]) -> Table:
        size = self.counts.shape[1]
        left = [group.fewer(owners.count(number)) for number, group in enumerate(self.groups)]
        rest = convolution([group.weights() for group in left]).weights
        weight = self.convolution.weights[places(self.counts)]
        shift = np.where(np.isneginf(weight), 0, weight)
        share = np.full((len(self.counts), *(size,) * len(owners)), -np.inf, dtype=np.longdouble)
        for values in product(range(size), repeat=len(owners)):
            less = self.counts - np.bincount(values, minlength=size)
            possible = (less >= 0).all(axis=1)
            each = zip(owners, values, strict=True)
            own = sum(self.groups[owner].unary[value] for owner, value in each)
            share[(possible, *values)] = own + rest[places(less[possible])] - shift[possible]
        return share

    def best_split(self, histogram: Ints) -> list[Ints]:
        """The best histogram of each group among those that add up to the given one."""
        totals = [np.zeros((1,) * (len(histogram) - 1), dtype=np.longdouble)]
        own = [group.weights(maximise=True) for group in self.groups]
        for weights in own[:-1]:
            totals.append(convolved(totals[-1], weights, maximise=True))
        left, found = histogram.copy(), []
        for group, weights, total in zip(self.groups[::-1], own[::-1], totals[::-1], strict=True):
            counts = histograms(group.count, len(histogram))
            rest = left - counts
            possible = np.flatnonzero((rest >= 0).all(axis=1))
            sums = weights[places(counts[possible])] + total[places(rest[possible])]
            best = possible[np.argmax(sums)]
            found.append(counts[best])
            left = rest[best]
        return found[::-1]


@dataclass(frozen=True, eq=False)
class WeightedCountStep(Generic[New]):
    """Classes whose members differ in their unary tables became variables that count them.

    labels, kept, entries as in `CountStep`; rows: those before, which know the members of each row.
    """

    rows: RowSet[New]
    kept: ByArity
    classes: Classes
    variables: Ints
    weighed: tuple[Weighed, ...]
    entries: list[tuple[CountedRows[New], RowPlaces]]
    like: str

    def __str__(self) -> str:
        different = max(len(each.groups) for each in self.weighed)
        most = max(len(each.counts) for each in self.weighed)
        many = max(self.classes.counts)
        groups = f" each in {len(self.weighed)} groups" if len(self.weighed) > 1 else ""
        what = f"count {many} variables like {self.like}{groups}"
        return f"{what} with {different} different unary tables ({most} histograms)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """Given the histogram, members' values depend on their unary tables."""
        before = after.before(self.rows.labels, self.kept)
        group_of = np.zeros_like(after.marginals.of_variable)  # inside its class
        for variable, weighed in zip(self.variables.tolist(), self.weighed, strict=True):
            tables = weighed.marginals(after.marginals[variable])
            for number, (group, table) in enumerate(zip(weighed.groups, tables, strict=True)):
                after.marginals.add_one(group.variables, table)
                group_of[group.variables] = number
                if len(group.entries):
                    before[1][group.entries] = after.joints.add(table)
        for entry, (size, where) in self.entries:
            arity, rows = entry.old
            numbers = after.of_row[size][where[entry.groups]]
            scopes = np.take_along_axis(self.rows.scopes(arity)[rows], entry.order, axis=1)
            owners = group_of[scopes[:, entry.slots]]
            kinds = np.column_stack((numbers, entry.classes[entry.groups], owners, entry.order))
            for same in members(group_rows(kinds)):
                first = same[0]
                weighed = self.weighed[int(entry.classes[entry.groups[first]])]
                own = tuple(owners[first].tolist())
                later = partial(self._spread, after, int(numbers[first]), weighed, own, entry.slots)
                joint = np.array([after.joints.later_one(later)])
                before[arity][rows[same]] = in_order(after, joint, entry.order[first])
        return before

    @staticmethod
    def _spread(
        after: Adjoints,
        number: int,
        weighed: Weighed,
        owners: tuple[int, ...],
        slots: tuple[int, ...],
    ) -> Table:
        return spread_shares(after.joints[number], weighed.log_shares(owners), slots)

    def trace_back(self, values: Assignment[New]) -> None:
        """The best histogram falls apart into the best ones of the groups."""
        for variable, weighed in zip(self.variables, self.weighed, strict=True):
            histogram = weighed.counts[int(values.of(np.array([variable])).reshape(-1)[0])]
            for group, counts in zip(weighed.groups, weighed.best_split(histogram), strict=True):
                values.spread(group.variables, 0, counts)


def weighted_count(
    problem: Problem[New], classes: Classes | None = None, into: Ints | None = None
) -> tuple[Problem[New], WeightedCountStep[New]] | None:
    """Count the classes that differ, and in their unary tables only; None if none fits.

    classes, into: those to look at, and variables that are their histograms already and still lack
    their weights.
    """
    wide, variables = problem.rows.wide(), problem.variables
    unary = problem.rows.unary(len(variables))
    if classes is not None:
        proposals = [classes]
    else:
        proposals = wide.twins(variables.open, variables.sizes, problem.tables.slot_classes)
    for proposed in proposals:
        if problem.rows.members(proposed.variables) != sum(proposed.counts):
            # they name individuals that are not counted: a class has many histograms
            continue
        fitting = [each for each in range(len(proposed)) if _fits(problem, proposed, each)]
        if classes is None:
            labels = unary[0][proposed.variables]
            own_first = labels[proposed.starts[:-1]][proposed.owner]
            different = set(proposed.owner[labels != own_first].tolist())
            fitting = [each for each in fitting if each in different]
        chosen, counting, entries = countable(
            problem, wide, proposed.some(fitting), None if into is None else into[fitting]
        )
        if len(chosen):
            return _weighted_count(problem, chosen, counting, entries, unary)
    return None


def _fits(problem: Problem[New], classes: Classes, number: int) -> bool:
    """Whether the histograms' weights are cheap enough to be computed."""
    size = int(problem.variables.sizes[classes.members(number)[0]])
    many = classes.counts[number]
    values = number_of_histograms(many, size)
    array = (many + 1) ** (size - 1)
    cheap = max(values, array) <= MOST_ENTRIES and values * many * size <= MOST_WORK
    return cheap and size > 1


def _weighted_count(
    problem: Problem[New],
    chosen: Classes,
    variables: Ints,
    entries: list[CountedRows[New]],
    unary: tuple[Ints, Ints],
) -> tuple[Problem[New], WeightedCountStep[New]]:
    weighed = []
    for number in range(len(chosen)):
        own = chosen.members(number)
        counts = histograms(chosen.counts[number], int(problem.variables.sizes[own[0]]))
        weighed.append(Weighed(tuple(_groups(problem, unary, own)), counts, problem.maximise))
    made = [each.made for each in weighed]
    gone = [(1, group.entries) for each in weighed for group in each.groups]
    smaller, kept, placed = replace_members(problem, chosen, variables, entries, made, gone)
    like = problem.variables.name(int(chosen.variables[0]))
    return smaller, WeightedCountStep(
        problem.rows, kept, chosen, variables, tuple(weighed), placed, like
    )


def _groups(problem: Problem[New], unary: tuple[Ints, Ints], chosen: Ints) -> list[UnaryGroup]:
    """Members by their unary table (rows are merged, so each has one at most)."""
    label, entry = unary
    nothing = np.zeros(int(problem.variables.sizes[chosen[0]]), dtype=np.longdouble)
    found = []
    for same in members(by_first_occurrence(label[chosen] + 1)):
        group = chosen[same]
        number = int(label[group[0]])
        table = problem.tables[number] if number >= 0 else nothing
        own = entry[group][entry[group] >= 0]
        found.append(UnaryGroup(group, problem.rows.members(group), table, own))
    return found
