"""When are two tables equal? Exactly, or on request within a tolerance, up to scale.

To some digits and within a tolerance, tables are replaced by one they share, and how far each
potential moved is kept (`Drift`). Up to a factor, nothing is replaced: tables agree, and each
factor keeps its own, so that log Z stays right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, as_ids, first_places, frozen
from lifagu.basics.inputs import flag, instance, number
from lifagu.errors import ModelError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables, Tables, tables_by_axes, turned
from lifagu.likeness.close_numbers import narrow_groups
from lifagu.likeness.tolerance_bound import Drift

SCALE_TOLERANCE = 1e-12  # tables are equal up to a factor within this, as dividing is not exact


class Merged(NamedTuple):
    """A graph whose almost equal tables have become one, and how far potentials moved.

    Parameters
    ----------
    graph : FactorGraph
        The graph with merged tables.
    drift : Drift
        How far the potentials of each factor moved.
    """

    graph: FactorGraph
    drift: Drift

    @property
    def largest_change(self) -> float:
        """The largest relative change of any potential."""
        return self.drift.largest_change


def merge_tables(
    graph: FactorGraph, tolerance: float, *, up_to_scale: bool = False, orders: Ints | None = None
) -> Merged:
    """Replace tables over the same ranges that are almost equal by one table; near-linear.

    Parameters
    ----------
    graph : FactorGraph
        The graph.
    tolerance : float
        Tables are grouped so that no potential in a group exceeds 1 + tolerance times another at
        its place, zeros only with zeros; each becomes the mean over the factors in its group.
    up_to_scale : bool
        Whether tables are divided by their largest potential before, and multiplied again after.
    orders : ndarray of int, optional
        For each axis of the tables, in the layout of `Tables.axes`, which one comes there when
        they are compared.

    Returns
    -------
    Merged
        The new graph, and how far potentials moved.

    Raises
    ------
    ModelError
        If the tolerance is out of range, or orders are none.

    Examples
    --------
    >>> graph = FactorGraph.build().variable("A").factor("f", "A", [1, 2])
    >>> merged = merge_tables(graph.factor("g", "A", [1, 2.02]).graph(), tolerance=0.01)
    >>> merged.graph.factor("f").table.tolist(), round(merged.largest_change, 4)
    ([1.0, 2.01], 0.005)
    """
    instance("merge_tables", graph, FactorGraph)
    flag("up_to_scale", up_to_scale)
    if not 0 <= number("tolerance", tolerance) < 1:
        raise ModelError(f"the tolerance must lie between 0 and 1, not {tolerance}")
    tables = graph.tables
    if orders is not None:
        orders = _checked_orders(tables, orders)
    listed = tables if orders is None else turned(tables, orders)
    uses = np.bincount(graph.factor_table[graph.factor_table >= 0], minlength=len(tables))
    values = _merged_values(listed, uses, tolerance, up_to_scale)
    merged = replace(listed, values=frozen(values))
    new = merged if orders is None else turned(merged, inverse_orders(tables, orders))
    drift = Drift.between(tables, new, graph.factor_table)
    return Merged(graph.refilled(GivenTables(new.values, new.offsets), graph.factor_table), drift)


def compared(tables: Tables, up_to_scale: bool) -> Tables:
    """The tables as they are compared: divided by their largest potential, or as is."""
    values = tables.values
    if up_to_scale:
        values = values / np.repeat(_largest(tables), np.diff(tables.offsets))
    return replace(tables, values=frozen(values))


def scaled_tables(tables: Tables) -> Tables:
    """The tables divided by their largest potential; equal up to a factor is equal bit by bit."""
    scaled = compared(tables, up_to_scale=True)
    values = scaled.values.copy()
    for numbers, _, rows in tables_by_axes(scaled):
        groups = narrow_groups(rows, SCALE_TOLERANCE)
        places = tables.offsets[numbers, None] + np.arange(rows.shape[1])
        values[places] = rows[first_places(groups)[groups]]
    return replace(tables, values=frozen(values))


def equal_up_to_scale(tables: Tables) -> Ints:
    """For each table the first one that equals it up to a factor."""
    first = np.arange(len(tables))
    for numbers, _, rows in tables_by_axes(compared(tables, up_to_scale=True)):
        groups = narrow_groups(rows, SCALE_TOLERANCE)
        first[numbers] = numbers[first_places(groups)[groups]]
    return first


def axis_starts(tables: Tables) -> Ints:
    """For each axis of the tables, in the layout of `Tables.axes`, where its table's axes begin."""
    return np.repeat(tables.axis_offsets[:-1], np.diff(tables.axis_offsets))


def inverse_orders(tables: Tables, orders: Ints) -> Ints:
    """The orders of axes that undo others, both in the layout of `Tables.axes`."""
    starts = axis_starts(tables)
    inverse = np.empty_like(orders)
    inverse[starts + orders] = np.arange(len(orders)) - starts
    return inverse


def _checked_orders(tables: Tables, given: Ints) -> Ints:
    """Orders of the axes of all tables, each axis once."""
    orders = as_ids(given, "orders")
    count = len(tables.axes)
    if len(orders) != count or (np.sort(axis_starts(tables) + orders) != np.arange(count)).any():
        raise ModelError(f"orders must list the axes of each table, {count} in all")
    return orders


def _merged_values(tables: Tables, uses: Ints, tolerance: float, up_to_scale: bool) -> Floats:
    """All potentials once almost equal tables are replaced; uses[t]: factors that have table t."""
    values = tables.values.copy()
    scale = _largest(tables) if up_to_scale else np.ones(len(tables))
    for numbers, _, old in tables_by_axes(tables):
        rows = old / scale[numbers, None]
        # zeros only match zeros
        rows[(rows == 0) & (old > 0)] = np.finfo(np.float64).smallest_subnormal
        groups = narrow_groups(rows, tolerance)
        shared = _means(rows, groups, uses[numbers])
        several = (np.bincount(groups) > 1)[groups]
        new = np.where(several[:, None], shared[groups] * scale[numbers, None], old)
        new = np.where(((new > 0) == (old > 0)).all(axis=1, keepdims=True), new, old)
        values[tables.offsets[numbers, None] + np.arange(old.shape[1])] = new
    return values


def _means(rows: Floats, groups: Ints, uses: Ints) -> Floats:
    """The mean row of each group, rows weighted by their uses, between smallest and largest."""
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=-1))
    share = uses / np.bincount(groups, weights=uses)[groups]
    total = np.add.reduceat(rows[order] * share[order, None], first, axis=0)
    lowest = np.minimum.reduceat(rows[order], first, axis=0)
    return np.clip(total, lowest, np.maximum.reduceat(rows[order], first, axis=0))


def _largest(tables: Tables) -> Floats:
    """The largest potential of each table."""
    if not len(tables):
        return np.zeros(0)
    largest: Floats = np.maximum.reduceat(tables.values, tables.offsets[:-1])
    return largest
