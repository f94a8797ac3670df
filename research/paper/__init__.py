"""The paper's evaluation, repeated: distance of answers from the truth, and run times.

Luttermann, Möller and Gehrke (2023), section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifagu.basics.progress import Tell
from research.campaign import Cell, gather
from research.paper.figure import draw_figure
from research.paper.report import findings_of, report
from research.paper.runs import FACTS, GENERATORS, run
from research.paper.summary import summarised
from research.results import Results, chosen, of_cells, of_rows, write_results

__all__ = ["run_paper"]

NAMES = ("generator", "d", "seed")


def run_paper(
    folder: Path,
    *,
    generators: Sequence[str] = tuple(GENERATORS),
    sizes: Sequence[int] = (2, 4, 8, 16, 32, 64, 128, 256),
    seeds: int = 20,
    first_seed: int = 0,
    timed: int = 5,
    jobs: int = 1,
    resume: bool = False,
    progress: Tell | None = None,
) -> Results:
    """Run the campaign and write its files into a folder.

    sizes: the d; seeds: how many ground truths of each, from the first seed on; timed: how many
    queries of each are timed.
    """
    cells = [
        Cell(generator, d, seed)
        for generator in chosen(generators, GENERATORS, "generator")
        for d in sorted(set(sizes))
        for seed in range(first_seed, first_seed + seeds)
    ]
    outcomes = gather(
        folder, cells, {"timed": timed}, run, jobs=jobs, resume=resume, progress=progress
    )
    lines = summarised(outcomes)
    findings = findings_of(lines, outcomes)
    tables = {
        "results": of_rows(outcomes, NAMES),
        "cells": of_cells(outcomes, NAMES, FACTS),
        "summary": lines,
    }
    return write_results(
        folder,
        tables,
        findings,
        lambda path: draw_figure(path, lines),
        lambda figure: report(lines, seeds, findings, figure),
    )
