"""What colour passing costs against sorting as many numbers, as it grows, and beside peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from unittest import mock

import numpy as np

import lifagu
from lifagu import FactorGraph
from lifagu.basics import kernel
from lifagu.basics.arrays import by_first_occurrence, group_lists, group_rows, group_rows_bitwise
from research.bench.apart import memory_now, memory_peak, run_apart
from research.bench.colour_peers import PEERS, Peer, installed
from research.bench.models import epidemic_by_arrays, path, relabelled, scattered, star, torus
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging, best_time, sorting, timed

Floor = Callable[[int], float]


@dataclass(frozen=True)
class Measured:
    """Of one graph: sizes, seconds of floor and colouring, bytes beyond the graph, the peak."""

    arguments: int
    groups: tuple[int, int]
    floor: float
    seconds: float
    beyond: int
    peak: int


def main() -> None:
    """Measure and print."""
    part = begin(
        "Colour passing",
        ("lifagu", "numpy", *(peer.package for peer in PEERS)),
        "Timed is `lifagu.colour(graph)` on a graph that has been built: start colours, the",
        "neighbours of variables and the numbering of the result are in it, reading and building",
        "are not. Every row has a process of its own; the best of some runs counts, for the floor",
        "as well.",
    )
    lifagu.colour(path(3))  # what is imported on first use is imported now
    against_sorting(part)
    growing(part)
    what_else(part, 1_000 if part.small else 1_000_000)
    beside_peers(part)


# ---- against sorting


def against_sorting(part: Part) -> None:
    """Known graphs of some size each, with the ratio that is wanted of each."""
    part.section(
        "Against sorting",
        "The floor is one np.sort of as many random int32 as there are arguments, or one stable",
        "np.argsort of as many random int64. Memory: bytes for each argument beyond the graph.",
    )
    head = ["graph", "arguments", "groups", "floor", "colour", "ratio", "wanted", "memory"]
    table = part.table(head, _against_sorting(part.small, len(head)))
    found = ", ".join(f"{row['graph']} {row['ratio']}" for row in table)
    part.in_short(f"colour passing by one sort of as many numbers: {found}.")


def _against_sorting(small: bool, width: int) -> Iterator[list[str]]:
    scale = 1_000 if small else 1
    persons, side, nodes = 10**7 // 9 // scale, 1_000 // (30 if small else 1), 10**6 // scale
    rows: list[tuple[str, Callable[[], FactorGraph], Floor, int]] = [
        ("epidemic, in order", lambda: epidemic_by_arrays(persons), sorting, 10),
        ("epidemic, shuffled", lambda: relabelled(epidemic_by_arrays(persons)), sorting, 50),
        (f"torus {side} × {side}", lambda: torus(side), arranging, 2),
        ("star", lambda: star(2 * nodes), arranging, 2),
        (f"path of {nodes}", lambda: path(nodes), arranging, 8),
        ("random triples", lambda: scattered(10 * nodes), arranging, 8),
    ]
    for title, make, floor, wanted in rows:
        found = run_apart(partial(measure, make, floor))
        if isinstance(found, str):
            yield [title, found, *["–"] * (width - 2)]
            continue
        yield [
            *(title, sized(found.arguments), f"{found.groups[0]:,} + {found.groups[1]:,}"),
            *(
                f"{'sort' if floor is sorting else 'argsort'} {duration(found.floor)}",
                duration(found.seconds),
            ),
            *(
                ratio(found.seconds, found.floor),
                f"≤ {wanted}×",
                f"{found.beyond / found.arguments:.0f} bytes",
            ),
        ]


def _colour_anew(graph: FactorGraph) -> object:
    """Nothing that a run left in the graph helps the next."""
    return lifagu.colour(replace(graph))


def measure(make: Callable[[], FactorGraph], floor: Floor) -> Measured:
    """Build a graph and colour it."""
    graph = make()
    before = memory_now()
    colouring = lifagu.colour(replace(graph))
    peak = memory_peak()
    groups = (int(colouring.variable_colours.max()) + 1, int(colouring.factor_colours.max()) + 1)
    del colouring
    seconds = best_time(partial(_colour_anew, graph))
    return Measured(
        len(graph.arguments), groups, floor(len(graph.arguments)), seconds, peak - before, peak
    )


# ---- growth


def growing(part: Part) -> None:
    """Ten times larger each time; peak memory is that of the whole process, graph included."""
    part.section("Growth: the epidemic in order")
    head = [
        "arguments",
        "argsort",
        "ratio",
        "colour",
        "nanoseconds an argument",
        "memory",
        "peak with the graph",
    ]
    part.table(head, _growing(part, len(head)))


def _growing(part: Part, width: int) -> Iterator[list[str]]:
    for exponent in (3, 4) if part.small else (4, 5, 6, 7, 8):
        persons = 10**exponent // 9
        found = run_apart(partial(measure, partial(epidemic_by_arrays, persons), arranging))
        if isinstance(found, str):
            yield [f"10^{exponent}", found, *["–"] * (width - 2)]
            continue
        for curve, seconds in (("lifagu", found.seconds), (f"{FLOOR}argsort", found.floor)):
            part.point("epidemic, in order", "arguments", curve, found.arguments, seconds)
        yield [
            *(sized(found.arguments), duration(found.floor), ratio(found.seconds, found.floor)),
            *(duration(found.seconds), f"{found.seconds / found.arguments * 1e9:.0f}"),
            *(
                f"{found.beyond / found.arguments:.0f} bytes an argument",
                f"{found.peak / 2**30:.2f} GiB",
            ),
        ]


# ---- what else is compiled


def what_else(part: Part, count: int) -> None:
    """Grouping with and without the kernel; counting degrees is memory-bound in numpy already."""
    random = np.random.default_rng(0)
    tables, few = (
        random.random((count, 4)),
        random.random((1_000, 8))[random.integers(0, 1_000, count)],
    )
    rows, offsets = random.integers(0, count, (count, 3)), 3 * np.arange(count + 1)
    ids, roles = random.integers(0, count, 3 * count), random.integers(0, 20, 3 * count)
    rows_of_work: list[tuple[str, Callable[[], object]]] = [
        ("tables of 4, all distinct, interned", lambda: group_rows_bitwise(tables)),
        ("tables of 8, 1,000 distinct, interned", lambda: group_rows_bitwise(few)),
        ("signatures of 3 arguments, 20 roles", lambda: group_lists(offsets, roles, ordered=False)),
        ("rows of 3, all distinct", lambda: group_rows(rows)),
        ("three times as many numbers, by first occurrence", lambda: by_first_occurrence(ids)),
        (
            "degrees over three times as many arguments (numpy)",
            lambda: np.bincount(ids, minlength=count),
        ),
    ]
    part.section(f"What else is compiled: {count:,} at a time")
    part.table(
        ["work", "numpy", "kernel", "numpy by kernel"],
        (_with_and_without(*each) for each in rows_of_work),
    )


def _with_and_without(title: str, work: Callable[[], object]) -> list[str]:
    with mock.patch.object(kernel, "_kernel", None):
        plain = best_time(work)
    ours = best_time(work)
    return [title, duration(plain), duration(ours), ratio(plain, ours)]


# ---- peers


def beside_peers(part: Part) -> None:
    """The peers on growing graphs, as ratios to lifagu, each with how many groups it finds."""
    part.section(
        "Beside peers",
        f"Each has {part.limit:g} s; ratios are without the time to build its graph; in brackets",
        "the groups it finds; – where it failed on a smaller graph of the family.",
        "",
        *(f"- {peer.name}: {peer.differs}" for peer in PEERS),
    )
    table = part.table(
        ["graph", "arguments", "lifagu", *(peer.name for peer in PEERS)], _beside_peers(part)
    )
    found = []
    for peer in PEERS:
        if answered := [
            row for row in table if row["graph"] == "epidemic" and "×" in row[peer.name]
        ]:
            found.append(
                f"{peer.name} {answered[-1][peer.name].split()[0]} (at {answered[-1]['arguments']})"
            )
    part.in_short(
        "time of peers by that of lifagu on the largest epidemic they manage, by its arguments: "
        f"{', '.join(found) or 'none is installed'}."
    )


def _beside_peers(part: Part) -> Iterator[list[str]]:
    families: list[tuple[str, Callable[[int], FactorGraph]]] = [
        ("epidemic", lambda arguments: epidemic_by_arrays(arguments // 9)),
        ("torus", lambda arguments: torus(int((arguments / 4) ** 0.5))),
        ("path", lambda arguments: path(arguments // 2 + 1)),
        ("random triples", scattered),
    ]
    for title, make in families:
        running = {peer.name for peer in PEERS if installed(peer)}
        for exponent in (2,) if part.small else (3, 4, 5, 6):
            graph = make(10**exponent)
            colouring = lifagu.colour(graph)
            groups = int(colouring.variable_colours.max()) + int(colouring.factor_colours.max()) + 2
            ours = best_time(partial(_colour_anew, graph))
            part.point(f"beside peers: {title}", "arguments", "lifagu", len(graph.arguments), ours)
            cells = [beside(part, title, peer, graph, ours, running) for peer in PEERS]
            yield [title, sized(len(graph.arguments)), f"{duration(ours)} ({groups:,})", *cells]


def beside(
    part: Part, family: str, peer: Peer, graph: FactorGraph, ours: float, running: set[str]
) -> str:
    """One cell; a peer that fails is not asked about larger graphs."""
    if peer.name not in running:
        return "–" if installed(peer) else "not installed"

    def work() -> tuple[float, int]:
        groups, seconds = timed(peer.build(graph))
        return seconds, groups

    found = run_apart(work, part.limit)
    seconds = found if isinstance(found, str) else found[0]
    part.point(f"beside peers: {family}", "arguments", peer.name, len(graph.arguments), seconds)
    if isinstance(found, str):
        running.discard(peer.name)
        return found
    return f"{ratio(found[0], ours)} ({found[1]:,})"


if __name__ == "__main__":
    main()
