"""Relational models: what they mean (as a naive grounding says), their looks, and mistakes."""

import itertools
import json
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.relational.ground_tables import histogram_of_each
from lifagu.relational.grounding import expand_evidence
from lifagu.relational.parfactor_graph import Domain, Relation
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.parsing import parse_comparison, parse_ground
from lifagu.relational.terms import constant_text
from support.helpers import ROOT, SCHEMA, run_cli
from support.naive.grounding import naive_scopes
from support.relational_models import LIFTED, people, random_relational, relational, scopes

# ---- an independent, naive grounding


@pytest.mark.parametrize("seed", range(150))
def test_grounding_is_the_naive_one(seed):
    model = random_relational(random.Random(seed))
    read = relational(**model)
    graph = lifagu.ground(read)
    expected = naive_scopes(model)
    assert scopes(graph) == expected
    assert set(graph.variable_names) == {"P"} | {each for _, scope, _ in expected for each in scope}
    again = lifagu.io.from_json(lifagu.io.to_json(read))
    assert again == read
    assert lifagu.ground(again) == graph
    assert lifagu.io.from_json(lifagu.io.to_json(graph)) == graph
    SCHEMA.validate(json.loads(lifagu.io.to_json(read)))
    for number, name in enumerate(graph.variable_names):
        assert graph.variable_names[number] == name
        assert graph.variable_names.number(name) == number
    for number, name in enumerate(graph.factor_names):
        assert graph.factor_names.number(name) == number


@pytest.mark.parametrize("path", LIFTED, ids=lambda path: path.stem)
def test_closed_forms(path):
    """Answers and log Z known in closed form, at the sizes where grounding is quick."""
    asked = 0
    for case in json.loads(path.read_text())["cases"]:
        if math.prod(case["model"]["domains"].values()) > 100:
            continue
        model = lifagu.io.from_json(json.dumps(case["model"]))
        graph = lifagu.ground(model)
        evidence = expand_evidence(model, case["evidence"], graph)
        answer = lifagu.query(graph, *case["query"], evidence=evidence)
        np.testing.assert_allclose(
            answer.probabilities.reshape(-1), list(map(float, case["answer"])), atol=1e-9
        )
        assert answer.log_partition == pytest.approx(case["log_partition"], rel=1e-9)
        asked += 1
    assert asked > 5


# ---- what grounding does


@pytest.mark.parametrize(
    ("where", "count"), [([], 9), (["X != Y"], 6), (["X != Y", "X = 2"], 2), (["X != 1"], 6)]
)
def test_self_joins(where, count):
    parfactor = {"name": "g", "args": ["Sick(X)", "Sick(Y)"], "where": where, "table": [1, 2, 3, 4]}
    graph = lifagu.ground(relational(**people(parfactors=[parfactor])))
    assert len(graph.factors) == count
    diagonals = [each for each in graph.factors if len(each.arguments) == 1]
    assert all(each.table.tolist() == [1, 4] for each in diagonals)
    assert len(diagonals) == {9: 3, 6: 0 if "X != Y" in where else 2, 2: 0}[count]


def test_arguments_that_are_always_the_same():
    parfactor = {
        "name": "g",
        "args": ["Sick(X)", "Epid", "Sick(X)"],
        "table": [1, 2, 3, 4, 5, 6, 7, 8],
    }
    factor = lifagu.ground(relational(**people(1, parfactors=[parfactor]))).factor("g(1)")
    assert factor.arguments == ("Sick(1)", "Epid")
    assert factor.table.tolist() == [[1, 3], [6, 8]]


def test_a_diagonal_of_zeros_makes_everything_impossible():
    parfactor = {"name": "g", "args": ["Sick(X)", "Sick(Y)"], "table": [0, 1, 2, 0]}
    graph = lifagu.ground(relational(**people(2, parfactors=[parfactor])))
    assert graph.factor("g(1,1)").table.tolist() == [0, 0]
    assert graph.factor("g(1,2)").table.tolist() == [[0, 1], [2, 0]]
    with pytest.raises(lifagu.NoAnswerError):
        lifagu.log_partition(graph)


