"""Cells drawn in turn, each given all others (Gibbs sampling; Geman and Geman, 1984).

This serves learning, where expectations may be rough. Answers that people get are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.added_rows import Codes, add_rows
from lifagu.basics.arrays import Floats, Ints, members
from lifagu.learning.parameters import Parameters
from lifagu.learning.told_cells import fixed_offset, labels_added

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _LookUp:
    """Rows of a part that say something about drawn cells of one argument.

    start: where the part begins in the book of the batch; places: of the cells in the batch.
    """

    part: int
    axis: int
    start: int
    rows: Ints
    places: Codes


@dataclass(frozen=True, eq=False)
class _Batch:
    """Cells of one relation that do not touch one another, and so are drawn at once.

    index: where the entries of the book stand among those of all parts.
    """

    relation: int
    cells: Ints
    look_ups: tuple[_LookUp, ...]
    index: Ints
    place_of: Ints


class Chain:
    """Labels of all cells, some of which are drawn again and again; the others stay.

    A cell without label (-1) that is not drawn says nothing.
    """

    def __init__(
        self,
        parameters: Parameters,
        values: Sequence[Ints],
        drawn: Sequence[Flags],
        random: np.random.Generator,
    ) -> None:
        self.parameters, self._random = parameters, random
        self.state = [each.copy() for each in values]
        self._batches = [
            batch
            for relation, flags in enumerate(drawn)
            if flags.any()
            for batch in _batches(parameters, relation, flags)
        ]

    def sweep(self, entries: Floats) -> None:
        """Draw every cell once; entries: of all parts."""
        for batch in self._batches:
            task, parts = self.parameters.task, self.parameters.parts
            size = len(task.relations[batch.relation].labels)
            book = entries[batch.index].reshape(-1, size)
            shape = (len(batch.cells), size)
            offset = fixed_offset(task, self.state, batch.relation, batch.place_of, shape)
            logits = np.zeros(shape) if offset is None else offset
            for each in batch.look_ups:
                part, slots = parts[each.part], task.tables[parts[each.part].table].slots
                others = [axis for axis in part.axes if axis != each.axis]
                code = labels_added(
                    part.groups(each.rows), slots, others, part.sizes, each.rows, self.state
                )
                codes = np.where(code < 0, -1, code + each.start).astype(np.int32)
                add_rows(logits, each.places, book, codes)
            weights = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
            at = self._random.random((len(batch.cells), 1)) * weights[:, -1:]
            self.state[batch.relation][batch.cells] = (at >= weights[:, :-1]).sum(axis=1)

    def counts(self) -> Floats:
        """How many rows are in each state of each part, in the order of all entries.

        The blocks of a conditional table are no parts, and have no counts of their own.
        """
        parts = self.parameters.parts
        stops = [part.start + int(np.prod(part.shape)) for part in parts]
        found = np.zeros(max(self.parameters.size, *stops))
        for part in parts:
            slots = self.parameters.task.tables[part.table].slots
            rows = np.arange(len(slots[0].cells))
            code = labels_added(part.groups(rows), slots, part.axes, part.sizes, rows, self.state)
            many = int(np.prod(part.shape))
            found[part.start : part.start + many] = np.bincount(code[code >= 0], minlength=many)
        return found


def _batches(parameters: Parameters, relation: int, drawn: Flags) -> list[_Batch]:
    cells, found = np.flatnonzero(drawn), []
    for same in members(_apart(parameters, relation, drawn)):
        place_of = np.full(len(drawn), -1, dtype=np.int64)
        place_of[cells[same]] = np.arange(len(same))
        size = len(parameters.task.relations[relation].labels)
        look_ups, index, start = [], [np.zeros(0, dtype=np.int64)], 0
        for number, part in enumerate(parameters.parts):
            slots = parameters.task.tables[part.table].slots
            for axis in part.axes:
                if slots[axis].relation == relation:
                    places = place_of[slots[axis].cells]
                    rows = np.flatnonzero(places >= 0)
                    look_ups.append(
                        _LookUp(number, axis, start, rows, places[rows].astype(np.int32))
                    )
                    index.append(part.seen_from(axis))
                    start += len(index[-1]) // size
        batch = _Batch(relation, cells[same], tuple(look_ups), np.concatenate(index), place_of)
        found.append(batch)
    return found


def _apart(parameters: Parameters, relation: int, drawn: Flags) -> Ints:
    """Colours of drawn cells of a relation such that no two in one row share one.

    Of those without a colour the ones that come first among their neighbours, in a shuffled order,
    get the next; that ends after few rounds.
    """
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    task = parameters.task
    for block in [
        *(task.tables[number].slots for number in parameters.tables),
        *(f.slots for f in task.fixed),
    ]:
        own = [slot.cells for slot in block if slot.relation == relation]
        for first, one in enumerate(own):
            pairs += [np.column_stack((one, other)) for other in own[first + 1 :]]
    touching = np.vstack(pairs)
    touching = touching[drawn[touching].all(axis=1) & (touching[:, 0] != touching[:, 1])]
    colour = np.full(len(drawn), -1, dtype=np.int64)
    rank = np.random.default_rng(0).permutation(len(drawn))
    number, left = 0, drawn.copy()
    while left.any():
        near = touching[left[touching].all(axis=1)]
        ahead = left.copy()
        ahead[np.where(rank[near[:, 0]] > rank[near[:, 1]], near[:, 0], near[:, 1])] = False
        colour[ahead] = number
        left &= ~ahead
        number += 1
    return colour[drawn]
