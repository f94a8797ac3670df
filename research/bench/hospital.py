"""From a database to answers, up to a million patients, by the command line."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

from research.apart import command
from research.bench.measure import Tables, duration, mebibytes, sized

ABOUT = (
    "DuckDB makes a hospital: patients with an interview and a test each, a twentieth was not "
    "interviewed, and one of three test kits has no table. `lifagu impute` loads, fills, answers "
    "and writes Parquet; times of the process, and seconds of all its threads."
)
HEAD = ["patients", "factors", "unknown", "time", "of threads", "memory"]
TABLES = """
CREATE TABLE profile AS SELECT * FROM (
    VALUES (0, [0.95, 0.85, 0.05, 0.15]), (1, [0.85, 0.55, 0.15, 0.45]), (2, [0.75, 0.3, 0.25, 0.7])
) AS t(id, risk);

CREATE TABLE kit AS SELECT * FROM (
    VALUES (0, [0.97, 0.03, 0.08, 0.92]), (1, [0.9, 0.1, 0.25, 0.75]), (2, NULL)
) AS t(id, accuracy);

CREATE TABLE patient AS
SELECT range + 1 AS id,
       range % 3 AS kit,
       CASE WHEN hash(range, 'asked') % 20 > 0 THEN hash(range, 'cohort') % 3 END AS profile,
       CASE WHEN hash(range, 'tested') % 3 = 0 THEN hash(range, 'test') % 4 = 0 END AS test
FROM range({n});
"""
TEMPLATE = {
    "format": "lifagu/1",
    "source": "hospital.duckdb",
    "domains": {"Patient": {"sql": "SELECT id FROM patient"}},
    "relations": [
        {"name": "Epid"},
        {"name": "Sick", "of": ["Patient"]},
        {"name": "Test", "of": ["Patient"]},
    ],
    "parfactors": [
        {"name": "season", "args": ["Epid"], "table": [0.8, 0.2]},
        {
            "name": "intake",
            "args": ["Sick(P)", "Epid"],
            "table": {"column": "risk"},
            "rows": {
                "sql": "SELECT patient.id AS p, risk FROM patient "
                "LEFT JOIN profile ON profile.id = patient.profile"
            },
        },
        {
            "name": "lab",
            "args": ["Sick(P)", "Test(P)"],
            "table": {"column": "accuracy"},
            "rows": {
                "sql": "SELECT patient.id AS p, accuracy FROM patient "
                "JOIN kit ON kit.id = patient.kit"
            },
        },
    ],
    "evidence": {"Test": {"sql": "SELECT id, test FROM patient"}},
    "queries": ["Epid", "Sick"],
}


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "From a database to answers", HEAD, _rows(small)


def _rows(small: bool) -> Iterator[list[str]]:
    for patients in (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "template.json"
            with duckdb.connect(str(path.with_name("hospital.duckdb"))) as database:
                database.execute(TABLES.format(n=patients))
                count = "SELECT count(*) FILTER (profile IS NULL) + count(*) FILTER (kit = 2)"
                (unknown,) = database.execute(f"{count} FROM patient").fetchall()[0]
            path.write_text(json.dumps(TEMPLATE))
            done = command(
                "impute", str(path), "--out", f"{folder}/result", "--quiet", wait=3_600.0
            )
        counts = [sized(patients), sized(2 * patients + 1), sized(unknown)]
        if isinstance(done, str):
            yield [*counts, done, "–", "–"]
            continue
        yield [*counts, duration(done.seconds), duration(done.busy), mebibytes(done.memory)]
