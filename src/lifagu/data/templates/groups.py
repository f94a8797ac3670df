"""Groups of rows, told by the values of some columns, coarse ones first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, by_value, first_places, group_rows
from lifagu.data.databases.cells import distinct_texts
from lifagu.data.templates.batches import Batch
from lifagu.data.templates.constants import in_order
from lifagu.relational.ground_tables import lexicographic_codes
from lifagu.relational.learning_task import GroupLevel

GroupKey = tuple[str | None, ...]


class GroupCodes:
    """The groups of rows, as numbers by first occurrence."""

    def __init__(self, width: int) -> None:
        self._codes: list[dict[str, int]] = [{} for _ in range(width)]
        self._parts: list[Ints] = []

    def add(self, batch: Batch, places: Sequence[int]) -> None:
        """Take note of the groups of some rows."""
        matrix = np.full((len(batch), len(places)), -1, dtype=np.int64)
        for column, (place, codes) in enumerate(zip(places, self._codes, strict=True)):
            texts, which = distinct_texts(batch.cells(place))
            known = [codes.setdefault(text, len(codes)) for text in texts]
            matrix[:, column] = np.array([*known, -1], dtype=np.int64)[which]
        self._parts.append(matrix)

    def finish(self) -> tuple[list[GroupKey], Ints]:
        """The distinct groups, with None where a column is NULL, and the number of each row's."""
        matrix = np.vstack(self._parts)
        number = group_rows(matrix + 1)
        words = [[*codes, None] for codes in self._codes]
        groups: list[GroupKey] = []
        for row in matrix[first_places(number)].tolist():
            groups.append(tuple(word[code] for word, code in zip(words, row, strict=True)))
        return groups, number

    def levels(self, columns: Sequence[str], order: Ints) -> tuple[GroupLevel, ...]:
        """Nested groups of the rows, taken in this order; a row with a NULL ends above it.

        Groups are in the order of their keys, so that the order of rows means nothing.
        """
        matrix = np.vstack(self._parts)[order]
        found: list[GroupLevel] = []
        above = np.zeros(len(matrix), dtype=np.int64)
        keys: list[tuple[str, ...]] = [()]
        for place, column in enumerate(columns):
            words = list(self._codes[place])
            ordered = in_order(words)
            rank = np.full(len(words) + 1, -1, dtype=np.int64)
            rank[[self._codes[place][word] for word in ordered]] = np.arange(len(ordered))
            mine = rank[matrix[:, place]]
            there = np.flatnonzero((mine >= 0) & (above >= 0))
            pairs = np.column_stack((above[there], mine[there]))
            first, number = by_value(lexicographic_codes(pairs))
            of_row = np.full(len(matrix), -1, dtype=np.int64)
            of_row[there] = number
            keys = [(*keys[over], ordered[each]) for over, each in pairs[first].tolist()]
            found.append(GroupLevel(column, of_row, pairs[first, 0], keys))
            above = of_row
        return tuple(found)


def prefixes(key: GroupKey) -> list[tuple[str, ...]]:
    """The groups that a row belongs to, the finest first; the last one is that of all rows.

    >>> prefixes(("h1", "w2")), prefixes(("h1", None))
    ([('h1', 'w2'), ('h1',), ()], [('h1',), ()])
    """
    whole: list[str] = []
    for each in key:
        if each is None:
            break
        whole.append(each)
    return [tuple(whole[:end]) for end in range(len(whole), -1, -1)]