@pytest.mark.parametrize(
    ("key", "names"), [("in", ["g(1,3)", "g(2,1)"]), ("not_in", ["g(1,2)", "g(2,3)"])]
)
def test_explicit_relations(key, names):
    rows = (
        [[2, 1], [1, "3"], [2, 1]]
        if key == "in"
        else [[1, 1], [1, 3], [2, 1], [2, 2], [3, 1], [3, 2], [3, 3]]
    )
    constraint = {"vars": ["X", "Y"], key: rows}
    parfactor = {"name": "g", "args": ["Friends(X,Y)"], "where": [constraint], "table": [1, 2]}
    graph = lifagu.ground(relational(**people(parfactors=[parfactor])))
    assert list(graph.factor_names) == names


def test_long_chains_of_explicit_relations_are_joined_not_multiplied():
    size = 5_000
    rows = [[each, each + 1] for each in range(1, size)]
    where = [{"vars": ["X", "Y"], "in": rows}, {"vars": ["Y", "Z"], "in": rows}]
    parfactor = {
        "name": "g",
        "args": ["Sick(X)", "Sick(Y)", "Sick(Z)"],
        "where": where,
        "table": None,
    }
    graph = lifagu.ground(relational(**people(size, parfactors=[parfactor])))
    assert len(graph.factors) == size - 2
    assert graph.factors[5].arguments == ("Sick(6)", "Sick(7)", "Sick(8)")


@pytest.mark.parametrize("size", [0, 1])
def test_small_domains(size):
    parts = people(
        size,
        parfactors=[
            {"name": "g", "args": ["Sick(X)", "Epid"], "table": [1, 2, 3, 4]},
            {"name": "h", "args": ["Friends(X,Y)"], "where": ["X != Y"], "table": [1, 2]},
        ],
    )
    graph = lifagu.ground(relational(**parts))
    assert list(graph.variable_names) == ["Epid", "Sick(1)"][: size + 1]
    assert len(graph.factors) == size
    assert lifagu.log_partition(graph) == pytest.approx(math.log(10 if size else 2))


def test_counting_formulas():
    assert histogram_of_each(1, 3).tolist() == [2, 1, 0], "lexicographic: (0,0,1), (0,1,0), (1,0,0)"
    assert histogram_of_each(0, 2).tolist() == [0]
    model = people(
        3,
        parfactors=[
            {"name": "g", "args": ["#X[Sick(X)]", "Epid"], "table": [1, 2, 3, 4, 5, 6, 7, 8]}
        ],
    )
    graph = lifagu.ground(relational(**model))
    assert graph.factor("g").arguments == ("Sick(1)", "Sick(2)", "Sick(3)", "Epid")
    assert graph.factor("g").table[1, 1, 1].tolist() == [1, 2], "nobody is false"
    assert graph.factor("g").table[0, 0, 0].tolist() == [7, 8]
    assert scopes(graph) == naive_scopes(model)


@pytest.mark.parametrize(
    ("args", "where", "states"),
    [
        (["#X[Friends(X,Y)]", "Sick(Y)"], [], 8),
        (["#X[Friends(X,Y)]", "Sick(Y)"], ["X != Y"], 6),
        (["#X[Sick(X)]", "Sick(Y)"], [], 8),
        (["#X[Sick(X)]"], ["X != 2"], 3),
        (["#X[Sick(X)]", "#Y[Friends(Y,Y)]"], ["Y = 1"], 8),
        (["#X[Friends(X,Y)]", "Sick(Z)"], ["X != Y", "X != Z", "Y != Z"], 4),
    ],
)
def test_counting_with_constraints(args, where, states):
    model = people(
        3,
        parfactors=[
            {"name": "g", "args": args, "where": where, "table": list(range(1, states + 1))}
        ],
    )
    assert scopes(lifagu.ground(relational(**model))) == naive_scopes(model)


def test_counting_is_refused_when_it_would_explode():
    parfactor = {"name": "g", "args": ["#X[Sick(X)]"], "table": [1] * 101}
    model = relational(**people(100, parfactors=[parfactor]))
    with pytest.raises(lifagu.TooLargeError, match=r"2\^100 entries"):
        lifagu.ground(model)


def test_millions_of_constants_are_not_listed_and_grounding_is_refused():
    parfactor = {"name": "g", "args": ["Friends(X,Y)"], "where": ["X != Y"], "table": [1, 2]}
    model = relational(**people(10**6, parfactors=[parfactor]))
    assert model.observations({"Friends(1..3,4..1000000)": "true"})[0].spans == (
        (0, 2),
        (3, 999_999),
    )
    with pytest.raises(lifagu.TooLargeError, match=r"1e\+12 substitutions"):
        lifagu.ground(model)


