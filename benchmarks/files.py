"""Large models in and out: Parquet folders and JSON files, each read and written in a process of its own.

    python benchmarks/files.py [--small]

The models are the paper's epidemic with a tenth of the factors unknown: plain, with kinds and individuals, and with
names. Beside each time stands its ratio to one stable argsort of as many random 64-bit integers as there are arguments.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lifagu
from lifagu import FactorGraph
from machine import machine
from models import epidemic, epidemic_by_arrays, epidemic_with_holes

MODELS: dict[str, Callable[[int], FactorGraph]] = {
    "numbers only": epidemic_by_arrays,
    "kinds, individuals, holes": lambda people: epidemic_with_holes(people, individuals=True),
    "names": epidemic,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    small = parser.parse_args().small
    print(f"# Large models in and out\n\n{machine(['lifagu', 'numpy', 'duckdb'])}\n")
    print("Seconds, and the ratio to an argsort of as many integers; the peak of memory of the process that builds the")
    print("model and writes it, and of the one that reads it; the size of what is written.\n")
    print("| model | arguments | kept as | write | read | memory writing | memory reading | size | equal |")
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for title, people, target in rows(small):
            print(row(title, people, Path(folder) / target), flush=True)


def rows(small: bool) -> list[tuple[str, int, str]]:
    """Model, number of persons (nine arguments each), and where it is kept."""
    sizes = (1_111,) if small else (111_111, 1_111_111)
    found = [(title, people, "model") for people in sizes for title in MODELS]
    return found + [(title, sizes[0], "model.json") for title in MODELS]


def row(title: str, people: int, target: Path) -> str:
    """One line of the table."""
    written, read = measured(_write, title, people, target), measured(_read, title, people, target)
    count = written["arguments"]
    numbers = np.random.default_rng(0).integers(0, 2**62, count)
    start = time.perf_counter()
    np.argsort(numbers, kind="stable")
    floor = time.perf_counter() - start
    files = list(target.iterdir()) if target.is_dir() else [target]
    cells = [title, str(count), "JSON" if target.suffix else "Parquet"]
    cells += [f"{each['seconds']:.2f} ({each['seconds'] / floor:.1f}×)" for each in (written, read)]
    cells += [f"{each['memory'] / 2**10:.0f} MB" for each in (written, read)]
    cells += [f"{sum(each.stat().st_size for each in files) / 2**20:.1f} MB", "yes" if read["equal"] else "no"]
    return f"| {' | '.join(cells)} |"


def measured(work: Callable[[str, int, Path], dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What a piece of work reports from a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def _write(title: str, people: int, target: Path) -> dict[str, Any]:
    graph = MODELS[title](people)
    return {"arguments": len(graph.arguments), **_timed(lambda: lifagu.write(graph, target))[0]}


def _read(title: str, people: int, target: Path) -> dict[str, Any]:
    report, graph = _timed(lambda: lifagu.read(target))
    return {**report, "equal": graph == MODELS[title](people)}


def _timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds and the peak of memory so far, in kilobytes; and the result."""
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}, result


if __name__ == "__main__":
    main()
