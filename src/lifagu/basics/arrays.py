"""Helpers on integer arrays that every room needs: numbering, grouping, lists in flat arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.kernel import loaded
from lifagu.errors import ModelError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
WIDE = 16  # columns from which on rows are compared as a whole
SHORT = 64  # columns up to which rows are short
_Array = TypeVar("_Array", bound=NDArray[Any])


def frozen(array: _Array) -> _Array:
    """Return the same array, made read-only."""
    array.flags.writeable = False
    return array


def is_masked(values: Any) -> bool:
    """Whether something in an array is masked, known without importing the slow numpy.ma."""
    return bool(np.any(getattr(values, "mask", False)))


def as_ids(values: Any, what: str) -> Ints:
    """Whole numbers in a row as int64, fresh unless read-only; all else, even 1.0, is an error.

    >>> as_ids([0, 2.5], "arguments")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lifagu.errors.ModelError: arguments hold float64; give whole numbers, in a list or an array ...
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros((), dtype=object)
    masked = is_masked(values)
    if array.ndim != 1 or masked or (array.size and not np.issubdtype(array.dtype, np.integer)):
        held = array.dtype if array.ndim == 1 and not masked else f"a {type(values).__name__}"
        raise ModelError(
            f"{what} hold {held}; give whole numbers, in a list or an array of one axis"
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise ModelError(
            f"{what} hold {array.max()}, which no number is; -1 needs an array of signed integers"
        )
    owned = array is values and array.base is None and not array.flags.writeable
    return array.astype(np.int64, copy=not owned)


def first_places(ids: Ints) -> Ints:
    """For each id 0…max the place where it first occurs, len(ids) if nowhere; negatives not.

    >>> first_places(np.array([2, 0, -1, 2])).tolist()
    [1, 4, 0]
    """
    first = np.full(int(ids.max(initial=-1)) + 1, len(ids), dtype=np.int64)
    places = np.flatnonzero(ids >= 0)[::-1]
    # of equal ids the last one written, which is the first occurrence, stays
    first[ids[places]] = places
    return first


def by_first_occurrence(ids: Ints) -> Ints:
    """Renumber ids ≥ 0 densely 0, 1, … in the order of first occurrence; negative ids stay.

    Cost: O(len(ids) + max id), plus sorting the distinct ids without the compiled kernel.

    >>> by_first_occurrence(np.array([7, 3, -1, 7, 0])).tolist()
    [0, 1, -1, 0, 2]
    """
    if (kernel := loaded()) is not None:
        numbers = np.empty(len(ids), dtype=np.int64)
        kernel.number_ids(np.ascontiguousarray(ids, dtype=np.int64), numbers)
        return numbers
    first = first_places(ids)
    new = np.empty(len(first), dtype=np.int64)
    new[np.argsort(first, kind="stable")] = np.arange(len(first))
    result = ids.copy()
    result[ids >= 0] = new[ids[ids >= 0]]
    return result


def by_value(ids: Ints) -> tuple[Ints, Ints]:
    """Where each distinct id ≥ 0 first occurs, ids ascending, and for each id its place there.

    Cost: linear where ids are few compared with their number, else by sorting.

    >>> [each.tolist() for each in by_value(np.array([7, 3, 7]))]
    [[1, 0], [1, 0, 1]]
    """
    if int(ids.max(initial=0)) >= max(4 * len(ids), 1024):
        _, first, place = np.unique(ids, return_index=True, return_inverse=True)
        return first, place.reshape(-1)
    first = first_places(ids)
    met = first < len(ids)
    return first[met], (np.cumsum(met) - 1)[ids]


def group_rows(matrix: Ints) -> Ints:
    """Number equal rows of an n×k matrix ≥ 0 alike, by first occurrence: an array of n ids.

    Compiled: O(nk). Else columns are packed into one integer, renumbered by sorting whenever it
    grows much beyond n.

    >>> group_rows(np.array([[1, 2], [0, 5], [1, 2]])).tolist()
    [0, 1, 0]
    """
    if loaded() is not None or matrix.shape[1] > WIDE:
        return group_rows_bitwise(np.ascontiguousarray(matrix, dtype=np.int64))
    few = max(4 * len(matrix), 1024)
    ids = np.zeros(len(matrix), dtype=np.int64)
    for column in matrix.T:
        column = dense(column) if int(column.max(initial=0)) >= few else column
        ids = ids * (int(column.max(initial=0)) + 1) + column
        ids = dense(ids) if int(ids.max(initial=0)) >= few else ids
    return by_first_occurrence(ids)


def group_rows_bitwise(matrix: NDArray[Any]) -> Ints:
    """The same for rows of any 64-bit items, compared as a whole and bit by bit."""
    rows = np.ascontiguousarray(matrix)
    if (kernel := loaded()) is not None:
        numbers = np.empty(len(rows), dtype=np.int64)
        kernel.number_lists(rows.view(np.int64), None, rows.shape[1], True, numbers, False)
        return numbers
    return by_first_occurrence(dense(rows.view(np.dtype((np.void, rows.shape[1] * 8))).reshape(-1)))


def dense(ids: NDArray[Any]) -> Ints:
    """Numbers 0, 1, … in the order of the distinct values."""
    return np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)


