"""What lifting costs beside colour passing: ground graphs of growing size, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import lifagu
from lifagu import FactorGraph
from research.bench.apart import run_apart
from research.bench.models import (
    competing_workshops,
    epidemic_by_arrays,
    epidemic_with_holes,
    ring,
    smokers_and_friends,
)
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging, best_time

HEAD = [
    "graph",
    "arguments",
    "argsort",
    "colour",
    "lift",
    "query, lifted",
    "query, ground",
    "lifted model",
]


def main() -> None:
    """Measure and print."""
    part = begin(
        "Lifting",
        ("lifagu", "numpy"),
        "Colour passing and lifting with the groups given (its proof included), each as a ratio to",
        "one stable argsort of as many integers as there are arguments; then one query on the",
        "lifted model, and on the ground graph by the time of the former. Each row has a process",
        "of its own. No peer lifts a ground graph into parfactors.",
    )
    measured(partial(epidemic_by_arrays, 3))  # what is imported on first use is imported now
    table = part.table(HEAD, _rows(part))
    largest = [row for row in table if row["graph"].startswith("epidemic, ")][-1]
    part.in_short(
        f"{largest['graph']} persons, by one argsort: colour passing {largest['colour']}, lifting "
        f"with its proof {largest['lift']}; a query then takes {largest['query, ground']} as long "
        "on the ground graph as lifted."
    )


def rows(small: bool) -> list[tuple[str, int, Callable[[], FactorGraph]]]:
    """What is measured; x0 is asked for."""
    people = (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    sides = (10, 30) if small else (30, 100, 300, 1_000)
    lengths = (100, 1_000) if small else (1_000, 10_000, 100_000)
    return [
        *(("epidemic", n, partial(epidemic_by_arrays, n)) for n in people),
        *(
            ("epidemic with names", n, partial(epidemic_with_holes, n, 0.0, individuals=True))
            for n in people[:-1]
        ),
        *(("competing workshops", n, partial(competing_workshops, n, n)) for n in sides),
        *(("smokers and friends", n, partial(smokers_and_friends, n)) for n in sides),
        *(("ring", n, partial(ring, n)) for n in lengths),
    ]


def _rows(part: Part) -> Iterator[list[str]]:
    for family, size, make in rows(part.small):
        title = f"{family}, {size:,}"
        found = run_apart(partial(measured, make))
        if isinstance(found, str):
            yield [title, found, *["–"] * (len(HEAD) - 2)]
            continue
        arguments, floor, (colouring, lifting, asking, ground), result = found
        named = {
            "colour": colouring,
            "lift": lifting,
            "query, lifted": asking,
            f"{FLOOR}argsort": floor,
        }
        for curve, seconds in named.items():
            part.point(family, "arguments", curve, arguments, seconds)
        cells = [f"{ratio(each, floor)} ({duration(each)})" for each in (colouring, lifting)]
        beside = f"{ratio(ground, asking)} ({duration(ground)})"
        yield [title, sized(arguments), duration(floor), *cells, duration(asking), beside, result]


def measured(
    make: Callable[[], FactorGraph],
) -> tuple[int, float, tuple[float, float, float, float], str]:
    """Arguments; seconds of sorting, colouring, lifting and two queries; what the lifted model is.

    Nothing that a run left in the graph helps the next.
    """
    graph = make()
    groups, lifted = lifagu.colour(graph), lifagu.lift(graph)
    seconds = (
        best_time(lambda: lifagu.colour(replace(graph))),
        best_time(lambda: lifagu.lift(replace(graph), groups)),
        best_time(lambda: lifagu.query(lifted, "x0")),
        best_time(lambda: lifagu.query(replace(graph), "x0")),
    )
    result = repr(lifted).partition(": ")[2].rstrip(">")
    return len(graph.arguments), arranging(len(graph.arguments)), seconds, result


if __name__ == "__main__":
    main()
