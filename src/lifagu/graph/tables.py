"""Interned tables: each distinct table is stored once, so that equal tables have equal numbers.

A table belongs to the ranges of its axes: the same numbers over other ranges are another table.
Values are compared exactly, bit by bit, after -0.0 has become 0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    first_places,
    frozen,
    group_lists,
    group_rows,
    group_rows_bitwise,
    is_masked,
    members,
    offsets_of,
    owners,
    places_within,
)
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import items
from lifagu.errors import ModelError
from lifagu.graph.ranges import Ranges


@dataclass(frozen=True, eq=False)
class Tables(Frozen, Sequence[Floats]):
    """Distinct tables in one flat array; ``tables[i]`` is a read-only view, an axis per range.

    values[offsets[i]:offsets[i+1]] are the potentials of table i, row-major in canonical label
    order; axes[axis_offsets[i]:axis_offsets[i+1]] are the range numbers of its axes; sizes[r] is
    the size of range r.
    """

    values: Floats
    offsets: Ints
    axes: Ints
    axis_offsets: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, table: int) -> Floats: ...
    @overload
    def __getitem__(self, table: slice) -> list[Floats]: ...
    def __getitem__(self, table: int | slice) -> Floats | list[Floats]:
        if isinstance(table, slice):
            return [self[each] for each in range(*table.indices(len(self)))]
        table = range(len(self))[table]
        shape = tuple(self.sizes[self.ranges_of(table)])
        return self.values[self.offsets[table] : self.offsets[table + 1]].reshape(shape)

    def ranges_of(self, table: int) -> Ints:
        """Return the range numbers of a table's axes."""
        return self.axes[self.axis_offsets[table] : self.axis_offsets[table + 1]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        mine = (self.values, self.offsets, self.axes, self.axis_offsets, self.sizes)
        theirs = (other.values, other.offsets, other.axes, other.axis_offsets, other.sizes)
        return all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]


def potential_fault(values: Floats) -> str | None:
    """What is wrong with these potentials, as the end of a sentence; None if they are legal.

    >>> potential_fault(np.array([1.0, -2.0]))
    'the potential -2.0 at place 1; potentials are 0 or more'
    """
    for bad, remedy in (
        (np.isnan(values), "write null for an unknown table, numbers otherwise"),
        (np.isinf(values), "potentials are finite"),
        (values < 0, "potentials are 0 or more"),
    ):
        if bad.any():
            place = int(np.argmax(bad))
            return f"the potential {values[place]} at place {place}; {remedy}"
    if not (values > 0).any():
        return "only zero potentials; at least one must be positive"
    return None


def not_numbers(owner: str) -> ModelError:
    """The error for a table of anything but numbers."""
    return ModelError(f"{owner} holds something that is not a number, or rows of unequal length")


def as_floats(potentials: Any) -> Floats | None:
    """Nested numbers as a flat array; None if anything else, such as a boolean, is among them."""
    if type(potentials) is np.ndarray and potentials.dtype == np.float64:
        flat: Floats = potentials.reshape(-1).copy()
        return flat
    if is_masked(potentials) or _has_boolean(potentials):
        return None
    try:
        values = np.asarray(potentials)
    except (TypeError, ValueError):
        return None
    if values.dtype == object and all(type(value) in (int, float) for value in values.flat):
        try:
            values = values.astype(np.float64)  # whole numbers beyond 2**63
        except OverflowError:
            values = np.array([np.inf])
    return values.astype(np.float64).reshape(-1) if values.dtype.kind in "iuf" else None


def _has_boolean(potentials: Any) -> bool:
    """Whether a boolean hides among the numbers of nested lists, where it would count as 0 or 1."""
    if not isinstance(potentials, list | tuple):
        return isinstance(potentials, bool | np.bool_)
    plain = set(map(type, potentials)) <= {int, float}
    return not plain and any(_has_boolean(each) for each in potentials)


