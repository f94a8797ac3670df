"""Tables learned from data: frequencies that the database counts, a table for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.cells import Cells, codes_of
from lifagu.data.databases.queries import plain, query_error
from lifagu.data.duck import quoted
from lifagu.data.templates.batches import batches, label_numbers, places_of
from lifagu.data.templates.groups import GroupCodes, GroupKey, prefixes
from lifagu.data.templates.left_out_records import LeftOut
from lifagu.graph.pooled_counts import pooled
from lifagu.graph.ranges import Labels
from lifagu.graph.table_support import TableSupport
from lifagu.relational.template import Learned, Query


class CountedTable(NamedTuple):
    """The frequencies of one group, and the records behind them."""

    table: Floats
    support: TableSupport


class CountedTables:
    """The tables of all groups; labels: of each column, in order."""

    def __init__(
        self,
        learned: Learned,
        labels: Sequence[Labels],
        database: Database,
        progress: Announce,
        left_out: LeftOut,
    ) -> None:
        met, counts = _counts(learned, labels, database, progress, left_out)
        self._pool, self._unmet = learned.pool, table_of(learned, np.zeros(counts.shape[1:]))
        self._found: dict[tuple[str, ...], CountedTable | None]
        if learned.pool:
            self._found = dict(pooled_tables(learned, met, counts)) if counts.any() else {}
        else:
            tables = (table_of(learned, each) for each in counts)
            self._found = dict(zip(map(_whole, met), tables, strict=True))

    def of(self, key: GroupKey) -> CountedTable | None:
        """A group's table, None if it has too few records or is told by a NULL.

        Pooled tables are those of the finest group that the database knows.
        """
        if self._pool:
            listed = (self._found.get(each) for each in prefixes(key))
            return next((each for each in listed if each is not None), None)
        return None if None in key else self._found.get(_whole(key), self._unmet)


def _whole(key: GroupKey) -> tuple[str, ...]:
    return tuple(each for each in key if each is not None)


def _counts(
    learned: Learned,
    labels: Sequence[Labels],
    database: Database,
    progress: Announce,
    left_out: LeftOut,
) -> tuple[list[GroupKey], Floats]:
    """The groups that occur, and how many of their records are in each state (groups × shape).

    Records with a NULL among the columns are not counted, nor those to be left out; those with a
    NULL in their group only where tables are pooled. The database counts, so that as many rows come
    in as there are groups times states, times keys where records are left out.
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
        return [], np.zeros((0, *shape))
    (state, many), (met, of_row) = np.vstack(parts).T, groups.finish()
    counts = np.zeros((len(met), *shape))
    np.add.at(counts.reshape(len(met), -1), (of_row, state), many)
    return met, counts


def _counting(learned: Learned, database: Database, by_key: bool) -> Query:
    """The query that counts, with the columns as the database spells them; by_key: for each key."""
    names = database.columns(learned.query)
    counted = [*learned.columns, *learned.by]
    wanted = [*counted, *(learned.key or ())]
    places = places_of(learned.query, names, wanted, "the learned table")
    spelt = [quoted(names[place]) for place in places][: None if by_key else len(counted)]
    needed = len(learned.columns if learned.pool else counted)
    there = " AND ".join(f"{each} IS NOT NULL" for each in dict.fromkeys(spelt[:needed]))
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
    given, summed = _axes(learned)
    totals = weights.sum(axis=summed, keepdims=True)
    if not (totals > 0).all():
        return None
    records = counts.sum(axis=summed).reshape(-1).tolist()
    prior = learned.prior if any(learned.prior) else ()
    return CountedTable(weights / totals, TableSupport(tuple(records), given, prior))


def _axes(learned: Learned) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The places of the columns that are given, and of the others."""
    places = range(len(learned.columns))
    given = tuple(place for place in places if learned.columns[place] in learned.given)
    return given, tuple(place for place in places if place not in given)


def pooled_tables(
    learned: Learned, met: Sequence[GroupKey], counts: Floats
) -> dict[tuple[str, ...], CountedTable]:
    """The tables of groups, those of groups that hold others, and the common one, by key.

    counts[groups × shape]. The prior of a group's table is what it was drawn to, so that its counts
    can be had again.
    """
    shape, (given, summed) = counts.shape[1:], _axes(learned)
    every = {each for key in met for each in prefixes(key)}
    keys = sorted(every, key=lambda each: (len(each), each))
    row_of = {key: row for row, key in enumerate(keys)}
    above = np.array([row_of[key[:-1]] if key else -1 for key in keys], dtype=np.int64)
    mine = np.zeros((len(keys), int(np.prod(shape))))
    np.add.at(mine, [row_of[prefixes(key)[0]] for key in met], counts.reshape(len(met), -1))
    prior = np.array(learned.prior) if len(learned.prior) > 1 else learned.prior[0]
    found = pooled(mine, shape, given, above, prior)
    for row in range(len(keys) - 1, 0, -1):  # those below count as well
        mine[above[row]] += mine[row]
    first = learned.prior if any(learned.prior) else ()
    tables: dict[tuple[str, ...], CountedTable] = {}
    for row, key in enumerate(keys):
        scale = found.scales[len(key) - 1] if key else 0.0
        if not np.isfinite(scale):
            tables[key] = tables[key[:-1]]
            continue
        drawn = tuple((scale * found.stack[above[row]]).tolist()) if key else first
        records = mine[row].reshape(shape).sum(axis=summed).reshape(-1).tolist()
        tables[key] = CountedTable(
            found.stack[row].reshape(shape), TableSupport(tuple(records), given, drawn)
        )
    return tables
