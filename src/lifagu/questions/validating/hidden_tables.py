"""Known tables hidden, filled like holes, and compared with what they were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, frozen, group_rows, members
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import number
from lifagu.errors import ModelError
from lifagu.filling.rules import Filling
from lifagu.filling.transfer import fill
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables, Tables
from lifagu.likeness.roles import by_arity, factor_signatures, variable_roles
from lifagu.questions.validating.hiding import Hiding
from lifagu.questions.validating.observed_cells import head_and_inside
from lifagu.questions.validating.scores import Bin, Flags, Mean, mean, reliability

EQUAL = 1e-9  # relative difference up to which a table is the right one
FLOOR = 1e-6  # no state of a filled table counts as less probable, so that divergences are finite


@dataclass(frozen=True, eq=False)
class TableScores(Frozen):
    """What n tables that were hidden and filled again are worth, one by one.

    places: the sorts of factors, place_of[n]: which one it is; divergences[n]: of what was filled
    from the truth, both normalised, in nats; pooled[n], uniform[n]: the same for the mean of the
    other known tables of its place, and with the factor dropped; right[n]: whether the winning
    table is the true one; stated[n]: the share that was stated, nan where nothing could be filled;
    exact[n]: whether the true table is one that was given, not estimated from records, for which
    another could be as true.
    """

    places: tuple[str, ...]
    place_of: Ints
    divergences: Floats
    pooled: Floats
    uniform: Floats
    right: Flags
    stated: Floats
    exact: Flags

    def __len__(self) -> int:
        return len(self.divergences)

    @property
    def left(self) -> int:
        """How many could not be filled; these are scored as if the factor were dropped."""
        return int(np.isnan(self.stated).sum())

    @property
    def share_right(self) -> Mean:
        """Share of exact tables that came back as they were."""
        return mean(self.right[self.exact])

    @cached_property
    def bins(self) -> list[Bin]:
        """Stated shares beside how often the table was right, of exact tables that were filled."""
        filled = ~np.isnan(self.stated) & self.exact
        return reliability(self.stated[filled], self.right[filled])

    def only(self, place: int) -> TableScores:
        """The scores of one place."""
        here = self.place_of == place
        return TableScores(self.places, *(column[here] for column in self._columns))

    @property
    def _columns(self) -> tuple[Any, ...]:
        """All that there is for each table."""
        return tuple(getattr(self, each.name) for each in fields(self)[1:])

    @classmethod
    def joined(cls, parts: list[TableScores]) -> TableScores:
        """The scores of several folds, whose places are the same."""
        columns = zip(*(each._columns for each in parts), strict=True)
        return cls(parts[0].places, *map(np.concatenate, columns))


@dataclass(frozen=True, eq=False)
class TablePlaces(Frozen):
    """Places of factors: those in one place could lend to one another.

    signature[m]: the place of each factor; order[e]: its arguments sorted by role.
    """

    graph: FactorGraph
    signature: Ints
    order: Ints

    @classmethod
    def of(cls, graph: FactorGraph) -> TablePlaces:
        """The places of a graph's factors, by roles with kinds."""
        keys = variable_roles(graph)[graph.arguments]
        order = np.zeros_like(graph.arguments)
        for factors, matrix in by_arity(graph, keys):
            slots = graph.offsets[factors, None] + np.arange(matrix.shape[1])
            order[slots] = np.argsort(matrix, axis=1, kind="stable")
        return cls(graph, factor_signatures(graph.offsets, keys), frozen(order))

    @cached_property
    def offered(self) -> Ints:
        """Known tables that may be hidden: their place has a hole, or another known table."""
        known = self.graph.factor_table >= 0
        count = int(self.signature.max(initial=-1)) + 1
        tables = np.bincount(self.signature[known], minlength=count)
        holes = np.bincount(self.signature[~known], minlength=count)
        return np.flatnonzero(known & ((holes > 0) | (tables > 1))[self.signature])

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], Ints]:
        """What factors of each place are called, and the number of that title for each place."""
        known: dict[str, int] = {}
        first = first_places(self.signature).tolist()
        heads = (head_and_inside(self.graph.factor_names[each])[0] for each in first)
        numbers = [known.setdefault(head, len(known)) for head in heads]
        return tuple(known), np.array(numbers, dtype=np.int64)

    def by_role(self, factor: int) -> tuple[int, ...]:
        """The arguments of a factor sorted by role, as places in its list."""
        graph = self.graph
        return tuple(self.order[graph.offsets[factor] : graph.offsets[factor + 1]].tolist())

    def orders(self, factors: Ints) -> Ints:
        """The same for many factors, padded with -1."""
        lengths = np.diff(self.graph.offsets)[factors]
        found = np.full((len(factors), int(lengths.max(initial=0))), -1, dtype=np.int64)
        for slot in range(found.shape[1]):
            has = lengths > slot
            found[has, slot] = self.order[self.graph.offsets[factors[has]] + slot]
        return found

    def pooled(self, known: Ints, wanted: Ints) -> dict[int, Floats]:
        """The mean of these known tables for each place of wanted factors, a row, axes by role."""
        known = known[np.isin(self.signature[known], self.signature[wanted])]
        tables, of_factor = self.graph.tables, self.graph.factor_table
        alike = group_rows(np.column_stack((self.signature[known], self.orders(known) + 1)))
        totals: dict[int, Floats] = {}
        for group in members(alike):  # one place, arguments in one order
            first = int(known[group[0]])
            numbers, counts = np.unique(of_factor[known[group]], return_counts=True)
            total = counts @ table_rows(tables, numbers, self.by_role(first))
            place = int(self.signature[first])
            totals[place] = totals.get(place, 0.0) + total
        return {place: total / total.sum() for place, total in totals.items()}

    def in_own_order(self, row: Floats, factor: int) -> Floats:
        """A table by role, as a row, with the axes of one of the factors of that place."""
        sizes, order = self.graph.sizes[self.graph.scope(factor)], self.by_role(factor)
        turned: Floats = row.reshape(sizes[list(order)]).transpose(np.argsort(order)).reshape(-1)
        return turned


