"""Long lists on the page, a screen at a time: individuals ranked, what was observed, scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.inputs import certain_label
from lifagu.errors import ModelError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.requested_marginals import asked_numbers
from lifagu.questions.scenarios import AS_IT_IS, in_scenario
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.web.inputs import Request
from lifagu.web.reply import Reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.questions.relation_answer import RelationAnswer

PAGE = 50
MOST_SEARCHED = 50  # individuals whose observations are shown where names are searched
MOST_READ = 50_000  # observations whose names are read to search them
MOST_COMPARED = 20  # variables asked about under each scenario


# ---- a relation, ranked


def ranked(bench: Workbench, request: Request) -> dict[str, Any]:
    """Individuals by the probability of a value, so many from one place on."""
    found = _answered(bench, request)
    value = found.checked(request.value or None)
    order = found.ranked(request.offset + PAGE, value)
    shown = order.taken(np.arange(request.offset, len(order)))
    requested, changed = shown.requested, request.evidence
    case = bench.case(request)
    rows = [
        {
            "name": name,
            "labels": list(requested.distributions[of]),
            "probabilities": [each[0] for each in requested.distributions[of].values()],
            "observed": bool(observed),
            "supposed": name in changed,
            "individuals": [] if shown.classes else _people(case, name),
            "lent": int(lent),
        }
        for name, of, observed, lent in zip(
            requested.names,
            requested.of.tolist(),
            shown.observed.tolist(),
            requested.lent.tolist(),
            strict=True,
        )
    ]
    return {
        "relation": found.relation,
        "labels": list(found.labels),
        "value": value,
        "total": len(found),
        "offset": request.offset,
        "rows": rows,
        "left_out": len(found.left_out),
        "by_class": bool(found.classes),
    }


def listed(bench: Workbench, request: Request) -> Reply:
    """The whole list as CSV, ranked as on the page."""
    found = _answered(bench, request)
    bench.progress.stage("writing the list")
    path = bench.folder / "list.csv"
    try:
        found.ranked(None, found.checked(request.value or None)).write(path)
        body = path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in found.relation)
    return Reply(200, "text/csv; charset=utf-8", body, f"{name[:60] or 'list'}.csv")


def _answered(bench: Workbench, request: Request) -> RelationAnswer:
    """All individuals of the relation for whom the filters hold."""
    case = bench.case(request)
    key = "list", request.what, request.unobserved, *_case_key(request)
    found = bench.once(key, lambda: case.ask_all(request.what, unobserved=request.unobserved))
    if not (request.having or request.containing):
        return found
    if found.classes:
        raise ModelError(
            f"{request.what} is answered by groups of individuals that cannot be told apart, which "
            "have no names or observations of their own to filter by; leave the filters out"
        )
    key = *key, request.having, request.containing
    return bench.once(key, lambda: _filtered(bench, request, found))


def _case_key(request: Request) -> tuple[str, ...]:
    return repr(request.filling), repr(request.add), repr(sorted(request.evidence.items()))


def _filtered(bench: Workbench, request: Request, found: RelationAnswer) -> RelationAnswer:
    """Those whose name contains something, and of whom other things were observed."""
    case = bench.case(request)
    graph = case.graph
    numbers = asked_numbers(graph, found.requested.names)
    own = _first_individuals(graph, numbers)
    kept = np.ones(len(found), dtype=np.bool_)
    if request.containing:
        wanted, names = request.containing.casefold(), graph.individuals
        kept &= [
            wanted in (names[who] if who >= 0 else graph.variable_names[number]).casefold()
            for number, who in zip(numbers.tolist(), own.tolist(), strict=True)
        ]
    values = graph.evidence(case.graph_evidence).value_of_each(len(graph.variable_names))
    for relation, label in request.having:
        having = _observed_as(graph, values, relation, label)
        kept &= np.isin(own, _first_individuals(graph, having))
    return found.taken(np.flatnonzero(kept))


def _observed_as(graph: FactorGraph, values: Ints, relation: str, label: str) -> Ints:
    """The variables of a relation that were observed to have a label."""
    if relation not in graph.kinds:
        raise ModelError(f"there is no relation '{relation[:80]}' to filter by")
    of_kind = np.flatnonzero((graph.variable_kind == graph.kinds.index(relation)) & (values >= 0))
    value_of_range = np.array(
        [labels.index(label) if label in labels else -2 for labels in graph.ranges.canonical]
    )
    kept: Ints = of_kind[values[of_kind] == value_of_range[graph.variable_range[of_kind]]]
    return kept


def _first_individuals(graph: FactorGraph, variables: Ints) -> Ints:
    """The first individual that each variable is about, -1 where it is about none."""
    first = graph.individual_offsets[variables]
    some = graph.individual_offsets[variables + 1] > first
    result = np.full(len(variables), -1, dtype=np.int64)
    result[some] = graph.individual_ids[first[some]]
    return result


def _people(case: Case, name: str) -> list[str]:
    """The individuals that a variable is about."""
    if isinstance(case.model, ParfactorGraph) and case.is_whole:  # which need not be grounded
        words, found = case.model.vocabulary, case.model.vocabulary.find(name)
        if found is None:
            return []
        domains = words.domains_of[found[0]]
        return [words.individual(*each) for each in zip(domains, found[1], strict=True)]
    graph, variable = case.graph, case.graph.variable_names.find(name)
    if variable is None:
        return []
    start, end = graph.individual_offsets[[variable, variable + 1]].tolist()
    return [graph.individuals[each] for each in graph.individual_ids[start:end].tolist()]


# ---- what was observed


def observed(bench: Workbench, request: Request) -> dict[str, Any]:
    """What was observed, so many from one place on; of one relation, or with a text in its name."""
    case = bench.case(request)
    if isinstance(case.model, ParfactorGraph) and case.is_whole and bench.is_large:
        return _page_of_names(bench, request, list(case.evidence))
    graph = case.graph
    bound = graph.evidence(case.graph_evidence)
    variables = bound.about
    total = len(variables)
    if request.what:
        wanted = graph.kinds.index(request.what) if request.what in graph.kinds else -2
        variables = variables[graph.variable_kind[variables] == wanted]
    if request.containing:
        variables = variables[_named(bench, graph, variables, request.containing)]
    shown = variables[request.offset : request.offset + PAGE]
    return {
        "total": total,
        "matching": len(variables),
        "offset": request.offset,
        "rows": [
            {
                "name": (name := graph.variable_names[number]),
                "value": seen_in_words(case.graph_evidence[name]),
                "labels": list(graph.labels(number)),
                "supposed": name in request.evidence,
                "individuals": _people(case, name),
            }
            for number in shown.tolist()
        ],
    }


def _page_of_names(bench: Workbench, request: Request, names: list[str]) -> dict[str, Any]:
    """The same of a model that is not listed one by one: what was said, ranges as they are."""
    evidence, wanted = bench.case(request).evidence, request.containing.casefold()
    matching = [
        name
        for name in names
        if wanted in name.casefold() and name.startswith(f"{request.what}(" if request.what else "")
    ]
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "value": seen_in_words(evidence[name]),
            "labels": [],
            "supposed": name in request.evidence,
            "individuals": [],
        }
        for name in matching[request.offset : request.offset + PAGE]
    ]
    return {"total": len(names), "matching": len(matching), "offset": request.offset, "rows": rows}


def seen_in_words(seen: Any) -> str | None:
    """A label, or likelihoods in words; None where nothing was observed."""
    if seen is None or isinstance(seen, str):
        return seen
    if isinstance(seen, Mapping) and (label := certain_label(seen)) is not None:
        return label
    pairs = seen.items() if hasattr(seen, "items") else enumerate(seen)
    return ", ".join(f"{label}: {value:.3g}" for label, value in pairs)


def _named(bench: Workbench, graph: FactorGraph, variables: Ints, text: str) -> Any:
    """Which variables have a text in their names; of very many those of individuals found by it."""
    if len(variables) <= MOST_READ:
        wanted = text.casefold()
        names = graph.variable_names.of_nodes(variables)
        return np.array([wanted in each.casefold() for each in names], dtype=np.bool_)
    people = {
        each.name for each in bench.came.find(text, most=MOST_SEARCHED) if each.kind == "individual"
    }
    first = _first_individuals(graph, variables)
    numbers = [number for number, each in enumerate(graph.individuals) if each in people]
    return np.isin(first, numbers)


# ---- scenarios


def scenarios(bench: Workbench, request: Request) -> dict[str, Any]:
    """The answers about some variables as things are, and under each scenario."""
    names = (request.variables or ())[:MOST_COMPARED]
    if not (names and request.scenarios):
        raise ModelError("name what is asked about, and keep a scenario to compare it under")
    told = {AS_IT_IS: bench.case(request).ask_each(names, request.engine)}
    for name, evidence in request.scenarios.items():
        bench.progress.stage(f"asking under {name[:60]}")
        with in_scenario(name):
            case = bench.case(replace(request, evidence=evidence))
            told[name] = case.ask_each(names, request.engine)
    return {
        "scenarios": list(told),
        "answers": [
            {
                "name": name,
                "labels": list(told[AS_IT_IS][place].ranges[0]),
                "probabilities": {
                    each: answers[place].probabilities.reshape(-1).tolist()
                    for each, answers in told.items()
                },
            }
            for place, name in enumerate(names)
        ],
    }