def test_wide_substitutions_are_refused_before_they_take_gigabytes():
    names = ",".join(f"X{each}" for each in range(30))
    parfactor = {"name": "g", "args": [f"Together({names})"], "table": [1, 2]}
    relation = {"name": "Together", "of": ["Person"] * 30}
    model = relational(
        domains={"Person": ["a", *"bcdefgh"]}, relations=[relation], parfactors=[parfactor]
    )
    with pytest.raises(lifagu.TooLargeError, match=r"1\.68e\+07 substitutions, and 1\.26e\+07 is"):
        lifagu.ground(model)


def test_a_hundred_thousand_factors_without_an_object_each():
    parfactor = {"name": "g", "args": ["Sick(X)", "Epid"], "table": [1, 2, 3, 4]}
    graph = lifagu.ground(relational(**people(100_000, parfactors=[parfactor])))
    assert len(graph.variable_names) == 100_001
    assert graph.factor("g(99999)").arguments == ("Sick(99999)", "Epid")


def test_ground_factors_beside_parfactors():
    model = relational(
        domains={"Person": ["al", "eve"], "Drug": 2},
        relations=[
            {"name": "Epid"},
            {"name": "Sick", "of": ["Person"]},
            {"name": "Treat", "of": ["Person", "Drug"]},
        ],
        variables=[{"name": "Season", "range": ["dry", "wet"], "kind": "Weather"}],
        factors=[
            {"name": "f.eve", "args": ["Sick(eve)", "Epid", "Season"], "table": None},
            {"name": "h", "args": ["Treat(eve, 1)"], "table": [1, 2]},
        ],
        parfactors=[
            {
                "name": "f",
                "args": ["Sick(X)", "Epid", "Season"],
                "where": ["X != eve"],
                "table": list(range(1, 9)),
            }
        ],
    )
    graph = lifagu.ground(model)
    assert list(graph.variable_names) == ["Season", "Epid", "Sick(al)", "Sick(eve)", "Treat(eve,1)"]
    assert list(graph.factor_names) == ["f.eve", "h", "f(al)"]
    assert [each.kind for each in graph.variables] == ["Weather", "Epid", "Sick", "Sick", "Treat"]
    assert [each.individuals for each in graph.variables] == [
        (),
        (),
        ("al",),
        ("eve",),
        ("eve", "1"),
    ]
    moved = lifagu.transfer(graph)
    assert moved.graph.factor("f.eve").table.tolist() == graph.factor("f(al)").table.tolist()
    assert lifagu.io.from_json(lifagu.io.to_json(model)) == model


def test_individuals_stay_apart_across_domains():
    relations = [
        {"name": "Treat", "of": ["Person", "Drug"]},
        {"name": "Knows", "of": ["Person", "Person"]},
    ]
    parfactors = [
        {"name": name, "args": [f"{name}(X,Y)"], "table": [1, 2]} for name in ("Treat", "Knows")
    ]
    graph = lifagu.ground(
        relational(domains={"Person": 1, "Drug": 1}, relations=relations, parfactors=parfactors)
    )
    assert graph.variable("Treat(1,1)").individuals == ("Person:1", "Drug:1")
    assert graph.variable("Knows(1,1)").individuals == ("Person:1",)


# ---- names and evidence


def test_original_names():
    parts = people(
        ["al", "eve"],
        parfactors=[{"name": "g", "args": ["Sick(X)", "Epid"], "table": [1, 2, 3, 4]}],
        factors=[{"name": "h", "args": ["Sick.eve"], "table": [1, 5]}],
    )
    parts["relations"][1]["names"] = [["eve", "Sick.eve"]]
    model = relational(**parts)
    graph = lifagu.ground(model)
    assert list(graph.variable_names) == ["Epid", "Sick(al)", "Sick.eve"]
    assert graph.variable_names.number("Sick(eve)") == graph.variable_names.number("Sick.eve") == 2
    assert graph.factor("g(eve)").arguments == ("Sick.eve", "Epid")
    assert expand_evidence(model, {"Sick(eve)": "true"}) == {"Sick.eve": "true"}
    assert lifagu.io.from_json(lifagu.io.to_json(model)) == model


