"""One individual on the page: found by name, shown as a card, and drawn with what is around it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import lifagu
from lifagu.basics.arrays import Ints
from lifagu.errors import ModelError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.cards.individual import individual
from lifagu.questions.surroundings import surroundings
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.web.inputs import Request
from lifagu.web.lists import seen_in_words
from lifagu.web.workbench import Workbench

MOST_FOUND = 12
MOST_LIKE = 6


def found(bench: Workbench, request: Request) -> dict[str, Any]:
    """Individuals, relations and values whose names go on from what was typed."""
    return {
        "found": [each.json() for each in bench.case(request).find(request.what, most=MOST_FOUND)]
    }


def card(bench: Workbench, request: Request) -> dict[str, Any]:
    """Everything known, filled and predicted about one individual."""
    bench.progress.stage(f"looking up {request.what[:60]}")
    return bench.case(request).show(request.what, like=MOST_LIKE).json()


def around(bench: Workbench, request: Request) -> dict[str, Any]:
    """The graph within two steps of an individual or a variable, and of those that were opened.

    Of a variable with many factors the first ones are shown, and how many there are beside them.
    """
    case = bench.case(request)
    if isinstance(case.model, ParfactorGraph) and case.is_whole and bench.is_large:
        return {"scene": None, "variables": [], "factors": []}
    graph = case.graph
    centres = _centres(bench, graph, request.what)
    opened = _numbers(graph, request.variables or ())
    near = surroundings(graph, centres, opened)
    places = zip(near.variables.tolist(), near.hidden.tolist(), near.central, strict=True)
    listed = [
        {
            "id": f"v{place}",
            **_variable(graph, number),
            "more": more,
            "observed": seen_in_words(case.graph_evidence.get(graph.variable_names[number])),
            "central": central,
        }
        for place, (number, more, central) in enumerate(places)
    ]
    return {
        "scene": asdict(lifagu.draw(near.part, "graph")),
        "variables": listed,
        "factors": list(near.part.factor_names),
    }


def _centres(bench: Workbench, graph: FactorGraph, name: str) -> Ints:
    """The variables of an individual, or the one of this name."""
    one = graph.variable_names.find(name)
    if one is not None:
        return np.array([one])
    return individual(name, graph, bench.came.graph).variables


def _numbers(graph: FactorGraph, names: tuple[str, ...]) -> Ints:
    found = [graph.variable_names.find(each) for each in names]
    if None in found:
        raise ModelError("there is no variable of this name (any more); open the card again")
    return np.array(found, dtype=np.int64)


def _variable(graph: FactorGraph, number: int) -> dict[str, Any]:
    start, end = graph.individual_offsets[[number, number + 1]].tolist()
    people = [graph.individuals[each] for each in graph.individual_ids[start:end].tolist()]
    name, labels = graph.variable_names[number], list(graph.labels(number))
    return {"name": name, "labels": labels, "individuals": people}
