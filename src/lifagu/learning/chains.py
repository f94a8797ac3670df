"""Cells drawn in turn, each given all others (Gibbs sampling; Geman and Geman, 1984).

This serves learning, where expectations may be rough. Answers that people get are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.added_rows import Codes, add_rows
from lifagu.basics.arrays import Floats, Ints, members
from lifagu.learning.parameters import LookUpArray, Parameters
from lifagu.learning.told_cells import Labels, fixed_offset

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _LabelledCells:
    """The labels of all cells, by relation, and which of them are drawn."""

    values: Labels
    drawn: Sequence[Flags]


@dataclass(frozen=True, eq=False)
class _States:
    """The states of rows of a part as numbers, seen along some of its axes.

    stays: what does not change of the numbers; drawn: relations, the rows' cells there, and how
    much a label counts in the number.
    """

    stays: Codes
    drawn: tuple[tuple[int, Codes, int], ...]

    def now(self, state: Sequence[Codes]) -> Codes:
        """The numbers with what was drawn last; -1 where a cell was not drawn yet."""
        code, missing = self.stays.copy(), np.zeros(0, dtype=np.int64)
        for relation, cells, counts in self.drawn:
            label = state[relation][cells]
            if label.min(initial=0) < 0:
                missing = np.union1d(missing, np.flatnonzero(label < 0))
            code += label * np.int32(counts)
        code[missing] = -1
        return code


@dataclass(frozen=True, eq=False)
class _LookUp:
    """Rows of a part that say something about drawn cells of one argument.

    states: their numbers in the book of the batch; places: of the cells in the batch.
    """

    states: _States
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
        values: Labels,
        drawn: Sequence[Flags],
        random: np.random.Generator,
    ) -> None:
        self.parameters, self._random = parameters, random
        self.state = [each.astype(np.int32) for each in values]
        cells = _LabelledCells(values, drawn)
        self._batches = [
            batch
            for relation, flags in enumerate(drawn)
            if flags.any()
            for batch in _batches(parameters, relation, cells)
        ]
        self._states = [_states(parameters, part, part.axes, cells)[0] for part in parameters.parts]

    def sweep(self, entries: Floats) -> None:
        """Draw every cell once; entries: of all parts."""
        for batch in self._batches:
            task = self.parameters.task
            size = len(task.relations[batch.relation].labels)
            book = entries[batch.index].reshape(-1, size)
            shape = (len(batch.cells), size)
            offset = fixed_offset(task, self.state, batch.relation, batch.place_of, shape)
            logits = np.zeros(shape) if offset is None else offset
            for each in batch.look_ups:
                add_rows(logits, each.places, book, each.states.now(self.state))
            self.state[batch.relation][batch.cells] = self._drawn(logits)

    def _drawn(self, logits: Floats) -> Codes:
        """A label for each row of logits; column by column and in place, as rows are short."""
        weights = np.ascontiguousarray(logits.T)
        weights -= weights.max(axis=0)
        np.exp(weights, out=weights)
        for before, column in pairwise(weights):
            column += before
        at = self._random.random(len(logits)) * weights[-1]
        found = np.zeros(len(logits), dtype=np.int32)
        for column in weights[:-1]:
            found += at >= column
        return found

    def counts(self) -> Floats:
        """How many rows are in each state of each part, in the order of all entries.

        The blocks of a conditional table are no parts, and have no counts of their own.
        """
        parts = self.parameters.parts
        stops = [part.start + int(np.prod(part.shape)) for part in parts]
        found = np.zeros(max(self.parameters.size, *stops))
        for part, states in zip(parts, self._states, strict=True):
            code, many = states.now(self.state), int(np.prod(part.shape))
            found[part.start : part.start + many] = np.bincount(code[code >= 0], minlength=many)
        return found


def _states(
    parameters: Parameters,
    part: LookUpArray,
    axes: Sequence[int],
    cells: _LabelledCells,
    places: Ints | None = None,
    start: int = 0,
) -> tuple[_States, Ints]:
    """The states of those rows all of whose cells have a label or are drawn, and which rows.

    places: of the cells that the rows are about, if not of all, -1 where they are about none;
    start: what the numbers begin with.
    """
    slots = parameters.task.tables[part.table].slots
    groups = part.groups(np.arange(len(slots[0].cells)))
    kept = groups >= 0 if places is None else (groups >= 0) & (places >= 0)
    stays, moves, counts = np.full(len(groups), start), [], 1
    for axis in reversed(axes):
        relation, own = slots[axis].relation, slots[axis].cells
        label, is_drawn = cells.values[relation][own], cells.drawn[relation][own]
        kept &= is_drawn | (label >= 0)
        if is_drawn.any():
            moves.append((relation, own, counts))
        else:
            stays += label * counts
        counts *= part.sizes[axis]
    stays += groups * counts
    drawn = [(relation, own[kept].astype(np.int32), size) for relation, own, size in moves]
    return _States(stays[kept].astype(np.int32), tuple(drawn)), np.flatnonzero(kept)


def _batches(parameters: Parameters, relation: int, cells: _LabelledCells) -> list[_Batch]:
    drawn, found = cells.drawn[relation], []
    own = np.flatnonzero(drawn)
    for same in members(_apart(parameters, relation, drawn)):
        place_of = np.full(len(drawn), -1, dtype=np.int64)
        place_of[own[same]] = np.arange(len(same))
        size = len(parameters.task.relations[relation].labels)
        look_ups, index, start = [], [np.zeros(0, dtype=np.int64)], 0
        for part in parameters.parts:
            slots = parameters.task.tables[part.table].slots
            for axis in part.axes:
                if slots[axis].relation == relation:
                    places = place_of[slots[axis].cells]
                    others = [other for other in part.axes if other != axis]
                    states, rows = _states(parameters, part, others, cells, places, start)
                    look_ups.append(_LookUp(states, places[rows].astype(np.int32)))
                    index.append(part.seen_from(axis))
                    start += len(index[-1]) // size
        batch = _Batch(relation, own[same], tuple(look_ups), np.concatenate(index), place_of)
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
