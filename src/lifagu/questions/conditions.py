"""Conditions of learned tables: which of them a case observes, and what follows from that.

A condition tells about others and is not predicted itself. Where a case observes other ones than
the data does, factors have other tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.errors import ModelError, NoAnswerError
from lifagu.graph.evidence import EvidenceLike, NamedEvidence, Observation, by_name
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.loaded import Loaded

Layers = Sequence[Mapping[str, Observation]]


def condition_relations(loaded: Loaded) -> list[int]:
    """The relations that are conditions, by number."""
    before = loaded.unlearned
    if before is None or before.task is None or loaded.learned is None:
        return []
    found = {
        table.slots[axis].relation
        for table, learned in zip(before.task.tables, loaded.learned.tables, strict=True)
        for axis in learned.conditions
    }
    return sorted(found)


def conditioned(loaded: Loaded, layers: Layers) -> FactorGraph:
    """The graph with the tables that follow from which conditions were observed; layers: all."""
    from lifagu.relational.learned_tables import with_tables

    graph, before = loaded.model, loaded.unlearned
    if not isinstance(graph, FactorGraph):
        raise ModelError("conditions are those of ground graphs")
    if before is None or before.task is None or loaded.learned is None:
        return graph
    relations, changed = list(before.task.relations), False
    for number, values in _observed(loaded, graph, layers).items():
        changed = changed or not np.array_equal(values, relations[number].values)
        relations[number] = replace(relations[number], values=values)
    if not changed:
        return graph
    task = replace(before.task, relations=tuple(relations))
    model = with_tables(replace(before, task=task), loaded.learned).model
    return model if isinstance(model, FactorGraph) else graph


def _observed(loaded: Loaded, graph: FactorGraph, layers: Layers) -> dict[int, Ints]:
    """By relation that is a condition the label of each of its cells, -1 where nobody knows."""
    from lifagu.relational.grounding import ground_names
    from lifagu.relational.learned_graphs import declared_values

    names = ground_names(graph)
    there = [_of_graph(each, graph) for each in layers]
    evidence = graph.evidence(graph.layered(there))
    values, found = evidence.value_of_each(len(names)), {}
    unsure = [each for each in evidence.unsure.tolist() if np.ptp(evidence.likelihoods[each]) > 0]
    origin = names.origins(evidence.soft_variables[unsure]) - 1
    for number in condition_relations(loaded):
        start, count = names.start(1 + number), len(names.rows[number])
        if (origin == number).any():
            raise ModelError(
                f"{names.rows[number].prefix} only tells about others, and is observed or not; "
                "give one label instead of likelihoods"
            )
        found[number] = declared_values(graph, start, values[start : start + count])
    return found


def _of_graph(layer: Mapping[str, Observation], graph: FactorGraph) -> Mapping[str, Observation]:
    """A layer without names of those who were added."""
    if isinstance(layer, NamedEvidence):
        return layer
    return {name: seen for name, seen in layer.items() if name in graph.variable_names}


def refuse_conditions(loaded: Loaded, names: Iterable[str], observed: EvidenceLike) -> None:
    """Conditions that nobody observed cannot be asked about."""
    relations, graph = condition_relations(loaded), loaded.model
    if not relations or not isinstance(graph, FactorGraph):
        return
    from lifagu.relational.grounding import ground_names

    known, seen = ground_names(graph), by_name(observed)
    finer = loaded.template.finer if loaded.template else {}
    place = {rows.prefix: number for number, rows in enumerate(known.rows)}
    relations += [place[coarse] for fine, coarse in finer.items() if place[fine] in relations]
    for name in names:
        number = known.find(name)
        if number is None or name in seen:
            continue
        origin = int(known.origins(np.array([number]))[0]) - 1
        if origin in relations:
            relation = known.rows[origin].prefix
            raise NoAnswerError(
                f"P({name}) has no answer: {relation} only tells about others, and nothing was "
                f"learned that would predict it; name {relation} in queries and learn again"
            )
