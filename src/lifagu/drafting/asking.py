"""Small questions to a database on behalf of a draft, and words in which dialects differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.data.databases import Database
from lifagu.data.databases.catalogue import CatalogueTable, Dialect
from lifagu.data.databases.cells import Cells, joined
from lifagu.data.duck import literal
from lifagu.data.duck import quoted as in_quotes
from lifagu.relational.template import Query

_PRIME = 2_147_483_647
_STEP = 48_271
_PARTS = 1_000_003
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# words that mean something in one of the dialects, where a name would stand
_WORDS = (
    "abort add all alter analyse analyze and anti any array as asc asof asymmetric at "
    "authorization autoincrement begin between binary bool both by case cast check collate "
    "collation column commit concurrently constraint create cross current current_catalog "
    "current_date current_role current_schema current_time current_timestamp current_user "
    "default deferrable delete desc describe distinct do drop else end escape except exists "
    "explain false fetch filter following for foreign freeze from full generated glob grant "
    "group grouping having if ilike in index indexed initially inner insert intersect into is "
    "isnull join key lambda lateral leading left like limit localtime localtimestamp map "
    "match natural no not nothing notnull null of offset on only or order outer over overlaps "
    "partition pivot pivot_longer pivot_wider placing plan positional pragma preceding "
    "primary qualify query raise range recursive references regexp release rename replace "
    "returning right rollback row rows savepoint select semi session_user set show similar "
    "some struct summarize symmetric system_user table tablesample then ties to trailing "
    "transaction trigger true unbounded union unique unpack unpivot update user using vacuum "
    "values variadic verbose view virtual when where window with "
)
_RESERVED = frozenset(_WORDS.split())
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


@dataclass(frozen=True, eq=False)
class Asker:
    """A database that is asked; place: how it is spoken of in errors."""

    database: Database
    dialect: Dialect
    place: str

    def columns(self, sql: str) -> list[Cells]:
        """The columns of a query's rows; what holds lists is all missing."""
        query = Query(sql, self.place)
        names = self.database.columns(query)
        parts: list[list[Cells]] = [[] for _ in names]
        for batch in self.database.batches(query):
            for found, column in zip(parts, batch, strict=True):
                found.append(column if isinstance(column, Cells) else _nothing(len(column)))
        return [joined(each) if each else _nothing(0) for each in parts]

    def numbers(self, sql: str) -> list[int]:
        """The only row of a query that counts."""
        return [0 if each.missing[0] else int(each.values[0]) for each in self.columns(sql)]

    # ---- words that differ

    def sampled(self, table: CatalogueTable, row: str, share: float, seed: int) -> str:
        """Rows of a table that chance picks, the same ones every time; row: their number's name."""
        wanted = _picked_number(row, share, seed)
        return f"(SELECT * FROM {self.numbered(table, row)} AS numbered WHERE {wanted})"

    def numbered(self, table: CatalogueTable, row: str) -> str:
        """A table as an expression whose rows have a number, called so, the same in every query."""
        over = f"ORDER BY {order}" if (order := self._order(table)) else ""
        return f"(SELECT row_number() OVER ({over}) AS {row}, t.* FROM {table_sql(table)} AS t)"

    def _order(self, table: CatalogueTable) -> str:
        """What rows are numbered by, where no two queries need to find them in the same order.

        Rows of a view have no place of their own, but what they say: those that say the same may
        well be taken for one another.
        """
        if table.is_view:
            return ", ".join(f"CAST(t.{quoted(each.name)} AS VARCHAR)" for each in table.columns)
        # rows of different partitions may have the same place
        return "t.tableoid, t.ctid" if self.dialect == "postgresql" else ""

    def picked(self, key: Sequence[str], share: float, is_number: bool) -> str:
        """A condition that holds for about such a share of rows, the same ones every time.

        is_number: whether the key is the number of a row; else it is hashed.
        """
        if is_number:
            return _picked_number(key[0], share, 0)
        texts = " || '|' || ".join(f"CAST({quoted(each)} AS VARCHAR)" for each in key)
        hashed = f"hash({texts})" if self.dialect == "duckdb" else f"abs(hashtext({texts})::bigint)"
        return f"{hashed} % {_PARTS} < {round(share * _PARTS)}"

    def without_nan(self, value: str) -> str:
        """A number in a query, NULL where it is no number."""
        if self.dialect == "sqlite":
            return value
        isnan = f"isnan({value})" if self.dialect == "duckdb" else f"{value} = 'NaN'"
        return f"CASE WHEN {isnan} THEN NULL ELSE {value} END"

    def part_of_moment(self, value: str, part: str, is_zoned: bool) -> str:
        """The weekday, month, hour or year of a moment as a value, in UTC where it has a zone."""
        if self.dialect == "sqlite":
            code = {"weekday": "%w", "month": "%m", "hour": "%H", "year": "%Y"}[part]
            moment = _with_minutes(value) if is_zoned else value
            number = f"CAST(strftime('{code}', {moment}) AS INTEGER)"
        else:
            field = {"weekday": "dow"}.get(part, part)
            moment = f"CAST({value} AS TIMESTAMP)"
            if is_zoned:
                moment = f"CAST({value} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'"
            number = f"CAST(extract({field} FROM {moment}) AS INTEGER)"
        if part != "weekday":
            return number
        days = " ".join(f"WHEN {place} THEN '{day}'" for place, day in enumerate(_WEEKDAYS))
        return f"CASE {number} {days} END"


def _with_minutes(value: str) -> str:
    """A moment whose distance from UTC has minutes after a colon, as SQLite reads no other."""
    hours = "*:*[+-][0-9][0-9]"
    return (
        f"CASE WHEN {value} GLOB '{hours}' THEN {value} || ':00' "
        f"WHEN {value} GLOB '{hours}[0-9][0-9]' "
        f"THEN substr({value}, 1, length({value}) - 2) || ':' || substr({value}, -2) "
        f"ELSE {value} END"
    )


def _picked_number(row: str, share: float, seed: int) -> str:
    """A condition on a number: its square, modulo a prime, is small.

    Whatever period the rows have, a square does not follow it.
    """
    number = f"({row} * {_STEP} + {seed * 7919 + 12_345}) % {_PRIME}"
    return f"({number}) * ({number}) % {_PARTS} < {round(share * _PARTS)}"


def _nothing(rows: int) -> Cells:
    return Cells(np.full(rows, None, dtype=object), np.ones(rows, dtype=np.bool_))


def quoted(name: str) -> str:
    """The name of a column as SQL, in quotes only where it needs them, for queries that are read.

    >>> quoted("unit_type"), quoted("2B"), quoted("order")
    ('unit_type', '"2B"', '"order"')
    """
    return name if _PLAIN.fullmatch(name) and name not in _RESERVED else in_quotes(name)


def table_sql(table: CatalogueTable) -> str:
    """The name of a table as SQL."""
    own = table.name.removeprefix(f"{table.schema}.") if table.schema else table.name
    return f"{quoted(table.schema)}.{quoted(own)}" if table.schema else quoted(own)


def aliased(base: str, alias: str = "t") -> str:
    """What stands after FROM with a name, which only a query in parentheses needs."""
    return f"{base} AS {alias}" if base.startswith("(") else base


def listed(texts: list[str] | tuple[str, ...]) -> str:
    """Texts as a list in SQL."""
    return ", ".join(map(literal, texts))


__all__ = ["Asker", "aliased", "listed", "literal", "quoted", "table_sql"]
