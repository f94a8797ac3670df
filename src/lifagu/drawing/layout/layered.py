"""Layers by distance from a root: rows, rings around a hub, or columns folded like a snake.

In a factor graph an edge joins a variable and a factor, so it leads from one layer to the next and
never skips one or stays within (Sugiyama, Tagawa and Toda 1981 need extra nodes for that in
general). Orders within layers come from barycentres, places from least squares with minimal
distances (isotonic regression).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, connected_parts

SWEEPS = 12
MOST_COMPARED = 800  # edges between two layers
FEW = 3  # nodes above a hub
IDLE = 0.001  # weight of a node's old place where no neighbour says where it should be
Neighbours = list[list[int]]


def neighbours(count: int, edges: Ints) -> Neighbours:
    """For each node the nodes it has an edge with, in the order of the edges."""
    result: Neighbours = [[] for _ in range(count)]
    for one, two in edges.tolist():
        result[one].append(two)
        result[two].append(one)
    return result


def distances(near: Neighbours, root: int) -> tuple[Ints, list[int]]:
    """Steps from a root to each node (-1: not reached), and nodes in the order they are found."""
    steps = [-1] * len(near)
    steps[root] = 0
    found = [root]
    for node in found:
        for other in near[node]:
            if steps[other] < 0:
                steps[other] = steps[node] + 1
                found.append(other)
    return np.array(steps, dtype=np.int64), found


def far_end(near: Neighbours) -> int:
    """A node about as far from some other as any: found by walking to a farthest one twice."""
    node = 0
    for _ in range(2):
        node = int(np.argmax(distances(near, node)[0]))
    return node


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes by layer, in order, with a place along each: a connected part, from a root."""

    rows: tuple[Ints, ...]
    along: Floats

    @property
    def length(self) -> float:
        """From the first place to the last."""
        return float(np.ptp(self.along)) if len(self.along) else 0.0


@dataclass(frozen=True, eq=False)
class _Between:
    """Edges of each layer to the one before (up) or after (down): places here, nodes there."""

    up: list[tuple[Ints, Ints]]
    down: list[tuple[Ints, Ints]]


def layers_of(near: Neighbours, edges: Ints, root: int, extents: Floats, gap: float) -> Layers:
    """Layers of a connected part from a root, in an order with few crossings, a gap apart.

    extents[n]: how much room each node takes along its layer. Cost: O(edges · sweeps), beside
    sorting.
    """
    steps, found = distances(near, root)
    rows = _by_layer(steps, np.array(found, dtype=np.int64), int(steps.max(initial=0)) + 1)
    order = _few_crossings(rows, _between(rows, edges, steps))
    rows = [row[each] for row, each in zip(rows, order, strict=True)]
    return Layers(tuple(rows), _along(rows, _between(rows, edges, steps), extents, gap))


def _by_layer(steps: Ints, nodes: Ints, depth: int) -> list[Ints]:
    """Nodes of each layer, in the given order."""
    sorted_nodes = nodes[np.argsort(steps[nodes], kind="stable")]
    return np.split(sorted_nodes, np.cumsum(np.bincount(steps[nodes], minlength=depth))[:-1])


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
    """How many pairs of edges between the same two layers cross; of many edges a sample."""
    total = 0
    for row, (slots, others) in zip(rows, between.down, strict=True):
        if len(slots) > 1:
            every = 1 + len(slots) // MOST_COMPARED
            left, right = place[row][slots[::every]], place[others[::every]]
            total += int(((left[:, None] < left) & (right[:, None] > right)).sum()) * every * every
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


def rows_below(layers: Layers, sizes: Floats, gap: float, upright: bool) -> Floats:
    """Layers as rows downwards, or columns rightwards, further apart where edges run flat."""
    along, across = (0, 1) if upright else (1, 0)
    places = np.zeros_like(sizes)
    apart = float(np.clip(layers.length * 0.09, gap * 1.7, gap * 7))
    level = 0.0
    for row in layers.rows:
        thick = float(sizes[row, across].max())
        places[row, across] = level + thick / 2
        level += thick + apart
    places[:, along] = layers.along
    return places


