"""Tables learned from stays with NULLs: time, memory, and how well hidden cells are told then."""

from __future__ import annotations

import csv
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.apart import memory_peak, run_apart
from research.bench.commands import command
from research.bench.learned_stays import (
    COHORTS,
    drawn_stays,
    joint_template,
    latent_template,
    write_stays,
    write_template,
)
from research.bench.made_stays import HIDDEN, PAIRS, SIZES
from research.bench.own_models import Floats, Rows
from research.bench.part import Part, begin, duration, ratio, sized

PANEL = "Learning all tables of stays"
HEAD = [
    *("stays", "learned by", "time", "of threads", "by boosting", "growth", "memory"),
    *("log loss", "below"),
]
JOINT, LATENT = "pair tables and hospitals", f"{COHORTS} latent classes"
BOOSTING, FREQUENCIES = "gradient boosting", "frequencies"
NEW = 1_000  # further stays, whose hidden cells are to be told
LEAST = 1e-4  # no probability counts as less, whoever told it
WAIT = 3_600.0  # seconds for each run
PATIENCE = 40  # times the limit for each peer: it has thirteen models to fit


@dataclass(frozen=True)
class Learned:
    """Seconds, those of all threads, bytes at the peak, and what is told of new stays' cells.

    told: by column a row of probabilities for each new stay.
    """

    seconds: float
    busy: float
    memory: int
    told: list[Floats]


@dataclass(frozen=True)
class Stays:
    """Where stays are, and what is seen of them, and of new ones; cells: all of the new ones'."""

    folder: Path
    seen: Rows
    hospital: Rows
    new_seen: Rows
    new_hospital: Rows
    cells: Rows


def main() -> None:
    """Measure and print."""
    tables = f"{len(PAIRS)} of pairs and {HIDDEN} by hospital,"
    part = begin(
        "Tables learned from records with gaps",
        ("lifagu", "numpy", "duckdb", "scikit-learn"),
        f"Stays in 186 hospitals, drawn from known tables, {tables}",
        "with thirteen columns, a quarter of whose cells is NULL, and three that are always known,",
        "in a Parquet file. `lifagu learn`",
        "reads it, learns all tables, and writes them, in a process of its own; *memory* is its",
        f"peak. *Log loss*: of the hidden cells of {NEW:,} further stays, in nats a cell, told",
        "exactly from what is seen of them; *below* is how far it is below that of frequencies.",
        "Gradient boosting (scikit-learn, as it comes, hospital and columns as categories, NULL as",
        "missing, early stopping at all sizes, without which it told 2,520 stays worse than",
        "frequencies do; one thread) has a model for each column, measured in the same minutes;",
        "its time is that of fitting alone. *Of threads*: seconds of all threads together, which",
        "hardly depend on what else runs; the ratio to boosting, and the growth, the power of the",
        "size with which time has grown, are of these.",
    )
    shown = part.table(HEAD, _rows(part))
    for way in (JOINT, LATENT, BOOSTING):
        mine = [row for row in shown if row["learned by"] == way]
        found = "; ".join(
            f"{row['stays']} stays {row['of threads']}, {row['memory']}, log loss {row['log loss']}"
            for row in mine
        )
        part.in_short(f"{way}: {found}.")


def _sizes(part: Part) -> tuple[int, ...]:
    if part.small:
        return (60,)
    return (2_520, 10_000, 100_000, *((1_000_000,) if part.far else ()))


def _rows(part: Part) -> Iterator[list[str]]:
    before: dict[str, tuple[int, float]] = {}
    for size in _sizes(part):
        with tempfile.TemporaryDirectory() as name:
            stays = _made(Path(name), size, 20 if part.small else NEW)
            usual = _loss(stays, _frequencies(stays))
            boosted = run_apart(partial(_boosted, stays), PATIENCE * part.limit)
            base = boosted.busy if isinstance(boosted, Learned) else None
            yield [sized(size), FREQUENCIES, *["–"] * 5, f"{usual:.4f}", "–"]
            for way, work in _ways(stays, boosted).items():
                found = work()
                seconds = found if isinstance(found, str) else found.seconds
                part.point(PANEL, "stays", way, size, seconds)
                if isinstance(found, str):
                    yield [sized(size), way, found, *["–"] * (len(HEAD) - 3)]
                    continue
                loss = _loss(stays, found.told)
                yield [
                    sized(size),
                    way,
                    duration(found.seconds),
                    duration(found.busy),
                    "–" if base is None else ratio(found.busy, base),
                    _growth(before.get(way), size, found.busy),
                    f"{found.memory / 2**20:,.0f} MiB" if found.memory else "–",
                    f"{loss:.4f}",
                    f"{usual - loss:.4f}",
                ]
                before[way] = size, found.busy


