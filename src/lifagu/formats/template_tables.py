"""Tables of templates that are no plain lists: to be learned or counted, or listed by group."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.errors import ModelError, listed
from lifagu.formats.json_lines import Step, at
from lifagu.formats.json_parts import LEARN, argument_texts
from lifagu.formats.json_values import check_keys, kind_of, label_of, list_of
from lifagu.graph.tables import as_floats, potential_fault
from lifagu.relational.parsing import parse_argument
from lifagu.relational.template import Counted, GroupedTables, Query, TableOfGroup, ToLearn

LEARN_KEYS = (LEARN, "by", "given", "records", "prior", "min_support", "comment")
GROUPED_KEYS = ("by", "common", "support", "conditions", "groups", "comment")
GROUP_KEYS = ("key", "table", "support", "comment")


def to_learn(
    table: Any, arguments: Sequence[str], read: Callable[[Any], Query]
) -> ToLearn | Counted:
    """A table to be learned: the word, or an object; read: makes the query of its records."""
    if isinstance(table, str):
        return ToLearn()
    check_keys(table, "a table to be learned", LEARN_KEYS, required=(LEARN,))
    if table[LEARN] is not True:
        raise ModelError("learn is true; give a table, or null, where nothing is to be learned")
    by = texts(table.get("by", []), "by")
    given = list_of(table.get("given", []), "given is a list of arguments")
    places = tuple(sorted(_place(each, arguments) for each in given))
    if len(set(places)) < len(places):
        raise ModelError("given names an argument twice; name it once")
    if places and len(places) == len(arguments):
        raise ModelError("given has all arguments; a table conditional on everything says nothing")
    if "records" not in table and "min_support" not in table:
        if "prior" in table:
            raise ModelError(
                "prior is for tables that are counted, with records or min_support; leave it out"
            )
        return ToLearn(by, places)
    least = table.get("min_support")
    if least is not None and (isinstance(least, bool) or not isinstance(least, int) or least < 0):
        raise ModelError("min_support is a whole number of records, 0 or more")
    records = read(table["records"]) if "records" in table else None
    return Counted(records, by, places, _prior(table.get("prior", 1)), least)


def moved(name: str, item: Mapping[str, Any], parfactors: Sequence[Any]) -> str:
    """What to write in place of a counted table among `tables`, which stood there once."""
    columns, by, given = (texts(item.get(key, []), key) for key in ("columns", "by", "given"))
    made: dict[str, Any] = {LEARN: True}
    if not item.get("key"):
        wanted = list(dict.fromkeys((*columns, *by)))
        made["records"] = {"sql": _selecting(wanted, item["sql"])}
    if by:
        made["by"] = list(by)
    if "prior" in item:
        made["prior"] = item["prior"]
    if not item.get("pool") and (by or "records" not in made or "min_support" in item):
        made["min_support"] = item.get("min_support", 1)
    spelt = []
    for each in parfactors:
        if isinstance(each, dict) and each.get("table") == name:
            of = dict(zip(columns, argument_texts(each), strict=False))
            on = {"given": [of.get(column, column) for column in given]} if given else {}
            here = json.dumps({**made, **on}, ensure_ascii=False)
            spelt.append(f"in parfactor '{each.get('name')}' write \"table\": {here}")
    there = "; ".join(spelt) or "no parfactor has it"
    return f"counted tables stand where they are learned; leave this one out, and {there}"


def _selecting(columns: Sequence[str], sql: Any) -> str:
    """A query for some columns of another one, in this order."""
    text = (sql if isinstance(sql, str) else "\n".join(map(str, sql))).strip().rstrip(";")
    plain = re.match(r"select\s+([\w\s,]+?)\s+from\b", text, re.IGNORECASE)
    if plain and {each.strip() for each in plain[1].split(",")} == set(columns):
        return f"SELECT {', '.join(columns)}{text[plain.end(1) :]}"
    listed = ", ".join(each if each.isidentifier() else f'"{each}"' for each in columns)
    return f"SELECT {listed} FROM ({text}) AS records"


def _place(given: Any, arguments: Sequence[str], what: str = "given") -> int:
    """Which argument is meant; spaces within it mean nothing."""
    if isinstance(given, str):
        if given in arguments:
            return arguments.index(given)
        spelt = [_spelt(each) for each in arguments]
        if _spelt(given) in spelt:
            return spelt.index(_spelt(given))
    raise ModelError(
        f"{what} has {kind_of(given).removeprefix('the text ')}, which is not among the arguments "
        f"({listed(list(arguments))})"
    )


def _spelt(argument: str) -> str:
    try:
        return str(parse_argument(argument))
    except ModelError:
        return argument


def grouped(
    table: Any, arguments: Sequence[str], place: str, where: str, *steps: Step
) -> GroupedTables:
    """Literal tables by group; place: the file, where: this place in it."""
    with at(place, *steps):
        check_keys(table, "a table by group", GROUPED_KEYS, required=("common",))
        by = texts(table.get("by", []), "by")
        told = list_of(table.get("conditions", []), "conditions is a list of arguments")
        conditions = tuple(sorted(_place(each, arguments, "conditions") for each in told))
        if bool(by) != ("groups" in table):
            raise ModelError("by names the columns of rows that tell groups, which groups lists")
        common = None
        if table["common"] is not None:
            common = _of_group((), table["common"], table.get("support"))
        given = table.get("groups", [])
        if isinstance(given, dict):
            check_keys(given, "a list of groups", ("file", "comment"), required=("file",))
            if not isinstance(given["file"], str) or not given["file"]:
                raise ModelError("file names the Parquet file that lists the groups")
            file = Path(place).parent / given["file"]
            return GroupedTables(where, by, common, (), file, conditions)
        entries = list_of(given, "groups is a list of groups, or an object with file")
    found: dict[tuple[str, ...], TableOfGroup] = {}
    for number, entry in enumerate(entries):
        with at(place, *steps, "groups", number):
            group = _group(entry, by)
            if group.key in found:
                raise ModelError(
                    f"the group {', '.join(group.key)} is listed twice; keep one of them"
                )
            found[group.key] = group
    return GroupedTables(where, by, common, tuple(found.values()), None, conditions)


def _group(entry: Any, by: Sequence[str]) -> TableOfGroup:
    check_keys(entry, "a group", GROUP_KEYS, required=("key", "table"))
    expected = f"key is a list of values of {listed(list(by))}, one at least"
    key = tuple(map(label_of, list_of(entry["key"], expected)))
    if not 1 <= len(key) <= len(by):
        raise ModelError(expected)
    return _of_group(key, entry["table"], entry.get("support"))


def _of_group(key: tuple[str, ...], table: Any, support: Any) -> TableOfGroup:
    values = as_floats(list_of(table, "a table is a list of numbers"))
    if values is None:
        raise ModelError(
            "the table holds something that is not a number, or rows of unequal length"
        )
    if fault := potential_fault(values):
        raise ModelError(f"the table has {fault}")
    records = None
    if support is not None:
        records = as_floats(support if isinstance(support, list) else [support])
        if records is None or not (np.isfinite(records) & (records >= 0)).all():
            raise ModelError("support is a number of records, 0 or more, or a list of such")
    return TableOfGroup(
        key, tuple(values.tolist()), None if records is None else tuple(records.tolist())
    )


def texts(value: Any, key: str) -> tuple[str, ...]:
    """The names of columns."""
    names = list_of(value, f"{key} is a list of columns")
    if not all(isinstance(name, str) and name for name in names):
        raise ModelError(f"{key} is a list of columns, named by texts")
    if len({name.lower() for name in names}) < len(names):
        raise ModelError(f"{key} names a column twice")
    return tuple(names)


def _prior(value: Any) -> tuple[float, ...]:
    """Pseudo counts: one number for all states, or one for each."""
    numbers = as_floats(value if isinstance(value, list) else [value])
    if numbers is None or not len(numbers) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ModelError(
            "prior is a number of imagined records, 0 or more, for each state, "
            "or a list of such numbers"
        )
    return tuple(numbers.tolist())
