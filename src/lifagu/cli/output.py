"""What people see: aligned tables on stdout; progress and notes on stderr."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any


def say(text: str = "") -> None:
    """One line (or more) of the result."""
    sys.stdout.write(text + "\n")


def note(text: str, quiet: bool = False) -> None:
    """Something beside the result."""
    if not quiet:
        sys.stderr.write(text + "\n")


def say_json(value: dict[str, Any]) -> None:
    """One JSON object; the log of zero is null."""
    say(json.dumps(value, ensure_ascii=False, allow_nan=False))


def finite(value: float | None) -> float | None:
    """The number, or None for the log of zero."""
    return None if value is None or math.isinf(value) else value


def table(rows: Iterable[Sequence[str]], indent: str = "  ") -> str:
    """Rows with their columns aligned.

    >>> print(table([("false", "0.25"), ("true", "0.75")]))
      false  0.25
      true   0.75
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


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


def some(names: Sequence[str], limit: int) -> str:
    """The first few of many names.

    >>> some(["a", "b", "c"], 2)
    'a, b, … (3 in all)'
    """
    return ", ".join(names[:limit]) + (f", … ({len(names)} in all)" if len(names) > limit else "")


class Progress:
    """How much of longer work is done, on stderr: a percentage or a bar; silent when stderr is not a terminal."""

    def __init__(self, quiet: bool, bar: bool = False) -> None:
        self._show = sys.stderr.isatty() and not quiet
        self._bar = bar
        self._next = time.monotonic() + 0.5
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Show how much of the work is done."""
        if self._show and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            text = f"{done / max(total, 1):4.0%}"
            if self._bar:
                filled = 30 * done // max(total, 1)
                text += f" [{'#' * filled}{'.' * (30 - filled)}] {done} of {total}"
            self._width = len(text)
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()

    def close(self) -> None:
        """Take it away again."""
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
