"""Likelihoods that leave one label possible are an observation of it, wherever evidence counts."""

import json
import math
import random
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.graph.evidence import Evidence
from lifagu.inference.propagation import propagate
from support.helpers import graph_of, random_model, run_cli
from support.same_results import assert_same_groups

CHAIN = {
    "variables": [{"name": name} for name in "ABC"],
    "factors": [
        {"name": "f", "args": ["A"], "table": [1, 2]},
        {"name": "g", "args": ["A", "B"], "table": [1, 2, 3, 4]},
        {"name": "u", "args": ["B", "C"], "table": None},
    ],
}


def unsure_of_nothing(graph, evidence, rng):
    """The same evidence as likelihoods of one label each, and the log of what they weigh."""
    weights = {name: rng.choice([1, 0.5, 3.0]) for name in evidence}
    likelihoods = {
        name: {each: weights[name] * (each == label) for each in graph.variable(name).range}
        for name, label in evidence.items()
    }
    return likelihoods, math.fsum(map(math.log, weights.values()))


def without_first_table(graph):
    model = json.loads(lifagu.io.to_json(graph))
    model["factors"][0]["table"] = None
    return graph_of(model)


@pytest.fixture(params=range(12))
def told(request):
    """A graph, its evidence as labels and as likelihoods, and the log weight of the latter."""
    model, evidence = random_model(request.param, variables=6, factors=8, ternary=0.5, zeros=0)
    graph = graph_of(model)
    evidence = evidence or {"B0.0": graph.variable("B0.0").range[0]}
    return graph, evidence, *unsure_of_nothing(graph, evidence, random.Random(request.param))


@pytest.mark.parametrize("weight", [1, 0.5])
def test_they_cut_questions_off_from_unknown_factors(weight, capsys, tmp_path):
    seen, graph = {"B": {"false": 0, "true": weight}}, graph_of(CHAIN)
    assert lifagu.query(graph, "A", evidence=seen)["true"] == pytest.approx(0.8)
    case = lifagu.open(graph).unfilled().observe(seen)
    assert case.marginals()["A"]["true"] == pytest.approx(0.8)
    (tmp_path / "m.json").write_text(json.dumps({"format": "lifagu/1", **CHAIN, "evidence": seen}))
    status, out, err = run_cli(capsys, "query", tmp_path / "m.json", "A")
    assert (status, err, out.splitlines()[0]) == (0, "", "P(A | B=true)")


@pytest.mark.parametrize("engine", ["auto", "lifted", "ground"])
def test_answers_are_those_of_labels_and_log_z_has_the_weight(told, engine):
    graph, hard, soft, weight = told
    names = list(graph.variable_names)
    mine, theirs = (lifagu.queries(graph, names, evidence=e, engine=engine) for e in (soft, hard))
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-9, atol=1e-12)
    assert mine[0].log_partition == pytest.approx(theirs[0].log_partition + weight, abs=1e-9)


def test_the_most_probable_assignment_and_belief_propagation_know_them(told):
    graph, hard, soft, weight = told
    first, second = (lifagu.map_assignment(graph, evidence=each) for each in (soft, hard))
    assert first.log_weight == pytest.approx(second.log_weight + weight, abs=1e-9)
    assert all(first.assignment[name] == label for name, label in hard.items())
    with_groups = lifagu.colour(graph, soft)
    some, others = (propagate(graph, each, with_groups, iterations=50) for each in (soft, hard))
    assert some.log_partition_estimate == pytest.approx(
        others.log_partition_estimate + weight, abs=1e-6
    )


def test_groups_and_the_published_rule_see_labels(told):
    graph, hard, soft, _ = told
    assert lifagu.colour(graph, soft) == lifagu.colour(graph, hard)
    holed = without_first_table(graph)
    found, expected = (
        lifagu.transfer(holed, 0, each, by="lifagu").record[0] for each in (soft, hard)
    )
    assert found == expected


def test_numbers_and_names_come_to_the_same():
    graph = graph_of(CHAIN)
    one = (np.array([0.0, 1.0]),)
    by_number = graph.evidence(Evidence(soft_variables=np.array([1]), likelihoods=one))
    assert (by_number.variables.tolist(), by_number.values.tolist()) == ([1], [1])
    assert (len(by_number.soft_variables), by_number.log_weight) == (0, 0)
    named = graph.observations({"B": {"false": 0, "true": 1}, "C": {"false": 2, "true": 0}})
    assert dict(named) == {"B": "true", "C": {"false": 2, "true": 0}}
    assert named.bound.values.tolist() == [1, 0]
    assert len(named.bound.without(np.array([1, 2]), 3).about) == 0
    again = graph.layered([named, {"B": "false"}])
    assert (again["B"], graph.evidence(again).log_weight) == ("false", math.log(2))


