"""Made-up stays of the shape of those in intensive care: no data is needed.

Thirteen columns of two to 25 values, tied pair by pair, three more that are always known, and for
each column a table of the stay's hospital, one of 186: rows of one sort with their own tables. A
quarter of the cells is not known, more in a few stays, so that each stay has other gaps, of up to
ten of its thirteen cells.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

from research.bench.own_models import Floats, Known, Model, Rows, Tie, drawn, looked_at, spread

SIZES = (5, 2, 6, 8, 13, 4, 13, 25, 4, 4, 4, 15, 2, 4, 4, 2)
HIDDEN, ALWAYS = 13, 3  # columns that may be hidden, and those that are always known
WIDTH = len(SIZES)
PAIRS = tuple(pair for pair in combinations(range(WIDTH), 2) if pair[0] < HIDDEN)
HOSPITALS = 186
MOST_STATES = 200_000  # of a stay whose marginals are checked


@cache
def tables() -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """One table for each pair; for each column that may be hidden one of each hospital."""
    random = np.random.default_rng(0)
    pairs = [drawn(random, SIZES[one], SIZES[other], strength=0.3) for one, other in PAIRS]
    own = [drawn(random, HOSPITALS, SIZES[column], strength=0.7) for column in range(HIDDEN)]
    return tuple(pairs), tuple(own)


@cache
def observed(count: int) -> tuple[Rows, Rows]:
    """What is seen of so many stays, -1 where nothing is, and the hospital of each."""
    random = np.random.default_rng(1)
    values = random.integers(0, SIZES, (count, WIDTH))
    careless = 0.6 * random.beta(0.5, 3.0, size=(count, 1))  # few stays miss much
    lost = random.random((count, WIDTH)) < np.maximum(careless, 0.24)
    lost[:, HIDDEN:] = False
    return np.where(lost, -1, values), random.integers(0, HOSPITALS, count)


def model(count: int) -> Model:
    """So many stays; variable x(16 s + c) is column c of stay s."""
    variables = np.arange(count * WIDTH).reshape(count, WIDTH)
    seen, hospital = observed(count)
    pairs, own = tables()
    ties = [
        Tie(variables[:, list(pair)], table[None]) for pair, table in zip(PAIRS, pairs, strict=True)
    ]
    ties += [
        Tie(variables[:, [column]], of_hospital[hospital]) for column, of_hospital in enumerate(own)
    ]
    return Model(np.tile(SIZES, count), tuple(ties), seen.reshape(-1))


def known(count: int) -> Known:
    """The marginals of some stays, by visiting all their states."""
    seen, hospital = observed(count)
    states = np.where(seen < 0, SIZES, 1).astype(np.float64).prod(1)
    possible = np.flatnonzero((states <= MOST_STATES) & (states > 1))
    marginals: dict[int, Floats] = {}
    for place in looked_at(len(possible)):
        stay = int(possible[place])
        weights = _states(seen[stay], int(hospital[stay]))
        for column in np.flatnonzero(seen[stay] < 0).tolist():
            others = tuple(each for each in range(WIDTH) if each != column)
            marginals[WIDTH * stay + column] = weights.sum(others)
    return Known(None, None, marginals)


def _states(seen: Rows, hospital: int) -> Floats:
    """The probabilities of all states of a stay: an axis for each column, of length 1 if seen."""
    left = [slice(None) if value < 0 else slice(value, value + 1) for value in seen.tolist()]
    logs = np.zeros([1] * (WIDTH + 1))
    pairs, own = tables()
    for (one, other), table in zip(PAIRS, pairs, strict=True):
        part = np.log(table[left[one], left[other]])[None]
        logs = logs + spread(part, [1 + one, 1 + other], WIDTH + 1)
    for column, of_hospital in enumerate(own):
        part = np.log(of_hospital[hospital][left[column]])[None]
        logs = logs + spread(part, [1 + column], WIDTH + 1)
    weights: Floats = np.exp(logs[0] - logs.max())
    return np.asarray(weights / weights.sum())
