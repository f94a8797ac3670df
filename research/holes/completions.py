"""Many ways to complete one graph: the marginals of each, and completions drawn by share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

import lifagu
from lifagu.basics.cached import cached_property
from lifagu.basics.choices import Unknown
from research.drafts import FilledTables, Floats
from research.holes.hospital import SIZES, DrawnHospital
from research.holes.oracle import OwnCompletions, strata

WIDTH = max(SIZES.values())


class CompletedMarginals:
    """All single marginals of a hospital under any filling; equal fillings are computed once."""

    def __init__(self, hospital: DrawnHospital) -> None:
        self._hospital = hospital
        self.names = [variable.name for variable in hospital.draft.variables]
        self._computed: dict[bytes, Floats] = {}

    @cached_property
    def truth(self) -> Floats:
        """The true marginals, variables × values; shorter ranges are padded with zeros."""
        return self._of_graph(self._hospital.draft.graph())

    @cached_property
    def unobserved(self) -> NDArray[np.bool_]:
        """Which variables are not observed."""
        return np.array([name not in self._hospital.evidence for name in self.names])

    @cached_property
    def near(self) -> NDArray[np.bool_]:
        """Which of the unobserved belong to individuals with holes; and Epid."""
        touched = {"Epid", *(str(each.individual) for each in self._hospital.unknown.values())}
        near = np.array([name.rpartition(".")[2] in touched for name in self.names])
        return near & self.unobserved

    def under(self, filling: FilledTables) -> Floats:
        """The marginals with these tables; a factor that nobody can fill is dropped (ones)."""
        factors = self._hospital.draft.factors
        tables = {factor: np.ones_like(factors[factor].table) for factor in self._hospital.hidden}
        tables |= {factor: table for factor, table in filling.items() if table is not None}
        key = b"".join(tables[factor].tobytes() for factor in self._hospital.hidden)
        if key not in self._computed:
            self._computed[key] = self._of_graph(self._hospital.draft.graph(tables))
        return self._computed[key]

    def exactly(self, moved: lifagu.Transfer, unknown: Unknown) -> tuple[Floats, Floats, Floats]:
        """The answers over all completions, and lower and upper ends where they are asked for."""
        evidence = self._hospital.evidence
        found = lifagu.queries(moved, self.names, evidence=evidence, unknown=unknown)
        answer = [each.probabilities for each in found]
        lower = [each.probabilities if each.lower is None else each.lower for each in found]
        upper = [each.probabilities if each.upper is None else each.upper for each in found]
        return padded(answer), padded(lower), padded(upper)

    def _of_graph(self, graph: lifagu.FactorGraph) -> Floats:
        found = lifagu.marginals(graph, evidence=self._hospital.evidence, engine="ground")
        return padded([np.array(list(found[name].values())) for name in self.names])


def padded(rows: Sequence[Floats]) -> Floats:
    """One row per variable; shorter ranges end with zeros."""
    table = np.zeros((len(rows), WIDTH))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def own_tables(graph: lifagu.FactorGraph, hospital: DrawnHospital) -> dict[int, Floats | None]:
    """The tables of a completed graph in the holes, axes as the arguments were listed."""
    filling: dict[int, Floats | None] = {}
    for place in hospital.hidden:
        factor = graph.factors[place]
        listed = hospital.draft.factors[place].arguments
        order = [factor.arguments.index(argument) for argument in listed]
        table = factor.table
        filling[place] = None if table is None else np.ascontiguousarray(table.transpose(order))
    return filling


def completions_of(moved: lifagu.Transfer) -> int:
    """How many combinations of competing tables there are."""
    return math.prod(len(each.shares) for each in moved.open_classes)


class _Posterior(Protocol):
    """A transfer that has a posterior."""

    def drawn(self, rng: np.random.Generator) -> lifagu.FactorGraph:
        """A completed graph drawn from it."""


def drawn_graph(moved: lifagu.Transfer, rng: np.random.Generator) -> lifagu.FactorGraph:
    """A completion drawn from the posterior that cohorts have."""
    return cast(_Posterior, moved).drawn(rng)


def by_individual(moved: lifagu.Transfer, hospital: DrawnHospital) -> dict[int, OwnCompletions]:
    """What each individual's holes may be, where a class is all open holes of an individual."""
    classes = {
        hospital.unknown[int(each.factors[0])].individual: each for each in moved.open_classes
    }
    most = max((len(each.shares) for each in classes.values()), default=1)
    offered = []
    for place in range(most):  # every class has its alternative in that place, or its last
        last = [(each, min(place, len(each.shares) - 1)) for each in classes.values()]
        chosen = [(each, int(each.alternatives[number])) for each, number in last]
        offered.append(own_tables(moved.completed(chosen), hospital))
    found: dict[int, OwnCompletions] = {}
    for factor, origin in hospital.unknown.items():
        competing = classes.get(origin.individual)
        shares = np.ones(1) if competing is None else competing.shares
        own = found.setdefault(origin.individual, OwnCompletions(shares, {}))
        dropped = np.ones_like(hospital.draft.factors[factor].table)
        tables = [filling[factor] for filling in offered[: len(shares)]]
        own.tables[factor] = [dropped if table is None else table for table in tables]
    return found


def drawn(
    moved: lifagu.Transfer, hospital: DrawnHospital, count: int, rng: np.random.Generator
) -> list[FilledTables]:
    """So many completions, classes taking competing tables by their shares, in random order."""
    chosen = []
    for each in moved.open_classes:
        places = np.searchsorted(np.cumsum(each.shares)[:-1], strata(count, rng), side="right")
        chosen.append([(each, int(each.alternatives[place])) for place in places.tolist()])
    graphs = [moved.completed(choice) for choice in zip(*chosen, strict=True)] or [moved.graph]
    return [own_tables(graph, hospital) for graph in graphs]
