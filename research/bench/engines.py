"""The engine that lifagu chooses beside those that it chooses from: what the choice costs."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from functools import partial

import lifagu
from research.bench import ground, lifted
from research.bench.apart import run_apart
from research.bench.beside import Measure, trouble
from research.bench.limits import MEMORY
from research.bench.part import Part, duration
from research.bench.peers import Engine
from research.bench.peers import lifagu as asking
from research.bench.timing import best_time

NAMES = ("auto", "lifted", "ground")
ENGINES = {
    name: Engine(name, "lifagu", partial(asking, engine=name), ("lifagu.inference",), every=True)
    for name in NAMES
}
# seconds below which an answer is never too slow; a ratio that is measured twice
SHORT, DOUBTED = (1e-3, 1.2)
LARGEST, BRIEF = 10_000, 2.0  # persons, variables, …; seconds where sizes are small
HEAD = ["model", *NAMES, "ratio"]
HOW_TO_READ = (
    "The questions of the parts on ground and on lifted inference, up to middling sizes, to each",
    "engine by name. The ratio is the time of auto by that of the faster one of the two others,",
    "and 1 where auto takes less than a millisecond; above 1.2 all engines are asked again, and",
    "the shorter times count. An engine that fails, or takes longer than {limit:g} s, is not asked",
    "about larger models.",
)
Times = dict[str, float | str]  # by engine: seconds, or in a word why there are none
Row = tuple[str, int, Callable[[str], float | str]]  # a title, a size, and how to ask an engine


def show(part: Part) -> None:
    """A table, and the worst ratio in short."""
    limit = min(part.limit, BRIEF) if part.small else part.limit
    part.section(
        "Auto beside lifted and ground", *(line.format(limit=limit) for line in HOW_TO_READ)
    )
    worst: dict[str, float] = {}
    part.table(HEAD, _lines(part.small, limit, worst))
    title = max(worst, key=worst.__getitem__)
    slow = sum(each > 2 for each in worst.values())
    part.in_short(
        f"auto beside the better one of lifted and ground on {len(worst)} questions: at worst "
        f"{worst[title]:.2g}× ({title}), more than 2× on {slow}."
    )


def _lines(small: bool, limit: float, worst: dict[str, float]) -> Iterator[list[str]]:
    """A line for each question; its ratio is kept under its title."""
    for title, times in _asked(small, limit):
        worst[title] = ratio_of(times)
        cells = [each if isinstance(each, str) else duration(each) for each in times.values()]
        yield [title, *cells, f"{worst[title]:.2g}"]


def ratio_of(times: Times) -> float:
    """The time of auto by that of the better one; 1 where it is short, or where no engine answers.

    >>> ratio_of({"auto": 0.75, "lifted": 0.25, "ground": "memory"})
    3.0
    >>> ratio_of({"auto": 0.0009, "lifted": 0.0001, "ground": 0.0001})
    1.0
    >>> ratio_of({"auto": ">15 s", "lifted": 0.5, "ground": 1.0})
    inf
    """
    auto = times["auto"]
    others = [each for name, each in times.items() if name != "auto" and not isinstance(each, str)]
    if isinstance(auto, str):
        return float("inf") if others else 1.0
    return auto / min(others) if others and auto >= SHORT else 1.0


def _asked(small: bool, limit: float) -> Iterator[tuple[str, Times]]:
    """Every question, and what each engine took."""
    for family in [*ground.families(small), *lifted.families(small)]:
        asks = [partial(_of_family, ask, limit) for _, ask in family.rows]
        sizes = [*family.sizes] or [0] * len(asks)
        titles = [f"{family.name}, {title}" for title, _ in family.rows]
        yield from _growing(list(zip(titles, sizes, asks, strict=True)))
    of_name: dict[str, list[Row]] = {}
    for name, size, make in lifted.rows(small):
        row = f"{name}, {size:,}: all marginals", size, partial(timed_apart, make, limit=limit)
        of_name.setdefault(name, []).extend([row] if size else [])
    for rows in of_name.values():
        yield from _growing(rows)


def _growing(rows: list[Row]) -> Iterator[tuple[str, Times]]:
    """A family's questions; while sizes grow, an engine that fails is not asked again. 0: fixed."""
    given_up: set[str] = set()
    for title, size, ask in rows:
        if size > LARGEST:
            continue
        times: Times = {name: "–" if name in given_up else ask(name) for name in NAMES}
        if ratio_of(times) > DOUBTED:  # perhaps something else was at work
            again: Times = {
                name: each if isinstance(each, str) else ask(name) for name, each in times.items()
            }
            times = {name: _less(times[name], again[name]) for name in NAMES}
        given_up |= {name for name, each in times.items() if size and isinstance(each, str)}
        yield title, times


def _less(one: float | str, other: float | str) -> float | str:
    """The shorter time; a word only if both are words."""
    numbers = [each for each in (one, other) if not isinstance(each, str)]
    return min(numbers) if numbers else one


def _of_family(ask: Measure, limit: float, engine: str) -> float | str:
    """Seconds of a question that other parts ask."""
    found = ask(ENGINES[engine], limit)
    return trouble(found) or found.seconds or 0.0


def timed_apart(make: Callable[[], lifted.Asked], engine: str, limit: float) -> float | str:
    """Seconds of all marginals in a process of its own."""

    def work() -> float:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        graph, _, evidence = make()
        return best_time(lambda: lifagu.marginals(graph, evidence=evidence, engine=engine))

    return run_apart(work, limit)
