"""Seconds: of a piece of work, and of floors for ratios, such as sorting as many numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
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
