"""Which cohorts: several sorts are tried on known tables that are hidden from them, and averaged.

The weights are those under which the hidden tables are most probable (stacking: Wolpert 1992, Yao
et al. 2018), so that a sort which is never better than another gets none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_lists, group_rows, offsets_of
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.fitting import Shape, fit
from lifagu.filling.cohorts.found import FoundCohorts
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence, Tokens

HIDDEN = 0.15  # share of the known tables that are hidden to choose
FOLDS = 2
CHOSEN_ON, FITTED_ON = 4_000, 20_000  # individuals at the most
LEAST_WEIGHT = 0.05  # sorts with less are left out
# sorts that are tried: of exact tables, and of estimated ones
EXACT = tuple(Shape(count, shared=False) for count in (1, 4, 12, None))
ESTIMATED = (
    *(Shape(count, shared=False) for count in (1, 2, 3, 4, 6, 8, 12, None)),
    *(Shape(count, shared=True) for count in (6, 12, None)),
)


@dataclass(frozen=True, eq=False)
class AveragedCohorts(Frozen):
    """Several sorts of cohorts side by side, and how much each counts; the first counts most."""

    found: tuple[FoundCohorts, ...]
    weights: Floats


def find_cohorts(shown: Sequence[PlaceEvidence], estimated: bool, seed: int = 0) -> AveragedCohorts:
    """The cohorts of n individuals by what they show in each place.

    estimated: whether records are behind some of their tables.
    """
    rng = np.random.default_rng(seed)
    shapes = ESTIMATED if estimated else EXACT
    some = _sample(shown, CHOSEN_ON, rng)
    weights = _stacked([_predicted(some, shape, rng) for shape in shapes])
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] >= LEAST_WEIGHT]
    rows = _sample(shown, FITTED_ON, rng)
    found = [_fitted(rows, shapes[place], rng) for place in order.tolist()]
    return AveragedCohorts(tuple(found), weights[order] / weights[order].sum())


def _sample(
    shown: Sequence[PlaceEvidence], most: int, rng: np.random.Generator
) -> list[PlaceEvidence]:
    """What so many individuals show, at the most; who shows nothing is left out."""
    some = np.zeros(shown[0].owners.count, dtype=np.bool_)
    for each in shown:
        some[each.owners.of] = True
    individuals = np.flatnonzero(some)
    if len(individuals) > most:
        individuals = np.sort(rng.choice(individuals, most, replace=False))
    return [each.among(individuals) for each in shown]


def _fitted(shown: Sequence[PlaceEvidence], shape: Shape, rng: np.random.Generator) -> FoundCohorts:
    """Cohorts; individuals that show the same are counted instead of repeated."""
    individuals, weights = _distinct(shown)
    return FoundCohorts.of(fit([each.among(individuals) for each in shown], weights, shape, rng))


def _distinct(shown: Sequence[PlaceEvidence]) -> tuple[Ints, Floats]:
    """The first of those that show the same, and how many each stands for."""
    groups = alike_individuals(shown)
    return first_places(groups), np.bincount(groups).astype(np.float64)


def alike_individuals(shown: Sequence[PlaceEvidence]) -> Ints:
    """Individuals numbered by what they show; counts are never taken to be the same."""
    count = shown[0].owners.count
    if any(isinstance(each, Counts) for each in shown):
        return np.arange(count)
    owner = np.concatenate([each.owners.of for each in shown])
    place = np.concatenate([np.full(len(each.owners.of), at) for at, each in enumerate(shown)])
    codes = np.concatenate([each.codes for each in shown if isinstance(each, Tokens)])
    order = np.lexsort((codes, place, owner))
    what = group_rows(np.column_stack((place, codes)))[order]
    return group_lists(offsets_of(np.bincount(owner, minlength=count)), what)


def _predicted(
    shown: Sequence[PlaceEvidence], shape: Shape, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Probabilities of what is hidden in each fold, and how often each counts."""
    hiding = np.random.default_rng(1)  # the same for all sorts
    probabilities, counts = [], []
    for _ in range(FOLDS):
        gone = [hiding.random(len(each.owners.of)) < HIDDEN for each in shown]
        rest = [each.only(np.flatnonzero(~away)) for each, away in zip(shown, gone, strict=True)]
        found = _fitted(rest, shape, rng)
        belonging = found.belonging(rest)
        for place, each, left, away in zip(found.places, shown, rest, gone, strict=True):
            hidden = each.only(np.flatnonzero(away))
            owner = hidden.owners.of
            likely = place.which_beside(place.which(belonging[owner]), owner, left, belonging)
            tables = (
                likely[:, None]
                if isinstance(each, Tokens)
                else np.tensordot(likely, place.atoms, axes=1)
            )
            probability, count = hidden.scores(tables)
            probabilities.append(probability)
            counts.append(count)
    return np.concatenate(probabilities), np.concatenate(counts)


def _stacked(predicted: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The weights of a mixture under which what was hidden is most probable, by EM."""
    table = np.stack([probability for probability, _ in predicted], axis=1)
    counts = predicted[0][1]
    weights = np.full(table.shape[1], 1 / table.shape[1])
    if not len(counts):
        return weights
    for _ in range(200):
        joint = table * weights
        share = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        weights = counts @ share
        weights = weights / weights.sum()
    return np.asarray(weights)
