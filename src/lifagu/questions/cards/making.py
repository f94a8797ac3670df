"""A card made: what concerns one individual is looked up and asked about, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.questions import in_memory
from lifagu.questions.cards.alike import alike
from lifagu.questions.cards.card import Card
from lifagu.questions.cards.facts import Facts
from lifagu.questions.cards.individual import individual
from lifagu.questions.cards.over_cells import card_over_cells, is_large
from lifagu.questions.cards.parts import PredictedValue
from lifagu.questions.cards.tables import filled, links
from lifagu.questions.reasons import Reasons, reasons_of_each
from lifagu.questions.statement import Statement
from lifagu.questions.where_to_work import choose

MOST_REASONS = 3
TELLING = 0.05  # how far from what is usual a prediction must be for its reasons to be told


def card(case: Statement, name: str, like: int) -> Card:
    """Everything known, filled and predicted about one individual; like: how many it is like."""
    choose(case, "show")
    if is_large(case):
        return card_over_cells(case, name, like)
    graph = in_memory.grounded(case)
    who = individual(name, graph, in_memory.grounded(replace(case, added=())))
    seen = in_memory.bound(case)
    moved = in_memory.transferred(case) if in_memory.fills(case) else None
    facts = Facts(case, who, seen)
    known, more_known = facts.known()
    predicted, more_predicted, conditions = facts.predicted()
    tables, count = ((), 0) if moved is None else filled(who, moved, seen)
    return Card(
        who.name,
        who.domain,
        known,
        tables,
        count,
        predicted,
        more_known,
        more_predicted,
        _why(case, predicted),
        links(who, case.opened.loaded(case.place)),
        tuple(alike(who, moved, seen, like)),
        tuple(f"{each} only tells about others, and is not predicted" for each in conditions),
    )


def _why(case: Statement, predicted: tuple[PredictedValue, ...]) -> tuple[Reasons, ...]:
    """The reasons for the predictions that are furthest from what is usual, one of a relation."""
    found: dict[str, PredictedValue] = {}
    for each in sorted(predicted, key=lambda each: -each.apart):
        if each.apart >= TELLING:
            found.setdefault(each.relation, each)
    every = _reasons(case, [each.variable for each in found.values()][:MOST_REASONS])
    return tuple(each for each in every if each.tables or each.telling)


def _reasons(case: Statement, variables: Sequence[str]) -> list[Reasons]:
    """The reasons for answers, except where without some observation there would be none."""
    try:
        return reasons_of_each(case, variables) if variables else []
    except (NoAnswerError, TooLargeError):
        if len(variables) == 1:
            return []
        return [reason for each in variables for reason in _reasons(case, [each])]
