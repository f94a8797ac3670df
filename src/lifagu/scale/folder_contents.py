"""What a folder of Parquet tables holds, and the names and numbers of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.data.parquet.layout import file_name
from lifagu.errors import ModelError
from lifagu.scale.engines.engine import Engine

PREFIX = {"variables": "x", "factors": "f"}
WIDEST = 62  # arguments of a factor that stand side by side in one row


@dataclass(frozen=True)
class Given:
    """The columns there are of each table, counts, and whether ids are the numbers 0, 1, …

    counts: of variables, factors and tables and, as "places", of the places of arguments.
    """

    folder: str
    columns: dict[str, set[str]]
    counts: dict[str, int]
    dense: dict[str, bool]
    lists: set[tuple[str, str]]  # tables and columns that hold lists
    inexact: set[tuple[str, str]]  # tables and columns whose numbers may have fractions

    @property
    def places(self) -> range:
        """Where arguments stand side by side in the table scopes."""
        return range(min(self.counts["places"], WIDEST))

    @property
    def has_individuals(self) -> bool:
        """Whether variables may belong to individuals."""
        return "individual" in self.columns["variables"]

    def holds_lists(self, table: str, column: str) -> bool:
        """Whether a column holds lists, or single values."""
        return (table, column) in self.lists

    def file(self, table: str) -> str:
        """A table as the user calls it."""
        return str(Path(self.folder) / file_name(table))

    def numbered(self, table: str) -> str:
        """The variables or factors as given, with their numbers, as a table expression."""
        if self.dense[table]:
            return f"(SELECT CAST(id AS BIGINT) AS number, g.* FROM given_{table} g)"
        return f"""(
            SELECT n.number, g.*
            FROM given_{table} g
            JOIN {table}_numbers n ON n.id = CAST(g.id AS BIGINT)
        )"""

    def reference(self, table: str, column: str) -> tuple[str, str]:
        """The number that a column with ids of a table means, and the join that gives it."""
        target = f"CAST(g.{column} AS BIGINT)"
        if self.dense[table]:
            return target, ""
        joined = f"{table}_for_{column}"
        return f"{joined}.number", f"JOIN {table}_numbers {joined} ON {joined}.id = {target}"


def name_of(given: Given, table: str) -> str:
    """The name of a node as SQL, over the table `numbered` called s."""
    if "name" in given.columns[table]:
        return "CAST(s.name AS STRING)"
    return f"concat('{PREFIX[table]}', CAST(CAST(s.id AS BIGINT) AS STRING))"


def names(engine: Engine, given: Given, table: str, numbers: list[int]) -> list[str]:
    """The names of a few nodes."""
    if "name" not in given.columns[table] and given.dense[table]:
        return [f"{PREFIX[table]}{number}" for number in numbers]
    engine.register("asked", {"number": np.unique(np.array(numbers, dtype=np.int64))})
    rows = engine.rows(
        f"""
        SELECT s.number, {name_of(given, table)}
        FROM {given.numbered(table)} s
        JOIN asked a ON a.number = s.number
        """
    )
    engine.drop("asked")
    found = dict(rows)
    return [str(found[number]) for number in numbers]


def kinds_of(
    engine: Engine, given: Given, numbers: list[int]
) -> list[tuple[str | None, list[str]]]:
    """The kind of each of a few variables, and its individuals."""
    there = given.columns["variables"]
    lists = engine.dialect.lists_of("STRING")
    kind = "CAST(s.kind AS STRING)" if "kind" in there else "CAST(NULL AS STRING)"
    who = f"CAST(NULL AS {lists})"
    if given.has_individuals:
        is_list = given.holds_lists("variables", "individual")
        listed = "s.individual" if is_list else engine.dialect.array_of("s.individual")
        who = f"CASE WHEN s.individual IS NOT NULL THEN CAST({listed} AS {lists}) END"
    engine.register("asked", {"number": np.unique(np.array(numbers, dtype=np.int64))})
    rows = engine.rows(
        f"""
        SELECT s.number, {kind}, {who}
        FROM {given.numbered("variables")} s
        JOIN asked a ON a.number = s.number
        """
    )
    engine.drop("asked")
    found = {number: (kind, list(individuals or ())) for number, kind, individuals in rows}
    return [found[number] for number in numbers]


def numbers_of(engine: Engine, given: Given, wanted: Iterable[str]) -> dict[str, int]:
    """The numbers of variables by name, in the order wanted; one that is missing is an error."""
    asked = list(dict.fromkeys(wanted))
    column, keys = "CAST(s.name AS STRING)", np.array(asked, dtype=object)
    called: dict[Any, str] = {name: name for name in asked}
    if "name" not in given.columns["variables"]:
        called = {number: name for name in asked if (number := _id_in(name)) is not None}
        column, keys = "CAST(s.id AS BIGINT)", np.array(list(called), dtype=np.int64)
    found = {}
    if len(keys):
        engine.register("asked", {"wanted": keys})
        rows = engine.rows(
            f"""
            SELECT a.wanted, s.number
            FROM {given.numbered("variables")} s
            JOIN asked a ON a.wanted = {column}
            """
        )
        found = {called[each]: int(number) for each, number in rows}
        engine.drop("asked")
    for name in asked:
        if name not in found:
            raise ModelError(f"there is no variable '{name}' in the model")
    return {name: found[name] for name in asked}


def _id_in(name: str) -> int | None:
    """The id in a name that was made from it, such as x7."""
    found = re.fullmatch(f"{PREFIX['variables']}(0|[1-9][0-9]{{0,17}})", name)
    return int(found[1]) if found else None
