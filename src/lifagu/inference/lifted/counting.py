"""Count: a class of interchangeable variables becomes one variable whose values are histograms.

Interchangeable: swapping two members changes neither rows nor tables. All classes that can be
counted at the same time are counted in one step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.words import counted
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.careful_table import Made, histogram_weights
from lifagu.inference.lifted.careful_table import counted as counted_table
from lifagu.inference.lifted.integers import histograms, number_of_histograms
from lifagu.inference.lifted.logs import Table, log_member_shares, log_sum
from lifagu.inference.lifted.merging import in_order
from lifagu.inference.lifted.problem import Problem, Tie
from lifagu.inference.lifted.rows import ByArity, Classes, CountedRows, New, RowPlaces, RowSet

MOST_ENTRIES = 2**22  # of a table made by counting
ALIKE = 4  # classes with at most so many times the fewest histograms are counted in the same step
ALWAYS = 64  # as are those with at most so many

Counts = NDArray[Any]  # histograms × range size


@dataclass(frozen=True, eq=False)
class CountStep(Generic[New]):
    """Classes of interchangeable variables became variables whose values are histograms.

    labels, kept: the rows before, and which were left alone; sizes: the range size of each class's
    members; entries: what happened to the other rows, and where they went; like: the name of a
    member; into: whether the counting variables were there before.
    """

    labels: ByArity
    kept: ByArity
    classes: Classes
    variables: Ints
    sizes: Ints
    entries: list[tuple[CountedRows[New], RowPlaces]]
    like: str
    into: bool = False

    def __str__(self) -> str:
        classes = self.classes
        largest = max(classes.counts)
        most = max(
            number_of_histograms(many, int(size))
            for many, size in zip(classes.counts, self.sizes, strict=True)
        )
        if len(classes) > 1:
            each = f"{'up to ' if min(classes.counts) < largest else ''}{largest}"
            what = f"count {each} interchangeable variables like {self.like}"
            what += f" each in {len(classes)} groups"
        else:
            what = f"count {counted(largest, 'interchangeable variable')} like {self.like}"
        return f"{what} into it" if self.into else f"{what} ({most} histograms)"

    def histograms(self, number: int) -> Counts:
        """The histograms of one class."""
        return _histograms(self.classes.counts[number], int(self.sizes[number]))

    def walk_back(self, after: Adjoints) -> ByArity:
        """Given the histogram, which members have which values is uniform."""
        before = after.before(self.labels, self.kept)
        self.members(after)
        for entry, (size, places) in self.entries:
            arity, rows = entry.old
            numbers = after.of_row[size][places[entry.groups]]
            counts = self.histograms(int(entry.classes[0]))
            spread = cache(partial(self._spread, after, counts, entry))
            for same, number, order in after.alike(numbers, entry.order):
                before[arity][rows[same]] = in_order(after, np.array([spread(number)]), order)
        return before

    def _spread(self, after: Adjoints, counts: Counts, entry: CountedRows[New], number: int) -> int:
        """The number of a joint marginal with members, given that with their histogram."""
        return after.joints.later_one(
            lambda: spread_members(after.joints[number], counts, entry.slots, entry.tie)
        )

    def members(self, after: Adjoints) -> None:
        """The marginal of counted members: E[histogram] / N."""
        number = after.marginals.of_variable[self.variables]
        alike: dict[tuple[int, ...], list[int]] = {}
        kinds = zip(number.tolist(), self.classes.counts, self.sizes.tolist(), strict=True)
        for place, kind in enumerate(kinds):
            alike.setdefault(kind, []).append(place)
        for places in alike.values():
            histogram = after.marginals[int(self.variables[places[0]])]
            marginal = spread_members(histogram, self.histograms(places[0]), (0,), -1)
            own = np.concatenate([self.classes.members(place) for place in places])
            after.marginals.add_one(own, marginal)

    def trace_back(self, values: Assignment[New]) -> None:
        """So many members as the best histogram says take each value, the lowest values first."""
        for place, variable in enumerate(self.variables):
            counts = self.histograms(place)[values.of(np.array([variable]))]
            values.spread(self.classes.members(place), self.classes.logical, counts)


@lru_cache(maxsize=8)
def _histograms(members: int, size: int) -> Counts:
    return histograms(members, size)


def spread_members(joint: Table, counts: Counts, slots: tuple[int, ...], tie: int) -> Table:
    """The joint marginal of a row's members (at these slots) and others, given the histogram's.

    joint: histogram × others; tie: the slot of a row that holds the histogram itself, -1 if it does
    not.
    """
    return spread_shares(joint, log_member_shares(counts, len(slots)), slots, tie)


def spread_shares(joint: Table, shares: Table, slots: tuple[int, ...], tie: int = -1) -> Table:
    """The same, given log P(values | histogram), with one axis per member after the histogram's."""
    sizes, others = shares.shape[1:], joint.shape[1:]
    spread: Table = np.empty(sizes + (joint.shape if tie >= 0 else others), dtype=np.longdouble)
    for values in np.ndindex(*sizes):
        own = joint + shares[(slice(None), *values)].reshape(-1, *(1,) * len(others))
        spread[values] = own if tie >= 0 else log_sum(own, axis=0)
    targets = (*slots, tie) if tie >= 0 else slots
    return np.moveaxis(spread, range(len(targets)), targets)


