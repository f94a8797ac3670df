"""Answers where the data is: folders of growing size, asked by SQL under a memory limit, beside closed forms.

    python benchmarks/answers_by_sql.py [--small] [--people N …] [--limit GIB] [--spark]

Each line is one query about a hub, in a process of its own: seconds, seconds of all its threads (of Spark: of the driver
alone) and the most memory it used (the database is part of that process), the most bytes that the database had on disk, the part of it that spilled, and the rounds. Error:
relative, of log Z and of the log odds of the answer, against a closed form with 50 digits; for rings, of log Z against
the power of a matrix. In memory: the same query after reading the folder, where that is small enough.
"""

from __future__ import annotations

import argparse
import decimal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

import lifagu
from apart import memory_now, memory_peak, run_apart
from lifagu.answers_by_sql import prepare_on
from lifagu.sql.engines import open_engine
from machine import machine

EPIDEMIC = ([1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2])
RING = [1, 2, 3, 4, 5, 1, 2, 2, 9]
IN_MEMORY = 2 * 10**7  # arguments up to which the folder is also read
Expected = tuple[float, float | None]  # log Z, and the log odds of the last value against the first


@dataclass(frozen=True)
class Measured:
    """What one run took."""

    seconds: float
    busy: float
    memory: int
    disk: int
    spilled: int
    rounds: int
    log_partition: float
    odds: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--people", type=int, nargs="+", default=[10**5, 10**6, 10**7], help="sizes of the epidemic")
    parser.add_argument("--limit", type=float, default=4.0, help="memory limit in GiB (default 4)")
    parser.add_argument("--spark", action="store_true", help="on a local Spark as well, up to 10^6 people")
    options = parser.parse_args()
    people = [100, 1000] if options.small else options.people
    rings = [1000] if options.small else [10**6]
    print(f"# Answers where the data is\n\n{machine(['lifagu', 'duckdb', 'pyspark'])}")
    print(f"Memory limit {options.limit:g} GiB.\n")
    print(
        "| model | arguments | on | seconds | of threads | memory | disk | spilled | rounds | error of log Z | error of log odds |"
    )
    print("|---" * 11 + "|")
    with tempfile.TemporaryDirectory() as place:
        families: list[tuple[str, Callable[[Path, int], None], Callable[[int], Expected], Sequence[int], int]] = [
            ("epidemic", make_epidemic, epidemic_closed, people, 9),
            ("ring", make_ring, ring_closed, rings, 2),
        ]
        for title, make, closed, sizes, arguments in families:
            for size in sizes:
                folder = Path(place) / f"{title}{size}"
                make(folder, size)
                places = ["duckdb", *["spark"] * (options.spark and size <= 10**6)]
                places += ["memory"] * (arguments * size <= IN_MEMORY)
                for on in places:
                    enough = 10 if options.small else 10**6
                    work = partial(measured, folder, on, int(options.limit * 2**30), enough)
                    print(line(f"{title} {size:.0e}", arguments * size, on, run_apart(work), closed(size)), flush=True)


def line(title: str, arguments: int, on: str, found: Measured | str, expected: Expected) -> str:
    """One line of the table."""
    if isinstance(found, str):
        return f"| {title} | {arguments:.1e} | {on} | {found} |" + " – |" * 7
    sizes = " | ".join(f"{size / 2**20:.0f} MiB" for size in (found.memory, found.disk, found.spilled))
    errors = [abs(found.log_partition / expected[0] - 1)]
    errors += [abs(found.odds / expected[1] - 1)] if expected[1] is not None else []
    shown = " | ".join([f"{error:.0e}" for error in errors] + ["–"] * (2 - len(errors)))
    return f"| {title} | {arguments:.1e} | {on} | {found.seconds:.1f} | {found.busy:.1f} | {sizes} | {found.rounds} | {shown} |"