def _ways(stays: Stays, boosted: Learned | str) -> dict[str, Callable[[], Learned | str]]:
    return {
        JOINT: partial(_by_lifagu, stays, joint_template()),
        LATENT: partial(_by_lifagu, stays, latent_template()),
        BOOSTING: lambda: boosted,
    }


def _growth(before: tuple[int, float] | None, size: int, seconds: float) -> str:
    if before is None:
        return "–"
    return f"{math.log(seconds / before[1]) / math.log(size / before[0]):.1f}"


def _made(folder: Path, size: int, new: int) -> Stays:
    _, seen, hospital = drawn_stays(size)
    cells, new_seen, new_hospital = drawn_stays(new, seed=1)
    write_stays(folder / "stays", seen, hospital)
    write_stays(folder / "new", new_seen, new_hospital)
    return Stays(folder, seen, hospital, new_seen, new_hospital, cells)


# ---- how well


def _loss(stays: Stays, told: list[Floats]) -> float:
    """The mean log loss of the hidden cells of new stays."""
    losses = []
    for column, probabilities in enumerate(told):
        rows = np.flatnonzero(stays.new_seen[:, column] < 0)
        clipped = np.maximum(probabilities[rows], LEAST)
        clipped /= clipped.sum(axis=1, keepdims=True)
        losses.append(-np.log(clipped[np.arange(len(rows)), stays.cells[rows, column]]))
    return float(np.concatenate(losses).mean())


def _frequencies(stays: Stays) -> list[Floats]:
    """What is told by how often each label was seen."""
    found = []
    for column in range(HIDDEN):
        mine = stays.seen[:, column]
        counts = np.bincount(mine[mine >= 0], minlength=SIZES[column])
        found.append(np.tile(counts / counts.sum(), (len(stays.cells), 1)))
    return found


# ---- lifagu


def _by_lifagu(stays: Stays, template: dict[str, Any]) -> Learned | str:
    """Learn with the command, then ask for the cells of new stays."""
    model, learned = stays.folder / "model.json", stays.folder / "learned.json"
    write_template(model, template)
    asked_for = ("learn", str(model), "--out", str(learned), "--quiet", "--json")
    found = command(*asked_for, wait=WAIT)
    if isinstance(found, str):
        return found
    answers, new = stays.folder / "answers.csv", str(stays.folder / "new")
    asked = [f"C{column}" for column in range(HIDDEN)]
    told = stays.folder / "asked.json"
    told.write_text(json.dumps({**json.loads(learned.read_text()), "queries": asked}))
    asked_for = ("impute", str(told), "--db", new, "--out", str(answers), "--quiet")
    failed = command(*asked_for, wait=WAIT)
    if isinstance(failed, str):
        return failed
    return Learned(
        found.seconds,
        found.busy,
        found.memory,
        _answers(answers / "marginals.csv", len(stays.cells)),
    )


def _answers(path: Path, stays: int) -> list[Floats]:
    """Marginals by column, from a file with a row for each label of each cell."""
    found = [np.zeros((stays, size)) for size in SIZES[:HIDDEN]]
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            column, _, stay = row["variable"][1:-1].partition("(")
            found[int(column)][int(stay), int(row["value"][1:])] = float(row["probability"])
    return found


# ---- the peer


def _boosted(stays: Stays) -> Learned:
    """A model for each column from all others and the hospital."""
    os.environ["OMP_NUM_THREADS"] = "1"  # where others are at work, threads wait for one another
    from sklearn.ensemble import HistGradientBoostingClassifier

    seconds, busy, told = 0.0, 0.0, []
    known = np.column_stack((stays.seen, stays.hospital)).astype(np.float64)
    new = np.column_stack((stays.new_seen, stays.new_hospital)).astype(np.float64)
    for features in (known, new):
        features[features < 0] = np.nan
    for column in range(HIDDEN):
        others = np.delete(np.arange(known.shape[1]), column)
        rows = stays.seen[:, column] >= 0
        start, computed = time.perf_counter(), time.process_time()
        model = HistGradientBoostingClassifier(
            categorical_features=list(range(len(others))), early_stopping=True, random_state=0
        )
        model.fit(known[rows][:, others], stays.seen[rows, column])
        seconds += time.perf_counter() - start
        busy += time.process_time() - computed
        probabilities = np.zeros((len(new), SIZES[column]))
        probabilities[:, model.classes_] = model.predict_proba(new[:, others])
        told.append(probabilities)
    return Learned(seconds, busy, memory_peak(), told)


if __name__ == "__main__":
    main()
