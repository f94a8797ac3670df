"""Lists: what rows elsewhere say of the individuals they belong to.

How many rows somebody has there, whether a value is among them, what numbers are on average, and,
where a table is long (individual, attribute, value), the value of each attribute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows
from lifagu.data.databases.cells import Cells, distinct_texts
from lifagu.drafting.asking import listed, literal, quoted
from lifagu.drafting.attributes import BOOLEAN, Attribute, Surroundings, spread
from lifagu.drafting.column_values import binned, coded, value_sql
from lifagu.drafting.columns import sort_of
from lifagu.drafting.keys import Link, names_of
from lifagu.drafting.paths import same_values
from lifagu.drafting.seen import SeenColumn
from lifagu.drafting.subjects import DraftSubject
from lifagu.graph.bins import number_of

MOST_ITEMS = 40  # values of one list that are asked for one by one
LEAST_OWNERS, LEAST_SHARE = 20, 0.01  # individuals that such a value must be found with
MOST_PAIRS = 3_000_000  # rows of a list that are looked at
VALUE = "lifagu_value"  # what values of a long table are called in queries
ONCE = 0.95  # share of rows in which an attribute of a long table stands once


@dataclass(frozen=True, eq=False)
class ListedValues:
    """Finds what lists say."""

    around: Surroundings

    def of(
        self, subject: DraftSubject, link: Link, asked: Collection[tuple[str, str]]
    ) -> Iterator[Attribute]:
        """What the rows of a list that belong to an individual say of it.

        asked: columns that are to be predicted, and so tell nothing here.
        """
        if self.around.tables[link.table].rows > MOST_PAIRS:
            return
        table = self.around.tables[link.table]
        yield self._count(subject, link)
        long = self._long(link, asked)
        texts = self.texts(subject, link, asked)
        for column in table.columns.values():
            sort = self.around.sorts[table.name][column.name]
            if column in texts:
                yield from self._presences(subject, link, column)
            if column.name in link.columns or (long and column.name in long):
                continue
            if column.name in self._names(table.name) or (table.name, column.name) in asked:
                continue
            if sort.kind == "number" and column.family in ("integer", "number"):
                yield self._mean(subject, link, column)
        if long:
            yield from self._pivoted(subject, link, *long)

    def texts(
        self, subject: DraftSubject, link: Link, asked: Collection[tuple[str, str]]
    ) -> list[SeenColumn]:
        """Columns of a list whose values tell by standing there."""
        table = self.around.tables[link.table]
        if table.rows > MOST_PAIRS:
            return []
        apart = {*link.columns, *(self._long(link, asked) or ())}
        return [
            column
            for column in table.columns.values()
            if column.family == "text"
            and self.around.sorts[table.name][column.name].kind in ("label", "group")
            and column.name not in apart
            and (table.name, column.name) not in asked
        ]

    def _names(self, table: str) -> set[str]:
        """Columns that name somebody, whose numbers are no quantities."""
        key = self.around.keys[table].columns
        return names_of(table, key if len(key) == 1 else (), self.around.links)

    def _long(self, link: Link, asked: Collection[tuple[str, str]]) -> tuple[str, str] | None:
        """The columns attribute and value of a long table: each attribute stands once, and varies.

        What an attribute's name decides on already is no value.
        """
        table, sorts = self.around.tables[link.table], self.around.sorts[link.table]
        owners = [table.columns[name].codes for name in link.columns]
        for column in table.columns.values():
            if column.family != "text" or sorts[column.name].kind not in ("label", "group"):
                continue
            if not _stand_once([*owners, column.codes]):
                continue
            for value in table.columns.values():
                sort = sorts[value.name]
                if value is column or value.name in link.columns or sort.parts:
                    continue
                if (table.name, value.name) in asked:
                    continue
                if sort.kind in ("label", "number") and not _decides(column.codes, value.codes):
                    return column.name, value.name
        return None

    def _count(self, subject: DraftSubject, link: Link) -> Attribute:
        name = self.around.names.described(f"Number of {self._spoken(link)}")
        keys = _columns(link)
        inner = f"SELECT {keys}, count(*) AS n FROM {self._base(link)} GROUP BY {keys}"
        found = self._looked_up(subject, link, inner, 0.0)
        value = "CASE WHEN l.n IS NULL THEN 0 ELSE l.n END"
        return self._numeric(
            subject,
            name,
            found,
            self._joined(subject, link, inner, value),
            f"how many rows of {link.table} belong to it",
        )

    def _mean(self, subject: DraftSubject, link: Link, column: SeenColumn) -> Attribute:
        name = self.around.names.described(f"Mean {column.name} of {self._spoken(link)}")
        inner = (
            f"SELECT {_columns(link)}, avg({quoted(column.name)}) AS n "
            f"FROM {self._base(link)} GROUP BY {_columns(link)}"
        )
        found = self._looked_up(subject, link, inner, np.nan)
        return self._numeric(
            subject,
            name,
            found,
            self._joined(subject, link, inner, "l.n"),
            f"the mean of {column.name} in {link.table}",
        )

    def _presences(
        self, subject: DraftSubject, link: Link, column: SeenColumn
    ) -> Iterator[Attribute]:
        value, base = quoted(column.name), self._base(link)
        keys = _columns(link)
        distinct = f"SELECT DISTINCT {keys}, {value} AS item FROM {base}"
        items, counts = self.around.asker.columns(
            f"SELECT item, count(*) AS n FROM ({distinct}) AS pairs WHERE item IS NOT NULL "
            f"GROUP BY item ORDER BY n DESC, item LIMIT {MOST_ITEMS}"
        )
        least = max(LEAST_OWNERS, LEAST_SHARE * subject.table.rows)
        most = subject.table.rows - least
        wanted = [
            text
            for text, count in zip(items.texts(), counts.values.tolist(), strict=True)
            if text and least <= count <= most
        ]
        if not wanted:
            return
        pairs = self.around.asker.columns(
            f"SELECT item, {keys} FROM ({distinct}) AS pairs WHERE item IN ({listed(wanted)})"
        )
        texts, codes = distinct_texts(pairs[0])
        rows = rows_of_keys(subject, link, pairs[1:])
        for item, short in zip(wanted, _shortened(wanted), strict=True):
            owners = rows[codes == texts.index(item)] if item in texts else rows[:0]
            present = np.zeros(subject.table.size, dtype=np.int64)
            present[owners[owners >= 0]] = 1
            inner = f"SELECT DISTINCT {keys} FROM {base} WHERE {value} = {literal(item)}"
            told = f"CASE WHEN l.{quoted(link.columns[0])} IS NULL THEN 0 ELSE 1 END"
            yield Attribute(
                self.around.names.described(f"{self._spoken(link)}: {short}"),
                subject,
                None,
                BOOLEAN,
                2,
                present,
                0,
                self._joined(subject, link, inner, told),
                f"whether {column.name} in {link.table} says '{item}'",
            )

    def _pivoted(
        self, subject: DraftSubject, link: Link, attribute: str, value: str
    ) -> Iterator[Attribute]:
        table, keys, base = self.around.tables[link.table], _columns(link), self._base(link)
        column = table.columns[value]
        seen = table.columns[attribute]
        often = np.argsort(-seen.counts, kind="stable")[:MOST_ITEMS]
        pairs = self.around.asker.columns(
            f"SELECT {quoted(attribute)}, {quoted(value)}, {keys} FROM {base} "
            f"WHERE {quoted(attribute)} IN ({listed([seen.texts[place] for place in often])})"
        )
        texts, which = distinct_texts(pairs[0])
        rows = rows_of_keys(subject, link, pairs[2:])
        for place in often.tolist():
            item = seen.texts[place]
            mine = (which == (texts.index(item) if item in texts else -2)) & (rows >= 0)
            if mine.sum() < LEAST_OWNERS:
                continue
            known = Cells(pairs[1].values[mine], pairs[1].missing[mine], pairs[1].textual)
            one = replace(column, name=VALUE, cells=known, further=())
            sort = sort_of(one, False)
            if sort.kind not in ("label", "number"):
                continue
            total = "avg" if column.family in ("integer", "number") else "max"
            inner = (
                f"SELECT {keys}, {total}({quoted(value)}) AS {VALUE} FROM {base} "
                f"WHERE {quoted(attribute)} = {literal(item)} GROUP BY {keys}"
            )
            labels, size, codes = coded(one, sort, "", self.around.bins_of(subject))
            yield Attribute(
                self.around.names.described(item),
                subject,
                None,
                labels,
                size,
                spread(codes, rows[mine], subject.table.size),
                0,
                self._joined(subject, link, inner, value_sql(one, sort, "", self.around.asker)),
                f"{value} where {attribute} of {link.table} says '{item}'",
                self.around.bins_of(subject),
            )

    def _spoken(self, link: Link) -> str:
        """A list as it is spoken of, and by which column, if several lead to others."""
        several = [each for each in self.around.links if each.table == link.table]
        return link.table if len(several) == 1 else f"{link.table} by {' and '.join(link.columns)}"

    def _base(self, link: Link) -> str:
        return self.around.tables[link.table].base

    def _joined(self, subject: DraftSubject, link: Link, inner: str, value: str) -> str:
        """Evidence of all individuals, whether the list has rows of theirs or not."""
        keys = ", ".join(f"s.{quoted(name)}" for name in subject.key)
        same = same_values(link, "l", "s")
        return f"SELECT {keys}, {value} FROM {subject.base} AS s LEFT JOIN ({inner}) AS l ON {same}"

    def _looked_up(self, subject: DraftSubject, link: Link, inner: str, usual: float) -> Floats:
        """A number for each sampled individual, from rows with its key and the number."""
        *keys, numbers = self.around.asker.columns(inner)
        found = np.full(subject.table.size, usual)
        rows = rows_of_keys(subject, link, keys)
        known = (rows >= 0) & ~numbers.missing
        found[rows[known]] = [number_of(each) for each in numbers.values[known].tolist()]
        return found

    def _numeric(
        self, subject: DraftSubject, name: str, numbers: Floats, evidence: str, origin: str
    ) -> Attribute:
        codes, size = binned(numbers, self.around.bins_of(subject))
        bins = self.around.bins_of(subject)
        return Attribute(name, subject, None, (), size, codes, 0, evidence, origin, bins)


def rows_of_keys(subject: DraftSubject, link: Link, keys: Sequence[Cells]) -> Ints:
    """The sampled row that each of the keys that a query gave leads to."""
    texts, places = [each.texts() for each in keys], subject.places(link.target_columns)
    return np.fromiter(
        (places.get(key, -1) for key in zip(*texts, strict=True)),
        dtype=np.int64,
        count=len(keys[0]),
    )


def _columns(link: Link) -> str:
    return ", ".join(map(quoted, link.columns))


def _stand_once(columns: list[Ints]) -> bool:
    """Whether a combination of values hardly ever comes twice."""
    rows = np.column_stack(columns)
    rows = rows[(rows >= 0).all(axis=1)]
    return len(rows) > 0 and int(group_rows(rows).max()) + 1 >= ONCE * len(rows)


def _decides(one: Ints, other: Ints) -> bool:
    """Whether each value of a column goes with (nearly) one value of another."""
    known = (one >= 0) & (other >= 0)
    pairs = len(np.unique(group_rows(np.column_stack([one[known], other[known]]))))
    return pairs <= 1.05 * len(np.unique(one[known]))


def _shortened(items: list[str]) -> list[str]:
    """Items without the folders they stand in, as far as they can be told apart."""
    short = [max(each.split("|")[-1].split("/")[-1].strip(), "") for each in items]
    return [
        one if one and short.count(one) == 1 else item
        for one, item in zip(short, items, strict=True)
    ]
