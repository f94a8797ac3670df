"""Tables of templates that are no plain lists: counted, to be learned, or listed by group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.errors import ModelError, listed
from lifagu.formats.json_lines import Step, at
from lifagu.formats.json_parts import LEARN
from lifagu.formats.json_values import check_keys, kind_of, label_of, list_of
from lifagu.graph.tables import as_floats, potential_fault
from lifagu.relational.parsing import parse_argument
from lifagu.relational.template import GroupedTables, Learned, Query, TableOfGroup, ToLearn

COUNTED_KEYS = (
    "sql", "columns", "given", "by", "prior", "min_support", "key", "pool", "comment"
)  # fmt: skip
LEARN_KEYS = (LEARN, "by", "given", "comment")
GROUPED_KEYS = ("by", "common", "support", "conditions", "groups", "comment")
GROUP_KEYS = ("key", "table", "support", "comment")


def counted(item: Any, query: Query) -> Learned:
    """A table that is counted in the rows of a query."""
    columns, given, by = (texts(item.get(key, []), key) for key in ("columns", "given", "by"))
    if not columns:
        raise ModelError("columns names a column for each argument")
    for column in given:
        if column not in columns:
            raise ModelError(
                f"given has '{column}', which is not among columns: {', '.join(columns)}"
            )
    if len(given) == len(columns):
        raise ModelError("given has all columns; a table conditional on everything says nothing")
    support = item.get("min_support", 1)
    if isinstance(support, bool) or not isinstance(support, int) or support < 0:
        raise ModelError("min_support is a whole number of records, 0 or more")
    pool = item.get("pool", False)
    if not isinstance(pool, bool):
        raise ModelError(f"pool is true or false, not {kind_of(pool)}")
    if pool and not by:
        raise ModelError("pool draws the tables of groups together; say by which columns, in by")
    if pool and "min_support" in item:
        raise ModelError(
            "pool gives groups with few records what all have in common; leave out min_support"
        )
    key = texts(item["key"], "key") if "key" in item else None
    prior = _prior(item.get("prior", 1))
    return Learned(query, columns, given, by, prior, support, key, pool)


def to_learn(table: Any, arguments: Sequence[str]) -> ToLearn:
    """A table that is learned from evidence: the word, or an object with by and given."""
    if isinstance(table, str):
        return ToLearn()
    check_keys(table, "a table to be learned", LEARN_KEYS, required=(LEARN,))
    if table[LEARN] is not True:
        raise ModelError("learn is true; give a table, or null, where nothing is to be learned")
    by = texts(table.get("by", []), "by")
    given = list_of(table.get("given", []), "given is a list of arguments")
    places = [_place(each, arguments) for each in given]
    if len(set(places)) < len(places):
        raise ModelError("given names an argument twice; name it once")
    if places and len(places) == len(arguments):
        raise ModelError("given has all arguments; a table conditional on everything says nothing")
    return ToLearn(by, tuple(sorted(places)))


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
