"""Belief propagation: approximate marginals of every variable, exact on trees.

On groups when a colouring is given. Kschischang, Frey and Loeliger (2001) for the messages;
Kersting, Ahmadi and Natarajan (2009), "Counting belief propagation", and Ahmadi, Kersting, Mladenov
and Natarajan (2013) for groups. It is never chosen silently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, as_ids, distinct, frozen
from lifagu.basics.inputs import chosen, number, whole
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NoAnswerError, Remedy, listed
from lifagu.graph.evidence import Evidence, EvidenceLike
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.inference.answer import Answer, Convergence
from lifagu.inference.propagation.compressed import Compressed, compress
from lifagu.inference.propagation.messages import (
    SWEEPS,
    Heard,
    Messages,
    bethe,
    hear,
    parallel_sweep,
    uniform,
)
from lifagu.inference.table import log_sum

__all__ = ["Beliefs", "answers", "propagate"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Log marginals of every variable as belief propagation sees them, and how far it came.

    log_marginals, by range size r: r × (number of variable groups of that size); `compressed` knows
    the group of each variable. messages, by range size: the last log messages from factors to
    variables. residual: the largest change of a log message in the last iteration.
    log_partition_estimate: Bethe's, exact on trees.
    """

    compressed: Compressed
    log_marginals: Messages
    messages: Messages
    converged: bool
    iterations: int
    residual: float
    log_partition_estimate: float

    @property
    def convergence(self) -> Convergence:
        """Whether the messages stand still, after how many iterations, and their last change."""
        return Convergence(self.converged, self.iterations, self.residual)

    def marginal(self, variable: int) -> Floats:
        """Log probabilities of a variable, in canonical label order."""
        return np.asarray(self.marginals([variable])[0])

    def marginals(self, variables: Any) -> Floats:
        """Log probabilities of n variables whose ranges have one size r, n×r, canonical. O(n·r)."""
        groups = self.compressed.variable_group[as_ids(variables, "variables")]
        sizes = distinct(self.compressed.group_size[groups])
        if len(sizes) != 1:
            raise ModelError(
                "marginals come as one array for variables with ranges of one size; "
                "ask size by size"
            )
        columns: Floats = self.log_marginals[int(sizes[0])][:, self.compressed.group_place[groups]]
        return columns.T

    def message(self, factor: int, position: int) -> Floats:
        """Last log message from a factor to an argument, canonical order, largest entry 0."""
        number, column = self.compressed.factor_place[self.compressed.factor_group[factor]].tolist()
        block = self.compressed.blocks[number]
        return self.messages[block.shape[position]][:, block.starts[position] + column]

    def __str__(self) -> str:
        how = f"{counted(self.iterations, 'iteration')} (residual {self.residual:.2g})"
        came = f"converged after {how}" if self.converged else f"did NOT converge within {how}"
        text = f"belief propagation {came}; log Z estimate {self.log_partition_estimate:.10g}"
        advice = "; answers may be far off: more iterations or damping may help"
        return text if self.converged else text + advice


def propagate(
    graph: FactorGraph,
    evidence: EvidenceLike,
    colouring: Colouring | None,
    *,
    damping: float = 0.0,
    schedule: str = "parallel",
    tolerance: float = 1e-10,
    iterations: int = 1000,
    progress: Tell | None = None,
) -> Beliefs:
    """Pass messages until none changes by more than the tolerance, or the iterations are used up.

    colouring: None for loopy belief propagation; that of this graph with this evidence for counting
    belief propagation: the same messages, for the price of the groups. damping: share of the old
    message that is kept, 0 ≤ damping < 1. schedule: "parallel" (all messages at once) or
    "sequential" (each factor group uses the newest ones; slow on many groups). An iteration costs
    O(table entries × arity) over factor groups, without a Python loop over edges. NoAnswerError
    where a variable is left without a value: the evidence then has probability zero. The reverse
    does not hold: on a graph with loops, a contradiction may be overlooked.

    >>> builder = FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> print(propagate(graph, {"B": "true"}, None))
    belief propagation converged after 2 iterations (residual 0); log Z estimate 1.791759469
    """
    _check(graph, damping, schedule, tolerance, iterations)
    observed = graph.evidence(evidence)
    compressed = compress(graph, observed, colouring)
    messages, residual, done = uniform(compressed), math.inf, 0
    heard = _possible(graph, observed, compressed, messages)
    sweep, before = SWEEPS[schedule], (messages, heard)
    only_live = sweep is parallel_sweep and not damping  # once everybody has said something
    while done < iterations and residual > tolerance:
        before = messages, heard
        if done and only_live:
            messages, residual = parallel_sweep(compressed, *before, damping, live=True)
        else:
            messages, residual = sweep(compressed, *before, damping)
        heard = _possible(graph, observed, compressed, messages)
        done += 1
        if progress:
            progress(done, iterations)
    if done > 1 and only_live:  # the last ones of all, also to what was observed
        messages, _ = parallel_sweep(compressed, *before, damping)
        heard = _possible(graph, observed, compressed, messages)
    came = Convergence(residual <= tolerance, done, residual)
    return _beliefs(compressed, messages, heard, observed, came)


