"""Every way to write a result, each as a command that gives one of two results."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WARDS = 210  # groups of a learned table, too many to stand in the template itself


@dataclass
class Writer:
    """A command that writes a result: which of two, by a mark.

    fresh: what is there already is never replaced; rare: it takes long, and is run less often;
    dumped: what a database holds.
    """

    name: str
    base: Path
    words: Callable[[int], list[str]]
    target: Path
    fresh: bool = False
    rare: bool = False
    dumped: Callable[[], Any] | None = None

    @property
    def results(self) -> Path:
        """The folder that nothing but results is in."""
        return self.base / "results"

    def command(self, mark: int) -> list[str]:
        """The words of the command line."""
        return self.words(mark)


def model(mark: int, hole: str = "di") -> dict[str, Any]:
    """A small model with a hole at an individual, and evidence, one of two."""
    who = ["al", "bo", "cy", "di"]
    kinds = ("Sick", "Tired")
    return {
        "format": "lifagu/1",
        "variables": [
            {"name": f"{kind}.{each}", "kind": kind, "individual": each}
            for kind in kinds
            for each in who
        ],
        "factors": [
            {
                "name": f"f.{each}",
                "args": [f"Sick.{each}", f"Tired.{each}"],
                "table": None if each == hole else [1, 2 + mark, 3, 4],
            }
            for each in who
        ],
        "evidence": {"Tired.al": "true", **({"Tired.bo": "true"} if mark else {})},
    }


def template(mark: int, source: Any) -> dict[str, Any]:
    """A template whose answers are one of two."""
    return {
        "format": "lifagu/1",
        "source": source,
        "domains": {"Person": {"sql": "SELECT id FROM people"}},
        "relations": [{"name": "Sick", "of": ["Person"]}],
        "parfactors": [{"name": "f", "args": ["Sick(Person)"], "table": [1, 2 + mark]}],
        "queries": [{"sql": "SELECT id FROM people", "relation": "Sick"}],
    }


def learning(mark: int) -> dict[str, Any]:
    """A template that learns a table by group."""
    return {
        "format": "lifagu/1",
        "source": {"files": {"people": f"people{mark}.csv"}},
        "domains": {"Person": {"sql": "SELECT id FROM people"}},
        "relations": [{"name": "Sick", "of": ["Person"]}],
        "parfactors": [
            {
                "name": "sick",
                "args": ["Sick(Id)"],
                "rows": {"sql": "SELECT id, ward FROM people"},
                "table": {"learn": True, "by": ["ward"]},
            }
        ],
        "evidence": {"Sick": {"sql": "SELECT id, sick AS value FROM people"}},
    }


def _inputs(folder: Path) -> None:
    """Models, folders and data, each in both states."""
    import lifagu

    folder.mkdir(parents=True)
    for mark in (0, 1):
        (folder / f"model{mark}.json").write_text(json.dumps(model(mark)))
        (folder / f"whole{mark}.json").write_text(json.dumps(model(mark, hole="")))
        (folder / f"learn{mark}.json").write_text(json.dumps(learning(mark)))
        with (folder / f"people{mark}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "ward", "sick"])
            for number in range(2 * WARDS):
                sick = (number * (7 + mark)) % 5 < 2
                rows.writerow([f"p{number}", f"w{number % WARDS}", str(sick).lower()])
        lifagu.write(lifagu.read(folder / f"model{mark}.json"), folder / f"folder{mark}")


def prepared(base: Path, stack: ExitStack, wanted: list[str] | None) -> list[Writer]:
    """All writers, each with folders of its own; without a server none for PostgreSQL."""
    made: list[Writer] = []

    def add(name: str, words: list[str], target: str, **settings: Any) -> None:
        if wanted and name not in wanted:
            return
        own = base / name.replace(" ", "-")
        _inputs(own / "in")
        for part in ("results", "tmp", "work"):
            (own / part).mkdir()
        made.append(
            Writer(
                name,
                own,
                lambda mark: [each.replace("MARK", str(mark)) for each in words],
                own / "results" / target,
                **settings,
            )
        )

    source, out = "in/modelMARK.json", "results/out"
    add("json", ["convert", source, f"{out}.json"], "out.json")
    add("uai and evidence", ["convert", "in/wholeMARK.json", f"{out}.uai"], "out.uai")
    add("folder", ["convert", source, out], "out")
    add("lift", ["lift", source, "--out", out, "--quiet"], "out")
    add(
        "lift on duckdb",
        ["lift", "in/folderMARK", "--on", "duckdb", "--out", out, "--temp", "work", "--quiet"],
        "out",
        rare=True,
    )
    add("impute", ["impute", source, "--out", out], "out")
    add("impute as csv", ["impute", source, "--out", f"{out}.csv"], "out.csv")
    add("marginals", ["marginals", source, "--out", f"{out}.parquet"], "out.parquet")
    add("plot", ["plot", source, "--out", f"{out}.svg"], "out.svg")
    add("learn", ["learn", "in/learnMARK.json", "--out", f"{out}.json"], "out.json", rare=True)
    add("validate", ["validate", source, "--out", out], "out", rare=True)
    cells = ["validate", source, "--cells", f"{out}.csv"]
    add("cells", cells, "out.csv", rare=True)
    add("init", ["init", "in/peopleMARK.csv", "--out", f"{out}.json"], "out.json", rare=True)
    add("examples", ["examples", "clinic", "--out", "results"], "clinic.json", fresh=True)
    _databases(add, made, base, stack, wanted)
    return made


def _databases(
    add: Any, made: list[Writer], base: Path, stack: ExitStack, wanted: list[str] | None
) -> None:
    """Results that go into a database."""
    for kind in ("sqlite", "duckdb", "postgresql"):
        if wanted and kind not in wanted:
            continue
        source: str | None = f"../results/data.{kind}"
        if kind == "postgresql" and (source := _server(stack)) is None:
            continue
        trust = ["--trust-role"] if kind == "postgresql" else []  # the server's only one may do all
        add(kind, ["impute", "in/templateMARK.json", "--write", *trust], f"data.{kind}")
        writer = made[-1]
        place = source if kind == "postgresql" else str(writer.target)
        writer.dumped = lambda kind=kind, place=place: dumped(kind, place)
        _people(kind, str(place))
        for mark in (0, 1):
            text = json.dumps(template(mark, source))
            (writer.base / f"in/template{mark}.json").write_text(text)


def _server(stack: ExitStack) -> str | None:
    """A PostgreSQL server of our own, where one can be run."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.servers import NoServerError, postgresql

    with suppress(NoServerError):
        return stack.enter_context(postgresql())
    return None


def connected(kind: str, place: str) -> Any:
    """A connection of the driver's own."""
    if kind == "sqlite":
        return sqlite3.connect(place, timeout=60)
    if kind == "duckdb":
        import duckdb

        return duckdb.connect(place)
    import psycopg

    return psycopg.connect(place)


def _people(kind: str, place: str) -> None:
    with closing(connected(kind, place)) as made:
        made.execute("CREATE TABLE people (id VARCHAR(20))")
        made.execute("INSERT INTO people VALUES ('al'), ('bo'), ('cy')")
        if kind != "duckdb":
            made.commit()


def dumped(kind: str, place: str) -> dict[str, Any]:
    """The result tables of a database, row by row."""
    listing = {
        "sqlite": "SELECT name FROM sqlite_master WHERE name LIKE 'lifagu%'",
        "duckdb": "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'lifagu%'",
        "postgresql": "SELECT table_name FROM information_schema.tables "
        "WHERE table_name LIKE 'lifagu%'",
    }[kind]
    with closing(connected(kind, place)) as made:
        names = sorted(row[0] for row in made.execute(listing).fetchall())
        return {
            name: sorted(map(repr, made.execute(f"SELECT * FROM {name}").fetchall()))
            for name in names
        }
