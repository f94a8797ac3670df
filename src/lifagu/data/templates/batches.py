"""Rows of a template's queries as they come in, and errors that name the query and the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.cells import CellColumn, Cells
from lifagu.data.databases.queries import query_error
from lifagu.errors import FormatError, did_you_mean
from lifagu.graph.ranges import Labels
from lifagu.relational.template import Query


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a query by column; start: how many rows came before."""

    query: Query
    start: int
    names: tuple[str, ...]
    columns: Sequence[CellColumn]

    def __len__(self) -> int:
        return len(self.columns[0])

    def cells(self, place: int) -> Cells:
        """A column of single values."""
        column = self.columns[place]
        if isinstance(column, Cells):
            return column
        raise query_error(
            self.query, f"the column '{self.names[place]}' holds lists; give single values"
        )

    def fault(self, row: int, message: str) -> FormatError:
        """The error about one row of this batch."""
        shown = ", ".join(column.text(row) for column in self.columns[:8])
        return query_error(self.query, f"row {self.start + row + 1} ({shown}): {message}")

    def refuse(self, wrong: NDArray[np.bool_], message: Callable[[int], str]) -> None:
        """The first row that is wrong is an error."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.fault(row, message(row))


def batches(database: Database, query: Query, progress: Announce) -> Iterator[Batch]:
    """The rows of a query, some at a time."""
    names, start = tuple(database.columns(query)), 0
    progress(query.place)
    for columns in database.batches(query):
        batch = Batch(query, start, names, columns)
        yield batch
        start += len(batch)
        progress(f"{query.place}: {start:,} rows")


def places_of(query: Query, names: Sequence[str], wanted: Sequence[str], what: str) -> list[int]:
    """Where the wanted columns are; case is ignored, as databases change it."""
    lowered = [name.lower() for name in names]
    places = []
    for each in wanted:
        if lowered.count(each.lower()) != 1:
            again = "twice" if each.lower() in lowered else "not"
            close = did_you_mean(each, names) if again == "not" else ""
            raise query_error(
                query,
                f"{what} needs a column '{each}', which is {again} among {', '.join(names)}{close}",
            )
        places.append(lowered.index(each.lower()))
    return places


def first_repeated(keys: Ints) -> tuple[int, int] | None:
    """The first row whose key an earlier row has, after that row, from 1; no negative keys.

    >>> first_repeated(np.array([4, -1, 7, -1, 7, 4]))
    (3, 5)
    """
    order = np.argsort(keys, kind="stable")
    again = (keys[order[1:]] == keys[order[:-1]]) & (keys[order[1:]] >= 0)
    if not again.any():
        return None
    place = int(np.argmin(np.where(again, order[1:], len(order))))
    return int(order[place]) + 1, int(order[place + 1]) + 1


def check_width(query: Query, names: Sequence[str], expected: Sequence[str]) -> None:
    """A query whose columns are told by their order must have as many as are expected."""
    if len(names) != len(expected):
        raise query_error(
            query,
            f"the query has the columns {', '.join(names)}, "
            f"but {len(expected)} are expected: {', '.join(expected)}",
        )


def label_numbers(labels: Labels) -> Mapping[str, int]:
    """The position of each label; 0 and 1 too, as some databases have no truth values.

    >>> dict(label_numbers(("true", "false")))
    {'true': 0, 'false': 1, '1': 0, '0': 1}
    """
    numbers = {label: number for number, label in enumerate(labels)}
    if set(labels) == {"false", "true"}:
        numbers |= {"1": numbers["true"], "0": numbers["false"]}
    return numbers
