"""PostgreSQL and SQLite: one connection, one state, rows some at a time."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from lifagu.basics.arrays import Ints
from lifagu.data.databases.addresses import Address
from lifagu.data.databases.bound_parameters import for_psycopg, for_sqlite
from lifagu.data.databases.catalogue import Catalogue
from lifagu.data.databases.catalogue.of_postgresql import catalogue_of_postgresql
from lifagu.data.databases.catalogue.of_sqlite import catalogue_of_sqlite
from lifagu.data.databases.cells import CellColumn, cells_of
from lifagu.data.databases.layers import lay
from lifagu.data.databases.locked_sqlite import lock
from lifagu.data.databases.queries import (
    BATCH,
    FEW,
    FIRST,
    MemoryForRows,
    failed,
    not_a_query,
    plain,
)
from lifagu.data.databases.time_limits import Clock, guard_of_postgresql, guard_of_sqlite
from lifagu.data.databases.trusted_roles import refuse_reaching
from lifagu.data.databases.unsent import unsent
from lifagu.errors import BusyError, FormatError, MissingExtraError, Remedy, TooLargeError
from lifagu.relational.template import Query

_READ_ONLY = "SET LOCAL transaction_read_only = on"
_REPEATABLE = "ISOLATION LEVEL REPEATABLE READ"
_LEADING = ("select", "with", "values", "table")
_RENAMED = re.compile(r"column\d+")  # so SQLite calls "true" and "false" of a query within another
_BEFORE = re.compile(r"(?:[\s(]+|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)


class ServedDatabase:
    """Queries answered by PostgreSQL or SQLite, within one transaction that cannot write."""

    def __init__(self, address: Address) -> None:
        self._address, self.room = address, MemoryForRows(address.access.memory_limit)
        with ExitStack() as opened, said_plainly(address, f"{address.shown}: "):
            # what stands before its tables is made before a transaction is told not to write
            writes = address.kind == "postgresql" and bool(address.layers)
            sqlite = address.kind == "sqlite"
            self._driver = opened.enter_context(connection(address, read_only=not writes))
            if writes:
                self._driver.cursor().execute(f"SET TRANSACTION {_REPEATABLE}")
            elif sqlite:  # its driver would see a new state with each query
                self._driver.isolation_level = None
                lock(self._driver, self.room.size)
                self._driver.cursor().execute("BEGIN")
            self._guard = (guard_of_sqlite if sqlite else guard_of_postgresql)(self._driver)
            if address.kind == "postgresql" and not address.access.trust_role:
                refuse_reaching(self._rows, address.shown)
            if address.layers:
                lay(address.layers, self.batches, self._run, self._fill)
            if sqlite or writes:
                switch = (
                    "PRAGMA query_only = 1" if sqlite else "SET LOCAL transaction_read_only = on"
                )
                self._driver.cursor().execute(switch)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the connection."""
        with said_plainly(self._address, f"{self._address.shown}: "):
            self._opened.close()

    def columns(self, query: Query) -> list[str]:
        """The names of a query's columns."""
        statement = plain(query.sql)
        names = self._names(query, f"SELECT * FROM ({statement}) AS records LIMIT 0")
        if self._address.kind == "sqlite" and any(map(_RENAMED.fullmatch, names)):
            return self._names(query, statement)
        return names

    def _names(self, query: Query, statement: str) -> list[str]:
        with self._cursor(query, statement, self._clock()) as cursor:
            return [each[0] for each in cursor.description]

    def batches(self, query: Query) -> Iterator[list[CellColumn]]:
        """The rows of a query, some at a time, by column."""
        clock, count = self._clock(), FIRST
        with self._cursor(query, plain(query.sql), clock) as cursor:
            while rows := self._fetched(query, cursor, clock, count):
                yield [cells_of(column) for column in zip(*rows, strict=True)]
                self.room.check(query)
                count = min(2 * count, BATCH)

    def catalogue(self) -> Catalogue:
        """Which tables there are, with their columns and keys."""
        if self._address.kind == "sqlite":
            return catalogue_of_sqlite(self._rows)
        return catalogue_of_postgresql(self._rows)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a small query of our own."""
        with (
            said_plainly(self._address, f"{self._address.shown}: "),
            closing(self._driver.cursor()) as cursor,
        ):
            cursor.execute(statement)
            return list(cursor.fetchall())

    def _run(self, statement: str) -> None:
        """A statement of our own."""
        with (
            said_plainly(self._address),
            self._guard(self._clock()),
            closing(self._driver.cursor()) as cursor,
        ):
            cursor.execute(statement)

    def _fill(self, table: str, columns: Sequence[str], rows: Ints) -> None:
        """Put rows of whole numbers into a table."""
        mark = "?" if self._address.kind == "sqlite" else "%s"
        marks, listed = ", ".join(mark for _ in columns), ", ".join(columns)
        with said_plainly(self._address), closing(self._driver.cursor()) as cursor:
            cursor.executemany(f"INSERT INTO {table} ({listed}) VALUES ({marks})", rows.tolist())

    def _clock(self) -> Clock:
        return Clock(self._address.access.query_timeout)

    def _fetched(
        self, query: Query, cursor: Any, clock: Clock, count: int
    ) -> list[tuple[Any, ...]]:
        with self._guard(clock):
            if self._address.kind != "sqlite":
                return list(cursor.fetchmany(count))
            rows: list[tuple[Any, ...]] = []  # a few at a time, as each may hold what is enormous
            while len(rows) < count and (found := cursor.fetchmany(FEW)):
                rows += found
                self.room.check(query)
            return rows

    @contextmanager
    def _cursor(self, query: Query, statement: str, clock: Clock) -> Iterator[Any]:
        """A cursor of the driver's own, with plain tuples as rows; PostgreSQL's stays there."""
        if not _BEFORE.sub("", query.sql, count=1).lower().startswith(_LEADING):
            raise not_a_query(query)
        on_server = {"name": "lifagu"} if self._address.kind == "postgresql" else {}
        with (
            failed(query),
            said_plainly(self._address),
            _ended(self._driver.cursor(**on_server)) as cursor,
        ):
            with self._guard(clock):
                if self._address.kind == "postgresql":
                    cursor.execute(*for_psycopg(statement, query.values))
                else:
                    cursor.execute(for_sqlite(statement), dict(query.values) or ())
            yield cursor


@contextmanager
def _ended(cursor: Any) -> Iterator[Any]:
    """A cursor that is closed afterwards, unless its connection has been closed before it."""
    try:
        yield cursor
    finally:
        with suppress(Exception):  # each driver has an exception of its own for that
            cursor.close()


@contextmanager
def connection(address: Address, read_only: bool) -> Iterator[Any]:
    """The driver's connection; whatever fails is said on one line, without what is secret."""
    with (
        _to_sqlite(address, read_only)
        if address.kind == "sqlite"
        else _to_server(address, read_only) as driver
    ):
        yield driver


