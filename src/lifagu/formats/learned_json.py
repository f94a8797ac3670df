"""A template written again, with the tables that were learned in place of what was to be learned.

The user's own sections, order and comments stay. Ranges that data decided on become literal ones,
so that the file means the same whatever happens to the data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.columns import Columns, Lists, texts
from lifagu.basics.inputs import real_path
from lifagu.errors import ModelError
from lifagu.formats.files import number_text
from lifagu.formats.json_parts import block_text, json_text, lines_text
from lifagu.formats.json_text import load
from lifagu.graph.bins import BinLabels
from lifagu.graph.ranges import Labels
from lifagu.relational.learning_task import GroupLevel, LearnedTable, TableToLearn
from lifagu.relational.loaded import Loaded
from lifagu.relational.source import Source

MOST_GROUPS = 200  # that stand in the file itself
_UNSAFE = re.compile(r"[^\w-]+")


@dataclass(frozen=True, eq=False)
class LearnedFiles:
    """What is to be written: the text of the template, and tables of many groups by file name."""

    text: str
    tables: Mapping[str, Columns]


class _Numbers(list[float]):
    """Numbers that are written as short as they read back equal."""


class _Listed(list[Any]):
    """Objects that are written one a line."""


def learned_template(loaded: Loaded, path: str | os.PathLike[str]) -> LearnedFiles:
    """The files that hold a template with what was learned for it; path: of its text.

    Reading them gives the same tables bit by bit.
    """
    template, task, learned = loaded.template, loaded.task, loaded.learned
    if template is None or task is None or learned is None:
        raise ModelError("nothing was learned that could be written")
    whole = load(template.text, template.place)
    old, new = Path(template.place).parent, Path(path).parent
    files: dict[str, Columns] = {}
    numbers = [number for number, each in template.parfactors.items() if each.learn]
    for number, table, found in zip(numbers, task.tables, learned.tables, strict=True):
        item = whole["parfactors"][number]
        file = f"{Path(path).name.partition('.')[0]}.{_UNSAFE.sub('_', table.name)}.parquet"
        file = file if file not in files else file.replace(".parquet", f".{number}.parquet")
        whole["parfactors"][number] = _parfactor(item, table, found, file, files)
    for number, item in enumerate(whole["parfactors"]):
        if number not in numbers:
            _move_groups(item["table"], old, new)
    _settle_ranges(whole, {each.relation: each.labels for each in task.relations})
    whole.pop("drafted", None)  # it is no draft any more
    if template.parameters:  # the values with which it was learned
        whole["parameters"] = dict(template.parameters)
    if "source" in whole:
        source = loaded.source
        if source is None or not source.is_named:  # what is in memory stays there
            source = template.source
        assert source is not None
        whole["source"] = _source(source, whole["source"], new)
    return LearnedFiles(_text(whole), files)


# ---- tables


def _parfactor(
    item: dict[str, Any],
    table: TableToLearn,
    found: LearnedTable,
    file: str,
    files: dict[str, Columns],
) -> dict[str, Any]:
    """A parfactor with its table, how many records are behind it, and how it was learned."""
    arguments, groups = item["args"], len(found.stack) - 1
    said: dict[str, Any] = {"support": _short(found.records[0])}
    literal: Any = _Numbers(found.stack[0].tolist())
    if groups or table.levels or found.conditions:
        literal = {"common": literal, **said}
        if table.levels:
            literal = {"by": [level.column for level in table.levels], **literal}
        if found.conditions:
            literal["conditions"] = [arguments[place] for place in found.conditions]
        if table.levels and groups > MOST_GROUPS:
            files[file] = _columns(table, found)
            literal["groups"] = {"file": file}
        elif table.levels:
            literal["groups"] = _Listed(_groups(table, found))
        said = {}
    if table.given:
        said["given"] = [arguments[place] for place in table.given]
    said["learned"] = _how(found)
    made: dict[str, Any] = {}
    for key, value in item.items():
        made |= {"table": literal, **said} if key == "table" else {key: value}
    return made


def _how(found: LearnedTable) -> dict[str, Any]:
    """How a table was learned, for people; who reads the file does not need it."""
    how: dict[str, Any] = {
        "method": found.method,
        "records": _short(found.records.sum()),
        "parameters": _short(round(float(found.parameters), 3)),
    }
    if found.scales:
        how["scales"] = _Numbers(float(f"{each:.4g}") for each in found.scales)
    if found.loss_without is not None:
        how["loss_without"] = round(float(found.loss_without), 6)
    return how


def _short(number: float) -> float:
    """A number that is written without a point where it is whole."""
    return int(number) if float(number).is_integer() else float(number)


def _groups(table: TableToLearn, found: LearnedTable) -> list[dict[str, Any]]:
    """The groups of all levels, coarse ones first."""
    listed = []
    for level, start in zip(table.levels, table.starts, strict=False):
        for row, key in enumerate(level.keys, start):
            potentials = _Numbers(found.stack[row].tolist())
            support = _short(found.records[row])
            listed.append({"key": list(key), "table": potentials, "support": support})
    return listed


def _columns(table: TableToLearn, found: LearnedTable) -> Columns:
    """The same as columns; a key is NULL below its level."""
    stack, records = found.stack[1:], found.records[1:]
    columns: dict[str, Any] = {}
    for place, level in enumerate(table.levels):
        columns[level.column] = texts(*_words(table.levels, place))
    span = stack.shape[1]
    ends: Ints = np.arange(len(stack) + 1) * span
    values: Floats = stack.reshape(-1)
    return {**columns, "table": Lists(ends, values), "support": records}


def _words(levels: Sequence[GroupLevel], place: int) -> tuple[list[str], Ints]:
    """The values of one column of keys, and which of them each group has, -1 above its level."""
    words: dict[str, int] = {}
    codes = [
        words.setdefault(key[place], len(words)) if len(key) > place else -1
        for level in levels
        for key in level.keys
    ]
    return list(words), np.array(codes, dtype=np.int64)


def _move_groups(table: Any, old: Path, new: Path) -> None:
    """Files of groups that a template named already are found from its new place."""
    groups = table.get("groups") if isinstance(table, dict) else None
    if isinstance(groups, dict):
        groups["file"] = _relative(groups["file"], old, new)


# ---- ranges and source


def _settle_ranges(whole: dict[str, Any], labels: Mapping[str, Labels]) -> None:
    """Ranges that came from data, as they were found."""
    used: dict[str, str] = {}
    for relation in whole.get("relations", []):
        given = relation.get("range")
        if isinstance(given, str):
            used.setdefault(given, relation["name"])
        elif _is_open(given):
            relation["range"] = _settled(given, labels[relation["name"]])
    for name, given in whole.get("ranges", {}).items():
        if _is_open(given) and name in used:
            whole["ranges"][name] = _settled(given, labels[used[name]])


def _is_open(given: Any) -> bool:
    return isinstance(given, dict) and ("sql" in given or isinstance(given.get("bins"), int))


def _settled(given: dict[str, Any], labels: Labels) -> Any:
    if not isinstance(labels, BinLabels):
        return list(labels)
    kept = {key: value for key, value in given.items() if key in ("comment", "within")}
    return {"edges": _Numbers(labels.edges), "labels": list(labels), **kept}


def _source(source: Source, written: Any, new: Path) -> Any:
    """Where the data is, seen from another folder; passwords are not written."""
    if isinstance(source.address, Mapping):
        files = {
            name: _relative(path, Path(source.folder), new) for name, path in source.address.items()
        }
        return {**(written if isinstance(written, dict) else {}), "files": files}
    address = str(source.address)
    scheme, sign, rest = address.partition("://")
    if not sign:
        return _relative(address, Path(source.folder), new)
    if scheme.lower() in ("sqlite", "duckdb") and rest.startswith("/"):
        return f"{scheme}:///{_relative(rest[1:], Path(source.folder), new)}"
    return address if address == written else _without_password(address)


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(each for each in parts.query.split("&") if not each.startswith("password="))
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query=query))


def _relative(path: str, old: Path, new: Path) -> str:
    """A path that is relative to one folder, relative to another.

    >>> _relative("data/x.csv", Path("models"), Path("models/out"))
    '../data/x.csv'
    """
    if path.startswith(("~", "$")) or Path(path).is_absolute():
        return path
    try:
        found = Path(os.path.relpath(old / path, new)).as_posix()
    except ValueError:  # on another drive
        return str(real_path(old / path))
    return f"{found}/" if path.endswith("/") else found


# ---- text


def _text(whole: dict[str, Any]) -> str:
    """The sections of a file: lists of objects one a line, so are the entries of objects."""
    parts = []
    for key, value in whole.items():
        shown = _value(value)
        if isinstance(value, list) and any(isinstance(each, dict) for each in value):
            shown = lines_text(map(_value, value))
        elif isinstance(value, dict) and value and key != "source":
            shown = block_text({name: _value(each) for name, each in value.items()})
        parts.append(f"{json_text(key)}: {shown}")
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def _value(value: Any) -> str:
    """A value on one line, but for groups, one a line."""
    if isinstance(value, _Listed):
        return "[\n      " + ",\n      ".join(map(_value, value)) + "\n    ]"
    if isinstance(value, _Numbers):
        return "[" + ", ".join(map(number_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json_text(k)}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json_text(value)
