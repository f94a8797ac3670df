"""Tables of ground factors: counting formulas expanded, diagonals of arguments that coincide."""

from __future__ import annotations

import math

import numpy as np

from lifagu.basics.arrays import Floats, Ints, dense
from lifagu.errors import TooLargeError
from lifagu.relational.bound_parfactors import BoundParfactor

LARGEST = 2**20  # entries of an expanded table


def lexicographic_codes(rows: Ints) -> Ints:
    """A number for each row of an n×k matrix ≥ 0: equal iff equal, in lexicographic order.

    >>> lexicographic_codes(np.array([[1, 0], [0, 5], [1, 0]])).tolist()
    [6, 5, 6]
    """
    codes = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        if int(column.max(initial=0)) >= 2**31:
            column = dense(column)
        size = int(column.max(initial=0)) + 1
        if int(codes.max(initial=0)) >= 2**31:
            codes = dense(codes)
        codes = codes * size + column
    return codes


def histogram_of_each(members: int, size: int) -> Ints:
    """For each of the size**members assignments, row-major, its histogram's lexicographic number.

    >>> histogram_of_each(2, 2).tolist()  # tt is (0,2), ft and tf are (1,1), ff is (2,0)
    [2, 1, 1, 0]
    """
    counts = np.zeros((1, size), dtype=np.int64)
    for _ in range(members):
        counts = (counts[:, None, :] + np.eye(size, dtype=np.int64)).reshape(-1, size)
    return dense(lexicographic_codes(counts))


def expanded_table(bound: BoundParfactor, members: list[int]) -> Floats | None:
    """A parfactor's table with one axis per ground argument, flat; exponential in counted members.

    members: for each argument how many ground variables it stands for. Refused beyond 2²⁰ entries.
    """
    if all(argument.counted < 0 for argument in bound.arguments):
        return bound.table
    bits = sum(
        many * math.log2(argument.size)
        for many, argument in zip(members, bound.arguments, strict=True)
    )
    if bits > math.log2(LARGEST):
        raise TooLargeError(
            f"parfactor '{bound.name}' counts; grounded, each of its tables would have "
            f"2^{bits:.4g} entries, and {LARGEST} is the limit; "
            "make the domain smaller, or ask without grounding"
        )
    if bound.table is None:
        return None
    table = bound.table.reshape(bound.shape)
    for axis, (many, argument) in enumerate(zip(members, bound.arguments, strict=True)):
        if argument.counted >= 0:
            table = np.take(table, histogram_of_each(many, argument.size), axis=axis)
    return table.reshape(-1)


def first_columns(ids: Ints) -> Ints:
    """For each entry of an n×k matrix the first column of its row that holds the same.

    >>> first_columns(np.array([[4, 7, 4], [1, 2, 3]])).tolist()
    [[0, 1, 0], [0, 1, 2]]
    """
    first = np.broadcast_to(np.arange(ids.shape[1]), ids.shape).copy()
    for right in range(1, ids.shape[1]):
        for left in range(right - 1, -1, -1):
            same = ids[:, left] == ids[:, right]
            if same.any():
                first[same, right] = left
    return first


def diagonal(table: Floats, sizes: list[int], first: Ints) -> Floats:
    """The potentials that count when arguments fall together: axis j follows axis first[j].

    >>> diagonal(np.array([1.0, 2.0, 3.0, 4.0]), [2, 2], np.array([0, 0])).tolist()
    [1.0, 4.0]
    """
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    places = np.zeros(1, dtype=np.int64)
    for axis, size in enumerate(sizes):
        if first[axis] == axis:
            step = int(strides[first == axis].sum())
            places = (places[:, None] + np.arange(size) * step).reshape(-1)
    return table[places]
