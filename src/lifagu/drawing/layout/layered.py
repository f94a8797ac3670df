"""Layers by distance from a root: rows below one another, rings around a hub, or columns folded like a snake.

In a factor graph an edge joins a variable and a factor, so it leads from one layer to the next and never skips one or
stays within (Sugiyama, Tagawa and Toda 1981 need extra nodes for that in general). Orders within layers come from
barycentres, places from least squares with minimal distances (isotonic regression).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Floats, Ints, connected_parts

SWEEPS = 16
FEW = 3  # nodes above a hub
Neighbours = list[list[int]]


def neighbours(count: int, edges: Ints) -> Neighbours:
    """For each node the nodes it has an edge with, in the order of the edges."""
    result: Neighbours = [[] for _ in range(count)]
    for one, two in edges.tolist():
        result[one].append(two)
        result[two].append(one)
    return result


def distances(near: Neighbours, root: int) -> tuple[Ints, list[int]]:
    """Steps from a root to each node (-1: not reached), and the nodes in the order in which they are found."""
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
    """A node that is about as far from some other as any: found by walking to a farthest one twice."""
    node = 0
    for _ in range(2):
        steps, _ = distances(near, node)
        node = int(np.argmax(steps))
    return node


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes by layer, in order, with a place along each layer; the layers of a connected part, from a root."""

    rows: tuple[Ints, ...]
    along: Floats

    @property
    def length(self) -> float:
        """From the first place to the last."""
        return float(np.ptp(self.along)) if len(self.along) else 0.0


def layers_of(near: Neighbours, edges: Ints, root: int, extents: Floats, gap: float) -> Layers:
    """Layers from a root, ordered so that few edges cross, with places along them at least a gap apart.

    extents[n]: how much room each node takes along its layer. Cost: O(edges · sweeps), beside sorting.
    """
    steps, found = distances(near, root)
    depth = int(steps.max(initial=0)) + 1
    rows = [np.array([node for node in found if steps[node] == level], dtype=np.int64) for level in range(depth)]
    both = np.concatenate((edges, edges[:, ::-1]))
    rows = _few_crossings(rows, both, steps)
    return Layers(tuple(rows), _along(rows, both, steps, extents, gap))


def _few_crossings(rows: list[Ints], both: Ints, steps: Ints) -> list[Ints]:
    """Each layer ordered by the mean places of neighbours in the layer before and after, in sweeps down and up."""
    place = np.zeros(len(steps))
    for row in rows:
        place[row] = np.linspace(0, 1, len(row) + 2)[1:-1]
    best, least = rows, _crossings(place, both, steps)
    current = list(rows)
    for sweep in range(SWEEPS):
        if not least:
            break
        down = sweep % 2 == 0
        heard = both[steps[both[:, 1]] == steps[both[:, 0]] + (-1 if down else 1)]
        for level in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            row = current[level]
            means = _means(place, heard, row)
            current[level] = row[np.lexsort((place[row], np.round(means, 9)))]
            place[current[level]] = np.linspace(0, 1, len(row) + 2)[1:-1]
        crossings = _crossings(place, both, steps)
        if crossings < least:
            best, least = list(current), crossings
    return best


def _means(place: Floats, heard: Ints, row: Ints) -> Floats:
    """The mean place of the neighbours of each node of a row that it hears, its own where it hears none."""
    mine = np.zeros(len(place), dtype=np.bool_)
    mine[row] = True
    own = heard[mine[heard[:, 0]]]
    total = np.bincount(own[:, 0], weights=place[own[:, 1]], minlength=len(place))[row]
    many = np.bincount(own[:, 0], minlength=len(place))[row]
    return np.where(many > 0, total / np.maximum(many, 1), place[row])


