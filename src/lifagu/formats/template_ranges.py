"""Ranges of templates that data decides on, and relations that nobody observes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lifagu.errors import ModelError, did_you_mean
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
    finer = finer_relations(whole, place)
    for steps, item, users in _objects(whole, place):
        with at(place, *steps):
            way, labels = found_range(item)
        if way == "cohorts":
            cohorts.update(users)
        coarse = finer.get(next(iter(users), ""))
        if coarse is not None:
            steps_of, given, own = range_of(whole, coarse)
            edges = given["edges"] if "edges" in given else given["bins"]
            within = edges if isinstance(edges, list) else path_text(steps_of)
            found[path_text(steps)] = RangeToFind(
                where(*steps),
                {coarse: own},
                item["bins"] if way == "bins" else 0,
                within=within,
                labels=labels,
            )
        elif way == "bins":
            found[path_text(steps)] = RangeToFind(where(*steps), users, bins=item["bins"])
        if way == "sql":
            asked = query(item, *steps)
            found[path_text(steps)] = RangeToFind(asked.place, users, query=asked)
    return found, frozenset(cohorts)


def finer_relations(whole: dict[str, Any], place: str) -> dict[str, str]:
    """By relation in finer bins the one whose numbers it has."""
    relations = [e for e in items_at(whole, "relations", place) if isinstance(e, dict)]
    of = {str(each.get("name")): each.get("of", []) for each in relations}
    found: dict[str, str] = {}
    for number, each in enumerate(items_at(whole, "relations", place)):
        given = each.get("range") if isinstance(each, dict) else None
        if not isinstance(given, dict) or "within" not in given or "name" not in each:
            continue
        fine, coarse = str(each.get("name")), given["within"]
        with at(place, "relations", number, "range", "within"):
            if not isinstance(coarse, str) or coarse not in of:
                close = did_you_mean(str(coarse), of)
                raise ModelError(f"there is no relation '{coarse}'{close}")
            _, theirs, _ = range_of(whole, coarse)
            if not isinstance(theirs, dict) or not {"bins", "edges"} & set(theirs):
                raise ModelError(f"relation '{coarse}' has no bins of numbers that could be finer")
            if "within" in theirs or coarse in found.values():
                raise ModelError(
                    f"numbers have bins of two sorts at most, and '{coarse}' has finer ones already"
                )
            if of[fine] != of[coarse]:
                raise ModelError(f"'{fine}' has the numbers of '{coarse}', so it is of the same")
        found[fine] = coarse
    for name, item in object_at(whole.get("ranges", {}), place, "ranges").items():
        if isinstance(item, dict) and "within" in item:
            with at(place, "ranges", name, "within"):
                raise ModelError("within belongs into the range of the relation that has it")
    return found


class RangeAsWritten(NamedTuple):
    """Where the range of a relation stands, what stands there, and the relation's domains."""

    steps: tuple[Step, ...]
    item: Any
    of: tuple[str, ...]


def range_of(whole: dict[str, Any], relation: str) -> RangeAsWritten:
    """The range of a relation that there is."""
    items = enumerate(whole["relations"])
    number, each = next(
        it for it in items if isinstance(it[1], dict) and it[1].get("name") == relation
    )
    given, of, named = each.get("range"), each.get("of"), whole.get("ranges")
    domains = tuple(map(str, of if isinstance(of, list) else []))
    if isinstance(given, str) and isinstance(named, dict) and given in named:
        return RangeAsWritten(("ranges", given), named[given], domains)
    return RangeAsWritten(("relations", number, "range"), given, domains)


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
