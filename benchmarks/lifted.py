"""The lifted engine on ground graphs: symmetric ones of growing size, beside the peers until they break.

    python benchmarks/lifted.py [--small]

Each row is measured in a process of its own, so that memory is its own; building from arrays is included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

import lifagu
from lifagu import FactorGraph
from machine import machine
from models import competing_workshops, epidemic_by_arrays, ring, smokers_and_friends

UAI = Path(__file__).parent.parent.parent / "shared/data/uai2014"
Row = tuple[str, Callable[[], tuple[FactorGraph, str, dict[str, str]]]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few small sizes, to see that it works")
    small = parser.parse_args().small
    print(f"# Lifted inference on ground graphs\n\n{machine(['lifagu', 'numpy'])}\n")
    print("Seconds: building from arrays or reading, one query, all marginals, the best assignment; peak memory.")
    print("Checked: largest difference between the query and the marginals computed apart.\n")
    print("| model | arguments | build | query | all marginals | best | memory | steps | checked |")
    print("|---" * 9 + "|")
    for title, make in rows(small):
        print(measured(title, make), flush=True)


def rows(small: bool) -> list[Row]:
    """What is measured."""
    people = (100, 1_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    found: list[Row] = [
        (f"epidemic, {n} persons, one observed", lambda n=n: (epidemic_by_arrays(n), "x2", {"x6": "true"}))
        for n in people
    ]
    lengths = (1_000,) if small else (1_000, 100_000, 1_000_000)
    found += [(f"ring of {n}, ternary, one observed", lambda n=n: (ring(n), "x1", {"x0": "1"})) for n in lengths]
    side = 30 if small else 300
    found += [
        (f"competing workshops {side} × {side}", lambda: (competing_workshops(side, side), "x0", {})),
        (f"smokers and friends, {side}, 30 % observed", lambda: _smokers(side)),
    ]
    for name in () if small or not UAI.exists() else ("relational_1", "relational_4"):
        found.append((f"UAI 2014 {name}", lambda name=name: _uai(name)))
    return found


def _smokers(count: int) -> tuple[FactorGraph, str, dict[str, str]]:
    evidence = {f"x{person}": "true" if person % 2 else "false" for person in range(1, count * 3 // 10)}
    return smokers_and_friends(count), "x0", evidence


def _uai(name: str) -> tuple[FactorGraph, str, dict[str, str]]:
    evidence = {key: str(value) for key, value in lifagu.read_evidence(UAI / f"{name}.uai.evid").items()}
    graph = lifagu.read(UAI / f"{name}.uai.gz")
    assert isinstance(graph, FactorGraph)
    return graph, "x0", evidence


def measured(title: str, make: Callable[[], tuple[FactorGraph, str, dict[str, str]]]) -> str:
    """One line of the table, measured in a child process."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    child = context.Process(target=_measure, args=(make, theirs))
    child.start()
    theirs.close()
    try:
        cells = mine.recv()
    except EOFError:
        cells = ["failed"] * 8
    child.join()
    return f"| {title} | {' | '.join(cells)} |"


def _measure(make: Callable[[], tuple[FactorGraph, str, dict[str, str]]], pipe: object) -> None:
    times = [time.perf_counter()]
    graph, name, evidence = make()
    times.append(time.perf_counter())
    answer = lifagu.query(graph, name, evidence=evidence)
    times.append(time.perf_counter())
    found = lifagu.marginals(graph, evidence=evidence)
    difference = np.abs(answer.probabilities - list(found[name].values())).max()
    times.append(time.perf_counter())
    lifagu.map_assignment(graph, evidence=evidence)
    times.append(time.perf_counter())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = [f"{later - earlier:.3f}" for earlier, later in pairwise(times)]
    steps = len(found.prepared.reduced.steps)
    pipe.send([str(len(graph.arguments)), *seconds, f"{memory:.2f} GB", str(steps), f"{difference:.0e}"])  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
