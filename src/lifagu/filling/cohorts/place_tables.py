"""The tables of one place, by cohort: each cohort its own, or a few that cohorts share.

K cohorts, n individuals, B shared tables (atoms), G given combinations and C entries of a table.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.log_gamma import log_evidence
from lifagu.filling.cohorts.place_evidence import Counts, PlaceEvidence
from lifagu.filling.cohorts.products import crossed, rows_times

# concentrations of the prior around the pooled table that are tried
CONCENTRATIONS = np.array([0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 1000.0])
LEAST = 1e-9  # what keeps a logarithm finite
SHARED_CONCENTRATION = 2.0  # of the prior under which two shared tables are told apart


def _concentration(totals: Floats, mean: Floats) -> float:
    """How close cohorts are to a mean (…, C), by what makes their totals most probable."""
    grid = CONCENTRATIONS.reshape(-1, *[1] * totals.ndim)
    scores = log_evidence(totals, grid * mean + LEAST).sum(axis=-1)
    return float(CONCENTRATIONS[int(np.argmax(scores))])


def pair_gains(totals: Floats, prior: Floats) -> Floats:
    """By how much the log evidence of totals (K, G, C) grows if two of them become one, (K, K)."""
    count = len(totals)
    gains = np.full((count, count), -np.inf)
    alone = log_evidence(totals, prior)
    for first in range(count - 1):
        together = log_evidence(totals[first] + totals[first + 1 :], prior)
        gains[first, first + 1 :] = together - alone[first] - alone[first + 1 :]
    return gains


def _joined(array: Floats, into: int, gone: int, axis: int) -> Floats:
    """An array in which two entries along an axis have become one, their sum."""
    moved = np.moveaxis(array, axis, 0).copy()
    moved[into] += moved[gone]
    return np.ascontiguousarray(np.moveaxis(np.delete(moved, gone, axis=0), 0, axis))


class OwnTables:
    """Every cohort has a table of its own, drawn around the pooled one."""

    def __init__(self, evidence: PlaceEvidence, weights: Floats) -> None:
        self.evidence = evidence
        estimated = isinstance(evidence, Counts)
        pooled = evidence.totals(weights[evidence.owners.of, None])[0] + (
            0.5 if estimated else 1e-3
        )
        self.pooled: Floats = pooled / pooled.sum(axis=-1, keepdims=True)
        # few records never rule anything out
        self.least = 1.0 if estimated else 0.0
        self.concentration = max(0.5, self.least)
        self.totals: Floats = np.zeros((1, *evidence.shape))
        self.tables: Floats = self.pooled[None]

    def log_likelihood_of_oneself(self) -> Floats:
        """Of what everybody shows, (n,), if tables are one's own."""
        evidence = self.evidence
        return evidence.owners.summed(evidence.log_likelihood_of_oneself(self.pooled))

    @property
    def prior(self) -> Floats:
        """What is added to the totals of each cohort."""
        return self.concentration * self.pooled + LEAST

    def merge(self, into: int, gone: int) -> None:
        """Two cohorts become one."""
        self.totals[into] += self.totals[gone]
        self.totals = np.delete(self.totals, gone, axis=0)
        self._settle()

    def settle_spread(self, cohorts: Floats) -> None:
        """Find how far individuals vary around their cohort's table."""
        if isinstance(self.evidence, Counts):
            by = cohorts[self.evidence.owners.of]
            self.evidence = self.evidence.spread_around(self.tables, by)

    def _settle(self) -> None:
        tables = self.totals + self.prior
        self.tables = tables / tables.sum(axis=-1, keepdims=True)

    # ---- what comes of it

    def expected(self) -> Floats:
        """The table that an individual of each cohort has, as far as anybody knows, (K, G, C)."""
        return self.tables


