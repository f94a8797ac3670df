"""Ranges of numbers: labels with the edges between them, so that a number finds its label.

An edge belongs to the bin below it: bin i holds what is greater than edge i-1 and at most edge i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import ModelError

WHOLE = "any"  # the label of the only bin
_DIGITS = 3  # significant ones in labels, if these tell edges apart


class BinLabels(tuple[str, ...]):
    """Labels of bins, an ordinary tuple that knows the edges between them, one fewer, ascending.

    >>> ages = BinLabels.of([60, 72.5])
    >>> ages, ages.places(np.array([60.0, 61, 99, -np.inf])).tolist()
    (('up to 60', '60–72.5', 'over 72.5'), [0, 1, 2, 0])
    """

    edges: tuple[float, ...]

    def __new__(cls, labels: Iterable[str], edges: Sequence[float]) -> BinLabels:
        """From labels and the edges between them."""
        made = super().__new__(cls, labels)
        made.edges = tuple(float(each) + 0.0 for each in edges)
        if not all(map(np.isfinite, made.edges)) or list(made.edges) != sorted(set(made.edges)):
            raise ModelError("edges of bins are finite numbers, each greater than the one before")
        if len(made) != len(made.edges) + 1:
            raise ModelError(
                f"{len(made.edges)} edges part {len(made.edges) + 1} bins, but there are "
                f"{len(made)} labels; give a label for each bin"
            )
        return made

    @classmethod
    def of(cls, edges: Sequence[float], digits: int = _DIGITS) -> BinLabels:
        """Bins between edges, with labels that show them to so many digits, or more if needed."""
        return cls(_labels([float(each) for each in edges], digits), edges)

    @property
    def exact(self) -> BinLabels:
        """The same bins with labels that show all digits of the edges."""
        return BinLabels.of(self.edges, 17)

    def __getnewargs__(self) -> Any:
        return tuple(self), self.edges

    def places(self, numbers: Floats) -> Ints:
        """The bin of each number; an edge belongs to the bin below it."""
        return np.searchsorted(np.array(self.edges), numbers, side="left").astype(np.int64)

    def place(self, value: Any) -> int | None:
        """The bin of a number, or of a text that is one; None for anything else."""
        number = number_of(value)
        return None if number is None else int(self.places(np.array([number]))[0])


def number_of(value: Any) -> float | None:
    """A number, or the number that a text is; None for anything else, and for NaN.

    >>> number_of(" 65.5 "), number_of(7), number_of("-inf"), number_of("> 89"), number_of("1_0")
    (65.5, 7.0, -inf, None, None)
    """
    if isinstance(value, str) and "_" in value:
        return None
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if np.isnan(number) else number


def quantile_edges(numbers: Floats, bins: int) -> tuple[float, ...]:
    """Edges between so many bins of about equally many numbers; ties make fewer bins.

    Edge k is the smallest number that at least k/bins of all are not greater than; none where no
    number is greater. Infinite numbers belong to the outer bins, whatever the edges.

    >>> quantile_edges(np.array([1.0, 2, 3, 4, 5, 6]), 3), quantile_edges(np.full(9, 65.0), 4)
    ((2.0, 4.0), ())
    """
    ordered = np.sort(numbers[np.isfinite(numbers)])
    if not len(ordered):
        return ()
    ranks = -(-np.arange(1, bins) * len(ordered) // bins)
    edges = np.unique(ordered[ranks - 1] + 0.0)
    return tuple(edges[edges < ordered[-1]].tolist())


def finer_edges(numbers: Floats, edges: Sequence[float], bins: int) -> tuple[float, ...]:
    """Edges that part each bin between edges into so many; ties make fewer.

    >>> finer_edges(np.array([1.0, 2, 3, 4, 7, 8, 9]), [4.0], 2)
    (2.0, 4.0, 8.0)
    """
    found = set(edges)
    for low, high in pairwise([-np.inf, *edges, np.inf]):
        found |= set(quantile_edges(numbers[(numbers > low) & (numbers <= high)], bins))
    return tuple(sorted(found))


def _labels(edges: list[float], digits: int) -> list[str]:
    texts = [_text(each, digits) for each in edges]
    while len(set(texts)) < len(texts) and digits < 17:
        digits += 1
        texts = [_text(each, digits) for each in edges]
    if not edges:
        return [WHOLE]
    between = [
        f"{low} to {high}" if "-" in low + high else f"{low}–{high}"
        for low, high in pairwise(texts)
    ]
    return [f"up to {texts[0]}", *between, f"over {texts[-1]}"]


def _text(number: float, digits: int) -> str:
    """A number as it reads in a label; what stands before the point is never rounded away.

    >>> _text(71.6333, 3), _text(123456.7, 3), _text(0.00012345, 3), _text(60.0, 3)
    ('71.6', '123457', '0.000123', '60')
    """
    number += 0.0
    if 10**digits <= abs(number) < 1e15:
        return str(round(number))
    return repr(number) if digits >= 17 else f"{number:.{digits}g}"
