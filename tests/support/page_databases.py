"""Databases on which the page is walked: a factory as somebody would have it, and many patients.

``python tests/support/page_databases.py FOLDER`` makes both, to look at them by hand.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import numpy as np

HALLS = ("A", "B", "C, upstairs")
MAKERS = ("Kern & Söhne", "Ōta", 'Bolt "Best"', "N/A")


def make_factory(folder: Path, machines: int = 200) -> Path:
    """A SQLite database with names and gaps of its own, and its template; M-200 has just come.

    Whether a machine fails hangs together with its age and how it shakes, and with the hall.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    path = folder / "factory.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as base:
        base.execute(
            'CREATE TABLE "Machine list" ("Serial no." TEXT PRIMARY KEY, hall TEXT, maker TEXT, '
            '"Age [a]" REAL, vibration REAL, "Oil?" TEXT, failed TEXT)'
        )
        for number in range(1, machines):
            base.execute('INSERT INTO "Machine list" VALUES (?,?,?,?,?,?,?)', _machine(number, rng))
        new = ("B", MAKERS[0], 1.0, None, None, None)
        base.execute('INSERT INTO "Machine list" VALUES (?,?,?,?,?,?,?)', (f"M-{machines}", *new))
    base.close()
    template = folder / "factory.json"
    template.write_text(json.dumps(FACTORY, indent=2, ensure_ascii=False))
    return template


def _machine(number: int, rng: np.random.Generator) -> tuple[object, ...]:
    hall, age = int(rng.integers(3)), float(np.round(rng.gamma(3, 3), 1))
    shakes = float(np.round(0.3 * age + 1.5 * hall + rng.normal(0, 1.5) + 2, 2))
    fails = rng.random() < 1 / (1 + np.exp(4 - 0.25 * age - 0.35 * shakes))
    dark = rng.random() < (0.7 if fails else 0.2)
    cells = [age, shakes, "dark" if dark else "clear", "yes" if fails else "no"]
    shown = [None if rng.random() < 0.15 else each for each in cells]
    return (f"M-{number}", HALLS[hall], MAKERS[int(rng.integers(4))], *shown)


FACTORY = {
    "format": "lifagu/1",
    "source": "sqlite:///factory.db",
    "domains": {"Machine": {"sql": 'SELECT "Serial no." FROM "Machine list"'}},
    "relations": [
        {"name": "Age", "of": ["Machine"], "range": {"edges": [5, 10]}},
        {"name": "Vibration", "of": ["Machine"], "range": {"bins": 3}},
        {"name": "Oil", "of": ["Machine"], "range": ["clear", "dark"]},
        {"name": "Failed", "of": ["Machine"], "range": ["no", "yes"]},
    ],
    "parfactors": [
        {"name": "wear", "args": ["Age(Machine)", "Vibration(Machine)"], "table": "learn"},
        {"name": "failure", "args": ["Vibration(Machine)", "Failed(Machine)"], "table": "learn"},
        {"name": "age", "args": ["Age(Machine)", "Failed(Machine)"], "table": "learn"},
        {"name": "oil", "args": ["Failed(Machine)", "Oil(Machine)"], "table": "learn"},
        {
            "name": "floor",
            "args": ["Vibration(Machine)"],
            "rows": {"sql": 'SELECT "Serial no." AS machine, hall FROM "Machine list"'},
            "table": {"learn": True, "by": ["hall"]},
        },
    ],
    "evidence": {
        name: {"sql": f'SELECT "Serial no.", "{column}" FROM "Machine list"'}
        for name, column in {
            "Age": "Age [a]",
            "Vibration": "vibration",
            "Oil": "Oil?",
            "Failed": "failed",
        }.items()
    },
    "queries": ["Failed(M-200)", {"relation": "Failed", "sql": "SELECT 'M-3'"}],
}


def make_patients(folder: Path, patients: int = 1_000_000) -> Path:
    """A DuckDB database of so many patients, half of them not tested, and its template."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "patients.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as base:
        base.execute(f"CREATE TABLE patient AS {PATIENT_ROWS}", [patients + 1])
    template = folder / "patients.json"
    template.write_text(json.dumps(PATIENTS, indent=2))
    return template


PATIENT_ROWS = """
SELECT
    'p' || n AS name,
    CASE hash(n, 1) % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'west' END AS ward,
    CASE WHEN hash(n, 2) % 10 = 0 THEN NULL WHEN old THEN 'old'
         WHEN hash(n, 3) % 3 = 1 THEN 'young' ELSE 'middle' END AS age,
    CASE WHEN hash(n, 4) % 2 = 0 THEN NULL
         WHEN hash(n, 5) % 100 < (CASE WHEN old THEN 60 ELSE 25 END) THEN 'positive'
         ELSE 'negative' END AS test,
    CASE WHEN hash(n, 6) % 4 > 0 THEN NULL WHEN hash(n, 7) % 3 = 0 THEN 'long'
         ELSE 'short' END AS stay
FROM (SELECT n, hash(n, 3) % 3 = 0 AS old FROM range(1, ?) AS made(n))
"""
PATIENTS = {
    "format": "lifagu/1",
    "source": "duckdb:///patients.duckdb",
    "domains": {"Patient": {"sql": "SELECT name FROM patient"}},
    "relations": [
        {"name": "Epid"},
        {"name": "Age", "of": ["Patient"], "range": ["young", "middle", "old"]},
        {"name": "Sick", "of": ["Patient"]},
        {"name": "Test", "of": ["Patient"], "range": ["negative", "positive"]},
        {"name": "Stay", "of": ["Patient"], "range": ["short", "long"]},
    ],
    "parfactors": [
        {"name": "season", "args": ["Epid"], "table": [3, 1]},
        {"name": "risk", "args": ["Age(P)", "Sick(P)", "Epid"],
         "table": [9, 8, 1, 2, 8, 6, 2, 4, 6, 4, 4, 6]},
        {"name": "lab", "args": ["Sick(P)", "Test(P)"], "table": [9, 1, 2, 8]},
        {
            "name": "care",
            "args": ["Sick(P)", "Stay(P)"],
            "rows": {"sql": "SELECT name AS p, ward FROM patient"},
            "table": {
                "by": ["ward"],
                "common": [3, 1, 1, 1],
                "groups": [{"key": ["west"], "table": [2, 1, 1, 3]}],
            },
        },
    ],
    "evidence": {
        name: {"sql": f"SELECT name, {name.lower()} FROM patient"}
        for name in ("Age", "Test", "Stay")
    },
    "queries": ["Epid", "Sick(p17)"],
}  # fmt: skip


if __name__ == "__main__":
    for make, name in (make_factory, "factory"), (make_patients, "patients"):
        sys.stdout.write(f"{make(Path(sys.argv[1]) / name)}\n")
