"""Whole numbers of the lifted engine: histograms and sets of members; none is rounded or wraps.

`integer_type` is the one place that decides whether an array of counts fits 64 bits, from a bound
known beforehand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints

LARGEST = 2**63 - 1  # of 64-bit integers


def integer_type(bound: int) -> type[Any]:
    """The type of array entries up to a bound: 64-bit integers if they fit, else Python's own.

    >>> integer_type(2**63 - 1).__name__, integer_type(2**63).__name__
    ('int64', 'object')
    """
    return np.int64 if bound <= LARGEST else object


def number_of_histograms(members: int, size: int) -> int:
    """How many ways there are to spread members over a range of this size.

    >>> number_of_histograms(3, 2), number_of_histograms(2, 3)
    (4, 6)
    """
    return math.comb(members + size - 1, size - 1) if size else int(not members)


def histograms(members: int, size: int) -> NDArray[Any]:
    """All ways to spread members over a range: a matrix histograms × range size, lexicographic.

    >>> histograms(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    columns: list[NDArray[Any]] = []
    left = np.array([members], dtype=integer_type(members))
    for _ in range(size - 1):
        many = left + 1
        starts = np.cumsum(many) - many
        here = np.arange(int(many.sum())) - np.repeat(starts, many)
        columns = [np.repeat(column, many) for column in columns]
        left = np.repeat(left, many) - here
        columns.append(here)
    return np.column_stack([*columns, left])


def histogram_places(counts: Ints) -> Ints:
    """The place of each histogram (a row) among all with as many members, in lexicographic order.

    Histograms whose first entries are h₀ … hᵢ come after those with a smaller hᵢ: N(r, s) − N(r −
    hᵢ, s) of them, r being the members that are left and N(r, s) the number of histograms of r over
    the s values from i on.

    >>> histogram_places(histograms(4, 3)).tolist() == list(range(15))
    True
    """
    size = counts.shape[1]
    left = counts.sum(axis=1)
    place = np.zeros(len(counts), dtype=np.int64)
    numbers = [np.ones(int(left.max(initial=0)) + 1, dtype=np.int64)]
    for _ in range(size - 1):
        numbers.append(np.cumsum(numbers[-1]))
    for value in range(size - 1):
        here, number = counts[:, value], numbers[size - 1 - value]
        place += number[left] - number[left - here]
        left = left - here
    return place


def sets_of_members(counts: NDArray[Any], values: Sequence[int]) -> NDArray[Any]:
    """For each histogram the number of sets of members that take exactly these values.

    >>> sets_of_members(np.array([[3, 1]]), (0, 0, 1)).tolist()
    [3]
    """
    needs = Counter(values)
    most = {value: int(counts[:, value].max(initial=0)) for value in needs}
    bound = math.prod(max(math.perm(most[value], need), 1) for value, need in needs.items())
    number: NDArray[Any] = np.ones(len(counts), dtype=integer_type(bound))
    for value, need in needs.items():
        column = counts[:, value].astype(number.dtype)
        ways = np.ones_like(number)
        for step in range(need):
            ways = ways * np.maximum(column - step, 0)
        number = number * (ways // math.factorial(need))
    return number
