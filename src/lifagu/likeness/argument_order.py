"""Exchangeable arguments: which may be swapped, and tables that agree up to argument order.

Colour passing that knows this (ACP) finds more alike: Luttermann, Braun, Möller and Gehrke (2024).
Factors are brought to one canonical argument order first, and arguments that may be swapped share a
position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, owners
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables, Tables, tables_by_axes, turned, turned_places
from lifagu.likeness.close_numbers import ranks
from lifagu.likeness.merging import SCALE_TOLERANCE, axis_starts, scaled_tables
from lifagu.likeness.roles import argument_places

# up to which all orders are compared, many tables at once; beyond, a search goes table by table
FEW_ARGUMENTS = 5
# beginnings of an order that the search follows at once; beyond, a table stays as it is listed
MOST_TIED = 200
MOST_POTENTIALS = 2**21  # and how many potentials they may have together


def swappable(table: Floats) -> tuple[int, ...]:
    """For each argument the first one it may be swapped with; pairs are tested. O(k²) comparisons.

    >>> swappable(np.array([[1, 2], [2, 5]])), swappable(np.array([[1, 2], [3, 5]]))
    ((0, 0), (0, 1))
    """
    return tuple(_swappable_rows(table.reshape(1, -1), table.shape, table.shape)[0].tolist())


def swappable_axes(tables: Tables) -> Ints:
    """The same for all tables, in the layout of `Tables.axes`; only within a range."""
    first = np.empty_like(tables.axes)
    for numbers, axes, rows in tables_by_axes(tables):
        shape = tuple(tables.sizes[axes].tolist())
        places = tables.axis_offsets[numbers, None] + np.arange(len(axes))
        first[places] = _swappable_rows(rows, shape, axes.tolist())
    return first


def _swappable_rows(rows: Floats, shape: Sequence[int], ranges: Sequence[int]) -> Ints:
    """For each row, a table, and each argument the first one it may be swapped with."""
    slots = list(range(len(shape)))
    first = np.tile(np.arange(len(shape)), (len(rows), 1))
    for slot in slots:
        for other in range(slot):
            if ranges[other] == ranges[slot]:
                order = [{slot: other, other: slot}.get(each, each) for each in slots]
                same = (rows == rows[:, turned_places(tuple(shape), tuple(order))]).all(axis=1)
                first[same, slot] = np.minimum(first[same, slot], first[same, other])
    return first


def canonical_orders(tables: Tables, tolerance: float = 0.0) -> Ints:
    """For each table an order of arguments, by range, in which those equal up to order are equal.

    In the layout of `Tables.axes`. tolerance: potentials count as one where steps of at most a
    factor 1 + tolerance link them, so that tables within it of each other mostly come in the same
    order, too; ties stay as they are. Exact but for tables of more than five arguments with very
    many ties, which may be kept as they are listed.
    """
    if tolerance:
        exact = canonical_orders(tables)
        tables = turned(tables, exact)
        linked = canonical_orders(
            replace(tables, values=ranks(tables.values, tolerance).astype(np.float64))
        )
        combined: Ints = exact[axis_starts(tables) + linked]
        return combined
    orders = np.empty_like(tables.axes)
    for numbers, axes, rows in tables_by_axes(tables):
        shape = tuple(tables.sizes[axes].tolist())
        places = tables.axis_offsets[numbers, None] + np.arange(len(axes))
        if len(axes) <= FEW_ARGUMENTS:
            orders[places] = _smallest_orders(rows, shape, axes)
        else:
            ranges = tuple(axes.tolist())
            orders[places] = [canonical_order(row.reshape(shape), ranges) for row in rows]
    return orders


def _smallest_orders(rows: Floats, shape: tuple[int, ...], axes: Ints) -> Ints:
    """For each row, a table, the first order of arguments by range that makes it smallest."""
    best: Floats | None = None
    chosen = np.empty((len(rows), len(axes)), dtype=np.int64)
    each = np.arange(len(rows))
    for order in permutations(range(len(axes))):
        if (np.diff(axes[list(order)]) < 0).any():
            continue
        found = rows[:, turned_places(shape, order)]
        if best is None:
            best, chosen[:] = found, order
            continue
        first = (found != best).argmax(axis=1)
        smaller = found[each, first] < best[each, first]
        best[smaller], chosen[smaller] = found[smaller], order
    return chosen


def canonical_order(table: Floats, ranges: tuple[int, ...]) -> tuple[int, ...]:
    """An order of arguments, by range, in which tables that are equal up to order are equal.

    Built argument by argument. A beginning is judged by what does not depend on the order of the
    rest: for each value of its arguments the sorted potentials left; the smallest are kept. Two
    whose tables are equal once the rest is sorted by the same measure lead to the same tables, so
    that one of them is enough. With b beginnings kept at once, O(b k² s log s) for k arguments and
    s potentials. With too many only ranges are put in order: then tables that differ in order only
    are not found equal, but never others.

    >>> canonical_order(np.array([[1.0, 3.0], [2.0, 5.0]]), (0, 0))
    (1, 0)
    """
    numbers = ranks(table.reshape(-1)).astype(">i8").reshape(table.shape)
    alike = swappable(numbers)
    beginnings: list[tuple[int, ...]] = [()]
    for _ in ranges:
        distinct: dict[object, tuple[tuple[int, ...], dict[int, tuple[int, bytes]]]] = {}
        for beginning in beginnings:
            measure = _measures(numbers, ranges, alike, beginning)
            rest = sorted(measure, key=measure.__getitem__)
            order = (*beginning, *rest)
            shown = (tuple(ranges[slot] for slot in order), numbers.transpose(order).tobytes())
            distinct.setdefault(shown, (beginning, measure))
        smallest = min(min(measure.values()) for _, measure in distinct.values())
        beginnings = [
            (*beginning, slot)
            for beginning, measure in distinct.values()
            for slot in _one_of_each(measure, alike)
            if measure[slot] == smallest
        ]
        if len(beginnings) > min(MOST_TIED, MOST_POTENTIALS // table.size):
            return tuple(sorted(range(table.ndim), key=ranges.__getitem__))
    return beginnings[0]


def _measures(
    numbers: Ints, ranges: tuple[int, ...], alike: tuple[int, ...], beginning: tuple[int, ...]
) -> dict[int, tuple[int, bytes]]:
    """For each argument left its range and, were it next, sorted potentials per value so far."""
    left = [slot for slot in range(numbers.ndim) if slot not in beginning]
    measure: dict[int, tuple[int, bytes]] = {}
    for slot in _one_of_each(left, alike):
        order = (*beginning, slot, *(each for each in left if each != slot))
        values = int(np.prod([numbers.shape[each] for each in order[: len(beginning) + 1]]))
        potentials = np.sort(numbers.transpose(order).reshape(values, -1), axis=1)
        measure[slot] = (ranges[slot], potentials.tobytes())
    return {
        slot: measure[next(each for each in measure if alike[each] == alike[slot])] for slot in left
    }


def _one_of_each(
    slots: Sequence[int] | dict[int, tuple[int, bytes]], alike: tuple[int, ...]
) -> list[int]:
    """The first of these arguments from each set that may be swapped."""
    return list({alike[slot]: slot for slot in reversed(list(slots))}.values())[::-1]


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The graph with known factors in canonical argument order, and each argument's position."""

    graph: FactorGraph
    positions: Ints


def exchange(graph: FactorGraph, *, up_to_scale: bool = False) -> Exchanged:
    """Bring tables equal up to argument order together; swappable arguments share a position.

    Unknown factors keep their order and positions. up_to_scale: tables are divided by their largest
    potential, so that those which differ by a factor come together, too. Cost: near-linear, plus
    the orders of each distinct table.
    """
    tables = scaled_tables(graph.tables) if up_to_scale else graph.tables
    orders = canonical_orders(tables, SCALE_TOLERANCE if up_to_scale else 0.0)
    tables = turned(tables, orders)
    tables = scaled_tables(tables) if up_to_scale else tables
    owner, positions = owners(graph.offsets), argument_places(graph)
    known = graph.factor_table[owner] >= 0
    sources = positions.copy()
    places = graph.tables.axis_offsets[graph.factor_table[owner[known]]] + positions[known]
    sources[known] = orders[places]
    arguments = graph.arguments[graph.offsets[owner] + sources]
    new = graph.refilled(GivenTables(tables.values, tables.offsets), graph.factor_table, arguments)
    places = new.tables.axis_offsets[new.factor_table[owner[known]]] + positions[known]
    positions[known] = swappable_axes(new.tables)[places]
    return Exchanged(new, positions)
