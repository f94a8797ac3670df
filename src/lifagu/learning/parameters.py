"""What is to be learned as one vector: logs of tables, taken apart into blocks.

The log of a table is a sum: a main effect of one argument, the interaction of all of them, and for
each group a deviation from the level above. Each of these blocks has a penalty of its own. A table
that is conditional on some arguments is that sum, normalised over the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.learning.neighbours import along_axes, by_parameters, mixings_of
from lifagu.relational.learning_task import LearningTask, TableToLearn

BlockKind = Literal["main", "joint", "level"]
TINY = 1e-300  # potentials below it count as this
MIXED = 3, 24  # how many labels deviations have that may go together: two always do


@dataclass(frozen=True, eq=False)
class Block:
    """Some parameters: groups × the sizes of some arguments, from `start` on.

    axes: the places of these arguments; of_row: the group of each row, -1 for none, None where all
    rows share one; rows: which rows of the table's stack it adds to; mixings: for each argument
    labels × labels, what each parameter adds to each label, each to its own where it is None.
    """

    kind: BlockKind
    table: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    start: int
    of_row: Ints | None
    rows: slice
    mixings: tuple[Floats | None, ...] = ()

    @cached_property
    def stop(self) -> int:
        """Where the next block begins."""
        return self.start + int(np.prod(self.shape))

    def of(self, vector: Floats) -> Floats:
        """Its part of a vector of parameters."""
        return vector[self.start : self.stop].reshape(self.shape)

    def logs(self, vector: Floats) -> Floats:
        """What its parameters add to the logs of tables."""
        return along_axes(self.of(vector), self.mixings)

    @property
    def is_mixable(self) -> bool:
        """Whether it has deviations of labels of which a group's can go together."""
        few, many = MIXED
        return self.kind == "level" and len(self.axes) == 1 and few <= self.shape[1] <= many


@dataclass(frozen=True, eq=False)
class LookUpArray:
    """An array that is looked up by rows: a block, or the whole stack of a conditional table.

    start: where its entries begin among those of all parts.
    """

    table: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    of_row: Ints | None
    start: int

    @property
    def entries(self) -> Ints:
        """The numbers of its entries, in its shape."""
        return self.start + np.arange(np.prod(self.shape)).reshape(self.shape)

    def seen_from(self, axis: int) -> Ints:
        """The numbers of its entries, those of one argument's labels next to each other."""
        return np.moveaxis(self.entries, 1 + self.axes.index(axis), -1).reshape(-1)

    @property
    def sizes(self) -> dict[int, int]:
        """How many labels each of its arguments has."""
        return dict(zip(self.axes, self.shape[1:], strict=True))

    def groups(self, rows: Ints) -> Ints:
        """The groups of some rows, -1 for none."""
        return np.zeros(len(rows), dtype=np.int64) if self.of_row is None else self.of_row[rows]


