"""Twins over cells: how many rows of a pattern differ only in members of a class, by numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.inference.lifted.cells.pattern import (
    Entries,
    Individuals,
    Pattern,
    arrangements,
    compact,
)
from lifagu.inference.lifted.rows import (
    Classes,
    CountedRows,
    SlotClasses,
    classes_of,
    members_first,
)


@dataclass(frozen=True)
class _Part:
    """What becomes of a pattern with members: their slots, the counting variable's, the new one.

    order: in which its arguments fill the slots; often: how many old rows each new one stands for.
    """

    arity: int
    entry: int
    label: int
    slots: tuple[int, ...]
    tie: int
    new: Pattern
    order: tuple[int, ...]
    often: Fraction


def interchangeable(
    entries: Entries, classes: Classes, variable: int, slot_classes: SlotClasses
) -> list[int]:
    """The one class, unless its ground variables cannot be swapped without changing the rows."""
    groups = _groups(entries, classes, variable, slot_classes)
    if groups is None:
        return []
    right = all(
        sum(part.often for part in parts) == math.comb(classes.counts[0], len(parts[0].slots))
        for parts in groups.values()
    )
    return [0] if right else []


def quotient(
    entries: Entries, classes: Classes, variable: int, slot_classes: SlotClasses
) -> list[CountedRows[Pattern]]:
    """Replace the ground variables that an interchangeable class counts by one variable.

    Exact as on listed rows: patterns are merged, so that scopes are distinct; rows with the same
    table and the same other arguments, from however many patterns, are all C(N, m) sets of members.
    The counting variable names the individuals that its members share.
    """
    found = []
    for parts in (_groups(entries, classes, variable, slot_classes) or {}).values():
        first = parts[0]
        places = np.array([part.entry for part in parts])
        order = np.array([part.order for part in parts], dtype=np.int64)
        nothing = np.zeros(len(parts), dtype=np.int64)
        old = (first.arity, places)
        found.append(
            CountedRows(
                first.label, first.slots, first.tie, first.new, nothing[:1], old, order, nothing
            )
        )
    return found


def _groups(
    entries: Entries, classes: Classes, variable: int, slot_classes: SlotClasses
) -> dict[object, list[_Part]] | None:
    """The patterns with members, by the one they become; None if one cannot be counted."""
    groups: dict[object, list[_Part]] = {}
    for part in _parts(entries, classes, variable, slot_classes):
        if part is None:
            return None
        groups.setdefault((part.arity, part.label, part.slots, part.tie, part.new), []).append(part)
    return groups


def _parts(
    entries: Entries, classes: Classes, variable: int, slot_classes: SlotClasses
) -> Iterator[_Part | None]:
    """What becomes of each pattern with members; None for one that cannot be counted."""
    inside = set(classes.variables.tolist())
    for arity, entry, label, pattern in entries.each():
        if not inside & set(pattern.variables):
            continue
        scope = np.array([pattern.variables])
        ours = np.isin(scope, classes.variables)
        swappable = slot_classes(arity, np.array([label]))
        order = tuple(members_first(scope, ours, swappable)[0].tolist())
        ordered = pattern.reordered(order)
        slots = tuple(slot for slot, own in enumerate(ordered.variables) if own in inside)
        part = _counted(ordered, slots, entries.individuals, classes, variable)
        tie = ordered.variables.index(variable) if variable in ordered.variables else -1
        yield part and _Part(arity, entry, label, slots, tie, part[0], order, part[1])


def _counted(
    pattern: Pattern,
    slots: tuple[int, ...],
    individuals: Individuals,
    classes: Classes,
    variable: int,
) -> tuple[Pattern, Fraction] | None:
    """The new pattern, counting variable first, and how many old rows each of its rows stands for.

    None if the members in a row belong to different counting variables, or the pattern is not
    merged.
    """
    symmetries = _symmetries(pattern)
    if pattern.fold != len(symmetries) or len(pattern.used) < len(pattern.cells):
        return None
    shared = {_without(pattern.arguments[slot][1], classes.logical) for slot in slots}
    tied = {names for own, names in pattern.arguments if own == variable}
    if len(shared | tied) > 1:
        return None
    others = [
        argument
        for slot, argument in enumerate(pattern.arguments)
        if slot not in slots and argument[0] != variable
    ]
    fixing = sum(
        all(order[slot] == slot for slot in range(len(order)) if slot not in slots)
        for order in symmetries
    )
    arguments = [(variable, next(iter(shared))), *others]
    new, number = compact(pattern.cells, arguments, pattern.fold // fixing)
    taken = [pattern.cells[each] for each in number]
    free = [cell for each, cell in enumerate(pattern.cells) if each not in number]
    return new, Fraction(individuals.choices(free, taken), fixing)


def _without(names: tuple[int, ...], logical: int) -> tuple[int, ...]:
    return tuple(each for place, each in enumerate(names) if place != logical)


def _symmetries(pattern: Pattern) -> list[tuple[int, ...]]:
    """The orders of its arguments that leave a pattern as it is."""
    orders = arrangements(pattern.arguments)[1]
    place = np.argsort(orders[0]).tolist()
    return [tuple(order[each] for each in place) for order in orders]


def proposed(
    entries: Entries, wanted: Sequence[int], sizes: Ints, slot_classes: SlotClasses
) -> list[Classes]:
    """Classes that may be counted: variables with the same tables together if exact, else alone.

    Together, they name the one individual that is counted, or all of them the same individuals:
    then each choice of these has a class of its own.
    """
    individuals = entries.individuals
    tokens: dict[int, list[tuple[int, int]]] = {variable: [] for variable in wanted}
    for arity, _, label, pattern in entries.each():
        for variable in pattern.variables:
            if variable in tokens:
                tokens[variable].append((arity, label))
    proposals, taken = [], set[int]()
    for logical in (0, -1):
        together: dict[object, list[int]] = {}
        for variable, found in tokens.items():
            cells = individuals.cells_of[variable]
            if found and variable not in taken and (len(cells) < 2 if logical == 0 else cells):
                kind = int(sizes[variable]), frozenset(found), cells if logical < 0 else ()
                together.setdefault(kind, []).append(variable)
        for group in together.values():
            count = sum(map(individuals.members, group)) if logical == 0 else len(group)
            union = classes_of([np.array(group)], [count], logical)
            if len(group) > 1 and interchangeable(entries, union, len(sizes), slot_classes):
                proposals.append(union)
                taken.update(group)
    for variable in (each for each in wanted if each not in taken):
        cells = individuals.cells_of[variable]
        for logical, cell in enumerate(cells):
            count = individuals.choices([cell], cells[:logical] + cells[logical + 1 :])
            if count > 1:
                proposals.append(classes_of([np.array([variable])], [count], logical))
    return proposals
