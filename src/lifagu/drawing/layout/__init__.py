"""Where nodes stand: each connected part arranged as reads best, and parts side by side.

Deterministic, in plain numpy, for 10 to 2,000 nodes; no two boxes overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, connected_parts, members
from lifagu.drawing.layout.boxes import packed, separated, tiled
from lifagu.drawing.layout.judging import cost
from lifagu.drawing.layout.layered import (
    Neighbours,
    distances,
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
MANY = 24  # edges of a hub
FEW = 24  # nodes for which people expect rows below one another
LONG = 10  # layers from which on they may be folded


def place(sizes: Floats, edges: Ints, gap: float = GAP) -> Floats:
    """Centres of n boxes, some joined by edges (k × 2 numbers of nodes), none closer than a gap.

    sizes[n, 2]: widths and heights. The upper left corner of the whole is at (0, 0).
    """
    if not len(sizes):
        return np.zeros((0, 2))
    edges = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0)
    parts, own, extents = _parts(sizes, edges, gap)
    corners = np.round(packed(extents, gap * 1.6, SHAPE) - extents / 2, 1)
    places = np.zeros_like(sizes)
    for part, each, corner in zip(parts, own, corners, strict=True):
        places[part] = each + corner
    return places


def _parts(sizes: Floats, edges: Ints, gap: float) -> tuple[list[Ints], list[Floats], Floats]:
    """The connected parts, places within each, and the room it takes; equal ones arranged once."""
    parts = members(connected_parts(len(sizes), edges[:, 0], edges[:, 1]))
    found: dict[bytes, Floats] = {}
    own = []
    for part, links in zip(parts, _edges_inside(len(sizes), parts, edges), strict=True):
        key = sizes[part].tobytes() + links.tobytes()
        if key not in found:
            found[key] = _part(sizes[part], links, gap)
        own.append(found[key])
    extents = [(each + sizes[part] / 2).max(axis=0) for each, part in zip(own, parts, strict=True)]
    return parts, own, np.array(extents)


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
    tried = [
        (separated(each, sizes, gap), bonus) for each, bonus in _arrangements(sizes, edges, gap)
    ]
    counted = edges[~hubs(len(sizes), edges)[edges].any(axis=1)]
    best, _ = min(tried, key=lambda each: cost(each[0], sizes, counted, SHAPE) - each[1])
    # so that no last bit shows
    places: Floats = np.round(np.round(best - (best - sizes / 2).min(axis=0), 6), 1)
    return places


def _arrangements(sizes: Floats, edges: Ints, gap: float) -> Iterator[tuple[Floats, float]]:
    """Ways to arrange a connected part, each with a preference; boxes may overlap in some."""
    near = neighbours(len(sizes), edges)
    end = far_end(near)
    hub = _root(near, end)
    if len(sizes) > 6:
        length = float(np.sqrt(sizes.prod(axis=1).mean())) + 2 * gap
        yield stress_places(near, edges, length), 0.2 if len(sizes) > 2 * FEW else 0.0
    if int(distances(near, end)[0].max()) >= LONG:
        yield folded(layers_of(near, edges, end, sizes[:, 1], gap), sizes, gap * 2, SHAPE), 0.2
    if int(distances(near, hub)[0].max()) > 4 * np.sqrt(len(sizes)):
        return  # a long chain
    layers = layers_of(near, edges, hub, sizes[:, 0], gap)
    yield rows_below(layers, sizes, gap * 1.5, upright=True), 0.5 if len(sizes) <= FEW else 0.0
    if len(sizes) > 6:
        yield rings(layers, sizes, gap), 0.0
        sideways = layers_of(near, edges, hub, sizes[:, 1], gap)
        yield rows_below(sideways, sizes, gap * 1.5, upright=False), 0.1
        yield wings(near, edges, hub, sizes, gap * 1.2), 0.4 if _is_hub(near, hub) else 0.0
    if len(near[hub]) > MANY:
        yield _around(sizes, edges, hub, gap), 0.0


def _around(sizes: Floats, edges: Ints, hub: int, gap: float) -> Floats:
    """A hub in the middle, and what falls apart without it in cells around it."""
    others = np.delete(np.arange(len(sizes)), hub)
    number = np.full(len(sizes), -1)
    number[others] = np.arange(len(others))
    links = number[edges[(edges != hub).all(axis=1)]]
    parts, own, extents = _parts(sizes[others], links, gap)
    centres, middle = tiled(extents, gap * 2, SHAPE)
    places = np.zeros_like(sizes)
    places[hub] = middle
    corners = np.round(centres - extents / 2, 1)
    for part, each, corner in zip(parts, own, corners, strict=True):
        places[others[part]] = each + corner
    return places


def hubs(count: int, edges: Ints) -> NDArray[np.bool_]:
    """Which nodes have so many edges that these are drawn faintly, and crossing them is free."""
    busy: NDArray[np.bool_] = np.bincount(edges.reshape(-1), minlength=count) > MANY
    return busy


def _root(near: Neighbours, end: int) -> int:
    """The (first) node with most neighbours; in a larger part without such a hub, its middle."""
    hub = int(np.argmax([len(each) for each in near]))
    if len(near) <= FEW or _is_hub(near, hub):
        return hub
    from_end = distances(near, end)[0]
    from_other = distances(near, int(np.argmax(from_end)))[0]
    return int(np.argmin(np.maximum(from_end, from_other)))


def _is_hub(near: Neighbours, node: int) -> bool:
    """Whether a node has clearly more neighbours than any other."""
    others = (len(each) for number, each in enumerate(near) if number != node)
    return len(near[node]) >= 1.6 * max(others)
