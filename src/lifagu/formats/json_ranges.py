"""Ranges in lifagu's JSON: lists of labels, bins between edges, cohorts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lifagu.errors import ModelError
from lifagu.formats.json_lines import Step, at, path_text
from lifagu.formats.json_values import check_keys, items_at, label_of, list_of, object_at
from lifagu.graph.bins import BinLabels
from lifagu.graph.ranges import Labels
from lifagu.graph.tables import as_floats
from lifagu.relational.template import Query, RangeToFind

RANGE_KEYS = ("bins", "edges", "labels", "sql", "cohorts", "comment")
WAYS = ("bins", "edges", "sql", "cohorts")


def labels_of(value: Any) -> Labels:
    """The labels of a range, or of the bins that an object describes."""
    if isinstance(value, tuple):  # found already
        return value
    if isinstance(value, dict):
        way, labels = found_range(value)
        if labels is None:
            raise ModelError(f"the range comes from data, by {way}, and is for relations alone")
        return labels
    expected = "a range is a list of labels, or the name of a range"
    return tuple(map(label_of, list_of(value, expected)))


def found_range(item: dict[str, Any]) -> tuple[str, Labels | None]:
    """Which way an object says a range, and its labels; None where data has to tell them.

    >>> found_range({"edges": [60, 72]}), found_range({"bins": 5})
    (('edges', ('≤ 60', '60–72', '> 72')), ('bins', None))
    """
    check_keys(item, "a range", RANGE_KEYS, required=())
    ways = [way for way in WAYS if way in item]
    if len(ways) != 1:
        raise ModelError(
            "a range is a list of labels, or an object with one of bins, edges, sql and cohorts"
        )
    way = "edges" if ways == ["bins"] and isinstance(item["bins"], list) else ways[0]
    if "labels" in item and way != "edges":
        raise ModelError("labels go with edges, one more than there are edges")
    if way == "edges":
        return way, _binned(item[ways[0]], item.get("labels"))
    if way == "bins":
        _count(item["bins"], 2, "bins is how many there are to be, 2 or more, or a list of edges")
        return way, None
    if way == "cohorts":
        many = _count(item["cohorts"], 1, "cohorts is how many there are to be, 1 or more")
        return way, tuple(str(each) for each in range(1, many + 1))
    return way, None


def ranges_to_find(
    whole: dict[str, Any], place: str, where: Callable[..., str], query: Callable[..., Query]
) -> tuple[dict[str, RangeToFind], frozenset[str]]:
    """Ranges of a file that data decides on, by where they stand, and relations that are hidden.

    where: a place in the file for later errors, by its steps; query: one that stands there.
    """
    found: dict[str, RangeToFind] = {}
    cohorts: set[str] = set()
    for steps, item, users in _objects(whole, place):
        with at(place, *steps):
            way, _ = found_range(item)
        if way == "cohorts":
            cohorts.update(users)
        if way == "bins":
            found[path_text(steps)] = RangeToFind(where(*steps), users, bins=item["bins"])
        if way == "sql":
            asked = query(item, *steps)
            found[path_text(steps)] = RangeToFind(asked.place, users, query=asked)
    return found, frozenset(cohorts)


def _objects(
    whole: dict[str, Any], place: str
) -> Iterator[tuple[tuple[Step, ...], dict[str, Any], dict[str, tuple[str, ...]]]]:
    """Where a range is an object, and the relations that have it, with their domains."""
    users: dict[str, dict[str, tuple[str, ...]]] = {}
    for number, relation in enumerate(items_at(whole, "relations", place)):
        if not isinstance(relation, dict):
            continue
        given, of = relation.get("range"), relation.get("of", [])
        user = {str(relation.get("name")): tuple(map(str, of if isinstance(of, list) else []))}
        if isinstance(given, str):
            users.setdefault(given, {}).update(user)
        elif isinstance(given, dict):
            yield ("relations", number, "range"), given, user
    for name, item in object_at(whole.get("ranges", {}), place, "ranges").items():
        if isinstance(item, dict):
            yield ("ranges", name), item, users.get(name, {})


def _binned(edges: Any, labels: Any) -> BinLabels:
    given = list_of(edges, "edges is a list of numbers")
    numbers = as_floats(given) if given else ()
    if numbers is None or len(numbers) != len(given):
        raise ModelError("edges is a list of numbers, each greater than the one before")
    if labels is None:
        return BinLabels.of([float(each) for each in numbers])
    texts = list_of(labels, "labels is a list, with one for each bin")
    return BinLabels(map(label_of, texts), [float(each) for each in numbers])


def _count(value: Any, least: int, expected: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelError(expected)
    return value
