"""Patterns that pair two variables: all with all others' partners, or each with its own."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lifagu.inference.lifted.cells.pattern import Entries, Individuals, Pattern
from lifagu.inference.lifted.rows import (
    FIRST,
    OTHER,
    OWN_FIRST,
    OWN_SECOND,
    SECOND,
    Apart,
    Joined,
    classes_of,
    join_columns,
)


def apart(pattern: Pattern, individuals: Individuals, turned: bool) -> Apart[Pattern] | None:
    """Whether a pattern is A(X), B(Y) for all X ≠ Y of one cell."""
    (first, own), (second, other) = pattern.arguments[::-1] if turned else pattern.arguments
    alone = (
        len(own) == len(other) == 1
        and own != other
        and pattern.cells[own[0]] == pattern.cells[other[0]]
    )
    if first == second or not alone or len(pattern.cells) != 2 or pattern.fold > 1:
        return None
    cell = pattern.cells[0]

    def paired(variable: int) -> Pattern:
        return Pattern((cell,), ((first, (0,)), (second, (0,)), (variable, ())))

    twins = classes_of([np.array([second])], [individuals.sizes[cell]], 0)
    return Apart(np.array([first]), twins, paired, np.zeros(1, dtype=np.int64))


def matchings(pattern: Pattern) -> list[tuple[int, int]]:
    """The pairs of variables in a pattern that matches their ground variables one to one."""
    if pattern.fold > 1 or not pattern.cells:
        return []
    whole = [variable for variable, own in pattern.arguments if len(own) == len(pattern.cells)]
    return [pair for pair in combinations(whole, 2) if pair[0] != pair[1]]


def join(entries: Entries, pair: tuple[int, int], joined: int) -> list[Joined[Pattern]] | None:
    """Replace a pair of variables by one, everywhere; None if a row holds two whole pairs."""
    first, second = pair
    turn = _turn(entries, pair)
    found = []
    for arity, entry, label, pattern in entries.each():
        mapped = []
        for variable, names in pattern.arguments:
            turned = tuple(names[place] for place in turn) if variable == second else names
            mapped.append((joined if variable in pair else variable, turned))
        held = []
        for (variable, _), argument in zip(pattern.arguments, mapped, strict=True):
            own = mapped.count(argument) > 1
            kinds = {first: OWN_FIRST if own else FIRST, second: OWN_SECOND if own else SECOND}
            held.append(kinds.get(variable, OTHER))
        if held.count(OWN_FIRST) > 1:
            return None
        new = Pattern(
            pattern.cells,
            tuple(mapped[slot] for slot in join_columns(tuple(held))[1]),
            pattern.fold,
        )
        found.append(Joined(label, tuple(held), new, (arity, np.array([entry]))))
    return found


def _turn(entries: Entries, pair: tuple[int, int]) -> tuple[int, ...]:
    """For each individual in the first's name the place of the same one in the second's."""
    names = dict(
        next(pattern for *_, pattern in entries.each() if pair in matchings(pattern)).arguments
    )
    return tuple(names[pair[1]].index(individual) for individual in names[pair[0]])
