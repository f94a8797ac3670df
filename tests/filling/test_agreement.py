"""The default: holes whose candidates all agree are settled as LIFAGU does, cohorts fill others."""

import pickle
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu import Filling
from lifagu.errors import ModelError
from lifagu.filling.cohorts.completing import CohortTransfer
from support.crowds import Oddities, crowd
from support.helpers import CASES, graph_of
from support.naive import graphs as naive

SAME = ("status", "donor", "candidates", "agreeing", "share", "tie", "alignment", "unit", "members")


def different_tables(graph, factor):
    """How many different tables there are in places like that of a factor, pair by pair."""
    scope = graph.factor(factor).arguments
    degrees = dict.fromkeys(graph.variable_names, 0)
    for each in graph.factors:
        for name in each.arguments:
            degrees[name] += 1

    def roles(names):
        variables = [graph.variable(name) for name in names]
        return [(frozenset(v.range), degrees[v.name], v.kind or "") for v in variables]

    def looks(names):
        return sorted((sorted(labels), degree, kind) for labels, degree, kind in roles(names))

    found = set()
    for each in graph.factors:
        if each.table is None or looks(each.arguments) != looks(scope):
            continue
        number = graph.factor_names.number(each.name)
        keys = [(sorted(labels), degree, kind) for labels, degree, kind in roles(each.arguments)]
        order = sorted(range(len(keys)), key=lambda at: keys[at])
        table = graph.table(number).transpose(order)
        found.add((table.shape, tuple(table.reshape(-1).tolist())))
    return len(found)


def check_agreement(graph, **options):
    """Every hole is settled iff all its candidates agree, and then as the algorithm says."""
    plain = lifagu.transfer(graph, by="extended", **options)
    found = lifagu.transfer(graph, by="auto", **options)
    supports = graph.support
    for mine, theirs in zip(found.record, plain.record, strict=True):
        assert mine.factor == theirs.factor
        estimated = (
            theirs.donor is not None
            and supports is not None
            and bool(supports.estimated[graph.factor_names.number(theirs.donor)])
        )
        agree = theirs.status == "transferred" and theirs.share == 1.0 and theirs.tables == 1
        alone = theirs.unit == "individual" and theirs.candidates < 2
        agree &= not (alone and different_tables(graph, mine.factor) > 1)
        if mine.unit == "cohort":
            # of an individual one doubtful place keeps all its holes open
            assert not (agree and theirs.unit == "factor") or estimated
        elif mine.status == "transferred":
            assert agree
            assert not estimated
            assert mine.way == "best"
            assert mine.owner is None
            assert [getattr(mine, each) for each in SAME] == [
                getattr(theirs, each) for each in SAME
            ]
            numbers = found.graph.factor_names.number(mine.factor)
            assert (found.graph.table(numbers) == plain.graph.table(numbers)).all()
            assert found.graph.factor(mine.factor).arguments == (
                plain.graph.factor(mine.factor).arguments
            )
        else:
            assert theirs.donor is None
    return found


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_random_models_are_settled_where_all_agree(seed):
    rng = random.Random(seed)
    model = naive.random_model(
        rng, variables=8, factors=rng.randint(3, 16), unknown=0.3, zeros=0.0, ternary=0.3
    )
    check_agreement(graph_of(model))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "odd",
    [
        Oddities(cohorts=1),
        Oddities(cohorts=2, people=9),
        Oddities(cohorts=2, people=9, permuted=True, relabelled=True),
        Oddities(cohorts=2, estimated=30, exact_too=True),
        Oddities(cohorts=2, declared=False),
        Oddities(cohorts=3, between=True, no_candidate=True),
    ],
)
def test_crowds_are_settled_where_all_agree(odd, seed):
    check_agreement(crowd(seed, odd).graph)


def test_one_table_everywhere_needs_no_cohorts():
    found = check_agreement(crowd(0, Oddities(cohorts=1)).graph)
    assert not isinstance(found, CohortTransfer)
    assert {record.way for record in found.record} == {"best"}


