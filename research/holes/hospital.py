"""A hospital in which no single factor shows the cohort of an individual, but several together do.

One shared Epid; per individual Age, Travel, Sick, TreatA, TreatB and Stay. Each kind of factor has
a few tables, and a random surjective map says which cohort has which; fA is drawn apart from the
cohort, so nobody can know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import lifagu
from research.drafts import BOOLEAN, DraftFactor, DraftVariable, Floats, TruthDraft
from research.holes.scenarios import Scenario

Ints = NDArray[np.int64]
COHORTS = np.array([0.30, 0.20, 0.15, 0.15, 0.10, 0.10])
FREE = np.array([0.4, 0.3, 0.2, 0.1])  # how often each table of fA occurs, whatever the cohort
SIZES = {"Age": 3, "Travel": 2, "Sick": 2, "TreatA": 2, "TreatB": 2, "Stay": 3, "Epid": 2}
LEVELS = ("low", "mid", "high")
EPIDEMIC = 1.5  # how strongly all individuals together depend on Epid
OWN = -1  # a table of one's own


class FactorKind(NamedTuple):
    """The arguments of a kind of factor, and how many tables it has."""

    arguments: tuple[str, ...]
    tables: int


KINDS: dict[str, FactorKind] = {
    "fA": FactorKind(("Age",), 4),
    "fTA": FactorKind(("Travel", "Age"), 3),
    "f1": FactorKind(("Travel", "Sick", "Epid"), 3),
    "f2a": FactorKind(("TreatA", "Sick", "Epid"), 3),
    "f2b": FactorKind(("TreatB", "Sick", "Epid"), 2),
    "f3": FactorKind(("Stay", "Sick"), 3),
    "fS": FactorKind(("Sick",), 1),
}
DISTRACTOR = FactorKind(("Stay",), 0)
# Travel then has the degree of a treatment
TRAPPED = KINDS | {"fTA": FactorKind(("Age", "Stay"), 3)}


class FactorOrigin(NamedTuple):
    """What the generator knows about a factor: its kind, individual, and table (or OWN).

    order: the arguments as listed, by their place in the kind's arguments.
    """

    kind: str
    individual: int
    type: int
    order: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Population:
    """What a hospital's individuals share: tables[kind], and type_of_cohort[kind] unless free."""

    scenario: Scenario
    individuals: int
    kinds: dict[str, FactorKind]
    tables: dict[str, list[Floats]]
    type_of_cohort: dict[str, Ints]


@dataclass(frozen=True, eq=False)
class DrawnHospital:
    """A ground truth and all that its generator knows.

    origins[f]: about factor f, None for f0. hidden: the factors made unknown. evidence: what is
    observed.
    """

    population: Population
    draft: TruthDraft
    origins: tuple[FactorOrigin | None, ...]
    hidden: tuple[int, ...]
    evidence: dict[str, str]

    @property
    def scenario(self) -> Scenario:
        """How it was drawn."""
        return self.population.scenario

    @cached_property
    def unknown(self) -> dict[int, FactorOrigin]:
        """The hidden factors and where they come from."""
        return {factor: each for factor in self.hidden if (each := self.origins[factor])}

    @cached_property
    def known(self) -> dict[int, FactorOrigin]:
        """All other factors but f0."""
        origins = enumerate(self.origins)
        return {factor: each for factor, each in origins if each and factor not in self.unknown}


