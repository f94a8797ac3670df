"""The commands: each reads its options, asks a case, and shows the result as text or as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import lifagu
from lifagu.basics.words import counted
from lifagu.cli.cases import (
    opened,
    opening,
    placed,
    propagation,
    remark,
    remark_added,
    remark_answers,
    run,
)
from lifagu.cli.output import note, say, say_json, shown, table
from lifagu.cli.remedies import FLAGS, SURER
from lifagu.cli.results import (
    groups_table,
    lift_json,
    marginals_json,
    marginals_table,
    merging_json,
    transfers_table,
)

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.questions.findings import Lift

Options = argparse.Namespace


def check(options: Options) -> None:
    """``lifagu check``."""
    if options.schema:
        from importlib.resources import files

        say(files("lifagu").joinpath("formats/lifagu-1.schema.json").read_text().rstrip())
        return
    if options.model is None:
        raise lifagu.ModelError("name the model file to check, or ask for the --schema")
    with opened(options, learn=False) as (case, _):
        learned = case.to_learn
        counts = f"{case.model.summary}, {case.observed_count} observed"
        _warn(case.suspicions)
    say(f"{options.model}: ok, {counts}{f', {learned} to be learned' if learned else ''}")


def _doubts(case: Case) -> list[str]:
    """What to say where filled tables are hardly better than a guess."""
    try:
        return [f"{each}; {SURER}" for each in case.doubts]
    except lifagu.TooLargeError:  # such a model is answered without being grounded, or refused
        return []


def _warnings_json(warnings: list[str]) -> dict[str, list[str]]:
    return {"warnings": warnings} if warnings else {}


def _warn(warnings: Sequence[str]) -> None:
    for each in warnings:
        note(f"warning: {each}")


def info(options: Options) -> None:
    """``lifagu info``."""
    with opened(options) as (case, _):
        facts = case.describe()
        fillings: list[tuple[float, int]] = []
        if facts["unknown_factors"]:
            fillings = case.filled_by_theta()
            after = lifagu.describe(case.transfer.graph)
            facts["filled_by_theta"] = [
                {"theta": theta, "filled": count} for theta, count in fillings
            ]
            facts["answerable_after_filling"] = after["answerable_variables"]
            facts["example_query"] = after["example_query"]
    if options.json:
        say_json(facts)
        return
    rows = [
        (key.replace("_", " "), shown(value))
        for key, value in facts.items()
        if value not in (None, [], {}) and key not in ("filled_by_theta", "example_query")
    ]
    say(table(rows, indent=""))
    if fillings:
        say("\nhow many unknown factors --theta would fill:")
        counts = [(f"{theta:.4g}", str(count)) for theta, count in fillings]
        say(table([("theta", "filled"), *counts]))
    if facts["example_query"]:
        import shlex

        added = "".join(
            f" --{option} {shlex.quote(f'{new}={like}')}"
            for option in ("add", "admit")
            for new, like in getattr(options, option)
        )
        example = shlex.join([options.model, facts["example_query"]])
        say(f"\nask, for instance: lifagu query {example}{added}")


def lift(options: Options) -> None:
    """``lifagu lift``."""
    if options.rounds and options.json:
        raise lifagu.ModelError("--rounds is for reading; leave out --rounds or --json")
    asked = ("rounds", "explain", "json")
    in_memory = next((f"--{name}" for name in asked if getattr(options, name)), "")
    with opened(options) as (case, progress):
        case = placed(options, case, "lift", in_memory=in_memory)
        found = case.lift(options.out)
        if options.json:
            progress.stage("lifting")
            text = lifagu.io.to_json(found.model, case.graph_evidence)
    if options.rounds:
        _show_rounds(case, found)
    elif options.json:
        say_json(lift_json(found, text, options.explain))
    else:
        _show_lift(options, found)


def _show_rounds(case: Case, found: Lift) -> None:
    from lifagu.questions.findings import Groups

    graph = found.transfer.graph
    for number, colouring in enumerate(case.colour_rounds()):
        groups = Groups.of(graph, colouring)
        say(f"{'start' if number == 0 else f'round {number}'}:\n{groups_table(groups)}")


def _show_lift(options: Options, found: Lift) -> None:
    if found.unknown:
        say(f"{transfers_table(found)}\n")
        if options.explain:
            _show_told(found)
    if found.transfer.stand_in:
        say(f"{found.transfer.stand_in}\n")
    if found.merging:
        say(f"{found.merging}\n")
    say(groups_table(found.groups))
    if found.is_in_memory:
        say(f"\n{found.model}")
    elif not options.out:
        say("\nwho is in which group is written with --out FOLDER")


def _show_told(found: Lift) -> None:
    from lifagu.cli.explained import most_told

    if told := most_told(found):
        say(f"{told}\n")


def query(options: Options) -> None:
    """``lifagu query``."""
    from lifagu.cli.asked import query

    query(options)


def marginals(options: Options) -> None:
    """``lifagu marginals``."""
    from lifagu.inference.question_checks import MOST_TOLD
    from lifagu.inference.relational.marginals import ClassMarginals

    if options.out and not options.out.lower().endswith((".csv", ".csv.gz", ".parquet")):
        raise lifagu.FormatError(
            f"{options.out}: marginals are written as .csv (or .csv.gz) or .parquet"
        )
    with opened(options) as (case, progress):
        planned = case.plan_marginals(engine=options.engine, **propagation(options))
        found = run(options, case, planned, progress)
        warnings = _doubts(case)
    _warn(warnings)
    came = getattr(found, "convergence", None)  # of belief propagation
    remark(options, getattr(found, "notes", ()), astray=came is not None and not came.converged)
    for part in found.too_large[:MOST_TOLD]:
        note(f"warning: {part}; log Z is left out, too; {FLAGS[part.remedy]}")
    if (more := len(found.too_large) - MOST_TOLD) > 0:
        note(f"warning: {counted(more, 'part')} more left out for the same reason")
    listed = found.expanded() if options.expand and isinstance(found, ClassMarginals) else found
    if options.out:
        lifagu.io.write_marginals(options.out, listed)
    if options.json:
        merging = merging_json(case.merging(options.engine))
        say_json({**marginals_json(listed), **_warnings_json(warnings), **merging})
    elif not options.out:
        say(marginals_table(listed))


def map_(options: Options) -> None:
    """``lifagu map``."""
    with opened(options) as (case, progress):
        best = run(options, case, case.plan_most_probable(engine=options.engine), progress)
        warnings = _doubts(case)
    _warn(warnings)
    if options.json:
        found = {"log_weight": best.log_weight, "assignment": best.assignment}
        merging = merging_json(case.merging(options.engine))
        say_json({**found, **_warnings_json(warnings), **merging})
        return
    say(table(best.assignment.items()))
    say(f"log weight = {best.log_weight:.10g}")


def logz(options: Options) -> None:
    """``lifagu logz``."""
    with opened(options) as (case, progress):
        case = placed(options, case, "log_partition", options.engine)
        planned = case.plan(engine=options.engine, **propagation(options))
        result = run(options, case, planned, progress)
    remark_answers(options, result)
    if options.json:
        merging = merging_json(case.merging(options.engine))
        say_json({"log_partition": result.log_partition, **merging})
    else:
        say(f"{result.log_partition!r}")


def impute(options: Options) -> None:
    """``lifagu impute``."""
    with opened(options) as (case, _):
        case = placed(options, case, "impute", options.engine, "--write" if options.write else "")
        found = case.impute(
            options.queries or None, engine=options.engine, out=options.out, write=options.write
        )
        remark_added(options, case, options.queries)
        _warn(case.suspicions)
    from lifagu.cli.imputed import imputed_json, report

    if options.json:
        say_json({**imputed_json(found), **_warnings_json(list(case.suspicions))})
    else:
        say(report(found))


def init(options: Options) -> None:
    """``lifagu init``."""
    from lifagu.cli.drafted import init

    init(options)


def learn(options: Options) -> None:
    """``lifagu learn``."""
    from lifagu.cli.learned import report
    from lifagu.questions.writing_learned import check_learned

    if options.out:
        check_learned(options.out, options.model)
    with opened(options) as (case, progress):
        found = case.learn(
            seed=options.seed, restarts=options.restarts, keep_best=options.keep_best
        )
        if options.out:
            progress.stage(f"writing {options.out}")
            found.write(options.out)
    remark(options, found.notes, astray=False)
    if options.json:
        say_json(found.json())
    else:
        say(report(found))


def validate(options: Options) -> None:
    """``lifagu validate``."""
    from lifagu.questions.validating.written_cells import check_cells

    if options.cells:
        check_cells(options.cells)
    with opened(options) as (case, _):
        found = case.validate(
            options.hide,
            hide_individuals=options.hide_individuals,
            hidden=options.hidden,
            seed=options.seed,
            folds=options.folds,
            only=options.only,
            fill=options.fill,
            combine=options.ways,
            engine=options.engine,
        )
        if options.cells:
            found.write_cells(options.cells)
    from lifagu.cli.validated import report

    remark(options, found.notes, astray=False)
    if options.json:
        say_json(found.json())
    else:
        say(report(found))


def show(options: Options) -> None:
    """``lifagu show``."""
    with opened(options) as (case, progress):
        progress.stage("asking")
        found = case.show(options.individual, like=options.like)
    if options.json:
        say_json(found.json())
    else:
        say(str(found))


def compare(options: Options) -> None:
    """``lifagu compare``."""
    found = lifagu.compare(options.before, options.after, top=options.top)
    if options.json:
        say_json(found.json())
    else:
        say(str(found))


def convert(options: Options) -> None:
    """``lifagu convert``."""
    from lifagu.questions.storage import drops_support

    with opened(options, options.source) as (case, _):
        case.write(options.target)
        if drops_support(case.model, options.target):
            what = "how many records stand behind tables was left out; .json and folders hold it"
            note(f"note: {options.target}: {what}")


def plot(options: Options) -> None:
    """``lifagu plot``."""
    with opened(options) as (case, _):
        scene = case.plot(options.out, options.what)
    if scene.what != options.what and scene.notes:
        note(f"note: {scene.notes[0]}", options.quiet)
    say(f"{options.out}: {scene.summary}")


def demo(options: Options) -> None:
    """``lifagu demo``."""
    from lifagu.cli.demo import demo

    demo(options)


def examples(options: Options) -> None:
    """``lifagu examples``."""
    from lifagu.cli.examples import examples

    examples(options)


def serve(options: Options) -> None:
    """``lifagu serve``: say where the page is, serve it, and say that it has ended."""
    import webbrowser
    from pathlib import Path

    from lifagu import web
    from lifagu.questions.shipped import found_or_shipped

    def ready(address: str) -> None:
        say(f"lifagu is at {address}")
        sys.stdout.flush()
        note("Ctrl-C ends it; nothing is kept then", options.quiet)
        if options.open:
            webbrowser.open(address)

    web.serve(
        Path(found_or_shipped(options.model)) if options.model else None,
        ready=ready,
        opening=opening(options),
        host=options.host,
        port=options.port,
        read_only=options.read_only,
        limits=web.Limits(options.time_limit, options.memory_limit, options.upload_limit),
    )
    note("ended", options.quiet)


COMMANDS: dict[str, Callable[[Options], None]] = {
    "check": check,
    "compare": compare,
    "convert": convert,
    "demo": demo,
    "examples": examples,
    "impute": impute,
    "info": info,
    "init": init,
    "learn": learn,
    "lift": lift,
    "logz": logz,
    "map": map_,
    "marginals": marginals,
    "plot": plot,
    "query": query,
    "serve": serve,
    "show": show,
    "validate": validate,
}
