"""The lifted engine on ground graphs: beside peers until they break, and on to millions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import lifagu
from lifagu import FactorGraph
from research.apart import memory_peak, run_apart
from research.bench.beside import HEAD, HOW_TO_READ, growing
from research.bench.measure import Tables, arranging, beside, duration, mebibytes, sized, timed
from research.bench.models import competing_workshops, epidemic_by_arrays, ring, smokers_and_friends

ABOUT = (
    f"{HOW_TO_READ} Large graphs: building from arrays, one query, all marginals and the best "
    "assignment, each by one stable argsort of as many integers as there are arguments; checked is "
    "the largest difference between the query and the marginals."
)
Asked = tuple[FactorGraph, str, dict[str, str]]  # a graph, the variable asked for, evidence
LARGE = [
    *("model", "arguments", "argsort", "build", "query", "all marginals", "best", "memory"),
    "checked",
]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    sides, lengths = ([4, 8], [10, 100]) if small else ([10, 20, 40, 80], [10, 100, 1_000, 10_000])
    yield "Competing workshops, n × n: P(x0)", HEAD, growing(_square, sides, "x0", limit)
    yield "Smokers and friends: P(x0)", HEAD, growing(smokers_and_friends, sides, "x0", limit)
    yield "Ring of n, ternary: P(x0)", HEAD, growing(ring, lengths, "x0", limit)
    yield "Large graphs", LARGE, _large(small)


def _square(side: int) -> FactorGraph:
    return competing_workshops(side, side)


def _large(small: bool) -> Iterator[list[str]]:
    people = (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    sides = (30,) if small else (30, 100, 300)
    asked: list[tuple[str, int, Callable[[int], Asked]]] = [
        *(("epidemic, one observed", n, _epidemic) for n in people),
        *(("ternary ring, one observed", n, _ring) for n in people),
        *(("competing workshops", n, _workshops) for n in sides),
        *(("smokers and friends, 30 % observed", n, _smokers) for n in sides),
    ]
    _measured(_epidemic, 3)  # what is imported on first use is imported now
    for family, size, make in asked:
        found = run_apart(partial(_measured, make, size))
        if isinstance(found, str):
            yield [f"{family}, {size:,}", found, *["–"] * (len(LARGE) - 2)]
            continue
        arguments, seconds, memory, difference = found
        floor = arranging(arguments)
        times = [beside(each, floor) for each in seconds]
        rest = [mebibytes(memory), f"{difference:.0e}"]
        yield [f"{family}, {size:,}", sized(arguments), duration(floor), *times, *rest]


def _epidemic(people: int) -> Asked:
    return epidemic_by_arrays(people), "x2", {"x6": "true"}


def _ring(length: int) -> Asked:
    return ring(length), "x1", {"x0": "1"}


def _workshops(side: int) -> Asked:
    return competing_workshops(side, side), "x0", {}


def _smokers(count: int) -> Asked:
    people = range(1, count * 3 // 10)
    evidence = {f"x{person}": "true" if person % 2 else "false" for person in people}
    return smokers_and_friends(count), "x0", evidence


def _measured(make: Callable[[int], Asked], size: int) -> tuple[int, list[float], int, float]:
    """Arguments; seconds to build, ask, find marginals and the best; memory, difference."""
    (graph, name, evidence), building = timed(lambda: make(size))
    answer, asking = timed(lambda: lifagu.query(graph, name, evidence=evidence))
    found, every = timed(lambda: lifagu.marginals(graph, evidence=evidence))
    difference = float(np.abs(answer.probabilities - list(found[name].values())).max())
    _, best = timed(lambda: lifagu.map_assignment(graph, evidence=evidence))
    return len(graph.arguments), [building, asking, every, best], memory_peak(), difference
