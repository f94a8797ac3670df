"""Hidden cells predicted: a case that never saw them, and what it says about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.names import ChosenNames
from lifagu.errors import FormatError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions import in_memory
from lifagu.questions.opened import Opened
from lifagu.questions.requested_marginals import request
from lifagu.questions.statement import Statement
from lifagu.questions.validating.observed_cells import ObservedCells
from lifagu.relational.grounding import ground_names
from lifagu.relational.learned_graphs import with_hidden
from lifagu.relational.loaded import Loaded


def unseen(case: Statement, cells: ObservedCells, evidence: Evidence, hidden: Ints) -> Statement:
    """The case in which nobody observed the hidden cells, and no table was counted from them."""
    graph = _counted_again(case, cells, hidden)
    left = replace(cells.evidence_without(evidence, hidden), of=None)
    if graph is cells.graph:  # what is filled without looking at evidence is filled once
        opened = case.opened.once(("unseen", case.added), lambda: Opened(given=Loaded(graph, {})))
    else:
        opened = Opened(given=Loaded(graph, {}))
    layers = (graph.observations(left),)
    return replace(case, opened=opened, layers=layers, keeps_own=False, added=())


def _counted_again(case: Statement, cells: ObservedCells, hidden: Ints) -> FactorGraph:
    """The graph whose tables nobody counted or learned from hidden cells."""
    loaded, progress = case.opened.read(case.place.progress), case.place.progress
    template = loaded.template
    if template is None or not isinstance(loaded.model, FactorGraph):
        return cells.graph
    counts = any(each.key for each in template.learned.values())
    if not counts and loaded.task is None:
        return cells.graph
    again = with_hidden(loaded, cells.variables[hidden])
    if counts or False:
        from lifagu.data.templates import load_template

        again = load_template(
            template,
            loaded.source,
            lambda what: progress.stage(f"counting again: {what}"),
            _by_constants(loaded.model, cells.variables[hidden]),
        )
    graph = in_memory.grounded(replace(case, opened=Opened(given=again)))
    if not np.array_equal(graph.variable_declared, cells.graph.variable_declared):
        raise FormatError(
            f"{case.opened.path}: the database was changed while it was read; try again"
        )
    return graph


def _by_constants(graph: FactorGraph, variables: Ints) -> dict[str, Ints]:
    """Ground variables of a template by relation, as rows of numbers of constants."""
    names = ground_names(graph)
    own = variables[variables < len(names)]  # those who were added are in no database
    which = names.origins(own)
    return {
        rows.prefix: rows.rows[own[which == place] - names.start(place)]
        for place, rows in enumerate(names.rows, start=1)
        if (which == place).any()
    }


def predicted(
    case: Statement, cells: ObservedCells, hidden: Ints, engine: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """A distribution for each hidden cell, padded with 0, and which of them have an answer."""
    moved = in_memory.transferred(case)
    seen = moved.original.evidence(in_memory.bound(case))
    settings = {"engine": engine, "memory_limit": case.place.memory_limit}
    asked = cells.variables[hidden]
    found = request(moved, asked, seen, case.way, settings, case.place.progress)
    rows = np.zeros((len(found.distributions), int(cells.sizes.max(initial=1))))
    for row, distribution in zip(rows, found.distributions, strict=True):
        row[: len(distribution)] = [each[0] for each in distribution.values()]
    answered = np.zeros(len(asked), dtype=np.bool_)
    result = np.zeros((len(asked), rows.shape[1]))
    if len(found) and isinstance(found.names, ChosenNames):
        places = np.searchsorted(asked, found.names.numbers)
        answered[places] = True
        result[places] = rows[found.of] / rows[found.of].sum(axis=1, keepdims=True)
    return result, answered
