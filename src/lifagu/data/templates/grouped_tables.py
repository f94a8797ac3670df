"""Literal tables by group, listed in a template or in a Parquet file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.data.duck import Duck, parquet_files, quoted
from lifagu.data.templates.groups import GroupKey, prefixes
from lifagu.data.templates.row_tables import DistinctTables
from lifagu.errors import FormatError
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TableSupport
from lifagu.graph.tables import potential_fault
from lifagu.relational.learning_task import GroupLevel, LearnedTable
from lifagu.relational.template import GroupedTables, TableOfGroup


def literal_tables(
    grouped: GroupedTables,
    groups: Sequence[GroupKey],
    tables: DistinctTables,
    said: TableSupport | None,
) -> tuple[Ints, Supports | None]:
    """The number of each group's table, and its support; said: given arguments and prior for all.

    A group has the table of the finest group it belongs to that is listed, else the common one.
    """
    listed = listed_groups(grouped, tables.span)
    numbers: dict[tuple[str, ...], int] = {}
    supports: dict[tuple[str, ...], TableSupport | None] = {}
    for key, each in listed.items():
        numbers[key] = tables.number(np.array(each.table))
        supports[key] = None
        if each.support is not None:
            given = said.given if said is not None else () if len(each.support) == 1 else None
            supports[key] = TableSupport(each.support, given, said.prior if said else ())
    numbers.setdefault((), -1)
    found = [next(each for each in prefixes(group) if each in numbers) for group in groups]
    return (
        np.array([numbers[each] for each in found], dtype=np.int64),
        Supports.of([supports.get(each) for each in found]).or_none,
    )


def listed_groups(grouped: GroupedTables, span: int) -> dict[tuple[str, ...], TableOfGroup]:
    """The groups that are listed, and the common table; span: how many potentials each has."""
    listed = {each.key: each for each in (_in_file(grouped) if grouped.file else grouped.groups)}
    if grouped.common is not None:
        listed[()] = grouped.common
    for key, each in listed.items():
        if len(each.table) != span:
            what = f"the group {', '.join(key)}" if key else "common"
            raise FormatError(
                f"{grouped.place}: {what} has a table of {len(each.table)} potentials, "
                f"but the arguments span {span} states"
            )
    return listed


def told_tables(
    grouped: GroupedTables, name: str, shape: Sequence[int], levels: Sequence[GroupLevel]
) -> LearnedTable:
    """Tables with conditions, as if they had just been learned: which of a stack is whose."""
    wide = [size + (axis in grouped.conditions) for axis, size in enumerate(shape)]
    listed = listed_groups(grouped, int(np.prod(wide)))
    if () not in listed:
        raise FormatError(f"{grouped.place}: a table with conditions needs a common table")
    keys = [(), *(key for level in levels for key in level.keys)]
    found = [listed[next(each for each in prefixes(key) if each in listed)] for key in keys]
    return LearnedTable(
        name,
        np.array([each.table for each in found]),
        np.array([sum(each.support or ()) for each in found], dtype=np.float64),
        "given",
        0.0,
        conditions=grouped.conditions,
    )


def _in_file(grouped: GroupedTables) -> list[TableOfGroup]:
    """The groups that a Parquet file lists: a column for each level of the key, table, support."""
    assert grouped.file is not None
    place = f"{grouped.place}: {grouped.file}"
    if not grouped.file.is_file():
        raise FormatError(f"{grouped.place}: there is no such file: {grouped.file}")
    columns = ", ".join(f"CAST({quoted(each)} AS VARCHAR)" for each in grouped.by)
    asked = f"""
        SELECT {columns}, CAST("table" AS DOUBLE[]), support
        FROM {parquet_files(grouped.file)}
        """
    with Duck(purpose="groups in a Parquet file") as duck:
        duck.check_parquet(grouped.file, place)
        rows = duck.rows(asked, place)
    found: dict[tuple[str, ...], TableOfGroup] = {}
    for number, (*values, table, support) in enumerate(rows, 1):
        key = prefixes(tuple(values))[0]
        support = support if isinstance(support, list | None) else [float(support)]
        fault = _fault(values, key, table, support) or ("is there twice" if key in found else None)
        if fault:
            raise FormatError(f"{place}: row {number}: the group {', '.join(key)} {fault}")
        found[key] = TableOfGroup(key, tuple(table), None if support is None else tuple(support))
    return list(found.values())


def _fault(
    values: Sequence[str | None],
    key: tuple[str, ...],
    table: Sequence[float | None] | None,
    support: Sequence[float | None] | None,
) -> str | None:
    """What is wrong with a row of such a file; None if nothing is."""
    if not key or any(each is not None for each in values[len(key) :]):
        return "has a NULL before a value; a key is NULL from some column on, but not as a whole"
    if table is None or any(each is None for each in chain(table, support or ())):
        return "has a NULL for a number"
    if fault := potential_fault(np.array(table, dtype=np.float64)):
        return f"has {fault}"
    records = np.array(support or [0.0], dtype=np.float64)
    if not (np.isfinite(records) & (records >= 0)).all():
        return "has a support that is no number of records, 0 or more"
    return None
