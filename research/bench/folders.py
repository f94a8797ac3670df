"""Folders of Parquet tables for work where the data is: writing them, and what a run takes."""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import duckdb

from lifagu.questions.by_sql.asking import plan_on as plan_on
from lifagu.questions.by_sql.lifting import lift_on as lift_on
from lifagu.questions.by_sql.workplace import BESIDE as BESIDE
from lifagu.scale.engines.engine import Engine
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.journal import Journal as Journal
from research.bench.apart import descendants, memory_now, memory_peak, processor_seconds, run_apart
from research.bench.machine import memory
from research.bench.part import duration, ratio

Result = TypeVar("Result")
EPIDEMIC = ([1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2])
COSTS = ["start", "time", "of threads", "memory", "Java", "disk", "spilled"]
ABOUT_COSTS = (
    "Each run has a process of its own. *Start*: until the engine is ready; apart from that, the",
    "*time*, as a ratio to one stable argsort of as many integers as there are arguments. *Of",
    "threads*: seconds of all threads together. *Memory*: the peak of the process, which DuckDB is",
    "part of; Spark's Java stands beside. *Disk*: the most that the engine had there, and what of",
    "it was *spilled*, with Spark also what was shuffled.",
)
SHARE = (
    0.8  # of the machine's memory, for what runs in memory: it must fail before the machine does
)


# ---- running


@dataclass(frozen=True)
class Took:
    """What a run took: seconds until the engine was ready, seconds then, of all threads, and bytes.

    memory: the peak of the process; java: of those it started; disk: the most the engine had there;
    spilled: of that.
    """

    start: float
    seconds: float
    busy: float
    memory: int
    java: int
    disk: int
    spilled: int

    def cells(self, floor: float | str | None) -> list[str]:
        """One cell for each of COSTS; floor: seconds of the argsort, if it was measured."""
        in_time = duration(self.seconds)
        if isinstance(floor, float):
            in_time = f"{ratio(self.seconds, floor)} ({in_time})"
        sizes = [
            f"{size / 2**20:,.0f} MiB" if size else "–"
            for size in (self.memory, self.java, self.disk)
        ]
        spilled = f"{self.spilled / 2**20:,.0f} MiB" if self.disk else "–"
        return [
            duration(self.start) if self.start else "–",
            in_time,
            duration(self.busy),
            *sizes,
            spilled,
        ]


def measured(
    work: Callable[[Path], Result], within: Path, limit: float | None = None
) -> Result | str:
    """Work in a process and a folder of its own, gone afterwards; or in a word why it failed."""
    with tempfile.TemporaryDirectory(dir=within, ignore_cleanup_errors=True) as place:
        return run_apart(partial(work, Path(place)), limit)


def took(
    on: str, folder: Path, limit: int, task: Callable[[Engine | None], Result]
) -> tuple[Result, Took]:
    """What a task gives on an engine with its tables in a folder (None: memory), and what it took.

    limit: bytes for the engine.
    """
    memory_now()
    if on == "memory":
        keep_within(int(SHARE * memory()))
    with Watch(folder) as watch:
        begun = time.perf_counter()
        engine = None if on == "memory" else open_engine(on, folder, limit)
        started, used = time.perf_counter(), processor_seconds()
        result = task(engine)
        seconds, busy = time.perf_counter() - started, processor_seconds() - used
        java = sum(memory_peak(process) for process in descendants())
        if engine is not None:
            engine.close()
    start = 0.0 if engine is None else started - begun
    return result, Took(start, seconds, busy, memory_peak(), java, watch.disk, watch.spilled)


def keep_within(limit: int) -> None:
    """From now on this process lacks memory, and says so, rather than take more of it."""
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def missing(on: str) -> str:
    """What an engine lacks here, in a word; "" if nothing."""
    if on != "spark":
        return ""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    return "" if os.environ.get("JAVA_HOME") or shutil.which("java") else "Java is not installed"


class Watch:
    """Looks at a folder now and then: the most bytes in it, and in its part for what spilled."""

    def __init__(self, folder: Path) -> None:
        self.disk = self.spilled = 0
        self._folder = folder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self._look()

    def _look(self) -> None:
        self.disk = max(self.disk, size_of(self._folder))
        self.spilled = max(self.spilled, size_of(self._folder / "spilled"))


def size_of(folder: Path) -> int:
    """Bytes on disk below a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for each in files:
            with suppress(OSError):  # it went away while we looked
                total += (Path(place) / each).stat().st_blocks * 512
    return total


# ---- writing


def write_epidemic(folder: Path, people: int) -> None:
    """The paper's Figure 1 for so many persons, by SQL: x0 is Epid, then four variables each."""
    of_person = "1 + 4 * (range // 9) + [0, 2, 3][1 + (range // 3) % 3]"
    variable = f"CASE range % 3 WHEN 2 THEN 0 WHEN 1 THEN 2 + 4 * (range // 9) ELSE {of_person} END"
    write_tables(
        folder,
        variables=f"SELECT range AS id FROM range({4 * people + 1})",
        factors=f"""
            SELECT range AS id,
                   CASE WHEN range = 0 THEN 0 WHEN range % 3 = 1 THEN 1 ELSE 2 END AS table_id
            FROM range({3 * people + 1})
        """,
        arguments=f"""
            SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id
            UNION ALL
            SELECT 1 + range // 3, range % 3, {variable}
            FROM range({9 * people})
        """,
        tables=f"""
            SELECT * FROM (
                VALUES (0, {EPIDEMIC[0]}), (1, {EPIDEMIC[1]}), (2, {EPIDEMIC[2]})
            ) AS t(id, potentials)
        """,
    )


def write_tables(folder: Path, **tables: str) -> None:
    """Write the rows of queries, in a process of its own: DuckDB does not survive a fork."""
    folder.mkdir()
    for name, query in tables.items():
        duckdb.sql(f"COPY ({query}) TO '{folder}/{name}.parquet' (COMPRESSION zstd)")
