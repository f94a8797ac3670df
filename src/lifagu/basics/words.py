"""Numbers in sentences, and what names begin with."""

import re

_STEM = re.compile(r"[^(.]+")


def stem(name: str) -> str:
    """What a name begins with: ``intake`` of ``intake(eve)`` or ``intake.eve``."""
    found = _STEM.match(name)
    return found[0].strip() if found else name


def counted(number: int, noun: str) -> str:
    """``1 factor``, ``2 factors``, ``2 guesses``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"
