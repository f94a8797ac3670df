"""A process that exchanges two states, again and again, until its input ends; and both states."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from lifagu.basics.atomic_files import replaced_folder

MARKS = ("old", "new")
COUNT = 12
TABLES = ("people", "facts", "seen", "asked")  # each holds the people of the state
TEMPLATE: dict[str, Any] = {
    "format": "lifagu/1",
    "domains": {"Person": {"sql": "SELECT id FROM people"}},
    "relations": [{"name": "Sick", "of": ["Person"]}],
    "parfactors": [
        {
            "name": "f",
            "args": ["Sick(Id)"],
            "rows": {"sql": "SELECT id FROM facts"},
            "table": [1, 2],
        }
    ],
    "evidence": {"Sick": {"sql": "SELECT id, 'true' AS value FROM seen"}},
    "queries": [{"sql": "SELECT id FROM asked", "relation": "Sick"}],
}


def model(mark: str) -> dict[str, Any]:
    """A model of one state: every name in it carries the mark."""
    names = [f"{mark}{number}" for number in range(COUNT)]
    return {
        "format": "lifagu/1",
        "variables": [{"name": name} for name in names],
        "factors": [{"name": name, "args": [name], "table": [1, 2]} for name in names],
        "evidence": dict.fromkeys(names[::2], "true"),
    }


def rows(mark: str) -> str:
    """The people of one state, as SQL."""
    return ", ".join(f"('{mark}{number}')" for number in range(COUNT))


def statements(mark: str) -> list[str]:
    """What brings a database from any state to this one."""
    return [
        each
        for table in TABLES
        for each in (f"DELETE FROM {table}", f"INSERT INTO {table} VALUES {rows(mark)}")
    ]


def new_tables(mark: str) -> list[str]:
    """What brings an empty database to a state."""
    return [f"CREATE TABLE {table} (id VARCHAR(20))" for table in TABLES] + statements(mark)


# ---- ways to replace: state 0 or 1, each prepared beside the target


def beside(target: Path, number: int) -> Path:
    """Where a state is kept, to be copied."""
    return target.with_name(f"{MARKS[number]}-{target.name}")


def file(target: Path, number: int) -> None:
    """A file takes the place of another."""
    shutil.copy(beside(target, number), target.with_name("temporary"))
    target.with_name("temporary").replace(target)


def folder(target: Path, number: int) -> None:
    """A folder takes the place of another, as lifagu writes them."""
    held = sorted(beside(target, number).iterdir())
    with replaced_folder(target, [each.name for each in held]) as temporary:
        for each in held:
            shutil.copy(each, temporary)


def one_by_one(target: Path, number: int) -> None:
    """The files in a folder are replaced one after another."""
    held = sorted(beside(target, number).iterdir())
    for each in held:
        shutil.copy(each, target / f".{each.name}")
    for each in held:
        (target / f".{each.name}").replace(target / each.name)


def in_duckdb(target: Path, number: int) -> None:
    """A transaction in a DuckDB file, once nobody reads it."""
    with contextlib.suppress(duckdb.IOException), duckdb.connect(str(target)) as made:
        made.execute("; ".join(["BEGIN", *statements(MARKS[number]), "COMMIT"]))


def in_sqlite(target: Path, number: int) -> None:
    """A transaction in an SQLite file."""
    made = sqlite3.connect(target, timeout=60)
    made.executescript("; ".join(["BEGIN IMMEDIATE", *statements(MARKS[number]), "COMMIT"]))
    made.close()


def in_postgresql(url: str, number: int) -> None:
    """A transaction on a server."""
    with psycopg.connect(url) as made:
        for statement in statements(MARKS[number]):
            made.execute(statement)


WAYS: dict[str, Callable[[Any, int], None]] = {
    each.__name__: each for each in (file, folder, one_by_one, in_duckdb, in_sqlite, in_postgresql)
}


def main(way: str, target: str, pause: str) -> None:
    """Replace until the input ends, and tell how often that was done."""
    place, count = target if "://" in target else Path(target), 1
    WAYS[way](place, 1)
    os.write(1, b"begun\n")
    while not select.select([sys.stdin], [], [], float(pause))[0]:
        count += 1
        WAYS[way](place, count % 2)
    os.write(1, json.dumps(count).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
