"""PostgreSQL and SQLite through SQLAlchemy: one connection, one state, rows some at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lifagu.data.databases.addresses import Address
from lifagu.data.databases.cells import CellColumn, cells_of
from lifagu.data.databases.queries import BATCH, failed, not_a_query, plain
from lifagu.errors import FormatError, MissingExtraError
from lifagu.relational.template import Query

_READ_ONLY = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_LEADING = ("select", "with", "values", "table")


class ServedDatabase:
    """Queries answered by PostgreSQL or SQLite, within one transaction that cannot write."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connected = connection(address, read_only=True)
        self._driver = self._connected.__enter__().connection
        if address.kind == "sqlite":  # its driver would see a new state with each query
            with said_plainly(address, f"{address.shown}: "):
                self._driver.driver_connection.isolation_level = None
                self._driver.cursor().execute("BEGIN")

    def close(self) -> None:
        """Give the connection back."""
        self._connected.__exit__(None, None, None)

    def columns(self, query: Query) -> list[str]:
        """The names of a query's columns."""
        with self._cursor(
            query, f"SELECT * FROM ({plain(query.sql)}) AS records LIMIT 0"
        ) as cursor:
            return [each[0] for each in cursor.description]

    def batches(self, query: Query) -> Iterator[list[CellColumn]]:
        """The rows of a query, some at a time, by column."""
        with self._cursor(query, plain(query.sql)) as cursor:
            while rows := cursor.fetchmany(BATCH):
                yield [cells_of(column) for column in zip(*rows, strict=True)]

    @contextmanager
    def _cursor(self, query: Query, statement: str) -> Iterator[Any]:
        """A cursor of the driver's own, with plain tuples as rows; PostgreSQL's stays there."""
        if not query.sql.lstrip("( \t\r\n").lower().startswith((*_LEADING, "--", "/*")):
            raise not_a_query(query)
        on_server = {"name": "lifagu"} if self._address.kind == "postgresql" else {}
        with (
            failed(query),
            said_plainly(self._address),
            closing(self._driver.cursor(**on_server)) as cursor,
        ):
            cursor.execute(statement)
            yield cursor


@contextmanager
def connection(address: Address, read_only: bool) -> Iterator[Any]:
    """A connection in a transaction; whatever fails is said on one line, without what is secret."""
    sqlalchemy = _sqlalchemy(address)
    with said_plainly(address, f"{address.shown}: "):
        engine = sqlalchemy.create_engine(
            _url(address, read_only),
            poolclass=sqlalchemy.pool.NullPool,
            hide_parameters=True,
            connect_args={"connect_timeout": 10} if address.kind == "postgresql" else {},
        )
        found = engine.connect()
    try:
        if read_only and address.kind == "postgresql":
            found = found.execution_options(**_READ_ONLY)
        yield found
    finally:
        found.close()
        engine.dispose()


def _sqlalchemy(address: Address) -> Any:
    try:
        import sqlalchemy

        if address.kind == "postgresql":
            import psycopg  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(str(error.name), f"a {address.kind} database", "sql") from None
    return sqlalchemy


def _driver_errors(address: Address) -> tuple[type[Exception], ...]:
    known: list[type[Exception]] = [_sqlalchemy(address).exc.SQLAlchemyError, sqlite3.Error]
    if address.kind == "postgresql":
        import psycopg

        known.append(psycopg.Error)
    return tuple(known)


def _url(address: Address, read_only: bool) -> str:
    if address.kind == "postgresql":
        return address.target
    place = Path(address.target).absolute().as_uri()
    return f"sqlite:///{place}?mode={'ro' if read_only else 'rw'}&uri=true"


@contextmanager
def said_plainly(address: Address, before: str = "") -> Iterator[None]:
    """A driver's complaint as one line."""
    try:
        yield
    except _driver_errors(address) as error:
        told = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise FormatError(f"{before}{address.masked(told)}") from None