@dataclass(frozen=True, eq=False)
class GivenTables:
    """Tables as handed in: flat, not interned, row-major in the arguments' declared orders."""

    values: Floats
    offsets: Ints

    @classmethod
    def of(cls, tables: Sequence[Any] | np.ndarray[Any, Any] | GivenTables) -> GivenTables:
        """From a list of arrays (or nested lists), or from one t×s array, a table per row."""
        if isinstance(tables, GivenTables):
            return cls(tables.values + 0.0, tables.offsets)
        if isinstance(tables, np.ndarray) and tables.ndim == 2:
            flat = as_floats(tables)
            if flat is not None:
                return cls(flat + 0.0, np.arange(len(tables) + 1, dtype=np.int64) * tables.shape[1])
        arrays = []
        for place, table in enumerate(items("tables is a list of tables", tables)):
            if (values := as_floats(table)) is None:
                raise not_numbers(f"table {place}")
            arrays.append(values)
        lengths = np.array([len(array) for array in arrays], dtype=np.int64)
        flat = np.concatenate(arrays) if arrays else np.zeros(0)
        return cls(flat + 0.0, offsets_of(lengths))

    @property
    def lengths(self) -> Ints:
        """Number of potentials of each table."""
        return np.diff(self.offsets)

    def __getitem__(self, table: int) -> Floats:
        return self.values[self.offsets[table] : self.offsets[table + 1]]

    def first_faulty(self) -> int | None:
        """Number of the first table with illegal potentials, found without a loop over tables."""
        illegal = ~(np.isfinite(self.values) & (self.values >= 0))
        owner, count = owners(self.offsets), len(self.lengths)
        faulty = np.bincount(owner[illegal], minlength=count) > 0
        faulty |= np.bincount(owner[self.values > 0], minlength=count) == 0
        return int(np.argmax(faulty)) if faulty.any() else None


def intern_tables(
    given: GivenTables, factor_given: Ints, scopes: Iterable[tuple[Ints, Ints]], ranges: Ranges
) -> tuple[Tables, Ints]:
    """Store each distinct table once, in canonical label order, numbered by first use by factors.

    factor_given: for each factor the number of its given table, -1 if unknown. scopes: per arity
    the factors and the matrix of their arguments' declared ranges. Returns the tables and the table
    number of each factor. Near-linear in factors and potentials; no Python loop over either.
    """
    factor_table = np.full(len(factor_given), -1, dtype=np.int64)
    # distinct potentials (one row a table) over the same ranges
    pools: list[tuple[Floats, Ints]] = []
    count = 0
    for factors, declared in scopes:
        known = factor_given[factors] >= 0
        factors, declared = factors[known], declared[known]
        use = group_rows(np.column_stack((factor_given[factors], declared)))
        first = first_places(use)
        use_table = np.empty(len(first), dtype=np.int64)
        for alike in members(group_rows(ranges.range_of[declared[first]])):
            wanted, orders = factor_given[factors[first[alike]]], declared[first[alike]]
            distinct, number = _distinct_rows(_canonical_rows(given, wanted, orders, ranges))
            pools.append((distinct, ranges.range_of[orders[0]]))
            use_table[alike] = count + number
            count += len(distinct)
        factor_table[factors] = use_table[use]
    return _store(pools, factor_table, ranges), by_first_occurrence(factor_table)


def permuted_tables(tables: Tables, numbers: Ints, orders: Ints) -> Ints:
    """Number tables with permuted axes: equal numbers iff equal ranges and potentials.

    numbers[n]: tables, all with k axes; orders[n×k]: in which order each one's axes are taken.
    """
    axes = tables.axes[tables.axis_offsets[numbers, None] + np.arange(orders.shape[1])]
    use = group_rows(np.column_stack((numbers, orders)))
    first = first_places(use)
    axes, orders, numbers = axes[first], orders[first], numbers[first]
    result = np.empty(len(first), dtype=np.int64)
    count = 0
    for alike in members(group_rows(np.take_along_axis(axes, orders, axis=1))):
        span = int(np.prod(tables.sizes[axes[alike[0]]]))
        rows = np.empty((len(alike), span))
        for same in members(group_rows(np.column_stack((axes[alike], orders[alike])))):
            example = alike[same[0]]
            places = turned_places(tuple(tables.sizes[axes[example]]), tuple(orders[example]))
            rows[same] = tables.values[tables.offsets[numbers[alike[same]], None] + places]
        distinct, number = _distinct_rows(rows)
        result[alike] = count + number
        count += len(distinct)
    return result[use]


