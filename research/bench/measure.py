"""Seconds and sizes: of a piece of work, of floors for ratios, and as text; and where it ran."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
Rows = Iterable[Sequence[str]]
Tables = Iterator[tuple[str, Sequence[str], Rows]]  # what a part yields: a title, a head, rows
# At most so many runs, and none after so many seconds; small sizes only show that all works.
RUNS, ENOUGH = 1 if "--small" in sys.argv else 5, 5.0


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """A result, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def best_time(work: Callable[[], object]) -> float:
    """The best of five runs, or of fewer if they are long; with --small one run."""
    times: list[float] = []
    while len(times) < RUNS and sum(times) < ENOUGH:
        times.append(timed(work)[1])
    return min(times)


def sorting(count: int) -> float:
    """Seconds of one sort of so many random 32-bit integers."""
    numbers = np.random.default_rng(0).integers(0, 2**31 - 1, count).astype(np.int32)
    return best_time(lambda: np.sort(numbers))


def arranging(count: int) -> float:
    """Seconds of one stable argsort of so many random 64-bit integers, as grouping takes."""
    numbers = np.random.default_rng(0).integers(0, 2**62, count)
    return best_time(lambda: np.argsort(numbers, kind="stable"))


def passing(count: int) -> float:
    """Seconds of one pass over so many random numbers: exp of each, and their sum."""
    numbers = np.random.default_rng(0).normal(size=count)
    return best_time(lambda: np.exp(numbers).sum())


def beside(seconds: float, floor: float) -> str:
    """How often the floor goes into seconds, to two digits, and the seconds."""
    return f"{float(f'{seconds / floor:.2g}'):,g}× ({duration(seconds)})"


def duration(seconds: float) -> str:
    """Seconds in a unit that reads well."""
    if seconds < 0.9995e-3:
        return f"{1e6 * seconds:.3g} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def sized(count: float) -> str:
    """A number of things."""
    return f"{count:,.0f}"


def mebibytes(size: float) -> str:
    """Bytes as text."""
    return f"{size / 2**20:,.0f} MiB"


def machine(packages: Iterable[str]) -> dict[str, str]:
    """What is behind all figures: processor, memory, system, versions; nothing that names it."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{package} {_version(package)}" for package in packages),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text()
        if found := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
            return found[1].strip()
    return platform.machine()
