"""Which cohorts: several sorts are tried on known tables that are hidden from them, and averaged.

A sort counts as often as it predicts the hidden tables best when these are drawn again and again,
so that one which is clearly best counts alone (pseudo-BMA+: Yao, Vehtari, Simpson and Gelman 2018,
Using stacking to average Bayesian predictive distributions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_lists, group_rows, offsets_of
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.fitting import CohortShape, fit
from lifagu.filling.cohorts.found import FoundCohorts
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence, TableTokens

HIDDEN = 0.15  # share of the known tables that are hidden to choose
FOLDS = 2
DRAWN_AGAIN = 200
CHOSEN_ON, FITTED_ON = 4_000, 20_000  # individuals at the most
LEAST_WEIGHT = 0.05  # sorts with less are left out
# sorts that are tried: of exact tables, and of estimated ones
EXACT = tuple(CohortShape(count, shared=False) for count in (1, 4, 12, None))
ESTIMATED = (
    *(CohortShape(count, shared=False) for count in (1, 2, 3, 4, 6, 8, 12, None)),
    *(CohortShape(count, shared=True) for count in (6, 12, None)),
)


@dataclass(frozen=True, eq=False)
class AveragedCohorts(Frozen):
    """Several sorts of cohorts side by side, and how much each counts; the first gives reasons."""

    found: tuple[FoundCohorts, ...]
    weights: Floats


def find_cohorts(shown: Sequence[PlaceEvidence], estimated: bool, seed: int = 0) -> AveragedCohorts:
    """The cohorts of n individuals by what they show in each place.

    estimated: whether records are behind some of their tables.
    """
    rng = np.random.default_rng(seed)
    shapes = ESTIMATED if estimated else EXACT
    some = _sample(shown, CHOSEN_ON, rng)
    scores = np.stack([_scores(some, shape, rng) for shape in shapes], axis=1)
    weights = _weights(scores, rng)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] >= LEAST_WEIGHT]
    if estimated:
        # only where cohorts share tables can it be said which table somebody has
        naming = [place for place, shape in enumerate(shapes) if shape.shared]
        best = max(naming, key=lambda place: float(scores[:, place].sum()))
        order = np.array([best, *(place for place in order.tolist() if place != best)])
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


def _fitted(
    shown: Sequence[PlaceEvidence], shape: CohortShape, rng: np.random.Generator
) -> FoundCohorts:
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
    codes = np.concatenate([each.codes for each in shown if isinstance(each, TableTokens)])
    order = np.lexsort((codes, place, owner))
    what = group_rows(np.column_stack((place, codes)))[order]
    return group_lists(offsets_of(np.bincount(owner, minlength=count)), what)


def _scores(shown: Sequence[PlaceEvidence], shape: CohortShape, rng: np.random.Generator) -> Floats:
    """The log probability of each table that is hidden, fold by fold."""
    hiding = np.random.default_rng(1)  # the same for all sorts
    scores = [np.zeros(0)]
    for _ in range(FOLDS):
        gone = [hiding.random(len(each.owners.of)) < HIDDEN for each in shown]
        rest = [each.only(np.flatnonzero(~away)) for each, away in zip(shown, gone, strict=True)]
        found = _fitted(rest, shape, rng)
        belonging = found.belonging(rest)
        for place, each, left, away in zip(found.places, shown, rest, gone, strict=True):
            hidden = each.only(np.flatnonzero(away))
            owner = hidden.owners.of
            likely = place.which_beside(place.which(belonging[owner]), owner, left, belonging)
            scores.append(hidden.log_scores(place.mean_of(likely)))
    return np.concatenate(scores)


def _weights(scores: Floats, rng: np.random.Generator) -> Floats:
    """How often each sort (column) is best if the hidden tables (rows) are drawn anew."""
    weights = np.zeros(scores.shape[1])
    for _ in range(DRAWN_AGAIN):
        drawn = rng.exponential(size=len(scores))
        total = drawn @ scores
        likely = np.exp(total - total.max())
        weights += likely / likely.sum()
    return weights / DRAWN_AGAIN
