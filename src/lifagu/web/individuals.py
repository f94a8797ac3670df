"""One individual on the page: found by name, shown as a card, and drawn with what is around it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import lifagu
from lifagu.basics.arrays import Ints
from lifagu.errors import LifaguError, ModelError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.cards.individual import individual
from lifagu.questions.surroundings import surroundings
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.web.inputs import Request
from lifagu.web.lists import seen_in_words
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Case

MOST_FOUND = 12
MOST_LIKE = 6


def found(bench: Workbench, request: Request) -> dict[str, Any]:
    """Individuals, relations and values whose names go on from what was typed."""
    return {
        "found": [each.json() for each in bench.case(request).find(request.what, most=MOST_FOUND)]
    }


def prepared(bench: Workbench, _: Request) -> dict[str, Any]:
    """What every card needs, computed before anybody asks for one: by a card that nobody sees."""
    case = bench.came
    if not _is_listed(bench, case) or not case.graph.individuals:
        return {}
    bench.progress.stage("getting ready for cards")
    with suppress(LifaguError):  # which whoever asks is told
        case.show(case.graph.individuals[0], like=MOST_LIKE)
    return {}


def _is_listed(bench: Workbench, case: Case) -> bool:
    """Whether variables are known one by one, and not only by relation."""
    return not (isinstance(case.model, ParfactorGraph) and case.is_whole and bench.is_large)


def card(bench: Workbench, request: Request) -> dict[str, Any]:
    """Everything known, filled and predicted about one individual."""

    def looked_up() -> dict[str, Any]:
        bench.progress.stage(f"looking up {request.what[:60]}")
        return bench.case(request).show(request.what, like=MOST_LIKE).json()

    # whoever supposes something and takes it back comes to the same card again
    return bench.once(("card", repr(request)), looked_up)


def around(bench: Workbench, request: Request) -> dict[str, Any]:
    """The graph within two steps of an individual or a variable, and of those that were opened.

    Of a variable with many factors the first ones are shown, and how many there are beside them.
    """
    case = bench.case(request)
    if not _is_listed(bench, case):
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