def test_what_contradicts_itself_is_impossible():
    graph = graph_of({**CHAIN, "factors": CHAIN["factors"][:2]})
    hard = np.array([1]), np.array([0])
    both = Evidence(*hard, np.array([1]), (np.array([0.0, 1.0]),))
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        lifagu.query(graph, "A", evidence=both)


@pytest.mark.parametrize("weight", [1, 0.25])
def test_relational_models_stay_lifted_and_cut(weight):
    model = lifagu.ParfactorGraph.build().domain("P", 1000).relation("Sick", "P").relation("Epid")
    model = model.relation("Rest")
    model = model.parfactor("g", ["Sick(X)", "Epid"], [4, 1, 2, 3])
    model = model.parfactor("u", ["Epid", "Rest"], None).model()
    for name in ("Sick(1..300)", "Epid"):
        soft = {"Epid": "true", name: {"false": 0, "true": weight}}
        hard = {"Epid": "true", name: "true"}
        answers = [
            lifagu.open(model).unfilled().observe(each).ask("Sick(1000)") for each in (soft, hard)
        ]
        assert answers[0]["true"] == pytest.approx(answers[1]["true"], rel=1e-12)
    whole = lifagu.ParfactorGraph.build().domain("P", 1000).relation("Sick", "P").relation("Epid")
    whole = whole.parfactor("g", ["Sick(X)", "Epid"], [4, 1, 2, 3]).model()
    soft, hard = {"Sick(1..300)": {"false": 0, "true": weight}}, {"Sick(1..300)": "true"}
    first, second = (lifagu.open(whole).observe(each).log_partition() for each in (soft, hard))
    assert first == pytest.approx(second + 300 * math.log(weight), rel=1e-12)


@pytest.mark.parametrize("told", range(4), indirect=True)
def test_where_the_data_is_they_are_labels_too(told, tmp_path):
    graph, hard, soft, weight = told
    holed = without_first_table(graph)
    for number, (seen, each) in enumerate([(soft, graph), (hard, graph), (soft, holed)]):
        lifagu.write(each, tmp_path / f"{number}", seen)
    one, other = (
        lifagu.open(tmp_path / name, on=on) for name, on in (("0", "duckdb"), ("1", "memory"))
    )
    assert_same_groups(one.groups(), other.groups())
    assert one.log_partition() == pytest.approx(other.log_partition() + weight, abs=1e-9)
    place = lifagu.open(tmp_path / "2", on="duckdb").fill(by="lifagu")
    memory = lifagu.open(tmp_path / "2", on="memory").fill(by="lifagu")
    assert_same_groups(place.groups(), memory.groups())


def test_templates_read_them_by_sql(tmp_path):
    with sqlite3.connect(tmp_path / "data.sqlite") as database:
        database.execute("CREATE TABLE person (id TEXT, no REAL, yes REAL)")
        rows = [("al", 0, 1), ("bo", 0, 0.5), ("cy", 0.5, 0.5), ("di", None, None)]
        database.executemany("INSERT INTO person VALUES (?, ?, ?)", rows)
    model = {
        "format": "lifagu/1",
        "source": str(tmp_path / "data.sqlite"),
        "domains": {"P": {"sql": "SELECT id FROM person ORDER BY id"}},
        "relations": [{"name": "Ill", "of": ["P"], "range": ["no", "yes"]}],
        "parfactors": [{"name": "g", "args": ["Ill(X)"], "table": [3, 1]}],
        "evidence": {"Ill": {"sql": "SELECT id, no, yes FROM person"}},
    }
    (tmp_path / "t.json").write_text(json.dumps(model))
    case = lifagu.open(tmp_path / "t.json")
    seen = case.graph.evidence(case.graph_evidence)
    names = case.graph.variable_names
    assert [names[each] for each in seen.variables] == ["Ill(al)", "Ill(bo)"]
    assert [names[each] for each in seen.soft_variables] == ["Ill(bo)", "Ill(cy)"]
    assert case.log_partition() == pytest.approx(math.log(1 * 0.5 * 2 * 4))
