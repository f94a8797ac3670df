"""What is done where the data is: `--on duckdb`, `--on spark`, or what `--on auto` chooses."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import lifagu
from lifagu.cli.output import Progress, note, say
from lifagu.cli.results import folder_groups_table, transfers_table

Options = argparse.Namespace


def elsewhere(options: Options) -> str | None:
    """The engine that a question goes to, None if that is the memory; says so where `--on auto` chose another one."""
    obstacle = _in_memory_only(options)
    if options.on == "memory" or (options.on == "auto" and obstacle):
        return None
    if obstacle:
        raise lifagu.ModelError(f"{obstacle} works in memory only; leave it out, or leave out --on {options.on}")
    where, why = lifagu.where_to_answer(options.model, options.on, options.memory_limit)
    if options.on == "auto" and (where != "memory" or (options.explain and why)):
        note(f"note: answered {'in' if where == 'memory' else 'by'} {where}: {why}", options.quiet)
    return None if where == "memory" else where


def _in_memory_only(options: Options) -> str | None:
    """The first option that only works in memory."""
    given = {
        f"--engine {options.engine}": options.engine not in ("auto", "lifted"),
        f"--unknown {options.unknown}": options.unknown != "one",
        "--add": options.add,
        "--db": options.db,
        "--digits": options.digits is not None,
        "--tolerance": options.tolerance is not None,
    }
    return next((name for name, is_given in given.items() if is_given), None)


def answer_elsewhere(
    options: Options, on: str, questions: Sequence[Sequence[str]], evidence: Mapping[str, Any]
) -> tuple[Any, dict[str, int]]:
    """The answers, and how many unknown factors there were; evidence: beside the folder's own."""
    with closing(Progress(options.quiet)) as progress:
        progress.stage(f"reading {options.model}")
        prepared = lifagu.prepare_by_sql(
            options.model,
            questions,
            evidence,
            on=on,
            memory_limit=options.memory_limit,
            temp=options.temp,
            say=progress.stage,
        )
        if options.explain:
            note(str(prepared))
        result = prepared.run(progress)
    for remark in result.notes:
        note(f"note: {remark}", options.quiet)
    return result, {"total": prepared.unknown, "transferred": 0, "left": prepared.unknown}


def lifts_elsewhere(options: Options) -> str | None:
    """The engine that a folder is lifted by, None if that is the memory; says so where `--on auto` chose another."""
    obstacle = _lifts_in_memory_only(options)
    if options.on == "memory" or (options.on == "auto" and obstacle):
        return None
    where, why = lifagu.where_to_lift(options.model, options.on, options.memory_limit)
    if where != "memory" and obstacle:
        raise lifagu.ModelError(f"{obstacle} works in memory only; leave it out, or take --on memory")
    if options.on == "auto" and where != "memory":
        note(f"note: lifted by {where}: {why}", options.quiet)
    return None if where == "memory" else where


def _lifts_in_memory_only(options: Options) -> str | None:
    """The first option that only works in memory."""
    given = {
        "--add": options.add,
        "--steps": options.steps is not None,
        "--profiles": options.profiles,
        "--digits": options.digits is not None,
        "--tolerance": options.tolerance is not None,
        "--commutative": options.commutative,
        "--rounds": options.rounds,
        "--json": options.json,
    }
    return next((name for name, is_given in given.items() if is_given), None)


def lift_elsewhere(options: Options, on: str, evidence: dict[str, Any]) -> None:
    """Lift a folder by an engine, write what was found and show it in short; evidence: beside the folder's own."""
    filling = lifagu.Filling(
        options.theta, options.structure_only, options.published, options.evidence_in_roles, options.up_to_scale
    )
    with closing(Progress(options.quiet)) as progress:
        try:
            found = lifagu.lift_folder(
                options.model,
                on=on,
                out=options.out,
                filling=filling,
                evidence=evidence,
                memory_limit=options.memory_limit,
                temp=options.temp,
                resume=options.resume,
                most_rounds=options.rounds_at_most,
                told=progress.stage,
            )
        except (KeyboardInterrupt, lifagu.TooLargeError):
            if options.temp:
                note(f"note: what was finished is kept in {options.temp}; go on with --resume", options.quiet)
            raise
    if found.unknown:
        say(f"{transfers_table(found.transfer, found.sizes)}\n")
    if found.transfer.equality != "exactly":
        say(f"tables were compared {found.transfer.equality}\n")
    say(folder_groups_table(found))
    if not options.out:
        say("\nwho is in which group is written with --out FOLDER")
