"""Questions to a graph, a relational model or a transfer: with the winning tables, their mean, or all competing ones.

This file composes: `transfer` says which tables compete, `infer` answers about one completed graph or model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from lifagu.errors import ModelError, NoAnswerError, listed
from lifagu.evidence import Evidence, EvidenceLike, Observation, by_name
from lifagu.given import chosen, instance, items, shown, text
from lifagu.grounding import expand_evidence, ground
from lifagu.infer import AllMarginals, Answer, Best, Prepared, PreparedBest, PreparedMarginals, Result, prepare_best
from lifagu.infer import bp as propagation
from lifagu.infer import prepare as plan_questions
from lifagu.infer import prepare_marginals as plan_marginals
from lifagu.infer.plan import memory_limit_of
from lifagu.infer.relational import (
    ClassMarginals,
    NotLiftedError,
    PreparedClassMarginals,
    PreparedRelationalBest,
    RelationalBest,
    describe_relational,
    prepare_relational,
    prepare_relational_best,
    prepare_relational_marginals,
)
from lifagu.model import FactorGraph
from lifagu.parts import describe as describe_graph
from lifagu.relational import ParfactorGraph
from lifagu.showing import Shown
from lifagu.symmetry.colour import colour
from lifagu.symmetry.transfer import Transfer
from lifagu.unsure import consider, parts_given, with_drift, with_support

_Planned = TypeVar("_Planned")
UNKNOWN = ("one", "mean", "mixture", "bounds")
BELIEFS = ("damping", "schedule", "tolerance", "iterations")
Model = FactorGraph | ParfactorGraph | Transfer
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
    over all competing ones). engine: "auto" (the best exact one), "lifted", "ground" (elimination), "enumerate" (the
    oracle, for small graphs) or "bp" (belief propagation, not exact). memory_limit: in bytes; three quarters of what
    is free by default.

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
    asked = prepare(model, questions, evidence, unknown=unknown, engine=engine, memory_limit=memory_limit)
    return asked.run().answers


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
    >>> round(math.exp(log_partition(graph)), 9)
    4.0
    """
    asked = prepare(model, [], evidence, unknown=unknown, engine=engine, memory_limit=memory_limit)
    result = asked.run().log_partition
    if result is None:  # prepare refuses a log Z that does not exist
        raise NoAnswerError("log Z was left out")
    return result


