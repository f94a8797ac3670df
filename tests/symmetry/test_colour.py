"""Colour passing: the worklist equals rounds equals an independent naive implementation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.symmetry.colour import colour_rounds
from support.helpers import graph_of, groups_by_name, random_model
from support.naive import graphs as naive


def check(model, evidence):
    graph = graph_of(model)
    colouring = lifagu.colour(graph, evidence)
    assert groups_by_name(graph, colouring) == tuple(naive.colour_passing(model, evidence))
    *_, last = colour_rounds(graph, evidence)
    assert last == colouring


@pytest.mark.parametrize("seed", range(150))
def test_worklist_equals_rounds_equals_naive(seed):
    check(
        *random_model(
            seed, unknown=0.2, variables=4 + seed % 12, factors=seed % 25, kinds=seed % 3 == 0
        )
    )


@settings(max_examples=100, print_blob=True)
@given(st.integers(0, 10**9), st.integers(2, 14), st.integers(0, 24))
def test_on_models_drawn_anew(seed, variables, factors):
    check(*random_model(seed, unknown=0.2, variables=variables, factors=factors))


@pytest.mark.parametrize("seed", range(100))
def test_commutative_worklist_equals_rounds_equals_naive(seed):
    model, evidence = random_model(seed, variables=4 + seed % 8, factors=seed % 16)
    graph = graph_of(model)
    colouring = lifagu.colour(graph, evidence, commutative=True)
    assert groups_by_name(graph, colouring) == tuple(
        naive.colour_passing(model, evidence, commutative=True)
    )
    *_, last = colour_rounds(graph, evidence, commutative=True)
    assert last == colouring


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 5000))
def test_worklist_equals_naive_long(seed):
    check(*random_model(seed, unknown=0.1, variables=20, factors=30))


def ring(size, evidence_free=True):
    places = np.arange(size)
    return lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1"]],
        variable_ranges=np.zeros(size, dtype=int),
        offsets=2 * np.arange(size + 1),
        arguments=np.column_stack((places, (places + 1) % size)).reshape(-1),
        tables=[[1, 2, 3, 4]],
        factor_tables=np.zeros(size, dtype=int),
    )


def test_a_ring_is_one_group_until_something_is_observed():
    graph = ring(7)
    assert len(lifagu.colour(graph).variable_groups) == 1
    assert len(lifagu.colour(graph, {"x0": "1"}).variable_groups) == 7
    assert len(lifagu.colour(graph, {"x0": {"0": 1, "1": 2}}).variable_groups) == 7


def test_a_long_broken_ring_is_not_quadratic():
    """Whole rounds would look at 10^5 × 10^5 arguments; the worklist sees each a few times."""
    assert len(lifagu.colour(ring(100_000), {"x0": "1"}).variable_groups) == 100_000


def test_start_colours_are_respected():
    graph = ring(6)
    assert lifagu.colour(graph, variable_start=[5, 0, 5, 0, 5, 0]).variable_colours.tolist() == [
        0,
        1,
        0,
        1,
        0,
        1,
    ]
    assert len(lifagu.colour(graph, factor_start=[0, 0, 0, 0, 0, 9]).factor_groups) == 6
    with pytest.raises(lifagu.ModelError, match="variable_start must hold 6 integers"):
        lifagu.colour(graph, variable_start=[1, 2])


@pytest.mark.parametrize("seed", range(20))
def test_relabelling_permutes_the_groups_and_nothing_else(seed):
    model, evidence = random_model(seed, variables=9, factors=14)
    rng = np.random.default_rng(seed)
    shuffled = dict(model)
    shuffled["variables"] = [
        model["variables"][place] for place in rng.permutation(len(model["variables"]))
    ]
    shuffled["factors"] = [
        model["factors"][place] for place in rng.permutation(len(model["factors"]))
    ]
    first, second = (graph_of(each) for each in (model, shuffled))
    mine, theirs = (
        groups_by_name(graph, lifagu.colour(graph, evidence)) for graph in (first, second)
    )
    for some, others in zip(mine, theirs, strict=True):
        assert {frozenset(group) for group in some} == {frozenset(group) for group in others}


def test_an_empty_graph_has_no_groups():
    assert (
        repr(lifagu.colour(lifagu.FactorGraph.build().graph()))
        == "<Colouring: 0 variable groups, 0 factor groups>"
    )
