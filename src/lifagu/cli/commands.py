"""The commands: each reads its options, asks the library, and shows the result as text or as JSON."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.asking import (
    asked,
    bounded,
    compared,
    filling,
    given,
    ground,
    layers,
    load,
    observed,
    planned,
    propagated,
    run,
    shown_load,
    transfer,
)
from lifagu.cli.demo import demo
from lifagu.cli.elsewhere import answer_elsewhere, elsewhere, impute_elsewhere, lift_elsewhere
from lifagu.cli.experiment import experiment
from lifagu.cli.imputed import imputed_json, report
from lifagu.cli.output import Progress, note, say, say_json, shown, table
from lifagu.cli.remedies import FLAGS
from lifagu.cli.results import (
    answer_table,
    answers_json,
    groups_table,
    lift_json,
    marginals_json,
    marginals_table,
    merging_json,
    too_large_parts,
    transfers_table,
)
from lifagu.cli.serve import serve

if TYPE_CHECKING:
    from lifagu import FactorGraph, FolderImputed, Imputed, Loaded, ParfactorGraph, Source, Transfer

Options = argparse.Namespace


def check(options: Options) -> None:
    """``lifagu check``."""
    if options.schema:
        say(files("lifagu").joinpath("formats/lifagu-1.schema.json").read_text().rstrip())
        return
    if options.model is None:
        raise lifagu.ModelError("name the model file to check, or ask for the --schema")
    loaded = load(options)
    model, evidence = loaded.model, loaded.evidence
    if isinstance(model, lifagu.ParfactorGraph):
        observed = len(model.observations(evidence))
    else:
        bound = model.evidence(evidence)
        observed = len(bound.variables) + len(bound.soft_variables)
    say(f"{options.model}: ok, {repr(model)[1:-1].partition(': ')[2]}, {observed} observed")


def info(options: Options) -> None:
    """``lifagu info``."""
    model = load(options).model
    whole = isinstance(model, lifagu.ParfactorGraph) and not (model.has_unknown or options.add)
    graph = model if whole else observed(options, model, [])[0]
    facts = lifagu.describe(graph)
    fillings: list[tuple[float, int]] = []
    if isinstance(graph, lifagu.FactorGraph) and facts["unknown_factors"]:
        moved = transfer(options, graph, {}, theta=0.0)
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
    if on := elsewhere(options):
        lift_elsewhere(options, on, given(options))
        return
    with closing(Progress(options.quiet)) as progress:
        graph, evidence = ground(options, shown_load(options.model, options.db, progress))
        progress.stage("filling unknown factors")
        moved = transfer(options, graph, evidence, theta=options.theta)
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
        say(f"{compared(moved, evidence, bounded=True)}\n")
    say(f"{groups_table(graph, colouring)}\n\n{lifted}")


def query(options: Options) -> None:
    """``lifagu query``."""
    if on := elsewhere(options, asks=True):
        evidence: Mapping[str, Any] = given(options)
        result, unknown = answer_elsewhere(options, on, _questions(options, options.queries), evidence)
        found = {**answers_json(None, result), "unknown": unknown}
    else:
        loaded = load(options)
        questions = _questions(options, options.queries or list(loaded.queries))
        model, evidence = asked(options, loaded)
        result = run(options, model, evidence, questions)
        found = {**answers_json(model, result), **merging_json(model, evidence, bounded(options))}
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
    model, evidence = asked(options, load(options), classes=True)
    found: Any
    came = None
    if options.engine == "bp":
        found, came = propagated(options, model, evidence)
    else:
        found = planned(options, lifagu.prepare_marginals, model, evidence)
    for part in too_large_parts(found):
        note(f"warning: {part}; log Z is left out, too; {FLAGS[part.remedy]}")
    if options.expand and isinstance(found, lifagu.ClassMarginals):
        found = found.expanded()
    if options.out:
        lifagu.write_marginals(options.out, found)
    if options.json:
        say_json({**marginals_json(found, came), **merging_json(model, evidence, bounded(options))})
    elif not options.out:
        say(marginals_table(found))


def map_(options: Options) -> None:
    """``lifagu map``."""
    model, evidence = asked(options, load(options))
    best = planned(options, lifagu.prepare_map, model, evidence)
    if options.json:
        found = {"log_weight": best.log_weight, "assignment": best.assignment}
        say_json({**found, **merging_json(model, evidence, bounded(options))})
        return
    say(table(best.assignment.items()))
    say(f"log weight = {best.log_weight:.10g}")


def logz(options: Options) -> None:
    """``lifagu logz``."""
    if options.unknown in ("mixture", "bounds"):
        what = f"log Z does not exist for --unknown {options.unknown}"
        raise lifagu.NoAnswerError(what, remedy=lifagu.Remedy.ONE_OR_MEAN)
    if on := elsewhere(options, asks=True):
        result, merging = answer_elsewhere(options, on, [], given(options))[0], {}
    else:
        model, evidence = asked(options, load(options))
        result, merging = run(options, model, evidence, []), merging_json(model, evidence, bounded(options))
    if options.json:
        say_json({"log_partition": result.log_partition, **merging})
    else:
        say(f"{result.log_partition!r}")


def impute(options: Options) -> None:
    """``lifagu impute``."""
    if options.out:
        lifagu.check_imputed_target(options.out)
    if on := elsewhere(options):
        found: Imputed | FolderImputed = impute_elsewhere(options, on, given(options))
    else:
        found = _imputed(options)
    if options.json:
        say_json(imputed_json(found))
    else:
        say(report(found))


def _imputed(options: Options) -> Imputed:
    """What is found in memory, written where it is to go."""
    with closing(Progress(options.quiet)) as progress:
        loaded = lifagu.load(options.model, options.db, progress.stage)
        if options.write:
            lifagu.check_database(_source(options, loaded))
        graph, evidence = ground(options, loaded)
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
            **filling(options),
        )
        if options.out:
            progress.stage(f"writing {options.out}")
            lifagu.write_imputed(options.out, found.tables(), progress)
        if options.write:
            progress.stage("writing into the database")
            tables = {f"lifagu_{name}": columns for name, columns in found.tables().items()}
            lifagu.write_results(_source(options, loaded), tables)
    return found


def _source(options: Options, loaded: Loaded) -> Source:
    """The database that results are to be written into."""
    if loaded.source is None:
        raise lifagu.ModelError(f"{options.model} reads no database to --write into; name a folder with --out")
    return loaded.source


def convert(options: Options) -> None:
    """``lifagu convert``."""
    loaded = load(options, options.source)
    lifagu.write(loaded.model, options.target, loaded.evidence)


def plot(options: Options) -> None:
    """``lifagu plot``."""
    if not options.out.lower().endswith((".svg", ".png", ".pdf")):
        raise lifagu.FormatError(f"{options.out}: figures are written as .svg, .png or .pdf")
    with closing(Progress(options.quiet)) as progress:
        loaded = shown_load(options.model, options.db, progress)
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
        return model, model.layered(layers(options, loaded))
    graph, evidence = ground(options, loaded)
    return graph if options.what == "graph" else transfer(options, graph, evidence, options.theta), evidence


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
