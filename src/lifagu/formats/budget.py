"""What reading a file may take in memory: its text unpacked, and what its numbers announce.

A small file may say that a variable has a billion values. What such numbers announce is paid for
before anything is made of it, and refused beyond what a file of its size may take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from lifagu.basics.inputs import whole
from lifagu.basics.memory import default_memory_limit, readable_size
from lifagu.basics.words import amount
from lifagu.errors import Remedy, TooLargeError

ROOM, TIMES = 128 * 2**20, 16  # what a file may take, and how often its own size on top
SHARE, LEAST = 4, 16 * 2**20  # a quarter of the memory limit is for reading, or so many bytes
LABEL, OBJECT, ENTRY = 160, 240, 40  # bytes of one: with the tables to look it up, and copies


class Budget:
    """What is left of the memory that reading one file may take."""

    def __init__(
        self, size: int, input_limit: int | None = None, memory_limit: int | None = None
    ) -> None:
        """For a file of a size in bytes; what may be taken was given, or is the usual.

        That is a quarter of the memory limit (at least `LEAST`), and at most `ROOM` and `TIMES` the
        size.
        """
        share = max(LEAST, (memory_limit or default_memory_limit()) // SHARE)
        self.limit = min(share, ROOM + TIMES * size)
        if input_limit is not None:
            self.limit = whole("input_limit", input_limit, 1, of=" of bytes")
        self._left = self.limit

    def take(self, where: Callable[[], str], what: str, size: int) -> None:
        """Pay for something before it is made; what: a sentence that names it and its number.

        where: the file and the place in it, looked up where it is needed.

        >>> Budget(100).labels(lambda: "m.uai:2", "variable x0", 999_999_999)
        Traceback (most recent call last):
        lifagu.errors.TooLargeError: m.uai:2: variable x0 has 999999999 values, which takes \
149 GiB of memory; reading this file may take 128 MiB in all; give a larger input_limit
        """
        if size > self._left:
            raise TooLargeError(
                f"{where()}: {what}, which takes {readable_size(size)} of memory; "
                f"reading this file may take {readable_size(self.limit)} in all",
                remedy=Remedy.MORE_INPUT,
            )
        self._left -= size

    def labels(self, where: Callable[[], str], what: str, count: int) -> None:
        """Pay for the labels of a range."""
        self.take(where, f"{what} has {amount(count)} values", count * LABEL)

    def objects(self, where: Callable[[], str], what: str, count: int) -> None:
        """Pay for names that are numbered."""
        self.take(where, f"{what} stands for {count} objects", count * OBJECT)

    def table(self, where: Callable[[], str], what: str, sizes: Iterable[int]) -> int:
        """Pay for a table over ranges of these sizes, and return how many entries it has."""
        span = math.prod(sizes)
        self.take(where, f"the table of {what} has {span} entries", span * ENTRY)
        return span
