"""What Spark and Java say, often over hundreds of lines, as one line of ours."""

from __future__ import annotations

import re
from pathlib import Path

from lifagu.errors import FormatError, LifaguError, TooLargeError

LOG = "spark.log"
READ = 2**16  # bytes at the end of the log that are looked at
DISK_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
MEMORY = ("OutOfMemory", "Java heap space", "GC overhead limit", "not enough memory", "insufficient memory")
MEMORY_STATUS = ("code 52", "code 137", "code 143")  # of executors that ended for lack of memory, or were made to
LOST = ("ExecutorLostFailure", "SparkContext was shut down", "stopped SparkContext", "Master removed our application")
NOISE = re.compile(r'^(: |Exception in thread "[^"]*" |Caused by: |Error: )*([\w.$]+(Exception|Error): )?')


def refusal(text: str, log: str = "", ended: int | None = None) -> LifaguError:
    """An error as one of ours; log: the last words of Java's, which may say more; ended: Java's status, if it ended.

    >>> refusal("java.io.IOException: No space left on device")
    TooLargeError('spark: a disk is full; free some of it, or name another folder with --temp')
    >>> refusal("Py4JError: whatever", 'Exception in thread "main" SparkException: no conf\\n  at Main', 1)
    LifaguError('spark: Java ended with status 1: no conf; go on with --resume')
    """
    both = f"{text}\n{log}" if ended is not None else text
    if any(sign in both for sign in DISK_FULL):
        return TooLargeError("spark: a disk is full; free some of it, or name another folder with --temp")
    lost = any(sign in text for sign in LOST)
    if any(sign in both for sign in MEMORY) or (lost and any(sign in text for sign in MEMORY_STATUS)):
        return TooLargeError(
            "spark: the memory does not suffice; raise --memory-limit, or spark.executor.memory where a cluster is used"
        )
    if ended is not None:
        return LifaguError(f"spark: Java ended with status {ended}{_because(_telling(log))}; go on with --resume")
    if lost:
        return LifaguError("spark: the cluster was lost; see that its workers run, and go on with --resume")
    return FormatError(f"spark: {_telling(text) or 'the session ended unexpectedly'}")


def last_words(log: Path) -> str:
    """The end of Java's log, nothing if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - READ, 0))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _telling(text: str) -> str:
    """The first line that says what is wrong, without the names of Java's classes before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    said = next((line for line in lines if "Exception" in line or line.startswith("[")), lines[0] if lines else "")
    return NOISE.sub("", said)
