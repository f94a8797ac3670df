"""What a page shows of a model, as plain values: for each operation a request in, a reply out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import lifagu
from lifagu.drawing.graphs import MOST_NODES
from lifagu.errors import LifaguError
from lifagu.web.answering import ask, plan
from lifagu.web.cohorts import cohorts
from lifagu.web.colours import RELATIONAL, rounds_of
from lifagu.web.files import figure, is_drawn, lifted_figure, written
from lifagu.web.individuals import around, card, found, prepared
from lifagu.web.inputs import Request
from lifagu.web.lists import listed, observed, ranked, scenarios
from lifagu.web.overview import checked, overview
from lifagu.web.reply import KNOBS, Reply, json_reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Case, FactorGraph, ParfactorGraph, Transfer

MOST_CLASSES = 100
MOST_MEMBERS = 50
MOST_COMPARED = 15
MOST_COMPARED_ANSWERS = 8
MOST_LOOKED_AT = 100  # holes beside which there may be something to ask about
COMPARED = ("auto", "published", "share", "profiles", "steps", "cohorts", "structure")
NOTHING_TO_FILL = {
    "total": 0,
    "filled": 0,
    "by_theta": [],
    "classes": [],
    "more_classes": 0,
    "loans": [],
}


def opened(bench: Workbench, request: Request) -> dict[str, Any]:
    """What there is: sizes, and of a small model what it observes itself."""
    model, evidence = bench.came.model, bench.came.own_evidence
    return {
        "kind": "relational" if isinstance(model, lifagu.ParfactorGraph) else "graph",
        "summary": model.summary,
        "facts": bench.came.describe(),
        "evidence": dict(evidence) if is_drawn(bench, request) else {},
        "has_individuals": has_individuals(model),
        "add": bench.source.add,
    }


def has_individuals(model: FactorGraph | ParfactorGraph) -> bool:
    """Whether there is anybody to look up, or to be like."""
    if isinstance(model, lifagu.ParfactorGraph):
        return any(each.size for each in model.domains)
    return bool(model.individuals)


def graph(bench: Workbench, request: Request) -> dict[str, Any]:
    """The ground graph as a scene with its variables, if it is small enough; else why not."""
    if not is_drawn(bench, request):
        facts = bench.came.describe()
        sizes = f"{facts['variables']:,} variables and {facts['factors']:,} factors"
        note = f"{sizes} are too many to draw one by one; the lifted model shows them by group."
        return {"scene": None, "variables": None, "factors": None, "note": note}
    whole = bench.case(request).graph
    variables = [
        {"id": f"v{number}", "name": each.name, "labels": each.range}
        for number, each in enumerate(whole.variables)
    ]
    factors = list(whole.factor_names)
    scene = bench.once(("scene", request.add), lambda: asdict(lifagu.draw(whole, "graph")))
    return {"scene": scene, "variables": variables, "factors": factors, "note": ""}


def colours(bench: Workbench, request: Request) -> dict[str, Any]:
    """Colour passing on the completed graph, round by round where it is small."""
    drawn, case = is_drawn(bench, request), bench.case(request)
    if case.is_whole and not drawn:
        return RELATIONAL
    return bench.once(("colours", repr(request)), lambda: rounds_of(case, drawn))


def ready(bench: Workbench, request: Request) -> dict[str, Any]:
    """What nobody has asked for yet, computed ahead: colours if named, else what cards need."""
    if request.what != "colours":
        return prepared(bench, request)
    colours(bench, replace(request, what=""))
    return {}


def transfers(bench: Workbench, request: Request) -> dict[str, Any]:
    """Which holes are filled, from whom, with what share, and why; what is alike together."""
    case = bench.case(request)
    if case.is_whole or not len(case.graph.unknown):
        return NOTHING_TO_FILL | {"theta": request.theta}
    moved = case.transfer
    names = moved.original.factor_names
    classes = moved.by_class()
    shown = [
        {
            **record.as_dict(),
            "donor_id": None if record.donor is None else f"f{names.find(record.donor)}",
            "factors": names.of_nodes(factors[:MOST_MEMBERS]),
            "ids": [f"f{each}" for each in factors[:MOST_NODES].tolist()],
            "count": len(factors),
        }
        for record, factors in classes[:MOST_CLASSES]
    ]
    return {
        "theta": moved.theta,
        "total": len(moved.unknown),
        "filled": len(moved.transferred),
        "by_theta": case.filled_by_theta(),
        "classes": shown,
        "more_classes": max(len(classes) - MOST_CLASSES, 0),
        "loans": _loans(moved),
    }


def explain(bench: Workbench, request: Request) -> dict[str, Any]:
    """Who agrees on the table of an unknown factor, who is nearest, and what would settle it."""
    case = bench.case(request)
    found, told = case.transfer.explain(request.what).as_dict(), case.told(request.what)
    if told is None:
        return found
    return found | {"told": told.as_dict(), "text": f"{found['text']}\n{told}"}


def _loans(moved: Transfer) -> list[tuple[str, str]]:
    """(receiver, donor) of every filled factor, where all of them can be drawn."""
    if len(moved.transferred) > MOST_NODES:
        return []
    return [
        (f"f{one}", f"f{other}")
        for receivers, donors, _ in moved.loans()
        for one, other in np.column_stack((receivers, donors)).tolist()
    ]


def lifted(bench: Workbench, request: Request) -> dict[str, Any]:
    """The lifted model as a scene and in words, and the proof that it means the graph."""
    case = bench.case(request)
    model = case.lifted
    bench.progress.stage("drawing the lifted model")
    key = ("lifted scene", *case.filling_key)
    return {
        "scene": bench.once(key, lambda: asdict(lifted_figure(bench, request))),
        "text": str(model),
        "summary": model.summary,
        "proof": str(model.proof) if model.proof else "",
    }


def compare(bench: Workbench, request: Request) -> dict[str, Any]:
    """The default, the published algorithm, shares, k steps and cohorts, side by side."""
    case = bench.case(request)
    whole = case.model if case.is_whole else case.graph
    # estimated tables are cleaned by cohorts although they are known
    if not isinstance(whole, lifagu.FactorGraph) or not (len(whole.unknown) or whole.support):
        return {"total": 0, "variables": [], "methods": []}
    variables = request.variables if request.variables is not None else _telling(case, whole)
    methods = []
    for method in COMPARED:
        asked = replace(request, method=method, variables=variables)
        if method == "auto":  # which has no use for theta
            asked = replace(asked, theta=0.0)
        methods.append({"method": method, **_filled_by(bench, asked)})
    return {"total": len(whole.unknown), "variables": variables, "methods": methods}


def _filled_by(bench: Workbench, request: Request) -> dict[str, Any]:
    """What one method fills and what is answered then, or why it is not for this model."""
    try:
        moved = bench.case(request).transfer
    except LifaguError as error:
        return {"filled": 0, "records": [], "answers": {"answers": [], "error": error.told(KNOBS)}}
    return {
        "filled": len(moved.transferred),
        "records": [record.as_dict() for record in moved.record[:MOST_COMPARED]],
        "answers": _answers(bench, request),
    }


def _answers(bench: Workbench, request: Request) -> dict[str, Any]:
    """Answers, or why there is none under this method."""
    try:
        return ask(bench, request) if request.variables else {"answers": []}
    except LifaguError as error:
        return {"answers": [], "error": error.told(KNOBS)}


def _telling(case: Case, whole: FactorGraph) -> tuple[str, ...]:
    """Arguments of the first unknown factors, or the first variables; none that was observed."""
    holes = whole.unknown[:MOST_LOOKED_AT].tolist()
    places = [variable for factor in holes for variable in whole.scope(factor)]
    names = whole.variable_names
    beside = [names[each] for each in places] if places else names[:MOST_LOOKED_AT]
    open_ones = [each for each in dict.fromkeys(beside) if each not in case.graph_evidence]
    return tuple(open_ones[:MOST_COMPARED_ANSWERS])


def _shown(
    view: Callable[[Workbench, Request], dict[str, Any]],
) -> Callable[[Workbench, Any], Reply]:
    """An operation that shows what a view gives."""
    return lambda bench, given: json_reply(view(bench, Request.of(given)))


OPERATIONS: dict[str, Callable[[Workbench, Any], Reply]] = {
    "open": _shown(opened),
    "overview": _shown(overview),
    "check": _shown(checked),
    "prepare": _shown(ready),
    "find": _shown(found),
    "card": _shown(card),
    "around": _shown(around),
    "ranked": _shown(ranked),
    "observed": _shown(observed),
    "scenarios": _shown(scenarios),
    "cohorts": _shown(cohorts),
    "graph": _shown(graph),
    "colours": _shown(colours),
    "transfers": _shown(transfers),
    "explain": _shown(explain),
    "lifted": _shown(lifted),
    "plan": _shown(plan),
    "ask": _shown(ask),
    "compare": _shown(compare),
    "list": lambda bench, given: listed(bench, Request.of(given)),
    "file": lambda bench, given: written(bench, Request.of(given)),
    "figure": lambda bench, given: figure(bench, Request.of(given)),
}
