"""Counting: how often each label is, over all rows or over those of a group."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from research.league.features import Floats, Ints, folds
from research.league.raw_tables import Target
from research.league.scores import clipped_losses
from research.league.sheets import Sheet

STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0)  # records that the frequencies of all count as
MOST_PAIRED = 8  # columns of groups that are also tried in pairs


def frequencies(sheet: Sheet) -> dict[str, Floats]:
    """How often each label of a column is, for every hidden cell the same."""
    return {each.told.relation: common(each) for each in sheet.targets}


def common(target: Target) -> Floats:
    """How often each label of a column is, once for each of its hidden cells."""
    counts = np.bincount(target.values, minlength=len(target.told.labels))
    return np.tile(_shares(counts), (len(target.asked), 1))


def group_pooling(sheet: Sheet) -> dict[str, Floats]:
    """How often each label is in the row's group, drawn towards the frequencies of all."""
    return {each.told.relation: _pooled(each, sheet.groups(each)) for each in sheet.targets}


def _pooled(target: Target, groups: list[Ints]) -> Floats:
    """By the group, or pair of groups, and the strength that tell held-out rows best."""
    held = folds(len(target.rows), 0) == 0
    if not groups or held.all():
        return common(target)
    pairs = combinations(groups[:MOST_PAIRED], 2)
    candidates = [*groups, *(_paired(one, other) for one, other in pairs)]
    labels = len(target.told.labels)
    learned, values = target.rows[~held], target.values[~held]

    def loss(group: Ints, strength: float) -> float:
        told = _rates(group, learned, values, labels, target.rows[held], strength)
        return float(clipped_losses(told, target.values[held]).mean())

    choices = [(group, strength) for group in candidates for strength in STRENGTHS]
    group, strength = min(choices, key=lambda each: loss(*each))
    return _rates(group, target.rows, target.values, labels, target.asked, strength)


def _paired(one: Ints, other: Ints) -> Ints:
    """A number for each combination of two groups, -1 where either is unknown."""
    both = one * (int(other.max(initial=0)) + 1) + other
    number: Ints = np.unique(both, return_inverse=True)[1]
    return np.where((one < 0) | (other < 0), -1, number)


def _rates(
    group: Ints, rows: Ints, values: Ints, labels: int, asked: Ints, strength: float
) -> Floats:
    counts = np.zeros((int(group.max(initial=-1)) + 2, labels))  # the last one: in no group
    np.add.at(counts, (group[rows], values), 1)
    counts[-1] = 0
    usual = _shares(np.bincount(values, minlength=labels))
    found = counts[group[asked]] + strength * usual
    return found / found.sum(1, keepdims=True)


def _shares(counts: Ints) -> Floats:
    """Shares of labels, all alike where there is no record."""
    if not counts.any():
        return np.full(len(counts), 1 / len(counts))
    return counts / counts.sum()
