"""Start-up: how long a small question waits before anything is computed, beside numpy alone."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import lifagu
from research.bench.part import begin, duration

ROOT = Path(__file__).parents[2]
QUESTIONS = {
    "a ground model": ("examples/epidemic.json", "Epid"),
    "one with a hole": ("examples/wards.json", "Recovers.p10"),
    "a relational model": ("examples/smokers.json", "Smokes(1)"),
}
COUNT = """
import sys
from lifagu.cli import main

main(sys.argv[1:])
sys.stderr.write(str(sum(name.split(".")[0] == "lifagu" for name in sys.modules)))
"""


def seconds(work: Callable[[], object], turns: int) -> float:
    """The median of several turns."""
    taken = []
    for _ in range(turns):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def started(*command: str) -> Callable[[], object]:
    """A Python process from its start to its end."""
    return lambda: subprocess.run(
        [sys.executable, *command], cwd=ROOT, check=True, capture_output=True
    )


def ask(model: str, name: str) -> None:
    """The work itself, where everything is imported."""
    lifagu.open(ROOT / model).ask(name)


def modules(*arguments: str) -> int:
    """How many of our modules a command imports."""
    command = [sys.executable, "-c", COUNT, *arguments]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stderr)


def main() -> None:
    """Measure and print."""
    part = begin(
        "Start-up",
        ["numpy"],
        "A command from its start to its end, without the work itself, by the time of `python -c",
        "'import numpy'`; medians, each in a process of its own.",
    )
    turns = 3 if part.small else 21
    numpy = seconds(started("-c", "import numpy"), turns)
    head = (
        "`lifagu query`",
        "modules",
        "work alone",
        "`import numpy`",
        "the command",
        "beside the work, by numpy",
    )
    ratios = []

    def rows() -> Iterator[tuple[str, ...]]:
        for title, (model, name) in QUESTIONS.items():
            work = seconds(partial(ask, model, name), turns)
            whole = seconds(started("-m", "lifagu", "query", model, name), turns)
            ratios.append((whole - work) / numpy)
            count = modules("query", model, name)
            yield (
                title,
                str(count),
                duration(work),
                duration(numpy),
                duration(whole),
                f"{ratios[-1]:.2f}×",
            )

    part.table(head, rows())
    part.in_short(
        f"a small question starts in {min(ratios):.1f} to {max(ratios):.1f} times what importing "
        "numpy takes."
    )


if __name__ == "__main__":
    main()
