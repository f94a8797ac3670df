"""Rows below one another, by distance from the busiest node.

In a factor graph an edge joins a variable and a factor, so it leads from one layer to the next and
never skips one or stays within (Sugiyama, Tagawa and Toda 1981 need extra nodes for that in
general). Orders within layers come from barycentres, places from least squares with minimal
distances (isotonic regression).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints

SWEEPS = 12
IDLE = 0.001  # weight of a node's old place where no neighbour says where it should be


def distances(count: int, edges: Ints, root: int) -> tuple[Ints, list[int]]:
    """Steps from a root to each node (-1: not reached), and nodes in the order they are found."""
    near: list[list[int]] = [[] for _ in range(count)]
    for one, two in edges.tolist():
        near[one].append(two)
        near[two].append(one)
    steps = [-1] * count
    steps[root] = 0
    found = [root]
    for node in found:
        for other in near[node]:
            if steps[other] < 0:
                steps[other] = steps[node] + 1
                found.append(other)
    return np.array(steps, dtype=np.int64), found


@dataclass(frozen=True, eq=False)
class _Between:
    """Edges of each layer to the one before (up) or after (down): places here, nodes there."""

    up: list[tuple[Ints, Ints]]
    down: list[tuple[Ints, Ints]]


def layered_places(sizes: Floats, edges: Ints, gap: float) -> Floats:
    """Layers as rows downwards, further apart where edges run flat; boxes may not quite be apart.

    The (first) node with most neighbours stands on top.
    """
    root = int(np.argmax(np.bincount(edges.reshape(-1), minlength=len(sizes))))
    rows, along = layers_of(sizes[:, 0], edges, root, gap)
    places = np.column_stack((along, np.zeros(len(sizes))))
    apart = float(np.clip(np.ptp(along) * 0.09, gap * 1.7, gap * 7))
    level = 0.0
    for row in rows:
        thick = float(sizes[row, 1].max())
        places[row, 1] = level + thick / 2
        level += thick + apart
    return places


def layers_of(extents: Floats, edges: Ints, root: int, gap: float) -> tuple[list[Ints], Floats]:
    """Layers of a connected part in an order with few crossings, and places along them."""
    steps, found = distances(len(extents), edges, root)
    nodes = np.array(found, dtype=np.int64)
    nodes = nodes[np.argsort(steps[nodes], kind="stable")]
    rows = np.split(nodes, np.cumsum(np.bincount(steps))[:-1])
    order = _few_crossings(rows, _between(rows, edges, steps))
    rows = [row[each] for row, each in zip(rows, order, strict=True)]
    return rows, _along(rows, _between(rows, edges, steps), extents, gap)


def _between(rows: list[Ints], edges: Ints, steps: Ints) -> _Between:
    place = np.zeros(len(steps), dtype=np.int64)
    for row in rows:
        place[row] = np.arange(len(row))
    both = np.concatenate((edges, edges[:, ::-1]))
    sides = []
    for way in (-1, 1):
        mine = both[steps[both[:, 1]] == steps[both[:, 0]] + way]
        mine = mine[np.argsort(steps[mine[:, 0]], kind="stable")]
        cuts = np.cumsum(np.bincount(steps[mine[:, 0]], minlength=len(rows)))[:-1]
        sides.append([(place[each[:, 0]], each[:, 1]) for each in np.split(mine, cuts)])
    return _Between(*sides)


def _few_crossings(rows: list[Ints], between: _Between) -> list[Ints]:
    """Each layer's order: by mean places of neighbours before and after, in sweeps both ways."""
    place = np.zeros(sum(map(len, rows)))
    for row in rows:
        place[row] = _even(len(row))
    order = [np.arange(len(row)) for row in rows]
    best, least = list(order), _crossings(rows, place, between)
    for sweep in range(SWEEPS):
        if not least:
            break
        heard = between.up if sweep % 2 == 0 else between.down
        for level in range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1):
            row = rows[level]
            means = _means(place, row, heard[level])
            order[level] = np.lexsort((place[row], np.round(means, 9)))
            place[row[order[level]]] = _even(len(row))
        crossings = _crossings(rows, place, between)
        if crossings < least:
            best, least = list(order), crossings
    return best


def _even(count: int) -> Floats:
    """Places between 0 and 1, evenly apart."""
    return (np.arange(count) + 0.5) / max(count, 1)


def _means(place: Floats, row: Ints, heard: tuple[Ints, Ints]) -> Floats:
    """The mean place of what each node of a row hears, its own where it hears nothing."""
    slots, others = heard
    total = np.bincount(slots, weights=place[others], minlength=len(row))
    many = np.bincount(slots, minlength=len(row))
    return np.where(many > 0, total / np.maximum(many, 1), place[row])


def _crossings(rows: list[Ints], place: Floats, between: _Between) -> int:
    """How many pairs of edges between the same two layers cross."""
    total = 0
    for row, (slots, others) in zip(rows, between.down, strict=True):
        left, right = place[row][slots], place[others]
        total += int(((left[:, None] < left) & (right[:, None] > right)).sum())
    return total


def _along(rows: list[Ints], between: _Between, extents: Floats, gap: float) -> Floats:
    """Places along the layers: near the neighbours' mean, but each at least a gap from the next."""
    place = np.zeros(len(extents))
    for row in rows:
        ends = np.cumsum(extents[row] + gap)
        place[row] = ends - extents[row] / 2 - ends[-1] / 2
    levels = range(len(rows))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        heard = between.up if down else between.down
        for level in levels if down else reversed(levels):
            row = rows[level]
            wants = np.where(np.bincount(heard[level][0], minlength=len(row)) > 0, 1.0, IDLE)
            place[row] = _spaced(_means(place, row, heard[level]), wants, extents[row], gap)
    return place


def _spaced(wanted: Floats, weights: Floats, extents: Floats, gap: float) -> Floats:
    """The places nearest to those wanted (weighted least squares), in order, with gaps between.

    >>> _spaced(np.array([0.0, 0, 0]), np.ones(3), np.full(3, 8.0), 2).tolist()
    [-10.0, 0.0, 10.0]
    """
    offset = np.concatenate(([0.0], np.cumsum((extents[:-1] + extents[1:]) / 2 + gap)))
    # isotonic regression: mean, weight and number of each pool
    pools: list[tuple[float, float, int]] = []
    for mean, weight in zip((wanted - offset).tolist(), weights.tolist(), strict=True):
        many = 1
        while pools and pools[-1][0] > mean:
            other, more, count = pools.pop()
            mean = (mean * weight + other * more) / (weight + more)
            weight, many = weight + more, many + count
        pools.append((mean, weight, many))
    return np.repeat([each[0] for each in pools], [each[2] for each in pools]) + offset
