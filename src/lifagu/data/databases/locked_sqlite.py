"""SQLite files opened so that no query, and nothing within a file itself, reaches beyond it."""

from __future__ import annotations

import sqlite3

_REFUSED = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
_ABOUT = (  # what tells about a table or an index; with an argument, others set something
    *("foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list"),
    "table_xinfo",
)
_SHARE, _LEAST = 16, 2**24  # a value may take this part of the memory for rows, or so many bytes
_CALLS = ("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit")


def lock(driver: sqlite3.Connection, room: int) -> None:
    """Neither open other files, nor run functions that views in a file are to hide.

    room: bytes that rows may take; a value may announce more than there are of memory.
    """
    longest = driver.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
    driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, max(_LEAST, room // _SHARE)))
    driver.execute("PRAGMA trusted_schema = 0")
    driver.set_authorizer(_allowed)


def _allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """What SQLite asks for each part of a statement."""
    refused = (
        action in _REFUSED
        or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _CALLS)
        or (
            action == sqlite3.SQLITE_PRAGMA
            and second is not None
            and (first or "").lower() not in _ABOUT
            and (first, second) != ("query_only", "1")
        )
    )
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK
