"""One match of the league: a task with one seed, and what each way tells of the hidden cells.

A match has a folder: the database without what is left out, the same with hidden cells NULL, and
the list of these cells. Whoever plays reads these, so that all are asked the same. What is kept of
a way is small: the sums of its losses over groups of individuals, which its intervals draw.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from research.apart import Commanded, command, memory_peak, processor_seconds, run_apart
from research.harness import Cell, Floats, Line, Outcome, Settings
from research.league.databases import DATABASES
from research.league.holes import Observed, observed, write_hidden, write_holed
from research.league.raw_tables import Raw, Told, read_cells
from research.league.rivals import RIVALS
from research.league.scores import BINS, clipped_losses, hits
from research.league.sheets import Sheet, sheets
from research.league.tasks import TASKS, Task

TEMPLATES = Path(__file__).parent / "templates"
DRAFTED, BY_HAND, UNTIED = "lifagu", "lifagu by hand", "untied"
HIDDEN, KINDS = "hidden.csv", "kinds.json"
GROUPS = 200  # of individuals, by their names; an individual's cells stand or fall together
NAMED = {task.name: task for task in TASKS}
Probabilities = Mapping[str, Floats]  # by relation: a row for each hidden cell


class Played(NamedTuple):
    """Where matches are, and how many seconds each way has."""

    folder: Path
    limit: float

    def match(self, task: Task, seed: int) -> Path:
        """The folder of a match."""
        return self.folder / "matches" / task.name.replace(" ", "-") / str(seed)

    def play(self, _: Settings, cell: Cell) -> Outcome:
        """What a way tells in a match; the cell is called "task: way"."""
        name, _, way = cell.group.partition(": ")
        match = Match.read(self.match(NAMED[name], cell.seed), NAMED[name])
        told = (
            match.drafted(self.limit)
            if way == DRAFTED
            else match.by_hand(self.limit)
            if way == BY_HAND
            else match.by_rival(way, self.limit)
        )
        if isinstance(told, str):
            return Outcome(cell, {"failure": told}, [])
        facts = {"seconds": told.seconds, "memory": told.memory, "note": told.note}
        facts["bins"], rows = match.scored(told.probabilities)
        return Outcome(cell, facts, rows)


class Answer(NamedTuple):
    """What a way told, the seconds of all its threads, its peak of bytes, and what else to say."""

    probabilities: Probabilities
    seconds: float
    memory: int
    note: str = ""


def prepare(task: Task, seed: int, source: Path, folder: Path, limit: float) -> None:
    """Hide what is to be hidden; a template without any ties tells which labels cells have."""
    if (folder / KINDS).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    asked = json.loads((TEMPLATES / f"{task.database}.json").read_text())
    raw = Raw(source)
    seen = observed(raw, asked)
    holes = task.hide(seen, raw.tables, np.random.default_rng(seed))
    for name, with_cells in (("holed", False), ("whole", True)):
        path = folder / name / source.name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            pointers = DATABASES[task.database].pointers
            write_holed(source, path, seen, holes, pointers, with_cells)
    write_hidden(folder / HIDDEN, seen, holes)
    template = {**asked, "source": str(folder / "whole" / source.name)}
    done = _validated(_untied(template, seen), folder, UNTIED, limit)
    if isinstance(done, str):
        raise RuntimeError(f"{task.name}: {done}")
    groups = raw.tables[seen[0].table][task.group].astype(str).tolist() if task.group else ()
    whose: dict[str, dict[str, tuple[str, str]]] = {}
    for each in seen:
        whose[each.relation] = {
            name: (groups[row] if groups else name, holes.kinds[row] if holes.kinds else "")
            for name, row in zip(each.individuals, each.rows.tolist(), strict=True)
        }
    (folder / KINDS).write_text(json.dumps(whose))


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
    evidence = {name: template["evidence"][name] for name in names}
    return {**template, "relations": relations, "parfactors": alone, "evidence": evidence}


class Match(NamedTuple):
    """A task with one seed, prepared.

    whole: the database without what is left out; holed: the same with hidden cells NULL; told: the
    hidden cells with labels and truths; whose: the group that each cell falls with, and its kind.
    """

    folder: Path
    task: Task
    whole: Path
    holed: Path
    template: Mapping[str, Any]
    told: Sequence[Told]
    whose: Mapping[str, Mapping[str, tuple[str, str]]]

    @classmethod
    def read(cls, folder: Path, task: Task) -> Match:
        """As it was prepared."""
        whole, holed = (next((folder / name).iterdir()) for name in ("whole", "holed"))
        asked = json.loads((TEMPLATES / f"{task.database}.json").read_text())
        template = {**asked, "source": str(whole)}
        told = read_cells(folder / f"{UNTIED}.csv")
        return cls(
            folder, task, whole, holed, template, told, json.loads((folder / KINDS).read_text())
        )

    def by_hand(self, limit: float) -> Answer | str:
        """By a template that somebody wrote who looked at the tables."""
        return self._ordered(_validated(self.template, self.folder, BY_HAND, limit))

    def drafted(self, limit: float) -> Answer | str:
        """By a template drafted from the database with holes."""
        path = self.folder / "draft.json"
        init = command("init", str(self.holed), "--out", str(path), "--quiet", wait=limit)
        if isinstance(init, str):
            return f"init: {init}"
        draft, absent = self._with_labels(json.loads(path.read_text()))
        told = self._ordered(_validated(draft, self.folder, DRAFTED, limit))
        if isinstance(told, str):
            return told
        note = f"not asked about: {', '.join(absent)}" if absent else ""
        costs = told.seconds + init.busy, max(told.memory, init.memory)
        return Answer(told.probabilities, *costs, note)

    def by_rival(self, way: str, limit: float) -> Answer | str:
        """A rival in a process of its own, from the database as it is without hidden cells."""
        pointers = DATABASES[self.task.database].pointers
        found, unable = sheets(Raw(self.whole), pointers, self.template, self.told)
        return "; ".join(unable) if unable else run_apart(partial(_measured, found, way), limit)

    def _with_labels(self, draft: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """A draft about the whole database, with the labels of all; and what it does not have."""
        wanted = {each["name"]: each for each in self.template["relations"]}
        asked = [each.relation for each in self.told]
        have = [each for each in draft["relations"] if each["name"] in asked]
        for relation in have:
            name = relation["name"]
            relation["range"] = wanted[name].get("range", ["false", "true"])
            draft["evidence"][name] = self.template["evidence"][name]
        names = {each["name"] for each in have}
        absent = [name for name in asked if name not in names]
        return {**draft, "source": str(self.whole)}, absent

    def _ordered(self, done: tuple[list[Told], Commanded] | str) -> Answer | str:
        """What was told in the order of the match; of what is not asked about, frequencies."""
        if isinstance(done, str):
            return done
        found = {each.relation: each for each in done[0]}
        told = {each.relation: _as_in(found.get(each.relation), each) for each in self.told}
        return Answer(told, done[1].busy, done[1].memory)

    def scored(self, told: Probabilities) -> tuple[list[list[float]], list[Line]]:
        """Calibration by tenths of the top probability; and sums by kind and group of cells."""
        sums: dict[tuple[str, int], Floats] = defaultdict(lambda: np.zeros(3))
        bins = np.zeros((BINS, 3))
        for each in self.told:
            found = told[each.relation]
            losses, right = clipped_losses(found, each.truth), hits(found, each.truth)
            place = np.minimum((found.max(1) * BINS).astype(np.int64), BINS - 1)
            for column, weights in enumerate((np.ones(len(right)), found.max(1), right)):
                bins[:, column] += np.bincount(place, weights, BINS)
            whose = self.whose[each.relation]
            for name, loss, hit in zip(each.individuals, losses, right, strict=True):
                group, kind = whose[name]
                sums[kind, zlib.crc32(group.encode()) % GROUPS] += (1, loss, hit)
        rows = [
            {"kind": kind, "group": group, "cells": int(each[0]), "loss": each[1], "right": each[2]}
            for (kind, group), each in sorted(sums.items())
        ]
        return bins.tolist(), rows


def _measured(found: Sequence[Sheet], way: str) -> Answer:
    """What a rival tells of all sheets, its seconds and its peak of memory."""
    told: dict[str, Floats] = {}
    start = processor_seconds()
    for sheet in found:
        told |= RIVALS[way](sheet)
    return Answer(told, processor_seconds() - start, memory_peak())


def _validated(
    template: Mapping[str, Any], folder: Path, way: str, limit: float
) -> tuple[list[Told], Commanded] | str:
    """The hidden cells of those relations that the template has, told; or why they are not."""
    path, cells, hidden = (folder / f"{way}{end}" for end in (".json", ".csv", "_hidden.csv"))
    path.write_text(json.dumps(template))
    names = {each["name"] for each in template["relations"]}
    head, *lines = (folder / HIDDEN).read_text().splitlines(keepends=True)
    hidden.write_text("".join([head, *(e for e in lines if e.partition(",")[0] in names)]))
    files = ("--hidden", str(hidden), "--cells", str(cells), "--json", "--quiet")
    done = command("validate", str(path), *files, wait=limit)
    return done if isinstance(done, str) else (read_cells(cells), done)


def _as_in(found: Told | None, wanted: Told) -> Floats:
    """The probabilities of cells and labels as another list has them; its own if there are none."""
    if found is None:
        return wanted.probabilities
    place = {name: number for number, name in enumerate(found.individuals)}
    rows = [place[name] for name in wanted.individuals]
    return found.probabilities[np.ix_(rows, [found.labels.index(each) for each in wanted.labels])]
