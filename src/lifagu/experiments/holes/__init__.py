"""A suite that tells methods of filling apart: several factors each, and hidden cohorts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifagu.basics.progress import Tell
from lifagu.experiments.campaign import Cell, gather
from lifagu.experiments.holes.figure import draw_figure
from lifagu.experiments.holes.report import findings_of, report
from lifagu.experiments.holes.runs import FACTS, run
from lifagu.experiments.holes.scenarios import SCENARIOS
from lifagu.experiments.holes.summary import calibrations, summarised
from lifagu.experiments.results import Results, chosen, of_cells, of_rows, write_results

__all__ = ["run_holes"]

NAMES = ("scenario", "individuals", "seed")


def run_holes(
    folder: Path,
    *,
    scenarios: Sequence[str] = tuple(SCENARIOS),
    individuals: int = 200,
    seeds: int = 5,
    completions: int = 16,
    jobs: int = 1,
    resume: bool = False,
    progress: Tell | None = None,
) -> Results:
    """Run the suite and write its files into a folder.

    individuals: in scenarios that do not say otherwise; seeds: how many hospitals of each, seeded
    0, 1, …;
    completions: how many combinations of competing tables mixtures and bounds consider.
    """
    cells = [
        Cell(name, SCENARIOS[name].individuals or individuals, seed)
        for name in chosen(scenarios, SCENARIOS, "scenario")
        for seed in range(seeds)
    ]
    settings = {"completions": completions}
    outcomes = gather(folder, cells, settings, run, jobs=jobs, resume=resume, progress=progress)
    lines, calibration = summarised(outcomes), calibrations(outcomes)
    findings = findings_of(lines)
    tables = {
        "results": of_rows(outcomes, NAMES),
        "cells": of_cells(outcomes, NAMES, FACTS),
        "summary": lines,
        "calibration": calibration,
    }
    return write_results(
        folder,
        tables,
        findings,
        lambda path: draw_figure(path, lines, calibration),
        lambda figure: report(lines, outcomes, findings, figure),
    )
