"""Drafts of parfactors in numbers: arguments and constraints that stand for a class of factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.table_support import TableSupport
from lifagu.relational.ground_tables import histogram_of_each
from lifagu.relational.substitutions import LIMIT
from lifagu.symmetry.lifting.classes import FactorClass, VariableClasses
from lifagu.symmetry.lifting.constraints import Condition, ListedConstants, Unequal, conditions_for
from lifagu.symmetry.lifting.coordinates import Coordinate, Coordinates
from lifagu.symmetry.lifting.dependent_columns import Structure
from lifagu.symmetry.lifting.whole_groups import Slot

MOST_COPIES = 64  # parfactors that may stand side by side for equal factors on equal arguments


@dataclass(frozen=True, eq=False)
class Frame:
    """What all drafts share: classes of variables, their alignment, coordinates of each part."""

    variables: VariableClasses
    structure: Structure
    coordinates: Coordinates
    _known: dict[int, list[Coordinate]] = field(default_factory=dict)

    def of(self, number: int) -> list[Coordinate]:
        """The coordinates of a class of variables, by place within it; none for a single one."""
        if self.variables.sizes[number] == 1:
            return []
        if number not in self._known:
            alignment = self.structure.alignment
            own = self.coordinates.of[alignment.part[number]]
            self._known[number] = [
                Coordinate(each.domain, each.values[alignment.index[number]]) for each in own
            ]
        return self._known[number]

    def size(self, domain: int) -> int:
        """The size of a domain."""
        return self.coordinates.domains[domain].size


@dataclass(frozen=True)
class DraftArgument:
    """A class of variables; of each of its coordinates the logical variable c ≥ 0, or constant ~c.

    counted: the logical variable that is counted, -1 if none.
    """

    variables: int
    codes: tuple[int, ...]
    counted: int = -1


@dataclass(frozen=True, eq=False)
class DraftParfactor:
    """A class of factors as one or several parfactors that differ in their conditions only.

    domains: of the logical variables; table: flat, in declared label orders, histograms for counted
    arguments; support: what all factors of the class have behind their table, None if they differ.
    """

    factors: Ints
    arguments: tuple[DraftArgument, ...]
    domains: tuple[int, ...]
    table: Floats | None
    copies: tuple[tuple[Condition, ...], ...]
    support: TableSupport | None = None


@dataclass
class _Logicals:
    """The logical variables of a draft: columns that are equal, or constant, are told once."""

    rows: int
    domains: list[int] = field(default_factory=list)
    columns: list[Ints] = field(default_factory=list)

    def code(self, coordinate: Coordinate) -> int:
        """The logical variable that takes these values, or the constant that they all are."""
        values = coordinate.values
        if (values == values[0]).all():
            return ~int(values[0])
        known = self.find(coordinate)
        if known is not None:
            return known
        self.domains.append(coordinate.domain)
        self.columns.append(values)
        return len(self.columns) - 1

    def find(self, coordinate: Coordinate) -> int | None:
        """The logical variable that takes these values, None if there is none."""
        for number, (domain, column) in enumerate(zip(self.domains, self.columns, strict=True)):
            if domain == coordinate.domain and np.array_equal(column, coordinate.values):
                return number
        return None


def draft_of(
    graph: FactorGraph, factors: FactorClass, slots: Sequence[Slot], frame: Frame
) -> DraftParfactor | None:
    """The draft of a class of factors, None if it has to stay in the ground part.

    Runs that cannot be counted, because their variables are not a whole domain in order, are listed
    one by one.
    """
    table = graph.factors[int(factors.factors[0])].table
    if table is not None and not table.any():
        return None  # only a grounding makes these; no parfactor may say so
    drafted = _drafted(factors, slots, frame)
    if drafted is None and len(factors.factors) > 1:
        slots = [
            Slot(each.first + place, 1, each.variables)
            for each in slots
            for place in range(each.length)
        ]
        drafted = _drafted(factors, slots, frame)
    if drafted is None:
        return None
    arguments, logicals, counted = drafted
    if len(factors.factors) == 1 and not counted:
        return None
    sizes = [frame.size(domain) for domain in logicals.domains]
    copies = _copies(logicals, sizes)
    if copies is None or any(_substitutions(copy, sizes) > LIMIT for copy in copies):
        return None
    potentials = None if table is None else _counted_table(table, slots)
    return DraftParfactor(
        factors.factors,
        arguments,
        (*logicals.domains, *(domain for domain, _ in counted)),
        potentials,
        tuple((*copy, *(condition for _, own in counted for condition in own)) for copy in copies),
        _shared_support(graph, factors.factors, bool(counted)),
    )


def _shared_support(graph: FactorGraph, factors: Ints, counted: bool) -> TableSupport | None:
    """The support of all factors of a class if it is the same; with counting, a number alone."""
    if graph.support is None or not graph.support.alike(factors):
        return None
    support = graph.factors[int(factors[0])].support
    if counted and support != TableSupport(support.records[:1] if support else ()):
        return None
    return support


def _drafted(
    factors: FactorClass, slots: Sequence[Slot], frame: Frame
) -> tuple[tuple[DraftArgument, ...], _Logicals, list[tuple[int, list[Condition]]]] | None:
    """Arguments, logical variables, domains and conditions of counted ones; None if impossible."""
    places = frame.variables.place[factors.arguments]
    logicals = _Logicals(len(places))
    arguments: list[DraftArgument] = []
    runs: list[tuple[int, Coordinate]] = []  # argument, and its counted coordinate as a matrix
    for slot in slots:
        taken = places[:, slot.first : slot.first + slot.length]
        codes: list[int] = []
        counted = -1
        for each in frame.of(slot.variables):
            values = each.values[taken]
            if slot.length == 1 or (values == values[:, :1]).all():
                codes.append(logicals.code(Coordinate(each.domain, values[:, 0])))
            elif counted < 0:
                counted = len(codes)
                codes.append(0)
                runs.append((len(arguments), Coordinate(each.domain, values)))
            else:
                return None  # the run varies in two coordinates
        arguments.append(DraftArgument(slot.variables, tuple(codes), counted))
    own: list[tuple[int, list[Condition]]] = []
    for place, run in runs:
        number = len(logicals.columns) + len(own)
        conditions = _whole(run, number, logicals, frame.size(run.domain))
        if conditions is None:
            return None
        at = arguments[place].counted
        codes = [number if each == at else code for each, code in enumerate(arguments[place].codes)]
        arguments[place] = DraftArgument(arguments[place].variables, tuple(codes), number)
        own.append((run.domain, conditions))
    return tuple(arguments), logicals, own


def _whole(run: Coordinate, number: int, logicals: _Logicals, size: int) -> list[Condition] | None:
    """Conditions by which a logical variable takes a run's values, in order; None if none do."""
    values = run.values
    if not (np.diff(values, axis=1) > 0).all():
        return None
    if values.shape[1] == size:
        return []
    if (values == values[0]).all():
        return [ListedConstants((number,), values[0][:, None], True)]
    if values.shape[1] == size - 1:
        missing = Coordinate(run.domain, size * (size - 1) // 2 - values.sum(axis=1))
        other = logicals.find(missing)
        return None if other is None else [Unequal(other, number)]
    return None


def _copies(logicals: _Logicals, sizes: Sequence[int]) -> list[list[Condition]] | None:
    """The conditions of each parfactor: of one, or of several where factors are parallel."""
    if not logicals.columns:
        return [[] for _ in range(logicals.rows)] if logicals.rows <= MOST_COPIES else None
    rows = np.column_stack(logicals.columns)
    if math.prod(sizes) == len(rows):
        codes = np.ravel_multi_index(tuple(logicals.columns), sizes)
        if np.bincount(codes, minlength=len(rows)).all():
            return [[]]  # each substitution once
    alike = group_rows(rows)
    counts = np.bincount(alike)
    if counts.max() > MOST_COPIES:
        return None
    rows = rows[first_places(alike)]
    layers = [rows[counts > layer] for layer in range(int(counts.max()))]
    return [conditions_for(layer, logicals.domains, sizes) for layer in layers]


def _substitutions(conditions: Sequence[Condition], sizes: Sequence[int]) -> int:
    """How many substitutions have to be looked at to find the admitted ones."""
    listed = [
        each
        for each in conditions
        if isinstance(each, ListedConstants) and each.inside and len(each.variables) > 1
    ]
    joined = {variable for each in listed for variable in each.variables}
    free = math.prod(size for variable, size in enumerate(sizes) if variable not in joined)
    return free * math.prod(len(each.rows) for each in listed)


def _counted_table(table: Floats, slots: Sequence[Slot]) -> Floats:
    """A flat table with one axis per slot: of the entries for equal counts the first is kept."""
    for axis, slot in enumerate(slots):
        if slot.length > 1:
            size = table.shape[axis]
            shape = (*table.shape[:axis], size**slot.length, *table.shape[axis + slot.length :])
            kept = first_places(histogram_of_each(slot.length, size))
            table = np.take(table.reshape(shape), kept, axis=axis)
    return table.reshape(-1)
