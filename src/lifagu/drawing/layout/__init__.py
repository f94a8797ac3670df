"""Where nodes stand: several ways to arrange each connected part, the one that reads best, and parts side by side.

Deterministic, in plain numpy, for 10 to 2,000 nodes; no two boxes overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lifagu.arrays import Floats, Ints, connected_parts, members
from lifagu.drawing.layout.boxes import packed, separated
from lifagu.drawing.layout.judging import cost
from lifagu.drawing.layout.layered import (
    Neighbours,
    far_end,
    folded,
    layers_of,
    neighbours,
    rings,
    rows_below,
    wings,
)
from lifagu.drawing.layout.stress import stress_places

GAP = 16.0  # between boxes
SHAPE = 1.5  # width to height of a page
LONG = 10  # layers from which on they may be folded


def place(sizes: Floats, edges: Ints, gap: float = GAP) -> Floats:
    """Centres of n boxes, of which edges (k × 2 numbers of nodes) join some; none comes closer to another than a gap.

    sizes[n, 2]: widths and heights. The upper left corner of the whole is at (0, 0).
    """
    if not len(sizes):
        return np.zeros((0, 2))
    edges = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0)
    parts = members(connected_parts(len(sizes), edges[:, 0], edges[:, 1]))
    inside = _edges_inside(len(sizes), parts, edges)
    found: dict[bytes, Floats] = {}
    own = []
    for part, links in zip(parts, inside, strict=True):
        key = sizes[part].tobytes() + links.tobytes()
        if key not in found:
            found[key] = _part(sizes[part], links, gap)
        own.append(found[key])
    extents = np.array([_extent(each, sizes[part]) for each, part in zip(own, parts, strict=True)])
    centres = packed(extents, gap * 1.6, SHAPE)
    places = np.zeros_like(sizes)
    for part, each, centre, extent in zip(parts, own, centres, extents, strict=True):
        places[part] = each + (centre - extent / 2)
    return places


def _edges_inside(count: int, parts: list[Ints], edges: Ints) -> list[Ints]:
    """The edges of each part, between numbers within the part."""
    within, of = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for number, part in enumerate(parts):
        within[part], of[part] = np.arange(len(part)), number
    order = np.argsort(of[edges[:, 0]], kind="stable")
    cuts = np.cumsum(np.bincount(of[edges[:, 0]], minlength=len(parts)))[:-1]
    return np.split(within[edges[order]], cuts)


def _part(sizes: Floats, edges: Ints, gap: float) -> Floats:
    """The best arrangement of a connected part, its upper left corner at (0, 0)."""
    if len(sizes) == 1:
        return 0.5 * sizes
    tried = [separated(each, sizes, gap) for each in _arrangements(sizes, edges, gap)]
    costs = [cost(each, sizes, edges, SHAPE) for each in tried]
    costs[0] -= 0.5  # rows below one another are what people expect
    best = tried[int(np.argmin(costs))]
    places: Floats = np.round(best - (best - sizes / 2).min(axis=0), 1)
    return places


def _arrangements(sizes: Floats, edges: Ints, gap: float) -> Iterator[Floats]:
    """Several ways to arrange a connected part; boxes may overlap in some."""
    near = neighbours(len(sizes), edges)
    hub = _hub(near)
    layers = layers_of(near, edges, hub, sizes[:, 0], gap)
    yield rows_below(layers, sizes, gap * 1.5, upright=True)
    if len(sizes) > 6:
        yield rings(layers, sizes, gap)
        sideways = layers_of(near, edges, hub, sizes[:, 1], gap)
        yield rows_below(sideways, sizes, gap * 1.5, upright=False)
        length = float(np.sqrt(sizes.prod(axis=1).mean())) + 2 * gap
        yield stress_places(near, edges, length)
        yield wings(near, edges, hub, sizes, gap * 1.2)
    chain = layers_of(near, edges, far_end(near), sizes[:, 1], gap)
    if len(chain.rows) >= LONG:
        yield folded(chain, sizes, gap * 2, SHAPE)


def _hub(near: Neighbours) -> int:
    """The node with the most neighbours, the first of several."""
    return int(np.argmax([len(each) for each in near]))


def _extent(places: Floats, sizes: Floats) -> Floats:
    extent: Floats = (places + sizes / 2).max(axis=0)
    return extent
