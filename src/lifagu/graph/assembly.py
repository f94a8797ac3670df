"""From what was handed in to what a graph holds, renumbered by first use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Ints,
    as_ids,
    by_first_occurrence,
    first_places,
    frozen,
    places_within,
)
from lifagu.basics.inputs import items
from lifagu.basics.names import Names, NumberedNames
from lifagu.errors import ModelError
from lifagu.graph.ranges import Ranges, check_labels
from lifagu.graph.tables import GivenTables
from lifagu.graph.validation import check_arguments, check_ids, check_offsets, check_tables

_Item = TypeVar("_Item", np.int64, np.float64)
Scopes = list[tuple[Ints, Ints]]  # per arity: factors, and the matrix of their arguments


def names_of(sort: str, names: str | Iterable[str], count: int) -> Names:
    """Names given one by one, or made from a prefix; as many as there are nodes."""
    if isinstance(names, str) and names:
        return NumberedNames(sort, names, count)
    given = names if isinstance(names, Names) and names.sort == sort else Names(sort, names)
    if len(given) != count:
        raise ModelError(f"{len(given)} {sort} names were given for {count} {sort}s")
    return given


def scopes_of(offsets: Ints, arguments: Ints) -> Scopes:
    """Per arity, ascending: the factors of that arity, and the matrix of their arguments."""
    arity = np.diff(offsets)
    scopes = []
    for size in np.flatnonzero(np.bincount(arity)).tolist():
        rows = np.flatnonzero(arity == size)
        start, stop = offsets[rows[0]], offsets[rows[-1] + 1]
        if stop - start == size * len(rows):  # one after the other: nothing has to be copied
            matrix = arguments[start:stop].reshape(len(rows), size)
        else:
            matrix = arguments[offsets[rows, None] + np.arange(size)]
        scopes.append((frozen(rows), frozen(matrix)))
    return scopes


def known_scopes(scopes: Scopes, factor_given: Ints) -> Scopes:
    """Those of factors that have a table."""
    found = []
    for rows, matrix in scopes:
        known = factor_given[rows] >= 0
        found.append((rows, matrix) if known.all() else (rows[known], matrix[known]))
    return found


def given_factors(
    offsets: Ints,
    arguments: Ints,
    tables: Any,
    factor_given: Ints,
    sizes: Ints,
    variables: Names,
    factors: Names,
) -> tuple[GivenTables, Scopes]:
    """The tables as given, and the factors per arity as `scopes_of` lists them, checked."""
    if len(factor_given) != len(factors):
        raise ModelError(
            f"factor_tables has {len(factor_given)} entries for {len(factors)} factors"
        )
    given = GivenTables.of(tables)
    check_ids(arguments, 0, len(variables), "arguments", "variables")
    check_ids(factor_given, -1, len(given.lengths), "factor_tables", "tables")
    scopes = scopes_of(offsets, arguments)
    check_arguments(scopes, variables, factors)
    check_tables(given, factor_given, known_scopes(scopes, factor_given), sizes, variables, factors)
    return given, scopes


def declared_ranges(ranges: Sequence[Sequence[str]], variable_ranges: Ints) -> tuple[Ranges, Ints]:
    """Distinct label orders in order of first use, and the number of each variable's."""
    listed = items("ranges is a list of lists of labels", ranges)
    given = [check_labels(labels, f"range {number}") for number, labels in enumerate(listed)]
    check_ids(variable_ranges, 0, len(given), "variable_ranges", "ranges")
    distinct = list(dict.fromkeys(given))
    place = {labels: place for place, labels in enumerate(distinct)}
    number = np.array([place[labels] for labels in given], dtype=np.int64)
    same = number[variable_ranges] if len(given) else variable_ranges
    used = [distinct[order] for order in _by_first_use(same)]
    return Ranges(tuple(used)), by_first_occurrence(same)


def _by_first_use(ids: Ints) -> list[int]:
    """The non-negative ids that occur, in order of first occurrence."""
    first = first_places(ids)
    count = int((first < len(ids)).sum())
    occurring: list[int] = np.argsort(first, kind="stable")[:count].tolist()
    return occurring


def used_names(
    what: str, names: Sequence[str], ids: Any, count: int
) -> tuple[tuple[str, ...], Ints]:
    """Names of kinds or individuals that occur, by first use, and the ids renumbered to match."""
    if ids is None:
        return (), np.full(count, -1, dtype=np.int64)
    ids = as_ids(ids, f"variable_{what}s")
    known = Names(what, names)
    check_ids(ids, -1, len(known), f"variable_{what}s", f"{what}s")
    if len(ids) != count:
        raise ModelError(f"variable_{what}s has {len(ids)} entries for {count} variables")
    return tuple(known[number] for number in _by_first_use(ids)), by_first_occurrence(ids)


def individual_lists(
    names: Sequence[str], offsets: Any, ids: Any, count: int
) -> tuple[tuple[str, ...], Ints, Ints]:
    """Individuals that occur, in order of first use, and each variable's list of them."""
    if offsets is None:
        if ids is not None:
            raise ModelError(
                "variable_individuals came without individual_offsets, which say whose they are; "
                "give both"
            )
        return (), frozen(np.zeros(count + 1, dtype=np.int64)), frozen(np.zeros(0, dtype=np.int64))
    offsets, ids = as_ids(offsets, "individual_offsets"), as_ids(ids, "variable_individuals")
    check_offsets(offsets, len(ids), "individual_offsets")
    if len(offsets) != count + 1:
        raise ModelError(
            f"individual_offsets has {len(offsets)} entries for {count} variables; give {count + 1}"
        )
    names = items("names of individuals are given in a list", names)
    check_ids(ids, 0, len(names), "variable_individuals", "individuals")
    used, ids = used_names("individual", names, ids, len(ids))
    return used, frozen(offsets), frozen(ids)


def extended(array: Ints, more: Ints) -> Ints:
    """A read-only array with more at its end."""
    return frozen(np.concatenate((array, more)))


def taken_lists(offsets: Ints, values: NDArray[_Item], chosen: Ints) -> tuple[NDArray[_Item], Ints]:
    """The values of the chosen lists in a row, and where each list ends if put after all lists."""
    starts = offsets[chosen]
    lengths = offsets[1:][chosen] - starts
    places = np.repeat(starts, lengths) + places_within(lengths)
    return values[places], offsets[-1] + np.cumsum(lengths)
