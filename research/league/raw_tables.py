"""The raw tables behind a template, and which of their rows and cells its relations speak of.

Every table gets a column with the number of each row, so that a template's own query, asked for
that column as well, tells which raw row each individual is, whatever the query makes of the row.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lifagu.data.databases.cells import text_of
from lifagu.graph.bins import BinLabels, number_of, quantile_edges

ROW = "raw_row_of_{}"
WORD = re.compile(r'"((?:[^"]|"")+)"|\b([A-Za-z_]\w*)\b')
ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Told:
    """What `lifagu validate` says of one relation's hidden cells, in the file's order.

    truth: numbers of labels; probabilities: a row for each cell; places: rows of the file.
    """

    relation: str
    individuals: tuple[str, ...]
    labels: tuple[str, ...]
    truth: Ints
    probabilities: NDArray[np.float64]
    places: Ints


@dataclass(frozen=True, eq=False)
class Target:
    """A relation as a column to be predicted.

    table: whose rows they are; columns: raw ones that tell the value; rows, values: the row and the
    number of the label of every value that was not hidden; asked: rows of the hidden cells.
    """

    told: Told
    table: str
    columns: tuple[str, ...]
    rows: Ints
    values: Ints
    asked: Ints


def read_cells(path: Path) -> list[Told]:
    """Hidden cells by relation, as `lifagu validate --cells` lists them."""
    found: dict[str, list[tuple[int, dict[str, str]]]] = {}
    with path.open(newline="") as file:
        for place, row in enumerate(csv.DictReader(file)):
            found.setdefault(row["relation"], []).append((place, row))
    return [_told(relation, rows) for relation, rows in found.items()]


def _told(relation: str, rows: Sequence[tuple[int, dict[str, str]]]) -> Told:
    distributions = [json.loads(row["distribution"]) for _, row in rows]
    labels = tuple(distributions[0])
    number = {label: place for place, label in enumerate(labels)}
    return Told(
        relation,
        tuple(row["individual"] for _, row in rows),
        labels,
        np.array([number[row["value"]] for _, row in rows]),
        np.array([[each[label] for label in labels] for each in distributions]),
        np.array([place for place, _ in rows]),
    )


# ---- the database


class Raw:
    """A database with numbered rows, in memory; what it is asked comes back as data frames."""

    def __init__(self, path: Path) -> None:
        self._served = path.suffix in (".sqlite", ".db", ".sqlite3")
        self._database: Any = _sqlite(path) if self._served else _duckdb(path)
        self.tables = {
            name: self.asked(f'SELECT * FROM "{name}"').drop(columns=ROW.format(name))
            for name in self._names()
        }

    def _names(self) -> list[str]:
        if self._served:
            return self.asked("SELECT name FROM sqlite_master WHERE type = 'table'")[
                "name"
            ].tolist()
        return self.asked("SELECT table_name FROM duckdb_tables()")["table_name"].tolist()

    def asked(self, sql: str) -> Any:
        """The rows of a query."""
        if self._served:
            return pd.read_sql_query(sql, self._database)
        return self._database.execute(sql).df()

    def empty(self, table: str, column: str, rows: Ints) -> None:
        """NULL in some cells of the database; the frames stay as they were."""
        self._each(f'UPDATE "{table}" SET "{column}" = NULL WHERE "{ROW.format(table)}"', rows)

    def drop(self, table: str, rows: Ints) -> None:
        """Some rows of the database gone; the frames stay as they were."""
        self._each(f'DELETE FROM "{table}" WHERE "{ROW.format(table)}"', rows)

    def _each(self, change: str, rows: Ints) -> None:
        self._database.execute("CREATE TEMP TABLE chosen (n INTEGER)")
        if self._served:
            self._database.executemany(
                "INSERT INTO chosen VALUES (?)", rows.reshape(-1, 1).tolist()
            )
        else:
            self._database.register("numbers", pd.DataFrame({"n": rows}))
            self._database.execute("INSERT INTO chosen SELECT n FROM numbers")
        self._database.execute(f"{change} IN (SELECT n FROM chosen)")
        self._database.execute("DROP TABLE chosen")

    def write(self, path: Path) -> None:
        """The database as it is now in the form that it came in: SQLite, a file, or a folder."""
        if self._served:
            for name in self.tables:
                self._database.execute(f'ALTER TABLE "{name}" DROP COLUMN "{ROW.format(name)}"')
            self._database.commit()
            with contextlib.closing(sqlite3.connect(path)) as there:
                self._database.backup(there)
            return
        if not path.suffix:
            path.mkdir()
        for name in self.tables:
            row = ROW.format(name)
            kept = f'SELECT * EXCLUDE "{row}" FROM "{name}" ORDER BY "{row}"'
            to = path if path.suffix else path / f"{name}.csv"
            self._database.execute(f"COPY ({kept}) TO '{to}' (HEADER)")


def _sqlite(path: Path) -> Any:
    made = sqlite3.connect(":memory:")
    with contextlib.closing(sqlite3.connect(path)) as there:
        there.backup(made)
    tables = made.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in tables:
        row = ROW.format(name)
        made.execute(f'ALTER TABLE "{name}" ADD COLUMN "{row}" INTEGER')
        made.execute(f'UPDATE "{name}" SET "{row}" = rowid - 1')
    return made


def _duckdb(path: Path) -> Any:
    made = duckdb.connect(":memory:")
    made.execute("SET threads = 1")
    if path.suffix == ".duckdb":
        made.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
        asked = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source'"
        sources = {name: f'source."{name}"' for (name,) in made.execute(asked).fetchall()}
    else:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        sources = {
            each.name.split(".")[0]: f"'{each}'"
            if each.name.endswith(".parquet")
            else f"read_csv('{each}', sample_size = -1)"
            for each in files
            if each.name.endswith(ENDINGS)
        }
    for name, source in sources.items():
        number = f'row_number() OVER () - 1 AS "{ROW.format(name)}"'
        made.execute(f'CREATE TABLE "{name}" AS SELECT *, {number} FROM {source}')
    if path.suffix == ".duckdb":
        made.execute("DETACH source")
    return made


# ---- from relations to rows


def asked_columns(template: Mapping[str, Any]) -> list[str]:
    """The relations that a template asks about and whose values stand in a column.

    What is made of several rows, such as how many there are, is never missing in a database.
    """
    queries = template.get("queries") or [each["name"] for each in template["relations"]]
    names = [each if isinstance(each, str) else each["relation"] for each in queries]
    evidence = template["evidence"]
    return [name for name in names if not re.search(r"\b(JOIN|GROUP BY)\b", evidence[name]["sql"])]


def targets(raw: Raw, template: Mapping[str, Any], cells: Sequence[Told]) -> list[Target | str]:
    """For each relation with hidden cells its column; or in a word why there is none."""
    relations = {each["name"]: each for each in template["relations"]}
    return [_target(raw, template, relations[told.relation], told) for told in cells]


def _target(
    raw: Raw, template: Mapping[str, Any], relation: Mapping[str, Any], told: Told
) -> Target | str:
    evidence = template["evidence"].get(relation["name"])
    if not isinstance(evidence, Mapping) or "sql" not in evidence:
        return f"{relation['name']}: its evidence is no query"
    keys = len(relation["of"])
    found = rows_of(raw, evidence["sql"], keys)
    if found is None:
        return f"{relation['name']}: its values are of no rows of a table"
    table, columns, frame = found
    frame = frame[frame["value"].notna()]
    names = individuals_of(frame, keys)
    place = {name: number for number, name in enumerate(names)}
    if not all(each in place for each in told.individuals):
        return f"{relation['name']}: individuals have other names than rows"
    hidden = np.array([place[each] for each in told.individuals])
    seen = np.ones(len(names), dtype=bool)
    seen[hidden] = False
    values = _numbered(frame["value"].tolist(), seen, relation.get("range"), told.labels)
    if values is None or (values[hidden] != told.truth).any():
        return f"{relation['name']}: labels differ from those of rows"
    rows = frame["row"].to_numpy(np.int64)
    known = seen & (values >= 0)
    return Target(told, table, columns, rows[known], values[known], rows[hidden])


def rows_of(raw: Raw, sql: str, keys: int) -> tuple[str, tuple[str, ...], Any] | None:
    """The table that a query reads, the columns that it makes values of, and its rows."""
    selected, rest = _parted(sql)
    if len(selected) != keys + 1:
        return None
    ids, value = selected[:-1], selected[-1]
    words = _words(sql)
    for table in (each for each in raw.tables if each in words):
        asked = [f"{each} AS key{place}" for place, each in enumerate(map(_unnamed, ids))]
        asked += [f"{_unnamed(value)} AS value", f'"{ROW.format(table)}" AS "row"']
        try:
            frame = raw.asked(f"SELECT {', '.join(asked)} FROM {rest}")
        except (duckdb.Error, pd.errors.DatabaseError):
            continue
        if frame["row"].is_unique:
            columns = set(raw.tables[table].columns)
            # a condition on other columns, such as those of a sample, tells nothing of the value
            told = columns & _words(value) or columns & words - _words(" ".join(ids))
            return table, tuple(sorted(told)), frame
    return None


def _parted(sql: str) -> tuple[list[str], str]:
    """What a query selects, one by one, and what stands after FROM."""
    depth, quote, start, parts = 0, "", 0, []
    text = re.sub(r"^\s*SELECT\s+", "", sql, flags=re.I)
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif depth == 0 and letter == ",":
            parts.append(text[start:place].strip())
            start = place + 1
        elif depth == 0 and re.match(r"\sFROM\b", text[place : place + 6], re.I):
            return [*parts, text[start:place].strip()], text[place + 6 :]
    return [], ""


def _unnamed(expression: str) -> str:
    """An expression without the name that it is given."""
    return re.sub(r'\s+AS\s+("[^"]+"|\w+)\s*$', "", expression, flags=re.I)


def _words(sql: str) -> set[str]:
    return {(one or other).replace('""', '"') for one, other in WORD.findall(sql)}


def individuals_of(frame: Any, keys: int) -> list[str]:
    """Constants joined by commas, as inside a name's parentheses."""
    columns = [[text_of(each) for each in frame[f"key{key}"].tolist()] for key in range(keys)]
    return [",".join(each) for each in zip(*columns, strict=True)]


