"""Run one engine on one model in a process of its own, with a limit on time and memory."""

from __future__ import annotations

import os
import resource
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection

from research.bench.apart import child
from research.bench.peers import Engine, Model, Outcome, installed
from research.bench.timing import timed

MEMORY = 8 * 2**30  # bytes of address space
REPEATS = 3  # for answers that take less than a second; the best counts
MISSING = "not installed"
Made = tuple[Model, int]  # a model, and the variable that is asked for


@dataclass(frozen=True)
class Measured:
    """Seconds to build the engine's model and to answer, and the answer; or why there is none."""

    build: float | None = None
    seconds: float | None = None
    outcome: Outcome | None = None
    failure: str | None = None


def measure(engine: Engine, make: Callable[[], Made], limit: float) -> Measured:
    """Best of some runs in a forked process; making, building, answering have `limit` s each."""
    if not installed(engine.package):
        return Measured(failure=MISSING)
    with child(lambda report: _work(engine, make, report)) as reports:
        return _collect(reports, limit)


def _collect(reports: Connection, limit: float) -> Measured:
    """None (made), seconds of building, (seconds, outcome) of each run, True; or a failure."""
    build, best, outcome = None, None, None
    while True:
        if not reports.poll(limit):
            return Measured(
                build, failure=f">{limit:g} s" if build is not None else f">{limit:g} s to build"
            )
        try:
            report = reports.recv()
        except EOFError:
            return Measured(build, failure="crashed")
        match report:
            case str(failure):
                return Measured(build, failure=failure)
            case float(seconds):
                build = seconds
            case True:
                return Measured(build, best, outcome)
            case (float(seconds), answer):
                best, outcome = min(seconds, best or seconds), answer


def _work(engine: Engine, make: Callable[[], Made], report: Callable[[object], None]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    model, variable = make()
    report(None)
    ask, seconds = timed(lambda: engine.build(model, variable))
    report(seconds)
    for _ in range(REPEATS):
        outcome, seconds = timed(ask)
        report((seconds, outcome))
        if seconds > 1:
            break
    report(True)


def warm_up(engines: list[Engine]) -> None:
    """Import what the engines need once, so that the forked processes find it there."""
    for engine in engines:
        for module in engine.modules if installed(engine.package) else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    import_module(module)
                except ImportError as error:
                    print(f"{module} cannot be imported: {error}", file=sys.stderr)
