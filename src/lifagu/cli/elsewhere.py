"""What is done where the data is: `--on duckdb`, `--on spark`, or what `--on auto` chooses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import lifagu
from lifagu.cli.output import Progress, note, say
from lifagu.cli.results import folder_groups_table, transfers_table

Options = argparse.Namespace


def elsewhere(options: Options, asks: bool = False) -> str | None:
    """The engine to work on, None if that is the memory; where `--on auto` chose about a folder, a note says why.

    asks: whether the command only asks, which takes less memory.
    """
    where, why = lifagu.where_to_work(options.model, options.on, options.memory_limit, asks)
    obstacle = _in_memory_only(options)
    if obstacle and where != "memory":
        if options.on != "auto":
            raise lifagu.ModelError(f"{obstacle} works in memory only; leave it out, or take --on memory")
        where, why = "memory", f"{obstacle} works there only, although {why}"
    if why:
        note(f"note: {where} was chosen: {why}", options.quiet)
    if where != "memory":
        return where
    if options.resume:
        raise lifagu.ModelError(
            "--resume goes on with work on an engine, but this is done in memory; name it with --on"
        )
    return None


def _in_memory_only(options: Options) -> str | None:
    """The first option that only works in memory."""
    given = {
        "--add": options.add,
        "--db": options.db,
        "--steps": options.steps is not None,
        "--profiles": options.profiles,
        "--digits": options.digits is not None,
        "--tolerance": options.tolerance is not None,
        "--commutative": options.commutative,
    }
    if options.command == "impute":
        given["--write"] = options.write
    if options.command == "lift":
        given |= {"--rounds": options.rounds, "--json": options.json}
    else:
        given[f"--engine {options.engine}"] = options.engine not in ("auto", "lifted")
        given[f"--unknown {options.unknown}"] = options.unknown not in ("one", "mean")
    return next((name for name, is_given in given.items() if is_given), None)


def _filling(options: Options) -> lifagu.Filling:
    """How unknown factors are filled."""
    return lifagu.Filling(
        options.theta, options.structure_only, options.published, options.evidence_in_roles, options.up_to_scale
    )


@contextmanager
def _kept(options: Options) -> Iterator[Progress]:
    """Progress; and if the work ends before it is done, where to find what was finished."""
    with closing(Progress(options.quiet)) as progress:
        try:
            yield progress
        except (KeyboardInterrupt, lifagu.TooLargeError):
            if options.temp:
                note(f"note: what was finished is kept in {options.temp}; go on with --resume", options.quiet)
            raise


def answer_elsewhere(
    options: Options, on: str, questions: Sequence[Sequence[str]], evidence: Mapping[str, Any]
) -> tuple[Any, dict[str, int]]:
    """The answers, and how many unknown factors there were; evidence: beside the folder's own."""
    with _kept(options) as progress:
        prepared = lifagu.prepare_by_sql(
            options.model,
            questions,
            evidence,
            on=on,
            filling=_filling(options),
            unknown=options.unknown,
            memory_limit=options.memory_limit,
            temp=options.temp,
            resume=options.resume,
            say=progress.stage,
        )
        if options.explain:
            note(str(prepared))
        result = prepared.run(progress)
    for remark in result.notes:
        note(f"note: {remark}", options.quiet)
    total, filled = prepared.unknown, prepared.transferred
    if filled:
        text = f"{filled} of {total} unknown factors were filled first, weakest share {prepared.weakest_share:.3g}"
        note(f"note: {text}", options.quiet)
    return result, {"total": total, "transferred": filled, "left": total - filled}


def impute_elsewhere(options: Options, on: str, evidence: Mapping[str, Any]) -> lifagu.FolderImputed:
    """A folder filled, coloured and asked by an engine, and written; evidence: beside the folder's own."""
    with _kept(options) as progress:
        return lifagu.impute_folder(
            options.model,
            evidence,
            options.queries,
            on=on,
            out=options.out,
            filling=_filling(options),
            unknown=options.unknown,
            memory_limit=options.memory_limit,
            temp=options.temp,
            resume=options.resume,
            most_rounds=options.rounds_at_most,
            told=progress.stage,
            progress=progress,
        )


def lift_elsewhere(options: Options, on: str, evidence: dict[str, Any]) -> None:
    """Lift a folder by an engine, write what was found and show it in short; evidence: beside the folder's own."""
    with _kept(options) as progress:
        found = lifagu.lift_folder(
            options.model,
            on=on,
            out=options.out,
            filling=_filling(options),
            evidence=evidence,
            memory_limit=options.memory_limit,
            temp=options.temp,
            resume=options.resume,
            most_rounds=options.rounds_at_most,
            told=progress.stage,
        )
    if found.unknown:
        say(f"{transfers_table(found.transfer, found.sizes)}\n")
    if found.transfer.equality != "exactly":
        say(f"tables were compared {found.transfer.equality}\n")
    say(folder_groups_table(found.groups))
    if not options.out:
        say("\nwho is in which group is written with --out FOLDER")
