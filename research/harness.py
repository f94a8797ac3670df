"""One harness for all campaigns: cells computed apart, kept as small files, told on one page.

A cell (what, how large, which seed) decides about all its randomness. Its file is written whole or
not at all, and is computed with the settings it names. So whatever was interrupted goes on where it
stopped when it is called again, and more seeds or sizes may be added later.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lifagu

Floats = NDArray[np.float64]
Settings = Mapping[str, Any]
Line = dict[str, Any]  # of a table of results, by column
BUILD = Path(__file__).parents[1] / "build"


class Cell(NamedTuple):
    """What is run (a generator, a scenario, a part), how large, and the seed of all randomness."""

    group: str
    size: int
    seed: int

    @property
    def file_name(self) -> str:
        """The file it is kept in."""
        return f"{self.group}-{self.size}-{self.seed}.json".replace(": ", "--").replace(" ", "-")


class Outcome(NamedTuple):
    """What came of a cell: facts about it as a whole, and its rows."""

    cell: Cell
    facts: dict[str, Any]
    rows: list[Line]


class Campaign(NamedTuple):
    """What a campaign is called with: where results go, which seeds, how many processes."""

    out: Path
    seeds: range
    jobs: int


# ---- the command line


def parser(about: str | None, folder: str, seeds: int) -> argparse.ArgumentParser:
    """What every campaign understands; its results go to build/FOLDER unless somebody says else."""
    made = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    made.add_argument("--out", type=Path, default=BUILD / folder, help="folder for all results")
    made.add_argument("--seeds", type=int, default=seeds, help=f"how many seeds (default {seeds})")
    made.add_argument("--first-seed", type=int, default=0, help="the seeds from this on")
    made.add_argument("--jobs", type=int, default=1, help="processes side by side")
    made.add_argument("--small", action="store_true", help="small sizes, to see that all works")
    return made


def campaign(options: argparse.Namespace) -> Campaign:
    """The same as a value."""
    first = options.first_seed
    return Campaign(options.out, range(first, first + options.seeds), options.jobs)


def chosen(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """These names, each once; whoever names another one is told which there are."""
    there = list(known)
    if unheard := [name for name in names if name not in there]:
        sys.exit(f"error: there is no {unheard[0]!r}; choose from {', '.join(there)}")
    return list(dict.fromkeys(names))


# ---- running and resuming


def gather(
    wanted: Campaign,
    cells: Sequence[Cell],
    settings: Settings,
    compute: Callable[[Settings, Cell], Outcome],
) -> list[Outcome]:
    """The outcomes of all cells, in order; kept ones from the folder, others computed apart.

    A cell that fails is told with its reason and is not kept; the others go on.
    """
    store = wanted.out / "cells"
    store.mkdir(parents=True, exist_ok=True)
    settings = {"version": lifagu.__version__, **settings}
    found = {cell: _kept(store / cell.file_name, cell, settings) for cell in cells}
    missing = [cell for cell in cells if found[cell] is None]
    for cell, future, seconds in _computed(compute, settings, missing, wanted.jobs):
        if problem := future.exception():
            words = (str(problem) or type(problem).__name__).splitlines()[0]
            say(f"{cell.file_name}: failed: {words}")
            found[cell] = Outcome(cell, {"failed": words}, [])
            continue
        outcome = future.result()
        write_whole(store / cell.file_name, _text(outcome, settings))
        found[cell] = outcome
        say(f"{cell.file_name} after {seconds:.1f} s")
    return [kept for cell in cells if (kept := found[cell]) is not None]


def whole(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that did not fail."""
    return [each for each in outcomes if "failed" not in each.facts]


def status(outcomes: Iterable[Outcome]) -> int:
    """What the program ends with: 1 if something failed."""
    return int(any("failed" in each.facts for each in outcomes))


def _computed(
    compute: Callable[[Settings, Cell], Outcome],
    settings: Settings,
    cells: Sequence[Cell],
    jobs: int,
) -> Iterator[tuple[Cell, Future[Outcome], float]]:
    """Outcomes as they come; each job has a process of its own, which may have children."""
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        of = {pool.submit(compute, settings, cell): cell for cell in cells}
        for future in as_completed(of):
            yield of[future], future, time.perf_counter() - start


