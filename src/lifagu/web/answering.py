"""Questions from a page: the plan and its cost, and the answers, by name or by class."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.errors import ModelError
from lifagu.inference.marginals import AllMarginals
from lifagu.inference.relational.marginals import ClassMarginals
from lifagu.web.inputs import Request
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Answer

MOST_BARS = 1000  # distributions that are sent at once
MOST_ASKED = 60  # variables asked one by one where a page names none
MOST_SUPPORT = 20


def plan(bench: Workbench, request: Request) -> dict[str, Any]:
    """What would be computed and what it costs, before it is."""
    return {"plan": str(_prepared(bench, request))}


def ask(bench: Workbench, request: Request) -> dict[str, Any]:
    """P(variable | evidence): of the variables that are named, or of all, by class where they are
    many.
    """
    prepared = _prepared(bench, request)
    bench.progress.stage("computing")
    found = prepared.run(bench.progress)
    notes = [*getattr(found, "notes", ()), *map(str, getattr(found, "too_large", ()))]
    shared = {"plan": str(prepared), "notes": notes}
    if hasattr(found, "answers"):
        return {
            **shared,
            "engine": found.answers[0].engine if found.answers else request.engine,
            "log_partition": found.log_partition,
            "answers": [_answer(each) for each in found.answers],
            "left_out": [],
        }
    return {
        **shared,
        "engine": found.engine,
        "log_partition": found.log_partition,
        **_all_marginals(found),
    }


def _prepared(bench: Workbench, request: Request) -> Any:
    """A plan, kept until it is run."""
    return bench.once(("plan", repr(request)), lambda: _planned(bench, request))


def _planned(bench: Workbench, request: Request) -> Any:
    """A plan: for all variables in one pass where the page names none and one model decides, else
    for each of some.
    """
    case = bench.case(request)
    if request.variables is None and request.unknown in ("one", "mean") and request.engine != "bp":
        return case.plan_marginals(engine=request.engine)
    names = request.variables if request.variables is not None else _some_names(bench, request)
    if not names:
        raise ModelError("name the variables to ask about")
    return case.plan(names, engine=request.engine)


def _some_names(bench: Workbench, request: Request) -> list[str]:
    names = bench.case(request).graph.variable_names
    return [names[each] for each in range(min(len(names), MOST_ASKED))]


def _answer(answer: Answer) -> dict[str, Any]:
    limits = {}
    if answer.lower is not None and answer.upper is not None:
        limits = {
            "lower": answer.lower.reshape(-1).tolist(),
            "upper": answer.upper.reshape(-1).tolist(),
        }
    return {
        "name": answer.variables[0],
        "labels": list(answer.ranges[0]),
        "probabilities": answer.probabilities.reshape(-1).tolist(),
        "rests_on": list(answer.rests_on[:MOST_SUPPORT]),
        "rests_on_count": len(answer.rests_on),
        "weakest_share": answer.weakest_share,
        **limits,
    }


def _all_marginals(found: Any) -> dict[str, Any]:
    """Marginals by name while they are few, else one for each group of variables that share theirs."""
    too_large = {name for part in found.too_large for name in part.variables}
    left_out = [name for name in found.left_out if name not in too_large]
    if isinstance(found, ClassMarginals):
        classes = [asdict(each) for each in found.classes[:MOST_BARS]]
        return {
            "classes": classes,
            "answers": _expanded(found),
            "left_out": left_out[:MOST_SUPPORT],
        }
    shared = {"left_out": left_out[:MOST_SUPPORT], "left_out_count": len(left_out)}
    if len(found) <= MOST_BARS:
        return {"answers": [_named(name, found[name]) for name in found], **shared}
    return {"answers": [], "classes": _classes(found), **shared}


def _expanded(found: ClassMarginals) -> list[dict[str, Any]]:
    if sum(each.count for each in found.classes) > MOST_BARS:
        return []
    listed = found.expanded()
    return [_named(name, listed[name]) for name in listed]


def _named(name: str, distribution: dict[str, float]) -> dict[str, Any]:
    return {
        "name": name,
        "labels": list(distribution),
        "probabilities": list(distribution.values()),
    }


def _classes(found: AllMarginals) -> list[dict[str, Any]]:
    """The largest groups of variables that share a marginal."""
    of_variable, distributions = found.classes
    sizes = np.bincount(of_variable, minlength=len(distributions))
    _, first = np.unique(of_variable, return_index=True)
    names = found.graph.variable_names
    largest = np.argsort(-sizes, kind="stable")[:MOST_BARS].tolist()
    return [
        {
            "representative": (name := names[int(found.variables[first[each]])]),
            "members": name if sizes[each] == 1 else f"{name} and {sizes[each] - 1:,} more",
            "count": int(sizes[each]),
            "probabilities": distributions[each],
        }
        for each in largest
    ]
