"""What a computation may use: seconds, memory, bytes to upload; and how a process keeps to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

# seconds of processor time beyond the time limit, after which the system itself ends a process
SLACK = 5


@dataclass(frozen=True)
class Limits:
    """What may be used: seconds by a computation, bytes of memory by a process, and of a file."""

    seconds: float = 120.0
    memory: int = 4 * 1024**3
    upload: int = 128 * 1024**2


def hold_to(limits: Limits) -> None:
    """Bind this process to the limits, beyond what it has mapped already, where the system can."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_AS, _mapped() + limits.memory)


def allow_seconds(seconds: float) -> None:
    """Let the system end this process if it computes for longer than this, should nobody else."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + SLACK)


def _limit(what: int, wanted: int) -> None:
    import resource

    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (wanted if hard < 0 else min(wanted, hard), hard))


def _mapped() -> int:
    """Bytes of address space that this process has, 0 where the system does not say."""
    import resource

    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def files_at_once(wanted: int = 4096) -> int:
    """How many files this process may have open, after it has asked for as many as it wants."""
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < possible:
        resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
        soft = possible
    return wanted if soft == resource.RLIM_INFINITY else soft


def size_text(size: int) -> str:
    """Bytes as people write them.

    >>> size_text(128 * 1024**2), size_text(1536)
    ('128M', '1.5K')
    """
    for letter, unit in (("G", 1024**3), ("M", 1024**2), ("K", 1024)):
        if size >= unit:
            return f"{size / unit:.3g}{letter}"
    return f"{size} bytes"
