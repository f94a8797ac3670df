"""Places in which every cohort has a table of its own, computed together instead of one by one.

The entries of all their tables stand side by side: S of them. n individuals, K cohorts, P places.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.log_gamma import log_gamma
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence, TableTokens
from lifagu.filling.cohorts.place_tables import CONCENTRATIONS, LEAST, OwnTables
from lifagu.filling.cohorts.products import crossed, rows_times

DENSE = 32  # exact tables of a place up to which a matrix of who has which is quicker than a list
TOGETHER = 2**20  # entries of pairs of cohorts that are looked at together


class JoinedTables:
    """What individuals show in some places as one matrix, and what is computed with it."""

    def __init__(self, evidence: Sequence[PlaceEvidence]) -> None:
        self.evidence = tuple(evidence)
        shapes = np.array([each.shape for each in evidence], dtype=np.int64)
        self._offsets = offsets_of(shapes.prod(axis=1))
        lengths = np.repeat(shapes[:, 1], shapes[:, 0])  # of each given combination
        self._segments = offsets_of(lengths)[:-1]
        self._segment_of = np.repeat(np.arange(len(lengths)), lengths)
        self._first_segment = offsets_of(shapes[:, 0])[:-1]
        self._place_of = np.repeat(np.arange(len(shapes)), shapes.prod(axis=1))
        self._listed = [
            number
            for number, each in enumerate(evidence)
            if isinstance(each, TableTokens) and each.size > DENSE
        ]
        self._columns = np.flatnonzero(~np.isin(self._place_of, self._listed))
        self._matrix = self._summed()

    def _summed(self) -> Floats:
        """What every individual shows in the places that are not listed, (n, columns)."""
        parts = [
            _entries(each)
            for number, each in enumerate(self.evidence)
            if number not in self._listed
        ]
        return np.hstack([np.zeros((self.evidence[0].owners.count, 0)), *parts])

    def of(self, evidence: Sequence[PlaceEvidence]) -> bool:
        """Whether this is what these places show."""
        return len(evidence) == len(self.evidence) and all(
            one is other for one, other in zip(evidence, self.evidence, strict=True)
        )

    def beside(self, tables: Sequence[Floats]) -> Floats:
        """Arrays (K, G, C) of all places side by side, (K, S)."""
        return np.concatenate([each.reshape(len(each), -1) for each in tables], axis=1)

    def apart(self, entries: Floats) -> list[Floats]:
        """The same again for each place, (K, G, C) each; views."""
        return [
            entries[:, start:stop].reshape(len(entries), *each.shape)
            for each, start, stop in zip(
                self.evidence, self._offsets[:-1].tolist(), self._offsets[1:].tolist(), strict=True
            )
        ]

    # ---- what is shown

    def log_likelihood(self, logs: Floats) -> Floats:
        """Of what each individual shows under tables with these logarithms (K, S): (n, K)."""
        found = rows_times(self._matrix, logs[:, self._columns].T)
        for number in self._listed:
            evidence, own = self.evidence[number], logs[:, self._of(number)]
            found = found + evidence.owners.summed(evidence.log_likelihood(own[:, None]))
        return np.asarray(found)

    def totals(self, weights: Floats) -> Floats:
        """Counts of all together, individual i with weights[i, k]: (K, S)."""
        if not self._listed:
            return crossed(weights, self._matrix)
        found = np.empty((weights.shape[1], len(self._place_of)))
        found[:, self._columns] = crossed(weights, self._matrix)
        for number in self._listed:
            evidence = self.evidence[number]
            found[:, self._of(number)] = evidence.totals(weights[evidence.owners.of])[:, 0]
        return found

    def shown_by(self, individual: int) -> Floats:
        """What one individual shows, (S,)."""
        found = np.zeros(len(self._place_of))
        found[self._columns] = self._matrix[individual]
        for number in self._listed:
            evidence = self.evidence[number]
            start, stop = np.searchsorted(evidence.owners.of, [individual, individual + 1])
            own = evidence.only(np.arange(start, stop))
            found[self._of(number)] = own.totals(np.ones((stop - start, 1)))[0, 0]
        return found

    def _of(self, number: int) -> slice:
        return slice(int(self._offsets[number]), int(self._offsets[number + 1]))

    # ---- tables

    def normalised(self, entries: Floats) -> Floats:
        """Entries (…, S) so that each given combination sums to 1."""
        sums = np.add.reduceat(entries, self._segments, axis=-1)
        return np.asarray(entries / sums[..., self._segment_of])

    def prior(self, places: Sequence[OwnTables]) -> Floats:
        """What is added to the totals of each cohort, (S,)."""
        pooled = self.beside([each.pooled[None] for each in places])[0]
        concentration = np.array([each.concentration for each in places])
        return np.asarray(concentration[self._place_of] * pooled + LEAST)

    def update(self, places: Sequence[OwnTables], weights: Floats, tune: bool) -> None:
        """New tables, individual i counting in cohort k by weights[i, k]; tune priors, too."""
        totals = self.totals(weights)
        if tune:
            pooled = self.beside([each.pooled[None] for each in places])[0]
            step = max(TOGETHER // max(totals.size, 1), 1)
            grid = [
                self.log_evidence(totals, each[:, None, None] * pooled + LEAST).sum(axis=1)
                for each in np.split(CONCENTRATIONS, range(step, len(CONCENTRATIONS), step))
            ]
            found = np.concatenate(grid)
            for place, best in zip(places, found.argmax(axis=0).tolist(), strict=True):
                place.concentration = max(float(CONCENTRATIONS[best]), place.least)
        tables = self.normalised(totals + self.prior(places))
        for place, own, table in zip(places, self.apart(totals), self.apart(tables), strict=True):
            place.totals, place.tables = own, table

    # ---- evidence

    def log_evidence(self, totals: Floats, prior: Floats) -> Floats:
        """The evidence of totals (…, S) in each place, as `log_evidence` has it, (…, P)."""
        mass = np.add.reduceat(prior, self._segments, axis=-1)
        sums = np.add.reduceat(totals, self._segments, axis=-1)
        gained = log_gamma(prior + totals) - log_gamma(prior)
        lost = log_gamma(mass + sums) - log_gamma(mass)
        return np.asarray(
            np.add.reduceat(gained, self._offsets[:-1], axis=-1)
            - np.add.reduceat(lost, self._first_segment, axis=-1)
        )

    def pair_gains(self, totals: Floats, prior: Floats) -> Floats:
        """By how much the log evidence grows if two cohorts become one, (K, K)."""
        count = len(totals)
        gains = np.full((count, count), -np.inf)
        alone = self.log_evidence(totals, prior).sum(axis=-1)
        first, second = np.triu_indices(count, 1)
        step = max(TOGETHER // max(totals.shape[1], 1), 1)
        for start in range(0, len(first), step):
            one, other = first[start : start + step], second[start : start + step]
            together = self.log_evidence(totals[one] + totals[other], prior).sum(axis=-1)
            gains[one, other] = together - alone[one] - alone[other]
        return gains


def _entries(evidence: PlaceEvidence) -> Floats:
    """How often each entry of a place's tables is shown by each individual, (n, G · C)."""
    if isinstance(evidence, Counts):
        return evidence.owners.summed(evidence.effective)
    cells: Ints = evidence.owners.of * evidence.size + evidence.codes
    many = np.bincount(cells, minlength=evidence.owners.count * evidence.size)
    return many.reshape(evidence.owners.count, evidence.size).astype(np.float64)
