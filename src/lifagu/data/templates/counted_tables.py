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
from lifagu.data.templates.left_out_records import LeftOut
from lifagu.graph.ranges import Labels
from lifagu.graph.table_support import TableSupport
from lifagu.relational.template import Learned, Query

GroupKey = tuple[str, ...]


class CountedTable(NamedTuple):
    """The frequencies of one group, and the records behind them."""

    table: Floats
    support: TableSupport


def learned_tables(
    learned: Learned,
    labels: Sequence[Labels],
    database: Database,
    progress: Announce,
    left_out: LeftOut,
) -> dict[GroupKey, CountedTable | None]:
    """For each group that occurs its table, None if it has too few records; labels: of each column.

    Records with a NULL among the columns or the group are not counted, nor those to be left out.
    The database counts, so that as many rows come in as there are groups times states, times keys
    where records are left out.
    """
    shape = tuple(len(each) for each in labels)
    by = range(len(labels), len(labels) + len(learned.by))
    groups, parts = GroupCodes(len(by)), list[Ints]()
    for batch in batches(database, _counting(learned, database, bool(left_out)), progress):
        *cells, records = [batch.cells(place) for place in range(len(batch.names))]
        states = [_states(learned, cells[place], place, each) for place, each in enumerate(labels)]
        many = records.values.astype(np.int64)
        if left_out:
            many[left_out.among(cells[by.stop :])] = 0
        parts.append(np.column_stack((np.ravel_multi_index(tuple(states), shape), many)))
        groups.add(batch, by)
    if not parts:
        return {}
    (state, many), (met, of_row) = np.vstack(parts).T, groups.finish()
    counts = np.zeros((len(met), *shape))
    np.add.at(counts.reshape(len(met), -1), (of_row, state), many)
    tables = (table_of(learned, each) for each in counts)
    return {group: table for group, table in zip(met, tables, strict=True) if group is not None}


def _counting(learned: Learned, database: Database, by_key: bool) -> Query:
    """The query that counts, with the columns as the database spells them; by_key: for each key."""
    names = database.columns(learned.query)
    counted = [*learned.columns, *learned.by]
    wanted = [*counted, *(learned.key or ())]
    places = places_of(learned.query, names, wanted, "the learned table")
    spelt = [quoted(names[place]) for place in places][: None if by_key else len(counted)]
    there = " AND ".join(f"{each} IS NOT NULL" for each in dict.fromkeys(spelt[: len(counted)]))
    listed = ", ".join(f"{each} AS c{place}" for place, each in enumerate(spelt))
    grouped = ", ".join(dict.fromkeys(spelt))
    sql = f"""
        SELECT {listed}, count(*) AS records
        FROM ({plain(learned.query.sql)}) AS data
        WHERE {there}
        GROUP BY {grouped}
        """
    return replace(learned.query, sql=sql)


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
