"""Exact answers about one or every variable of ground models: lifagu beside its peers, in the same run.

Prints one Markdown table per family of models. Usage: ``python benchmarks/ground.py [--small] [--limit SECONDS]``.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from lifagu import FactorGraph
from limits import MEMORY, MISSING, REPEATS, Made, Measured, measure, warm_up
from machine import machine
from models import cohorts, epidemic, grid, leaf, network, networks
from peers import ENUMERATION, EVERY, LIFAGU, PEERS, Engine, Model, Outcome

ENGINES = [LIFAGU, *PEERS]
TOO_DEAR = {"munin1", "link"}  # for every variable at once: tables of hundreds of megabytes


@dataclass(frozen=True)
class Family:
    """Models of one kind: (row title, how to make it), by growing size if `ordered`; about `every` variable or one."""

    title: str
    rows: list[tuple[str, Callable[[], Made]]]
    ordered: bool = True
    every: bool = False


def families(small: bool) -> list[Family]:
    """What is measured."""
    people = [4, 16] if small else [4, 16, 64, 256, 1024]
    sides = [4, 8] if small else [8, 10, 12, 14, 16, 18]
    names = [name for name in networks() if not small or name in ("asia", "cancer", "survey", "alarm")]
    return [
        Family("Epidemic, n persons: P(Sick.0)", _rows(epidemic, people, "Sick.0")),
        Family("Cohorts, d persons: P(Sick.0)", _rows(cohorts, people, "Sick.0")),
        Family("Binary grid: P(corner)", _rows(grid, sides, "x0")),
        Family("Bayesian networks: P(deepest leaf)", [(name, partial(_network, name)) for name in names], False),
        Family("All marginals: P(X) of every X", _every(names, sides), False, every=True),
    ]


def _rows(
    family: Callable[[int], FactorGraph], sizes: list[int], variable: str
) -> list[tuple[str, Callable[[], Made]]]:
    return [(str(size), partial(_member, family, size, variable)) for size in sizes]


def _every(names: list[str], sides: list[int]) -> list[tuple[str, Callable[[], Made]]]:
    asked = [(name, partial(_network, name, every=True)) for name in names if name not in TOO_DEAR]
    return [*asked, *((f"{side} × {side} grid", partial(_all_of, grid, side)) for side in sides[:3])]


def _all_of(family: Callable[[int], FactorGraph], size: int) -> Made:
    return Model.of(family(size)), EVERY


def _member(family: Callable[[int], FactorGraph], size: int, variable: str) -> Made:
    graph = family(size)
    return Model.of(graph), graph.variable_names.number(variable)


def _network(name: str, every: bool = False) -> Made:
    read = network(name)
    return Model.of(read), EVERY if every else leaf(read)


def tables(family: Family, limit: float, builds: bool) -> Iterator[str]:
    """The lines of the family's table, as they are measured."""
    yield f"\n## {family.title}\n"
    head = ["model", "lifagu", *(engine.name for engine in PEERS), "reference"]
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}"
    given_up = {engine.name for engine in ENGINES if family.every and not engine.every}
    for title, make in family.rows:
        measured = {engine.name: _measure(engine, make, limit, given_up) for engine in ENGINES}
        if family.ordered:
            given_up |= {name for name, each in measured.items() if trouble(each) not in (None, MISSING)}
        reference, source = find_reference(measure(ENUMERATION, make, limit), list(measured.values()))
        own = measured[LIFAGU.name].seconds
        cells = [cell(measured[engine.name], reference, None if engine is LIFAGU else own) for engine in ENGINES]
        yield f"| {' | '.join([title, *cells, source])} |"
        if builds:
            seconds = [measured[engine.name].build for engine in ENGINES]
            times = ["–" if each is None else f"{1e3 * each:.3g} ms" for each in seconds]
            yield f"| {' | '.join(['… to build', *times, ''])} |"


def _measure(engine: Engine, make: Callable[[], Made], limit: float, given_up: set[str]) -> Measured:
    return Measured(failure="–") if engine.name in given_up else measure(engine, make, limit)


def trouble(measured: Measured) -> str | None:
    """Why a measurement is no answer; None if it is one."""
    if measured.outcome is None:
        return measured.failure
    probabilities = measured.outcome[1]
    if np.isnan(probabilities).any():
        return "nan"
    return None if np.isfinite(probabilities).all() else "inf"


def find_reference(exact: Measured, measured: list[Measured]) -> tuple[Outcome | None, str]:
    """The enumerated answer, else the median of the engines' answers, and which of them it is."""
    if exact.outcome and len(exact.outcome[1]):
        return exact.outcome, "enumeration"
    answers = [each.outcome for each in measured if each.outcome and not trouble(each)]
    if len(answers) < 2:
        return None, "none"
    logs = [log for log, _ in answers if log is not None]
    median = np.median([probabilities for _, probabilities in answers], axis=0)
    return (float(np.median(logs)) if logs else None, median), f"median of {len(answers)}"


def digits(outcome: Outcome, reference: Outcome) -> int:
    """Correct decimal digits of the probabilities (each relative to itself), and of log Z where both know it."""
    expected, found = reference[1], outcome[1]
    with np.errstate(all="ignore"):
        errors = np.where(expected == found, 0.0, np.abs(found - expected) / expected).tolist()
    if outcome[0] is not None and reference[0] is not None:
        errors.append(abs(outcome[0] - reference[0]) / max(1.0, abs(reference[0])))
    worst = max(errors)
    return 0 if worst >= 1 else 16 if worst < 1e-16 else math.floor(-math.log10(worst))


def cell(measured: Measured, reference: Outcome | None, own: float | None) -> str:
    """``2.3× · 15``: time relative to lifagu and correct digits; milliseconds where there is nothing to compare."""
    failure = trouble(measured)
    if failure or measured.outcome is None or measured.seconds is None:
        return failure or "–"
    time = f"{1e3 * measured.seconds:.3g} ms" if own is None else f"{float(f'{measured.seconds / own:.2g}'):g}×"
    return f"{time} · {digits(measured.outcome, reference)}" if reference else time


def header(limit: float) -> str:
    """Where and how it was measured, and how to read the cells."""
    return f"""# Ground inference beside peers

{machine(["numpy", *(engine.package for engine in ENGINES)])}

One answer each, planning included, building the engine's model not; best of {REPEATS} below 1 s. A cell reads
*time relative to lifagu · correct digits* (above 1× the peer is slower), lifagu's own in milliseconds. Digits are
against the reference named in the last column. Threads are as the engines set them: lifagu uses one; pyAgrum, cotengra
and numpy's linear algebra up to {os.cpu_count()}. Limits: {limit:g} s and {MEMORY // 2**30} GiB per answer;
– means that the engine failed on a smaller model of the family, or does not offer all marginals in one pass. On
Bayesian networks pyAgrum and pgmpy are told which table is whose distribution and may drop what does not matter; the
others see tables only."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a few small models only")
    parser.add_argument("--limit", type=float, default=15, metavar="SECONDS", help="time per answer (default: 15)")
    parser.add_argument("--build", action="store_true", help="also show the time to build each engine's model")
    options = parser.parse_args()
    warm_up(ENGINES)
    print(header(options.limit), flush=True)
    for family in families(options.small):
        for line in tables(family, options.limit, options.build):
            print(line, flush=True)


if __name__ == "__main__":
    main()
