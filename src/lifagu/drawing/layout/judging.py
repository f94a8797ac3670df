"""How well a picture reads, as a number: crossings, edges over nodes, room taken, and shape."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints

MOST_EDGES = 800  # compared pairwise; of more, every second, third, …


def crossings(places: Floats, edges: Ints) -> int:
    """How many pairs of edges cross, except at a shared end; of very many a sample is scaled up.

    >>> crossings(np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([[0, 1], [2, 3]]))
    1
    """
    every = 1 + len(edges) // MOST_EDGES
    edges = edges[::every]
    start, way = places[edges[:, 0]], places[edges[:, 1]] - places[edges[:, 0]]
    one, two = _side(start, way, places[edges[:, 0]]), _side(start, way, places[edges[:, 1]])
    apart = one * two < 0
    shared = (edges[:, None, :, None] == edges[None, :, None, :]).any(axis=(2, 3))
    return int((apart & apart.T & ~shared).sum()) // 2 * every * every


def _side(start: Floats, way: Floats, points: Floats) -> Floats:
    """On which side of each line each point lies: the sign of a cross product."""
    seen = points[None, :, :] - start[:, None, :]
    side: Floats = way[:, None, 0] * seen[:, :, 1] - way[:, None, 1] * seen[:, :, 0]
    return side


def over_nodes(places: Floats, sizes: Floats, edges: Ints) -> int:
    """How often an edge runs over a foreign node; of very many edges a sample is scaled up."""
    every = 1 + len(edges) * len(places) // 600_000
    edges = edges[::every]
    start, way = places[edges[:, 0]], places[edges[:, 1]] - places[edges[:, 0]]
    # in units of each node's half axes its shape is about a circle of radius 1
    scale = 2 / np.maximum(sizes, 1e-9)
    seen = (places[None] - start[:, None]) * scale[None]
    along = way[:, None] * scale[None]
    square = np.maximum((along**2).sum(axis=2), 1e-12)
    nearest = np.clip((seen * along).sum(axis=2) / square, 0, 1)
    close = ((seen - nearest[:, :, None] * along) ** 2).sum(axis=2) < 0.9
    rows = np.arange(len(edges))
    close[rows, edges[:, 0]] = close[rows, edges[:, 1]] = False
    return int(close.sum()) * every


def cost(places: Floats, sizes: Floats, edges: Ints, shape: float) -> float:
    """Less is better: twice the crossings and edges over nodes cost as much as twice the room."""
    low, high = (places - sizes / 2).min(axis=0), (places + sizes / 2).max(axis=0)
    wide, tall = np.maximum(high - low, 1.0).tolist()
    tangled = np.log2(1 + crossings(places, edges) + 3 * over_nodes(places, sizes, edges))
    room = np.log2(max(wide, shape * tall) ** 2 / shape / float(sizes.prod(axis=1).sum()))
    return float(0.35 * tangled + 0.35 * room + 0.15 * abs(np.log2(wide / tall / shape)))
