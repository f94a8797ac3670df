"""One part run as a process of its own: what it printed, how long it took, and why it failed."""

from __future__ import annotations

import csv
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from research.bench.machine import busy_seconds, load
from research.bench.part import COLUMNS

GRACE = 10.0  # seconds between asking a part to end and ending it


@dataclass(frozen=True)
class Ran:
    """What a part printed, its points, why it failed ("" if not), seconds, how busy all was."""

    printed: str
    points: list[dict[str, str]]
    reason: str
    seconds: float
    conditions: str


def run(command: Sequence[str], patience: float, progress: Progress) -> Ran:
    """Run a part with ``--points FILE`` added; after `patience` seconds it is stopped."""
    before, busy, used, start = load(), busy_seconds(), _used(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        output, errors, points = (Path(folder) / name for name in ("output", "errors", "points"))
        reason = _wait([*command, "--points", str(points)], output, errors, patience, progress)
        printed, found = output.read_text(), _points(points)
    seconds = time.perf_counter() - start
    conditions = f"load before {before}"
    if busy is not None:
        others = (busy_seconds() or busy) - busy - (_used() - used)
        conditions += f"; meanwhile other processes used {max(0.0, others / seconds):.2f} cores"
    return Ran(printed, found, reason, seconds, conditions)


def _wait(
    command: Sequence[str], output: Path, errors: Path, patience: float, progress: Progress
) -> str:
    """Wait for the end; why it failed, or "". Progress is told how many rows there are."""
    with output.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        start = time.perf_counter()
        try:
            while (seconds := time.perf_counter() - start) < patience:
                with suppress(subprocess.TimeoutExpired):
                    return _reason(process.wait(min(1.0, patience - seconds)), errors)
                progress.now(f"{output.read_text().count(chr(10) + '| ')} rows in {seconds:.0f} s")
            return f"stopped after {patience:g} s"
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, so that it ends what it has started; then end it."""
    for number, grace in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace)


def _reason(status: int, errors: Path) -> str:
    """Why a process failed: its last words, without folders."""
    if status == 0:
        return ""
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    lines = [line for line in errors.read_text().splitlines() if line.strip()]
    return re.sub(r"\S*/", "", lines[-1].strip())[:200] if lines else f"exit status {status}"


def _points(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file, COLUMNS))


def _used() -> float:
    """Processor seconds of this process and of all it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Progress:
    """A line on standard error: over and over on a terminal, elsewhere only in the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.terminal = sys.stderr.isatty()
        self.now("…")

    def now(self, text: str) -> None:
        """How far it is."""
        if self.terminal:
            print(f"\r\x1b[K{self.title}: {text}", end="", file=sys.stderr, flush=True)

    def end(self, text: str) -> None:
        """How it ended."""
        print("\r\x1b[K" * self.terminal + f"{self.title}: {text}", file=sys.stderr, flush=True)
