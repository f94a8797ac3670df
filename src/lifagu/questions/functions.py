"""The plain functions: each makes a case of a model or a transfer, and asks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from lifagu.basics.choices import WAYS, EngineName, Way
from lifagu.basics.inputs import chosen
from lifagu.basics.progress import Progress, Tell
from lifagu.errors import ModelError, Remedy
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer
from lifagu.inference.most_probable import Best
from lifagu.inference.relational.most_probable import RelationalBest
from lifagu.questions.case import Case
from lifagu.questions.findings import Imputed
from lifagu.questions.opening import open as open_case
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.questions.asking import Marginals

Model = FactorGraph | ParfactorGraph | Transfer


def _case(
    model: Model, evidence: EvidenceLike, combine: Way | Literal[""], memory_limit: int | None
) -> Case:
    """The case of a model whose holes stay, or of a transfer."""
    if not isinstance(model, FactorGraph | ParfactorGraph | Transfer):
        raise ModelError(
            "a question is asked of a FactorGraph, a ParfactorGraph or a Transfer, not "
            f"{type(model).__name__}"
        )
    case = open_case(model, memory_limit=memory_limit)
    as_it_is = isinstance(combine, str) and combine == ""
    if isinstance(model, Transfer):
        filling = model.filling if as_it_is else replace(model.filling, combine=combine)
        return case.fill(filling).observe(evidence)
    if not as_it_is and chosen("combine", combine, WAYS) != "best":
        raise ModelError(f"{combine} is about competing tables", remedy=Remedy.ASK_TRANSFER)
    return case.unfilled().observe(evidence)


def query(
    model: Model,
    *variables: str,
    evidence: EvidenceLike = None,
    combine: Way | Literal[""] = "",
    engine: EngineName = "auto",
    memory_limit: int | None = None,
) -> Answer:
    """P(variables | evidence), jointly if there are several.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        A graph whose unknown factors lie elsewhere, a relational model, or a transfer.
    *variables : str
        Names of variables.
    evidence : mapping or Evidence, optional
        Name → label, or name → {label: likelihood}.
    combine : {"average", "best"}, optional
        How a transfer's tables are used: the winning one of each class, their share-weighted mean,
        the average of the answers over all competing tables, or limits over them; by default as
        the transfer says: one, by cohorts mean.
    engine : {"auto", "lifted", "ground", "bp"}
        The best exact one; lifted steps; elimination; the oracle; belief propagation, not exact.
    memory_limit : int, optional
        In bytes; three quarters of what is free by default.

    Returns
    -------
    Answer
        Label → probability; of a transfer with the record of what the answer rests on.

    Examples
    --------
    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> query(graph, "A")["true"]
    0.75
    """
    return _case(model, evidence, combine, memory_limit).ask(*variables, engine=engine)


def queries(
    model: Model,
    questions: Iterable[str | tuple[str, ...]],
    *,
    evidence: EvidenceLike = None,
    combine: Way | Literal[""] = "",
    engine: EngineName = "auto",
    memory_limit: int | None = None,
) -> list[Answer]:
    """Several questions that share one computation.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        A graph whose unknown factors lie elsewhere, a relational model, or a transfer.
    questions : iterable of str or tuple of str
        A name asks for a marginal, a tuple of names for a joint answer.
    evidence, combine, engine, memory_limit
        As for `query`.

    Returns
    -------
    list of Answer

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B"])
    >>> graph = graph.factor("f", ["A", "B"], [1, 0, 1, 2]).graph()
    >>> [round(answer["true"], 6) for answer in queries(graph, ["A", "B"])]
    [0.75, 0.5]
    """
    return _case(model, evidence, combine, memory_limit).ask_each(questions, engine=engine)


def log_partition(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    combine: Way | Literal[""] = "",
    engine: EngineName = "auto",
    memory_limit: int | None = None,
) -> float:
    """Natural log of the total weight of all assignments with the evidence fixed.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        A graph whose unknown factors lie elsewhere, a relational model, or a transfer.
    evidence, combine, engine, memory_limit
        As for `query`.

    Returns
    -------
    float

    Examples
    --------
    >>> import math
    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> round(math.exp(log_partition(graph)), 9)
    4.0
    """
    return _case(model, evidence, combine, memory_limit).log_partition(engine=engine)


def marginals(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    combine: Way | Literal[""] = "",
    engine: EngineName = "auto",
    memory_limit: int | None = None,
) -> Marginals:
    """P(variable | evidence) of every variable in one pass.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        A graph whose unknown factors lie elsewhere, a relational model, or a transfer.
    evidence, combine, engine, memory_limit
        As for `query`.

    Returns
    -------
    AllMarginals, ClassMarginals or BeliefMarginals
        Name → {label: probability}; variables connected to unknown factors are left out. Of a
        relational model, `classes` has one entry per class of interchangeable variables.

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B"])
    >>> marginals(graph.factor("f", ["A", "B"], [1, 0, 1, 2]).graph())["A"]
    {'false': 0.25, 'true': 0.75}
    """
    return _case(model, evidence, combine, memory_limit).marginals(engine=engine)


def map_assignment(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    combine: Way | Literal[""] = "",
    engine: EngineName = "auto",
    memory_limit: int | None = None,
) -> Best | RelationalBest:
    """A most probable assignment of all variables, and the natural log of its weight.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        A graph whose unknown factors lie elsewhere, a relational model, or a transfer.
    evidence, combine, engine, memory_limit
        As for `query`.

    Returns
    -------
    Best or RelationalBest

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B"])
    >>> map_assignment(graph.factor("f", ["A", "B"], [1, 0, 1, 2]).graph()).assignment
    {'A': 'true', 'B': 'true'}
    """
    return _case(model, evidence, combine, memory_limit).most_probable(engine=engine)


def impute(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    queries: Sequence[str] | None = None,
    *,
    engine: EngineName = "auto",
    memory_limit: int | None = None,
    progress: Progress | Tell | None = None,
    **filling: Any,
) -> Imputed:
    """Fill unknown factors, find what looks alike, and answer about single variables.

    Parameters
    ----------
    graph : FactorGraph
        A graph with holes.
    evidence : mapping or Evidence, optional
        What was observed.
    queries : sequence of str, optional
        Variables or kinds; by default the first hundred of individuals with unknown factors.
    engine : str
        As for `query`.
    memory_limit : int, optional
        As for `query`.
    progress : callable, optional
        Called with (done, total) now and then.
    **filling
        As in `Filling`.

    Returns
    -------
    Imputed

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B", "C"])
    >>> graph = graph.factor("f1", ["A", "B"], [1, 2, 3, 4]).factor("f2", ["C", "B"], None).graph()
    >>> found = impute(graph)
    >>> found, round(found.marginals["C"]["true"], 3)
    (<Imputed: 1 factor filled, 0 left unknown, 2 marginals>, 0.692)
    """
    if not isinstance(graph, FactorGraph):
        raise ModelError(
            f"impute takes a FactorGraph, not {type(graph).__name__}; open a relational model "
            "instead"
        )
    case = open_case(graph, memory_limit=memory_limit, progress=progress).observe(evidence)
    return case.fill(Filling.of(filling)).impute(queries, engine=engine)
