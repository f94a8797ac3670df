"""Tables learned from data: frequencies that the database counts, a table for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.cells import Cells, codes_of, distinct_texts
from lifagu.data.databases.queries import plain, query_error
from lifagu.data.duck import quoted
from lifagu.data.templates.batches import Batch, batches, label_numbers, places_of
from lifagu.graph.ranges import Labels
from lifagu.graph.table_support import TableSupport
from lifagu.relational.template import Learned, Query

GroupKey = tuple[str, ...]


class CountedTable(NamedTuple):
    """The frequencies of one group, and the records behind them."""

    table: Floats
    support: TableSupport


def learned_tables(
    learned: Learned, labels: Sequence[Labels], database: Database, progress: Announce
) -> dict[GroupKey, CountedTable | None]:
    """For each group that occurs its table, None if it has too few records; labels: of each column.

    Records with a NULL among the columns or the group are not counted. The database counts, so that
    as many rows come in as there are groups times states.
    """
    shape = tuple(len(each) for each in labels)
    counts: dict[GroupKey, Floats] = {}
    for batch in batches(database, _counting(learned, database), progress):
        cells = [batch.cells(place) for place in range(len(batch.names) - 1)]
        states = [_states(learned, cells[place], place, each) for place, each in enumerate(labels)]
        flat = np.ravel_multi_index(tuple(states), shape)
        many = [int(float(each or 0)) for each in batch.cells(len(batch.names) - 1).texts()]
        by = [each.texts() for each in cells[len(labels) :]]
        for row, (state, count) in enumerate(zip(flat.tolist(), many, strict=True)):
            group = tuple(str(each[row]) for each in by)
            counts.setdefault(group, np.zeros(int(np.prod(shape))))[state] += count
    return {group: table_of(learned, found.reshape(shape)) for group, found in counts.items()}


def _counting(learned: Learned, database: Database) -> Query:
    """The query that counts, with the columns as the database spells them."""
    names = database.columns(learned.query)
    wanted = [*learned.columns, *learned.by]
    spelt = [
        quoted(names[place])
        for place in places_of(learned.query, names, wanted, "the learned table")
    ]
    there = " AND ".join(f"{each} IS NOT NULL" for each in dict.fromkeys(spelt))
    listed = ", ".join(f"{each} AS c{place}" for place, each in enumerate(spelt))
    grouped = ", ".join(dict.fromkeys(spelt))
    counted = f"""
        SELECT {listed}, count(*) AS records
        FROM ({plain(learned.query.sql)}) AS data
        WHERE {there}
        GROUP BY {grouped}
        """
    return replace(learned.query, sql=counted)


def _states(learned: Learned, cells: Cells, place: int, labels: Labels) -> Ints:
    """Positions of labels."""
    found = codes_of(cells, label_numbers(labels))
    if (found < 0).any():
        # groups come in any order
        value = min(cells.text(row) for row in np.flatnonzero(found < 0).tolist())
        raise query_error(
            learned.query,
            f"'{learned.columns[place]}' has the value '{value}', "
            f"which is not among {', '.join(labels)}, the labels of argument {place + 1}",
        )
    return found


def table_of(learned: Learned, counts: Floats) -> CountedTable | None:
    """The frequencies of one group, None with too few records or an unmet condition.

    >>> from lifagu.relational.template import Query
    >>> learned = Learned(Query("", ""), ("sick", "test"), given=("sick",), prior=(1.0,))
    >>> counted = table_of(learned, np.array([[7.0, 1.0], [0.0, 2.0]]))
    >>> counted.table.tolist(), counted.support
    ([[0.8, 0.2], [0.25, 0.75]], TableSupport(records=(8.0, 2.0), given=(0,), prior=(1.0,)))
    """
    if counts.sum() < learned.min_support:
        return None
    weights = counts + np.array(learned.prior).reshape(
        counts.shape if len(learned.prior) > 1 else ()
    )
    places = range(len(learned.columns))
    given = tuple(place for place in places if learned.columns[place] in learned.given)
    summed = tuple(place for place in places if place not in given)
    totals = weights.sum(axis=summed, keepdims=True)
    if not (totals > 0).all():
        return None
    records = counts.sum(axis=summed).reshape(-1).tolist()
    prior = learned.prior if any(learned.prior) else ()
    return CountedTable(weights / totals, TableSupport(tuple(records), given, prior))


class GroupCodes:
    """The groups of rows, as numbers by first occurrence; a row with a NULL belongs to none."""

    def __init__(self, width: int) -> None:
        self._codes: list[dict[str, int]] = [{} for _ in range(width)]
        self._parts: list[Ints] = []

    def add(self, batch: Batch, places: Sequence[int]) -> None:
        """Take note of the groups of some rows."""
        matrix = np.full((len(batch), len(places)), -1, dtype=np.int64)
        for column, (place, codes) in enumerate(zip(places, self._codes, strict=True)):
            texts, which = distinct_texts(batch.cells(place))
            known = [codes.setdefault(text, len(codes)) for text in texts]
            matrix[:, column] = np.array([*known, -1], dtype=np.int64)[which]
        self._parts.append(matrix)

    def finish(self) -> tuple[list[GroupKey | None], Ints]:
        """The distinct groups (None for that of NULL), and the number of each row's."""
        matrix = np.vstack(self._parts)
        number = group_rows(matrix + 1)
        words = [list(codes) for codes in self._codes]
        groups: list[GroupKey | None] = []
        for row in matrix[first_places(number)].tolist():
            named = zip(words, row, strict=True)
            groups.append(None if -1 in row else tuple(word[code] for word, code in named))
        return groups, number
