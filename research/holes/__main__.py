"""Every way to fill holes side by side: `python -m research.holes --only share-10 records-20`."""

from __future__ import annotations

import sys

from research import harness
from research.harness import Cell
from research.holes.estimated.scenarios import NOISY
from research.holes.report import page, summary
from research.holes.scenarios import SCENARIOS
from research.holes.suites import SUITES, USUAL, run, size_of

NAMES = ("scenario", "individuals", "seed")


def main() -> int:
    """Run what is asked for and report on it."""
    parser = harness.parser(__doc__, "holes", seeds=5)
    text = "scenarios; exact and estimated are all of a suite"
    parser.add_argument("--only", nargs="+", default=list(SUITES), metavar="SCENARIO", help=text)
    parser.add_argument("--individuals", type=int, help=f"of each (default {USUAL})")
    options = parser.parse_args()
    if options.small:
        options.individuals, options.seeds = 30, 1
    campaign = harness.campaign(options)
    named = [name for each in options.only for name in SUITES.get(each, (each,))]
    cells = [
        Cell(name, size_of(name, options.individuals), seed)
        for name in harness.chosen(named, (*SCENARIOS, *NOISY))
        for seed in campaign.seeds
    ]
    outcomes = harness.gather(campaign, cells, {}, run)
    done = harness.whole(outcomes)
    lines = summary(done)
    sizes = " and ".join(map(str, sorted({each.cell.size for each in done})))
    tables = {"rows": harness.of_rows(done, NAMES)} if len(options.only) == 1 else {}
    told = f"{sizes} individuals, seeds {campaign.seeds[0]} to {campaign.seeds[-1]}."
    harness.report(campaign, tables, page(lines, told))
    return harness.status(outcomes)


if __name__ == "__main__":
    sys.exit(main())
