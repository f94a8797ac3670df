"""Supports as they were handed in: checked, and given arguments found where nobody named them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, frozen, group_rows, members, owners
from lifagu.basics.inputs import items
from lifagu.basics.names import Names
from lifagu.errors import ModelError
from lifagu.graph.ranges import Ranges
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TO_BE_FOUND, TableSupport, given_places
from lifagu.graph.tables import Tables, as_floats, turned_places

SAME_SUM = 1e-6  # relative difference up to which sums of slices count as the same
MOST_TRIED = 1000  # sets of arguments that are tried as given

# ---- one factor


def support_of(
    owner: str, support: Any, given: Sequence[int] | None, prior: Any
) -> TableSupport | None:
    """The support of one factor from plain values; None if there is none.

    given: positions of arguments, None if the table shall tell.
    """
    if support is None:
        for what, value in (("given", given), ("prior", prior)):
            if value is not None:
                raise ModelError(
                    f"{owner} has {what} but no support, without which it says nothing; "
                    "give the number of records as support"
                )
        return None
    records = _numbers(owner, "support", "numbers of records", support)
    added = () if prior is None else _numbers(owner, "prior", "priors", prior)
    places = None if given is None else tuple(sorted(given))
    if places is not None and len(set(places)) < len(places):
        raise ModelError(f"{owner} names an argument twice in given; name it once")
    return TableSupport(records, () if places is None and len(records) == 1 else places, added)


def given_positions(owner: str, arguments: Sequence[Any], given: Any) -> list[int] | None:
    """The positions of the arguments that are named in given; None if nothing is."""
    if given is None:
        return None
    named = [given] if given in arguments else items(f"{owner}: given names arguments", given)
    for each in named:
        if each not in arguments:
            listed = ", ".join(map(str, arguments))
            raise ModelError(
                f"{owner} has '{each}' in given, which is not among its arguments ({listed})"
            )
    return [arguments.index(each) for each in named]


def fitting(owner: str, support: TableSupport, table: Floats, shape: Sequence[int]) -> TableSupport:
    """The support, which must fit its table, with the given arguments found if nobody named them.

    >>> fitting("f", TableSupport((20.0, 30.0), None), np.array([0.9, 0.1, 0.5, 0.5]), (2, 2))
    TableSupport(records=(20.0, 30.0), given=(0,), prior=())
    """
    many, given = len(support.records), support.given
    if given is None:
        mask = int(found_given(table.reshape(1, -1), tuple(shape), many)[0])
        if mask == TO_BE_FOUND:
            raise ModelError(
                f"{owner} has {many} numbers of records as support, but there are no arguments "
                f"with {many} combinations in each of which its table sums to the same; "
                "name those by given"
            )
        given = given_places(mask)
    combinations = math.prod(shape[place] for place in given)
    if many not in (1, combinations):
        raise ModelError(
            f"{owner} has {many} numbers of records as support, but its given arguments have "
            f"{combinations} combinations; give {combinations}, or one for the whole table"
        )
    if len(support.prior) not in (0, 1, table.size):
        raise ModelError(
            f"{owner} has {len(support.prior)} numbers as prior, but {table.size} potentials; "
            f"give {table.size}, or one for all"
        )
    return TableSupport(support.records, given, support.prior)


def _numbers(owner: str, key: str, what: str, value: Any) -> tuple[float, ...]:
    """A number or a list of numbers, finite and 0 or more."""
    nested = isinstance(value, list | tuple | np.ndarray)
    numbers = as_floats(value if nested else [value])
    if numbers is None or not len(numbers):
        raise ModelError(f"{owner} has a {key} that is no number and no list of numbers")
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        raise ModelError(
            f"{owner} has the {key} {numbers[np.argmax(wrong)]}; {what} are finite and 0 or more"
        )
    return tuple((numbers + 0.0).tolist())


# ---- many factors


def checked_supports(
    support: Any,
    tables: Tables,
    factor_table: Ints,
    declared: Sequence[tuple[Ints, Ints]],
    ranges: Ranges,
    factors: Names,
) -> Supports | None:
    """The supports of a graph from what `from_arrays` was given; None if all tables are exact.

    declared: per arity the factors and their arguments' declared ranges. What stands at an unknown
    factor says nothing, and is left out.
    """
    if support is None:
        return None
    given = support if isinstance(support, Supports) else _one_number_each(support)
    if len(given) != len(factors):
        raise ModelError(f"support has {len(given)} entries for {len(factors)} factors")
    given = given.only(factor_table >= 0)
    _check_numbers(given, factors)
    masks = given.given.copy()
    for rows, orders in declared:
        rows, orders = rows[given.estimated[rows]], orders[given.estimated[rows]]
        sizes = ranges.sizes[ranges.range_of[orders]]
        keys = np.column_stack((sizes, given.form(rows) + 1))
        for alike in members(group_rows(keys)):
            chosen, shape = rows[alike], tuple(sizes[alike[0]].tolist())
            _fit(given, chosen, shape, masks, tables, factor_table, factors)
    checked = Supports(
        given.offsets, given.records, frozen(masks), given.prior_offsets, given.priors
    )
    return checked.in_label_orders(ranges, declared, canonical=True).or_none


def _one_number_each(support: Any) -> Supports:
    """Supports from one number for each factor, nan where a table is exact."""
    numbers = as_floats(support)
    if numbers is None:
        raise ModelError(
            "support is a Supports, or a list with the number of records behind each factor's "
            "table, nan where it is exact"
        )
    there = ~np.isnan(numbers)
    ends = frozen(np.concatenate(([0], np.cumsum(there))))
    zeros = np.zeros(len(numbers) + 1, dtype=np.int64)
    return Supports(ends, frozen(numbers[there]), zeros[1:], zeros, np.zeros(0))


def _check_numbers(given: Supports, factors: Names) -> None:
    """All numbers must be finite and 0 or more."""
    for key, what, offsets, values in (
        ("support", "numbers of records", given.offsets, given.records),
        ("prior", "priors", given.prior_offsets, given.priors),
    ):
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            factor = int(owners(offsets)[np.argmax(wrong)])
            mine = values[offsets[factor] : offsets[factor + 1]]
            _numbers(f"factor '{factors[factor]}'", key, what, mine)


def _fit(
    given: Supports,
    chosen: Ints,
    shape: tuple[int, ...],
    masks: Ints,
    tables: Tables,
    factor_table: Ints,
    factors: Names,
) -> None:
    """Check supports of one form over tables of one shape; given arguments are put into masks."""
    starts, size = tables.offsets[factor_table[chosen]], math.prod(shape)
    first = int(chosen[0])
    many = int(given.offsets[first + 1] - given.offsets[first])
    if masks[first] == TO_BE_FOUND:
        masks[chosen] = found_given(tables.values[starts[:, None] + np.arange(size)], shape, many)
    beyond = masks[chosen] >> len(shape) > 0
    if beyond.any():
        name = factors[int(chosen[np.argmax(beyond)])]
        raise ModelError(f"factor '{name}' has only {len(shape)} arguments, numbered from 0")
    place = int(np.argmax(masks[chosen] == TO_BE_FOUND))
    one = given[int(chosen[place])]
    if one is not None:
        name, table = factors[int(chosen[place])], tables.values[starts[place] :][:size]
        fitting(f"factor '{name}'", one, table, shape)


def found_given(rows: Floats, shape: tuple[int, ...], many: int) -> Ints:
    """For each row, a table, the arguments with as many combinations whose slices sum to the same.

    As bits; the leading ones where there are several sets, -1 where there are none.

    >>> found_given(np.array([[0.9, 0.1, 0.5, 0.5], [1, 2, 3, 4]]), (2, 2), 2).tolist()
    [1, -1]
    """
    masks = np.full(len(rows), TO_BE_FOUND if many > 1 else 0, dtype=np.int64)
    if many > 1:
        for axes in islice(_sets(shape, many, 0), MOST_TRIED):
            left = np.flatnonzero(masks == TO_BE_FOUND)
            if not len(left):
                break
            same = left[_sum_alike(rows[left], shape, axes, many)]
            masks[same] = sum(1 << axis for axis in axes)
    return masks


def _sets(shape: tuple[int, ...], many: int, start: int) -> Iterator[tuple[int, ...]]:
    """The sets of axes, from some axis on, with as many combinations; leading axes first."""
    for axis in range(start, len(shape)):
        if shape[axis] > 1 and many % shape[axis] == 0:
            if shape[axis] == many:
                yield (axis,)
            else:
                rest = _sets(shape, many // shape[axis], axis + 1)
                yield from ((axis, *others) for others in rest)


def _sum_alike(
    rows: Floats, shape: tuple[int, ...], axes: tuple[int, ...], many: int
) -> NDArray[np.bool_]:
    """Which rows, tables, sum to the same for all combinations of some axes."""
    others = tuple(axis for axis in range(len(shape)) if axis not in axes)
    scaled = rows / rows.max(axis=1, keepdims=True)
    slices = scaled[:, turned_places(shape, (*axes, *others))].reshape(len(rows), many, -1)
    sums = slices.sum(axis=2)
    return np.asarray(sums.max(axis=1) - sums.min(axis=1) <= SAME_SUM * sums.max(axis=1))
