"""Things by number where many come at a time: which entry a number belongs to, and where in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, members

Entry = TypeVar("Entry")


class NumberedBatches(Generic[Entry]):
    """Entries that hold one or many things each, numbered in the order in which they came.

    >>> words = NumberedBatches[str]()
    >>> words.append("ab", 2).tolist(), words.append("xyz", 3).tolist(), words.at(3)
    ([0, 1], [2, 3, 4], ('xyz', 1))
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._starts = [0]  # the number of each entry's first thing, and of the next one's …
        self._array = np.zeros(1, dtype=np.int64)  # … as an array, as far as somebody asked for it

    def __len__(self) -> int:
        return self._starts[-1]

    def copy(self) -> NumberedBatches[Entry]:
        """The same entries, which go on from here on their own."""
        copied: NumberedBatches[Entry] = NumberedBatches()
        copied.entries, copied._starts = list(self.entries), list(self._starts)
        return copied

    def append(self, entry: Entry, many: int) -> Ints:
        """The numbers of the things in a new entry."""
        first = len(self)
        self.entries.append(entry)
        self._starts.append(first + many)
        return np.arange(first, first + many)

    def at(self, number: int) -> tuple[Entry, int]:
        """The entry that holds a thing, and where in it."""
        place = bisect_right(self._starts, number) - 1
        return self.entries[place], number - self._starts[place]

    def place(self, numbers: Ints) -> Ints:
        """The place of the entry that holds each of these."""
        if len(self._array) != len(self._starts):
            self._array = np.array(self._starts)
        return np.searchsorted(self._array, numbers, side="right") - 1

    def alike(self, numbers: Ints, look: Callable[[Entry], Hashable]) -> list[Ints]:
        """The places of those in entries that look the same."""
        looks: dict[Hashable, list[Ints]] = {}
        for own, same, _ in self.found(numbers):
            looks.setdefault(look(self.entries[own]), []).append(same)
        return [np.sort(np.concatenate(each)) for each in looks.values()]

    def found(self, numbers: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """The entries (by place) that hold these: which each holds, and where in it they are."""
        place = self.place(numbers)
        if len(place) and (place == place[0]).all():
            yield int(place[0]), np.arange(len(numbers)), numbers - self._starts[place[0]]
            return
        for same in members(by_first_occurrence(place)):
            own = int(place[same[0]])
            yield own, same, numbers[same] - self._starts[own]
