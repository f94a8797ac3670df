"""Tables put into the factors of a large graph, and the records behind them, with little memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, first_places, frozen, offsets_of, places_within
from lifagu.graph.assembly import scopes_of
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports, exact
from lifagu.graph.tables import GivenTables, intern_tables
from lifagu.relational.learning_task import LearnedModel
from lifagu.relational.loaded import Loaded


def with_given_tables(graph: FactorGraph, given: GivenTables, factor_given: Ints) -> FactorGraph:
    """The graph with tables, each of which is over the same ranges wherever it is.

    As `FactorGraph.refilled`, but only the first factor of each table is looked at.
    """
    first = first_places(factor_given)
    factors = np.sort(first[first < len(factor_given)])
    lengths = np.diff(graph.offsets)[factors]
    arguments = graph.arguments[np.repeat(graph.offsets[factors], lengths) + places_within(lengths)]
    canonical = first_places(graph.ranges.range_of)[graph.variable_range[arguments]]
    scopes = scopes_of(offsets_of(lengths), canonical)
    tables, of_first = intern_tables(given, factor_given[factors], scopes, graph.ranges)
    number_of = np.full(len(first) + 1, -1, dtype=np.int64)
    number_of[factor_given[factors]] = of_first
    return replace(graph, tables=tables, factor_table=frozen(number_of[factor_given]))


def learned_supports(loaded: Loaded, learned: LearnedModel) -> Supports | None:
    """The records behind each table of the graph, those that were learned included."""
    graph, task = loaded.model, loaded.task
    assert isinstance(graph, FactorGraph)
    assert task is not None
    count = len(graph.factor_table)
    told, given = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    behind = np.zeros(count)
    for table, start, found in zip(task.tables, loaded.learned_at, learned.tables, strict=True):
        mine = slice(start, start + len(table))
        told[mine], behind[mine] = True, found.records[table.in_stack]
        given[mine] = sum(1 << place for place in table.given)
    if graph.support is None:
        every, no = bool(told.all()), exact(count)
        offsets = np.arange(count + 1) if every else offsets_of(told.astype(np.int64))
        found_records = behind if every else behind[told]
        prior_offsets, priors = no.prior_offsets, no.priors
    else:
        others = graph.support.only(~told)
        offsets = offsets_of(np.diff(others.offsets) + told)
        own = np.zeros(offsets[-1], dtype=np.bool_)
        own[offsets[:-1][told]] = True
        found_records = np.empty(len(own))
        found_records[own], found_records[~own] = behind[told], others.records
        given = np.where(told, given, others.given)
        prior_offsets, priors = others.prior_offsets, others.priors
    whole = Supports(frozen(offsets), frozen(found_records), frozen(given), prior_offsets, priors)
    return whole.or_none
