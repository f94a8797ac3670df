"""Cohorts once found: who belongs where, which table a hole has, and known tables cleaned.

K cohorts, n individuals, B tables (atoms) of a place, G given combinations and C entries of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.fitting import Cohorts
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence, TableTokens
from lifagu.filling.cohorts.place_tables import OwnTables, PlaceTables, SharedTables
from lifagu.filling.cohorts.products import crossed, mixed, rows_times

FEWEST = 1e-3  # the least concentration of a drawn table
MOST_PAIRED = 256  # tables of a place up to which it is noted which stand side by side
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class PlaceCohorts(Frozen):
    """What cohorts have in one place: choices (K, B), how likely each table is in each cohort.

    atoms (B, G, C): the tables themselves, and behind (B, G): how many records are behind each; of
    exact tables both are empty, as their numbers say all. spread: as in `Counts`. beside (B, B):
    how much more often than by chance two tables stand in this place of one individual; None where
    nobody has several.
    """

    choices: Floats
    atoms: Floats
    behind: Floats
    spread: float
    beside: Floats | None = None

    @classmethod
    def of(cls, place: PlaceTables, belonging: Floats) -> PlaceCohorts:
        """What was found in a place; belonging (n, K), weighted."""
        evidence = place.evidence
        if isinstance(evidence, TableTokens):
            nothing = np.zeros((0, 1, 1))
            found = cls(place.expected()[:, 0], nothing, nothing[:, 0], np.inf)
        elif isinstance(place, SharedTables):
            behind = _behind(evidence, place.responsibility) + 1
            found = cls(place.choices, place.atoms, behind, evidence.spread)
        else:
            behind = _behind(evidence, belonging[evidence.owners.of]) + place.concentration
            found = cls(np.eye(len(place.expected())), place.expected(), behind, evidence.spread)
        return found._noting_pairs(evidence, belonging)

    @classmethod
    def pooled(cls, evidence: PlaceEvidence, cohorts: int) -> PlaceCohorts:
        """A place in which all of so many cohorts have what is shown by anybody."""
        place = OwnTables(evidence, np.ones(evidence.owners.count))
        if isinstance(evidence, TableTokens):
            nothing = np.zeros((0, 1, 1))
            choices = np.repeat(place.pooled, cohorts, axis=0)
            return cls(choices, nothing, nothing[:, 0], np.inf)
        everybody = np.ones((len(evidence.raw), 1))
        spread = evidence.spread_around(place.pooled[None], everybody).spread
        behind = _behind(evidence, everybody) + place.concentration
        return cls(np.ones((cohorts, 1)), place.pooled[None], behind, spread)

    @property
    def tells(self) -> bool:
        """Whether cohorts differ here."""
        return bool((self.choices != self.choices[:1]).any())

    def _noting_pairs(self, evidence: PlaceEvidence, belonging: Floats) -> PlaceCohorts:
        owners = evidence.owners
        if not owners.repeat or self.choices.shape[1] > MOST_PAIRED:
            return self
        weight = belonging.sum(axis=1)
        share = belonging / np.maximum(weight[:, None], TINY)
        rows = self.which_known(evidence, share)
        sums = owners.summed(rows)
        once = rows * weight[owners.of][:, None]
        pairs = crossed(sums, sums * weight[:, None]) - crossed(rows, once)
        many = owners.summed(np.ones((len(rows), 1)))[:, 0]
        by_cohort = crossed((many * (many - 1))[:, None], belonging)[0]
        chance = self.choices.T @ (self.choices * by_cohort[:, None])
        beside = (pairs + 0.5) / (chance + 0.5)
        return PlaceCohorts(self.choices, self.atoms, self.behind, self.spread, beside)

    # ---- who belongs where

    def log_likelihood(self, evidence: PlaceEvidence) -> Floats:
        """Of what individuals show in each cohort, up to a term each, (n, K)."""
        rows = (
            self.choices[:, evidence.codes].T
            if isinstance(evidence, TableTokens)
            else rows_times(self._of_tables(evidence), self.choices.T)
        )
        return evidence.owners.summed(np.log(np.maximum(rows, TINY)))

    def _of_tables(self, evidence: PlaceEvidence) -> Floats:
        """The likelihood of each row under each table, up to a factor each, (rows, B)."""
        if isinstance(evidence, TableTokens):
            return np.eye(self.choices.shape[1])[evidence.codes]
        logs = Counts(evidence.raw, evidence.owners, self.spread).log_likelihood(np.log(self.atoms))
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    # ---- which table

    def which(self, belonging: Floats) -> Floats:
        """How likely each table is for holes whose owners belong to cohorts (holes, K): (·, B)."""
        return rows_times(belonging, self.choices)

    def which_beside(self, which: Floats, owner: Ints, shown: PlaceEvidence, by: Floats) -> Floats:
        """The same, as owners' other tables in this place tell more; by (n, K): belonging."""
        if self.beside is None:
            return which
        individuals, number = np.unique(owner, return_inverse=True)
        shown = shown.among(individuals)
        rows = self.which_known(shown, by[individuals])
        told = shown.owners.summed(np.log(np.maximum(rows_times(rows, self.beside), TINY)))[number]
        logs = np.log(np.maximum(which, TINY)) + told
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def log_scores(self, hidden: PlaceEvidence, belonging: Floats, shown: PlaceEvidence) -> Floats:
        """The log probability of hidden rows by what is shown; belonging (n, K)."""
        owner = hidden.owners.of
        if isinstance(hidden, TableTokens) and self.beside is None:
            likely = (belonging[owner] * self.choices[:, hidden.codes].T).sum(axis=1)
            return np.asarray(np.log(np.maximum(likely, TINY)))
        which = self.which_beside(self.which(belonging[owner]), owner, shown, belonging)
        return hidden.log_scores(self.mean_of(which))

    def mean_of(self, which: Floats) -> Floats:
        """The mean of tables that are so likely, (rows, G, C); of exact ones: (rows, 1, B)."""
        return mixed(which, self.atoms) if len(self.atoms) else which[:, None]

    def which_known(self, evidence: PlaceEvidence, belonging: Floats) -> Floats:
        """How likely each table is behind what individuals (n, K) show here, (rows, B)."""
        likelihood = self._of_tables(evidence)
        if isinstance(evidence, TableTokens):
            return likelihood
        by = belonging[evidence.owners.of]
        shared = by / np.maximum(rows_times(likelihood, self.choices.T), TINY)
        rows = likelihood * rows_times(shared, self.choices)
        total = rows.sum(axis=1, keepdims=True)
        # where no cohort can have it, it tells nothing
        return np.asarray(np.where(total > 0, rows / np.maximum(total, TINY), self.which(by)))

    def cleaned(self, evidence: Counts, belonging: Floats) -> Floats:
        """The expected tables behind the estimates of individuals (n, K), (rows, G, C)."""
        return self._varied(evidence.raw, mixed(self.which_known(evidence, belonging), self.atoms))

    def cleaned_in(self, evidence: Counts, rows: Ints, cohort: Ints) -> Floats:
        """The expected tables behind some estimates if their owners are in cohorts, (k, G, C)."""
        some, number = np.unique(rows, return_inverse=True)
        which = self._of_tables(evidence.only(some))[number] * self.choices[cohort]
        total = which.sum(axis=1, keepdims=True)
        which = np.where(total > 0, which / np.maximum(total, TINY), self.choices[cohort])
        return self._varied(evidence.raw[rows], mixed(which, self.atoms))

    def _varied(self, raw: Floats, around: Floats) -> Floats:
        """The expected tables of those who vary around some, and have records of their own."""
        if not np.isfinite(self.spread):
            return np.asarray(around)
        tables = raw + self.spread * around
        return np.asarray(tables / tables.sum(axis=-1, keepdims=True))


