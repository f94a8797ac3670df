"""Answers where the data is: growing folders, asked by SQL under a memory limit and in memory."""

from __future__ import annotations

import decimal
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np

import lifagu
from apart import run_apart
from folders import (
    ABOUT_COSTS,
    COSTS,
    EPIDEMIC,
    Engine,
    Journal,
    Took,
    measured,
    missing,
    plan_on,
    took,
    write_epidemic,
    write_tables,
)
from lifagu.inference.prepared import Result
from lifagu.questions.planning import prepare
from part import FLOOR, Part, begin, sized
from timing import arranging

RING = [1, 2, 3, 4, 5, 1, 2, 2, 9]
# arguments that are asked in memory and by Spark; beyond, DuckDB is asked with less memory, too
MOST = 10**7
LIMIT, LESS = 4.0, 2.0  # GiB
PATIENCE = 1_200.0  # seconds for one run
HEAD = ["model", "arguments", "asked", *COSTS, "rounds", "error"]
Expected = tuple[float, float | None]  # log Z, and the log odds of the last value against the first


@dataclass(frozen=True)
class Family:
    """Models of one shape: how to write one, the answer, sizes, and arguments per unit of size."""

    title: str
    write: Callable[[Path, int], None]
    closed: Callable[[int], Expected]
    sizes: Sequence[int]
    arguments: int


@dataclass(frozen=True)
class Way:
    """A way to ask: in memory, or by an engine within so many GiB."""

    on: str
    limit: float

    def __str__(self) -> str:
        named = {"memory": "in memory", "duckdb": "by DuckDB", "spark": "by Spark"}[self.on]
        return named if self.on == "memory" else f"{named} within {self.limit:g} GiB"


@dataclass(frozen=True)
class Answered:
    """What one run took, how many rounds, and what it answered."""

    took: Took
    rounds: int | None
    log_partition: float
    odds: float


def main() -> None:
    """Measure and print."""
    part = begin(
        "Answers where the data is",
        ("lifagu", "numpy", "duckdb", "pyspark"),
        "The paper's epidemic and a ring of ternary variables as folders of Parquet tables, asked",
        "about one variable: by DuckDB and by Spark (`local[*]`) under a memory limit, and in",
        "memory after reading the folder while it is small enough. *Rounds*: in which rows become",
        "fewer; with none, they were few to begin with. *Error*: the largest relative one of log Z",
        "and, for the epidemic, of the log odds, against closed forms with 50 digits. A run has",
        f"{PATIENCE:g} s.",
        *ABOUT_COSTS,
    )
    families = [
        Family(
            "epidemic",
            write_epidemic,
            epidemic_closed,
            [100, 1000] if part.small else [10**5, 10**6, 10**7],
            9,
        ),
        Family("ring", write_ring, ring_closed, [1000] if part.small else [10**6], 2),
    ]
    with tempfile.TemporaryDirectory() as place:
        table = part.table(
            HEAD, (row for family in families for row in _rows(part, family, Path(place)))
        )
    done = [row for row in table if row["model"] == "epidemic" and row["error"] != "–"]
    found = (
        f"{asked} {row['time']} with {row['memory']} for {row['arguments']}, off by {row['error']}"
        for asked, row in {row["asked"]: row for row in done}.items()
    )
    part.in_short(f"an epidemic answered (× of one argsort of its arguments): {'; '.join(found)}.")


def _rows(part: Part, family: Family, place: Path) -> Iterator[Sequence[str]]:
    """One row for each size and each way to ask."""
    for size in family.sizes:
        folder, arguments = place / f"{family.title}{size}", family.arguments * size
        reason = run_apart(partial(family.write, folder, size))
        floor = run_apart(partial(arranging, arguments))
        part.point(family.title, "arguments", f"{FLOOR}argsort", arguments, floor)
        for way in ways(arguments, part.small):
            found = reason or answered_apart(folder, way, enough=10 if part.small else 10**6)
            seconds = found if isinstance(found, str) else found.took.seconds
            part.point(family.title, "arguments", str(way), arguments, seconds)
            yield [
                family.title,
                sized(arguments),
                str(way),
                *_cells(found, floor, family.closed(size)),
            ]
        shutil.rmtree(folder, ignore_errors=True)


