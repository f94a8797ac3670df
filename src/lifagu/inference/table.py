"""Algebra of tables: the only file that knows axes.

A `Table` holds plain numbers together with bounds on their logs. As long as the bounds of all
tables in a product add up to something that floating point can hold without a loss, products and
sums are computed as they are written, which is several times faster than in log space. Where they
do not, maxima are moved into a number of their own; and where the numbers of one table are too far
apart even for that, this one step is done in log space. Nothing that is not zero ever becomes zero,
and no operation returns nan.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats

SAFE = 600.0  # |log| up to which numbers are kept as they are; floats reach to 708
FEW = 2**12  # entries up to which one product of many tables costs less than several of two
TOGETHER = 16  # tables multiplied at once
RUN = 64  # entries next to one another from which on the inner loop is what costs
LONG = 16 * RUN  # entries from which on the layout matters
ALONE = 8  # entries of an inner loop over what only one of two tables has
SINGLES = 2**14  # entries times values up to which all sums over all but one axis are done at once
ROUNDING = 1e-9  # by which measured bounds are widened

LogTable = tuple[tuple[int, ...], Floats]  # ranks, and log potentials with one axis for each


class Table(NamedTuple):
    """Potentials with one axis per rank; what is not zero lies between exp(low) and exp(high).

    logs: the values are logs (-inf for zero), as they are further apart than floats allow.
    """

    ranks: tuple[int, ...]
    values: Floats
    low: float
    high: float
    logs: bool = False


def from_potentials(ranks: tuple[int, ...], values: Floats, low: float, high: float) -> Table:
    """A table of potentials, given bounds on the logs of those that are not zero."""
    if high == -math.inf:
        return Table(ranks, values, 0.0, 0.0)
    table = Table(ranks, values, low, high)
    if low >= -SAFE and high <= SAFE:
        return table
    return Table(ranks, log_values(table), -math.inf, math.inf, True)


def from_logs(ranks: Sequence[tuple[int, ...]], logs: Sequence[Floats]) -> list[Table]:
    """Tables of log potentials, without axes of size one. Cost: linear in the entries."""
    if not logs:
        return []
    flat = np.concatenate([each.reshape(-1) for each in logs], dtype=np.float64)
    starts = np.cumsum([0, *(each.size for each in logs)])
    highest = np.maximum.reduceat(flat, starts[:-1])
    lowest = np.minimum.reduceat(np.where(flat == -np.inf, np.inf, flat), starts[:-1])
    plain = (lowest >= -SAFE) & (highest <= SAFE)
    numbers = np.exp(np.minimum(flat, SAFE, out=flat) if not plain.all() else flat)
    tables = []
    bounds = zip(lowest.tolist(), highest.tolist(), starts[1:].tolist(), strict=True)
    for place, (low, high, stop) in enumerate(bounds):
        log, on = logs[place], ranks[place]
        if 1 in log.shape:
            on = tuple(rank for rank, size in zip(on, log.shape, strict=True) if size > 1)
            log = log.reshape([size for size in log.shape if size > 1])
        if high == -math.inf:
            tables.append(Table(on, np.zeros(log.shape), 0.0, 0.0))
        elif plain[place]:
            tables.append(Table(on, numbers[stop - log.size : stop].reshape(log.shape), low, high))
        else:
            tables.append(Table(on, log, -math.inf, math.inf, True))
    return tables


def ones(ranks: tuple[int, ...], sizes: Sequence[int]) -> Table:
    """The table that says nothing about these ranks."""
    return Table(ranks, np.ones([sizes[rank] for rank in ranks]), 0.0, 0.0)


def clamp(table: Floats, positions: Sequence[int], values: Sequence[int]) -> Floats:
    """The slice of a table in which the axes at these positions have these values."""
    index: list[int | slice] = [slice(None)] * table.ndim
    for position, value in zip(positions, values, strict=True):
        index[position] = value
    return table[tuple(index)]


def contract(tables: Sequence[Table], drop: Collection[int] = ()) -> tuple[Table, float]:
    """The product of tables (at least one) with some ranks summed out, and a log scale taken out.

    Cost: proportional to the entries of the product, which is not always written down.
    """
    scales = 0.0
    if len(tables) > TOGETHER:
        tables = sorted(tables, key=lambda table: table.values.size)
        while len(tables) > TOGETHER:
            some, scale = contract(tables[:TOGETHER])
            tables = [some, *tables[TOGETHER:]]
            scales += scale
    if not fits(tables):
        settled = [settle(table) for table in tables]
        scales += math.fsum(scale for _, scale in settled)
        tables = [table for table, _ in settled]
        if not fits(tables):
            result, scale = _contract_logs(tables, drop)
            return result, scale + scales
    return _contract_plain(tables, drop), scales


def project(table: Table, ranks: Collection[int]) -> Table:
    """Sum out every rank that is not among the given ones; up to a scale."""
    drop = [rank for rank in table.ranks if rank not in ranks]
    return contract([table], drop)[0] if drop else table


def ratio(upper: Table, lower: Table) -> Table:
    """upper / lower on the same ranks, up to a scale; 0/0 counts as 0."""
    if not _fits_ratio(upper, lower):
        upper, lower = settle(upper)[0], settle(lower)[0]
    below = in_order(lower, upper.ranks)
    if _fits_ratio(upper, lower):
        quotient = np.zeros(below.shape)
        np.divide(upper.values, below, out=quotient, where=below > 0)
        return Table(upper.ranks, quotient, upper.low - lower.high, upper.high - lower.low)
    above, below = log_values(upper), log_values(Table(upper.ranks, below, 0, 0, lower.logs))
    logs = above - np.where(np.isneginf(below), 0.0, below)
    return settle(Table(upper.ranks, logs, -math.inf, math.inf, True))[0]


def settle(table: Table) -> tuple[Table, float]:
    """The table with its maximum taken out and its bounds measured; plain if they allow it."""
    if table.high == (0.0 if table.logs else ROUNDING) or table.high == table.low == 0.0:
        return table, 0.0  # done already, or nothing but zeros and ones
    if not table.logs:
        highest, lowest = float(table.values.max()), float(table.values.min())
        if highest == 0:
            return Table(table.ranks, table.values, 0.0, 0.0), 0.0
        if lowest == 0:
            lowest = float(table.values[table.values > 0].min())
        if (low := math.log(lowest) - math.log(highest)) >= -SAFE:
            shares = Table(table.ranks, table.values / highest, low - ROUNDING, ROUNDING)
            return shares, math.log(highest)
    logs = log_values(table)
    if (top := float(logs.max())) == -math.inf:
        return Table(table.ranks, np.zeros(logs.shape), 0.0, 0.0), 0.0
    logs = logs - top
    low = float(logs.min(where=logs > -np.inf, initial=0.0))
    if low < -SAFE:
        return Table(table.ranks, logs, -math.inf, 0.0, True), top
    return Table(table.ranks, np.exp(logs), low - ROUNDING, ROUNDING), top


def in_order(table: Table, ranks: Sequence[int]) -> Floats:
    """The values with axes in the order of the given ranks."""
    if table.ranks == tuple(ranks):
        return table.values
    return np.transpose(table.values, [table.ranks.index(rank) for rank in ranks])


def settled_if_wide(table: Table) -> tuple[Table, float]:
    """The table, settled if too wide to be divided by its sum; and the scale taken out."""
    return settle(table) if table.logs or table.high - table.low > SAFE else (table, 0.0)


def sums_of_each(table: Table) -> dict[int, Floats] | None:
    """For each rank the sums over all others; None if the table is too large or too wide."""
    shape = table.values.shape
    if table.logs or table.high - table.low > SAFE or table.values.size * sum(shape) > SINGLES:
        return None
    sums = table.values.reshape(-1) @ _value_of_each(shape)
    stops = list(accumulate(shape))
    return {
        rank: sums[stop - size : stop]
        for rank, size, stop in zip(table.ranks, shape, stops, strict=True)
    }


@lru_cache(maxsize=128)
def _value_of_each(shape: tuple[int, ...]) -> Floats:
    """A column for each value of each axis, which is 1 in the entries (row-major) that have it."""
    values = np.indices(shape).reshape(len(shape), -1)
    columns = [own[:, None] == np.arange(size) for own, size in zip(values, shape, strict=True)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def log_values(table: Table) -> Floats:
    """The logs of the potentials, axes in the table's own order."""
    if table.logs:
        return table.values
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table.values))


