"""Individuals in hidden cohorts whose tables are estimated from a few records each.

Each place has a few tables ("atoms"), and a random surjective map says which cohort has which; that
of fAge is drawn apart from the cohort, so nobody can know it. An individual's own table varies
around its atom; records are drawn from it, and what is given is their count plus one, normalised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import lifagu
from research.drafts import BOOLEAN
from research.harness import Floats
from research.holes.estimated.network import (
    SHARED,
    SIZES,
    VARIABLES,
    Bools,
    Ints,
    TablePlace,
    joints,
    places,
)
from research.holes.estimated.scenarios import NoisyScenario
from research.holes.hospital import COHORTS, FREE, LEVELS, surjection

PRIOR = 1.0  # added to each count of an estimated table
STEPS = 101  # of the continuum
DIFFERENT = 3.0  # concentration of tables of one's own
SMALLEST = 1e-6  # probability in a true table
OFTEN, SELDOM = 0.3, 0.03  # how often a cohort's tables are unknown, if not at random


@dataclass(frozen=True, eq=False)
class CohortTables:
    """How tables arise, place by place; all that the oracle knows.

    weights: how frequent each cohort is. atoms[p]: tables × given × values. chances[p]: cohorts ×
    tables. variation: concentration of own tables around an atom.
    """

    weights: Floats
    atoms: tuple[Floats, ...]
    chances: tuple[Floats, ...]
    variation: float


@dataclass(frozen=True, eq=False)
class EstimatedPopulation:
    """Individuals with true tables, records, and holes.

    cohorts: of each individual. atom[p]: which table its own varies around. truth[p], counts[p]:
    individuals × given × values. known: individuals × places. new: individuals with one or two
    known tables. values: individuals × variables, drawn from the truth; order: of the factors.
    """

    scenario: NoisyScenario
    places: tuple[TablePlace, ...]
    source: CohortTables
    cohorts: Ints
    atom: tuple[Ints, ...]
    truth: tuple[Floats, ...]
    counts: tuple[Floats, ...]
    known: Bools
    new: Bools
    values: Ints
    chance_to_observe: Floats
    order: Ints

    @property
    def given(self) -> tuple[Floats, ...]:
        """The estimated tables: counts and the prior, normalised for each given combination."""
        return tuple(normalised(counts + PRIOR) for counts in self.counts)

    def observed(self, share: float) -> Bools:
        """Which variables are observed, about that share of all; a larger share has more."""
        return self.chance_to_observe < share

    def evidence(self, share: float) -> dict[str, str]:
        """What is observed, by name."""
        return {
            f"{VARIABLES[place]}.{individual}": labels(VARIABLES[place])[value]
            for individual, place in np.argwhere(self.observed(share)).tolist()
            for value in [int(self.values[individual, place])]
        }


def population(
    scenario: NoisyScenario, individuals: int, rng: np.random.Generator
) -> EstimatedPopulation:
    """Draw so many individuals, and the new ones beside them."""
    own = places(scenario.shared)
    source = _source(scenario, own, rng)
    new = np.arange(individuals + round(scenario.new * individuals)) >= individuals
    cohorts = rng.choice(len(source.weights), size=len(new), p=source.weights)
    atom = tuple(chosen(chances[cohorts], rng) for chances in source.chances)
    truth = tuple(
        _varied(atoms[number], source.variation, rng)
        for atoms, number in zip(source.atoms, atom, strict=True)
    )
    counts = tuple(_records(tables, scenario.records, rng) for tables in truth)
    known = _known(scenario, cohorts, new, len(own), rng)
    values = _values(truth, rng)
    chances = rng.random(values.shape)
    order = rng.permutation(known.size)
    return EstimatedPopulation(
        scenario, own, source, cohorts, atom, truth, counts, known, new, values, chances, order
    )


def normalised(tables: Floats) -> Floats:
    """Tables whose last axis sums to 1."""
    result: Floats = tables / tables.sum(axis=-1, keepdims=True)
    return result


# ---- how tables arise


def _source(
    scenario: NoisyScenario, own: Sequence[TablePlace], rng: np.random.Generator
) -> CohortTables:
    """Tables of all places; those of cohorts come first, so that equal seeds have equal tables."""
    atoms = [
        rng.dirichlet(np.ones(place.shape[1]), (place.tables, place.shape[0])) for place in own
    ]
    maps = [surjection(len(COHORTS), place.tables, rng) for place in own]
    variation = DIFFERENT if scenario.truth == "different" else scenario.variation
    if scenario.truth == "continuum":
        atoms = [_between(each, rng) for each in atoms]
        weights = np.full(STEPS, 1 / STEPS)
        return CohortTables(weights, tuple(atoms), (np.eye(STEPS),) * len(own), variation)
    if scenario.truth == "cohorts":
        chances = [np.eye(place.tables)[each] for place, each in zip(own, maps, strict=True)]
        chances[0] = np.tile(FREE, (len(COHORTS), 1))
        return CohortTables(COHORTS, tuple(atoms), tuple(chances), variation)
    if scenario.truth == "independent":
        # as frequent as with cohorts, but each on its own
        alone = [
            (COHORTS @ np.eye(place.tables)[each])[None]
            for place, each in zip(own, maps, strict=True)
        ]
        return CohortTables(np.ones(1), tuple(atoms), tuple(alone), variation)
    first = tuple(each[:1] for each in atoms)
    return CohortTables(np.ones(1), first, (np.ones((1, 1)),) * len(own), variation)


def _between(atoms: Floats, rng: np.random.Generator) -> Floats:
    """Tables on the way from one to another, evenly in their logarithms."""
    start, end = np.log(np.maximum(atoms[:2], 1e-3))
    way = np.linspace(0, 1, STEPS)[:, None, None]
    if rng.random() < 0.5:
        way = 1 - way
    return normalised(np.exp(start + way * (end - start)))


def chosen(chances: Floats, rng: np.random.Generator) -> Ints:
    """One choice per row of chances."""
    above = np.cumsum(chances, axis=1)[:, :-1] <= rng.random(len(chances))[:, None]
    places: Ints = above.sum(axis=1)
    return places


def _varied(tables: Floats, variation: float, rng: np.random.Generator) -> Floats:
    if math.isfinite(variation):
        tables = normalised(rng.gamma(concentrations(tables, variation)) + 1e-300)
    return normalised(np.maximum(tables, SMALLEST))


def concentrations(tables: Floats, variation: float) -> Floats:
    """The Dirichlet distribution of own tables around these."""
    return np.maximum(variation * tables, 1e-3)


def _records(tables: Floats, number: int, rng: np.random.Generator) -> Floats:
    """Counts of so many records for each individual, given combinations being equally frequent."""
    people, combinations, _ = tables.shape
    rows = rng.multinomial(number, np.full(combinations, 1 / combinations), size=people)
    return rng.multinomial(rows, tables).astype(np.float64)


def _known(
    scenario: NoisyScenario, cohorts: Ints, new: Bools, number: int, rng: np.random.Generator
) -> Bools:
    often = rng.random((len(COHORTS), number)) < 0.5
    chances = np.full((len(new), number), scenario.unknown)
    if not scenario.at_random:
        chances = np.where(often, OFTEN, SELDOM)[cohorts]
    known = rng.random(chances.shape) >= chances
    left = rng.integers(1, 3, size=len(new))
    ranks = rng.random(chances.shape).argsort(axis=1).argsort(axis=1)
    return np.where(new[:, None], ranks < left[:, None], known)


def _values(truth: Sequence[Floats], rng: np.random.Generator) -> Ints:
    """Values of all variables, drawn from the true joint distribution of everybody."""
    joint = joints([each[:, None] for each in truth], np.ones((len(truth[0]), 1)))
    state = int(rng.integers(joint.shape[1]))
    flat = joint[:, state].reshape(len(joint), -1)
    drawn = chosen(flat / flat.sum(axis=1, keepdims=True), rng)
    return np.stack(np.unravel_index(drawn, tuple(SIZES.values())), axis=1)


# ---- as graphs


def labels(name: str) -> tuple[str, ...]:
    """The range of a variable."""
    return LEVELS if SIZES.get(name, 2) == 3 else BOOLEAN


def graph_with_holes(subject: EstimatedPopulation) -> lifagu.FactorGraph:
    """The estimated tables as a graph, factors in random order, unknown ones without a table.

    Factor f stands at individual `order[f] // places`, place `order[f] % places`; that of Epid is
    the last.
    """
    scenario, tables = subject.scenario, subject.given
    builder = lifagu.FactorGraph.build()
    if scenario.shared:
        builder.variable(SHARED, BOOLEAN, kind=SHARED if scenario.kinds else None)
    for individual in range(len(subject.known)):
        owners = (f"p{individual}",) if scenario.individuals else ()
        for name in VARIABLES:
            kind = name if scenario.kinds else None
            full_name = f"{name}.{individual}"
            builder.variable(full_name, labels(name), kind=kind, individual=owners)
    for number in subject.order.tolist():
        individual, place = divmod(number, len(subject.places))
        own = subject.places[place]
        given = [each if each == SHARED else f"{each}.{individual}" for each in own.given]
        arguments = (*given, f"{own.child}.{individual}")
        if not subject.known[individual, place]:
            builder.factor(f"{own.name}.{individual}", arguments, None)
            continue
        builder.factor(
            f"{own.name}.{individual}",
            arguments,
            tables[place][individual].reshape(-1),
            support=subject.counts[place][individual].sum(axis=-1),
            given=given,
            prior=PRIOR,
        )
    if scenario.shared:
        builder.factor("fEpid", (SHARED,), np.ones(2))
    return builder.graph()
