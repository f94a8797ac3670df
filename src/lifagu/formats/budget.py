"""What reading a file takes in memory, held against the memory limit before anything is made.

A text takes what its signs say, as measured for each format. A small file may also say that a
variable has a billion values; what such numbers announce is paid for before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from lifagu.basics.inputs import whole
from lifagu.basics.memory import LEAST, default_memory_limit, readable_size
from lifagu.basics.words import amount
from lifagu.errors import Remedy, TooLargeError

ROOM, TIMES = 128 * 2**20, 16  # what a file may announce where no limit is given, by its size
LABEL, OBJECT, ENTRY = 160, 240, 40  # bytes of one: with the tables to look it up, and copies
TEXT = 3  # bytes of memory for a byte of text, which is there twice, and in pieces
SIGNS = {  # bytes of memory for each of these signs of a text, at the peak of reading it
    ".json": {",": 120, "{": 240, "[": 60, '"': 50},
    ".uai": {" ": 130, "\t": 130, "\n": 130},
    ".evid": {" ": 130, "\t": 130, "\n": 130},
    ".fg": {" ": 150, "\t": 150, "\n": 150},
    ".blog": {";": 2250, ",": 350},
}


class Budget:
    """What is left of the memory that reading one file may take."""

    def __init__(self, size: int, memory_limit: int | None = None) -> None:
        """For a file of a size in bytes, within a limit that was given, or the usual one.

        Where none was given, a file may announce no more than its size makes plausible.
        """
        self.limit = default_memory_limit()
        if memory_limit is not None:
            self.limit = max(LEAST, whole("memory_limit", memory_limit, 1, of=" of bytes"))
        self.announced = self.limit if memory_limit else min(self.limit, ROOM + TIMES * size)
        self._most = self.announced

    @property
    def longest(self) -> int:
        """Bytes of text that may be read, unpacked."""
        return min(self.limit // TEXT, self.announced)

    def unpack(self, where: str, size: int) -> None:
        """Pay for a text of so many bytes before it is read."""
        if size > self.longest:
            raise _refusal(where, f"the text has {size} bytes or more", TEXT * size, self.limit)

    def text(self, where: str, text: str, kind: str) -> None:
        """Pay for what is made of a text; kind: its ending, which tells the format."""
        signs = SIGNS.get(kind, {})
        need = TEXT * len(text) + sum(size * text.count(sign) for sign, size in signs.items())
        if need > self.limit:
            raise _refusal(where, f"the text has {len(text)} characters", need, self.limit)
        self.announced = min(self.announced, self.limit - need)

    def take(self, where: Callable[[], str], what: str, size: int) -> None:
        """Pay for something before it is made; what: a sentence that names it and its number.

        where: the file and the place in it, looked up where it is needed. The error tells the sum.

        >>> Budget(100).labels(lambda: "m.uai:2", "variable x0", 999_999_999)
        Traceback (most recent call last):
        lifagu.errors.TooLargeError: m.uai:2: variable x0 has 999999999 values, which takes \
about 149 GiB of memory, but the limit is 128 MiB in all; name a memory_limit within which it fits
        """
        if size > self.announced:
            raise _refusal(where(), what, self._most - self.announced + size, self._most)
        self.announced -= size

    def labels(self, where: Callable[[], str], what: str, count: int) -> None:
        """Pay for the labels of a range."""
        self.take(where, f"{what} has {amount(count)} values", count * LABEL)

    def objects(self, where: Callable[[], str], what: str, count: int) -> None:
        """Pay for names that are numbered."""
        self.take(where, f"{what} stands for {count} objects", count * OBJECT)

    def table(self, where: Callable[[], str], what: str, sizes: Iterable[int], listed: int) -> int:
        """Pay for a table over ranges of these sizes, and return how many entries it has.

        listed: how many of them the text lists, which is paid already.
        """
        span = math.prod(sizes)
        size = max(0, span - listed) * ENTRY
        self.take(where, f"the table of {what} has {span} entries", size)
        return span


def _refusal(where: str, what: str, size: int, limit: int) -> TooLargeError:
    return TooLargeError(
        f"{where}: {what}, which takes about {readable_size(size)} of memory, but the limit is "
        f"{readable_size(limit)} in all",
        remedy=Remedy.LARGER_LIMIT,
    )
