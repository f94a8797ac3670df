"""Hidden cohorts of individuals, found by expectation and maximisation over all their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.log_gamma import log_evidence, log_gamma
from lifagu.filling.cohorts.joined_tables import JoinedTables
from lifagu.filling.cohorts.place_evidence import Counts, Owners, PlaceEvidence
from lifagu.filling.cohorts.place_tables import OwnTables, PlaceTables, SharedTables, pair_gains

MOST = 24  # cohorts to begin with where their number is to be found
MOST_ALONE = 8  # tables that a place may show by itself
ROUNDS = 40
RESTARTS = 3
SHARE_OF_NONE = 0.1  # added to each cohort's size
SETTLED = 1e-5  # what a round must gain for each individual, in nats


@dataclass(frozen=True)
class CohortShape:
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
        self._fit = -np.inf  # log probability of what is shown, when last computed
        self._joined: JoinedTables | None = None

    @property
    def own(self) -> list[OwnTables]:
        """Places in which every cohort has a table of its own."""
        return [each for each in self.places if isinstance(each, OwnTables)]

    @property
    def shared(self) -> list[SharedTables]:
        """Places in which cohorts share tables."""
        return [each for each in self.places if isinstance(each, SharedTables)]

    def joined(self) -> JoinedTables | None:
        """The former, to be computed together; None if there are none."""
        evidence = [each.evidence for each in self.own]
        if self._joined is None or not self._joined.of(evidence):
            self._joined = JoinedTables(evidence) if evidence else None
        return self._joined

    # ---- expectation and maximisation

    @property
    def prior(self) -> Floats:
        """How likely each cohort is before anything is known."""
        sizes = self.sizes + SHARE_OF_NONE
        return np.asarray(sizes / sizes.sum())

    def belonging(self) -> Floats:
        """How likely each individual belongs to each cohort, (n, K)."""
        logs = np.log(self.prior)[None]
        if joined := self.joined():
            tables = joined.beside([each.tables for each in self.own])
            logs = logs + joined.log_likelihood(np.log(tables))
        for place in self.shared:
            logs = logs + place.log_likelihood()
        most = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - most)
        total = likely.sum(axis=1, keepdims=True)
        self._fit = float((self.weights * (np.log(total) + most)[:, 0]).sum())
        return np.asarray(likely / total)

    def improve(self, rounds: int) -> None:
        """Some rounds, fewer if nothing changes any more; cohorts that lose everybody vanish."""
        before, enough = -np.inf, SETTLED * float(self.weights.sum())
        for number in range(rounds):
            belonging = self.belonging()
            settled = abs(self._fit - before) <= enough
            before, tuned, count = self._fit, self._concentrations, len(self.sizes)
            self._update(belonging, tune=settled or number % 5 == 4, prune=settled or number > 3)
            if settled and tuned == self._concentrations and count == len(self.sizes):
                return

    @property
    def _concentrations(self) -> list[float]:
        return [each.concentration for each in self.places]

    def _update(self, belonging: Floats, tune: bool = False, prune: bool = False) -> None:
        counted = belonging * self.weights[:, None]
        kept = counted.sum(axis=0) > 0.5
        if prune and kept.any() and not kept.all():
            counted = counted[:, kept]
            total = np.maximum(counted.sum(axis=1, keepdims=True), 1e-300)
            counted = counted * (self.weights[:, None] / total)
            for place in self.shared:
                place.choices = place.choices[kept]
        self.sizes = counted.sum(axis=0)
        if joined := self.joined():
            joined.update(self.own, counted, tune)
        for place in self.shared:
            place.update(counted, tune)

    def settle_spread(self) -> None:
        """Find how far individuals vary around their cohort's tables, in each place."""
        belonging = self.belonging() * self.weights[:, None]
        for place in self.places:
            place.settle_spread(belonging)

    # ---- how many

    def merge(self) -> None:
        """Join cohorts while what is known becomes more probable by it."""
        gains = np.zeros((len(self.sizes), len(self.sizes)))
        if joined := self.joined():
            totals = joined.beside([each.totals for each in self.own])
            gains = gains + joined.pair_gains(totals, joined.prior(self.own))
        for shared in self.shared:
            gains = gains + pair_gains(shared.totals, shared.prior)
        while len(self.sizes) > 1:
            gain = gains + _size_gains(self.sizes)
            first, second = map(int, np.unravel_index(int(np.argmax(gain)), gain.shape))
            if gain[first, second] <= 0:
                return
            for each in self.places:
                each.merge(first, second)
            self.sizes[first] += self.sizes[second]
            self.sizes = np.delete(self.sizes, second)
            gains = np.delete(np.delete(gains, second, axis=0), second, axis=1)
            self._note_gains(gains, first)

    def _note_gains(self, gains: Floats, merged: int) -> None:
        """Write the gains of joining any with a cohort that was merged just now."""
        gain = np.zeros(len(self.sizes))
        if joined := self.joined():
            totals, prior = (
                joined.beside([each.totals for each in self.own]),
                joined.prior(self.own),
            )
            alone = joined.log_evidence(totals, prior).sum(axis=-1)
            gain = joined.log_evidence(totals[merged] + totals, prior).sum(axis=-1)
            gain = gain - alone[merged] - alone
        for place in self.shared:
            alone = log_evidence(place.totals, place.prior)
            together = log_evidence(place.totals[merged] + place.totals, place.prior)
            gain = gain + together - alone[merged] - alone
        gains[merged, merged + 1 :] = gain[merged + 1 :]
        gains[:merged, merged] = gain[:merged]

    def settle(self) -> None:
        """Note how probable everything is with these cohorts."""
        evidence = sum(float(log_evidence(each.totals, each.prior).sum()) for each in self.places)
        self.score = evidence + _size_evidence(self.sizes)

    # ---- beginning

    def seed(self, count: int, rng: np.random.Generator) -> None:
        """Cohorts around individuals that differ from one another, drawn as in k-means++."""
        joined = self.joined()
        if joined is None or not len(self.weights):
            return
        chance, prior = self.weights.copy(), joined.prior(self.own)
        itself = sum(place.log_likelihood_of_oneself() for place in self.own)
        chosen: list[Floats] = []
        closest = np.full(len(chance), -np.inf)
        for _ in range(min(count, len(chance))):
            cumulated = np.cumsum(chance)
            row = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
            row = min(row, len(chance) - 1)
            logs = np.log(joined.normalised(joined.shown_by(row) + prior))
            chosen.append(joined.log_likelihood(logs[None])[:, 0])
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
    places: Sequence[PlaceEvidence],
    weights: Floats,
    shape: CohortShape,
    rng: np.random.Generator,
    restarts: int = RESTARTS,
) -> Cohorts:
    """The most probable cohorts of a few beginnings."""
    found = fits(places, weights, shape.cohorts, rng, restarts)
    best = max(found, key=lambda each: each.score)
    return sharing(best, tables_alone(places, weights, rng)) if shape.shared else best