def test_unusual_constants():
    parts = people(
        ["Eve", "a,b", "1..3", "x y"],
        parfactors=[{"name": "g", "args": ["Sick(X)"], "where": ['X != "Eve"'], "table": [1, 2]}],
    )
    model = relational(**parts)
    graph = lifagu.ground(model)
    assert list(graph.variable_names) == ["Epid", 'Sick("a,b")', 'Sick("1..3")', 'Sick("x y")']
    assert graph.variable_names.number('Sick( "a,b" )') == 1
    assert lifagu.io.from_json(lifagu.io.to_json(model)) == model
    parts["factors"] = [{"name": "h", "args": ["Sick(Eve)"], "table": [1, 2]}]
    assert "Sick(Eve)" in lifagu.ground(relational(**parts)).variable_names
    for text in ("a", "7", "Eve", "a b", "ü", 'q"q', "1..2", "x=y"):
        assert parse_ground(f"R({constant_text(text)})") == ("R", (text,))


def test_evidence_on_ranges():
    parfactor = {
        "name": "g",
        "args": ["Friends(X,Y)", "Sick(X)"],
        "where": ["X != Y"],
        "table": [1, 2, 3, 4],
    }
    model = relational(**people(5, parfactors=[parfactor]))
    expanded = expand_evidence(
        model, {"Friends(1..2,2..3)": "true", "Sick(4..5)": {"false": 1, "true": 2}}
    )
    assert list(expanded) == ["Friends(1,2)", "Friends(1,3)", "Friends(2,3)", "Sick(4)", "Sick(5)"]
    assert expanded["Sick(5)"] == {"false": 1, "true": 2}
    assert expand_evidence(model, {"Sick(1..3)": "true", "Sick(2)": "true"}) == {
        f"Sick({each})": "true" for each in (1, 2, 3)
    }


def pairs(size):
    """b(X,Y) of all X ≠ Y, and nothing else."""
    parts = {"domains": {"P": size}, "relations": [{"name": "b", "of": ["P", "P"]}]}
    return relational(
        **parts,
        parfactors=[{"name": "g", "args": ["b(X,Y)"], "where": ["X != Y"], "table": [1, 2]}],
    )


@pytest.mark.parametrize("size", [2, 3])
def test_ranges_that_meet_where_nothing_is_do_not_contradict(size):
    """b(2,2) is in both ranges, but it does not exist."""
    model = pairs(size)
    graph = lifagu.ground(model)
    seen = expand_evidence(model, {"b(1..2,2)": "true", "b(2,1..2)": "false"}, graph)
    assert seen == {"b(1,2)": "true", "b(2,1)": "false"}
    assert lifagu.query(graph, "b(1,2)", evidence=seen)["true"] == 1
    left = len(graph.variable_names) - 2
    assert lifagu.log_partition(graph, evidence=seen) == pytest.approx(
        math.log(2) + left * math.log(3)
    )
    with pytest.raises(
        lifagu.ModelError, match=r"'b\(2\.\.2,1\)' observes b\(2,1\) once more, with another value"
    ):
        expand_evidence(model, {"b(2,1..2)": "false", "b(2..2,1)": "true"}, graph)
    assert expand_evidence(model, {"b(2..2,2)": "true"}, graph) == {}, "a range, if only of one"


@pytest.mark.parametrize("seed", range(60))
def test_ranges_against_their_definition(seed):
    """Every pair that exists in a range is observed; only such can be observed in two ways."""
    rng = random.Random(seed)
    model = pairs(4)
    expected, contradicted, evidence = {}, False, {}
    for _ in range(3):
        spans = [sorted(rng.choices(range(1, 5), k=2)) for _ in range(2)]
        value = rng.choice(["true", "false"])
        evidence["b({}..{},{}..{})".format(*spans[0], *spans[1])] = value
    for name, value in evidence.items():
        spans = parse_ground(name)[1]
        for one, two in itertools.product(*(range(low, high + 1) for low, high in spans)):
            if one != two:
                contradicted |= expected.setdefault(f"b({one},{two})", value) != value
    if contradicted:
        with pytest.raises(lifagu.ModelError, match="once more, with another value"):
            expand_evidence(model, evidence)
    else:
        assert expand_evidence(model, evidence) == expected


