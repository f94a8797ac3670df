"""Many small models in one graph, each with a log Z of its own, on the ground.

`Prepared` adds up the log Z of connected parts; whoever weighs models against each other needs that
of each. What evidence has cut into several parts counts together again, with the potentials of
factors that are observed throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import TooLargeError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.lifted.adjoints import LogMarginals
from lifagu.inference.parts_from_lists import Untouched, listed_parts
from lifagu.inference.planning_by_part import plan_parts
from lifagu.inference.prepared import Questions, Solution
from lifagu.inference.question_checks import Question


def solve_models(
    graph: FactorGraph,
    evidence: Evidence,
    questions: Sequence[Question],
    model_of: Ints,
    *,
    limit: int,
    most: float,
) -> tuple[Floats, list[Floats]]:
    """The log Z of each model (-inf where its weight is zero) and the log of each answer.

    model_of[v]: which of the models 0, 1, … variable v belongs to; no factor is about two of them
    or unknown. Answers are by canonical value, an axis per variable; they mean nothing where the
    weight is zero. limit: of the memory, in bytes; most: entries of one part beyond which a
    `TooDearError` says so. Cost: that of the ground engine, equal parts once.
    """
    rest, _ = listed_parts(graph, evidence, None, None)
    posed = Questions(graph, evidence, "ground", tuple(questions), (), limit)
    prepared = plan_parts(posed, Untouched(graph.variable_names), rest, most=most)
    if not prepared.plans.keys() >= set(prepared.like):
        raise TooLargeError("; ".join(prepared.notes))
    logs = _log_constants(graph, evidence, model_of)
    pieces: dict[Question, Floats] = {}
    for number, part_log, found in prepared.each_part(lambda _: None):
        logs[model_of[rest.parts[number].variables[0]]] += part_log
        pieces |= found
    solution = Solution(None, LogMarginals(0), pieces)
    return logs, [prepared.joint(question, solution) for question in questions]


def _log_constants(graph: FactorGraph, evidence: Evidence, model_of: Ints) -> Floats:
    """For each model the log weight of its factors that are observed throughout."""
    logs = np.zeros(int(model_of.max(initial=-1)) + 1)
    value = evidence.value_of_each(len(graph.variable_names))
    for factors, scopes in graph.scopes:
        if not scopes.shape[1]:
            continue
        seen = np.flatnonzero((value[scopes] >= 0).all(axis=1))
        place = np.zeros(len(seen), dtype=np.int64)
        for column in scopes[seen].T:
            place = place * graph.sizes[column] + value[column]
        tables = graph.tables
        potentials = tables.values[tables.offsets[graph.factor_table[factors[seen]]] + place]
        with np.errstate(divide="ignore"):
            np.add.at(logs, model_of[scopes[seen, 0]], np.log(potentials))
    return logs
