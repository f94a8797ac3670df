"""Questions planned about a graph, a relational model or a transfer, with one table or all.

This file composes: a transfer says which tables compete, `inference` answers about one completed
graph or model. What only some questions need is imported where they need it, so that the others
start quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from lifagu.basics.choices import LIFTED_ENGINES, WAYS
from lifagu.basics.inputs import chosen, instance, items, shown, text
from lifagu.errors import ModelError, NotLiftedError, Remedy
from lifagu.graph.evidence import EvidenceLike, Observation, by_name
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.prepared import Asked
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.filling.result import Transfer
    from lifagu.inference.marginals import PreparedMarginals
    from lifagu.inference.most_probable import PreparedBest
    from lifagu.inference.relational.marginals import PreparedClassMarginals
    from lifagu.inference.relational.most_probable import PreparedRelationalBest

    Model = FactorGraph | ParfactorGraph | Transfer

BELIEFS = ("damping", "schedule", "tolerance", "iterations")
_Planned = TypeVar("_Planned")


def prepare_marginals(
    model: Model, evidence: EvidenceLike = None, *, combine: str = "best", **settings: Any
) -> PreparedMarginals | PreparedClassMarginals:
    """Plan all marginals, with the settings of `marginals`; `run` computes them."""
    from lifagu.inference import marginals as on_graph
    from lifagu.inference.relational import marginals as over_cells

    planned: PreparedMarginals | PreparedClassMarginals = _planned(
        model,
        evidence,
        combine,
        settings,
        over_cells.prepare_relational_marginals,
        on_graph.prepare_marginals,
    )
    return planned


def prepare_map(
    model: Model, evidence: EvidenceLike = None, *, combine: str = "best", **settings: Any
) -> PreparedBest | PreparedRelationalBest:
    """Plan the most probable assignment, with the same settings; `run` computes it."""
    from lifagu.inference import most_probable as on_graph
    from lifagu.inference.relational import most_probable as over_cells

    planned: PreparedBest | PreparedRelationalBest = _planned(
        model,
        evidence,
        combine,
        settings,
        over_cells.prepare_relational_best,
        on_graph.prepare_best,
    )
    return planned


def _planned(
    model: Model,
    evidence: EvidenceLike,
    combine: str,
    settings: dict[str, Any],
    over_cells: Callable[..., Any],
    on_graph: Callable[..., Any],
) -> Any:
    """A plan over cells where that is possible, else on the graph, and then with the reason."""
    engine, limit = settings.get("engine", "auto"), settings.get("memory_limit")
    memory_limit_of(limit)
    chosen("combine", combine, WAYS)
    planned, reason = _over_cells(
        model, evidence, engine, combine, lambda whole, seen: over_cells(whole, seen, limit)
    )
    if planned is not None:
        return planned
    model, evidence = _grounded(model, evidence)
    found = on_graph(_one_graph(model, combine), evidence, **settings)
    # what is hidden comes after the variables of the model, and nobody asked for it
    own = model if isinstance(model, FactorGraph) else model.original
    if combine == "average" and not isinstance(model, FactorGraph):
        from lifagu.questions.posterior_model import posterior_notes

        reason = (*reason, *posterior_notes(model))
    return replace(found, graph=own, notes=reason)


def describe(model: FactorGraph | ParfactorGraph) -> dict[str, Any]:
    """Sizes, unknown factors and what can be asked, as plain values.

    Parameters
    ----------
    model : FactorGraph or ParfactorGraph
        Relational models are grounded only if need be.

    Returns
    -------
    dict

    Examples
    --------
    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> describe(graph)["example_query"]
    'A'
    """
    from lifagu.graph.parts import describe as describe_graph
    from lifagu.inference.relational.description import describe_relational

    instance("describe", model, FactorGraph, ParfactorGraph)
    if isinstance(model, FactorGraph):
        return describe_graph(model)
    try:
        return describe_relational(model)
    except NotLiftedError:
        return describe_graph(_ground(model)[0])


def _over_cells(
    model: Model,
    evidence: EvidenceLike,
    engine: str,
    combine: str,
    plan: Callable[[ParfactorGraph, Mapping[str, Observation]], _Planned],
) -> tuple[_Planned | None, tuple[str, ...]]:
    """A plan over cells if the model is relational and they can express it; else None and why."""
    if not isinstance(model, ParfactorGraph):
        return None, ()
    if not isinstance(engine, str) or engine not in LIFTED_ENGINES or combine != "best":
        return None, ()
    try:
        return plan(model, by_name(evidence)), ()
    except NotLiftedError as reason:
        return None, (f"the model was grounded: {reason}",)


def _grounded(model: Model, evidence: EvidenceLike) -> tuple[FactorGraph | Transfer, EvidenceLike]:
    """A relational model as a graph, ranges in its evidence as what they cover; others as is."""
    if isinstance(model, ParfactorGraph):
        return _ground(model, evidence)
    if not isinstance(model, FactorGraph) and not hasattr(model, "original"):
        raise ModelError(
            "a question is asked of a FactorGraph, a ParfactorGraph or a Transfer, not "
            f"{type(model).__name__}"
        )
    return model, evidence


def _ground(
    model: ParfactorGraph, evidence: EvidenceLike = None
) -> tuple[FactorGraph, EvidenceLike]:
    from lifagu.relational.grounding import expand_evidence, ground

    graph = ground(model)
    return graph, expand_evidence(model, evidence, graph)


def _one_graph(model: FactorGraph | Transfer, combine: str) -> FactorGraph:
    """The graph to compute with."""
    if not isinstance(model, FactorGraph):
        return completed_graph(model, combine)
    if combine != "best":
        raise ModelError(f"{combine} is about competing tables", remedy=Remedy.ASK_TRANSFER)
    return model


def completed_graph(moved: Transfer, combine: str) -> FactorGraph:
    """The graph that answers: with the winning tables, or all of them hidden in it.

    Variables of the model come first in it, numbered as in the model.
    """
    if combine == "average":
        from lifagu.questions.posterior_model import posterior_graph

        return posterior_graph(moved)
    return moved.graph


def prepare(
    model: Model,
    questions: Iterable[str | Sequence[str]],
    evidence: EvidenceLike = None,
    *,
    combine: str = "best",
    engine: str = "auto",
    memory_limit: int | None = None,
    bp: Mapping[str, Any] | None = None,
) -> Asked:
    """Plan the answers to several questions (names, or tuples of names), or of log Z if none.

    The plan is known, printable and refused if need be before anything is computed; `run` computes.
    bp: settings of belief propagation (damping, schedule, tolerance, iterations), for the engine of
    that name.
    """
    chosen("combine", combine, WAYS)
    memory_limit_of(memory_limit)
    asked = [names_in(question) for question in items("questions are given in a list", questions)]
    planned, reason = _over_cells(
        model,
        evidence,
        engine,
        combine,
        lambda whole, seen: _cell_plan(whole, asked, seen, memory_limit),
    )
    if planned is not None:
        return planned
    model, evidence = _grounded(model, evidence)
    settings: dict[str, Any] = {"engine": engine, "memory_limit": memory_limit}
    if isinstance(engine, str) and engine == "bp":
        from lifagu.questions.belief_propagation import Propagated

        counts = (0, 0) if isinstance(model, FactorGraph) else model.counts
        return Propagated(_one_graph(model, combine), asked, evidence, _settings(bp), counts)
    if not isinstance(model, FactorGraph):
        return _plan_transfer(model, asked, evidence, combine, settings)
    from lifagu.inference.planning import prepare as plan_questions

    prepared = plan_questions(_one_graph(model, combine), asked, evidence, **settings)
    return replace(prepared, notes=(*reason, *prepared.notes)) if reason else prepared


def names_in(question: str | Sequence[str]) -> tuple[str, ...]:
    """The names of the variables that a question is about."""
    names = (
        [question]
        if isinstance(question, str)
        else items("a question is a name, or several in a tuple", question)
    )
    return tuple(text("a variable that is asked about", name) for name in names)


def _settings(bp: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of belief propagation."""
    given = {} if bp is None else bp
    if not isinstance(given, Mapping) or not set(given) <= {*BELIEFS}:
        raise ModelError(f"bp is a mapping with some of {', '.join(BELIEFS)}, not {shown(bp)}")
    return dict(given)


def _cell_plan(
    model: ParfactorGraph,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    limit: int | None,
) -> Asked:
    from lifagu.inference.relational.questions import prepare_relational

    return prepare_relational(model, questions, evidence, limit)


def _plan_transfer(
    moved: Transfer,
    questions: Sequence[Sequence[str]],
    evidence: EvidenceLike,
    combine: str,
    settings: dict[str, Any],
) -> Asked:
    """Questions to a filled graph."""
    from lifagu.inference.planning import prepare as plan_questions
    from lifagu.questions.competing_tables import Supported
    from lifagu.questions.hidden_choices import check_asked

    observed = moved.original.evidence(evidence)
    check_asked(moved, [name for question in questions for name in question], combine)
    graph = _one_graph(moved, combine)
    prepared = plan_questions(graph, questions, observed, **settings)
    if combine == "average":
        from lifagu.questions.posterior_model import posterior_notes

        notes = (*prepared.notes, *posterior_notes(moved))
        prepared = replace(prepared, notes=notes)
    winning = moved.answering(combine).way == "best"
    return Supported(moved, graph, observed, prepared, winning) if questions else prepared
