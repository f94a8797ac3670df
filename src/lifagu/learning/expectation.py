"""Networks with hidden cells: expectation and maximisation (Dempster, Laird and Rubin, 1977).

How often each table would have been counted is expected exactly, then tables are made of these
counts. Within a run the scales of groups and the tables they are drawn to stand still, so that the
objective, the log likelihood and that of the tables under their priors, never goes down; between
runs they are found anew. Hidden relations are begun several times from chance, short, and the best
beginning goes on (Biernacki, Celeux and Govaert, 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import NoAnswerError
from lifagu.graph.pooled_counts import Pooled
from lifagu.learning.counting import (
    ConditionalShape,
    counted,
    depths,
    imagined_records,
    learn_by_counts,
    learned_tables,
    pooled_tables,
)
from lifagu.learning.directed import informative, is_complete
from lifagu.relational.learning_task import (
    Expectation,
    LearnedTable,
    LearningSettings,
    LearningTask,
    TableToLearn,
)

TOLERANCE = 1e-7  # a run ends where a step gains less than this share of the objective …
LOOSE = 1e-5  # … or than this one, where gaps are some among many cells that were observed
MOST_STEPS, SHORT, FIRST = 500, 25, 5  # of a run, of a beginning, of each draw that may be one
DRAWS, ROUNDS = 4, 6  # for a beginning; runs with new scales
SPREAD = 5.0  # records as uncertain as what a hidden relation begins with

Step = Callable[[int, float], None]  # told after each step: how many, and the objective


def learn_by_expectation(
    task: LearningTask,
    prepare: Callable[[LearningTask], Expectation],
    settings: LearningSettings | None = None,
    progress: Step | None = None,
) -> tuple[LearnedTable, ...]:
    """The tables of a network (see `directed`); by counts where nothing is hidden that matters.

    prepare: makes exact expectations. Labels of hidden relations are ordered by size. What was
    observed having no probability at all is a `NoAnswerError`.
    """
    settings = settings or LearningSettings()
    useful = informative(task)
    if is_complete(useful):
        return learn_by_counts(task)
    expect = prepare(useful)
    hidden = hidden_relations(useful)
    climb = partial(run, expect, told=_Teller(progress), tolerance=TOLERANCE if hidden else LOOSE)
    tries = [
        _begin(useful, hidden, expect, climb, settings.random(f"beginning {number}"))
        for number in range(max(settings.restarts, 1) if hidden else 1)
    ]
    fit = _best(tries)
    for _ in range(ROUNDS if any(table.levels for table in useful.tables) else 1):
        before = fit.objectives[-1]
        fit = climb(Centres.of(useful, fit.counts), fit.stacks)
        if abs(fit.objectives[-1] - before) <= 10 * TOLERANCE * abs(before):
            break
    order = {each: _by_size(useful, fit.counts, each) for each in hidden}
    counts = relabelled(useful, fit.counts, order)
    return learned_tables(task, counts, pooled_tables(useful, counts), "expectation")


@dataclass(frozen=True, eq=False)
class Fit:
    """Tables, the counts they were made of, and the objective after each step of a run."""

    stacks: list[Floats]
    counts: list[Floats]
    objectives: list[float]


class _Teller:
    """Counts steps over all runs."""

    def __init__(self, progress: Step | None) -> None:
        self._progress, self._steps = progress, 0

    def __call__(self, objective: float) -> None:
        self._steps += 1
        if self._progress is not None:
            self._progress(self._steps, objective)


def run(
    expect: Expectation,
    centres: Centres,
    stacks: Sequence[Floats],
    steps: int = MOST_STEPS,
    told: Callable[[float], None] | None = None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """Expectation and maximisation in turns, until a step gains next to nothing."""
    stacks = centres.fitting(stacks)
    objectives: list[float] = []
    while True:
        found = expect(stacks)
        if np.isneginf(found.log_weight):
            raise NoAnswerError(
                "what was observed has probability zero under the tables that are given; "
                "correct them or the observations"
            )
        objectives.append(found.log_weight + centres.log_prior(stacks))
        if told is not None:
            told(objectives[-1])
        gained = np.inf if len(objectives) == 1 else objectives[-1] - objectives[-2]
        if gained <= tolerance * abs(objectives[-1]) or len(objectives) > steps:
            return Fit(stacks, list(found.counts), objectives)
        stacks = centres.maximised(found.counts)


@dataclass(frozen=True, eq=False)
class _Centre:
    """What one table's stack is drawn to during a run.

    owner: the table of the stack that each one equals, since its groups are not seen to differ;
    prior: imagined records of each; free: those that change in a run, not those that others are
    drawn to; kept: what the others are.
    """

    conditions: ConditionalShape
    owner: Ints
    prior: Floats
    free: Ints
    kept: Floats

    @classmethod
    def of(cls, task: LearningTask, table: TableToLearn, made: Pooled) -> _Centre:
        """As pooled counts say."""
        above, depth = table.above, depths(table.above)
        scale = np.array([0.0, *made.scales])[depth]
        owner = np.arange(len(above))
        for level in range(1, int(depth.max()) + 1):
            alike = np.flatnonzero((depth == level) & np.isinf(scale))
            owner[alike] = owner[above[alike]]
        apart = np.flatnonzero((depth > 0) & np.isfinite(scale))
        prior = np.zeros_like(made.stack)
        prior[0] = imagined_records(task, table)
        prior[apart] = scale[apart, None] * made.stack[above[apart]]
        own = np.flatnonzero(owner == np.arange(len(above)))
        free = np.setdiff1d(own, owner[above[apart]])
        conditions = ConditionalShape(task.shape(table), table.given)
        return cls(conditions, owner, prior, free, made.stack)

    def maximised(self, counts: Floats) -> Floats:
        """The tables under which expected counts and imagined records are most probable."""
        whole = self.prior.copy()
        np.add.at(whole, self.owner, counts)
        whole[self.free] /= self.conditions.sums(whole[self.free])
        return self._with_free(whole)

    def fitting(self, stack: Floats) -> Floats:
        """A beginning that keeps to what is kept."""
        return self._with_free(stack)

    def log_prior(self, stack: Floats) -> float:
        """The log density of tables that change, as compared with what they are drawn to."""
        prior = self.prior[self.free]
        centre = prior / self.conditions.sums(prior)
        return float((prior * (np.log(stack[self.free]) - np.log(centre))).sum())

    def _with_free(self, stack: Floats) -> Floats:
        found = self.kept.copy()
        found[self.free] = stack[self.free]
        return found[self.owner]


@dataclass(frozen=True, eq=False)
class Centres:
    """The same for all tables."""

    each: tuple[_Centre, ...]

    @classmethod
    def of(cls, task: LearningTask, counts: Sequence[Floats]) -> Centres:
        """As pooled counts say."""
        made = pooled_tables(task, counts)
        found = (_Centre.of(task, *both) for both in zip(task.tables, made, strict=True))
        return cls(tuple(found))

    def maximised(self, counts: Sequence[Floats]) -> list[Floats]:
        """The next tables."""
        return [one.maximised(many) for one, many in zip(self.each, counts, strict=True)]

    def fitting(self, stacks: Sequence[Floats]) -> list[Floats]:
        """Tables with what stands still."""
        return [one.fitting(stack) for one, stack in zip(self.each, stacks, strict=True)]

    def log_prior(self, stacks: Sequence[Floats]) -> float:
        """The log density of all tables that change."""
        return sum(one.log_prior(stack) for one, stack in zip(self.each, stacks, strict=True))


def _begin(
    task: LearningTask,
    hidden: Sequence[int],
    expect: Expectation,
    climb: Callable[..., Fit],
    random: np.random.Generator,
) -> Fit:
    """A short run from what was observed, and from chance where a relation is hidden.

    There the best of several draws goes on.
    """
    made = [each.stack for each in pooled_tables(task, counted(task))]
    chance = [any(slot.relation in hidden for slot in table.slots) for table in task.tables]
    fits = []
    for _ in range(DRAWS if hidden else 1):
        stacks = [
            _from_chance(task, table, random) if drawn else stack
            for table, stack, drawn in zip(task.tables, made, chance, strict=True)
        ]
        fits.append(climb(Centres.of(task, expect(stacks).counts), stacks, FIRST))
    best = _best(fits)
    return climb(Centres.of(task, best.counts), best.stacks, SHORT)


def _best(fits: Sequence[Fit]) -> Fit:
    """The fit with the highest objective; of equal ones the first."""
    return max(fits, key=lambda each: each.objectives[-1])


def _from_chance(task: LearningTask, table: TableToLearn, random: np.random.Generator) -> Floats:
    """A table half as observed, half drawn around that, the same for all groups."""
    conditions = ConditionalShape(task.shape(table), table.given)
    share = imagined_records(task, table)[None]
    share = share / conditions.sums(share)
    drawn = random.standard_gamma(SPREAD * share) + 1e-9 * share
    found = (share + drawn / conditions.sums(drawn)) / 2
    return np.repeat(found, len(table.above), axis=0)


# ---- hidden relations


def hidden_relations(task: LearningTask) -> list[int]:
    """Relations of tables to learn of which nothing at all was observed."""
    met = sorted({slot.relation for table in task.tables for slot in table.slots if len(table)})
    return [
        each
        for each in met
        if len(task.relations[each].labels) > 1 and not (task.relations[each].values >= 0).any()
    ]


def _by_size(task: LearningTask, counts: Sequence[Floats], relation: int) -> Ints:
    """The labels of a hidden relation, those that more cells have first; ties in order.

    Where a fixed table tells labels apart, they stay as they are.
    """
    if any(slot.relation == relation for block in task.fixed for slot in block.slots):
        return np.arange(len(task.relations[relation].labels))
    places = [
        (place in table.given, number, place)
        for number, table in enumerate(task.tables)
        for place, slot in enumerate(table.slots)
        if slot.relation == relation
    ]
    _, number, place = min(places)
    full = counts[number].reshape(-1, *task.shape(task.tables[number]))
    sizes = full.sum(axis=tuple(axis for axis in range(full.ndim) if axis != 1 + place))
    return np.argsort(-sizes, kind="stable")


def relabelled(
    task: LearningTask, stacks: Sequence[Floats], order: Mapping[int, Ints]
) -> list[Floats]:
    """The same with labels of relations in another order."""
    found = []
    for table, stack in zip(task.tables, stacks, strict=True):
        full = stack.reshape(-1, *task.shape(table))
        for place, slot in enumerate(table.slots):
            if slot.relation in order:
                full = full.take(order[slot.relation], axis=1 + place)
        found.append(full.reshape(stack.shape))
    return found
