"""Ranges of templates that data decides on, and relations that nobody observes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lifagu.formats.json_lines import Step, at, path_text
from lifagu.formats.json_ranges import found_range
from lifagu.formats.json_values import items_at, object_at
from lifagu.relational.template import Query, RangeToFind


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
