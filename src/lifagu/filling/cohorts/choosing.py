"""Which cohorts: several sorts are tried on known tables that are hidden from them, and averaged.

A sort counts as often as it predicts the hidden tables best when these are drawn again and again,
so that one which is clearly best counts alone (pseudo-BMA+: Yao, Vehtari, Simpson and Gelman 2018,
Using stacking to average Bayesian predictive distributions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    first_places,
    group_lists,
    group_rows,
    group_rows_bitwise,
    offsets_of,
)
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.fitting import RESTARTS, CohortShape, fit, fits, sharing, tables_alone
from lifagu.filling.cohorts.found import FoundCohorts
from lifagu.filling.cohorts.place_evidence import PlaceEvidence, TableTokens
from lifagu.filling.cohorts.products import crossed

MOST_PLACES = 128  # that tell cohorts
HIDDEN = 0.15  # share of the known tables that are hidden to choose
FOLDS = 2
DRAWN_AGAIN = 200
CHOSEN_ON, FITTED_ON = 4_000, 20_000  # individuals at the most
TRIES = 2  # beginnings of each sort while choosing
FAR_BEHIND = 4.0  # standard errors by which a sort is behind that is not tried again
HOPELESS = -1e6  # the log probability that it has then
ROWS_EACH = 2  # tables of each individual in a place, on average, at the most
LEAST_WEIGHT = 0.05  # sorts with less are left out
FEW_INDIVIDUALS, BEGINNINGS = 1_000, 8  # up to so many, cohorts of many beginnings are averaged
COOLED = 5.0  # evidence counts by this root there, as beginnings find but some of what is probable
# sorts that are tried: of exact tables, and of estimated ones
EXACT = tuple(CohortShape(count, shared=False) for count in (1, 4, 12, 24, None))
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

    estimated: whether records are behind some of their tables. Where there are very many places,
    those in which most is shown tell the cohorts, and in the others everybody counts alike.
    """
    often = np.array([len(each.owners.of) for each in shown])
    telling = np.sort(np.argsort(-often, kind="stable")[:MOST_PLACES]).tolist()
    found = _found_in([shown[place] for place in telling], estimated, seed)
    if len(telling) == len(shown):
        return found
    return AveragedCohorts(
        tuple(each.beside(telling, shown) for each in found.found), found.weights
    )


def _found_in(shown: Sequence[PlaceEvidence], estimated: bool, seed: int) -> AveragedCohorts:
    """The cohorts by what is shown in all of these places."""
    rng = np.random.default_rng(seed)
    shapes = ESTIMATED if estimated else EXACT
    scores = _compared(_sample(shown, CHOSEN_ON, rng), shapes, seed)
    weights = _weights(scores, rng)
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] >= LEAST_WEIGHT]
    if estimated:
        # only where cohorts share tables can it be said which table somebody has
        naming = [place for place, shape in enumerate(shapes) if shape.shared]
        best = max(naming, key=lambda place: float(scores[:, place].sum()))
        order = np.array([best, *(place for place in order.tolist() if place != best)])
    rows, chosen = _sample(shown, FITTED_ON, rng), [shapes[place] for place in order.tolist()]
    if not estimated and rows[0].owners.count <= FEW_INDIVIDUALS:
        return _averaged(rows, chosen, weights[order], seed)
    found = _fitted(rows, chosen, seed, RESTARTS)
    return AveragedCohorts(tuple(found), weights[order] / weights[order].sum())


def _averaged(
    shown: Sequence[PlaceEvidence], shapes: Sequence[CohortShape], counting: Floats, seed: int
) -> AveragedCohorts:
    """Cohorts of each sort from many beginnings, the more probable counting more.

    Few individuals leave it open who belongs together, and one answer would be too sure of it.
    """
    individuals, weights = _distinct(shown)
    rows = [each.among(individuals) for each in shown]
    found, counts = list[FoundCohorts](), list[float]()
    for shape, share in zip(shapes, counting.tolist(), strict=True):
        rng = np.random.default_rng([seed, shape.cohorts or 0])
        several = fits(rows, weights, shape.cohorts, rng, BEGINNINGS)
        scores = np.array([each.score for each in several])
        likely = np.exp((scores - scores.max()) / COOLED)
        found += [FoundCohorts.of(each) for each in several]
        counts += (share * likely / likely.sum()).tolist()
    order = np.argsort(-np.array(counts), kind="stable")
    order = order[np.array(counts)[order] >= LEAST_WEIGHT * counts[order[0]]]
    kept = np.array(counts)[order]
    return AveragedCohorts(tuple(found[place] for place in order.tolist()), kept / kept.sum())


def _sample(
    shown: Sequence[PlaceEvidence], most: int, rng: np.random.Generator
) -> list[PlaceEvidence]:
    """What so many individuals show, at the most; who shows nothing is left out."""
    rows = np.zeros(shown[0].owners.count, dtype=np.int64)
    for each in shown:
        rows += np.bincount(each.owners.of, minlength=len(rows))
    individuals = np.flatnonzero(rows)
    if len(individuals) > most:
        individuals = np.sort(rng.choice(individuals, most, replace=False))
    room = ROWS_EACH * most * len(shown)
    if rows[individuals].sum() > room:  # some have very many tables in one place
        individuals = rng.permutation(individuals)
        many = np.searchsorted(np.cumsum(rows[individuals]), room)
        individuals = np.sort(individuals[: max(int(many), 1)])
    return [each.among(individuals) for each in shown]