def fits(
    places: Sequence[PlaceEvidence],
    weights: Floats,
    cohorts_wanted: int | None,
    rng: np.random.Generator,
    restarts: int,
) -> list[Cohorts]:
    """Cohorts with tables of their own from several beginnings; None: as many as the data says."""
    count, merging = cohorts_wanted or MOST, cohorts_wanted is None
    found = []
    for _ in range(1 if count == 1 else restarts):
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
    return found


def tables_alone(
    places: Sequence[PlaceEvidence], weights: Floats, rng: np.random.Generator
) -> list[Floats]:
    """Totals of the estimated tables that each place shows by itself, (B, G, C) each."""
    return [
        clusters(each, rng, weights[each.owners.of]).totals
        if isinstance(each, Counts)
        else np.zeros((0, *each.shape))
        for each in places
    ]


def sharing(cohorts: Cohorts, alone: Sequence[Floats]) -> Cohorts:
    """The same where cohorts share estimated tables that cannot be told apart.

    alone: totals of further tables in each place.
    """
    belonging = cohorts.belonging() * cohorts.weights[:, None]
    cohorts.places = [
        SharedTables(place, belonging, further)
        if isinstance(place, OwnTables) and isinstance(place.evidence, Counts)
        else place
        for place, further in zip(cohorts.places, alone, strict=True)
    ]
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
