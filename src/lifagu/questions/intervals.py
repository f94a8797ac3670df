"""Limits of probabilities: what answers would be if one knew the classes and tables of holes.

Hidden choices are drawn jointly given the evidence, and each draw has an answer of its own. These
answers average to the one without draws, and a share of them lies between the limits. Where the
choices of a question's part have few combinations, one joint answer has them all; else they are
drawn one after another, each given those before it, what draws have in common being asked once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.errors import TooLargeError
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Asked, Result
from lifagu.questions.competing_tables import PartsGiven
from lifagu.questions.planning import completed_graph

DRAWS = 1000
TOGETHER = 2**12  # combinations of choices and answers up to which they are asked jointly
MOST = 32  # choices that are drawn one after another


@dataclass(frozen=True, eq=False, repr=False)
class WithIntervals(Shown):
    """Planned questions, each answer of which is to have limits."""

    asked: Asked
    model: Any
    evidence: NamedEvidence
    share: float
    seed: int
    limit: int | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.asked.notes

    def __str__(self) -> str:
        return f"{self.asked}\nlimits from {DRAWS} draws of what is hidden"

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers and their limits."""
        result = self.asked.run(progress)
        if not isinstance(self.model, Transfer):
            answers = [_certain(each) for each in result.answers]
            return replace(result, answers=answers)
        graph = completed_graph(self.model, "average")
        parts = PartsGiven.of(graph, graph.evidence(self.evidence))
        answers = [self._limited(each, graph, parts) for each in result.answers]
        told = any(each.lower is not each.upper for each in answers)
        note = f"limits are those of {self.share:.0%} of {DRAWS} draws of what is hidden"
        return replace(result, answers=answers, notes=(*result.notes, *[note] * told))

    def _limited(self, answer: Answer, graph: FactorGraph, parts: PartsGiven) -> Answer:
        own = parts.part_of[[graph.variable_names.number(each) for each in answer.variables]]
        first = len(self.model.original.variable_names)
        hidden = first + np.flatnonzero(np.isin(parts.part_of[first:], own[own >= 0]))
        every = graph.variable_names.of_nodes(hidden)
        names = [each for each in every if each not in answer.variables]
        if not names:
            return _certain(answer)
        drawn = draws(graph, dict(self.evidence), names, answer.variables, self.seed, self.limit)
        ends = (1 - self.share) / 2, (1 + self.share) / 2
        lower, upper = np.quantile(drawn, ends, axis=0)
        return replace(answer, lower=lower, upper=upper)


def _certain(answer: Answer) -> Answer:
    """An answer that rests on nothing hidden: its limits are itself."""
    return replace(answer, lower=answer.probabilities, upper=answer.probabilities)


def draws(
    graph: FactorGraph,
    evidence: Mapping[str, Observation],
    hidden: Sequence[str],
    question: Sequence[str],
    seed: int,
    limit: int | None,
) -> Floats:
    """The answer to a question under each of many draws of what is hidden, given the evidence."""
    rng = np.random.default_rng(seed)
    sizes = [len(graph.labels(graph.variable_names.number(name))) for name in hidden]
    answers = math.prod(len(graph.labels(graph.variable_names.number(each))) for each in question)
    if math.prod(sizes) * answers <= TOGETHER:
        joint = _answer(graph, [*hidden, *question], evidence, limit).probabilities
        rows = joint.reshape(math.prod(sizes), *joint.shape[len(hidden) :])
        shares = rows.reshape(len(rows), -1).sum(axis=1)
        often = rng.multinomial(DRAWS, shares / shares.sum())
        some = np.flatnonzero(often)
        each = rows[some] / shares[some].reshape(-1, *[1] * (rows.ndim - 1))
        return np.asarray(np.repeat(each, often[some], axis=0))
    if len(hidden) > MOST:
        raise TooLargeError(
            f"{len(hidden)} hidden classes and tables are connected to P({', '.join(question)}), "
            f"and {MOST} at most are drawn for an interval; ask without one"
        )
    pairs = list(_one_by_one(graph, evidence, hidden, question, DRAWS, rng, limit))
    return np.concatenate([np.repeat(found[None], often, axis=0) for often, found in pairs])


def _one_by_one(
    graph: FactorGraph,
    evidence: Mapping[str, Observation],
    hidden: Sequence[str],
    question: Sequence[str],
    often: int,
    rng: np.random.Generator,
    limit: int | None,
) -> Iterator[tuple[int, Floats]]:
    """How many draws have the same choices, and the answer under these."""
    if not hidden:
        yield often, _answer(graph, question, evidence, limit).probabilities
        return
    first, *rest = hidden
    found = _answer(graph, [first], evidence, limit)
    split = rng.multinomial(often, found.probabilities / found.probabilities.sum())
    for label, count in zip(found.ranges[0], split.tolist(), strict=True):
        if count:
            given = {**evidence, first: label}
            yield from _one_by_one(graph, given, rest, question, count, rng, limit)


def _answer(
    graph: FactorGraph,
    question: Sequence[str],
    evidence: Mapping[str, Observation],
    limit: int | None,
) -> Answer:
    return prepare(graph, [tuple(question)], evidence, memory_limit=limit).run().answers[0]
