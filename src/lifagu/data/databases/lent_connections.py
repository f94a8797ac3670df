"""Connections that somebody else has opened, read and written so that they are as they were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from lifagu.data.databases.addresses import Address
from lifagu.errors import FormatError

REPEATABLE = "ISOLATION LEVEL REPEATABLE READ"
_SAVEPOINT = "lifagu_reading"


@contextmanager
def driver_of(held: Any) -> Iterator[Any]:
    """The driver's own connection behind what was handed over; an engine opens one of its own."""
    if hasattr(held, "raw_connection"):
        with held.connect() as found:
            yield found.connection.driver_connection
    elif hasattr(held, "exec_driver_sql"):
        yield held.connection.driver_connection
    else:
        yield held


def plain_cursor(driver: Any, **settings: str) -> Any:
    """A cursor whose rows are tuples, whatever the connection makes of them."""
    if isinstance(driver, sqlite3.Connection):
        cursor = driver.cursor()
        cursor.row_factory = None
        return cursor
    return driver.cursor(row_factory=lambda _: tuple, **settings)


@contextmanager
def read_without_trace(driver: Any) -> Iterator[None]:
    """All queries in one transaction, the open one if there is one; in the end it is undone."""
    with _in_sqlite(driver) if isinstance(driver, sqlite3.Connection) else _in_postgresql(driver):
        yield


def forbid_writing(driver: Any) -> None:
    """From now on the transaction cannot write."""
    sqlite = isinstance(driver, sqlite3.Connection)
    with closing(plain_cursor(driver)) as cursor:
        cursor.execute(
            "PRAGMA query_only = 1" if sqlite else "SET LOCAL transaction_read_only = on"
        )


@contextmanager
def _in_sqlite(driver: sqlite3.Connection) -> Iterator[None]:
    """A savepoint within an open transaction, else a new one; texts are texts meanwhile."""
    cursor = plain_cursor(driver)
    ((forbidden,),) = cursor.execute("PRAGMA query_only").fetchall()
    begins, texts = not driver.in_transaction, driver.text_factory
    driver.text_factory = str
    try:
        cursor.execute("BEGIN" if begins else f"SAVEPOINT {_SAVEPOINT}")
        yield
    finally:
        cursor.execute(f"PRAGMA query_only = {int(forbidden)}")
        driver.text_factory = texts
        if begins and driver.in_transaction:
            cursor.execute("ROLLBACK")
        elif not begins and driver.in_transaction:
            cursor.execute(f"ROLLBACK TO {_SAVEPOINT}")
            cursor.execute(f"RELEASE {_SAVEPOINT}")


@contextmanager
def _in_postgresql(driver: Any) -> Iterator[None]:
    """Within an open transaction a savepoint, as whatever fails would else end all of it."""
    inside = has_transaction(driver)
    with driver.cursor() as cursor:
        if inside:
            cursor.execute(f"SAVEPOINT {_SAVEPOINT}")
        else:  # without autocommit the driver begins before the first statement
            begin = "BEGIN" if driver.autocommit else "SET TRANSACTION"
            cursor.execute(f"{begin} {REPEATABLE}")
    try:
        yield
    finally:
        if inside:
            with driver.cursor() as cursor:
                cursor.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")
                cursor.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
        else:
            driver.rollback()


def has_transaction(driver: Any) -> bool:
    """Whether a transaction is open."""
    if isinstance(driver, sqlite3.Connection):
        return driver.in_transaction
    return int(driver.info.transaction_status) != 0


@contextmanager
def write_or_undo(address: Address, driver: Any) -> Iterator[Any]:
    """A cursor in a transaction of its own, rolled back if it was not committed in the end."""
    if has_transaction(driver):  # what that did would be committed along
        raise FormatError(
            f"{address.shown}: has a transaction open; commit it or roll it back before results "
            "are written"
        )
    with closing(plain_cursor(driver)) as cursor:
        if isinstance(driver, sqlite3.Connection):
            cursor.execute("BEGIN IMMEDIATE")
        elif driver.autocommit:
            cursor.execute("BEGIN")
        try:
            yield cursor
        finally:
            if has_transaction(driver):
                cursor.execute("ROLLBACK")
