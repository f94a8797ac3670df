"""From a table with gaps to a judged model: drafted and learned, as it grows."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from research.apart import Commanded, command
from research.bench.measure import Tables, duration, mebibytes, sized
from research.harness import Floats

ABOUT = (
    "Rows of ten columns of three labels, told by one of four hidden sorts and by one another; a "
    "quarter of the cells is empty. `lifagu init` drafts, `lifagu validate` hides a fifth of what "
    "is there, learns without it, and predicts it. Log loss: frequencies / lifagu / all that the "
    "generator knows but the sorts. Seconds of all threads."
)
HEAD = ["rows", "init", "validate", "memory", "log loss"]
COLUMNS, LABELS, SORTS = 10, 3, 4


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Drafted and learned", HEAD, _rows(small)


def _rows(small: bool) -> Iterator[list[str]]:
    for rows in (300,) if small else (1_000, 10_000, 100_000):
        tables, cells, seen = _drawn(rows)
        with tempfile.TemporaryDirectory() as folder:
            source, draft = Path(folder) / "rows.csv", Path(folder) / "draft.json"
            with source.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", *(f"c{column}" for column in range(COLUMNS))])
                for number, (row, there) in enumerate(zip(cells.tolist(), seen, strict=True)):
                    labels = [
                        f"v{each}" if shown else "" for each, shown in zip(row, there, strict=True)
                    ]
                    writer.writerow([f"r{number}", *labels])
            init = command("init", str(source), "--out", str(draft), "--quiet", wait=3_600.0)
            judged: Commanded | str = init
            if not isinstance(init, str):
                judged = command("validate", str(draft), "--json", "--quiet", wait=3_600.0)
        if isinstance(init, str) or isinstance(judged, str):
            yield [sized(rows), str(init), str(judged), "–", "–"]
            continue
        told = json.loads(judged.printed)
        losses = (told["baseline"]["log_loss"], told["log_loss"], _known(tables, cells, seen))
        times = [duration(init.busy), duration(judged.busy)]
        memory = mebibytes(max(init.memory, judged.memory))
        yield [sized(rows), *times, memory, " / ".join(f"{each:.3f}" for each in losses)]


def _drawn(rows: int) -> tuple[Floats, np.ndarray, np.ndarray]:
    """Tables sorts × columns × labels, the cells, and which of them are there."""
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(LABELS, 0.7), (SORTS, COLUMNS))
    chances = tables[rng.integers(SORTS, size=rows)]
    cells = (np.cumsum(chances, axis=2)[:, :, :-1] <= rng.random((rows, COLUMNS, 1))).sum(axis=2)
    return tables, cells, rng.random(cells.shape) >= 0.25


def _known(tables: Floats, cells: np.ndarray, seen: np.ndarray) -> float:
    """The log loss of each cell that is there, told by the other ones and the true tables."""
    columns = np.arange(COLUMNS)
    logs = np.log(np.maximum(tables[:, columns, cells], 1e-12)) * seen  # sorts × rows × columns
    others = np.exp(logs.sum(axis=2, keepdims=True) - logs)
    told = (others * tables[:, columns, cells]).sum(axis=0) / others.sum(axis=0)
    return float(-np.log(np.maximum(told, 1e-12))[seen].mean())
