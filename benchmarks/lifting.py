"""What lifting costs beside colour passing: ground graphs of growing size, and what becomes of them.

python benchmarks/lifting.py [--small]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

import lifagu
from lifagu import FactorGraph
from machine import machine
from models import competing_workshops, epidemic_by_arrays, epidemic_with_holes, ring, smokers_and_friends

_Result = TypeVar("_Result")


def main() -> None:
    """Print a table of seconds, one row per graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    small = parser.parse_args().small
    print(f"# Lifting\n\n{machine(['lifagu', 'numpy'])}\n")
    print("Seconds: colour passing, lifting with the groups given (its proof included), and one query then.\n")
    print("| graph | arguments | colour | lift | query | lifted model |")
    print("|---" * 6 + "|")
    for title, make, query in rows(small):
        print(measured(title, make(), query), flush=True)


def rows(small: bool) -> list[tuple[str, Callable[[], FactorGraph], str]]:
    """What is measured, and what is asked of it."""
    people = (100, 1_000) if small else (10_000, 100_000, 1_000_000)
    side, length = (30, 1_000) if small else (1_000, 100_000)
    found = [(f"epidemic, {n} persons", lambda n=n: epidemic_by_arrays(n), "x0") for n in people]
    return [
        *found,
        (f"the same, named, {people[0]} persons", lambda: epidemic_with_holes(people[0], 0, individuals=True), "x0"),
        (f"competing workshops {side} × {side}", lambda: competing_workshops(side, side), "x0"),
        (f"smokers and friends, {side}", lambda: smokers_and_friends(side), "x0"),
        (f"ring of {length}", lambda: ring(length), ""),
    ]


def measured(title: str, graph: FactorGraph, query: str) -> str:
    """One line of the table."""
    groups, colouring = timed(lambda: lifagu.colour(graph))
    lifted, lifting = timed(lambda: lifagu.lift(graph, groups))
    asking = f"{timed(lambda: lifagu.query(lifted, query))[1]:.3f}" if query else "–"
    result = repr(lifted).partition(": ")[2].rstrip(">")
    return f"| {title} | {len(graph.arguments)} | {colouring:.2f} | {lifting:.2f} | {asking} | {result} |"


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """A result, and the seconds it took."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


if __name__ == "__main__":
    main()
