"""From a hospital's database to answers at growing sizes: load, impute, write; seconds and memory of each.

    python benchmarks/impute.py [--small] [--truth]

DuckDB makes the hospital: patients with an interview, a test and a stay each, so three factors per patient beside those
that all share; a twentieth was not interviewed, one of 50 wards is new, one of three test kits has no table. Each step
runs in one process; memory is its peak since the process began. --truth instead prints how far each way to fill is from
the truth, averaged over hospitals as the demo draws them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import lifagu
from apart import memory_now, memory_peak, run_apart
from lifagu.examples.hospital import hospital
from lifagu.examples.installing import install_hospital
from lifagu.experiments.beside_truth import WAYS, answers, near_holes, off, true_graph
from machine import machine

TABLES = """
CREATE MACRO pick(row, salt, n) AS CAST(hash(row, salt) % n AS BIGINT);
CREATE TABLE profile AS SELECT * FROM (VALUES
  (0, [0.95, 0.85, 0.05, 0.15]), (1, [0.85, 0.55, 0.15, 0.45]), (2, [0.75, 0.3, 0.25, 0.7])) AS t(id, risk);
CREATE TABLE kit AS SELECT * FROM (VALUES
  (0, [0.97, 0.03, 0.08, 0.92]), (1, [0.9, 0.1, 0.25, 0.75]), (2, NULL)) AS t(id, accuracy);
CREATE TABLE ward AS SELECT range AS id, range % 3 AS kit FROM range(50);
CREATE TABLE patient AS SELECT range + 1 AS id, pick(range, 'ward', 50) AS ward,
  CASE WHEN pick(range, 'asked', 20) > 0 THEN (pick(range, 'ward', 50) + pick(range, 'cohort', 2)) % 3 END AS profile,
  CASE WHEN pick(range, 'tested', 3) = 0 THEN pick(range, 'test', 4) = 0 END AS test,
  CASE WHEN pick(range, 'left', 2) = 0 THEN ['short', 'medium', 'long'][1 + pick(range, 'stay', 3)] END AS stay
  FROM range({n});
CREATE TABLE history AS SELECT pick(range, 'ward', 49) AS ward, pick(range, 'sick', 2) = 0 AS sick,
  ['short', 'medium', 'long'][1 + pick(range, 'stay', 3)] AS stay FROM range({n});
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
                "sql": "SELECT patient.id AS p, risk FROM patient LEFT JOIN profile ON profile.id = patient.profile"
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
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    parser.add_argument("--truth", action="store_true", help="how far answers are from the truth, instead of times")
    options = parser.parse_args()
    if options.truth:
        beside_truth(range(2 if options.small else 20))
        return
    print(f"# From a database to answers\n\n{machine(['lifagu', 'numpy', 'duckdb'])}\n")
    print("Seconds, and in parentheses those of processors, which other work on the machine does not touch.\n")
    print(
        "| patients | factors | unknown | filled | load | fill and colour | and answer | write | memory | P(Sick(7)) |"
    )
    print("|---" * 10 + "|")
    for patients in (1_000, 10_000) if options.small else (1_000, 10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            run_apart(partial(make, place, patients))
            found = run_apart(partial(measured, place))
        print(f"| {patients:,} | {' | '.join(found) if isinstance(found, list) else found} |", flush=True)


def make(folder: Path, patients: int) -> None:
    """The database and the template in a folder."""
    with duckdb.connect(str(folder / "hospital.duckdb")) as database:
        database.execute(TABLES.format(n=patients))
    (folder / "template.json").write_text(json.dumps(TEMPLATE))


def measured(folder: Path) -> list[str]:
    """The cells of one row."""
    memory_now()
    loaded, load = timed(lambda: lifagu.load(folder / "template.json"))
    graph = lifagu.ground(loaded.model)
    _, fill = timed(lambda: lifagu.impute(graph, loaded.evidence, []))
    found, impute = timed(lambda: lifagu.impute(graph, loaded.evidence, loaded.queries))
    _, write = timed(lambda: lifagu.write_imputed(folder / "result", found.tables()))
    counts = [f"{len(graph.factor_names):,}", f"{found.unknown:,}", f"{found.filled:,}"]
    return [
        *counts,
        load,
        fill,
        impute,
        write,
        f"{memory_peak() / 2**20:,.0f} MB",
        f"{found.marginals['Sick(7)']['true']:.6f}",
    ]


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    """What the work gives, and the seconds it takes."""
    start, start_processor = time.perf_counter(), time.process_time()
    result = work()
    return result, f"{time.perf_counter() - start:.2f} s ({time.process_time() - start_processor:.2f})"


def beside_truth(seeds: range) -> None:
    """Print how far each way to fill is from the truth."""
    far: dict[str, list[tuple[float, ...]]] = {name: [] for name in WAYS}
    for seed in seeds:
        drawn = hospital(seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            loaded = lifagu.load(install_hospital(folder, drawn))
        graph, evidence = lifagu.ground(loaded.model), loaded.evidence
        truth = lifagu.marginals(true_graph(graph, drawn.truth), evidence=evidence)
        names = near_holes(graph, graph.evidence(evidence))
        for name, way in WAYS.items():
            given = answers(graph, evidence, way, seed)
            eve = abs(given["Sick(eve)"]["true"] - truth["Sick(eve)"]["true"])
            far[name].append((*off(truth, given, names)[1:], eve))
    print(f"Means over {len(seeds)} hospitals; KL in nats, errors of probabilities.\n")
    print("| filled by | mean KL | largest KL | mean error | largest error | error of P(Sick(eve)) |")
    print("|---" * 6 + "|")
    for name, rows in far.items():
        print(f"| {WAYS[name].summary} | {' | '.join(f'{each:.4f}' for each in np.array(rows).mean(axis=0))} |")


if __name__ == "__main__":
    main()
