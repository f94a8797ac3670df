"""Log tables in extended precision, with bounds on errors, which a table's power multiplies.

A table has one axis per argument slot; zero potentials are -inf, and 0·(-inf) is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.longdouble]
_Logs = TypeVar("_Logs", bound=NDArray[Any])
UNIT = float(np.finfo(np.longdouble).eps) / 2  # largest relative error of one operation
NEGLIGIBLE = -100.0  # of logs beside larger ones
LARGE = 2**10  # entries of tables that are looked at in a corner before they are compared
CORNER = 4  # axes of that corner
_STIRLING = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))
_SMALL_FACTORIALS = 64  # below it the series has too few digits


def span(values: NDArray[Any]) -> float:
    """The largest finite entry by absolute value."""
    lowest, highest = values.min(initial=0), values.max(initial=0)
    if lowest == -np.inf:
        lowest = values.min(where=values > -np.inf, initial=0)
    return float(max(-lowest, highest))


def log_sum(values: Table, axis: int | tuple[int, ...] | None = None) -> Table:
    """log Σ exp along axes; -inf where all are. What is e^-100 of the largest is beyond digits."""
    if axis == ():
        return values
    highest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0, highest)
    below = np.asarray(values - shift)
    if values.dtype == np.longdouble:
        powers = np.exp(below, out=np.zeros_like(below), where=below > NEGLIGIBLE)
    else:
        powers = np.exp(below, out=below)
    with np.errstate(divide="ignore"):
        total = np.log(powers.sum(axis=axis))
    return np.asarray(total + shift.reshape(total.shape))


def log_sum_error(terms: int, result: Table) -> float:
    """A bound on what `log_sum` of so many terms adds to the errors of its terms.

    A term below the largest by d is off by d units, its share of the sum e^-d relatively by as
    much: d·e^-d < 1 unit each. Adding n positive terms is off by n units; the log of the sum is
    rounded, as is putting the largest back.
    """
    return (2 * terms + 4 + 2 * span(result)) * UNIT


def block_product(parts: Sequence[tuple[_Logs, tuple[int, ...]]], total: _Logs) -> _Logs:
    """The product of tables, each with the axis that each slot is, on top of what there is."""
    for table, axes in parts:
        total = total + spread_axes(table, axes, total.shape)
    return total


def spread_axes(table: NDArray[Any], axes: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """A table as seen from a whole: axes in its order, those that the table lacks of size one."""
    moved = table.transpose(sorted(range(len(axes)), key=axes.__getitem__))
    return moved.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])


def near(one: Table, other: Table, tolerance: float) -> bool:
    """Whether two tables have the same zeros and differ nowhere by more than a tolerance."""
    if one.size > LARGE:  # most that differ do so in the first corner
        corner = tuple(slice(0, 2 if axis < CORNER else 1) for axis in range(one.ndim))
        if not _near(one[corner], other[corner], tolerance):
            return False
    return _near(one, other, tolerance)


def _near(one: Table, other: Table, tolerance: float) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(((one == other) | (np.abs(one - other) <= tolerance)).all())


def symmetric(table: Table, slots: Sequence[int], tolerance: float = 0.0) -> bool:
    """Whether swapping any two of the slots leaves the table as it is, up to a tolerance."""
    return all(
        near(table, np.swapaxes(table, first, second), tolerance)
        for first, second in pairwise(slots)
    )


def swappable_slots(table: Table, tolerance: float = 0.0) -> tuple[int, ...]:
    """For each slot the first one it may be swapped with without changing the table."""
    first: list[int] = []
    for slot in range(table.ndim):
        alike = (each for each in range(slot) if table.shape[each] == table.shape[slot])
        first.append(
            next((first[each] for each in alike if symmetric(table, (each, slot), tolerance)), slot)
        )
    return tuple(first)


def powers(often: NDArray[Any], table: Table) -> Table:
    """Tables to the power of counts; nothing, however impossible, to the power of 0 is 1."""
    if np.isfinite(table).all():
        return often * table
    with np.errstate(invalid="ignore"):
        return np.where(often == 0, 0, often * table)


# ---- factorials and shares


@lru_cache(maxsize=4)
def log_integers(limit: int) -> Table:
    """log 0, log 1, …, log limit."""
    with np.errstate(divide="ignore"):
        return np.log(np.arange(limit + 1, dtype=np.longdouble))


@lru_cache(maxsize=4)
def log_factorials(limit: int) -> Table:
    """log 0!, …, log limit!: sums first, then Stirling's series, so that errors don't add up."""
    logs = np.cumsum(np.maximum(log_integers(min(limit, _SMALL_FACTORIALS)), 0))
    if limit <= _SMALL_FACTORIALS:
        return logs
    n = np.arange(_SMALL_FACTORIALS + 1, limit + 1, dtype=np.longdouble)
    half, two_pi = np.longdouble(1) / 2, 2 * np.arccos(np.longdouble(-1))
    series, power = np.zeros_like(n), 1 / n
    for term in _STIRLING:
        series += np.longdouble(term[0]) / term[1] * power
        power = power / n / n
    return np.concatenate((logs, (n + half) * np.log(n) - n + half * np.log(two_pi) + series))


def log_multinomial(counts: NDArray[Any]) -> Table:
    """For each histogram the log of the number of assignments with it."""
    if counts.shape[1] == 1:
        return np.zeros(len(counts), dtype=np.longdouble)
    members = int(counts[0].sum())
    logs = log_factorials(members)
    return np.asarray(logs[members] - logs[counts].sum(axis=1))


def multinomial_error(counts: NDArray[Any]) -> float:
    """A bound on the errors of `log_multinomial`: a few units of the largest factorial each."""
    members, size = int(counts[0].sum()), counts.shape[1]
    return 0.0 if size == 1 else 8 * (size + 1) * UNIT * float(log_factorials(members)[members])


def log_member_shares(counts: NDArray[Any], slots: int) -> Table:
    """log P(given members have values a₁…aₘ | histogram): histograms × range size × …."""
    members, size = int(counts[0].sum()), counts.shape[1]
    if size == 1:
        return np.zeros((len(counts), *(1,) * slots), dtype=np.longdouble)
    logs = log_integers(members)
    shares: Table = np.zeros((*(size,) * slots, len(counts)), dtype=np.longdouble)
    for values in product(range(size), repeat=slots):
        for step, value in enumerate(values):
            left = np.maximum(counts[:, value] - values[:step].count(value), 0)
            shares[values] += logs[left] - logs[members - step]
    return np.moveaxis(shares, -1, 0)