# ---- who names a rule gets that rule


@pytest.mark.parametrize("name", CASES)
def test_cases_that_name_theta_keep_their_outcome(name):
    """By a case, where the default is another: the groups, tables and numbers that were worked."""
    case = CASES[name]
    for expected in case["expected"]:
        in_roles = "--evidence-in-roles" in expected["options"]
        asked = lifagu.open(graph_of(case["model"])).observe(case.get("evidence"))
        asked = asked.fill(theta=expected["theta"], by="lifagu" if in_roles else "extended")
        assert asked.filling.by != "auto"
        assert asked.filling.combine == "best"
        for record, wanted in zip(asked.transfer.record, expected["transfers"], strict=True):
            for key in ("factor", "status", "donor"):
                assert getattr(record, key) == wanted[key]
        if expected.get("log_partition") is not None:
            assert asked.log_partition() == pytest.approx(expected["log_partition"])
        for variable, wanted in (expected.get("marginals") or {}).items():
            assert asked.marginals()[variable] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("given_settings", "rule", "combine"),
    [
        ({}, "auto", "average"),
        ({"theta": 0.0}, "extended", "best"),
        ({"theta": 0.5}, "extended", "best"),
        ({"by": "auto"}, "auto", "average"),
        ({"by": "auto", "steps": 2}, "auto", "average"),
        ({"by": "extended", "steps": 4}, "extended", "best"),
        ({"steps": 4, "theta": 0.2}, "extended", "best"),
        ({"by": "lifagu"}, "lifagu", "best"),
        ({"by": "lifagu", "steps": 4, "theta": 0.5}, "lifagu", "best"),
        ({"combine": "best"}, "auto", "best"),
        ({"tolerance": 0.1, "keep_known": True}, "auto", "average"),
    ],
)
def test_settings_mean_a_rule_and_survive_copying(given_settings, rule, combine):
    filling = Filling(**given_settings)
    assert (filling.by, filling.combine) == (rule, combine)
    assert filling.theta == given_settings.get("theta", 0.0)
    for again in (replace(filling), pickle.loads(pickle.dumps(filling)), Filling.of(vars(filling))):
        assert again == filling
        assert hash(again) == hash(filling)
    assert replace(filling, seed=5).by == rule
    assert replace(filling, combine="best") == Filling(**given_settings | {"combine": "best"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": "auto", "theta": 0.5},
        {"by": "auto", "steps": 4},
        {"steps": 4},
        {"by": "extended", "combine": "average"},
        {"by": "lifagu", "combine": "average"},
        {"by": "extended", "keep_known": True},
        {"by": "published"},
        {"by": None},
        {"combine": "often"},
    ],
)
def test_settings_that_contradict_each_other(wrong):
    with pytest.raises(ModelError) as refused:
        Filling(**wrong)
    assert "\n" not in str(refused.value)


def test_transfer_is_the_published_idea_and_a_case_is_not():
    graph = crowd(1, Oddities(people=9)).graph
    assert lifagu.transfer(graph).filling.by == "extended"
    assert not isinstance(lifagu.transfer(graph), CohortTransfer)
    assert isinstance(lifagu.open(graph).transfer, CohortTransfer)
    assert lifagu.open(graph).fill(theta=0.0).transfer.filling.by == "extended"


def test_a_bound_is_told_where_nothing_competes():
    """The default settles such holes, so how far answers are off is known as for any rule."""
    builder = lifagu.FactorGraph.build()
    for number, scale in enumerate((1.0, 1.01, 0.995, None)):
        builder.variable(f"X{number}", kind="X")
        table = None if scale is None else [2 * scale, 3.0]
        builder.factor(f"f{number}", [f"X{number}"], table)
    case = lifagu.open(builder.graph()).fill(tolerance=0.05)
    answer = case.ask("X3")
    named = lifagu.open(builder.graph()).fill(tolerance=0.05, theta=0.0).ask("X3")
    assert answer.notes == named.notes
    assert "is off by at most" in answer.notes[-1]
    assert case.merging().bound is not None