def _behind(evidence: Counts, weights: Floats) -> Floats:
    """How many records speak for each table, (B, G); those of uncertain rows count less.

    Two thirds of them, as who is where was found from the same records.
    """
    sure = evidence.totals(weights * np.minimum(weights, 1.0))
    return np.asarray(sure.sum(axis=-1) / 1.5)


@dataclass(frozen=True, eq=False)
class FoundCohorts(Frozen):
    """Cohorts with their sizes as shares, prior (K,), and what they have in each place."""

    prior: Floats
    places: tuple[PlaceCohorts, ...]

    @classmethod
    def of(cls, cohorts: Cohorts) -> FoundCohorts:
        """What was found."""
        belonging = cohorts.belonging() * cohorts.weights[:, None]
        places = tuple(PlaceCohorts.of(place, belonging) for place in cohorts.places)
        return cls(cohorts.prior, places)

    def beside(self, telling: Sequence[int], shown: Sequence[PlaceEvidence]) -> FoundCohorts:
        """The same with further places, which tell nothing; telling: where these places stand."""
        own = dict(zip(telling, self.places, strict=True))
        places = [
            own[number] if number in own else PlaceCohorts.pooled(evidence, len(self.prior))
            for number, evidence in enumerate(shown)
        ]
        return FoundCohorts(self.prior, tuple(places))

    def belonging(self, shown: Sequence[PlaceEvidence]) -> Floats:
        """How likely each individual belongs to each cohort, (n, K)."""
        logs = np.repeat(np.log(self.prior)[None], shown[0].owners.count, axis=0)
        for place, evidence in zip(self.places, shown, strict=True):
            if place.tells:
                logs += place.log_likelihood(evidence)
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))
