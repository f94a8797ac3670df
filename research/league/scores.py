"""Scores of predicted cells: log loss, accuracy, calibration, and differences with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-4  # no probability counts as less, whoever told it
BINS = 15  # of the top probability, for calibration
DRAWS = 2_000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def clipped_losses(probabilities: Floats, truth: Ints) -> Floats:
    """The log loss of each cell in nats, its distribution clipped and renormalised."""
    clipped = np.maximum(probabilities, LEAST)
    return -np.log(clipped[np.arange(len(truth)), truth] / clipped.sum(1))


def hits(probabilities: Floats, truth: Ints) -> NDArray[np.bool_]:
    """Whether each cell's most probable label is the true one, of equals the first."""
    right: NDArray[np.bool_] = probabilities.argmax(1) == truth
    return right


def calibration_error(tops: Floats, right: NDArray[np.bool_]) -> float:
    """Σ over bins of the top probability of (share of cells) × |accuracy − mean probability|."""
    place = np.minimum((tops * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(place, right, BINS) - np.bincount(place, tops, BINS)
    return float(np.abs(gaps).sum() / len(tops))


def interval(differences: Floats, whose: Sequence[str], seed: int = 0) -> tuple[float, float]:
    """Where the mean difference lies with 95 %, drawing individuals with all their cells anew."""
    number = np.unique(np.array(whose), return_inverse=True)[1]
    sums, counts = np.bincount(number, differences), np.bincount(number)
    draw, means = np.random.default_rng(seed), []
    for _ in range(DRAWS):
        weights = np.bincount(draw.integers(len(sums), size=len(sums)), minlength=len(sums))
        means.append(float(weights @ sums / (weights @ counts)))
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
