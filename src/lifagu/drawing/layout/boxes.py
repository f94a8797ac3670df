"""Boxes in the plane: which overlap, pushed apart, and packed into rows."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints

PUSHES = 60


def overlapping(places: Floats, sizes: Floats, gap: float = 0.0) -> tuple[Ints, Ints]:
    """The pairs of boxes, first < second, that overlap or come closer than a gap both ways.

    places[n, 2]: centres; sizes[n, 2]: widths and heights. Cost: near-linear, beside the pairs that
    share some x or, if they are fewer, some y.

    >>> pairs = overlapping(np.array([[0.0, 0], [9, 0], [30, 0]]), np.full((3, 2), 10.0))
    >>> [each.tolist() for each in pairs]
    [[0], [1]]
    """
    axes = [_sharing(places[:, axis], sizes[:, axis], gap) for axis in (0, 1)]
    order, many = min(axes, key=lambda each: int(each[1].sum()))
    first = np.repeat(np.arange(len(order)), many)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    one, two = order[first], order[second]
    apart, room = np.abs(places[one] - places[two]), (sizes[one] + sizes[two]) / 2
    near = (apart < room + gap - 1e-9).all(axis=1)
    one, two = one[near], two[near]
    return np.minimum(one, two), np.maximum(one, two)


def _sharing(middle: Floats, size: Floats, gap: float) -> tuple[Ints, Ints]:
    """Boxes by where they begin along one axis; for each, how many others begin before it ends."""
    order = np.argsort(middle - size / 2, kind="stable")
    starts = (middle - size / 2)[order]
    stops = np.searchsorted(starts, starts + size[order] + gap, side="left")
    return order, np.maximum(stops - np.arange(len(order)) - 1, 0)


def separated(places: Floats, sizes: Floats, gap: float) -> Floats:
    """The same places moved as little as need be, so that no two boxes come closer than a gap.

    Overlapping pairs are pushed apart along the axis on which they overlap less; what is left after
    some rounds is settled by spreading everything out, which cannot fail as places differ.
    """
    places = _told_apart(places)
    while True:
        for _ in range(PUSHES if len(places) < 400 else PUSHES // 3):
            one, two = overlapping(places, sizes, gap)
            if not len(one):
                return places
            places = places + _pushes(places, sizes, gap + 0.5, one, two)
        places = _told_apart(places) * 1.2


def _told_apart(places: Floats) -> Floats:
    """Places that are all different: equal ones are moved a little, each in its own direction."""
    rounded = np.round(places, 3)
    _, first, copies = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[copies.reshape(-1)] != np.arange(len(places)))
    angles = again * 2.399963  # the golden angle
    away = 0.5 * np.column_stack((np.cos(angles), np.sin(angles)))
    moved = places.copy()
    moved[again] += away * (1 + again[:, None] / len(places))
    return moved


def _pushes(places: Floats, sizes: Floats, gap: float, one: Ints, two: Ints) -> Floats:
    """How far each box is pushed by those it overlaps: half of each overlap, averaged if many."""
    apart = places[two] - places[one]
    lack = (sizes[one] + sizes[two]) / 2 + gap - np.abs(apart)
    axis = np.argmin(lack, axis=1)
    rows = np.arange(len(one))
    sign = np.where(apart[rows, axis] < 0, -1.0, 1.0)
    push = np.zeros_like(apart)
    push[rows, axis] = sign * lack[rows, axis] / 2
    total = np.zeros_like(places)
    np.add.at(total, one, -push)
    np.add.at(total, two, push)
    many = np.bincount(np.concatenate((one, two)), minlength=len(places))
    return total / np.sqrt(np.maximum(many, 1))[:, None]


def packed(sizes: Floats, gap: float, shape: float) -> Floats:
    """Centres of boxes in rows, none overlapping, the whole about `shape` times as wide as high.

    Boxes are taken from the highest to the lowest, in the given order where equal.

    >>> packed(np.array([[10.0, 5], [10, 5]]), gap=2, shape=3).tolist()
    [[5.0, 2.5], [17.0, 2.5]]
    """
    room = sizes + gap
    widest = max(float(room[:, 0].max()), float(np.sqrt(room.prod(axis=1).sum() * shape)))
    centres = np.zeros_like(sizes)
    left = top = row_height = 0.0
    for box in np.argsort(-sizes[:, 1], kind="stable").tolist():
        width, height = sizes[box].tolist()
        if left > 0 and left + width > widest:
            left, top, row_height = 0.0, top + row_height + gap, 0.0
        centres[box] = left + width / 2, top + height / 2
        left, row_height = left + width + gap, max(row_height, height)
    return centres
