"""The methods compared: every way of the transfer, what knows less, and what knows more."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

import lifagu
from lifagu.experiments.drafts import Filling, Floats
from lifagu.experiments.holes.hospital import Hospital


class Method(NamedTuple):
    """How `lifagu.transfer` is called; individuals: whether the graph declares them."""

    summary: str
    settings: dict[str, Any]
    individuals: bool = True


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
}


def transferred(hospital: Hospital, method: Method) -> lifagu.Transfer:
    """The holes filled by a method, with θ = 0."""
    graph = hospital.draft.without(hospital.hidden, individuals=method.individuals)
    return lifagu.transfer(graph, 0.0, hospital.evidence, **method.settings)


def ones(hospital: Hospital) -> Filling:
    """Every unknown factor dropped."""
    return dict.fromkeys(hospital.hidden)


def random_donors(hospital: Hospital, rng: np.random.Generator) -> Filling:
    """For each unknown factor the table of a known factor of its kind, whichever."""
    known = _known_tables(hospital)
    return {
        factor: _listed(hospital, factor, _any(known[_kind(hospital, factor)], rng))
        for factor in hospital.hidden
    }


def mean_tables(hospital: Hospital) -> Filling:
    """For each unknown factor the mean of the known tables of its kind, each scaled to sum 1."""
    known = _known_tables(hospital)
    means = {
        kind: np.mean([table / table.sum() for table in tables], axis=0)
        for kind, tables in known.items()
    }
    return {
        factor: _listed(hospital, factor, means.get(_kind(hospital, factor)))
        for factor in hospital.hidden
    }


def _known_tables(hospital: Hospital) -> dict[str, list[Floats]]:
    """The known tables of each kind of factor, axes in the order of the kind's arguments."""
    known = defaultdict(list)
    hidden = set(hospital.hidden)
    for factor, place in enumerate(hospital.places):
        if place and factor not in hidden:
            known[place.kind].append(
                hospital.draft.factors[factor].table.transpose(np.argsort(place.order))
            )
    return known


def _kind(hospital: Hospital, factor: int) -> str:
    place = hospital.places[factor]
    return place.kind if place else ""


def _any(tables: list[Floats], rng: np.random.Generator) -> Floats | None:
    return tables[rng.integers(len(tables))] if tables else None


def _listed(hospital: Hospital, factor: int, table: Floats | None) -> Floats | None:
    """A table with its axes in the order in which the factor lists its arguments."""
    place = hospital.places[factor]
    return (
        table
        if table is None or place is None
        else np.ascontiguousarray(table.transpose(place.order))
    )
