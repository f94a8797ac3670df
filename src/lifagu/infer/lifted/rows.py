"""Rows: which variables a shared table stands on, and the few questions the lifted engine asks about them.

A table's rows are all the argument tuples it stands on. Tables are known here by their number (their *label*) alone and
never looked into; every answer that makes new rows tells which old rows they came from. Here rows are explicit integer
matrices, one per arity, and all questions are answered by sorting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints, by_first_occurrence, distinct, first_places, group_lists, group_rows, members

MOST_NEIGHBOURS = 64  # a variable with more argument places next to it is not considered for elimination
Place = tuple[int, Ints]  # arity, and rows of that arity


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows, by arity: matrix[k] is n×k variables, labels[k] the n table numbers."""

    matrix: dict[int, Ints]
    labels: dict[int, Ints]

    def count(self) -> int:
        """Number of rows with arguments."""
        return sum(len(labels) for arity, labels in self.labels.items() if arity)

    def distinct_labels(self) -> int:
        """Number of tables in use."""
        return sum(len(np.unique(labels)) for arity, labels in self.labels.items() if arity)

    def arities(self) -> list[int]:
        """Arities with rows, ascending, without 0."""
        return sorted(arity for arity, labels in self.labels.items() if arity and len(labels))

    def by_label(self, arity: int) -> list[Ints]:
        """The rows of one arity, those of the same table together."""
        return members(by_first_occurrence(self.labels[arity])) if arity in self.labels else []

    def without(self, removed: dict[int, Ints]) -> tuple[Rows, dict[int, Ints]]:
        """The rows that are left, and for each arity which old rows they are."""
        left = {}
        for arity, labels in self.labels.items():
            stays = np.ones(len(labels), dtype=np.bool_)
            stays[removed.get(arity, [])] = False
            left[arity] = np.flatnonzero(stays)
        matrix = {arity: self.matrix[arity][kept] for arity, kept in left.items()}
        return Rows(matrix, {arity: self.labels[arity][kept] for arity, kept in left.items()}), left

    def plus(self, more: list[tuple[Ints, int]]) -> tuple[Rows, list[Place]]:
        """The rows with further ones (matrix, label) at the end, and where each of them went."""
        matrix = {arity: [rows] for arity, rows in self.matrix.items()}
        labels = {arity: [numbers] for arity, numbers in self.labels.items()}
        length = {arity: len(numbers) for arity, numbers in self.labels.items()}
        places = []
        for rows, label in more:
            arity = rows.shape[1]
            start = length.get(arity, 0)
            matrix.setdefault(arity, []).append(rows)
            labels.setdefault(arity, []).append(np.full(len(rows), label))
            length[arity] = start + len(rows)
            places.append((arity, np.arange(start, start + len(rows))))
        joined = {arity: np.concatenate(parts) for arity, parts in matrix.items()}
        return Rows(joined, {arity: np.concatenate(parts) for arity, parts in labels.items()}), places


# ---- rows over the same scope


Sum = list[tuple[int, tuple[int, ...], int]]  # tables (label, order in which to take its axes, how often)


@dataclass(frozen=True, eq=False)
class Merged:
    """Rows after those over the same variables have become one, in the argument order of the one with the lowest label.

    sums[i] makes up the new label first_label + i. For each arity, target[k]: the new row of each old one, and
    order[k]: for each old row the order in which to take its axes.
    """

    rows: Rows
    sums: list[Sum]
    target: dict[int, Ints]
    order: dict[int, Ints]


def merge(rows: Rows, first_label: int) -> Merged:
    """Bring rows over the same variables together; a table that is alone keeps its label and its order."""
    matrix, labels, target, orders = {}, {}, {}, {}
    sums: list[Sum] = []
    for arity in rows.arities():
        old, numbers = rows.matrix[arity], rows.labels[arity]
        by_variable = np.argsort(old, axis=1, kind="stable")
        group = group_rows(np.take_along_axis(old, by_variable, axis=1))
        sequence = np.lexsort((*old.T[::-1], numbers, group))
        frame = sequence[np.cumsum(np.bincount(group)) - np.bincount(group)]
        rank = np.argsort(by_variable[frame], axis=1)
        target[arity], matrix[arity] = group, old[frame]
        orders[arity] = np.take_along_axis(by_variable, rank[group], axis=1)
        labels[arity] = _composed(group, numbers, orders[arity], first_label, sums)
    return Merged(Rows(matrix, labels), sums, target, orders)


