"""The constants of a domain divided into cells: sets of individuals that nothing tells apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints, distinct, first_places, group_lists
from lifagu.basics.cached import cached_property
from lifagu.relational.relations import Domain
from lifagu.relational.terms import constant_text

# the first and the last of consecutive constants, and what marks them
MarkedSpan = tuple[int, int, Hashable]


@dataclass(frozen=True, eq=False)
class DomainCells:
    """Cells of a domain as intervals of consecutive constants, numbered by their first constant.

    starts[i], cell[i], offset[i]: interval i's first constant, its cell, and that constant's place
    in the cell;
    sizes[c]: how many constants cell c has.
    """

    domain: Domain
    starts: Ints
    cell: Ints
    offset: Ints
    sizes: tuple[int, ...]

    def cells(self, constants: Ints) -> Ints:
        """The cell of each constant."""
        return self.cell[np.searchsorted(self.starts, constants, side="right") - 1]

    def places(self, constants: Ints) -> Ints:
        """The place of each constant in its cell."""
        interval = np.searchsorted(self.starts, constants, side="right") - 1
        return self.offset[interval] + constants - self.starts[interval]

    def covered(self, low: int, high: int) -> tuple[int, ...]:
        """The cells with a constant between two, both included."""
        first, last = np.searchsorted(self.starts, [low, high], side="right") - 1
        return tuple(distinct(self.cell[first : last + 1]).tolist())

    @cached_property
    def firsts(self) -> Ints:
        """The first constant of each cell."""
        return self.starts[first_places(self.cell)]

    def intervals(self, cell: int) -> list[tuple[int, int]]:
        """The first and the last constant of each interval of a cell, ascending."""
        ends = np.append(self.starts[1:], self.domain.size) - 1
        own = np.flatnonzero(self.cell == cell)
        return list(zip(self.starts[own].tolist(), ends[own].tolist(), strict=True))

    def constants(self, cell: int) -> Ints:
        """All constants of a cell, ascending."""
        return np.concatenate([np.arange(low, high + 1) for low, high in self.intervals(cell)])

    def first(self, cell: int, count: int = 1) -> list[int]:
        """The first constants of a cell."""
        found: list[int] = []
        for low, high in self.intervals(cell):
            found += range(low, min(high + 1, low + count - len(found)))
            if len(found) == count:
                break
        return found

    def text(self, cell: int, limit: int = 6) -> str:
        """A cell in words, ``2..1000000`` or ``alice, bob``."""
        parts: list[str] = []
        for low, high in self.intervals(cell):
            numbered = self.domain.constants is None and high > low
            whole = range(low, high + 1)[: limit + 1]
            if numbered:
                parts.append(f"{low + 1}..{high + 1}")
            else:
                parts += [constant_text(self.domain.constant(each)) for each in whole]
            if len(parts) > limit:
                return f"{', '.join(parts[:limit])}, … ({self.sizes[cell]} in all)"
        return ", ".join(parts)


def partition(domain: Domain, marks: Sequence[MarkedSpan]) -> DomainCells:
    """Constants with the same marks are in one cell. Cost: near-linear in the intervals marked.

    >>> found = partition(Domain("Person", 10), [(2, 4, "smokes"), (7, 7, "smokes"), (4, 4, "eve")])
    >>> [found.text(cell) for cell in range(len(found.sizes))], found.sizes
    (['1..2, 6..7, 9..10', '3..4, 8', '5'], (6, 3, 1))
    """
    if not domain.size:
        nothing = np.zeros(0, dtype=np.int64)
        return DomainCells(domain, nothing, nothing, nothing, ())
    numbers: dict[Hashable, int] = {}
    tag = np.array([numbers.setdefault(mark, len(numbers)) for _, _, mark in marks], dtype=np.int64)
    low = np.array([first for first, _, _ in marks], dtype=np.int64)
    after = np.array([last + 1 for _, last, _ in marks], dtype=np.int64)
    starts = distinct(np.concatenate(([0], low, after[after < domain.size])))
    first, stop = np.searchsorted(starts, low), np.searchsorted(starts, after)
    interval, owner = _incidences(first, stop)
    pairs = distinct(interval * max(len(numbers), 1) + tag[owner])
    offsets = np.searchsorted(pairs, np.arange(len(starts) + 1) * max(len(numbers), 1))
    cell = group_lists(offsets, pairs % max(len(numbers), 1))
    lengths = np.diff(np.append(starts, domain.size))
    return DomainCells(domain, starts, cell, *_within(cell, lengths))


def _incidences(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """For each span of intervals all of them, and for each of these the span."""
    many = stop - first
    owner = np.repeat(np.arange(len(first)), many)
    return np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many) + first[owner], owner


def _within(cell: Ints, lengths: Ints) -> tuple[Ints, tuple[int, ...]]:
    """Where each interval begins in its cell, and how large the cells are."""
    order = np.argsort(cell, kind="stable")
    before = np.cumsum(lengths[order]) - lengths[order]
    sorted_cell = cell[order]
    begin = np.searchsorted(sorted_cell, np.arange(int(cell.max()) + 1))
    offset = np.empty(len(cell), dtype=np.int64)
    offset[order] = before - before[begin][sorted_cell]
    sizes = np.zeros(len(begin), dtype=np.int64)
    np.add.at(sizes, cell, lengths)
    return offset, tuple(sizes.tolist())


def runs(constants: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as spans of consecutive ones.

    >>> runs([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    numbers = np.fromiter(constants, dtype=np.int64)
    if not len(numbers):
        return []
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    first, last = np.append(0, breaks + 1), np.append(breaks, len(numbers) - 1)
    return list(zip(numbers[first].tolist(), numbers[last].tolist(), strict=True))
