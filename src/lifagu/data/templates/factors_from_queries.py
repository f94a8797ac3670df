"""Parfactors whose substitutions are rows, each with a table of its own, a shared one, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import Batch, batches, first_repeated, places_of
from lifagu.data.templates.constants import Constants
from lifagu.data.templates.counted_tables import CountedTables, numbered
from lifagu.data.templates.grouped_tables import literal_tables
from lifagu.data.templates.groups import GroupCodes, GroupKey
from lifagu.data.templates.row_supports import RowSupports
from lifagu.data.templates.row_tables import DistinctTables
from lifagu.errors import FormatError
from lifagu.graph.ranges import Labels
from lifagu.graph.supports import Supports
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.ground_tables import lexicographic_codes
from lifagu.relational.grounding import TabledRows
from lifagu.relational.learning_task import GroupLevel
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.shared_arrays import SharedArrays
from lifagu.relational.substitutions import substitutions
from lifagu.relational.template import Counted, Query, RowParfactor, Template


class RowTables(NamedTuple):
    """The numbers of tables, -1 = unknown, and how many records stand behind each one's."""

    table_of: Ints
    support: Supports | None

    def taken(self, places: Ints) -> RowTables:
        """The same for others, each of which has what stands at some place."""
        return RowTables(self.table_of[places], self.support and self.support.taken(places))


