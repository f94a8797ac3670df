"""Mixtures and bounds where individuals were admitted: all combinations of competing tables.

Each combination is a model of its own, in which those who were admitted are divided by what they
sum to with its tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.cached import cached_property
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.basics.words import amount
from lifagu.errors import ModelError, NoAnswerError, Remedy, TooLargeError
from lifagu.filling.completions import OpenClass
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Prepared, Result
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer
from lifagu.questions.competing_tables import PartsGiven, with_support
from lifagu.questions.unsure.choice_weights import impossible

if TYPE_CHECKING:
    from lifagu.inference.over_islands import OverIslands

MOST = 1024  # combinations, each of which is a question of its own


def combined(
    moved: AdmittedTransfer,
    questions: Sequence[Sequence[str]],
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
) -> Combinations:
    """Plan answers over all combinations of competing tables; refused where they are many."""
    moved = moved.answering(unknown)
    if any(hasattr(each, "drawn") for each in moved.lent):
        alone = len(set(moved.guests.like.tolist())) == len(moved.guests)
        if unknown == "bounds" or not alone:
            what = "with cohorts, " + (
                "bounds are drawn" if unknown == "bounds" else "a mixture tells alike ones apart"
            )
            raise ModelError(
                f"{what}, which is not done for those who are admitted", remedy=Remedy.ONE_MODEL
            )
    found = Combinations(moved, questions, evidence, unknown, settings)
    if (count := math.prod(len(each.shares) for each in found.classes)) > MOST:
        raise TooLargeError(
            f"tables of those who are admitted and of others compete in {amount(count)} "
            f"combinations, and {MOST} at most are computed",
            remedy=Remedy.ONE_MODEL,
        )
    str(found)  # plans, and so refuses what is wrong with the questions
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Combinations(Shown):
    """Questions planned over all combinations; `str` shows the plan, `run` computes."""

    moved: AdmittedTransfer
    questions: Sequence[Sequence[str]]
    evidence: Evidence
    unknown: str
    settings: dict[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    @cached_property
    def classes(self) -> list[OpenClass]:
        """What competes: among those who were there, then where it is about others alone.

        A class of holes of both has one table, as it has without admission.
        """
        return [*self._base, *(each for row in self._lent for each, own in row if own < 0)]

    @cached_property
    def _base(self) -> list[OpenClass]:
        return list(self.moved.base.open_classes)

    @cached_property
    def _lent(self) -> list[list[tuple[OpenClass, int]]]:
        """For each example its classes, and the place of the same one among the others, or -1."""
        known = self.moved.guests.factor_count
        return [
            [
                (each, self._same(each))
                for each in moved.open_classes
                if (each.factors >= known).any()
            ]
            for moved in self.moved.lent
        ]

    def _same(self, wanted: OpenClass) -> int:
        for place, other in enumerate(self._base):
            inside = np.isin(other.factors, wanted.factors).all()
            if inside and np.array_equal(other.shares, wanted.shares):
                return place
        return -1

    @cached_property
    def _winning(self) -> Prepared | OverIslands:
        return self._prepared(self.moved.graph)

    def _prepared(self, graph: FactorGraph) -> Prepared | OverIslands:
        return prepare(graph, self.questions, self.evidence, **self.settings)

    def __str__(self) -> str:
        count = math.prod(len(each.shares) for each in self.classes)
        return f"{self.unknown}: all {count} combinations of competing tables, each so:\n" + str(
            self._winning
        )

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        weights, answers, first = list[float](), list[list[Answer]](), None
        for share, graph in self._models():
            try:
                result = self._prepared(graph).run()
            except NoAnswerError:  # impossible with these tables
                continue
            first = first or result
            weights.append(math.log(share) + self._explained(graph, result))
            answers.append(result.answers)
        if first is None:
            raise impossible()
        likely = np.exp(np.array(weights) - max(weights))
        likely /= likely.sum()
        parts = PartsGiven.of(self.moved.graph, self.evidence)
        usual = self._winning.run().answers if self.unknown == "bounds" else first.answers
        found = [
            with_support(
                self._answer(usual[place], likely, [row[place] for row in answers]),
                self.moved,
                parts,
            )
            for place in range(len(self.questions))
        ]
        return Result(found, None, first.notes, *self.moved.counts)

    def _explained(self, graph: FactorGraph, result: Result) -> float:
        """The log of how likely a model makes what was observed."""
        if not self.evidence or self.unknown == "bounds":
            return 0.0
        before = prepare(graph, [], None, **self.settings).run().log_partition
        if result.log_partition is None or before is None:
            raise NoAnswerError(
                "a mixture weighs tables by how well they explain the evidence, and that is "
                "undefined while some stay unknown",
                remedy=Remedy.ONE_MODEL,
            )
        return result.log_partition - before

    def _models(self) -> Iterator[tuple[float, FactorGraph]]:
        """The share of each combination, and its model."""
        moved = self.moved
        for row in product(*(range(len(each.shares)) for each in self.classes)):
            share = math.prod(
                float(each.shares[at]) for each, at in zip(self.classes, row, strict=True)
            )
            others = iter(row[len(self._base) :])
            lent = [
                _completed(
                    each, [(one, row[own] if own >= 0 else next(others)) for one, own in classes]
                )
                for each, classes in zip(moved.lent, self._lent, strict=True)
            ]
            base = _completed(moved.base, list(zip(self._base, row, strict=False)))
            yield share, moved.joined(base, lent)

    def _answer(self, usual: Answer, likely: Floats, rows: Sequence[Answer]) -> Answer:
        tables = np.stack([each.probabilities for each in rows])
        if self.unknown == "bounds":
            lower, upper = tables.min(axis=0), tables.max(axis=0)
            return replace(usual, log_partition=None, lower=lower, upper=upper)
        mean = np.tensordot(likely, tables, axes=1)
        with np.errstate(divide="ignore"):
            return replace(usual, log_partition=None, log_probabilities=np.log(mean / mean.sum()))


def _completed(moved: Transfer, chosen: Sequence[tuple[OpenClass, int]]) -> FactorGraph:
    return moved.completed((each, int(each.alternatives[at])) for each, at in chosen)
