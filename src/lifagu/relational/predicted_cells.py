"""Cells that learned tables are about: which are to be predicted, and some of them hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.grounding import ground_names
from lifagu.relational.loaded import Loaded


def to_predict(loaded: Loaded, evidence: Evidence) -> Ints:
    """The variables of relations that learned tables are asked about and nobody observed."""
    task, graph = loaded.task, loaded.model
    if task is None or not isinstance(graph, FactorGraph):
        return np.zeros(0, dtype=np.int64)
    names = ground_names(graph)
    relations = len(names.rows)
    finer = loaded.template.finer if loaded.template else {}
    place = {rows.prefix: number for number, rows in enumerate(names.rows)}
    coarse = {place[fine]: place[each] for fine, each in finer.items()}
    found = [
        names.start(1 + number) + np.arange(len(task.relations[number].values))
        if number < relations
        else np.array([number - relations])
        for number in sorted({coarse.get(number, number) for number in task.asked})
    ]
    variables = np.concatenate(found)
    return np.asarray(variables[evidence.value_of_each(len(names))[variables] < 0])


def with_hidden(loaded: Loaded, variables: Ints) -> Loaded:
    """What was loaded, with something to learn from which some observed variables are hidden.

    Only what tells about these is learned. Where the template asks about no relation, those of
    hidden variables are what is asked.
    """
    graph, task = loaded.model, loaded.task
    if task is None or not isinstance(graph, FactorGraph):
        return loaded
    names = ground_names(graph)
    origin = names.origins(variables)
    relations = list(task.relations)
    met = set()
    for place in np.unique(origin).tolist():
        mine = variables[origin == place]
        cells = (
            [(place - 1, mine - names.start(place))]
            if place
            else [(len(names.rows) + int(each), np.zeros(1, dtype=np.int64)) for each in mine]
        )
        for number, own in cells:
            values = relations[number].values.copy()
            values[own] = -1
            relations[number] = replace(relations[number], values=values)
            met.add(number)
    learned = {slot.relation for table in task.tables for slot in table.slots}
    asked = task.asked
    if not loaded.asks and met & learned:
        asked = frozenset(met & learned)
    hidden = replace(task, relations=tuple(relations), asked=asked, needed=frozenset(met))
    return replace(loaded, task=hidden, learned=None)
