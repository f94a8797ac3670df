"""What a template notes of its draft: the settings, the version, and a hash of what it meant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lifagu.errors import ModelError
from lifagu.formats.json_lines import at
from lifagu.formats.json_values import check_keys, object_at
from lifagu.relational.template import Drafted

DRAFTED = "drafted"
_BESIDE = ("source", "queries", "comment", DRAFTED)  # what does not change a template's meaning
_BY_NAME = ("ranges", "tables", "domains", "evidence", "parameters")  # whose keys are names


def noted(whole: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The note about a template that was just drafted with these settings."""
    from importlib.metadata import version

    return {
        "version": version("lifagu"),
        "meaning": meaning(whole, settings),
        "settings": dict(settings),
    }


def meaning(whole: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """A hash of what a template means and how it was drafted.

    The same whatever its source, what it asks, its comments, its layout, and the order of its keys.

    >>> one = {"domains": {"Person": {"sql": "SELECT id FROM people", "comment": "all"}}}
    >>> other = {"source": "a.sqlite", "domains": {"Person": {"sql": "SELECT id FROM people"}}}
    >>> meaning(one, {}) == meaning(other, {}), meaning(one, {}) == meaning(one, {"bins": 4})
    (True, False)
    """
    parts: dict[str, Any] = {"settings": settings}
    for section, value in whole.items():
        if section in _BY_NAME and isinstance(value, Mapping):
            parts[section] = {name: _bare(item) for name, item in value.items()}
        elif section not in _BESIDE:
            parts[section] = _bare(value)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _bare(value: Any) -> Any:
    """A part of a template without comments."""
    if isinstance(value, Mapping):
        return {key: _bare(item) for key, item in value.items() if key != "comment"}
    return [_bare(each) for each in value] if isinstance(value, list | tuple) else value


def drafted_of(whole: Mapping[str, Any], place: str) -> Drafted | None:
    """What a template notes of its draft; None if it notes nothing."""
    if DRAFTED not in whole:
        return None
    item = object_at(whole[DRAFTED], place, DRAFTED)
    with at(place, DRAFTED):
        known = ("version", "meaning", "settings")
        check_keys(item, "the note about a draft", (*known, "comment"), required=known)
        if not (isinstance(item["version"], str) and isinstance(item["meaning"], str)):
            raise ModelError("version and meaning are texts, as init wrote them")
    settings = object_at(item["settings"], place, DRAFTED, "settings")
    return Drafted(settings, item["version"], item["meaning"] == meaning(whole, settings))
