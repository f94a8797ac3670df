"""Times beside peers and floors: `make bench BENCH="--only colour"`, `BENCH="--small"`."""

from __future__ import annotations

import sys

from research import harness
from research.bench.measure import machine
from research.bench.parts import PARTS, run
from research.harness import Cell, Outcome, table

PACKAGES = (
    *("lifagu", "numpy", "pyagrum", "pgmpy", "opt_einsum", "cotengra", "networkx"),
    *("scikit-network", "igraph", "pynauty", "duckdb"),
)
HOW_TO_READ = """\
Ratios are what counts; absolute times are context. Peers and floors ran in the same minutes on the
same machine, each in a process of its own. A peer that fails is shown as such: *nan*, *inf*,
*memory*, *>15 s*, or its error."""


def main() -> int:
    """Measure the parts that are named, keep those that were measured before, and report."""
    parser = harness.parser(__doc__, "bench", seeds=1)
    parser.add_argument("--only", nargs="+", action="extend", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--limit", type=float, default=15.0, help="seconds for each peer")
    options = parser.parse_args()
    campaign = harness.campaign(options)
    if options.small:
        campaign = campaign._replace(out=campaign.out.with_name(f"{campaign.out.name}-small"))
    about = machine(PACKAGES)
    settings = {"small": options.small, "limit": options.limit, "machine": about}
    named = harness.chosen(options.only or PARTS, PARTS)
    cells = {name: Cell(name, 0, 0) for name in PARTS}
    for name in named:  # measured anew, whatever was kept
        (campaign.out / "cells" / cells[name].file_name).unlink(missing_ok=True)
    there = [
        name
        for name in PARTS
        if name in named or (campaign.out / "cells" / cells[name].file_name).exists()
    ]
    outcomes = harness.gather(campaign, [cells[name] for name in there], settings, run)
    head = table(["", ""], about.items())
    parts = ["# Beside peers and floors", head, HOW_TO_READ, *map(section, outcomes)]
    harness.report(campaign, {}, "\n\n".join(parts) + "\n")
    return harness.status(outcomes)


def section(outcome: Outcome) -> str:
    """A part with its tables, or why there are none."""
    title = f"## {PARTS[outcome.cell.group]}"
    if "failed" in outcome.facts:
        return f"{title}\n\n**Failed:** {outcome.facts['failed']}"
    parts = [title, f"In {outcome.facts['seconds']:.0f} s. {outcome.facts['about']}"]
    for each in outcome.rows:
        parts += [f"### {each['title']}", table(each["head"], each["rows"])]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
