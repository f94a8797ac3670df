"""What filling holes costs, from 10^3 to 10^7 factors, against sorting as many numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import lifagu
from lifagu import FactorGraph
from research.bench.measure import Tables, arranging, beside, best_time, duration, sized
from research.bench.models import epidemic_with_holes, individuals_with_holes

ABOUT = (
    "A tenth of the factors is unknown; timed is the transfer and its completed graph, by one "
    "stable argsort of as many random 64-bit integers as there are arguments. Exact tables are the "
    "paper's epidemic; where tables compete, each of n individuals has eight tables of nine "
    "potentials, exact ones of which each place has six, or estimated from 50 records. No peer "
    "fills unknown factors."
)
# how lifagu.transfer is called, and whether the graph declares individuals
RULES: dict[str, tuple[dict[str, Any], bool]] = {
    "lifagu": ({"by": "lifagu"}, False),
    "4 steps": ({"by": "extended", "steps": 4}, False),
    "extended": ({"by": "extended"}, True),
    "auto": ({"by": "auto"}, True),
}
COMPETING = {"exact tables": None, "estimated tables": 50}


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "All agree", ["factors", "unknown", "argsort", *RULES], _agreeing(small)
    yield "Tables compete: auto", ["factors", "unknown", "argsort", *COMPETING], _competing(small)


def _agreeing(small: bool) -> Iterator[list[str]]:
    for people in (300, 3_000) if small else (333, 3_333, 33_333, 333_333, 3_333_333):
        graphs = {owned: epidemic_with_holes(people, individuals=owned) for owned in (False, True)}
        work = {rule: (graphs[owned], settings) for rule, (settings, owned) in RULES.items()}
        yield _row(graphs[False], work)


def _competing(small: bool) -> Iterator[list[str]]:
    for people in (125, 1_250) if small else (125, 1_250, 12_500, 125_000):
        settings = {"by": "auto"}
        work = {
            sort: (individuals_with_holes(people, records), settings)
            for sort, records in COMPETING.items()
        }
        yield _row(work["exact tables"][0], work)


def _row(graph: FactorGraph, work: dict[str, tuple[FactorGraph, dict[str, Any]]]) -> list[str]:
    floor = arranging(len(graph.arguments))
    cells = [beside(best_time(partial(_completed, *each)), floor) for each in work.values()]
    return [sized(len(graph.factor_names)), sized(len(graph.unknown)), duration(floor), *cells]


def _completed(graph: FactorGraph, settings: dict[str, Any]) -> FactorGraph:
    return lifagu.transfer(graph, **settings).graph
