"""Questions to a graph or to a transfer: with the winning tables, their mean, or all competing ones considered.

This file composes: `transfer` says which tables compete, `infer` answers about one completed graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lifagu.errors import ModelError, NoAnswerError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.infer import Answer, Prepared, Result
from lifagu.infer import prepare as prepare_ground
from lifagu.model import FactorGraph
from lifagu.symmetry.transfer import Transfer
from lifagu.unsure import consider, with_support

UNKNOWN = ("one", "mean", "mixture", "bounds")
Model = FactorGraph | Transfer
Progress = Callable[[int, int], None]


def query(
    model: Model,
    *variables: str,
    evidence: EvidenceLike = None,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Answer:
    """P(variables | evidence), jointly if there are several.

    model: a graph, whose unknown factors must lie elsewhere, or a `transfer`, whose record then says what the answer
    rests on. unknown: how to use a transfer's tables: "one" (the winning table of each class), "mean" (the
    share-weighted mean table), "mixture" (the average of the answers over all competing tables, weighted by share
    and by how well each explains the evidence) or "bounds" (the winning tables' answer, with the smallest and largest
    over all competing ones). engine: "auto" (the best exact one), "ground" (elimination) or "enumerate" (the oracle,
    for small graphs). memory_limit: in bytes; three quarters of what is free by default.

    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> query(graph, "A")["true"]
    0.75
    """
    asked = prepare(model, [variables], evidence, unknown=unknown, engine=engine, memory_limit=memory_limit)
    return asked.run().answers[0]


def queries(
    model: Model,
    questions: Iterable[str | tuple[str, ...]],
    *,
    evidence: EvidenceLike = None,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> list[Answer]:
    """Several questions that share one computation: a name asks for a marginal, a tuple of names for a joint answer.

    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 0, 1, 2]).graph()
    >>> [round(answer["true"], 6) for answer in queries(graph, ["A", "B"])]
    [0.75, 0.5]
    """
    names = [(question,) if isinstance(question, str) else tuple(question) for question in questions]
    return prepare(model, names, evidence, unknown=unknown, engine=engine, memory_limit=memory_limit).run().answers


def log_partition(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> float:
    """Natural log of the total weight of all assignments with the evidence fixed.

    >>> import math
    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> math.exp(log_partition(graph))
    4.0
    """
    asked = prepare(model, [], evidence, unknown=unknown, engine=engine, memory_limit=memory_limit)
    result = asked.run().log_partition
    if result is None:
        raise NoAnswerError(f"log Z does not exist for a {unknown} of several models; ask with one or mean")
    return result


class Asked(Protocol):
    """Questions that are planned and ready to run; `str` shows the plan."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers; progress(done, total) is called now and then."""


def prepare(
    model: Model,
    questions: Sequence[Sequence[str]],
    evidence: EvidenceLike = None,
    *,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Asked:
    """Plan the answers to several questions (tuples of names); none at all asks for log Z alone.

    The plan is known, printable and refused if need be before anything is computed; `run` computes.
    """
    if unknown not in UNKNOWN:
        raise ModelError(f"unknown is '{unknown}'; choose one of {', '.join(UNKNOWN)}")
    settings: dict[str, Any] = {"engine": engine, "memory_limit": memory_limit}
    if isinstance(model, FactorGraph):
        return prepare_ground(model, questions, evidence, **settings)
    observed = model.original.evidence(evidence)
    if unknown in ("mixture", "bounds") and questions:
        return consider(model, questions, observed, unknown, settings)
    graph = model.averaged() if unknown == "mean" else model.graph
    prepared = prepare_ground(graph, questions, observed, **settings)
    return Supported(model, observed, prepared) if questions else prepared


@dataclass(frozen=True, eq=False)
class Supported:
    """Answers about one completed graph, with the transferred tables they rest on."""

    transfer: Transfer
    evidence: Evidence
    prepared: Prepared

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.prepared.notes

    def __str__(self) -> str:
        return str(self.prepared)

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers."""
        result = self.prepared.run(progress)
        answers = [with_support(answer, self.transfer, self.evidence) for answer in result.answers]
        return Result(answers, result.log_partition, result.notes)
