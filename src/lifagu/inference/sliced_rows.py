"""Ground factors with evidence fixed by arithmetic, and those of connected parts that differ.

A ground factor is a place in one flat array of all tables, and a stride for each of its hidden
cells; what is observed of it went into the place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    connected_parts,
    distinct,
    first_places,
    group_lists,
    group_rows,
    offsets_of,
    places_within,
)
from lifagu.relational.learning_task import FixedTables, LearningTask, TableToLearn


class SlicedRows(NamedTuple):
    """Ground factors: origin (rows), where each begins; cells and strides (rows × width).

    cells: those that are hidden, ascending, then -1; strides: by how much the place in all tables
    moves with the value of each, 0 for what is missing.
    """

    origin: Ints
    cells: Ints
    strides: Ints

    def those(self, chosen: Ints) -> SlicedRows:
        """Some of the rows."""
        return SlicedRows(self.origin[chosen], self.cells[chosen], self.strides[chosen])


class DistinctParts(NamedTuple):
    """Connected parts of hidden cells, one of each kind.

    cell, part, size, place: of each variable its cell, its part, its range's size and its place
    within the part; rows: with variables for cells; times: how many parts each one stands for.
    """

    cell: Ints
    part: Ints
    size: Ints
    place: Ints
    rows: SlicedRows
    times: Floats


def cell_starts(task: LearningTask) -> Ints:
    """Where the cells of each relation begin when all are numbered, and how many there are."""
    return offsets_of(np.array([len(each.values) for each in task.relations], dtype=np.int64))


def cell_values(task: LearningTask, observed: bool) -> Ints:
    """What is known of each cell, -1 if nothing; a range with one label leaves no doubt.

    observed: whether all that was observed is known, or conditions alone.
    """
    found = [
        np.zeros_like(each.values)
        if len(each.labels) == 1
        else each.values
        if observed or number in task.conditions
        else np.full_like(each.values, -1)
        for number, each in enumerate(task.relations)
    ]
    return np.concatenate((*found, np.zeros(0, dtype=np.int64)))


def cell_sizes(task: LearningTask) -> Ints:
    """The size of the range of each cell."""
    counts = [len(each.values) for each in task.relations]
    return np.repeat([len(each.labels) for each in task.relations], counts).astype(np.int64)


def sliced_rows(task: LearningTask, observed: bool) -> SlicedRows:
    """The rows of all tables, those to learn first; rows whose table is unknown are left out."""
    tables: tuple[TableToLearn | FixedTables, ...] = (*task.tables, *task.fixed)
    width = max((len(table.slots) for table in tables), default=1)
    values, starts = cell_values(task, observed), cell_starts(task)
    blocks, begin = [_no_rows(width)], 0
    for table in tables:
        if isinstance(table, TableToLearn):
            number, count = table.in_stack, len(table.above)
        else:
            number, count = table.table_of, len(table.tables)
        shape = task.shape(table)
        known = np.flatnonzero(number >= 0)
        cells = np.full((len(known), width), -1)
        for place, slot in enumerate(table.slots):
            cells[:, place] = starts[slot.relation] + slot.cells[known]
        strides = np.zeros(width, dtype=np.int64)
        strides[: len(shape)] = np.cumprod([1, *shape[:0:-1]])[::-1]
        size = int(np.prod(shape))
        blocks.append(_sliced(begin + number[known] * size, cells, strides, values))
        begin += count * size
    return SlicedRows(*(np.concatenate(each) for each in zip(*blocks, strict=True)))


def _no_rows(width: int) -> SlicedRows:
    none = np.zeros((0, width), dtype=np.int64)
    return SlicedRows(none.sum(axis=1), none, none)


def _sliced(origin: Ints, cells: Ints, strides: Ints, values: Ints) -> SlicedRows:
    """Rows of one table: what is observed moves the origin; a cell named twice moves by both."""
    known = np.where(cells < 0, 0, np.append(values, 0)[cells])
    hidden = known < 0
    moved = np.where(hidden, strides, 0)
    cells = np.where(hidden, cells, -1)
    origin = origin + np.where(hidden, 0, known * strides).sum(axis=1)
    width = cells.shape[1]
    for first in range(width):
        for second in range(first + 1, width):
            same = (cells[:, first] == cells[:, second]) & (cells[:, first] >= 0)
            moved[same, first] += moved[same, second]
            moved[same, second] = 0
            cells[same, second] = -1
    last = np.where(cells < 0, np.iinfo(np.int64).max, cells)
    order = np.argsort(last, axis=1, kind="stable")
    return SlicedRows(
        origin, np.take_along_axis(cells, order, axis=1), np.take_along_axis(moved, order, axis=1)
    )


def distinct_parts(rows: SlicedRows, sizes: Ints) -> DistinctParts:
    """Rows with hidden cells by part, each kind of part once; sizes: of the ranges of all cells.

    Two parts are of a kind if their rows are the same but for the numbers of cells, which count in
    order within the part. Cost: sorting rows.
    """
    cell = distinct(rows.cells[rows.cells >= 0])
    variables = np.where(rows.cells < 0, -1, np.searchsorted(cell, rows.cells))
    part = _parts(variables, len(cell))
    order = np.argsort(part, kind="stable")
    place = np.empty(len(cell), dtype=np.int64)
    place[order] = places_within(np.bincount(part))
    at, size = np.append(place, -1)[variables], np.append(sizes[cell], 0)
    kind = group_rows(np.column_stack((rows.origin, rows.strides, at + 1, size[variables])))
    of_row = part[variables[:, 0]]
    listed = np.lexsort((kind, of_row))
    kinds = group_lists(offsets_of(np.bincount(of_row)), kind[listed])
    first = first_places(kinds)
    alone = np.zeros(len(kinds), dtype=bool)
    alone[first] = True
    stay = np.flatnonzero(alone[part])
    renumbered = np.full(len(cell) + 1, -1)
    renumbered[stay] = np.arange(len(stay))
    chosen = rows.those(np.flatnonzero(alone[of_row]))
    own = renumbered[variables[alone[of_row]]]
    return DistinctParts(
        cell[stay],
        kinds[part[stay]],
        size[stay],
        place[stay],
        chosen._replace(cells=own),
        np.bincount(kinds).astype(np.float64),
    )


def _parts(variables: Ints, count: int) -> Ints:
    """The connected part of each variable."""
    none = np.zeros(0, dtype=np.int64)
    there = [other >= 0 for other in variables.T[1:]]
    first = np.concatenate((none, *(variables[each, 0] for each in there)))
    second = np.concatenate((none, *(variables[each, 1 + at] for at, each in enumerate(there))))
    return connected_parts(count, first, second)
