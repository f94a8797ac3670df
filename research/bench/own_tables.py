"""Many places of one shape, each with numbers of its own: individuals around a shared variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import lifagu
from lifagu import FactorGraph
from research.apart import memory_now, memory_peak, run_apart
from research.bench.measure import (
    Tables,
    beside,
    best_time,
    duration,
    mebibytes,
    passing,
    sized,
    timed,
)
from research.harness import Floats

ABOUT = (
    "n individuals around one variable, each with A, B and C and tables of its own on (shared, A), "
    "(A, B) and (B, C). By one pass of numpy over as many entries: exp of numbers, and their "
    "sum. Error: the largest difference to a computation in plain numpy, of P(shared)."
)
ASKED = ("all marginals", "P(shared)", "best")
HEAD = ["individuals", "entries", "pass", "build", *ASKED, "memory", "error"]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Individuals around one variable", HEAD, _rows(small)


def _rows(small: bool) -> Iterator[list[str]]:
    for people in (50, 100) if small else (10_000, 100_000, 1_000_000):
        found = run_apart(partial(_measured, people))
        if isinstance(found, str):
            yield [sized(people), found, *["–"] * (len(HEAD) - 2)]
            continue
        building, seconds, memory, error = found
        floor = passing(12 * people)
        times = [beside(each, floor) for each in (building, *seconds)]
        rest = [mebibytes(memory), f"{error:.0e}"]
        yield [sized(people), sized(12 * people), duration(floor), *times, *rest]


def _measured(people: int) -> tuple[float, list[float], int, float]:
    tables = np.exp(np.random.default_rng(0).normal(size=(people, 3, 2, 2)))
    tables[:, 0] **= 1 / np.sqrt(people)
    graph, building = timed(lambda: _graph(tables))
    memory_now()
    work: list[Callable[[], object]] = [
        lambda: lifagu.marginals(graph),
        lambda: lifagu.query(graph, "x0"),
        lambda: lifagu.map_assignment(graph),
    ]
    seconds = [best_time(each) for each in work]
    told = lifagu.query(graph, "x0").probabilities
    return building, seconds, memory_peak(), float(np.abs(told - _shared(tables)).max())


def _graph(tables: Floats) -> FactorGraph:
    people = len(tables)
    first = 1 + 3 * np.arange(people)
    pairs = np.stack([0 * first, first, first, first + 1, first + 1, first + 2], axis=1)
    return FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(3 * people + 1, dtype=np.int64),
        offsets=2 * np.arange(3 * people + 1),
        arguments=pairs.reshape(-1),
        tables=tables.reshape(-1, 4),
        factor_tables=np.arange(3 * people),
    )


def _shared(tables: Floats) -> Floats:
    """P(shared): everybody's message, by products of matrices."""
    messages = tables[:, 0] @ (tables[:, 1] @ tables[:, 2].sum(axis=2, keepdims=True))
    logs = np.log(messages[:, :, 0]).sum(axis=0)
    weights: Floats = np.exp(logs - logs.max())
    return weights / weights.sum()
