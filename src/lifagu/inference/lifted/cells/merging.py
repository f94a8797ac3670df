"""Patterns over the same variables become one; individuals that no argument names become powers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.inference.lifted.cells.pattern import Individuals, Pattern, arrangements, compact
from lifagu.inference.lifted.table_stack import Sum, Sums


def merge(
    patterns: Sequence[Pattern],
    labels: Ints,
    individuals: Individuals,
    first_label: int,
    sums: dict[Sum, int],
) -> tuple[list[Pattern], list[int], Ints, Ints]:
    """The merged patterns of one arity, their labels, and target and order of each old one.

    sums: the new sums so far and their labels, extended in place.
    """
    groups: dict[object, list[int]] = {}
    for place, pattern in enumerate(patterns):
        groups.setdefault(arrangements(pattern.arguments)[0], []).append(place)
    target = np.empty(len(patterns), dtype=np.int64)
    orders = np.empty(
        (len(patterns), len(patterns[0].arguments) if patterns else 0), dtype=np.int64
    )
    merged, names = [], []
    for number, places in enumerate(groups.values()):
        frame = min(places, key=lambda place: (int(labels[place]), place))
        terms = []
        for place in places:
            target[place] = number
            own = _orders(patterns[frame], patterns[place])
            orders[place] = own[0]
            often = _often(patterns[place], individuals)
            terms += [(int(labels[place]), order, often) for order in own]
        symmetries = len(_orders(patterns[frame], patterns[frame]))
        new, _ = compact(patterns[frame].cells, patterns[frame].arguments, symmetries)
        merged.append(new)
        if len(places) == 1 and _is_merged(patterns[frame], symmetries):
            names.append(int(labels[frame]))
        else:
            names.append(sums.setdefault(tuple(terms), first_label + len(sums)))
    return merged, names, target, orders


def listed(sums: Sequence[Sum], arity: int) -> Sums:
    """Sums of tables of so many slots."""
    terms = [term for each in sums for term in each]
    return Sums(
        np.concatenate(([0], np.cumsum([len(each) for each in sums]))).astype(np.int64),
        np.array([label for label, _, _ in terms], dtype=np.int64),
        np.array([order for _, order, _ in terms], dtype=np.int64).reshape(len(terms), arity),
        np.array([often for _, _, often in terms], dtype=object),
    )


def _orders(frame: Pattern, pattern: Pattern) -> list[tuple[int, ...]]:
    """All orders in which a pattern's arguments stand on the frame's variables."""
    canonical = arrangements(frame.arguments)[1][0]
    place = np.argsort(canonical)
    return [
        tuple(order[each] for each in place.tolist())
        for order in arrangements(pattern.arguments)[1]
    ]


def _often(pattern: Pattern, individuals: Individuals) -> Fraction:
    """How often a table counts per row: once for each choice of individuals nobody names."""
    used = pattern.used
    taken = [pattern.cells[each] for each in used]
    spare = [cell for each, cell in enumerate(pattern.cells) if each not in used]
    return Fraction(individuals.choices(spare, taken), pattern.fold)


def _is_merged(pattern: Pattern, symmetries: int) -> bool:
    return pattern.fold == symmetries and len(pattern.used) == len(pattern.cells)
