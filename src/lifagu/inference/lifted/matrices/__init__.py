"""Rows listed one by one: an integer matrix per arity; questions are answered by sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, by_first_occurrence
from lifagu.basics.arrays import members as members_of
from lifagu.inference.lifted.matrices import eliminating, merging, pairs, twins
from lifagu.inference.lifted.rows import (
    Apart,
    Blocks,
    Booleans,
    ByArity,
    ByLabel,
    Classes,
    Costs,
    CountedRows,
    Joined,
    MergedRows,
    RowPlaces,
    SlotClasses,
)

MOST_MATCHED = 4  # arguments of rows that may match two of them


@dataclass(frozen=True, eq=False)
class Matrices(ByLabel):
    """All rows, by arity: matrix[k] is n×k variables, labels[k] n tables. An entry is a row."""

    matrix: ByArity
    labels: ByArity

    def count(self) -> int:
        """Number of rows with arguments."""
        return sum(len(labels) for arity, labels in self.labels.items() if arity)

    def weight(self, new: Ints) -> int:
        """Number of rows that new entries stand for."""
        return len(new)

    def members(self, variables: Ints) -> int:
        """Number of ground variables that these stand for."""
        return len(variables)

    def alone(self, variables: Ints) -> Ints:
        """Entries on nothing but one of these variables."""
        return variables[:, None]

    def naming(self, variables: Ints, like: int, logical: int) -> Matrices:
        """The same rows: variables are numbers here, and a new one needs no introduction."""
        return self

    def pairings(self) -> list[Ints]:
        """Sets of rows of arity 2 that share a table and may pair two sorts of variables."""
        return members_of(by_first_occurrence(self.labels[2])) if 2 in self.labels else []

    def scopes(self, arity: int) -> Ints:
        """The variables of all rows of an arity: an n×k matrix."""
        return self.matrix.get(arity, np.zeros((0, arity), dtype=np.int64))

    def without(self, removed: ByArity) -> tuple[Matrices, ByArity]:
        """The rows that are left, and for each arity which old rows they are."""
        left = self._left(removed)
        matrix = {arity: self.matrix[arity][kept] for arity, kept in left.items()}
        labels = {arity: self.labels[arity][kept] for arity, kept in left.items()}
        return Matrices(matrix, labels), left

    def plus(self, more: Sequence[tuple[Ints, Ints]]) -> tuple[Matrices, list[RowPlaces]]:
        """The rows with further ones (matrix, labels) at the end, and where each of them went."""
        matrix = {arity: [rows] for arity, rows in self.matrix.items()}
        labels = {arity: [numbers] for arity, numbers in self.labels.items()}
        length = {arity: len(numbers) for arity, numbers in self.labels.items()}
        places = []
        for rows, numbers in more:
            arity = rows.shape[1]
            start = length.get(arity, 0)
            matrix.setdefault(arity, []).append(rows)
            labels.setdefault(arity, []).append(numbers)
            length[arity] = start + len(rows)
            places.append((arity, np.arange(start, start + len(rows))))
        together = Matrices(
            {arity: np.concatenate(parts) for arity, parts in matrix.items()},
            {arity: np.concatenate(parts) for arity, parts in labels.items()},
        )
        return together, places

    def relabelled(self, labels: ByArity) -> Matrices:
        """The same rows with other tables."""
        return Matrices(self.matrix, labels)

    def uses(self, labels: int) -> Ints:
        """For each of so many labels the number of rows with it."""
        counts = np.zeros(labels, dtype=np.int64)
        for numbers in self.labels.values():
            counts += np.bincount(numbers, minlength=labels)
        return counts

    def merge(self, first_label: int) -> MergedRows[Ints]:
        """Bring rows over the same variables together; one that is alone stays as it is."""
        matrix, labels, sums, target, order = merging.merge(self._blocks(), first_label)
        return MergedRows(Matrices(matrix, labels), sums, target, order)

    def elimination_costs(self, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
        """Cost of each wanted variable with not too many neighbours."""
        return eliminating.costs(self._blocks(), wanted, log_sizes)

    def in_small_groups(self, chosen: Ints, count: int, most: int) -> Booleans:
        """Which of `count` variables are chosen and hang together with few of the chosen."""
        return eliminating.in_small_groups(self._blocks(), chosen, count, most)

    def states_around(self, log_sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each variable log2 of the number of states of the connected part that it is in."""
        return eliminating.states_around(self._blocks(), log_sizes)

    def independent(
        self, chosen: Ints, cost: NDArray[np.float64], count: int, lowest: bool = False
    ) -> Ints:
        """Those of the chosen, cheapest first, then by id, that share no row with one before."""
        return eliminating.independent(self._blocks(), chosen, cost, count, lowest)

    def blocks(self, chosen: Ints, sizes: Ints) -> list[Blocks[Ints]]:
        """The rows around each of the chosen (independent) variables, grouped by shape."""
        return eliminating.blocks(self._blocks(), chosen, sizes)

    def twins(self, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> list[Classes]:
        """Classes of variables in the same tables beside the same others, all together."""
        found = twins.proposed(self._blocks(), wanted, sizes, slot_classes)
        return [found] if len(found) else []

    def interchangeable(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[int]:
        """Those of the classes whose members may be swapped without changing the rows."""
        return twins.interchangeable(self._blocks(), classes, self._size(classes), slot_classes)

    def apart_from_each_other(self, classes: Classes) -> list[int]:
        """Those of the classes, earlier ones first, that share no row with one taken before."""
        return twins.apart_from_each_other(self._blocks(), classes, self._size(classes))

    def quotient(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[CountedRows[Ints]]:
        """Replace members of classes, which share no row, by variables that count them."""
        return twins.quotient(self._blocks(), classes, variables, self._size(classes), slot_classes)

    def _size(self, classes: Classes) -> int:
        """A number above those of all variables in rows and classes."""
        tops = [int(matrix.max(initial=-1)) for matrix in self.matrix.values()]
        return 1 + max([*tops, int(classes.variables.max(initial=-1))])

    def wide(self) -> Matrices:
        """The rows with more than one argument."""
        return Matrices(
            {arity: rows for arity, rows in self.matrix.items() if arity != 1},
            {arity: labels for arity, labels in self.labels.items() if arity != 1},
        )

    def apart(self, old: Ints, turned: bool) -> Apart[Ints] | None:
        """Whether these rows are A(X), B(Y), X ≠ Y; turned: A is in the second slot."""
        matrix = self.matrix[2][old]
        return pairs.apart(matrix[:, ::-1] if turned else matrix)

    def matchings(self, wanted: Booleans) -> list[tuple[Ints, Ints]]:
        """Pairs of variables (first[i], second[i]) that the rows of one table match one to one."""
        found = []
        look = pairs.looks(self._blocks(), len(wanted))
        for arity in (each for each in self.arities() if 1 < each <= MOST_MATCHED):
            for rows in members_of(by_first_occurrence(self.labels[arity])):
                for slots in combinations(range(arity), 2) if len(rows) > 1 else ():
                    found.append(pairs.matching(self.matrix[arity][rows][:, slots], wanted, look))
        return [matching for matching in found if matching is not None]

    def join(self, first: Ints, second: Ints, joined: Ints) -> list[Joined[Ints]] | None:
        """Replace first[i], second[i] by joined[i], everywhere; None if a row holds two pairs."""
        return pairs.join(self._blocks(), first, second, joined)

    def _blocks(self) -> list[tuple[Ints, Ints]]:
        """Pairs of a matrix and its labels, by arity."""
        return [(self.matrix[arity], self.labels[arity]) for arity in self.arities()]
