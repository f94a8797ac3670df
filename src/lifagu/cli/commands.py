"""The commands: each reads its options, asks the library, and shows the result as text or as JSON."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.demo import demo
from lifagu.cli.elsewhere import answer_elsewhere, elsewhere, lift_elsewhere, lifts_elsewhere
from lifagu.cli.experiment import experiment
from lifagu.cli.imputed import imputed_json, report
from lifagu.cli.output import Progress, note, say, say_json, shown, table
from lifagu.cli.results import (
    answer_table,
    answers_json,
    groups_table,
    lift_json,
    marginals_json,
    marginals_table,
    merging_json,
    transfers_table,
)
from lifagu.cli.serve import serve

if TYPE_CHECKING:
    from lifagu import FactorGraph, Loaded, ParfactorGraph, Source, Transfer

Options = argparse.Namespace


def check(options: Options) -> None:
    """``lifagu check``."""
    if options.schema:
        say(files("lifagu").joinpath("formats/lifagu-1.schema.json").read_text().rstrip())
        return
    if options.model is None:
        raise lifagu.ModelError("name the model file to check, or ask for the --schema")
    loaded = _load(options)
    model, evidence = loaded.model, loaded.evidence
    if isinstance(model, lifagu.ParfactorGraph):
        observed = len(model.observations(evidence))
    else:
        bound = model.evidence(evidence)
        observed = len(bound.variables) + len(bound.soft_variables)
    say(f"{options.model}: ok, {repr(model)[1:-1].partition(': ')[2]}, {observed} observed")


def info(options: Options) -> None:
    """``lifagu info``."""
    model = _load(options).model
    whole = isinstance(model, lifagu.ParfactorGraph) and not (model.has_unknown or options.add)
    graph = model if whole else _observed(options, model, [])[0]
    facts = lifagu.describe(graph)
    fillings: list[tuple[float, int]] = []
    if isinstance(graph, lifagu.FactorGraph) and facts["unknown_factors"]:
        moved = _transfer(options, graph, {}, theta=0.0)
        fillings = moved.filled_by_theta()
        after = lifagu.describe(moved.graph)
        facts["filled_by_theta"] = [{"theta": theta, "filled": count} for theta, count in fillings]
        facts["answerable_after_filling"] = after["answerable_variables"]
        facts["example_query"] = after["example_query"]
    if options.json:
        say_json(facts)
        return
    rows = [(key.replace("_", " "), shown(value)) for key, value in facts.items() if value not in (None, [], {})]
    say(table((row for row in rows if row[0] not in ("filled by theta", "example query")), indent=""))
    if fillings:
        say("\nhow many unknown factors a threshold would fill:")
        say(table([("theta", "filled"), *((f"{theta:.4g}", str(count)) for theta, count in fillings)]))
    if facts["example_query"]:
        added = "".join(f" --add {shlex.quote(f'{new}={like}')}" for new, like in options.add)
        example = shlex.join([options.model, facts["example_query"]])
        say(f"\nask, for instance: lifagu query {example}{added}")


def lift(options: Options) -> None:
    """``lifagu lift``."""
    if options.rounds and options.json:
        raise lifagu.ModelError("--rounds is for reading; leave out --rounds or --json")
    if options.out:
        lifagu.check_target(options.out)
    if on := lifts_elsewhere(options):
        lift_elsewhere(options, on, _given(options))
        return
    with closing(Progress(options.quiet)) as progress:
        graph, evidence = _ground(options, _shown_load(options.model, options.db, progress))
        progress.stage("filling unknown factors")
        moved = _transfer(options, graph, evidence, theta=options.theta)
        settings: dict[str, Any] = {
            "factor_start": moved.factor_start,
            "commutative": options.commutative,
            "up_to_scale": options.up_to_scale,
        }
        progress.stage("passing colours")
        colouring = lifagu.colour(moved.graph, evidence, **settings, progress=progress)
        progress.stage("lifting")
        lifted = lifagu.lift(moved)
        if options.out:
            progress.stage(f"writing {options.out}")
            lifagu.write_lift(options.out, moved, colouring, evidence, progress, lifted)
    if options.rounds:
        for number, colouring in enumerate(lifagu.colour_rounds(moved.graph, evidence, **settings)):
            say(f"{'start' if number == 0 else f'round {number}'}:\n{groups_table(graph, colouring)}")
        return
    if options.json:
        text = lifagu.to_json(lifted, evidence)
        say_json(lift_json(moved, colouring, evidence, options.commutative, text))
        return
    if len(graph.unknown):
        say(transfers_table(moved))
        say()
    if moved.equality != "exactly":
        say(f"{_compared(moved, evidence, bounded=True)}\n")
    say(f"{groups_table(graph, colouring)}\n\n{lifted}")


def query(options: Options) -> None:
    """``lifagu query``."""
    if on := elsewhere(options):
        evidence: Mapping[str, Any] = _given(options)
        result, unknown = answer_elsewhere(options, on, _questions(options, options.queries), evidence)
        found = {**answers_json(None, result), "unknown": unknown}
    else:
        loaded = _load(options)
        questions = _questions(options, options.queries or list(loaded.queries))
        model, evidence = _asked(options, loaded)
        result = _run(options, model, evidence, questions)
        found = {**answers_json(model, result), **merging_json(model, evidence, _bounded(options))}
    if options.json:
        say_json(found)
        return
    for answer in result.answers:
        say(answer_table(answer, evidence))
    if result.log_partition is not None:
        say(f"log Z = {result.log_partition:.10g}")


def _questions(options: Options, names: list[str]) -> list[list[str]]:
    """One question for each variable, or one about all of them."""
    if not names:
        raise lifagu.ModelError(f"name the variables to ask about; {options.model} asks about none itself")
    return [names] if options.joint else [[name] for name in names]


def marginals(options: Options) -> None:
    """``lifagu marginals``."""
    if options.out and not options.out.lower().endswith((".csv", ".csv.gz", ".parquet")):
        raise lifagu.FormatError(f"{options.out}: marginals are written as .csv (or .csv.gz) or .parquet")
    model, evidence = _asked(options, _load(options), classes=True)
    if options.engine == "bp":
        found: Any = _propagated(options, model, evidence)
    else:
        found = _planned(options, lifagu.prepare_marginals, model, evidence)
    if options.expand and isinstance(found, lifagu.ClassMarginals):
        found = found.expanded()
    if options.out:
        lifagu.write_marginals(options.out, found)
    if options.json:
        say_json({**marginals_json(found), **merging_json(model, evidence, _bounded(options))})
    elif not options.out:
        say(marginals_table(found))


def map_(options: Options) -> None:
    """``lifagu map``."""
    model, evidence = _asked(options, _load(options))
    best = _planned(options, lifagu.prepare_map, model, evidence)
    if options.json:
        found = {"log_weight": best.log_weight, "assignment": best.assignment}
        say_json({**found, **merging_json(model, evidence, _bounded(options))})
        return
    say(table(best.assignment.items()))
    say(f"log weight = {best.log_weight:.10g}")


def logz(options: Options) -> None:
    """``lifagu logz``."""
    if options.unknown in ("mixture", "bounds"):
        raise lifagu.NoAnswerError(f"log Z does not exist for --unknown {options.unknown}; ask with one or mean")
    if on := elsewhere(options):
        result, merging = answer_elsewhere(options, on, [], _given(options))[0], {}
    else:
        model, evidence = _asked(options, _load(options))
        result, merging = _run(options, model, evidence, []), merging_json(model, evidence, _bounded(options))
    if options.json:
        say_json({"log_partition": result.log_partition, **merging})
    else:
        say(f"{result.log_partition!r}")


def impute(options: Options) -> None:
    """``lifagu impute``."""
    if options.out:
        lifagu.check_imputed_target(options.out)
    with closing(Progress(options.quiet)) as progress:
        loaded = lifagu.load(options.model, options.db, progress.stage)
        if options.write:
            lifagu.check_database(_source(options, loaded))
        graph, evidence = _ground(options, loaded)
        progress.stage("filling, colouring and answering")
        found = lifagu.impute(
            graph,
            evidence,
            options.queries or loaded.queries or None,
            theta=options.theta,
            unknown=options.unknown,
            engine=options.engine,
            memory_limit=options.memory_limit,
            progress=progress,
            **_filling(options),
        )
        if options.out:
            progress.stage(f"writing {options.out}")
            lifagu.write_imputed(options.out, found.tables(), progress)
        if options.write:
            progress.stage("writing into the database")
            tables = {f"lifagu_{name}": columns for name, columns in found.tables().items()}
            lifagu.write_results(_source(options, loaded), tables)
    if options.json:
        say_json(imputed_json(found))
    else:
        say(report(found))


def _source(options: Options, loaded: Loaded) -> Source:
    """The database that results are to be written into."""
    if loaded.source is None:
        raise lifagu.ModelError(f"{options.model} reads no database to --write into; name a folder with --out")
    return loaded.source


def convert(options: Options) -> None:
    """``lifagu convert``."""
    loaded = _load(options, options.source)
    lifagu.write(loaded.model, options.target, loaded.evidence)


def plot(options: Options) -> None:
    """``lifagu plot``."""
    if not options.out.lower().endswith((".svg", ".png", ".pdf")):
        raise lifagu.FormatError(f"{options.out}: figures are written as .svg, .png or .pdf")
    with closing(Progress(options.quiet)) as progress:
        loaded = _shown_load(options.model, options.db, progress)
        progress.stage("looking for what looks alike")
        shown, evidence = _shown(options, loaded)
        progress.stage(f"drawing {options.out}")
        scene = lifagu.plot(shown, options.out, options.what, evidence=evidence, commutative=options.commutative)
    for remark in scene.notes[: 1 if scene.what != options.what else 0]:
        note(f"note: {remark}", options.quiet)
    say(f"{options.out}: {repr(scene)[1:-1].partition(': ')[2]}")


def _shown(options: Options, loaded: Loaded) -> tuple[FactorGraph | ParfactorGraph | Transfer, Mapping[str, Any]]:
    """What a figure is of, and the evidence: a relational model as it is where nothing is filled or merged."""
    model = loaded.model
    merged = options.digits is not None or options.tolerance is not None
    if isinstance(model, lifagu.ParfactorGraph) and not (model.has_unknown or options.add or merged):
        return model, model.layered(_layers(options, loaded))
    graph, evidence = _ground(options, loaded)
    return graph if options.what == "graph" else _transfer(options, graph, evidence, options.theta), evidence


def completion(options: Options) -> None:
    """``lifagu completion``."""
    import shtab

    from lifagu.cli.parser import make_parser

    say(shtab.complete(make_parser(), options.shell))


COMMANDS: dict[str, Callable[[Options], None]] = {
    "check": check,
    "completion": completion,
    "convert": convert,
    "demo": demo,
    "experiment": experiment,
    "impute": impute,
    "info": info,
    "lift": lift,
    "logz": logz,
    "map": map_,
    "marginals": marginals,
    "plot": plot,
    "query": query,
    "serve": serve,
}


def _load(options: Options, path: str | None = None) -> Loaded:
    """The model with its own evidence and questions, read once."""
    with closing(Progress(getattr(options, "quiet", False))) as progress:
        return _shown_load(path or options.model, options.db, progress)


def _shown_load(path: str, database: str | None, progress: Progress) -> Loaded:
    progress.stage(f"reading {path}")
    return lifagu.load(path, database, lambda what: progress.stage(f"reading {what}"))


def _asked(
    options: Options, loaded: Loaded, classes: bool = False
) -> tuple[Transfer | ParfactorGraph, Mapping[str, Any]]:
    """What is asked, and the evidence: a relational model as it is where nothing is unknown, else a transfer.

    classes: a relational model that was filled is lifted again, so that it answers by class as well.
    """
    model = loaded.model
    relational = isinstance(model, lifagu.ParfactorGraph) and options.engine in ("auto", "lifted")
    relational &= options.digits is None and options.tolerance is None  # merging is about ground tables
    if isinstance(model, lifagu.ParfactorGraph) and relational and not (model.has_unknown or options.add):
        return model, model.layered(_layers(options, loaded))
    graph, evidence = _ground(options, loaded)
    moved = _transfer(options, graph, evidence, options.theta)
    lifts = classes and relational and options.unknown == "one" and moved.equality == "exactly"
    return (lifagu.lift(moved) if lifts else moved), evidence


def _layers(options: Options, loaded: Loaded) -> list[Mapping[str, Any]]:
    """Evidence: the file's own, overridden by --evidence-file, overridden by --evidence."""
    given = [_evidence_file(options.evidence_file)] if options.evidence_file else []
    return [loaded.evidence, *given, _once(options.evidence)]


