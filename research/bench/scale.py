"""Lifting where the data is: growing folders, in memory, by DuckDB and Spark, under one limit."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import lifagu
from lifagu.basics.progress import Told
from lifagu.questions.place import Place
from research.bench.apart import run_apart
from research.bench.folders import (
    ABOUT_COSTS,
    BESIDE,
    COSTS,
    Engine,
    Journal,
    Took,
    lift_on,
    measured,
    missing,
    took,
    write_epidemic,
    write_tables,
)
from research.bench.part import FLOOR, Part, begin, duration, sized
from research.bench.timing import arranging

LIMIT = 4 * 2**30  # bytes of memory for an engine and what goes on beside it
MOST = {"memory": 10**8, "duckdb": 10**10, "spark": 10**7}  # arguments
SIZES, FURTHER = (10**6, 10**7, 10**8), (3 * 10**8, 10**9, 3 * 10**9, 10**10)
PATIENCE, PATIENCE_FAR = 1_200.0, 14_400.0  # seconds for one run
BYTES = (
    120  # of disk for an argument: the folder, the engine's tables, what it spills, and the output
)
COHORTS = 6
HEAD = ["model", "arguments", "on", *COSTS, "rounds", "seconds of each", "groups"]


@dataclass(frozen=True)
class Family:
    """Models of one shape: how to write one for so many persons, and arguments per person."""

    title: str
    write: Callable[[Path, int], None]
    arguments: int


@dataclass(frozen=True)
class Lifted:
    """What one run took, the seconds of each round, and how many groups there are."""

    took: Took
    rounds: list[float]
    groups: int


def main() -> None:
    """Measure and print."""
    part = begin(
        "Lifting where the data is",
        ("lifagu", "numpy", "duckdb", "pyspark"),
        "The paper's epidemic, and persons of six cohorts with every tenth of their tables",
        "unknown, as folders of Parquet tables: filled, coloured, and all results written. By",
        f"DuckDB and Spark (`local[*]`) within {LIMIT >> 30} GiB; in memory within the machine's,",
        "without the relational model, which engines do not make. All find as many groups. A run",
        f"has {PATIENCE:g} s. With `--far`, DuckDB goes on beyond {sized(SIZES[-1])} arguments",
        f"while the disk has {BYTES} bytes free for each and a run should take less than",
        f"{PATIENCE_FAR:g} s.",
        *ABOUT_COSTS,
    )
    families = [Family("epidemic", write_epidemic, 9), Family("cohorts", write_cohorts, 5)]
    with tempfile.TemporaryDirectory() as place:
        table = part.table(
            HEAD, (row for family in families for row in _rows(part, family, Path(place)))
        )
    largest = {
        row["on"]: row for row in table if row["model"] == "epidemic" and row["groups"] != "–"
    }
    found = (
        f"{on} {row['time']} with {row['memory']} for {row['arguments']}"
        for on, row in largest.items()
    )
    part.in_short(f"an epidemic lifted (× of one argsort of its arguments): {', '.join(found)}.")


def _rows(part: Part, family: Family, place: Path) -> Iterator[Sequence[str]]:
    """One row for each size and place; where it ends early, the last row says why."""
    pace = 0.0  # seconds of DuckDB for an argument
    for size in (10**3, 10**4) if part.small else (*SIZES, *FURTHER * part.far):
        people, far = size // family.arguments, size > SIZES[-1]
        arguments, folder = people * family.arguments + 1, place / f"{family.title}{size}"
        reason = obstacle(arguments, shutil.disk_usage(place).free, pace * far)
        reason = reason or run_apart(partial(family.write, folder, people)) or ""
        places = [
            on for on, most in MOST.items() if size <= most and not (part.small and on == "spark")
        ]
        found = {
            on: reason or lifted_apart(folder, on, PATIENCE_FAR if far else PATIENCE)
            for on in places
        }
        floor = None if reason or far else run_apart(partial(arranging, arguments))
        part.point(family.title, "arguments", f"{FLOOR}argsort", arguments, floor)
        for on, each in found.items():
            part.point(
                family.title,
                "arguments",
                on,
                arguments,
                each if isinstance(each, str) else each.took.seconds,
            )
            yield [family.title, sized(arguments), on, *_cells(each, floor)]
        groups = {each.groups for each in found.values() if isinstance(each, Lifted)}
        assert len(groups) <= 1, f"{family.title}: different numbers of groups were found: {groups}"
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(found["duckdb"], str):
            return
        pace = found["duckdb"].took.seconds / arguments


def obstacle(arguments: int, free: int, pace: float) -> str:
    """Why a run is not tried, "" if it is; free: bytes of disk; pace: seconds per argument.

    >>> obstacle(10**8, 10**11, 1e-5), obstacle(10**9, 10**11, 1e-5), obstacle(10**9, 10**12, 2e-5)
    ('', 'needs 120 GB of disk, 100 are free', 'would take about 20000 s')
    """
    if BYTES * arguments > free:
        return f"needs {BYTES * arguments / 1e9:.3g} GB of disk, {free / 1e9:.3g} are free"
    if pace * arguments > PATIENCE_FAR:
        return f"would take about {pace * arguments:.0f} s"
    return ""


def _cells(found: Lifted | str, floor: float | str | None) -> list[str]:
    if isinstance(found, str):
        return ["–", found, *["–"] * (len(HEAD) - 5)]
    rounds = (
        [str(len(found.rounds)), ", ".join(map(duration, found.rounds))]
        if found.rounds
        else ["–", "–"]
    )
    return [*found.took.cells(floor), *rounds, sized(found.groups)]


def lifted_apart(folder: Path, on: str, patience: float) -> Lifted | str:
    """Lift a folder in a process of its own; in a word why not, if it fails."""
    return missing(on) or measured(partial(lifted, folder, on), folder.parent, patience)


class Watch(Told):
    """Keeps what it is told, and when."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def stage(self, text: str) -> None:
        """Something new begins."""
        self.told.append((text, time.perf_counter()))


