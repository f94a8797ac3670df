"""Products of tall matrices in small pieces, each too small for threads of its own.

So the result is the same whatever the number of threads, and threads that wait for one another on a
busy machine, which made cohorts six times slower there, are not begun.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats

MOST = 2**17  # multiplications of a piece; OpenBLAS begins threads above 2**18,
MOST_BY_VECTOR = 2**13  # and above 9216 where one side is a vector


def rows_times(rows: Floats, matrix: Floats) -> Floats:
    """The product of rows (n, m), where n may be large, and a matrix (m, k).

    >>> rows_times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]])).tolist()
    [[21.0], [43.0]]
    """
    step = _step(rows.shape[1], matrix.shape[1])
    whole = len(rows) // step * step
    if not whole:
        return np.asarray(rows @ matrix)
    pieces = np.ascontiguousarray(rows[:whole]).reshape(-1, step, rows.shape[1]) @ matrix
    result = pieces.reshape(whole, matrix.shape[1])
    return result if whole == len(rows) else np.concatenate((result, rows[whole:] @ matrix))


def crossed(left: Floats, right: Floats) -> Floats:
    """The sum over rows r of left[r, a] · right[r, b], (a, b).

    >>> crossed(np.array([[1.0], [2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[13.0, 16.0]]
    """
    step = _step(left.shape[1], right.shape[1])
    whole = len(left) // step * step
    result = left[whole:].T @ right[whole:]
    if whole:
        ones = np.ascontiguousarray(left[:whole]).reshape(-1, step, left.shape[1])
        others = np.ascontiguousarray(right[:whole]).reshape(-1, step, right.shape[1])
        result = result + (ones.transpose(0, 2, 1) @ others).sum(axis=0)
    return np.asarray(result)


def mixed(weights: Floats, tables: Floats) -> Floats:
    """Mixtures of tables (B, G, C), a row of weights (n, B) for each: (n, G, C)."""
    flat = tables.reshape(len(tables), tables.shape[1] * tables.shape[2])
    return rows_times(weights, flat).reshape(len(weights), *tables.shape[1:])


def _step(one: int, other: int) -> int:
    """Rows of a piece."""
    most = MOST_BY_VECTOR if min(one, other) <= 1 else MOST
    return max(most // max(one * other, 1), 1)
