"""How long a query may take, and how each driver is made to end one."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

from lifagu.errors import Remedy, TooLargeError

STEPS = 10_000  # of SQLite's machine between two looks at the clock: some tenths of a millisecond
_MOST = 2**31 - 1  # milliseconds that PostgreSQL can be told
_CANCELLED = "57014"
_SERVER = "SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'"


class Clock:
    """What is left of the time of one query; only time within the database counts."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._left = math.inf if seconds is None else seconds
        self._end: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time goes by."""
        self._end = time.monotonic() + self._left
        try:
            yield
        finally:
            self._left, self._end = self.left, None

    @property
    def left(self) -> float:
        """Seconds that are left; any thread may ask, and what is over stays so."""
        end = self._end
        return self._left if end is None else end - time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def error(self) -> TooLargeError:
        """The error about a query that took too long."""
        return took_too_long(self.seconds or 0)


# a guard ends what runs within it when the time is over, and lets Ctrl-C end it
Guard = Callable[[Clock], AbstractContextManager[None]]


def took_too_long(seconds: float) -> TooLargeError:
    """The error about a query that took more than so many seconds."""
    return TooLargeError(f"the query takes more than {seconds:g} s", remedy=Remedy.LONGER_QUERY)


def guard_of_sqlite(driver: sqlite3.Connection) -> Guard:
    """The connection asks back now and then, and so hears of signals as well."""
    looked_at: Clock | None = None

    def look() -> bool:
        return looked_at is not None and looked_at.is_over

    @contextmanager
    def guard(clock: Clock) -> Iterator[None]:
        nonlocal looked_at
        looked_at = clock
        try:
            with clock.running():
                yield
        except sqlite3.OperationalError as error:
            if not _is_interruption(error):
                raise
            # the driver swallows what a signal raises while it asks
            raise (clock.error() if clock.is_over else KeyboardInterrupt) from None
        finally:
            looked_at = None

    driver.set_progress_handler(look, STEPS)
    return guard


def _is_interruption(error: sqlite3.Error) -> bool:
    """Whether a statement was ended from outside; what the driver itself says has no number."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT


def guard_of_postgresql(driver: Any) -> Guard:
    """The server ends it, by the time that is left, or by its own limit if that is stricter."""
    with closing(driver.cursor()) as cursor:
        ((own,),) = cursor.execute(_SERVER).fetchall()

    @contextmanager
    def guard(clock: Clock) -> Iterator[None]:
        limits = [own] if own else []
        if clock.seconds is not None:
            limits.append(min(max(math.ceil(clock.left * 1000), 1), _MOST))
        with closing(driver.cursor()) as cursor:  # anew, as a query before may have set it
            cursor.execute(f"SET LOCAL statement_timeout = {min(limits, default=0)}")
        try:
            with clock.running():
                yield
        except Exception as error:  # the driver's own, told by what the server says
            if clock.is_over and getattr(error, "sqlstate", "") == _CANCELLED:
                raise clock.error() from None
            raise

    return guard
