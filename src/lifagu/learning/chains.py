"""Hidden cells drawn in turn, each given all others (Gibbs sampling; Geman and Geman, 1984).

This is for choosing how to learn, where many answers are wanted that need not be exact. Answers
that people get are exact and computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, members
from lifagu.learning.parameters import Parameters, Part
from lifagu.relational.learning_task import TableToLearn

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Link:
    """What rows of a part say about drawn cells of one argument.

    rows: of the table; places: of their cells among those that are drawn together.
    """

    part: int
    axis: int
    rows: Ints
    places: Ints


@dataclass(frozen=True, eq=False)
class _Batch:
    """Cells of one relation that do not touch one another, and so are drawn at once."""

    relation: int
    cells: Ints
    links: tuple[_Link, ...]


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
        self.parameters = parameters
        self.state = [each.copy() for each in values]
        self.probabilities = [
            np.zeros((len(each), len(relation.labels)))
            for each, relation in zip(values, parameters.task.relations, strict=True)
        ]
        self._random = random
        self._batches = [
            batch
            for relation, flags in enumerate(drawn)
            if flags.any()
            for batch in _batches(parameters, relation, flags)
        ]
        for flags, state in zip(drawn, self.state, strict=True):
            state[flags] = -1  # until it is drawn for the first time, a cell says nothing

    def sweep(self, values: Sequence[Floats]) -> None:
        """Draw every cell once; values: the arrays of all parts."""
        for batch in self._batches:
            size = self.probabilities[batch.relation].shape[1]
            logits = np.zeros((len(batch.cells), size))
            for link in batch.links:
                part = self.parameters.parts[link.part]
                table = self.parameters.task.tables[part.table]
                others = [axis for axis in part.axes if axis != link.axis]
                code = codes_of(part, table, others, link.rows, self.state)
                known = np.flatnonzero(code >= 0)
                view = np.moveaxis(values[link.part], 1 + part.axes.index(link.axis), -1)
                np.add.at(logits, link.places[known], view.reshape(-1, size)[code[known]])
            weights = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
            at = self._random.random((len(batch.cells), 1)) * weights[:, -1:]
            self.state[batch.relation][batch.cells] = (at >= weights[:, :-1]).sum(axis=1)
            shares = np.diff(weights, axis=1, prepend=0.0) / weights[:, -1:]
            self.probabilities[batch.relation][batch.cells] = shares

    def counts(self) -> list[Floats]:
        """For each part how many rows are in each of its states."""
        found = []
        for part in self.parameters.parts:
            table = self.parameters.task.tables[part.table]
            code = codes_of(part, table, part.axes, np.arange(len(table)), self.state)
            many = np.bincount(code[code >= 0], minlength=int(np.prod(part.shape)))
            found.append(many.reshape(part.shape).astype(np.float64))
        return found


def codes_of(
    part: Part, table: TableToLearn, axes: Sequence[int], rows: Ints, state: Sequence[Ints]
) -> Ints:
    """For each row the number of its group and labels in a part, -1 if one of them is missing."""
    code = np.zeros(len(rows), dtype=np.int64) if part.of_row is None else part.of_row[rows]
    for axis in axes:
        slot = table.slots[axis]
        label = state[slot.relation][slot.cells[rows]]
        size = part.shape[1 + part.axes.index(axis)]
        code = np.where((code < 0) | (label < 0), -1, code * size + label)
    return code


def _batches(parameters: Parameters, relation: int, drawn: Flags) -> list[_Batch]:
    cells = np.flatnonzero(drawn)
    colour = _apart(parameters, relation, drawn)
    found = []
    for same in members(colour):
        place_of = np.full(len(drawn), -1, dtype=np.int64)
        place_of[cells[same]] = np.arange(len(same))
        links = []
        for number, part in enumerate(parameters.parts):
            slots = parameters.task.tables[part.table].slots
            for axis in part.axes:
                if slots[axis].relation == relation:
                    places = place_of[slots[axis].cells]
                    rows = np.flatnonzero(places >= 0)
                    links.append(_Link(number, axis, rows, places[rows]))
        found.append(_Batch(relation, cells[same], tuple(links)))
    return found


def _apart(parameters: Parameters, relation: int, drawn: Flags) -> Ints:
    """Colours of drawn cells of a relation such that no two in one row share one.

    Of those without a colour the ones that come first among their neighbours, in a shuffled order,
    get the next; that ends after few rounds.
    """
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for number in parameters.tables:
        own = [
            slot.cells for slot in parameters.task.tables[number].slots if slot.relation == relation
        ]
        for first, one in enumerate(own):
            pairs += [np.column_stack((one, other)) for other in own[first + 1 :]]
    touching = np.vstack(pairs)
    touching = touching[drawn[touching].all(axis=1) & (touching[:, 0] != touching[:, 1])]
    colour = np.full(len(drawn), -1, dtype=np.int64)
    rank = np.random.default_rng(0).permutation(len(drawn))
    number, left = 0, drawn.copy()
    while left.any():
        open_pairs = touching[left[touching].all(axis=1)]
        first = left.copy()
        later = np.where(
            rank[open_pairs[:, 0]] > rank[open_pairs[:, 1]], open_pairs[:, 0], open_pairs[:, 1]
        )
        first[later] = False
        colour[first] = number
        left &= ~first
        number += 1
    return colour[drawn]


def answers(
    parameters: Parameters,
    vector: Floats,
    values: Sequence[Ints],
    drawn: Sequence[Flags],
    sweeps: int,
    seed: int,
) -> list[Floats]:
    """Distributions of drawn cells, averaged over sweeps after the first sixth of them."""
    chain = Chain(parameters, values, drawn, np.random.default_rng(seed))
    arrays = parameters.values(vector)
    total = [np.zeros_like(each) for each in chain.probabilities]
    start = 1 + sweeps // 6
    for sweep in range(sweeps):
        chain.sweep(arrays)
        if sweep >= start:
            for into, each in zip(total, chain.probabilities, strict=True):
                into += each
    return [each / max(sweeps - start, 1) for each in total]
