"""A graph in the making: its holes get tables, some of its estimated tables become others."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.filling.alignment import aligned_rows, lend
from lifagu.filling.cohorts.places import CohortPlace
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables


class GraphDraft:
    """Numbers of tables, the arguments, and tables to be added; keys: as in the places."""

    def __init__(self, graph: FactorGraph, keys: Ints) -> None:
        self.original, self._keys = graph, keys
        self.numbers, self.arguments = graph.factor_table.copy(), graph.arguments.copy()
        self._count = len(graph.tables)
        self._more, self._lengths = list[Floats](), list[Ints]()

    def add(self, rows: Floats) -> int:
        """Add tables, (k, size); the number of the first of them."""
        return self.add_flat(rows, np.full(len(rows), rows.shape[1]))

    def add_flat(self, values: Floats, lengths: Ints) -> int:
        """Add tables of these lengths, one after the other."""
        first = self._count
        self._count += len(lengths)
        self._more.append(values.reshape(-1))
        self._lengths.append(lengths)
        return first

    def give(self, place: CohortPlace, holes: Ints, numbers: Ints) -> None:
        """Give holes of a place tables whose axes are in the place's order."""
        self.numbers[holes] = numbers
        donors = np.full(len(holes), place.first)
        lend(self.original, self._keys, holes, donors, self.arguments)

    def lend(self, holes: Ints, donors: Ints) -> None:
        """Give holes the tables of known factors."""
        self.numbers[holes] = self.original.factor_table[donors]
        lend(self.original, self._keys, holes, donors, self.arguments)

    def replace_known(
        self, place: CohortPlace, factors: Ints, rows: Floats, many: Ints | None = None
    ) -> None:
        """Give known factors of a place other tables, rows in the place's axis order.

        many: how many rows after each other make the table of each, one by default; there is then
        a factor for each row.
        """
        own = aligned_rows(self.original, self._keys, factors, place.first, rows, back=True)
        if many is None:
            self.numbers[factors] = self.add(own) + np.arange(len(factors))
            return
        first = self.add_flat(own, many * own.shape[1])
        self.numbers[factors[np.cumsum(many) - 1]] = first + np.arange(len(many))

    def given(self) -> GivenTables:
        """All tables."""
        tables = self.original.tables
        lengths = np.concatenate([np.diff(tables.offsets), *self._lengths])
        return GivenTables(np.concatenate([tables.values, *self._more]), offsets_of(lengths))

    def graph(self) -> FactorGraph:
        """The completed graph."""
        return self.original.refilled(self.given(), self.numbers, self.arguments)
