"""Places whose distances resemble the numbers of steps between nodes: stress, majorised.

Small parts use all distances (Gansner, Koren and North 2004), large ones those to a few pivots and
along edges (Brandes and Pich 2007 for the start, Ortmann, Klimenta and Brandes 2016 for the sparse
terms). Nothing is random.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.drawing.layout.layered import Neighbours, distances

WHOLE = 300  # nodes up to which all distances are used
PIVOTS = 60
ROUNDS = 100


def stress_places(near: Neighbours, edges: Ints, length: float) -> Floats:
    """Places of a connected part, edges about `length` long.

    Cost: O(n² · rounds), for large ones O(n).
    """
    small = len(near) <= WHOLE
    pivots, steps = _pivots(near, len(near) if small else PIVOTS)
    places = _start(steps)
    if small:
        places = _majorised(places, steps[np.argsort(pivots)])
    else:
        places = _relaxed(places, pivots, steps, edges)
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


def _pivots(near: Neighbours, many: int) -> tuple[Ints, Floats]:
    """Nodes far from each other, and their distances to all nodes (pivots × nodes)."""
    chosen, rows = [0], [distances(near, 0)[0]]
    nearest = rows[0].copy()
    while len(chosen) < many:
        nearest[chosen[-1]] = -1
        chosen.append(int(np.argmax(nearest)))
        rows.append(distances(near, chosen[-1])[0])
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


def _majorised(places: Floats, wanted: Floats) -> Floats:
    """Least weighted squares of all distances: each round solves one system for another side."""
    weights = 1 / np.where(wanted > 0, wanted, np.inf) ** 2
    system = np.diag(weights.sum(axis=1)) - weights
    solve = np.linalg.pinv(system, hermitian=True)
    for _ in range(ROUNDS):
        apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
        pull = weights * wanted / np.where(apart > 1e-9, apart, np.inf)
        places = solve @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return places


def _relaxed(places: Floats, pivots: Ints, steps: Floats, edges: Ints) -> Floats:
    """The same with the terms of edges and of pivots, each standing for the nodes nearest."""
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
