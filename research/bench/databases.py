"""Templates on large databases: time and memory of loading, from each kind of database."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import lifagu
from research.bench.apart import memory_now, memory_peak, run_apart
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from support.servers import NoServerError, postgresql

PANEL = "Loading a template, ids being {}"
IDS = {"whole numbers": "i", "texts": "'patient-' || i"}
DATA = """
CREATE TABLE patients AS
SELECT {id} AS id, i % 40 AS ward, CASE WHEN i % 3 > 0 THEN i % 7 = 0 END AS test
FROM {series};

CREATE TABLE treatments AS
SELECT {id} AS patient,
       'm' || i % 5 AS drug,
       CASE WHEN i % 11 = 0 THEN NULL WHEN i % 2 = 0 THEN 'strong' ELSE 'weak' END AS effect
FROM {series};

CREATE TABLE history AS
SELECT i % 39 AS ward, i % 4 = 0 AS sick, (i + i % 5) % 3 = 0 AS test
FROM {series};
"""
TEMPLATE: dict[str, Any] = {
    "format": "lifagu/1",
    "source": "hospital.duckdb",
    "domains": {
        "Patient": {"sql": "SELECT id FROM patients"},
        "Drug": {"sql": "SELECT DISTINCT drug FROM treatments"},
    },
    "relations": [
        {"name": "Sick", "of": ["Patient"]},
        {"name": "Test", "of": ["Patient"]},
        {"name": "Treat", "of": ["Patient", "Drug"]},
    ],
    "tables": {
        "strong": [9, 1, 2, 8],
        "weak": [5, 4, 4, 5],
        "sick": {"sql": "SELECT ward, sick FROM history", "columns": ["sick"], "by": ["ward"]},
        "test": {
            "sql": "SELECT ward, sick, test FROM history",
            "columns": ["sick", "test"],
            "given": ["sick"],
            "by": ["ward"],
        },
    },
    "parfactors": [
        {
            "name": "sick",
            "args": ["Sick(Id)"],
            "rows": {"sql": "SELECT id, ward FROM patients"},
            "table": "sick",
        },
        {
            "name": "test",
            "args": ["Sick(Id)", "Test(Id)"],
            "rows": {"sql": "SELECT id, ward FROM patients"},
            "table": "test",
        },
        {
            "name": "treat",
            "args": ["Sick(Patient)", "Treat(Patient,Drug)"],
            "rows": {"sql": "SELECT patient, drug, effect FROM treatments"},
            "table": {"column": "effect"},
        },
    ],
    "evidence": {"Test": {"sql": "SELECT id, test FROM patients"}},
    "queries": ["Sick"],
}


def main() -> None:
    """Measure and print."""
    part = begin(
        "Templates on large databases",
        ("lifagu", "numpy", "duckdb", "sqlalchemy", "psycopg"),
        "A hospital with n patients, n treatments and 3n factors: learned tables by ward, a column",
        "of keys, evidence with gaps. Each load runs in a process of its own; in parentheses the",
        "seconds that it computed, without the server's. The floor is one stable argsort of as",
        "many integers as there are factors.",
    )
    head = [
        "patients",
        "ids",
        "database",
        "factors",
        "unknown",
        "observed",
        "load",
        "by argsort",
        "memory",
        "equal",
    ]
    shown = part.table(
        head, (row for size in _sizes(part) for ids in IDS for row in _rows(part, size, ids))
    )
    largest = [
        row
        for row in shown
        if row["patients"] == shown[-1]["patients"] and row["ids"] == next(iter(IDS))
    ]
    found = ", ".join(f"{row['database']} {row['load']}, {row['memory']}" for row in largest)
    part.in_short(f"{shown[-1]['patients']} patients with {shown[-1]['factors']} factors: {found}.")


def _sizes(part: Part) -> tuple[int, ...]:
    return (1_000,) if part.small else (10_000, 100_000, 1_000_000)


def _rows(part: Part, patients: int, ids: str) -> Iterator[list[str]]:
    """One row per database; all of them must give the same."""
    first = None
    floor = arranging(3 * patients)
    part.point(PANEL.format(ids), "factors", f"{FLOOR}argsort", 3 * patients, floor)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "hospital.json").write_text(json.dumps(TEMPLATE))
        for name, url in databases(folder, patients, ids, stack):
            found = (
                run_apart(partial(loaded, str(folder / "hospital.json"), url))
                if url
                else "not installed"
            )
            if isinstance(found, str):
                part.point(PANEL.format(ids), "factors", name, 3 * patients, found)
                yield [sized(patients), ids, name, "", "", "", found, "", "", ""]
                continue
            first = first or found
            part.point(PANEL.format(ids), "factors", name, 3 * patients, found["seconds"])
            times = f"{duration(found['seconds'])} ({duration(found['cpu'])})"
            cells = [*map(sized, found["counts"]), times, ratio(found["seconds"], floor)]
            equal = "yes" if found["sums"] == first["sums"] else "no"
            yield [sized(patients), ids, name, *cells, f"{found['memory'] / 2**20:,.0f} MB", equal]


def databases(
    folder: Path, patients: int, ids: str, stack: ExitStack
) -> Iterator[tuple[str, str | None]]:
    """A DuckDB file, Parquet and CSV files, and a server, with the same data."""
    with duckdb.connect(str(folder / "hospital.duckdb")) as made:
        made.execute(DATA.format(id=IDS[ids], series=f"range(1, {patients + 1}) t(i)"))
        for ending in ("parquet", "csv"):
            (folder / ending).mkdir()
            for table in ("patients", "treatments", "history"):
                made.execute(f"COPY {table} TO '{folder / ending / table}.{ending}'")
    yield "DuckDB", str(folder / "hospital.duckdb")
    yield "Parquet files", str(folder / "parquet")
    yield "CSV files", str(folder / "csv")
    try:
        url = stack.enter_context(postgresql())
    except NoServerError:
        yield "PostgreSQL", None
        return
    with psycopg.connect(url) as connected:
        connected.execute(DATA.format(id=IDS[ids], series=f"generate_series(1, {patients}) t(i)"))
    yield "PostgreSQL", url


def loaded(template: str, database: str) -> dict[str, Any]:
    """Seconds, the peak of memory beyond that before, sizes, and sums to compare graphs by."""
    before, start, computed = memory_now(), time.perf_counter(), time.process_time()
    # the only role of the benchmark's own server may do everything
    found = lifagu.io.load(template, database, trust_role=True)
    seconds, computed = time.perf_counter() - start, time.process_time() - computed
    memory = memory_peak() - before
    graph = found.model
    assert isinstance(graph, lifagu.FactorGraph)
    observed = graph.evidence(found.evidence)
    ends = [graph.factor_names[0], graph.factor_names[-1], graph.variable_names[-1]]
    numbers = (
        graph.arguments,
        graph.factor_table,
        graph.tables.values,
        observed.variables,
        observed.values,
    )
    return {
        "seconds": seconds,
        "cpu": computed,
        "memory": memory,
        "counts": [len(graph.factor_names), len(graph.unknown), len(observed.variables)],
        "sums": [*ends, *(hash(each.tobytes()) for each in numbers), len(found.queries)],
    }


if __name__ == "__main__":
    main()
