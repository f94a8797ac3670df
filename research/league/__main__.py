"""Real data: lifagu beside what people would really use, on the same hidden cells."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from research import harness
from research.harness import Cell, Outcome, number, table
from research.league.databases import DATA, prepared
from research.league.matches import BY_HAND, DRAFTED, GROUPS, Played, prepare
from research.league.rivals import RIVALS
from research.league.scores import calibration_error, interval
from research.league.tasks import TASKS

SMALL = ("autocomplete uwcse", "new groups schools")
OURS = (DRAFTED, BY_HAND)
WAYS = (*OURS, *RIVALS)
HEAD = (
    *("task", "cells", "frequencies", "best rival", DRAFTED, "lifagu − best (95 %)", ""),
    "seconds: lifagu, best rival",
)
HOW_TO_READ = f"""\
Cells of foreign databases are hidden, and everybody predicts exactly the same ones. *lifagu* is
`lifagu init` on the database in which these cells are NULL, so that it has never seen them, and
`lifagu validate --hidden` on what it drafted; *lifagu by hand* is a template of some dozen lines.
Log loss in nats a cell; *+ features*: rates of groups and summaries along foreign keys, made by
somebody who knows the database. Intervals draw {GROUPS} groups of individuals with all their cells.
What each task hides stands in `league/tasks.py`."""


def main() -> int:
    """Play what is asked for, and report on it."""
    parser = harness.parser(__doc__, "league", seeds=5)
    parser.add_argument("--data", type=Path, default=DATA, help="where downloaded files are")
    parser.add_argument("--only", nargs="+", default=[], help="tasks whose name has such words")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), help="who takes part")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a match and way")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    campaign = harness.campaign(options)
    if options.small:
        campaign = campaign._replace(seeds=range(2))
    words = options.only or (SMALL if options.small else [""])
    tasks = [task for task in TASKS if any(word in task.name for word in words)]
    names = dict.fromkeys(task.database for task in tasks)
    sources = prepared(names, options.data, campaign.out / "databases", harness.say)
    tasks = [task for task in tasks if task.database in sources]
    if not tasks:
        sys.exit("error: nothing to play: no task has its data, or none is called like that")
    played = Played(campaign.out, options.limit)
    for task in tasks:
        for seed in campaign.seeds:
            source = sources[task.database]
            prepare(task, seed, source, played.match(task, seed), options.limit)
    ways = harness.chosen(options.ways, WAYS)
    cells = [
        Cell(f"{task.name}: {way}", 0, seed)
        for task in tasks
        for seed in campaign.seeds
        for way in ways
    ]
    outcomes = harness.gather(campaign, cells, {"limit": options.limit}, played.play)
    harness.report(campaign, {}, page(outcomes))
    return harness.status(outcomes)


def page(outcomes: Sequence[Outcome]) -> str:
    """Who is ahead, task by task, and what everybody told."""
    tasks: dict[str, dict[str, Standing]] = {}
    failures = []
    for group in dict.fromkeys(each.cell.group for each in outcomes):
        task, _, way = group.partition(": ")
        own = [each for each in outcomes if each.cell.group == group]
        failed = [each.facts.get("failure") or each.facts.get("failed") for each in own]
        if any(failed):
            failures.append([task, way, next(filter(None, failed))])
        else:
            tasks.setdefault(task, {})[way] = Standing(own)
    parts = ["# A league on real data", HOW_TO_READ]
    parts.append(table(HEAD, [_ahead(name, of) for name, of in tasks.items() if DRAFTED in of]))
    ways = list(dict.fromkeys(way for of in tasks.values() for way in of))
    rows = [[way, *(_told(of.get(way)) for of in tasks.values())] for way in ways]
    parts += ["## Log loss; accuracy, calibration error", table(["way", *tasks], rows)]
    kinds = [
        [f"{name}, {kind}", *(f"{of[way].of(kind):.3f}" if way in of else "–" for way in ways)]
        for name, of in tasks.items()
        for kind in next(iter(of.values())).kinds
    ]
    if kinds:
        parts += ["## Log loss by how much is known", table(["task", *ways], kinds)]
    if failures:
        parts += ["## Who told nothing", table(["task", "way", "why"], failures)]
    return "\n\n".join(parts) + "\n"


class Standing:
    """What a way told in all seeds of a task: sums over groups of individuals, and its cost."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        rows = [row for each in outcomes for row in each.rows]
        self.kind = np.array([row["kind"] for row in rows])
        self.group = np.array([row["group"] for row in rows])
        self.cells, self.losses, self.right = (
            np.array([row[name] for row in rows]) for name in ("cells", "loss", "right")
        )
        self.loss = float(self.losses.sum() / self.cells.sum())
        self.accuracy = float(self.right.sum() / self.cells.sum())
        self.off = calibration_error(np.sum([each.facts["bins"] for each in outcomes], axis=0))
        self.seconds = sum(each.facts["seconds"] for each in outcomes) / len(outcomes)

    @property
    def kinds(self) -> list[str]:
        """How much may be known beside a cell, if that differs."""
        return sorted({*self.kind.tolist()} - {""}, key=lambda kind: int(kind.split()[0]))

    def of(self, kind: str) -> float:
        """The loss where so much is known."""
        here = self.kind == kind
        return float(self.losses[here].sum() / self.cells[here].sum())


def _ahead(task: str, of: dict[str, Standing]) -> list[str]:
    ours = of[DRAFTED]
    best = min((way for way in of if way not in OURS), key=lambda way: of[way].loss, default="")
    row = [task, f"{ours.cells.sum():,}"]
    row.append(f"{of['frequencies'].loss:.3f}" if "frequencies" in of else "–")
    if not best:
        return [*row, "–", f"{ours.loss:.3f}", "–", "–", number(ours.seconds)]
    apart = ours.losses - of[best].losses
    low, high = interval(apart, ours.cells, ours.group)
    verdict = "ahead" if high < 0 else "behind" if low > 0 else "tied"
    return [
        *row,
        f"{of[best].loss:.3f} {best}",
        f"{ours.loss:.3f}",
        f"{ours.loss - of[best].loss:+.3f} ({low:+.3f} to {high:+.3f})",
        f"**{verdict}**",
        f"{ours.seconds:.1f}, {of[best].seconds:.1f}",
    ]


def _told(standing: Standing | None) -> str:
    if standing is None:
        return "–"
    return f"{standing.loss:.3f}; {standing.accuracy:.3f}, {standing.off:.3f}"


if __name__ == "__main__":
    sys.exit(main())
