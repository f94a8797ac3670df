"""The league on real data: lifagu beside what people would really use, on the same hidden cells.

    python -m research.league.league [--data FOLDER] [--folder FOLDER] [--only WORD …] [--small]

Plays every match (see `tasks` for what is hidden, `rivals` for who takes part) and writes the page
REPORT.md with its figures. Hours are normal; what was played is kept in `--folder`, and the next
run goes on from there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

from research.bench.part import end_when_asked
from research.league.databases import DATA, prepared
from research.league.league_report import write_report
from research.league.matches import BY_HAND, DRAFTED, MATCHES, play
from research.league.rivals import RIVALS
from research.league.tasks import TASKS, Task

SEEDS, SMALL_SEEDS = 5, 2
PAGE = "REPORT.md"
SMALL = ("autocomplete uwcse", "new groups schools")
WAYS = (DRAFTED, BY_HAND, *RIVALS)
STRONGEST = (  # of their sort; those that take part in all tasks
    *(DRAFTED, BY_HAND, "frequencies", "group pooling", "random forest"),
    *("LightGBM", "LightGBM + features", "CatBoost", "CatBoost + features"),
)

# databases with many columns, on which each match takes minutes, and who stays away from them
LARGE = {"eicu": ("CatBoost",)}


def main() -> None:
    """Play what is asked for, and report on all that was played."""
    options = _options()
    end_when_asked()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        if not options.report_only:
            _played(options, folder)
        if not options.no_report:
            page = options.out or (folder if options.small else Path(__file__).parent) / PAGE
            if not write_report(folder, options.data, page):
                sys.exit("nothing was played: no task has its data, or none is called like that")
            print(page.read_text() if options.small else page)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A league on real data")
    parser.add_argument("--data", type=Path, default=DATA, help="where downloaded files are")
    parser.add_argument("--folder", type=Path, help="where databases and results are kept")
    parser.add_argument("--only", nargs="+", default=[], help="tasks whose name has such words")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS, help="who takes part")
    parser.add_argument("--seeds", type=int, help=f"of each task (default {SEEDS})")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds a match and rival")
    parser.add_argument("--small", action="store_true", help="two small tasks with two seeds")
    parser.add_argument("--report-only", action="store_true", help="play nothing")
    parser.add_argument("--no-report", action="store_true", help="only play")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"where to report (default: {PAGE} beside this)"
    )
    return parser.parse_args()


def _played(options: argparse.Namespace, folder: Path) -> None:
    start = time.perf_counter()

    def say(text: str) -> None:
        minutes = (time.perf_counter() - start) / 60
        print(f"{minutes:6.1f} min  {text}", file=sys.stderr, flush=True)

    tasks = [task for task in TASKS if _wanted(task, options)]
    names = dict.fromkeys(task.database for task in tasks)
    sources = prepared(names, options.data, folder, say)
    seeds = options.seeds or (SMALL_SEEDS if options.small else SEEDS)
    for seed in range(seeds):
        for task in (each for each in tasks if each.database in sources):
            match = folder / MATCHES / task.name / str(seed)
            ways = [way for way in options.ways if _takes_part(way, task)]
            play(task, seed, sources[task.database], match, ways, options.limit, say)


def _takes_part(way: str, task: Task) -> bool:
    if task.database in LARGE:
        return way in STRONGEST and way not in LARGE[task.database]
    return task.kind == "autocomplete" or way in STRONGEST


def _wanted(task: Task, options: argparse.Namespace) -> bool:
    words = options.only or (SMALL if options.small else [""])
    return any(word in task.name for word in words)


if __name__ == "__main__":
    main()
