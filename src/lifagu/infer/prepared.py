"""Questions taken apart and planned, ready to run.

First the lifted engine does what can be done for many places at once; what it leaves falls into connected parts, which
are planned and solved one at a time, those equal up to renaming once; then probabilities walk back through the lifted
steps where they are asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Protocol

import numpy as np

from lifagu.arrays import Floats, Ints
from lifagu.errors import ModelError, NoAnswerError, TooLargeError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.infer import condition, eliminate, enumeration
from lifagu.infer.answer import Answer
from lifagu.infer.asked import (
    Question,
    asked_for,
    check_known,
    known_variables,
    pieces_of,
    question_of,
    why_zero,
)
from lifagu.infer.lifted import Distinct, Marginals, Reduced, Residual, do_nothing, reduce, residual, walk_back
from lifagu.infer.plan import Plan, default_memory_limit
from lifagu.infer.problem import Part
from lifagu.infer.table import log_sum
from lifagu.model import FactorGraph
from lifagu.parts import parts_without
from lifagu.ranges import Labels
from lifagu.views import counted

ENGINES: dict[str, ModuleType] = {
    "auto": eliminate,
    "lifted": eliminate,
    "ground": eliminate,
    "enumerate": enumeration,
}
Progress = Callable[[int, int], None]
DEAR = 2**22  # entries in all from which on another plan is looked for


class Subject(Protocol):
    """What questions are about: numbered variables with ranges."""

    @property
    def sizes(self) -> Ints:
        """The range size of each variable."""

    def labels(self, variable: int) -> Labels:
        """The labels of a variable's values, as declared."""

    def declared_order(self, variable: int) -> Ints:
        """For each of these labels the value that stands for it."""


class PartPlan(Protocol):
    """What an engine promises about one part: its cost, in words too, and what would not fit."""

    @property
    def total(self) -> int:
        """Numbers to be computed, for showing progress."""

    def obstacle(self, limit: int) -> str | None:
        """Why the part does not fit into so many bytes, None if it does."""


