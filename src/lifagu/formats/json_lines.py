"""Where in a JSON text something stands: its path as in ``factors[3].args[1]``, and its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecoder
from typing import Any

from lifagu.errors import FormatError, ModelError

Step = str | int
_DECODER = JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*")


class PathError(FormatError):
    """Something is wrong at a path of a JSON file; `located` adds the line."""

    def __init__(self, place: str, steps: tuple[Step, ...], text: str) -> None:
        self.steps, self.text = steps, f"{path_text(steps)}: {text}" if steps else text
        super().__init__(f"{place}: {self.text}")


def path_text(steps: tuple[Step, ...]) -> str:
    """A path as people read it.

    >>> path_text(("factors", 3, "args", 1))
    'factors[3].args[1]'
    """
    return "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps
    ).removeprefix(".")


@contextmanager
def at(place: str, *steps: Step) -> Iterator[None]:
    """Say where in the file a mistake is."""
    try:
        yield
    except ModelError as error:
        raise PathError(place, steps, str(error)) from None


@contextmanager
def located(text: str, place: str) -> Iterator[None]:
    """Say on which line of the text a mistake is."""
    try:
        yield
    except PathError as error:
        raise FormatError(f"{place}:{line_of(text, error.steps)}: {error.text}") from None


def line_of(text: str, steps: tuple[Step, ...]) -> int:
    """The line where the value at a path begins, or the last value on the way. Cost: linear.

    >>> line_of('{"a": 1,\\n "b": [2,\\n 3]}', ("b", 1)), line_of('{"a":\\n {}}', ("a", "missing"))
    (3, 2)
    """
    place = _blanks(text, 0)
    for step in steps:
        found = next((start for key, start in _entries(text, place) if key == step), None)
        if found is None:
            break
        place = found
    return text.count("\n", 0, place) + 1


def _entries(text: str, place: int) -> Iterator[tuple[Any, int]]:
    """The keys of the object, or numbers in the list, that begins here, with the value's place."""
    opening = text[place : place + 1]
    if opening not in ("{", "["):
        return
    place, number = _blanks(text, place + 1), 0
    while text[place] not in "}]":
        key: Any = number
        if opening == "{":
            key, place = _DECODER.raw_decode(text, place)
            place = _blanks(text, _blanks(text, place) + 1)
        yield key, place
        place = _blanks(text, _DECODER.raw_decode(text, place)[1])
        place = _blanks(text, place + 1) if text[place] == "," else place
        number += 1


def _blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return place if match is None else match.end()
