"""Rows with their own tables: many places of one shape, and auto beside other engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import own_models as own

import lifagu
from lifagu import FactorGraph
from research.bench import eicu, engines, made_stays
from research.bench.apart import memory_now, memory_peak, run_apart
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import passing, timed

# seconds: for a row; up to which a larger size is asked; asked again below
LIMIT, MOST, BRIEF = (300.0, 100.0, 1.0)
one_pass = cache(passing)
EVERY, SHARED, ONE, BEST = "all marginals", "P(shared)", "P(own)", "best"
HEAD = [
    "model",
    "size",
    "asked",
    "entries",
    "pass",
    "build",
    "time",
    "growth",
    "read",
    "memory",
    "error",
]


@dataclass(frozen=True)
class Workload:
    """Models of one kind by growing size, what is known about them, and what is asked.

    shared, one: a variable that is shared, and one of an individual's, by number.
    """

    title: str
    about: str
    unit: str
    sizes: Sequence[int]
    make: Callable[[int], own.Model]
    known: Callable[[int], own.Known]
    asked: Sequence[str]
    shared: int = 0
    one: Callable[[int], int] = lambda size: 0


@dataclass(frozen=True)
class Measured:
    """Seconds to build, to answer, and to read all answers (None if there are none); the rest."""

    entries: int
    building: float
    seconds: float
    reading: float | None
    memory: int
    error: float


def main() -> None:
    """Measure and print."""
    part = begin(
        "Rows with their own tables",
        ["numpy", "lifagu"],
        "Many places of one shape, each with its own numbers. Time and build are ratios to one",
        "pass of numpy over as many entries as the tables of all rows have once observed values",
        "are fixed: `np.exp` of as many random numbers, and their sum, measured in the same run;",
        f"best of three below {BRIEF:g} s. Growth: the power of the size with which the time has",
        "grown. Read: the seconds from there until the first marginal is looked at by name.",
        "Memory: the peak while answering, the built model included. Error: the largest difference",
        "to a computation in plain numpy, of the probabilities of some individuals, of log Z",
        f"(relative), and of the best weight. Each row has a process of its own and {LIMIT:g} s;",
        f"where a larger size would take more than {MOST:g} s at the same rate, it is not asked.",
        "The ground epidemic of a million persons, whose tables are shared, is in the part on",
        "lifted inference.",
    )
    for title, lines, some in sections(part.small):
        part.section(title, *lines)
        if some:
            rows = part.table(HEAD, (line for each in some for line in measured_lines(part, each)))
            for each in some:
                part.in_short(
                    f"{each.about}, by one pass over the entries: {largest(rows, each.title)}."
                )
    engines.show(part)


def sections(small: bool) -> list[tuple[str, list[str], list[Workload]]]:
    """What is measured: a title, some words, and workloads."""
    people = (20, 40, 80) if small else (20_000, 40_000, 80_000, 100_000, 1_000_000)
    lengths = (50, 100, 200) if small else (20_000, 40_000, 80_000, 100_000, 1_000_000)
    return [
        ("Stays in intensive care", *_stays(small)),
        ("Made-up stays in hospitals", *_made_stays(small)),
        (
            "Individuals",
            [
                "Individuals of six variables of two to four values, a tree with an edge more, all",
                "tables different: around one shared variable, which three of each are tied to;",
                "apart from one another; and in up to a hundred wards, whose variables are tied to",
                "that of the hospital.",
            ],
            _individuals(people),
        ),
        (
            "Chains",
            [
                "Hidden Markov models of three values: a table for each place and each step, all "
                "different."
            ],
            [
                Workload(
                    "chain", "A chain", "places", lengths, own.chain, own.chain_known, (EVERY, BEST)
                )
            ],
        ),
    ]


def _individuals(sizes: Sequence[int]) -> list[Workload]:
    """Individuals around one variable, apart, and in wards; their variable is a middle one."""
    four = (EVERY, SHARED, ONE, BEST)

    def inner(first: int, size: int) -> int:
        return first + len(own.SIZES) * (size // 2) + 3

    def in_ward(size: int) -> int:
        return inner(1 + min(own.WARDS, size), size)

    common: tuple[str, Sequence[int]] = ("individuals", sizes)
    return [
        Workload(
            "around one",
            "Individuals around one",
            *common,
            own.around_one,
            own.around_one_known,
            four,
            one=partial(inner, 1),
        ),
        Workload(
            "apart",
            "Individuals apart",
            *common,
            own.apart,
            own.apart_known,
            (EVERY, ONE, BEST),
            one=partial(inner, 0),
        ),
        Workload(
            "in wards",
            "Individuals in wards",
            *common,
            own.in_wards,
            own.in_wards_known,
            four,
            one=in_ward,
        ),
    ]


def _stays(small: bool) -> tuple[list[str], list[Workload]]:
    """The stays of the eICU demo, if they are at hand."""
    sizes = (10, 20, 40) if small else (120, 160, 315, 630, 1_260, 2_520, 20_000, 100_000)
    about = [
        "Sixteen variables for each stay of the eICU demo, tied pair by pair; all stays share",
        "these 120 tables. What is observed in the data is known but for a fifth of the cells,",
        "each stay differently. Beyond 2,520 stays they are repeated with other cells hidden.",
    ]
    if not eicu.at_hand():
        return [*about, "The data is absent here, so that nothing was measured."], []
    return about, [
        Workload(
            "stays", "Stays in intensive care", "stays", sizes, eicu.model, eicu.known, (EVERY,)
        )
    ]


def _made_stays(small: bool) -> tuple[list[str], list[Workload]]:
    """Stays of the same shape, whose hospitals have tables of their own."""
    sizes = (10, 20, 40) if small else (2_520, 10_080, 40_320)
    about = [
        "Stays of the same shape, made up, whose hospitals have tables of their own: thirteen",
        "columns that may be hidden, three that are always known, a table for each pair, and for",
        "each column one of each of 186 hospitals. A quarter of the cells is hidden, in some",
        "stays more, each stay differently; what is left of a stay are cells that all know each",
        "other. Asked is for all that is hidden, exactly.",
    ]
    asked = (made_stays.model, made_stays.known, (EVERY,))
    return about, [Workload("made stays", "Made-up stays in hospitals", "stays", sizes, *asked)]


def largest(rows: Sequence[dict[str, str]], model: str) -> str:
    """For each question to a model the ratio at the largest size that was answered."""
    answered = {row["asked"]: row for row in rows if row["model"] == model and row["error"] != "–"}
    return (
        ", ".join(f"{asked} {row['time']} at {row['size']}" for asked, row in answered.items())
        or "no answer"
    )


# ---- one table


def measured_lines(part: Part, workload: Workload) -> Iterator[list[str]]:
    """One line for each size and question."""
    before: dict[str, tuple[int, float]] = {}
    stopped: set[str] = set()
    for size in workload.sizes:
        stopped |= {
            asked for asked, (last, seconds) in before.items() if seconds * size / last > MOST
        }
        open_questions = [asked for asked in workload.asked if asked not in stopped]
        known = run_apart(partial(workload.known, size)) if open_questions else None
        for asked in workload.asked:
            head = [workload.title, sized(size), asked]
            if asked in stopped or known is None:
                yield [*head, "not asked", *["–"] * (len(HEAD) - 4)]
                continue
            found = run_apart(partial(measured, workload, size, asked, known), LIMIT)
            if isinstance(found, str):
                stopped.add(asked)
                part.point(workload.title, workload.unit, asked, size, found)
                yield [*head, found, *["–"] * (len(HEAD) - 4)]
                continue
            floor = one_pass(found.entries)
            part.point(workload.title, workload.unit, asked, size, found.seconds)
            part.point(workload.title, workload.unit, f"{FLOOR}one pass", size, floor)
            yield [*head, *_cells(found, floor, before.get(asked), size)]
            before[asked] = size, found.seconds


def _cells(found: Measured, floor: float, before: tuple[int, float] | None, size: int) -> list[str]:
    """What was measured, as text."""
    growth = "–"
    if before is not None:
        growth = f"{np.log(found.seconds / before[1]) / np.log(size / before[0]):.1f}"
    times = [f"{ratio(each, floor)} ({duration(each)})" for each in (found.building, found.seconds)]
    reading = "–" if found.reading is None else duration(found.reading)
    memory = f"{found.memory / 2**30:.2f} GiB"
    return [
        sized(found.entries),
        duration(floor),
        *times,
        growth,
        reading,
        memory,
        f"{found.error:.0e}",
    ]


# ---- one row


def measured(workload: Workload, size: int, asked: str, known: own.Known | str) -> Measured | str:
    """Build a model, ask, and compare with what is known."""
    if isinstance(known, str):
        return f"nothing known: {known}"
    model = workload.make(size)
    graph, building = timed(model.graph)
    memory_now()  # from here on the peak counts
    ask = _question(graph, model, workload, size, asked)
    found, seconds = timed(ask)
    memory = memory_peak()
    for _ in range(2 if seconds < BRIEF else 0):
        seconds = min(seconds, timed(ask)[1])
    if asked == EVERY:
        variable = next(iter(known.marginals))
        _, reading = timed(lambda: found[f"x{variable}"])
        return Measured(
            model.entries, building, seconds, reading, memory, _every_error(found, known)
        )
    error = _best_error(found, model, known) if asked == BEST else _query_error(found, known)
    return Measured(model.entries, building, seconds, None, memory, error)


def _question(
    graph: FactorGraph, model: own.Model, workload: Workload, size: int, asked: str
) -> Callable[[], Any]:
    """How to ask."""
    if asked == EVERY:
        return lambda: lifagu.marginals(graph, evidence=model.evidence)
    if asked == BEST:
        return lambda: lifagu.map_assignment(graph, evidence=model.evidence)
    name = f"x{workload.shared if asked == SHARED else workload.one(size)}"
    return lambda: lifagu.query(graph, name, evidence=model.evidence)


def _every_error(found: Any, known: own.Known) -> float:
    """Of some marginals, and of log Z."""
    errors = [
        float(np.abs(np.array(list(found[f"x{variable}"].values())) - expected).max())
        for variable, expected in known.marginals.items()
    ]
    return max(*errors, _relative(found.log_partition, known.log_partition))


def _query_error(found: Any, known: own.Known) -> float:
    """Of one distribution, and of log Z."""
    expected = known.marginals[int(found.variables[0][1:])]
    return max(
        float(np.abs(found.probabilities - expected).max()),
        _relative(found.log_partition, known.log_partition),
    )


def _best_error(found: Any, model: own.Model, known: own.Known) -> float:
    """Of the largest weight that was stated, and of the weight that the assignment has."""
    return max(
        _relative(each, known.log_best)
        for each in (found.log_weight, model.log_weight(found.values))
    )


def _relative(found: float | None, expected: float | None) -> float:
    """The relative difference of two logs; none where nothing is known."""
    if expected is None:
        return 0.0
    return float("inf") if found is None else abs(found - expected) / max(abs(expected), 1.0)


if __name__ == "__main__":
    main()
