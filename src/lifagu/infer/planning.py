"""Questions taken apart and planned: lifted steps first, then a plan for each connected part that they leave.

The lifted engine does what can be done for many places at once; what it leaves falls into connected parts, which are
planned one at a time, those equal up to renaming once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.errors import ModelError, TooLargeError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.infer.asked import Question, asked_for, check_known, known_variables, pieces_of, question_of
from lifagu.infer.engines import ENGINES, PartPlan, plan_part
from lifagu.infer.lifted import Reduced, Residual, do_nothing, reduce, residual
from lifagu.infer.plan import default_memory_limit
from lifagu.infer.prepared import Prepared, Subject
from lifagu.infer.problem import Part
from lifagu.model import FactorGraph
from lifagu.parts import parts_without

DEAR = 2**22  # entries in all from which on another plan is looked for


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
    rest = residual(reduced.problem)
    walks = walks and bool(reduced.steps)
    part_questions = _part_questions(rest, asked, everything, reduced.looked_at() if walks else None)
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
    alike, variables = Counter(like), reduced.problem.variables
    plans: dict[int, PartPlan] = {}
    notes = []
    for number in alike:
        part = rest.parts[number]
        plan = plan_part(engine, part, questions[number], variables.name, limit)
        obstacle = plan.obstacle(limit)
        if obstacle is None:
            plans[number] = plan
        elif needed or questions[number]:
            raise TooLargeError(f"{asked_for(variables.name, variables.originals, questions[number])} {obstacle}")
        else:
            more = f" (and {alike[number] - 1} like it)" if alike[number] > 1 else ""
            notes.append(f"log Z is left out: the part of {variables.name(part.variables[0])}{more} {obstacle}")
    return plans, tuple(notes)


def _like(parts: Sequence[Part], questions: Sequence[Sequence[Question]]) -> tuple[int, ...]:
    """For each part the first that differs in the names of its variables only: sizes, factors, questions are the same.

    Tables are the same if they are one object, as those of parts that are left are. Cost: linear in the factors.
    """
    if len(parts) < 2:
        return tuple(range(len(parts)))
    first: dict[Hashable, int] = {}
    like = []
    for number, (part, asked) in enumerate(zip(parts, questions, strict=True)):
        scopes = part.places([scope for scope, _ in part.factors])
        factors = sorted(zip(scopes, [id(table) for _, table in part.factors], strict=True))
        key = (tuple(part.sizes.values()), tuple(factors), tuple(sorted(part.places(asked))))
        like.append(first.setdefault(key, number))
    return tuple(like)


def _part_questions(
    rest: Residual, asked: Sequence[Question], everything: bool, looked_at: Mapping[int, NDArray[np.bool_]] | None
) -> tuple[tuple[Question, ...], ...]:
    """What each part is asked: pieces of questions, and where probabilities walk back, rows that are looked at.

    looked_at: for each row whether it is, None if probabilities do not walk back.
    """
    pieces: list[dict[Question, None]] = [{} for _ in rest.parts]
    for number, part in enumerate(rest.parts):
        if looked_at is not None:
            rows = zip(part.factors, rest.row_of[number], strict=True)
            pieces[number] |= dict.fromkeys(scope for (scope, _), (arity, row) in rows if looked_at[arity][row])
        if looked_at is not None or everything:
            pieces[number] |= dict.fromkeys((variable,) for variable in part.variables)
    for question in asked:
        for number, piece in pieces_of(question, rest.part_of).items():
            pieces[number][piece] = None
    return tuple(map(tuple, pieces))
