"""The commands: each reads its options, asks the library, and shows the result as text or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.demo import demo
from lifagu.cli.output import Progress, finite, note, say, say_json, table

if TYPE_CHECKING:
    from lifagu import Answer, Colouring, FactorGraph

Options = argparse.Namespace


def check(options: Options) -> None:
    """``lifagu check``."""
    if options.schema:
        say(files("lifagu").joinpath("formats/lifagu-1.schema.json").read_text().rstrip())
        return
    if options.model is None:
        raise lifagu.ModelError("name the model file to check, or ask for the --schema")
    graph = lifagu.read(options.model)
    evidence = graph.evidence(lifagu.read_evidence(options.model))
    observed = len(evidence.variables) + len(evidence.soft_variables)
    say(f"{options.model}: ok, {str(graph)[1:-1].removeprefix('FactorGraph: ')}, {observed} observed")


def info(options: Options) -> None:
    """``lifagu info``."""
    graph = lifagu.read(options.model)
    facts = lifagu.describe(graph)
    if options.json:
        say_json(facts)
        return
    rows = [(key.replace("_", " "), _shown(value)) for key, value in facts.items()]
    say(table(rows, indent=""))
    if facts["answerable_variables"]:
        say(f"\nask, for instance: lifagu query {options.model} {facts['example_query']}")


def lift(options: Options) -> None:
    """``lifagu lift``."""
    graph, evidence = _model(options)
    if options.rounds:
        for number, colouring in enumerate(lifagu.colour_rounds(graph, evidence)):
            say(f"{'start' if number == 0 else f'round {number}'}:\n{_groups_table(graph, colouring)}")
        return
    colouring = lifagu.colour(graph, evidence)
    if options.json:
        say_json(_groups(graph, colouring))
    else:
        say(_groups_table(graph, colouring))


def query(options: Options) -> None:
    """``lifagu query``."""
    graph, evidence = _model(options)
    questions = [options.queries] if options.joint else [[name] for name in options.queries]
    result = _run(options, graph, evidence, questions)
    if options.json:
        say_json(
            {
                "engine": result.answers[0].engine,
                "log_partition": result.log_partition,
                "answers": [_answer_json(answer) for answer in result.answers],
                "unknown": {"total": len(graph.unknown), "transferred": 0, "left": len(graph.unknown)},
            }
        )
        return
    given = ", ".join(f"{name}={value}" for name, value in evidence.items() if isinstance(value, str))
    given += ", …" if any(not isinstance(value, str) for value in evidence.values()) else ""
    for answer in result.answers:
        say(f"P({', '.join(answer.variables)}{' | ' + given if given else ''})")
        say(table((*labels, f"{probability:.6g}") for labels, probability in answer.items()))
    if result.log_partition is not None:
        say(f"log Z = {result.log_partition:.10g}")


def logz(options: Options) -> None:
    """``lifagu logz``."""
    graph, evidence = _model(options)
    result = _run(options, graph, evidence, [])
    if options.json:
        say_json({"log_partition": result.log_partition})
    else:
        say(f"{result.log_partition!r}")


def convert(options: Options) -> None:
    """``lifagu convert``."""
    lifagu.write(lifagu.read(options.source), options.target, lifagu.read_evidence(options.source))


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
    "info": info,
    "lift": lift,
    "logz": logz,
    "query": query,
}


def _model(options: Options) -> tuple[FactorGraph, dict[str, Any]]:
    """The model and the evidence: the file's own, overridden by --evidence-file, overridden by --evidence."""
    graph = lifagu.read(options.model)
    evidence = dict(lifagu.read_evidence(options.model))
    if options.evidence_file:
        evidence |= lifagu.read_evidence(options.evidence_file)
    evidence |= dict(options.evidence)
    graph.evidence(evidence)
    return graph, evidence


def _run(options: Options, graph: FactorGraph, evidence: dict[str, Any], questions: Iterable[Iterable[str]]) -> Any:
    """Plan, show the plan if wanted, and compute with progress."""
    prepared = lifagu.prepare(
        graph, list(map(tuple, questions)), evidence, engine=options.engine, memory_limit=options.memory_limit
    )
    if options.explain:
        note(str(prepared))
    for remark in prepared.notes:
        note(f"note: {remark}", options.quiet)
    progress = Progress(options.quiet)
    try:
        return prepared.run(progress)
    finally:
        progress.close()


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "query": list(answer.variables),
        "values": [list(labels) for labels in answer.values],
        "probabilities": answer.probabilities.reshape(-1).tolist(),
        "log_probabilities": [finite(value) for value in answer.log_probabilities.reshape(-1).tolist()],
    }


def _groups(graph: FactorGraph, colouring: Colouring) -> dict[str, list[list[str]]]:
    return {
        "variable_groups": [[graph.variable_names[each] for each in group] for group in colouring.variable_groups],
        "factor_groups": [[graph.factor_names[each] for each in group] for group in colouring.factor_groups],
    }


def _groups_table(graph: FactorGraph, colouring: Colouring) -> str:
    rows = []
    for sort, groups in _groups(graph, colouring).items():
        for number, group in enumerate(groups, 1):
            shown = ", ".join(group[:8]) + (f", … ({len(group)} in all)" if len(group) > 8 else "")
            rows.append((f"{sort.split('_')[0]}s" if number == 1 else "", f"group {number}", shown))
    return table(rows)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
