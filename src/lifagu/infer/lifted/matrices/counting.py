"""Counting: which variables look interchangeable, and whether they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, first_places, group_lists, group_rows, members
from lifagu.infer.lifted.rows import Booleans, Counted, SlotClasses, Twins

Pairs = Sequence[tuple[Ints, Ints]]  # a matrix of rows and their labels, by arity


def twins(rows: Pairs, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> list[Twins]:
    """Sets of at least two wanted variables that stand in the same tables beside the same other variables.

    Members of one's own set count as "one of us". Proposals only: `quotient` decides.
    """
    count = len(wanted)
    kind = np.where(wanted, group_rows(sizes[:, None]) + 1, 0)
    for masked in (False, True):
        owner, token = _tokens(rows, wanted, kind if masked else None, slot_classes)
        order = np.lexsort((token, owner))
        starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=count))))
        kind = np.where(wanted, group_rows(np.column_stack((kind, group_lists(starts, token[order])))) + 1, 0)
    variables = np.flatnonzero(wanted)
    groups = members(by_first_occurrence(kind[variables]))
    return [Twins(variables[group], len(group)) for group in groups if len(group) > 1]


def _tokens(rows: Pairs, wanted: Booleans, kind: Ints | None, slot_classes: SlotClasses) -> tuple[Ints, Ints]:
    """For each place of a wanted variable a number for (label, slot), and for what is beside it if kinds are given."""
    owners, tokens, used = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for matrix, labels in rows:
        arity = matrix.shape[1]
        classes = slot_classes(arity, labels)
        descriptions = []
        for slot in range(arity):
            row = np.flatnonzero(wanted[matrix[:, slot]])
            columns = [labels[row], classes[row, slot]]
            if kind is not None:
                others, own = np.delete(matrix[row], slot, axis=1), kind[matrix[row, slot]]
                masked = np.where(kind[others] == own[:, None], len(wanted), others)
                beside = np.delete(classes[row], slot, axis=1) * (len(wanted) + 1) + masked
                columns += list(np.sort(beside, axis=1).T)
            owners.append(matrix[row, slot])
            descriptions.append(np.column_stack(columns))
        number = group_rows(np.concatenate(descriptions))
        tokens.append(number + used)
        used += int(number.max(initial=-1)) + 1
    return np.concatenate(owners), np.concatenate(tokens)


def members_first(rows: Pairs, members_of_class: Ints, count: int, slot_classes: SlotClasses) -> dict[int, Ints]:
    """For each row the order in which to take its slots so that, of swappable ones, members of a class come first."""
    outside = np.ones(count, dtype=np.int64)
    outside[members_of_class] = 0
    orders = {}
    for matrix, labels in rows:
        arity = matrix.shape[1]
        classes = slot_classes(arity, labels)
        wanted = np.argsort(classes * 2 + outside[matrix], axis=1, kind="stable")
        order = np.empty_like(wanted)
        np.put_along_axis(order, np.argsort(classes, axis=1, kind="stable"), wanted, axis=1)
        orders[arity] = order
    return orders


def quotient(rows: Pairs, members_of_class: Ints, variable: int, count: int) -> list[Counted] | None:
    """Replace the members of a class by one variable; None if the rows are not the same for all members.

    Exact: rows are distinct scopes, so a group of rows that differ only in their m members must hold all C(N, m) sets.
    """
    inside = np.zeros(count, dtype=np.bool_)
    inside[members_of_class] = True
    found = []
    for matrix, labels in rows:
        touched = np.flatnonzero(inside[matrix].any(axis=1))
        pattern = inside[matrix[touched]] + 2 * (matrix[touched] == variable)
        for same in members(group_rows(np.column_stack((labels[touched], pattern)))):
            slots, tied = np.flatnonzero(pattern[same[0]] == 1), np.flatnonzero(pattern[same[0]] == 2)
            others = matrix[touched[same]][:, pattern[same[0]] == 0]
            group = group_rows(others)
            if (np.bincount(group) != math.comb(len(members_of_class), len(slots))).any():
                return None
            first = others[first_places(group)]
            new = np.column_stack((np.full(len(first), variable), first))
            label, tie = int(labels[touched[same[0]]]), int(tied[0]) if len(tied) else -1
            place = (matrix.shape[1], touched[same])
            found.append(Counted(label, tuple(slots.tolist()), tie, new, place, group))
    return found
