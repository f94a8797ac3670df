"""What people see: aligned tables on stdout; progress and notes on stderr."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from lifagu.basics.words import aligned

_UNSEEN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029]")


def say(text: str = "") -> None:
    """One line (or more) of the result."""
    sys.stdout.write(visible(text) + "\n")


def note(text: str, quiet: bool = False) -> None:
    """Something beside the result."""
    if not quiet:
        sys.stderr.write(visible(text) + "\n")


def visible(text: str) -> str:
    """A text whose signs that cannot be seen are escaped, as terminals obey some; lines stay.

    JSON stays JSON.

    >>> visible("a\\x1b[2J")
    'a\\\\u001b[2J'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_json(value: dict[str, Any]) -> None:
    """One JSON object; the log of zero is null."""
    say(json.dumps(value, ensure_ascii=False, allow_nan=False))


def finite(value: float) -> float | None:
    """The number; None for the log of zero, and for what is no number."""
    return value if math.isfinite(value) else None


def table(rows: Iterable[Sequence[str]], indent: str = "  ") -> str:
    """Rows with their columns aligned.

    >>> print(table([("false", "0.25"), ("true", "0.75")]))
      false  0.25
      true   0.75
    """
    on_lines = ([each.replace("\n", "\\n") for each in row] for row in rows)
    return "\n".join(indent + line for line in aligned(on_lines))


def shown(value: Any) -> str:
    """A fact as people read it."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        joint = "; " if value and isinstance(value[0], dict) else ", "
        return joint.join(map(shown, value)) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def some(names: Sequence[str], limit: int, total: int | None = None) -> str:
    """The first few of many names; total: of them, if only the first are given.

    >>> some(["a", "b", "c"], 2)
    'a, b, … (3 in all)'
    """
    total = len(names) if total is None else total
    return ", ".join(names[:limit]) + (f", … ({total} in all)" if total > limit else "")


class ProgressLine:
    """What is being done and how far, on stderr; silent when that is not a terminal."""

    def __init__(self, quiet: bool, bar: bool = False) -> None:
        self._show = sys.stderr.isatty() and not quiet
        self._bar = bar
        self._next = time.monotonic() + 0.5
        self._stage = ""
        self._width = 0

    def stage(self, text: str) -> None:
        """Say what is being done from now on."""
        self._stage = f"{text} "
        if self._show:
            self._write(text)

    def __call__(self, done: int, total: int) -> None:
        """Show how much of the work is done, once it takes longer than a moment."""
        if self._show and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            text = f"{self._stage}{done / max(total, 1):4.0%}"
            if self._bar:
                filled = 30 * done // max(total, 1)
                text += f" [{'#' * filled}{'.' * (30 - filled)}] {done} of {total}"
            self._write(text)

    def close(self) -> None:
        """Take away what is shown."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)
