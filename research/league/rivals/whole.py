"""Those that fill all gaps of a sheet at once, tuned on cells held out.

A fifth of the known cells of each target is held out to choose a setting for the whole sheet, and
for each target the share of plain frequencies that is mixed in, up to all: many of these methods
tell labels and are too sure of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from research.league.features import Floats, Ints, folds
from research.league.raw_tables import Target
from research.league.rivals.pooling import common
from research.league.scores import clipped_losses
from research.league.sheets import Sheet

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # of frequencies
MOST_HELD = 1_000  # cells of a target
LEAST_CELLS = 10  # known cells of a target; with fewer there is nothing to tune on


@dataclass(frozen=True, eq=False)
class Gaps:
    """A sheet in numbers of labels, the targets first, each label seen somewhere.

    codes: a row for each row, -1 for gaps; sizes: how many labels each column has; asked: rows
    whose cells are to be told, for each target.
    """

    codes: Ints
    sizes: tuple[int, ...]
    asked: tuple[Ints, ...]

    @property
    def rows(self) -> Ints:
        """All rows with a cell to be told, in order."""
        return np.unique(np.concatenate(self.asked))

    def some(self, most: int) -> Ints:
        """As many rows, picked by chance, and for every label of every column one that has it.

        They come in an order by chance: neighbours in a file are often alike, and who takes the
        first of rows that are equally near would take those.
        """
        order = np.random.default_rng(0).permutation(len(self.codes))
        firsts = [order[np.unique(column, return_index=True)[1]] for column in self.codes[order].T]
        found: Ints = order[np.isin(order, np.concatenate([order[:most], *firsts]))]
        return found

    def numbers(self) -> Floats:
        """The numbers of labels, NaN for gaps."""
        return np.where(self.codes < 0, np.nan, self.codes)

    def one_hot(self) -> Floats:
        """A column of 0 and 1 for each label, NaN for gaps."""
        parts = [
            np.where(column[:, None] < 0, np.nan, column[:, None] == np.arange(size))
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]
        return np.hstack(parts)

    def parted(self, filled: Floats, rows: Ints) -> list[Floats]:
        """Of the filled 0 and 1 of some rows, what they tell of each target's asked cells."""
        starts = np.cumsum([0, *self.sizes])
        return [
            normalised(filled[np.searchsorted(rows, asked), starts[place] : starts[place + 1]])
            for place, asked in enumerate(self.asked)
        ]


Impute = Callable[[Gaps, Any], list[Floats]]


def whole_sheet(sheet: Sheet, impute: Impute, settings: Sequence[Any]) -> dict[str, Floats]:
    """What a way to fill gaps tells of each column's hidden cells, with the best of its settings.

    A column that is hardly known, or alone, has its frequencies.
    """
    told = {each.told.relation: common(each) for each in sheet.targets}
    able = [each for each in sheet.targets if _is_able(each)]
    gaps = _gaps(sheet, able)
    if not able or len(gaps.sizes) < 2:
        return told
    setting, shares = _tuned(gaps, impute, settings)
    for target, found, share in zip(able, impute(gaps, setting), shares, strict=True):
        usual = told[target.told.relation]
        spread = np.zeros_like(usual)
        spread[:, np.unique(target.values)] = found
        told[target.told.relation] = (1 - share) * spread + share * usual
    return told


def normalised(weights: Floats) -> Floats:
    """Distributions from weights, negative ones as 0; all labels alike where there is nothing."""
    clipped = np.maximum(weights, 0.0) + 1e-9
    return clipped / clipped.sum(1, keepdims=True)


def _is_able(target: Target) -> bool:
    return len(np.unique(target.values)) > 1 and len(target.rows) >= LEAST_CELLS


def _gaps(sheet: Sheet, able: Sequence[Target]) -> Gaps:
    coded = replace(sheet, targets=tuple(able)).coded()
    seen = [np.unique(each.values[each.values >= 0], return_inverse=True) for each in coded]
    codes = np.full((len(sheet.known.tables[sheet.table]), len(coded)), -1)
    for place, (each, (_, number)) in enumerate(zip(coded, seen, strict=True)):
        codes[each.values >= 0, place] = number
    sizes = tuple(len(labels) for labels, _ in seen)
    return Gaps(codes, sizes, tuple(each.asked for each in able))


def _held_out(gaps: Gaps) -> tuple[Gaps, list[Ints]]:
    """Further cells as gaps, a fifth of each target's, and what they were; every label stays."""
    codes, asked, truths = gaps.codes.copy(), [], []
    for place in range(len(gaps.asked)):
        known = np.flatnonzero(codes[:, place] >= 0)
        firsts = known[np.unique(codes[known, place], return_index=True)[1]]
        held = np.setdiff1d(known[folds(len(known), place) == 0], firsts)
        held = np.sort(np.random.default_rng(0).permutation(held)[:MOST_HELD])
        truths.append(codes[held, place])
        asked.append(held)
        codes[held, place] = -1
    return replace(gaps, codes=codes, asked=tuple(asked)), truths


def _tuned(gaps: Gaps, impute: Impute, settings: Sequence[Any]) -> tuple[Any, list[float]]:
    """The setting that tells held-out cells best, and for each target the share of frequencies."""
    trial, truths = _held_out(gaps)
    best, chosen = np.inf, (settings[0], [1.0] * len(truths))
    for setting in settings:
        found = [
            _mixed(each, trial.codes[:, place], truth)
            for place, (each, truth) in enumerate(zip(impute(trial, setting), truths, strict=True))
        ]
        if (loss := sum(each for each, _ in found)) < best:
            best, chosen = loss, (setting, [share for _, share in found])
    return chosen


def _mixed(told: Floats, column: Ints, truth: Ints) -> tuple[float, float]:
    """The least loss of held-out cells, and the share of frequencies that it has."""
    counts = np.bincount(column[column >= 0], minlength=told.shape[1])
    usual = counts / counts.sum()
    losses = [clipped_losses((1 - s) * told + s * usual, truth).sum() for s in SHARES]
    return min(zip(map(float, losses), SHARES, strict=True))
