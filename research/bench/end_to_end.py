"""From arrays with unknown factors to an answer: build, transfer, colour, lift, query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np

import lifagu
from lifagu import FactorGraph
from research.bench.apart import run_apart
from research.bench.beside import PACKAGES, Family, Measure, show
from research.bench.limits import Measured, measure, warm_up
from research.bench.models import cohorts_with_holes, epidemic_with_holes
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.peers import ENUMERATION, LIFAGU, PEERS, Engine, Model
from research.bench.timing import arranging

STAGES = ("build", "transfer", "colour", "lift", "query")
FAMILIES: dict[str, Callable[[int], FactorGraph]] = {
    "epidemic": epidemic_with_holes,
    "cohorts": cohorts_with_holes,
}
ASKED = 2  # the number of Sick of the first person
CHECKED_UP_TO = 10_000  # persons
RUNS = 3  # for chains that take less than a second; the best counts


def main() -> None:
    """Measure and print."""
    part = begin(
        "End to end",
        PACKAGES,
        "A tenth of the factors is unknown, in the paper's epidemic and in cohorts (persons whose",
        "tables differ by cohort). From arrays to a graph, transfer to the completed graph, colour",
        "passing, lifting with its proof, and one query to the lifted model. Each row has a",
        "process of its own.",
    )
    warm_up(PEERS)
    chain(partial(epidemic_with_holes, 3))  # what is imported on first use is imported now
    stages(part)
    beside_peers(part)


def stages(part: Part) -> None:
    """Where the time goes as graphs grow."""
    part.section(
        "Stages",
        "All of it as a ratio to one stable argsort of as many integers as there are arguments;",
        "each stage in per cent of all. Checked: largest difference to the answer of the ground",
        "graph, up to 10,000 persons.",
    )
    head = [
        "model",
        "arguments",
        "unknown",
        "argsort",
        "in all",
        *STAGES,
        "lifted model",
        "checked",
    ]
    table = part.table(head, _stages(part, len(head)))
    last = [[row for row in table if row["model"].startswith(family)][-1] for family in FAMILIES]
    found = ", ".join(f"{row['model']} persons {row['in all']}" for row in last)
    part.in_short(
        f"from arrays with unknown factors to an answer, by one argsort of the arguments: {found}."
    )


def _stages(part: Part, width: int) -> Iterator[list[str]]:
    for family, make in FAMILIES.items():
        for people in (100, 1_000) if part.small else (100, 1_000, 10_000, 100_000, 1_000_000):
            title = f"{family}, {people:,}"
            found = run_apart(partial(_measured, make, people))
            if isinstance(found, str):
                yield [title, found, *["–"] * (width - 2)]
                continue
            arguments, unknown, seconds, lifted, checked = found
            floor, total = arranging(arguments), sum(seconds)
            for curve, each in zip(
                (*STAGES, "in all", f"{FLOOR}argsort"), (*seconds, total, floor), strict=True
            ):
                part.point(f"{family}: stages", "arguments", curve, arguments, each)
            shares = [f"{100 * each / total:.0f} %" for each in seconds]
            in_all = f"{ratio(total, floor)} ({duration(total)})"
            yield [
                title,
                sized(arguments),
                sized(unknown),
                duration(floor),
                in_all,
                *shares,
                lifted,
                checked,
            ]


def _measured(
    make: Callable[[int], FactorGraph], people: int
) -> tuple[int, int, list[float], str, str]:
    """Arguments, unknown factors, seconds of each stage, the lifted model, and the check."""
    done = best_chain(partial(make, people))
    checked = "–"
    if people <= CHECKED_UP_TO:
        expected = lifagu.query(done.completed, f"x{ASKED}").probabilities
        checked = f"{np.abs(done.answer.probabilities - expected).max():.0e}"
    lifted = repr(done.lifted).partition(": ")[2].rstrip(">")
    return len(done.completed.arguments), done.unknown, done.seconds, lifted, checked


@dataclass(frozen=True)
class Done:
    """One run from arrays to an answer: seconds of each stage, and what came of it."""

    seconds: list[float]
    unknown: int
    completed: FactorGraph
    lifted: lifagu.ParfactorGraph
    answer: lifagu.Answer


def chain(build: Callable[[], FactorGraph]) -> Done:
    """All stages, one after the other."""
    times = [perf_counter()]
    graph = build()
    times.append(perf_counter())
    moved = lifagu.transfer(graph)
    completed = moved.graph
    times.append(perf_counter())
    colouring = lifagu.colour(completed, factor_start=moved.factor_start)
    times.append(perf_counter())
    lifted = lifagu.lift(completed, colouring)
    times.append(perf_counter())
    answer = lifagu.query(lifted, f"x{ASKED}")
    times.append(perf_counter())
    return Done(
        [later - earlier for earlier, later in pairwise(times)],
        len(graph.unknown),
        completed,
        lifted,
        answer,
    )


def best_chain(build: Callable[[], FactorGraph]) -> Done:
    """The fastest of some runs."""
    best = chain(build)
    for _ in range(RUNS - 1):
        if sum(best.seconds) < 1:
            best = min(best, chain(build), key=lambda done: sum(done.seconds))
    return best


# ---- beside peers


def beside_peers(part: Part) -> None:
    """The whole chain against peers that are spared all but building their model and one query."""
    part.section(
        "Beside peers",
        "No peer fills unknown factors. They are given the completed graph; a cell is the time to",
        "build their model and to answer the one query, by lifagu's time for the *whole* chain,",
        "and the correct digits against the median of all.",
    )
    people = (4, 16) if part.small else (16, 64, 256, 1_024, 4_096)
    show(part, [_family(title, make, people) for title, make in FAMILIES.items()])


def _family(title: str, make: Callable[[int], FactorGraph], people: Sequence[int]) -> Family:
    rows = [(f"{each:,}", _measure(partial(make, each))) for each in people]
    return Family(
        f"{title.capitalize()} completed, n persons: P(x{ASKED})", rows, people, "persons"
    )


def _measure(build: Callable[[], FactorGraph]) -> Measure:
    """The chain where lifagu is asked for, else building and answering on the completed graph."""

    def ask(engine: Engine, limit: float) -> Measured:
        if engine is LIFAGU:
            done = best_chain(build)
            return Measured(0.0, sum(done.seconds), (None, done.answer.probabilities))
        if engine is ENUMERATION:
            return Measured()
        found = measure(engine, lambda: (Model.of(lifagu.transfer(build()).graph), ASKED), limit)
        if found.build is None or found.seconds is None:
            return found
        return replace(found, seconds=found.build + found.seconds)

    return ask


if __name__ == "__main__":
    main()