@dataclass(frozen=True, eq=False)
class Parameters:
    """The blocks of some tables, and the arrays that they make."""

    task: LearningTask
    tables: tuple[int, ...]
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, task: LearningTask, tables: Sequence[int]) -> Parameters:
        """All blocks: main effects where a relation has its first table, joint ones, deviations."""
        at_home = _homes(task, tables)
        blocks: list[Block] = []

        def add(kind: BlockKind, number: int, axes: tuple[int, ...], level: int = -1) -> None:
            table, shape = task.tables[number], task.shape(task.tables[number])
            start = blocks[-1].stop if blocks else 0
            of_row, rows, many = None, slice(0, 1), 1
            if level >= 0:
                of_row, rows = table.levels[level].of_row, slice(*table.starts[level : level + 2])
                many = len(table.levels[level].parent)
            sizes = (many, *(shape[axis] for axis in axes))
            blocks.append(Block(kind, number, axes, sizes, start, of_row, rows))

        for number in tables:
            every = tuple(range(len(task.tables[number].slots)))
            for axis in at_home[number]:
                add("main", number, (axis,))
            if len(every) > 1:
                add("joint", number, every)
            for level in range(len(task.tables[number].levels)):
                add("level", number, every, level)
        return cls(task, tuple(tables), tuple(blocks))

    @property
    def size(self) -> int:
        """How many there are."""
        return self.blocks[-1].stop

    @cached_property
    def parts(self) -> list[LookUpArray]:
        """The arrays that rows look up: conditional tables as a whole, else block by block."""
        found, start = [], self.size
        for number in self.tables:
            table = self.task.tables[number]
            if table.given:
                every = tuple(range(len(table.slots)))
                shape = (len(table.above), *self.task.shape(table))
                of_row = table.in_stack if table.levels else None
                found.append(LookUpArray(number, every, shape, of_row, start))
                start += int(np.prod(shape))
            else:
                found += [
                    LookUpArray(number, block.axes, block.shape, block.of_row, block.start)
                    for block in self.blocks
                    if block.table == number
                ]
        return found

    @cached_property
    def _conditional(self) -> list[int]:
        return [number for number in self.tables if self.task.tables[number].given]

    def entries(self, vector: Floats) -> Floats:
        """The entries of all parts: the parameters, and after them those of conditional tables."""
        stacks = (self.stack(vector, number).reshape(-1) for number in self._conditional)
        return np.concatenate([self.unmixed(vector), *stacks])

    def unmixed(self, vector: Floats) -> Floats:
        """The parameters that say the same where nothing is mixed."""
        return np.concatenate([block.logs(vector).reshape(-1) for block in self.blocks])

    def mixed(self, mixings: Floats) -> Parameters:
        """The same, mixed: one matrix after the other for blocks that can be; none if empty."""
        if not len(mixings):
            return self
        blocks, start = [], 0
        for block in self.blocks:
            if block.is_mixable:
                size, start = block.shape[1], start + block.shape[1] ** 2
                mixing = mixings[start - size * size : start].reshape(size, size)
                block = replace(block, mixings=(mixing,))
            blocks.append(block)
        return replace(self, blocks=tuple(blocks))

    @cached_property
    def smoothed(self) -> Parameters:
        """The same, mixed in such a way that neighbouring bins of numbers are held to be alike."""
        blocks = []
        for block in self.blocks:
            if block.kind != "main":
                every = mixings_of(self.task, self.task.tables[block.table])
                block = replace(block, mixings=tuple(every[axis] for axis in block.axes))
            blocks.append(block)
        return replace(self, blocks=tuple(blocks))

    def vector_of(self, stacks: Sequence[Floats]) -> Floats:
        """Parameters that make these potentials: all of each common table in its widest block."""
        vector = np.zeros(self.size)
        for block in self.blocks:
            stack = stacks[self.tables.index(block.table)]
            logs = np.log(np.maximum(stack, TINY))
            above = self.task.tables[block.table].above
            if block.kind == "level":
                block.of(vector)[:] = (logs - logs[above])[block.rows].reshape(block.shape)
            elif len(block.axes) == len(self.task.tables[block.table].slots):
                block.of(vector)[:] = logs[0].reshape(block.shape)
        return vector

    def stack(self, vector: Floats, number: int) -> Floats:
        """The logs of all tables of a stack, conditional ones normalised."""
        table = self.task.tables[number]
        logs = self._sums(vector, number)
        return logs - _log_sums(logs, table) if table.given else logs

    def _sums(self, vector: Floats, number: int) -> Floats:
        """The blocks of a table added up, each level on top of the one above."""
        table, shape = self.task.tables[number], self.task.shape(self.task.tables[number])
        logs = np.zeros((len(table.above), *shape))
        for block in self.blocks:
            if block.table == number:
                sizes = [shape[axis] if axis in block.axes else 1 for axis in range(len(shape))]
                logs[block.rows] += block.logs(vector).reshape(-1, *sizes)
        for rows in _levels(table):
            logs[rows] += logs[table.above[rows]]
        return logs

    def gradient(self, vector: Floats, by_entry: Floats) -> Floats:
        """The derivative by parameters, from those by the entries of all parts."""
        found = self._by_log(vector, by_entry)
        for block in self.blocks:
            if block.mixings:
                block.of(found)[:] = by_parameters(block.of(found), block.mixings)
        return found

    def bends(self, vector: Floats, by_entry: Floats) -> Floats:
        """The same for second derivatives, as if each entry bent for itself."""
        found = self._by_log(vector, by_entry)
        for block in self.blocks:
            if block.mixings:
                block.of(found)[:] = by_parameters(block.of(found), block.mixings, 2)
        return np.maximum(found, 0.0)

    def _by_log(self, vector: Floats, by_entry: Floats) -> Floats:
        """The derivative by what each parameter would add if nothing were mixed."""
        found, start = by_entry[: self.size].copy(), self.size
        for number in self._conditional:
            logs = self.stack(vector, number)
            own = by_entry[start : start + logs.size].reshape(logs.shape)
            self._through_stack(number, logs, own, found)
            start += logs.size
        return found

    def _through_stack(self, number: int, logs: Floats, by_entry: Floats, found: Floats) -> None:
        """The same through the normalisation of a conditional table and the sums over levels."""
        table = self.task.tables[number]
        summed = by_entry.sum(axis=_children(table), keepdims=True)
        by_sum = by_entry - np.exp(logs) * summed
        for rows in reversed(_levels(table)):
            np.add.at(by_sum, table.above[rows], by_sum[rows])
        for block in self.blocks:
            if block.table == number:
                others = set(range(len(table.slots))) - set(block.axes)
                reduced = by_sum[block.rows].sum(axis=tuple(1 + axis for axis in others))
                found[block.start : block.stop] += reduced.reshape(-1)


def _levels(table: TableToLearn) -> list[slice]:
    """The rows of a stack level by level, from coarse to fine, without the common one."""
    return [slice(*each) for each in pairwise(table.starts)]


def _children(table: TableToLearn) -> tuple[int, ...]:
    """The axes of a stack over which a conditional table sums to one."""
    return tuple(1 + axis for axis in range(len(table.slots)) if axis not in table.given)


def _log_sums(logs: Floats, table: TableToLearn) -> Floats:
    highest = logs.max(axis=_children(table), keepdims=True)
    summed = np.exp(logs - highest).sum(axis=_children(table), keepdims=True)
    return np.asarray(highest + np.log(summed))


def _homes(task: LearningTask, tables: Sequence[int]) -> dict[int, list[int]]:
    """For each table the arguments whose main effect it has.

    A table of one argument has that one's, a conditional one those of what it is about; any other
    relation's belongs to the first table it is in.
    """
    homes: dict[int, list[int]] = {number: [] for number in tables}
    settled = set[int]()
    for number in tables:
        table = task.tables[number]
        if len(table.slots) == 1 or table.given:
            axes = [axis for axis in range(len(table.slots)) if axis not in table.given]
            homes[number] = axes
            settled |= {table.slots[axis].relation for axis in axes}
    for number in tables:
        for axis, slot in enumerate(task.tables[number].slots):
            if slot.relation not in settled and not task.tables[number].given:
                homes[number].append(axis)
                settled.add(slot.relation)
    return homes
