"""Work and commands in processes of their own, where memory is theirs and they can be stopped."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")
RUN = "import sys; from lifagu.cli import main; sys.exit(main())"


def run_apart(work: Callable[[], Result], limit: float | None = None) -> Result | str:
    """What the work returns, or in a word why it does not; after `limit` seconds it is stopped."""
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
    """Where the reports of a forked process arrive, and in a word why it failed, if it does.

    On leaving, the process ends, and so do helpers it may have started.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, sender))
    # threads that libraries hold ready make a fork suspicious; none is at work here
    with warnings.catch_warnings():
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
    # no folders, no bars
    kind, text = (type(error).__name__, re.sub(r"\S*/|\|", "", " ".join(str(error).split())))
    if kind == "TooLargeError" or "bad_alloc" in text or "Unable to allocate" in text:
        return "memory"
    return f"error: {kind} {text[:40]}".rstrip()


def memory_now() -> int:
    """Bytes this process uses, the peak being counted anew from now on; 0 where it is unknown."""
    with suppress(AttributeError, OSError):
        # what was freed and is still held would hide what is used next
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return _status("VmRSS")


def memory_peak(process: int | str = "self") -> int:
    """The most bytes this process, or another one, has used since."""
    return _status("VmHWM", process)


def _status(name: str, process: int | str = "self") -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)


def descendants() -> list[int]:
    """The processes started by this one that still run, and theirs; none where that is unknown."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            parents[int(path.parent.name)] = int(_after_name(path)[1])
    found = [os.getpid()]
    for each in found:
        found += [process for process, parent in parents.items() if parent == each]
    return found[1:]


def processor_seconds() -> float:
    """Seconds that all threads of this process and of its descendants have used so far."""
    ticks = 0
    for process in descendants():
        with suppress(OSError):
            # its own and the system's
            ticks += sum(map(int, _after_name(Path(f"/proc/{process}/stat"))[11:13]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _after_name(path: Path) -> list[str]:
    """What stands after the name, which may hold anything, in a process's line: state, parent, …"""
    return path.read_text().rpartition(")")[2].split()


# ---- commands


@dataclass(frozen=True)
class Commanded:
    """What a command printed, its seconds, those of all its threads, and its peak of memory."""

    printed: str
    seconds: float
    busy: float
    memory: int


def command(*arguments: str, wait: float) -> Commanded | str:
    """The command run to its end, or why it failed; after `wait` seconds it is stopped."""
    start, busy, memory = time.perf_counter(), _of_children(), 0
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *arguments], stdout=output, stderr=errors
        )
        while process.poll() is None:
            memory = max(memory, memory_peak(process.pid))
            if time.perf_counter() - start > wait:
                process.kill()
                process.wait()
                return f">{wait:g} s"
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        if process.returncode == 0:
            output.seek(0)
            return Commanded(output.read().decode(), seconds, _of_children() - busy, memory)
        errors.seek(0)
        last = errors.read().decode().strip().splitlines()[-1:]
        return f"error: {' '.join(last)[:60]}".replace("|", " ")


def _of_children() -> float:
    """Seconds that all threads of processes used which this one started and which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
