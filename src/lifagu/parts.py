"""Connected parts of a graph, and a summary of what is in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints, by_first_occurrence, connected_parts
from lifagu.model import FactorGraph


def parts_without(graph: FactorGraph, observed: NDArray[np.bool_]) -> Ints:
    """Number of the connected part of each variable once the observed ones are removed; -1 for those. Near-linear."""
    part_of = np.full(len(observed), -1, dtype=np.int64)
    owner = np.repeat(np.arange(len(graph.factor_names)), np.diff(graph.offsets))
    free = ~observed[graph.arguments]
    owner, arguments = owner[free], graph.arguments[free]
    chained = owner[1:] == owner[:-1]
    numbers = connected_parts(len(observed), arguments[:-1][chained], arguments[1:][chained])
    part_of[~observed] = by_first_occurrence(numbers[~observed])
    return part_of


def describe(graph: FactorGraph) -> dict[str, Any]:
    """Sizes, ranges, unknown factors, connected parts, and what can be asked, as plain values."""
    part_of = parts_without(graph, np.zeros(len(graph.variable_names), dtype=np.bool_))
    parts = int(part_of.max(initial=-1)) + 1
    holes = np.zeros(parts, dtype=np.bool_)
    owner = np.repeat(graph.factor_table < 0, np.diff(graph.offsets))
    holes[part_of[graph.arguments[owner]]] = True
    answerable = np.flatnonzero(~holes[part_of]) if parts else np.zeros(0, dtype=np.int64)
    sizes = np.bincount(graph.variable_range, minlength=len(graph.ranges.canonical)).tolist()
    return {
        "variables": len(graph.variable_names),
        "factors": len(graph.factor_names),
        "arguments": len(graph.arguments),
        "distinct_tables": len(graph.tables),
        "unknown_factors": len(graph.unknown),
        "unknown_examples": [graph.factor_names[factor] for factor in graph.unknown[:5].tolist()],
        "largest_arity": int(np.diff(graph.offsets).max(initial=0)),
        "largest_degree": int(graph.degrees.max(initial=0)),
        "ranges": {"/".join(labels): count for labels, count in zip(graph.ranges.canonical, sizes, strict=True)},
        "kinds": list(graph.kinds),
        "individuals": len(graph.individuals),
        "connected_parts": parts,
        "parts_with_unknown_factors": int(holes.sum()),
        "answerable_variables": len(answerable),
        "example_query": graph.variable_names[int(answerable[0])] if len(answerable) else None,
    }
