"""Steady places: one table behind all factors of an individual, known once and hidden once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import lifagu
from lifagu.filling.cohorts.place_evidence import Counts, Owners
from lifagu.filling.cohorts.posterior import CohortPosterior
from lifagu.filling.cohorts.steady_places import is_steady
from lifagu.filling.cohorts.varied_tables import ENOUGH, varied_tables
from lifagu.questions.posterior_model import posterior_model

MILD, STRICT = [0.1, 0.3, 0.6], [0.7, 0.2, 0.1]
RATINGS = ("1", "2", "3")


def _lecturers(tables, support=None, holes=3, each=3):
    """Lecturers with so many ratings each, all of one table; the last one's tables are unknown."""
    builder = lifagu.FactorGraph.build()
    for number, table in enumerate([*tables, None]):
        for student in range(holes if table is None else each):
            name = f"Rating({number},{student})"
            builder.variable(name, RATINGS, kind="Rating", individual=f"lecturer {number}")
            more = {"support": support, "prior": 0} if table is not None and support else {}
            builder.factor(f"rated({number},{student})", [name], table, **more)
    return builder.graph()


def _mixed(rng, many, records):
    """Tables that vary from lecturer to lecturer, as they are counted from so many records."""
    own = rng.dirichlet([2.0, 2.0, 2.0], size=many)
    return [(rng.multinomial(records, table) / records).tolist() for table in own]


def test_what_is_steady():
    twice = np.repeat(np.arange(8), 2)
    nobody = np.zeros(0, dtype=np.int64)
    assert is_steady(twice, twice % 4, False, nobody)
    assert not is_steady(twice, np.arange(16) % 4, False, nobody)  # one's tables differ
    assert not is_steady(np.arange(8), np.arange(8), False, nobody)  # one table each
    assert not is_steady(twice[:4], twice[:4], False, nobody)  # by chance, perhaps
    assert is_steady(twice[:4], twice[:4], True, nobody)  # not by chance if they are counted
    assert not is_steady(twice, twice % 4, True, np.array([3]))  # told by tables beside


def test_ratings_of_one_lecturer_tell_of_each_other():
    """One hidden table: P(third | two) is by Bayes' rule over the tables, not over each hole's."""
    graph = _lecturers([MILD] * 7 + [STRICT] * 5)
    case = lifagu.open(graph)
    joint = case.transfer.joint
    assert len(joint.tables) == 1
    assert len(joint.cohorts) == 0
    place = case.transfer.posterior.places.places[0]
    assert place.steady
    tables, shares = place.shown.tables[joint.tables.choices], joint.tables.shares
    for first, second in itertools.product(range(3), repeat=2):
        seen = {"Rating(12,0)": RATINGS[first], "Rating(12,1)": RATINGS[second]}
        weights = shares * tables[:, first] * tables[:, second]
        expected = weights @ tables / weights.sum()
        answer = case.observe(seen).ask("Rating(12,2)")
        assert answer.probabilities == pytest.approx(expected, rel=1e-9)
    strict = case.observe({"Rating(12,0)": "1", "Rating(12,1)": "1"}).ask("Rating(12,2)")
    assert strict["1"] > 0.6 > case.ask("Rating(12,2)")["1"]


def test_lecturers_who_vary_tell_by_their_own_ratings():
    """Where tables vary from one to the next, the sum goes over tables as various as they are."""
    rng = np.random.default_rng(5)
    case = lifagu.open(_lecturers(_mixed(rng, 150, 40), support=40, holes=5))
    moved = case.transfer
    place = moved.posterior.places.places[0]
    assert len(place.known) == 150  # the same records count once
    assert len(place.others) == 300
    joint = posterior_model(moved)
    (hidden,) = {joint.opened[each] for each in moved.unknown.tolist()}
    hole = joint.graph.factors[int(moved.unknown[0])]
    tables, shares = np.asarray(hole.table), joint.tables.shares
    assert hidden == 0
    seen = {f"Rating(150,{student})": "1" for student in range(4)}
    weights = shares * tables[:, 0] ** 4
    answer = case.observe(seen).ask("Rating(150,4)")
    assert answer.probabilities == pytest.approx(weights @ tables / weights.sum(), rel=1e-9)
    # a Dirichlet distribution (2, 2, 2) gives (2 + 4) / (6 + 4)
    assert answer["1"] == pytest.approx(0.6, abs=0.08)
    assert case.ask("Rating(150,4)")["1"] == pytest.approx(1 / 3, abs=0.05)


def test_tables_are_as_various_as_those_behind_the_estimates():
    rng = np.random.default_rng(2)
    graph = _lecturers(_mixed(rng, 400, 30), support=30)
    moved = lifagu.transfer(graph, by="auto")
    posterior: CohortPosterior = moved.posterior
    evidence = posterior.places.places[0].shown.evidence
    pooled = next(
        (sort, found)
        for sort, found in enumerate(posterior.cohorts.found)
        if np.isfinite(found.places[0].spread) and len(found.places[0].atoms) == 1
    )
    here, belonging = pooled[1].places[0], posterior.belonging[pooled[0]][posterior.kind_of]
    varied = varied_tables(here, evidence, belonging, 1.0)
    assert len(varied.tables) == ENOUGH
    assert varied.tables.sum(axis=-1) == pytest.approx(1)
    assert np.bincount(varied.origin, varied.shares) == pytest.approx(1)
    tables = varied.tables[:, 0]
    mean = varied.shares @ tables
    assert mean == pytest.approx(here.atoms[0, 0], abs=0.01)
    variance = varied.shares @ (tables - mean) ** 2
    # of (2, 2, 2): 1/3 · 2/3 / 7; groups of tables vary a little less
    assert variance == pytest.approx(np.full(3, 2 / 63), rel=0.2)


def test_what_does_not_vary_stays_as_it_is():
    raw = np.full((6, 1, 3), 10.0)
    evidence = Counts(raw, Owners(np.arange(6), 6))
    found = lifagu.transfer(_lecturers([MILD] * 12, support=200), by="auto").posterior
    here = found.cohorts.found[0].places[0]
    assert not np.isfinite(here.spread)
    varied = varied_tables(here, evidence, np.ones((6, len(here.choices))), 1.0)
    assert np.array_equal(varied.tables, here.atoms)


def test_cleaned_tables_go_to_all_factors_of_an_individual():
    """In whatever order their arguments are listed, and a hole of each has the same table."""
    rng = np.random.default_rng(8)
    moved = lifagu.transfer(_lecturers(_mixed(rng, 30, 15), support=15), by="auto")
    for graph in (moved.averaged(), moved.graph):
        numbers = graph.factor_table.reshape(-1, 3)
        assert (numbers == numbers[:, :1]).all()
        assert (numbers >= 0).all()
    assert len(np.unique(moved.averaged().factor_table)) > 10
