"""Equal arrays kept once: many parfactors speak of the same individuals in the same order."""

from __future__ import annotations

import zlib

import numpy as np

from lifagu.basics.arrays import Ints


class SharedArrays:
    """Hands out one array for all that are equal; nobody may write into it.

    >>> shared = SharedArrays()
    >>> shared.one(np.arange(3)) is shared.one(np.arange(3))
    True
    """

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], int], list[Ints]] = {}

    def one(self, array: Ints) -> Ints:
        """The first array that was equal to this one, else this one. Linear."""
        alike = self._known.setdefault(
            (array.shape, zlib.crc32(np.ascontiguousarray(array).data)), []
        )
        for each in alike:
            if each is array or np.array_equal(each, array):
                return each
        alike.append(array)
        return array