def hospital(scenario: Scenario, individuals: int, rng: np.random.Generator) -> DrawnHospital:
    """Draw a hospital; factors come in random order, as order would tell which belong together."""
    population = _population(scenario, individuals, rng)
    drawn: list[tuple[DraftFactor, FactorOrigin | None]] = [
        (DraftFactor("f0", ("Epid",), np.ones(2)), None)
    ]
    variables = [DraftVariable("Epid", kind=_kind("Epid", scenario))]
    for individual in range(individuals):
        absent = {name for name in ("TreatA", "TreatB") if rng.random() < scenario.missing}
        variables += _variables(individual, absent, scenario)
        drawn += _factors(individual, absent, population, rng)
    drawn = [drawn[place] for place in rng.permutation(len(drawn)).tolist()]
    factors, origins = zip(*drawn, strict=True)
    draft = _with_epidemic(TruthDraft(tuple(variables), factors), float(rng.normal()))
    hidden = _hidden(origins, scenario, individuals, rng)
    evidence = _observed(draft, origins, scenario, rng) if scenario.evidence else {}
    return DrawnHospital(population, draft, origins, hidden, evidence)


def _population(scenario: Scenario, individuals: int, rng: np.random.Generator) -> Population:
    kinds = TRAPPED if scenario.trap else KINDS
    tables = {
        name: [random_table(kind, scenario, individuals, rng) for _ in range(kind.tables)]
        for name, kind in kinds.items()
    }
    type_of_cohort = {
        name: surjection(len(COHORTS), kind.tables, rng)
        for name, kind in kinds.items()
        if name != "fA" or scenario.identifiable
    }
    if scenario.distractor:
        kinds = kinds | {"f4": DISTRACTOR}
    return Population(scenario, individuals, kinds, tables, type_of_cohort)


# ---- variables and factors


def _variables(individual: int, absent: set[str], scenario: Scenario) -> Iterator[DraftVariable]:
    for name in SIZES:
        if name != "Epid" and name not in absent:
            labels = BOOLEAN if _size(name, scenario) == 2 else LEVELS
            yield DraftVariable(
                f"{name}.{individual}", labels, _kind(name, scenario), f"p{individual}"
            )


def _size(name: str, scenario: Scenario) -> int:
    return 2 if scenario.boolean else SIZES[name]


def _kind(name: str, scenario: Scenario) -> str | None:
    coarse = "Treat" if name.startswith("Treat") else name
    return {"full": name, "coarse": coarse, "none": None}[scenario.kinds]


def _factors(
    individual: int, absent: set[str], population: Population, rng: np.random.Generator
) -> Iterator[tuple[DraftFactor, FactorOrigin]]:
    scenario = population.scenario
    cohort = int(rng.choice(len(COHORTS), p=COHORTS))
    cold = rng.random() < scenario.cold
    for name, kind in population.kinds.items():
        if not absent.isdisjoint(kind.arguments):
            continue
        if cold or kind is DISTRACTOR:
            number, table = OWN, random_table(kind, scenario, population.individuals, rng)
        else:
            number = _type(name, cohort, population, rng)
            table = population.tables[name][number]
        if scenario.noise:
            table = table * np.exp(rng.normal(size=table.shape) * scenario.noise + rng.normal())
        order = tuple(range(table.ndim))
        if scenario.permuted:
            order = tuple(rng.permutation(table.ndim).tolist())
        arguments = [each if each == "Epid" else f"{each}.{individual}" for each in kind.arguments]
        listed = tuple(arguments[place] for place in order)
        origin = FactorOrigin(name, individual, number, order)
        yield DraftFactor(f"{name}.{individual}", listed, table.transpose(order)), origin


def _type(kind: str, cohort: int, population: Population, rng: np.random.Generator) -> int:
    if kind not in population.type_of_cohort:
        return int(rng.choice(len(FREE), p=FREE))
    if rng.random() < population.scenario.leak:
        cohort = (cohort + int(rng.integers(1, len(COHORTS)))) % len(COHORTS)
    return int(population.type_of_cohort[kind][cohort])


def random_table(
    kind: FactorKind, scenario: Scenario, individuals: int, rng: np.random.Generator
) -> Floats:
    """Potentials exp(N(0, 1)); with Epid, two slices close to each other, each summing to 1."""
    shape = tuple(_size(name, scenario) for name in kind.arguments)
    if "Epid" not in kind.arguments:
        return np.exp(rng.normal(size=shape))
    common = rng.normal(size=shape[:-1])
    apart = rng.normal(size=shape[:-1]) * EPIDEMIC / np.sqrt(individuals)
    slices = np.stack([np.exp(common - apart), np.exp(common + apart)], axis=-1)
    table: Floats = slices / slices.sum(axis=(0, 1))
    return table


