"""Run something in a process of its own: its memory is its own, it can be limited, and it can be stopped."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def run_apart(work: Callable[[], Result], limit: float | None = None) -> Result | str:
    """What the work returns, or in a word why it returns nothing; after `limit` seconds it is stopped."""
    with child(lambda report: report(work())) as reports:
        if not reports.poll(limit):
            return f">{limit:g} s"
        try:
            result: Result | str = reports.recv()
            return result
        except EOFError:
            return "crashed"


@contextmanager
def child(work: Callable[[Callable[[object], None]], None]) -> Iterator[Connection]:
    """Where the reports of a forked process arrive: what its work reports, and in a word why it failed, if it does.

    On leaving, the process ends, and so do helpers it may have started.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, sender))
    with warnings.catch_warnings():  # threads that libraries hold ready make a fork suspicious; none is at work here
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        yield receiver
    finally:
        if process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()
        receiver.close()


def _run(work: Callable[[Callable[[object], None]], None], sender: Connection) -> None:
    os.setsid()  # a process group of its own
    try:
        work(sender.send)
    except MemoryError:
        sender.send("memory")
    except Exception as error:
        sender.send(failure(error))


def failure(error: Exception) -> str:
    """One short cell of a table; engines name lack of memory in their own ways."""
    kind, text = type(error).__name__, re.sub(r"\S*/|\|", "", " ".join(str(error).split()))  # no folders, no bars
    if kind == "TooLargeError" or "bad_alloc" in text or "Unable to allocate" in text:
        return "memory"
    return f"error: {kind} {text[:40]}".rstrip()


def memory_now() -> int:
    """Bytes this process uses; from now on the peak is counted anew. Zero where that cannot be known."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # what was freed and is still held would hide what is used next
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return _status("VmRSS")


def memory_peak() -> int:
    """The most bytes this process has used since."""
    return _status("VmHWM")


def _status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)
