"""SQLite files opened so that no query, and nothing within a file itself, reaches beyond it."""

from __future__ import annotations

import sqlite3

_REFUSED = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
_ABOUT = (  # what tells about a table or an index; with an argument, others set something
    *("foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list"),
    "table_xinfo",
)
_CALLS = ("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit")


def lock(driver: sqlite3.Connection) -> None:
    """Neither write, nor open other files, nor run functions that views in a file are to hide."""
    driver.execute("PRAGMA query_only = 1")
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
        )
    )
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK
