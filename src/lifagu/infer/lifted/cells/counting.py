"""Counting over cells: how many rows of a pattern differ only in the members of a class, as a number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted.cells.pattern import Individuals, Pattern, arrangements, compact
from lifagu.infer.lifted.rows import Counted, Twins

Rows = Mapping[int, Sequence[Pattern]]


def quotient(
    patterns: Rows, labels: Mapping[int, Ints], individuals: Individuals, twins: Twins, variable: int
) -> list[Counted] | None:
    """Replace the ground variables that a class counts by one variable; None if the rows are not the same for all.

    Exact as on listed rows: patterns are merged, so that scopes are distinct; rows with the same table and the same
    other arguments, from however many patterns, must be all C(N, m) sets of members. The counting variable names the
    individuals that its members share.
    """
    inside = set(twins.variables.tolist())
    groups: dict[tuple[int, int, tuple[int, ...], int, Pattern], list[tuple[int, Fraction]]] = {}
    for arity, each in patterns.items():
        for entry, pattern in enumerate(each):
            slots = tuple(slot for slot, own in enumerate(pattern.variables) if own in inside)
            if not slots:
                continue
            part = _counted(pattern, slots, individuals, twins, variable)
            if part is None:
                return None
            tie = pattern.variables.index(variable) if variable in pattern.variables else -1
            key = (arity, int(labels[arity][entry]), slots, tie, part[0])
            groups.setdefault(key, []).append((entry, part[1]))
    found = []
    for (arity, label, slots, tie, new), parts in groups.items():
        if sum(often for _, often in parts) != math.comb(twins.count, len(slots)):
            return None
        entries = np.array([entry for entry, _ in parts])
        found.append(Counted(label, slots, tie, new, (arity, entries), np.zeros(len(entries), dtype=np.int64)))
    return found


def _counted(
    pattern: Pattern, slots: tuple[int, ...], individuals: Individuals, twins: Twins, variable: int
) -> tuple[Pattern, Fraction] | None:
    """The new pattern with the counting variable first, and how many old rows each of its rows stands for.

    None if the members in a row belong to different counting variables, or the pattern is not merged.
    """
    symmetries = _symmetries(pattern)
    if pattern.fold != len(symmetries) or len(pattern.used) < len(pattern.cells):
        return None
    shared = {_without(pattern.arguments[slot][1], twins.logical) for slot in slots}
    tied = {names for own, names in pattern.arguments if own == variable}
    if len(shared | tied) > 1:
        return None
    others = [
        argument for slot, argument in enumerate(pattern.arguments) if slot not in slots and argument[0] != variable
    ]
    fixing = sum(all(order[slot] == slot for slot in range(len(order)) if slot not in slots) for order in symmetries)
    new, number = compact(pattern.cells, [(variable, next(iter(shared))), *others], pattern.fold // fixing)
    taken = [pattern.cells[each] for each in number]
    free = [cell for each, cell in enumerate(pattern.cells) if each not in number]
    return new, Fraction(individuals.choices(free, taken), fixing)


def shared_cells(individuals: Individuals, twins: Twins) -> tuple[int, ...]:
    """The cells of the individuals that a counting variable names: its members' without the counted one."""
    return _without(individuals.cells_of[int(twins.variables[0])], twins.logical)


def _without(names: tuple[int, ...], logical: int) -> tuple[int, ...]:
    return names[:logical] + names[logical + 1 :] if names else ()


def _symmetries(pattern: Pattern) -> list[tuple[int, ...]]:
    """The orders of its arguments that leave a pattern as it is."""
    orders = arrangements(pattern.arguments)[1]
    place = np.argsort(orders[0]).tolist()
    return [tuple(order[each] for each in place) for order in orders]


def twins(
    patterns: Rows, labels: Mapping[int, Ints], individuals: Individuals, wanted: Sequence[int], sizes: Ints
) -> list[Twins]:
    """Classes that may be counted: variables with the same tables together where that is exact, else one by one."""
    tokens: dict[int, list[tuple[int, int]]] = {variable: [] for variable in wanted}
    for arity, each in patterns.items():
        for entry, pattern in enumerate(each):
            for variable in pattern.variables:
                if variable in tokens:
                    tokens[variable].append((arity, int(labels[arity][entry])))
    together: dict[object, list[int]] = {}
    for variable, found in tokens.items():
        if len(individuals.cells_of[variable]) < 2 and found:
            together.setdefault((int(sizes[variable]), frozenset(found)), []).append(variable)
    proposals, taken = [], set[int]()
    for group in together.values():
        union = Twins(np.array(group), sum(individuals.members(each) for each in group), 0)
        if len(group) > 1 and quotient(patterns, labels, individuals, union, -1) is not None:
            proposals.append(union)
            taken.update(group)
    for variable in (each for each in wanted if each not in taken):
        cells = individuals.cells_of[variable]
        for logical, cell in enumerate(cells):
            others = cells[:logical] + cells[logical + 1 :]
            members = individuals.choices([cell], others)
            if members > 1:
                proposals.append(Twins(np.array([variable]), members, logical))
    return proposals
