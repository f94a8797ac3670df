"""Start-up: how long a small question waits before anything is computed, beside numpy alone."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import lifagu
from research.bench.measure import Tables, duration, timed

ABOUT = (
    "A command from its start to its end, without the work itself, by the time of `python -c "
    "'import numpy'`; medians, each in a process of its own."
)
HEAD = (
    *("`lifagu query`", "modules", "work alone", "`import numpy`", "the command"),
    "beside the work, by numpy",
)
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


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Start-up", HEAD, _rows(3 if small else 21)


def _rows(turns: int) -> Iterator[list[str]]:
    numpy = _median(partial(_started, "-c", "import numpy"), turns)
    for title, (model, name) in QUESTIONS.items():
        work = _median(partial(_ask, model, name), turns)
        whole = _median(partial(_started, "-m", "lifagu", "query", model, name), turns)
        count = _started("-c", COUNT, "query", model, name).stderr
        times = map(duration, (work, numpy, whole))
        yield [title, count, *times, f"{(whole - work) / numpy:.2f}×"]


def _median(work: Callable[[], object], turns: int) -> float:
    return statistics.median(timed(work)[1] for _ in range(turns))


def _started(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, check=True, capture_output=True, text=True
    )


def _ask(model: str, name: str) -> object:
    """The work itself, where everything is imported."""
    return lifagu.open(ROOT / model).ask(name)
