"""Single values of lifagu's JSON, checked; errors say what was expected."""

from __future__ import annotations

from typing import Any

from lifagu.errors import ModelError
from lifagu.formats.json_lines import PathError, Step


def object_at(value: Any, place: str, *steps: Step) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise PathError(place, steps, f"an object {{…}} is expected, not {kind_of(value)}")
    return value


def items_at(model: dict[str, Any], section: str, place: str) -> list[Any]:
    """A section of the model that must be a list; empty if it is missing."""
    items = model.get(section, [])
    if not isinstance(items, list):
        raise PathError(place, (section,), f"a list […] is expected, not {kind_of(items)}")
    return items


def check_keys(item: Any, what: str, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    """The item must be an object with keys that are known, the required ones among them."""
    if not isinstance(item, dict):
        raise ModelError(f"{what} is an object {{…}}, not {kind_of(item)}")
    for key in item:
        if key not in known:
            raise ModelError(f"{what} has no '{key}'; it has {', '.join(known)}")
    for key in required:
        if key not in item:
            hint = " (null if it is unknown)" if key == "table" else ""
            raise ModelError(f"{what} needs '{key}'{hint}")


def list_of(value: Any, expected: str) -> list[Any]:
    """The value, which must be a list; otherwise the error says what was expected."""
    if not isinstance(value, list):
        raise ModelError(f"{expected}, not {kind_of(value)}")
    return value


def label_of(value: Any) -> str:
    """Labels that are JSON numbers or booleans are read as their text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ModelError(f"a label is a text, a number or a boolean, not {kind_of(value)}")


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: f"the text '{value}'",
        bool: "a boolean",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")
