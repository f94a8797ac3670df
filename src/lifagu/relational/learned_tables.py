"""Learned tables put into a ground graph, each row's as far as its conditions were observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows, members, offsets_of, owners
from lifagu.errors import ModelError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports, exact, joined
from lifagu.graph.tables import GivenTables
from lifagu.relational.learning_task import LearnedModel, LearnedTable, LearningTask, TableToLearn
from lifagu.relational.loaded import Loaded


def with_tables(loaded: Loaded, learned: LearnedModel) -> Loaded:
    """What was loaded, with learned tables in the graph, and how many records are behind each.

    A condition that was not observed is no argument of its factors: what that tells is the same
    whatever it may be. The database is not asked again. Near-linear in the ground factors.
    """
    graph, task = loaded.model, loaded.task
    if task is None or not isinstance(graph, FactorGraph):
        raise ModelError("there is nothing to learn in this model")
    both = list(zip(task.tables, loaded.learned_at, learned.tables, strict=True))
    unseen = [_unseen(task, table, found) for table, _, found in both]
    narrow = _narrowed(graph, loaded.learned_at, unseen)
    values, lengths = [graph.tables.values], [np.diff(graph.tables.offsets)]
    number, factor_given = len(graph.tables), graph.factor_table.copy()
    supports = [graph.support or exact(len(factor_given))]
    behind, held = np.arange(len(factor_given)), len(factor_given)
    for (table, start, found), hidden in zip(both, unseen, strict=True):
        mine = slice(start, start + len(table))
        behind[mine] = held + table.in_stack
        for variant in _variants(task, table, found, hidden):
            factors = start + variant.rows
            rows = variant.stack[:, _canonical_places(narrow, int(factors[0]))]
            values.append(rows.reshape(-1) + 0.0)
            lengths.append(np.full(len(rows), rows.shape[1]))
            factor_given[factors] = number + table.in_stack[variant.rows]
            number += len(rows)
            if variant.is_narrow:
                behind[factors] = -1
        supports.append(_supports(table, found))
        held += len(found.stack)
    supports.append(exact(1))
    behind[behind < 0] = held
    given = GivenTables(np.concatenate(values), offsets_of(np.concatenate(lengths)))
    filled = replace(narrow, support=None).refilled(given, factor_given)
    support = joined(supports).taken(behind).or_none
    model = replace(filled, support=support)
    return replace(loaded, model=model, learned=learned, unlearned=loaded)


def _unseen(task: LearningTask, table: TableToLearn, found: LearnedTable) -> Ints:
    """Rows × arguments: 1 where a condition was not observed; the first argument of all stays."""
    unseen = np.zeros((len(table), len(table.slots)), dtype=np.int64)
    for axis in found.conditions:
        slot = table.slots[axis]
        unseen[:, axis] = task.relations[slot.relation].values[slot.cells] < 0
    unseen[unseen.all(axis=1), 0] = 0
    return unseen


def _narrowed(graph: FactorGraph, starts: tuple[int, ...], unseen: list[Ints]) -> FactorGraph:
    """The graph without arguments that were not observed."""
    if not any(each.any() for each in unseen):
        return graph
    dropped = np.zeros(len(graph.arguments), dtype=np.bool_)
    for start, each in zip(starts, unseen, strict=True):
        first = graph.offsets[start]
        dropped[first : first + each.size] = each.reshape(-1)
    factor = owners(graph.offsets)[dropped]
    many = np.diff(graph.offsets) - np.bincount(factor, minlength=len(graph.offsets) - 1)
    return replace(graph, arguments=graph.arguments[~dropped], offsets=offsets_of(many))


class _Variant(NamedTuple):
    """Rows of which the same conditions were not observed, and the stack of their tables."""

    rows: Ints
    stack: Floats
    is_narrow: bool


def _variants(
    task: LearningTask, table: TableToLearn, found: LearnedTable, unseen: Ints
) -> Iterator[_Variant]:
    """The tables of a stack for every pattern of conditions that were not observed."""
    if not found.conditions:
        yield _Variant(np.arange(len(table)), found.stack, False)
        return
    shape, count = task.shape(table), len(found.stack)
    wide = [size + (axis in found.conditions) for axis, size in enumerate(shape)]
    whole = found.stack.reshape(count, *wide)
    for rows in members(group_rows(unseen)):
        pattern = unseen[rows[0]].tolist()
        seen = tuple(
            -1 if missing else slice(0, size) for missing, size in zip(pattern, shape, strict=True)
        )
        yield _Variant(rows, whole[(slice(None), *seen)].reshape(count, -1), any(pattern))


def _canonical_places(graph: FactorGraph, factor: int) -> Ints:
    """Where the potentials of a factor's table, in canonical order, stand in declared order."""
    axes = [
        graph.ranges.to_canonical(int(graph.variable_declared[variable]))
        for variable in graph.scope(factor)
    ]
    shape = [len(axis) for axis in axes]
    return np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*axes)].reshape(-1)


def _supports(table: TableToLearn, found: LearnedTable) -> Supports:
    """The records behind each table of a stack."""
    count = len(found.stack)
    given = sum(1 << place for place in table.given)
    zeros = np.zeros(count + 1, dtype=np.int64)
    return Supports(
        np.arange(count + 1), found.records + 0.0, np.full(count, given), zeros, np.zeros(0)
    )
