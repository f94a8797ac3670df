"""Transfer against independent pairwise implementations, worked cases, and laws it must obey."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from support.helpers import CASES, graph_of, groups_by_name, random_model
from support.naive import graphs as naive
from support.transfers import assert_same_factors, check_columns

FIELDS = (
    "factor",
    "status",
    "donor",
    "candidates",
    "agreeing",
    "share",
    "tie",
    "ambiguous_alignment",
)
OPTIONS = {"2 steps": {}, "4 steps": {"steps": 4}, "6 steps": {"steps": 6}}


def check(model, evidence, theta, options):
    graph = graph_of(model)
    moved = lifagu.transfer(graph, theta, evidence, **options)
    completed, records = naive.transfer(model, theta, evidence, **options)
    assert [each.factor for each in moved.record] == [each["factor"] for each in records]
    for mine, theirs in zip(moved.record, records, strict=True):
        for field in FIELDS:
            assert getattr(mine, field) == theirs[field], (field, mine, theirs)
        assert mine.alignment == (
            None if theirs["alignment"] is None else tuple(theirs["alignment"])
        )
        assert mine.unit == theirs["unit"]
        assert mine.ambiguous_assignment == theirs.get("ambiguous_assignment", False)
        assert mine.steps == theirs.get("steps", mine.steps)
        assert mine.reason
    check_columns(moved)
    assert_same_factors(moved.graph, graph_of(completed))
    groups = groups_by_name(
        graph, lifagu.colour(moved.graph, evidence, factor_start=moved.factor_start)
    )
    assert groups == tuple(naive.colour_passing(completed, evidence))
    return moved


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("seed", range(60))
def test_transfer_equals_pairwise_comparison(seed, options):
    rng = random.Random(seed)
    model, evidence = random_model(
        seed, unknown=rng.choice([0.1, 0.3, 0.6]), kinds=seed % 2 == 0, individuals=seed % 3 == 0
    )
    check(model, evidence, rng.choice([0, 0.5, 2 / 3, 1]), options)


@settings(max_examples=60, print_blob=True)
@given(
    st.integers(0, 10**9),
    st.sampled_from(list(OPTIONS.values())),
    st.sampled_from([0, 1 / 3, 0.5, 2 / 3, 1]),
)
def test_on_models_drawn_anew(seed, options, theta):
    model, evidence = random_model(seed, unknown=0.3, kinds=seed % 2 == 0, individuals=seed % 3 > 0)
    check(model, evidence, theta, options)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_transfer_long(seed):
    model, evidence = random_model(
        seed, unknown=0.3, variables=12, factors=16, kinds=seed % 2 == 0, individuals=True
    )
    for options in OPTIONS.values():
        check(model, evidence, (seed % 7) / 6, options)


def expectations():
    return [(name, place) for name, case in CASES.items() for place in range(len(case["expected"]))]


@pytest.mark.parametrize(("name", "place"), expectations())
def test_worked_cases(name, place):
    """Groups, records and marginals of every worked case."""
    case, expected = CASES[name], CASES[name]["expected"][place]
    graph, evidence = graph_of(case["model"]), case["evidence"]
    commutative = "--commutative" in expected["options"]
    to_the_letter = {"--published", "--evidence-in-roles"} & {*expected["options"]}
    options = {"commutative": commutative, "by": "lifagu" if to_the_letter else "extended"}
    moved = lifagu.transfer(graph, expected["theta"], evidence, **options)
    for mine, theirs in zip(moved.record, expected["transfers"], strict=True):
        known = mine.as_dict()
        assert {key: known[key] for key in theirs} == theirs
    groups = groups_by_name(
        graph,
        lifagu.colour(
            moved.graph, evidence, factor_start=moved.factor_start, commutative=commutative
        ),
    )
    for some, others in zip(
        groups, (expected["variable_groups"], expected["factor_groups"]), strict=True
    ):
        assert {frozenset(group) for group in some} == {frozenset(group) for group in others}
    if "marginals" in expected:
        answers = lifagu.queries(moved.graph, list(expected["marginals"]), evidence=evidence)
        assert answers[0].log_partition == pytest.approx(expected["log_partition"], rel=1e-9)
        for answer in answers:
            for label, probability in expected["marginals"][answer.variables[0]].items():
                assert answer[label] == pytest.approx(probability, abs=1e-12)
