"""Which tables and views of a database lifagu has written: each carries a mark, others stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from lifagu.data.databases.wide_views import BASE, WIDE, result_name
from lifagu.data.duck import quoted
from lifagu.errors import FormatError

MARK = "lifagu: result"  # a comment on the table or view; in SQLite, which has none, in its SQL
_HERE = "database_name = current_database() AND schema_name = current_schema()"
_RELATIONS = {  # of the current schema: name, sort, and where the mark is looked for
    "postgresql": """
        SELECT
            relname,
            CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,
            obj_description(pg_class.oid, 'pg_class')
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = current_schema()
        """,
    "sqlite": "SELECT lower(name), upper(type), sql FROM sqlite_master WHERE type <> 'trigger'",
    "duckdb": f"""
        SELECT lower(table_name), 'TABLE', comment FROM duckdb_tables() WHERE {_HERE}
        UNION ALL
        SELECT lower(view_name), 'VIEW', comment FROM duckdb_views() WHERE {_HERE}
        """,
}
_USUAL = {result_name(name) for name in (BASE, "transfers", "tables")}
Asked = Callable[[str], Iterable[tuple[Any, ...]]]  # those of a query


def check_names(kind: str, shown: str, rows: Asked) -> None:
    """Refuse now, before long work, a database in which somebody's own table has a result's name.

    shown: the database, for errors.
    """
    found = list(rows(_RELATIONS[kind]))
    wanted = {name for name, *_ in found if name in _USUAL or name.startswith(WIDE)}
    _drops(kind, shown, found, wanted)


def drops(kind: str, shown: str, rows: Asked, tables: Iterable[str]) -> list[str]:
    """The statements that remove what these results replace; what lifagu did not write is refused.

    With the long table go all views of it that earlier results have left.
    """
    return _drops(kind, shown, rows(_RELATIONS[kind]), set(map(result_name, tables)))


def _drops(
    kind: str, shown: str, found: Iterable[tuple[Any, ...]], wanted: Collection[str]
) -> list[str]:
    dropped = {"VIEW": list[str](), "TABLE": list[str]()}
    for name, sort, told in sorted(found, key=lambda each: str(each[0])):
        text = str(told)
        is_own = f"/* {MARK}" in text if kind == "sqlite" else text.startswith(MARK)
        if name in wanted and not is_own:
            raise FormatError(
                f"{shown}: lifagu has not written the {str(sort).lower()} {name} that is there, "
                "and does not replace it; rename it or drop it"
            )
        is_view_of_it = sort == "VIEW" and name.startswith(WIDE) and result_name(BASE) in wanted
        if is_own and (name in wanted or is_view_of_it):
            dropped[sort].append(f"DROP {sort} {quoted(name)}")
    return dropped["VIEW"] + dropped["TABLE"]
