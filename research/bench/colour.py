"""What colour passing costs against sorting as many numbers, as it grows, and beside peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import lifagu
from lifagu import FactorGraph
from research.apart import memory_now, memory_peak, run_apart
from research.bench.colour_peers import PEERS, Peer, installed
from research.bench.measure import (
    Tables,
    arranging,
    beside,
    best_time,
    duration,
    sized,
    sorting,
    timed,
)
from research.bench.models import epidemic_by_arrays, path, relabelled, scattered, star, torus

ABOUT = (
    "Timed is `lifagu.colour(graph)` on a graph that has been built. The floor is one np.sort of "
    "as many random int32 as there are arguments, or one stable argsort of as many int64. Memory: "
    "bytes for each argument beyond the graph. Beside peers: ratios to lifagu without the time to "
    "build their graphs, in brackets the groups they find; – where they failed before.\n\n"
    + "\n".join(f"- {peer.name}: {peer.differs}" for peer in PEERS)
)
HEAD = ["graph", "arguments", "groups", "floor", "colour", "memory"]
Floor = Callable[[int], float]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    lifagu.colour(path(3))  # what is imported on first use is imported now
    yield "Against sorting", HEAD, _against(_graphs(1_000 if small else 1), len(HEAD))
    exponents = (3, 4) if small else (4, 5, 6, 7, 8)
    grown = {
        f"epidemic, 10^{n}": (partial(epidemic_by_arrays, 10**n // 9), arranging) for n in exponents
    }
    yield "Growth", HEAD, _against(grown, len(HEAD))
    peers = ["graph", "arguments", "lifagu", *(peer.name for peer in PEERS)]
    yield "Beside peers", peers, _beside_peers(small, limit)


def _graphs(scale: int) -> dict[str, tuple[Callable[[], FactorGraph], Floor]]:
    persons, side, nodes = 10**7 // 9 // scale, 1_000 if scale == 1 else 30, 10**6 // scale
    return {
        "epidemic, in order": (partial(epidemic_by_arrays, persons), sorting),
        "epidemic, shuffled": (lambda: relabelled(epidemic_by_arrays(persons)), sorting),
        f"torus {side} × {side}": (partial(torus, side), arranging),
        "star": (partial(star, 2 * nodes), arranging),
        f"path of {nodes}": (partial(path, nodes), arranging),
        "random triples": (partial(scattered, 10 * nodes), arranging),
    }


def _against(
    graphs: dict[str, tuple[Callable[[], FactorGraph], Floor]], width: int
) -> Iterator[list[str]]:
    for title, (make, floor) in graphs.items():
        found = run_apart(partial(_measured, make, floor))
        if isinstance(found, str):
            yield [title, found, *["–"] * (width - 2)]
            continue
        arguments, groups, base, seconds, beyond = found
        times = [duration(base), beside(seconds, base)]
        yield [title, sized(arguments), groups, *times, f"{beyond / arguments:.0f} bytes"]


def _measured(make: Callable[[], FactorGraph], floor: Floor) -> tuple[int, str, float, float, int]:
    """Arguments, groups, seconds of floor and colouring, bytes beyond the graph."""
    graph = make()
    before = memory_now()
    colouring = lifagu.colour(replace(graph))  # nothing that a run left in the graph helps the next
    beyond = memory_peak() - before
    groups = f"{_groups(colouring.variable_colours):,} + {_groups(colouring.factor_colours):,}"
    seconds = best_time(lambda: lifagu.colour(replace(graph)))
    return len(graph.arguments), groups, floor(len(graph.arguments)), seconds, beyond


def _groups(colours: object) -> int:
    return int(colours.max()) + 1  # type: ignore[attr-defined]


def _beside_peers(small: bool, limit: float) -> Iterator[list[str]]:
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
            groups = _groups(colouring.variable_colours) + _groups(colouring.factor_colours)
            ours = best_time(partial(lambda graph: lifagu.colour(replace(graph)), graph))
            cells = [_by_peer(peer, graph, ours, limit, running) for peer in PEERS]
            yield [title, sized(len(graph.arguments)), f"{duration(ours)} ({groups:,})", *cells]


def _by_peer(peer: Peer, graph: FactorGraph, ours: float, limit: float, running: set[str]) -> str:
    """One cell; a peer that fails is not asked about larger graphs."""
    if peer.name not in running:
        return "–" if installed(peer) else "not installed"
    found = run_apart(lambda: timed(peer.build(graph)), limit)
    if isinstance(found, str):
        running.discard(peer.name)
        return found
    groups, seconds = found
    return f"{seconds / ours:.2g}× ({groups:,})"