def members(groups: Ints) -> list[Ints]:
    """For each group 0…g-1 its elements, ascending, from the group number of each element.

    >>> [list(map(int, group)) for group in members(np.array([0, 1, 0]))]
    [[0, 2], [1]]
    """
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1]) if len(groups) else []


def distinct(values: Ints) -> Ints:
    """The distinct values, ascending (by sorting, which is faster here than hashing)."""
    ordered: Ints = np.sort(values, axis=None)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]


def offsets_of(lengths: Ints) -> Ints:
    """Where lists of these lengths begin in a flat array, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths)))


def owners(offsets: Ints) -> Ints:
    """For each item of lists in a flat array the number of its list.

    >>> owners(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places_within(lengths: Ints) -> Ints:
    """For each item of lists of these lengths, in a flat array, its place in its list.

    >>> places_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def group_lists(offsets: Ints, values: Ints, ordered: bool = True) -> Ints:
    """Number equal lists alike, by first occurrence; list i is values[offsets[i]:offsets[i+1]] ≥ 0.

    ordered: whether the order within a list counts; if not, equal multisets are numbered alike.

    >>> group_lists(np.array([0, 2, 3, 5]), np.array([4, 7, 4, 7, 4])).tolist()
    [0, 1, 2]
    >>> group_lists(np.array([0, 2, 3, 5]), np.array([4, 7, 4, 7, 4]), ordered=False).tolist()
    [0, 1, 0]
    """
    if (kernel := loaded()) is not None:
        numbers = np.empty(len(offsets) - 1, dtype=np.int64)
        given = (np.ascontiguousarray(each, dtype=np.int64) for each in (values, offsets))
        kernel.number_lists(*given, 0, ordered, numbers, False)
        return numbers
    lengths = np.diff(offsets)
    groups = np.empty(len(lengths), dtype=np.int64)
    count = 0
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        lists = np.flatnonzero(lengths == length)
        rows = values[offsets[lists, None] + np.arange(length)]
        groups[lists] = count + group_rows(rows if ordered else np.sort(rows, axis=1))
        count = int(groups[lists].max()) + 1
    return by_first_occurrence(groups)


def connected_parts(count: int, first: Ints, second: Ints) -> Ints:
    """The connected part of each of `count` nodes, by first occurrence; edges first[i]–second[i].

    Roots hook onto smaller neighbouring roots until none is left: O(log n) passes over the edges.

    >>> connected_parts(4, np.array([0, 3]), np.array([2, 3])).tolist()
    [0, 1, 0, 2]
    """
    root = np.arange(count)
    while True:
        left, right = root[first], root[second]
        apart = left != right
        if not apart.any():
            return by_first_occurrence(root)
        lower, higher = np.minimum(left, right)[apart], np.maximum(left, right)[apart]
        np.minimum.at(root, higher, lower)
        while not np.array_equal(root, root[root]):
            root = root[root]


def normalised_rows(logits: Floats) -> tuple[Floats, Floats]:
    """Probabilities from the log weights in each row, and the logs of their sums.

    Short rows go column by column, which numpy does several times faster.

    >>> probabilities, totals = normalised_rows(np.log([[1.0, 3.0], [2.0, 2.0]]))
    >>> probabilities.round(6).tolist(), np.exp(totals).round(6).tolist()
    ([[0.25, 0.75], [0.5, 0.5]], [4.0, 4.0])
    """
    if logits.shape[1] > SHORT:
        highest = logits.max(axis=1)
        weights = np.exp(logits - highest[:, None])
        total = weights.sum(axis=1)
    else:
        highest = logits[:, 0].copy()
        for column in logits.T[1:]:
            np.maximum(highest, column, out=highest)
        weights = np.exp(logits - highest[:, None])
        total = weights[:, 0].copy()
        for column in weights.T[1:]:
            total += column
    weights /= total[:, None]
    return weights, np.log(total) + highest
