"""How much memory there is, and sizes as people read them."""

from __future__ import annotations

import math
from functools import lru_cache
from mmap import PAGESIZE
from pathlib import Path
from time import monotonic


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


def own_memory() -> int:
    """Bytes of memory that this process holds now, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE
    except OSError:
        return 0


def readable_size(size: float) -> str:
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
