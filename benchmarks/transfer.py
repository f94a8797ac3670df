"""What filling holes costs, from 10^3 to 10^7 factors, against sorting as many numbers in the same run.

    python benchmarks/transfer.py [--small]

A tenth of the factors of the paper's epidemic is unknown. The floor is one stable argsort of as many random 64-bit
integers as the graph has arguments: a transfer cannot do with much less than one grouping.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import lifagu
from lifagu import FactorGraph
from machine import machine
from models import epidemic_with_holes

METHODS: dict[str, dict[str, object]] = {
    "share": {},
    "individuals": {"individuals": True},
    "published": {"published": True},
    "4 steps": {"steps": 4},
    "6 steps": {"steps": 6},
}


def main() -> None:
    """Print a table of seconds and ratios, one row per size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    sizes = (300, 3_000) if parser.parse_args().small else (333, 3_333, 33_333, 333_333, 3_333_333)
    print(f"# Filling holes\n\n{machine(['lifagu', 'numpy'])}\n")
    print("Seconds, and the ratio to one stable argsort of as many integers as there are arguments.\n")
    print(f"| factors | unknown | argsort | {' | '.join(METHODS)} |")
    print("|---" * (3 + len(METHODS)) + "|")
    for people in sizes:
        print(row(people), flush=True)


def row(people: int) -> str:
    """One line of the table."""
    graph = epidemic_with_holes(people)
    owned = epidemic_with_holes(people, individuals=True)
    numbers = np.random.default_rng(0).integers(0, 2**62, len(graph.arguments))
    floor = best_time(lambda: np.argsort(numbers, kind="stable"))
    cells = [str(len(graph.factor_names)), str(len(graph.unknown)), f"{floor:.4f} s"]
    for settings in METHODS.values():
        options = {key: value for key, value in settings.items() if key != "individuals"}
        cells.append(measured(owned if "individuals" in settings else graph, options, floor))
    return f"| {' | '.join(cells)} |"


def measured(graph: FactorGraph, options: dict[str, object], floor: float) -> str:
    """Seconds and ratio of one method, with the completed graph included."""
    seconds = best_time(lambda: lifagu.transfer(graph, **options).graph)  # type: ignore[arg-type]
    return f"{seconds:.3f} s ({seconds / floor:.1f}×)"


def best_time(work: Callable[[], object]) -> float:
    """The best of three runs, or of one if it is long."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        if times[-1] > 3:
            break
    return min(times)


if __name__ == "__main__":
    main()
