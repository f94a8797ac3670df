"""Tables of other packages written as CSV and SQLite, with keys where they are known."""

from __future__ import annotations

import contextlib
import importlib
import io
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


class MissingError(Exception):
    """Data that are not here; the message says what is missing."""


@dataclass(frozen=True)
class Pointer:
    """Columns that, in whatever table they stand, point to the key of another table."""

    columns: tuple[str, ...]
    to: str
    there: tuple[str, ...]

    def is_in(self, name: str, frame: Any) -> bool:
        """Whether a table has these columns, and is not the one that they point to."""
        return name != self.to and set(self.columns) <= set(frame.columns)


@dataclass(frozen=True)
class Keys:
    """A table's own key, and where its columns point to."""

    own: tuple[str, ...] = ()
    foreign: tuple[Pointer, ...] = ()


def same(to: str, *columns: str) -> Pointer:
    """A pointer whose columns are called as those of the key."""
    return Pointer(columns, to, columns)


def declared(
    tables: Mapping[str, Any], own: Mapping[str, tuple[str, ...]], pointers: Sequence[Pointer]
) -> dict[str, Keys]:
    """The keys of each table."""
    return {
        name: Keys(own.get(name, ()), tuple(each for each in pointers if each.is_in(name, frame)))
        for name, frame in tables.items()
    }


def package(name: str) -> ModuleType:
    """A package that brings data; what it prints while it unpacks them is left out."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(name)
    except ImportError:
        raise MissingError(f"the package {name} is not installed") from None


def to_csv(frame: Any, path: Path) -> None:
    """A data frame as CSV, an empty field where a value is missing."""
    frame.to_csv(path, index=False)


def to_sqlite(tables: Mapping[str, Any], keys: Mapping[str, Keys], path: Path) -> None:
    """Tables with declared keys; rows may point to what is not there, as SQLite allows."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for name, frame in tables.items():
            types = {column: _type(frame[column]) for column in frame.columns}
            database.execute(_declaration(name, types, keys.get(name, Keys())))
            places = ", ".join("?" * len(types))
            rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False)
            database.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", rows)


def _declaration(name: str, types: Mapping[str, str], keys: Keys) -> str:
    lines = [f"{_quoted(column)} {kind}" for column, kind in types.items()]
    if keys.own:
        lines.append(f"PRIMARY KEY ({_listed(keys.own)})")
    lines += [
        f"FOREIGN KEY ({_listed(each.columns)}) "
        f"REFERENCES {_quoted(each.to)} ({_listed(each.there)})"
        for each in keys.foreign
    ]
    return f"CREATE TABLE {_quoted(name)} (\n  " + ",\n  ".join(lines) + "\n)"


def _type(column: Any) -> str:
    return {"i": "INTEGER", "u": "INTEGER", "b": "INTEGER", "f": "REAL"}.get(
        column.dtype.kind, "TEXT"
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(_quoted, names))
