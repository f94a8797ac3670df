"""A text as a stream of blank-separated tokens, with the line of each for errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NoReturn

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError

MOST = 2**62  # no whole number is greater


class Tokens:
    """A cursor over the tokens of a text; the rest of a line after a comment sign is left out."""

    def __init__(self, text: str, place: str, comment: str | None = None) -> None:
        self._place = place
        if comment:  # blanks keep what follows where it is
            text = re.sub(rf"{comment}[^\n]*", lambda found: " " * len(found[0]), text)
        self._text = text
        self._all = text.split()
        self.next = 0
        if "_" in text:  # Python would read 1_000 as a number
            for token, word in enumerate(self._all):
                if "_" in word:
                    self.fail(f"'{word}' is not a number", token)

    def at(self, token: int | None = None) -> str:
        """Where a token is (the one just read by default): the file and the line."""
        token = max(self.next - 1, 0) if token is None else token
        found = next(islice(re.finditer(r"\S+", self._text), token, None), None)
        before = self._text if found is None else self._text[: found.start()]
        return f"{self._place}:{before.count(chr(10)) + 1}"

    def fail(self, message: str, token: int | None = None) -> NoReturn:
        """Raise an error at a token (the one just read by default)."""
        raise FormatError(f"{self.at(token)}: {message}")

    def take(self, count: int, what: str) -> Sequence[str]:
        """The next tokens; a text that ends too early is an error."""
        taken = self._all[self.next : self.next + count]
        if len(taken) < count:
            self.next = len(self._all)
            self.fail(f"the file ends where {what} should be")
        self.next += count
        return taken

    @property
    def left(self) -> int:
        """Number of tokens not read yet."""
        return len(self._all) - self.next

    def integers(self, count: int, what: str) -> list[int]:
        """The next tokens as integers, each 0 or more and none without end."""
        start = self.next
        taken = self.take(count, what)
        try:
            numbers = list(map(int, taken))
        except ValueError:
            numbers = [
                int(token) if token.isascii() and token.isdigit() and len(token) < 20 else -1
                for token in taken
            ]
        for place, number in enumerate(numbers):
            if not 0 <= number < MOST:
                below = " and below 2^62" if number >= MOST else ""
                self.fail(
                    f"{what} should be a whole number, 0 or more{below}, not '{taken[place]}'",
                    start + place,
                )
        return numbers

    def integer(self, what: str) -> int:
        """The next token as an integer, 0 or more."""
        return self.integers(1, what)[0]

    def potentials(self, count: int, what: str) -> Floats:
        """The next tokens as potentials: finite numbers, 0 or more."""
        start = self.next
        taken = self.take(count, what)
        try:
            values = np.array(list(map(float, taken)), dtype=np.float64)
        except ValueError:
            values = np.array([_float(token) for token in taken])
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            place = int(np.argmax(bad))
            self.fail(
                f"{what}: potentials are finite numbers, 0 or more, not '{taken[place]}'",
                start + place,
            )
        return values

    def end(self) -> None:
        """Nothing may be left."""
        if self.next < len(self._all):
            self.next += 1
            self.fail(f"'{self._all[self.next - 1]}' stands after the end of the model")


def _float(token: str) -> float:
    try:
        return float(token)
    except ValueError:
        return -1.0