@dataclass(frozen=True)
class Result:
    """Answers in the order of the questions; log Z is None where it does not exist or did not fit (see notes)."""

    answers: list[Answer]
    log_partition: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Solution:
    """What was computed: log Z, the marginals of variables that were walked back to, and those of pieces asked for."""

    log_partition: float | None
    marginals: Marginals
    pieces: dict[Question, Floats]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Questions, lifted steps, parts and plans; `str` shows the plan and its cost, `run` computes.

    titles: the names that questions are about; walks: whether probabilities walk back through the lifted steps;
    part_questions: what each part that is left is asked, rows first where they are needed for that; like: for each part
    the first that equals it up to renaming, whose plan and run stand for both; whole: whether no factor is unknown, so
    that log Z exists.
    """

    subject: Subject
    evidence: Evidence
    engine: str
    questions: tuple[Question, ...]
    titles: tuple[tuple[str, ...], ...]
    reduced: Reduced
    rest: Residual
    plans: dict[int, PartPlan]
    part_questions: tuple[tuple[Question, ...], ...]
    like: tuple[int, ...]
    walks: bool
    whole: bool
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The engine that does the work."""
        return self.engine if self.engine != "auto" else "lifted" if self.reduced.steps else "ground"

    @property
    def total(self) -> int:
        """Numbers to be computed for what the lifted steps have left."""
        return sum(plan.total for plan in self.plans.values())

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        lines = [f"{self.name} engine, {counted(len(self.rest.parts), 'connected part')}"]
        if self.reduced.steps or self.reduced.dropped:
            shown = sum(1 for step in self.reduced.steps if str(step))
            lines = [f"{self.name} engine, {counted(shown, 'lifted step')}:", str(self.reduced)]
            lines.append(f"leaving {counted(len(self.rest.parts), 'connected part')}")
        alike = Counter(self.like)
        dearest = sorted(self.plans, key=lambda number: -self.plans[number].total)[:3]
        for number in dearest:
            times = f"for each of {alike[number]} equal parts: " if alike[number] > 1 else ""
            lines.append(f"{times}{self.plans[number]}")
        if more := sum(alike[number] for number in self.plans if number not in dearest):
            lines.append(f"and {counted(more, 'smaller part')}")
        return "\n".join([*lines, *self.notes])

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers. progress(done, total) is called now and then."""
        solution = self.solve(progress)
        asked = zip(self.questions, self.titles, strict=True)
        answers = [self._answer(question, names, solution) for question, names in asked]
        return Result(answers, solution.log_partition, self.notes)

    def solve(self, progress: Progress | None = None) -> Solution:
        """Compute log Z and all that was asked for, without putting answers together."""
        tick = _ticker(progress, self.total)
        state = self.reduced.state
        of_row = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in state.rows.labels.items()}
        marginals, joints = Marginals(len(state.sizes)), Distinct()
        pieces: dict[Question, Floats] = {}
        logs = [self.rest.log_constant]
        for number, part_log, found in self._parts(tick):
            logs.append(part_log)
            pieces |= found
            if self.walks:
                rows = zip(self.rest.row_of[number], self.rest.parts[number].factors, strict=True)
                for (arity, row), (scope, _) in rows:
                    of_row[arity][row] = joints.add(found[scope].astype(np.longdouble))
        for question, table in pieces.items():
            if len(question) == 1:
                marginals.add(np.array(question), table.astype(np.longdouble))
        if self.walks:
            walk_back(self.reduced.steps, of_row, joints, marginals, self._wanted)
        complete = all(number in self.plans for number in self.like) and self.whole
        return Solution(math.fsum(logs) if complete else None, marginals, pieces)

    def _parts(self, tick: Callable[[int], None]) -> Iterator[tuple[int, float, dict[Question, Floats]]]:
        """Each part with a plan: its number, log Z and what it was asked. Weight zero is refused where it turns up."""
        if self.rest.log_constant == -math.inf:
            raise NoAnswerError(why_zero(self.evidence))
        known: dict[int, tuple[float, dict[Question, Floats]]] = {}
        for number, first in enumerate(self.like):
            if first not in self.plans:
                continue
            part, asked = self.rest.parts[number], self.part_questions[number]
            if number == first:
                part_log, tables = run_part(self.engine, part, self.plans[number], asked, tick)
                if part_log == -math.inf:
                    raise NoAnswerError(why_zero(self.evidence))
                found = [table - log_sum(table) for table in tables]
                known[number] = part_log, dict(zip(_places(part, asked), found, strict=True))
            part_log, by_place = known[first]
            yield number, part_log, dict(zip(asked, map(by_place.__getitem__, _places(part, asked)), strict=True))

    @cached_property
    def _wanted(self) -> Ints | None:
        """The variables whose marginals are asked for, None if that is all of them."""
        single = [question[0] for question in self.questions if len(question) == 1]
        return (
            np.array([each for each in single if self._observed[each] < 0], dtype=np.int64) if self.questions else None
        )

    @cached_property
    def _observed(self) -> Ints:
        """The canonical value of each variable, -1 where nothing was observed."""
        return self.evidence.value_of_each(len(self.subject.sizes))

    def _answer(self, question: Question, names: tuple[str, ...], solution: Solution) -> Answer:
        orders = [self.subject.declared_order(variable) for variable in question]
        return Answer(
            names,
            tuple(self.subject.labels(variable) for variable in question),
            self._joint(question, solution)[np.ix_(*orders)],
            solution.log_partition,
            self.name,
            str(self),
            self.notes,
        )

    def _joint(self, question: Question, solution: Solution) -> Floats:
        """The log probabilities of a question: a product of its pieces in each part and of observed values."""
        observed, sizes = self._observed, self.subject.sizes[list(question)]
        joint = np.zeros(sizes)
        for place, variable in enumerate(question):
            axes = [-1 if axis == place else 1 for axis in range(len(question))]
            if observed[variable] >= 0:
                certain = np.where(np.arange(sizes[place]) == observed[variable], 0.0, -np.inf)
                joint += certain.reshape(axes)
            elif self.rest.part_of[variable] < 0:
                table = solution.marginals.tables[int(solution.marginals.of_variable[variable])]
                joint += np.asarray(table, dtype=np.float64).reshape(axes)
        for piece in pieces_of(question, self.rest.part_of).values():
            axes = [int(self.subject.sizes[variable]) if variable in piece else 1 for variable in question]
            joint += solution.pieces[piece].reshape(axes)
        return joint


def prepare(
    graph: FactorGraph,
    questions: Sequence[Sequence[str]],
    evidence: EvidenceLike = None,
    *,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Prepared:
    """Plan the answers to several questions (tuples of names); none at all asks for log Z alone.

    Refuses before anything large is computed: unknown factors in a queried part, tables that would not fit.
    """
    limit = default_memory_limit() if memory_limit is None else memory_limit
    asked = [question_of(graph, names, limit) for names in questions]
    return plan_questions(graph, asked, evidence, engine=engine, limit=limit, everything=False)


def plan_questions(
    graph: FactorGraph, asked: Sequence[Question], evidence: EvidenceLike, *, engine: str, limit: int, everything: bool
) -> Prepared:
    """Lifted steps first, then a plan for each connected part that is left."""
    if engine not in ENGINES:
        raise ModelError(f"there is no engine '{engine}'; choose one of {', '.join(ENGINES)}")
    observation = graph.evidence(evidence)
    observed = observation.value_of_each(len(graph.variable_names)) >= 0
    part_of = parts_without(graph, observed)
    included = known_variables(graph, part_of)
    if not everything:
        check_known(graph, part_of, included, asked)
    titles = tuple(tuple(graph.variable_names[variable] for variable in question) for question in asked)

    def attempt(walks: bool) -> Prepared:
        keep = {variable for question in asked if len(question) > 1 or not walks for variable in question}
        keep -= set(np.flatnonzero(observed).tolist())
        if engine in ("auto", "lifted"):
            reduced = reduce(graph, observation, included & ~observed, sorted(keep), drop=not walks)
        else:
            reduced = do_nothing(graph, observation, included & ~observed, sorted(keep))
        whole = not len(graph.unknown)
        return plan_rest(graph, observation, engine, asked, titles, reduced, limit, everything, walks, whole)

    if engine in ("auto", "lifted") and len(asked) == 1 and len(asked[0]) == 1:
        return _cheaper(attempt)
    return attempt(everything or len(set(asked)) > 1)


def _cheaper(attempt: Callable[[bool], Prepared]) -> Prepared:
    """A plan that keeps the one variable that is asked for; where that is dear, perhaps one that walks back to it.

    A variable that is kept is no longer like others, which can be in the way of counting them.
    """
    try:
        kept = attempt(False)
        if kept.total < DEAR:
            return kept
    except TooLargeError as error:
        try:
            return attempt(True)
        except TooLargeError:
            raise error from None
    try:
        return min(kept, attempt(True), key=lambda prepared: prepared.total)
    except TooLargeError:
        return kept


def plan_rest(
    subject: Subject,
    evidence: Evidence,
    engine: str,
    asked: Sequence[Question],
    titles: tuple[tuple[str, ...], ...],
    reduced: Reduced,
    limit: int,
    everything: bool,
    walks: bool,
    whole: bool,
) -> Prepared:
    """A plan for each connected part that the lifted steps have left. The arguments are as in `Prepared`."""
    rest = residual(reduced.state)
    walks = walks and bool(reduced.steps)
    part_questions = _part_questions(rest, asked, everything, walks)
    like = _like(rest.parts, part_questions)
    plans, notes = _plans(reduced, rest, part_questions, like, engine, limit, needed=everything or not asked)
    return Prepared(
        subject, evidence, engine, tuple(asked), titles, reduced, rest, plans, part_questions, like, walks, whole, notes
    )


def _plans(
    reduced: Reduced,
    rest: Residual,
    questions: Sequence[Sequence[Question]],
    like: Sequence[int],
    engine: str,
    limit: int,
    *,
    needed: bool,
) -> tuple[dict[int, PartPlan], tuple[str, ...]]:
    """A plan for the first of each kind of parts; notes on those that do not fit where only log Z needs them."""
    alike, state = Counter(like), reduced.state
    plans: dict[int, PartPlan] = {}
    notes = []
    for number in alike:
        part = rest.parts[number]
        plan = plan_part(engine, part, questions[number], state.name, limit)
        obstacle = plan.obstacle(limit)
        if obstacle is None:
            plans[number] = plan
        elif needed or questions[number]:
            raise TooLargeError(f"{asked_for(state.name, state.originals, questions[number])} {obstacle}")
        else:
            more = f" (and {alike[number] - 1} like it)" if alike[number] > 1 else ""
            notes.append(f"log Z is left out: the part of {state.name(part.variables[0])}{more} {obstacle}")
    return plans, tuple(notes)


def plan_part(
    engine: str, part: Part, questions: Sequence[Question], names: Callable[[int], str], limit: int
) -> PartPlan:
    """An engine's plan for one part; where elimination does not fit, a plan that conditions on some variables."""
    plan: PartPlan = ENGINES[engine].plan(part, questions, names)
    if isinstance(plan, Plan) and plan.obstacle(limit):
        return condition.plan(part, plan, questions, limit)
    return plan


