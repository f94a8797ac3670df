"""What opens a model on the page: what it is about, what is missing, and where tables come from."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.words import stem
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.web.inputs import Request
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.relational.loaded import Loaded

MOST_SORTS = 200  # relations and sorts of tables that are listed
MOST_NAMED = 100_000  # factors whose names are read to tell their sorts
MOST_QUESTIONS = 30
CHECKED_AT_ONCE = 20, 5000  # observed cells, of which predictions are checked without being asked


def overview(bench: Workbench, _: Request) -> dict[str, Any]:
    """Relations with what is missing, where tables come from, questions, and warnings."""
    case = bench.came
    least, most = CHECKED_AT_ONCE
    observed = case.observed_count
    has_cells = case.opened.read(case.place.progress).template is not None
    return {
        "relations": list(_relations(case))[:MOST_SORTS],
        "tables": list(_tables(case))[:MOST_SORTS],
        "questions": list(case.asks[:MOST_QUESTIONS] or case.queries[:MOST_QUESTIONS]),
        "warnings": [*case.warnings, *case.suspicions],
        "observed": observed,
        "can_check": observed > 0,
        "checked_at_once": has_cells and least <= observed <= most,
    }


def checked(bench: Workbench, _: Request) -> dict[str, Any]:
    """How well observed cells are predicted from all the others, a fifth of them being hidden."""
    bench.progress.stage("hiding a fifth of what was observed, and predicting it")
    found = bench.came.validate()
    return {"judgement": found.judgement(), **found.json()}


# ---- relations


def _relations(case: Case) -> Iterator[dict[str, Any]]:
    """For each relation whose it is, its labels, and how many of its variables were observed."""
    if isinstance(case.model, ParfactorGraph) and case.is_whole:
        yield from _over_ranges(case, case.model)
    else:
        yield from _one_by_one(case, case.graph)


def _over_ranges(case: Case, model: ParfactorGraph) -> Iterator[dict[str, Any]]:
    words = model.vocabulary
    seen = [0] * len(words.relations)
    for each in model.observations(case.evidence):
        if each.relation >= 0:
            seen[each.relation] += math.prod(last - first + 1 for first, last in each.spans)
    for number, relation in enumerate(words.relations):
        total = math.prod(words.domains[each].size for each in words.domains_of[number])
        seen_here = min(seen[number], total)
        yield _relation(
            relation.name, relation.of, relation.range, total, seen_here, not relation.of
        )
    if len(model.ground_part.variable_names):
        yield from _kinds(model.ground_part, np.zeros(0, dtype=np.int64), {})


def _one_by_one(case: Case, graph: FactorGraph) -> Iterator[dict[str, Any]]:
    bound = graph.evidence(case.graph_evidence)
    names = graph.variable_names
    rows = names.rows if isinstance(names, GroundNames) else ()
    template = case.opened.read(case.place.progress).template
    finer = set() if template is None else set(template.finer)
    observed = bound.about
    domains = {row.prefix: tuple(each.name for each in row.domains) for row in rows}
    yield from (each for each in _kinds(graph, observed, domains) if each["name"] not in finer)


def _kinds(
    graph: FactorGraph, observed: Any, domains: dict[str, tuple[str, ...]]
) -> Iterator[dict[str, Any]]:
    """The kinds of a graph; variables without one are together, under no name."""
    kinds = graph.variable_kind + 1
    total = np.bincount(kinds, minlength=len(graph.kinds) + 1)
    seen = np.bincount(kinds[observed], minlength=len(total))
    for number, name in enumerate(("", *graph.kinds)):
        if total[number]:
            first = int(np.argmax(kinds == number))
            labels = graph.labels(first) if name else ()
            of, is_single = domains.get(name, ()), graph.variable_names.find(name) is not None
            yield _relation(name, of, labels, int(total[number]), int(seen[number]), is_single)


def _relation(
    name: str, of: Any, labels: Any, total: int, observed: int, is_single: bool
) -> dict[str, Any]:
    """What is said of a relation; is_single: its name is that of a variable, so it is no list."""
    return {
        "name": name,
        "of": list(of),
        "labels": list(labels),
        "total": total,
        "observed": observed,
        "missing": total - observed,
        "single": is_single,
    }


# ---- tables


def _tables(case: Case) -> Iterator[dict[str, Any]]:
    """For each sort of factors how many there are, where their tables come from, and the holes."""
    model = case.model
    if isinstance(model, ParfactorGraph):
        for each in model.parfactors:
            scope = ", ".join(map(str, each.arguments))
            origin = "unknown" if each.table is None else "given in the file"
            yield _table(each.name, scope, origin, 0, int(each.table is None))
        model = model.ground_part
    told = _sources(case.opened.loaded(case.place))
    for name, factors in _sorts(model):
        unknown = int((model.factor_table[factors] < 0).sum())
        source = told.get(name, ("", "given in the file"))
        if unknown == len(factors):
            source = source[0], "unknown"
        records = None
        if model.support is not None and unknown < len(factors):
            some = model.support.total(factors[model.factor_table[factors] >= 0])
            records = [float(some.min()), float(some.max())] if some.max(initial=0) > 0 else None
        yield _table(name, *source, len(factors), unknown, records)


def _table(
    name: str, scope: str, source: str, count: int, unknown: int, records: list[float] | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "scope": scope,
        "source": source,
        "count": count,
        "unknown": unknown,
        "records": records if records and all(map(math.isfinite, records)) else None,
    }


def _sorts(graph: FactorGraph) -> Iterator[tuple[str, Any]]:
    """What factors are called before the individuals, and their numbers."""
    names = graph.factor_names
    if isinstance(names, GroundNames):
        for number, rows in enumerate(names.rows):
            if len(rows):
                first = names.start(1 + number)
                yield rows.prefix, np.arange(first, first + len(rows))
        return
    if len(names) > MOST_NAMED:
        yield "all", np.arange(len(names))
        return
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        found.setdefault(stem(name), []).append(number)
    yield from ((name, np.array(numbers)) for name, numbers in found.items())


def _sources(loaded: Loaded) -> dict[str, tuple[str, str]]:
    """By parfactor of a template its arguments, and where its tables come from, in words."""
    if loaded.template is None:
        return {}
    text = json.loads(loaded.template.text)
    tables = text.get("tables", {})
    return {
        str(each.get("name")): (", ".join(map(str, each.get("args", ()))), _source(each, tables))
        for each in text.get("parfactors", [])
    }


def _source(parfactor: dict[str, Any], tables: dict[str, Any]) -> str:
    table = parfactor.get("table")
    named = tables.get(table) if isinstance(table, str) else table
    if table == "learn" or (isinstance(table, dict) and table.get("learn")):
        by = table.get("by") if isinstance(table, dict) else None
        return "learned from what was observed" + (f", by {', '.join(by)}" if by else "")
    if isinstance(named, dict) and "sql" in named:
        by = named.get("by")
        return f"counted in '{table}'" + (f", by {', '.join(by)}" if by else "")
    if isinstance(named, dict) and "column" in named:
        return f"from the column {named['column']}"
    if isinstance(named, dict):
        return f"given by {', '.join(named.get('by', ()))}"
    return "unknown" if table is None else "given in the template"
