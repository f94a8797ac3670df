"""Values of columns: how a query selects them, and which label each sampled row has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.drafting.asking import Asker, listed, literal, quoted
from lifagu.drafting.columns import ColumnSort, moment_of
from lifagu.drafting.seen import SeenColumn
from lifagu.graph.bins import finer_edges, number_of, quantile_edges

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def binned(numbers: Floats, bins: int) -> tuple[Ints, int]:
    """Numbers in bins of about equally many, -1 for nan, and how many bins there are."""
    size, codes = _placed(numbers, quantile_edges(numbers[~np.isnan(numbers)], bins))
    return codes, size


def _placed(numbers: Floats, edges: Sequence[float]) -> tuple[int, Ints]:
    """How many bins there are between edges, and which each number is in."""
    codes = np.searchsorted(np.array(edges), numbers, side="left").astype(np.int64)
    codes[np.isnan(numbers)] = -1
    return len(edges) + 1, codes


def value_sql(column: SeenColumn, sort: ColumnSort, part: str, asker: Asker) -> str:
    """A column in a query, as the value of a relation."""
    value = quoted(column.name)
    if sort.blanks:
        value = f"CASE WHEN {value} IN ({listed(sort.blanks)}) THEN NULL ELSE {value} END"
    if part:
        return asker.part_of_moment(value, part, sort.is_zoned)
    if sort.comma is not None:
        value = f"REPLACE({value}, ',', {literal(sort.comma)})"
    if column.has_nan:
        value = asker.without_nan(value)
    if sort.other is not None:
        common = listed([each for each in sort.labels if each != sort.other])
        return (
            f"CASE WHEN {value} IN ({common}) THEN {value} "
            f"WHEN {value} IS NOT NULL THEN {literal(sort.other)} END"
        )
    if sort.odd:
        cases = " ".join(
            f"WHEN {literal(text)} THEN {'NULL' if number is None else literal(number)}"
            for text, number in sorted(sort.odd.items())
        )
        return f"CASE {value} {cases} ELSE {value} END"
    return value


def coded(
    column: SeenColumn, sort: ColumnSort, part: str, bins: int
) -> tuple[tuple[str, ...], int, Ints]:
    """Labels, their number, and which of them each sampled row has."""
    if part:
        return _coded_part(column, sort, part, bins)
    if sort.kind == "number":
        codes, size = binned(_numbers(column, sort), bins)
        return (), size, codes
    place = {text: number for number, text in enumerate(sort.labels)}
    rest = place[sort.other] if sort.other is not None else -1
    found = [place.get(each, -1 if each in sort.blanks else rest) for each in column.texts]
    codes = np.array([*found, -1], dtype=np.int64)[column.codes]
    return sort.labels, len(sort.labels), codes


def finely_coded(column: SeenColumn, sort: ColumnSort, bins: int, finer: int) -> tuple[int, Ints]:
    """How many bins there are if each of so many is parted, and which each sampled row has."""
    numbers = _numbers(column, sort)
    known = numbers[~np.isnan(numbers)]
    return _placed(numbers, finer_edges(known, quantile_edges(known, bins), finer))


def _numbers(column: SeenColumn, sort: ColumnSort) -> Floats:
    """The number of each sampled row, nan where there is none."""
    plain = column.texts
    if sort.comma is not None:
        plain = [each.replace(",", sort.comma) for each in plain]
    texts = [sort.odd.get(each, each) for each in plain]
    numbers = [None if each is None else number_of(each) for each in texts]
    values = np.array([np.nan if each is None else each for each in [*numbers, None]])
    found: Floats = values[column.codes]
    return found


def _coded_part(
    column: SeenColumn, sort: ColumnSort, part: str, bins: int
) -> tuple[tuple[str, ...], int, Ints]:
    moments = [None if each in sort.blanks else moment_of(each) for each in column.texts]
    if part == "weekday":
        days = [-1 if each is None else each.weekday() for each in moments]
        found = np.array([*days, -1], dtype=np.int64)
        return _DAYS, 7, found[column.codes]
    known = [np.nan if each is None else float(getattr(each, part)) for each in moments]
    values = np.array([*known, np.nan])[column.codes]
    if part == "year":
        codes, size = binned(values, bins)
        return (), size, codes
    first, many = (1, 12) if part == "month" else (0, 24)
    codes = np.where(np.isnan(values), -1, values - first).astype(np.int64)
    return tuple(str(first + each) for each in range(many)), many, codes
