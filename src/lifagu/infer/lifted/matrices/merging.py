"""Rows over the same scope become one row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lifagu.arrays import Ints, first_places, group_lists, group_rows
from lifagu.infer.lifted.rows import ByArity
from lifagu.infer.lifted.tables import Sum


def merge(
    blocks: Sequence[tuple[Ints, Ints]], first_label: int
) -> tuple[ByArity, ByArity, list[Sum], ByArity, ByArity]:
    """Matrix and labels of the merged rows, new sums, target and order of each old row, each by arity.

    Merged rows take the argument order of the one with the lowest label.
    """
    matrix, labels, target, orders = {}, {}, {}, {}
    sums: list[Sum] = []
    for old, numbers in blocks:
        arity = old.shape[1]
        by_variable = np.argsort(old, axis=1, kind="stable")
        group = group_rows(np.take_along_axis(old, by_variable, axis=1))
        sequence = np.lexsort((*old.T[::-1], numbers, group))
        frame = sequence[np.cumsum(np.bincount(group)) - np.bincount(group)]
        rank = np.argsort(by_variable[frame], axis=1)
        target[arity], matrix[arity] = group, old[frame]
        orders[arity] = np.take_along_axis(by_variable, rank[group], axis=1)
        labels[arity] = _composed(group, numbers, orders[arity], first_label, sums)
    return matrix, labels, sums, target, orders


def _composed(group: Ints, labels: Ints, order: Ints, first_label: int, sums: list[Sum]) -> Ints:
    """Label of each new row: its old one if it is alone, else that of a new sum, shared by rows of the same make-up."""
    code = group_rows(np.column_stack((labels, order)))
    examples = first_places(code)
    pair = group_rows(np.column_stack((group, code)))
    first = first_places(pair)
    row, kind_of, often = group[first], code[first], np.bincount(pair)
    sequence = np.lexsort((kind_of, row))
    starts = np.concatenate(([0], np.cumsum(np.bincount(row))))
    kind = group_lists(starts, group_rows(np.column_stack((kind_of, often)))[sequence])
    known = []
    for example in first_places(kind).tolist():
        terms = sequence[starts[example] : starts[example + 1]]
        places = examples[kind_of[terms]]
        if len(terms) == 1 and often[terms[0]] == 1:
            known.append(int(labels[places[0]]))
            continue
        known.append(first_label + len(sums))
        counted = zip(places, often[terms].tolist(), strict=True)
        sums.append(
            tuple((int(labels[place]), tuple(order[place].tolist()), Fraction(times)) for place, times in counted)
        )
    return np.array(known, dtype=np.int64)[kind]