def lifted(folder: Path, on: str, place: Path) -> Lifted:
    """Lift a folder, with everything written."""
    watch = Watch()

    def task(engine: Engine | None) -> int:
        if engine is None:
            return in_memory(folder, place / "out")
        here, memory = Place(on, progress=watch), int(BESIDE * LIMIT)
        rule = lifagu.Filling(by="individuals")  # tables compete
        found = lift_on(Journal(engine), folder, {}, rule, here, place / "out", memory)
        return found.groups.variables + found.groups.factors

    groups, cost = took(on, place / "work", int((1 - BESIDE) * LIMIT), task)
    rounds = [
        end - start for (_, start), (text, end) in pairwise(watch.told) if text.startswith("round ")
    ]
    return Lifted(cost, rounds, groups)


def in_memory(folder: Path, out: Path) -> int:
    """The same in memory, without the relational model that memory finds; number of groups."""
    moved = lifagu.transfer(lifagu.read(folder))
    colouring = lifagu.colour(moved.graph, factor_start=moved.factor_start)
    lifagu.io.write_lift(out, moved, colouring)
    return int(colouring.variable_colours.max() + colouring.factor_colours.max()) + 2


def write_cohorts(folder: Path, people: int) -> None:
    """Persons of some cohorts, by SQL: f0(Epid), f1(Travel, Sick, Epid), f2(Treat, Sick) by cohort.

    Every tenth f2 is unknown.
    """
    of_person = "1 + 3 * (range // 5) + [0, 1, 0, 2, 1][1 + range % 5]"
    write_tables(
        folder,
        variables=f"SELECT range AS id FROM range({3 * people + 1})",
        factors=f"""
            SELECT range AS id,
                   CASE WHEN range = 0 THEN 0
                        WHEN range % 2 = 1 THEN 1
                        WHEN range % 20 = 10 THEN NULL
                        ELSE 2 + hash(range) % {COHORTS} END AS table_id
            FROM range({2 * people + 1})
        """,
        arguments=f"""
            SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id
            UNION ALL
            SELECT 1 + 2 * (range // 5) + (range % 5) // 3,
                   (range % 5) % 3,
                   CASE range % 5 WHEN 2 THEN 0 ELSE {of_person} END
            FROM range({5 * people})
        """,
        tables=f"""
            SELECT 0 AS id, [1.0, 3.0] AS potentials
            UNION ALL
            SELECT 1, [3.0, 1, 2, 2, 1, 2, 5, 1]
            UNION ALL
            SELECT 2 + range, [1.0, 1, 1, 1 + range]
            FROM range({COHORTS})
        """,
    )


if __name__ == "__main__":
    main()
