"""A small hospital, drawn with a seed: its tables with gaps, and the truth behind them.

Four cohorts of patients differ in how easily they fall ill, where they lie and which genotype they
have. Missing are interviews that were not held, genotypes that were not determined, the table of a
test kit that nobody filled in, the history of a ward that opened last week, a roster that was never
kept; and all about eve, who came this morning.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lifagu.basics.columns import Column, Columns, Lists, texts

TableColumns = dict[str, list[Any]]  # one table by column; None is NULL
Chances = Sequence[float]

COHORTS = {"healthy": 0.4, "chronic": 0.25, "smoker": 0.2, "frail": 0.15}
AGES = ("young", "middle", "old")
GENOTYPES = {"A": 0, "B": 1, "C": 2}
RISK = {  # P(sick) without and with an epidemic, by age
    "healthy": ((0.04, 0.12), (0.05, 0.18), (0.08, 0.25)),
    "chronic": ((0.10, 0.35), (0.15, 0.45), (0.25, 0.55)),
    "smoker": ((0.15, 0.30), (0.25, 0.35), (0.30, 0.40)),
    "frail": ((0.20, 0.55), (0.30, 0.70), (0.45, 0.85)),
}
GENOTYPE_OF = {
    "healthy": (0.80, 0.15, 0.05),
    "chronic": (0.10, 0.80, 0.10),
    "smoker": (0.60, 0.30, 0.10),
    "frail": (0.05, 0.10, 0.85),
}
EFFECT = {  # P(good effect) for who is not sick and who is, by drug and genotype
    "alphacin": ((0.50, 0.80), (0.50, 0.60), (0.45, 0.30)),
    "betamol": ((0.55, 0.35), (0.60, 0.75), (0.50, 0.55)),
    "gammadex": ((0.40, 0.45), (0.45, 0.50), (0.60, 0.70)),
}
# P(right) for the healthy and for the sick
KITS = {"pcr": (0.97, 0.92), "rapid": (0.90, 0.75), "strip": (0.85, 0.80)}
STAYS = ("short", "medium", "long")
STAY = {  # P(stay) for who is not sick and who is, by the kind of ward
    "brief": ((0.80, 0.15, 0.05), (0.40, 0.45, 0.15)),
    "usual": ((0.50, 0.40, 0.10), (0.15, 0.50, 0.35)),
    "grave": ((0.25, 0.45, 0.30), (0.05, 0.25, 0.70)),
}
WARDS = {  # kind of ward, test kit, ages of the patients there
    "cardiology": ("usual", "rapid", (0.10, 0.40, 0.50)),
    "geriatrics": ("grave", "pcr", (0.01, 0.09, 0.90)),
    "nephrology": ("usual", "rapid", (0.15, 0.50, 0.35)),
    "neurology": ("grave", "pcr", (0.15, 0.35, 0.50)),
    "oncology": ("grave", "strip", (0.15, 0.40, 0.45)),
    "orthopaedics": ("brief", "rapid", (0.45, 0.35, 0.20)),
    "pneumology": ("usual", "pcr", (0.20, 0.45, 0.35)),
    "surgery": ("brief", "pcr", (0.40, 0.40, 0.20)),
    "isolation": ("grave", "pcr", (0.10, 0.30, 0.60)),
}
NEW_WARD = "isolation"
UNFILLED_KIT = "strip"
LIES_IN = {  # where most of a cohort lies, half of it in either ward
    "healthy": ("orthopaedics", "surgery"),
    "chronic": ("cardiology", "nephrology"),
    "smoker": ("pneumology", "oncology"),
    "frail": ("geriatrics", "neurology"),
}
SEASON = (0.8, 0.2)
SHORT_STAFFED = (0.7, 0.3)


@dataclass(frozen=True)
class Patient:
    """What is really the case about a patient; all of it, measured or not."""

    name: str
    cohort: str
    ward: str
    genotype: str
    age: str
    sick: bool
    test: str
    stay: str
    effects: Mapping[str, str]


@dataclass(frozen=True)
class Hospital:
    """A hospital's tables, and what the generator keeps to itself.

    tables: the database, by table and column. truth: for each factor of the template, by name, the
    table that the world was drawn from. world: the real value of each variable.
    """

    tables: dict[str, TableColumns]
    truth: dict[str, tuple[float, ...]]
    world: dict[str, str]

    def columns(self) -> dict[str, Columns]:
        """The tables as arrays, ready to be written into a database."""
        return {
            name: {title: _column(values) for title, values in rows.items()}
            for name, rows in self.tables.items()
        }


def hospital(patients: int = 400, seed: int = 7) -> Hospital:
    """Draw a hospital with so many patients and eve; equal seeds give equal hospitals everywhere.

    >>> drawn = hospital()
    >>> len(drawn.tables["patient"]["name"]), drawn.truth["season"]
    (401, (0.8, 0.2))
    """
    draw = _Draw(random.Random(seed))
    people = [draw.patient(f"c{number:03}") for number in range(1, patients - 5)]
    people += [
        draw.patient(f"c{number:03}", NEW_WARD)
        for number in range(max(patients - 5, 1), patients + 1)
    ]
    eve = Patient(
        "eve", "frail", "neurology", "C", "old", True, "positive", "long", {"gammadex": "good"}
    )
    tables = _fixed_tables()
    tables |= {"patient": draw.patients(people, eve), "treatment": draw.treatments(people, eve)}
    tables |= {"test": draw.tests(people), "stay_history": draw.history()}
    everybody = [*people, eve]
    return Hospital(tables, _truth(everybody), {"Epid": "true"} | _world(everybody))


@dataclass(frozen=True)
class _Draw:
    """Everything that is drawn, from uniform numbers alone: those are the same in every version."""

    source: random.Random = field(repr=False)

    def one(self, values: Sequence[str], chances: Chances) -> str:
        """One of the values by its chance."""
        rest = self.source.random() * sum(chances)
        for value, chance in zip(values, chances, strict=True):
            rest -= chance
            if rest < 0:
                return value
        return values[-1]

    def happens(self, chance: float) -> bool:
        """Whether something of this chance happens."""
        return self.source.random() < chance

    def patient(self, name: str, ward: str | None = None) -> Patient:
        """One patient; there is an epidemic."""
        cohort = self.one([*COHORTS], [*COHORTS.values()] if ward is None else (0.1, 0.3, 0.1, 0.5))
        first, second = LIES_IN[cohort]
        old = [each for each in WARDS if each != NEW_WARD]
        ward = ward or self.one([first, second, *old], (0.45, 0.45, *[0.1 / len(old)] * len(old)))
        genotype = self.one([*GENOTYPES], GENOTYPE_OF[cohort])
        age = self.one(AGES, WARDS[ward][2])
        sick = self.happens(RISK[cohort][AGES.index(age)][1])
        right = self.happens(KITS[WARDS[ward][1]][sick])
        stay = self.one(STAYS, STAY[WARDS[ward][0]][sick])
        given = self.one(
            ["alphacin", "betamol", "gammadex", "alphacin betamol", ""],
            (0.25, 0.2, 0.25, 0.15, 0.15),
        )
        effects = {
            drug: "good" if self.happens(EFFECT[drug][GENOTYPES[genotype]][sick]) else "none"
            for drug in given.split()
        }
        return Patient(
            name,
            cohort,
            ward,
            genotype,
            age,
            sick,
            "positive" if sick == right else "negative",
            stay,
            effects,
        )

    def patients(self, people: Sequence[Patient], eve: Patient) -> TableColumns:
        """The table of patients: a tenth not interviewed, or without genotype; most still there."""
        rows: TableColumns = {
            title: [] for title in ("name", "ward", "profile", "genotype", "age", "stay")
        }
        for each in people:
            profile = None if self.happens(0.1) else each.cohort
            genotype = None if self.happens(0.1) else each.genotype
            age = None if self.happens(0.12) else each.age
            stay = each.stay if self.happens(0.4) else None
            _append(rows, each.name, each.ward, profile, genotype, age, stay)
        _append(rows, eve.name, eve.ward, None, eve.genotype, None, None)
        return rows

    def treatments(self, people: Sequence[Patient], eve: Patient) -> TableColumns:
        """Who was given what; the effect is known in half of the cases."""
        rows: TableColumns = {"patient": [], "drug": [], "effect": []}
        for each in people:
            for drug, effect in each.effects.items():
                _append(rows, each.name, drug, effect if self.happens(0.5) else None)
        for drug in eve.effects:
            _append(rows, eve.name, drug, None)
        return rows

    def tests(self, people: Sequence[Patient]) -> TableColumns:
        """Results of every third patient."""
        rows: TableColumns = {"patient": [], "result": []}
        for each in people:
            if self.happens(0.35):
                _append(rows, each.name, each.test)
        return rows

    def history(self) -> TableColumns:
        """Former stays: some hundreds for each ward, three for the new one."""
        rows: TableColumns = {"ward": [], "sick": [], "stay": []}
        for ward, (kind, _, _) in WARDS.items():
            for _ in range(3 if ward == NEW_WARD else 250):
                sick = self.happens(0.4)
                _append(rows, ward, sick, self.one(STAYS, STAY[kind][sick]))
        return rows


def _fixed_tables() -> dict[str, TableColumns]:
    return {
        "ward": {"name": [*WARDS], "kit": [kit for _, kit, _ in WARDS.values()]},
        "kit": {
            "name": [*KITS],
            "accuracy": [None if each == UNFILLED_KIT else [*_lab(each)] for each in KITS],
        },
        "profile": {"name": [*RISK], "risk": [[*_intake(each)] for each in RISK]},
        "drug": {"name": [*EFFECT]},
        "response": {
            "drug": [drug for drug in EFFECT for _ in GENOTYPES],
            "genotype": [each for _ in EFFECT for each in GENOTYPES],
            "effect": [[*_response(drug, each)] for drug in EFFECT for each in GENOTYPES],
        },
    }


def _append(rows: TableColumns, *values: Any) -> None:
    for column, value in zip(rows.values(), values, strict=True):
        column.append(value)


# ---- the truth: tables over the arguments as the template lists them, the last one fastest


def _intake(profile: str) -> tuple[float, ...]:
    """Over Age, Sick, Epid."""
    ill = RISK[profile]
    return tuple(
        round(chance, 4) for calm, raging in ill for chance in (1 - calm, 1 - raging, calm, raging)
    )


def _lab(kit: str) -> tuple[float, ...]:
    """Over Sick, Test (negative, positive)."""
    healthy, sick = KITS[kit]
    return (healthy, round(1 - healthy, 4), round(1 - sick, 4), sick)


def _response(drug: str, genotype: str) -> tuple[float, ...]:
    """Over Sick, Effect (none, good)."""
    chances = EFFECT[drug][GENOTYPES[genotype]]
    return tuple(round(each, 4) for chance in chances for each in (1 - chance, chance))


def _truth(people: Sequence[Patient]) -> dict[str, tuple[float, ...]]:
    truth: dict[str, tuple[float, ...]] = {"season": SEASON}
    truth |= {f"roster({ward})": SHORT_STAFFED for ward in WARDS}
    for each in people:
        kind, kit, ages = WARDS[each.ward]
        truth |= {f"age({each.name})": ages, f"intake({each.name})": _intake(each.cohort)}
        truth |= {
            f"lab({each.name})": _lab(kit),
            f"stay({each.name})": (*STAY[kind][0], *STAY[kind][1]),
        }
        truth |= {
            f"response({each.name},{drug})": _response(drug, each.genotype) for drug in each.effects
        }
    return truth


def _world(people: Sequence[Patient]) -> dict[str, str]:
    world: dict[str, str] = {}
    for each in people:
        world |= {f"Age({each.name})": each.age, f"Sick({each.name})": str(each.sick).lower()}
        world |= {f"Test({each.name})": each.test, f"Stay({each.name})": each.stay}
        world |= {f"Effect({each.name},{drug})": effect for drug, effect in each.effects.items()}
    return world


def _column(values: Sequence[Any]) -> Column:
    """Lists of numbers, truth values or texts; None is null."""
    if any(isinstance(each, list) for each in values):
        lists = [each or [] for each in values]
        numbers = np.array([number for each in lists for number in each], dtype=np.float64)
        return Lists(np.cumsum([0, *map(len, lists)]), numbers)
    return np.array(values) if isinstance(values[0], bool) else texts(values)
