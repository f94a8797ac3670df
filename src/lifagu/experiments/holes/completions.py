"""Many ways to complete one graph: marginals of each, their average, and the smallest and largest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import lifagu
from lifagu.experiments.drafts import Filling, Floats
from lifagu.experiments.holes.hospital import SIZES, Hospital
from lifagu.experiments.holes.oracle import strata

WIDTH = max(SIZES.values())


class Marginals:
    """All single marginals of a hospital under any filling; equal fillings are computed once."""

    def __init__(self, hospital: Hospital) -> None:
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
        touched = {
            place.individual
            for factor in self._hospital.hidden
            if (place := self._hospital.places[factor])
        }
        owners = [name.rpartition(".")[2] for name in self._names]
        near: NDArray[np.bool_] = np.array(
            [owner == "Epid" or int(owner) in touched for owner in owners]
        )
        return near & self.unobserved

    def under(self, filling: Filling) -> Floats:
        """The marginals with these tables; a factor that nobody can fill is dropped (ones)."""
        factors = self._hospital.draft.factors
        tables = {factor: np.ones_like(factors[factor].table) for factor in self._hospital.hidden}
        tables |= {factor: table for factor, table in filling.items() if table is not None}
        key = b"".join(tables[factor].tobytes() for factor in self._hospital.hidden)
        if key not in self._computed:
            self._computed[key] = self._of_graph(self._hospital.draft.graph(tables))
        return self._computed[key]

    def exactly(self, moved: lifagu.Transfer, unknown: str) -> tuple[Floats, Floats, Floats]:
        """The answers over all completions, and the lower and upper ends where they are asked for."""
        found = lifagu.queries(
            moved, self._names, evidence=self._hospital.evidence, unknown=unknown
        )
        answer = [each.probabilities for each in found]
        lower = [each.probabilities if each.lower is None else each.lower for each in found]
        upper = [each.probabilities if each.upper is None else each.upper for each in found]
        return _padded(answer), _padded(lower), _padded(upper)

    def _of_graph(self, graph: lifagu.FactorGraph) -> Floats:
        found = lifagu.marginals(graph, evidence=self._hospital.evidence, engine="ground")
        return _padded([np.array(list(found[name].values())) for name in self._names])


def _padded(rows: Sequence[Floats]) -> Floats:
    table = np.zeros((len(rows), WIDTH))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def own_tables(graph: lifagu.FactorGraph, hospital: Hospital) -> dict[int, Floats | None]:
    """The tables of a completed graph in the holes, axes as the arguments were listed."""
    filling: dict[int, Floats | None] = {}
    for place in hospital.hidden:
        factor = graph.factors[place]
        listed = hospital.draft.factors[place].arguments
        order = [factor.arguments.index(argument) for argument in listed]
        filling[place] = (
            None if factor.table is None else np.ascontiguousarray(factor.table.transpose(order))
        )
    return filling


def completions_of(moved: lifagu.Transfer) -> int:
    """How many combinations of competing tables there are."""
    return math.prod(len(each.shares) for each in moved.open_classes)


def drawn(
    moved: lifagu.Transfer, hospital: Hospital, count: int, rng: np.random.Generator
) -> list[Filling]:
    """So many completions, classes taking competing tables by their shares, in random order."""
    chosen = []
    for each in moved.open_classes:
        places = np.searchsorted(np.cumsum(each.shares)[:-1], strata(count, rng), side="right")
        chosen.append([(each, int(each.alternatives[place])) for place in places.tolist()])
    return [
        own_tables(moved.completed(choice), hospital) for choice in zip(*chosen, strict=True)
    ] or [own_tables(moved.graph, hospital)]
