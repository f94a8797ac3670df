"""Twins among listed rows: which look interchangeable, which are, what counting makes of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import (
    Ints,
    by_first_occurrence,
    connected_parts,
    first_places,
    group_lists,
    group_rows,
    members,
    offsets_of,
)
from lifagu.inference.lifted.integers import LARGEST
from lifagu.inference.lifted.rows import (
    Booleans,
    Classes,
    CountedRows,
    SlotClasses,
    classes_of,
    members_first,
)

Pairs = Sequence[tuple[Ints, Ints]]  # a matrix of rows and their labels, by arity
MOST_INNER = 4  # tables that are tried as those between members of a class
MOST_ROUNDS = 4  # in which kinds are told apart by what is beside them


# ---- proposals


def proposed(rows: Pairs, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> Classes:
    """Classes of two or more wanted variables in the same tables beside the same others.

    Those that never share a row stand beside exactly the same others. Those that share rows of two
    arguments do so once each counts as its own neighbour. Others that share rows are beside one
    another in some way: those of the same kind count as "one of us", and what hangs together by
    rows is a class. Proposals only: `interchangeable` decides. Cost: a few times that of sorting.
    """
    kind = np.where(wanted, group_rows(sizes[:, None]) + 1, 0)
    kind = _refined(rows, kind, slot_classes, beside=None)
    nobody = np.zeros_like(kind)
    found = _members(strangers := _refined(rows, kind, slot_classes, beside=nobody))
    kind = np.where(_alone(strangers), kind, 0)
    for label in _inner_labels(rows, kind, slot_classes):
        neighbours = _refined(rows, kind, slot_classes, beside=nobody, itself=label)
        found += _members(neighbours)
        kind = np.where(_alone(neighbours), kind, 0)
    for _ in range(MOST_ROUNDS):
        finer = _refined(rows, kind, slot_classes, beside=kind)
        if finer.max(initial=0) == kind.max(initial=0) and np.array_equal(finer > 0, kind > 0):
            break
        kind = finer
    found += _members(_connected(rows, kind))
    found.sort(key=lambda group: int(group[0]))
    return classes_of(found, [len(group) for group in found])


def _inner_labels(rows: Pairs, kind: Ints, slot_classes: SlotClasses) -> list[int]:
    """The swappable tables of two arguments between variables of a kind; most used first."""
    for matrix, labels in rows:
        if matrix.shape[1] == 2:
            first, second = kind[matrix].T
            inner, often = np.unique(labels[(first == second) & (first > 0)], return_counts=True)
            same = slot_classes(2, inner)
            order = np.argsort(-often, kind="stable")
            return [
                int(inner[place]) for place in order.tolist() if same[place, 0] == same[place, 1]
            ][:MOST_INNER]
    return []


def _alone(kind: Ints) -> Booleans:
    """Which variables have a kind of their own (or none)."""
    return np.asarray((kind == 0) | (np.bincount(kind)[kind] == 1))


def _members(kind: Ints) -> list[Ints]:
    """The variables of each kind with at least two."""
    several = np.flatnonzero(~_alone(kind))
    return [several[group] for group in members(by_first_occurrence(kind[several]))]


def _refined(
    rows: Pairs, kind: Ints, slot_classes: SlotClasses, beside: Ints | None, itself: int = -1
) -> Ints:
    """Kinds told apart by the tables and slots of variables; kinds of one variable are dropped (0).

    beside: tell apart by the other arguments, too, where those whose number here is one's own (and
    not 0) look alike; itself: a label of arity 2 with which each variable counts as its own
    neighbour, -1 if none.
    """
    kind = np.where(_alone(kind), 0, kind)
    owner, token = _tokens(rows, kind > 0, beside, slot_classes, itself)
    order = np.lexsort((token, owner))
    starts = offsets_of(np.bincount(owner, minlength=len(kind)))
    finer = group_rows(np.column_stack((kind, group_lists(starts, token[order])))) + 1
    finer = np.where(kind > 0, finer, 0)
    finer = np.where(_alone(finer), 0, finer)
    return by_first_occurrence(np.where(finer > 0, finer, -1)) + 1


def _tokens(
    rows: Pairs, wanted: Booleans, beside: Ints | None, slot_classes: SlotClasses, itself: int
) -> tuple[Ints, Ints]:
    """For each place of a wanted variable a number for (label, slot) and, if it counts, others."""
    owners, tokens, used = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for every, every_label in rows:
        touched = np.flatnonzero(wanted[every].any(axis=1))
        matrix, labels = every[touched], every_label[touched]
        arity = matrix.shape[1]
        classes = slot_classes(arity, labels)
        descriptions = []
        for slot in range(arity):
            row = np.flatnonzero(wanted[matrix[:, slot]])
            columns = [labels[row], classes[row, slot]]
            if beside is not None:
                others, own = np.delete(matrix[row], slot, axis=1), beside[matrix[row, slot]]
                ours = (beside[others] == own[:, None]) & (own[:, None] > 0)
                masked = np.where(ours, len(wanted), others)
                look = np.delete(classes[row], slot, axis=1) * (len(wanted) + 1) + masked
                columns += list(np.sort(look, axis=1).T)
            owners.append(matrix[row, slot])
            descriptions.append(np.column_stack(columns))
        if itself >= 0 and arity == 2:
            own = np.flatnonzero(wanted)
            owners.append(own)
            label = np.full(len(own), itself)
            descriptions.append(np.column_stack((label, np.zeros_like(own), own)))
        number = group_rows(np.concatenate(descriptions))
        tokens.append(number + used)
        used += int(number.max(initial=-1)) + 1
    return np.concatenate(owners), np.concatenate(tokens)


def _connected(rows: Pairs, kind: Ints) -> Ints:
    """Kinds divided into what hangs together by rows between variables of the same kind."""
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for matrix, _ in rows:
        own = kind[matrix]
        for left in range(matrix.shape[1]):
            for right in range(left):
                ours = (own[:, left] == own[:, right]) & (own[:, left] > 0)
                first.append(matrix[ours, left])
                second.append(matrix[ours, right])
    parts = connected_parts(len(kind), np.concatenate(first), np.concatenate(second))
    return np.where(kind > 0, parts + 1, 0)


# ---- proof


def interchangeable(
    rows: Pairs, classes: Classes, count: int, slot_classes: SlotClasses
) -> list[int]:
    """Those of the classes whose members may be swapped without changing the rows.

    Exact: rows are distinct scopes, so a group of rows that differ only in their m members of a
    class must hold all C(N, m) sets. A row with members of several classes is looked at for each of
    them.
    """
    class_of = _class_of(classes, count)
    wrong = np.zeros(len(classes), dtype=np.bool_)
    for matrix, labels in rows:
        row, own = _incidences(class_of[matrix])
        inside = class_of[matrix[row]] == own[:, None]
        order = members_first(matrix[row], inside, slot_classes(matrix.shape[1], labels[row]))
        named = np.where(inside, count + own[:, None], matrix[row])
        scope = np.take_along_axis(named, order, axis=1)
        group = group_rows(np.column_stack((labels[row], scope)))
        first = first_places(group)
        wanted = _sets(classes, own[first], inside[first].sum(axis=1))
        wrong[own[first[np.bincount(group, minlength=len(first)) != wanted]]] = True
    return np.flatnonzero(~wrong).tolist()


def _class_of(classes: Classes, count: int) -> Ints:
    """The class of each of `count` variables, -1 if none."""
    class_of = np.full(count, -1, dtype=np.int64)
    class_of[classes.variables] = classes.owner
    return class_of


def _incidences(own: Ints) -> tuple[Ints, Ints]:
    """Each row with each of its classes once. own: the class of each argument, -1 if none."""
    rows, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for slot in range(own.shape[1]):
        fresh = (own[:, slot] >= 0) & (own[:, :slot] != own[:, slot, None]).all(axis=1)
        rows.append(np.flatnonzero(fresh))
        found.append(own[fresh, slot])
    return np.concatenate(rows), np.concatenate(found)


def _sets(classes: Classes, own: Ints, slots: Ints) -> Ints:
    """How many sets of so many members each of some classes has, as far as 64 bits reach."""
    counts = np.array(classes.counts, dtype=np.int64)[own]
    pairs = group_rows(np.column_stack((counts, slots)))
    numbers = [
        math.comb(int(counts[place]), int(slots[place])) for place in first_places(pairs).tolist()
    ]
    return np.array([min(number, LARGEST) for number in numbers], dtype=np.int64)[pairs]


def apart_from_each_other(rows: Pairs, classes: Classes, count: int) -> list[int]:
    """Those of the classes, earlier ones first, that share no row with one taken before."""
    class_of = _class_of(classes, count)
    near: dict[int, set[int]] = {}
    for matrix, _ in rows:
        own = class_of[matrix]
        for left in range(matrix.shape[1]):
            for right in range(left):
                both = (own[:, left] >= 0) & (own[:, right] >= 0) & (own[:, left] != own[:, right])
                met = np.unique(own[both][:, [left, right]], axis=0)
                for one, other in met.tolist():
                    near.setdefault(one, set()).add(other)
                    near.setdefault(other, set()).add(one)
    taken: set[int] = set()
    for number in range(len(classes)):
        if not near.get(number, set()) & taken:
            taken.add(number)
    return sorted(taken)


def quotient(
    rows: Pairs, classes: Classes, variables: Ints, count: int, slot_classes: SlotClasses
) -> list[CountedRows[Ints]]:
    """Replace members of classes, which share no row, by variables that count them."""
    class_of = _class_of(classes, count)
    counts = np.array(classes.counts, dtype=np.int64)
    found = []
    for every, every_label in rows:
        arity, touched = every.shape[1], np.flatnonzero((class_of[every] >= 0).any(axis=1))
        matrix, labels = every[touched], every_label[touched]
        own = class_of[matrix].max(axis=1, initial=-1)
        inside = class_of[matrix] >= 0
        order = members_first(matrix, inside, slot_classes(arity, labels))
        scope = np.take_along_axis(matrix, order, axis=1)
        inside = np.take_along_axis(inside, order, axis=1)
        holds = inside + 2 * (scope == variables[own][:, None])
        for same in members(group_rows(np.column_stack((labels, holds, counts[own])))):
            held = holds[same[0]]
            slots, tied = tuple(np.flatnonzero(held == 1).tolist()), np.flatnonzero(held == 2)
            tie = int(tied[0]) if len(tied) else -1
            new = np.column_stack((variables[own[same]], scope[same][:, held == 0]))
            group = group_rows(new)
            first = first_places(group)
            label, old = int(labels[same[0]]), (arity, touched[same])
            counting, classes_now = new[first], own[same[first]]
            found.append(
                CountedRows(label, slots, tie, counting, classes_now, old, order[same], group)
            )
    return found