@pytest.mark.parametrize("engine", ["auto", "ground"])
def test_what_is_left_of_a_range_may_not_exist(capsys, tmp_path, engine):
    """Of b(1..2,2) in the file only b(2,2), which there is not, is left: as good as nothing."""
    model = pairs(3)
    seen = model.layered([{"b(1..2,2)": "true"}, {"b(1,2)": "false"}])
    assert seen == {"b(2..2,2..2)": "true", "b(1,2)": "false"}
    assert expand_evidence(model, seen) == {"b(1,2)": "false"}
    lifagu.write(model, tmp_path / "model.json", {"b(1..2,2)": "true"})
    options = ["--evidence", "b(1,2)=false", "--engine", engine, "--json"]
    status, out, _ = run_cli(capsys, "query", tmp_path / "model.json", "b(1,2)", "b(2,1)", *options)
    assert status == 0
    assert [each["probabilities"] for each in json.loads(out)["answers"]] == [
        pytest.approx([1, 0]),
        pytest.approx([1 / 3, 2 / 3]),
    ]


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"Sick(1..3)": "true", "Sick(2)": "false"}, "observes Sick.2. once more"),
        (
            {"Friends(1,1)": "true"},
            "'Friends.1,1.' does not exist in the model: no ground factor has it",
        ),
        ({"Sick(4..9)": "true"}, "4..9 is not a range of domain Person, which has 1…5"),
        ({"Sick(9)": "true"}, "'9' is not a constant of domain Person, which has 1…5"),
        ({"Sick(1,2)": "true"}, "relation 'Sick' has 2 terms, but is of 1"),
        ({"Sick(1)": "maybe"}, "has no value 'maybe'"),
        ({"Sick(1)": {"true": 1}}, "lacks a likelihood for false"),
        ({"Sik": "true"}, "there is no variable 'Sik' in the model; did you mean 'Sick'"),
        ({"Takes(m1..m2)": "true"}, "'m1..m2' is not a constant of domain Drug, which has m1, m2"),
        ({"Takes(1..2)": "true"}, "1..2 is a range, but domain Drug lists its constants"),
    ],
)
def test_wrong_evidence(evidence, message):
    parfactor = {
        "name": "g",
        "args": ["Friends(X,Y)", "Sick(X)"],
        "where": ["X != Y"],
        "table": [1, 2, 3, 4],
    }
    parts = people(5, parfactors=[parfactor])
    parts["relations"].append({"name": "Takes", "of": ["Drug"]})
    with pytest.raises(lifagu.ModelError, match=message):
        expand_evidence(relational(**parts), evidence)


def test_asking_for_what_does_not_exist():
    parfactor = {"name": "g", "args": ["Friends(X,Y)"], "where": ["X != Y"], "table": [1, 2]}
    graph = lifagu.ground(relational(**people(2, parfactors=[parfactor])))
    with pytest.raises(lifagu.ModelError, match="does not exist in the model"):
        lifagu.query(graph, "Friends(2,2)")
    with pytest.raises(lifagu.ModelError, match="does not exist in the model"):
        lifagu.query(graph, "Sick(1)")
    assert lifagu.query(graph, "Epid").probabilities.tolist() == [0.5, 0.5], (
        "a relation without of always exists"
    )


# ---- mistakes