class SharedTables:
    """A few tables, each cohort choosing among them; for estimated tables.

    atoms (B, G, C); choices (K, B): how likely each is in each cohort.
    """

    def __init__(self, own: OwnTables, cohorts: Floats, extra: Floats) -> None:
        """From cohorts with tables of their own, (n, K); extra (·, G, C): further totals."""
        self.evidence = own.evidence
        totals = own.evidence.totals(cohorts[own.evidence.owners.of])
        pooled = totals.sum(axis=0) + 0.5
        self.pooled: Floats = pooled / pooled.sum(axis=-1, keepdims=True)
        atoms, groups = self._told_apart(totals, extra)
        self.atoms: Floats = self._tables(atoms)
        start = np.full((cohorts.shape[1], len(atoms)), 0.2 / len(atoms))
        for atom, members in enumerate(groups):
            start[members, atom] += 0.8
        self.choices: Floats = start / start.sum(axis=1, keepdims=True)
        self.concentration = 1.0
        self.totals: Floats = np.zeros((cohorts.shape[1], 1, len(atoms)))
        self._likelihood: Floats = np.ones((len(own.evidence.owners.of), len(atoms)))
        self.responsibility: Floats = self._likelihood

    def _told_apart(self, totals: Floats, extra: Floats) -> tuple[Floats, list[list[int]]]:
        """Totals whose tables can be told apart, and which cohorts had them."""
        prior = SHARED_CONCENTRATION * self.pooled
        sums = list(totals)
        members = [[cohort] for cohort in range(len(sums))]
        while len(sums) > 1:
            gain = pair_gains(np.stack(sums), prior)
            first, second = np.unravel_index(int(np.argmax(gain)), gain.shape)
            if gain[first, second] <= 0:
                break
            sums[first] = sums[first] + sums[second]
            members[first] += members[second]
            del sums[second], members[second]
        for more in extra:
            stack = np.stack(sums)
            gain = log_evidence(stack + more, prior) - log_evidence(stack, prior)
            if (gain < log_evidence(more, prior)).all():
                sums.append(more)
                members.append([])
        return np.stack(sums), members

    def _tables(self, totals: Floats) -> Floats:
        tables = totals + self.pooled
        return np.asarray(tables / tables.sum(axis=-1, keepdims=True))

    def log_likelihood(self) -> Floats:
        """Of what each individual shows in each cohort, (n, K)."""
        logs = self.evidence.log_likelihood(np.log(self.atoms))
        self._likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        rows = np.log(np.maximum(rows_times(self._likelihood, self.choices.T), 1e-300))
        return self.evidence.owners.summed(rows)

    def update(self, weights: Floats, tune: bool) -> None:
        """New tables and choices, individual i counting in cohort k by weights[i, k]."""
        by = weights[self.evidence.owners.of]
        by = by / np.maximum(rows_times(self._likelihood, self.choices.T), 1e-300)
        self.totals = (self.choices * (crossed(by, self._likelihood)))[:, None, :]
        self.responsibility = self._likelihood * rows_times(by, self.choices)
        if tune:
            self.concentration = _concentration(self.totals, self._usual)
        self._settle()
        self.atoms = self._tables(self.evidence.totals(self.responsibility))

    @property
    def _usual(self) -> Floats:
        """How often each table is chosen by anybody, (B,)."""
        often = self.totals.sum(axis=(0, 1)) + 1e-3
        return np.asarray(often / often.sum())

    @property
    def prior(self) -> Floats:
        """What is added to the choices of each cohort."""
        return self.concentration * self._usual[None] + LEAST

    def merge(self, into: int, gone: int) -> None:
        """Two cohorts become one."""
        self.totals[into] += self.totals[gone]
        self.totals = np.delete(self.totals, gone, axis=0)
        self._settle()

    def settle_spread(self, cohorts: Floats) -> None:
        """Find how far individuals vary around the table they have; join what is the same then."""
        if isinstance(self.evidence, Counts):
            self.evidence = self.evidence.spread_around(self.atoms, self.responsibility)
            self._join_tables(self.evidence.totals(self.responsibility))

    def _join_tables(self, totals: Floats) -> None:
        """Tables that cannot be told apart any more become one."""
        prior = SHARED_CONCENTRATION * self.pooled
        while len(totals) > 1:
            gain = pair_gains(totals, prior)
            first, second = map(int, np.unravel_index(int(np.argmax(gain)), gain.shape))
            if gain[first, second] <= 0:
                return
            totals = _joined(totals, first, second, axis=0)
            self.atoms = self._tables(totals)
            self.choices = _joined(self.choices, first, second, axis=1)
            self.totals = _joined(self.totals, first, second, axis=2)
            self.responsibility = _joined(self.responsibility, first, second, axis=1)

    def _settle(self) -> None:
        choices = self.totals[:, 0] + self.prior
        self.choices = choices / choices.sum(axis=1, keepdims=True)

    # ---- what comes of it

    def expected(self) -> Floats:
        """The table that an individual of each cohort has, as far as anybody knows, (K, G, C)."""
        return np.asarray(np.tensordot(self.choices, self.atoms, axes=1))


PlaceTables = OwnTables | SharedTables
