"""Answers: exact probabilities and log Z of a factor graph, each with the plan behind it.

`prepare` takes the question apart and plans, so that the cost is known (and refused) before anything is computed;
`Prepared.run` computes. `query`, `queries` and `log_partition` do both.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifagu.errors import ModelError
from lifagu.evidence import EvidenceLike
from lifagu.infer.answer import Answer
from lifagu.infer.prepared import prepare
from lifagu.model import FactorGraph

__all__ = ["Answer", "log_partition", "prepare", "queries", "query"]


def query(
    graph: FactorGraph,
    *variables: str,
    evidence: EvidenceLike = None,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Answer:
    """P(variables | evidence), jointly if there are several.

    engine: "auto" (the best exact one), "ground" (elimination) or "enumerate" (the oracle, for small graphs).
    memory_limit: in bytes; three quarters of what is free by default. Unknown factors outside the connected part of
    the variables don't matter; inside, NoAnswerError names them. TooLargeError says what would not fit.

    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> query(graph, "A")["true"]
    0.75
    """
    return prepare(graph, [variables], evidence, engine=engine, memory_limit=memory_limit).run().answers[0]


def queries(
    graph: FactorGraph,
    questions: Iterable[str | tuple[str, ...]],
    *,
    evidence: EvidenceLike = None,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> list[Answer]:
    """Several questions that share one computation: a name asks for a marginal, a tuple of names for a joint answer.

    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 0, 1, 2]).graph()
    >>> [round(answer["true"], 6) for answer in queries(graph, ["A", "B"])]
    [0.75, 0.5]
    """
    asked = [(question,) if isinstance(question, str) else tuple(question) for question in questions]
    return prepare(graph, asked, evidence, engine=engine, memory_limit=memory_limit).run().answers


def log_partition(
    graph: FactorGraph,
    *,
    evidence: EvidenceLike = None,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> float:
    """Natural log of the total weight of all assignments with the evidence fixed.

    >>> import math
    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> math.exp(log_partition(graph))
    4.0
    """
    result = prepare(graph, [], evidence, engine=engine, memory_limit=memory_limit).run().log_partition
    if result is None:  # prepare refuses a log Z that does not exist
        raise ModelError("log Z was not computed")
    return result
