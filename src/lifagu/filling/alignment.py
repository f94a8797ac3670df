"""Alignment: a receiver takes its donor's table with its own arguments in the donor's order."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows, members
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import Tables, permuted_tables
from lifagu.likeness.roles import by_arity


def aligned_tables(graph: FactorGraph, tables: Tables, keys: Ints) -> Ints:
    """Number of each known factor's table once its arguments are sorted by key; -1 if unknown.

    Equal numbers mean equal tables with places aligned. tables: what counts as equal, the graph's
    own by default.
    """
    aligned = np.full(len(graph.factor_names), -1, dtype=np.int64)
    count = 0
    for factors, matrix in by_arity(graph, keys):
        known = graph.factor_table[factors] >= 0
        order = np.argsort(matrix[known], axis=1, kind="stable")
        numbers = permuted_tables(tables, graph.factor_table[factors[known]], order)
        aligned[factors[known]] = count + numbers
        count += int(numbers.max(initial=-1)) + 1
    return aligned


def alignments(
    graph: FactorGraph, keys: Ints, receivers: Ints, donors: Ints, *, positional: bool = False
) -> list[tuple[Ints, Ints]]:
    """Per arity: receivers (places in the list), and where each donor position is in theirs.

    positional: places stay as they are listed where the ranges fit.
    """
    arity = np.diff(graph.offsets)[receivers]
    ranges = graph.variable_range[graph.arguments]
    result = []
    for size in np.flatnonzero(np.bincount(arity)).tolist():
        places = np.flatnonzero(arity == size)
        slots = np.arange(size)
        mine = np.argsort(
            keys[graph.offsets[receivers[places], None] + slots], axis=1, kind="stable"
        )
        theirs = np.argsort(
            keys[graph.offsets[donors[places], None] + slots], axis=1, kind="stable"
        )
        alignment = np.empty_like(mine)
        np.put_along_axis(alignment, theirs, mine, axis=1)
        if positional:
            own, lent = (
                ranges[graph.offsets[each[places], None] + slots] for each in (receivers, donors)
            )
            alignment[(own == lent).all(axis=1)] = slots
        result.append((places, alignment))
    return result


def lend(
    graph: FactorGraph,
    keys: Ints,
    receivers: Ints,
    donors: Ints,
    arguments: Ints,
    *,
    positional: bool = False,
) -> None:
    """Re-order the receivers' arguments, in a copy of the graph's, to match their donors'."""
    for places, alignment in alignments(graph, keys, receivers, donors, positional=positional):
        start = graph.offsets[receivers[places], None]
        arguments[start + np.arange(alignment.shape[1])] = graph.arguments[start + alignment]


def alignment_of(
    graph: FactorGraph, keys: Ints, receiver: int, donor: int, *, positional: bool = False
) -> Ints:
    """The same for one receiver: where each donor position is."""
    pair = np.array([receiver]), np.array([donor])
    ((_, alignment),) = alignments(graph, keys, *pair, positional=positional)
    order: Ints = alignment[0]
    return order


def aligned_rows(
    graph: FactorGraph, keys: Ints, factors: Ints, first: int, rows: Floats, *, back: bool = False
) -> Floats:
    """Tables (k, size) as factors list their arguments, in the argument order of the first.

    back: the other way round.
    """
    ((_, alignment),) = alignments(graph, keys, factors, np.full(len(factors), first))
    result = np.empty_like(rows)
    for alike in members(group_rows(alignment)):
        order = alignment[alike[0]]
        shape = graph.sizes[graph.scope(first if back else int(factors[alike[0]]))]
        axes = np.argsort(order) if back else order
        turned = rows[alike].reshape(len(alike), *shape).transpose(0, *(1 + axes))
        result[alike] = turned.reshape(len(alike), -1)
    return result


def order_decided(table: Floats, keys: list[int]) -> bool:
    """Whether swapping two positions of equal key changes the table, so that list order decides.

    >>> [order_decided(np.array([[1, 2], [last, 4]]), [0, 0]) for last in (3, 2)]
    [True, False]
    """
    return any(
        not np.array_equal(table, np.swapaxes(table, first, second))
        for second in range(len(keys))
        for first in range(second)
        if keys[first] == keys[second]
    )
