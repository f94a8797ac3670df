"""Tables that are counted where records are complete, a table for each group.

Records are those of a query, in which the database counts, or rows of a parfactor as observed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from lifagu.data.templates.row_tables import DistinctTables
from lifagu.graph.pooled_counts import pooled
from lifagu.graph.ranges import Labels
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TableSupport
from lifagu.relational.grounding import TabledRows
from lifagu.relational.learned_graphs import LearnedFactors, with_task
from lifagu.relational.learning_task import GroupLevel, LearningTask, TableToLearn
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.template import Counted, HiddenCells, Query, Template


class CountedTable(NamedTuple):
    """The frequencies of one group, and the records behind them."""

    table: Floats
    support: TableSupport


# ---- in the records of a query


class CountedTables:
    """The tables of all groups in the records of a query; labels: of each argument, in order."""

    def __init__(
        self,
        how: Counted,
        records: Query,
        labels: Sequence[Labels],
        database: Database,
        progress: Announce,
    ) -> None:
        met, counts = _counts(how, records, labels, database, progress)
        self._pool, self._unmet = how.is_pooled, table_of(how, np.zeros(counts.shape[1:]))
        self._found: dict[tuple[str, ...], CountedTable | None]
        if self._pool:
            self._found = dict(pooled_tables(how, met, counts)) if counts.any() else {}
        else:
            tables = (table_of(how, each) for each in counts)
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
    how: Counted, records: Query, labels: Sequence[Labels], database: Database, progress: Announce
) -> tuple[list[GroupKey], Floats]:
    """The groups that occur, and how many of their records are in each state (groups × shape).

    Records with a NULL for an argument are not counted; those with a NULL in their group only where
    tables are pooled. The database counts, so that as many rows come in as there are groups times
    states.
    """
    names = database.columns(records)
    if len(names) < len(labels):
        raise query_error(
            records,
            f"the query has the columns {', '.join(names)}, but there are {len(labels)} arguments; "
            "select a column for each, in their order",
        )
    by = places_of(records, names, how.by, f"a table by {', '.join(how.by)}")
    shape = tuple(len(each) for each in labels)
    groups, parts = GroupCodes(len(by)), list[Ints]()
    for batch in batches(database, _counting(how, records, names, len(labels), by), progress):
        states = [
            _states(records, names[place], batch.cells(place), place, each)
            for place, each in enumerate(labels)
        ]
        many = batch.cells(len(batch.names) - 1).values.astype(np.int64)
        parts.append(np.column_stack((np.ravel_multi_index(tuple(states), shape), many)))
        groups.add(batch, range(len(labels), len(labels) + len(by)))
    if not parts:
        return [], np.zeros((0, *shape))
    (state, many), (met, of_row) = np.vstack(parts).T, groups.finish()
    counts = np.zeros((len(met), *shape))
    np.add.at(counts.reshape(len(met), -1), (of_row, state), many)
    return met, counts


def _counting(
    how: Counted, records: Query, names: Sequence[str], arguments: int, by: Sequence[int]
) -> Query:
    """The query that counts, with the columns as the database spells them."""
    spelt = [quoted(names[place]) for place in (*range(arguments), *by)]
    needed = spelt[:arguments] if how.is_pooled else spelt
    there = " AND ".join(f"{each} IS NOT NULL" for each in dict.fromkeys(needed))
    listed = ", ".join(f"{each} AS c{place}" for place, each in enumerate(spelt))
    grouped = ", ".join(dict.fromkeys(spelt))
    sql = f"""
        SELECT {listed}, count(*) AS records
        FROM ({plain(records.sql)}) AS data
        WHERE {there}
        GROUP BY {grouped}
        """
    return replace(records, sql=sql)


def _states(records: Query, column: str, cells: Cells, place: int, labels: Labels) -> Ints:
    """Positions of labels."""
    found = codes_of(cells, label_numbers(labels))
    if (found < 0).any():
        # groups come in any order
        value = min(cells.text(row) for row in np.flatnonzero(found < 0).tolist())
        raise query_error(
            records,
            f"'{column}' has the value '{value}', "
            f"which is not among {', '.join(labels)}, the labels of argument {place + 1}",
        )
    return found


# ---- in what was observed


def counted_rows(
    loaded: Loaded,
    model: ParfactorGraph,
    wanted: Mapping[int, tuple[TabledRows, tuple[GroupLevel, ...]]],
    hidden: HiddenCells,
) -> dict[int, TabledRows]:
    """Rows with the tables that are counted in them, by number of their parfactor.

    wanted: those of tables to be counted, and their groups; hidden: cells that nobody is to have
    observed.
    """
    assert loaded.template is not None
    written = loaded.template.parfactors
    hows = {number: each for number in wanted if (each := written[number].counted)}
    factors = [
        LearnedFactors(number, written[number].place, how.given, wanted[number][1])
        for number, how in hows.items()
    ]
    task = with_task(loaded, model, factors, hidden).task
    assert task is not None
    return {
        number: _with_counts(wanted[number][0], how, task, table)
        for (number, how), table in zip(hows.items(), task.tables, strict=True)
    }


def _with_counts(
    listed: TabledRows, how: Counted, task: LearningTask, table: TableToLearn
) -> TabledRows:
    """Rows, each with the table of its finest group; a row without one has none."""
    shape = task.shape(table)
    values = np.array([task.relations[slot.relation].values[slot.cells] for slot in table.slots])
    level = table.levels[-1] if table.levels else None
    of_row = level.of_row if level else np.zeros(len(table), dtype=np.int64)
    counts = np.zeros((len(level.parent) if level else 1, *shape))
    seen = (values >= 0).all(axis=0) & (of_row >= 0)
    np.add.at(counts, (of_row[seen], *values[:, seen]), 1)
    found = [*(table_of(how, each) for each in counts), None]
    tables = DistinctTables(int(np.prod(shape)), {})
    numbers = numbered(found, tables)
    places = np.where(of_row < 0, len(counts), of_row)
    support = Supports.of([each and each.support for each in found])
    return TabledRows(listed.rows, tables.tables, numbers[places], support.taken(places).or_none)


def numbered(found: Sequence[CountedTable | None], tables: DistinctTables) -> Ints:
    """The numbers of tables, -1 for those that are unknown."""
    numbers = [-1 if each is None else tables.number(each.table.reshape(-1)) for each in found]
    return np.array(numbers, dtype=np.int64)


# ---- tables from counts


def table_of(how: Counted, counts: Floats) -> CountedTable | None:
    """The frequencies of one group, None with too few records or an unmet condition.

    >>> how = Counted(None, given=(0,), prior=(1.0,))
    >>> counted = table_of(how, np.array([[7.0, 1.0], [0.0, 2.0]]))
    >>> counted.table.tolist(), counted.support
    ([[0.8, 0.2], [0.25, 0.75]], TableSupport(records=(8.0, 2.0), given=(0,), prior=(1.0,)))
    """
    if counts.sum() < (1 if how.min_support is None else how.min_support):
        return None
    weights = counts + np.array(how.prior).reshape(counts.shape if len(how.prior) > 1 else ())
    summed = _summed(how, counts.ndim)
    totals = weights.sum(axis=summed, keepdims=True)
    if not (totals > 0).all():
        return None
    records = counts.sum(axis=summed).reshape(-1).tolist()
    prior = how.prior if any(how.prior) else ()
    return CountedTable(weights / totals, TableSupport(tuple(records), how.given, prior))


def _summed(how: Counted, arguments: int) -> tuple[int, ...]:
    """The places of the arguments that are not given."""
    return tuple(place for place in range(arguments) if place not in how.given)


def pooled_tables(
    how: Counted, met: Sequence[GroupKey], counts: Floats
) -> dict[tuple[str, ...], CountedTable]:
    """The tables of groups, those of groups that hold others, and the common one, by key.

    counts[groups × shape]. The prior of a group's table is what it was drawn to, so that its counts
    can be had again.
    """
    shape = counts.shape[1:]
    given, summed = how.given, _summed(how, len(shape))
    every = {each for key in met for each in prefixes(key)}
    keys = sorted(every, key=lambda each: (len(each), each))
    row_of = {key: row for row, key in enumerate(keys)}
    above = np.array([row_of[key[:-1]] if key else -1 for key in keys], dtype=np.int64)
    mine = np.zeros((len(keys), int(np.prod(shape))))
    np.add.at(mine, [row_of[prefixes(key)[0]] for key in met], counts.reshape(len(met), -1))
    prior = np.array(how.prior) if len(how.prior) > 1 else how.prior[0]
    found = pooled(mine, shape, given, above, prior)
    for row in range(len(keys) - 1, 0, -1):  # those below count as well
        mine[above[row]] += mine[row]
    first = how.prior if any(how.prior) else ()
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


# ---- records that may be of those in the model

_BETWEEN = re.compile(
    r"\b(?:from|join)\b(.*?)(?=\b(?:from|join|where|on|using|group|order|limit|union|having|left|"
    r"right|full|inner|cross)\b|[()]|$)",
    re.IGNORECASE | re.DOTALL,
)


def untold_relations(template: Template, model: ParfactorGraph) -> dict[str, str]:
    """Relations that are observed in a table in which records are counted, and which parfactor's.

    Whose these records are nobody says.
    """
    found: dict[str, str] = {}
    for number, parfactor in template.parfactors.items():
        records = parfactor.counted and parfactor.counted.records
        bound = model.bound[number]
        for argument in bound.arguments if records else ():
            name = model.relations[argument.relation].name if argument.relation >= 0 else ""
            observed = template.evidence.get(name)
            if records and observed and _tables_in(records.sql) & _tables_in(observed.sql):
                found.setdefault(name, bound.name)
    return found


def _tables_in(sql: str) -> set[str]:
    """The tables that a query names.

    >>> sorted(_tables_in('SELECT x FROM a, main.B AS b JOIN (SELECT * FROM "C") ON true'))
    ['a', 'b', 'c']
    """
    words = [part.split() for clause in _BETWEEN.findall(sql) for part in clause.split(",")]
    return {each[0].lower().replace('"', "").rpartition(".")[2] for each in words if each}
