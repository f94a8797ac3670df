"""What there is to learn and what was learned, as arrays: between the rooms that read and learn.

A cell is a ground variable, numbered within its relation. A table to learn has a row for each
ground factor that is to have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.graph.ranges import Labels


@dataclass(frozen=True, eq=False)
class KnownCells:
    """What was observed of a relation, or of a plain variable, which is one with a single cell.

    values: by cell the number of its label as declared, -1 where nobody knows.
    """

    relation: str
    labels: Labels
    values: Ints


class Slot(NamedTuple):
    """An argument of a table: the number of its relation, and by row the number of the cell."""

    relation: int
    cells: Ints


@dataclass(frozen=True, eq=False)
class GroupLevel:
    """Groups with a table of their own, such as hospitals, or within those wards.

    column: what tells groups of one parent apart; of_row: the group of each row, -1 where that is
    NULL, so that the level above decides; parent: of each group, in the level above (0 in the
    first); keys: what each group is called, the values of this column and those above it.
    """

    column: str
    of_row: Ints
    parent: Ints
    keys: Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class TableToLearn:
    """A table that rows share, or share by group; place: where it stands, for errors.

    given: the arguments it is conditional on, by place; levels: from coarse to fine.
    """

    name: str
    place: str
    slots: tuple[Slot, ...]
    given: tuple[int, ...] = ()
    levels: tuple[GroupLevel, ...] = ()

    def __len__(self) -> int:
        return len(self.slots[0].cells)


@dataclass(frozen=True, eq=False)
class FixedTables:
    """Ground factors whose tables are given.

    tables: one flat table in each row; table_of: which of them each ground factor has, -1 unknown.
    """

    name: str
    slots: tuple[Slot, ...]
    tables: Floats
    table_of: Ints


@dataclass(frozen=True, eq=False)
class LearningTask:
    """All that learning needs to know."""

    relations: tuple[KnownCells, ...]
    tables: tuple[TableToLearn, ...]
    fixed: tuple[FixedTables, ...] = ()

    def shape(self, table: TableToLearn | FixedTables) -> tuple[int, ...]:
        """The sizes of the ranges of its arguments."""
        return tuple(len(self.relations[slot.relation].labels) for slot in table.slots)


@dataclass(frozen=True, eq=False)
class LearnedTable:
    """What was learned for one table.

    common: flat potentials, those of a group that nobody has seen; by_level: for each level the
    potentials of each group, a row each; records: how many rows with all arguments observed stand
    behind the common table, and behind each group of each level. method: how it was learned;
    parameters: how many the data decide upon, in effect; scales: how far groups of each level
    differ from the level above (a standard deviation of logs; 0: not at all); loss_without: by how
    much the score gets worse without it, in nats a cell.
    """

    name: str
    common: Floats
    by_level: tuple[Floats, ...]
    records: tuple[Ints, ...]
    method: str
    parameters: float
    scales: tuple[float, ...] = ()
    loss_without: float | None = None

    def of_rows(self, table: TableToLearn) -> tuple[Floats, Ints]:
        """The tables of all groups, the common one first, and the number of each row's."""
        stack = np.vstack([self.common[None], *self.by_level])
        number = np.zeros(len(table), dtype=np.int64)
        start = 1
        for level, tables in zip(table.levels, self.by_level, strict=True):
            number = np.where(level.of_row < 0, number, start + level.of_row)
            start += len(tables)
        return stack, number


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """All tables that were learned, in the order of the task.

    score: mean log loss of cells that were hidden while choosing how much to trust what, in nats;
    baseline: that of the observed frequencies; None where nothing had to be chosen. notes: what a
    user should know, a line each.
    """

    tables: tuple[LearnedTable, ...]
    score: float | None = None
    baseline: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PooledCounts:
    """Tables of groups drawn to their common one; scale: of how many records that one counts."""

    tables: Floats
    common: Floats
    scale: float


@dataclass(frozen=True)
class LearningSettings:
    """How to learn: everything that is random comes of the seed."""

    seed: int = 0
    restarts: int = 4
    sample: int = field(default=20_000)


class Learner(Protocol):
    """Who learns, handed to the room that reads."""

    def learned(self, task: LearningTask) -> LearnedModel:
        """The tables of a task."""

    def pooled(self, counts: Floats, given: tuple[int, ...]) -> PooledCounts:
        """Tables of groups from their counts (groups × shape), conditional on some axes."""
