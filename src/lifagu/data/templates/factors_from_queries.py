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
from lifagu.data.templates.counted_tables import CountedTables
from lifagu.data.templates.grouped_tables import literal_tables
from lifagu.data.templates.groups import GroupCodes, GroupKey
from lifagu.data.templates.left_out_records import LeftOut
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
from lifagu.relational.template import HiddenCells, Learned, Query, RowParfactor, Template


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
    hidden: HiddenCells = field(default_factory=dict)
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
        learned = None if parfactor.learned is None else self.template.learned[parfactor.learned]
        query, by = parfactor.rows, learned.by if learned else parfactor.by
        if query is None or not (parfactor.column or parfactor.support or by):
            rows = substitutions(bound) if query is None else self._plain_rows(number, query)
            shared = self._table_of_all(number, parfactor, learned, tables)
            alike = shared.taken(np.zeros(len(rows), dtype=np.int64))
            return self._kept_once(ReadRows(TabledRows(rows, tables.tables, *alike)))
        groups = GroupCodes(len(by))
        rows, found = self._fetched(number, query, parfactor, learned, tables, groups)
        order = self._order(bound, query, rows)
        grouped = parfactor.is_told_later and parfactor.by
        levels = groups.levels(parfactor.by, order) if grouped else ()
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
        self, number: int, parfactor: RowParfactor, learned: Learned | None, tables: DistinctTables
    ) -> RowTables:
        """The table that all rows share."""
        bound, said = self.model.bound[number], self.model.parfactors[number].support
        if learned is not None:
            return self._tables_of_groups(bound, parfactor, learned, [()], tables)
        if parfactor.grouped is not None and not parfactor.is_told_later:
            return RowTables(*literal_tables(parfactor.grouped, [()], tables, said))
        shared = -1 if bound.table is None else tables.number(bound.table)
        return RowTables(np.array([shared]), None if said is None else Supports.of([said]))

    def _fetched(
        self,
        number: int,
        query: Query,
        parfactor: RowParfactor,
        learned: Learned | None,
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
        named = f"the table '{parfactor.learned}'" if learned else what
        by = places_of(query, names, learned.by if learned else parfactor.by, named)
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
            return rows, self._tables_by(number, parfactor, learned, met, tables).taken(of_row)
        alike = np.zeros(len(rows), dtype=np.int64)
        found = self._table_of_all(number, parfactor, learned, tables).taken(alike)
        if own:
            found = found._replace(table_of=np.concatenate(chosen))
        if behind:
            found = found._replace(support=supports.finish(said))
        return rows, found

    def _tables_by(
        self,
        number: int,
        parfactor: RowParfactor,
        learned: Learned | None,
        groups: Sequence[GroupKey],
        tables: DistinctTables,
    ) -> RowTables:
        """Each group's table, counted or as listed."""
        if learned is not None:
            return self._tables_of_groups(
                self.model.bound[number], parfactor, learned, groups, tables
            )
        assert parfactor.grouped is not None
        said = self.model.parfactors[number].support
        return RowTables(*literal_tables(parfactor.grouped, groups, tables, said))

    def _tables_of_groups(
        self,
        bound: BoundParfactor,
        parfactor: RowParfactor,
        learned: Learned,
        groups: Sequence[GroupKey],
        tables: DistinctTables,
    ) -> RowTables:
        """Each group's table."""
        labels = self._labels(bound)
        if len(labels) != len(learned.columns):
            raise FormatError(
                f"{parfactor.place}: the table '{parfactor.learned}' is learned from "
                f"{len(learned.columns)} columns ({', '.join(learned.columns)}), "
                f"but there are {len(labels)} arguments; name a column for each"
            )
        if len(learned.prior) not in (1, tables.span):
            raise FormatError(
                f"{parfactor.place}: the prior of table '{parfactor.learned}' has "
                f"{len(learned.prior)} numbers, but the arguments span {tables.span} states; "
                "give as many, or a single one"
            )
        left_out = self._left_out(bound, parfactor, learned)
        found = CountedTables(learned, labels, self.database, self.progress, left_out)
        counted = list(map(found.of, groups))
        numbers = [
            -1 if each is None else tables.number(each.table.reshape(-1)) for each in counted
        ]
        supports = Supports.of([each and each.support for each in counted])
        return RowTables(np.array(numbers, dtype=np.int64), supports)

    def _left_out(
        self, bound: BoundParfactor, parfactor: RowParfactor, learned: Learned
    ) -> LeftOut:
        """The records that show hidden cells; a key that means nothing is an error."""
        logicals = [each.lower() for each in bound.logicals]
        for column in learned.key or ():
            if column.lower() not in logicals:
                raise FormatError(
                    f"{parfactor.place}: the key of table '{parfactor.learned}' has the column "
                    f"'{column}', which is called as none of the logical variables "
                    f"{', '.join(bound.logicals)}; rename it with AS"
                )
        key = [logicals.index(column.lower()) for column in learned.key or ()]
        number = self.model.vocabulary.domain_names.number
        constants = [self.constants(number(bound.domains[each].name)) for each in key]
        hidden = {
            self.model.vocabulary.relation_names.number(relation): cells
            for relation, cells in self.hidden.items()
        }
        return LeftOut.of(key, constants, bound.arguments, hidden)

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