G = {"name": "g", "args": ["Sick(X)"], "table": [1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"parfactors": [{**G, "args": ["Sick(X"]}]},
            r"parfactors\[0\]\.args\[0\]: 'Sick\(X' cannot be read",
        ),
        (
            {"parfactors": [{**G, "args": ["Sick(X Y)"]}]},
            r"args\[0\]: 'Sick\(X Y\)' cannot be read; between",
        ),
        (
            {"parfactors": [{**G, "args": ["Sik(X)"]}]},
            r"args\[0\]: there is no relation 'Sik' .* mean 'Sick'",
        ),
        (
            {"parfactors": [{**G, "args": ["Sick(X,Y)"]}]},
            r"args\[0\]: relation 'Sick' has 2 terms, but is of 1",
        ),
        (
            {"parfactors": [{**G, "args": ["Sick(m1)"]}]},
            r"args\[0\]: 'm1' is not a constant of domain Person",
        ),
        ({"parfactors": [{**G, "args": ["#X[Epid]"]}]}, "counts X, which does not occur in Epid"),
        ({"parfactors": [{**G, "args": ["#x[Sick(x)]"]}]}, "is not a counting formula"),
        (
            {"parfactors": [{**G, "args": ["#X[Sick(X)]", "Sick(X)"]}]},
            "X is counted and also stands outside",
        ),
        ({"parfactors": [{**G, "args": ["#X[Sick(X)]", "#X[Sick(X)]"]}]}, "X is counted twice"),
        (
            {
                "parfactors": [
                    {**G, "args": ["#X[Friends(X,Y)]", "Sick(Z)"], "where": ["X != Y", "X != Z"]}
                ]
            },
            r"parfactors\[0\]: how many X are counted depends on the substitution of Y, Z",
        ),
        (
            {"parfactors": [{**G, "args": ["Takes(X,D)", "Sick(D)"]}]},
            "D is of domain Drug in Takes.X,D. and of domain",
        ),
        (
            {"parfactors": [{**G, "where": ["X < Y"]}]},
            r"parfactors\[0\]\.where\[0\]: 'X < Y' cannot be read",
        ),
        (
            {"parfactors": [G, {**G, "name": "h", "where": ["X != 1", "X != Y"]}]},
            r"parfactors\[1\]\.where\[1\]: Y occurs",
        ),
        (
            {"parfactors": [{**G, "where": ["X != m1"]}]},
            r"where\[0\]: 'm1' is not a constant of domain Person",
        ),
        ({"parfactors": [{**G, "where": ["a != b"]}]}, "compares two constants"),
        ({"parfactors": [{**G, "where": ["X != X"]}]}, "compares X with itself"),
        (
            {"parfactors": [{**G, "where": ["X = Y"]}]},
            "sets two logical variables equal; write X in both places",
        ),
        (
            {"parfactors": [{**G, "args": ["Takes(X,D)"], "where": ["X != D"]}]},
            r"where\[0\]: 'X != D' compares domain Person with domain Drug",
        ),
        ({"parfactors": [{**G, "where": [{"vars": ["X"]}]}]}, "has either in or not_in"),
        ({"parfactors": [{**G, "where": [{"vars": ["x"], "in": []}]}]}, "not a logical variable"),
        (
            {"parfactors": [{**G, "where": [{"vars": ["X"], "in": [[1, 2]]}]}]},
            "has 2 constants for the variables X",
        ),
        (
            {"parfactors": [{**G, "where": [{"vars": ["X"], "in": [["eve"]]}]}]},
            "'eve' is not a constant of domain",
        ),
        (
            {"parfactors": [{**G, "where": [{"vars": ["X"], "in": 3}]}]},
            "in and not_in are lists of lists",
        ),
        (
            {"parfactors": [{**G, "where": [{"vars": ["X"], "in": []}]}]},
            r"where\[0\]: '.X. in 0 tuples' admits nothing",
        ),
        (
            {"parfactors": [{**G, "where": [{"vars": [], "in": []}]}]},
            r"where\[0\]: vars names one or more",
        ),
        ({"parfactors": [{**G, "where": [""]}]}, r"where\[0\]: '' cannot be read"),
        (
            {"parfactors": [{**G, "where": ["X = 1", "X = 2"]}]},
            r"where: the constraints on X contradict each other",
        ),
        (
            {
                "parfactors": [
                    {**G, "where": [{"vars": ["X"], "in": [[1], [2]]}, "X != 1", "X != 2"]}
                ]
            },
            r"where: the constraints on X contradict each other",
        ),
        ({"parfactors": [{**G, "where": [3]}]}, r"where\[0\]: a constraint is a text .* not 3"),
        (
            {"parfactors": [{**G, "table": [1]}]},
            r"parfactors\[0\]: factor 'g' has 1 potentials but .* span 2 states",
        ),
        (
            {"parfactors": [{**G, "table": [0, 0]}]},
            r"parfactors\[0\]: parfactor 'g' has only zero potentials",
        ),
        ({"parfactors": [{**G, "table": ["1", 2]}]}, "something that is not a number"),
        ({"parfactors": [{**G, "table": "phi"}]}, "has the table 'phi', which is not declared"),
        ({"parfactors": [G, G]}, r"parfactors\[1\]: parfactor 'g' is declared twice"),
        ({"parfactors": [{"name": "g", "args": []}]}, r"a parfactor needs 'table' \(null if"),
        (
            {"relations": [{"name": "R", "of": ["Persn"]}]},
            r"relations\[0\]: relation 'R' is of 'Persn', .* 'Person'",
        ),
        ({"relations": [{"name": "R(X)"}]}, r"relations\[0\]: a relation has the name 'R\(X\)'"),
        (
            {"relations": [{"name": "R", "range": "level"}]},
            "has the range 'level', which is not declared",
        ),
        (
            {"relations": [{"name": "R"}, {"name": "R"}]},
            r"relations\[1\]: relation 'R' is declared twice",
        ),
        (
            {"relations": [{"name": "R", "of": ["Drug"], "names": [["m1"]]}]},
            "give its 1 constants and the original",
        ),
        (
            {"relations": [{"name": "R", "of": ["Drug"], "names": [["m3", "R.m3"]]}]},
            "'m3' is not a constant of domain",
        ),
        ({"domains": {"Person": -1}}, r"domains\.Person: domain 'Person' has the size -1"),
        (
            {"domains": {"Person": 1.5}},
            "is given as a whole number or a list of constants, not 1.5",
        ),
        ({"domains": {"Person": ["a", "a"]}}, "has the constant 'a' twice"),
        (
            {"variables": [{"name": "Sick(1)"}]},
            r"variables\[0\]: variable 'Sick\(1\)' has the name of a ground variable",
        ),
        (
            {"factors": [{"name": "f", "args": ["Sick(9)"], "table": None}]},
            r"factors\[0\]: '9' is not a constant",
        ),
        (
            {"factors": [{"name": "f", "args": ["Sick(1)", "Sick( 1 )"], "table": None}]},
            "argument Sick.1. twice",
        ),
    ],
)
def test_broken_relational_files(change, message):
    parts = {
        **people(),
        "relations": [*people()["relations"], {"name": "Takes", "of": ["Person", "Drug"]}],
        **change,
    }
    with pytest.raises(lifagu.FormatError, match=message) as caught:
        lifagu.io.from_json(json.dumps({"format": "lifagu/1", **parts}), "model.json")
    assert str(caught.value).startswith("model.json:1: ")


