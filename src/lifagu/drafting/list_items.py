"""Whatever a list says of somebody, taken together: a table for each of its values.

Of hundreds of diagnoses each is too rare to be worth a relation, and a table, of its own; together
they tell what somebody is there for. So one table has a group for each value of the list, all drawn
to what they have in common, and each individual has a row for each value that it is listed with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.data.databases.cells import Cells, distinct_texts
from lifagu.drafting.asking import aliased, listed, literal, quoted
from lifagu.drafting.attributes import Attribute, Surroundings
from lifagu.drafting.candidates import Candidate
from lifagu.drafting.keys import Link
from lifagu.drafting.lists import ListedValues, rows_of_keys
from lifagu.drafting.paths import LinkPath, same_values
from lifagu.drafting.seen import SeenColumn
from lifagu.drafting.subjects import DraftedDomain, DraftSubject

LEAST_SHARED = 1.2  # individuals that a value is listed with, on average, so that it can tell
MOST_LISTED = 300_000  # pairs of an individual and a value
THERE = "listed"  # what the relation of a list's values always says


@dataclass(frozen=True, eq=False)
class ListItems:
    """Finds what lists say, value by value, as candidates that let their values differ."""

    around: Surroundings
    lists: ListedValues

    def of(
        self, subject: DraftSubject, link: Link, asked: Collection[tuple[str, str]]
    ) -> Iterator[tuple[Candidate, DraftedDomain]]:
        """A candidate for each column of a list, and the domain of its values.

        Columns that name individuals are left to paths, which look at what is known of these.
        """
        links = [each for each in self.around.links if each.table == link.table]
        names = {name for each in links for name in each.columns}
        for column in self.lists.texts(subject, link, asked):
            if column.name in names:
                continue
            found = self._pairs(subject, link, column)
            if found is not None:
                yield self._candidate(subject, link, column, *found)

    def _pairs(
        self, subject: DraftSubject, link: Link, column: SeenColumn
    ) -> tuple[Ints, Ints, int] | None:
        """Which sampled individual is listed with which value, if values are shared at all."""
        keys = ", ".join(map(quoted, link.columns))
        value, base = quoted(column.name), self.around.tables[link.table].base
        items, *owners = self.around.asker.columns(
            f"SELECT DISTINCT {value}, {keys} FROM {aliased(base)} WHERE {self._has(link, column)} "
            f"LIMIT {MOST_LISTED + 1}"
        )
        if not 0 < len(items) <= MOST_LISTED:
            return None
        rows, codes = rows_of_keys(subject, link, owners), _in_order(items)
        pairs = np.column_stack([rows, codes])[rows >= 0]
        if len(pairs) < LEAST_SHARED * len(np.unique(pairs[:, 1])):
            return None
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        return pairs[:, 0], pairs[:, 1], int(codes.max()) + 1

    def _has(self, link: Link, column: SeenColumn, alias: str = "") -> str:
        """The condition that a row of a list has a value."""
        value = f"{alias}{quoted(column.name)}"
        blanks = self.around.sorts[link.table][column.name].blanks
        return f"{value} IS NOT NULL" + (
            f" AND {value} NOT IN ({listed(blanks)})" if blanks else ""
        )

    def _candidate(
        self,
        subject: DraftSubject,
        link: Link,
        column: SeenColumn,
        rows: Ints,
        codes: Ints,
        size: int,
    ) -> tuple[Candidate, DraftedDomain]:
        table, names = self.around.tables[link.table], self.around.names
        value, has = quoted(column.name), self._has(link, column)
        domain = names.domain(f"{link.table} {column.name}")
        variable = domain
        while variable.lower() in (each.lower() for each in subject.variables):
            variable += "_2"
        sql = f"SELECT DISTINCT {value} FROM {aliased(table.base)} WHERE {has}"
        items = DraftSubject(table, (column.name,), f"({sql})", (domain,), (variable,))
        spoken = f"each {column.name} of {link.table}"
        there = Attribute(
            names.described(spoken),
            items,
            None,
            (THERE,),
            1,
            np.zeros(size, dtype=np.int64),
            0,
            f"SELECT DISTINCT {value}, {literal(THERE)} FROM {aliased(table.base)} WHERE {has}",
            spoken,
        )
        chosen = [
            f"s.{quoted(name)} AS {quoted(each.lower())}"
            for name, each in zip(subject.key, subject.variables, strict=True)
        ]
        chosen.append(f"l.{value} AS {quoted(variable.lower())}")
        rows_sql = (
            f"SELECT DISTINCT {', '.join(chosen)} FROM {subject.base} AS s "
            f"JOIN {table.base} AS l ON {same_values(link, 'l', 's')} "
            f"WHERE {self._has(link, column, 'l.')}"
        )
        path = LinkPath(subject, items, rows, codes, (variable,), rows_sql, spoken)
        by = (variable.lower(),)
        found = Candidate(subject, there, path, False, by, rows, codes, size, rows_sql)
        return found, DraftedDomain(domain, sql)


def _in_order(items: Cells) -> Ints:
    """The number of each item among the distinct ones, in order of their texts."""
    texts, codes = distinct_texts(items)
    rank = np.empty(len(texts), dtype=np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    found: Ints = rank[codes]
    return found
