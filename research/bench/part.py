"""What every part of the benchmarks shares: options, heading, tables, and points of curves.

A part is a file that is run alone: ``python -m research.bench.NAME [--small] [--limit SECONDS]
[--far]``. It prints
Markdown: ``# title``, a line on where it was measured, text and tables, and lines **In short:**
that a report repeats at its top.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.bench.machine import machine

COLUMNS = ("panel", "unit", "curve", "size", "seconds", "failure")
MEASURED, IN_SHORT, FLOOR = "Measured: ", "**In short:** ", "floor: "


@dataclass(frozen=True)
class Part:
    """How a part was called: whether small, seconds for each peer, where points go, how far."""

    small: bool
    limit: float
    points: Path | None
    far: bool

    def text(self, *lines: str) -> None:
        """A paragraph."""
        print("\n".join(lines), end="\n\n", flush=True)

    def section(self, title: str, *lines: str) -> None:
        """A heading, and a paragraph."""
        self.text(f"## {title}")
        if lines:
            self.text(*lines)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[dict[str, str]]:
        """A table, row by row as they are measured; returned is each row by the head's names."""
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
        shown = []
        for row in rows:
            print(f"| {' | '.join(row)} |", flush=True)
            shown.append(dict(zip(head, row, strict=True)))
        print(flush=True)
        return shown

    def point(
        self, panel: str, unit: str, curve: str, size: float, seconds: float | str | None
    ) -> None:
        """One point of a growth curve: seconds at a size counted in units, or a word why not.

        Curves named "floor: …" are drawn as such.
        """
        if self.points is None or seconds is None:
            return
        failed = isinstance(seconds, str)
        with self.points.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(
                [
                    panel,
                    unit,
                    curve,
                    f"{size:g}",
                    "" if failed else f"{seconds:.4g}",
                    seconds if failed else "",
                ]
            )

    def in_short(self, text: str) -> None:
        """What the part shows, in one line."""
        self.text(f"{IN_SHORT}{text}")


def begin(title: str, packages: Iterable[str], *lines: str) -> Part:
    """Read the options and print the heading; {limit} in the text is each peer's seconds."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument(
        "--small", action="store_true", help="a few small sizes, to see that it works"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=15,
        metavar="SECONDS",
        help="time for each peer (default: 15)",
    )
    parser.add_argument(
        "--points", type=Path, metavar="FILE", help="add the points of growth curves to a CSV file"
    )
    parser.add_argument(
        "--far",
        action="store_true",
        help="go on as far as disk and patience allow, if the part can",
    )
    options = parser.parse_args()
    end_when_asked()
    part = Part(options.small, options.limit, options.points, options.far)
    part.text(f"# {title}")
    part.text(f"{MEASURED}{machine(packages)}")
    part.text(*(line.replace("{limit}", f"{part.limit:g}") for line in lines))
    return part


def end_when_asked() -> None:
    """On SIGTERM, leave in good order, so that child processes end as well."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))


def ratio(seconds: float, base: float) -> str:
    """How often base goes into seconds, to two digits."""
    return f"{float(f'{seconds / base:.2g}'):,g}×"


def duration(seconds: float) -> str:
    """Seconds in a unit that reads well."""
    if seconds < 0.9995e-3:
        return f"{1e6 * seconds:.3g} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def sized(count: float) -> str:
    """A number of things."""
    return f"{count:,.0f}"
