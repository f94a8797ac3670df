"""Connected parts of a graph, and a summary of what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Ints,
    by_first_occurrence,
    connected_parts,
    distinct,
    offsets_of,
    owners,
)
from lifagu.basics.names import ChosenNames
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import LONG

if TYPE_CHECKING:
    from lifagu.graph.supports import Supports


def parts_without(graph: FactorGraph, observed: NDArray[np.bool_]) -> Ints:
    """The connected part of each variable without the observed ones (-1 for those). Near-linear."""
    part_of = np.full(len(observed), -1, dtype=np.int64)
    free = ~observed[graph.arguments]
    owner, arguments = owners(graph.offsets)[free], graph.arguments[free]
    chained = owner[1:] == owner[:-1]
    numbers = connected_parts(len(observed), arguments[:-1][chained], arguments[1:][chained])
    part_of[~observed] = by_first_occurrence(numbers[~observed])
    return part_of


def factors_with(graph: FactorGraph, variables: Ints) -> Ints:
    """The factors with one of some variables among their arguments, ascending.

    Cost: that of the factors found, after one pass over the graph that is made once.
    """
    offsets, factors = graph.once(_factors_of_each)
    return distinct(taken_lists(offsets, factors, variables)[0])


def _factors_of_each(graph: FactorGraph) -> tuple[Ints, Ints]:
    """The factors of each variable in a row, ascending, and where those of each begin."""
    order = np.argsort(graph.arguments, kind="stable")
    return offsets_of(graph.degrees), owners(graph.offsets)[order]


def parts_of_factors(graph: FactorGraph, part_of: Ints, factors: Ints) -> Ints:
    """The part of each factor: that of its arguments which are in one, -1 if none is."""
    result = np.full(len(factors), -1, dtype=np.int64)
    values, ends = taken_lists(graph.offsets, graph.arguments, factors)
    owner = owners(np.concatenate(([graph.offsets[-1]], ends)))
    inside = part_of[values] >= 0
    result[owner[inside]] = part_of[values[inside]]
    return result


def taken(graph: FactorGraph, variables: Ints, factors: Ints) -> tuple[FactorGraph, Ints]:
    """The graph of some variables and factors, in order, and each variable's number (-1: none).

    The arguments of the factors must be among the variables. No name is copied.
    """
    number = np.full(len(graph.variable_names), -1, dtype=np.int64)
    number[variables] = np.arange(len(variables))
    arguments, ends = taken_lists(graph.offsets, graph.arguments, factors)
    individual_ids, individual_ends = taken_lists(
        graph.individual_offsets, graph.individual_ids, variables
    )
    part = replace(
        graph,
        variable_names=ChosenNames(graph.variable_names, variables),
        variable_declared=graph.variable_declared[variables],
        variable_kind=graph.variable_kind[variables],
        individual_offsets=np.concatenate(([0], individual_ends - graph.individual_offsets[-1])),
        individual_ids=individual_ids,
        factor_names=ChosenNames(graph.factor_names, factors),
        factor_table=graph.factor_table[factors],
        offsets=np.concatenate(([0], ends - graph.offsets[-1])),
        arguments=number[arguments],
        support=graph.support and graph.support.taken(factors).or_none,
    )
    return part, number


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
        **describe_supports(graph.support),
        "unknown_factors": len(graph.unknown),
        "unknown_examples": [graph.factor_names[factor] for factor in graph.unknown[:5].tolist()],
        "largest_arity": int(np.diff(graph.offsets).max(initial=0)),
        "largest_degree": int(graph.degrees.max(initial=0)),
        "ranges": {
            _range_text(labels): count
            for labels, count in zip(graph.ranges.canonical, sizes, strict=True)
        },
        "kinds": list(graph.kinds),
        "individuals": len(graph.individuals),
        "connected_parts": parts,
        "parts_with_unknown_factors": int(holes.sum()),
        "answerable_variables": len(answerable),
        "example_query": graph.variable_names[int(answerable[0])] if len(answerable) else None,
    }


def _range_text(labels: Sequence[str]) -> str:
    """The labels of a range; of many the first few, the last, and how many there are."""
    few = labels if len(labels) <= LONG else [*labels[:5], "…", labels[-1]]
    return "/".join(few) + ("" if few is labels else f" ({len(labels)})")


def describe_supports(support: Supports | None) -> dict[str, Any]:
    """How many tables are estimated, and from how many records, as plain values."""
    if support is None or not support.estimated.any():
        return {"estimated_tables": None, "records_behind_them": {}}
    records = support.total(np.flatnonzero(support.estimated))
    behind = {"fewest": float(records.min()), "median": float(np.median(records))}
    return {"estimated_tables": len(records), "records_behind_them": behind}
