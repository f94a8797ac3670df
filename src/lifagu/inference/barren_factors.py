"""Graphs without the factors that cannot matter for some variables, found before any planning."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.names import NumberedNames
from lifagu.graph.assembly import scopes_of, taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import Tables, tables_by_axes
from lifagu.inference.barren import TOLERANCE, peel_rows


def without_barren(graph: FactorGraph, asked: Ints) -> FactorGraph:
    """The graph without factors that sum out to a constant before they reach what is asked.

    Variables keep their numbers; marginals of those asked for are the same. Cost: linear.

    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A"], [1, 3])
    >>> graph = graph.factor("g", ["A", "B"], [0.2, 0.8, 0.5, 0.5]).graph()
    >>> without_barren(graph, np.array([0])), without_barren(graph, np.array([1])) == graph
    (<FactorGraph: 2 variables, 1 factor, 2 distinct tables>, True)
    """
    fixed = np.zeros(len(graph.variable_names), dtype=np.bool_)
    fixed[asked] = True
    fixed[taken_lists(graph.offsets, graph.arguments, graph.unknown)[0]] = True
    scopes = scopes_of(graph.offsets, graph.arguments)

    @cache
    def sums(slot: int) -> Floats:
        return _constant_sums(graph.tables, slot)

    peeled = peel_rows(
        [(matrix, graph.factor_table[rows]) for rows, matrix in scopes],
        fixed,
        lambda labels, slot: sums(slot)[labels],
    )
    dropped = [rows[gone] for (rows, _), gone in zip(scopes, peeled.dropped, strict=True)]
    if not any(map(len, dropped)):
        return graph
    kept = np.setdiff1d(np.arange(len(graph.factor_names)), np.concatenate(dropped))
    arguments, ends = taken_lists(graph.offsets, graph.arguments, kept)
    return replace(
        graph,
        factor_names=NumberedNames("factor", "f", len(kept)),
        factor_table=graph.factor_table[kept],
        offsets=np.concatenate(([0], ends - graph.offsets[-1])),
        arguments=arguments,
        support=None,
    )


def _constant_sums(tables: Tables, slot: int) -> Floats:
    """For each table the log of its sum over a slot where it is always the same, else nan."""
    found = np.full(len(tables), np.nan)
    for numbers, axes, rows in tables_by_axes(tables):
        if slot < len(axes):
            shaped = rows.reshape(len(rows), *tables.sizes[axes])
            totals = shaped.sum(axis=1 + slot).reshape(len(rows), -1)
            highest, lowest = totals.max(axis=1), totals.min(axis=1)
            same = (lowest > 0) & (highest - lowest <= TOLERANCE * highest)
            found[numbers[same]] = np.log(highest[same])
    return found
