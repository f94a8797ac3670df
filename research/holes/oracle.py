"""The oracle: what is known of each unknown table given the generator, but not the cohorts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from research.harness import Floats
from research.holes.baselines import OwnCompletions
from research.holes.hospital import COHORTS, FREE, OWN, DrawnHospital, FactorOrigin, random_table

SURE = 0.95
FRESH = 256  # tables of one's own that are drawn where nobody's fit
ROUNDING = 1e-9


class Oracle:
    """Posterior weights of the tables of each unknown factor, given its individual's known ones."""

    def __init__(self, hospital: DrawnHospital) -> None:
        self._hospital = hospital

    @cached_property
    def weights(self) -> dict[int, Floats]:
        """The probability of each table of an unknown factor's kind; the rest to 1: its own."""
        return {
            factor: self.cohorts[origin.individual] @ self.chances(origin.kind)
            for factor, origin in self._hospital.unknown.items()
        }

    @cached_property
    def identifiable(self) -> dict[int, bool]:
        """Whether it is sure of a table."""
        return {factor: bool(weights.max() >= SURE) for factor, weights in self.weights.items()}

    def best(self) -> dict[int, Floats]:
        """Each unknown factor with its most probable table."""
        return {
            factor: self.table(factor, int(weights.argmax()))
            for factor, weights in self.weights.items()
        }

    def completions(self, rng: np.random.Generator) -> dict[int, OwnCompletions]:
        """All that each individual's holes may be; tables of one's own are drawn."""
        holes: dict[int, list[int]] = defaultdict(list)
        for factor, origin in self._hospital.unknown.items():
            holes[origin.individual].append(factor)
        return {each: self._completions(each, own, rng) for each, own in holes.items()}

    def _completions(
        self, individual: int, hidden: Sequence[int], rng: np.random.Generator
    ) -> OwnCompletions:
        cohorts = self.cohorts[individual]
        chances = [self.chances(self._hospital.unknown[factor].kind) for factor in hidden]
        weights: list[float] = []
        tables: dict[int, list[Floats]] = {factor: [] for factor in hidden}
        for types in product(*(range(each.shape[1]) for each in chances)):
            rows = [each[:, number] for each, number in zip(chances, types, strict=True)]
            weight = float(cohorts @ np.prod(rows, axis=0))
            if weight > 0:
                weights.append(weight)
                for factor, number in zip(hidden, types, strict=True):
                    tables[factor].append(self.table(factor, number))
        rest = 1 - float(cohorts.sum())
        if rest > ROUNDING:
            weights += [rest / FRESH] * FRESH
            for factor in hidden:
                tables[factor] += [self._fresh(factor, rng) for _ in range(FRESH)]
        return OwnCompletions(np.array(weights), tables)

    def _fresh(self, factor: int, rng: np.random.Generator) -> Floats:
        """A table of one's own, as the generator draws them."""
        population, origin = self._hospital.population, self._hospital.unknown[factor]
        kind = population.kinds[origin.kind]
        table = random_table(kind, population.scenario, population.individuals, rng)
        return table.transpose(origin.order)

    def table(self, factor: int, number: int) -> Floats:
        """A table of an unknown factor's kind, axes as it lists its arguments."""
        origin = self._hospital.unknown[factor]
        return self._hospital.population.tables[origin.kind][number].transpose(origin.order)

    def chances(self, kind: str) -> Floats:
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
    def cohorts(self) -> dict[int, Floats]:
        """P(cohort | known tables) of individuals with holes; the rest to 1: own tables."""
        known: dict[int, list[FactorOrigin]] = defaultdict(list)
        for origin in self._hospital.known.values():
            if origin.kind != "f4":
                known[origin.individual].append(origin)
        individuals = {origin.individual for origin in self._hospital.unknown.values()}
        return {individual: self._posterior(known[individual]) for individual in individuals}

    def _posterior(self, known: list[FactorOrigin]) -> Floats:
        cold = self._hospital.scenario.cold
        # nothing is known about the others' tables then
        if any(origin.type == OWN for origin in known):
            return np.zeros(len(COHORTS))
        weights = (1 - cold) * COHORTS
        for origin in known:
            weights = weights * self.chances(origin.kind)[:, origin.type]
        posterior: Floats = weights / (weights.sum() + (0.0 if known else cold))
        return posterior


def strata(count: int, rng: np.random.Generator) -> Floats:
    """So many numbers evenly spread over (0, 1), in random order."""
    return (rng.permutation(count) + 0.5) / count


def choices(chances: Floats, rng: np.random.Generator) -> list[int]:
    """One choice per row of chances."""
    above = np.cumsum(chances, axis=1)[:, :-1] <= strata(len(chances), rng)[:, None]
    choices: list[int] = above.sum(axis=1).tolist()
    return choices
