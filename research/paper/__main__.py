"""The paper's evaluation: `make paper PAPER="--theta 0.5"`, or `--export FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from research import harness
from research.harness import Cell
from research.paper.figure import draw_figure
from research.paper.report import families, page
from research.paper.runs import FACTS, GENERATORS, exported, run

NAMES = ("generator", "d", "seed")


def main() -> int:
    """Run what is asked for and report on it."""
    parser = harness.parser(__doc__, "paper", seeds=20)
    parser.add_argument("--only", nargs="+", default=list(GENERATORS), metavar="GENERATOR")
    parser.add_argument("--max-d", type=int, default=256, help="sizes 2, 4, 8, … up to this")
    parser.add_argument("--theta", type=float, default=0.0, help="agreement that a table needs")
    parser.add_argument("--timed", type=int, default=5, help="queries of each that are timed")
    parser.add_argument("--export", type=Path, help="only write the instances there, as JSON")
    options = parser.parse_args()
    if options.small:
        options.max_d, options.seeds, options.timed = 8, 2, 1
    campaign = harness.campaign(options)
    cells = [
        Cell(generator, 2**power, seed)
        for generator in harness.chosen(options.only, GENERATORS)
        for power in range(1, options.max_d.bit_length())
        for seed in campaign.seeds
    ]
    if options.export:
        for cell in cells:
            exported(options.export, cell)
        print(f"{options.export}: {len(cells)} instances, each with its truth and its queries")
        return 0
    settings = {"timed": options.timed, "theta": options.theta}
    outcomes = harness.gather(campaign, cells, settings, run)
    found = families(harness.whole(outcomes))
    lines = [line for each in found for line in each.lines]
    drawn = draw_figure(campaign.out / "figure.svg", lines)
    figure = "![figure](figure.svg)" if drawn else "No figure: matplotlib is not installed."
    tables = {
        "queries": harness.of_rows(harness.whole(outcomes), NAMES),
        "cells": harness.of_cells(harness.whole(outcomes), NAMES, FACTS),
        "summary": lines,
    }
    harness.report(campaign, tables, page(found, options.theta, figure))
    return harness.status(outcomes)


if __name__ == "__main__":
    sys.exit(main())
