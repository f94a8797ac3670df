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
from lifagu.data.databases.own_results import MARK, Asked, check_names, drops
from lifagu.data.databases.queries import BATCH
from lifagu.data.databases.served import connection, said_plainly
from lifagu.data.databases.wide_views import is_view, result_name, wide_view
from lifagu.data.duck import literal, quoted
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
_TYPES = {"i": "BIGINT", "u": "BIGINT", "f": "DOUBLE PRECISION", "b": "BOOLEAN", "O": "TEXT"}


def replace_in_served(address: Address, tables: Mapping[str, Columns]) -> None:
    """Put tables into a database in one transaction, each in place of one of the same name."""
    views = {}
    mark = f" /* {MARK} */ " if address.kind == "sqlite" else ""
    with _writing(address) as cursor:
        for statement in drops(address.kind, address.shown, _asked(cursor), tables):
            cursor.execute(statement)
        for given, columns in tables.items():
            name = result_name(given)
            if is_view(columns, tables):
                views[name] = columns
                continue
            types = ", ".join(
                f"{quoted(each)} {_type(address, column)}" for each, column in columns.items()
            )
            cursor.execute(f"CREATE TABLE {quoted(name)} ({types}{mark})")
            _sign(address, cursor, f"TABLE {quoted(name)}")
            _fill(address, cursor, name, columns)
        for name, wide in views.items():
            cursor.execute(f"CREATE VIEW {quoted(name)} AS{mark} {wide_view(wide)}")
            _sign(address, cursor, f"VIEW {quoted(name)}")
        cursor.execute("COMMIT")


def _sign(address: Address, cursor: Any, what: str) -> None:
    """Mark a result; in SQLite it is marked already, by its own SQL."""
    if address.kind == "postgresql":
        cursor.execute(f"COMMENT ON {what} IS {literal(MARK)}")


def check_served(address: Address) -> None:
    """Refuse a database in which no table can be made, or that holds what results would replace."""
    with _writing(address) as cursor:
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
        check_names(address.kind, address.shown, _asked(cursor))


@contextmanager
def _writing(address: Address) -> Iterator[Any]:
    """A cursor in a transaction that is undone unless it is committed, of one writer at a time."""
    with (
        said_plainly(address, f"{address.shown}: cannot be written: "),
        connection(address, read_only=False) as driver,
        closing(driver.cursor()) as cursor,
    ):
        if address.kind == "sqlite":  # which waits for other writers by itself
            cursor.execute("BEGIN IMMEDIATE")
        else:
            cursor.execute(_ALONE)
            if not cursor.fetchall()[0][0]:
                raise BusyError(
                    f"{address.shown}: another run is writing results there; wait for it"
                )
        yield cursor


def _asked(cursor: Any) -> Asked:
    def rows(query: str) -> list[tuple[Any, ...]]:
        cursor.execute(query)
        return list(cursor.fetchall())

    return rows


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