# ---- counting


def count_cheapest(
    problem: Problem[New], proposals: Sequence[Classes]
) -> tuple[Problem[New], CountStep[New]] | None:
    """Count the classes with the fewest histograms that work out; None if none does."""
    for classes in sorted(proposals, key=lambda each: min(_prices(problem, each))):
        if (found := count(problem, classes)) is not None:
            return found
    return None


def _prices(problem: Problem[New], classes: Classes) -> list[tuple[int, int]]:
    """For each class the number of its histograms, and its first member."""
    sizes = problem.variables.sizes[classes.firsts].tolist()
    numbers = map(number_of_histograms, classes.counts, sizes)
    return list(zip(numbers, classes.firsts.tolist(), strict=True))


def count(
    problem: Problem[New], classes: Classes, into: Ints | None = None
) -> tuple[Problem[New], CountStep[New]] | None:
    """Count the cheapest classes that are interchangeable; None if there are none that fit.

    into: variables that are their histograms already and still lack their weights.
    """
    chosen, variables, entries = countable(problem, problem.rows, classes, into)
    if not len(chosen):
        return None
    sizes = problem.variables.sizes[chosen.firsts]
    kinds = list(zip(chosen.counts, sizes.tolist(), strict=True))
    alike = {each: histogram_weights(_histograms(*each), problem.maximise) for each in set(kinds)}
    weights = [alike[each] for each in kinds]
    smaller, kept, placed = replace_members(problem, chosen, variables, entries, weights, ())
    like = problem.variables.name(int(chosen.variables[0]))
    return smaller, CountStep(
        problem.rows.labels, kept, chosen, variables, sizes, placed, like, into is not None
    )


def affordable(problem: Problem[New], classes: Classes) -> list[int]:
    """The classes with few histograms, cheapest first: a few times those of the cheapest."""
    prices = _prices(problem, classes)
    fewest, _ = min(prices, default=(0, 0))
    most = min(max(ALIKE * fewest, ALWAYS), MOST_ENTRIES)
    order = sorted(range(len(prices)), key=prices.__getitem__)
    return [each for each in order if prices[each][0] <= most]