def _crossings(place: Floats, both: Ints, steps: Ints) -> int:
    """How many pairs of edges between the same two layers cross, for places in order; of many edges a sample."""
    down = both[steps[both[:, 1]] == steps[both[:, 0]] + 1]
    down = down[:: 1 + len(down) // 1500]
    level, one, two = steps[down[:, 0]], place[down[:, 0]], place[down[:, 1]]
    total = 0
    for number in range(int(level.max(initial=-1)) + 1):
        here = level == number
        left, right = one[here], two[here]
        total += int(((left[:, None] < left) & (right[:, None] > right)).sum())
    return total


def _along(rows: list[Ints], both: Ints, steps: Ints, extents: Floats, gap: float) -> Floats:
    """Places along the layers: near the neighbours' mean, but each node at least a gap from the next."""
    place = np.zeros(len(steps))
    for row in rows:
        ends = np.cumsum(extents[row] + gap)
        place[row] = ends - extents[row] / 2 - ends[-1] / 2
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        heard = both[steps[both[:, 1]] == steps[both[:, 0]] + (-1 if down else 1)]
        for row in rows if down else rows[::-1]:
            place[row] = _spaced(_means(place, heard, row), extents[row], gap)
    return place


def _spaced(wanted: Floats, extents: Floats, gap: float) -> Floats:
    """The places nearest to those wanted (least squares), in the given order, that leave a gap between extents.

    >>> _spaced(np.array([0.0, 0, 0]), np.full(3, 8.0), 2).tolist()
    [-10.0, 0.0, 10.0]
    """
    offset = np.concatenate(([0.0], np.cumsum((extents[:-1] + extents[1:]) / 2 + gap)))
    pools: list[tuple[float, int]] = []  # isotonic regression: mean and number of each pool
    for each in (wanted - offset).tolist():
        mean, many = each, 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, many = (mean * many + other * more) / (many + more), many + more
        pools.append((mean, many))
    return np.repeat([mean for mean, _ in pools], [many for _, many in pools]) + offset


def rows_below(layers: Layers, sizes: Floats, gap: float, upright: bool) -> Floats:
    """Layers as rows from top to bottom, or as columns from left to right, further apart where edges run flat."""
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
    """A hub in the middle, and what falls apart without it in columns on both sides, about equally much on each.

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
    """Columns to the right of the last of some nodes, which is at (0, 0) and at half the height of the others."""
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
    """Layers as rings around the root, each wide enough for what stands on it."""
    around = layers.length + float(sizes[:, 0].max()) + gap
    angle = 2 * np.pi * (layers.along - layers.along.min(initial=0.0)) / around - np.pi / 2
    places = np.zeros_like(sizes)
    radius = 0.0
    for level, row in enumerate(layers.rows):
        if level == 0 and len(row) == 1:
            radius = float(sizes[row].max()) / 2
            continue
        needed = float((sizes[row].sum(axis=1) / 2 + gap).sum()) / (2 * np.pi)
        radius = max(radius + float(sizes[row, 1].max()) + gap, needed)
        places[row] = radius * np.column_stack((np.cos(angle[row]), np.sin(angle[row])))
    return places


def folded(layers: Layers, sizes: Floats, gap: float, shape: float) -> Floats:
    """Layers as columns in several rows, read to and fro like a snake, so that a long chain fills a page."""
    thick = np.array([float(sizes[row, 0].max()) for row in layers.rows]) + gap
    high = layers.length + float(sizes[:, 1].max()) + 2 * gap
    wide = max(float(np.sqrt(thick.sum() * high * shape)), float(thick.max()))
    places = np.zeros_like(sizes)
    turn, used = 0, 0.0
    for row, width in zip(layers.rows, thick.tolist(), strict=True):
        if used > 0 and used + width > wide:
            turn, used = turn + 1, 0.0
        along = used + width / 2
        places[row, 0] = along if turn % 2 == 0 else wide - along
        places[row, 1] = layers.along[row] * (1 if turn % 2 == 0 else -1) + turn * high
        used += width
    return places
