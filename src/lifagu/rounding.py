"""When are two tables equal? Exactly by default; on request up to significant digits, or up to a factor."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.arrays import Floats, Ints, first_places, frozen
from lifagu.errors import ModelError
from lifagu.model import FactorGraph
from lifagu.tables import GivenTables, Tables, permuted_tables

SCALE_DIGITS = 12  # tables are compared up to a factor after rounding this finely, as dividing is not exact


class Rounded(NamedTuple):
    """A graph whose tables that agree to some digits have become one, and how far any potential moved by that."""

    graph: FactorGraph
    largest_change: float


def round_tables(graph: FactorGraph, digits: int) -> Rounded:
    """Replace tables that are equal after rounding to so many significant digits by the one declared first.

    >>> graph = FactorGraph.build().variable("A").factor("f", "A", [1, 2]).factor("g", "A", [1, 2.0001]).graph()
    >>> rounded = round_tables(graph, 3)
    >>> len(rounded.graph.tables), round(rounded.largest_change, 7)
    (1, 5e-05)
    """
    if not 1 <= digits <= 15:
        raise ModelError(f"digits must lie between 1 and 15, not {digits}")
    tables = graph.tables
    kept = _first_equal(replace(tables, values=significant(tables.values, digits)))
    change = 0.0
    for number in np.flatnonzero(kept != np.arange(len(tables))).tolist():
        old, new = tables[number], tables[int(kept[number])]
        moved = np.abs(new - old) / np.where(old > 0, old, 1)
        change = max(change, float(moved.max()))
    numbers = np.where(graph.factor_table >= 0, kept[graph.factor_table], -1) if len(tables) else graph.factor_table
    return Rounded(graph.refilled(GivenTables(tables.values, tables.offsets), numbers), change)


def up_to_scale(tables: Tables) -> Tables:
    """The tables divided by their largest potential: equal ones are equal up to a factor (to 12 digits)."""
    highest = np.maximum.reduceat(tables.values, tables.offsets[:-1]) if len(tables) else tables.values
    scaled = tables.values / np.repeat(highest, np.diff(tables.offsets))
    return replace(tables, values=frozen(significant(scaled, SCALE_DIGITS)))


def equal_up_to_scale(tables: Tables) -> Ints:
    """For each table the first one that equals it up to a factor."""
    return _first_equal(up_to_scale(tables))


def significant(values: Floats, digits: int) -> Floats:
    """Numbers rounded to significant digits; equal results are equal bit by bit.

    >>> significant(np.array([0.123456, 0.1234001, 0.0, 99999.0]), 3).tolist()
    [0.123, 0.123, 0.0, 100000.0]
    """
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])


def _first_equal(tables: Tables) -> Ints:
    """For each table the first one with equal axes and values."""
    first = np.arange(len(tables))
    arity = np.diff(tables.axis_offsets)
    for size in np.flatnonzero(np.bincount(arity)).tolist():
        numbers = np.flatnonzero(arity == size)
        equal = permuted_tables(tables, numbers, np.tile(np.arange(size), (len(numbers), 1)))
        first[numbers] = numbers[first_places(equal)[equal]]
    return first
