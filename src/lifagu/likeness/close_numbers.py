"""Almost equal numbers and rows of numbers: within a factor of each other.

Groups never chain: each is narrow as a whole, and none depends on the order of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence, group_rows


def ranks(values: Floats, tolerance: float = 0.0) -> Ints:
    """Numbers ≥ 0 ranked; alike if linked by steps up to a factor 1 + tolerance, 0 only like 0.

    >>> ranks(np.array([3.0, 0.0, 1.0, 1.01, 1.02]), 0.011).tolist()
    [2, 0, 1, 1, 1]
    """
    order = np.argsort(values, kind="stable")
    result = np.empty(len(values), dtype=np.int64)
    with np.errstate(over="ignore"):
        result[order] = np.cumsum(_gaps(values[order], tolerance)) - 1
    return result


def narrow_groups(rows: Floats, tolerance: float) -> Ints:
    """Group rows of an n×k matrix ≥ 0: numbers in a column of a group differ by ≤ 1 + tolerance.

    Zeros only match zeros. Rows are first told apart wherever a column has a gap, which separates
    no two that are within the tolerance of each other; a group that is still too wide is cut along
    its widest column, from its smallest number upwards, and looked at again. At most k + 1 times,
    each O(k n log n) for the rows concerned.

    >>> narrow_groups(np.array([[1, 5], [1.01, 5], [1.02, 5], [3, 5]]), 0.01).tolist()
    [0, 0, 1, 2]
    """
    groups = group_rows(np.packbits(rows == 0, axis=1).astype(np.int64))
    with np.errstate(over="ignore"):
        while True:
            wide = np.flatnonzero(np.isin(groups, _wide(rows, groups, tolerance)[0]))
            if not len(wide):
                return groups
            split = _split_at_gaps(rows[wide], groups[wide], tolerance)
            inside = _cut_widest(rows[wide], split, tolerance)
            groups[wide] = int(groups.max()) + 1 + inside
            groups = by_first_occurrence(groups)


def _gaps(ordered: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Where ascending numbers step up by more than the tolerance, the first one included."""
    return np.concatenate(([True], ordered[1:] > ordered[:-1] * (1 + tolerance)))[: len(ordered)]


def _starts(groups: Ints) -> NDArray[np.bool_]:
    """Where another group begins in an array sorted by group."""
    return np.concatenate(([True], groups[1:] != groups[:-1]))[: len(groups)]


def _wide(rows: Floats, groups: Ints, tolerance: float) -> tuple[Ints, Ints]:
    """Groups that exceed the tolerance in some column, and the widest column of each."""
    some = np.flatnonzero((np.bincount(groups) > 1)[groups])
    some = some[np.argsort(groups[some], kind="stable")]
    if not len(some) or not rows.shape[1]:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    first = np.flatnonzero(_starts(groups[some]))
    lowest = np.minimum.reduceat(rows[some], first, axis=0)
    highest = np.maximum.reduceat(rows[some], first, axis=0)
    exceeds = highest > lowest * (1 + tolerance)
    widest = np.where(exceeds, highest / np.where(lowest > 0, lowest, 1), 0).argmax(axis=1)
    wide = exceeds.any(axis=1)
    return groups[some[first]][wide], widest[wide]


def _split_at_gaps(rows: Floats, groups: Ints, tolerance: float) -> Ints:
    """The groups split wherever some column of one has a gap, column after column."""
    groups = by_first_occurrence(groups)
    rest = np.arange(len(rows))
    for column in rows.T:
        own, values = groups[rest], column[rest]
        order = np.lexsort((values, own))
        breaks = _starts(own[order]) | _gaps(values[order], tolerance)
        groups[rest[order]] = len(rows) + np.cumsum(breaks)
        groups = by_first_occurrence(groups)
        rest = np.flatnonzero((np.bincount(groups) > 1)[groups])
    return groups


def _cut_widest(rows: Floats, groups: Ints, tolerance: float) -> Ints:
    """The groups that are too wide, cut along their widest column, smallest numbers first."""
    wide, widest = _wide(rows, groups, tolerance)
    column = np.full(int(groups.max(initial=-1)) + 1, -1)
    column[wide] = widest
    rest = np.flatnonzero(column[groups] >= 0)
    values, own = rows[rest, column[groups[rest]]], groups[rest]
    order = np.lexsort((values, own))
    pieces = np.cumsum(_piece_starts(own[order], values[order], tolerance))
    groups = groups.copy()
    groups[rest[order]] = len(rows) + pieces
    return by_first_occurrence(groups)


def _piece_starts(groups: Ints, values: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Where pieces start in numbers sorted by group and size: none is wider than the tolerance.

    The first number beyond each one's reach is found by sorting once more; from the first of each
    group these jumps lead from piece to piece, followed by doubling them.
    """
    count = len(values)
    reach = np.concatenate((values, values * (1 + tolerance)))
    order = np.lexsort((np.repeat((0, 1), count), reach, np.tile(groups, 2)))
    passed = np.cumsum(order < count)
    jump = np.full(count + 1, count)
    jump[order[order >= count] - count] = passed[order >= count]
    reached = np.append(_starts(groups), False)
    while True:
        landed = jump[np.flatnonzero(reached)]
        if reached[landed].all():
            return reached[:count]
        reached[landed] = True
        reached[count] = True
        jump = jump[jump]