def test_names_of_ground_factors_are_unique():
    for factor in ("g(2)", "h"):
        parts = people(
            parfactors=[G, {"name": "h", "args": ["Epid"], "table": [1, 2]}],
            factors=[{"name": factor, "args": ["Epid"], "table": [1, 2]}],
        )
        with pytest.raises(lifagu.ModelError, match=r"rename one of them"):
            lifagu.ground(relational(**parts))


def test_models_from_python():
    model = lifagu.ParfactorGraph(
        (Domain("Person", 2),),
        (Relation("Sick", ("Person",)),),
        (Parfactor.of("g", ["Sick(X)", "Sick(Y)"], [[1, 2], [3, 4]], ["X != Y"]),),
    )
    assert len(lifagu.ground(model).factors) == 2
    assert lifagu.io.from_json(lifagu.io.to_json(model)) == model
    assert str(parse_comparison('X != "Eve"')) == 'X != "Eve"'
    with pytest.raises(
        lifagu.ModelError, match=r"parfactor 'g': args\[0\]: there is no relation 'Sik'"
    ):
        lifagu.ParfactorGraph(
            model.domains, model.relations, (Parfactor.of("g", ["Sik(X)"], None),)
        )


# ---- files and the command line


def test_files(tmp_path):
    model = lifagu.read(ROOT / "examples/smokers.json")
    evidence = {"Smokes(1..2)": "true"}
    lifagu.write(model, tmp_path / "m.json.gz", evidence)
    assert lifagu.read(tmp_path / "m.json.gz") == model
    assert lifagu.io.read_evidence(tmp_path / "m.json.gz") == evidence
    lifagu.write(model, tmp_path / "m.uai", evidence)
    assert (tmp_path / "m.uai.evid").read_text() == "2 0 1 1 1\n"
    expected = lifagu.log_partition(lifagu.ground(model), evidence=expand_evidence(model, evidence))
    back, seen = lifagu.read(tmp_path / "m.uai"), lifagu.io.read_evidence(tmp_path / "m.uai.evid")
    assert lifagu.log_partition(back, evidence=seen) == pytest.approx(expected, rel=1e-12)
    lifagu.write(model, tmp_path / "m.fg")
    assert lifagu.log_partition(lifagu.read(tmp_path / "m.fg")) == pytest.approx(
        lifagu.log_partition(lifagu.ground(model)), rel=1e-12
    )
    with pytest.raises(lifagu.FormatError, match="known are .json, .uai, .fg"):
        lifagu.write(model, tmp_path / "m.txt")