def _beliefs(
    compressed: Compressed,
    messages: Messages,
    heard: dict[int, Heard],
    evidence: Evidence,
    came: Convergence,
) -> Beliefs:
    """What the last messages say."""
    estimate = bethe(compressed, messages, heard) + evidence.log_weight
    if estimate == -math.inf:
        raise NoAnswerError(_why_zero(evidence, "the messages that reach a factor"))
    marginals = {
        size: frozen(each.logs() - log_sum(each.logs(), axis=0)) for size, each in heard.items()
    }
    messages = {size: frozen(each) for size, each in messages.items()}
    return Beliefs(
        compressed, marginals, messages, came.converged, came.iterations, came.residual, estimate
    )


def answers(
    graph: FactorGraph,
    questions: Sequence[str | Sequence[str]],
    evidence: EvidenceLike,
    colouring: Colouring | None,
    **settings: Any,
) -> list[Answer]:
    """Answers to questions about single variables; `convergence` tells how far messages came.

    questions: names, or sequences of one name. settings: those of `propagate`. log_partition is
    None, since Bethe's is only an estimate; it stands in the note.

    >>> builder = FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> answers(graph, ["A"], None, None)
    [<P(A): false: 0.3, true: 0.7>]
    """
    asked = [_single(graph, question) for question in questions]
    beliefs = propagate(graph, evidence, colouring, **settings)
    schedule = settings.get("schedule", "parallel")
    plan = f"belief propagation, {schedule} schedule: {beliefs.compressed}"
    return [
        Answer(
            (graph.variable_names[variable],),
            (graph.labels(variable),),
            beliefs.marginal(variable)[graph.declared_order(variable)],
            None,
            "bp",
            plan,
            (str(beliefs),),
            convergence=beliefs.convergence,
        )
        for variable in asked
    ]


def _single(graph: FactorGraph, question: str | Sequence[str]) -> int:
    names = [question] if isinstance(question, str) else question
    if not names:
        raise ModelError("a question names at least one variable")
    if len(names) > 1:
        raise ModelError(
            "belief propagation gives single marginals, not joint ones", remedy=Remedy.EXACT_ENGINE
        )
    return graph.variable_names.number(names[0])


def _check(
    graph: FactorGraph, damping: float, schedule: str, tolerance: float, iterations: int
) -> None:
    if len(graph.unknown):
        names = listed(graph.factor_names.of_nodes(graph.unknown))
        raise ModelError(
            f"belief propagation needs every table; unknown: {names}; give tables, or transfer them"
        )
    chosen("schedule", schedule, list(SWEEPS))
    if not 0 <= number("damping", damping) < 1:
        raise ModelError(f"damping is {damping}; it is a share, 0 or more and less than 1")
    if number("tolerance", tolerance) < 0:
        raise ModelError(f"the tolerance is {tolerance}; it must be 0 or more")
    whole("iterations", iterations, 1)


def _possible(
    graph: FactorGraph, evidence: Evidence, compressed: Compressed, messages: Messages
) -> dict[int, Heard]:
    """What the variables hear; an error if one of them, the first by group, has no value left."""
    heard = hear(compressed, messages)
    stuck = [
        compressed.pools[size].groups[(each.zeros > 0).all(axis=0)] for size, each in heard.items()
    ]
    groups = np.concatenate([np.zeros(0, dtype=np.int64), *stuck])
    if len(groups):
        variable = int(np.argmax(compressed.variable_group == groups.min()))
        raise NoAnswerError(
            _why_zero(evidence, f"the messages to '{graph.variable_names[variable]}'")
        )
    return heard


def _why_zero(evidence: Evidence, where: str) -> str:
    what, advice = (
        ("the evidence has probability zero", "check it against the zeros in tables")
        if evidence
        else ("every assignment has weight zero", "the zeros in tables contradict each other")
    )
    return f"{what}: {where} exclude every value; {advice}"
