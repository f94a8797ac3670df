"""Ranges in lifagu's JSON: lists of labels, bins between edges, cohorts."""

from __future__ import annotations

from typing import Any

from lifagu.errors import ModelError
from lifagu.formats.json_values import check_keys, label_of, list_of
from lifagu.graph.bins import BinLabels
from lifagu.graph.ranges import Labels
from lifagu.graph.tables import as_floats

RANGE_KEYS = ("bins", "edges", "labels", "sql", "cohorts", "within", "comment")
MOST_COHORTS = 1000
MOST_BINS = 100_000
MANY_COHORTS = f"cohorts is how many there are to be, 1 to {MOST_COHORTS}"
WAYS = ("bins", "edges", "sql", "cohorts")


def found_range(item: dict[str, Any]) -> tuple[str, Labels | None]:
    """Which way an object says a range, and its labels; None where data has to tell them.

    >>> found_range({"edges": [60, 72]}), found_range({"bins": 5})
    (('edges', ('up to 60', '60–72', 'over 72')), ('bins', None))
    """
    check_keys(item, "a range", RANGE_KEYS, required=())
    ways = [way for way in WAYS if way in item]
    if len(ways) != 1:
        raise ModelError(
            "a range is a list of labels, or an object with one of bins, edges, sql and cohorts"
        )
    if "within" in item and ways[0] not in ("bins", "edges"):
        raise ModelError("within goes with bins or edges, which part those of another relation")
    way = "edges" if ways == ["bins"] and isinstance(item["bins"], list) else ways[0]
    if "labels" in item and way != "edges":
        raise ModelError("labels go with edges, one more than there are edges")
    if way == "edges":
        return way, _binned(item[ways[0]], item.get("labels"))
    if way == "bins":
        expected = f"bins is how many there are to be, 2 to {MOST_BINS}, or a list of edges"
        if _count(item["bins"], 2, expected) > MOST_BINS:
            raise ModelError(expected)
        return way, None
    if way == "cohorts":
        many = _count(item["cohorts"], 1, MANY_COHORTS)
        if many > MOST_COHORTS:
            raise ModelError(MANY_COHORTS)
        return way, tuple(str(each) for each in range(1, many + 1))
    return way, None


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
