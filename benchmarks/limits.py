"""Run one engine on one model in a process of its own, with a limit on time and memory."""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from peers import Engine, Model, Outcome, installed

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
    """Best of some runs in a forked process; each of making, building and answering has `limit` seconds."""
    if not installed(engine.package):
        return Measured(failure=MISSING)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(engine, make, sender))
    with warnings.catch_warnings():  # threads that libraries hold ready make a fork suspicious; none is at work here
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    try:
        return _collect(receiver, limit)
    finally:
        _end(child)
        receiver.close()


def _end(child: BaseProcess) -> None:
    """End the child, and the helpers it may have started."""
    if child.pid is not None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


def _collect(receiver: Connection, limit: float) -> Measured:
    """The child reports None (made), seconds of building, (seconds, outcome) of each run, True; or a failure."""
    build, best, outcome = None, None, None
    while True:
        if not receiver.poll(limit):
            return Measured(build, failure=f">{limit:g} s" if build is not None else f">{limit:g} s to build")
        try:
            report = receiver.recv()
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


def _child(engine: Engine, make: Callable[[], Made], sender: Connection) -> None:
    os.setsid()  # a process group of its own
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    try:
        model, variable = make()
        sender.send(None)
        start = time.perf_counter()
        ask = engine.build(model, variable)
        sender.send(time.perf_counter() - start)
        for _ in range(REPEATS):
            start = time.perf_counter()
            outcome = ask()
            seconds = time.perf_counter() - start
            sender.send((seconds, outcome))
            if seconds > 1:
                break
        sender.send(True)
    except MemoryError:
        sender.send("memory")
    except Exception as error:
        sender.send(_failure(error))


def _failure(error: Exception) -> str:
    """One short cell of a table; engines name lack of memory in their own ways."""
    kind, text = type(error).__name__, re.sub(r"\S*/|\|", "", " ".join(str(error).split()))  # no folders, no bars
    if kind == "TooLargeError" or "bad_alloc" in text or "Unable to allocate" in text:
        return "memory"
    return f"error: {kind} {text[:40]}".rstrip()


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
