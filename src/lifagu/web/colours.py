"""Colour passing to look at: round by round, with colours that stay where they can, and each round
in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lifagu import Case, FactorGraph
    from lifagu.graph.factor_graph import Colouring
    from lifagu.questions.findings import Groups

MOST_ROUNDS = 60
MOST_SPLITS = 4  # told in words
MOST_NAMES = 6
LARGE = "The graph is large, so only the groups at the end are shown."
RELATIONAL = {
    "rounds": [],
    "cut": False,
    "groups": {"variables": [], "factors": []},
    "note": "The model itself says what looks alike: the variables of a relation, the factors of a parfactor.",
}


def rounds_of(case: Case, drawn: bool) -> dict[str, Any]:
    """The start colours and those of each round on the completed graph; the last groups alone if it
    is not drawn.
    """
    groups = case.groups()
    shown = {"groups": groups_of(groups), "cut": False}
    if not drawn:
        return {**shown, "rounds": [], "note": LARGE}
    graph = case.transfer.graph
    every = list(islice(case.colour_rounds(), MOST_ROUNDS + 1))
    cut = len(every) > MOST_ROUNDS
    if cut:
        every[-1] = groups.colouring
    return {**shown, "rounds": _told(graph, every, cut), "cut": cut, "note": ""}


def _told(graph: FactorGraph, every: list[Colouring], cut: bool) -> list[dict[str, Any]]:
    """Each round with steady colours and a sentence."""
    variables = steady(each.variable_colours for each in every)
    factors = steady(each.factor_colours for each in every)
    told = []
    for number, (mine, theirs) in enumerate(zip(variables, factors, strict=True)):
        told.append(
            {
                "title": _title(number, cut and number == len(every) - 1),
                "words": _words(graph, number, variables, factors),
                "variables": mine.tolist(),
                "factors": theirs.tolist(),
            }
        )
    return told


def _title(number: int, is_end: bool) -> str:
    return "The end" if is_end else "Start" if number == 0 else f"Round {number}"


def _words(graph: FactorGraph, number: int, variables: list[Any], factors: list[Any]) -> str:
    """What a round changed."""
    if number == 0:
        return (
            "Variables with equal ranges and evidence share a colour, and factors with equal tables. "
            f"{_count(variables[0], factors[0])}"
        )
    splits = [
        *_splits(graph.variable_names, variables[number - 1], variables[number]),
        *_splits(graph.factor_names, factors[number - 1], factors[number]),
    ]
    if not splits:
        return f"Nothing changes any more: these are the groups. {_count(variables[number], factors[number])}"
    left = len(splits) - MOST_SPLITS
    more = (
        [f"{left} more {'group splits' if left == 1 else 'groups split'} off as well."]
        if left > 0
        else []
    )
    return " ".join([*splits[:MOST_SPLITS], *more, _count(variables[number], factors[number])])


def _count(variables: Any, factors: Any) -> str:
    mine, theirs = len(np.unique(variables)), len(np.unique(factors))
    return f"{mine} group{'s' * (mine != 1)} of variables, {theirs} of factors."


def _splits(names: Any, before: Any, after: Any) -> list[str]:
    """A sentence for each group that fell apart: who keeps the colour, and who leaves."""
    found = []
    for group in np.unique(before).tolist():
        parts = [part for part in np.unique(after[before == group]).tolist() if part != group]
        for part in parts:
            found.append(
                f"{_some(names, after, part)} no longer look{'s' if np.sum(after == part) == 1 else ''} like "
                f"{_some(names, after, group)}."
            )
    return found


def _some(names: Any, colours: Any, group: int) -> str:
    places = np.flatnonzero(colours == group)
    shown = ", ".join(names[each] for each in places[:3].tolist())
    return shown if len(places) <= 3 else f"{shown} and {len(places) - 3} more"


def steady(rounds: Iterable[Any]) -> list[Any]:
    """The same partitions with numbers that stay: where a group falls apart, its first member's
    part keeps the number.

    >>> [each.tolist() for each in steady([np.array([0, 0, 1]), np.array([0, 1, 2])])]
    [[0, 0, 1], [0, 2, 1]]
    """
    result: list[Any] = []
    for colours in rounds:
        if not result:
            result.append(np.asarray(colours))
            continue
        before, used = result[-1], int(result[-1].max(initial=-1)) + 1
        _, first = np.unique(colours, return_index=True)
        number, taken = np.zeros(len(first), dtype=np.int64), set()
        for place in np.argsort(first, kind="stable").tolist():
            parent = int(before[first[place]])
            number[place] = used if parent in taken else parent
            used += parent in taken
            taken.add(parent)
        result.append(number[colours])
    return result


def groups_of(groups: Groups) -> dict[str, list[dict[str, Any]]]:
    """The largest groups of variables and of factors: how many belong to each, and the first of
    them.
    """
    found: dict[str, list[dict[str, Any]]] = {"variables": [], "factors": []}
    for each in groups.largest:
        found[each.sort].append({"size": each.size, "first": each.members[:MOST_NAMES]})
    return found
