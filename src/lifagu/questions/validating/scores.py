"""Scores of predictions: log loss, accuracy, calibration, each with its standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints

CLIP = 1e-4  # no label is taken to be less probable than this
BINS = 15  # of the top probability, equally wide
Flags = NDArray[np.bool_]


class Mean(NamedTuple):
    """A mean, and its standard error; None where there is nothing, or only one, to average."""

    value: float | None
    error: float | None


def mean(values: NDArray[Any]) -> Mean:
    """The mean of some numbers or truth values.

    >>> mean(np.array([1.0, 3.0]))
    Mean(value=2.0, error=1.0)
    """
    if not len(values):
        return Mean(None, None)
    numbers = values.astype(np.float64)
    error = float(numbers.std(ddof=1) / np.sqrt(len(numbers))) if len(numbers) > 1 else None
    return Mean(float(numbers.mean()), error)


def log_losses(probabilities: Floats, sizes: Ints, truth: Ints) -> Floats:
    """-log of what each true label was given, in nats, clipped and renormalised.

    probabilities[n×k]: padded with 0 from sizes[n] on; truth[n]: places of labels.

    >>> log_losses(np.array([[1.0, 0.0, 0.0]]), np.array([2]), np.array([1])).round(4).tolist()
    [9.2104]
    """
    labels = np.arange(probabilities.shape[1]) < sizes[:, None]
    given = np.where(labels, np.maximum(probabilities, CLIP), 0.0)
    chosen = np.take_along_axis(given, truth[:, None], axis=1)[:, 0]
    return np.asarray(np.log(given.sum(axis=1)) - np.log(chosen))


class Bin(NamedTuple):
    """Predictions of about one certainty: what was stated, how often that was right, how many."""

    stated: float
    right: float
    many: int
    error: float | None


def reliability(stated: Floats, right: Flags) -> list[Bin]:
    """The bins of stated probabilities that hold anything, from the least to the most certain.

    >>> reliability(np.array([0.5, 0.52, 1.0]), np.array([True, False, True]))[1]
    Bin(stated=1.0, right=1.0, many=1, error=None)
    """
    place = np.minimum((stated * BINS).astype(np.int64), BINS - 1)
    found = []
    for number in np.unique(place).tolist():
        here = place == number
        share = mean(right[here])
        found.append(
            Bin(float(stated[here].mean()), share.value or 0.0, int(here.sum()), share.error)
        )
    return found


def calibration_error(bins: list[Bin]) -> float | None:
    """How far stated probabilities are from how often they were right, weighted by number."""
    total = sum(each.many for each in bins)
    if not total:
        return None
    return sum(each.many * abs(each.right - each.stated) for each in bins) / total


@dataclass(frozen=True, eq=False)
class CellScores:
    """What n predictions are worth, cell by cell.

    losses[n] in nats; right[n]: whether the most probable label was the true one; top[n]: how
    probable that was said to be.
    """

    losses: Floats
    right: Flags
    top: Floats

    @classmethod
    def of(cls, probabilities: Floats, sizes: Ints, truth: Ints) -> CellScores:
        """From padded distributions; of equally probable labels the one declared first counts."""
        return cls(
            log_losses(probabilities, sizes, truth),
            probabilities.argmax(axis=1) == truth,
            probabilities.max(axis=1, initial=0.0),
        )

    def __len__(self) -> int:
        return len(self.losses)

    def only(self, wanted: Flags) -> CellScores:
        """The scores of some cells."""
        return CellScores(self.losses[wanted], self.right[wanted], self.top[wanted])

    @property
    def log_loss(self) -> Mean:
        """Mean log loss."""
        return mean(self.losses)

    @property
    def accuracy(self) -> Mean:
        """Share of cells whose most probable label was the true one."""
        return mean(self.right)

    @property
    def bins(self) -> list[Bin]:
        """Stated certainty beside how often it was right."""
        return reliability(self.top, self.right)