def wings(near: Neighbours, edges: Ints, hub: int, sizes: Floats, gap: float) -> Floats:
    """A hub in the middle, and what falls apart without it in columns, half on each side.

    A few nodes that hang on the hub alone stand above it.
    """
    count = len(near)
    others = edges[(edges != hub).all(axis=1)]
    part = connected_parts(count, others[:, 0], others[:, 1])
    lone = np.flatnonzero((np.bincount(part)[part] == 1) & (np.arange(count) != hub))
    lone = lone if len(lone) <= FEW else lone[:0]
    height = np.bincount(part, weights=sizes[:, 1] + gap)
    height[part[[hub, *lone]]] = 0
    on_left = (np.cumsum(height) - height / 2 < height.sum() / 2)[part]
    places = np.zeros_like(sizes)
    for side, mine in ((-1, on_left), (1, ~on_left)):
        chosen = np.setdiff1d(np.flatnonzero(mine), [hub, *lone])
        places[chosen] = _wing(np.append(chosen, hub), edges, sizes, gap)[:-1] * [side, 1]
    ends = np.cumsum(sizes[lone, 0] + gap)
    places[lone, 0] = ends - (sizes[lone, 0] + ends[-1:]) / 2
    places[lone, 1] = -(sizes[hub, 1] + sizes[lone, 1]) / 2 - 1.5 * gap
    return places


def _wing(chosen: Ints, edges: Ints, sizes: Floats, gap: float) -> Floats:
    """Columns to the right of the last of some nodes, at (0, 0) and half the others' height."""
    number = np.full(len(sizes), -1)
    number[chosen] = np.arange(len(chosen))
    links = number[edges]
    links = links[(links >= 0).all(axis=1)]
    hub = len(chosen) - 1
    layers = layers_of(neighbours(len(chosen), links), links, hub, sizes[chosen, 1], gap)
    places = rows_below(layers, sizes[chosen], gap, upright=False)
    middle = (places[:, 1].min() + places[:, 1].max()) / 2
    places[hub, 1] = middle
    places -= places[hub].copy()
    return places


def rings(layers: Layers, sizes: Floats, gap: float) -> Floats:
    """Layers as rings around the root, each wide enough for nearly all that stand on it."""
    around = layers.length + float(sizes[:, 0].max()) + gap
    angle = 2 * np.pi * (layers.along - layers.along.min(initial=0.0)) / around - np.pi / 2
    places = np.zeros_like(sizes)
    radius = float(sizes[layers.rows[0]].max()) / 2
    for row in layers.rows[1:]:
        room = sizes[row].max(axis=1) + gap
        needed = np.maximum(room, np.roll(room, -1)) / np.diff(
            angle[row], append=angle[row[0]] + 2 * np.pi
        )
        radius = max(radius + float(sizes[row].max()) + gap, float(np.quantile(needed, 0.95)))
        places[row] = radius * np.column_stack((np.cos(angle[row]), np.sin(angle[row])))
    return places


def folded(layers: Layers, sizes: Floats, gap: float, shape: float) -> Floats:
    """Layers as columns in several rows, read to and fro: a long chain fills a page."""
    along = layers.along.copy()
    for row in layers.rows:
        along[row] -= (along[row].min() + along[row].max()) / 2
    thick = np.array([float(sizes[row, 0].max()) for row in layers.rows]) + gap
    high = float(np.ptp(along)) + float(sizes[:, 1].max()) + 2 * gap
    wide = max(float(np.sqrt(thick.sum() * high * shape)), float(thick.max()))
    places = np.zeros_like(sizes)
    turn, used = 0, 0.0
    for row, width in zip(layers.rows, thick.tolist(), strict=True):
        if used > 0 and used + width > wide:
            turn, used = turn + 1, 0.0
        middle = used + width / 2
        places[row, 0] = middle if turn % 2 == 0 else wide - middle
        places[row, 1] = along[row] * (1 if turn % 2 == 0 else -1) + turn * high
        used += width
    return places
