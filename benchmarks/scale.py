"""Lifting where the data is: folders of growing size, in memory, by DuckDB and by Spark, under one memory limit.

    python benchmarks/scale.py [--small] [--sizes N …] [--on memory duckdb spark] [--limit GIB] [--temp DIR]

Each line is one lift, with all results written, in a process of its own. Seconds: without starting Spark, which is a
column of its own; memory: the most that the process used (DuckDB is part of it, Spark's Java is not and is held to the
limit); disk and spilled: the most bytes that the engine had there; then the rounds, and the seconds of each.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import duckdb

import lifagu
from answers_by_sql import Watch, make_epidemic
from apart import memory_now, memory_peak, run_apart
from lifagu.scaling import BESIDE, lift_on
from lifagu.sql.engines import open_engine
from machine import machine

MOST = {"memory": 10**8, "duckdb": 10**10, "spark": 10**7}
COHORTS = 6


@dataclass(frozen=True)
class Measured:
    """What one run took."""

    start: float
    seconds: float
    memory: int
    disk: int
    spilled: int
    rounds: list[float]
    groups: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes, without Spark, to see that it works")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="numbers of arguments")
    parser.add_argument("--on", nargs="+", default=list(MOST), choices=list(MOST), help="where to run")
    parser.add_argument("--models", nargs="+", default=["epidemic", "cohorts"], help="epidemic, cohorts")
    parser.add_argument("--limit", type=float, default=4.0, help="memory limit in GiB (default 4)")
    parser.add_argument("--temp", help="where folders and tables are kept meanwhile")
    options = parser.parse_args()
    sizes = [1000, 10_000] if options.small else [int(size) for size in options.sizes]
    places = ["memory", "duckdb"] if options.small else options.on
    print(f"# Lifting where the data is\n\n{machine(['lifagu', 'duckdb', 'pyspark'])}")
    print(f"Memory limit {options.limit:g} GiB; in memory there is none.\n")
    print("| model | arguments | on | start | seconds | memory | disk | spilled | rounds | groups |")
    print("|---" * 10 + "|")
    makers = {"epidemic": (make_epidemic, 9), "cohorts": (make_cohorts, 5)}
    with tempfile.TemporaryDirectory(dir=options.temp) as place:
        for title in options.models:
            make, each = makers[title]
            for size in sizes:
                folder = Path(place) / f"{title}{size}"
                make(folder, size // each)
                found = {
                    on: run_apart(partial(measured, folder, on, int(options.limit * 2**30)))
                    for on in places
                    if size <= MOST[on]
                }
                for on, result in found.items():
                    print(line(title, size, on, result), flush=True)
                known = {result.groups for result in found.values() if isinstance(result, Measured)}
                assert len(known) <= 1, f"engines found different numbers of groups: {known}"


def line(title: str, size: int, on: str, found: Measured | str) -> str:
    """One line of the table."""
    if isinstance(found, str):
        return f"| {title} | {size:.0e} | {on} | – | {found} |" + " – |" * 5
    sizes = " | ".join(f"{each / 2**20:.0f} MiB" for each in (found.memory, found.disk, found.spilled))
    rounds = f"{len(found.rounds)}: {', '.join(f'{each:.1f}' for each in found.rounds)} s" if found.rounds else "–"
    start = f"{found.start:.1f}" if found.start else "–"
    return f"| {title} | {size:.0e} | {on} | {start} | {found.seconds:.1f} | {sizes} | {rounds} | {found.groups} |"


def measured(folder: Path, on: str, limit: int) -> Measured:
    """Lift a folder, with everything written."""
    memory_now()
    with tempfile.TemporaryDirectory(dir=folder.parent) as place, Watch(Path(place) / "work") as watch:
        out, begun = Path(place) / "out", time.perf_counter()
        if on == "memory":
            groups, started, rounds = in_memory(folder, out), 0.0, []
        else:
            engine = open_engine(on, Path(place) / "work", int((1 - BESIDE) * limit))
            started, rounds = time.perf_counter() - begun, []
            times: list[float] = []

            def told(text: str) -> None:
                if text.startswith(("passing", "round")):
                    times.append(time.perf_counter())

            found = lift_on(engine, folder, out=out, memory=int(BESIDE * limit), told=told)
            engine.close()
            groups = found.variable_groups + found.factor_groups
            rounds = [after - before for before, after in pairwise(times)]
        seconds = time.perf_counter() - begun - started
    shown = started if on == "spark" else 0.0
    return Measured(shown, seconds, memory_peak(), watch.disk, watch.spilled, rounds, groups)


def in_memory(folder: Path, out: Path) -> int:
    """The same in memory, without the relational model that memory also finds; the number of groups."""
    moved = lifagu.transfer(lifagu.read(folder))
    colouring = lifagu.colour(moved.graph, factor_start=moved.factor_start)
    lifagu.write_lift(out, moved, colouring)
    return int(colouring.variable_colours.max() + colouring.factor_colours.max()) + 2


def make_cohorts(folder: Path, people: int) -> None:
    """Persons of some cohorts, written by SQL: f0(Epid), f1(Travel, Sick, Epid), f2(Treat, Sick) by cohort.

    Every tenth f2 is unknown.
    """
    folder.mkdir()
    variable = "CASE range % 5 WHEN 2 THEN 0 ELSE 1 + 3 * (range // 5) + [0, 1, 0, 2, 1][1 + range % 5] END"
    cohort = f"2 + hash(range) % {COHORTS}"
    tables = {
        "variables": f"SELECT range AS id FROM range({3 * people + 1})",
        "factors": "SELECT range AS id, CASE WHEN range = 0 THEN 0 WHEN range % 2 = 1 THEN 1 WHEN range % 20 = 10 "
        f"THEN NULL ELSE {cohort} END AS table_id FROM range({2 * people + 1})",
        "arguments": "SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id UNION ALL SELECT 1 + 2 * (range // 5) + "
        f"(range % 5) // 3, (range % 5) % 3, {variable} FROM range({5 * people})",
        "tables": "SELECT 0 AS id, [1.0, 3.0] AS potentials UNION ALL SELECT 1, [3.0, 1, 2, 2, 1, 2, 5, 1] UNION ALL "
        f"SELECT 2 + range, [1.0, 1, 1, 1 + range] FROM range({COHORTS})",
    }
    for name, query in tables.items():
        duckdb.sql(f"COPY ({query}) TO '{folder}/{name}.parquet' (COMPRESSION zstd)")


if __name__ == "__main__":
    main()
