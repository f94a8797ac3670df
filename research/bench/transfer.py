"""What filling holes costs, from 10^3 to 10^7 factors, against sorting as many numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import lifagu
from lifagu import FactorGraph
from research.bench.models import epidemic_with_holes, individuals_with_holes
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging, best_time

OWNED = ("individuals", "profiles")  # methods on a graph that declares individuals
METHODS: dict[str, dict[str, Any]] = {
    "share": {},
    "individuals": {},
    "profiles": {"profiles": True},
    "published": {"published": True},
    "4 steps": {"steps": 4},
    "6 steps": {"steps": 6},
}
COHORTS = {"exact tables": None, "estimated tables": 50}


def main() -> None:
    """Measure and print."""
    part = begin(
        "Filling holes",
        ("lifagu", "numpy"),
        "A tenth of the factors of the paper's epidemic is unknown; timed is the transfer and its",
        "completed graph. The floor is one stable argsort of as many random 64-bit integers as the",
        "graph has arguments: a transfer cannot do with much less than one grouping. No peer fills",
        "unknown factors.",
    )
    largest = part.table(["factors", "unknown", "argsort", *METHODS], _rows(part))[-1]
    found = ", ".join(f"{method} {largest[method]}" for method in METHODS)
    part.in_short(
        f"filling a tenth of {largest['factors']} factors, by one argsort of their arguments: "
        f"{found}."
    )
    part.section(
        "Filling by cohorts",
        "Each of n individuals has eight tables of nine potentials: exact ones of",
        "which each place has six, or estimated from 50 records and almost all different. Timed is",
        "the transfer and its graph of mean tables, known ones cleaned.",
    )
    cohorts = part.table(["factors", "unknown", "argsort", *COHORTS], _cohorts(part))[-1]
    found = ", ".join(f"{sort} {cohorts[sort]}" for sort in COHORTS)
    part.in_short(f"the same by cohorts, {cohorts['factors']} factors: {found}.")


def _rows(part: Part) -> Iterator[list[str]]:
    for people in (300, 3_000) if part.small else (333, 3_333, 33_333, 333_333, 3_333_333):
        graph, owned = (
            epidemic_with_holes(people, individuals=individuals) for individuals in (False, True)
        )
        arguments = len(graph.arguments)
        floor = arranging(arguments)
        part.point("Filling holes", "arguments", f"{FLOOR}argsort", arguments, floor)
        cells = []
        for method, options in METHODS.items():
            model = owned if method in OWNED else graph
            seconds = best_time(partial(_completed, model, options))
            part.point("Filling holes", "arguments", method, arguments, seconds)
            cells.append(f"{ratio(seconds, floor)} ({duration(seconds)})")
        yield [sized(len(graph.factor_names)), sized(len(graph.unknown)), duration(floor), *cells]


def _cohorts(part: Part) -> Iterator[list[str]]:
    for people in (125, 1_250) if part.small else (125, 1_250, 12_500, 125_000):
        cells, arguments = [], 16 * people
        floor = arranging(arguments)
        part.point("Filling by cohorts", "arguments", f"{FLOOR}argsort", arguments, floor)
        for sort, records in COHORTS.items():
            graph = individuals_with_holes(people, records)
            seconds = best_time(partial(_averaged, graph))
            part.point("Filling by cohorts", "arguments", sort, arguments, seconds)
            cells.append(f"{ratio(seconds, floor)} ({duration(seconds)})")
        yield [sized(len(graph.factor_names)), sized(len(graph.unknown)), duration(floor), *cells]


def _averaged(graph: FactorGraph) -> FactorGraph:
    return lifagu.transfer(graph, by="cohorts").averaged()


def _completed(graph: FactorGraph, options: dict[str, Any]) -> FactorGraph:
    return lifagu.transfer(graph, **options).graph


if __name__ == "__main__":
    main()
