"""``lifagu experiment``: run a campaign, and show what was found and where it is written."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifagu.cli.output import ProgressLine, note, say, table

if TYPE_CHECKING:
    from lifagu.experiments.results import Finding, Results


def experiment(options: argparse.Namespace) -> None:
    """``lifagu experiment paper`` and ``lifagu experiment holes``."""
    shared = {name: getattr(options, name) for name in ("seeds", "first_seed", "jobs", "resume")}
    campaign = {"paper": _paper, "holes": _holes}[options.experiment]
    with closing(ProgressLine(options.quiet, bar=True)) as progress:
        results = campaign(options, {**shared, "progress": progress})
    for each in results.notes:
        note(f"note: {each}", options.quiet)
    say("\n\n".join(map(_shown, results.findings)))
    say("\n".join(["", *map(str, results.files)]))


def _paper(options: argparse.Namespace, shared: dict[str, Any]) -> Results:
    from lifagu.experiments.paper import run_paper

    sizes = [2**power for power in range(1, options.max_d.bit_length())]
    chosen = {"generators": options.generators} if options.generators else {}
    return run_paper(Path(options.out), sizes=sizes, timed=options.timed, **chosen, **shared)


def _holes(options: argparse.Namespace, shared: dict[str, Any]) -> Results:
    from lifagu.experiments.holes import run_holes

    chosen = {name: getattr(options, name) for name in ("individuals", "completions", "draws")}
    chosen |= {"scenarios": options.scenarios} if options.scenarios else {}
    return run_holes(Path(options.out), **chosen, **shared)


def _shown(finding: Finding) -> str:
    """A statement, and below it what was found."""
    published = f" (published: {finding.published})" if finding.published else ""
    found = [(name, each) if name else (each,) for name, each in finding.found.items()]
    return f"{finding.statement}{published}\n{table(found)}"
