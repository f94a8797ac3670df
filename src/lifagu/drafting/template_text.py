"""A draft as the text of a template: one line for each thing, in an order that reads well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lifagu.drafting.asking import aliased, quoted
from lifagu.drafting.attributes import BOOLEAN, Attribute
from lifagu.drafting.found import FoundOut
from lifagu.formats.drafted_json import DRAFTED, noted

COMMENT = "a draft: edit it as you like, and let validation have the last word"
WIDTH = 110  # characters of a line; longer items have a line for each key


def template_text(found: FoundOut, source: Any) -> str:
    """The template; source: as it is written there, None if somebody will hand the data over."""
    used = found.used
    domains = {each.name: {"sql": each.sql} for each in found.understood.domains}
    spoken = {name for each in used for name in each.subject.domains}
    sections: dict[str, Any] = {"format": "lifagu/1", "comment": COMMENT}
    if source is not None:
        sections["source"] = source
    sections |= {
        "domains": {name: item for name, item in domains.items() if name in spoken},
        "relations": [_relation(each) for each in used],
        "parfactors": [each.json() for each in found.drafted],
        "evidence": {each.name: {"sql": each.evidence} for each in used if each.evidence},
        "queries": [_question(each) for each in found.asked],
    }
    sections = {name: value for name, value in sections.items() if value}
    sections[DRAFTED] = noted(json.loads(json.dumps(sections)), found.settings.plain)
    body = ",\n\n".join(_section(name, value) for name, value in sections.items())
    return "{\n" + body.replace('"lifagu/1",\n\n', '"lifagu/1",\n') + "\n}\n"


def _relation(attribute: Attribute) -> dict[str, Any]:
    item: dict[str, Any] = {"name": attribute.name, "of": list(attribute.subject.domains)}
    if attribute.cohorts:
        item["range"] = {"cohorts": attribute.cohorts}
    elif attribute.coarser is not None:
        item["range"] = {"bins": attribute.bins, "within": attribute.coarser.name}
    elif attribute.is_number:
        item["range"] = {"bins": attribute.bins}
    elif attribute.labels != BOOLEAN:
        item["range"] = list(attribute.labels)
    return item


def _question(attribute: Attribute) -> Any:
    """What is to be predicted: the gaps of a column, or a whole relation that has none."""
    if not attribute.gaps or attribute.column is None:
        return attribute.name
    key, value = attribute.key, attribute.value
    sql = (
        f"SELECT {', '.join(map(quoted, key))} FROM {aliased(attribute.base)} WHERE {value} IS NULL"
    )
    return {"relation": attribute.name, "sql": sql}


def _section(name: str, value: Any) -> str:
    if isinstance(value, Mapping) and name not in ("source", DRAFTED):
        items = [f"{_text(key)}: {_text(item)}" for key, item in value.items()]
        return f"  {_text(name)}: {{\n    " + ",\n    ".join(items) + "\n  }"
    if isinstance(value, list):
        return f"  {_text(name)}: [\n    " + ",\n    ".join(map(_item, value)) + "\n  ]"
    return f"  {_text(name)}: {_text(value)}"


def _item(value: Any) -> str:
    whole = _text(value)
    if len(whole) <= WIDTH or not isinstance(value, Mapping):
        return whole
    return (
        "{" + ",\n     ".join(f"{_text(key)}: {_text(each)}" for key, each in value.items()) + "}"
    )


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