def _composed(group: Ints, labels: Ints, order: Ints, first_label: int, sums: list[Sum]) -> Ints:
    """Label of each new row: its old one if it is alone, else that of a new sum, shared by rows of the same make-up."""
    code = group_rows(np.column_stack((labels, order)))
    examples = first_places(code)
    pair = group_rows(np.column_stack((group, code)))
    first = first_places(pair)
    row, kind_of, often = group[first], code[first], np.bincount(pair)
    sequence = np.lexsort((kind_of, row))
    starts = np.concatenate(([0], np.cumsum(np.bincount(row))))
    kind = group_lists(starts, group_rows(np.column_stack((kind_of, often)))[sequence])
    known = []
    for example in first_places(kind).tolist():
        terms = sequence[starts[example] : starts[example + 1]]
        places = examples[kind_of[terms]]
        if len(terms) == 1 and often[terms[0]] == 1:
            known.append(int(labels[places[0]]))
            continue
        known.append(first_label + len(sums))
        counted = zip(places, often[terms].tolist(), strict=True)
        sums.append([(int(labels[place]), tuple(order[place].tolist()), times) for place, times in counted])
    return np.array(known, dtype=np.int64)[kind]


# ---- eliminating


@dataclass(frozen=True, eq=False)
class Costs:
    """What eliminating each variable would make, as log2 of the entries, and how large its largest table is now."""

    variables: Ints
    new: NDArray[np.float64]
    old: NDArray[np.float64]


