"""Queries by a connection to DuckDB that is not ours to lock: they name tables, and no files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lifagu.data.databases.queries import not_a_query, query_error
from lifagu.data.duck import Duck
from lifagu.errors import Remedy
from lifagu.relational.template import Query

# functions whose rows come of their arguments alone
_HARMLESS = {"unnest", "range", "generate_series", "repeat", "repeat_row", "json_each", "json_tree"}
_ODD = re.compile(r"\W")  # a file has at least a dot in its name
_OWN = """
    SELECT lower(database_name), lower(schema_name), lower(table_name) FROM duckdb_tables()
    UNION
    SELECT lower(database_name), lower(schema_name), lower(view_name) FROM duckdb_views()
"""
_MACROS = "SELECT lower(function_name) FROM duckdb_functions() WHERE NOT internal"


def refuse_reaching(duck: Duck, asked: str, query: Query) -> None:
    """Refuse a query that reads files or addresses; views and macros of the connection may."""
    ((found,),) = duck.rows("SELECT json_serialize_sql($asked)", "", {"asked": asked})
    tree = json.loads(found)
    if tree["error"]:
        raise not_a_query(query)
    functions = {name for kind, name in _named(tree) if kind == "TABLE_FUNCTION"}
    if functions - _HARMLESS:
        functions -= {name for (name,) in duck.rows(_MACROS, "")}
    odd = [name for kind, name in _named(tree) if kind == "BASE_TABLE" and _ODD.search(name)]
    if odd:
        known = {
            ".".join(path[start:]) for path in duck.rows(_OWN, "") for start in range(len(path))
        }
        odd = [name for name in odd if name not in known]
    for name in (*sorted(functions - _HARMLESS), *odd):
        error = query_error(query, f"'{name}' reaches beyond the tables of the connection")
        error.remedy = Remedy.VIEW_INSTEAD
        raise error


def _named(tree: Any) -> Iterator[tuple[str, str]]:
    """The tables and the functions in place of tables that a query names, in lower case."""
    for each in tree if isinstance(tree, list) else tree.values():
        if isinstance(each, dict | list):
            yield from _named(each)
    if isinstance(tree, dict) and tree.get("type") == "BASE_TABLE":
        path = (tree.get("catalog_name"), tree.get("schema_name"), tree["table_name"])
        yield "BASE_TABLE", ".".join(each for each in path if each).lower()
    if isinstance(tree, dict) and tree.get("type") == "TABLE_FUNCTION":
        yield "TABLE_FUNCTION", tree["function"]["function_name"].lower()