def surjection(cohorts: int, tables: int, rng: np.random.Generator) -> Ints:
    """A random map from cohorts onto tables."""
    others = rng.integers(tables, size=cohorts - tables)
    return rng.permutation(np.concatenate([np.arange(tables), others]))


def _with_epidemic(draft: TruthDraft, log_odds: float) -> TruthDraft:
    """The draft with f0 such that Epid has these log odds in truth."""
    place = next(place for place, factor in enumerate(draft.factors) if factor.name == "f0")
    no, yes = lifagu.query(draft.graph(), "Epid").log_probabilities
    prior = draft.factors[place]._replace(table=np.exp([0.0, log_odds - (yes - no)]))
    return replace(draft, factors=(*draft.factors[:place], prior, *draft.factors[place + 1 :]))


# ---- what is removed and what is observed


def _hidden(
    origins: Sequence[FactorOrigin | None],
    scenario: Scenario,
    individuals: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    owner = {
        factor: origin.individual
        for factor, origin in enumerate(origins)
        if origin and origin.kind != "f4"
    }
    removable = np.array(list(owner))
    if scenario.holes == "share":
        many = round(scenario.share * len(removable))
        return tuple(sorted(rng.choice(removable, many, replace=False).tolist()))
    owners = np.array(list(owner.values()))
    hidden: list[int] = []
    many = round(scenario.share * individuals)
    for individual in rng.choice(individuals, many, replace=False).tolist():
        own = removable[owners == individual]
        count = {"one": 1, "half": (len(own) + 1) // 2, "all": len(own)}[scenario.holes]
        hidden += rng.choice(own, count, replace=False).tolist()
    return tuple(sorted(hidden))


def _observed(
    draft: TruthDraft,
    origins: Sequence[FactorOrigin | None],
    scenario: Scenario,
    rng: np.random.Generator,
) -> dict[str, str]:
    """A share of the individuals' variables, with values drawn from the true joint distribution."""
    epidemic = int(rng.random() < lifagu.query(draft.graph(), "Epid")["true"])
    factors: dict[int, list[DraftFactor]] = {}
    for factor, origin in zip(draft.factors, origins, strict=True):
        if origin:
            factors.setdefault(origin.individual, []).append(factor)
    variables: dict[int, list[DraftVariable]] = {}
    for variable in draft.variables[1:]:
        variables.setdefault(int(variable.name.rpartition(".")[2]), []).append(variable)
    evidence = {}
    for individual, own in variables.items():
        values = _drawn(own, factors[individual], epidemic, rng)
        for variable, value in zip(own, values, strict=True):
            if rng.random() < scenario.evidence:
                evidence[variable.name] = variable.labels[value]
    return evidence


def _drawn(
    variables: list[DraftVariable],
    factors: list[DraftFactor],
    epidemic: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Values of an individual's variables given Epid, from the product of its factors."""
    axes = {variable.name: axis for axis, variable in enumerate(variables)}
    joint = np.ones([len(variable.labels) for variable in variables])
    for _, arguments, table in factors:
        if "Epid" in arguments:
            table = np.take(table, epidemic, axis=arguments.index("Epid"))
        own = [axes[argument] for argument in arguments if argument != "Epid"]
        shape = [len(each.labels) if axis in own else 1 for axis, each in enumerate(variables)]
        joint = joint * table.transpose(np.argsort(own)).reshape(shape)
    drawn = rng.choice(joint.size, p=joint.reshape(-1) / joint.sum())
    return tuple(int(value) for value in np.unravel_index(drawn, joint.shape))