def countable(
    problem: Problem[New], rows: RowSet[New], classes: Classes, into: Ints | None
) -> tuple[Classes, Ints, list[CountedRows[New]]]:
    """The classes that can be counted now, the variables that count them, and the new rows.

    They are cheap, interchangeable, share no row, and their tables are symmetric and not too large.
    """
    new = np.arange(len(classes)) + len(problem.variables)
    slot_classes = problem.tables.slot_classes
    left = affordable(problem, classes)
    if left:
        right = rows.interchangeable(
            classes.some(left), new[left] if into is None else into[left], slot_classes
        )
        left = [left[each] for each in right]
    while left:
        taken = [left[each] for each in rows.apart_from_each_other(classes.some(left))]
        chosen, variables = classes.some(taken), new[: len(taken)] if into is None else into[taken]
        entries = rows.quotient(chosen, variables, slot_classes)
        wrong = {
            taken[int(each)]
            for entry in entries
            if not _fits(problem, chosen, entry)
            for each in entry.classes
        }
        if not wrong:
            return chosen, variables, entries
        left = [each for each in left if each not in wrong]
    return classes.some([]), new[:0], []


def _fits(problem: Problem[New], classes: Classes, entry: CountedRows[New]) -> bool:
    """Whether counting an entry's members is exact and its new table not too large."""
    shape = problem.tables[entry.label].shape
    counted_slots = (*entry.slots, entry.tie)
    others = math.prod(size for slot, size in enumerate(shape) if slot not in counted_slots)
    many = number_of_histograms(classes.counts[int(entry.classes[0])], shape[entry.slots[0]])
    return many * others <= MOST_ENTRIES and problem.tables.symmetric(entry.label, entry.slots)


def replace_members(
    problem: Problem[New],
    classes: Classes,
    variables: Ints,
    entries: Sequence[CountedRows[New]],
    weights: Sequence[Made],
    gone: Sequence[RowPlaces],
) -> tuple[Problem[New], ByArity, list[tuple[CountedRows[New], RowPlaces]]]:
    """Put variables with these weights in the place of classes; further rows are gone, too.

    Returns the problem after, which rows were left alone, and where the others went.
    """
    rows, after = problem.rows, problem.variables.without(classes.variables)
    if int(variables[0]) >= len(problem.variables):
        rows = rows.naming(variables, int(classes.variables[0]), classes.logical)
        after = after.plus([len(made.values) for made in weights])
    else:
        after = after.opened(variables.tolist())
    new, log_weights = [], []
    for entry, many, made in _new_tables(problem, rows, classes, variables, entries, weights):
        label, weight = problem.tables.add(made, rows.weight(entry))
        new.append((entry, np.full(many, label)))
        log_weights.append(weight)
    gone = [*gone, *(entry.old for entry in entries)]
    smaller, kept, places = problem.exchanged(rows, gone, new, after, log_weights)
    placed = list(zip(entries, places[len(new) - len(entries) :], strict=True))
    return replace(smaller, ties=_untied(problem.ties, variables)), kept, placed


def _new_tables(
    problem: Problem[New],
    rows: RowSet[New],
    classes: Classes,
    variables: Ints,
    entries: Sequence[CountedRows[New]],
    weights: Sequence[Made],
) -> Iterator[tuple[New, int, Made]]:
    """New entries, how many they are, and their table: weights of histograms, then counted rows."""
    alike: dict[int, list[int]] = {}
    for place, own in enumerate(map(id, weights)):
        alike.setdefault(own, []).append(place)
    for same in alike.values():
        yield rows.alone(variables[same]), len(same), weights[same[0]]
    sizes = problem.variables.sizes[classes.firsts].tolist()
    for entry in entries:
        number = int(entry.classes[0])
        counts, many = _histograms(classes.counts[number], sizes[number]), rows.weight(entry.new)
        table = problem.tables.made(entry.label)
        made = counted_table(table, entry.slots, entry.tie, counts, many)
        yield entry.new, len(entry.classes), made


def _untied(ties: Sequence[Tie], variables: Ints) -> tuple[Tie, ...]:
    """The ties without those of some variables."""
    left = []
    for tie in ties:
        stays = np.flatnonzero(~np.isin(tie.variables, variables))
        if len(stays):
            left.append(Tie(tie.variables[stays], tie.classes.some(stays.tolist())))
    return tuple(left)
