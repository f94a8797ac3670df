"""All tables of a task: those that hang together are learned together, each by the way that fits.

Tables that make up a Bayesian network are counted, or, where cells are hidden, found by expectation
and maximisation. Others are learned by their exact likelihood where all its sums can be done, else
by the composite likelihood.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, connected_parts, members
from lifagu.basics.progress import Progress
from lifagu.basics.terminating import Terminated
from lifagu.errors import ModelError, TooLargeError, listed
from lifagu.learning.choosing import Chosen, chosen, steps_in_all
from lifagu.learning.composite import Composite
from lifagu.learning.counting import counted
from lifagu.learning.directed import directed
from lifagu.learning.exact_likelihood import is_tractable, learn_begun_anew
from lifagu.learning.expectation import learn_by_expectation
from lifagu.learning.parameters import Parameters
from lifagu.learning.scales import usual_penalty
from lifagu.learning.unseen_conditions import with_unseen
from lifagu.relational.learning_task import (
    Expectation,
    LearnedModel,
    LearnedTable,
    LearningSettings,
    LearningTask,
)

NARROW = 2**20  # states up to which exact sums are planned at all

Prepare = Callable[[LearningTask], Expectation]


@dataclass(frozen=True, eq=False)
class Learner:
    """How to learn: who computes expectations, who is told."""

    settings: LearningSettings
    prepare: Prepare
    progress: Progress

    def learn(self, task: LearningTask) -> LearnedModel:
        """All tables of a task."""
        found: dict[int, LearnedTable] = {}
        scores: list[tuple[int, float, float]] = []
        groups = _together(task)
        for numbers in groups:
            part = _part(task, numbers)
            if not _is_needed(part):
                found |= {number: _left_out(task, number) for number in numbers}
                continue
            name = part.tables[0].name if len(groups) > 1 else ""
            learned, score = self._learned(part, name)
            found |= dict(zip(numbers, learned, strict=True))
            if score is not None:
                scores.append(score)
        tables = tuple(found[number] for number in range(len(task.tables)))
        return LearnedModel(tables, _mean(scores, 1), _mean(scores, 2), _notes(task, tables))

    def _learned(
        self, task: LearningTask, name: str
    ) -> tuple[tuple[LearnedTable, ...], tuple[int, float, float] | None]:
        """The tables of one part, and how many hidden cells were scored, how well, and usually."""
        network = None if _is_told_by_several(task) else directed(task)
        if network is not None:
            try:
                tables = learn_by_expectation(
                    network, self.prepare, self.settings, self._heard("expectation", name, None)
                )
                return _weighed(task, tables), None
            except TooLargeError:
                _refuse_hidden(task)
        elif not _is_single(task):
            found = self._by_likelihood(_widened(task, _known_throughout(task)), name)
            if found is not None:
                return found, None
        _refuse_hidden(task)
        return self._by_composite(_widened(task, _conditions(task)), name)

    def _by_likelihood(self, task: LearningTask, name: str) -> tuple[LearnedTable, ...] | None:
        """The tables if all sums can be done."""
        if not _is_narrow(task):
            return None
        expect = self.prepare(task)
        if not is_tractable(expect):
            return None
        heard = self._heard("likelihood", name, None)
        tables = learn_begun_anew(task, expect, self.prepare, self.settings, heard)
        parameters = Parameters.of(task, range(len(task.tables)))
        vector = parameters.vector_of([table.stack for table in tables])
        vector = with_unseen(parameters, vector, usual_penalty(parameters), self.settings)
        stacks = [np.exp(parameters.stack(vector, each)) for each in parameters.tables]
        return _weighed(
            task,
            [
                replace(table, stack=stack.reshape(table.stack.shape))
                for table, stack in zip(tables, stacks, strict=True)
            ],
        )

    def _by_composite(
        self, task: LearningTask, name: str
    ) -> tuple[tuple[LearnedTable, ...], tuple[int, float, float] | None]:
        parameters = Parameters.of(task, range(len(task.tables)))
        heard = self._heard("loss a cell", name, steps_in_all())
        latest: dict[str, Floats] = {}  # of what was learned from everything observed
        try:
            found = chosen(parameters, self.settings, latest, heard)
        except KeyboardInterrupt as asked:
            keeps = self.settings.keep_best and not isinstance(asked, Terminated)
            if not (keeps and latest):
                raise
            found = _so_far(parameters, latest)
        vector = with_unseen(parameters, found.vector, found.penalty, self.settings)
        found = replace(found, vector=vector)
        score = (found.hidden, found.score, found.baseline) if found.hidden else None
        return _told(parameters, found), score

    def _heard(self, what: str, name: str, total: int | None) -> Callable[[int, float], None]:
        """Tells of each step what it reached, and how far it is where that is known."""
        steps, start = 0, time.monotonic()

        def heard(_: int, reached: float) -> None:
            nonlocal steps
            steps += 1
            told = f"learning {name or 'tables'}: {what} {reached:.4f}"
            if total is None or steps >= total:
                self.progress.stage(f"{told}, step {steps}")
                return
            left = (time.monotonic() - start) / steps * (total - steps)
            self.progress.stage(f"{told}, about {left:.0f} s left,")
            self.progress(steps, total)

        return heard


def _so_far(parameters: Parameters, latest: dict[str, Floats]) -> Chosen:
    """What an interrupted run had found, of which nobody knows how good it is."""
    nothing = np.zeros(len(parameters.task.tables))
    vector, penalty, effective = (latest[name] for name in ("vector", "penalty", "effective"))
    plain = parameters.smoothed.mixed(latest["mixings"]).unmixed(vector)
    return Chosen(plain, penalty, effective, 0, np.nan, np.nan, nothing)


def _mean(scores: Sequence[tuple[int, float, float]], at: int) -> float | None:
    """The mean over all hidden cells."""
    cells = sum(score[0] for score in scores)
    return sum(score[0] * score[at] for score in scores) / cells if cells else None


def _together(task: LearningTask) -> list[list[int]]:
    """The tables that share relations, directly or by way of others, fixed tables included.

    A relation that was observed throughout and is not asked about ties nothing together, unless a
    table is about such relations alone.
    """
    many = len(task.tables)
    first, second = [], []
    slots = [block.slots for block in task.tables] + [block.slots for block in task.fixed]
    ties = {
        number
        for number, known in enumerate(task.relations)
        if number in task.asked or (known.values < 0).any()
    }
    for each in slots:
        scope = {slot.relation for slot in each}
        if ties.isdisjoint(scope):
            ties |= scope
    for number, each in enumerate(slots):
        for slot in (slot for slot in each if slot.relation in ties):
            first.append(number)
            second.append(many + len(task.fixed) + slot.relation)
    count = many + len(task.fixed) + len(task.relations)
    parts = connected_parts(count, np.array(first), np.array(second))[:many]
    return [same.tolist() for same in members(parts)]


def _part(task: LearningTask, numbers: Sequence[int]) -> LearningTask:
    """A task with some of its tables, and the fixed ones connected with them."""
    tables = tuple(task.tables[number] for number in numbers)
    reached = {slot.relation for table in tables for slot in table.slots}
    fixed = list[int]()
    while True:
        more = [
            number
            for number, block in enumerate(task.fixed)
            if number not in fixed and any(slot.relation in reached for slot in block.slots)
        ]
        if not more:
            break
        fixed += more
        reached |= {slot.relation for number in more for slot in task.fixed[number].slots}
    kept = tuple(task.fixed[number] for number in sorted(fixed))
    return replace(task, tables=tables, fixed=kept, asked=task.asked & reached)


def _is_needed(task: LearningTask) -> bool:
    """Whether what is asked now depends on any table of a part."""
    slots = [slot for table in task.tables for slot in table.slots]
    return task.needed is None or any(slot.relation in task.needed for slot in slots)


def _left_out(task: LearningTask, number: int) -> LearnedTable:
    """A table that nobody needs, which therefore says nothing."""
    table = task.tables[number]
    stack = np.ones((table.starts[-1], math.prod(task.shape(table))))
    return LearnedTable(table.name, stack, np.zeros(len(stack)), "not needed", 0.0, (), 0.0)


def _conditions(task: LearningTask) -> frozenset[int]:
    """Relations of tables to be learned that were observed, but are not asked about."""
    reached = {slot.relation for table in task.tables for slot in table.slots}
    seen = {number for number in reached if (task.relations[number].values >= 0).any()}
    return frozenset(seen - task.asked)


def _known_throughout(task: LearningTask) -> frozenset[int]:
    """Conditions without a gap, where others are asked about, that no fixed table speaks of.

    Those with gaps are told by all others, if all sums can be done.
    """
    if not task.asked:
        return frozenset()
    whole = {number for number, each in enumerate(task.relations) if (each.values >= 0).all()}
    return _conditions(task) & whole - {slot.relation for each in task.fixed for slot in each.slots}


def _is_told_by_several(task: LearningTask) -> bool:
    """Whether joint tables tell something asked from several conditions, all of them observed.

    A tree would say how these come about, as if they had nothing to do with one another.
    """
    known = _known_throughout(task)
    told = [
        slot.relation
        for table in task.tables
        if not table.given and any(slot.relation in known for slot in table.slots)
        for slot in table.slots
        if slot.relation in task.asked and (task.relations[slot.relation].values >= 0).any()
    ]
    return len(set(told)) < len(told)


def _is_single(task: LearningTask) -> bool:
    """Whether each cell to be told is told by itself, from conditions that were all observed.

    Then both likelihoods are the same, and the composite one is quicker, and finds its scales by
    cells that are hidden meanwhile.
    """
    known = _known_throughout(task)
    scopes = [each.slots for each in task.tables] + [each.slots for each in task.fixed]
    return all(sum(slot.relation not in known for slot in slots) < 2 for slots in scopes)


def _is_narrow(task: LearningTask) -> bool:
    """Whether sums over all cells of one individual might be done, as far as relations tell.

    Relations, but for conditions, are summed out one after the other, those with the fewest states
    around them first.
    """
    sizes = [len(relation.labels) for relation in task.relations]
    near: dict[int, set[int]] = {}
    slots = [block.slots for block in task.tables] + [block.slots for block in task.fixed]
    for arguments in slots:
        scope = {slot.relation for slot in arguments} - task.conditions
        for relation in scope:
            near.setdefault(relation, set()).update(scope)
    while near:
        states = {each: float(np.prod([float(sizes[o]) for o in near[each]])) for each in near}
        gone = min(near, key=lambda each: (states[each], each))
        if states[gone] > NARROW:
            return False
        around = near.pop(gone) - {gone}
        for each in around:
            near[each] |= around
            near[each].discard(gone)
    return True


def _widened(task: LearningTask, conditions: frozenset[int]) -> LearningTask:
    """Conditions with one more label, which stands for not having been observed.

    That nobody measured something tells as well, and nothing need be summed over.
    """
    relations = list(task.relations)
    for number in conditions:
        known = relations[number]
        values = np.where(known.values < 0, len(known.labels), known.values)
        relations[number] = replace(known, labels=(*known.labels, ""), values=values)
    return replace(task, relations=tuple(relations), conditions=conditions)


def _refuse_hidden(task: LearningTask) -> None:
    """What was never observed can only be learned where all sums can be done."""
    for table in task.tables:
        for slot in table.slots:
            relation = task.relations[slot.relation]
            if not (relation.values >= 0).any():
                raise ModelError(
                    f"{table.place}: '{table.name}' has the argument {relation.relation}, of which "
                    "nothing was observed, and tables around it are neither a network nor small "
                    "enough to be summed over; say with given what each table is conditional on"
                )


def _told(parameters: Parameters, found: Chosen) -> tuple[LearnedTable, ...]:
    """What the composite likelihood learned, table by table, logs with mean 0."""
    task, seen = parameters.task, counted(parameters.task)
    tables = []
    for number, table in enumerate(task.tables):
        blocks = [place for place, block in enumerate(parameters.blocks) if block.table == number]
        logs = parameters.stack(found.vector, number)
        flat = logs.reshape(len(logs), -1)
        if not table.given:
            flat = flat - flat.mean(axis=1, keepdims=True)
        levels = [place for place in blocks if parameters.blocks[place].kind == "level"]
        starts = [parameters.blocks[place].start for place in levels]
        tables.append(
            LearnedTable(
                table.name,
                np.exp(flat),
                seen[number].sum(axis=1),
                "composite likelihood",
                float(found.effective[blocks].sum()),
                tuple(float(1 / np.sqrt(found.penalty[start])) for start in starts),
                float(found.without[number]),
                task.conditions_of(table),
            )
        )
    return tuple(tables)


def _weighed(task: LearningTask, tables: Sequence[LearnedTable]) -> tuple[LearnedTable, ...]:
    """The same, with how much worse observed cells are told without each."""
    parameters = Parameters.of(task, range(len(task.tables)))
    vector = parameters.vector_of([table.stack for table in tables])
    seen = {slot.relation for table in task.tables for slot in table.slots}
    everything = replace(parameters, task=replace(task, asked=frozenset(seen - task.conditions)))
    composite = Composite.of(everything, [each.values for each in task.relations])
    without = composite.losses_without(vector) / max(composite.count, 1)
    return tuple(
        replace(table, loss_without=float(each))
        for table, each in zip(tables, without, strict=True)
    )


def _notes(task: LearningTask, tables: Sequence[LearnedTable]) -> tuple[str, ...]:
    """What a user should know."""
    numbers = {
        table.slots[axis].relation
        for table, learned in zip(task.tables, tables, strict=True)
        for axis in learned.conditions
    }
    names = [task.relations[number].relation for number in sorted(numbers)]
    if not names:
        return ()
    one = len(names) == 1
    return (
        f"{listed(names)} {'tells' if one else 'tell'} about others, and "
        f"{'is not predicted itself' if one else 'are not predicted themselves'}; name "
        f"{'it' if one else 'them'} in queries if that is wanted",
    )
