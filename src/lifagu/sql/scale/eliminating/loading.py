"""A folder becomes rows: arguments side by side, one label for each table with its ranges and observed values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Floats
from lifagu.sql.scale.eliminating.observing import Mark, Marks
from lifagu.sql.scale.eliminating.rows import MOST_LABELS, ObstacleError, Rows
from lifagu.sql.scale.eliminating.sources import Sources, names_of
from lifagu.sql.scale.eliminating.tables import Tables
from lifagu.sql.scale.eliminating.work import Work, among, columns, listed, union, values
from lifagu.tables import potential_fault

MOST_ARGUMENTS = 62  # of one factor
MOST_NAMES = 5  # of unknown factors


@dataclass(frozen=True)
class Loaded:
    """Rows of free variables, names of the first few unknown factors, and how many there are."""

    rows: Rows
    unknown: list[str]
    holes: int


@dataclass(frozen=True)
class _Key:
    """Factors with the same table and arguments of the same marks: how many they are, and the first."""

    table: int
    marks: tuple[int, ...]
    many: int
    first: int


def load(work: Work, sources: Sources, marks: Marks, labels: Tables) -> Loaded:
    """All factors as rows; observed arguments are fixed in their tables."""
    most = _most_arguments(work, sources)
    wide = _wide(work, sources, marks, most)
    _check(work, sources, wide, most)
    keys = _keys(work, wide, most, marks)
    tables = _tables(work, sources, keys)
    found: dict[tuple[int, int], list[tuple[_Key, int]]] = {}  # by arity and which slots are observed
    rows = Rows(work, labels, next_id=sources.next_id)
    for key in keys:
        seen = [marks.marks[mark] for mark in key.marks]
        potentials = tables.get(key.table)
        _check_size(work, sources, potentials, seen, key)
        shape = tuple(len(mark.labels) for mark in seen)
        label = labels.given(potentials, shape, [mark.observed for mark in seen], key.many)
        if label is not None:
            mask = sum(1 << slot for slot, mark in enumerate(seen) if mark.observed >= 0)
            found.setdefault((len(seen), mask), []).append((key, label))
    queries: dict[int, list[str]] = {}
    for (arity, mask), some in sorted(found.items()):
        slots = [slot for slot in range(arity) if not mask >> slot & 1]
        queries.setdefault(len(slots), []).append(_chosen(wide, arity, slots, some, marks.table is not None))
        counts = rows.counts.setdefault(len(slots), {})
        for key, label in some:
            counts[label] = counts.get(label, 0) + key.many
    _add_soft(rows, queries, marks)
    rows.tables = {arity: work.view(f"rows_{arity}", union(parts)) for arity, parts in sorted(queries.items())}
    unknown, holes = _unknown(work, sources, wide, keys, tables)
    return Loaded(rows, unknown, holes)


def _most_arguments(work: Work, sources: Sources) -> int:
    """The largest number of arguments; ids of variables that are not there are errors."""
    arguments = sources["arguments"]
    ((last, most),) = work.rows(f"SELECT max(a.position), max(a.variable_id) FROM {arguments} AS a")
    if sources.dense:
        wrong = most if most is not None and most >= sources.variables else None
    else:
        here = f"SELECT 1 FROM {sources['variables']} AS v WHERE v.id = a.variable_id"
        ((wrong,),) = work.rows(f"SELECT min(a.variable_id) FROM {arguments} AS a WHERE NOT EXISTS ({here})")
    if wrong is not None:
        what = f"column variable_id: {wrong} is not an id in variables.parquet; add that row, or refer to another"
        raise sources.fault("arguments", what)
    if last is not None and last >= MOST_ARGUMENTS:
        gap = f"SELECT factor_id, count(*) AS many FROM {arguments} GROUP BY factor_id HAVING max(position) >= count(*)"
        for factor, many in work.rows(f"{gap} ORDER BY factor_id LIMIT 1"):
            raise _gap(sources, factor, many)
        raise ObstacleError(f"a factor has {last + 1} arguments")
    return 0 if last is None else int(last) + 1


def _wide(work: Work, sources: Sources, marks: Marks, most: int) -> str:
    """One row per factor: its table (-1: unknown), its number of arguments, their variables and their marks.

    The table stands beside the arguments as if it were one more, so that one GROUP BY brings all together.
    """
    mark, join = "0", ""
    if marks.table:
        mark, join = "coalesce(m.mark, 0)", f" LEFT JOIN {marks.table} AS m ON a.variable_id = m.v"
    items = union(
        [
            "SELECT f.id AS factor, -1 AS place, coalesce(f.table_id, -1) AS item, 0 AS mark "
            f"FROM {sources['factors']} AS f",
            f"SELECT a.factor_id AS factor, a.position AS place, a.variable_id AS item, {mark} AS mark "
            f"FROM {sources['arguments']} AS a{join}",
        ]
    )
    shown = [
        "factor",
        "CAST(sum(CASE WHEN place = -1 THEN 1 ELSE 0 END) AS BIGINT) AS heads",
        "max(CASE WHEN place = -1 THEN item END) AS table_id",
        "CAST(sum(CASE WHEN place = -1 THEN 0 ELSE 1 END) AS BIGINT) AS arity",
    ]
    for slot in range(most):
        shown.append(f"max(CASE WHEN place = {slot} THEN item END) AS v{slot}")
        if marks.table:
            shown.append(f"coalesce(max(CASE WHEN place = {slot} THEN mark END), 0) AS m{slot}")
    return work.store("wide", f"SELECT {listed(shown)} FROM ({items}) AS items GROUP BY factor")


def _check(work: Work, sources: Sources, wide: str, most: int) -> None:
    """Factors stand once in factors.parquet, and have the arguments 0, 1, …, all different."""
    gap = " OR ".join(f"(arity > {slot}) <> (v{slot} IS NOT NULL)" for slot in range(most))
    same = " OR ".join(f"v{one} = v{other}" for other in range(most) for one in range(other))
    tests = ["heads = 0", "heads > 1", gap or "arity > 0", same or "1 = 0"]
    shown = listed(f"min(CASE WHEN {test} THEN factor END)" for test in tests)
    ((missing, twice, holed, repeated),) = work.rows(f"SELECT {shown} FROM {wide}")
    if missing is not None:
        what = f"column factor_id: {missing} is not an id in factors.parquet; add that row, or refer to another"
        raise sources.fault("arguments", what)
    if twice is not None:
        raise sources.fault("factors", f"column id: {twice} stands in two rows; give each row its own")
    if holed is not None:
        ((many,),) = work.rows(f"SELECT arity FROM {wide} WHERE factor = {holed}")
        raise _gap(sources, holed, many)
    if repeated is not None:
        name = names_of(work, sources, "factors", [repeated])[repeated]
        what = f"factor '{name}' has a variable twice among its arguments; give the diagonal of its table instead"
        raise sources.fault("arguments", what)


def _gap(sources: Sources, factor: int, many: int) -> Exception:
    what = f"factor {factor} has {many} arguments, but not one at each position; number them 0 to {many - 1}"
    return sources.fault("arguments", f"column position: {what}")


def _keys(work: Work, wide: str, most: int, marks: Marks) -> list[_Key]:
    key = ["table_id", "arity", *(columns(most, "m") if marks.table else [])]
    shown = listed(key)
    found = work.rows(f"SELECT {shown}, count(*), min(factor) FROM {wide} GROUP BY {shown} ORDER BY {shown}")
    if len(found) > MOST_LABELS:
        raise ObstacleError(f"there are {len(found)} different tables")
    return [
        _Key(row[0], tuple(row[2 : 2 + row[1]]) if marks.table else (0,) * int(row[1]), row[-2], row[-1])
        for row in found
    ]


def _tables(work: Work, sources: Sources, keys: list[_Key]) -> dict[int, Floats]:
    """The potentials of the tables in use; those that are null are left out."""
    used = sorted({key.table for key in keys} - {-1})
    found = work.rows(f"SELECT id, potentials FROM {sources['tables']} WHERE {among('id', used)} ORDER BY id")
    numbers = [number for number, _ in found]
    for number in used:
        if number not in numbers:
            what = f"column table_id: {number} is not an id in tables.parquet; add that row, or refer to another"
            raise sources.fault("factors", what)
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise sources.fault("tables", f"column id: {twice} stands in two rows; give each row its own")
    tables = {}
    for number, potentials in found:
        if potentials is None:
            continue
        if any(each is None for each in potentials):
            what = f"column potentials: a null in the list of table {number}; give numbers, or null for the whole list"
            raise sources.fault("tables", what)
        tables[number] = np.array(potentials, dtype=np.float64) + 0.0
        if fault := potential_fault(tables[number]):
            raise sources.fault("tables", f"column potentials: table {number} has {fault}")
    return tables


def _check_size(work: Work, sources: Sources, potentials: Floats | None, seen: list[Mark], key: _Key) -> None:
    states = math.prod(len(mark.labels) for mark in seen)
    if potentials is not None and potentials.size != states:
        name = names_of(work, sources, "factors", [key.first])[key.first]
        what = f"factor '{name}' has {potentials.size} potentials but its arguments span {states} states"
        raise sources.fault("factors", f"{what}; give {states}, or null if unknown")


def _chosen(wide: str, arity: int, slots: list[int], some: list[tuple[_Key, int]], marked: bool) -> str:
    """A query for the rows of some keys with the same observed slots: labels, and the variables that are free."""
    names = ["key_table", *(columns(arity, "key_mark") if marked else []), "label"]
    given = values(names, [(key.table, *(key.marks if marked else ()), label) for key, label in some])
    same = "".join(f" AND w.m{slot} = k.key_mark{slot}" for slot in range(arity)) if marked else ""
    shown = "".join(f", w.v{slot} AS v{number}" for number, slot in enumerate(slots))
    return (
        f"SELECT CAST(k.label AS BIGINT) AS label{shown} FROM {wide} AS w JOIN {given} AS k "
        f"ON w.table_id = k.key_table{same} WHERE w.arity = {arity}"
    )


def _add_soft(rows: Rows, queries: dict[int, list[str]], marks: Marks) -> None:
    """Soft evidence as rows with one argument."""
    if not marks.soft:
        return
    given = []
    counts = rows.counts.setdefault(1, {})
    for number, likelihood in marks.soft.items():
        size = len(likelihood.numbers)
        label = rows.labels.given(np.array(likelihood.numbers), (size,), (-1,), likelihood.many)
        assert label is not None, "one argument is left"
        given.append((number, label))
        counts[label] = counts.get(label, 0) + likelihood.many
    queries.setdefault(1, []).append(
        f"SELECT CAST(n.label AS BIGINT) AS label, s.v AS v0 FROM {marks.soft_table} AS s "
        f"JOIN {values(['number', 'label'], given)} AS n ON s.soft = n.number"
    )


def _unknown(
    work: Work, sources: Sources, wide: str, keys: list[_Key], tables: dict[int, Floats]
) -> tuple[list[str], int]:
    """The names of the first few unknown factors, and how many there are."""
    lost = sorted({key.table for key in keys if key.table not in tables})
    holes = sum(key.many for key in keys if key.table not in tables)
    if not holes:
        return [], 0
    first = f"SELECT factor FROM {wide} WHERE {among('table_id', lost)} ORDER BY factor LIMIT {MOST_NAMES}"
    some = [each for (each,) in work.rows(first)]
    names = names_of(work, sources, "factors", some)
    shown = [names[each] for each in some]
    more = holes - len(shown)
    return ([*shown[:-1], f"{shown[-1]} and {more} more"] if more else shown), holes
