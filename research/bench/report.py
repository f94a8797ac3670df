"""All benchmarks in one report: each part in a process of its own, one after the other.

    python -m research.bench.report [--only PART]... [--small] [--far] [--out FOLDER] [--list]

Writes FOLDER/REPORT.md, growth curves as FOLDER/figures/PART.svg and their points as
FOLDER/figures/points.csv. With ``--only`` the other parts stay as they were. A part that fails is
shown with what it printed and why it ended; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from lifagu.errors import MissingExtraError
from lifagu.formats.files import write_bytes
from research.bench.growth import Point, figure, read_points, write_points
from research.bench.machine import facts
from research.bench.part import IN_SHORT, MEASURED, end_when_asked
from research.bench.running import Progress, Ran, run

PARTS = (  # files beside this
    "ground",
    "lifted",
    "relational",
    "own_tables",
    "colour",
    "transfer",
    "posterior",
    "lifting",
    "files",
    "end_to_end",
    "databases",
    "impute",
    "learning",
    "scale",
)
PACKAGES = (
    *(
        "lifagu",
        "numpy",
        "scipy",
        "pyagrum",
        "pgmpy",
        "opt_einsum",
        "cotengra",
        "networkx",
        "scikit-network",
        "scikit-learn",
    ),
    *("igraph", "pynauty", "duckdb", "sqlalchemy", "psycopg", "matplotlib", "pyspark"),
)
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SMALL = ROOT / "build" / "bench-small"
PATIENCE, PATIENCE_FAR = 1_800.0, 86_400.0  # seconds for a part
LONGER = {**{"lifted": 3_600.0, "relational": 3_600.0, "own_tables": 3_600.0}}
MARK = "<!-- part: {} -->"
HOW_TO_READ = """Written by `make bench`, last on {date}; `make bench BENCH="--only PART"` renews
one part. What each part shows, and how to repeat it: [research/README.md](../README.md).

