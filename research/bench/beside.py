"""Exact answers of lifagu beside those of its peers: a table per family, with time and digits."""

from __future__ import annotations

import math
import os
import resource
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module

import numpy as np

from lifagu import FactorGraph
from research.apart import child
from research.bench.measure import duration, timed
from research.bench.peers import LIFAGU, PEERS, Engine, Model, Outcome, installed

ENGINES = [LIFAGU, *PEERS]
HEAD = ["model", *(engine.name for engine in ENGINES)]
MEMORY = 8 * 2**30  # bytes of address space
REPEATS = 3  # for answers that take less than a second; the best counts
HOW_TO_READ = (
    f"One answer each, planning included, building the engine's model not; best of {REPEATS} below "
    "1 s, else of two. A cell reads *time relative to lifagu · correct digits* (above 1× the peer "
    "is slower), lifagu's own in absolute time; digits are against the median of all who answer. "
    f"Each has the same seconds and {MEMORY // 2**30} GiB; – means that it failed on a smaller "
    "model of the family, or does not offer all marginals in one pass."
)
Made = tuple[Model, int]  # a model, and the variable that is asked for
Answer = tuple[float, Outcome] | str  # seconds and what came, or in a word why nothing did


def growing(
    family: Callable[[int], FactorGraph], sizes: Sequence[int], asked: str, limit: float
) -> Iterator[list[str]]:
    """Members of a family of graphs by growing size, each asked about one variable."""
    makes = {f"{size:,}": partial(_member, family, size, asked) for size in sizes}
    return rows(makes, limit, grows=True)


def _member(family: Callable[[int], FactorGraph], size: int, variable: str) -> Made:
    graph = family(size)
    return Model.of(graph), graph.variable_names.number(variable)


def rows(
    makes: dict[str, Callable[[], Made]], limit: float, *, grows: bool = False, every: bool = False
) -> Iterator[list[str]]:
    """A row for each model; where models grow, who fails is not asked again."""
    warm_up()
    given_up = {engine.name for engine in ENGINES if every and not engine.every}
    for title, make in makes.items():
        found = {
            engine.name: "–" if engine.name in given_up else answered(engine, make, limit)
            for engine in ENGINES
        }
        if grows:
            given_up |= {name for name, each in found.items() if isinstance(each, str)}
        there = [each[1][1] for each in found.values() if not isinstance(each, str)]
        middle = np.median(there, axis=0) if len(there) > 1 else None
        own = found[LIFAGU.name]
        base = None if isinstance(own, str) else own[0]
        yield [title, *(_cell(name, each, middle, base) for name, each in found.items())]


def warm_up() -> None:
    """Import what the engines need once, so that the forked processes find it there."""
    for engine in ENGINES:
        for module in engine.modules if installed(engine.package) else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(module)


def _cell(name: str, found: Answer, middle: np.ndarray | None, base: float | None) -> str:
    if isinstance(found, str):
        return found
    seconds, (_, told) = found
    absolute = name == LIFAGU.name or base is None
    time = duration(seconds) if absolute else f"{seconds / base:.2g}×"
    return time if middle is None else f"{time} · {digits(told, middle)}"


def digits(found: np.ndarray, expected: np.ndarray) -> int:
    """Correct decimal digits of each probability.

    >>> digits(np.array([0.25, 0.75]), np.array([0.2501, 0.7499]))
    3
    """
    errors = np.abs(found - expected) / np.maximum(expected, 1e-300)
    worst = float(errors.max())
    return 0 if worst >= 1 else 16 if worst < 1e-16 else math.floor(-math.log10(worst))


def answered(engine: Engine, make: Callable[[], Made], limit: float) -> Answer:
    """Best of some runs in a forked process; building and each answer have `limit` seconds."""
    if not installed(engine.package):
        return "not installed"
    best: float | None = None
    with child(lambda report: _work(engine, make, report)) as reports:
        while True:
            if not reports.poll(limit):
                return f">{limit:g} s"
            try:
                told = reports.recv()
            except EOFError:
                return "crashed"
            if isinstance(told, str):
                return told
            if told is None:  # made, and built
                continue
            seconds, outcome, last = told
            if not np.isfinite(outcome[1]).all():
                return "nan" if np.isnan(outcome[1]).any() else "inf"
            best = seconds if best is None else min(best, seconds)
            if last:
                return best, outcome


def _work(engine: Engine, make: Callable[[], Made], report: Callable[[object], None]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    model, variable = make()
    report(None)
    ask = engine.build(model, variable)
    report(None)
    for number in range(REPEATS):
        outcome, seconds = timed(ask)
        last = number == REPEATS - 1 or (number > 0 and seconds > 1)  # the first may import
        report((seconds, outcome, last))
        if last:
            return
