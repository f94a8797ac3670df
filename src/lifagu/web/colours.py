"""Colour passing to look at: round by round, with steady colours, and each round in words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.words import counted

if TYPE_CHECKING:
    from lifagu import Case, FactorGraph
    from lifagu.basics.arrays import Ints
    from lifagu.basics.names import Names
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
    "note": "The model itself says what looks alike: "
    "the variables of a relation, the factors of a parfactor.",
}


def rounds_of(case: Case, drawn: bool) -> dict[str, Any]:
    """The start colours and each round's on the completed graph; if not drawn, the groups."""
    groups = case.groups()
    shown = {"groups": groups_of(groups), "cut": False}
    said = case.transfer.stand_in
    said = f"{said[:1].upper()}{said[1:]}." if said else ""
    if not drawn:
        return {**shown, "rounds": [], "note": f"{LARGE} {said}".strip()}
    graph = case.transfer.graph
    every = list(islice(case.colour_rounds(), MOST_ROUNDS + 1))
    cut = len(every) > MOST_ROUNDS
    if cut:
        every[-1] = groups.colouring
    return {**shown, "rounds": _told(graph, every, cut), "cut": cut, "note": said}


def _told(graph: FactorGraph, every: list[Colouring], cut: bool) -> list[dict[str, Any]]:
    """Each round with steady colours and a sentence."""
    variables = steady(each.variable_colours for each in every)
    factors = steady(each.factor_colours for each in every)
    titles = ["Start", *(f"Round {number}" for number in range(1, len(every)))]
    if cut:
        titles[-1] = "The end"
    return [
        {
            "title": title,
            "words": _words(graph, variables[: number + 1], factors[: number + 1]),
            "variables": variables[number].tolist(),
            "factors": factors[number].tolist(),
        }
        for number, title in enumerate(titles)
    ]


def _words(graph: FactorGraph, variables: list[Ints], factors: list[Ints]) -> str:
    """What the last of these rounds changed."""
    mine, theirs = len(np.unique(variables[-1])), len(np.unique(factors[-1]))
    count = f"{counted(mine, 'group')} of variables, {theirs} of factors."
    if len(variables) == 1:
        equal = "Variables with equal ranges and evidence share a colour"
        return f"{equal}, and factors with equal tables. {count}"
    splits = [
        *_splits(graph.variable_names, *variables[-2:]),
        *_splits(graph.factor_names, *factors[-2:]),
    ]
    if not splits:
        return f"Nothing changes any more: these are the groups. {count}"
    left = len(splits) - MOST_SPLITS
    if left > 0:
        more = "more group splits" if left == 1 else "more groups split"
        splits[MOST_SPLITS:] = [f"{left} {more} off as well."]
    return " ".join([*splits, count])


def _splits(names: Names, before: Ints, after: Ints) -> list[str]:
    """A sentence for each group that fell apart: who keeps the colour, and who leaves."""
    found = []
    for group in np.unique(before).tolist():
        for part in np.unique(after[before == group]).tolist():
            if part != group:
                look = "looks" if np.sum(after == part) == 1 else "look"
                leaving, staying = (_some(names, after, each) for each in (part, group))
                found.append(f"{leaving} no longer {look} like {staying}.")
    return found


def _some(names: Names, colours: Ints, group: int) -> str:
    places = np.flatnonzero(colours == group)
    shown = ", ".join(names.of_nodes(places[:3]))
    return shown if len(places) <= 3 else f"{shown} and {len(places) - 3} more"


def steady(rounds: Iterable[Ints]) -> list[Ints]:
    """The same partitions, with a split group's number kept by its first member's part.

    >>> [each.tolist() for each in steady([np.array([0, 0, 1]), np.array([0, 1, 2])])]
    [[0, 0, 1], [0, 2, 1]]
    """
    result: list[Ints] = []
    for colours in rounds:
        if not result:
            result.append(colours)
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
    """The largest groups of variables and of factors: how many belong to each, and the first."""
    found: dict[str, list[dict[str, Any]]] = {"variables": [], "factors": []}
    for each in groups.largest:
        found[each.sort].append({"size": each.size, "first": each.members[:MOST_NAMES]})
    return found