Ratios are what counts; absolute times are context. Peers and floors ran in the same minutes on the
same machine, one part after the other, each in a process of its own; each says how busy the machine
was otherwise. A peer that fails is shown as such: *nan*, *inf*, *memory*, *>15 s*, or its error.
What the parts say in short:"""


@dataclass(frozen=True)
class Section:
    """The Markdown of a part, and the points of its curves."""

    text: str
    points: list[Point]


def main() -> int:
    """Run the parts and write the report."""
    options = _options()
    if options.list:
        print("\n".join(PARTS))
        return 0
    out = options.out or (SMALL if options.small else HERE)
    about = _about(options)
    sections = _kept(out) if options.only else {}
    if sections and (changed := differences((out / "REPORT.md").read_text(), about)):
        print(
            f"error: REPORT.md is from another machine or other settings ({changed}): run all "
            f"parts, or use --out",
            file=sys.stderr,
        )
        return 2
    end_when_asked()
    chosen = [name for name in PARTS if not options.only or name in options.only]
    failed: list[str] = []
    for number, name in enumerate(chosen, 1):
        ran = _run(name, f"[{number}/{len(chosen)}] {name}", options)
        failed += [name] if ran.reason else []
        sections[name] = Section(
            section(name, ran), [{"part": name, **point} for point in ran.points]
        )
        write(out, about, {each: sections[each] for each in PARTS if each in sections}, name)
    print(
        f"{out / 'REPORT.md'} is written; {len(failed)} of {len(chosen)} parts failed",
        file=sys.stderr,
    )
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add(
        "--only",
        action="append",
        choices=PARTS,
        metavar="PART",
        help="measure this part (may be repeated)",
    )
    add(
        "--small",
        action="store_true",
        help="small sizes, to see that all works; into build/bench-small unless --out",
    )
    add(
        "--limit",
        type=float,
        default=15,
        metavar="SECONDS",
        help="time for each peer (default: 15)",
    )
    add("--far", action="store_true", help="parts that can go on as far as disk and patience allow")
    defaults = ", ".join(
        [f"{PATIENCE:g}", *(f"{seconds:g} for {name}" for name, seconds in LONGER.items())]
    )
    add(
        "--patience",
        type=float,
        metavar="SECONDS",
        help=f"time for each part (default: {defaults})",
    )
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where the report goes (default: the folder of this file)",
    )
    add("--list", action="store_true", help="name the parts, and end")
    return parser.parse_args()


def _run(name: str, title: str, options: argparse.Namespace) -> Ran:
    command = [sys.executable, "-m", f"research.bench.{name}", "--limit", f"{options.limit:g}"]
    progress = Progress(title)
    command += ["--small"] * options.small + ["--far"] * options.far
    patience = PATIENCE_FAR if options.far else LONGER.get(name, PATIENCE)
    ran = run(command, options.patience or patience, progress)
    progress.end(f"{ran.reason or 'done'} ({ran.seconds:.0f} s)")
    return ran


# ---- the page


def _about(options: argparse.Namespace) -> dict[str, str]:
    """Machine, versions and settings: what must be the same for all parts of a report."""
    settings = f"{'small' if options.small else 'full'} sizes, {options.limit:g} s for each peer"
    return {**facts(PACKAGES), "settings": settings}


def differences(page: str, about: dict[str, str]) -> str:
    """In what a report differs from this machine and these settings; "" if in nothing.

    A package that the report does not name came with a new part: nothing in the report was measured
    with it.

    >>> here = {"memory": "24 GiB", "versions": "numpy 2.4.6, pyspark 4.3.0"}
    >>> differences("| memory | 24 GiB |\\n| versions | numpy 2.4.6 |", here)
    ''
    >>> differences("| memory | 16 GiB |\\n| versions | numpy 2.4.6, pyspark not installed |", here)
    'memory: 16 GiB, here 24 GiB; pyspark: not installed, here 4.3.0'
    """
    there = dict(
        re.findall(r"^\| (.+?) \| (.*) \|$", page.partition(MARK.split("{")[0])[0], re.MULTILINE)
    )
    facts_there = {name: there.get(name, "unknown") for name in about if name != "versions"}
    both = {**facts_there, **_packages(there.get("versions", ""))}
    here = {**about, **_packages(about["versions"])}
    changed = [name for name, value in both.items() if here.get(name, value) != value]
    return "; ".join(f"{name}: {both[name]}, here {here[name]}" for name in changed)


def _packages(versions: str) -> dict[str, str]:
    """The version of each package in a list of them."""
    return dict(each.split(" ", 1) for each in versions.split(", ") if each)


def section(name: str, ran: Ran) -> str:
    """What a part printed, one level down, with its conditions, figure, and failure, if any."""
    text = re.sub(r"^#", "##", ran.printed.strip(), flags=re.MULTILINE) or f"## {name}"
    title, _, rest = text.partition("\n")
    rest = re.sub(rf"^{MEASURED}.*\n*", "", rest.strip(), flags=re.MULTILINE)
    head = f"{MEASURED}{date.today()}, in {ran.seconds:.0f} s; {ran.conditions}."
    shown = [title, head, rest]
    if ran.reason:
        shown.append(f"**Failed:** {ran.reason}")
    if ran.points:
        shown.append(f"![{title.strip('# ')}: growth](figures/{name}.svg)")
    return "\n\n".join(part for part in shown if part)


def write(out: Path, about: dict[str, str], sections: dict[str, Section], renewed: str) -> None:
    """Write the report with the figure of one part that was renewed."""
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    write_points(
        folder / "points.csv", [point for each in sections.values() for point in each.points]
    )
    if points := sections[renewed].points:
        try:
            figure(folder / renewed, points)
        except MissingExtraError as error:
            print(f"no figure: {error}", file=sys.stderr)
    parts = "\n\n".join(f"{MARK.format(name)}\n{each.text}" for name, each in sections.items())
    how_to_read = HOW_TO_READ.format(date=date.today())
    head = "\n".join(
        ["| | |\n|---|---|", *(f"| {name} | {value} |" for name, value in about.items())]
    )
    page = f"# Benchmarks\n\n{head}\n\n{how_to_read}\n\n{_at_a_glance(sections)}\n\n{parts}\n"
    write_bytes(out / "REPORT.md", page.encode())


def _at_a_glance(sections: dict[str, Section]) -> str:
    """One line for each line that a part gives in short, and for each failure."""
    lines = []
    for each in sections.values():
        title = each.text.partition("\n")[0].strip("# ")
        anchor = re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))
        for start in (IN_SHORT, "**Failed:** "):
            found = re.findall(rf"^{re.escape(start)}(.*)$", each.text, re.MULTILINE)
            lines += [
                f"- [{title}](#{anchor}): {'failed: ' * ('Failed' in start)}{text}"
                for text in found
            ]
    return "\n".join(lines)


def _kept(out: Path) -> dict[str, Section]:
    """The sections of the report that is there."""
    page = out / "REPORT.md"
    if not page.exists():
        return {}
    pieces = re.split(rf"^{MARK.format('(.*)')}\n", page.read_text(), flags=re.MULTILINE)[1:]
    points = read_points(out / "figures" / "points.csv")
    return {
        name: Section(text.strip(), [point for point in points if point["part"] == name])
        for name, text in zip(pieces[::2], pieces[1::2], strict=True)
        if name in PARTS
    }


if __name__ == "__main__":
    sys.exit(main())
