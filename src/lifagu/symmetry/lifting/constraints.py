"""From the substitutions that a parfactor needs to the constraints that admit exactly these.

Nothing where they are a product, X ≠ Y where they are one less, and a list of what is in, or not
in, in other cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts, distinct
from lifagu.relational.ground_tables import lexicographic_codes

MOST_UNEQUAL = 5  # logical variables between which inequalities are counted in every pattern


@dataclass(frozen=True)
class Unequal:
    """Two logical variables that never take the same constant."""

    one: int
    two: int


@dataclass(frozen=True, eq=False)
class ListedConstants:
    """Rows of constants that logical variables take together, or with inside=False do not take."""

    variables: tuple[int, ...]
    rows: Ints
    inside: bool


Condition = Unequal | ListedConstants


def conditions_for(rows: Ints, domains: Sequence[int], sizes: Sequence[int]) -> list[Condition]:
    """Conditions that admit exactly these substitutions.

    rows[s×p]: the substitutions, distinct; domains[p]: the domain of each logical variable;
    sizes[p]: its size. Near-linear in s for few logical variables.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]])
    >>> conditions_for(pairs, [0, 0], [3, 3]), conditions_for(pairs[:, :1], [0], [3])
    ([Unequal(one=0, two=1)], [])
    """
    values = [_values(column, size) for column, size in zip(rows.T, sizes, strict=True)]
    counts = [len(each) for each in values]
    conditions: list[Condition] = []
    for block in _blocks(rows, _dependent(rows, counts), counts):
        unequal = _unequal(rows, block, domains, values)
        if unequal is None:
            conditions.append(_listed(rows, block, sizes))
        else:
            conditions += unequal
    listed = [each.variables for each in conditions if isinstance(each, ListedConstants)]
    alone = [
        each
        for each in range(rows.shape[1])
        if len(values[each]) < sizes[each] and not any(each in block for block in listed)
    ]
    return [*(_listed(rows, (each,), sizes) for each in alone), *conditions]


def _values(column: Ints, size: int) -> Ints:
    """The constants that occur in a column, ascending, in time linear in it and in the domain."""
    met = np.zeros(size, dtype=np.bool_)
    met[column] = True
    return np.flatnonzero(met)


def _count(rows: Ints, columns: Sequence[int]) -> int:
    return len(distinct(lexicographic_codes(rows[:, list(columns)]))) if columns else 1


def _dependent(rows: Ints, counts: Sequence[int]) -> tuple[int, ...]:
    """The logical variables that are left when those which all others leave free are taken away."""
    left, total = tuple(range(rows.shape[1])), len(rows)
    if math.prod(counts) == total:
        return ()
    for each in range(rows.shape[1]):
        others = tuple(other for other in left if other != each)
        if total % counts[each] == 0 and _count(rows, others) * counts[each] == total:
            left, total = others, total // counts[each]
    return left


def _blocks(rows: Ints, variables: tuple[int, ...], counts: Sequence[int]) -> list[tuple[int, ...]]:
    """The dependent logical variables in blocks independent of one another, else in one block."""
    if not variables:
        return []
    pairs = [
        (one, two)
        for one, two in combinations(range(len(variables)), 2)
        if _count(rows, (variables[one], variables[two]))
        < counts[variables[one]] * counts[variables[two]]
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    part = connected_parts(len(variables), ends[:, 0], ends[:, 1]).tolist()
    blocks = [
        tuple(each for each, own in zip(variables, part, strict=True) if own == number)
        for number in range(max(part) + 1)
    ]
    total = _count(rows, variables)
    return blocks if math.prod(_count(rows, block) for block in blocks) == total else [variables]


def _unequal(
    rows: Ints, block: tuple[int, ...], domains: Sequence[int], values: Sequence[Ints]
) -> list[Condition] | None:
    """Inequalities that admit exactly the rows of a block, None if there are none that do."""
    pairs = [
        (one, two)
        for one, two in combinations(block, 2)
        if domains[one] == domains[two] and not (rows[:, one] == rows[:, two]).any()
    ]
    alike = all(np.array_equal(values[one], values[two]) for one, two in pairs)
    if len(block) > MOST_UNEQUAL or not alike:
        return None
    admitted = _colourings(pairs, {each: len(values[each]) for each in block})
    if _count(rows, block) != admitted:
        return None
    return [Unequal(one, two) for one, two in pairs]


def _colourings(pairs: Sequence[tuple[int, int]], sizes: dict[int, int]) -> int:
    """How many ways there are to give variables values such that no pair has the same.

    >>> _colourings([(0, 1), (1, 2), (0, 2)], {0: 4, 1: 4, 2: 4})
    24
    """
    if not pairs:
        return math.prod(sizes.values())
    (one, two), *rest = pairs
    merged = {
        (min(pair), max(pair))
        for pair in ((one if a == two else a, one if b == two else b) for a, b in rest)
    }
    others = {each: size for each, size in sizes.items() if each != two}
    return _colourings(rest, sizes) - _colourings(sorted(merged), others)


def _listed(rows: Ints, block: tuple[int, ...], sizes: Sequence[int]) -> ListedConstants:
    """The rows of a block one by one, or those that are missing, whichever are fewer."""
    chosen = rows[:, list(block)]
    _, first = np.unique(lexicographic_codes(chosen), return_index=True)
    inside = chosen[first]
    shape = [sizes[each] for each in block]
    span = math.prod(shape)
    if span >= 2 * len(inside):
        return ListedConstants(block, inside, True)
    missing = np.ones(span, dtype=np.bool_)
    missing[np.ravel_multi_index(tuple(inside.T), shape)] = False
    outside = np.column_stack(np.unravel_index(np.flatnonzero(missing), shape))
    return ListedConstants(block, outside, False)