def _numbered(
    values: Sequence[Any], seen: NDArray[np.bool_], spans: Any, labels: tuple[str, ...]
) -> Ints | None:
    """Numbers of labels, -1 where a value has none; bins are those of what was not hidden."""
    if isinstance(spans, Mapping) and not {"bins", "edges"}.isdisjoint(spans):
        numbers = np.array([np.nan if (n := number_of(each)) is None else n for each in values])
        known = numbers[seen & ~np.isnan(numbers)]
        edges = spans["edges"] if "edges" in spans else quantile_edges(known, spans["bins"])
        bins = BinLabels.of(edges)
        if len(bins) != len(labels):
            return None
        return np.where(np.isnan(numbers), -1, bins.places(numbers))
    number = {label: place for place, label in enumerate(labels)}
    if set(labels) == {"true", "false"}:
        number |= {"1": number["true"], "0": number["false"]}
    return np.array([number.get(text_of(each), -1) for each in values])


def hide(tables: Mapping[str, Any], found: Sequence[Target]) -> dict[str, Any]:
    """The tables without what tells hidden cells."""
    hidden = {name: frame.copy() for name, frame in tables.items()}
    for target in found:
        frame = hidden[target.table]
        for column in target.columns:
            kept = np.ones(len(frame), dtype=bool)
            kept[target.asked] = False
            frame[column] = frame[column].where(kept)
    return hidden
