"""Probabilities on their way back through the steps: joint marginals of rows, and marginals of variables.

The adjoint of a row's log table is the joint marginal of its arguments. Rows that share a table need not share their
marginal, so joint marginals are kept per class of rows: cost follows the number of classes, not of rows. A joint
marginal that nobody looks at is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints, by_first_occurrence, group_rows, members
from lifagu.infer.lifted.logs import Table, log_sum
from lifagu.infer.lifted.rows import ByArity


class Distinct:
    """Tables by number, equal ones (in double precision) once: far from what was observed, many become equal.

    A table may be put off until somebody looks at it.
    """

    def __init__(self) -> None:
        self._tables: list[Table | Callable[[], Table]] = []
        self._numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self._same: dict[int, int] = {}  # the number of a table that was put off, once it is known

    def add(self, table: Table) -> int:
        """Number of a table."""
        number = self._numbers.setdefault(_key(table), len(self._tables))
        if number == len(self._tables):
            self._tables.append(table)
        return number

    def later(self, compute: Callable[[], Table]) -> int:
        """Number of a table that is computed when somebody looks at it."""
        self._tables.append(compute)
        return len(self._tables) - 1

    def __getitem__(self, number: int) -> Table:
        table = self._tables[self._known(number)]
        assert isinstance(table, np.ndarray), "what is looked at is computed"
        return table

    def _known(self, number: int) -> int:
        table = self._tables[number]
        if isinstance(table, np.ndarray):
            return number
        if number not in self._same:
            self._same[number] = self.add(table())
        return self._same[number]

    def classes(self, numbers: Ints) -> Iterator[tuple[Ints, int]]:
        """The places of equal tables, and the number of each."""
        for same in members(by_first_occurrence(self.looked_at(numbers))):
            yield same, self._known(int(numbers[same[0]]))

    def looked_at(self, numbers: Ints) -> Ints:
        """The same tables by numbers that are equal where tables are."""
        found, places = np.unique(numbers, return_inverse=True)
        known = np.array([self._known(number) for number in found.tolist()], dtype=np.int64)
        return known[places.reshape(-1)]


def _key(table: Table) -> tuple[tuple[int, ...], bytes]:
    return table.shape, np.asarray(table, dtype=np.float64).tobytes()


class Marginals:
    """Log marginals of variables, -1 where nothing is known."""

    def __init__(self, count: int) -> None:
        self._distinct: list[Table] = []
        self._numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self.of_variable: Ints = np.full(count, -1, dtype=np.int64)

    @property
    def tables(self) -> list[Table]:
        """The distinct marginals."""
        return self._distinct

    def add(self, variables: Ints, table: Table) -> None:
        """These variables have this marginal."""
        normal = table - log_sum(table)
        number = self._numbers.setdefault(_key(normal), len(self._distinct))
        if number == len(self._distinct):
            self._distinct.append(normal)
        self.of_variable[variables] = number

    def __getitem__(self, variable: int) -> Table:
        return self._distinct[int(self.of_variable[variable])]


@dataclass(frozen=True, eq=False)
class Adjoints:
    """What is known after a step: the joint marginal of each row, by arity, and the marginals of variables."""

    of_row: ByArity
    joints: Distinct
    marginals: Marginals

    def before(self, labels: ByArity, kept: ByArity) -> ByArity:
        """For the rows before a step the joint marginals of those that it left alone; the others have none (-1)."""
        before = {arity: np.full(len(each), -1, dtype=np.int64) for arity, each in labels.items()}
        for arity, rows in kept.items():
            if arity and len(rows):
                before[arity][rows] = self.of_row[arity][: len(rows)]
        return before

    def alike(self, numbers: Ints, orders: Ints) -> Iterator[tuple[Ints, int, Ints]]:
        """Rows with the same joint marginal and the same order of arguments: places, its number, and the order."""
        for same in members(group_rows(np.column_stack((numbers, orders)))):
            yield same, int(numbers[same[0]]), orders[same[0]]
