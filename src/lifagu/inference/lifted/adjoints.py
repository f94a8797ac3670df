"""Probabilities on their way back through the steps: joints of rows, marginals of variables.

The adjoint of a row's log table is the joint marginal of its arguments. Rows that share a table
need not share their marginal, so joint marginals are kept per class of rows: cost follows the
number of classes, not of rows. A joint marginal that nobody looks at is never computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    first_places,
    group_rows,
    group_rows_bitwise,
    members,
)
from lifagu.basics.cached import cached_property
from lifagu.inference.lifted.batches_by_number import NumberedBatches
from lifagu.inference.lifted.logs import Table, log_sum

if TYPE_CHECKING:
    from lifagu.inference.lifted.rows import ByArity

FEW = 64  # tables that are compared with all others
SAMPLE = 256  # tables that are compared to see whether any are equal

Keys = dict[tuple[tuple[int, ...], bytes], int]


class _Later:
    """Tables along the last axis that are computed when somebody looks at them."""

    def __init__(self, compute: Callable[[], Table], shape: tuple[int, ...] | None) -> None:
        self._compute = compute
        self._shape = shape
        # for each table the number of the first that equals it, once that is known
        self.same: Ints | None = None

    @cached_property
    def values(self) -> Table:
        return self._compute()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[:-1] if self._shape is None else self._shape


class Joints:
    """Tables by number, up to a constant factor each; computed when somebody looks at them."""

    def __init__(self) -> None:
        self._numbered: NumberedBatches[_Later] = NumberedBatches()
        self._keys: Keys = {}

    def add(self, table: Table) -> int:
        """Number of a table."""
        return self.later_one(lambda: table)

    def later(self, compute: Callable[[], Table], shape: tuple[int, ...], many: int) -> Ints:
        """Numbers of so many tables of one shape, computed together when somebody looks."""
        return self._numbered.append(_Later(compute, shape), many)

    def later_one(self, compute: Callable[[], Table]) -> int:
        """Number of a table that is computed when somebody looks at it."""
        return int(self._numbered.append(_Later(lambda: compute()[..., None], None), 1)[0])

    def __getitem__(self, number: int) -> Table:
        entry, place = self._numbered.at(number)
        return entry.values[..., place].astype(np.longdouble)

    def shape(self, number: int) -> tuple[int, ...]:
        """The shape of a table."""
        return self._numbered.at(number)[0].shape

    def stack(self, numbers: Ints) -> Table:
        """Tables of one shape, along the last axis."""
        places, tables = [], []
        for own, same, inside in self._numbered.found(numbers):
            places.append(same)
            tables.append(self._numbered.entries[own].values[..., inside])
        if len(tables) == 1:
            return tables[0]
        return np.concatenate(tables, axis=-1)[..., np.argsort(np.concatenate(places))]

    def alike_in_shape(self, numbers: Ints) -> list[Ints]:
        """The places of tables of the same shape."""
        return self._numbered.alike(numbers, lambda entry: entry.shape)

    def classes(self, numbers: Ints) -> Iterator[tuple[Ints, int]]:
        """The places of equal tables, and the number of each."""
        known = self.looked_at(numbers)
        for same in members(by_first_occurrence(known)):
            yield same, int(known[same[0]])

    def looked_at(self, numbers: Ints) -> Ints:
        """The same tables by numbers that are equal where tables are (in double precision).

        Far from what was observed, many become equal.
        """
        known = np.empty_like(numbers)
        for own, same, inside in self._numbered.found(numbers):
            entry = self._numbered.entries[own]
            if entry.same is None:
                first = int(numbers[same[0]] - inside[0])
                entry.same = _equal(entry.values, first, self._keys)
            known[same] = entry.same[inside]
        return known


def _equal(values: Table, first: int, keys: Keys) -> Ints:
    """For each table, numbered on from the first, the number of an equal one: of any if few."""
    many = values.shape[-1]
    rows = np.ascontiguousarray(values.reshape(-1, many).T, dtype=np.float64)
    if many <= FEW:
        looks = [(values.shape[:-1], row.tobytes()) for row in rows]
        return np.array([keys.setdefault(look, first + place) for place, look in enumerate(looks)])
    sample = rows[np.linspace(0, many - 1, SAMPLE).astype(np.int64)] if many > SAMPLE else rows
    if many > SAMPLE and int(group_rows_bitwise(sample).max()) == SAMPLE - 1:
        return first + np.arange(many)
    group = group_rows_bitwise(rows)
    return first + first_places(group)[group]


class LogMarginals:
    """Log marginals of variables; of_variable: equal numbers for equal ones, -1 where unknown."""

    def __init__(self, count: int) -> None:
        self._numbered: NumberedBatches[Table] = NumberedBatches()
        self._keys: Keys = {}
        self.of_variable: Ints = np.full(count, -1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbered)

    def add(self, variables: Ints, kinds: Ints, tables: Table) -> None:
        """These variables have these marginals (along the last axis), each by its kind."""
        normal = tables - log_sum(tables, (0,))
        same = _equal(normal, len(self), self._keys)
        self._numbered.append(normal, tables.shape[-1])
        self.of_variable[variables] = same[kinds]

    def add_one(self, variables: Ints, table: Table) -> None:
        """These variables all have this marginal."""
        self.add(variables, np.zeros(len(variables), dtype=np.int64), table[:, None])

    def table(self, number: int) -> Table:
        """A marginal by its number."""
        entry, place = self._numbered.at(number)
        return entry[:, place]

    def __getitem__(self, variable: int) -> Table:
        return self.table(int(self.of_variable[variable]))

    def spread(self, alike: Ints) -> LogMarginals:
        """The same of more variables; alike: for each of them the one here that stands for it."""
        wider = LogMarginals(0)
        wider._numbered, wider.of_variable = self._numbered, self.of_variable[alike]
        return wider

    def in_a_row(self, variables: Ints, offsets: Ints) -> Floats:
        """The log marginals of these variables in one array; offsets: where each begins.

        Of variables that have none it is all zeros.
        """
        flat = np.zeros(int(offsets[-1]))
        known = np.flatnonzero(self.of_variable[variables] >= 0)
        for own, same, inside in self._numbered.found(self.of_variable[variables[known]]):
            tables = self._numbered.entries[own][:, inside]
            flat[offsets[known[same]][:, None] + np.arange(len(tables))] = tables.T
        return flat


@dataclass(frozen=True, eq=False)
class Adjoints:
    """What is known after a step: the joint marginal of each row, by arity, and marginals."""

    of_row: ByArity
    joints: Joints
    marginals: LogMarginals

    def before(self, labels: ByArity, kept: ByArity) -> ByArity:
        """The joint marginals of the rows before a step that it left alone; -1 for the others."""
        before = {arity: np.full(len(each), -1, dtype=np.int64) for arity, each in labels.items()}
        for arity, rows in kept.items():
            if arity and len(rows):
                before[arity][rows] = self.of_row[arity][: len(rows)]
        return before

    def alike(self, numbers: Ints, orders: Ints) -> Iterator[tuple[Ints, int, Ints]]:
        """Rows with the same joint marginal and order of arguments: places, its number, order."""
        for same in members(group_rows(np.column_stack((numbers, orders)))):
            yield same, int(numbers[same[0]]), orders[same[0]]
