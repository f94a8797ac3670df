"""From options to a case: opened, individuals added, evidence layered, holes filled as they say."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import lifagu
from lifagu.basics.choices import USUAL_TIMEOUT, EngineName
from lifagu.cli.output import ProgressLine, note

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.inference.prepared import Planned, Result

Options = argparse.Namespace
_Found = TypeVar("_Found")
PLACE = {"on": "on", "memory_limit": "memory_limit", "temp": "temp"}


@contextmanager
def opened(
    options: Options, path: str | None = None, learn: bool = True
) -> Iterator[tuple[Case, ProgressLine]]:
    """The case that the options describe, and its progress on the terminal.

    learn: whether tables that are to be learned are learned once they are needed.
    """
    with closing(ProgressLine(getattr(options, "quiet", False))) as progress:
        case = _case(options, path or options.model, progress, learn)
        for warning in case.warnings:
            note(f"warning: {warning}")
        yield case, progress


def opening(options: Options) -> dict[str, Any]:
    """What is said about reading a file and its database, as `lifagu.open` takes it."""
    given = vars(options)
    return {
        "database": given.get("db"),
        "parameters": _once("--set", given.get("set", [])),
        "env": _environment(given.get("env", [])),
        "query_timeout": given.get("query_timeout", USUAL_TIMEOUT),
        "trust_role": given.get("trust_role", False),
    }


def _case(options: Options, path: str, progress: ProgressLine, learn: bool) -> Case:
    given = vars(options)
    place = {name: given[option] for option, name in PLACE.items() if option in given}
    case = lifagu.open(path, learn=learn, progress=progress, **opening(options), **place)
    for new, like in given.get("add", ()):
        case = case.add(new, like)
    for new, like in given.get("admit", ()):
        case = case.admit(new, like)
    if given.get("evidence_file"):
        case = case.observe(_evidence_file(options.evidence_file, options.memory_limit))
    case = case.observe(_once("--evidence", given.get("evidence", [])))
    # a --seed says which cells are hidden, not where cohorts begin to look
    known = {field.name for field in fields(lifagu.Filling)} - {"seed"}
    settings = {name: value for name, value in given.items() if name in known}
    if compared := given.get("fill"):  # several rules, of which one takes what only some know
        papers = [rule for rule in compared if rule != "auto"]
        named = settings.get("theta") is not None or settings.get("steps") is not None
        settings["by"] = papers[0] if papers and (named or "auto" not in compared) else "auto"
    return case.fill(**settings)


def _environment(names: Sequence[str]) -> dict[str, str]:
    """The values of the variables that a template may name."""
    for name in names:
        if name not in os.environ:
            raise lifagu.ModelError(f"--env {name}: the environment variable is not set")
    return {name: os.environ[name] for name in names}


def _evidence_file(path: str, memory_limit: int | None) -> dict[str, Any]:
    if not path.lower().removesuffix(".gz").endswith((".json", ".evid")):
        raise lifagu.FormatError(
            f"{path}: evidence is read from .json or .evid files (each also with .gz)"
        )
    return lifagu.io.read_evidence(path, memory_limit=memory_limit)


def _once(option: str, given: list[tuple[str, str]]) -> dict[str, str]:
    """Values by name from the command line, none of which may contradict another."""
    found: dict[str, str] = {}
    for name, value in given:
        if found.setdefault(name, value) != value:
            raise lifagu.ModelError(
                f"{option} says {name}={found[name]} and {name}={value}; give one of them"
            )
    return found


def placed(
    options: Options, case: Case, verb: str, engine: EngineName = "auto", in_memory: str = ""
) -> Case:
    """The case where a verb is to be done; where `--on auto` chose about a folder, a note says why.

    in_memory: an option that asks for the model in memory, if one was given.
    """
    where = case.where(verb, engine=engine, in_memory=in_memory)
    if where.why:
        note(f"note: {where.on} was chosen: {where.why}", options.quiet)
    return case.at(where.on, where.why)


def run(options: Options, case: Case, planned: Planned[_Found], progress: ProgressLine) -> _Found:
    """What was planned, shown first if wanted, and computed with progress."""
    progress.close()
    if merging := case.merging(options.engine):
        note(f"note: {merging}", options.quiet)
    if options.explain:
        note(str(planned))
        if case.filled_by:
            note(case.filled_by)
    result = planned.run(progress)
    progress.close()
    return result


def remark_added(options: Options, case: Case, names: Sequence[str]) -> None:
    """How far others moved because somebody was added, and what moves nobody."""
    if not options.quiet and (move := case.moved_by_adding(*names)):
        pairs = " ".join(f"{new}={like}" for new, like in options.add[:1])
        note(f"note: {move}; --admit {pairs} moves nobody")


def propagation(options: Options) -> dict[str, Any]:
    """The settings of belief propagation."""
    if options.engine != "bp":
        return {}
    given = {name: getattr(options, name) for name in ("damping", "schedule", "iterations")}
    return {**given, "tolerance": options.bp_tolerance}


def remark_answers(options: Options, result: Result) -> None:
    """What is to be said beside answers to questions."""
    came = [each.convergence for each in result.answers if each.convergence is not None]
    remark(options, result.notes, astray=not all(each.converged for each in came))


def remark(options: Options, notes: Sequence[str], astray: bool) -> None:
    """What is to be said beside answers; that messages went astray is said in any case."""
    for each in notes:
        note(f"warning: {each}" if astray else f"note: {each}", options.quiet and not astray)