def _kept(path: Path, cell: Cell, settings: Settings) -> Outcome | None:
    """The outcome in a file, if there is one and it was computed with these settings."""
    if not path.exists():
        return None
    kept = json.loads(path.read_text())
    if kept["settings"] != json.loads(json.dumps(settings)):
        sys.exit(f"error: {path} was computed with other settings; name another folder by --out")
    return Outcome(cell, kept["facts"], kept["rows"])


def _text(outcome: Outcome, settings: Settings) -> str:
    rows = ",\n".join(json.dumps(row) for row in outcome.rows)
    head, facts = json.dumps(settings), json.dumps(outcome.facts)
    return f'{{"settings": {head},\n"facts": {facts},\n"rows": [\n{rows}\n]}}\n'


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(text)
    aside.replace(path)


def say(text: str) -> None:
    """Progress, beside what is found."""
    print(text, file=sys.stderr, flush=True)


# ---- reporting


def report(wanted: Campaign, tables: Mapping[str, Sequence[Line]], page: str) -> None:
    """Write tables as CSV and the page as report.md, and print the page."""
    for name, rows in tables.items():
        lines = [",".join(rows[0]), *(",".join(map(_field, row.values())) for row in rows)]
        write_whole(wanted.out / f"{name}.csv", "\n".join(lines) + "\n")
    write_whole(wanted.out / "report.md", page)
    print(page)


def _field(value: Any) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def of_rows(outcomes: Iterable[Outcome], names: Sequence[str]) -> list[Line]:
    """All rows of all cells, each with what its cell is, under these names."""
    return [
        dict(zip(names, each.cell, strict=True)) | row for each in outcomes for row in each.rows
    ]


def of_cells(outcomes: Iterable[Outcome], names: Sequence[str], facts: Sequence[str]) -> list[Line]:
    """One row per cell: what it is, under these names, and these facts about it."""
    return [
        dict(zip(names, each.cell, strict=True)) | {name: each.facts[name] for name in facts}
        for each in outcomes
    ]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the finite numbers, None without any."""
    there = [value for value in values if value is not None and math.isfinite(value)]
    return sum(there) / len(there) if there else None


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(["d", "mean"], [["2", "0.1"]]))
    | d | mean |
    |---|---|
    | 2 | 0.1 |
    """
    lines = [f"| {' | '.join(each)} |" for each in (header, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(header)}", *lines[1:]])


def number(value: float | None, digits: int = 2) -> str:
    """A number with so many significant digits, exponents where they read better; – if None.

    >>> number(0.00123), number(12345.0), number(0.0), number(1e-7), number(None)
    ('0.0012', '12345', '0', '1e-07', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def percent(value: float | None) -> str:
    """A share in per cent.

    >>> percent(0.25), percent(None)
    ('25 %', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{100 * value:.0f} %"


# ---- divergence


def divergence(truth: Floats, answer: Floats) -> Floats:
    """KL(truth ‖ answer) = Σ p ln(p / q) in nats, over the last axis: p true, q answered.

    0 ln 0 = 0, so a value that is impossible in truth costs nothing; infinite iff the answer rules
    out a value that is possible. As both sum to 1, the sum is taken of p ln(p / q) − p + q instead,
    whose terms are never negative and lose no digits where p and q nearly agree: equal
    distributions have divergence 0, not some rounding error.

    >>> float(divergence(np.array([0.5, 0.5]), np.array([0.5, 0.5])))
    0.0
    >>> round(float(divergence(np.array([1.0, 0.0]), np.array([0.25, 0.75]))), 6)  # ln 4
    1.386294
    >>> float(divergence(np.array([0.25, 0.75]), np.array([1.0, 0.0])))
    inf
    """
    possible = (truth > 0) & (answer > 0)
    p, q = np.where(possible, truth, 1.0), np.where(possible, answer, 1.0)
    near = np.abs(p - q) <= q / 2
    log_ratio = np.where(near, np.log1p(np.where(near, p - q, 0.0) / q), np.log(p) - np.log(q))
    terms = np.where(possible, p * log_ratio - (p - q), answer)
    terms = np.where((truth > 0) & (answer <= 0), np.inf, terms)
    total: Floats = np.maximum(terms.sum(axis=-1), 0.0)
    return total
