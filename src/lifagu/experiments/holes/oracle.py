"""The oracle: what is known of each unknown table given the generator, but not the cohorts."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np

from lifagu.experiments.drafts import Floats
from lifagu.experiments.holes.hospital import COHORTS, FREE, OWN, Hospital, Place

SURE = 0.95


class Oracle:
    """Posterior weights of the tables of each unknown factor, given its individual's known ones."""

    def __init__(self, hospital: Hospital) -> None:
        self._hospital = hospital

    @cached_property
    def weights(self) -> dict[int, Floats]:
        """The probability of each table of an unknown factor's kind; the rest to 1: its own."""
        return {
            factor: self._cohorts[place.individual] @ self._chances(place.kind)
            for factor, place in self._unknown.items()
        }

    @cached_property
    def identifiable(self) -> dict[int, bool]:
        """Whether it is sure of a table."""
        return {factor: bool(weights.max() >= SURE) for factor, weights in self.weights.items()}

    def best(self) -> dict[int, Floats]:
        """Each unknown factor with its most probable table."""
        return {
            factor: self._table(factor, int(weights.argmax()))
            for factor, weights in self.weights.items()
        }

    def drawn(self, count: int, rng: np.random.Generator) -> list[dict[int, Floats]]:
        """So many fillings of all unknown factors, drawn in strata, cohorts first."""
        fillings: list[dict[int, Floats]] = [{} for _ in range(count)]
        cohort_of: dict[int, list[int]] = {}
        for factor, place in self._unknown.items():
            if place.individual not in cohort_of:
                chances = np.tile(_normalised(self._cohorts[place.individual]), (count, 1))
                cohort_of[place.individual] = _choices(chances, rng)
            chances = self._chances(place.kind)[cohort_of[place.individual]]
            for filling, number in zip(fillings, _choices(chances, rng), strict=True):
                filling[factor] = self._table(factor, number)
        return fillings

    @property
    def _unknown(self) -> dict[int, Place]:
        places = self._hospital.places
        return {
            factor: place
            for factor in self._hospital.hidden
            if (place := places[factor]) is not None
        }

    def _table(self, factor: int, number: int) -> Floats:
        place = self._unknown[factor]
        return self._hospital.population.tables[place.kind][number].transpose(place.order)

    def _chances(self, kind: str) -> Floats:
        """P(table | cohort): one row per cohort."""
        number = len(self._hospital.population.tables[kind])
        if kind not in self._hospital.population.type_of_cohort:
            return np.tile(FREE, (len(COHORTS), 1))
        own = np.eye(number)[self._hospital.population.type_of_cohort[kind]]
        others = (own.sum(axis=0) - own) / (len(COHORTS) - 1)
        leak = self._hospital.scenario.leak
        chances: Floats = (1 - leak) * own + leak * others
        return chances

    @cached_property
    def _cohorts(self) -> dict[int, Floats]:
        """P(cohort | known tables) of individuals with holes; the rest to 1: own tables."""
        known: dict[int, list[Place]] = defaultdict(list)
        hidden = set(self._hospital.hidden)
        for factor, place in enumerate(self._hospital.places):
            if place and place.kind != "f4" and factor not in hidden:
                known[place.individual].append(place)
        return {
            place.individual: self._posterior(known[place.individual])
            for place in self._unknown.values()
        }

    def _posterior(self, known: list[Place]) -> Floats:
        cold = self._hospital.scenario.cold
        # nothing is known about the others' tables then
        if any(place.type == OWN for place in known):
            return np.zeros(len(COHORTS))
        weights = (1 - cold) * COHORTS
        for place in known:
            weights = weights * self._chances(place.kind)[:, place.type]
        posterior: Floats = weights / (weights.sum() + (0.0 if known else cold))
        return posterior


def strata(count: int, rng: np.random.Generator) -> Floats:
    """So many numbers evenly spread over (0, 1), in random order."""
    return (rng.permutation(count) + 0.5) / count


def _choices(chances: Floats, rng: np.random.Generator) -> list[int]:
    """One choice per row of chances."""
    above = np.cumsum(chances, axis=1)[:, :-1] <= strata(len(chances), rng)[:, None]
    choices: list[int] = above.sum(axis=1).tolist()
    return choices


def _normalised(weights: Floats) -> Floats:
    """Weights that sum to 1; the prior where there are none."""
    total = weights.sum()
    result: Floats = weights / total if total > 0 else COHORTS
    return result
