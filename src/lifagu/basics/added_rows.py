"""Rows of a table added to many rows of sums by code, and the way back: compiled, or by numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.kernel import loaded

Codes = NDArray[np.int32]


def add_rows(sums: Floats, cells: Codes | None, table: Floats, codes: Codes) -> None:
    """sums[cells[i]] += table[codes[i]] for every code that is not negative.

    cells None: every row of sums has equally many codes, one after the other.

    >>> sums = np.zeros((2, 2))
    >>> codes = np.array([1, -1, 0, 1], dtype=np.int32)
    >>> add_rows(sums, None, np.array([[1.0, 2.0], [3.0, 4.0]]), codes)
    >>> sums.tolist()
    [[3.0, 4.0], [4.0, 6.0]]
    """
    if (compiled := loaded()) is not None:
        compiled.add_rows(sums, cells, table, codes, sums.shape[1])
        return
    known = np.flatnonzero(codes >= 0)
    np.add.at(sums, _cells(sums, cells, codes)[known], table[codes[known]])


def collect_rows(sums: Floats, cells: Codes | None, table: Floats, codes: Codes) -> None:
    """The way back: table[codes[i]] += sums[cells[i]], in the order of i.

    >>> table = np.zeros((2, 1))
    >>> collect_rows(np.array([[1.0], [2.0]]), None, table, np.array([1, 1], dtype=np.int32))
    >>> table.tolist()
    [[0.0], [3.0]]
    """
    if (compiled := loaded()) is not None:
        compiled.collect_rows(sums, cells, table, codes, sums.shape[1])
        return
    known = np.flatnonzero(codes >= 0)
    np.add.at(table, codes[known], sums[_cells(sums, cells, codes)[known]])


def _cells(sums: Floats, cells: Codes | None, codes: Codes) -> Codes | Ints:
    if cells is not None:
        return cells
    return np.repeat(np.arange(len(sums)), len(codes) // max(len(sums), 1))
