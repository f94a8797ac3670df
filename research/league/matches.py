"""One match of the league: a task with one seed, and what each way told of the hidden cells.

A match has a folder of its own. The database with holes is there, the template that `lifagu init`
drafted from it, the list of hidden cells, and a file of results for each way, so that a league that
was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.apart import memory_peak, processor_seconds, run_apart
from research.bench.commands import command
from research.league.databases import DATABASES
from research.league.holes import Holes, Observed, observed, write_hidden, write_holed
from research.league.raw_tables import Raw, Told, read_cells
from research.league.rivals import RIVALS
from research.league.scores import clipped_losses, hits
from research.league.sheets import Sheet, sheets
from research.league.tasks import Task

TEMPLATES = Path(__file__).parent / "templates"
DRAFTED, BY_HAND, UNTIED = "lifagu", "lifagu by hand", "untied"
HIDDEN, MATCHES = "hidden.csv", "matches"
Floats = NDArray[np.float64]
Probabilities = Mapping[str, Floats]  # by relation: a row for each hidden cell


@dataclass(frozen=True, eq=False)
class Cells:
    """The hidden cells of a match: of which relation each is, whose, and how much is known of it.

    individuals: one name for cells that stand or fall together.
    """

    relations: NDArray[np.str_]
    individuals: NDArray[np.str_]
    kinds: NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Result:
    """What a way told: the loss of each cell, whether its top label was right, and how sure it was.

    seconds are those of all threads, memory is in bytes; failure says in a word why there is
    nothing, note what else there is to say.
    """

    losses: Floats
    right: NDArray[np.bool_]
    tops: Floats
    seconds: float
    memory: int
    failure: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Match:
    """A task with one seed, prepared: what is hidden, with labels and truths.

    whole: the database without the rows that are left out; holed: the same with hidden cells NULL.
    """

    folder: Path
    database: str
    whole: Path
    holed: Path
    template: Mapping[str, Any]
    told: Sequence[Told]


def play(
    task: Task,
    seed: int,
    source: Path,
    folder: Path,
    ways: Sequence[str],
    limit: float,
    say: Callable[[str], None],
) -> None:
    """Let each way tell the hidden cells of a match, unless its result is there already."""
    left = [way for way in ways if not result_path(folder, way).exists()]
    if not left:
        return
    match = _prepared(task, seed, source, folder, limit)
    for way in left:
        result = _told(match, way, limit)
        _write(result_path(folder, way), result)
        loss = result.failure or f"{result.losses.mean():.4f}, {result.seconds:.1f} s"
        say(f"{task.name}, seed {seed}, {way}: {loss} {result.note}".rstrip())


def result_path(folder: Path, way: str) -> Path:
    """Where a way's result is."""
    return folder / f"{way}.npz"


def read_result(path: Path) -> Result:
    """What a way told."""
    with np.load(path) as found:
        arrays = (found[name] for name in ("losses", "right", "tops"))
        costs = float(found["seconds"]), int(found["memory"])
        return Result(*arrays, *costs, str(found["failure"]), str(found["note"]))


def read_match(folder: Path) -> Cells:
    """The hidden cells of a match that was played."""
    with np.load(folder / "cells.npz") as found:
        return Cells(found["relations"], found["individuals"], found["kinds"])


def _write(path: Path, of: Cells | Result) -> None:
    """Arrays as a file; readers never see half of it."""
    unfinished = path.with_name(f"unfinished_{path.name}")
    np.savez_compressed(unfinished, **vars(of))
    unfinished.rename(path)


# ---- before a match


