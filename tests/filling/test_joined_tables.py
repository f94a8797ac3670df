"""All places computed together against one by one, and models at the edge of what there can be."""

import numpy as np
import pytest

import lifagu
from lifagu.basics.log_gamma import log_evidence
from lifagu.filling.cohorts import joined_tables, posterior
from lifagu.filling.cohorts.choosing import _near
from lifagu.filling.cohorts.joined_tables import JoinedTables
from lifagu.filling.cohorts.place_evidence import Counts, Owners, TableTokens
from lifagu.filling.cohorts.place_tables import CONCENTRATIONS, LEAST, OwnTables, pair_gains
from support.cohort_models import by_cohorts

PEOPLE = 12


def shown(rng):
    """Counts with two combinations, several rows of some; few and many exact tables."""
    owner = np.sort(rng.integers(PEOPLE, size=20))
    some = np.flatnonzero(rng.random(PEOPLE) < 0.7)
    return [
        Counts(rng.poisson(3.0, (20, 2, 3)).astype(float), Owners(owner, PEOPLE), 8.0),
        TableTokens(rng.integers(4, size=20), 4, Owners(owner, PEOPLE)),
        TableTokens(rng.integers(50, size=len(some)), 50, Owners(some, PEOPLE)),
    ]


@pytest.mark.parametrize("dense", [0, 32, 100])
@pytest.mark.parametrize("seed", range(3))
def test_places_together_are_the_places_one_by_one(seed, dense, monkeypatch):
    monkeypatch.setattr(joined_tables, "DENSE", dense)
    rng = np.random.default_rng(seed)
    evidence, weights = shown(rng), rng.dirichlet(np.ones(3), PEOPLE)
    joined = JoinedTables(evidence)
    places = [OwnTables(each, np.ones(PEOPLE)) for each in evidence]
    joined.update(places, weights, tune=True)
    gains, likelihood = np.zeros((3, 3)), np.zeros((PEOPLE, 3))
    for place, each in zip(places, evidence, strict=True):
        assert place.totals == pytest.approx(each.totals(weights[each.owners.of]))
        tried = [
            log_evidence(place.totals, value * place.pooled + LEAST).sum()
            for value in CONCENTRATIONS
        ]
        assert place.concentration == CONCENTRATIONS[np.argmax(tried)]
        tables = place.totals + place.prior
        assert place.tables == pytest.approx(tables / tables.sum(axis=-1, keepdims=True))
        likelihood += each.owners.summed(each.log_likelihood(np.log(place.tables)))
        gains += pair_gains(place.totals, place.prior)
    together = joined.beside([place.tables for place in places])
    assert joined.log_likelihood(np.log(together)) == pytest.approx(likelihood)
    totals = joined.beside([place.totals for place in places])
    found = joined.pair_gains(totals, joined.prior(places))
    upper = np.triu_indices(3, 1)
    assert found[upper] == pytest.approx(gains[upper])
    alone = np.eye(PEOPLE)[:, [5]]
    assert joined.shown_by(5) == pytest.approx(joined.totals(alone)[0])


def test_sorts_far_behind_are_left_out_but_for_the_best_that_shares():
    rng = np.random.default_rng(0)
    best = rng.normal(size=400)
    scores = np.column_stack((best, best + rng.normal(0, 1, 400) - 0.05, best - 1, best - 2))
    assert _near(scores, [False] * 4).tolist() == [0, 1]
    assert _near(scores, [False, False, True, True]).tolist() == [0, 1, 2]


def people(tables, hidden=0.2, seed=0, labels=("a", "b"), support=None, count=20):
    """People with two factors each, P(X) and P(Y), whose tables are drawn from some."""
    rng = np.random.default_rng(seed)
    build = lifagu.FactorGraph.build()
    for person in range(count):
        which = rng.integers(len(tables))
        for name in "XY":
            build.variable(f"{name}{person}", labels, kind=name, individual=f"p{person}")
            table = None if rng.random() < hidden else tables[which]
            given = {} if support is None or table is None else {"support": support}
            build.factor(f"f{name}{person}", [f"{name}{person}"], table, **given)
    return build.graph()


def test_pieces_of_holes_change_nothing(monkeypatch):
    graph = people([[1, 2], [2, 1], [5, 1]], count=40)
    whole = by_cohorts(graph)
    monkeypatch.setattr(posterior, "MOST_ENTRIES", 1)
    pieces = by_cohorts(graph)
    for one, other in zip(pieces.record, whole.record, strict=True):
        assert (one.donor, one.tables, one.agreeing) == (other.donor, other.tables, other.agreeing)
        assert one.share == pytest.approx(other.share)
    for one, other in zip(pieces.averaged().factors, whole.averaged().factors, strict=True):
        assert one.table == pytest.approx(other.table)


@pytest.mark.parametrize(
    "graph",
    [
        lifagu.FactorGraph.build().graph(),
        people([[1, 2]], hidden=1.0),
        people([[1, 2], [2, 1]], hidden=0.0),
        people([[1, 2], [2, 1]], count=1),
        people([[1, 2], [2, 1]], count=1, hidden=0.5),
        people([[3.0], [2.0]], labels=("only",)),
        people([[3.0], [2.0]], labels=("only",), support=4),
        people([[1, 0], [0, 1], [1, 1]]),
        people([[1, 0], [0, 1], [1, 1]], support=30),
        people([[1e300, 2e300], [1e300, 1e-300]]),
        people([[0.5, 0.5], [0.2, 0.8]], support=0),
        people([[0.5, 0.5], [0.2, 0.8]], support=1e9),
        people(np.random.default_rng(0).dirichlet(np.ones(2), 20).tolist()),
    ],
)
def test_models_at_the_edge_are_filled_with_numbers(graph):
    moved = by_cohorts(graph)
    for factor in moved.graph.factors:
        assert factor.table is None or (np.isfinite(factor.table).all() and factor.table.any())
    known = {factor.name[:2] for factor in graph.factors if factor.table is not None}
    fillable = [each for each in graph.unknown if graph.factor_names[int(each)][:2] in known]
    assert moved.transferred.tolist() == fillable
    assert len(list(moved.record)) == len(graph.unknown)
