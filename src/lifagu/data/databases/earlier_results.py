"""Result tables that a database holds already, each with a mark: a table made anew has another.

So a run can tell whether somebody has written the same tables since it began. PostgreSQL numbers
tables itself; SQLite and DuckDB keep a comment with each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lifagu.data.databases.catalogue import PREFIX
from lifagu.data.databases.wide_views import result_name
from lifagu.data.duck import literal
from lifagu.errors import BusyError

Marks = Mapping[str, str]  # by the name of the table
_NUMBER = re.compile(r"lifagu: result (\d+)")
_OWN = f"substr({{}}, 1, {len(PREFIX)}) = {literal(PREFIX)}"
MARKED = {  # name and mark of each result table, in the current schema
    "postgresql": f"""
        SELECT relname, pg_class.oid
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = current_schema() AND relkind = 'r' AND {_OWN.format("relname")}
        """,
    "sqlite": f"""
        SELECT name, sql
        FROM sqlite_master
        WHERE type = 'table' AND {_OWN.format("name")}
        """,
    "duckdb": f"""
        SELECT table_name, comment
        FROM duckdb_tables()
        WHERE
            database_name = current_database()
            AND schema_name = current_schema()
            AND {_OWN.format("table_name")}
        """,
}


def marks_in(kind: str, rows: Callable[[str], Iterable[tuple[Any, ...]]]) -> Marks:
    """The marks of the result tables in a database; rows: those that a query gives."""
    return {str(name): str(mark) for name, mark in rows(MARKED[kind])}


def next_mark(marks: Marks) -> str:
    """A comment for tables that are made now, other than those that are there."""
    numbers = [int(found[1]) for mark in marks.values() if (found := _NUMBER.search(mark))]
    return f"lifagu: result {max(numbers, default=0) + 1}"


def check_unchanged(shown: str, before: Marks, now: Marks, tables: Iterable[str]) -> None:
    """Refuse to replace tables that somebody else has written meanwhile."""
    for name in map(result_name, tables):
        if name in now and now[name] != before.get(name):
            raise BusyError(
                f"{shown}: another run has written {name} since this one began; its results stay, "
                "run again to replace them"
            )