def marginals(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> AllMarginals | ClassMarginals:
    """P(variable | evidence) of every variable in one pass, by name; those connected to unknown factors are left out.

    Of a relational model, `classes` has one entry per class of interchangeable variables.

    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 0, 1, 2]).graph()
    >>> marginals(graph)["A"]
    {'false': 0.25, 'true': 0.75}
    """
    return prepare_marginals(model, evidence, unknown=unknown, engine=engine, memory_limit=memory_limit).run()


def map_assignment(
    model: Model,
    *,
    evidence: EvidenceLike = None,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
) -> Best | RelationalBest:
    """A most probable assignment of all variables, and the natural log of its weight.

    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 0, 1, 2]).graph()
    >>> map_assignment(graph).assignment
    {'A': 'true', 'B': 'true'}
    """
    return prepare_map(model, evidence, unknown=unknown, engine=engine, memory_limit=memory_limit).run()


def prepare_marginals(
    model: Model, evidence: EvidenceLike = None, *, unknown: str = "one", **settings: Any
) -> PreparedMarginals | PreparedClassMarginals:
    """Plan all marginals: the plan is printable and refused if need be; `run` computes. settings as in `marginals`."""
    planned: PreparedMarginals | PreparedClassMarginals = _planned(
        model, evidence, unknown, settings, prepare_relational_marginals, plan_marginals
    )
    return planned


def prepare_map(
    model: Model, evidence: EvidenceLike = None, *, unknown: str = "one", **settings: Any
) -> PreparedBest | PreparedRelationalBest:
    """Plan the most probable assignment: printable and refused if need be; `run` computes. settings as in the above."""
    planned: PreparedBest | PreparedRelationalBest = _planned(
        model, evidence, unknown, settings, prepare_relational_best, prepare_best
    )
    return planned


def _planned(
    model: Model,
    evidence: EvidenceLike,
    unknown: str,
    settings: dict[str, Any],
    over_cells: Callable[..., Any],
    on_graph: Callable[..., Any],
) -> Any:
    """A plan over cells where that is possible, else on the graph, and then with the reason."""
    engine, limit = settings.get("engine", "auto"), settings.get("memory_limit")
    memory_limit_of(limit)
    chosen("unknown", unknown, UNKNOWN)
    planned, reason = _over_cells(model, evidence, engine, unknown, lambda whole, seen: over_cells(whole, seen, limit))
    if planned is not None:
        return planned
    model, evidence = _grounded(model, evidence)
    return replace(on_graph(_one_graph(model, unknown), evidence, **settings), notes=reason)


def describe(model: FactorGraph | ParfactorGraph) -> dict[str, Any]:
    """Sizes, unknown factors and what can be asked, as plain values; relational models are grounded only if need be.

    >>> describe(FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph())["example_query"]
    'A'
    """
    instance("describe", model, FactorGraph, ParfactorGraph)
    if isinstance(model, ParfactorGraph):
        try:
            return describe_relational(model)
        except NotLiftedError:
            return describe_graph(ground(model))
    return describe_graph(model)


def _over_cells(
    model: Model,
    evidence: EvidenceLike,
    engine: str,
    unknown: str,
    plan: Callable[[ParfactorGraph, Mapping[str, Observation]], _Planned],
) -> tuple[_Planned | None, tuple[str, ...]]:
    """A plan without grounding where the model is relational and cells can express it; else None, and why."""
    if not isinstance(model, ParfactorGraph):
        return None, ()
    if not isinstance(engine, str) or engine not in ("auto", "lifted") or unknown != "one":
        return None, ()
    try:
        return plan(model, by_name(evidence)), ()
    except NotLiftedError as reason:
        return None, (f"the model was grounded: {reason}",)


def _grounded(model: Model, evidence: EvidenceLike) -> tuple[FactorGraph | Transfer, EvidenceLike]:
    """A relational model as a graph, and the ranges in its evidence as what they cover; others as they are."""
    if isinstance(model, FactorGraph | Transfer):
        return model, evidence
    if not isinstance(model, ParfactorGraph):
        raise ModelError(
            f"a question is asked of a FactorGraph, a ParfactorGraph or a Transfer, not {type(model).__name__}"
        )
    graph = ground(model)
    return graph, expand_evidence(model, evidence, graph)


def _one_graph(model: FactorGraph | Transfer, unknown: str) -> FactorGraph:
    """The graph to compute with, where only one makes sense."""
    if unknown not in ("one", "mean"):
        raise ModelError(f"this is computed on one model, with the winning tables (one) or their mean, not {unknown}")
    if isinstance(model, Transfer):
        return model.averaged() if unknown == "mean" else model.graph
    if unknown != "one":
        raise ModelError(f"{unknown} is about competing tables; ask a transfer: lifagu.transfer(graph)")
    return model


class Asked(Protocol):
    """Questions that are planned and ready to run; `str` shows the plan."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers; progress(done, total) is called now and then."""


def prepare(
    model: Model,
    questions: Iterable[str | Sequence[str]],
    evidence: EvidenceLike = None,
    *,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
    bp: Mapping[str, Any] | None = None,
) -> Asked:
    """Plan the answers to several questions (names, or tuples of names); none at all asks for log Z alone.

    The plan is known, printable and refused if need be before anything is computed; `run` computes. bp: settings of
    belief propagation (damping, schedule, tolerance, iterations), for the engine of that name.
    """
    chosen("unknown", unknown, UNKNOWN)
    memory_limit_of(memory_limit)
    asked = [_names(question) for question in items("questions are given in a list", questions)]
    planned, reason = _over_cells(
        model, evidence, engine, unknown, lambda whole, seen: prepare_relational(whole, asked, seen, memory_limit)
    )
    if planned is not None:
        return planned
    model, evidence = _grounded(model, evidence)
    if isinstance(engine, str) and engine == "bp":
        return Propagated(_one_graph(model, unknown), asked, evidence, _settings(bp))
    settings: dict[str, Any] = {"engine": engine, "memory_limit": memory_limit}
    if isinstance(model, FactorGraph):
        prepared = plan_questions(_one_graph(model, unknown), asked, evidence, **settings)
        return replace(prepared, notes=(*reason, *prepared.notes)) if reason else prepared
    observed = model.original.evidence(evidence)
    if unknown in ("mixture", "bounds"):
        if not asked:
            raise NoAnswerError(
                f"log Z does not exist for {unknown}, which is about several models; ask with one or mean"
            )
        return consider(model, asked, observed, unknown, settings)
    prepared = plan_questions(_one_graph(model, unknown), asked, observed, **settings)
    return Supported(model, observed, prepared, winning=unknown == "one") if asked else prepared


def _names(question: str | Sequence[str]) -> tuple[str, ...]:
    """A question as the names in it."""
    names = [question] if isinstance(question, str) else items("a question is a name, or several in a tuple", question)
    return tuple(text("a variable that is asked about", name) for name in names)


def _settings(bp: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of belief propagation."""
    given = {} if bp is None else bp
    if not isinstance(given, Mapping) or not set(given) <= {*BELIEFS}:
        raise ModelError(f"bp is a mapping with some of {', '.join(BELIEFS)}, not {shown(bp)}")
    return dict(given)


@dataclass(frozen=True, eq=False)
class Supported(Shown):
    """Answers about one completed graph, with the transferred tables they rest on; winning: it has the best tables."""

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

    def run(self, progress: Progress | None = None) -> Result:
        """Compute the answers."""
        result = self.prepared.run(progress)
        part_of = parts_given(self.transfer, self.evidence)
        answers = [with_support(answer, self.transfer, part_of) for answer in result.answers]
        if not self.winning or self.transfer.drift is None:
            return Result(answers, result.log_partition, result.notes)
        log_odds = self.transfer.drift.log_odds(self.transfer.original, part_of)
        answers = [with_drift(answer, self.transfer, log_odds, part_of) for answer in answers]
        joint = tuple(answer.notes[-1] for answer in answers if len(answer.variables) > 1)
        return Result(answers, result.log_partition, (*result.notes, *joint))


@dataclass(frozen=True, eq=False)
class Propagated(Shown):
    """Questions for belief propagation on the colour groups: not exact, and the notes of the answers say so."""

    graph: FactorGraph
    questions: Sequence[Sequence[str]]
    evidence: EvidenceLike
    settings: dict[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ("belief propagation is not exact on graphs with loops",)

    def __str__(self) -> str:
        return f"bp engine: belief propagation on {colour(self.graph, self.evidence)}"

    def run(self, progress: Progress | None = None) -> Result:
        """Pass messages until they stand still."""
        if len(self.graph.unknown):
            names = listed([self.graph.factor_names[factor] for factor in self.graph.unknown.tolist()])
            raise NoAnswerError(f"belief propagation needs every table, but {names} stay unknown")
        if not self.questions:
            raise NoAnswerError("belief propagation only estimates log Z; ask with an exact engine")
        groups = colour(self.graph, self.evidence)
        answers = propagation.answers(
            self.graph, self.questions, self.evidence, groups, progress=progress, **self.settings
        )
        return Result(answers, None, answers[0].notes)
