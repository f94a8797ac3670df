"""The substitutions that a parfactor's constraints admit, as one array, without loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, group_rows, places_within
from lifagu.errors import TooLargeError
from lifagu.relational.bound_parfactors import BoundParfactor

# substitutions of one parfactor with so many logical variables, fewer of wider ones: beyond it the
# arrays alone would take gigabytes
LIMIT, WIDTH = 2**25, 3


def substitutions(bound: BoundParfactor) -> Ints:
    """All admitted substitutions of the free logical variables: an m × free matrix, rows ascending.

    Explicit relations between several variables are joined first; the other variables are
    multiplied in one by one, each inequality applied as soon as both sides are there. Cost:
    near-linear in the largest intermediate result, which is refused beyond 2²⁵ rows of three
    columns, or as many numbers.
    """
    table, columns = np.zeros((1, 0), dtype=np.int64), list[int]()
    joined = [
        (variables, rows)
        for variables, rows, inside in bound.memberships
        if inside and len(variables) > 1
    ]
    for variables, rows in joined:
        table, columns = _join(bound, table, columns, rows, variables)
    for variable in columns:
        if bound.is_constrained(variable):
            table = table[np.isin(table[:, columns.index(variable)], bound.candidates(variable))]
    table = _filtered(bound, table, columns, new=set(columns))
    for variable in range(bound.free):
        if variable not in columns:
            _check_size(bound, len(table) * bound.domains[variable].size, len(columns) + 1)
            candidates = bound.candidates(variable)
            table = np.column_stack(
                (np.repeat(table, len(candidates), axis=0), np.tile(candidates, len(table)))
            )
            columns.append(variable)
            table = _filtered(bound, table, columns, new={variable})
    table = table[:, np.argsort(columns)] if columns else table
    return table[np.lexsort(table.T[::-1])] if joined else table


def _check_size(bound: BoundParfactor, rows: int, width: int) -> None:
    limit = LIMIT * WIDTH // max(width, WIDTH)
    if rows > limit:
        raise TooLargeError(
            f"grounding parfactor '{bound.name}' would go through {rows:.3g} substitutions, "
            f"and {limit:.3g} is the limit; "
            "make the domains smaller, or constrain the logical variables more"
        )


def _join(
    bound: BoundParfactor, table: Ints, columns: list[int], rows: Ints, variables: Sequence[int]
) -> tuple[Ints, list[int]]:
    """The natural join of a table with an explicit relation."""
    shared = [variable for variable in variables if variable in columns]
    new = [place for place, variable in enumerate(variables) if variable not in columns]
    mine, theirs = _keys(
        table[:, [columns.index(each) for each in shared]],
        rows[:, [variables.index(each) for each in shared]],
    )
    order = np.argsort(theirs, kind="stable")
    starts = np.searchsorted(theirs[order], mine)
    matches = np.searchsorted(theirs[order], mine, "right") - starts
    _check_size(bound, int(matches.sum()), len(columns) + len(new))
    partners = order[np.repeat(starts, matches) + places_within(matches)]
    left = np.repeat(table, matches, axis=0)
    joined = np.column_stack((left, rows[partners][:, new]))
    return joined, [*columns, *(variables[place] for place in new)]


def _keys(one: Ints, two: Ints) -> tuple[Ints, Ints]:
    """Numbers for the rows of two tables: equal rows, equal numbers."""
    keys = group_rows(np.vstack((one, two)))
    return keys[: len(one)], keys[len(one) :]


def _filtered(bound: BoundParfactor, table: Ints, columns: list[int], new: set[int]) -> Ints:
    """The rows that keep every constraint on several variables that the new columns complete."""
    at = {variable: place for place, variable in enumerate(columns)}
    for left, code, _ in bound.comparisons:
        if code >= 0 and left in at and code in at and {left, code} & new:
            table = table[table[:, at[left]] != table[:, at[code]]]
    for variables, rows, inside in bound.memberships:
        complete = set(variables) <= at.keys() and set(variables) & new
        if not inside and len(variables) > 1 and complete:
            mine, theirs = _keys(table[:, [at[each] for each in variables]], rows)
            table = table[~np.isin(mine, theirs)]
    return table
