"""The methods compared: every way of the transfer, what knows less, and what knows more."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

import lifagu
from lifagu.basics.choices import Unknown
from research.drafts import FilledTables, Floats
from research.holes.hospital import DrawnHospital, FactorOrigin


class Method(NamedTuple):
    """How `lifagu.transfer` is called; individuals: whether the graph declares them.

    draws: it has a posterior for each individual, and draws completions from it. answers: the ways
    to answer that are measured.
    """

    summary: str
    settings: dict[str, Any]
    individuals: bool = True
    draws: bool = False
    answers: tuple[Unknown, ...] = ("one", "mean", "mixture", "bounds")


METHODS: dict[str, Method] = {
    "published": Method("the paper to the letter", {"published": True}),
    "structure": Method(
        "largest share, roles aligned, no background knowledge", {"structure_only": True}
    ),
    "kinds": Method("largest share, with kinds", {}, individuals=False),
    "individuals": Method("largest share, with kinds and individuals", {}),
    "steps-4": Method("neighbourhoods of 4 steps, with kinds", {"steps": 4}),
    "steps-6": Method("neighbourhoods of 6 steps, with kinds", {"steps": 6}),
    "profiles": Method(
        "largest share among individuals that agree on other, informative tables",
        {"profiles": True},
    ),
    "cohorts": Method(
        "hidden cohorts of individuals, with a probability for each table",
        {"by": "cohorts"},
        draws=True,
        answers=("one", "mean", "mixture", "bounds", "posterior"),
    ),
    "auto": Method(
        "the default: LIFAGU where all candidates agree, else cohorts",
        {"by": "auto"},
        answers=("one", "posterior"),
    ),
}


def transferred(hospital: DrawnHospital, method: Method) -> lifagu.Transfer:
    """The holes filled by a method, with θ = 0."""
    graph = hospital.draft.without(hospital.hidden, individuals=method.individuals)
    return lifagu.transfer(graph, 0.0, hospital.evidence, **method.settings)


def ones(hospital: DrawnHospital) -> FilledTables:
    """Every unknown factor dropped."""
    return dict.fromkeys(hospital.hidden)


def random_donors(hospital: DrawnHospital, rng: np.random.Generator) -> FilledTables:
    """For each unknown factor the table of a known factor of its kind, whichever."""
    known = _known_tables(hospital)

    def anyone(tables: list[Floats]) -> Floats | None:
        return tables[rng.integers(len(tables))] if tables else None

    return {
        factor: _listed(origin, anyone(known[origin.kind]))
        for factor, origin in hospital.unknown.items()
    }


def mean_tables(hospital: DrawnHospital) -> FilledTables:
    """For each unknown factor the mean of the known tables of its kind, each scaled to sum 1."""
    means = {
        kind: np.mean([table / table.sum() for table in tables], axis=0)
        for kind, tables in _known_tables(hospital).items()
    }
    return {
        factor: _listed(origin, means.get(origin.kind))
        for factor, origin in hospital.unknown.items()
    }


def _known_tables(hospital: DrawnHospital) -> dict[str, list[Floats]]:
    """The known tables of each kind of factor, axes in the order of the kind's arguments."""
    known = defaultdict(list)
    for factor, origin in hospital.known.items():
        table = hospital.draft.factors[factor].table
        known[origin.kind].append(table.transpose(np.argsort(origin.order)))
    return known


def _listed(origin: FactorOrigin, table: Floats | None) -> Floats | None:
    """A table with its axes in the order in which the factor lists its arguments."""
    return None if table is None else np.ascontiguousarray(table.transpose(origin.order))
