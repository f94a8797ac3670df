"""Answers where the data is: folders of growing size, asked by SQL under a memory limit and in memory."""

from __future__ import annotations

import decimal
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np

import lifagu
from apart import memory_peak, run_apart
from lifagu.answers_by_sql import prepare_on
from lifagu.sql.engines import open_engine
from part import Part, begin, duration, sized

EPIDEMIC = ([1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2])
RING = [1, 2, 3, 4, 5, 1, 2, 2, 9]
GIGABYTE = 2**30
IN_MEMORY = 10**7  # arguments up to which the folder is also read
HEAD = ["model", "arguments", "asked", "time", "of threads", "memory", "disk", "spilled", "rounds", "error"]
Expected = tuple[float, float | None]  # log Z, and the log odds of the last value against the first


@dataclass(frozen=True)
class Family:
    """Models of one shape: how to write one, what the answer is, sizes, and arguments per unit of size."""

    title: str
    make: Callable[[Path, int], None]
    closed: Callable[[int], Expected]
    sizes: Sequence[int]
    arguments: int


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
    """Measure and print."""
    part = begin(
        "Answers where the data is",
        ("lifagu", "numpy", "duckdb"),
        "The paper's epidemic and a ring of ternary variables as folders of Parquet tables, asked about one variable,",
        "each in a process of its own: by DuckDB under a memory limit, and in memory after reading the folder while it",
        "is small enough. *Of threads*: seconds of all threads together. *Memory*: the peak of the process, which the",
        "database is part of. *Disk*: the most that the database had there, and what of it was *spilled*. *Error*: the",
        "largest relative one of log Z and, for the epidemic, of the log odds, against closed forms with 50 digits.",
    )
    families = [
        Family("epidemic", make_epidemic, epidemic_closed, [100, 1000] if part.small else [10**5, 10**6, 10**7], 9),
        Family("ring", make_ring, ring_closed, [1000] if part.small else [10**6], 2),
    ]
    with tempfile.TemporaryDirectory() as place:
        table = part.table(HEAD, _rows(part, families, Path(place)))
    largest = [row for row in table if row["model"] == "epidemic" and row["asked"] != "in memory"][-1]
    part.in_short(
        f"an epidemic of {largest['arguments']} arguments is answered {largest['asked']} in {largest['time']} with "
        f"{largest['memory']} of memory, off by {largest['error']}."
    )


def _rows(part: Part, families: Sequence[Family], place: Path) -> Iterator[Sequence[str]]:
    """One row for each model and each way to ask."""
    for family in families:
        for size in family.sizes:
            folder, arguments = place / f"{family.title}{size}", family.arguments * size
            run_apart(partial(family.make, folder, size))
            limits = [1.0] if part.small else [4.0, *[1.0] * (arguments > IN_MEMORY)]
            for limit in [*limits, *[None] * (arguments <= IN_MEMORY)]:
                asked = "in memory" if limit is None else f"by DuckDB within {limit:g} GiB"
                found = run_apart(partial(measured, folder, limit, 10 if part.small else 10**6))
                part.point(
                    family.title, "arguments", asked, arguments, found if isinstance(found, str) else found.seconds
                )
                yield [family.title, sized(arguments), asked, *_cells(found, family.closed(size))]


def _cells(found: Measured | str, expected: Expected) -> list[str]:
    if isinstance(found, str):
        return [found, *["–"] * 6]
    errors = [abs(found.log_partition / expected[0] - 1)]
    errors += [abs(found.odds / expected[1] - 1)] if expected[1] is not None else []
    sizes = [f"{size / 2**20:,.0f} MiB" for size in (found.memory, found.disk, found.spilled)]
    return [duration(found.seconds), duration(found.busy), *sizes, str(found.rounds), f"{max(errors):.0e}"]


def measured(folder: Path, limit: float | None, enough: int) -> Measured:
    """Ask about the first variable; limit: of DuckDB, in GiB, None to ask in memory."""
    start, busy = time.perf_counter(), time.process_time()
    disk, spilled, rounds = 0, 0, 0
    if limit is None:
        result = lifagu.prepare(lifagu.read(folder), [("x0",)]).run()
    else:
        with tempfile.TemporaryDirectory(dir=folder.parent) as place, Watch(Path(place)) as watch:
            engine = open_engine("duckdb", place, int(limit * GIGABYTE))
            prepared = prepare_on(engine, folder, [["x0"]], {}, int(limit * GIGABYTE), enough, lambda _: None)
            result = prepared.run()
            engine.close()
        disk, spilled, rounds = watch.disk, watch.spilled, len(prepared.rounds)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    logs = result.answers[0].log_probabilities
    assert result.log_partition is not None
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
    for place, _, files in os.walk(folder):
        for each in files:
            with suppress(OSError):  # it went away while we looked
                total += (Path(place) / each).stat().st_blocks * 512
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
    import duckdb  # in a process of its own: its threads would not survive a fork

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
