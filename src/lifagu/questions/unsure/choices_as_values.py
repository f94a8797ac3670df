"""Parts in one graph in which the row of choices is a variable, its values the rows.

A hole's table gets one more axis, the row, and holds for each row the table that is chosen there.
The joint answer about row and question has it all: how much each row weighs, and what it answers.
So one plan and one run serve all rows, and what does not depend on choices is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct, offsets_of
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.unsure.alternatives import Alternatives, slots_of
from lifagu.questions.unsure.parts_and_classes import Flags, PartsAndClasses

Piece = tuple[int, ...]


class RowsWanted(NamedTuple):
    """A part, rows of choices (one column per class of the part), and what is asked of it."""

    part: int
    rows: Ints
    pieces: tuple[Piece, ...]


class Placed(NamedTuple):
    """A part in a graph of several: where its row is, and its questions."""

    row: str
    questions: tuple[tuple[str, ...], ...]


@dataclass(eq=False)
class GraphOfRows:
    """A graph in the making: parts after each other, each with its row as last variable."""

    whole: PartsAndClasses
    lent: Alternatives
    variables: list[Ints] = field(default_factory=list)  # the number of each, -1 for a row
    sizes: list[Ints] = field(default_factory=list)
    arguments: list[Ints] = field(default_factory=list)
    lengths: list[Ints] = field(default_factory=list)
    numbers: list[Ints] = field(default_factory=list)
    tables: list[Floats] = field(default_factory=list)
    _known: dict[int | bytes, int] = field(default_factory=dict)
    _count: int = 0

    def add(self, request: RowsWanted) -> Placed:
        """Put a part into the graph."""
        whole, graph = self.whole, self.whole.graph
        part = np.array([request.part])
        factors, _ = whole.factors_in(part)
        slots, lengths = slots_of(graph.offsets, factors)
        met = graph.arguments[slots]
        own = distinct(np.concatenate((met, whole.variables_in(part)[0])))
        row = self._count + len(own)
        is_open = whole.class_of[factors] >= 0
        arguments = np.insert(
            self._count + np.searchsorted(own, met), np.cumsum(lengths)[is_open], row
        )
        self.arguments.append(arguments)
        self.lengths.append(lengths + is_open)
        self.numbers.append(self._tables(factors, is_open, request.rows))
        self.variables += [own, np.array([-1])]
        self.sizes += [graph.sizes[own], np.array([len(request.rows)])]
        asked = [
            (f"x{row}", *[f"x{self._count + at}" for at in np.searchsorted(own, piece).tolist()])
            for piece in request.pieces
        ]
        self._count = row + 1
        return Placed(f"x{row}", tuple(asked))

    def _tables(self, factors: Ints, is_open: Flags, rows: Ints) -> Ints:
        """The number of each factor's table here."""
        numbers = np.empty(len(factors), dtype=np.int64)
        given = self.whole.graph.factor_table[factors]
        for number in distinct(given[~is_open]).tolist():
            if (at := self._known.get(number)) is None:
                at = self._add(number, self.whole.graph.tables[number])
            numbers[~is_open & (given == number)] = at
        for place in np.flatnonzero(is_open).tolist():
            factor = int(factors[place])
            chosen = rows[:, self.whole.class_places[factor]]
            lent = self.lent.number[self.lent.first[self.lent.place[factor]] + chosen]
            if (at := self._known.get(lent.tobytes())) is None:
                tables = [self.lent.tables[each] for each in lent.tolist()]
                at = self._add(lent.tobytes(), np.stack(tables, axis=-1))  # the row comes last
            numbers[place] = at
        return numbers

    def _add(self, key: int | bytes, table: Floats) -> int:
        self._known[key] = len(self.tables)
        self.tables.append(table)
        return self._known[key]

    def graph(self) -> FactorGraph:
        """The graph, ranges being plain numbers, names x0, x1, …"""
        sizes = np.concatenate(self.sizes)
        few, place = np.unique(sizes, return_inverse=True)
        return FactorGraph.from_arrays(
            ranges=[list(map(str, range(size))) for size in few.tolist()],
            variable_ranges=place,
            offsets=offsets_of(np.concatenate(self.lengths)),
            arguments=np.concatenate(self.arguments),
            tables=self.tables,
            factor_tables=np.concatenate(self.numbers),
        )

    def evidence(self) -> Evidence:
        """What was observed of its variables."""
        given, variable = self.whole.evidence, np.concatenate(self.variables)
        count = len(self.whole.graph.variable_names)
        values = np.append(given.value_of_each(count), -1)[variable]
        soft = np.full(count + 1, -1, dtype=np.int64)
        soft[given.soft_variables] = np.arange(len(given.soft_variables))
        hard, softly = np.flatnonzero(values >= 0), np.flatnonzero(soft[variable] >= 0)
        likelihoods = [given.likelihoods[each] for each in soft[variable[softly]].tolist()]
        return Evidence(hard, values[hard], softly, tuple(likelihoods))


def stacked(
    whole: PartsAndClasses, lent: Alternatives, requests: Sequence[RowsWanted]
) -> tuple[FactorGraph, Evidence, list[Placed]]:
    """The graph of these parts, its evidence, and where each part is."""
    made = GraphOfRows(whole, lent)
    placed = [made.add(request) for request in requests]
    return made.graph(), made.evidence(), placed