def fits(tables: Iterable[Table]) -> bool:
    """Whether partial products and sums stay within floats (sums may add log 2^60, about 42)."""
    low = high = 0.0
    for table in tables:
        low += min(table.low, 0.0)
        high += max(table.high, 0.0)
    return low >= -SAFE and high <= SAFE


def _fits_ratio(upper: Table, lower: Table) -> bool:
    return upper.low - lower.high >= -SAFE and upper.high - lower.low <= SAFE


def _contract_plain(tables: Sequence[Table], drop: Collection[int]) -> Table:
    sizes: dict[int, int] = {}
    low = high = 0.0
    for table in tables:
        sizes.update(zip(table.ranks, table.values.shape, strict=True))
        low += table.low
        high += table.high
    for rank in drop:
        high += math.log(sizes[rank])
    if math.prod(sizes.values()) <= FEW:
        out = tuple([rank for rank in sizes if rank not in drop])
        return Table(out, _einsum(tables, out), low, high)
    left, waiting = list(tables), set(drop)
    while len(left) > 1 and len(waiting) > 1:
        options = [_around(rank, left, waiting, sizes) for rank in sorted(waiting)]
        together, ranks, _ = min(options, key=lambda each: each[2])
        made = _product([left[place] for place in together], ranks)
        left = [table for place, table in enumerate(left) if place not in together] + [made]
        waiting -= ranks
    return _product(left, waiting)._replace(low=low, high=high)


