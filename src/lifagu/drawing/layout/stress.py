"""Places whose distances resemble the numbers of steps between nodes: stress, majorised.

Distances to some pivots and along edges count (Brandes and Pich 2007 for the start, Ortmann,
Klimenta and Brandes 2016 for the sparse terms); in a small part every node is a pivot. Nothing is
random.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.drawing.layout.layered import distances

PIVOTS = 100
ROUNDS = 100


def stress_places(count: int, edges: Ints, length: float) -> Floats:
    """Places of a connected part, edges about `length` long; cost: O(nodes · pivots · rounds)."""
    pivots, steps = _pivots(count, edges)
    places = _relaxed(_start(steps), pivots, steps, edges)
    turned: Floats = np.round(length * _turned(places), 6)
    return turned


def _turned(places: Floats) -> Floats:
    """The same picture, turned so that it takes the least room, and wider than high."""
    best, least = places, np.inf
    for angle in np.arange(36) * np.pi / 36:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turned = places @ turn
        wide, high = np.ptp(turned, axis=0)
        if wide >= high * 0.95 and wide * high < least * 0.999:
            best, least = turned, wide * high
    return best


def _pivots(count: int, edges: Ints) -> tuple[Ints, Floats]:
    """Nodes far from each other, and their distances to all nodes (pivots × nodes)."""
    chosen, rows = [0], [distances(count, edges, 0)[0]]
    nearest = rows[0].copy()
    while len(chosen) < min(count, PIVOTS):
        nearest[chosen[-1]] = -1
        chosen.append(int(np.argmax(nearest)))
        rows.append(distances(count, edges, chosen[-1])[0])
        nearest = np.where(nearest < 0, -1, np.minimum(nearest, rows[-1]))
    return np.array(chosen, dtype=np.int64), np.array(rows, dtype=np.float64)


def _start(steps: Floats) -> Floats:
    """Classical scaling from distances to pivots: two main directions of the centred squares."""
    squares = (steps**2).T
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    places: Floats = -0.5 * centred @ _main_directions(centred.T @ centred)
    spread = np.abs(places).max(initial=0.0)
    places *= steps.max(initial=1.0) / 2 / spread if spread > 0 else 1.0
    angles = np.arange(len(places)) * 2.399963  # the golden angle tells apart what falls together
    places += 0.05 * np.column_stack((np.cos(angles), np.sin(angles)))
    return places


def _main_directions(square: Floats) -> Floats:
    """The two main directions of a symmetric matrix, by iteration from fixed ones.

    Where several are equally good, as in symmetric graphs, this always finds the same, other than a
    library's solver.
    """
    numbers = np.arange(1, len(square) + 1)
    ways = np.column_stack((np.cos(numbers), np.sin(1.7 * numbers)))
    for _ in range(ROUNDS):
        ways = square @ ways
        for column in range(2):
            for other in range(column):
                ways[:, column] -= ways[:, other] * (ways[:, other] @ ways[:, column])
            ways[:, column] /= max(float(np.linalg.norm(ways[:, column])), 1e-12)
    return ways


def _relaxed(places: Floats, pivots: Ints, steps: Floats, edges: Ints) -> Floats:
    """Less stress in each round: terms of edges, and of pivots for the nodes nearest to them."""
    count = len(places)
    region = np.bincount(np.argmin(steps, axis=0), minlength=len(pivots)).astype(np.float64)
    number, node = np.nonzero(steps > 0)
    one = np.concatenate((node, edges[:, 0], edges[:, 1]))
    two = np.concatenate((pivots[number], edges[:, 1], edges[:, 0]))
    wanted = np.concatenate((steps[number, node], np.ones(2 * len(edges))))
    weights = np.concatenate(
        (region[number] / steps[number, node] ** 2, np.full(2 * len(edges), 4.0))
    )
    total = np.bincount(one, weights=weights, minlength=count)
    for _ in range(ROUNDS):
        apart = places[one] - places[two]
        long = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-9)
        aim = places[two] + apart * (wanted / long)[:, None]
        mean = np.column_stack(
            [np.bincount(one, weights=weights * aim[:, axis], minlength=count) for axis in (0, 1)]
        )
        places = 0.3 * places + 0.7 * mean / total[:, None]
    return places
