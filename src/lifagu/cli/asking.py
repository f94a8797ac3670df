"""From options to answers: the model and its evidence read once, holes filled, questions planned and run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.output import Progress, note

if TYPE_CHECKING:
    from lifagu import Convergence, FactorGraph, Loaded, ParfactorGraph, Transfer

Options = argparse.Namespace


def load(options: Options, path: str | None = None) -> Loaded:
    """The model with its own evidence and questions, read once."""
    with closing(Progress(getattr(options, "quiet", False))) as progress:
        return shown_load(path or options.model, options.db, progress)


def shown_load(path: str, database: str | None, progress: Progress) -> Loaded:
    """The same, with progress that goes on after it."""
    progress.stage(f"reading {path}")
    return lifagu.load(path, database, lambda what: progress.stage(f"reading {what}"))


def asked(
    options: Options, loaded: Loaded, classes: bool = False
) -> tuple[Transfer | ParfactorGraph, Mapping[str, Any]]:
    """What is asked, and the evidence: a relational model as it is where nothing is unknown, else a transfer.

    classes: a relational model that was filled is lifted again, so that it answers by class as well.
    """
    model = loaded.model
    relational = isinstance(model, lifagu.ParfactorGraph) and options.engine in ("auto", "lifted")
    relational &= options.digits is None and options.tolerance is None  # merging is about ground tables
    if isinstance(model, lifagu.ParfactorGraph) and relational and not (model.has_unknown or options.add):
        return model, model.layered(layers(options, loaded))
    graph, evidence = ground(options, loaded)
    moved = transfer(options, graph, evidence, options.theta)
    lifts = classes and relational and options.unknown == "one" and moved.equality == "exactly"
    return (lifagu.lift(moved) if lifts else moved), evidence


def layers(options: Options, loaded: Loaded) -> list[Mapping[str, Any]]:
    """Evidence: the file's own, overridden by --evidence-file, overridden by --evidence."""
    given = [_evidence_file(options.evidence_file)] if options.evidence_file else []
    return [loaded.evidence, *given, _once(options.evidence)]


def given(options: Options) -> dict[str, Any]:
    """The evidence beside the model's own."""
    return {**(_evidence_file(options.evidence_file) if options.evidence_file else {}), **_once(options.evidence)}


def ground(options: Options, loaded: Loaded) -> tuple[FactorGraph, Mapping[str, Any]]:
    """The model, grounded if it is relational, and the evidence on it."""
    graph, layered = observed(options, loaded.model, layers(options, loaded))
    evidence = graph.layered(layered)
    graph.evidence(evidence)
    return graph, evidence


def _evidence_file(path: str) -> dict[str, Any]:
    if not path.lower().removesuffix(".gz").endswith((".json", ".evid")):
        raise lifagu.FormatError(f"{path}: evidence is read from .json or .evid files (each also with .gz)")
    return lifagu.read_evidence(path)


def _once(observations: list[tuple[str, str]]) -> dict[str, str]:
    """Observations from the command line, none of which may contradict another."""
    evidence: dict[str, str] = {}
    for name, value in observations:
        if evidence.setdefault(name, value) != value:
            raise lifagu.ModelError(f"--evidence says {name}={evidence[name]} and {name}={value}; give one of them")
    return evidence


def observed(
    options: Options, model: FactorGraph | ParfactorGraph, layers: list[Mapping[str, Any]]
) -> tuple[FactorGraph, list[Mapping[str, Any]]]:
    """The graph, and layers of evidence by its names: ranges of a relational model become what they cover."""
    grounded = lifagu.ground(model)
    graph = grounded
    for new, like in options.add:
        graph = graph.with_individual(new, like)
    if not isinstance(model, lifagu.ParfactorGraph):
        return graph, layers
    expanded: list[Mapping[str, Any]] = []
    for layer in layers:
        added = {name for name in layer if name in graph.variable_names and name not in grounded.variable_names}
        others = {name: value for name, value in layer.items() if name not in added}
        new = {name: layer[name] for name in layer if name in added}
        expanded.append(new | lifagu.expand_evidence(model, others, grounded))
    return graph, expanded


def transfer(options: Options, graph: FactorGraph, evidence: Mapping[str, Any], theta: float) -> Transfer:
    """The unknown factors filled as the options say."""
    return lifagu.transfer(graph, theta, evidence, **filling(options))


def filling(options: Options) -> dict[str, Any]:
    """The options about filling holes, other than theta, as `lifagu.transfer` names them."""
    names = ("structure_only", "published", "evidence_in_roles", "steps", "profiles", "digits", "tolerance")
    return {name: getattr(options, name) for name in (*names, "up_to_scale", "commutative")}


def run(options: Options, model: Transfer | ParfactorGraph, evidence: Mapping[str, Any], questions: Any) -> Any:
    """Answers to questions, planned first."""
    asked = [tuple(question) for question in questions]

    def prepare(model: Transfer | ParfactorGraph, evidence: Mapping[str, Any], **settings: Any) -> Any:
        return lifagu.prepare(model, asked, evidence, bp=_bp_settings(options), **settings)

    result = planned(options, prepare, model, evidence)
    astray = any(answer.convergence and not answer.convergence.converged for answer in result.answers)
    for remark in result.notes:
        note(f"warning: {remark}" if astray else f"note: {remark}", options.quiet and not astray)
    return result


def planned(
    options: Options, prepare: Callable[..., Any], model: Transfer | ParfactorGraph, evidence: Mapping[str, Any]
) -> Any:
    """Plan, show the plan if wanted, and compute with progress."""
    if isinstance(model, lifagu.Transfer) and model.equality != "exactly":
        note(f"note: {compared(model, evidence, bounded(options))}", options.quiet)
    prepared = prepare(
        model, evidence, unknown=options.unknown, engine=options.engine, memory_limit=options.memory_limit
    )
    if options.explain:
        note(str(prepared))
    progress = Progress(options.quiet)
    try:
        return prepared.run(progress)
    finally:
        progress.close()


def compared(moved: Transfer, evidence: Mapping[str, Any], bounded: bool) -> str:
    """How tables were compared, and how far that can move answers where it is known."""
    bound = moved.bound(evidence) if bounded else None
    return f"tables were compared {moved.equality}" + (f": {bound}" if bound else "")


def bounded(options: Options) -> bool:
    """Whether it is known how far merging tables can move answers: exact ones, with the winning tables."""
    return bool(options.unknown == "one" and options.engine != "bp")


def propagated(
    options: Options, model: Transfer | ParfactorGraph, evidence: Mapping[str, Any]
) -> tuple[dict[str, dict[str, float]], Convergence]:
    """The marginals that belief propagation gives, one question per variable, and how far it came."""
    assert isinstance(model, lifagu.Transfer), "relational models are asked as they are by exact engines only"
    result = run(options, model, evidence, [[name] for name in model.graph.variable_names])
    found = {answer.variables[0]: {labels[0]: each for labels, each in answer.items()} for answer in result.answers}
    return found, result.answers[0].convergence


def _bp_settings(options: Options) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in ("damping", "schedule", "iterations")}
    return {**given, "tolerance": options.bp_tolerance}