def folds_of_tables(places: TablePlaces, share: float, hiding: Hiding) -> list[Ints]:
    """For each fold the factors whose tables are hidden, ascending."""
    if not 0 < number("hide_tables", share) < 1:
        raise ModelError(f"hide_tables is a share between 0 and 1, such as 0.15, not {share}")
    offered = hiding.rng.permutation(places.offered)
    if not len(offered):
        raise ModelError(
            "no table can be hidden: there is no place with a hole or with several known tables"
        )
    folds = min(hiding.folds, len(offered))
    if folds > 1:
        return [np.sort(offered[fold::folds]) for fold in range(folds)]
    return [np.sort(offered[: max(1, round(share * len(offered)))])]


def score_tables(
    places: TablePlaces, hidden: Ints, filling: Filling, evidence: Evidence
) -> TableScores:
    """Hide some tables, fill them like any hole, and compare."""
    graph = places.graph
    numbers = graph.factor_table.copy()
    numbers[hidden] = -1
    holed = graph.refilled(GivenTables(graph.tables.values, graph.tables.offsets), numbers)
    moved = fill(holed, filling, evidence if filling.uses_evidence else None)
    shown = moved.graph if filling.unknown == "one" else moved.averaged()
    found = _compared(places, hidden, np.flatnonzero(numbers >= 0), moved.graph, shown)
    stated = moved.shares[np.searchsorted(moved.unknown, hidden)].copy()
    stated[~np.isin(hidden, moved.transferred)] = np.nan
    titles, number_of = places.titles
    return TableScores(
        titles,
        number_of[places.signature[hidden]],
        found[:, 0],
        found[:, 1],
        found[:, 2],
        found[:, 3] > 0,
        stated,
        np.ones(len(hidden), dtype=np.bool_)
        if graph.support is None
        else ~graph.support.estimated[hidden],
    )


