"""Scores of predicted cells: log loss, accuracy, calibration, and differences with an interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from research.harness import Floats

LEAST = 1e-4  # no probability counts as less, whoever told it
BINS = 15  # of the top probability, for calibration
DRAWS = 2_000
Ints = NDArray[np.int64]


def clipped_losses(probabilities: Floats, truth: Ints) -> Floats:
    """The log loss of each cell in nats, its distribution clipped and renormalised."""
    clipped = np.maximum(probabilities, LEAST)
    return -np.log(clipped[np.arange(len(truth)), truth] / clipped.sum(1))


def hits(probabilities: Floats, truth: Ints) -> NDArray[np.bool_]:
    """Whether each cell's most probable label is the true one, of equals the first."""
    right: NDArray[np.bool_] = probabilities.argmax(1) == truth
    return right


def calibration_error(bins: Floats) -> float:
    """Σ over bins of the top probability of (share of cells) × |accuracy − mean probability|.

    bins: of each how many cells, the sum of their top probabilities, how many of them are right.

    >>> calibration_error(np.array([[2.0, 1.0, 2.0], [2.0, 1.5, 1.5]]))
    0.25
    """
    return float(np.abs(bins[:, 2] - bins[:, 1]).sum() / bins[:, 0].sum())


def interval(sums: Floats, cells: Ints, groups: Ints, seed: int = 0) -> tuple[float, float]:
    """Where a mean over cells lies with 95 %, drawing groups of individuals anew."""
    number = np.unique(groups, return_inverse=True)[1]
    total, count = np.bincount(number, sums), np.bincount(number, cells)
    drawn = np.random.default_rng(seed).integers(len(total), size=(DRAWS, len(total)))
    low, high = np.quantile(total[drawn].sum(1) / count[drawn].sum(1), (0.025, 0.975))
    return float(low), float(high)
