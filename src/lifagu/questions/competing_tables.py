"""Answers about one completed graph: the lent tables that they rest on, how far off they are.

Answers over several completions, mixtures and bounds, are in `unsure`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.filling.chance import warning
from lifagu.filling.filled_by import by_cohorts
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.inference.answer import Answer
from lifagu.inference.prepared import Prepared, Result
from lifagu.likeness.tolerance_bound import probability_off, rounded_up


@dataclass(frozen=True, eq=False)
class Supported(Shown):
    """Answers about one completed graph, with the transferred tables that they rest on."""

    transfer: Transfer
    evidence: Evidence
    prepared: Prepared
    winning: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.prepared.notes

    def __str__(self) -> str:
        return str(self.prepared)

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        result = self.prepared.run(progress)
        part_of = parts_given(self.transfer, self.evidence)
        answers = [
            with_support(answer, self.transfer, part_of, self.winning) for answer in result.answers
        ]
        if not self.winning or self.transfer.drift is None:
            return Result(answers, result.log_partition, result.notes, *self.transfer.counts)
        log_odds = self.transfer.drift.log_odds(self.transfer.original, part_of)
        answers = [with_drift(answer, self.transfer, log_odds, part_of) for answer in answers]
        joint = tuple(answer.notes[-1] for answer in answers if len(answer.variables) > 1)
        return Result(answers, result.log_partition, (*result.notes, *joint), *self.transfer.counts)


def parts_given(moved: Transfer, evidence: Evidence) -> Ints:
    """The connected part of each variable once the observed ones are removed, -1 for those."""
    return parts_without(
        moved.original, evidence.value_of_each(len(moved.original.variable_names)) >= 0
    )


def with_support(answer: Answer, moved: Transfer, part_of: Ints, winning: bool = False) -> Answer:
    """The answer with the transferred factors it depends on, and the smallest share among them.

    part_of: as `parts_given` the evidence. winning: whether these have the winning tables, so that
    there is a warning where some are hardly better than a guess.
    """
    parts = part_of[_numbers(answer, moved)]
    return _resting_on(answer, moved, part_of, parts[parts >= 0], winning)


def with_drift(answer: Answer, moved: Transfer, log_odds: Floats, part_of: Ints) -> Answer:
    """The answer with a note on how far it can be off, by the log-odds of its connected parts."""
    parts = np.unique(part_of[_numbers(answer, moved)])
    off = rounded_up(probability_off(float(log_odds[parts[parts >= 0]].sum())))
    asked = f"P({', '.join(answer.variables)})"
    note = f"tables were compared {moved.equality}: {asked} is off by at most {off}"
    return replace(answer, notes=(*answer.notes, note))


def _numbers(answer: Answer, moved: Transfer) -> list[int]:
    return [moved.original.variable_names.number(name) for name in answer.variables]


def _resting_on(
    answer: Answer, moved: Transfer, part_of: Ints, parts: Ints, winning: bool = False
) -> Answer:
    graph = moved.original
    inside = moved.transferred[np.isin(parts_of_factors(graph, part_of, moved.transferred), parts)]
    if not len(inside):
        return answer
    places = np.searchsorted(graph.unknown, inside)
    weakest = int(places[np.argmin(moved.shares[places])])
    answer = replace(
        answer,
        rests_on=tuple(graph.factor_names[factor] for factor in inside.tolist()),
        weakest_share=float(moved.shares[weakest]),
        by_cohorts=by_cohorts(moved, inside),
    )
    guesses = int(moved.guesses[places].sum()) if winning else 0
    if not guesses:
        return answer
    doubt = warning(guesses, len(inside), *moved.agreement(weakest))
    return replace(answer, warnings=(*answer.warnings, doubt))
