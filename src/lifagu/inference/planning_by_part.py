"""What is left for the ground engine, part by part: questions, equal parts, and plans."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lifagu.graph.evidence import Evidence
from lifagu.inference.engines import PartPlan, plan_part
from lifagu.inference.part import AnyPart, Residual
from lifagu.inference.parts_from_lists import Untouched
from lifagu.inference.prepared import Prepared, Subject
from lifagu.inference.question_checks import PartsTooLargeError, Question, asked_for, pieces_of

if TYPE_CHECKING:
    from lifagu.inference.lifted.problem import Variables
    from lifagu.inference.lifted.reduced import Reduced


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
    """A plan for each connected part that the lifted steps have left."""
    from lifagu.inference.lifted.residual import residual

    rest, walks = residual(reduced.problem), walks and bool(reduced.steps)
    return plan_parts(
        subject,
        evidence,
        engine,
        asked,
        titles,
        reduced,
        rest,
        limit,
        everything=everything,
        walks=walks,
        whole=whole,
    )


def plan_parts(
    subject: Subject,
    evidence: Evidence,
    engine: str,
    asked: Sequence[Question],
    titles: tuple[tuple[str, ...], ...],
    reduced: Reduced | Untouched,
    rest: Residual,
    limit: int,
    *,
    everything: bool,
    walks: bool,
    whole: bool,
    why: str = "",
    most: float = math.inf,
) -> Prepared:
    """A plan for each of these parts."""
    looked_at = reduced.looked_at() if walks and not isinstance(reduced, Untouched) else None
    part_questions = _part_questions(rest, asked, everything, looked_at)
    like = _like(rest.parts, part_questions)
    needed = everything or not asked
    plans, notes = _plans(
        reduced, rest, part_questions, like, engine, limit, needed=needed, most=most
    )
    # fmt: skip
    return Prepared(
        subject,
        evidence,
        engine,
        tuple(asked),
        titles,
        reduced,
        rest,
        plans,
        part_questions,
        like,
        walks,
        whole,
        notes,
        why,
    )


def _plans(
    reduced: Reduced | Untouched,
    rest: Residual,
    questions: Sequence[Sequence[Question]],
    like: Sequence[int],
    engine: str,
    limit: int,
    *,
    needed: bool,
    most: float,
) -> tuple[dict[int, PartPlan], tuple[str, ...]]:
    """A plan for the first of each kind of parts; notes if only log Z needs what does not fit."""
    alike, variables = (
        Counter(like),
        reduced if isinstance(reduced, Untouched) else reduced.problem.variables,
    )
    plans: dict[int, PartPlan] = {}
    obstacles: dict[int, str] = {}
    for number in alike:
        plan = plan_part(engine, rest.parts[number], questions[number], variables.name, limit, most)
        if obstacle := plan.obstacle(limit):
            obstacles[number] = obstacle
        else:
            plans[number] = plan
    refused = [number for number in obstacles if needed or questions[number]]
    if refused:
        what = asked_for(variables.name, variables.originals, questions[refused[0]])
        parts = [
            (part, obstacles[first])
            for part, first in zip(rest.parts, like, strict=True)
            if first in refused
        ]
        raise PartsTooLargeError(
            what, [(_origins(variables, part), obstacle) for part, obstacle in parts], engine
        )
    notes = []
    for number, obstacle in obstacles.items():
        more = f" (and {alike[number] - 1} like it)" if alike[number] > 1 else ""
        first_name = variables.name(rest.parts[number].variables[0])
        notes.append(f"log Z is left out: the part of {first_name}{more} {obstacle}")
    return plans, tuple(notes)


def _origins(variables: Variables | Untouched, part: AnyPart) -> tuple[int | str, ...]:
    """A part's variables that are the model's own; listed ones by the name of their kind."""
    kinds = {} if isinstance(variables, Untouched) else variables.listed
    listed = [
        kind
        for each in part.variables
        for first, (stop, kind) in kinds.items()
        if first <= each < stop
    ]
    return (
        *[each for each in part.variables if each < variables.originals],
        *dict.fromkeys(listed),
    )


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
    rest: Residual,
    asked: Sequence[Question],
    everything: bool,
    looked_at: Mapping[int, NDArray[np.bool_]] | None,
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
        if looked_at is not None or everything:
            pieces[number] |= dict.fromkeys((variable,) for variable in part.variables)
    for question in asked:
        for number, piece in pieces_of(question, rest.part_of).items():
            pieces[number][piece] = None
    return tuple(map(tuple, pieces))
