"""Many log tables of one shape at once, along the last axis: for rows with tables of their own.

Sums and products are done for all of them by one array operation, in extended precision or, where
there are many, in double precision, with a bound on the errors of each. Work is done in pieces that
fit a processor's cache, on two threads; the pieces do not depend on the number of threads, and so
neither do the results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, group_rows_bitwise, offsets_of
from lifagu.inference.lifted.careful_table import Digits, Made
from lifagu.inference.lifted.logs import UNIT, Table, log_sum, spread_axes

PIECE = 2**17  # entries that are worked on at a time
LONG_SUM = 16  # terms from which on sums are added up in extended precision
MANY = 64  # tables on few rows each from which on double precision does
Axes = tuple[int, ...]
Precision = type[np.float64] | type[np.longdouble]


def _unknown(place: int) -> Digits | None:
    return None


@dataclass(frozen=True, eq=False)
class Stack:
    """Tables along the last axis, none of which leaves anything out; their errors and spans.

    digits: how each is computed to 50 digits, where that is known.
    """

    values: Table
    error: Floats
    span: Floats
    digits: Callable[[int], Digits | None] = _unknown

    def __len__(self) -> int:
        return len(self.error)

    def made(self, place: int) -> Made:
        """One of the tables."""
        values = self.values[..., place].astype(np.longdouble)
        return Made(values, float(self.error[place]), None, self.digits(place))

    def some(self, places: Ints) -> Stack:
        """Some of the tables."""
        stack = Stack(self.values[..., places], self.error[places], self.span[places])
        if self.digits is _unknown:
            return stack
        return replace(stack, digits=lambda place: self.digits(int(places[place])))

    @property
    def equal(self) -> Ints:
        """Tables that are equal bit by bit, numbered alike."""
        values = self.values.reshape(-1, self.values.shape[-1]).T
        coarse = values.astype(np.float64)
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num((values - coarse).astype(np.float64))
        return group_rows_bitwise(np.hstack((coarse, rest)))


# tables: label, order in which to take its axes, how often
Sum = tuple[tuple[int, Axes, Fraction], ...]


@dataclass(frozen=True, eq=False)
class Sums:
    """Tables made of others: the terms from starts[i] up to starts[i + 1] are summed for table i.

    labels, orders, often: of each term its table, the order in which to take the axes, and how
    often it counts.
    """

    starts: Ints
    labels: Ints
    orders: Ints
    often: NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def terms(self, place: int) -> Sum:
        """The terms of one table."""
        terms = range(self.starts[place], self.starts[place + 1])
        return tuple(
            (int(self.labels[t]), tuple(self.orders[t].tolist()), Fraction(self.often[t]))
            for t in terms
        )

    def some(self, places: Ints) -> Sums:
        """Some of the tables."""
        lengths = np.diff(self.starts)[places]
        starts = offsets_of(lengths)
        terms = np.repeat(self.starts[places] - starts[:-1], lengths) + np.arange(starts[-1])
        return Sums(starts, self.labels[terms], self.orders[terms], self.often[terms])


def stack_of(entry: Made | Stack) -> Stack:
    """One table as a stack; a stack as it is."""
    if isinstance(entry, Stack):
        return entry
    return Stack(entry.values[..., None], np.array([entry.rough_error]), np.array([entry.span]))


def precision(many: NDArray[Any]) -> Precision:
    """The precision of tables on so many rows each: an error counts as often as there are rows."""
    return np.float64 if len(many) > MANY and many.max() <= MANY else np.longdouble


def unit(values: NDArray[np.floating]) -> float:
    """The largest relative error of one operation."""
    return UNIT if values.dtype == np.longdouble else 2.0**-53


def spans(values: Table) -> Floats:
    """The largest finite entry of each table by absolute value."""
    flat = values.reshape(-1, values.shape[-1])
    lowest, highest = flat.min(axis=0, initial=0), flat.max(axis=0, initial=0)
    if np.isneginf(lowest).any():
        lowest = flat.min(axis=0, initial=0, where=flat > -np.inf)
    return np.asarray(np.maximum(-lowest, highest), dtype=np.float64)


def without_tops(values: Table, error: Floats) -> tuple[Stack, Table]:
    """Tables without their largest entries, and these; one that is all zero stays as it is."""
    top = values.reshape(-1, values.shape[-1]).max(axis=0, initial=-np.inf)
    below = values - np.where(np.isneginf(top), 0, top)
    sizes = spans(below)
    return Stack(below, error + unit(values) * sizes, sizes), top


def stacked(
    shape: Axes,
    many: int,
    precision: Precision,
    compute: Callable[[int, int], tuple[Table, Floats]],
    entries: int,
    digits: Callable[[int], Digits | None] = _unknown,
) -> tuple[Stack, Table]:
    """Tables computed piece by piece: without their largest entries, and these.

    compute(start, stop) gives the tables of a piece, with bounds on their errors, by working on so
    many entries each.
    """
    values: Table = np.empty((*shape, many), dtype=precision)
    top: Table = np.empty(many, dtype=precision)
    error, span = np.empty(many), np.empty(many)

    def piece(start: int, stop: int) -> None:
        found, top[start:stop] = without_tops(*compute(start, stop))
        values[..., start:stop] = found.values
        error[start:stop], span[start:stop] = found.error, found.span

    in_pieces(many, entries, piece)
    return Stack(values, error, span, digits), top


def product(parts: Sequence[tuple[Stack, Axes]], sizes: Axes, precision: Precision) -> Table:
    """The product of stacks, each with the axis that each slot is. sizes: of these axes."""
    shape = (*sizes, len(parts[0][0]) if parts else 1)
    total: Table = np.zeros(shape, dtype=precision)
    for stack, axes in parts:
        spread = spread_axes(stack.values, (*axes, len(sizes)), shape)
        total += spread.astype(precision, copy=False)
    return total


def projections(joint: Table, axes: Axes) -> Table:
    """Of each table everything but the given axes summed out, and these in the given order."""
    drop = tuple(axis for axis in range(joint.ndim - 1) if axis not in axes)
    kept = [axis for axis in range(joint.ndim - 1) if axis in axes]
    return log_sum(joint, drop).transpose(*(kept.index(axis) for axis in axes), len(axes))


def summed_out(
    parts: Sequence[tuple[Stack, Axes]],
    sizes: Axes,
    together: int,
    maximise: bool,
    precision: Precision,
) -> tuple[Table, Floats]:
    """Products with their first axes summed out, and bounds on their errors."""
    whole = product(parts, sizes, precision)
    first, own = tuple(range(together)), unit(whole)
    result = whole.max(axis=first) if maximise else log_sum(whole, first)
    nothing = np.zeros(whole.shape[-1])
    error = (len(parts) + 1) * own * sum((stack.span for stack, _ in parts), nothing)
    error = error + sum((stack.error for stack, _ in parts), nothing)
    if not maximise:
        terms = int(np.prod(sizes[:together], dtype=np.int64))
        error += (2 * terms + 4 + 2 * spans(result)) * own
    return result, error


def added_up(values: Table, often: Floats, starts: Ints) -> Table:
    """Sums of tables to powers: those from each start on, up to the next."""
    lengths = np.diff(starts)
    if int(lengths.max(initial=0)) > LONG_SUM:
        values = values.astype(np.longdouble, copy=False)
    if (often != 1).any():
        values = values * often
    if int(lengths.max(initial=0)) <= PIECE // 64:
        return np.add.reduceat(values, starts[:-1], axis=-1)
    every = [values[..., start:stop].sum(axis=-1) for start, stop in pairwise(starts)]
    return np.stack(every, axis=-1)


def in_pieces(many: int, entries: int, work: Callable[[int, int], None]) -> None:
    """Call work(start, stop) for pieces of so many places with so many entries each."""
    step = max(1, PIECE // max(entries, 1))
    bounds = [(start, min(start + step, many)) for start in range(0, many, step)]
    if len(bounds) < 4 or (os.cpu_count() or 1) < 2:
        for start, stop in bounds:
            work(start, stop)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda piece: work(*piece), bounds))


def near(one: Table, other: Table, tolerance: Floats) -> NDArray[np.bool_]:
    """Which pairs of tables have the same zeros and differ nowhere by more than a tolerance."""
    with np.errstate(invalid="ignore"):
        alike = (one == other) | (np.abs(one - other) <= tolerance)
    return np.asarray(alike.reshape(-1, alike.shape[-1]).all(axis=0))


def swappable_slots(stack: Stack) -> Ints:
    """For each table and slot the first slot it may be swapped with, up to the table's errors."""
    arity = stack.values.ndim - 1
    first = np.tile(np.arange(arity), (len(stack), 1))
    for slot in range(arity):
        for each in reversed(range(slot)):
            if stack.values.shape[each] == stack.values.shape[slot]:
                alike = near(stack.values, np.swapaxes(stack.values, each, slot), 2 * stack.error)
                first[alike, slot] = first[alike, each]
    return first
