"""Patterns: rows of one shape over cells of interchangeable individuals, described, not listed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import chain, permutations, product

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.errors import NotLiftedError
from lifagu.inference.lifted.rows import ByArity, ByLabel

MOST_ORDERS = 40320  # argument orders that are compared to find the symmetries of a pattern
# a variable, and which of the pattern's individuals stand in its name
Argument = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Pattern:
    """All rows that arise by putting individuals for 0, 1, … (those of one cell different).

    cells: the cell of each individual; arguments: distinct. Each row counts 1/fold times: rows over
    the same variables in another order are told apart here, so that a pattern with f symmetries has
    every row f times.
    """

    cells: tuple[int, ...]
    arguments: tuple[Argument, ...]
    fold: int = 1

    @property
    def variables(self) -> tuple[int, ...]:
        """The variable of each argument."""
        return tuple(variable for variable, _ in self.arguments)

    @property
    def used(self) -> tuple[int, ...]:
        """The individuals that stand in arguments, by first occurrence."""
        return tuple(
            dict.fromkeys(chain.from_iterable(individuals for _, individuals in self.arguments))
        )

    def reordered(self, order: Sequence[int]) -> Pattern:
        """The same rows with the arguments in another order."""
        return Pattern(self.cells, tuple(self.arguments[slot] for slot in order), self.fold)


@dataclass
class Individuals:
    """How many individuals are in each cell, and the cells of those in each variable's name.

    A variable with k individuals stands for one ground variable per choice of k (those of one cell
    different).
    """

    sizes: list[int] = field(default_factory=list)
    cells_of: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def choices(self, cells: Iterable[int], taken: Iterable[int] = ()) -> int:
        """The ways to choose individuals of these cells, all different and none of those taken.

        >>> Individuals([10, 3]).choices((0, 0, 1))
        270
        >>> Individuals([10, 3]).choices((0, 1), taken=(1, 1))
        10
        """
        if not (single := tuple(cells)) or (len(single) == 1 and not taken):
            return self.sizes[single[0]] if single else 1
        used = Counter(taken)
        ways = 1
        for cell, often in Counter(single).items():
            ways *= math.perm(max(self.sizes[cell] - used[cell], 0), often)
        return ways

    def listed(self, cells: Sequence[int]) -> Ints:
        """These choices one by one: an n×k matrix of places in the cells, in lexicographic order.

        >>> Individuals([2]).listed((0, 0)).tolist()
        [[0, 1], [1, 0]]
        """
        rows = np.zeros((1, 0), dtype=np.int64)
        for place, cell in enumerate(cells):
            size = self.sizes[cell]
            rows = np.column_stack(
                (np.repeat(rows, size, axis=0), np.tile(np.arange(size), len(rows)))
            )
            for earlier in range(place):
                if cells[earlier] == cell:
                    rows = rows[rows[:, earlier] != rows[:, place]]
        return rows

    def weight(self, pattern: Pattern) -> int:
        """How many rows a pattern stands for."""
        ways = self.choices(pattern.cells)
        return ways if pattern.fold == 1 else int(Fraction(ways, pattern.fold))

    def shape(self, variable: int) -> tuple[int, ...]:
        """How many individuals the cell of each one in a variable's name has."""
        return tuple(self.sizes[cell] for cell in self.cells_of[variable])

    def members(self, variable: int) -> int:
        """How many ground variables a variable stands for."""
        return self.choices(self.cells_of[variable])


@dataclass(frozen=True, eq=False)
class Entries(ByLabel):
    """Patterns by arity, the labels of their tables, and the individuals they are about."""

    individuals: Individuals
    patterns: Mapping[int, Sequence[Pattern]]
    labels: ByArity

    def scopes(self, arity: int) -> Ints:
        """The variables of all patterns of an arity: an n×k matrix."""
        scopes = [pattern.variables for pattern in self.patterns.get(arity, ())]
        return np.array(scopes, dtype=np.int64).reshape(len(scopes), arity)

    def each(self) -> Iterator[tuple[int, int, int, Pattern]]:
        """Arity, place, label and pattern of each with arguments."""
        for arity in self.arities():
            labels = self.labels[arity].tolist()
            for place, pattern in enumerate(self.patterns[arity]):
                yield arity, place, labels[place], pattern

    @cached_property
    def where(self) -> dict[int, list[tuple[int, int, int]]]:
        """For each variable the arity, the entry and the slot of its places."""
        found: dict[int, list[tuple[int, int, int]]] = {}
        for arity, entry, _, pattern in self.each():
            for slot, variable in enumerate(pattern.variables):
                found.setdefault(variable, []).append((arity, entry, slot))
        return found


Encoded = tuple[Argument, ...]


@lru_cache(maxsize=4096)
def arrangements(arguments: tuple[Argument, ...]) -> tuple[Encoded, tuple[tuple[int, ...], ...]]:
    """What two argument lists share iff they stand on the same variables, and orders to get it.

    The description is the same up to order; as many orders of the arguments give it as there are
    symmetries.

    >>> arrangements(((5, (1,)), (5, (0,))))
    (((5, (0,)), (5, (1,))), ((0, 1), (1, 0)))
    """
    by_variable: dict[int, list[int]] = {}
    for slot, (variable, _) in sorted(enumerate(arguments), key=lambda pair: pair[1][0]):
        by_variable.setdefault(variable, []).append(slot)
    if math.prod(math.factorial(len(slots)) for slots in by_variable.values()) > MOST_ORDERS:
        raise NotLiftedError(f"a table with {len(arguments)} arguments of one kind")
    best: Encoded | None = None
    found: list[tuple[int, ...]] = []
    for parts in product(*(permutations(slots) for slots in by_variable.values())):
        order = tuple(chain.from_iterable(parts))
        encoded = _encoded(arguments, order)
        if best is None or encoded < best:
            best, found = encoded, []
        if encoded == best:
            found.append(order)
    return best or (), tuple(found)


def _encoded(arguments: tuple[Argument, ...], order: Sequence[int]) -> Encoded:
    """Arguments in this order, individuals numbered by first occurrence."""
    number: dict[int, int] = {}
    return tuple(
        (
            arguments[slot][0],
            tuple(number.setdefault(each, len(number)) for each in arguments[slot][1]),
        )
        for slot in order
    )


def compact(
    cells: Sequence[int], arguments: Sequence[Argument], fold: int = 1
) -> tuple[Pattern, dict[int, int]]:
    """A pattern of used individuals only, numbered by first occurrence; and these numbers."""
    number: dict[int, int] = {}
    renamed = tuple(
        (variable, tuple(number.setdefault(each, len(number)) for each in individuals))
        for variable, individuals in arguments
    )
    return Pattern(tuple(cells[each] for each in number), renamed, fold), number
