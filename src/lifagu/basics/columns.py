"""Tables by column, as arrays: from the rooms that compute to those that write large results.

A column is an array (of numbers, truth values, or texts and None as objects), or one of the forms
below, which need no Python object per row. A float that is nan is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, by_first_occurrence, first_places, offsets_of
from lifagu.basics.names import Names, NumberedNames


@dataclass(frozen=True, eq=False)
class Nullable:
    """Numbers from 0 on; -1 is null."""

    numbers: Ints


@dataclass(frozen=True, eq=False)
class NumberedTexts:
    """Texts made of a prefix and a number, such as ``x7``."""

    prefix: str
    numbers: Ints


@dataclass(frozen=True, eq=False)
class Lists:
    """Row i holds list of[i] (i without `of`), values[offsets[l]:offsets[l+1]]; empty is null."""

    offsets: Ints
    values: NDArray[Any]
    of: Ints | None = None


Column = NDArray[Any] | Nullable | NumberedTexts | Lists
Columns = Mapping[str, Column]


def row_count(columns: Columns) -> int:
    """Number of rows of a table with at least one column."""
    column = next(iter(columns.values()))
    if isinstance(column, Lists):
        return len(column.offsets) - 1 if column.of is None else len(column.of)
    return len(column.numbers if isinstance(column, Nullable | NumberedTexts) else column)


def texts(words: Sequence[str], codes: Ints | None = None) -> NDArray[Any]:
    """Texts as objects, one per row: words[codes[i]], None for -1; each word is one object.

    >>> texts(["low", "high"], np.array([1, -1, 1])).tolist()
    ['high', None, 'high']
    """
    objects = np.array([*words, None], dtype=object)
    return objects[:-1] if codes is None else objects[codes]


def text_lists(lists: Sequence[Sequence[str]], of: Ints | None = None) -> Lists:
    """A column of lists of texts; row i holds lists[of[i]].

    >>> text_lists([["a", "b"], ["c"]]).offsets.tolist()
    [0, 2, 3]
    """
    lengths = np.array([len(each) for each in lists], dtype=np.int64)
    return Lists(offsets_of(lengths), texts([word for each in lists for word in each]), of)


def name_column(names: Names, numbers: Ints) -> Column:
    """The names of many nodes, null for -1; numbered ones without an object each.

    >>> name_column(NumberedNames("variable", "x", 9), np.array([4])).prefix
    'x'
    """
    if isinstance(names, NumberedNames) and not (numbers < 0).any():
        return NumberedTexts(names.prefix, numbers)
    return texts(*used_names(names, numbers))


def used_names(names: Names, numbers: Ints) -> tuple[list[str], Ints]:
    """The names of the nodes that occur, once each, and for each number its place there (-1: -1).

    >>> used_names(Names("variable", ["A", "B", "C"]), np.array([2, 0, -1, 2]))
    (['C', 'A'], array([ 0,  1, -1,  0]))
    """
    place = by_first_occurrence(numbers)
    return names.of_nodes(numbers[first_places(place)]), place