def run_part(
    engine: str, part: Part, plan: PartPlan, questions: Sequence[Question], tick: Callable[[int], None]
) -> tuple[float, list[Floats]]:
    """log Z of one part and the unnormalised log table of each question."""
    if isinstance(plan, condition.Conditioned):
        return condition.run(part, plan, questions, tick)
    found: tuple[float, list[Floats]] = ENGINES[engine].run(part, plan, questions, tick)
    return found


def _like(parts: Sequence[Part], questions: Sequence[Sequence[Question]]) -> tuple[int, ...]:
    """For each part the first that differs in the names of its variables only: sizes, factors, questions are the same.

    Tables are the same if they are one object, as those of parts that are left are. Cost: linear in the factors.
    """
    if len(parts) < 2:
        return tuple(range(len(parts)))
    first: dict[Hashable, int] = {}
    like = []
    for number, (part, asked) in enumerate(zip(parts, questions, strict=True)):
        scopes = _places(part, [scope for scope, _ in part.factors])
        factors = sorted(zip(scopes, [id(table) for _, table in part.factors], strict=True))
        key = (tuple(part.sizes.values()), tuple(factors), tuple(sorted(_places(part, asked))))
        like.append(first.setdefault(key, number))
    return tuple(like)


def _places(part: Part, scopes: Sequence[Question]) -> list[Question]:
    """Variables as their places in the part."""
    place = {variable: number for number, variable in enumerate(part.variables)}
    return [tuple([place[variable] for variable in scope]) for scope in scopes]


def _part_questions(
    rest: Residual, asked: Sequence[Question], everything: bool, walks: bool
) -> tuple[tuple[Question, ...], ...]:
    """What each part is asked: pieces of questions, and where probabilities walk back, all its rows and variables."""
    pieces: list[dict[Question, None]] = [{} for _ in rest.parts]
    for number, part in enumerate(rest.parts):
        if walks:
            pieces[number] |= dict.fromkeys(scope for scope, _ in part.factors)
        if walks or everything:
            pieces[number] |= dict.fromkeys((variable,) for variable in part.variables)
    for question in asked:
        for number, piece in pieces_of(question, rest.part_of).items():
            pieces[number][piece] = None
    return tuple(map(tuple, pieces))


def _ticker(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def tick(amount: int) -> None:
        nonlocal done
        done += amount
        if progress:
            progress(done, total)

    return tick
