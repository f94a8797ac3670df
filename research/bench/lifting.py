"""What lifting costs beside colour passing: ground graphs of growing size, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import lifagu
from lifagu import FactorGraph
from research.apart import run_apart
from research.bench.measure import Tables, arranging, beside, best_time, duration, sized
from research.bench.models import (
    competing_workshops,
    epidemic_by_arrays,
    epidemic_with_holes,
    ring,
    smokers_and_friends,
)

ABOUT = (
    "Colour passing and lifting with the groups given (its proof included), each by one stable "
    "argsort of as many integers as there are arguments; then one query on the lifted model, and "
    "on the ground graph by the time of the former."
)
HEAD = [
    *("graph", "arguments", "argsort", "colour", "lift", "query, lifted", "query, ground"),
    "lifted model",
]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Lifting", HEAD, _rows(small)


def _rows(small: bool) -> Iterator[list[str]]:
    people = (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    sides = (10, 30) if small else (30, 100, 300, 1_000)
    named = partial(epidemic_with_holes, share=0.0, individuals=True)
    families: list[tuple[str, tuple[int, ...], Callable[[int], FactorGraph]]] = [
        ("epidemic", people, epidemic_by_arrays),
        ("epidemic with names", people[:-1], named),
        ("competing workshops", sides, lambda side: competing_workshops(side, side)),
        ("smokers and friends", sides, smokers_and_friends),
        ("ring", people[:-1], ring),
    ]
    _measured(epidemic_by_arrays, 3)  # what is imported on first use is imported now
    for family, sizes, make in families:
        for size in sizes:
            found = run_apart(partial(_measured, make, size))
            if isinstance(found, str):
                yield [f"{family}, {size:,}", found, *["–"] * (len(HEAD) - 2)]
                continue
            arguments, (colouring, lifting, asking, ground), result = found
            floor = arranging(arguments)
            cells = [beside(each, floor) for each in (colouring, lifting)]
            cells += [duration(asking), beside(ground, asking), result]
            yield [f"{family}, {size:,}", sized(arguments), duration(floor), *cells]


def _measured(make: Callable[[int], FactorGraph], size: int) -> tuple[int, list[float], str]:
    """Arguments; seconds of colouring, lifting and two queries; what the lifted model is.

    Nothing that a run left in the graph helps the next.
    """
    graph = make(size)
    groups, lifted = lifagu.colour(graph), lifagu.lift(graph)
    seconds = [
        best_time(lambda: lifagu.colour(replace(graph))),
        best_time(lambda: lifagu.lift(replace(graph), groups)),
        best_time(lambda: lifagu.query(lifted, "x0")),
        best_time(lambda: lifagu.query(replace(graph), "x0")),
    ]
    return len(graph.arguments), seconds, repr(lifted).partition(": ")[2].rstrip(">")