def _around(
    rank: int, tables: Sequence[Table], drop: Collection[int], sizes: dict[int, int]
) -> tuple[set[int], set[int], int]:
    """The tables with a rank (by place), the ranks their product can lose, and the size left."""
    together, inside, outside = set(), set[int](), set[int]()
    for place, table in enumerate(tables):
        if rank in table.ranks:
            together.add(place)
            inside.update(table.ranks)
        else:
            outside.update(table.ranks)
    ranks = {each for each in inside if each in drop and each not in outside}
    return together, ranks, math.prod([sizes[each] for each in inside - ranks])


def _product(tables: Sequence[Table], drop: Collection[int]) -> Table:
    """A product with sums: small tables first, and the largest last."""
    by_size = sorted(tables, key=lambda table: table.values.size)
    small = by_size[0] if len(by_size) > 1 else None
    for table in by_size[1:-1]:
        small = _product_of_two(small, table, ())
    return _product_of_two(small, by_size[-1], drop)


def _product_of_two(small: Table | None, large: Table, drop: Collection[int]) -> Table:
    """A product with sums, whose inner loop runs over neighbouring entries of the larger table.

    What only the smaller table has comes first in the result. The last axes of the larger one are
    written out in the smaller one too, unless it has none of them; they are summed out afterwards.
    """
    if small and small.values.size > large.values.size:
        small, large = large, small
    if large.values.size < LONG:
        both = [large] if small is None else [small, large]
        out = tuple(
            dict.fromkeys(rank for table in both for rank in table.ranks if rank not in drop)
        )
        return Table(out, _einsum(both, out), 0.0, 0.0)
    run, behind = 1, len(large.ranks)
    while run < RUN:
        behind -= 1
        run *= large.values.shape[behind]
    tail = large.ranks[behind:]
    if (
        small
        and any(rank in drop for rank in tail)
        and (order := _inner_last(small, large)) != large.ranks
    ):
        laid_out = Table(order, np.ascontiguousarray(in_order(large, order)), 0.0, 0.0)
        return _product_of_two(small, laid_out, drop)
    if small is None:
        first = tuple(rank for rank in large.ranks if rank not in drop or rank in tail)
        out = tuple(rank for rank in first if rank not in drop)
        partial = Table(first, _einsum([large], first), 0.0, 0.0)
        return partial if first == out else Table(out, _einsum([partial], out), 0.0, 0.0)
    small = _laid_out_like(small, large, tail)
    own = [rank for rank in small.ranks if rank not in large.ranks]
    out = tuple(rank for rank in (*own, *large.ranks) if rank not in drop)
    return Table(out, _einsum([small, large], out), 0.0, 0.0)


def _inner_last(small: Table, large: Table) -> tuple[int, ...]:
    """The ranks of the larger table in ascending order, so that what goes next comes first again.

    Those that it has alone come last, if they make an inner loop in which the smaller table stands
    still.
    """
    alone = [rank for rank in large.ranks if rank not in small.ranks]
    sizes = dict(zip(large.ranks, large.values.shape, strict=True))
    if math.prod([sizes[rank] for rank in alone]) < ALONE:
        return tuple(sorted(large.ranks))
    return tuple(sorted(large.ranks, key=lambda rank: (rank in alone, rank)))


