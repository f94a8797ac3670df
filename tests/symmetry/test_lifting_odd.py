"""Lifting where kinds and individuals are declared oddly: it never fails, and answers stay."""

import json
import random

import pytest

import lifagu
from support.grounded_again import checked_lift
from support.helpers import graph_of, mostly_full, run_cli
from support.naive import graphs as naive
from support.odd import odd_model

OWNED = [{"name": name, "kind": "K", "individual": "i"} for name in "ABC"]
EQUAL = {1: [1, 2], 2: [1, 2, 2, 3], 3: [1, 2, 2, 3, 2, 3, 3, 5]}
ENGINES = ("ground", "auto")
LAST = [1, 7, 2, 5, 2, 5, 3, 4]  # symmetric in the first two arguments only


def as_model(graph):
    """A graph as in a file, with its tables listed."""
    variables = [{"name": each.name, "range": list(each.range)} for each in graph.variables]
    factors = [
        {"name": each.name, "args": list(each.arguments), "table": each.table.reshape(-1).tolist()}
        for each in graph.factors
    ]
    return {"variables": variables, "factors": factors}


def evidence_for(graph, seed):
    """None, or one or two observed values."""
    rng = random.Random(seed)
    names = rng.sample(
        list(graph.variable_names), min(len(graph.variable_names), rng.randint(0, 2))
    )
    return {name: rng.choice(graph.variable(name).range) for name in names}


def assert_answers(lifted, graph, evidence):
    """log Z and all marginals of a lifted model are those of adding up every state."""
    log_partition, expected = naive.enumerate_answers(as_model(graph), evidence)
    names = list(graph.variable_names)
    for engine in ENGINES:
        found = lifagu.log_partition(lifted, evidence=evidence, engine=engine)
        assert found == pytest.approx(log_partition, rel=1e-9, abs=1e-9)
        for name, answer in zip(
            names, lifagu.queries(lifted, names, evidence=evidence, engine=engine), strict=True
        ):
            assert dict(answer) == pytest.approx(expected[name], abs=1e-9)


def campaign(seed):
    """One odd model, swappable arguments told apart or not, groups with and without evidence."""
    given = graph_of(odd_model(seed))
    evidence = evidence_for(given, seed)
    for commutative in (False, True):
        moved = lifagu.transfer(given, evidence=evidence, commutative=commutative)
        lifted = checked_lift(moved.graph)
        split = lifagu.colour(
            moved.graph, evidence, commutative=commutative, factor_start=moved.factor_start
        )
        checked_lift(moved.graph, colouring=split)
        if not len(moved.graph.unknown):
            assert_answers(lifted, moved.graph, evidence)


@pytest.mark.parametrize("start", mostly_full(range(0, 100, 10), always=range(50)))
def test_odd_models_come_back(start):
    for seed in range(start, start + 10):
        campaign(seed)


@pytest.mark.full
@pytest.mark.parametrize("start", range(100, 2000, 100))
def test_many_odd_models_come_back(start):
    for seed in range(start, start + 100):
        campaign(seed)


# ---- one individual that owns several variables of a kind


@pytest.mark.parametrize("options", [(), ("--commutative",)])
@pytest.mark.parametrize("observed", [(), ("--evidence", "A=true")])
@pytest.mark.parametrize("count", [2, 3])
def test_one_individual_owns_all_that_a_factor_takes(capsys, tmp_path, count, observed, options):
    factors = [{"name": "f", "args": list("ABC"[:count]), "table": EQUAL[count]}]
    model = {"format": "lifagu/1", "variables": OWNED[:count], "factors": factors}
    (tmp_path / "model.json").write_text(json.dumps(model))
    status, out, _ = run_cli(capsys, "lift", tmp_path / "model.json", *observed, *options)
    assert status == 0
    assert "g0 = φ0(#X[K(X)])" in out
    status, out, _ = run_cli(capsys, "lift", tmp_path / "model.json", "--json", *observed, *options)
    assert (status, json.loads(out)["model"]["domains"]) == (0, {"X": count})


@pytest.mark.parametrize(
    ("scopes", "parfactors"),
    [
        (["A", "B", "AB"], ["K(X)", "#X[K(X)]"]),
        (["AB", "AB"], ["#X[K(X)]", "#X[K(X)]"]),
        (["AB", "BA"], ["K(X), K(Y) where X != Y"]),
        (["AB", "C"], ["#X[K(X)]"]),
    ],
)
def test_beside_other_factors(scopes, parfactors):
    factors = [
        {"name": f"f{n}", "args": list(each), "table": EQUAL[len(each)] if each != "C" else [1, 9]}
        for n, each in enumerate(scopes)
    ]
    lifted = checked_lift(graph_of({"variables": OWNED, "factors": factors}))
    assert [str(each).partition(": ")[2] for each in lifted.parfactors] == parfactors


def test_the_same_of_several_individuals():
    """With two owners the blocks are told apart by them; a hub beside the run changes nothing."""
    owned = [
        {"name": f"K.{i}.{n}", "kind": "K", "individual": i} for i in ("al", "bo") for n in (1, 2)
    ]
    names = [each["name"] for each in owned]
    hub = [{"name": "Hub"}]
    factors = [{"name": f"f{n}", "args": [*names[n : n + 2], "Hub"], "table": LAST} for n in (0, 2)]
    lifted = checked_lift(graph_of({"variables": owned + hub, "factors": factors}))
    assert str(lifted.parfactors[0]) == "g0: #M[K(X,M)], Hub"
    assert [each.constants for each in lifted.domains] == [("al", "bo"), None]
    lifted = checked_lift(graph_of({"variables": owned[:2] + hub, "factors": factors[:1]}))
    assert str(lifted.parfactors[0]) == "g0: #X[K(X)], Hub"
    assert [each.constants for each in lifted.domains] == [None]
