"""Run something in a process of its own: its memory is its own, and it can be stopped."""

from __future__ import annotations

import ctypes
import multiprocessing
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def run_apart(work: Callable[[], Result], limit: float | None = None) -> Result | str:
    """What the work returns, or in a word why it returns nothing; after `limit` seconds it is stopped."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, sender))
    with warnings.catch_warnings():  # threads that libraries hold ready make a fork suspicious; none is at work here
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return f">{limit:g} s"
        result: Result | str = receiver.recv()
        return result
    except EOFError:
        return "crashed"
    finally:
        child.kill()
        child.join()
        receiver.close()


def _child(work: Callable[[], object], sender: Connection) -> None:
    try:
        sender.send(work())
    except MemoryError:
        sender.send("memory")
    except Exception as error:
        sender.send(f"error: {type(error).__name__}")


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
