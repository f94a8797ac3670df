"""Many ways to complete one graph: the marginals of each, and completions drawn by share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import lifagu
from lifagu.basics.choices import Unknown
from lifagu.experiments.drafts import FilledTables, Floats
from lifagu.experiments.holes.hospital import SIZES, DrawnHospital
from lifagu.experiments.holes.oracle import strata

WIDTH = max(SIZES.values())


class CompletedMarginals:
    """All single marginals of a hospital under any filling; equal fillings are computed once."""

    def __init__(self, hospital: DrawnHospital) -> None:
        self._hospital = hospital
        self._names = [variable.name for variable in hospital.draft.variables]
        self._computed: dict[bytes, Floats] = {}

    @cached_property
    def truth(self) -> Floats:
        """The true marginals, variables × values; shorter ranges are padded with zeros."""
        return self._of_graph(self._hospital.draft.graph())

    @cached_property
    def unobserved(self) -> NDArray[np.bool_]:
        """Which variables are not observed."""
        return np.array([name not in self._hospital.evidence for name in self._names])

    @cached_property
    def near(self) -> NDArray[np.bool_]:
        """Which of the unobserved belong to individuals with holes; and Epid."""
        touched = {"Epid", *(str(each.individual) for each in self._hospital.unknown.values())}
        near = np.array([name.rpartition(".")[2] in touched for name in self._names])
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
        found = lifagu.queries(moved, self._names, evidence=evidence, unknown=unknown)
        answer = [each.probabilities for each in found]
        lower = [each.probabilities if each.lower is None else each.lower for each in found]
        upper = [each.probabilities if each.upper is None else each.upper for each in found]
        return padded(answer), padded(lower), padded(upper)

    def _of_graph(self, graph: lifagu.FactorGraph) -> Floats:
        found = lifagu.marginals(graph, evidence=self._hospital.evidence, engine="ground")
        return padded([np.array(list(found[name].values())) for name in self._names])


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