def _given(options: Options) -> dict[str, Any]:
    """The evidence beside the model's own."""
    return {**(_evidence_file(options.evidence_file) if options.evidence_file else {}), **_once(options.evidence)}


def _ground(options: Options, loaded: Loaded) -> tuple[FactorGraph, Mapping[str, Any]]:
    """The model, grounded if it is relational, and the evidence on it."""
    graph, layers = _observed(options, loaded.model, _layers(options, loaded))
    evidence = graph.layered(layers)
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


def _observed(
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


def _transfer(options: Options, graph: FactorGraph, evidence: Mapping[str, Any], theta: float) -> Transfer:
    return lifagu.transfer(graph, theta, evidence, **_filling(options))


def _filling(options: Options) -> dict[str, Any]:
    """The options about filling holes, other than theta, as `lifagu.transfer` names them."""
    names = ("structure_only", "published", "evidence_in_roles", "steps", "profiles", "digits", "tolerance")
    return {name: getattr(options, name) for name in (*names, "up_to_scale", "commutative")}


def _run(options: Options, model: Transfer | ParfactorGraph, evidence: Mapping[str, Any], questions: Any) -> Any:
    """Answers to questions, planned first."""
    asked = [tuple(question) for question in questions]

    def prepare(model: Transfer | ParfactorGraph, evidence: Mapping[str, Any], **settings: Any) -> Any:
        return lifagu.prepare(model, asked, evidence, bp=_bp_settings(options), **settings)

    result = _planned(options, prepare, model, evidence)
    for remark in result.notes:
        note(f"note: {remark}", options.quiet)
    return result


def _planned(
    options: Options, prepare: Callable[..., Any], model: Transfer | ParfactorGraph, evidence: Mapping[str, Any]
) -> Any:
    """Plan, show the plan if wanted, and compute with progress."""
    if isinstance(model, lifagu.Transfer) and model.equality != "exactly":
        note(f"note: {_compared(model, evidence, _bounded(options))}", options.quiet)
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


def _compared(moved: Transfer, evidence: Mapping[str, Any], bounded: bool) -> str:
    """How tables were compared, and how far that can move answers where it is known."""
    bound = moved.bound(evidence) if bounded else None
    return f"tables were compared {moved.equality}" + (f": {bound}" if bound else "")


def _bounded(options: Options) -> bool:
    """Whether it is known how far merging tables can move answers: exact ones, with the winning tables."""
    return bool(options.unknown == "one" and options.engine != "bp")


def _propagated(options: Options, model: Transfer | ParfactorGraph, evidence: Mapping[str, Any]) -> Any:
    """The marginals that belief propagation gives, one question per variable."""
    assert isinstance(model, lifagu.Transfer), "relational models are asked as they are by exact engines only"
    result = _run(options, model, evidence, [[name] for name in model.graph.variable_names])
    return {answer.variables[0]: {labels[0]: each for labels, each in answer.items()} for answer in result.answers}


def _bp_settings(options: Options) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in ("damping", "schedule", "iterations")}
    return {**given, "tolerance": options.bp_tolerance}
