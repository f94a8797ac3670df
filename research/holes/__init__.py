"""A suite that tells methods of filling apart: several factors each, and hidden cohorts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifagu.basics.progress import Tell
from research.campaign import Cell, Line, Outcome, Settings, gather
from research.holes.figure import draw_figure
from research.holes.noisy.figure import draw_noisy
from research.holes.noisy.report import noisy_goals, noisy_report
from research.holes.noisy.runs import NOISY_FACTS, run_noisy
from research.holes.noisy.scenarios import NOISY
from research.holes.noisy.summary import noisy_summary
from research.holes.report import findings_of, goals_of, page, report
from research.holes.runs import FACTS, run
from research.holes.scenarios import SCENARIOS
from research.holes.summary import calibrations, summarised
from research.results import Finding, Results, chosen, of_cells, of_rows, write_results

__all__ = ["run_holes"]

NAMES = ("scenario", "individuals", "seed")
SUITES = {"exact": tuple(SCENARIOS), "noisy": tuple(NOISY)}
EXACT_INDIVIDUALS, NOISY_INDIVIDUALS = 200, 400


def run_holes(
    folder: Path,
    *,
    scenarios: Sequence[str] = tuple(SUITES),
    individuals: int | None = None,
    seeds: int = 5,
    first_seed: int = 0,
    completions: int = 16,
    draws: int = 200,
    jobs: int = 1,
    resume: bool = False,
    progress: Tell | None = None,
) -> Results:
    """Run the suite and write its files into a folder.

    scenarios: their names; "exact" and "noisy" are all with exact and with estimated tables.
    individuals: in scenarios that do not say otherwise, by default 200, with estimated tables 400.
    seeds: how many of each, from the first seed on. completions: how many combinations of competing
    tables mixtures and bounds consider. draws: of estimated tables, for intervals.
    """
    named = [name for each in scenarios for name in SUITES.get(each, (each,))]
    cells = [
        Cell(name, _size(name, individuals), first_seed + seed)
        for name in chosen(named, (*SCENARIOS, *NOISY), "scenario")
        for seed in range(seeds)
    ]
    settings = {"completions": completions, "draws": draws}
    outcomes = gather(folder, cells, settings, _run, jobs=jobs, resume=resume, progress=progress)
    exact = _Exact([each for each in outcomes if each.cell.group in SCENARIOS])
    noisy = _Noisy([each for each in outcomes if each.cell.group in NOISY])
    suites = [suite for suite in (exact, noisy) if suite.outcomes]
    findings = [finding for suite in suites for finding in suite.findings]
    return write_results(
        folder,
        {name: table for suite in suites for name, table in suite.tables.items()},
        findings,
        lambda path: [figure for suite in suites for figure in suite.drawn(path)],
        lambda figures: page(findings, figures, [suite.report for suite in suites]),
    )


def _size(scenario: str, individuals: int | None) -> int:
    if scenario in NOISY:
        return individuals or NOISY_INDIVIDUALS
    return SCENARIOS[scenario].individuals or individuals or EXACT_INDIVIDUALS


def _run(settings: Settings, cell: Cell) -> Outcome:
    return (run_noisy if cell.group in NOISY else run)(settings, cell)


class _Exact:
    """What the suite of exact tables leaves."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        self._lines, self._calibration = summarised(outcomes), calibrations(outcomes)

    @property
    def findings(self) -> list[Finding]:
        return [*goals_of(self._lines, self._calibration), *findings_of(self._lines)]

    @property
    def tables(self) -> dict[str, list[Line]]:
        return {
            "results": of_rows(self.outcomes, NAMES),
            "cells": of_cells(self.outcomes, NAMES, FACTS),
            "summary": self._lines,
            "calibration": self._calibration,
        }

    @property
    def report(self) -> str:
        return report(self._lines, self.outcomes)

    def drawn(self, path: Path) -> list[Path]:
        return draw_figure(path, self._lines, self._calibration)


class _Noisy:
    """What the suite of estimated tables leaves."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        self._lines, self._calibration = noisy_summary(outcomes), calibrations(outcomes)

    @property
    def findings(self) -> list[Finding]:
        return noisy_goals(self._lines, self._calibration)

    @property
    def tables(self) -> dict[str, list[Line]]:
        return {
            "noisy_results": of_rows(self.outcomes, NAMES),
            "noisy_cells": of_cells(self.outcomes, NAMES, NOISY_FACTS),
            "noisy_summary": self._lines,
            "noisy_calibration": self._calibration,
        }

    @property
    def report(self) -> str:
        return noisy_report(self._lines, self._calibration, self.outcomes)

    def drawn(self, path: Path) -> list[Path]:
        return draw_noisy(path.with_name("noisy"), self._lines, self._calibration)
