"""How much memory answers may take, and the refusal of a plan that would take more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic

from lifagu.basics.inputs import whole
from lifagu.errors import Remedy, TooLargeError


class PlanTooLargeError(TooLargeError):
    """A plan is refused, as connected parts do not fit into memory (or are too many to enumerate).

    parts: the variables of each, listed ones by the name of their kind, and what it would take.
    """

    remedy: Remedy

    def __init__(
        self, what: str, parts: Sequence[tuple[tuple[int | str, ...], str]], engine: str
    ) -> None:
        remedy = Remedy.GROUND_ENGINE if engine == "enumerate" else Remedy.ASK_FOR_LESS
        super().__init__(f"{what} {parts[0][1]}", remedy=remedy)
        self.parts = parts


def memory_limit_of(given: int | None) -> int:
    """A memory limit as it was given, in bytes, or the usual one."""
    if given is None:
        return default_memory_limit()
    return whole("memory_limit", given, 1, of=" of bytes")


def default_memory_limit() -> int:
    """Three quarters of the free memory in bytes (of 8 GiB where the system does not tell)."""
    return _free_memory(int(monotonic())) * 3 // 4


@lru_cache(maxsize=1)
def _free_memory(second: int) -> int:
    """Memory that is free, looked up once in every second."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(
            int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")
        )
    except (OSError, StopIteration):
        return 8 * 2**30


def readable_size(size: int) -> str:
    """``1.5 GiB`` and the like.

    >>> readable_size(3 * 2**29)
    '1.5 GiB'
    """
    if size >= 2**50:
        return f"2^{round(math.log2(size))} bytes"
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2**power:
            return f"{size / 2**power:.3g} {unit}"
    return f"{size} bytes"
