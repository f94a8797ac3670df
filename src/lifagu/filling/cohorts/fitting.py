"""Hidden cohorts of individuals, found by expectation and maximisation over all their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.filling.cohorts.log_gamma import log_evidence, log_gamma
from lifagu.filling.cohorts.place_evidence import Counts, Owners, PlaceEvidence
from lifagu.filling.cohorts.place_tables import OwnTables, PlaceTables, SharedTables, pair_gains

MOST = 24  # cohorts to begin with where their number is to be found
MOST_ALONE = 8  # tables that a place may show by itself
ROUNDS = 40
RESTARTS = 3
SHARE_OF_NONE = 0.1  # added to each cohort's size


@dataclass(frozen=True)
class Shape:
    """What sort of cohorts: how many (None: as the data says), whether tables are shared."""

    cohorts: int | None
    shared: bool


class Cohorts:
    """Cohorts, their sizes, their tables in each place, and who may belong to which.

    weights[i]: how many individuals row i stands for.
    """

    def __init__(self, places: Sequence[PlaceEvidence], weights: Floats) -> None:
        self.weights = weights
        self.places: list[PlaceTables] = [OwnTables(each, weights) for each in places]
        self.sizes: Floats = np.array([float(weights.sum())])
        self.score = -np.inf

    # ---- expectation and maximisation

    @property
    def prior(self) -> Floats:
        """How likely each cohort is before anything is known."""
        sizes = self.sizes + SHARE_OF_NONE
        return np.asarray(sizes / sizes.sum())

    def belonging(self) -> Floats:
        """How likely each individual belongs to each cohort, (n, K)."""
        logs = np.log(self.prior) + sum(place.log_likelihood() for place in self.places)
        logs = logs - logs.max(axis=1, keepdims=True)
        likely = np.exp(logs)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def improve(self, rounds: int) -> None:
        """Some rounds; cohorts that lose everybody vanish."""
        for number in range(rounds):
            self._update(self.belonging(), tune=number % 5 == 4, prune=number > 3)

    def _update(self, belonging: Floats, tune: bool = False, prune: bool = False) -> None:
        counted = belonging * self.weights[:, None]
        kept = counted.sum(axis=0) > 0.5
        if prune and kept.any() and not kept.all():
            counted = counted[:, kept]
            total = np.maximum(counted.sum(axis=1, keepdims=True), 1e-300)
            counted = counted * (self.weights[:, None] / total)
            for place in self.places:
                if isinstance(place, SharedTables):
                    place.choices = place.choices[kept]
        self.sizes = counted.sum(axis=0)
        for place in self.places:
            place.update(counted, tune)

    def settle_spread(self) -> None:
        """Find how far individuals vary around their cohort's tables, in each place."""
        belonging = self.belonging() * self.weights[:, None]
        for place in self.places:
            place.settle_spread(belonging)

    # ---- how many

    def merge(self) -> None:
        """Join cohorts while what is known becomes more probable by it."""
        gains = sum(pair_gains(place.totals, place.prior) for place in self.places)
        gains = np.asarray(gains)
        while len(self.sizes) > 1:
            gain = gains + _size_gains(self.sizes)
            first, second = map(int, np.unravel_index(int(np.argmax(gain)), gain.shape))
            if gain[first, second] <= 0:
                return
            for place in self.places:
                place.merge(first, second)
            self.sizes[first] += self.sizes[second]
            self.sizes = np.delete(self.sizes, second)
            gains = np.delete(np.delete(gains, second, axis=0), second, axis=1)
            self._note_gains(gains, first)

    def _note_gains(self, gains: Floats, merged: int) -> None:
        """Write the gains of joining any with a cohort that was merged just now."""
        gains[merged, merged + 1 :] = gains[:merged, merged] = 0.0
        for place in self.places:
            alone = log_evidence(place.totals, place.prior)
            together = log_evidence(place.totals[merged] + place.totals, place.prior)
            gain = together - alone[merged] - alone
            gains[merged, merged + 1 :] += gain[merged + 1 :]
            gains[:merged, merged] += gain[:merged]

    def settle(self) -> None:
        """Note how probable everything is with these cohorts."""
        evidence = sum(float(log_evidence(each.totals, each.prior).sum()) for each in self.places)
        self.score = evidence + _size_evidence(self.sizes)

    # ---- beginning

    def seed(self, count: int, rng: np.random.Generator) -> None:
        """Cohorts around individuals that differ from one another, drawn as in k-means++."""
        places = [each for each in self.places if isinstance(each, OwnTables)]
        chance = self.weights.copy()
        itself = sum(place.log_likelihood_of_oneself() for place in places)
        chosen: list[Floats] = []
        closest = np.full(len(chance), -np.inf)
        for _ in range(min(count, len(chance))):
            cumulated = np.cumsum(chance)
            row = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
            row = min(row, len(chance) - 1)
            chosen.append(np.asarray(sum(place.log_likelihood_under(row) for place in places)))
            closest = np.maximum(closest, chosen[-1])
            chance = np.maximum(itself - closest, 0) * self.weights
            if chance.sum() <= 1e-9:
                break
        logs = np.stack(chosen, axis=1)
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        self._update(likely / likely.sum(axis=1, keepdims=True))


