"""Rows that pair two variables: all with all others' partners, or each with its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, distinct, group_lists, group_rows, members, offsets_of
from lifagu.inference.lifted.rows import (
    FIRST,
    OWN_FIRST,
    SECOND,
    Apart,
    Booleans,
    Joined,
    classes_of,
    join_columns,
)

FEW_APART = 3  # pairs (A(X), B(X)) that are eliminated as well as pivoted
MOST_DIFFERENT = 0.75  # looks of pairs for each pair, up to which joining may pay


def apart(pairs: Ints) -> Apart[Ints] | None:
    """Whether n×2 distinct pairs (A(X), B(Y)) are all those with X ≠ Y."""
    root = math.isqrt(len(pairs))
    first, second = distinct(pairs[:, 0]), distinct(pairs[:, 1])
    if len(pairs) != root * (root + 1) or root < FEW_APART or len(np.intersect1d(first, second)):
        return None
    partner = _partners(pairs, first, second)
    if partner is None:
        return None

    def paired(variable: int) -> Ints:
        return np.column_stack((first, partner, np.full(len(first), variable)))

    twins = classes_of([second], [len(second)])
    return Apart(first, twins, paired, np.searchsorted(first, pairs[:, 0]))


def _partners(pairs: Ints, first: Ints, second: Ints) -> Ints | None:
    """For each of the first the only one of the second it is not paired with, if it is one."""
    count = len(first)
    if count != len(second) or len(pairs) != count * (count - 1):
        return None
    place = np.searchsorted(first, pairs[:, 0])
    if (np.bincount(place, minlength=count) != count - 1).any():
        return None
    met = np.bincount(place, weights=np.searchsorted(second, pairs[:, 1]), minlength=count)
    # rows are distinct, so the sum of all places tells the one that lacks
    missing = count * (count - 1) // 2 - met.astype(np.int64)
    return second[missing] if len(distinct(missing)) == count else None


def looks(rows: Sequence[tuple[Ints, Ints]], count: int) -> Ints:
    """For each of `count` variables a number for the tables that it stands in."""
    nothing = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([nothing, *(matrix.reshape(-1) for matrix, _ in rows)])
    each = [np.repeat(labels, matrix.shape[1]) for matrix, labels in rows]
    label = np.concatenate([nothing, *each])
    order = np.lexsort((label, owner))
    starts = offsets_of(np.bincount(owner, minlength=count))
    return group_lists(starts, label[order])


def matching(pairs: Ints, wanted: Booleans, look: Ints) -> tuple[Ints, Ints] | None:
    """The sides of the pairs of wanted variables, if none is in two and many look alike."""
    pairs = pairs[wanted[pairs].all(axis=1)]
    if len(pairs) < 2 or len(distinct(pairs)) < pairs.size:
        return None
    if int(group_rows(look[pairs]).max()) + 1 > MOST_DIFFERENT * len(pairs):
        return None
    order = np.argsort(pairs[:, 0])
    return pairs[order, 0], pairs[order, 1]


def join(
    rows: Sequence[tuple[Ints, Ints]], first: Ints, second: Ints, joined: Ints
) -> list[Joined[Ints]] | None:
    """Replace first[i], second[i] by joined[i] in all rows; None if a row holds two pairs."""
    count = int(joined[0])
    kind = np.zeros(count, dtype=np.int64)
    kind[first], kind[second] = FIRST, SECOND
    stands_for = np.arange(count)
    stands_for[first], stands_for[second] = joined, joined
    found = []
    for matrix, labels in rows:
        mapped = stands_for[matrix]
        own = (mapped[:, :, None] == mapped[:, None, :]).sum(axis=2) > 1
        if (own.sum(axis=1) > 2).any():
            return None
        held = kind[matrix] + np.where(own, OWN_FIRST - FIRST, 0)
        for same in members(group_rows(np.column_stack((labels, held)))):
            slots = tuple(held[same[0]].tolist())
            new = mapped[same][:, join_columns(slots)[1]]
            found.append(Joined(int(labels[same[0]]), slots, new, (matrix.shape[1], same)))
    return found
