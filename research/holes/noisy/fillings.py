"""Ways to fill: what knows less, and the library's rules; all as tables of all individuals.

Tables of place p are arrays individuals × given × values, not necessarily normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import lifagu
from lifagu.basics.choices import Unknown
from research.divergence import divergence
from research.drafts import Floats
from research.holes.noisy.network import SHARED, VARIABLES, Bools, Ints
from research.holes.noisy.population import PRIOR, EstimatedPopulation, graph_with_holes, normalised

TOLERANCES = (0.1, 0.2, 0.4, 0.8)


class NoisyMethod(NamedTuple):
    """How `lifagu.transfer` is called, and how its tables are used.

    answers: with one table in each hole, with the mean of competing ones, or with cohorts and
    tables summed out. tolerances: the best of these is taken, as only the truth can tell; none:
    tables stay. draws: it can draw tables, which gives intervals, and answers averaged over them.
    """

    summary: str
    settings: dict[str, Any]
    answers: tuple[Unknown, ...]
    tolerances: tuple[float, ...] = ()
    needs_individuals: bool = False
    draws: bool = False


NOISY_METHODS: dict[str, NoisyMethod] = {
    "individuals": NoisyMethod("largest share, with kinds and individuals", {}, ("one", "mean")),
    "profiles": NoisyMethod(
        "individuals that agree on other tables; the tolerance that turns out best",
        {"by": "profiles"},
        ("mean",),
        TOLERANCES,
        needs_individuals=True,
    ),
    "cohorts": NoisyMethod(
        "hidden cohorts; known tables are cleaned, too",
        {"by": "cohorts"},
        ("mean", "one", "posterior"),
        draws=True,
    ),
    "auto": NoisyMethod(
        "the default: cohorts, as no two estimates agree", {"by": "auto"}, ("posterior",)
    ),
}


def uniform(subject: EstimatedPopulation) -> list[Floats]:
    """Unknown tables uniform, known ones as estimated."""
    return beside_known(subject, [np.ones_like(table[:1]) for table in subject.truth])


def pooled(subject: EstimatedPopulation) -> list[Floats]:
    """Unknown tables from all records of their place, known ones as estimated."""
    return beside_known(subject, pools(subject))


def pools(subject: EstimatedPopulation) -> list[Floats]:
    """For each place the frequencies in the records behind known tables: 1 × given × values."""
    return [
        normalised(counts[subject.known[:, place]].sum(axis=0, keepdims=True) + PRIOR)
        for place, counts in enumerate(subject.counts)
    ]


def beside_known(subject: EstimatedPopulation, fillings: Sequence[Floats]) -> list[Floats]:
    """These tables where there are holes, known ones as estimated."""
    return [
        np.where(subject.known[:, place, None, None], own, filling)
        for place, (own, filling) in enumerate(zip(subject.given, fillings, strict=True))
    ]


# ---- by the library


def tables_in(graph: lifagu.FactorGraph, subject: EstimatedPopulation) -> list[Floats]:
    """The tables of a completed graph, arguments as listed; uniform where it still has holes."""
    factors = np.argsort(subject.order).reshape(subject.known.shape)
    return [
        _of_place(graph, factors[:, place], _listed(subject, place)).reshape(truth.shape)
        for place, truth in enumerate(subject.truth)
    ]


def _listed(subject: EstimatedPopulation, place: int) -> Ints:
    """The variables of a place's factors by number: individuals × arguments."""
    people, shared = len(subject.known), subject.scenario.shared
    own = subject.places[place]
    columns = [
        np.zeros(people, dtype=np.int64)
        if name == SHARED
        else shared + len(VARIABLES) * np.arange(people) + VARIABLES.index(name)
        for name in (*own.given, own.child)
    ]
    return np.column_stack(columns)


def _of_place(graph: lifagu.FactorGraph, factors: Ints, listed: Ints) -> Floats:
    """Factors × states; a filled factor may list its arguments in another order."""
    number = graph.factor_table[factors]
    scopes = graph.arguments[graph.offsets[factors][:, None] + np.arange(listed.shape[1])]
    orders = (scopes[:, None, :] == listed[:, :, None]).argmax(axis=2)
    sizes = graph.sizes[listed[0]]
    found = np.ones((len(factors), int(sizes.prod())))
    for order in np.unique(orders, axis=0):
        here = (orders == order).all(axis=1) & (number >= 0)
        states = graph.tables.offsets[number[here]][:, None] + np.arange(found.shape[1])
        axes = sizes[np.argsort(order)]
        tables = graph.tables.values[states].reshape(-1, *axes)
        found[here] = tables.transpose(0, *(1 + order)).reshape(-1, found.shape[1])
    return found


def filled(subject: EstimatedPopulation, method: NoisyMethod) -> lifagu.Transfer:
    """The holes filled by a method; with several tolerances, by the one that is best in truth."""
    graph = graph_with_holes(subject)
    if not method.tolerances:
        return lifagu.transfer(graph, **method.settings)
    tried = [
        lifagu.transfer(graph, tolerance=tolerance, **method.settings)
        for tolerance in method.tolerances
    ]

    def error(moved: lifagu.Transfer) -> float:
        return float(table_errors(subject, tables_in(moved.averaged(), subject)).mean())

    return min(tried, key=error)


def settles(moved: lifagu.Transfer) -> bool:
    """Whether the default fills some holes by agreement, not by cohorts."""
    return any(each.status == "transferred" and each.unit != "cohort" for each in moved.record)


def table_errors(
    subject: EstimatedPopulation, tables: Sequence[Floats], which: Bools | None = None
) -> Floats:
    """KL(true ‖ filled), mean over the given combinations, of holes, place by place.

    which: of these tables instead, places × individuals.
    """
    which = ~subject.known.T if which is None else which
    return np.concatenate(
        [
            divergence(truth[wanted], normalised(table[wanted])).mean(axis=1)
            for truth, table, wanted in zip(subject.truth, tables, which, strict=True)
        ]
    )