def _fitted(
    shown: Sequence[PlaceEvidence], shapes: Sequence[CohortShape], seed: int, restarts: int
) -> list[FoundCohorts]:
    """Cohorts of each sort; individuals that show the same are counted instead of repeated."""
    individuals, weights = _distinct(shown)
    rows = [each.among(individuals) for each in shown]
    alone: list[Floats] | None = None
    found: dict[CohortShape, FoundCohorts] = {}
    for count in dict.fromkeys(shape.cohorts for shape in shapes):
        own, shared = CohortShape(count, shared=False), CohortShape(count, shared=True)
        cohorts = fit(rows, weights, own, np.random.default_rng([seed, count or 0]), restarts)
        if own in shapes:
            found[own] = FoundCohorts.of(cohorts)
        if shared in shapes:  # begins where the other ended
            if alone is None:
                alone = tables_alone(rows, weights, np.random.default_rng(seed))
            found[shared] = FoundCohorts.of(sharing(cohorts, alone))
    return [found[shape] for shape in shapes]


def _distinct(shown: Sequence[PlaceEvidence]) -> tuple[Ints, Floats]:
    """The first of those that show the same, and how many each stands for."""
    groups = alike_individuals(shown)
    return first_places(groups), np.bincount(groups).astype(np.float64)


def alike_individuals(shown: Sequence[PlaceEvidence]) -> Ints:
    """Individuals numbered by what they show; counts are the same if all their bits are."""
    count = shown[0].owners.count
    owner = np.concatenate([each.owners.of for each in shown])
    place = np.concatenate([np.full(len(each.owners.of), at) for at, each in enumerate(shown)])
    codes = np.concatenate([_codes(each) for each in shown])
    order = np.lexsort((codes, place, owner))
    what = group_rows(np.column_stack((place, codes)))[order]
    return group_lists(offsets_of(np.bincount(owner, minlength=count)), what)


def _codes(evidence: PlaceEvidence) -> Ints:
    """Rows of a place numbered by what they show."""
    if isinstance(evidence, TableTokens):
        return evidence.codes
    return group_rows_bitwise(evidence.raw.reshape(len(evidence.raw), int(np.prod(evidence.shape))))


def _compared(shown: Sequence[PlaceEvidence], shapes: Sequence[CohortShape], seed: int) -> Floats:
    """The log probability of each table that is hidden, by each sort, fold by fold.

    A sort that is far behind after a fold is not tried again, and has no chance any more.
    """
    hiding = np.random.default_rng(1)
    scores = np.zeros((0, len(shapes)))
    tried = np.arange(len(shapes))
    for fold in range(FOLDS):
        gone = [hiding.random(len(each.owners.of)) < HIDDEN for each in shown]
        rest = [each.only(np.flatnonzero(~away)) for each, away in zip(shown, gone, strict=True)]
        hidden = [each.only(np.flatnonzero(away)) for each, away in zip(shown, gone, strict=True)]
        found = _fitted(rest, [shapes[number] for number in tried.tolist()], seed + fold, TRIES)
        here = np.full((sum(len(each.owners.of) for each in hidden), len(shapes)), HOPELESS)
        for number, cohorts in zip(tried.tolist(), found, strict=True):
            here[:, number] = _scores(cohorts, rest, hidden)
        scores = np.vstack((scores, here))
        tried = tried[_near(scores[:, tried], [shapes[number].shared for number in tried.tolist()])]
    return scores


def _near(scores: Floats, shared: Sequence[bool]) -> Ints:
    """The sorts that may still turn out to be best, and the best of those that share tables."""
    if not len(scores):  # nothing was hidden, as there is so little
        return np.arange(scores.shape[1])
    totals = scores.sum(axis=0)
    behind = scores[:, [int(totals.argmax())]] - scores
    error = np.sqrt(len(scores)) * behind.std(axis=0)
    near = totals.max() - totals <= FAR_BEHIND * error + 1
    if any(shared):
        near[int(np.where(shared, totals, -np.inf).argmax())] = True
    return np.flatnonzero(near)


def _scores(
    found: FoundCohorts, rest: Sequence[PlaceEvidence], hidden: Sequence[PlaceEvidence]
) -> Floats:
    """The log probability of hidden tables, place by place, by what the rest shows."""
    belonging, scores = found.belonging(rest), [np.zeros(0)]
    for place, left, away in zip(found.places, rest, hidden, strict=True):
        scores.append(place.log_scores(away, belonging, left))
    return np.concatenate(scores)


def _weights(scores: Floats, rng: np.random.Generator) -> Floats:
    """How often each sort (column) is best if the hidden tables (rows) are drawn anew."""
    weights = np.zeros(scores.shape[1])
    for _ in range(DRAWN_AGAIN):
        drawn = rng.exponential(size=len(scores))
        total = crossed(drawn[:, None], scores)[0]
        likely = np.exp(total - total.max())
        weights += likely / likely.sum()
    return weights / DRAWN_AGAIN
