"""How much memory there is, and sizes as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from mmap import PAGESIZE
from pathlib import Path
from time import monotonic

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")  # where the system tells
NO_LIMIT = 2**60  # bytes from which on a limit of a control group is none
LEAST = 16 * 2**20  # bytes that reading and asking may take under any limit: less is no matter
UNTOLD = 8 * 2**30  # what is taken to be free where the system does not tell
# by version of control groups: where they are, the limit, what is used, and what files make of that
_V1 = "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
_V2 = "", "memory.max", "memory.current", "inactive_file"


def default_memory_limit() -> int:
    """Three quarters of the free memory in bytes (of 8 GiB where the system does not tell).

    Free is what the system, the control groups of this process and its own limit leave.
    """
    return _free_memory(int(monotonic())) * 3 // 4


@lru_cache(maxsize=1)
def _free_memory(second: int) -> int:
    """Memory that is free, looked up once in every second."""
    return max(0, min([*_of_the_system(), *_of_groups(), *_of_the_process()], default=UNTOLD))


def _of_the_system() -> Iterator[int]:
    with suppress(OSError):
        for line in (PROC / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024


def _of_groups() -> Iterator[int]:
    """What each group above this process leaves; within a container its own stands at the root."""
    lines: list[str] = []
    with suppress(OSError):
        lines = (PROC / "self/cgroup").read_text().splitlines()
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") > 1):
        if controllers and "memory" not in controllers.split(","):
            continue
        below, most, used, cached = _V1 if controllers else _V2
        root = GROUPS / below
        group = root / path.strip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(root):
                break
            with suppress(OSError, ValueError):  # no such group here, or "max"
                limit = int((folder / most).read_text())
                if limit < NO_LIMIT:
                    yield limit - int((folder / used).read_text()) + _cached(folder, cached)


def _cached(folder: Path, name: str) -> int:
    """Bytes of files that a group holds and would give up."""
    words = (folder / "memory.stat").read_text().split()
    return int(words[words.index(name) + 1]) if name in words else 0


def _of_the_process() -> Iterator[int]:
    """What the limit on the address space leaves, if there is one."""
    with suppress(ImportError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            yield limit - int((PROC / "self/statm").read_text().split()[0]) * PAGESIZE


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
