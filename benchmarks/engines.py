"""The engine that lifagu chooses by itself beside those that it chooses from: what the choice costs."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from functools import partial

import ground
import lifagu
import lifted
from apart import run_apart
from beside import Family, trouble
from limits import MEMORY, Measured
from part import Part, duration
from peers import Engine
from peers import lifagu as asking
from timing import best_time

NAMES = ("auto", "lifted", "ground")
ENGINES = [Engine(name, "lifagu", partial(asking, engine=name), ("lifagu.infer",), every=True) for name in NAMES]
SHORT = 1e-3  # seconds; an answer below is never too slow
LARGEST, BRIEF = 10_000, 2.0  # persons, variables, …; seconds where sizes are small
HEAD = ["model", *NAMES, "ratio"]
HOW_TO_READ = (
    "The questions of the parts on ground and on lifted inference, up to middling sizes, to each engine by name. The",
    "ratio is the time of auto by that of the faster one of the two others, and 1 where auto takes less than a",
    "millisecond. An engine that fails, or takes longer than {limit:g} s, is not asked about larger models.",
)
Times = dict[str, float | str]  # by engine: seconds, or in a word why there are none


def show(part: Part) -> None:
    """A table, and the worst ratio in short."""
    limit = min(part.limit, BRIEF) if part.small else part.limit
    part.section("Auto beside lifted and ground", *(line.format(limit=limit) for line in HOW_TO_READ))
    worst: dict[str, float] = {}
    part.table(HEAD, _lines(part.small, limit, worst))
    title = max(worst, key=worst.__getitem__)
    slow = sum(each > 2 for each in worst.values())
    part.in_short(
        f"auto beside the better one of lifted and ground on {len(worst)} questions: at worst {worst[title]:.2g}× "
        f"({title}), more than 2× on {slow}."
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
        yield from _of_family(family, limit)
    given_up: set[tuple[str, str]] = set()
    for family_name, size, make in lifted.rows(small):
        if 0 < size <= LARGEST:
            times = {name: "–" if (family_name, name) in given_up else timed_apart(make, name, limit) for name in NAMES}
            given_up |= {(family_name, name) for name, each in times.items() if isinstance(each, str)}
            yield f"{family_name}, {size:,}: all marginals", times


def _of_family(family: Family, limit: float) -> Iterator[tuple[str, Times]]:
    """The questions of a family; growing sizes end where an engine fails."""
    given_up: set[str] = set()
    for place, (title, ask) in enumerate(family.rows):
        if family.sizes and family.sizes[place] > LARGEST:
            continue
        found = {each.name: Measured(failure="–") if each.name in given_up else ask(each, limit) for each in ENGINES}
        if family.sizes:
            given_up |= {name for name, each in found.items() if trouble(each)}
        yield f"{family.name}, {title}", {name: trouble(each) or each.seconds or 0.0 for name, each in found.items()}


def timed_apart(make: Callable[[], lifted.Asked], engine: str, limit: float) -> float | str:
    """Seconds of all marginals in a process of its own."""

    def work() -> float:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        graph, _, evidence = make()
        return best_time(lambda: lifagu.marginals(graph, evidence=evidence, engine=engine))

    return run_apart(work, limit)
