"""Progress: who is told what is being done, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from lifagu.basics.inputs import callback

Tell = Callable[[int, int], None]  # called now and then with how much is done, and the total
Announce = Callable[[str], None]  # called with what begins


@runtime_checkable
class Progress(Protocol):
    """Who is told what is being done and how far."""

    def stage(self, text: str) -> None:
        """Something new begins."""

    def __call__(self, done: int, total: int) -> None:
        """So much of it is done."""


class Told:
    """Somebody who only wants to know how far it is, or nobody."""

    def __init__(self, tell: Tell | None = None) -> None:
        self._tell = tell

    def stage(self, text: str) -> None:
        """What begins is not told."""

    def __call__(self, done: int, total: int) -> None:
        """So much of it is done."""
        if self._tell is not None:
            self._tell(done, total)


def listener(given: Progress | Tell | None) -> Progress:
    """Who is told: somebody with `stage`, a function of (done, total), or nobody.

    >>> listener(print)(1, 2)
    1 2
    """
    callback("progress", given)
    return given if isinstance(given, Progress) else Told(given)
