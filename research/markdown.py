"""Numbers and tables as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(["d", "mean"], [["2", "0.1"]]))
    | d | mean |
    |---|---|
    | 2 | 0.1 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "|" + "|".join(line) + "|" if line is lines[1] else f"| {' | '.join(line)} |"
        for line in lines
    )


def number(value: float | None, digits: int = 2) -> str:
    """A number with so many significant digits, exponents where they read better; – if None.

    >>> number(0.00123), number(12345.0), number(0.0), number(1e-7), number(None)
    ('0.0012', '12345', '0', '1e-07', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def percent(value: float | None) -> str:
    """A share in per cent.

    >>> percent(0.25), percent(None)
    ('25 %', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{100 * value:.0f} %"
