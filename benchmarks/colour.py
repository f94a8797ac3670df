"""What colour passing costs, against sorting as many numbers in the same run, as it grows, and beside peers.

    python benchmarks/colour.py [--small] [--limit SECONDS]

Timed is `lifagu.colour(graph)` on a graph that has been built: start colours, the neighbours of variables and the
numbering of the result are in it, reading and building are not. Every row has a process of its own; the best of some
runs counts, for the floor as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np

import lifagu
from apart import memory_now, memory_peak, run_apart
from colour_peers import PEERS, Peer, installed
from lifagu import FactorGraph, kernel
from lifagu.arrays import by_first_occurrence, group_lists, group_rows, group_rows_bitwise
from machine import machine
from models import epidemic_by_arrays, epidemic_with_holes, path, relabelled, scattered, star, torus

Floor = Callable[[int], float]


@dataclass(frozen=True)
class Measured:
    """Of one graph: sizes, seconds of the floor and of colouring, bytes beyond the graph, peak of the process."""

    arguments: int
    groups: tuple[int, int]
    floor: float
    seconds: float
    beyond: int
    peak: int


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    parser.add_argument("--limit", type=float, default=15.0, help="seconds that each peer has (default 15)")
    options = parser.parse_args()
    packages = ["lifagu", "numpy", *(peer.package for peer in PEERS)]
    print(f"# Colour passing\n\n{machine(packages)}")
    print(f"Kernel: {'compiled' if lifagu.has_kernel() else 'none, the reference runs'}.\n")
    against_sorting(options.small)
    growing(options.small)
    what_else(1_000 if options.small else 1_000_000)
    stages(2_000 if options.small else 1_000_000)
    beside_peers(options.small, options.limit)


# ---- against sorting


def against_sorting(small: bool) -> None:
    """Known graphs of some size each, with the ratio that is wanted of each."""
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
    print("## Against sorting\n")
    print("The floor is one np.sort of as many random int32 as there are arguments, or one stable np.argsort of as")
    print("many random int64. Memory: bytes for each argument beyond the graph.\n")
    print("| graph | arguments | groups | floor | colour | ratio | wanted | memory |")
    print("|---" * 8 + "|")
    for title, make, floor, wanted in rows:
        found = run_apart(lambda make=make, floor=floor: measure(make, floor))  # type: ignore[misc]
        if isinstance(found, str):
            print(f"| {title} | {found} |" + " – |" * 6)
            continue
        name = "sort" if floor is sorting else "argsort"
        print(
            f"| {title} | {found.arguments:,} | {found.groups[0]:,} + {found.groups[1]:,} | "
            f"{name} {found.floor:.4f} s | {found.seconds:.4f} s | {found.seconds / found.floor:.1f}× | "
            f"≤ {wanted}× | {found.beyond / found.arguments:.0f} bytes |",
            flush=True,
        )


def measure(make: Callable[[], FactorGraph], floor: Floor) -> Measured:
    """Build a graph and colour it; nothing that a run left in the graph helps the next."""
    graph = make()
    before = memory_now()
    colouring = lifagu.colour(replace(graph))
    peak = memory_peak()
    groups = (int(colouring.variable_colours.max()) + 1, int(colouring.factor_colours.max()) + 1)
    del colouring
    seconds = best_time(lambda: lifagu.colour(replace(graph)))
    return Measured(len(graph.arguments), groups, floor(len(graph.arguments)), seconds, peak - before, peak)


def sorting(count: int) -> float:
    """Seconds of one sort of so many random 32-bit integers."""
    numbers = np.random.default_rng(0).integers(0, 2**31 - 1, count).astype(np.int32)
    return best_time(lambda: np.sort(numbers))


def arranging(count: int) -> float:
    """Seconds of one stable argsort of so many random 64-bit integers."""
    numbers = np.random.default_rng(0).integers(0, 2**62, count)
    return best_time(lambda: np.argsort(numbers, kind="stable"))


def best_time(work: Callable[[], object]) -> float:
    """The best of five runs, or of fewer if they are long."""
    times: list[float] = []
    while len(times) < 5 and sum(times) < 10:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


# ---- growth


def growing(small: bool) -> None:
    """The epidemic in order, ten times larger each time; peak memory is that of the whole process, graph included."""
    print("\n## Growth: the epidemic in order\n")
    print("| arguments | argsort | colour | ratio | nanoseconds an argument | memory | peak with the graph |")
    print("|---" * 7 + "|")
    for exponent in (3, 4) if small else (4, 5, 6, 7, 8):
        persons = 10**exponent // 9
        found = run_apart(lambda persons=persons: measure(lambda: epidemic_by_arrays(persons), arranging))  # type: ignore[misc]
        if isinstance(found, str):
            print(f"| 10^{exponent} | {found} |" + " – |" * 5)
            continue
        print(
            f"| {found.arguments:,} | {found.floor:.4f} s | {found.seconds:.4f} s | "
            f"{found.seconds / found.floor:.2f}× | {found.seconds / found.arguments * 1e9:.0f} | "
            f"{found.beyond / found.arguments:.0f} bytes an argument | {found.peak / 1e9:.2f} GB |",
            flush=True,
        )


# ---- what else is compiled


def what_else(count: int) -> None:
    """Grouping with and without the kernel; counting degrees is memory-bound in numpy already."""
    random = np.random.default_rng(0)
    tables, few = random.random((count, 4)), random.random((1_000, 8))[random.integers(0, 1_000, count)]
    rows, offsets = random.integers(0, count, (count, 3)), 3 * np.arange(count + 1)
    ids, roles = random.integers(0, count, 3 * count), random.integers(0, 20, 3 * count)
    rows_of_work: list[tuple[str, Callable[[], object]]] = [
        ("tables of 4, all distinct, interned", lambda: group_rows_bitwise(tables)),
        ("tables of 8, 1,000 distinct, interned", lambda: group_rows_bitwise(few)),
        ("signatures of 3 arguments, 20 roles", lambda: group_lists(offsets, roles, ordered=False)),
        ("rows of 3, all distinct", lambda: group_rows(rows)),
        ("three times as many numbers, by first occurrence", lambda: by_first_occurrence(ids)),
        ("degrees over three times as many arguments (numpy)", lambda: np.bincount(ids, minlength=count)),
    ]
    print(f"\n## What else is compiled: {count:,} at a time\n")
    print("| work | numpy | kernel | ratio |")
    print("|---" * 4 + "|")
    for title, work in rows_of_work:
        with mock.patch.object(kernel, "_kernel", None):
            plain = best_time(work)
        ours = best_time(work)
        print(f"| {title} | {plain:.4f} s | {ours:.4f} s | {plain / ours:.1f}× |", flush=True)


# ---- stages


def stages(persons: int) -> None:
    """From arrays to groups, a lifted model and an answer, with a tenth of the factors unknown."""
    print(f"\n## Stages: {persons:,} persons, a tenth of their factors unknown\n")
    print("| stage | seconds |")
    print("|---|---|")
    found = run_apart(lambda: _stages(persons))
    for stage, seconds in [(found, 0.0)] if isinstance(found, str) else found:
        print(f"| {stage} | {seconds:.2f} |")


def _stages(persons: int) -> list[tuple[str, float]]:
    times = [time.perf_counter()]
    graph = epidemic_with_holes(persons)
    times.append(time.perf_counter())
    moved = lifagu.transfer(graph)
    times.append(time.perf_counter())
    completed = moved.graph
    times.append(time.perf_counter())
    colouring = lifagu.colour(completed, factor_start=moved.factor_start)
    times.append(time.perf_counter())
    assert len(colouring.variable_groups) == 4
    assert len(colouring.factor_groups) == 3
    times.append(time.perf_counter())
    lifted = lifagu.lift(completed, colouring)
    times.append(time.perf_counter())
    assert (len(lifted.relations), len(lifted.parfactors)) == (4, 3)
    lifagu.query(lifted, "x2", evidence={"x6": "true"})
    times.append(time.perf_counter())
    stages_in_order = ["building from arrays", "transfer", "completed graph", "colouring", "groups as lists of members"]
    names = [*stages_in_order, "lifting, with its proof", "one query on the lifted model"]
    return [*zip(names, np.diff(times).tolist(), strict=True), ("in all", times[-1] - times[0])]


# ---- peers


def beside_peers(small: bool, limit: float) -> None:
    """The peers on growing graphs, as ratios to lifagu, each with how many groups it finds."""
    print("\n## Beside peers\n")
    print(f"Each has {limit:g} s; ratios are without the time to build its graph; in brackets the groups it finds.\n")
    for peer in PEERS:
        print(f"- {peer.name}: {peer.differs}")
    print(f"\n| graph | arguments | lifagu | {' | '.join(peer.name for peer in PEERS)} |")
    print("|---" * (3 + len(PEERS)) + "|")
    families: list[tuple[str, Callable[[int], FactorGraph]]] = [
        ("epidemic", lambda arguments: epidemic_by_arrays(arguments // 9)),
        ("torus", lambda arguments: torus(int((arguments / 4) ** 0.5))),
        ("path", lambda arguments: path(arguments // 2 + 1)),
        ("random triples", scattered),
    ]
    for title, make in families:
        running = {peer.name for peer in PEERS if installed(peer)}
        for exponent in (2,) if small else (3, 4, 5, 6):
            graph = make(10**exponent)
            colouring = lifagu.colour(graph)
            groups = int(colouring.variable_colours.max()) + int(colouring.factor_colours.max()) + 2
            ours = best_time(lambda graph=graph: lifagu.colour(graph))  # type: ignore[misc]
            cells = [beside(peer, graph, ours, limit, running) for peer in PEERS]
            shown = f"{ours * 1e3:.2f} ms ({groups:,})"
            print(f"| {title} | {len(graph.arguments):,} | {shown} | {' | '.join(cells)} |", flush=True)


def beside(peer: Peer, graph: FactorGraph, ours: float, limit: float, running: set[str]) -> str:
    """One cell; a peer that fails is not asked about larger graphs."""
    if peer.name not in running:
        return "–" if installed(peer) else "not installed"

    def work() -> tuple[float, int]:
        ask = peer.build(graph)
        start = time.perf_counter()
        groups = ask()
        return time.perf_counter() - start, groups

    found = run_apart(work, limit)
    if isinstance(found, str):
        running.discard(peer.name)
        return found
    return f"{found[0] / ours:.3g}× ({found[1]:,})"


if __name__ == "__main__":
    main()
