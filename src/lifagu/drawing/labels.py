"""Names as text in figures: nothing that breaks XML or turns a line around, long ones shortened."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NARROW = frozenset("ijlrtfI1.,;:'|!()[]{} -/\\")
BROAD = frozenset("mwMW@%—…")


def clean(text: str) -> str:
    """The same text on one line, with a sign for each character that disturbs or cannot be shown.

    White space becomes a blank; control characters, overrides of the writing direction, lone
    surrogates and noncharacters become U+FFFD. The result is legal in XML and can be encoded.

    >>> clean("a\\nb"), clean("x\\u202ey\\x00") == f"x{REPLACEMENT}y{REPLACEMENT}"
    ('a b', True)
    """
    return "".join(
        " " if each.isspace() else each if _is_fine(each) else REPLACEMENT for each in text
    )


def _is_fine(character: str) -> bool:
    joiners = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
    return character in joiners or not unicodedata.category(character).startswith("C")


def shortened(text: str, most: int = 22) -> str:
    """A cleaned text of at most so many characters; the middle goes, as names differ at both ends.

    >>> shortened("Treatment.alice.of.the.north.m2", 16)
    'Treatmen…orth.m2'
    """
    text = clean(text)
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def text_width(text: str, size: float) -> float:
    """The width of a text in a sans-serif font of this size, estimated on the broad side."""
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in NARROW:
        return 0.38
    if character in BROAD:
        return 0.98
    return 0.74 if character.isupper() else 0.61