def measured(folder: Path, on: str, limit: int, enough: int) -> Measured:
    """Ask about the first variable."""
    memory_now()
    start, busy = time.perf_counter(), time.process_time()
    if on == "memory":
        result = lifagu.prepare(lifagu.read(folder), [("x0",)]).run()
        disk, spilled, rounds = 0, 0, 0
    else:
        with tempfile.TemporaryDirectory(dir=folder.parent) as place, Watch(Path(place)) as watch:
            engine = open_engine(on, place, limit)
            prepared = prepare_on(engine, folder, [["x0"]], {}, limit, enough, lambda _: None)
            result = prepared.run()
            engine.close()
        disk, spilled, rounds = watch.disk, watch.spilled, len(prepared.rounds)
    logs = result.answers[0].log_probabilities
    assert result.log_partition is not None
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    odds = float(logs[-1] - logs[0])
    return Measured(seconds, busy, memory_peak(), disk, spilled, rounds, result.log_partition, odds)


class Watch:
    """Looks at a folder now and then: the most bytes in it, and in its part for what spilled."""

    def __init__(self, folder: Path) -> None:
        self.disk = self.spilled = 0
        self._folder = folder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self.disk = max(self.disk, _size(self._folder))
            self.spilled = max(self.spilled, _size(self._folder / "spilled"))


def _size(folder: Path) -> int:
    total = 0
    for each in folder.rglob("*"):
        try:
            total += each.stat().st_blocks * 512
        except OSError:  # it went away while we looked
            continue
    return total


# ---- the models


def make_epidemic(folder: Path, people: int) -> None:
    """Figure 1 of the paper for so many persons, written by SQL: x0 is Epid, then four variables per person."""
    of_person = "1 + 4 * (range // 9) + [0, 2, 3][1 + (range // 3) % 3]"
    variable = f"CASE range % 3 WHEN 2 THEN 0 WHEN 1 THEN 2 + 4 * (range // 9) ELSE {of_person} END"
    _write(
        folder,
        variables=f"SELECT range AS id FROM range({4 * people + 1})",
        factors="SELECT range AS id, CASE WHEN range = 0 THEN 0 WHEN range % 3 = 1 THEN 1 ELSE 2 END AS table_id "
        f"FROM range({3 * people + 1})",
        arguments="SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id UNION ALL "
        f"SELECT 1 + range // 3, range % 3, {variable} FROM range({9 * people})",
        tables=f"SELECT unnest([0, 1, 2]) AS id, unnest([{EPIDEMIC[0]}, {EPIDEMIC[1]}, {EPIDEMIC[2]}]) AS potentials",
    )


def make_ring(folder: Path, size: int) -> None:
    """A ring of ternary variables with one table."""
    _write(
        folder,
        variables=f"SELECT range AS id, ['0', '1', '2'] AS range FROM range({size})",
        factors=f"SELECT range AS id, 0 AS table_id FROM range({size})",
        arguments="SELECT range // 2 AS factor_id, range % 2 AS position, (range // 2 + range % 2) % "
        f"{size} AS variable_id FROM range({2 * size})",
        tables=f"SELECT 0 AS id, {RING} AS potentials",
    )


def _write(folder: Path, **tables: str) -> None:
    folder.mkdir()
    for name, query in tables.items():
        duckdb.sql(f"COPY ({query}) TO '{folder}/{name}.parquet' (COMPRESSION zstd)")


def epidemic_closed(people: int) -> Expected:
    """log Z = log Σ over Epid of f0 · (Σ over Sick of (Σ f1) (Σ f2)²)^people."""
    f1, f2 = (np.array(each).reshape(2, 2, 2).sum(axis=0) for each in EPIDEMIC[1:])
    person = (f1 * f2**2).sum(axis=0).tolist()
    with decimal.localcontext(prec=50):
        logs = [Decimal(own).ln() + people * Decimal(each).ln() for own, each in zip(EPIDEMIC[0], person, strict=True)]
        return float(max(logs) + sum((each - max(logs)).exp() for each in logs).ln()), float(logs[1] - logs[0])


def ring_closed(size: int) -> Expected:
    """log Z is the log of the trace of a power of the table: by its eigenvalues, the largest apart."""
    values = np.linalg.eigvals(np.array(RING, dtype=np.float64).reshape(3, 3))
    largest = max(values, key=abs).real
    rest = sum((value / largest) ** size for value in values)
    return float(size * np.log(largest) + np.log(rest.real)), None


if __name__ == "__main__":
    main()
