"""Exact answers about one or every variable of ground models: lifagu beside its peers."""

from __future__ import annotations

from functools import partial

from research.bench.beside import HEAD, HOW_TO_READ, Made, growing, rows
from research.bench.measure import Tables
from research.bench.models import cohorts, epidemic, grid, leaf, network, networks
from research.bench.peers import EVERY, Model

ABOUT = HOW_TO_READ


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    people = [4, 16] if small else [4, 16, 64, 256, 1024]
    sides = [4, 8] if small else [8, 10, 12, 14, 16, 18]
    names = [name for name in networks() if not small or name in ("asia", "alarm")]
    yield "Epidemic, n persons: P(Sick.0)", HEAD, growing(epidemic, people, "Sick.0", limit)
    yield "Cohorts, d persons: P(Sick.0)", HEAD, growing(cohorts, people, "Sick.0", limit)
    yield "Binary grid: P(corner)", HEAD, growing(grid, sides, "x0", limit)
    one = {name: partial(_network, name) for name in names}
    yield "Bayesian networks: P(deepest leaf)", HEAD, rows(one, limit)
    every = {name: partial(_network, name, every=True) for name in names}
    yield "Bayesian networks: all marginals", HEAD, rows(every, limit, every=True)


def _network(name: str, every: bool = False) -> Made:
    read = network(name)
    return Model.of(read), EVERY if every else leaf(read)
