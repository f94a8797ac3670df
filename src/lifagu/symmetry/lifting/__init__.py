"""Lifting: groups of what looks alike become relations and parfactors, proved by grounding back.

The groups come from colour passing (Kersting, Ahmadi and Natarajan 2009). Which logical variables
they share is read off the functional dependencies between columns of arguments; that nothing was
lost or added is proved every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from lifagu.errors import LifaguError, ModelError
from lifagu.graph.factor_graph import Colouring, FactorGraph, check_colouring
from lifagu.relational.grounding import ground
from lifagu.relational.parfactor_graph import ParfactorGraph, Proof
from lifagu.symmetry.colour import colour
from lifagu.symmetry.lifting.building import build
from lifagu.symmetry.lifting.classes import (
    FactorClass,
    VariableClasses,
    factor_classes,
    variable_classes,
)
from lifagu.symmetry.lifting.coordinates import coordinates_of, entities_of
from lifagu.symmetry.lifting.dependent_columns import maps_between, structure_of
from lifagu.symmetry.lifting.drafts import DraftParfactor, Frame, draft_of
from lifagu.symmetry.lifting.proof import compare, prove
from lifagu.symmetry.lifting.sorts import Sorts
from lifagu.symmetry.lifting.whole_groups import Slot, shared_positions, slots_of


@runtime_checkable
class CompletedGraph(Protocol):
    """A graph with its holes filled beside the original, as in a `lifagu.Transfer`."""

    @property
    def original(self) -> FactorGraph:
        """The graph as it came."""

    @property
    def graph(self) -> FactorGraph:
        """The graph to lift."""


def lift(
    model: FactorGraph | ParfactorGraph | CompletedGraph, colouring: Colouring | None = None
) -> ParfactorGraph:
    """A relational model that means a graph: relations for variables, parfactors for factors.

    Each group of variables becomes a relation, each group of factors a parfactor; what does not
    lift stays in the ground part. Near-linear, beside the colouring.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        Of a transfer the completed graph is lifted; a relational model is grounded first.
    colouring : Colouring, optional
        The groups, found by colour passing unless they are given. Arguments that a table lets swap
        are then not told apart where a factor takes a whole group, so that it can be counted.

    Returns
    -------
    ParfactorGraph
        Its `proof` says how it was proved: grounded again, it has the same variables and factors,
        names included.

    Examples
    --------
    >>> build = FactorGraph.build().variable("Epid").variables(["Sick.al", "Sick.bo"], kind="Sick")
    >>> arguments = {"f.al": ["Sick.al", "Epid"], "f.bo": ["Sick.bo", "Epid"]}
    >>> graph = build.factors(arguments, [4, 1, 1, 3]).graph()
    >>> print(lift(graph).parfactors[0])
    g0: Sick(X), Epid
    >>> ground(lift(graph)).factors[1].arguments
    ('Sick.bo', 'Epid')
    """
    graph = model.graph if isinstance(model, CompletedGraph) else model
    if not isinstance(graph, FactorGraph | ParfactorGraph):
        raise ModelError(
            f"lift takes a FactorGraph, a ParfactorGraph or a Transfer, not {type(model).__name__}"
        )
    graph = ground(graph)
    positions = shared_positions(graph)
    if colouring is None:
        colouring = colour(graph, positions=positions)
    else:
        check_colouring(colouring, graph)
    variables = variable_classes(graph, colouring)
    factors = factor_classes(graph, colouring, variables, positions)
    slots = [slots_of(each, variables) for each in factors]
    frame = _frame(graph, variables, factors, slots)
    drafts = [draft_of(graph, each, own, frame) for each, own in zip(factors, slots, strict=True)]
    return _proved(graph, frame, [each for each in drafts if each is not None])


def _proved(graph: FactorGraph, frame: Frame, drafts: Sequence[DraftParfactor]) -> ParfactorGraph:
    """The model of drafts with its proof; what fails it goes into the ground part."""
    while drafts:
        try:
            built = build(graph, frame, drafts)
            found = compare(built.model, graph)
        except LifaguError:
            break
        if isinstance(found, Proof):
            return built.model.with_proof(found)
        wrong = set(built.drafts[found.parfactors[found.parfactors >= 0]].tolist())
        kept = [
            draft
            for number, draft in enumerate(drafts)
            if number not in wrong and not np.isin(draft.factors, found.factors).any()
        ]
        drafts = kept if len(kept) < len(drafts) else []
    model = build(graph, frame, []).model
    return model.with_proof(prove(model, graph))


def _frame(
    graph: FactorGraph,
    variables: VariableClasses,
    factors: Sequence[FactorClass],
    slots: Sequence[Sequence[Slot]],
) -> Frame:
    """Logical variables for all classes: sorts, the maps between them, and coordinates."""
    sorts = Sorts(graph, variables)
    columns = [sorts.columns(each, own) for each, own in zip(factors, slots, strict=True)]
    maps = [*sorts.maps, *(found for row in columns for found in maps_between(row, sorts.sizes))]
    structure = structure_of(sorts.sizes, sorts.met, maps, sorts.agree)
    coordinates = coordinates_of(structure, entities_of(structure, columns), sorts.owners)
    return Frame(variables, structure, coordinates)
