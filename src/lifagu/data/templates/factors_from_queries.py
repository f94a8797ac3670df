"""Parfactors whose substitutions are rows, each with a table of its own, a shared one, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import batches, first_repeated, places_of
from lifagu.data.templates.constants import Constants
from lifagu.data.templates.counted_tables import GroupCodes, GroupKey, learned_tables, table_of
from lifagu.data.templates.left_out_records import LeftOut
from lifagu.data.templates.row_tables import DistinctTables
from lifagu.errors import FormatError
from lifagu.graph.ranges import Labels
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.ground_tables import lexicographic_codes
from lifagu.relational.grounding import TabledRows
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.substitutions import substitutions
from lifagu.relational.template import HiddenCells, Learned, Query, RowParfactor, Template


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reads the row parfactors of a template whose literal parts are known."""

    template: Template
    model: ParfactorGraph
    database: Database
    progress: Announce
    hidden: HiddenCells = field(default_factory=dict)
    _constants: dict[str, Constants] = field(default_factory=dict)

    def constants(self, number: int) -> Constants:
        """The way from values to the constants of a domain."""
        domain = self.model.vocabulary.domains[number]
        return self._constants.setdefault(domain.name, Constants(domain))

    def rows_of(self, number: int, parfactor: RowParfactor) -> TabledRows:
        """The ground factors of a parfactor."""
        bound = self.model.bound[number]
        tables = DistinctTables(int(np.prod(bound.shape)), self.template.tables)
        learned = None if parfactor.learned is None else self.template.learned[parfactor.learned]
        if parfactor.rows is None:
            rows = substitutions(bound)
            table_of_row = np.full(len(rows), self._table_of_all(bound, parfactor, learned, tables))
            return TabledRows(rows, tables.tables, table_of_row)
        rows, table_of_row = self._fetched(bound, parfactor.rows, parfactor, learned, tables)
        codes = lexicographic_codes(rows)
        self._refuse_repeated(bound, parfactor.rows, rows, codes)
        order = np.argsort(codes, kind="stable")
        return TabledRows(rows[order], tables.tables, table_of_row[order])

    def _table_of_all(
        self,
        bound: BoundParfactor,
        parfactor: RowParfactor,
        learned: Learned | None,
        tables: DistinctTables,
    ) -> int:
        """The number of the table that all rows share, -1 if it is unknown."""
        if learned is not None:
            return self._group_numbers(bound, parfactor, learned, [()], tables)[0]
        return -1 if bound.table is None else tables.number(bound.table)

    def _fetched(
        self,
        bound: BoundParfactor,
        query: Query,
        parfactor: RowParfactor,
        learned: Learned | None,
        tables: DistinctTables,
    ) -> tuple[Ints, Ints]:
        """Substitutions and numbers of tables, in the order of the query's rows."""
        names = self.database.columns(query)
        what = f"parfactor '{bound.name}'"
        logical = places_of(query, names, bound.logicals, what)
        own = places_of(query, names, [parfactor.column] if parfactor.column else [], what)
        grouped = learned.by if learned else ()
        by = places_of(query, names, grouped, f"the table '{parfactor.learned}'")
        number = self.model.vocabulary.domain_names.number
        domains = [number(domain.name) for domain in bound.domains]
        groups, parts, chosen = GroupCodes(len(by)), list[Ints](), list[Ints]()
        for batch in batches(self.database, query, self.progress):
            columns = [
                self.constants(domain).numbers(batch, place)
                for domain, place in zip(domains, logical, strict=True)
            ]
            parts.append(np.column_stack([np.zeros((len(batch), 0), dtype=np.int64), *columns]))
            chosen += [tables.of_column(batch, place) for place in own]
            if by:
                groups.add(batch, by)
        if not parts:
            raise query_error(
                query, f"the query gives no row; {what} needs one at least, or leave it out"
            )
        rows = np.vstack(parts)
        if own:
            return rows, np.concatenate(chosen)
        if learned is not None and by:
            met, of_row = groups.finish()
            numbers = self._group_numbers(bound, parfactor, learned, met, tables)
            return rows, np.array(numbers, dtype=np.int64)[of_row]
        return rows, np.full(len(rows), self._table_of_all(bound, parfactor, learned, tables))

    def _group_numbers(
        self,
        bound: BoundParfactor,
        parfactor: RowParfactor,
        learned: Learned,
        groups: Sequence[GroupKey | None],
        tables: DistinctTables,
    ) -> list[int]:
        """The number of each group's table, -1 if it is unknown."""
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
        found = learned_tables(learned, labels, self.database, self.progress, left_out)
        unmet = table_of(learned, np.zeros([len(each) for each in labels]))
        result = []
        for group in groups:
            table = None if group is None else found.get(group, unmet)
            result.append(-1 if table is None else tables.number(table.reshape(-1)))
        return result

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
