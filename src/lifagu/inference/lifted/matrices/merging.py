"""Rows over the same scope become one row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, first_places, group_lists, group_rows, offsets_of
from lifagu.inference.lifted.rows import ByArity
from lifagu.inference.lifted.table_stack import Sums


def merge(
    blocks: Sequence[tuple[Ints, Ints]], first_label: int
) -> tuple[ByArity, ByArity, dict[int, Sums], ByArity, ByArity]:
    """Matrix and labels of merged rows, new sums, target and order of each old row, by arity.

    Merged rows take the argument order of the one with the lowest label.
    """
    matrix, labels, target, orders = {}, {}, {}, {}
    sums: dict[int, Sums] = {}
    for old, numbers in blocks:
        arity = old.shape[1]
        if _all_different(old):
            matrix[arity], labels[arity], target[arity] = old, numbers, np.arange(len(old))
            orders[arity] = np.broadcast_to(np.arange(arity), old.shape)
            continue
        by_variable = np.argsort(old, axis=1, kind="stable")
        group = group_rows(np.take_along_axis(old, by_variable, axis=1))
        sequence = np.lexsort((*old.T[::-1], numbers, group))
        frame = sequence[np.cumsum(np.bincount(group)) - np.bincount(group)]
        rank = np.argsort(by_variable[frame], axis=1)
        target[arity], matrix[arity] = group, old[frame]
        orders[arity] = np.take_along_axis(by_variable, rank[group], axis=1)
        labels[arity], sums[arity] = _composed(group, numbers, orders[arity], first_label)
        first_label += len(sums[arity])
    return matrix, labels, sums, target, orders


def _all_different(matrix: Ints) -> bool:
    """Whether no two rows have one scope; by one sort, where a scope fits into one integer."""
    count = int(matrix.max(initial=0)) + 1
    scopes = (
        np.sort(matrix, axis=1)
        if matrix.shape[1] != 2
        else np.stack((matrix.min(axis=1), matrix.max(axis=1)), 1)
    )
    if count ** matrix.shape[1] >= 2**63:
        return int(group_rows(scopes).max(initial=-1)) + 1 == len(matrix)
    code = np.sort(scopes @ (count ** np.arange(matrix.shape[1])))
    return not (code[1:] == code[:-1]).any()


def _composed(group: Ints, labels: Ints, order: Ints, first_label: int) -> tuple[Ints, Sums]:
    """Each new row's label: its old one if alone, else of a sum that rows made alike share."""
    code = group_rows(np.column_stack((labels, order)))
    pair = group_rows(np.column_stack((group, code)))
    first = first_places(pair)
    row, kind_of, often = group[first], code[first], np.bincount(pair)
    sequence = np.lexsort((kind_of, row))
    starts = offsets_of(np.bincount(row))
    kind = group_lists(starts, group_rows(np.column_stack((kind_of, often)))[sequence])
    examples = first_places(kind)
    lengths = np.diff(starts)[examples]
    alone = (lengths == 1) & (often[sequence[starts[examples]]] == 1)
    known = np.where(
        alone, labels[first[sequence[starts[examples]]]], first_label + np.cumsum(~alone) - 1
    )
    summed, lengths = starts[examples][~alone], lengths[~alone]
    sum_starts = offsets_of(lengths)
    terms = sequence[np.repeat(summed - sum_starts[:-1], lengths) + np.arange(sum_starts[-1])]
    places = first_places(code)[kind_of[terms]]
    return known[kind], Sums(sum_starts, labels[places], order[places], often[terms])
