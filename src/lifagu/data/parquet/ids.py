"""Ids of rows, and the numbers 0, 1, … that a graph uses instead: in the order of the ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.names import Names, NumberedNames
from lifagu.data.parquet.table import ParquetTable


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of a table in ascending order, and the row of each; number n means ordered[n]."""

    ordered: Ints
    rows: Ints

    @classmethod
    def of(cls, table: ParquetTable, column: str = "id") -> Ids:
        """The ids in a column; an id that stands twice is an error."""
        values = table.integers(column)
        if (values[1:] > values[:-1]).all():
            return cls(values, np.arange(len(values)))
        rows = np.argsort(values, kind="stable")
        ordered = values[rows]
        again = rows[1:][ordered[1:] == ordered[:-1]]
        if len(again):
            row = int(again.min())
            what = f"{values[row]} stands in an earlier row already; give each row its own"
            raise table.fault(column, row, what)
        return cls(ordered, rows)

    @property
    def without_gaps(self) -> bool:
        """Whether the ids are 0, 1, …: then they are the numbers."""
        return not len(self.ordered) or int(self.ordered[-1]) == len(self.ordered) - 1

    def numbers(self, ids: Ints) -> Ints:
        """The number of each id, -1 for one that is not there."""
        if self.without_gaps:
            return np.where(ids < len(self.ordered), ids, -1)
        places = np.searchsorted(self.ordered, ids)
        places[places == len(self.ordered)] = 0
        return np.where(self.ordered[places] == ids, places, -1)

    def referred(self, table: ParquetTable, column: str, target: str, null: bool = False) -> Ints:
        """Numbers for the ids in a column that refers to this table; null, if allowed, is -1."""
        ids = table.integers(column, null)
        numbers = self.numbers(ids)
        dangling = (numbers < 0) & (ids >= 0)
        if dangling.any():
            row = int(np.argmax(dangling))
            what = f"{ids[row]} is not an id in {target}; add that row, or refer to another"
            raise table.fault(column, row, what)
        return numbers

    def names(self, table: ParquetTable, sort: str, prefix: str) -> Names:
        """The names in the column `name`; without it, the prefix and the id."""
        if not table.has("name"):
            if self.without_gaps:
                return NumberedNames(sort, prefix, len(self.ordered))
            return Names(sort, [f"{prefix}{each}" for each in self.ordered.tolist()])
        given = table.texts("name")
        _check_names(table, given.tolist(), sort)
        return Names(sort, given[self.rows].tolist())


def _check_names(table: ParquetTable, given: list[str], sort: str) -> None:
    """Names are not empty and differ; the set tells quickly, a loop then finds the row."""
    if len(set(given)) == len(given) and "" not in given:
        return
    seen: set[str] = set()
    for row, name in enumerate(given):
        if not name:
            raise table.fault("name", row, "an empty name; names are non-empty texts")
        if name in seen:
            what = f"{sort} '{name}' stands in an earlier row already; give each its own name"
            raise table.fault("name", row, what)
        seen.add(name)
