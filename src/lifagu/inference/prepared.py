"""Questions that are planned and ready to run.

Connected parts are solved one at a time, those equal up to renaming once; then probabilities walk
back through the lifted steps where they are asked for, and answers are put together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NoAnswerError
from lifagu.graph.evidence import Evidence
from lifagu.graph.ranges import Labels
from lifagu.inference.answer import Answer
from lifagu.inference.connected_part import Residual
from lifagu.inference.engines import PartPlan, run_part
from lifagu.inference.lifted.adjoints import Adjoints, Joints, LogMarginals
from lifagu.inference.parts_from_lists import Untouched
from lifagu.inference.question_checks import Question, pieces_of, why_zero

if TYPE_CHECKING:
    from lifagu.inference.lifted.reduced import Reduced

_Found = TypeVar("_Found", covariant=True)


class Subject(Protocol):
    """What questions are about: numbered variables with ranges."""

    @property
    def sizes(self) -> Ints:
        """The range size of each variable."""

    def labels(self, variable: int) -> Labels:
        """The labels of a variable's values, as declared."""

    def declared_order(self, variable: int) -> Ints:
        """For each of these labels the value that stands for it."""


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions about a subject under some evidence, checked, and which engine may use how much.

    asked, titles: each question by numbers, and by the names that its answer shows; everything: all
    single marginals are asked for instead; whole: whether no factor is unknown or left out, so that
    log Z exists; limit: of the memory, in bytes.
    """

    subject: Subject
    evidence: Evidence
    engine: str
    asked: tuple[Question, ...]
    titles: tuple[tuple[str, ...], ...]
    limit: int
    everything: bool = False
    whole: bool = True


@dataclass(frozen=True)
class Result(Shown):
    """Answers in the order of the questions; log Z is None where it does not exist or did not fit.

    unknown: how many factors came without a table; transferred: how many of them got one.
    """

    answers: list[Answer]
    log_partition: float | None
    notes: tuple[str, ...]
    unknown: int = 0
    transferred: int = 0


class Planned(Protocol[_Found]):
    """Something that is planned and ready to run; `str` shows the plan."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside what is found."""

    def run(self, progress: Tell | None = None) -> _Found:
        """Compute it; progress(done, total) is called now and then."""


Asked = Planned[Result]


@dataclass(frozen=True, eq=False)
class Solution:
    """What was computed: log Z, marginals of variables walked back to, and pieces asked for."""

    log_partition: float | None
    marginals: LogMarginals
    pieces: dict[Question, Floats]


@dataclass(frozen=True, eq=False)
class Ran:
    """What travels of answered questions: the engine, the plan in words, and the evidence."""

    name: str
    text: str
    evidence: Evidence

    def __str__(self) -> str:
        return self.text