def _size_evidence(sizes: Floats) -> float:
    """Log evidence of cohorts of these sizes, Dirichlet(½)."""
    smoothed = sizes + 0.5
    ends = np.array([smoothed.sum(), 0.5 * len(sizes), 0.5])
    whole, start, one = log_gamma(ends)
    return float(log_gamma(smoothed).sum() - whole + start - len(sizes) * one)


def _size_gains(sizes: Floats) -> Floats:
    """By how much the same grows if two cohorts become one, (K, K)."""
    count, total = len(sizes), float(sizes.sum())
    alone = log_gamma(sizes + 0.5)
    pairs = log_gamma(sizes[:, None] + sizes[None] + 0.5) - alone[:, None] - alone[None]
    ends = np.array([total + count / 2, total + (count - 1) / 2, (count - 1) / 2, count / 2, 0.5])
    whole, less, start, before, one = log_gamma(ends)
    return np.asarray(pairs + whole - less + start - before + one)


# ---- fitting


def fit(
    places: Sequence[PlaceEvidence], weights: Floats, shape: Shape, rng: np.random.Generator
) -> Cohorts:
    """The most probable cohorts of a few beginnings."""
    count, merging = shape.cohorts or MOST, shape.cohorts is None
    found = []
    for _ in range(1 if count == 1 else RESTARTS):
        cohorts = Cohorts(places, weights)
        if count > 1:
            cohorts.seed(count, rng)
        for rounds in (ROUNDS // 2, ROUNDS // 2):
            cohorts.improve(rounds)
            cohorts.settle_spread()
        for _ in range(2 * merging):
            cohorts.merge()
            cohorts.improve(ROUNDS // 2)
            cohorts.settle_spread()
        cohorts.improve(ROUNDS)
        cohorts.settle()
        found.append(cohorts)
    best = max(found, key=lambda each: each.score)
    return sharing(best, rng) if shape.shared else best


def sharing(cohorts: Cohorts, rng: np.random.Generator) -> Cohorts:
    """The same where cohorts share estimated tables that cannot be told apart."""
    belonging = cohorts.belonging() * cohorts.weights[:, None]
    places: list[PlaceTables] = []
    for place in cohorts.places:
        if isinstance(place, OwnTables) and isinstance(place.evidence, Counts):
            weights = cohorts.weights[place.evidence.owners.of]
            alone = clusters(place.evidence, rng, weights)
            places.append(SharedTables(place, belonging, alone.totals))
        else:
            places.append(place)
    cohorts.places = places
    for _ in range(3):
        cohorts.improve(ROUNDS // 2)
        cohorts.settle_spread()
        cohorts.merge()
    cohorts.improve(ROUNDS)
    return cohorts


@dataclass(frozen=True, eq=False)
class Clusters:
    """Tables that a place shows by itself: totals (B, G, C), whose row is whose (rows, B)."""

    totals: Floats
    belonging: Floats
    spread: float


def clusters(evidence: Counts, rng: np.random.Generator, weights: Floats | None = None) -> Clusters:
    """The tables that a place shows by itself; every row is an individual."""
    count = len(evidence.raw)
    rows = Owners(np.arange(count), count)
    alone = Cohorts([Counts(evidence.raw, rows)], np.ones(count) if weights is None else weights)
    alone.seed(MOST_ALONE, rng)
    for _ in range(2):
        alone.improve(ROUNDS // 2)
        alone.settle_spread()
        alone.merge()
    alone.improve(ROUNDS // 2)
    place, belonging = alone.places[0], alone.belonging()
    totals = place.evidence.totals(belonging * alone.weights[:, None])
    spread = place.evidence.spread if isinstance(place.evidence, Counts) else np.inf
    return Clusters(totals, belonging, spread)
