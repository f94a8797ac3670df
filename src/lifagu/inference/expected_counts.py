"""Expected counts of tables that are to be learned, exact, for ever new numbers in them.

Rows are sliced, connected parts found and their elimination planned once; connected parts that are
alike are computed once. Each pass then is arithmetic on arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lifagu.basics.added_rows import Codes, add_rows, collect_rows
from lifagu.basics.arrays import Floats, Ints, by_value, first_places, group_rows, members
from lifagu.basics.memory import readable_size
from lifagu.basics.words import amount
from lifagu.errors import TooLargeError, listed
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.rounds import Rounds, TooWideError, plan_rounds
from lifagu.inference.sliced_rows import (
    DistinctParts,
    cell_sizes,
    cell_starts,
    cell_values,
    distinct_parts,
    sliced_rows,
)
from lifagu.relational.learning_task import Expected, LearningTask


def expectation(task: LearningTask, memory_limit: int | None = None) -> ExactExpectation:
    """Expected counts under any tables, exact; plans are made when they are first needed.

    Ground factors whose table is unknown say nothing. Refused (`TooLargeError`), when it is first
    asked for, is what would not fit into memory.
    """
    return ExactExpectation(task, memory_limit_of(memory_limit))


class ExactExpectation:
    """Expectations for a task."""

    def __init__(self, task: LearningTask, limit: int) -> None:
        self._task, self._limit = task, limit
        self._plans: dict[bool, _PlannedPass] = {}

    def __call__(self, stacks: Sequence[Floats], *, observed: bool = True) -> Expected:
        """With all tables to learn as given (potentials); observed: given what was observed.

        Conditions are as observed in any case. Where that has no weight at all, its log is -inf and
        nothing is counted.
        """
        flat = [np.asarray(stack, dtype=np.float64).reshape(-1) for stack in stacks]
        fixed = [each.tables.reshape(-1) for each in self._task.fixed]
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate((*flat, *fixed, np.ones(1))))
        log_weight, counts = self._planned(observed).run(logs)
        ends = np.cumsum([len(each) for each in flat])
        found = zip(np.split(counts, ends), stacks, strict=False)
        return Expected(log_weight, tuple(each.reshape(np.shape(stack)) for each, stack in found))

    def work(self, most: float = math.inf, *, observed: bool = True) -> int:
        """How many numbers one pass multiplies; what does not fit into memory is refused.

        most: of what certainly multiplies more, no elimination is planned; it is refused, too.
        """
        return self._planned(observed, most).work

    def _planned(self, observed: bool, most: float = math.inf) -> _PlannedPass:
        if observed not in self._plans:
            self._plans[observed] = _planned(self._task, observed, self._limit, most)
        return self._plans[observed]


class _RowBlock(NamedTuple):
    """Rows with equal strides and sizes, so that there are few different slices of tables.

    inside: where entries are from the place on at which a slice begins; begins: of each different
    slice; slices: which of them each row has; scopes: its table in the plan, counted in such ones.
    """

    inside: Ints
    begins: Ints
    slices: Codes
    scopes: Codes

    @property
    def entries(self) -> int:
        """How many numbers there are in all rows."""
        return len(self.inside) * len(self.slices)

    def add(self, logs: Floats, flat: Floats) -> None:
        """Add each row's slice of all tables to its table in the plan."""
        few = logs[self.begins[:, None] + self.inside]
        add_rows(self._view(flat), self.scopes, few, self.slices)

    def collect(self, joints: Floats, counts: Floats) -> None:
        """The way back: add the joint marginals of each row to its slice of all tables."""
        few = np.zeros((len(self.begins), len(self.inside)))
        collect_rows(self._view(joints), self.scopes, few, self.slices)
        np.add.at(counts, self.begins[:, None] + self.inside, few)

    def _view(self, flat: Floats) -> Floats:
        width = len(self.inside)
        return flat[: len(flat) // width * width].reshape(-1, width)


@dataclass(frozen=True, eq=False)
class _PlannedPass:
    """All that does not change with the numbers in tables.

    settled: entries of all tables that rows without hidden cells have, and how many of those; idle:
    log weight of hidden cells without factors; times: how many parts each planned one stands for.
    """

    settled: tuple[Ints, Floats]
    idle: float
    blocks: tuple[_RowBlock, ...]
    rounds: Rounds
    times: Floats

    @property
    def work(self) -> int:
        """How many numbers a pass multiplies."""
        return self.rounds.work + sum(block.entries for block in self.blocks)

    def run(self, logs: Floats) -> tuple[float, Floats]:
        """The log weight, and the expected count of each entry of all tables."""
        flat = np.zeros(self.rounds.length)
        for block in self.blocks:
            block.add(logs, flat)
        self.rounds.forward(flat)
        places, settled = self.settled
        of_parts = float((self.times * flat[: len(self.times)]).sum())
        log_weight = self.idle + float((settled * logs[places]).sum()) + of_parts
        counts = np.zeros(len(logs))
        if np.isneginf(log_weight):
            return log_weight, counts
        counts[places] = settled
        joints = self.rounds.backward(flat, self.times)
        for block in self.blocks:
            block.collect(joints, counts)
        return log_weight, counts


def _planned(task: LearningTask, observed: bool, limit: int, most: float) -> _PlannedPass:
    rows, sizes = sliced_rows(task, observed), cell_sizes(task)
    free = rows.cells[:, 0] < 0
    places, settled = np.unique(rows.origin[free], return_counts=True)
    hidden = rows.those(np.flatnonzero(~free))
    parts = distinct_parts(hidden, sizes)
    if np.append(parts.size, 1)[parts.rows.cells].prod(axis=1).sum() > most:
        raise TooLargeError(f"a pass multiplies more than {amount(most, ',')} numbers")
    scope = group_rows(parts.rows.cells + 1)
    ties = parts.place * 2654435761 % 2**32  # alike in all parts, shuffled along chains
    try:
        scopes = parts.rows.cells[first_places(scope)]
        rounds = plan_rounds(parts.part, parts.size, ties, scopes, limit / 64)
    except TooWideError as error:
        raise _refusal(task, parts.cell[error.variables], error.entries) from None
    if rounds.length * 24 > min(limit, 24 * (2**31 - 1)):
        needed = readable_size(rounds.length * 24)
        raise TooLargeError(
            f"expected counts take {needed}, more than {readable_size(limit)}; raise the memory "
            "limit, or learn from fewer individuals"
        )
    idle = np.flatnonzero(cell_values(task, observed) < 0)
    idle = np.setdiff1d(idle, hidden.cells, assume_unique=False)
    return _PlannedPass(
        (places, settled.astype(np.float64)),
        float(np.log(sizes[idle]).sum()),
        _row_blocks(parts, rounds.offsets[scope]),
        rounds,
        parts.times,
    )


def _row_blocks(parts: DistinctParts, offset: Ints) -> tuple[_RowBlock, ...]:
    """Rows by strides and sizes."""
    rows = parts.rows
    size = np.append(parts.size, 1)[rows.cells]
    blocks = []
    for some in members(group_rows(np.column_stack((rows.strides, size)))):
        inside = np.zeros(1, dtype=np.int64)
        for stride, many in zip(rows.strides[some[0]], size[some[0]], strict=True):
            inside = (inside[:, None] + stride * np.arange(many)).reshape(-1)
        first, slices = by_value(rows.origin[some])
        scopes = offset[some] // len(inside)
        begins = rows.origin[some[first]]
        blocks.append(_RowBlock(inside, begins, slices.astype(np.int32), scopes.astype(np.int32)))
    return tuple(blocks)


def _refusal(task: LearningTask, cells: Ints, entries: float) -> TooLargeError:
    of = np.searchsorted(cell_starts(task), cells, side="right") - 1
    names = listed([task.relations[each].relation for each in np.unique(of).tolist()])
    return TooLargeError(
        f"expected counts take a table over {len(cells)} hidden cells of {names}, 2^"
        f"{np.log2(entries):.0f} numbers; leave out tables that join them, or learn by scores"
    )
