"""Values of options, from text; a mistake says what would have been right."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

from lifagu.basics.choices import PLACES

# what is quoted within a name is one piece, and so is each other sign
_PIECES_OF_SCENARIO = re.compile(r'"(?:[^"\\]|\\.)*+"|.', re.DOTALL)


def place(text: str) -> str:
    """Where to work: memory, duckdb, spark, spark=MASTER, or auto."""
    kind, sign, master = text.partition("=")
    if not (text in PLACES or (kind == "spark" and sign and master)):
        raise argparse.ArgumentTypeError(
            f"'{text}' is none of {', '.join(PLACES)} and spark=MASTER"
        )
    return text


def place_of(text: str) -> str:
    """A path or a URL, whatever it holds."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a file or folder is empty")
    return text


def observation(text: str) -> tuple[str, str]:
    """A name and a value, split at the last sign."""
    return _both(text, text.rpartition("="), "NAME=VALUE")


def parameter(text: str) -> tuple[str, str]:
    """A name and a value, which may be empty, split at the first sign."""
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=VALUE")
    return name, value


def variable(text: str) -> str:
    """The name of an environment variable, whose value is taken later."""
    if not re.fullmatch(r"\w+", text):
        raise argparse.ArgumentTypeError("it takes the name of a variable alone, without a value")
    return text


def scenario(text: str) -> tuple[str, dict[str, Any]]:
    """A scenario by its text: observations separated by ``;``, or one JSON object of them.

    >>> scenario('Test(eve)=positive; Likes("a;b",2)=true')[1]
    {'Test(eve)': 'positive', 'Likes("a;b",2)': 'true'}
    """
    if text.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(text)
            if isinstance(found, dict) and found:
                return text.strip(), found
        raise argparse.ArgumentTypeError(f"'{text}' is not a JSON object of names and values")
    seen: dict[str, Any] = {}
    pieces = [""]
    for each in re.findall(_PIECES_OF_SCENARIO, text):
        pieces.append("") if each == ";" else pieces.append(pieces.pop() + each)
    for piece in pieces:
        name, value = observation(piece.strip())
        if seen.setdefault(name, value) != value:
            raise argparse.ArgumentTypeError(
                f"'{text}' says {name}={seen[name]} and {name}={value}; give one of them"
            )
    return text.strip(), seen


def addition(text: str) -> tuple[str, str]:
    """A new individual, and the one it is like."""
    return _both(text, text.partition("="), "NEW=LIKE")


def key(text: str) -> tuple[str, list[str]]:
    """A table, and the columns of its key."""
    table, columns = _both(text, text.partition("="), "TABLE=COLUMN,…")
    return table, [each.strip() for each in columns.split(",")]


def link(text: str) -> tuple[str, str | None]:
    """A column as TABLE.COLUMN, and the table that it leads to, None for none."""
    place, sign, target = text.partition("=")
    if not sign or "." not in place.strip("."):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form TABLE.COLUMN=TABLE")
    return place, target or None


def _both(text: str, parts: tuple[str, str, str], form: str) -> tuple[str, str]:
    left, _, right = parts
    if not (left and right):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form {form}")
    return left, right


def theta(text: str) -> float:
    """A share."""
    share = _number(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number between 0 and 1")
    return share


def share(text: str) -> float:
    """A share of some things: more than none, less than all."""
    found = _number(text)
    if not 0 < found < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share between 0 and 1, such as 0.2")
    return found


def tolerance(text: str) -> float:
    """A share less than 1."""
    share = _number(text)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a share of at least 0 and less than 1, such as 0.01"
        )
    return share


def _number(text: str) -> float:
    """The number that a text is, -1 if it is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def seconds(text: str) -> float | None:
    """A time, None for any."""
    found = 0.0 if text.lower() == "none" else _number(text)
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds, or none")
    return found or None


def names(text: str) -> list[str]:
    """Names separated by commas."""
    names = [each.strip() for each in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names separated by commas")
    return names


def at_least(least: int) -> Callable[[str], int]:
    """A reader of whole numbers with a least one."""

    def whole(text: str) -> int:
        if not (text.isdecimal() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
        return int(text)

    return whole


def port(text: str) -> int:
    """A port, 0 for any free one."""
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"'{text}' is not a port between 0 and 65535")
    return int(text)


def size(text: str) -> int:
    """A number of bytes, written with a unit or without."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a size; write for instance 2G, 500M or 1000000"
        )
    found = float(match[1]) * 1024 ** "_kmgt".index(match[2] or "_")
    return int(min(found, 2.0**62))  # more is as good as no limit
