"""Cells that are to be told, and where each looks up what tables say about its labels.

All that tables say about a relation is one book: a row for each table, group and combination of
labels of the other arguments, a column for each label. A cell has a code, the number of such a row,
for every ground factor that it is in; -1 where another cell of that factor is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.added_rows import Codes
from lifagu.basics.arrays import Floats, Ints
from lifagu.learning.parameters import LookUpArray, Parameters
from lifagu.relational.learning_task import ArgumentCells, FixedTables, LearningTask

CHUNK = 8192  # cells that are computed together, so that their sums stay in the cache
FULL = 0.25  # the share of codes that must be there for cells to have equally many
IMPOSSIBLE = -700.0  # the log of a potential that is 0
Labels = Sequence[Ints] | Sequence[Codes]  # of all cells, by relation


@dataclass(frozen=True, eq=False)
class ToldCells:
    """Cells of one relation, by number, and what tells about them.

    codes: in the order of cells; cells: the place of each code's cell in its chunk, None if all
    cells have equally many (`each`), those of one look-up in one column; bounds: where the codes of
    each chunk begin; look_ups: which table each code (or column of codes) belongs to; index: where
    the entries of the book stand among those of all tables; offset: what fixed tables say of each
    label, None where there are none.
    """

    relation: int
    labels: Ints
    size: int
    codes: Codes
    cells: Codes | None
    each: int
    bounds: Ints
    look_ups: Ints
    index: Ints
    offset: Floats | None

    @property
    def chunks(self) -> range:
        """The chunks in which cells are computed."""
        return range(len(self.bounds) - 1)

    @property
    def tables(self) -> list[int]:
        """The tables that tell something."""
        return sorted(set(self.look_ups.tolist()))

    def book(self, entries: Floats) -> Floats:
        """What all tables say: a row for each code, a column for each label."""
        return entries[self.index].reshape(-1, self.size)

    def codes_of(self, chunk: int) -> Codes:
        """The codes of a chunk."""
        return self.codes[self.bounds[chunk] : self.bounds[chunk + 1]]

    def cells_of(self, chunk: int) -> Codes | None:
        """The places of their cells, None where cells have equally many."""
        if self.cells is None:
            return None
        return self.cells[self.bounds[chunk] : self.bounds[chunk + 1]]

    def chunk_of_table(self, chunk: int, table: int) -> tuple[Codes | None, Codes]:
        """Places and codes of a chunk that belong to one table."""
        codes, cells = self.codes_of(chunk), self.cells_of(chunk)
        if cells is None:
            columns = codes.reshape(-1, self.each)[:, self.look_ups == table]
            return None, np.ascontiguousarray(columns).reshape(-1)
        own = self.look_ups[self.bounds[chunk] : self.bounds[chunk + 1]] == table
        return cells[own], codes[own]


def told_cells(
    parameters: Parameters, values: Sequence[Ints], relation: int, labels: Ints
) -> ToldCells:
    """The cells of a relation that have a label to be told; values: what was observed of all."""
    task = parameters.task
    cells = np.flatnonzero(labels >= 0)
    place_of = np.full(len(labels), -1, dtype=np.int64)
    place_of[cells] = np.arange(len(cells))
    size = len(task.relations[relation].labels)
    found, index, start = [], [np.zeros(0, dtype=np.int64)], 0
    for part in parameters.parts:
        slots = task.tables[part.table].slots
        for axis in part.axes:
            if slots[axis].relation == relation:
                place, code = _look_up(part, slots, axis, values, place_of)
                found.append((part.table, place, code + start))
                index.append(part.seen_from(axis))
                start += len(index[-1]) // size
    codes, places, each, look_ups = _in_order(found, len(cells))
    return ToldCells(
        relation,
        labels[cells],
        size,
        codes,
        None if places is None else (places % CHUNK).astype(np.int32),
        each,
        _bounds(places, each, len(cells)),
        look_ups,
        np.concatenate(index),
        fixed_offset(task, values, relation, place_of, (len(cells), size)),
    )


def _look_up(
    part: LookUpArray,
    slots: Sequence[ArgumentCells],
    axis: int,
    values: Sequence[Ints],
    place_of: Ints,
) -> tuple[Ints, Ints]:
    """The cells that a part tells something about, by place, and their codes in it."""
    place = place_of[slots[axis].cells]
    rows = np.flatnonzero(place >= 0)
    others = [other for other in part.axes if other != axis]
    code = labels_added(part.groups(rows), slots, others, part.sizes, rows, values)
    kept = np.flatnonzero(code >= 0)
    return place[rows[kept]], code[kept]


def labels_added(
    code: Ints,
    slots: Sequence[ArgumentCells],
    axes: Sequence[int],
    sizes: dict[int, int],
    rows: Ints,
    values: Labels,
) -> Ints:
    """Numbers of groups with those of labels added, as digits; -1 if one of them is missing."""
    for axis in axes:
        label = values[slots[axis].relation][slots[axis].cells[rows]]
        code = np.where((code < 0) | (label < 0), -1, code * sizes[axis] + label)
    return code


def _in_order(
    found: Sequence[tuple[int, Ints, Ints]], many: int
) -> tuple[Codes, Ints | None, int, Ints]:
    """Codes in the order of cells; their cells, or how many each has; and their tables."""
    total = sum(len(place) for _, place, _ in found)
    once = all(np.bincount(place, minlength=1).max() <= 1 for _, place, _ in found)
    if once and total >= FULL * many * len(found):
        matrix = np.full((many, len(found)), -1, dtype=np.int32)
        for column, (_, place, code) in enumerate(found):
            matrix[place, column] = code
        return matrix.reshape(-1), None, len(found), np.array([table for table, _, _ in found])
    places = np.concatenate([place for _, place, _ in found])
    order = np.argsort(places, kind="stable")
    codes = np.concatenate([code for _, _, code in found])[order].astype(np.int32)
    tables = np.repeat([table for table, _, _ in found], [len(place) for _, place, _ in found])
    return codes, places[order], 0, tables[order]


def _bounds(places: Ints | None, each: int, many: int) -> Ints:
    """Where the codes of each chunk begin."""
    starts = np.minimum(np.arange(-(-many // CHUNK) + 1) * CHUNK, many)
    return starts * each if places is None else np.searchsorted(places, starts)


def fixed_offset(
    task: LearningTask, values: Labels, relation: int, place_of: Ints, shape: tuple[int, int]
) -> Floats | None:
    """What given tables say about the cells of a relation; None where they say nothing."""
    total = np.zeros(shape)
    for fixed in task.fixed:
        for axis, slot in enumerate(fixed.slots):
            if slot.relation == relation:
                _add_fixed(task, fixed, axis, values, place_of, total)
    return total if total.any() else None


def _add_fixed(
    task: LearningTask, fixed: FixedTables, axis: int, values: Labels, place_of: Ints, total: Floats
) -> None:
    """Add what tables that are given say about the cells of one argument."""
    sizes = task.shape(fixed)
    logs = np.full(fixed.tables.shape, IMPOSSIBLE)
    np.log(fixed.tables, out=logs, where=fixed.tables > 0)
    view = np.moveaxis(logs.reshape(-1, *sizes), 1 + axis, -1).reshape(-1, sizes[axis])
    place = place_of[fixed.slots[axis].cells]
    rows = np.flatnonzero(place >= 0)
    others = [other for other in range(len(sizes)) if other != axis]
    known = dict(enumerate(sizes))
    code = labels_added(fixed.table_of[rows], fixed.slots, others, known, rows, values)
    kept = np.flatnonzero(code >= 0)
    np.add.at(total, place[rows[kept]], view[code[kept]])
