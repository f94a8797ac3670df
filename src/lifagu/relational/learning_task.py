"""What there is to learn and what was learned, as arrays: between the rooms that read and learn.

A cell is a ground variable, numbered within its relation. A table to learn has a row for each
ground factor that is to have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.graph.ranges import Labels


@dataclass(frozen=True, eq=False)
class KnownCells:
    """What was observed of a relation, or of a plain variable, which is one with a single cell.

    values: by cell the number of its label as declared, -1 where nobody knows; ordered: how many
    labels, the first ones, are in an order, as bins of numbers are.
    """

    relation: str
    labels: Labels
    values: Ints
    ordered: int = 0


class ArgumentCells(NamedTuple):
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

    given: the arguments it is conditional on, by place; levels: from coarse to fine. Its tables are
    kept in a stack: the common one first, then those of each level's groups.
    """

    name: str
    place: str
    slots: tuple[ArgumentCells, ...]
    given: tuple[int, ...] = ()
    levels: tuple[GroupLevel, ...] = ()

    def __len__(self) -> int:
        return len(self.slots[0].cells)

    @property
    def starts(self) -> list[int]:
        """Where the groups of each level begin in the stack, and where it ends."""
        sizes = [len(level.parent) for level in self.levels]
        return [1 + sum(sizes[:place]) for place in range(len(sizes) + 1)]

    @cached_property
    def in_stack(self) -> Ints:
        """Which table of the stack each row has: that of its finest group."""
        number = np.zeros(len(self), dtype=np.int64)
        for level, start in zip(self.levels, self.starts, strict=False):
            number = np.where(level.of_row < 0, number, start + level.of_row)
        return number

    @cached_property
    def above(self) -> Ints:
        """For each table of the stack the one it is drawn to; -1 for the common one."""
        found = [np.array([-1])]
        for place, (level, start) in enumerate(zip(self.levels, [0, *self.starts], strict=False)):
            found.append(np.zeros_like(level.parent) if place == 0 else start + level.parent)
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class FixedTables:
    """Ground factors whose tables are given.

    tables: one flat table in each row; table_of: which of them each ground factor has, -1 unknown.
    """

    name: str
    slots: tuple[ArgumentCells, ...]
    tables: Floats
    table_of: Ints


@dataclass(frozen=True, eq=False)
class LearningTask:
    """All that learning needs to know.

    asked: the relations that are to be predicted, by number; of the others tables say only what
    they tell about these. needed: those that are predicted now; tables on which none of them
    depends need not be learned (None: all are learned). conditions: relations that are as observed
    in every pass, so that nothing is learned about them; all of their cells have a label.
    """

    relations: tuple[KnownCells, ...]
    tables: tuple[TableToLearn, ...]
    fixed: tuple[FixedTables, ...] = ()
    asked: frozenset[int] = frozenset()
    needed: frozenset[int] | None = None
    conditions: frozenset[int] = frozenset()

    def shape(self, table: TableToLearn | FixedTables) -> tuple[int, ...]:
        """The sizes of the ranges of its arguments."""
        return tuple(len(self.relations[slot.relation].labels) for slot in table.slots)

    def conditions_of(self, table: TableToLearn) -> tuple[int, ...]:
        """The arguments of a table, by place, that are conditions."""
        places = enumerate(table.slots)
        return tuple(place for place, slot in places if slot.relation in self.conditions)


@dataclass(frozen=True, eq=False)
class LearnedTable:
    """What was learned for one table.

    stack: flat potentials, a row for each table of the stack, the first being that of a group which
    nobody has seen; records: how many rows with all arguments observed stand behind each; method:
    how it was learned; parameters: how many the data decide upon, in effect; scales: how far groups
    of each level differ from the level above (a standard deviation of logs; 0: not at all);
    loss_without: by how much cells are told worse without it, in nats a cell; conditions: the
    arguments, by place, that it tells from and not about; each has one more label, the last, which
    stands for not having been observed.
    """

    name: str
    stack: Floats
    records: Floats
    method: str
    parameters: float
    scales: tuple[float, ...] = ()
    loss_without: float | None = None
    conditions: tuple[int, ...] = ()


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


@dataclass(frozen=True)
class LearningSettings:
    """How to learn: everything that is random comes of the seed.

    restarts: how often hidden relations are begun anew; sample: cells of a relation on which
    scales are found where there are more; polished: how many cells undirected tables may have to be
    polished by their likelihood; keep_best: whether an interruption ends learning with what was
    found so far.
    """

    seed: int = 0
    restarts: int = 4
    sample: int = 20_000
    polished: int = 200_000
    keep_best: bool = False

    def random(self, purpose: str) -> np.random.Generator:
        """Numbers for one purpose, unlike those that whoever made the data began with this seed."""
        return np.random.default_rng([self.seed, *purpose.encode()])


class Expected(NamedTuple):
    """What tables would be counted if nothing were hidden, on average.

    log_weight: the log of the total weight; counts: for each table to learn, in the shape of its
    stack, how many rows with that table are in each state.
    """

    log_weight: float
    counts: tuple[Floats, ...]


class Expectation(Protocol):
    """Exact expectations under given tables, computed by those who know how to answer."""

    def __call__(self, stacks: Sequence[Floats], *, observed: bool = True) -> Expected:
        """With all tables to learn as given (potentials); observed: given what was observed.

        Conditions are as observed in any case. Where that has no weight at all, its log is -inf and
        nothing is counted.
        """

    def work(self, most: float = math.inf, *, observed: bool = True) -> int:
        """How many numbers that would handle; what does not fit is a `TooLargeError`.

        So is, where that is seen early, what would handle more than `most` of them.
        """
