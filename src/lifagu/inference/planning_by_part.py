"""What is left for the ground engine, part by part: questions, equal parts, and plans."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.words import counted
from lifagu.inference.connected_part import AnyPart, Residual
from lifagu.inference.engines import PartPlan, plan_part
from lifagu.inference.memory_limit import PlanTooLargeError
from lifagu.inference.parts_from_lists import Untouched
from lifagu.inference.plan import readable_count
from lifagu.inference.prepared import Prepared, Questions
from lifagu.inference.question_checks import Question, asked_for, pieces_of

MOST_TOGETHER = 2**38  # entries of all parts that are computed where all marginals are asked for

if TYPE_CHECKING:
    from lifagu.inference.lifted.problem import Variables
    from lifagu.inference.lifted.reduced import Reduced


def plan_rest(questions: Questions, reduced: Reduced, walks: bool) -> Prepared:
    """A plan for each connected part that the lifted steps have left."""
    from lifagu.inference.lifted.residual import residual

    walked = reduced if walks and reduced.steps else None
    return plan_parts(questions, reduced, residual(reduced.problem), walked)


def plan_parts(
    questions: Questions,
    reduced: Reduced | Untouched,
    rest: Residual,
    walks: Reduced | None = None,
    why: str = "",
    most: float = math.inf,
) -> Prepared:
    """A plan for each of these parts; more than `most` entries are a `TooDearError`.

    The other arguments are as in `Prepared`.
    """
    part_questions = _part_questions(questions, rest, walks.looked_at() if walks else None)
    like = _like(rest.parts, part_questions)
    variables = reduced if isinstance(reduced, Untouched) else reduced.problem.variables
    plans, obstacles = {}, {}
    for number in dict.fromkeys(like):
        part = rest.parts[number]
        plan = plan_part(part, part_questions[number], variables.name, questions.limit, most)
        if obstacle := plan.obstacle(questions.limit):
            obstacles[number] = obstacle
        else:
            plans[number] = plan
    if questions.everything:
        obstacles |= _too_much(plans)
    needed = questions.everything or not questions.asked
    if refused := [number for number in obstacles if needed or part_questions[number]]:
        what = asked_for(variables.name, variables.originals, part_questions[refused[0]])
        parts = [
            (_origins(variables, part), obstacles[first])
            for part, first in zip(rest.parts, like, strict=True)
            if first in refused
        ]
        raise PlanTooLargeError(what, parts)
    notes = _notes(variables, rest, obstacles, Counter(like))
    return Prepared(questions, reduced, rest, plans, part_questions, like, walks, notes, why)


def _too_much(plans: Mapping[int, PartPlan]) -> dict[int, str]:
    """Why the dearest parts are left out where all of them together would take too long.

    As many as possible are kept, the cheapest first; parts that cost the same are treated alike.
    """
    totals = np.array([plan.total for plan in plans.values()], dtype=np.float64)
    costs, many = np.unique(totals, return_counts=True)
    fitting = costs[np.cumsum(costs * many) <= MOST_TOGETHER]
    most = float(fitting[-1]) if len(fitting) else 0.0
    if len(fitting) == len(costs):
        return {}
    left = totals[totals > most]
    parts, all_of_them = counted(len(left), "dear part"), readable_count(int(left.sum()))
    why = f"{parts} together take {all_of_them}, but the most are {readable_count(MOST_TOGETHER)}"
    return {
        number: f"takes {readable_count(plan.total)} entries, and {why} in all"
        for number, plan in plans.items()
        if plan.total > most
    }


def _notes(
    variables: Variables | Untouched,
    rest: Residual,
    obstacles: Mapping[int, str],
    alike: Mapping[int, int],
) -> tuple[str, ...]:
    """Notes on parts that do not fit, where only log Z needs them."""
    notes = []
    for number, obstacle in obstacles.items():
        more = f" (and {alike[number] - 1} like it)" if alike[number] > 1 else ""
        first_name = variables.name(rest.parts[number].variables[0])
        notes.append(f"log Z is left out: the part of {first_name}{more} {obstacle}")
    return tuple(notes)


def _origins(variables: Variables | Untouched, part: AnyPart) -> tuple[int | str, ...]:
    """A part's variables that are the model's own; listed ones by the name of their kind."""
    own = [each for each in part.variables if each < variables.originals]
    listed = [
        kind
        for each in part.variables
        for first, (stop, kind) in variables.listed.items()
        if first <= each < stop
    ]
    return (*own, *dict.fromkeys(listed))


def _like(parts: Sequence[AnyPart], questions: Sequence[Sequence[Question]]) -> tuple[int, ...]:
    """For each part the first that equals it but for the names of its variables.

    Tables are the same if they are one object, as those of parts that are left are. Cost: linear in
    the factors.
    """
    if len(parts) < 2:
        return tuple(range(len(parts)))
    first: dict[Hashable, int] = {}
    like = []
    for number, (part, asked) in enumerate(zip(parts, questions, strict=True)):
        scopes = part.places([scope for scope, _ in part.given])
        factors = sorted(zip(scopes, [id(table) for _, table in part.given], strict=True))
        key = (tuple(part.sizes.values()), tuple(factors), tuple(sorted(part.places(asked))))
        like.append(first.setdefault(key, number))
    return tuple(like)


def _part_questions(
    questions: Questions, rest: Residual, looked_at: Mapping[int, NDArray[np.bool_]] | None
) -> tuple[tuple[Question, ...], ...]:
    """What each part is asked: pieces of questions, and rows looked at on the walk back.

    looked_at: for each row whether it is, None if probabilities do not walk back.
    """
    pieces: list[dict[Question, None]] = [{} for _ in rest.parts]
    for number, part in enumerate(rest.parts):
        if looked_at is not None:
            rows = zip(part.factors, rest.row_of[number], strict=True)
            pieces[number] |= dict.fromkeys(
                scope for (scope, _), (arity, row) in rows if looked_at[arity][row]
            )
        if looked_at is not None or questions.everything:
            pieces[number] |= dict.fromkeys((variable,) for variable in part.variables)
    for question in questions.asked:
        for number, piece in pieces_of(question, rest.part_of).items():
            pieces[number][piece] = None
    return tuple(map(tuple, pieces))