def tables_by_axes(tables: Tables) -> list[tuple[Ints, Ints, Floats]]:
    """Tables over the same axes together: numbers, the axes' ranges, a row of potentials each."""
    found = []
    for numbers in members(group_lists(tables.axis_offsets, tables.axes)):
        axes = tables.ranges_of(int(numbers[0]))
        span = int(np.prod(tables.sizes[axes]))
        rows = tables.values[tables.offsets[numbers, None] + np.arange(span)]
        found.append((numbers, axes, rows))
    return found


def turned(tables: Tables, orders: Ints) -> Tables:
    """The same tables with axes in another order; orders: like `axes`, the old axis for each."""
    values, axes = np.empty_like(tables.values), np.empty_like(tables.axes)
    alike = [group_lists(tables.axis_offsets, each) for each in (tables.axes, orders)]
    for numbers in members(group_rows(np.column_stack(alike))):
        old = tables.ranges_of(int(numbers[0]))
        order = orders[tables.axis_offsets[numbers[0]] :][: len(old)]
        places = turned_places(tuple(tables.sizes[old]), tuple(order.tolist()))
        starts = tables.offsets[numbers, None]
        values[starts + np.arange(len(places))] = tables.values[starts + places]
        axes[tables.axis_offsets[numbers, None] + np.arange(len(old))] = old[order]
    return replace(tables, values=frozen(values), axes=frozen(axes))


def turned_places(shape: tuple[int, ...], order: tuple[int, ...]) -> Ints:
    """Where the potentials of a table, row-major, stand in the table with axes in another order.

    >>> turned_places((2, 3), (1, 0)).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    return np.arange(int(np.prod(shape))).reshape(shape).transpose(order).reshape(-1)


def _canonical_rows(given: GivenTables, wanted: Ints, orders: Ints, ranges: Ranges) -> Floats:
    """Potentials of the wanted tables, a row each, moved from declared to canonical order.

    orders: for each wanted table the declared ranges of its axes, all of the same canonical ranges.
    """
    shape = tuple(ranges.sizes[ranges.range_of[orders[0]]])
    places = np.arange(int(np.prod(shape)))
    rows = np.empty((len(wanted), len(places)))
    for same in members(group_rows(orders)):
        axes = [ranges.to_canonical(int(declared)) for declared in orders[same[0]]]
        permuted = places.reshape(shape)[np.ix_(*axes)].reshape(-1)
        rows[same] = given.values[given.offsets[wanted[same], None] + permuted]
    return rows


def _distinct_rows(rows: Floats) -> tuple[Floats, Ints]:
    """Distinct rows, compared bit by bit, and for each row the number of its distinct one."""
    number = group_rows_bitwise(rows)
    return rows[first_places(number)], number


def _store(pools: Sequence[tuple[Floats, Ints]], factor_table: Ints, ranges: Ranges) -> Tables:
    """Put pooled tables into one flat store, in the order in which the factors first use them."""
    order = np.argsort(first_places(factor_table), kind="stable")
    values, lengths = _reordered(
        [(rows.reshape(-1), len(rows), rows.shape[1]) for rows, _ in pools], order
    )
    axes, arities = _reordered(
        [(np.tile(axis, len(rows)), len(rows), len(axis)) for rows, axis in pools], order
    )
    return Tables(
        frozen(values.astype(np.float64)),
        frozen(offsets_of(lengths)),
        frozen(axes.astype(np.int64)),
        frozen(offsets_of(arities)),
        ranges.sizes,
    )


def _reordered(parts: Sequence[tuple[Any, int, int]], order: Ints) -> tuple[Any, Ints]:
    """Parts (flat items, count, length of each) in a row, their items in the given order."""
    counts, each = ([part[place] for part in parts] for place in (1, 2))
    lengths = np.repeat(np.array(each, dtype=np.int64), np.array(counts, dtype=np.int64))
    flat = np.concatenate([items for items, _, _ in parts] or [np.zeros(0)])
    starts = (np.cumsum(lengths) - lengths)[order]
    lengths = lengths[order]
    return flat[np.repeat(starts, lengths) + places_within(lengths)], lengths
