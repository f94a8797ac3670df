"""What a run was: model, evidence, settings and counts, written beside its results.

So that two results can be compared, and it can be said what was different. The same run gives the
same bytes: there is no time in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from lifagu.basics.columns import Column, Columns, name_column
from lifagu.data.parquet.writing import evidence_columns
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.statement import Statement

RUN = "run.json"  # its name in a folder of results


def run_of(case: Statement, on: str, unknown: int, filled: int) -> dict[str, Any]:
    """What is known of a run wherever it was done; unknown, filled: how many factors."""
    database, given = case.opened.database, case.opened.given
    template = given.template if given else None
    return {
        "lifagu": version("lifagu"),
        "model": str(case.opened.path) or None,
        "database": database if isinstance(database, str) else None,
        "parameters": dict(template.parameters) if template else {},
        "added": [list(pair) for pair in case.added],
        "keeps_own_evidence": case.keeps_own,
        "on": on,
        "filling": None if case.filling is None else asdict(case.filling),
        "unknown": unknown,
        "filled": filled,
    }


def run_in_memory(case: Statement, moved: Transfer, seen: Evidence) -> dict[str, Any]:
    """The same of a run in memory, which also knows the model's contents."""
    graph = moved.original
    run = run_of(case, "memory", len(graph.unknown), len(moved.transferred))
    return {**run, **contents_of(graph, seen)}


def contents_of(graph: FactorGraph, seen: Evidence) -> dict[str, Any]:
    """Sizes of a graph, what was observed, counted, and digests of what is in it."""
    return {
        "variables": len(graph.variable_names),
        "factors": len(graph.factor_names),
        "observed": len(seen.about),
        "structure": _digest(graph.offsets, graph.arguments),
        "tables": _digest(graph.tables.offsets, graph.tables.values, graph.factor_table),
    }


def _digest(*arrays: Any) -> str:
    """A few letters that are the same for the same arrays, and hardly ever for others."""
    found = hashlib.sha256()
    for each in arrays:
        found.update(each.tobytes())
    return found.hexdigest()[:16]


def observed_columns(graph: FactorGraph, seen: Evidence) -> Columns:
    """What was observed, by name: variable, value, and likelihood where it was not certain."""
    columns = dict(evidence_columns(graph, seen))
    names: Column = name_column(graph.variable_names, columns.pop("variable_id"))  # type: ignore[arg-type]
    return {"variable": names, **columns}


def run_text(run: Mapping[str, Any]) -> str:
    """A run as the text of its file."""
    return json.dumps(dict(run), ensure_ascii=False, indent=2) + "\n"