def test_the_command_line_layers_evidence(capsys, tmp_path):
    target = tmp_path / "m.json"
    model = lifagu.read(ROOT / "examples/smokers.json")
    lifagu.write(model, target, {"Smokes(2..4)": "true"})
    _, out, _ = run_cli(
        capsys, "query", target, "Ill(4)", "--evidence", "Smokes(4)=false", "--json"
    )
    assert json.loads(out)["answers"][0]["probabilities"] == pytest.approx([0.9, 0.1])
    _, out, _ = run_cli(capsys, "check", target)
    assert out.endswith("ok, 1 domain, 3 relations, 3 parfactors, 1 observed\n")
    status, _, err = run_cli(capsys, "query", target, "Friends(1,1)")
    assert (status, err) == (
        2,
        "error: 'Friends(1,1)' does not exist in the model: no ground factor has it "
        "as an argument\n",
    )


def test_new_individuals_in_relational_models(capsys, tmp_path):
    parts = people(
        ["al", "bo"], parfactors=[{"name": "g", "args": ["Sick(X)", "Epid"], "table": [1, 2, 3, 4]}]
    )
    lifagu.write(relational(**parts), tmp_path / "m.json")
    options = ("--add", "eve=al", "--evidence", "Sick(eve)=true", "--json")
    status, out, _ = run_cli(capsys, "query", tmp_path / "m.json", "Epid", *options)
    assert status == 0
    graph = lifagu.ground(relational(**people(["al", "bo", "eve"], parfactors=parts["parfactors"])))
    expected = lifagu.query(graph, "Epid", evidence={"Sick(eve)": "true"}).probabilities
    assert json.loads(out)["answers"][0]["probabilities"] == pytest.approx(expected.tolist())


@pytest.mark.parametrize("like", ["7", "m", "m 1", "P:e", "N 1"])
@pytest.mark.parametrize("new", ["Z", "x,y", "Q 7", '"'])
def test_names_of_copies_have_the_new_individual_where_the_old_one_stands(like, new):
    constants = ["7", "7.0", "a 7", "m", "m 1", "e"]
    builder = lifagu.ParfactorGraph.build().domain("P", constants).domain("Q", ["e"])
    builder = builder.relation("K", "P", "P").relation("S", "P").relation("T", "Q")
    builder = builder.parfactor("m", ["K(X,Y)", "S(X)"], [1, 2, 3, 4], where=["X != Y"])
    graph = lifagu.ground(builder.parfactor("t", ["T(X)"], [1, 2]).model())
    graph = graph.with_individual("N 1", like="7").with_individual(new, like=like)
    written = constant_text(new)
    own = f"S({written})"
    assert graph.variables[own].individuals == (new,)
    for each in constants:
        if each not in ("7" if like == "N 1" else like, "e" if like == "P:e" else ""):
            other = constant_text(each)
            for name in (f"K({other},{written})", f"K({written},{other})"):
                assert set(graph.variables[name].individuals) <= {new, each, f"P:{each}"}
                assert graph.factors["m" + name[1:]].arguments[0] == name


def test_somebody_new_is_like_whoever_has_the_name_in_one_domain():
    builder = lifagu.ParfactorGraph.build().domain("P", ["7", "e"]).domain("Q", ["e"])
    builder = builder.relation("S", "P").relation("T", "Q").parfactor("s", ["S(X)"], [1, 2])
    graph = lifagu.ground(builder.parfactor("t", ["T(X)"], [1, 2]).model())
    assert graph.with_individual("N", like="7") == graph.with_individual("N", like="P:7")
    assert "T(N)" in graph.with_individual("N", like="Q:e").variables
    for like, message in (
        ("e", "'e' is in several domains; say P:e or Q:e"),
        ("x", "no individual"),
    ):
        with pytest.raises(lifagu.ModelError, match=message):
            graph.with_individual("N", like=like)