@contextmanager
def _to_sqlite(address: Address, read_only: bool) -> Iterator[sqlite3.Connection]:
    """A connection to a file, by what comes with Python."""
    place = f"{Path(address.target).absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    with said_plainly(address, f"{address.shown}: "):
        driver = sqlite3.connect(place, uri=True, check_same_thread=False)
    with closing(driver):
        yield driver


@contextmanager
def _to_server(address: Address, read_only: bool) -> Iterator[Any]:
    """A connection to PostgreSQL."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "a postgresql database", "sql") from None
    with said_plainly(address, f"{address.shown}: "):
        settings: dict[str, Any] = {"connect_timeout": 10}
        if address.is_foreign:
            settings |= unsent(address.shown, psycopg.pq.Conninfo.get_defaults())
        settings |= psycopg.conninfo.conninfo_to_dict(address.target)
        driver = psycopg.connect(**(settings | dict(address.settings)))
    with closing(driver):
        if read_only:
            driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            driver.read_only = True
        yield driver


def _driver_errors() -> tuple[type[Exception], ...]:
    """What drivers raise, as far as they are loaded."""
    known: list[type[Exception]] = [sqlite3.Error]
    if sys.modules.get("psycopg"):
        import psycopg

        known.append(psycopg.Error)
    return tuple(known)


@contextmanager
def said_plainly(address: Address, before: str = "") -> Iterator[None]:
    """A driver's complaint as one line."""
    try:
        yield
    except UnicodeDecodeError:  # of columns; cells are among the driver's own complaints
        raise FormatError(f"{before}a column has a name that is no text in UTF-8") from None
    except _driver_errors() as error:
        told = str(error).partition("\n")[0]
        said = f"{before}{address.masked(told)}"
        sort = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if sort == sqlite3.SQLITE_BUSY:
            raise BusyError(f"{said}; wait for whoever uses it") from None
        if sort == sqlite3.SQLITE_TOOBIG:
            raise TooLargeError(said, remedy=Remedy.MORE_MEMORY) from None
        if sort == sqlite3.SQLITE_FULL:
            raise TooLargeError(f"{said}; free some room there") from None
        remedy, about = None, ""
        if address.is_foreign and "no password supplied" in told:
            remedy, about = Remedy.ALLOW_ENV, "PGPASSWORD"
        raise FormatError(said, remedy=remedy, about=about) from None
