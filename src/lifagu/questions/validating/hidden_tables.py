"""Known tables hidden, filled like holes, and compared with what they were."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, frozen, group_rows, members
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import number
from lifagu.errors import ModelError
from lifagu.filling.rules import Filling
from lifagu.filling.transfer import fill
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables
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
        """The mean of these known tables for each place of wanted factors, axes by role."""
        known = known[np.isin(self.signature[known], self.signature[wanted])]
        tables, of_factor = self.graph.tables, self.graph.factor_table
        alike = group_rows(np.column_stack((self.signature[known], self.orders(known) + 1)))
        totals: dict[int, Floats] = {}
        for group in members(alike):  # one place, arguments in one order
            first = int(known[group[0]])
            numbers, counts = np.unique(of_factor[known[group]], return_counts=True)
            shape = tables[int(of_factor[first])].shape
            rows = tables.values[tables.offsets[numbers, None] + np.arange(math.prod(shape))]
            rows = rows / rows.max(axis=1, keepdims=True)
            total = (counts / rows.sum(axis=1)) @ rows
            place = int(self.signature[first])
            aligned = total.reshape(shape).transpose(self.by_role(first))
            totals[place] = totals.get(place, 0.0) + aligned
        return {place: normalised(total) for place, total in totals.items()}


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
    pooled = places.pooled(np.flatnonzero(numbers >= 0), hidden)
    # factors with the same tables in the same order are compared once
    filled, answered = (FilledTables.of(each, graph, hidden) for each in (moved.graph, shown))
    own = (places.signature[hidden], graph.factor_table[hidden], places.orders(hidden))
    alike = group_rows(np.column_stack([*own, *(each.columns for each in (filled, answered))]) + 1)
    rows = [
        _compared(places, int(hidden[place]), filled.table(place), answered.table(place), pooled)
        for place in first_places(alike).tolist()
    ]
    found = np.array(rows, dtype=np.float64).reshape(-1, 4)[alike]
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
    places: TablePlaces,
    factor: int,
    winner: Floats | None,
    answered: Floats | None,
    pooled: dict[int, Floats],
) -> tuple[float, float, float, bool]:
    """Divergences of what was filled, of the place's mean and of nothing; whether it was right."""
    graph = places.graph
    truth = normalised(graph.tables[int(graph.factor_table[factor])])
    flat = np.full(truth.shape, 1.0 / truth.size)
    of_place = pooled.get(int(places.signature[factor]))
    lent = flat
    if of_place is not None:
        lent = of_place.transpose(np.argsort(places.by_role(factor)))
    return (
        divergence(truth, flat if answered is None else answered),
        divergence(truth, lent),
        divergence(truth, flat),
        winner is not None and is_equal(truth, winner),
    )


@dataclass(frozen=True, eq=False)
class FilledTables:
    """The tables that some factors were given, and where their own arguments stand in them.

    columns: for each factor the number of its table, -1 for none, and the place of each argument,
    padded with -1.
    """

    graph: FactorGraph
    columns: Ints

    @classmethod
    def of(cls, filled: FactorGraph, graph: FactorGraph, factors: Ints) -> FilledTables:
        """From the completed graph and the one whose order of arguments counts."""
        lengths = np.diff(graph.offsets)[factors]
        columns = np.full((len(factors), 1 + int(lengths.max(initial=0))), -1, dtype=np.int64)
        columns[:, 0] = filled.factor_table[factors]
        for arity in np.unique(lengths).tolist():
            here = np.flatnonzero(lengths == arity)
            slots = graph.offsets[factors[here], None] + np.arange(arity)
            theirs, mine = (
                np.argsort(each.arguments[slots], axis=1, kind="stable") for each in (filled, graph)
            )
            places = np.zeros_like(mine)
            np.put_along_axis(places, mine, theirs, axis=1)
            columns[here, 1 : 1 + arity] = places
        return cls(filled, columns)

    def table(self, place: int) -> Floats | None:
        """The table of one of the factors, normalised, axes in its own order."""
        number, *axes = self.columns[place].tolist()
        if number < 0:
            return None
        return normalised(self.graph.tables[number]).transpose([each for each in axes if each >= 0])


def normalised(table: Floats) -> Floats:
    """A table scaled to sum 1; large numbers do no harm."""
    scaled = table / table.max()
    return np.asarray(scaled / scaled.sum())


def is_equal(truth: Floats, other: Floats) -> bool:
    """Whether two normalised tables are the same but for rounding."""
    return bool(np.allclose(other, truth, rtol=EQUAL, atol=0.0))


def divergence(truth: Floats, other: Floats) -> float:
    """Kullback–Leibler divergence of a normalised table from the true one, in nats.

    >>> round(divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75])), 6)
    0.143841
    """
    if is_equal(truth, other):
        return 0.0
    floored = np.maximum(other, FLOOR)
    there = truth > 0
    ratio = truth[there] / (floored / floored.sum())[there]
    return float((truth[there] * np.log(ratio)).sum())
