"""Answers about one completed graph: the lent tables that they rest on, how far off they are.

Answers over several completions, mixtures and bounds, are in `unsure`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.filling.chance import warning
from lifagu.filling.filled_by import by_cohorts, filled_in_words
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.inference.answer import Answer
from lifagu.inference.prepared import Asked, Result
from lifagu.likeness.tolerance_bound import probability_off, rounded_up
from lifagu.questions.hidden_choices import in_words


@dataclass(frozen=True, eq=False, repr=False)
class Supported(Shown):
    """Answers about one completed graph, with the transferred tables that they rest on."""

    transfer: Transfer
    graph: FactorGraph
    evidence: Evidence
    prepared: Asked
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
        parts = PartsGiven.of(self.graph, self.evidence)
        answers = [
            in_words(
                self.transfer, self.graph, with_support(answer, self.transfer, parts, self.winning)
            )
            for answer in result.answers
        ]
        if not self.winning or self.transfer.drift is None:
            return Result(answers, result.log_partition, result.notes, *self.transfer.counts)
        log_odds = self.transfer.drift.log_odds(self.transfer.original, parts.part_of)
        answers = [with_drift(answer, self.transfer, log_odds, parts.part_of) for answer in answers]
        joint = tuple(answer.notes[-1] for answer in answers if len(answer.variables) > 1)
        return Result(answers, result.log_partition, (*result.notes, *joint), *self.transfer.counts)


@dataclass(frozen=True, eq=False)
class PartsGiven(Frozen):
    """The connected parts of the graph that answers, once what was observed is removed.

    part_of: of each variable, -1 for those that were observed. Where cohorts are hidden variables
    of the graph, they connect what belongs to one individual.
    """

    graph: FactorGraph
    part_of: Ints

    @classmethod
    def of(cls, graph: FactorGraph, evidence: Evidence) -> PartsGiven:
        """The parts of a graph in which the variables of the model come first."""
        observed = evidence.value_of_each(len(graph.variable_names)) >= 0
        return cls(graph, parts_without(graph, observed))

    def of_factors(self, factors: Ints) -> Ints:
        """The part of each of these factors of the model, -1 if all around it was observed."""
        return parts_of_factors(self.graph, self.part_of, factors)


def with_support(
    answer: Answer, moved: Transfer, parts: PartsGiven, winning: bool = False
) -> Answer:
    """The answer with the transferred factors it depends on, and the smallest share among them.

    winning: whether these have the winning tables, so that there is a warning where some are hardly
    better than a guess.
    """
    own = parts.part_of[_numbers(answer, parts.graph)]
    inside = np.isin(parts.of_factors(moved.transferred), own[own >= 0])
    return _resting_on(answer, moved, moved.transferred[inside], winning)


def resting_on_words(answer: Answer, way: str = "") -> str:
    """On how many transferred tables an answer rests, filled in which way, and how surely.

    way: how competing tables are used in it, if that is to be said.
    """
    count, cohorts = len(answer.rests_on), answer.by_cohorts
    filled = f" ({filled_in_words(count, cohorts, way)})" if cohorts else ""
    weakest = f"weakest share {answer.weakest_share:.3g}"
    return f"rests on {counted(count, 'transferred table')}{filled}, {weakest}"


def with_drift(answer: Answer, moved: Transfer, log_odds: Floats, part_of: Ints) -> Answer:
    """The answer with a note on how far it can be off, by the log-odds of its connected parts."""
    parts = np.unique(part_of[_numbers(answer, moved.original)])
    off = rounded_up(probability_off(float(log_odds[parts[parts >= 0]].sum())))
    asked = f"P({', '.join(answer.variables)})"
    note = f"tables were compared {moved.equality}: {asked} is off by at most {off}"
    return replace(answer, notes=(*answer.notes, note))


def _numbers(answer: Answer, graph: FactorGraph) -> list[int]:
    return [graph.variable_names.number(name) for name in answer.variables]


def _resting_on(answer: Answer, moved: Transfer, inside: Ints, winning: bool) -> Answer:
    """inside: the transferred factors in the answer's connected parts."""
    graph = moved.original
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
