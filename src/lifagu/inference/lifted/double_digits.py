"""Log tables in two parts, main + rest, with twice the digits: for sums too large for one.

The error-free transformations of Knuth and Dekker; zeros (-inf) are in the main part alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.inference.lifted.logs import Table

_SPLIT = np.longdouble(2) ** 32 + 1  # splits a number of 64 binary digits in two halves


@dataclass(frozen=True, eq=False)
class Twofold:
    """The sum of two tables, the second below the last digit of the first."""

    main: Table
    rest: Table

    def changed(self, change: Callable[[Table], Table]) -> Twofold:
        """The same with entries moved or repeated."""
        return Twofold(change(self.main), change(self.rest))

    def plus(self, other: Twofold) -> Twofold:
        """The sum; -inf where one of them is."""
        main, error = _two_sum(self.main, other.main)
        return _renormalised(main, error + (self.rest + other.rest))

    def minus(self, other: Twofold) -> Twofold:
        """The difference; the other has no zeros."""
        return self.plus(Twofold(-other.main, -other.rest))

    def times(self, often: Twofold) -> Twofold:
        """The product with finite counts; anything to the power of 0 is 1, so 0·(-inf) is 0."""
        finite = np.isfinite(self.main)
        own = np.where(finite, self.main, 0)
        main, error = _two_product(own, often.main)
        found = _renormalised(main, error + (own * often.rest + self.rest * often.main))
        impossible = ~finite & (often.main != 0)
        return Twofold(
            np.where(impossible, -np.inf, found.main), np.where(impossible, 0, found.rest)
        )


def whole(numbers: NDArray[Any]) -> Twofold:
    """Whole numbers in two parts."""
    main = numbers.astype(np.longdouble)
    if numbers.dtype != object:
        return Twofold(main, np.zeros_like(main))
    left = [
        number - int(part)
        for number, part in zip(numbers.reshape(-1).tolist(), main.reshape(-1), strict=True)
    ]
    return Twofold(main, np.array(left, dtype=object).astype(np.longdouble).reshape(main.shape))


def _two_sum(one: Table, other: Table) -> tuple[Table, Table]:
    """The rounded sum, and exactly what rounding left out."""
    total = one + other
    with np.errstate(invalid="ignore"):
        part = total - one
        error = (one - (total - part)) + (other - part)
    return total, np.where(np.isfinite(total), error, 0)


def _two_product(one: Table, other: Table) -> tuple[Table, Table]:
    """The rounded product of finite numbers, and exactly what rounding left out."""
    total = one * other
    high, low = _halves(one)
    other_high, other_low = _halves(other)
    return total, low * other_low - (
        ((total - high * other_high) - low * other_high) - high * other_low
    )


def _halves(number: Table) -> tuple[Table, Table]:
    scaled = _SPLIT * number
    high = scaled - (scaled - number)
    return high, number - high


def _renormalised(main: Table, rest: Table) -> Twofold:
    """The same sum with the rest below the last digit of the main part."""
    total, error = _two_sum(main, np.where(np.isfinite(main), rest, 0))
    return Twofold(np.asarray(total), np.asarray(error))
