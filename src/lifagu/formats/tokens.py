"""A text as a stream of blank-separated tokens, with the line of each for errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import FormatError


class Tokens:
    """A cursor over the tokens of a text; the rest of a line after a comment sign is left out."""

    def __init__(self, text: str, place: str, comment: str | None = None) -> None:
        self._place = place
        lines = text.splitlines()
        if comment:
            lines = [line.split(comment)[0] for line in lines]
        self._lines = [line.split() for line in lines]
        self._all = [token for line in self._lines for token in line]
        self.next = 0
        if "_" in text:  # Python would read 1_000 as a number
            for token, word in enumerate(self._all):
                if "_" in word:
                    self.fail(f"'{word}' is not a number", token)

    def fail(self, message: str, token: int | None = None) -> NoReturn:
        """Raise an error at a token (the one just read by default)."""
        token = max(self.next - 1, 0) if token is None else token
        number = len(self._lines)
        for line, tokens in enumerate(self._lines, 1):
            token -= len(tokens)
            if token < 0:
                number = line
                break
        raise FormatError(f"{self._place}:{number}: {message}")

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
        """The next tokens as integers, each 0 or more."""
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
            if number < 0:
                self.fail(
                    f"{what} should be a whole number, 0 or more, not '{taken[place]}'",
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
