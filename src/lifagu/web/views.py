"""What a page shows of a model, as plain values: for each operation a request in, a reply out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import lifagu
from lifagu.drawing.graphs import MOST_NODES, fits
from lifagu.drawing.lifted import lifted_scene
from lifagu.web.answering import ask, plan
from lifagu.web.individuals import around, card, found, prepared
from lifagu.web.inputs import Request
from lifagu.web.lists import listed, observed, ranked, scenarios
from lifagu.web.overview import checked, overview
from lifagu.web.reply import Reply, json_reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import FactorGraph, ParfactorGraph, Transfer

MOST_CLASSES = 100
MOST_MEMBERS = 50
READABLE = 200  # nodes of a drawing that can still be read on a page
NOTHING_TO_FILL = {"total": 0, "filled": 0, "classes": [], "more_classes": 0, "loans": []}


def opened(bench: Workbench, request: Request) -> dict[str, Any]:
    """What there is: sizes, and of a small model what it observes itself."""
    model, evidence = bench.came.model, bench.came.own_evidence
    return {
        "kind": "relational" if isinstance(model, lifagu.ParfactorGraph) else "graph",
        "summary": model.summary,
        "facts": bench.came.describe(),
        "evidence": dict(evidence) if _is_drawn(bench, request) else {},
        "has_individuals": has_individuals(model),
        "add": bench.source.add,
    }


def has_individuals(model: FactorGraph | ParfactorGraph) -> bool:
    """Whether there is anybody to look up, or to be like."""
    if isinstance(model, lifagu.ParfactorGraph):
        return any(each.size for each in model.domains)
    return bool(model.individuals)


def _is_drawn(bench: Workbench, request: Request) -> bool:
    """Whether the ground graph can be drawn node by node, told by counts before it is grounded."""
    facts = bench.came.describe()
    return facts["variables"] + facts["factors"] <= READABLE and fits(bench.case(request).graph)


def graph(bench: Workbench, request: Request) -> dict[str, Any]:
    """The ground graph as a scene with its variables, if it is small enough; else why not."""
    if not _is_drawn(bench, request):
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


def transfers(bench: Workbench, request: Request) -> dict[str, Any]:
    """Which holes are filled, from whom, with what share, and why; what is alike together."""
    case = bench.case(request)
    if case.is_whole or not len(case.graph.unknown):
        return NOTHING_TO_FILL
    moved = case.transfer
    names = moved.original.factor_names
    classes = moved.by_class()
    shown = [
        {
            **record.as_dict(),
            "factors": names.of_nodes(factors[:MOST_MEMBERS]),
            "ids": [f"f{each}" for each in factors[:MOST_NODES].tolist()],
            "count": len(factors),
        }
        for record, factors in classes[:MOST_CLASSES]
    ]
    return {
        "total": len(moved.unknown),
        "filled": len(moved.transferred),
        "classes": shown,
        "more_classes": max(len(classes) - MOST_CLASSES, 0),
        "loans": _loans(moved),
    }


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
        "scene": bench.once(key, lambda: asdict(lifted_scene(model))),
        "text": str(model),
        "summary": model.summary,
        "proof": str(model.proof) if model.proof else "",
    }


def _shown(
    view: Callable[[Workbench, Request], dict[str, Any]],
) -> Callable[[Workbench, Any], Reply]:
    """An operation that shows what a view gives."""
    return lambda bench, given: json_reply(view(bench, Request.of(given)))


OPERATIONS: dict[str, Callable[[Workbench, Any], Reply]] = {
    "open": _shown(opened),
    "overview": _shown(overview),
    "check": _shown(checked),
    "prepare": _shown(prepared),
    "find": _shown(found),
    "card": _shown(card),
    "around": _shown(around),
    "ranked": _shown(ranked),
    "observed": _shown(observed),
    "scenarios": _shown(scenarios),
    "graph": _shown(graph),
    "transfers": _shown(transfers),
    "lifted": _shown(lifted),
    "plan": _shown(plan),
    "ask": _shown(ask),
    "list": lambda bench, given: listed(bench, Request.of(given)),
}