def _prepared(task: Task, seed: int, source: Path, folder: Path, limit: float) -> Match:
    """Hide what is to be hidden; a template without any ties tells which labels cells have."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = json.loads((TEMPLATES / f"{task.database}.json").read_text())
    raw = Raw(source)
    seen = observed(raw, asked)
    holes = task.hide(seen, raw.tables, np.random.default_rng(seed))
    holed = folder / "holed" / source.name
    whole = folder / "whole" / source.name if holes.rows else source
    for path, with_cells in ((holed, False), (whole, True)):
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            pointers = DATABASES[task.database].pointers
            write_holed(source, path, seen, holes, pointers, with_cells)
    write_hidden(folder / HIDDEN, seen, holes)
    template = {**asked, "source": str(whole)}
    told = _validated(_untied(template, seen), folder, UNTIED, limit)
    if isinstance(told, str):
        raise RuntimeError(f"{task.name}: {told}")
    _write(folder / "cells.npz", _cells(task, raw, seen, holes, told.cells))
    return Match(folder, task.database, whole, holed, template, told.cells)


def _untied(template: Mapping[str, Any], seen: Sequence[Observed]) -> dict[str, Any]:
    """A template in which nothing tells anything about anything else."""
    names = {each.relation for each in seen}
    relations = [each for each in template["relations"] if each["name"] in names]
    alone = [
        {
            "name": each["name"],
            "args": [f"{each['name']}({', '.join(each['of'])})"],
            "table": "learn",
        }
        for each in relations
    ]
    return {
        **template,
        "relations": relations,
        "parfactors": alone,
        "evidence": {name: template["evidence"][name] for name in names},
    }


def _cells(
    task: Task, raw: Raw, seen: Sequence[Observed], holes: Holes, told: Sequence[Told]
) -> Cells:
    """Whose each cell is, in the order in which they are told."""
    rows_of = {each.relation: dict(zip(each.individuals, each.rows, strict=True)) for each in seen}
    groups = raw.tables[seen[0].table][task.group].astype(str).tolist() if task.group else ()
    relations, individuals, kinds = [], [], []
    for each in told:
        rows = [rows_of[each.relation][name] for name in each.individuals]
        relations += [each.relation] * len(rows)
        individuals += [groups[row] for row in rows] if groups else list(each.individuals)
        kinds += [holes.kinds[row] for row in rows] if holes.kinds else [""] * len(rows)
    return Cells(np.array(relations), np.array(individuals), np.array(kinds))


# ---- the ways


def _told(match: Match, way: str, limit: float) -> Result:
    if way == DRAFTED:
        return _drafted(match, limit)
    return _by_hand(match, limit) if way == BY_HAND else _rival(match, way, limit)


def _by_hand(match: Match, limit: float) -> Result:
    return _scored(match, _validated(match.template, match.folder, BY_HAND, limit))


def _drafted(match: Match, limit: float) -> Result:
    """A template from the database with holes, and what it says of them."""
    path = match.folder / "draft.json"
    init = command(
        *("init", str(match.holed), "--out", str(path), "--report", f"{path}.md", "--quiet"),
        wait=limit,
    )
    if isinstance(init, str):
        return _failed(f"init: {init}")
    drafted, absent = _with_labels(json.loads(path.read_text()), match)
    note = f"not asked about: {', '.join(absent)}" if absent else ""
    done = _validated(drafted, match.folder, DRAFTED, limit)
    return _scored(match, done, init.busy, init.memory, note)


def _with_labels(draft: dict[str, Any], match: Match) -> tuple[dict[str, Any], list[str]]:
    """A draft about the whole database with the labels that all are asked about.

    And the relations that it does not have.
    """
    wanted = {each["name"]: each for each in match.template["relations"]}
    asked = [each.relation for each in match.told]
    have = [each for each in draft["relations"] if each["name"] in asked]
    for relation in have:
        name = relation["name"]
        relation["range"] = wanted[name].get("range", ["false", "true"])
        draft["evidence"][name] = match.template["evidence"][name]
    names = {each["name"] for each in have}
    absent = [name for name in asked if name not in names]
    return {**draft, "source": str(match.whole)}, absent


@dataclass(frozen=True)
class _Validated:
    """What `lifagu validate` told of hidden cells, and what that cost."""

    cells: list[Told]
    seconds: float
    memory: int


def _validated(
    template: Mapping[str, Any], folder: Path, way: str, limit: float
) -> _Validated | str:
    """The hidden cells of those relations that the template has, told; or why they are not."""
    path, cells, hidden = (folder / f"{way}{end}" for end in (".json", ".csv", "_hidden.csv"))
    path.write_text(json.dumps(template))
    names = {each["name"] for each in template["relations"]}
    head, *lines = (folder / HIDDEN).read_text().splitlines(keepends=True)
    hidden.write_text("".join([head, *(e for e in lines if e.partition(",")[0] in names)]))
    done = command(
        *("validate", str(path), "--hidden", str(hidden), "--cells", str(cells)),
        *("--json", "--quiet"),
        wait=limit,
    )
    return done if isinstance(done, str) else _Validated(read_cells(cells), done.busy, done.memory)


def _scored(
    match: Match, done: _Validated | str, seconds: float = 0.0, memory: int = 0, note: str = ""
) -> Result:
    """What was told in the order of the match; of what is not asked about, frequencies."""
    if isinstance(done, str):
        return _failed(done)
    found = {each.relation: each for each in done.cells}
    probabilities = {each.relation: _ordered(found.get(each.relation), each) for each in match.told}
    costs = seconds + done.seconds, max(memory, done.memory)
    return _result(match.told, probabilities, *costs, note)


def _ordered(found: Told | None, as_in: Told) -> Floats:
    """The probabilities of cells and labels as another list has them; its own if there are none."""
    if found is None:
        return as_in.probabilities
    place = {name: number for number, name in enumerate(found.individuals)}
    rows = [place[name] for name in as_in.individuals]
    return found.probabilities[np.ix_(rows, [found.labels.index(each) for each in as_in.labels])]


def _rival(match: Match, way: str, limit: float) -> Result:
    """A rival in a process of its own, from the database as it is without hidden cells."""
    pointers = DATABASES[match.database].pointers
    found, unable = sheets(Raw(match.whole), pointers, match.template, match.told)
    if unable:
        return _failed("; ".join(unable))
    done = run_apart(partial(_measured, found, way), limit)
    if isinstance(done, str):
        return _failed(done)
    return _result(match.told, *done)


def _measured(found: Sequence[Sheet], way: str) -> tuple[dict[str, Floats], float, int]:
    """What a rival tells of all sheets, its seconds and its peak of memory."""
    told: dict[str, Floats] = {}
    start = processor_seconds()
    for sheet in found:
        told |= RIVALS[way].predict(sheet)
    return told, processor_seconds() - start, memory_peak()


def _result(
    told: Sequence[Told], probabilities: Probabilities, seconds: float, memory: int, note: str = ""
) -> Result:
    parts = [(probabilities[each.relation], each.truth) for each in told]
    return Result(
        np.concatenate([clipped_losses(found, truth) for found, truth in parts]),
        np.concatenate([hits(found, truth) for found, truth in parts]),
        np.concatenate([found.max(1) for found, _ in parts]),
        seconds,
        memory,
        note=note,
    )


def _failed(why: str) -> Result:
    nothing = np.zeros(0)
    return Result(nothing, nothing.astype(bool), nothing, 0.0, 0, why)
