"""Unsure answers: all combinations of competing tables considered, as a mixture or as bounds.

A completion takes one of the competing tables for each class; its weight is the product of their shares. The mixture is
the distribution that draws a completion by weight and then an assignment from it, so with evidence a completion counts
by how well it explains the evidence, too. Bounds are the smallest and largest answer over the same completions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lifagu.arrays import Floats, Ints
from lifagu.errors import NoAnswerError, TooLargeError, listed
from lifagu.evidence import Evidence
from lifagu.infer import Answer, Prepared, Result, prepare
from lifagu.parts import parts_of_factors, parts_without, subgraph
from lifagu.symmetry.transfer import OpenClass, Transfer

MOST_COMPLETIONS = 4096
Progress = Callable[[int, int], None]


def consider(
    moved: Transfer, questions: Sequence[Sequence[str]], evidence: Evidence, unknown: str, settings: dict[str, Any]
) -> Considered:
    """Plan the answers over all completions of the connected parts that matter; refuse too many of them."""
    graph = moved.original
    asked = [graph.variable_names.number(name) for question in questions for name in question]
    part_of = parts_without(graph, np.zeros(len(graph.variable_names), dtype=np.bool_))
    observed = np.unique(part_of[np.concatenate((evidence.variables, evidence.soft_variables))])
    parts = np.unique(part_of[asked])
    touched = [np.unique(parts_of_factors(graph, part_of, each.factors)) for each in moved.open_classes]
    if unknown == "mixture":
        parts = _informed(parts, touched, observed)
    classes = [each for each, where in zip(moved.open_classes, touched, strict=True) if np.isin(where, parts).any()]
    count = math.prod(len(each.shares) for each in classes)
    if count > MOST_COMPLETIONS:
        raise TooLargeError(
            f"{unknown} over {count} combinations of competing tables ({len(classes)} classes), more than the "
            f"{MOST_COMPLETIONS} that are computed; raise theta to leave doubtful ones unknown, or ask with one or mean"
        )
    weighted = unknown == "mixture" and bool(np.isin(observed, parts).any())
    if weighted:
        _check_complete(moved, part_of, parts)
    return Considered(moved, unknown, questions, evidence, part_of, parts, tuple(classes), weighted, settings)


def _informed(parts: Ints, touched: Sequence[Ints], observed: Ints) -> Ints:
    """The asked parts, and those whose evidence speaks about them through a class with members in both."""
    while True:
        linked = [where for where in touched if np.isin(where, parts).any()]
        more = np.intersect1d(np.concatenate([parts, *linked]), observed)
        grown = np.union1d(parts, more)
        if len(grown) == len(parts):
            return parts
        parts = grown


def _check_complete(moved: Transfer, part_of: Ints, parts: Ints) -> None:
    left = np.setdiff1d(moved.original.unknown, moved.transferred)
    left = left[np.isin(parts_of_factors(moved.original, part_of, left), parts)]
    if len(left):
        names = listed([moved.original.factor_names[factor] for factor in left.tolist()])
        raise NoAnswerError(
            f"a mixture weighs tables by how well they explain the evidence, and that is undefined while {names} stay "
            "unknown; lower theta, or ask with one or bounds"
        )


@dataclass(frozen=True, eq=False)
class Considered:
    """Questions planned over all completions; the winning tables come first."""

    transfer: Transfer
    unknown: str
    questions: Sequence[Sequence[str]]
    evidence: Evidence
    part_of: Ints
    parts: Ints
    classes: tuple[OpenClass, ...]
    weighted: bool
    settings: dict[str, Any]

    @property
    def completions(self) -> int:
        """Number of completions."""
        return math.prod(len(each.shares) for each in self.classes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    def __str__(self) -> str:
        asked, _ = next(self._prepared())
        return f"{self.unknown} over {self.completions} combinations of competing tables, each:\n{asked}"

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers."""
        results, weights = [], []
        for done, (asked, weight) in enumerate(self._prepared(), 1):
            try:
                result = asked.run()
            except NoAnswerError:  # under these tables the evidence is impossible
                if self.unknown == "bounds" and done == 1:
                    raise
                continue
            results.append(result)
            weights.append(weight + self._log_explained(asked, result))
            if progress:
                progress(done, self.completions)
        if not results:
            raise NoAnswerError("the evidence has probability zero under every combination of competing tables")
        by_question = zip(*(each.answers for each in results), strict=True)
        answers = [self._combined(answers, weights) for answers in by_question]
        return Result(answers, None, ())

    def _prepared(self) -> Iterator[tuple[Prepared, float]]:
        """Each completion planned, with the log of its weight."""
        for choice in product(*(range(len(each.shares)) for each in self.classes)):
            chosen = list(zip(self.classes, choice, strict=True))
            weight = math.fsum(math.log(each.shares[alternative]) for each, alternative in chosen)
            graph, number = subgraph(self.transfer.completed(chosen), self.part_of, self.parts)
            yield prepare(graph, self.questions, self.evidence.renumbered(number), **self.settings), weight

    def _log_explained(self, asked: Prepared, result: Result) -> float:
        """The log probability of the evidence under one completion, where it matters."""
        if not self.weighted:
            return 0.0
        if result.log_partition is None:
            raise TooLargeError(f"a mixture needs the weight of the evidence, but {result.notes[0]}")
        total = prepare(asked.graph, [], None, **self.settings).run().log_partition
        return result.log_partition - (total or 0.0)

    def _combined(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        logs = np.stack([answer.log_probabilities for answer in answers])
        if self.unknown == "bounds":
            probabilities = np.exp(logs)
            answer = replace(answers[0], lower=probabilities.min(axis=0), upper=probabilities.max(axis=0))
        else:
            share = np.array(weights) - np.logaddexp.reduce(weights)
            mixed = np.logaddexp.reduce(logs + share.reshape(-1, *(1,) * (logs.ndim - 1)), axis=0)
            answer = replace(answers[0], log_probabilities=mixed - np.logaddexp.reduce(mixed, axis=None))
        answer = replace(answer, log_partition=None, plan=str(self))
        return with_support(answer, self.transfer, self.evidence if self.unknown == "bounds" else Evidence())


def with_support(answer: Answer, moved: Transfer, evidence: Evidence) -> Answer:
    """The answer with the transferred factors it depends on, and the smallest share of agreement among them."""
    graph = moved.original
    part_of = parts_without(graph, evidence.value_of_each(len(graph.variable_names)) >= 0)
    parts = part_of[[graph.variable_names.number(name) for name in answer.variables]]
    inside = np.isin(parts_of_factors(graph, part_of, moved.transferred), parts[parts >= 0])
    names = tuple(graph.factor_names[factor] for factor in moved.transferred[inside].tolist())
    shares: Floats = moved.shares[np.searchsorted(graph.unknown, moved.transferred[inside])]
    return replace(answer, rests_on=names, weakest_share=float(shares.min()) if len(shares) else None)
