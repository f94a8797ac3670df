"""A command of lifagu run as a process of its own: what it printed, its time and its memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from research.bench.apart import memory_peak

RUN = "import sys; from lifagu.cli import main; sys.exit(main())"


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
