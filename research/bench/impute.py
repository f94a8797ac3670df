"""From a hospital's database to answers at growing sizes, and how far these are from the truth."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import lifagu
from lifagu.examples.hospital import hospital
from lifagu.examples.installing import install_hospital
from research.bench.apart import memory_now, memory_peak, run_apart
from research.bench.part import FLOOR, Part, begin, duration, sized
from research.bench.timing import arranging
from research.beside_truth import WAYS, answers, near_holes, off, true_graph

TABLES = """
CREATE MACRO pick(row, salt, n) AS CAST(hash(row, salt) % n AS BIGINT);

CREATE TABLE profile AS
SELECT * FROM (
    VALUES (0, [0.95, 0.85, 0.05, 0.15]),
           (1, [0.85, 0.55, 0.15, 0.45]),
           (2, [0.75, 0.3, 0.25, 0.7])
) AS t(id, risk);

CREATE TABLE kit AS
SELECT * FROM (
    VALUES (0, [0.97, 0.03, 0.08, 0.92]),
           (1, [0.9, 0.1, 0.25, 0.75]),
           (2, NULL)
) AS t(id, accuracy);

CREATE TABLE ward AS
SELECT range AS id, range % 3 AS kit
FROM range(50);

CREATE TABLE patient AS
SELECT range + 1 AS id,
       pick(range, 'ward', 50) AS ward,
       CASE WHEN pick(range, 'asked', 20) > 0
           THEN (pick(range, 'ward', 50) + pick(range, 'cohort', 2)) % 3 END AS profile,
       CASE WHEN pick(range, 'tested', 3) = 0
           THEN pick(range, 'test', 4) = 0 END AS test,
       CASE WHEN pick(range, 'left', 2) = 0
           THEN ['short', 'medium', 'long'][1 + pick(range, 'stay', 3)] END AS stay
FROM range({n});

CREATE TABLE history AS
SELECT pick(range, 'ward', 49) AS ward,
       pick(range, 'sick', 2) = 0 AS sick,
       ['short', 'medium', 'long'][1 + pick(range, 'stay', 3)] AS stay
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
        {"name": "Stay", "of": ["Patient"], "range": ["short", "medium", "long"]},
    ],
    "tables": {
        "stay_by_ward": {
            "sql": "SELECT ward, sick, stay FROM history",
            "columns": ["sick", "stay"],
            "given": ["sick"],
            "by": ["ward"],
            "min_support": 5,
        }
    },
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
                "JOIN ward ON ward.id = patient.ward JOIN kit ON kit.id = ward.kit"
            },
        },
        {
            "name": "stay",
            "args": ["Sick(P)", "Stay(P)"],
            "table": "stay_by_ward",
            "rows": {"sql": "SELECT id AS p, ward FROM patient"},
        },
    ],
    "evidence": {
        "Test": {"sql": "SELECT id, test FROM patient"},
        "Stay": {"sql": "SELECT id, stay FROM patient"},
    },
    "queries": ["Epid", "Sick(7)"],
}


def main() -> None:
    """Measure and print."""
    part = begin(
        "From a database to answers",
        ("lifagu", "numpy", "duckdb"),
        "DuckDB makes a hospital: patients with an interview, a test and a stay each, so three",
        "factors per patient; a twentieth was not interviewed, one of 50 wards is new, one of",
        "three test kits has no table. Each size runs in a process of its own. In parentheses:",
        "seconds of processors, which other work on the machine does not touch.",
    )
    head = [
        "patients",
        "factors",
        "unknown",
        "load",
        "fill and colour",
        "and answer",
        "write",
        "memory",
        "P(Sick(7))",
    ]
    largest = part.table(head, _rows(part))[-1]
    seeds = range(1 if part.small else 20)
    part.section(
        "Beside the truth", f"Means over {len(seeds)} hospitals as the demo draws them; KL in nats."
    )
    titles = ["mean KL", "largest KL", "mean error", "largest error", "error of P(Sick(eve))"]
    part.table(["filled by", *titles], _beside_truth(seeds))
    part.in_short(
        f"{largest['patients']} patients in {largest['memory']}: load {largest['load']}, fill, "
        f"colour and answer {largest['and answer']}."
    )


def _rows(part: Part) -> Iterator[list[str]]:
    for patients in (100, 1_000) if part.small else (1_000, 10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            run_apart(partial(make, place, patients))
            found = run_apart(partial(measured, place))
        if isinstance(found, str):
            raise SystemExit(found)
        counts, times, memory, answer = found
        part.point(
            "From a database to answers",
            "factors",
            f"{FLOOR}argsort",
            counts[0],
            arranging(counts[0]),
        )
        for step, (seconds, _) in times.items():
            part.point("From a database to answers", "factors", step, counts[0], seconds)
        cells = [
            f"{duration(seconds)} ({duration(processor)})" for seconds, processor in times.values()
        ]
        yield [
            sized(patients),
            *map(sized, counts),
            *cells,
            f"{memory / 2**20:,.0f} MB",
            f"{answer:.6f}",
        ]


def make(folder: Path, patients: int) -> None:
    """The database and the template in a folder."""
    with duckdb.connect(str(folder / "hospital.duckdb")) as database:
        database.execute(TABLES.format(n=patients))
    (folder / "template.json").write_text(json.dumps(TEMPLATE))


def measured(folder: Path) -> tuple[list[int], dict[str, tuple[float, float]], int, float]:
    """How many factors there are and are unknown, seconds of each step, memory, and an answer."""
    memory_now()
    loaded, load = _timed(lambda: lifagu.io.load(folder / "template.json"))
    graph = lifagu.ground(loaded.model)
    _, fill = _timed(lambda: lifagu.impute(graph, loaded.evidence, []))
    found, impute = _timed(lambda: lifagu.impute(graph, loaded.evidence, loaded.queries))
    _, write = _timed(lambda: lifagu.io.write_imputed(folder / "result", found.tables()))
    assert found.filled == found.unknown
    times = {"load": load, "fill and colour": fill, "and answer": impute, "write": write}
    return (
        [len(graph.factor_names), found.unknown],
        times,
        memory_peak(),
        found.marginals["Sick(7)"]["true"],
    )


def _timed(work: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """What the work gives, and the seconds it takes, on the clock and of processors."""
    start, start_processor = time.perf_counter(), time.process_time()
    result = work()
    return result, (time.perf_counter() - start, time.process_time() - start_processor)


def _beside_truth(seeds: range) -> Iterator[list[str]]:
    """How far each way to fill is from the truth."""
    far: dict[str, list[tuple[float, ...]]] = {name: [] for name in WAYS}
    for seed in seeds:
        drawn = hospital(seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            loaded = lifagu.io.load(install_hospital(folder, drawn))
        graph, evidence = lifagu.ground(loaded.model), loaded.evidence
        truth = lifagu.marginals(true_graph(graph, drawn.truth), evidence=evidence)
        names = near_holes(graph, graph.evidence(evidence))
        for name, way in WAYS.items():
            given = answers(graph, evidence, way, seed)
            eve = abs(given["Sick(eve)"]["true"] - truth["Sick(eve)"]["true"])
            far[name].append((*off(truth, given, names)[1:], eve))
    for name, rows in far.items():
        yield [WAYS[name].summary, *(f"{each:.4f}" for each in np.array(rows).mean(axis=0))]


if __name__ == "__main__":
    main()
