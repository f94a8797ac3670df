"""Where nodes stand: each connected part arranged by itself, and parts packed side by side.

Deterministic, in plain numpy, for 10 to 2,000 nodes; no two boxes overlap.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, connected_parts, members
from lifagu.drawing.layout.boxes import packed, separated
from lifagu.drawing.layout.layered import layered_places
from lifagu.drawing.layout.stress import stress_places

GAP = 16.0  # between boxes
SHAPE = 1.5  # width to height of a page
FEW, PAGE = 40, 1000.0  # nodes, and their room, for which people expect rows below one another
WIDER = np.array([1.25, 0.8])  # as boxes are wider than high


def place(sizes: Floats, edges: Ints, gap: float = GAP) -> Floats:
    """Centres of n boxes, some joined by edges (k × 2 numbers of nodes), none closer than a gap.

    sizes[n, 2]: widths and heights. The upper left corner of the whole is at (0, 0).
    """
    if not len(sizes):
        return np.zeros((0, 2))
    edges = np.unique(np.sort(edges.reshape(-1, 2), axis=1), axis=0)
    parts = members(connected_parts(len(sizes), edges[:, 0], edges[:, 1]))
    found: dict[bytes, Floats] = {}  # equal parts are arranged once
    own = []
    for part, links in zip(parts, _edges_inside(len(sizes), parts, edges), strict=True):
        key = sizes[part].tobytes() + links.tobytes()
        if key not in found:
            found[key] = _part(sizes[part], links, gap)
        own.append(found[key])
    extents = [(each + sizes[part] / 2).max(axis=0) for each, part in zip(own, parts, strict=True)]
    corners = np.round(packed(np.array(extents), gap * 1.6, SHAPE) - np.array(extents) / 2, 1)
    places = np.zeros_like(sizes)
    for part, each, corner in zip(parts, own, corners, strict=True):
        places[part] = each + corner
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
    """A connected part, its upper left corner at (0, 0): in rows if these fit, else by stress."""
    if len(sizes) == 1:
        return 0.5 * sizes
    places = layered_places(sizes, edges, gap * 1.5) if len(sizes) <= FEW else None
    if places is None or np.ptp(places, axis=0).max() > PAGE:
        length = float(np.sqrt(sizes.prod(axis=1).mean())) + 2 * gap
        places = WIDER * stress_places(len(sizes), edges, length)
    places = separated(places, sizes, gap)
    # so that no last bit shows
    settled: Floats = np.round(np.round(places - (places - sizes / 2).min(axis=0), 6), 1)
    return settled
