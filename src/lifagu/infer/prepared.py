"""Questions taken apart and planned, ready to run.

First the lifted engine does what can be done for many places at once; what it leaves falls into connected parts, which
are planned and solved one at a time; then probabilities walk back through the lifted steps where they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Protocol

import numpy as np

from lifagu.arrays import Floats
from lifagu.errors import ModelError, NoAnswerError, TooLargeError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.infer import eliminate, enumeration
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
from lifagu.infer.plan import default_memory_limit
from lifagu.infer.table import log_sum
from lifagu.model import FactorGraph
from lifagu.parts import parts_without
from lifagu.views import counted

ENGINES: dict[str, ModuleType] = {
    "auto": eliminate,
    "lifted": eliminate,
    "ground": eliminate,
    "enumerate": enumeration,
}
Progress = Callable[[int, int], None]


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

    walks: whether probabilities walk back through the lifted steps; part_questions: what each part that is left is
    asked, rows first where they are needed for that.
    """

    graph: FactorGraph
    evidence: Evidence
    engine: str
    questions: tuple[Question, ...]
    reduced: Reduced
    rest: Residual
    plans: dict[int, PartPlan]
    part_questions: tuple[tuple[Question, ...], ...]
    walks: bool
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The engine that does the work."""
        return self.engine if self.engine != "auto" else "lifted" if self.reduced.steps else "ground"

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        lines = [f"{self.name} engine, {counted(len(self.rest.parts), 'connected part')}"]
        if self.reduced.steps or self.reduced.dropped:
            lines = [f"{self.name} engine, {counted(len(self.reduced.steps), 'lifted step')}:", str(self.reduced)]
            lines.append(f"leaving {counted(len(self.rest.parts), 'connected part')}")
        dearest = sorted(self.plans.values(), key=lambda plan: -plan.total)[:3]
        more = [f"and {len(self.plans) - 3} smaller parts"] if len(self.plans) > 3 else []
        return "\n".join([*lines, *map(str, dearest), *more, *self.notes])

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers. progress(done, total) is called now and then."""
        solution = self.solve(progress)
        answers = [self._answer(question, solution) for question in self.questions]
        return Result(answers, solution.log_partition, self.notes)

    def solve(self, progress: Progress | None = None) -> Solution:
        """Compute log Z and all that was asked for, without putting answers together."""
        tick = _ticker(progress, sum(plan.total for plan in self.plans.values()))
        engine, state = ENGINES[self.engine], self.reduced.state
        of_row = {arity: np.full(len(labels), -1, dtype=np.int64) for arity, labels in state.rows.labels.items()}
        marginals, joints = Marginals(len(state.sizes)), Distinct()
        pieces: dict[Question, Floats] = {}
        logs = [self.rest.log_constant]
        for number, plan in self.plans.items():
            part, asked = self.rest.parts[number], self.part_questions[number]
            part_log, tables = engine.run(part, plan, asked, tick)
            logs.append(part_log)
            if part_log == -math.inf:
                break
            found = [table - log_sum(table) for table in tables]
            pieces |= dict(zip(asked, found, strict=True))
            if self.walks:
                for (arity, row), (scope, _) in zip(self.rest.row_of[number], part.factors, strict=True):
                    of_row[arity][row] = joints.add(pieces[scope].astype(np.longdouble))
        if -math.inf in logs:
            raise NoAnswerError(why_zero(self.evidence))
        for question, table in pieces.items():
            if len(question) == 1:
                marginals.add(np.array(question), table.astype(np.longdouble))
        if self.walks:
            walk_back(self.reduced.steps, of_row, joints, marginals)
        complete = len(self.plans) == len(self.rest.parts) and not len(self.graph.unknown)
        return Solution(math.fsum(logs) if complete else None, marginals, pieces)

    def _answer(self, question: Question, solution: Solution) -> Answer:
        graph, declared = self.graph, self.graph.variable_declared
        orders = [graph.ranges.to_declared(int(declared[variable])) for variable in question]
        return Answer(
            tuple(graph.variable_names[variable] for variable in question),
            tuple(graph.labels(variable) for variable in question),
            self._joint(question, solution)[np.ix_(*orders)],
            solution.log_partition,
            self.name,
            str(self),
            self.notes,
        )

    def _joint(self, question: Question, solution: Solution) -> Floats:
        """The log probabilities of a question: a product of its pieces in each part and of observed values."""
        observed = self.evidence.value_of_each(len(self.graph.variable_names))
        sizes = self.graph.sizes[list(question)]
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
            axes = [int(self.graph.sizes[variable]) if variable in piece else 1 for variable in question]
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


def prepare_marginals(
    graph: FactorGraph, evidence: EvidenceLike = None, *, engine: str = "auto", memory_limit: int | None = None
) -> Prepared:
    """Plan the marginals of all variables in connected parts without unknown factors."""
    limit = default_memory_limit() if memory_limit is None else memory_limit
    return plan_questions(graph, [], evidence, engine=engine, limit=limit, everything=True)


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
    walks = everything or len(set(asked)) > 1
    keep = {variable for question in asked if len(question) > 1 or not walks for variable in question}
    keep -= set(np.flatnonzero(observed).tolist())
    if engine in ("auto", "lifted"):
        reduced = reduce(graph, observation, included & ~observed, sorted(keep), drop=not walks)
    else:
        reduced = do_nothing(graph, observation, included & ~observed, sorted(keep))
    rest = residual(reduced.state)
    walks = walks and bool(reduced.steps)
    part_questions = _part_questions(rest, asked, everything, walks)
    needed = everything or not asked
    plans: dict[int, PartPlan] = {}
    notes = []
    for number, part in enumerate(rest.parts):
        plan = ENGINES[engine].plan(part, part_questions[number], _names(graph))
        obstacle = plan.obstacle(limit)
        if obstacle is None:
            plans[number] = plan
        elif needed or part_questions[number]:
            raise TooLargeError(f"{asked_for(graph, part_questions[number])} {obstacle}")
        else:
            notes.append(f"log Z is left out: the part of {_names(graph)(part.variables[0])} {obstacle}")
    return Prepared(graph, observation, engine, tuple(asked), reduced, rest, plans, part_questions, walks, tuple(notes))


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


def _names(graph: FactorGraph) -> Callable[[int], str]:
    """Names of variables, those made by counting included."""
    count = len(graph.variable_names)
    return lambda variable: graph.variable_names[variable] if variable < count else f"#{variable - count}"


def _ticker(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def tick(amount: int) -> None:
        nonlocal done
        done += amount
        if progress:
            progress(done, total)

    return tick
