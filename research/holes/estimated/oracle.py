"""The oracle: knows cohorts, tables and variation, but not who belongs where.

Holes themselves say nothing to it, not even where they are more frequent in some cohorts.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from research.harness import Floats
from research.holes.estimated.network import joints
from research.holes.estimated.population import (
    SMALLEST,
    EstimatedPopulation,
    chosen,
    concentrations,
    normalised,
)


class CountsOracle:
    """Posterior of cohorts, atoms and own tables, given the records behind known tables."""

    def __init__(self, subject: EstimatedPopulation) -> None:
        self._subject = subject
        self._source = subject.source
        self._varied = math.isfinite(subject.source.variation)

    @cached_property
    def cohorts(self) -> Floats:
        """P(cohort | records): individuals × cohorts."""
        logs = np.log(self._source.weights) + sum(
            np.log(np.maximum(each, 1e-300)) + scale
            for each, scale in (self._by_cohort(place) for place in range(self._places))
        )
        return normalised(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def atoms(self, place: int) -> Floats:
        """P(atom | records): individuals × tables of the place."""
        weights: Floats = np.einsum("nk,nka->na", self.cohorts, self._given_cohort(place))
        return weights

    def tables(self, place: int) -> Floats:
        """The posterior mean of everybody's table, also of known ones; shape as the truth."""
        means: Floats = np.einsum("na,nagc->ngc", self.atoms(place), self._own(place))
        return means

    def joint(self) -> Floats:
        """P(values | Epid, records), averaged over cohorts, atoms and own tables; see `joints`."""
        by_cohort = [
            np.einsum("nka,nagc->nkgc", self._given_cohort(place), self._own(place))
            for place in range(self._places)
        ]
        return joints(by_cohort, self.cohorts)

    def drawn(self, rng: np.random.Generator) -> list[Floats]:
        """Everybody's tables, drawn from the posterior."""
        cohort = chosen(self.cohorts, rng)
        found = []
        for place in range(self._places):
            likelihood, _ = self._likelihoods[place]
            weights = self._source.chances[place][cohort] * likelihood
            atom = chosen(normalised(weights), rng)
            table = self._source.atoms[place][atom]
            if self._varied:
                alpha = concentrations(table, self._source.variation)
                table = normalised(rng.gamma(alpha + self._counts(place)) + 1e-300)
            found.append(table)
        return found

    @property
    def _places(self) -> int:
        return len(self._subject.places)

    def _counts(self, place: int) -> Floats:
        """Records behind known tables, zero behind unknown ones."""
        return self._subject.counts[place] * self._subject.known[:, place, None, None]

    @cached_property
    def _likelihoods(self) -> list[tuple[Floats, Floats]]:
        return [self._likelihood(place) for place in range(self._places)]

    def _likelihood(self, place: int) -> tuple[Floats, Floats]:
        """P(records | atom) up to exp(scale): individuals × atoms, and individuals × 1."""
        counts, atoms = self._counts(place), self._source.atoms[place]
        if self._varied:
            alpha = concentrations(atoms, self._source.variation)
            logs = _rising(alpha, counts[:, None]).sum(axis=(-1, -2))
            logs -= _rising(alpha.sum(axis=-1), counts.sum(axis=-1)[:, None]).sum(axis=-1)
        else:
            logs = np.tensordot(counts, np.log(np.maximum(atoms, SMALLEST)), ((1, 2), (1, 2)))
        scale = logs.max(axis=1, keepdims=True)
        return np.exp(logs - scale), scale

    def _by_cohort(self, place: int) -> tuple[Floats, Floats]:
        likelihood, scale = self._likelihoods[place]
        return likelihood @ self._source.chances[place].T, scale

    def _given_cohort(self, place: int) -> Floats:
        """P(atom | cohort, records): individuals × cohorts × atoms."""
        likelihood, _ = self._likelihoods[place]
        joint = self._source.chances[place] * likelihood[:, None]
        # cohorts that the records rule out have no weight anyway
        return normalised(np.maximum(joint, 1e-300 * self._source.chances[place]))

    def _own(self, place: int) -> Floats:
        """The mean of own tables given the atom: individuals × atoms × given × values."""
        atoms, counts = self._source.atoms[place], self._counts(place)[:, None]
        if not self._varied:
            return np.broadcast_to(atoms, (len(counts), *atoms.shape))
        return normalised(concentrations(atoms, self._source.variation) + counts)


def _rising(alpha: Floats, counts: Floats) -> Floats:
    """log Γ(α + n) / Γ(α) for counts n, whose last axes are those of α."""
    steps = np.arange(int(counts.max(initial=0)))
    sums = np.cumsum(np.log(alpha[..., None] + steps), axis=-1)
    sums = np.concatenate([np.zeros((*alpha.shape, 1)), sums], axis=-1)
    shape = (len(counts), *alpha.shape)
    wanted = np.broadcast_to(counts, shape).astype(np.int64)[..., None]
    return np.take_along_axis(np.broadcast_to(sums, (*shape, sums.shape[-1])), wanted, -1)[..., 0]
