"""What all databases have in common: how queries are put, and what is said when one fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lifagu.basics.memory import default_memory_limit, own_memory, readable_size
from lifagu.errors import BusyError, FormatError, Remedy, TooLargeError
from lifagu.relational.template import Query

BATCH = 2**17  # rows that are held as objects of the driver at a time
FIRST = 2**10  # rows at first, then twice as many each time, as they may be long
FEW = 2**6  # rows of SQLite between two looks at the memory
LONGEST = 300  # characters of a query that an error shows


class MemoryForRows:
    """The memory that rows may take while they are read, with all else that is made meanwhile."""

    def __init__(self, memory_limit: int | None, least: int = 0) -> None:
        self.size = max(memory_limit or default_memory_limit(), least)
        self._before = own_memory()

    def check(self, query: Query, more: int = 0) -> None:
        """Refuse to go on where no room is left, or not for so many bytes more."""
        if own_memory() - self._before + more > self.size:
            raise TooLargeError(
                f"{query.place}: the rows take more than the {readable_size(self.size)} of memory "
                "that they may take",
                remedy=Remedy.MORE_MEMORY,
            )


def plain(sql: str) -> str:
    """A query without what ends it, to stand within another; a comment at its end does no harm.

    >>> plain("SELECT 1; ")
    'SELECT 1\\n'
    """
    return sql.strip().rstrip(";").rstrip() + "\n"


def shown_sql(query: Query) -> str:
    """A query on one line, its beginning if it is long."""
    text = " ".join(query.sql.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def query_error(query: Query, message: str) -> FormatError:
    """The error about a query: its place, what is wrong, and the query."""
    return FormatError(f"{query.place}: {message}; the query is: {shown_sql(query)}")


def not_a_query(query: Query) -> FormatError:
    """The error for something else than one SELECT."""
    return query_error(query, "this is not one query that only reads; write a single SELECT")


@contextmanager
def failed(query: Query) -> Iterator[None]:
    """Say which query failed, and where it stands."""
    try:
        yield
    except TooLargeError as error:
        if error.message.startswith(f"{query.place}:"):
            raise
        said = f"{query.place}: {error.message.removeprefix(': ')}"
        if error.remedy is Remedy.LONGER_QUERY:
            said = f"{said}; it is: {shown_sql(query)}"
        raise error.saying(said) from None
    except BusyError as error:
        raise error.saying(f"{query.place}: {error.message.removeprefix(': ')}") from None
    except FormatError as error:
        if error.message.startswith(f"{query.place}:"):
            raise
        raise query_error(query, f"the query fails: {error.message.removeprefix(': ')}") from None
