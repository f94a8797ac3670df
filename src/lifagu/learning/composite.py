"""The composite likelihood: how well each observed cell is told by what was observed around it.

That is the sum over cells of log P(cell | its observed neighbours) (Besag, 1975; Varin, Reid and
Firth, 2011). A row tells something about one of its cells where all others were observed; what is
hidden is left out. Concave in the logs of tables, unless some are conditional. The derivative by an
entry is how often it is expected less how often it was seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from lifagu.basics.added_rows import add_rows, collect_rows
from lifagu.basics.arrays import Floats, Ints, normalised_rows
from lifagu.learning.parameters import Parameters
from lifagu.learning.told_cells import CHUNK, ToldCells, told_cells

MANY = 20_000  # cells from which on several relations are visited at the same time
_Found = TypeVar("_Found")
Statistic = Callable[[Floats, Ints], tuple[float, Floats]]  # of logits and labels


@dataclass(frozen=True, eq=False)
class Composite:
    """The composite likelihood of what was observed, as a function of parameters."""

    parameters: Parameters
    told: tuple[ToldCells, ...]

    @classmethod
    def of(
        cls, parameters: Parameters, values: Sequence[Ints], scored: Sequence[Ints] | None = None
    ) -> Composite:
        """values: by relation the label of each cell, -1 for hidden ones.

        scored: by relation the labels of the cells that are to be told, -1 for others; the observed
        ones if missing. Only cells of what is asked are told.
        """
        task = parameters.task
        labels = values if scored is None else scored
        reached = {slot.relation for each in parameters.tables for slot in task.tables[each].slots}
        found = [
            told_cells(parameters, values, relation, labels[relation])
            for relation in sorted(reached & task.asked)
            if (labels[relation] >= 0).any()
        ]
        return cls(parameters, tuple(found))

    @property
    def count(self) -> int:
        """How many cells are told."""
        return sum(len(each.labels) for each in self.told)

    def losses(self, vector: Floats) -> list[Floats]:
        """The log loss of each cell, relation by relation."""
        entries = self.parameters.entries(vector)

        def visit(told: ToldCells) -> Floats:
            book = told.book(entries)
            parts = [_softmax(logits, labels)[1] for _, logits, labels in _logits(told, book)]
            return np.concatenate(parts)

        return _side_by_side(visit, self.told)

    def losses_without(self, vector: Floats) -> Floats:
        """For each table of the task by how much the loss, summed over cells, grows without it."""
        entries = self.parameters.entries(vector)

        def visit(told: ToldCells) -> Floats:
            book = told.book(entries)
            grown = np.zeros(len(self.parameters.task.tables))
            for chunk, logits, labels in _logits(told, book):
                usual = float(_softmax(logits, labels)[1].sum())
                for table in told.tables:
                    less = logits + 0.0
                    cells, codes = told.chunk_of_table(chunk, table)
                    add_rows(less, cells, -book, codes)
                    grown[table] += float(_softmax(less, labels)[1].sum()) - usual
            return grown

        grown = np.zeros(len(self.parameters.task.tables))
        for each in _side_by_side(visit, self.told):
            grown += each
        return grown

    def value_and_gradient(self, vector: Floats) -> tuple[float, Floats]:
        """The loss summed over cells, and its derivative by parameters."""
        total, by_entry = self._collected(vector, _residuals)
        return total, self.parameters.gradient(vector, by_entry)

    def curvature(self, vector: Floats) -> Floats:
        """The diagonal of the second derivative, that of conditional tables as if they were not."""
        _, by_entry = self._collected(vector, _variances)
        return self.parameters.bends(vector, by_entry)

    def expected(self, vector: Floats) -> tuple[Floats, Floats]:
        """How often each entry of the blocks is expected, and how much more than it was seen."""
        size = self.parameters.size
        return (
            self._collected(vector, _probabilities)[1][:size],
            self._collected(vector, _residuals)[1][:size],
        )

    def mixed(self, mixings: Floats) -> Composite:
        """The same as a function of parameters that are mixed."""
        return replace(self, parameters=self.parameters.mixed(mixings))

    def _collected(self, vector: Floats, statistic: Statistic) -> tuple[float, Floats]:
        """The loss, and a statistic of each cell added up over the entries that told it.

        Relations are computed side by side; what each adds up is its own, so that the order of sums
        does not depend on threads.
        """
        entries = self.parameters.entries(vector)

        def visit(told: ToldCells) -> tuple[float, Floats]:
            book, total = told.book(entries), 0.0
            sums = np.zeros_like(book)
            for chunk, logits, labels in _logits(told, book):
                loss, rows = statistic(logits, labels)
                total += loss
                collect_rows(rows, told.cells_of(chunk), sums, told.codes_of(chunk))
            found = np.bincount(told.index, sums.reshape(-1), len(entries))
            return total, np.asarray(found, dtype=np.float64)

        found = _side_by_side(visit, self.told)
        by_entry = np.zeros(len(entries))
        for _, each in found:
            by_entry += each
        return sum(loss for loss, _ in found), by_entry


def _side_by_side(visit: Callable[[ToldCells], _Found], told: Sequence[ToldCells]) -> list[_Found]:
    """What a visit finds at each relation, some visited at the same time where that pays."""
    if sum(len(each.labels) for each in told) < MANY:
        return list(map(visit, told))
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        return list(pool.map(visit, told))


def _logits(told: ToldCells, book: Floats) -> Iterator[tuple[int, Floats, Ints]]:
    """Chunk by chunk the log weight of each label of each cell, and the labels to be told."""
    for chunk in told.chunks:
        inside = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        labels = told.labels[inside]
        logits = (
            np.zeros((len(labels), told.size)) if told.offset is None else told.offset[inside] + 0.0
        )
        add_rows(logits, told.cells_of(chunk), book, told.codes_of(chunk))
        yield chunk, logits, labels


def _softmax(logits: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Probabilities, and the log loss of each cell."""
    probabilities, total = normalised_rows(logits)
    return probabilities, total - logits[np.arange(len(labels)), labels]


def _residuals(logits: Floats, labels: Ints) -> tuple[float, Floats]:
    """The loss, and how likely each label is less whether it was seen."""
    probabilities, loss = _softmax(logits, labels)
    probabilities[np.arange(len(labels)), labels] -= 1.0
    return float(loss.sum()), probabilities


def _probabilities(logits: Floats, labels: Ints) -> tuple[float, Floats]:
    probabilities, loss = _softmax(logits, labels)
    return float(loss.sum()), probabilities


def _variances(logits: Floats, labels: Ints) -> tuple[float, Floats]:
    probabilities, loss = _softmax(logits, labels)
    return float(loss.sum()), probabilities * (1 - probabilities)
