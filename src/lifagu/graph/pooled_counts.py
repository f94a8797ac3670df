"""Tables of groups from their counts, drawn to the table that they have in common.

A group's table is Dirichlet around that of the level above, with as many imagined records as the
level's scale says; the scale is the one under which the counts are most probable, the tables
themselves summed out (Dirichlet-multinomial). What a group tells the level above is how many of its
records are not explained by its other ones (Minka's fixed point), so that a large group that is
unlike the others does not outvote them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.log_gamma import digamma, log_gamma

_LEAST, _MOST = np.log(0.02), np.log(1e6)  # scales in between are told apart from none
_ROUNDS = 60
_GOLDEN = (np.sqrt(5) - 1) / 2
_SEARCHED = frozenset((0, 1, 2, 4, 8, 16, 32))  # rounds in which scales are looked for again


@dataclass(frozen=True, eq=False)
class Pooled:
    """Pooled tables.

    stack: tables in the layout of the counts, summing to 1 over what is not given; scales: for each
    level below the common table as how many records the table above counts, infinitely many where
    groups are not seen to differ; spreads: the same as standard deviations of logs, 0 for these.
    """

    stack: Floats
    scales: tuple[float, ...]
    spreads: tuple[float, ...]


def pooled(
    counts: Floats,
    shape: tuple[int, ...],
    given: tuple[int, ...],
    above: Ints,
    prior: Floats | float = 1.0,
) -> Pooled:
    """The tables of a common one and of groups, from counts (1 + groups) × states.

    Row 0 is what nobody's group counted; above[i]: the row that row i is drawn to, before it, -1
    for row 0; counts of inner rows are their own records, without those of groups below. shape: of
    each table; given: the axes it is conditional on. prior: imagined records of each state behind
    the common table. A group without records, for some values of what is given, has exactly what
    stands above it. Cost: near-linear in the counts that are not 0, times rounds.

    >>> counts = np.array([[0.0, 0.0], [90.0, 10.0], [10.0, 90.0], [0.0, 0.0]])
    >>> found = pooled(counts, (2,), (), np.array([-1, 0, 0, 0]))
    >>> found.stack.round(2).tolist()
    [[0.5, 0.5], [0.89, 0.11], [0.11, 0.89], [0.5, 0.5]]
    """
    rows = len(counts)
    others = tuple(axis for axis in range(len(shape)) if axis not in given)
    order = (0, *(1 + axis for axis in (*given, *others)))
    turned = tuple(shape[axis] for axis in (*given, *others))
    states = int(np.prod([shape[axis] for axis in others]))

    def split(table: Floats) -> Floats:
        whole = table.reshape(-1, *shape).transpose(order)
        return np.ascontiguousarray(whole).reshape(len(whole), -1, states)

    imagined = split(np.broadcast_to(np.asarray(prior, dtype=np.float64), (int(np.prod(shape)),)))
    tree = _Tree(split(counts), imagined[0], above)
    tables, scales = tree.fitted()
    stack = tables.reshape(rows, *turned).transpose(np.argsort(order)).reshape(rows, -1)
    spreads = tuple(float(np.sqrt(max(states - 1, 0) / each)) for each in scales)
    return Pooled(np.ascontiguousarray(stack), tuple(scales), spreads)


class _Tree:
    """Counts of groups (rows × conditions × states), level by level."""

    def __init__(self, counts: Floats, prior: Floats, above: Ints) -> None:
        self.counts, self.prior, self.above = counts, prior, above
        self.levels = _levels(above)

    def fitted(self) -> tuple[Floats, list[float]]:
        """All tables, and each level's scale."""
        scales = [np.inf] * len(self.levels)
        told = self._told_if_alike()
        common = _normalised(told[0] + self.prior)
        for turn in range(_ROUNDS):
            tables = self._downward(common, told, scales)
            for number, level in enumerate(self.levels):
                if turn in _SEARCHED:
                    scales[number] = _best_scale(told[level], tables[self.above[level]])
            told = self._upward(tables, scales)
            before, common = common, _normalised(told[0] + self.prior)
            if turn not in _SEARCHED and np.abs(common - before).max() < 1e-9:
                break
        return self._downward(common, told, scales), scales

    def _told_if_alike(self) -> Floats:
        """Each row's records and all below it."""
        told = self.counts.copy()
        for level in reversed(self.levels):
            np.add.at(told, self.above[level], told[level])
        return told

    def _upward(self, tables: Floats, scales: list[float]) -> Floats:
        """Each row's records, and what those below tell it."""
        told = self.counts.copy()
        for level, scale in zip(reversed(self.levels), reversed(scales), strict=True):
            mine = told[level]
            if np.isfinite(scale):
                there = mine > 0
                prior = scale * np.maximum(tables[self.above[level]][there], np.finfo(float).tiny)
                mine[there] = prior * (digamma(prior + mine[there]) - digamma(prior))
            np.add.at(told, self.above[level], mine)
        return told

    def _downward(self, common: Floats, told: Floats, scales: list[float]) -> Floats:
        """The tables, each from its records and the one above."""
        tables = np.empty_like(self.counts)
        tables[0] = common
        for level, scale in zip(self.levels, scales, strict=True):
            over = tables[self.above[level]]
            if not np.isfinite(scale):
                tables[level] = over
                continue
            mass = told[level].sum(axis=2, keepdims=True)
            tables[level] = np.where(mass > 0, (told[level] + scale * over) / (mass + scale), over)
        return tables


def _levels(above: Ints) -> list[Ints]:
    """The rows at each depth below the first."""
    depth = np.zeros(len(above), dtype=np.int64)
    while True:
        deeper = np.where(above < 0, 0, depth[above] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return [np.flatnonzero(depth == each) for each in range(1, int(depth.max(initial=0)) + 1)]


def _normalised(weights: Floats) -> Floats:
    """Rows that sum to 1; without any weight, all states alike."""
    sums = weights.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1.0 / weights.shape[-1])


def _best_scale(counts: Floats, over: Floats) -> float:
    """The scale under which counts are most probable; without a sign of differences, inf."""
    mass = counts.sum(axis=2)
    mass = mass[mass > 0]
    there = counts > 0
    if not there.any() or counts.shape[2] == 1:
        return float("inf")
    many, share = counts[there], np.maximum(over[there], np.finfo(float).tiny)
    alike = float((many * np.log(share)).sum())

    def evidence(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        gained = (log_gamma(scale * share + many) - log_gamma(scale * share)).sum()
        whole = np.full_like(mass, scale)
        return float(gained - (log_gamma(whole + mass) - log_gamma(whole)).sum())

    grid = np.linspace(_LEAST, _MOST, 19)
    values = [evidence(each) for each in grid]
    best = int(np.argmax(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    log_scale, found = _maximum(evidence, float(low), float(high))
    if best == len(grid) - 1 or found <= alike + 1e-7 * (1 + abs(alike)):
        return float("inf")
    return float(np.exp(log_scale))


def _maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where a function with one peak between two numbers is largest, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(20):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (left, at_left) if at_left >= at_right else (right, at_right)