class Staying(Frozen, Shown):
    """A plan: it holds functions and stays in the process that made it."""

    def __getstate__(self) -> NoReturn:
        raise ModelError(
            "a plan stays in the process that made it; pickle the model and the questions, "
            "or what the plan found"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(Staying):
    """Questions, lifted steps, parts and plans; `str` shows the plan and its cost, `run` computes.

    Attributes
    ----------
    questions : Questions
        What is asked.
    reduced : Reduced or Untouched
        The lifted steps, if there are any.
    rest : Residual
        The connected parts that they leave.
    plans : dict[int, PartPlan]
        The plan of a part by its number, where it fits.
    part_questions : tuple
        What each part is asked, rows first where the walk back needs them.
    like : tuple[int, ...]
        For each part the first that equals it up to renaming, whose plan and run stand for both.
    walks : Reduced or None
        The lifted steps through which probabilities walk back, if they do.
    notes : tuple[str, ...]
        Remarks beside the answers.
    why : str
        In words, why this engine was taken, where others could have been.

    Examples
    --------
    >>> import lifagu
    >>> from lifagu.inference.planning import prepare
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> prepared = prepare(graph, [["A"]], engine="ground")
    >>> print(str(prepared).splitlines()[0])
    ground engine, 1 connected part
    >>> prepared.run().answers
    [<P(A): false: 0.3, true: 0.7>]
    """

    questions: Questions
    reduced: Reduced | Untouched
    rest: Residual
    plans: dict[int, PartPlan]
    part_questions: tuple[tuple[Question, ...], ...]
    like: tuple[int, ...]
    walks: Reduced | None
    notes: tuple[str, ...]
    why: str = ""

    @property
    def subject(self) -> Subject:
        """What the questions are about."""
        return self.questions.subject

    @property
    def evidence(self) -> Evidence:
        """What was observed."""
        return self.questions.evidence

    @property
    def name(self) -> str:
        """The engine that does the work."""
        if self.questions.engine != "auto":
            return self.questions.engine
        return "lifted" if self.reduced.steps else "ground"

    @property
    def total(self) -> int:
        """Numbers to be computed for what the lifted steps have left."""
        return sum(plan.total for plan in self.plans.values())

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        parts = counted(len(self.rest.parts), "connected part")
        why = f", because {self.why}" if self.why else ""
        told = [str(self.reduced)] if self.reduced.steps or self.reduced.dropped else []
        if isinstance(self.reduced, Untouched) or not told:
            lines = [f"{self.name} engine, {parts}{why}", *told]
        else:
            shown = counted(sum(1 for step in self.reduced.steps if str(step)), "lifted step")
            lines = [f"{self.name} engine, {shown}{why}:", *told, f"leaving {parts}"]
        alike = Counter(self.like)
        dearest = sorted(self.plans, key=lambda number: -self.plans[number].total)[:3]
        for number in dearest:
            times = f"for each of {alike[number]} equal parts: " if alike[number] > 1 else ""
            lines.append(f"{times}{self.plans[number]}")
        if more := sum(alike[number] for number in self.plans if number not in dearest):
            lines.append(f"and {counted(more, 'smaller part')}")
        return "\n".join([*lines, *self.notes])

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers. progress(done, total) is called now and then."""
        solution = self.solve(progress)
        asked = zip(self.questions.asked, self.questions.titles, strict=True)
        answers = [self._answer(question, names, solution) for question, names in asked]
        return Result(answers, solution.log_partition, self.notes)

    def solve(self, progress: Tell | None = None) -> Solution:
        """Compute log Z and all that was asked for, without putting answers together."""
        tick = _ticker(progress, self.total)
        logs, pieces = [self.rest.log_constant], dict[Question, Floats]()
        of_part: dict[int, dict[Question, Floats]] = {}
        for number, part_log, found in self._parts(tick):
            logs.append(part_log)
            pieces |= found
            of_part[number] = found
        complete = self.questions.whole and all(number in self.plans for number in self.like)
        marginals = LogMarginals(len(self.rest.part_of))
        _add_single(marginals, pieces)
        if self.walks:
            self._walk_back(self.walks, of_part, marginals)
        return Solution(math.fsum(logs) if complete else None, marginals, pieces)

    def _walk_back(
        self, steps: Reduced, of_part: dict[int, dict[Question, Floats]], marginals: LogMarginals
    ) -> None:
        """Add marginals of what lifted steps took away, from joint ones of rows they left."""
        labels = steps.problem.rows.labels
        of_row = {arity: np.full(len(each), -1, dtype=np.int64) for arity, each in labels.items()}
        joints = Joints()
        for number, found in of_part.items():
            rows = zip(self.rest.row_of[number], self.rest.parts[number].factors, strict=True)
            for (arity, row), (scope, _) in rows:
                if scope in found:
                    of_row[arity][row] = joints.add(found[scope].astype(np.longdouble))
        steps.walk_back(Adjoints(of_row, joints, marginals), self._wanted)

    def _parts(
        self, tick: Callable[[int], None]
    ) -> Iterator[tuple[int, float, dict[Question, Floats]]]:
        """Each part with a plan: number, log Z and what it was asked; weight zero is refused."""
        if self.rest.log_constant == -math.inf:
            raise NoAnswerError(why_zero(self.evidence))
        known: dict[int, tuple[float, dict[Question, Floats]]] = {}
        alike = Counter(self.like)
        for number, first in enumerate(self.like):
            if first not in self.plans:
                continue
            part, asked = self.rest.parts[number], self.part_questions[number]
            if number == first:
                part_log, tables = run_part(part, self.plans[number], asked, tick)
                if part_log == -math.inf:
                    raise NoAnswerError(why_zero(self.evidence))
                if alike[number] == 1:
                    yield number, part_log, dict(zip(asked, tables, strict=True))
                    continue
                known[number] = part_log, dict(zip(part.places(asked), tables, strict=True))
            part_log, by_place = known[first]
            found = [by_place[places] for places in part.places(asked)]
            yield number, part_log, dict(zip(asked, found, strict=True))

    @property
    def _wanted(self) -> Ints | None:
        """The variables whose marginals are asked for, None if that is all of them."""
        asked = self.questions.asked
        single = [question[0] for question in asked if len(question) == 1]
        free = [variable for variable in single if self._observed[variable] < 0]
        return np.array(free, dtype=np.int64) if asked else None

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
        """Log probabilities of a question: a product of its pieces and of observed values."""
        observed, sizes = self._observed, self.subject.sizes[list(question)]
        joint = np.zeros(sizes)
        for place, variable in enumerate(question):
            axes = [-1 if axis == place else 1 for axis in range(len(question))]
            if observed[variable] >= 0:
                certain = np.where(np.arange(sizes[place]) == observed[variable], 0.0, -np.inf)
                joint += certain.reshape(axes)
            elif self.rest.part_of[variable] < 0:
                joint += np.asarray(solution.marginals[variable], dtype=np.float64).reshape(axes)
        for piece in pieces_of(question, self.rest.part_of).values():
            axes = [
                size if variable in piece else 1
                for variable, size in zip(question, sizes.tolist(), strict=True)
            ]
            joint += solution.pieces[piece].reshape(axes)
        return joint


def _add_single(marginals: LogMarginals, pieces: Mapping[Question, Floats]) -> None:
    """Add the answers that are about one variable."""
    by_size: dict[int, list[Question]] = {}
    for question, table in pieces.items():
        if len(question) == 1:
            by_size.setdefault(len(table), []).append(question)
    for alike in by_size.values():
        tables = np.stack([pieces[question] for question in alike], axis=-1).astype(np.longdouble)
        marginals.add(np.array(alike)[:, 0], np.arange(len(alike)), tables)


def _ticker(progress: Tell | None, total: int) -> Callable[[int], None]:
    done = 0

    def tick(amount: int) -> None:
        nonlocal done
        done += amount
        if progress:
            progress(done, total)

    return tick
