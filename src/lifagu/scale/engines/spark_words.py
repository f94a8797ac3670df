"""What Spark and Java say, often over hundreds of lines, as one line of ours."""

from __future__ import annotations

import re
from pathlib import Path

from lifagu.errors import FormatError, LifaguError, Remedy, TooLargeError

LOG = "spark.log"
READ = 2**16  # bytes at the end of the log that are looked at
DISK_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
MEMORY = (
    "OutOfMemory",
    "Java heap space",
    "GC overhead limit",
    "not enough memory",
    "insufficient memory",
)
# of executors that ended for lack of memory, or were made to
MEMORY_STATUS = ("code 52", "code 137", "code 143")
LOST = (
    "ExecutorLostFailure",
    "SparkContext was shut down",
    "stopped SparkContext",
    "Master removed our application",
)
NOISE = re.compile(
    r'^(: |Exception in thread "[^"]*" |Caused by: |Error: )*([\w.$]+(Exception|Error): )?'
)


def refusal(text: str, log: str | None = None) -> LifaguError:
    """An error as one of ours; log: the last words of Java, if it ended.

    >>> print(refusal("java.io.IOException: No space left on device"))
    spark: a disk is full; free some of it, or give another folder as temp
    >>> log = 'Exception in thread "main" SparkException: no conf\\n  at Main'
    >>> print(refusal("Py4JError: whatever", log))
    spark: Java ended: no conf
    """
    both = f"{text}\n{log or ''}"
    if any(sign in both for sign in DISK_FULL):
        return TooLargeError("spark: a disk is full", remedy=Remedy.OTHER_TEMP)
    lost = any(sign in text for sign in LOST)
    if any(sign in both for sign in MEMORY) or (
        lost and any(sign in text for sign in MEMORY_STATUS)
    ):
        return TooLargeError(
            "spark: the memory does not suffice", remedy=Remedy.MORE_MEMORY_ON_SPARK
        )
    if log is not None:
        return LifaguError(f"spark: Java ended: {_telling(log) or 'nothing is known'}")
    if lost:
        return LifaguError("spark: the cluster was lost; see that its workers run")
    return FormatError(f"spark: {_telling(text) or 'the session ended unexpectedly'}")


def refusal_at_start(master: str, text: str, log: str) -> LifaguError:
    """Why there is no session: what Java said, or else the error.

    >>> refusal_at_start("yarn", "[JAVA_GATEWAY_EXITED] Java exited", "SparkException: no conf")
    LifaguError('Spark at yarn cannot be started: no conf')
    """
    said = refusal(text, log)
    if isinstance(said, TooLargeError):
        return said
    if "stopped SparkContext" in text:
        return LifaguError(
            f"Spark at {master} cannot be started: no master answers; "
            "see that one runs there, and its port"
        )
    gone = "JAVA_GATEWAY_EXITED" in text or not text
    return LifaguError(f"Spark at {master} cannot be started: {_telling(log if gone else text)}")


def text_of(error: Exception) -> str:
    """What an error says; that may have to be asked of a Java process which is gone."""
    try:
        return str(error)
    except Exception:
        return ""


def log_size(log: Path) -> int:
    """How much Java has said up to now, in bytes."""
    return log.stat().st_size if log.exists() else 0


def last_words(log: Path, since: int = 0) -> str:
    """The end of Java's log, of what it has said since it had some size; empty without one."""
    try:
        with log.open("rb") as file:
            file.seek(max(log_size(log) - READ, since))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _telling(text: str) -> str:
    """The first line that says what is wrong, and its cause, without names of Java's classes.

    >>> java = "a.KubeException: no answer\\n\\tat x.Y\\nCaused by: b.ConnectException: refused"
    >>> _telling(f"Py4JError: o\\n {java}")
    'no answer: refused'
    """
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith("at ")
    ]
    said = next(
        (line for line in lines if "Exception" in line or line.startswith("[")),
        lines[0] if lines else "",
    )
    cause = next((line for line in reversed(lines) if line.startswith("Caused by: ")), "")
    told = [NOISE.sub("", each) for each in (said, cause) if each]
    return ": ".join(told if told[-1:] != told[:1] else told[:1])
