"""Databases of all kinds from one description, and the commands of a draft run on them in turn."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import lifagu
from lifagu.cli import main

KINDS = ("sqlite", "duckdb", "postgresql", "csv", "parquet")
STEPS = ("check", "learn", "validate", "impute")


# ---- databases


@dataclass(frozen=True)
class Table:
    """A table: names and declared types of its columns, rows, and further clauses."""

    columns: Mapping[str, str]
    rows: Sequence[Sequence[Any]]
    clauses: Sequence[str] = ()

    def ddl(self, name: str) -> str:
        told = [f"{in_quotes(column)} {kind}".strip() for column, kind in self.columns.items()]
        return f"CREATE TABLE {in_quotes(name)} ({', '.join([*told, *self.clauses])})"

    def shuffled(self, rng: Any) -> Table:
        rows = list(self.rows)
        rng.shuffle(rows)
        return Table(self.columns, rows, self.clauses)


Tables = Mapping[str, Table]


def in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def made(kind: str, folder: Path, tables: Tables, url: str = "") -> str:
    """A new database of a kind with these tables: its address; url: of an empty PostgreSQL one."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("csv", "parquet"):
        place = folder / f"as_{kind}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, table in tables.items():
            _write_csv(place / f"{name}.csv", table)
            if kind == "parquet":
                _as_parquet(place / f"{name}.csv", table)
        return str(place)
    address = url if kind == "postgresql" else str(folder / f"data.{kind}")
    if kind != "postgresql":
        Path(address).unlink(missing_ok=True)
    connect = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect, "postgresql": psycopg.connect}
    with closing(connect[kind](address)) as connected:
        for name, table in tables.items():
            connected.execute(table.ddl(name))
            _insert(connected, kind, name, table)
        if kind != "duckdb":
            connected.commit()
    return address


def _insert(connected: Any, kind: str, name: str, table: Table) -> None:
    mark, target = "?", in_quotes(name)
    if kind == "postgresql":
        mark, target = "%s", target.replace("%", "%%")
    row = f"({', '.join(mark for _ in table.columns)})"
    at_once = max(1, 900 // len(table.columns))
    for start in range(0, len(table.rows), at_once):
        some = table.rows[start : start + at_once]
        cells = [cell for each in some for cell in each]
        connected.execute(f"INSERT INTO {target} VALUES {', '.join(row for _ in some)}", cells)


def _write_csv(path: Path, table: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        writer.writerows(["" if each is None else each for each in row] for row in table.rows)


def _as_parquet(path: Path, table: Table) -> None:
    types = {
        name: kind.split(" PRIMARY")[0].split(" REFERENCES")[0].split(" UNIQUE")[0]
        for name, kind in table.columns.items()
    }
    cast = ", ".join(f"CAST({in_quotes(name)} AS {types[name]})" for name in types)
    named = ", ".join(in_quotes(name) for name in types)
    with closing(duckdb.connect()) as connected:
        connected.execute(
            f"COPY (SELECT * FROM (SELECT {cast} FROM read_csv('{path}', header=true, "
            f"all_varchar=true)) AS t({named})) TO '{path.with_suffix('.parquet')}' "
            "(FORMAT parquet)"
        )
    path.unlink()


# ---- commands


@dataclass(frozen=True)
class Said:
    """What one command said."""

    status: int
    out: str
    err: str


def said(*words: Any) -> Said:
    """Run one command in this process; what is no error of lifagu's own is raised."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([str(each) for each in words])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Said(status, out.getvalue(), err.getvalue())


@dataclass
class Walked:
    """What the commands made of one database; error: the words of the one that failed."""

    address: str
    text: str = ""
    template: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, dict[str, float]] = field(default_factory=dict)
    validation: dict[str, Any] = field(default_factory=dict)
    failed: str = ""
    error: str = ""

    @property
    def relations(self) -> list[str]:
        return [each["name"] for each in self.template["relations"]]

    @property
    def tables(self) -> list[str]:
        return [each["name"] for each in self.template["parfactors"]]

    @property
    def asked(self) -> list[str]:
        queries = self.template["queries"]
        return [each if isinstance(each, str) else each["relation"] for each in queries]

    def predicted(self, relation: str) -> set[str]:
        """Of whom a relation was predicted: what stands between the parentheses."""
        start = relation + "("
        return {name[len(start) : -1] for name in self.answers if name.startswith(start)}


def walked(address: str, folder: Path, *options: Any, steps: Iterable[str] = STEPS) -> Walked:
    """Draft a template, then run further commands on it, until one fails."""
    found, path = Walked(address), folder / "draft.json"
    words = ["init", address, "--out", path, "--report", folder / "draft.md", "--quiet", *options]
    told = said(*words)
    if told.status:
        found.failed, found.error = "init", told.err.strip()
        return found
    found.text = path.read_text(encoding="utf-8")
    found.template = json.loads(found.text)
    for step in steps:
        told = said(step, path, *_words(step, address, folder))
        if told.status:
            found.failed, found.error = step, told.err.strip()
            return found
        if step == "validate":
            found.validation = json.loads(told.out)
        if step == "impute":
            marginals = json.loads(told.out)["marginals"]
            found.answers = {each["variable"]: each["probabilities"] for each in marginals}
    return found


def _words(step: str, address: str, folder: Path) -> list[Any]:
    words: list[Any] = ["--db", address] if "://" in address else []
    if step == "check":
        return words
    if step == "learn":
        return [*words, "--quiet", "--out", folder / "learned.json"]
    if step == "validate":
        return [*words, "--quiet", "--json"]
    in_place = "://" in address or address.endswith((".sqlite", ".duckdb"))
    target = ["--write"] if in_place else ["--out", folder / "results.csv"]
    return [*words, "--quiet", "--json", *target]


def gaps_of(found: Walked, tables: Tables) -> dict[str, tuple[set[str], set[str]]]:
    """For each relation that is asked about: of whom it was predicted, and of whom it is missing.

    That is known of tables with a key; of others the numbers are compared.
    """
    draft = lifagu.draft(found.address)
    pairs = {}
    for each in draft.found.asked:
        assert each.column is not None, f"{each.name} is no column, and nobody asked about it"
        table, column = tables[each.column[0]], each.column[1]
        names = list(table.columns)
        key = draft.found.keys[each.column[0]].columns
        missing = [
            ", ".join(_text(row[names.index(part)]) for part in key) if key else str(place + 1)
            for place, row in enumerate(table.rows)
            if _is_missing(row[names.index(column)])
        ]
        who = {each.replace(",", ", ").replace(",  ", ", ") for each in found.predicted(each.name)}
        pairs[each.name] = (who, set(missing))
    return pairs


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("", "na", "n/a", "null")
    return value is None or value != value
