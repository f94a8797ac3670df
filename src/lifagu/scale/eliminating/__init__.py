"""Answers where the data is: rows are made fewer by SQL until they are few enough to be listed.

The lifted engine could ask a database each of its questions, but the answers to some of them hold
one number per row. So the database does a small part of what the engine does, for all rows at once,
and hands over what is left:

- equal rows become one, its table to the power of their number (GROUP BY);
- variables in one row only are summed out of it;
- variables in few rows are summed out by class: all that are in the same tables, in the same slots,
  at the same time, where no row holds two of them;
- interchangeable variables become one histogram, where numbers of rows prove that they are
  interchangeable.

Each step is an identity on the ground model, so answers are exact whatever the rows look like.
Tables stay here: rows have labels, and each new label is computed once, by the algebra of the
lifted engine (`LabelledTables`). Statements compare ids and count; they never compute with
potentials. What none of the steps makes smaller is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.progress import Announce
from lifagu.basics.words import counted
from lifagu.scale.eliminating.blocks import sum_out_blocks
from lifagu.scale.eliminating.histograms import count_members
from lifagu.scale.eliminating.leaves import is_leaf, sum_out_leaves
from lifagu.scale.eliminating.loading import AlikeVariables, load
from lifagu.scale.eliminating.rows import ObstacleError, StoredRows
from lifagu.scale.eliminating.work import Work, among, columns, listed

__all__ = [
    "AlikeVariables",
    "ObstacleError",
    "StoredRows",
    "Work",
    "eliminate",
    "listed_rows",
    "load",
]

MUCH = 64  # times as many variables are left at most where those in one row only are much
LEAST = 1000  # a round that takes away less than one argument in so many makes no progress


def eliminate(
    rows: StoredRows,
    by_look: Sequence[AlikeVariables],
    kept: Mapping[int, int],
    enough: int,
    say: Announce,
) -> str | None:
    """Make rows fewer until they have at most so many arguments; why that failed, None if not.

    kept: variables that stay, and the sizes of their ranges; say: told what each round did.
    """
    work = rows.work
    as_loaded, start = set(rows.tables.values()), work.mark()
    degrees = rows.degrees() if rows.tables else None
    _count_free(rows, degrees, by_look, kept)
    while degrees is not None and rows.arguments > enough:
        before = rows.arguments
        try:
            _round(rows, degrees, kept, say)
        except ObstacleError as obstacle:
            return str(obstacle)
        here = set(rows.tables.values())
        work.sweep(here, start if here & as_loaded else 0)
        if rows.arguments > enough and (before - rows.arguments) * LEAST < before:
            return "a round took away hardly anything"
        degrees = rows.degrees() if rows.tables else None
    return None


def listed_rows(rows: StoredRows) -> list[tuple[Ints, Ints]]:
    """All rows by arity, in an order of their own: labels, and a matrix of variables."""
    found = []
    for arity, table in sorted(rows.tables.items()):
        slots = listed(columns(arity))
        label, *variables = rows.work.engine.columns(
            f"SELECT label, {slots} FROM {table} ORDER BY label, {slots}"
        )
        found.append((label.astype(np.int64), np.stack(variables, axis=1).astype(np.int64)))
    return found


def _round(rows: StoredRows, degrees: str, kept: Collection[int], say: Announce) -> None:
    """Sum out what is in one row only, if that is much; else classes in few rows; else count."""
    before = rows.count
    ((leaves, variables),) = rows.work.rows(
        f"""
        SELECT sum(CASE WHEN {is_leaf(kept)} THEN 1 ELSE 0 END), count(*)
        FROM {degrees}
        """
    )
    if leaves * MUCH >= variables:
        gone = sum_out_leaves(rows, degrees, kept)
        what = f"sum {counted(gone, 'variable')} out of the only row they are in"
    else:
        try:
            gone = sum_out_blocks(rows, degrees, kept)
            what = f"sum out {counted(gone, 'variable')} by class"
        except ObstacleError:
            gone = count_members(rows, kept)
            what = f"count {counted(gone, 'interchangeable variable')}"
            if not gone:
                raise
    say(f"{what}: {before} rows become {rows.count}")


def _count_free(
    rows: StoredRows,
    degrees: str | None,
    by_look: Sequence[AlikeVariables],
    kept: Mapping[int, int],
) -> None:
    """Variables that stand in no row are free, but for those that are kept."""
    free: dict[int, int] = {}
    for each in by_look:
        if each.observed < 0:
            free[len(each.labels)] = free.get(len(each.labels), 0) + each.many
    here: set[int] = set()
    if degrees is not None:
        for place, many in rows.work.rows(
            f"SELECT place, count(*) FROM {degrees} GROUP BY place ORDER BY place"
        ):
            label, slot = rows.label_slot(place)
            free[rows.labels.shape(label)[slot]] -= many
        here = {v for (v,) in rows.work.rows(f"SELECT v FROM {degrees} WHERE {among('v', kept)}")}
    for variable, size in kept.items():
        free[size] -= variable not in here
    for size, many in sorted(free.items()):
        rows.labels.free(size, many)