class ReadRows(NamedTuple):
    """The ground factors of a parfactor, and groups of them where their table is learned by group.

    The rows of levels are in the order of the ground factors.
    """

    listed: TabledRows
    levels: tuple[GroupLevel, ...] = ()


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reads the row parfactors of a template whose literal parts are known."""

    template: Template
    model: ParfactorGraph
    database: Database
    progress: Announce
    _constants: dict[str, Constants] = field(default_factory=dict)
    _shared: SharedArrays = field(default_factory=SharedArrays)
    _plain: dict[tuple[str, tuple[str, ...], tuple[int, ...]], Ints] = field(default_factory=dict)

    def constants(self, number: int) -> Constants:
        """The way from values to the constants of a domain."""
        domain = self.model.vocabulary.domains[number]
        return self._constants.setdefault(domain.name, Constants(domain))

    def rows_of(self, number: int, parfactor: RowParfactor) -> ReadRows:
        """The ground factors of a parfactor."""
        bound = self.model.bound[number]
        tables = DistinctTables(int(np.prod(bound.shape)), self.template.tables)
        query, by = parfactor.rows, parfactor.by
        if parfactor.counted and len(parfactor.counted.prior) not in (1, tables.span):
            raise FormatError(
                f"{parfactor.place}.table: prior has {len(parfactor.counted.prior)} numbers, but "
                f"the arguments span {tables.span} states; give as many, or a single one"
            )
        if query is None or not (parfactor.column or parfactor.support or by):
            rows = substitutions(bound) if query is None else self._plain_rows(number, query)
            shared = self._table_of_all(number, parfactor, tables)
            alike = shared.taken(np.zeros(len(rows), dtype=np.int64))
            return self._kept_once(ReadRows(TabledRows(rows, tables.tables, *alike)))
        groups = GroupCodes(len(by))
        rows, found = self._fetched(number, query, parfactor, tables, groups)
        order = self._order(bound, query, rows)
        levels = groups.levels(by, order) if parfactor.is_told_later and by else ()
        listed = TabledRows(rows[order], tables.tables, *found.taken(order))
        return self._kept_once(ReadRows(listed, levels))

    def _kept_once(self, read: ReadRows) -> ReadRows:
        """The same; arrays that other parfactors have as well are theirs."""
        one, listed = self._shared.one, read.listed
        levels = tuple(replace(each, of_row=one(each.of_row)) for each in read.levels)
        return ReadRows(
            replace(listed, rows=one(listed.rows), table_of=one(listed.table_of)), levels
        )

    def _order(self, bound: BoundParfactor, query: Query, rows: Ints) -> Ints:
        """The order of substitutions; one that comes twice is refused."""
        codes = lexicographic_codes(rows)
        self._refuse_repeated(bound, query, rows, codes)
        return np.argsort(codes, kind="stable")

    def _plain_rows(self, number: int, query: Query) -> Ints:
        """Substitutions in order, where a query says nothing else; asked once for all who ask."""
        bound = self.model.bound[number]
        domains = self._domains(bound)
        key = (query.sql, tuple(bound.logicals), tuple(domains))
        if key not in self._plain:
            names = self.database.columns(query)
            logical = places_of(query, names, bound.logicals, f"parfactor '{bound.name}'")
            rows = self._joined(
                bound,
                query,
                [
                    self._numbers(batch, domains, logical)
                    for batch in batches(self.database, query, self.progress)
                ],
            )
            self._plain[key] = rows[self._order(bound, query, rows)]
        return self._plain[key]

    def _domains(self, bound: BoundParfactor) -> list[int]:
        number_of = self.model.vocabulary.domain_names.number
        return [number_of(domain.name) for domain in bound.domains]

    def _numbers(self, batch: Batch, domains: Sequence[int], places: Sequence[int]) -> Ints:
        """The constants that stand at some places of a batch."""
        columns = [
            self.constants(domain).numbers(batch, place)
            for domain, place in zip(domains, places, strict=True)
        ]
        return np.column_stack([np.zeros((len(batch), 0), dtype=np.int64), *columns])

    def _joined(self, bound: BoundParfactor, query: Query, parts: Sequence[Ints]) -> Ints:
        if not parts:
            raise query_error(
                query,
                f"the query gives no row; parfactor '{bound.name}' needs one at least, "
                "or leave it out",
            )
        return np.vstack(parts)

    def _table_of_all(
        self, number: int, parfactor: RowParfactor, tables: DistinctTables
    ) -> RowTables:
        """The table that all rows share, -1 if that is told later."""
        bound, said = self.model.bound[number], self.model.parfactors[number].support
        if parfactor.counted and parfactor.counted.records:
            how = parfactor.counted
            return self._tables_of_groups(bound, how, parfactor.counted.records, [()], tables)
        if parfactor.grouped is not None and not parfactor.is_told_later:
            return RowTables(*literal_tables(parfactor.grouped, [()], tables, said))
        shared = -1 if bound.table is None else tables.number(bound.table)
        return RowTables(np.array([shared]), None if said is None else Supports.of([said]))

    def _fetched(
        self,
        number: int,
        query: Query,
        parfactor: RowParfactor,
        tables: DistinctTables,
        groups: GroupCodes,
    ) -> tuple[Ints, RowTables]:
        """Substitutions and their tables, in the order of the query's rows, as are the groups."""
        bound, said = self.model.bound[number], self.model.parfactors[number].support
        names = self.database.columns(query)
        what = f"parfactor '{bound.name}'"
        logical = places_of(query, names, bound.logicals, what)
        own = places_of(query, names, [parfactor.column] if parfactor.column else [], what)
        behind = places_of(query, names, [parfactor.support] if parfactor.support else [], what)
        by = places_of(query, names, parfactor.by, what)
        domains, supports = self._domains(bound), RowSupports()
        parts, chosen = list[Ints](), list[Ints]()
        for batch in batches(self.database, query, self.progress):
            parts.append(self._numbers(batch, domains, logical))
            chosen += [tables.of_column(batch, place) for place in own]
            for place in behind:
                supports.add(batch, place)
            if by:
                groups.add(batch, by)
        rows = self._joined(bound, query, parts)
        if by and not parfactor.is_told_later:
            met, of_row = groups.finish()
            return rows, self._tables_by(number, parfactor, met, tables).taken(of_row)
        alike = np.zeros(len(rows), dtype=np.int64)
        found = self._table_of_all(number, parfactor, tables).taken(alike)
        if own:
            found = found._replace(table_of=np.concatenate(chosen))
        if behind:
            found = found._replace(support=supports.finish(said))
        return rows, found

    def _tables_by(
        self,
        number: int,
        parfactor: RowParfactor,
        groups: Sequence[GroupKey],
        tables: DistinctTables,
    ) -> RowTables:
        """Each group's table, counted or as listed."""
        if parfactor.counted and parfactor.counted.records:
            how, bound = parfactor.counted, self.model.bound[number]
            return self._tables_of_groups(bound, how, parfactor.counted.records, groups, tables)
        assert parfactor.grouped is not None
        said = self.model.parfactors[number].support
        return RowTables(*literal_tables(parfactor.grouped, groups, tables, said))

    def _tables_of_groups(
        self,
        bound: BoundParfactor,
        how: Counted,
        records: Query,
        groups: Sequence[GroupKey],
        tables: DistinctTables,
    ) -> RowTables:
        """Each group's table, counted in the records of a query."""
        found = CountedTables(how, records, self._labels(bound), self.database, self.progress)
        counted = list(map(found.of, groups))
        supports = Supports.of([each and each.support for each in counted])
        return RowTables(numbered(counted, tables), supports)

    def _labels(self, bound: BoundParfactor) -> list[Labels]:
        """The labels of each argument."""
        return [
            self.model.relations[each.relation].range
            if each.relation >= 0
            else self.model.ground_part.labels(each.variable)
            for each in bound.arguments
        ]

    def _refuse_repeated(
        self, bound: BoundParfactor, query: Query, rows: Ints, codes: Ints
    ) -> None:
        """A substitution that stands in two rows is an error."""
        if (found := first_repeated(codes)) is not None:
            constants = zip(bound.domains, rows[found[0] - 1].tolist(), strict=True)
            shown = ", ".join(domain.constant(each) for domain, each in constants)
            raise query_error(
                query,
                f"rows {found[0]} and {found[1]}: ({shown}) stands twice, and parfactor "
                f"'{bound.name}' has one ground factor for each substitution; "
                "write SELECT DISTINCT, or GROUP BY",
            )