def ways(arguments: int, small: bool) -> list[Way]:
    """The ways to ask a model of so many arguments."""
    if arguments > MOST:
        return [Way("duckdb", LIMIT), Way("duckdb", LESS)]
    return [Way("duckdb", LIMIT), *[Way("spark", LIMIT)] * (not small), Way("memory", 0.0)]


def _cells(found: Answered | str, floor: float | str, expected: Expected) -> list[str]:
    if isinstance(found, str):
        return ["–", found, *["–"] * (len(HEAD) - 5)]
    errors = [abs(found.log_partition / expected[0] - 1)]
    errors += [abs(found.odds / expected[1] - 1)] if expected[1] is not None else []
    rounds = "–" if found.rounds is None else str(found.rounds)
    return [*found.took.cells(floor), rounds, f"{max(errors):.0e}"]


def answered_apart(folder: Path, way: Way, enough: int) -> Answered | str:
    """Ask in a process of its own; in a word why there is no answer, if it fails."""
    return missing(way.on) or measured(
        partial(answered, folder, way, enough), folder.parent, PATIENCE
    )


def answered(folder: Path, way: Way, enough: int, place: Path) -> Answered:
    """Ask about the first variable."""
    limit = int(way.limit * 2**30)

    def task(engine: Engine | None) -> tuple[Result, int | None]:
        if engine is None:
            return prepare(lifagu.read(folder), [("x0",)]).run(), None
        planned = plan_on(
            Journal(engine), folder, [["x0"]], {}, None, limit, enough, lambda _: None
        )
        return planned.run(), len(planned.rounds)

    (result, rounds), cost = took(way.on, place / "work", limit, task)
    logs = result.answers[0].log_probabilities
    assert result.log_partition is not None
    return Answered(cost, rounds, result.log_partition, float(logs[-1] - logs[0]))


# ---- the models


def write_ring(folder: Path, size: int) -> None:
    """A ring of ternary variables with one table."""
    write_tables(
        folder,
        variables=f"SELECT range AS id, ['0', '1', '2'] AS range FROM range({size})",
        factors=f"SELECT range AS id, 0 AS table_id FROM range({size})",
        arguments=f"""
            SELECT range // 2 AS factor_id,
                   range % 2 AS position,
                   (range // 2 + range % 2) % {size} AS variable_id
            FROM range({2 * size})
        """,
        tables=f"SELECT 0 AS id, {RING} AS potentials",
    )


def epidemic_closed(people: int) -> Expected:
    """log Z = log Σ over Epid of f0 · (Σ over Sick of (Σ f1) (Σ f2)²)^people."""
    f1, f2 = (np.array(each).reshape(2, 2, 2).sum(axis=0) for each in EPIDEMIC[1:])
    person = (f1 * f2**2).sum(axis=0).tolist()
    with decimal.localcontext(prec=50):
        logs = [
            Decimal(own).ln() + people * Decimal(each).ln()
            for own, each in zip(EPIDEMIC[0], person, strict=True)
        ]
        return float(max(logs) + sum((each - max(logs)).exp() for each in logs).ln()), float(
            logs[1] - logs[0]
        )


def ring_closed(size: int) -> Expected:
    """log Z is the log of the trace of a power of the table: by eigenvalues, the largest apart."""
    values = np.linalg.eigvals(np.array(RING, dtype=np.float64).reshape(3, 3))
    largest = max(values, key=abs).real
    rest = sum((value / largest) ** size for value in values)
    return float(size * np.log(largest) + np.log(rest.real)), None


if __name__ == "__main__":
    main()
