"""Log-space algebra of tables: the only file that knows axes.

A `LogTable` stands on variables in one global order (ascending *rank*); its axes follow that order, so tables combine
by broadcasting alone, and the variable to be summed out next is always the first axis: contiguous slices.
Zero potentials are -inf; no operation returns nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class LogTable:
    """log potentials, one axis per entry of `ranks` (ascending)."""

    ranks: tuple[int, ...]
    values: Floats


def on_ranks(values: Floats, ranks: Sequence[int]) -> LogTable:
    """Log potentials whose axes stand on the given ranks (distinct, in any order)."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    return LogTable(tuple(ranks[axis] for axis in order), np.transpose(values, order))


def clamp(table: Floats, positions: Sequence[int], values: Sequence[int]) -> Floats:
    """The slice of a table in which the axes at these positions have these values."""
    index: list[int | slice] = [slice(None)] * table.ndim
    for position, value in zip(positions, values, strict=True):
        index[position] = value
    return table[tuple(index)]


def product(tables: Sequence[LogTable], ranks: tuple[int, ...], sizes: Ints) -> LogTable:
    """The product of tables (a sum of logs) over all given ranks; sizes[rank] is the size of its range."""
    total = np.zeros([int(sizes[rank]) for rank in ranks])
    for table in tables:
        present = set(table.ranks)
        total += table.values.reshape([int(sizes[rank]) if rank in present else 1 for rank in ranks])
    return LogTable(ranks, total)


def sum_out_first(table: LogTable) -> LogTable:
    """Sum out the variable of the first axis."""
    return LogTable(table.ranks[1:], log_sum(table.values, axis=0))


def project(table: LogTable, ranks: tuple[int, ...]) -> LogTable:
    """Sum out every variable that is not among the given ranks."""
    wanted = set(ranks)
    drop = tuple(axis for axis, rank in enumerate(table.ranks) if rank not in wanted)
    values = log_sum(table.values, axis=drop) if drop else table.values
    return LogTable(tuple(rank for rank in table.ranks if rank in wanted), values)


def conditional(joint: LogTable, marginal: LogTable) -> LogTable:
    """joint / marginal, where the marginal's ranks are the joint's without the first; 0/0 counts as 0."""
    safe = np.where(np.isneginf(marginal.values), 0.0, marginal.values)
    return LogTable(joint.ranks, joint.values - safe)


def in_order(table: LogTable, ranks: Sequence[int]) -> Floats:
    """The values with axes in the order of the given ranks."""
    return np.transpose(table.values, [table.ranks.index(rank) for rank in ranks])


def log_sum(values: Floats, axis: int | tuple[int, ...] | None = None) -> Floats:
    """log Σ exp along axes, shifted by the maximum; -inf where all are -inf.

    >>> float(log_sum(np.array([-np.inf, -np.inf]))), round(float(log_sum(np.log([1.0, 3.0]))), 6)
    (-inf, 1.386294)
    """
    highest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(highest), 0.0, highest)
    shifted = values - shift
    np.exp(shifted, out=shifted)
    with np.errstate(divide="ignore"):
        total = np.log(shifted.sum(axis=axis))
    return np.asarray(total + shift.reshape(total.shape))


def stripped(table: LogTable) -> tuple[LogTable, float]:
    """The table with its maximum moved into a number of its own; -inf for a table that is zero everywhere."""
    highest = float(table.values.max(initial=-np.inf))
    if highest == -np.inf:
        return table, highest
    return LogTable(table.ranks, table.values - highest), highest