def _laid_out_like(small: Table, large: Table, tail: tuple[int, ...]) -> Table:
    """The smaller table, own axes first, then as in the larger one; a shared tail written out."""
    own = [rank for rank in small.ranks if rank not in large.ranks]
    shared = [rank for rank in large.ranks if rank in small.ranks]
    if not any(rank in small.ranks for rank in tail):
        ranks = (*own, *shared)
        return Table(ranks, np.ascontiguousarray(in_order(small, ranks)), 0.0, 0.0)
    ranks = (*own, *(rank for rank in shared if rank not in tail), *tail)
    present = in_order(small, [rank for rank in ranks if rank in small.ranks])
    sizes = dict(zip(large.ranks, large.values.shape, strict=True))
    sizes.update(zip(small.ranks, small.values.shape, strict=True))
    thin = present.reshape([sizes[rank] if rank in small.ranks else 1 for rank in ranks])
    wide = np.broadcast_to(thin, [sizes[rank] for rank in ranks])
    return Table(ranks, np.ascontiguousarray(wide), 0.0, 0.0)


def _einsum(tables: Sequence[Table], out: tuple[int, ...]) -> Floats:
    labels: dict[int, int] = {}
    operands: list[Any] = []
    for table in tables:
        operands.append(table.values)
        operands.append([labels.setdefault(rank, len(labels)) for rank in table.ranks])
    operands.append([labels[rank] for rank in out])
    result: Floats = np.einsum(*operands)
    return result


def _contract_logs(tables: Sequence[Table], drop: Collection[int]) -> tuple[Table, float]:
    ranks = tuple(sorted({rank for table in tables for rank in table.ranks}))
    total = log_product([(table.ranks, log_values(table)) for table in tables], ranks)
    axes = tuple(axis for axis, rank in enumerate(ranks) if rank in drop)
    left = tuple(rank for rank in ranks if rank not in drop)
    logs = log_sum(total, axis=axes) if axes else total
    return settle(Table(left, logs, -math.inf, math.inf, True))


def log_product(tables: Iterable[LogTable], ranks: Sequence[int]) -> Floats:
    """The sum of logs on some ranks each, axes in the order of the given ranks: all of them."""
    total: Floats = np.zeros((1,) * len(ranks))
    for own, logs in tables:
        index = sorted(range(len(own)), key=lambda axis: ranks.index(own[axis]))
        shape = iter(logs.shape[axis] for axis in index)
        total = total + logs.transpose(index).reshape(
            [next(shape) if rank in own else 1 for rank in ranks]
        )
    return total


def max_out(
    tables: Sequence[LogTable], rank: int, size: int
) -> tuple[LogTable, NDArray[np.unsignedinteger]]:
    """The maximum over one rank of a product in log space, and the lowest value that reaches it.

    Only two slices of the product exist at any time. All other axes are in ascending order.
    """
    left = tuple(sorted({each for ranks, _ in tables for each in ranks} - {rank}))
    best: Floats = np.zeros(())
    choice = np.zeros((), dtype=np.min_scalar_type(size - 1))
    for value in range(size):
        slices = []
        for ranks, logs in tables:
            axis = ranks.index(rank) if rank in ranks else None
            inner = logs if axis is None else clamp(logs, [axis], [value])
            slices.append((tuple(each for each in ranks if each != rank), inner))
        weight = log_product(slices, left)
        if value == 0:
            best, choice = weight, np.zeros(weight.shape, dtype=choice.dtype)
        else:
            better = weight > best
            best = np.where(better, weight, best)
            choice[better] = value
    return (left, best), choice


def log_sum(values: Floats, axis: int | tuple[int, ...] | None = None) -> Floats:
    """log Σ exp along axes, shifted by the maximum; -inf where all are -inf.

    >>> float(log_sum(np.array([-np.inf, -np.inf]))), round(float(log_sum(np.log([1.0, 3.0]))), 6)
    (-inf, 1.386294)
    """
    highest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0.0, highest)
    shifted = np.asarray(values - shift)
    np.exp(shifted, out=shifted)
    with np.errstate(divide="ignore"):
        total = np.log(shifted.sum(axis=axis))
    return np.asarray(total + shift.reshape(total.shape))
