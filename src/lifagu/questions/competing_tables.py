"""Unsure answers: all combinations of competing tables considered, as a mixture or as bounds.

A completion takes one of the competing tables for each class; its weight is the product of their
shares. The mixture is the distribution that draws a completion by weight and then an assignment
from it, so with evidence a completion counts by how well it explains the evidence, too. Bounds are
the smallest and largest answer over the same completions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.errors import NoAnswerError, Remedy, TooLargeError, listed
from lifagu.filling.chance import warning
from lifagu.filling.completions import OpenClass
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without, subgraph
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Prepared, Result
from lifagu.likeness.tolerance_bound import probability_off, rounded_up

MOST_COMPLETIONS = 4096


def consider(
    moved: Transfer,
    questions: Sequence[Sequence[str]],
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
) -> Considered:
    """Plan answers over all completions of the connected parts that matter, unless too many."""
    graph = moved.original
    part_of = parts_without(graph, np.zeros(len(graph.variable_names), dtype=np.bool_))
    touched = [
        np.unique(parts_of_factors(graph, part_of, each.factors)) for each in moved.open_classes
    ]
    by_parts: dict[tuple[int, ...], list[int]] = {}
    for place, names in enumerate(questions):
        asked = np.unique(part_of[[graph.variable_names.number(name) for name in names]])
        by_parts.setdefault(tuple(_linked(asked, touched).tolist()), []).append(place)
    matters = []
    for parts, places in by_parts.items():
        linked = zip(moved.open_classes, touched, strict=True)
        classes = tuple(each for each, where in linked if np.isin(where, parts).any())
        _check_few(classes, unknown)
        if unknown == "mixture" and classes and evidence:
            _check_complete(moved, part_of, np.array(parts))
        matters.append(Matter(moved, unknown, part_of, np.array(parts), classes, tuple(places)))
    considered = Considered(
        moved, unknown, tuple(map(tuple, questions)), evidence, part_of, tuple(matters), settings
    )
    # plans the winning completion of each, and so refuses what is wrong with the questions
    str(considered)
    return considered


def _linked(parts: Ints, touched: Sequence[Ints]) -> Ints:
    """These parts, and all that are linked to them by classes with members in both."""
    while True:
        grown = np.unique(
            np.concatenate([parts, *(where for where in touched if np.isin(where, parts).any())])
        )
        if len(grown) == len(parts):
            return parts
        parts = grown


def _check_few(classes: Sequence[OpenClass], unknown: str) -> None:
    count = 1
    for each in classes:
        count *= len(each.shares)
        if count > MOST_COMPLETIONS:
            raise TooLargeError(
                f"{unknown} over all combinations of the competing tables of {len(classes)} "
                "classes: more than the "
                f"{MOST_COMPLETIONS} that are computed",
                remedy=Remedy.RAISE_THETA,
            )


def _check_complete(moved: Transfer, part_of: Ints, parts: Ints) -> None:
    left = np.setdiff1d(moved.original.unknown, moved.transferred)
    left = left[np.isin(parts_of_factors(moved.original, part_of, left), parts)]
    if len(left):
        names = listed([moved.original.factor_names[factor] for factor in left.tolist()])
        raise NoAnswerError(
            "a mixture weighs tables by how well they explain the evidence, and that is undefined "
            f"while {names} stay "
            "unknown",
            remedy=Remedy.LOWER_THETA,
        )


@dataclass(frozen=True, eq=False)
class Matter:
    """Questions (by place) that depend on the same connected parts and competing tables."""

    transfer: Transfer
    unknown: str
    part_of: Ints
    parts: Ints
    classes: tuple[OpenClass, ...]
    places: tuple[int, ...]

    @property
    def completions(self) -> int:
        """Number of combinations of competing tables."""
        return math.prod(len(each.shares) for each in self.classes)

    def completed(
        self, questions: Sequence[Sequence[str]], evidence: Evidence, settings: dict[str, Any]
    ) -> Iterator[tuple[FactorGraph, Prepared, float]]:
        """Each completion, the winning tables first, its plan, and the log of its weight."""
        for choice in product(*(range(len(each.shares)) for each in self.classes)):
            chosen = list(zip(self.classes, choice, strict=True))
            weight = math.fsum(math.log(each.shares[place]) for each, place in chosen)
            tables = self.transfer.completed(
                (each, int(each.alternatives[place])) for each, place in chosen
            )
            graph, number = subgraph(tables, self.part_of, self.parts)
            planned = prepare(graph, questions, evidence.renumbered(number), **settings)
            yield graph, planned, weight


@dataclass(frozen=True, eq=False)
class Considered(Shown):
    """Questions planned over all completions."""

    transfer: Transfer
    unknown: str
    questions: tuple[tuple[str, ...], ...]
    evidence: Evidence
    part_of: Ints
    matters: tuple[Matter, ...]
    settings: dict[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    @cached_property
    def _plan(self) -> str:
        lines = []
        for matter in self.matters:
            _, first, _ = next(matter.completed(self._asked(matter), self.evidence, self.settings))
            lines.append(
                f"{self.unknown} over {matter.completions} combinations of competing tables, "
                f"each:\n{first}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self._plan

    @cached_property
    def _parts_given_evidence(self) -> Ints:
        return parts_given(self.transfer, self.evidence)

    def _asked(self, matter: Matter) -> list[tuple[str, ...]]:
        return [self.questions[place] for place in matter.places]

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        self._check_possible_elsewhere()
        answers: dict[int, Answer] = {}
        done, total = 0, sum(matter.completions for matter in self.matters)
        for matter in self.matters:
            results: list[Result] = []
            weights: list[float] = []
            for graph, asked, weight in matter.completed(
                self._asked(matter), self.evidence, self.settings
            ):
                done += 1
                try:
                    result = asked.run()
                except NoAnswerError:  # under these tables the evidence is impossible
                    if self.unknown == "bounds" and not results:
                        raise
                    continue
                results.append(result)
                explained = self._log_explained(graph, asked, result) if matter.classes else 0.0
                weights.append(weight + explained)
                if progress:
                    progress(done, total)
            if not results:
                raise NoAnswerError(
                    "the evidence has probability zero under every combination of competing tables"
                )
            by_question = zip(*(each.answers for each in results), strict=True)
            for place, found in zip(matter.places, by_question, strict=True):
                answers[place] = self._combined(matter, found, weights)
        return Result(
            [answers[place] for place in range(len(self.questions))],
            None,
            (),
            *self.transfer.counts,
        )

    def _check_possible_elsewhere(self) -> None:
        """Evidence that is impossible in other parts is impossible, whatever is asked here."""
        here = np.concatenate([matter.parts for matter in self.matters])
        unknown = parts_of_factors(self.transfer.graph, self.part_of, self.transfer.graph.unknown)
        others = np.setdiff1d(self.part_of, np.concatenate((here, unknown)))
        graph, number = subgraph(self.transfer.graph, self.part_of, others)
        try:
            prepare(graph, [], self.evidence.renumbered(number), **self.settings).run()
        except TooLargeError:  # then nobody can tell, here as elsewhere
            return

    def _log_explained(self, graph: FactorGraph, asked: Prepared, result: Result) -> float:
        """The log probability of the evidence under one completion, where it matters."""
        if self.unknown == "bounds" or not asked.evidence:
            return 0.0
        if result.log_partition is None:
            what = f"a mixture needs the weight of the evidence; {'; '.join(result.notes)}"
            raise TooLargeError(what, remedy=Remedy.ASK_FOR_LESS)
        total = prepare(graph, [], None, **self.settings).run().log_partition
        return result.log_partition - (total or 0.0)

    def _combined(
        self, matter: Matter, answers: Sequence[Answer], weights: Sequence[float]
    ) -> Answer:
        logs = np.stack([answer.log_probabilities for answer in answers])
        if self.unknown == "bounds":
            probabilities = np.exp(logs)
            answer = replace(
                answers[0], lower=probabilities.min(axis=0), upper=probabilities.max(axis=0)
            )
        else:
            share = np.array(weights) - np.logaddexp.reduce(weights)
            mixed = np.logaddexp.reduce(logs + share.reshape(-1, *(1,) * (logs.ndim - 1)), axis=0)
            answer = replace(
                answers[0], log_probabilities=mixed - np.logaddexp.reduce(mixed, axis=None)
            )
        answer = replace(answer, log_partition=None, plan=str(self))
        if self.unknown == "bounds":
            return with_support(answer, self.transfer, self._parts_given_evidence)
        certain = np.isin(_numbers(answer, self.transfer), self.evidence.variables).all()
        return _resting_on(
            answer, self.transfer, self.part_of, matter.parts[:0] if certain else matter.parts
        )


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
    )
    guesses = int(moved.guesses[places].sum()) if winning else 0
    if not guesses:
        return answer
    doubt = warning(guesses, len(inside), *moved.agreement(weakest))
    return replace(answer, warnings=(*answer.warnings, doubt))
