"""Result tables into PostgreSQL, by COPY, and SQLite, by bound parameters; all or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from lifagu.basics.columns import (
    Column,
    Columns,
    KeyColumn,
    Lists,
    Nullable,
    NumberedTexts,
    Rows,
    plain_values,
    row_count,
)
from lifagu.data.databases.addresses import Address
from lifagu.data.databases.by_sqlalchemy import connection, said_plainly
from lifagu.data.databases.earlier_results import Marks, check_unchanged, marks_in, next_mark
from lifagu.data.databases.lent_connections import plain_cursor, write_or_undo
from lifagu.data.databases.queries import BATCH
from lifagu.data.databases.wide_views import has_base, is_view, own_views, result_name, wide_view
from lifagu.data.duck import quoted
from lifagu.errors import BusyError, FormatError

_SORTS = {
    "integer": "BIGINT",
    "number": "DOUBLE PRECISION",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "moment": "TIMESTAMP",
    "uuid": "UUID",
    "text": "TEXT",
}
# a lock of the current schema, until the transaction ends
_ALONE = """
    SELECT pg_try_advisory_xact_lock(hashtext('lifagu results'), hashtext(current_schema()))
    """
_TEXTUAL = ("date", "moment", "uuid")  # which SQLite keeps as texts
_OWN_VIEWS = {
    "postgresql": own_views("pg_views", "viewname", "schemaname = current_schema()"),
    "sqlite": own_views("sqlite_master", "name", "type = 'view'"),
}
_TYPES = {"i": "BIGINT", "u": "BIGINT", "f": "DOUBLE PRECISION", "b": "BOOLEAN", "O": "TEXT"}


def replace_in_served(
    address: Address, tables: Mapping[str, Columns], before: Marks | None
) -> None:
    """Put tables into a database in one transaction, each in place of one of the same name.

    before: the marks of those that this run knows of; by default of those that are there now.
    """
    views = {}
    with _writing(address) as (cursor, found):
        now = _marks(address, cursor)
        check_unchanged(address.shown, found if before is None else before, now, tables)
        mark = f" /* {next_mark(now)} */" if address.kind == "sqlite" else ""
        if has_base(tables):
            cursor.execute(_OWN_VIEWS[address.kind])
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP VIEW {quoted(name)}")
        for given, columns in tables.items():
            name = result_name(given)
            cursor.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
            if is_view(columns, tables):
                views[name] = columns
                continue
            types = ", ".join(
                f"{quoted(each)} {_type(address, column)}" for each, column in columns.items()
            )
            cursor.execute(f"CREATE TABLE {quoted(name)} ({types}{mark})")
            _fill(address, cursor, name, columns)
        for name, wide in views.items():
            cursor.execute(f"CREATE VIEW {quoted(name)} AS {wide_view(wide)}")
        cursor.execute("COMMIT")


def check_served(address: Address) -> Marks:
    """Refuse a database in which no table can be made; the marks of those that are there."""
    with _writing(address) as (cursor, found):
        if address.kind == "postgresql":
            cursor.execute(
                """
                SELECT
                    current_setting('transaction_read_only') = 'off',
                    has_schema_privilege(current_schema(), 'CREATE')
                """
            )
            ((writable, allowed),) = cursor.fetchall()
            if not (writable and allowed):
                why = "no right to make tables in the current schema"
                if not writable:
                    why = "it is read-only"
                raise FormatError(f"{address.shown}: cannot be written: {why}")
        return found


@contextmanager
def _writing(address: Address) -> Iterator[tuple[Any, Marks]]:
    """A cursor in a transaction that is undone unless it is committed, of one writer at a time.

    Beside it the marks of what was there before that transaction could begin.
    """
    with (
        said_plainly(address, f"{address.shown}: cannot be written: "),
        connection(address, read_only=False) as driver,
    ):
        found: Marks = {}
        if address.kind == "sqlite":  # which waits for other writers
            with closing(plain_cursor(driver)) as cursor:
                found = _marks(address, cursor)
        with write_or_undo(address, driver) as cursor:
            if address.kind == "postgresql":
                cursor.execute(_ALONE)
                if not cursor.fetchall()[0][0]:
                    raise BusyError(
                        f"{address.shown}: another run is writing results there; wait for it"
                    )
                found = _marks(address, cursor)
            yield cursor, found


def _marks(address: Address, cursor: Any) -> Marks:
    def rows(query: str) -> list[tuple[Any, ...]]:
        cursor.execute(query)
        return list(cursor.fetchall())

    return marks_in(address.kind, rows)


def _type(address: Address, column: Column) -> str:
    if isinstance(column, Lists):
        return f"{_TYPES[column.values.dtype.kind]}[]" if address.kind == "postgresql" else "TEXT"
    if isinstance(column, Nullable):
        return "BIGINT"
    if isinstance(column, KeyColumn):
        as_text = address.kind == "sqlite" and column.sort in _TEXTUAL
        return "TEXT" if as_text else _SORTS[column.sort]
    return "TEXT" if isinstance(column, NumberedTexts) else _TYPES[column.dtype.kind]


def _fill(address: Address, cursor: Any, name: str, columns: Columns) -> None:
    """The rows of one table, some at a time."""
    names = ", ".join(map(quoted, columns))
    if address.kind == "postgresql":
        with cursor.copy(f"COPY {quoted(name)} ({names}) FROM STDIN") as copy:
            for row in _rows(columns, as_text=False):
                copy.write_row(row)
        return
    places = ", ".join("?" for _ in columns)
    cursor.executemany(
        f"INSERT INTO {quoted(name)} ({names}) VALUES ({places})", _rows(columns, as_text=True)
    )


def _rows(columns: Columns, as_text: bool) -> Iterator[tuple[Any, ...]]:
    for start in range(0, row_count(columns), BATCH):
        part = slice(start, min(start + BATCH, row_count(columns)))
        yield from zip(
            *(_values(column, part, as_text) for column in columns.values()), strict=True
        )


def _values(column: Column, part: slice, as_text: bool) -> list[Any]:
    """Some rows of a column as plain values, None for null."""
    if isinstance(column, Lists):
        return _lists(column, part, as_text)
    if isinstance(column, KeyColumn) and column.sort in _TEXTUAL:
        return [each and str(each) for each in column.plain(part)]
    return column.plain(part) if isinstance(column, Rows) else plain_values(column[part])


def _lists(column: Lists, part: slice, as_text: bool) -> list[Any]:
    """Lists as JSON; for PostgreSQL texts as they are, numbers as the text of an array: faster."""
    if as_text:
        return column.as_json(part)
    return column.written(_array if column.values.dtype.kind in "iuf" else list, part)


def _array(values: list[Any]) -> str:
    return "{" + ",".join("NULL" if each is None else repr(each) for each in values) + "}"
