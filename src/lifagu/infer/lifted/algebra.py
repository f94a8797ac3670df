"""Log tables of the lifted engine, in extended precision: a table's rounding error is multiplied by its power.

A table has one axis per argument slot; zero potentials are -inf, and 0·(-inf) is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints

Table = NDArray[np.longdouble]
_Logs = TypeVar("_Logs", bound=NDArray[Any])
NEGLIGIBLE = -100.0  # of logs beside larger ones


def log_sum(values: Table, axis: int | tuple[int, ...] | None = None) -> Table:
    """log Σ exp along axes; -inf where all are -inf. What is e^-100 of the largest is beyond all digits."""
    highest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0, highest)
    below = np.asarray(values - shift)
    powers = np.exp(below, out=np.zeros_like(below), where=below > NEGLIGIBLE)
    with np.errstate(divide="ignore"):
        total = np.log(powers.sum(axis=axis))
    return np.asarray(total + shift.reshape(total.shape))


def times(table: Table, count: Fraction) -> Table:
    """The table to the power of a count."""
    if not count:
        return np.zeros_like(table)
    return table * (np.longdouble(count.numerator) / np.longdouble(count.denominator))


def block_product(parts: Sequence[tuple[_Logs, tuple[int, ...]]], total: _Logs) -> _Logs:
    """The product of tables, each with the axis of the whole that each of its slots is, on top of what there is."""
    for table, axes in parts:
        moved = table.transpose(sorted(range(len(axes)), key=axes.__getitem__))
        total = total + moved.reshape([size if axis in axes else 1 for axis, size in enumerate(total.shape)])
    return total


def project(joint: Table, axes: Sequence[int]) -> Table:
    """Sum out everything but the given axes, and put those in the given order."""
    drop = tuple(axis for axis in range(joint.ndim) if axis not in axes)
    kept = [axis for axis in range(joint.ndim) if axis in axes]
    summed = log_sum(joint, axis=drop) if drop else joint
    return summed.transpose([kept.index(axis) for axis in axes])


def symmetric(table: Table, slots: Sequence[int]) -> bool:
    """Whether swapping any two of the slots leaves the table as it is."""
    return all(np.array_equal(table, np.swapaxes(table, first, second)) for first, second in pairwise(slots))


def swappable_slots(table: Table) -> tuple[int, ...]:
    """For each slot the first one it may be swapped with without changing the table."""
    first: list[int] = []
    for slot in range(table.ndim):
        alike = (each for each in range(slot) if table.shape[each] == table.shape[slot])
        first.append(next((first[each] for each in alike if symmetric(table, (each, slot))), slot))
    return tuple(first)


def histograms(members: int, size: int) -> Ints:
    """All ways to spread so many members over a range, as a matrix histograms × range size, lexicographic."""
    if size == 1:
        return np.array([[members]], dtype=np.int64)
    if size == 2:
        column = np.arange(members + 1)
        return np.column_stack((column, members - column))
    parts = []
    for here in range(members + 1):
        rest = histograms(members - here, size - 1)
        parts.append(np.column_stack((np.full(len(rest), here), rest)))
    return np.concatenate(parts)


@lru_cache(maxsize=4)
def log_integers(limit: int) -> Table:
    """log 0, log 1, …, log limit."""
    with np.errstate(divide="ignore"):
        return np.log(np.arange(limit + 1, dtype=np.longdouble))


@lru_cache(maxsize=4)
def log_factorials(limit: int) -> Table:
    """log 0!, log 1!, …, log limit!, as exact sums of logs."""
    return np.cumsum(np.maximum(log_integers(limit), 0))


def log_multinomial(counts: Ints) -> Table:
    """For each histogram the log of the number of assignments with it."""
    members = int(counts[0].sum())
    logs = log_factorials(members)
    return np.asarray(logs[members] - logs[counts].sum(axis=1))


def counted_table(parts: Sequence[Table], slots: tuple[int, ...], counts: Ints) -> Table:
    """The product of a symmetric table over all sets of members in its slots, as a table of (histogram, others).

    parts: tables whose sum it is. Each way to give values to the slots counts as often as there are sets of members
    with these values.
    """
    moved = [np.moveaxis(table, slots, range(len(slots))) for table in parts]
    total: Any = 0
    for values in combinations_with_replacement(range(counts.shape[1]), len(slots)):
        often = _sets(counts, values).astype(np.longdouble).reshape(-1, *(1,) * moved[0][values].ndim)
        for table in moved:
            total = total + powers(often, table[values])
    return np.asarray(total, dtype=np.longdouble)


def tied_table(table: Table, slot: int, tie: int, counts: Ints) -> Table:
    """Σ_b h_b · t[b, …] as a table on (h, others), where one slot of the table (tie) is h itself."""
    moved = np.moveaxis(table, (slot, tie), (0, 1))
    total: Table = np.zeros(moved.shape[1:], dtype=np.longdouble)
    for value in range(counts.shape[1]):
        total = total + powers(counts[:, value].reshape(-1, *(1,) * (total.ndim - 1)), moved[value])
    return total


def powers(often: NDArray[Any], table: Table) -> Table:
    """Tables to the power of counts; nothing, however impossible, to the power of 0 is 1."""
    if np.isfinite(table).all():
        return often * table
    with np.errstate(invalid="ignore"):
        return np.where(often == 0, 0, often * table)


def _sets(counts: Ints, values: tuple[int, ...]) -> NDArray[Any]:
    """For each histogram the number of sets of members that take exactly these values."""
    number: Any = np.ones(len(counts), dtype=object if counts.max(initial=0) > 10**5 and len(values) > 2 else np.int64)
    for value in set(values):
        need = values.count(value)
        column = counts[:, value]
        for step in range(need):
            number = number * np.maximum(column - step, 0)
        number = number // math.factorial(need)
    return np.asarray(number)


def log_member_shares(counts: Ints, slots: int) -> Table:
    """log P(given members have values a₁…aₘ | histogram): histograms × range size × … × range size."""
    members, size = int(counts[0].sum()), counts.shape[1]
    logs = log_integers(members)
    shares: Table = np.zeros((*(size,) * slots, len(counts)), dtype=np.longdouble)
    for values in product(range(size), repeat=slots):
        for step, value in enumerate(values):
            left = np.maximum(counts[:, value] - values[:step].count(value), 0)
            shares[values] += logs[left] - logs[members - step]
    return np.moveaxis(shares, -1, 0)