def _compared(
    places: TablePlaces, hidden: Ints, known: Ints, winning: FactorGraph, shown: FactorGraph
) -> Floats:
    """For each hidden table the divergences of what is shown, of its place's mean and of nothing.

    In the last column 1 where the winning table is the right one.
    """
    graph, pooled = places.graph, places.pooled(known, hidden)
    winners, answers = (FilledTables.of(each, graph, hidden) for each in (winning, shown))
    filled = ((each.numbers >= 0).astype(np.int64) for each in (winners, answers))
    orders = (places.orders(hidden), winners.orders, answers.orders)
    alike = group_rows(np.column_stack((places.signature[hidden], *filled, *orders)) + 1)
    found = np.zeros((len(hidden), 4))
    for group in members(alike):  # one place, arguments in one order
        first = int(hidden[group[0]])
        axes = range(len(graph.scope(first)))
        truth = table_rows(graph.tables, graph.factor_table[hidden[group]], axes)
        flat = np.full_like(truth, 1 / truth.shape[1])
        of_place = pooled.get(int(places.signature[first]))
        lent = flat if of_place is None else places.in_own_order(of_place, first)
        winner, answer = winners.rows(group), answers.rows(group)
        found[group, 0] = divergences(truth, flat if answer is None else answer)
        found[group, 1] = divergences(truth, np.broadcast_to(lent, truth.shape))
        found[group, 2] = divergences(truth, flat)
        found[group, 3] = winner is not None and are_equal(truth, winner)
    return found


@dataclass(frozen=True, eq=False)
class FilledTables:
    """The tables that n factors were given, and where their own arguments stand in them.

    numbers[n]: -1 for none; orders: the place of each argument, padded with -1, all -1 for none.
    """

    graph: FactorGraph
    numbers: Ints
    orders: Ints

    @classmethod
    def of(cls, filled: FactorGraph, graph: FactorGraph, factors: Ints) -> FilledTables:
        """From the completed graph and the one whose order of arguments counts."""
        lengths, numbers = np.diff(graph.offsets)[factors], filled.factor_table[factors]
        orders = np.full((len(factors), int(lengths.max(initial=0))), -1, dtype=np.int64)
        for arity in np.unique(lengths).tolist():
            here = np.flatnonzero((lengths == arity) & (numbers >= 0))
            slots = graph.offsets[factors[here], None] + np.arange(arity)
            theirs, mine = (
                np.argsort(each.arguments[slots], axis=1, kind="stable") for each in (filled, graph)
            )
            places = np.zeros_like(mine)
            np.put_along_axis(places, mine, theirs, axis=1)
            orders[here, :arity] = places
        return cls(filled, numbers, orders)

    def rows(self, group: Ints) -> Floats | None:
        """The tables of some factors with equal orders, axes in their own order; None if none."""
        axes = [each for each in self.orders[group[0]].tolist() if each >= 0]
        if self.numbers[group[0]] < 0:
            return None
        return table_rows(self.graph.tables, self.numbers[group], axes)


def table_rows(tables: Tables, numbers: Ints, axes: Sequence[int]) -> Floats:
    """Tables of one shape as rows that sum to 1, axes in another order; large numbers do no harm.

    numbers[n]; the result has a row for each and a column for each state.
    """
    shape = tables[int(numbers[0])].shape
    flat = tables.values[tables.offsets[numbers, None] + np.arange(math.prod(shape))]
    turned = flat.reshape(-1, *shape).transpose(0, *(1 + each for each in axes))
    rows = turned.reshape(len(numbers), -1)
    rows = rows / rows.max(axis=1, keepdims=True)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def are_equal(truth: Floats, other: Floats) -> Flags:
    """Which of some normalised tables are the same but for rounding."""
    return np.asarray((np.abs(other - truth) <= EQUAL * truth).all(axis=1))


def divergences(truth: Floats, other: Floats) -> Floats:
    """Kullback–Leibler divergences of normalised tables from the true ones, in nats, row by row.

    >>> divergences(np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])).round(6).tolist()
    [0.143841]
    """
    floored = np.maximum(other, FLOOR)
    floored = floored / floored.sum(axis=1, keepdims=True)
    there = truth > 0
    logs = np.log(np.where(there, truth, 1.0)) - np.log(np.where(there, floored, 1.0))
    return np.where(are_equal(truth, other), 0.0, (truth * logs).sum(axis=1))
