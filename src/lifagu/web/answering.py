"""Questions from a page: the plan and its cost, and the answers, by name or by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.errors import ModelError
from lifagu.inference.marginals import AllMarginals
from lifagu.inference.prepared import Planned, Result
from lifagu.inference.relational.marginals import ClassMarginals
from lifagu.web.inputs import Request
from lifagu.web.reply import SURER
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Answer
    from lifagu.questions.asking import Marginals

MOST_BARS = 1000  # distributions that are sent at once
MOST_ASKED = 60  # variables asked one by one where a page names none
MOST_SUPPORT = 20
MOST_SUSPECTED = 3  # of what is probably not meant so in the model


def plan(bench: Workbench, request: Request) -> dict[str, Any]:
    """What would be computed and what it costs, before it is."""
    return {"plan": str(_prepared(bench, request))}


def ask(bench: Workbench, request: Request) -> dict[str, Any]:
    """P(variable | evidence) of the variables that are named, or of all, by class if many."""
    prepared = _prepared(bench, request)
    bench.progress.stage("computing")
    found = prepared.run(bench.progress)
    if isinstance(found, Result):
        notes, engine = list(found.notes), found.answers[0].engine
        listed = {"answers": [_answer(each) for each in found.answers], "left_out": []}
    else:
        notes = [*map(str, found.too_large[:MOST_SUPPORT]), *_doubts(bench, request)]
        engine = found.engine
        listed = _all_marginals(found)
    return {
        "plan": str(prepared),
        "notes": [*notes, *(f"Warning: {each}" for each in bench.came.suspicions[:MOST_SUSPECTED])],
        "engine": engine,
        "log_partition": found.log_partition,
        **listed,
    }


def _doubts(bench: Workbench, request: Request) -> list[str]:
    """What to say where tables that answers may rest on are hardly better than a guess."""
    return [f"Warning: {each}; {SURER}." for each in bench.case(request).doubts]


def _prepared(bench: Workbench, request: Request) -> Planned[Result | Marginals]:
    """A plan, kept until it is run."""
    return bench.once(("plan", repr(request)), lambda: _planned(bench, request))


def _planned(bench: Workbench, request: Request) -> Planned[Result | Marginals]:
    """A plan: for all variables if none is named and one model decides, else for each of some."""
    case = bench.case(request)
    if request.variables is None and request.engine != "bp":
        return case.plan_marginals(engine=request.engine)
    names = request.variables
    if names is None:
        names = tuple(case.graph.variable_names[:MOST_ASKED])
    if not names:
        raise ModelError("name the variables to ask about")
    return case.plan(names, engine=request.engine)


def _answer(answer: Answer) -> dict[str, Any]:
    limits = {"lower": answer.lower, "upper": answer.upper, "error": answer.error}
    return {
        "name": answer.variables[0],
        "labels": list(answer.ranges[0]),
        "probabilities": answer.probabilities.reshape(-1).tolist(),
        "rests_on": list(answer.rests_on[:MOST_SUPPORT]),
        "rests_on_count": len(answer.rests_on),
        "weakest_share": answer.weakest_share,
        "warnings": [f"{each}; {SURER}" for each in answer.warnings],
        **{name: each.reshape(-1).tolist() for name, each in limits.items() if each is not None},
    }


def _all_marginals(found: Marginals) -> dict[str, Any]:
    """Marginals by name while they are few, else one for each group that shares its own."""
    too_large = {name for part in found.too_large for name in part.variables}
    left_out = [name for name in found.left_out if name not in too_large]
    if isinstance(found, ClassMarginals):
        few = sum(each.count for each in found.classes) <= MOST_BARS
        return {
            "classes": [asdict(each) for each in found.classes[:MOST_BARS]],
            "answers": _named(found.expanded()) if few else [],
            "left_out": left_out[:MOST_SUPPORT],
        }
    shared = {"left_out": left_out[:MOST_SUPPORT], "left_out_count": len(left_out)}
    if isinstance(found, AllMarginals) and len(found) > MOST_BARS:
        return {"answers": [], "classes": _classes(found), **shared}
    return {"answers": _named(found), **shared}


def _named(found: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "labels": list(each), "probabilities": list(each.values())}
        for name, each in found.items()
    ]


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
