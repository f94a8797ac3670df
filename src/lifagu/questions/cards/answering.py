"""Questions behind a card: answers, or why there is none, beside what is usual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.inference.answer import Answer
from lifagu.questions import asking
from lifagu.questions.cards.parts import PredictedValue
from lifagu.questions.statement import Statement

FEW_OBSERVED = 10  # below, what is usual is what is predicted of others
MOST_OTHERS = 20  # of whom that is asked


class Usual(NamedTuple):
    """How frequent each label is elsewhere; of how many, "observed" or "predicted"."""

    shares: dict[str, float]
    of: int
    how: str


def answers_or_why(case: Statement, names: Sequence[str]) -> list[Answer | str]:
    """An answer about each, or why there is none; asked together, and apart where that fails."""
    if not names:
        return []
    try:
        planned = asking.plan(case, [(name,) for name in names], "auto", {})
        return [*planned.run(case.place.progress).answers]
    except (NoAnswerError, TooLargeError) as error:
        if len(names) == 1:
            return [str(error)]
        half = len(names) // 2
        return [*answers_or_why(case, names[:half]), *answers_or_why(case, names[half:])]


def average(answers: Iterable[tuple[Answer | str, int]]) -> Usual:
    """The mean of answers by label, each for so many variables."""
    some = [(each, count) for each, count in answers if isinstance(each, Answer)]
    total = sum(count for _, count in some)
    if not total:
        return Usual({}, 0, "")
    labels = some[0][0].ranges[0]
    shares = {label: sum(each[label] * count for each, count in some) / total for label in labels}
    return Usual(shares, total, "predicted")


def predicted(
    relation: str,
    variable: str,
    others: tuple[str, ...],
    said: Answer | str,
    usual: Usual,
    count: int = 1,
) -> PredictedValue:
    """An answer as it stands on a card; count: the variables that it is about."""
    about = relation, variable, others
    if isinstance(said, str):
        return PredictedValue(*about, (), (), (), 0, "", 0, None, (), said, count)
    chances = said.probabilities.reshape(-1)
    order = np.argsort(-chances, kind="stable").tolist()
    labels = tuple(said.ranges[0][place] for place in order)
    return PredictedValue(
        *about,
        labels,
        tuple(float(chances[place]) for place in order),
        tuple(usual.shares[label] for label in labels) if usual.of else (),
        usual.of,
        usual.how,
        len(said.rests_on),
        said.weakest_share,
        said.warnings,
        "",
        count,
    )
