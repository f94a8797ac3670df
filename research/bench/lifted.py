"""The lifted engine on ground graphs: beside peers until they break, and on to millions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import ground_families as symmetric
import numpy as np

import lifagu
from lifagu import FactorGraph
from research.bench import checked
from research.bench.apart import memory_peak, run_apart
from research.bench.beside import ENGINES, HOW_TO_READ, PACKAGES, Family, show
from research.bench.limits import warm_up
from research.bench.models import competing_workshops, epidemic_by_arrays, ring, smokers_and_friends
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging, timed

UAI = Path(__file__).parents[3] / "shared/data/uai2014"
Asked = tuple[FactorGraph, str, dict[str, str]]  # a graph, the variable asked for, evidence
WORK = ("build", "query", "all marginals", "best")
HEAD = ["model", "arguments", "argsort", *WORK, "memory", "steps", "checked"]


def main() -> None:
    """Measure and print."""
    part = begin("Lifted inference on ground graphs", PACKAGES, *HOW_TO_READ)
    warm_up(ENGINES)
    show(part, families(part.small))
    part.section(
        "Large graphs",
        "Building from arrays (or reading a file), one query, all marginals and the best",
        "assignment, each as a ratio to one stable argsort of as many integers as there are",
        "arguments; peak memory; steps of the plan. Each row has a process of its own. Checked:",
        "largest difference between the query and the marginals computed apart.",
    )
    measured(partial(_epidemic, 3))  # what is imported on first use is imported now
    table = part.table(HEAD, _large(part))
    largest = [row for row in table if row["model"].startswith("epidemic")][-1]
    found = ", ".join(f"{work} {largest[work]}" for work in WORK)
    part.in_short(
        f"{largest['model']} persons, by one argsort of its {largest['arguments']} arguments: "
        f"{found}."
    )
    part.section("Families with closed forms", *checked.HOW_TO_READ)
    checked.show(part, closed_forms(part.small))


def families(small: bool) -> list[Family]:
    """Symmetric graphs on which ground engines break early."""
    square = lambda side: competing_workshops(side, side)  # noqa: E731
    sides, lengths = ([4, 8], [10, 100]) if small else ([10, 20, 40, 80], [10, 100, 1_000, 10_000])
    return [
        Family.growing("Competing workshops, n × n: P(x0)", "persons", square, sides, "x0"),
        Family.growing(
            "Smokers and friends, n persons: P(x0)", "persons", smokers_and_friends, sides, "x0"
        ),
        Family.growing("Ring of n, ternary: P(x0)", "variables", ring, lengths, "x0"),
    ]


def rows(small: bool) -> list[tuple[str, int, Callable[[], Asked]]]:
    """What is measured when graphs are large: the family, its size, and how to make it."""
    people = (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    lengths = (1_000,) if small else (1_000, 10_000, 100_000, 1_000_000)
    sides = (30,) if small else (30, 100, 300)
    files = () if small or not UAI.exists() else ("relational_1", "relational_4")
    return [
        *(("epidemic, one observed", n, partial(_epidemic, n)) for n in people),
        *(("ternary ring, one observed", n, partial(_ring, n)) for n in lengths),
        *(("competing workshops", side, partial(_workshops, side)) for side in sides),
        *(("smokers and friends, 30 % observed", side, partial(_smokers, side)) for side in sides),
        *((f"UAI 2014 {name}", 0, partial(_uai, name)) for name in files),
    ]


def _epidemic(people: int) -> Asked:
    return epidemic_by_arrays(people), "x2", {"x6": "true"}


def _ring(length: int) -> Asked:
    return ring(length), "x1", {"x0": "1"}


def _workshops(side: int) -> Asked:
    return competing_workshops(side, side), "x0", {}


def _smokers(count: int) -> Asked:
    evidence = {
        f"x{person}": "true" if person % 2 else "false" for person in range(1, count * 3 // 10)
    }
    return smokers_and_friends(count), "x0", evidence


def _uai(name: str) -> Asked:
    evidence = {
        key: str(value) for key, value in lifagu.io.read_evidence(UAI / f"{name}.uai.evid").items()
    }
    graph = lifagu.read(UAI / f"{name}.uai.gz")
    assert isinstance(graph, FactorGraph)
    return graph, "x0", evidence


def _large(part: Part) -> Iterator[list[str]]:
    for family, size, make in rows(part.small):
        title = f"{family}, {size:,}" if size else family
        found = run_apart(partial(measured, make))
        if isinstance(found, str):
            yield [title, found, *["–"] * (len(HEAD) - 2)]
            continue
        arguments, seconds, memory, steps, difference = found
        floor = arranging(arguments)
        if size:
            for curve, each in zip((*WORK, f"{FLOOR}argsort"), (*seconds, floor), strict=True):
                part.point(f"{family}: large", "arguments", curve, arguments, each)
        ratios = [f"{ratio(each, floor)} ({duration(each)})" for each in seconds]
        rest = [f"{memory / 2**30:.2f} GiB", str(steps), f"{difference:.0e}"]
        yield [title, sized(arguments), duration(floor), *ratios, *rest]


def measured(make: Callable[[], Asked]) -> tuple[int, list[float], int, int, float]:
    """Arguments; seconds to build, ask, find marginals and the best; memory, steps, difference."""
    (graph, name, evidence), building = timed(make)
    answer, asking = timed(lambda: lifagu.query(graph, name, evidence=evidence))
    found, all_marginals = timed(lambda: lifagu.marginals(graph, evidence=evidence))
    difference = float(np.abs(answer.probabilities - list(found[name].values())).max())
    _, best = timed(lambda: lifagu.map_assignment(graph, evidence=evidence))
    seconds = [building, asking, all_marginals, best]
    return (
        len(graph.arguments),
        seconds,
        memory_peak(),
        len(found.prepared.reduced.steps),
        difference,
    )


def closed_forms(small: bool) -> list[checked.Family]:
    """Graphs of alike groups, and graphs of which much is observed or different."""
    people, sides = ((10, 20), (2, 4)) if small else ((10_000, 100_000, 1_000_000), (10, 20, 40))
    groups, cliques = ((2, 4), (4, 8)) if small else ((125, 250, 500), (20, 40, 80, 160))
    return [
        checked.Family(
            "epidemic, all observed, n", people, partial(symmetric.all_observed, mixed=True)
        ),
        checked.Family(
            "epidemic, all observed to be sick, n",
            people,
            partial(symmetric.all_observed, mixed=False),
        ),
        checked.Family("complete bipartite, n + n", sides, symmetric.two_parts),
        checked.Family(
            "complete on three alike parts, n each",
            sides,
            partial(symmetric.three_parts, alike=True),
        ),
        *(
            checked.Family(
                f"all marginals on {parts} alike parts, n each",
                sides,
                partial(symmetric.parts_alike, parts=parts),
            )
            for parts in (2, 3)
        ),
        checked.Family(
            "complete on three parts, n each", sides, partial(symmetric.three_parts, alike=False)
        ),
        checked.Family(
            "n households, something common",
            sides,
            partial(symmetric.households, size=5 if small else 30),
        ),
        checked.Family("hubs of n + n groups in a ring", groups, symmetric.hubs_in_a_ring),
        checked.Family("hubs of n + n groups with one variable", groups, symmetric.hubs_with_one),
        checked.Family("ring of n + n cliques", groups, symmetric.ring_of_cliques),
        checked.Family("n households with hubs, something common", groups, symmetric.with_own_hub),
        checked.Family(
            "all marginals of a clique, n different tables", cliques, symmetric.all_different
        ),
    ]


if __name__ == "__main__":
    main()
