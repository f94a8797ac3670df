"""Tables that rows bring along, as lists of numbers or by name; each distinct one is kept once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows_bitwise
from lifagu.data.databases.cells import Cells, NumberLists
from lifagu.data.templates.batches import Batch
from lifagu.errors import did_you_mean
from lifagu.graph.tables import potential_fault


class DistinctTables:
    """Tables over the same arguments, numbered by first use; equal ones have equal numbers.

    span: how many potentials each has; named: the tables that rows may name.
    """

    def __init__(self, span: int, named: Mapping[str, tuple[float, ...]]) -> None:
        self.span = span
        self.tables: list[Floats] = []
        self._named = named
        self._numbers: dict[bytes, int] = {}

    def number(self, table: Floats) -> int:
        """The number of a table."""
        table = np.ascontiguousarray(table, dtype=np.float64) + 0.0
        number = self._numbers.setdefault(table.tobytes(), len(self.tables))
        if number == len(self.tables):
            self.tables.append(table)
        return number

    def of_column(self, batch: Batch, place: int) -> Ints:
        """The numbers of the tables in a column, -1 for NULL."""
        column = batch.columns[place]
        return (
            self._lists(batch, column)
            if isinstance(column, NumberLists)
            else self._texts(batch, column)
        )

    def _lists(self, batch: Batch, column: NumberLists) -> Ints:
        lengths = np.diff(column.offsets)
        wrong = ~column.missing & (lengths != self.span)
        batch.refuse(wrong, lambda row: self._wrong_length(int(lengths[row])))
        rows = column.values.reshape(-1, self.span) + 0.0
        where = np.flatnonzero(~column.missing)
        illegal = np.zeros(len(column), dtype=np.bool_)
        illegal[where] = ~(np.isfinite(rows) & (rows >= 0)).all(axis=1) | ~(rows > 0).any(axis=1)
        batch.refuse(illegal, lambda row: self._fault(rows[int(np.searchsorted(where, row))]))
        found = np.full(len(column), -1, dtype=np.int64)
        if len(rows):
            groups = group_rows_bitwise(rows)
            numbers = [self.number(rows[first]) for first in first_places(groups).tolist()]
            found[where] = np.array(numbers, dtype=np.int64)[groups]
        return found

    def _texts(self, batch: Batch, column: Cells) -> Ints:
        """Names of tables, or lists as texts; each distinct text is read once."""
        texts = column.texts()
        known: dict[str | None, int] = {None: -1}
        for row, text in enumerate(texts):
            if text not in known:
                known[text] = self._read(batch, row, str(text))
        return np.fromiter(map(known.__getitem__, texts), dtype=np.int64, count=len(texts))

    def _read(self, batch: Batch, row: int, text: str) -> int:
        if text in self._named:
            values: Any = self._named[text]
        elif text.lstrip().startswith(("[", "{")):
            values = numbers_in(text)
        else:
            close = did_you_mean(text, self._named)
            raise batch.fault(row, f"there is no table '{text}' among the template's tables{close}")
        if values is None:
            raise batch.fault(row, f"'{text}' is no list of numbers")
        if len(values) != self.span:
            raise batch.fault(row, self._wrong_length(len(values)))
        table = np.array(values, dtype=np.float64)
        if potential_fault(table):
            raise batch.fault(row, self._fault(table))
        return self.number(table)

    def _wrong_length(self, given: int) -> str:
        return f"the table has {given} potentials, but the arguments span {self.span} states"

    def _fault(self, table: Floats) -> str:
        return f"the table has {potential_fault(table)}".replace("write null", "write NULL")


def numbers_in(text: str) -> list[float] | None:
    """The numbers in ``[1, 2]``, or in ``{1,2}`` as PostgreSQL writes; None if not all are.

    >>> numbers_in("[1, 2.5]"), numbers_in("{1,2}"), numbers_in("[1, [2]]")
    ([1.0, 2.5], [1.0, 2.0], None)
    """
    try:
        found = json.loads(f"[{text.strip()[1:-1]}]")
    except (ValueError, RecursionError):
        return None
    is_number = all(isinstance(each, int | float) and not isinstance(each, bool) for each in found)
    try:
        return [float(each) for each in found] if is_number else None
    except OverflowError:
        return None
