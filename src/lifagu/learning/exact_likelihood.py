"""The exact likelihood of undirected tables, where all sums can be done.

Log tables are sums of deviations from the level above, each with a penalty λ/2 · ‖·‖²; a table that
is conditional on something is normalised over the rest. The derivative of the log likelihood by an
entry of a log table is how often it is expected given what was observed, less how often without.
Conditions are as observed both times: how likely they are themselves is nobody's question, and
tables that had to say it would say less about what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.learning.choosing import at_most, hidden_labels
from lifagu.learning.composite import Composite
from lifagu.learning.counting import ConditionalShape, counted, depths
from lifagu.learning.group_scales import group_multiples
from lifagu.learning.minimising import dot, minimise
from lifagu.learning.neighbours import Mixings, along_axes, by_parameters, inverse, mixings_of
from lifagu.learning.parameters import Parameters
from lifagu.relational.learning_task import (
    Expectation,
    LearnedTable,
    LearningSettings,
    LearningTask,
    TableToLearn,
)

TRACTABLE = 2**21  # numbers that one pass may handle: a twentieth of a second, hundreds of times
COMMON, GROUPS = 0.1, 2.0  # penalties to begin with
ROUNDS, STEPS, LAST = 3, 40, 240  # how often penalties are found, steps of each time and at last
ENOUGH = 1e-6  # steps end where one gains less than this share: far less than chance leaves open


def is_tractable(expect: Expectation, most: int = TRACTABLE) -> bool:
    """Whether a pass with what was observed and one without handle no more numbers than that."""
    try:
        return expect.work(most) <= most and expect.work(most, observed=False) <= most
    except TooLargeError:
        return False


class HiddenApart(NamedTuple):
    """A task without some of its cells, its expectations, and these cells to be told."""

    task: LearningTask
    expect: Expectation
    test: Composite


def learn_by_likelihood(
    task: LearningTask,
    expect: Expectation,
    start: Sequence[Floats] | None = None,
    progress: Callable[[int, float], None] | None = None,
    apart: HiddenApart | None = None,
) -> tuple[LearnedTable, ...]:
    """The tables under which what was observed is most probable, less the penalties.

    Penalties are those under which tables of that size are most probable (MacKay, 1992); those of
    groups are then multiplied by what tells hidden cells best. start: stacks to begin with; without
    them all potentials are 1. apart: with it penalties are found without the cells that it hides.
    """
    trial = Likelihood(apart.task, apart.expect) if apart else Likelihood(task, expect)
    penalties: Penalties = [(COMMON, *(GROUPS for _ in table.levels)) for table in task.tables]
    point = trial.point(start)
    for turn in range(ROUNDS):
        point = trial.most_probable(point, penalties, STEPS, progress)
        fitting = trial.fitting_penalties(point, penalties)
        if apart and turn:
            groups = trial.multiplied(penalties, point, apart.test)
            fitting = [(new[0], *mine[1:]) for new, mine in zip(fitting, groups, strict=True)]
        penalties = fitting
    likelihood = Likelihood(task, expect)
    point = likelihood.most_probable(point, penalties, LAST, progress)
    return likelihood.learned(point, penalties)


def learn_begun_anew(
    task: LearningTask,
    expect: Expectation,
    prepare: Callable[[LearningTask], Expectation],
    settings: LearningSettings,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[LearnedTable, ...]:
    """The same; where a relation was never observed, begun several times, and the best taken.

    Labels of which nothing is known are all alike, and stay so unless beginnings tell them apart.
    """
    unseen = [
        any((task.relations[slot.relation].values < 0).all() for slot in table.slots)
        for table in task.tables
    ]
    if not any(unseen):
        apart = _hidden_apart(task, prepare, settings)
        return learn_by_likelihood(task, expect, None, progress, apart)
    random = settings.random("beginning")
    found: list[tuple[LearnedTable, ...]] = []
    reached: list[float] = []
    for _ in range(settings.restarts):
        start = []
        for table, hidden in zip(task.tables, unseen, strict=True):
            size = int(np.prod(task.shape(table)))
            one = random.normal(size=size) if hidden else np.zeros(size)
            start.append(np.broadcast_to(np.exp(one), (len(table.above), size)))
        found.append(learn_by_likelihood(task, expect, start, progress))
        stacks = [each.stack for each in found[-1]]
        reached.append(expect(stacks).log_weight - expect(stacks, observed=False).log_weight)
    return found[int(np.argmax(reached))]


def _hidden_apart(
    task: LearningTask, prepare: Callable[[LearningTask], Expectation], settings: LearningSettings
) -> HiddenApart | None:
    """A fifth of the cells apart, where groups differ and sums can be done without these."""
    if not any(table.levels for table in task.tables):
        return None
    random = settings.random("hiding")
    hidden = [
        np.full_like(each.values, -1)
        if number in task.conditions
        else hidden_labels(each.values, random)
        for number, each in enumerate(task.relations)
    ]
    relations = tuple(
        replace(each, values=np.where(labels >= 0, -1, each.values))
        for each, labels in zip(task.relations, hidden, strict=True)
    )
    seen = replace(task, relations=relations)
    expect = prepare(seen)
    if not is_tractable(expect):
        return None
    told = [at_most(each, settings.sample, random) for each in hidden]
    parameters = Parameters.of(seen, range(len(seen.tables))).smoothed
    return HiddenApart(
        seen, expect, Composite.of(parameters, [each.values for each in relations], told)
    )


@dataclass(frozen=True, eq=False)
class _LogStack:
    """Where the deviations of one table's stack are in the vector, and how they make log tables.

    given: what tables are normalised for; told: the same and conditions, for each of which the rest
    is told; silent: groups of whose rows nothing was observed; they have no deviation; mixings:
    what each deviation adds to each label, argument by argument.
    """

    table: TableToLearn
    given: ConditionalShape
    told: ConditionalShape
    start: int
    silent: Ints
    mixings: Mixings

    @property
    def shape(self) -> tuple[int, int]:
        """Tables of the stack × states."""
        return len(self.table.above), int(np.prod(self.given.shape))

    @property
    def stop(self) -> int:
        """Where the next one begins."""
        return self.start + self.shape[0] * self.shape[1]

    @cached_property
    def levels(self) -> list[Ints]:
        """The tables of the stack at each depth."""
        depth = depths(self.table.above)
        return [np.flatnonzero(depth == each) for each in range(1 + len(self.table.levels))]

    def deviations(self, vector: Floats) -> Floats:
        """Its part of a vector."""
        return vector[self.start : self.stop].reshape(self.shape)

    def logs(self, vector: Floats) -> Floats:
        """Log tables: normalised where they are conditional, else with the largest being 0."""
        wide = self.deviations(vector).reshape(-1, *self.given.shape)
        found = along_axes(wide, self.mixings).reshape(self.shape).copy()
        for level in self.levels[1:]:
            found[level] += found[self.table.above[level]]
        if self.table.given:
            return self.given.log_normalised(found)
        found -= found.max(axis=1, keepdims=True)
        return found

    def back(self, gradient: Floats, potentials: Floats) -> Floats:
        """From the derivative by log tables to that by deviations, flat."""
        if self.table.given:
            gradient = gradient - potentials * self.given.sums(gradient)
        found = np.array(gradient)
        for level in reversed(self.levels[1:]):
            np.add.at(found, self.table.above[level], found[level])
        found[self.silent] = 0.0
        return self.by_deviations(found).reshape(-1)

    def by_deviations(self, by_logs: Floats, power: int = 1) -> Floats:
        """A derivative by what deviations add to as one by themselves; power 2: a second one."""
        wide = by_logs.reshape(-1, *self.given.shape)
        return by_parameters(wide, self.mixings, power).reshape(self.shape)


Penalties = Sequence[tuple[float, ...]]  # for each table, of the common one and of each level


class Likelihood:
    """The penalised log likelihood as a function of deviations, all in one vector."""

    def __init__(self, task: LearningTask, expect: Expectation) -> None:
        self.task, self._expect = task, expect
        self._stacks: list[_LogStack] = []
        for table in task.tables:
            start = self._stacks[-1].stop if self._stacks else 0
            shape = task.shape(table)
            given = ConditionalShape(shape, table.given)
            told = ConditionalShape(shape, (*table.given, *task.conditions_of(table)))
            self._stacks.append(
                _LogStack(table, given, told, start, _silent(task, table), mixings_of(task, table))
            )

    @property
    def size(self) -> int:
        """How long the vector is."""
        return self._stacks[-1].stop if self._stacks else 0

    @property
    def silent(self) -> Ints:
        """Which deviations stay 0: those of groups of which nothing was observed."""
        mask = np.zeros(self.size, dtype=bool)
        for one in self._stacks:
            mask[one.start : one.stop].reshape(one.shape)[one.silent] = True
        return np.flatnonzero(mask)

    def point(self, stacks: Sequence[Floats] | None) -> Floats:
        """The deviations that make these potentials; without them, none."""
        vector = np.zeros(self.size)
        for one, stack in zip(self._stacks, stacks or (), strict=False):
            logs = np.log(np.maximum(stack, 1e-12))
            logs = logs - logs.mean(axis=1, keepdims=True)
            back = [None if each is None else inverse(each) for each in one.mixings]
            above = np.where(one.table.above[:, None] < 0, 0.0, logs[one.table.above])
            own = (logs - above).reshape(-1, *one.given.shape)
            one.deviations(vector)[:] = along_axes(own, back).reshape(one.shape)
            one.deviations(vector)[one.silent] = 0.0
        return vector

    def stacks(self, vector: Floats) -> list[Floats]:
        """The potentials."""
        return [np.exp(one.logs(vector)) for one in self._stacks]

    def loss(self, vector: Floats, penalties: Penalties) -> tuple[float, Floats]:
        """Minus the penalised log likelihood, and its derivative."""
        stacks = self.stacks(vector)
        seen, free = self._expect(stacks), self._expect(stacks, observed=False)
        spread = self.spread(penalties)
        loss = free.log_weight - seen.log_weight + 0.5 * dot(spread, vector**2)
        parts = zip(self._stacks, free.counts, seen.counts, stacks, strict=True)
        back = [one.back(without - given, stack) for one, without, given, stack in parts]
        return loss, np.concatenate((*back, np.zeros(0))) + spread * vector

    def most_probable(
        self,
        start: Floats,
        penalties: Penalties,
        steps: int,
        progress: Callable[[int, float], None] | None = None,
    ) -> Floats:
        """Deviations with the least loss, or where so many steps lead."""
        return minimise(
            partial(self.loss, penalties=penalties),
            start,
            scale=np.sqrt(self.curvature(start) + self.spread(penalties)),
            iterations=steps,
            tolerance=ENOUGH,
            progress=progress,
        ).point

    def spread(self, penalties: Penalties) -> Floats:
        """The penalty of each deviation."""
        vector = np.empty(self.size)
        for one, mine in zip(self._stacks, penalties, strict=True):
            for level, penalty in zip(one.levels, mine, strict=True):
                one.deviations(vector)[level] = penalty
        return vector

    def curvature(self, vector: Floats) -> Floats:
        """How much the loss bends along each deviation, roughly: as if rows were independent."""
        stacks = self.stacks(vector)
        found = np.empty(self.size)
        seen = self._expect(stacks)
        if not np.isfinite(seen.log_weight):
            raise NoAnswerError(
                "what was observed has probability zero under the tables that are given; "
                "correct them or the observations"
            )
        free = self._expect(stacks, observed=False).counts
        for one, many in zip(self._stacks, free, strict=True):
            total = many.copy()
            for level in reversed(one.levels[1:]):
                np.add.at(total, one.table.above[level], total[level])
            whole = np.maximum(one.told.sums(total), 1e-300)
            one.deviations(found)[:] = one.by_deviations(total * (1 - total / whole), 2)
        return np.maximum(found, 0.0)

    def fitting_penalties(self, vector: Floats, penalties: Penalties) -> Penalties:
        """Penalties that fit how far tables are from those above, as far as the data decide."""
        bends, found = self.curvature(vector), []
        for one, mine in zip(self._stacks, penalties, strict=True):
            new = []
            for number, (level, penalty) in enumerate(zip(one.levels, mine, strict=True)):
                decided = self._decided(one, bends, level, penalty)
                size = float((one.deviations(vector)[level] ** 2).sum())
                usual = GROUPS if number else COMMON
                new.append((decided + 0.5) / (size + 0.5 / usual))
            found.append(tuple(new))
        return found

    def multiplied(self, penalties: Penalties, vector: Floats, test: Composite) -> Penalties:
        """Penalties of groups that tell hidden cells better, if some do."""
        parameters, found = test.parameters, [list(mine) for mine in penalties]
        of_each = (vector, self.spread(penalties), self.curvature(vector))
        by = group_multiples(test, *(self._in_blocks(parameters, each) for each in of_each))
        for block, each in zip(parameters.blocks, by.tolist(), strict=True):
            if block.kind == "level":
                starts = self.task.tables[block.table].starts
                found[block.table][1 + starts.index(block.rows.start)] *= each
        return [tuple(mine) for mine in found]

    def _in_blocks(self, parameters: Parameters, vector: Floats) -> Floats:
        """What belongs to each deviation, in the order of parameters; main effects have nothing."""
        found = np.zeros(parameters.size)
        for block in parameters.blocks:
            one = self._stacks[block.table]
            if len(block.axes) == len(one.table.slots):
                mine = one.deviations(vector)[block.rows]
                block.of(found)[:] = mine.reshape(block.shape)
        return found

    def _decided(self, one: _LogStack, bends: Floats, level: Ints, penalty: float) -> float:
        """How many deviations of a level the data decide upon."""
        mine = one.deviations(bends)[level]
        freedom = one.told.freedom
        return float((mine / (mine + penalty)).sum()) * freedom / (freedom + 1)

    def learned(self, vector: Floats, penalties: Penalties) -> tuple[LearnedTable, ...]:
        """What was learned; log tables that are not conditional have mean 0."""
        bends = self.curvature(vector)
        found = []
        for one, mine, seen in zip(self._stacks, penalties, counted(self.task), strict=True):
            logs = one.logs(vector)
            if not one.table.given:
                logs = logs - logs.mean(axis=1, keepdims=True)
            levels = zip(one.levels, mine, strict=True)
            found.append(
                LearnedTable(
                    name=one.table.name,
                    stack=np.exp(logs),
                    records=seen.sum(axis=1),
                    method="likelihood",
                    parameters=sum(self._decided(one, bends, *each) for each in levels),
                    scales=tuple(float(1 / np.sqrt(each)) for each in mine[1:]),
                    conditions=self.task.conditions_of(one.table),
                )
            )
        return tuple(found)


def _silent(task: LearningTask, table: TableToLearn) -> Ints:
    """The groups of whose rows, and of those of groups below, nothing was observed."""
    told = np.zeros(len(table.above), dtype=bool)
    for slot in table.slots:
        told[table.in_stack[task.relations[slot.relation].values[slot.cells] >= 0]] = True
    told[0] = True
    for _ in table.levels:
        told[table.above[told & (table.above >= 0)]] = True
    return np.flatnonzero(~told)
