"""Questions taken apart and planned, ready to run.

A question is split along the connected parts of the graph; an engine plans and solves one part at a time; the pieces
are put together again. Parts without a queried variable only contribute their log Z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np

from lifagu.arrays import Floats
from lifagu.errors import ModelError, NoAnswerError, TooLargeError, listed
from lifagu.evidence import EvidenceLike
from lifagu.infer import eliminate, enumeration
from lifagu.infer.answer import Answer
from lifagu.infer.plan import BYTES_PER_ENTRY, WORKING_COPIES, default_memory_limit, readable_size
from lifagu.infer.problem import Part, Problem, make_problem
from lifagu.infer.table import log_sum
from lifagu.model import FactorGraph
from lifagu.views import counted

ENGINES: dict[str, ModuleType] = {"auto": eliminate, "ground": eliminate, "enumerate": enumeration}
Question = tuple[int, ...]
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
class Prepared:
    """Questions, parts and plans; `str` shows the plan and its cost, `run` computes."""

    graph: FactorGraph
    problem: Problem
    engine: str
    questions: tuple[Question, ...]
    part_questions: tuple[tuple[Question, ...], ...]
    plans: dict[int, PartPlan]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        planned = len(self.plans)
        head = f"{self.engine} engine, {counted(len(self.problem.parts), 'connected part')}"
        dearest = sorted(self.plans.values(), key=lambda plan: -plan.total)[:3]
        more = [f"and {planned - 3} smaller parts"] if planned > 3 else []
        return "\n".join([head, *map(str, dearest), *more, *self.notes])

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers. progress(done, total) is called now and then."""
        tick = _ticker(progress, sum(plan.total for plan in self.plans.values()))
        marginals: dict[Question, Floats] = {}
        logs = [self.problem.log_constant]
        for number, plan in self.plans.items():
            asked = self.part_questions[number]
            part_log, tables = ENGINES[self.engine].run(self.problem.parts[number], plan, asked, tick)
            logs.append(part_log)
            if part_log > -math.inf:
                marginals |= {piece: table - log_sum(table) for piece, table in zip(asked, tables, strict=True)}
        if -math.inf in logs:
            raise NoAnswerError(_why_zero(self.problem))
        complete = len(self.plans) == len(self.problem.parts) and not len(self.graph.unknown)
        log_partition = math.fsum(logs) if complete else None
        answers = [self._answer(question, marginals, log_partition) for question in self.questions]
        return Result(answers, log_partition, self.notes)

    def _answer(self, question: Question, marginals: dict[Question, Floats], log_partition: float | None) -> Answer:
        graph, declared = self.graph, self.graph.variable_declared
        log_probabilities = self._joint(question, marginals)[
            np.ix_(*(graph.ranges.to_declared(int(declared[variable])) for variable in question))
        ]
        return Answer(
            tuple(graph.variable_names[variable] for variable in question),
            tuple(graph.labels(variable) for variable in question),
            log_probabilities,
            log_partition,
            self.engine,
            str(self),
            self.notes,
        )

    def _joint(self, question: Question, marginals: dict[Question, Floats]) -> Floats:
        """The log probabilities of a question: a product of its pieces in each part and of observed values."""
        sizes = self.graph.sizes[list(question)]
        joint = np.zeros(sizes)
        for place, variable in enumerate(question):
            if (value := self.problem.observed[variable]) >= 0:
                certain = np.where(np.arange(sizes[place]) == value, 0.0, -np.inf)
                joint += certain.reshape([-1 if axis == place else 1 for axis in range(len(question))])
        for piece in _pieces(question, self.problem).values():
            axes = [int(self.graph.sizes[variable]) if variable in piece else 1 for variable in question]
            joint += marginals[piece].reshape(axes)
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

    Refuses before anything is computed: unknown factors in a queried part, tables that would not fit.
    """
    if engine not in ENGINES:
        raise ModelError(f"there is no engine '{engine}'; choose one of {', '.join(ENGINES)}")
    engine = "ground" if engine == "auto" else engine
    limit = default_memory_limit() if memory_limit is None else memory_limit
    problem = make_problem(graph, graph.evidence(evidence))
    asked = [_question(graph, names, limit) for names in questions]
    pieces: list[dict[Question, None]] = [{} for _ in problem.parts]
    for question in asked:
        for number, piece in _pieces(question, problem).items():
            pieces[number][piece] = None
    plans: dict[int, PartPlan] = {}
    notes = []
    for number, part in enumerate(problem.parts):
        if part.unknown:
            _check_not_asked(graph, part, pieces[number], logz_wanted=not asked)
            continue
        plan = ENGINES[engine].plan(part, tuple(pieces[number]), graph.variable_names.__getitem__)
        obstacle = plan.obstacle(limit)
        if obstacle is None:
            plans[number] = plan
        elif pieces[number] or not asked:
            raise TooLargeError(f"{_asked_for(graph, pieces[number])} {obstacle}")
        else:
            notes.append(f"log Z is left out: the part of {graph.variable_names[part.variables[0]]} {obstacle}")
    if problem.unknown_constants and not asked:
        raise NoAnswerError(_missing(graph, problem.unknown_constants, "log Z"))
    part_questions = tuple(map(tuple, pieces))
    return Prepared(graph, problem, engine, tuple(asked), part_questions, plans, tuple(notes))


def _question(graph: FactorGraph, names: Sequence[str], limit: int) -> Question:
    """The variables of a question as numbers, none twice, and not too many for one answer."""
    question = tuple(graph.variable_names.number(name) for name in names)
    if not question:
        raise ModelError("a question names at least one variable")
    if len(set(question)) < len(question):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ModelError(f"the question names '{twice}' twice; name each variable once")
    size = BYTES_PER_ENTRY * WORKING_COPIES * math.prod(graph.sizes[list(question)].tolist())
    if size > limit or len(question) > 60:
        raise TooLargeError(
            f"a joint answer about {len(question)} variables needs about {readable_size(size)}, but the limit is "
            f"{readable_size(limit)}; ask about fewer variables jointly"
        )
    return question


def _pieces(question: Question, problem: Problem) -> dict[int, Question]:
    """For each part that holds variables of the question, those variables in the question's order."""
    pieces: dict[int, Question] = {}
    for variable in question:
        if (number := int(problem.part_of[variable])) >= 0:
            pieces[number] = (*pieces.get(number, ()), variable)
    return pieces


def _check_not_asked(graph: FactorGraph, part: Part, pieces: Iterable[Question], *, logz_wanted: bool) -> None:
    for piece in pieces:
        raise NoAnswerError(_missing(graph, part.unknown, _asked_for(graph, [piece])))
    if logz_wanted:
        raise NoAnswerError(_missing(graph, part.unknown, "log Z"))


def _missing(graph: FactorGraph, factors: Sequence[int], what: str) -> str:
    names = listed([graph.factor_names[factor] for factor in factors])
    verb = "is" if len(factors) == 1 else "are"
    return f"{what} has no answer: {names} {verb} unknown in the same connected part; give a table, or ask elsewhere"


def _asked_for(graph: FactorGraph, pieces: Iterable[Question]) -> str:
    asked = listed([f"P({', '.join(graph.variable_names[each] for each in piece)})" for piece in pieces], limit=2)
    return asked or "log Z"


def _why_zero(problem: Problem) -> str:
    if (problem.observed >= 0).any():
        return "the evidence has probability zero; check the observed values against the zeros in the tables"
    return "every assignment has weight zero; the zeros in the tables contradict each other"


def _ticker(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def tick(amount: int) -> None:
        nonlocal done
        done += amount
        if progress:
            progress(done, total)

    return tick
