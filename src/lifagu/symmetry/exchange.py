"""Exchangeable arguments: which arguments of a table may be swapped, and tables that agree up to argument order.

Colour passing that knows this (ACP) finds more alike: Luttermann, Braun, Möller and Gehrke (2024). Factors are brought
to one canonical argument order first, and arguments that may be swapped share a position.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from lifagu.arrays import Floats, Ints
from lifagu.model import FactorGraph
from lifagu.roles import argument_places, by_arity
from lifagu.tables import GivenTables

MOST_ORDERS = 6  # arguments up to which all orders of a table are compared


def swappable(table: Floats) -> tuple[int, ...]:
    """For each argument the first one it may be swapped with: pairs are tested and joined. O(k²) comparisons.

    >>> swappable(np.array([[1, 2], [2, 5]])), swappable(np.array([[1, 2], [3, 5]]))
    ((0, 0), (0, 1))
    """
    first = list(range(table.ndim))
    for slot in range(table.ndim):
        for other in range(slot):
            if table.shape[other] == table.shape[slot] and np.array_equal(table, np.swapaxes(table, other, slot)):
                first[slot] = first[other]
                break
    return tuple(first)


def canonical_order(table: Floats, ranges: tuple[int, ...]) -> tuple[int, ...]:
    """The order of arguments that makes a table smallest, ranges first; the same for tables equal up to order.

    Beyond six arguments only their ranges are put in order: exact, but fewer tables are found equal.

    >>> canonical_order(np.array([[1.0, 3.0], [2.0, 5.0]]), (0, 0))
    (1, 0)
    """
    if table.ndim > MOST_ORDERS:
        return tuple(sorted(range(table.ndim), key=ranges.__getitem__))
    return min(
        permutations(range(table.ndim)),
        key=lambda order: ([ranges[slot] for slot in order], table.transpose(order).reshape(-1).tolist()),
    )


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The same graph with known factors in canonical argument order, and the position each argument sends."""

    graph: FactorGraph
    positions: Ints


def exchange(graph: FactorGraph) -> Exchanged:
    """Bring tables that agree up to argument order together, and let swappable arguments share a position.

    Unknown factors keep their order and positions. Cost: near-linear, plus the orders of each distinct table.
    """
    tables = graph.tables
    orders = [canonical_order(tables[each], tuple(tables.ranges_of(each).tolist())) for each in range(len(tables))]
    arguments = graph.arguments.copy()
    for factors, matrix in by_arity(graph, graph.arguments):
        known = graph.factor_table[factors] >= 0
        chosen = np.array([orders[each] for each in graph.factor_table[factors[known]].tolist()], dtype=np.int64)
        chosen = chosen.reshape(int(known.sum()), matrix.shape[1])
        places = graph.offsets[factors[known], None] + np.arange(matrix.shape[1])
        arguments[places] = np.take_along_axis(matrix[known], chosen, axis=1)
    given = GivenTables.of([tables[each].transpose(orders[each]) for each in range(len(tables))])
    turned = graph.refilled(given, graph.factor_table, arguments)
    return Exchanged(turned, _positions(turned))


def _positions(graph: FactorGraph) -> Ints:
    """For each argument the first of those it may be swapped with, as a position."""
    positions = argument_places(graph)
    shared = [swappable(table) for table in graph.tables]
    for factors, matrix in by_arity(graph, graph.arguments):
        known = graph.factor_table[factors] >= 0
        rows = np.array([shared[each] for each in graph.factor_table[factors[known]].tolist()], dtype=np.int64)
        places = graph.offsets[factors[known], None] + np.arange(matrix.shape[1])
        positions[places] = rows.reshape(int(known.sum()), matrix.shape[1])
    return positions
