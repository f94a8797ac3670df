"""Campaigns: many independent cells (what, how large, which seed), each kept as a file.

A cell's file is written whole or not at all, so a campaign that was interrupted goes on where it
stopped, and ends with the same rows as one that was not, but for the times that were measured.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import lifagu
from lifagu.basics.progress import Tell
from lifagu.errors import FormatError
from lifagu.formats.files import read_text, write_text

Settings = Mapping[str, Any]
Line = dict[str, Any]  # of a table of results, by column


class Cell(NamedTuple):
    """What is run (a generator or a scenario), how large, and the seed of all randomness."""

    group: str
    size: int
    seed: int

    @property
    def file_name(self) -> str:
        """The file it is kept in."""
        return f"{self.group}-{self.size}-{self.seed}.json"


class Outcome(NamedTuple):
    """What came of a cell: facts about it as a whole, and its rows."""

    cell: Cell
    facts: dict[str, Any]
    rows: list[Line]


Compute = Callable[[Settings, Cell], Outcome]


def gather(
    folder: Path,
    cells: Sequence[Cell],
    settings: Settings,
    compute: Compute,
    *,
    jobs: int = 1,
    resume: bool = False,
    progress: Tell | None = None,
) -> list[Outcome]:
    """The outcomes of all cells, in order: kept ones from the folder, others by `jobs` processes.

    settings: what else decides about a cell's rows; kept cells must have been computed with the
    same.
    """
    store = _store(folder, resume)
    settings = {"version": lifagu.__version__, **settings}
    found = {cell: _kept(store / cell.file_name, cell, settings) for cell in cells}
    missing = [cell for cell in cells if found[cell] is None]
    done = len(cells) - len(missing)
    for outcome in _computed(partial(compute, settings), missing, jobs):
        write_text(store / outcome.cell.file_name, _text(outcome, settings))
        found[outcome.cell] = outcome
        done += 1
        if progress:
            progress(done, len(cells))
    return [kept for cell in cells if (kept := found[cell]) is not None]


def _store(folder: Path, resume: bool) -> Path:
    store = folder / "cells"
    try:
        store.mkdir(parents=True, exist_ok=True)
        started = any(store.iterdir())
    except OSError as error:
        raise FormatError(
            f"{folder}: cannot be used as a folder for results: {error.strerror}"
        ) from None
    if started and not resume:
        raise FormatError(f"{folder}: holds an earlier run: add --resume, or name another folder")
    return store


def _kept(path: Path, cell: Cell, settings: Settings) -> Outcome | None:
    """The outcome in a file, if there is one and it was computed with these settings."""
    if not path.exists():
        return None
    try:
        kept = json.loads(read_text(path))
        earlier, facts, rows = kept["settings"], kept["facts"], kept["rows"]
    except (ValueError, KeyError, TypeError):
        raise FormatError(
            f"{path}: not the result of an experiment; remove it to have it computed again"
        ) from None
    if earlier != settings:
        differing = [name for name in settings if earlier.get(name) != settings[name]]
        raise FormatError(
            f"{path}: was computed with other settings ({', '.join(differing)}); "
            "name another folder for these"
        )
    return Outcome(cell, facts, rows)


def _text(outcome: Outcome, settings: Settings) -> str:
    head, facts = json.dumps(settings), json.dumps(outcome.facts)
    rows = ",\n".join(json.dumps(row) for row in outcome.rows)
    return f'{{"settings": {head},\n"facts": {facts},\n"rows": [\n{rows}\n]}}\n'


def _computed(
    compute: Callable[[Cell], Outcome], cells: Sequence[Cell], jobs: int
) -> Iterable[Outcome]:
    """Outcomes as they come; the processes are stopped when the reader stops."""
    if jobs == 1 or len(cells) < 2:
        yield from map(compute, cells)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, len(cells)), initializer=_leave_interrupts_to_the_parent) as pool:
        yield from pool.imap_unordered(compute, cells)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
