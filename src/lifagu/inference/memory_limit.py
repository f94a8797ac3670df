"""How much memory answers may take, and the refusal of a plan that would take more."""

from __future__ import annotations

from collections.abc import Sequence

from lifagu.basics.inputs import whole
from lifagu.basics.memory import default_memory_limit
from lifagu.errors import Remedy, TooLargeError


class PlanTooLargeError(TooLargeError):
    """A plan is refused, as connected parts do not fit into memory.

    parts: the variables of each, listed ones by the name of their kind, and what it would take.
    """

    remedy: Remedy

    def __init__(self, what: str, parts: Sequence[tuple[tuple[int | str, ...], str]]) -> None:
        super().__init__(f"{what} {parts[0][1]}", remedy=Remedy.ASK_FOR_LESS)
        self.parts = parts


def memory_limit_of(given: int | None) -> int:
    """A memory limit as it was given, in bytes, or the usual one."""
    if given is None:
        return default_memory_limit()
    return whole("memory_limit", given, 1, of=" of bytes")
