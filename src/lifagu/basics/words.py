"""Numbers in sentences, and what names begin with."""

import math
import re
from collections.abc import Iterable, Sequence

_STEM = re.compile(r"[^(.]+")


def stem(name: str) -> str:
    """What a name begins with: ``intake`` of ``intake(eve)`` or ``intake.eve``."""
    found = _STEM.match(name)
    return found[0].strip() if found else name


def counted(number: int, noun: str) -> str:
    """``1 factor``, ``2 factors``, ``2 guesses``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"


def amount(number: float, mark: str = "") -> str:
    """A number in full, or its size where nobody would count its digits; mark: of thousands.

    >>> amount(1700), amount(1700, ","), amount(10**61), amount(3e40)
    ('1700', '1,700', 'about 10^61', 'about 10^40')
    """
    full = number < 10**15
    return f"{round(number):{mark}}" if full else f"about 10^{round(math.log10(number))}"


def percent(chance: float) -> str:
    """A probability in which what is nearly but not quite certain does not look so.

    >>> percent(0.5), percent(0.9993), percent(1.0), percent(0.002)
    ('50%', '99.9%', '100%', '0.2%')
    """
    near = 0 < min(chance, 1 - chance) < 0.01
    return f"{chance:.1%}" if near else f"{chance:.0%}"


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns stand below one another.

    >>> aligned([("false", "0.25"), ("true", "0.75")])
    ['false  0.25', 'true   0.75']
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
