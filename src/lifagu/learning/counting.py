"""Conditional tables from counts: a weak prior behind the common one, groups drawn to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.log_gamma import log_evidence
from lifagu.graph.pooled_counts import Pooled, pooled
from lifagu.relational.learning_task import LearnedTable, LearningTask, TableToLearn

UNIFORM = 0.25  # imagined records that are spread evenly; the others follow what was observed
STRENGTHS = 4.0 ** np.arange(8)  # imagined records behind each condition that are tried


def counted(task: LearningTask) -> list[Floats]:
    """Rows whose arguments were all observed, by table of the stack and state."""
    return [_counted(task, table) for table in task.tables]


def _counted(task: LearningTask, table: TableToLearn) -> Floats:
    size = int(np.prod(task.shape(table)))
    values = [task.relations[slot.relation].values[slot.cells] for slot in table.slots]
    seen = np.all([each >= 0 for each in values], axis=0)
    state = np.zeros(int(seen.sum()), dtype=np.int64)
    for value, labels in zip(values, task.shape(table), strict=True):
        state = state * labels + value[seen]
    place = table.in_stack[seen] * size + state
    many = np.bincount(place, minlength=len(table.above) * size)
    return many.astype(np.float64).reshape(-1, size)


def imagined_records(task: LearningTask, table: TableToLearn) -> Floats:
    """The prior of the common table, as records by state.

    A quarter of a record is spread evenly, so that what was never seen is possible but unlikely.
    The others follow how often values of each argument were observed: where arguments have nothing
    to do with each other many, so that the table says no more than that, else few; how many is told
    by what was counted.
    """
    shape, share, even = task.shape(table), np.ones(()), np.ones(())
    for place, (slot, size) in enumerate(zip(table.slots, shape, strict=True)):
        frequency, alike = np.ones(size), np.ones(size)
        if place not in table.given:
            values = task.relations[slot.relation].values
            many = np.bincount(values[values >= 0], minlength=size) + 1.0 / size
            frequency, alike = many / many.sum(), alike / size
        share, even = share[..., None] * frequency, even[..., None] * alike
    tried = [(each - UNIFORM) * share + UNIFORM * even for each in STRENGTHS]
    if len(shape) == 1:
        return np.asarray(tried[0].reshape(-1))
    counts = _counted(task, table).sum(axis=0).reshape(shape)
    others = [place for place in range(len(shape)) if place not in table.given]
    order = (*table.given, *others)
    width = int(np.prod([shape[place] for place in others]))
    evidence = [
        float(log_evidence(counts.transpose(order).reshape(-1, width), prior))
        for prior in (each.transpose(order).reshape(-1, width) for each in tried)
    ]
    return np.asarray(tried[int(np.argmax(evidence))].reshape(-1))


def pooled_tables(task: LearningTask, counts: Sequence[Floats]) -> list[Pooled]:
    """The tables that counts tell, groups drawn to the level above."""
    return [
        pooled(many, task.shape(table), table.given, table.above, imagined_records(task, table))
        for table, many in zip(task.tables, counts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class ConditionalShape:
    """How a flat table falls into conditions: shape, and the places of what is given."""

    shape: tuple[int, ...]
    given: tuple[int, ...]

    @property
    def others(self) -> tuple[int, ...]:
        """Axes of a stack of such tables that are not given."""
        return tuple(1 + axis for axis in range(len(self.shape)) if axis not in self.given)

    def sums(self, stack: Floats) -> Floats:
        """For each entry of a stack of tables the sum over all of the same condition."""
        full = stack.reshape(-1, *self.shape)
        sums = full.sum(axis=self.others, keepdims=True)
        return np.broadcast_to(sums, full.shape).reshape(len(full), -1)

    def masses(self, stack: Floats) -> Floats:
        """The same once for each condition: tables × conditions."""
        full = stack.reshape(-1, *self.shape)
        found: Floats = full.sum(axis=self.others)
        return found.reshape(len(full), -1)

    def log_normalised(self, logs: Floats) -> Floats:
        """Log tables that sum to one for each condition."""
        full = logs.reshape(-1, *self.shape)
        full = np.array(full - full.max(axis=self.others, keepdims=True))
        full -= np.log(np.exp(full).sum(axis=self.others, keepdims=True))
        return full.reshape(logs.shape)

    @property
    def freedom(self) -> int:
        """How many numbers each condition leaves open."""
        return int(np.prod([self.shape[axis - 1] for axis in self.others])) - 1


def learned_tables(
    task: LearningTask, counts: Sequence[Floats], tables: Sequence[Pooled], method: str
) -> tuple[LearnedTable, ...]:
    """What was learned, told: counts (expected ones where something is hidden), and tables."""
    records = [each.sum(axis=1) for each in counted(task)]
    return tuple(
        LearnedTable(
            name=table.name,
            stack=made.stack,
            records=seen,
            method=method,
            parameters=_effective(task, table, many, made),
            scales=made.spreads,
        )
        for table, many, made, seen in zip(task.tables, counts, tables, records, strict=True)
    )


def _effective(task: LearningTask, table: TableToLearn, counts: Floats, made: Pooled) -> float:
    """Parameters that the data decide upon: groups count as far as they are not drawn away."""
    conditions = ConditionalShape(task.shape(table), table.given)
    masses = conditions.masses(counts)
    depth = depths(table.above)
    total = float(masses.shape[1])
    for level, scale in enumerate(made.scales):
        if np.isfinite(scale):
            mine = masses[depth == level + 1]
            total += float((mine / (mine + scale)).sum())
    return total * conditions.freedom


def depths(above: Ints) -> Ints:
    """How far below the common table each table of a stack is."""
    depth = np.zeros(len(above), dtype=np.int64)
    for _ in range(len(above)):
        deeper = np.where(above < 0, 0, depth[above] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return depth


def learn_by_counts(task: LearningTask) -> tuple[LearnedTable, ...]:
    """The tables of a network all of whose rows were observed.

    Rows with something hidden are not counted.
    """
    counts = counted(task)
    return learned_tables(task, counts, pooled_tables(task, counts), "counts")