def elimination_costs(rows: Rows, wanted: NDArray[np.bool_], log_sizes: NDArray[np.float64]) -> Costs:
    """Cost of each wanted variable with not too many neighbours. Cost: sorting the pairs of neighbours considered."""
    near = np.zeros(len(wanted), dtype=np.int64)
    largest = np.zeros(len(wanted))
    for arity in rows.arities():
        matrix = rows.matrix[arity]
        near += (arity - 1) * np.bincount(matrix.reshape(-1), minlength=len(wanted))
        size = log_sizes[matrix].sum(axis=1)
        for slot in range(arity):
            np.maximum.at(largest, matrix[:, slot], size)
    wanted = wanted & (near <= MOST_NEIGHBOURS)
    variables = np.flatnonzero(wanted)
    new = np.zeros(len(wanted))
    pairs = [np.zeros(0, dtype=np.int64)]
    for arity in rows.arities():
        matrix = rows.matrix[arity]
        for slot in range(arity):
            inside = wanted[matrix[:, slot]]
            others = np.delete(matrix[inside], slot, axis=1)
            pairs.append((matrix[inside, slot, None] * len(wanted) + others).reshape(-1))
    pair = distinct(np.concatenate(pairs))
    new += np.bincount(pair // len(wanted), weights=log_sizes[pair % len(wanted)], minlength=len(wanted))
    return Costs(variables, new[variables], largest[variables])


def independent(rows: Rows, chosen: Ints, cost: NDArray[np.float64], count: int) -> Ints:
    """Those of the chosen variables, cheapest first and then in id order, that share no row with one taken before."""
    price = np.full(count, np.inf)
    price[chosen] = cost
    first, second = _conflicts(rows, np.isfinite(price))
    cheapest_near = np.full(count, np.inf)
    np.minimum.at(cheapest_near, first, price[second])
    taken = np.isfinite(price) & (price < cheapest_near)  # nobody near is as cheap: no need to look at them in turn
    blocked = np.zeros(count, dtype=np.bool_)
    blocked[second[taken[first]]] = True
    undecided = np.isfinite(price) & ~taken & ~blocked
    inner = undecided[first] & undecided[second]
    order = np.flatnonzero(undecided)
    order = order[np.lexsort((order, price[order]))]
    return np.sort(np.concatenate((np.flatnonzero(taken), _greedy(order, first[inner], second[inner], count))))


def _conflicts(rows: Rows, inside: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Pairs of these variables that share a row, both ways round."""
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for arity in rows.arities():
        matrix = rows.matrix[arity]
        matrix = matrix[inside[matrix].sum(axis=1) > 1]
        for left in range(arity):
            for right in range(left):
                both = inside[matrix[:, left]] & inside[matrix[:, right]]
                first += [matrix[both, left], matrix[both, right]]
                second += [matrix[both, right], matrix[both, left]]
    return np.concatenate(first), np.concatenate(second)


def _greedy(order: Ints, first: Ints, second: Ints, count: int) -> Ints:
    """Take variables in order, each unless one near it was taken before."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(first, minlength=count)))).tolist()
    neighbours = second[np.argsort(first, kind="stable")].tolist()
    blocked = bytearray(count)
    taken = []
    for variable in order.tolist():
        if not blocked[variable]:
            taken.append(variable)
            for other in neighbours[starts[variable] : starts[variable + 1]]:
                blocked[other] = 1
    return np.array(taken, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Variables to be eliminated alike: the same tables in the same slots, neighbours coinciding in the same way.

    parts: for each row of a block (label, slot of the variable, which of the neighbours stand in its other slots);
    variables[b]; neighbours[b×m]; sources[j]: the arity and, for each block, the row of part j.
    """

    variables: Ints
    neighbours: Ints
    parts: list[tuple[int, int, tuple[int, ...]]]
    sources: list[Place]


def blocks(rows: Rows, chosen: Ints, sizes: Ints) -> list[Blocks]:
    """The rows around each of the chosen (independent) variables, grouped by shape."""
    inside = np.zeros(len(sizes), dtype=np.bool_)
    inside[chosen] = True
    owner, label, slot, arity, row = (np.concatenate(parts) for parts in zip(*_edges(rows, inside), strict=True))
    order = np.lexsort((row, slot, label, arity, owner))
    owner, label, slot, arity, row = (each[order] for each in (owner, label, slot, arity, row))
    owner = np.searchsorted(np.sort(chosen), owner)
    code = group_rows(np.column_stack((label, slot, arity)))
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(chosen)))))
    near_starts, near = _neighbours(rows, owner, slot, arity, row, len(chosen))
    local, different_starts, different = _local(near_starts, near)
    variables = np.sort(chosen)
    shape = group_rows(np.column_stack((sizes[variables], group_lists(starts, code), group_lists(near_starts, local))))
    found = []
    for same in members(shape):
        example = same[0]
        entries = starts[same, None] + np.arange(starts[example + 1] - starts[example])
        width = different_starts[example + 1] - different_starts[example]
        neighbours = different[different_starts[same, None] + np.arange(width)]
        parts, at = [], int(near_starts[example])
        for entry in entries[0].tolist():
            size = int(arity[entry]) - 1
            parts.append((int(label[entry]), int(slot[entry]), tuple(local[at : at + size].tolist())))
            at += size
        sources = [(int(arity[column[0]]), row[column]) for column in entries.T]
        found.append(Blocks(variables[same], neighbours, parts, sources))
    return found


def _edges(rows: Rows, inside: NDArray[np.bool_]) -> list[tuple[Ints, Ints, Ints, Ints, Ints]]:
    """(owner, label, slot, arity, row) of every place of a chosen variable in a row."""
    found = [(np.zeros(0, dtype=np.int64),) * 5]
    for arity in rows.arities():
        matrix, labels = rows.matrix[arity], rows.labels[arity]
        for slot in range(arity):
            row = np.flatnonzero(inside[matrix[:, slot]])
            found.append((matrix[row, slot], labels[row], np.full(len(row), slot), np.full(len(row), arity), row))
    return found


def _neighbours(rows: Rows, owner: Ints, slot: Ints, arity: Ints, row: Ints, count: int) -> tuple[Ints, Ints]:
    """The other variables of each entry's row in slot order, listed per owner: starts of the lists, and the lists."""
    ends = np.cumsum(arity - 1)
    near = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    for size in np.unique(arity).tolist():
        entries = np.flatnonzero(arity == size)
        matrix = rows.matrix[size][row[entries]]
        keep = np.arange(size) != slot[entries, None]
        if size > 1:
            near[(ends[entries] - size + 1)[:, None] + np.arange(size - 1)] = matrix[keep].reshape(-1, size - 1)
    per_owner = np.bincount(owner, weights=arity - 1, minlength=count).astype(np.int64)
    return np.concatenate(([0], np.cumsum(per_owner))), near


def _local(starts: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the values of each list by first occurrence in it; also the distinct values per list, in that order."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    number = group_rows(np.column_stack((owner, values)))
    first = first_places(number)
    per_owner = np.bincount(owner[first], minlength=len(starts) - 1)
    distinct_starts = np.concatenate(([0], np.cumsum(per_owner)))
    return number - distinct_starts[owner], distinct_starts, values[first]


# ---- counting


@dataclass(frozen=True, eq=False)
class Quotient:
    """Rows in which the members of a class have been replaced by one variable.

    Each entry: label and slots of the members in the old table, new rows (the class variable first), and for each old
    row (arity, rows) which new row it went to.
    """

    entries: list[tuple[int, tuple[int, ...], Ints, Place, Ints]]


SlotClasses = Callable[[int, Ints], Ints]  # (arity, labels) -> labels × arity: which slots of a table may be swapped


def twin_classes(rows: Rows, wanted: NDArray[np.bool_], sizes: Ints, slot_classes: SlotClasses) -> list[Ints]:
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
    return [variables[group] for group in groups if len(group) > 1]


def _tokens(rows: Rows, wanted: NDArray[np.bool_], kind: Ints | None, slot_classes: SlotClasses) -> tuple[Ints, Ints]:
    """For each place of a wanted variable a number for (label, slot), and for what is beside it if kinds are given."""
    owners, tokens, used = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for arity in rows.arities():
        matrix, labels = rows.matrix[arity], rows.labels[arity]
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


def members_first(rows: Rows, members_of_class: Ints, count: int, slot_classes: SlotClasses) -> dict[int, Ints]:
    """For each row the order in which to take its slots so that, of swappable ones, members of a class come first."""
    outside = np.ones(count, dtype=np.int64)
    outside[members_of_class] = 0
    orders = {}
    for arity in rows.arities():
        classes, matrix = slot_classes(arity, rows.labels[arity]), rows.matrix[arity]
        wanted = np.argsort(classes * 2 + outside[matrix], axis=1, kind="stable")
        order = np.empty_like(wanted)
        np.put_along_axis(order, np.argsort(classes, axis=1, kind="stable"), wanted, axis=1)
        orders[arity] = order
    return orders


def quotient(rows: Rows, members_of_class: Ints, variable: int, count: int) -> Quotient | None:
    """Replace the members of a class by one variable; None if the rows are not the same for all members.

    Exact: rows are distinct scopes, so a group of rows that differ only in their m members must hold all C(N, m) sets.
    Whether tables are symmetric in the members' slots is for the caller to check.
    """
    inside = np.zeros(count, dtype=np.bool_)
    inside[members_of_class] = True
    entries = []
    for arity in rows.arities():
        matrix, labels = rows.matrix[arity], rows.labels[arity]
        touched = np.flatnonzero(inside[matrix].any(axis=1))
        pattern = inside[matrix[touched]]
        for same in members(group_rows(np.column_stack((labels[touched], pattern)))):
            slots = np.flatnonzero(pattern[same[0]])
            others = matrix[touched[same]][:, ~pattern[same[0]]]
            group = group_rows(others)
            if (np.bincount(group) != math.comb(len(members_of_class), len(slots))).any():
                return None
            first = others[first_places(group)]
            new = np.column_stack((np.full(len(first), variable), first))
            label = int(labels[touched[same[0]]])
            entries.append((label, tuple(slots.tolist()), new, (arity, touched[same]), group))
    return Quotient(entries)
