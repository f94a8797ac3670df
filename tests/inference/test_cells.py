"""Answers over cells of interchangeable individuals: the ground graph's, and closed forms."""

import itertools
import json
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.errors import NotLiftedError
from lifagu.inference.lifted import engine, tables
from lifagu.inference.relational import telling_apart
from lifagu.inference.relational.marginals import prepare_relational_marginals
from lifagu.inference.relational.most_probable import prepare_relational_best
from lifagu.inference.relational.questions import prepare_relational
from lifagu.questions.planning import prepare, prepare_map, prepare_marginals
from lifagu.relational.grounding import expand_evidence
from support.helpers import ROOT, mostly_full, run_cli

LIFTED = sorted((ROOT / "tests/cases/lifted").glob("*.json"))
RANGES = {
    "P": ["no", "yes"],
    "Q": ["0", "1", "2"],
    "R": ["x", "y"],
    "S": ["x", "y"],
    "T": ["u", "v", "w"],
    "W": ["-", "+"],
}
OF = {"P": [], "Q": [], "R": ["A"], "S": ["A"], "F": ["A", "A"], "T": ["B"], "W": ["A", "B"]}


def read(**parts):
    return lifagu.io.from_json(json.dumps({"format": "lifagu/1", **parts}))


def random_model(rng, largest=3):
    """A random model: self-joins, constants, constraints, counts, zeros, ground factors."""
    sizes = {"A": rng.randint(0, largest), "B": rng.randint(1, 2)}
    ranges = {**RANGES, "F": ["n", "y"], "R": rng.choice([["x", "y"], ["x", "y", "z"]])}
    relations = [{"name": name, "of": of, "range": ranges[name]} for name, of in OF.items()]
    atoms = [
        "P",
        "Q",
        "R(X)",
        "R(Y)",
        "S(X)",
        "S(Y)",
        "F(X,Y)",
        "F(Y,X)",
        "F(X,X)",
        "T(U)",
        "T(V)",
        "W(X,U)",
        "W(Y,U)",
    ]
    atoms += [f"R({sizes['A']})", f"F(X,{sizes['A']})"] if sizes["A"] else []
    pairs = rng.random() < 0.4
    parfactors = []
    for number in range(rng.randint(1, 5)):
        args = rng.sample(atoms, rng.randint(1, 3))
        if pairs and number < 2:
            args = rng.choice(
                [
                    ["F(X,Y)", "F(Y,X)"],
                    ["F(X,Y)", "R(X)"],
                    ["F(X,Y)", "F(Y,X)", "S(X)"],
                    ["F(Y,X)", "P"],
                ]
            )
        used = [each for each in "XYUV" if any(each in arg.partition("(")[2] for arg in args)]
        where = [
            f"{one} != {two}" for one, two in (("X", "Y"), ("U", "V")) if {one, two} <= set(used)
        ]
        where = [each for each in where if rng.random() < 0.6]
        spans = [len(ranges[arg[0]]) for arg in args]
        for each in used:
            if rng.random() < 0.1 and each in "XY" and sizes["A"]:
                where.append(f"{each} {rng.choice(['=', '!='])} {rng.randint(1, sizes['A'])}")
        if {"X", "Y"} <= set(used) and rng.random() < 0.1 and sizes["A"]:
            rows = [
                list(map(str, row)) for row in itertools.product(range(1, sizes["A"] + 1), repeat=2)
            ]
            where.append(
                {
                    "vars": ["X", "Y"],
                    rng.choice(["in", "not_in"]): rng.sample(rows, rng.randint(1, len(rows))),
                }
            )
        if rng.random() < 0.25 and sizes["A"]:
            counted = rng.choice(["R(Z)", "S(Z)", "F(Z,X)", "F(X,Z)"])
            if "X" in counted and "X" not in used:
                counted = "S(Z)"
            if "X" in counted and rng.random() < 0.5:
                where.append("Z != X")
            many = sizes["A"] - ("Z != X" in where)
            args.append(f"#Z[{counted}]")
            spans.append(math.comb(many + len(ranges[counted[0]]) - 1, len(ranges[counted[0]]) - 1))
        table = [
            rng.choice([0, 1, 1, 2, 3, 0.5]) if rng.random() < 0.3 else rng.randint(1, 9)
            for _ in range(math.prod(spans))
        ]
        if any(table):
            parfactors.append({"name": f"g{number}", "args": args, "where": where, "table": table})
    model = {"domains": sizes, "ranges": {}, "relations": relations, "parfactors": parfactors}
    if sizes["A"] and rng.random() < 0.4:
        name = f"R({rng.randint(1, sizes['A'])})"
        model["variables"] = [{"name": "Plain", "range": ["1", "2"]}]
        table = [rng.randint(1, 5) for _ in range(2 * len(ranges["R"]))]
        model["factors"] = [{"name": "ground", "args": [name, "Plain"], "table": table}]
    return model, ranges


def random_evidence(rng, graph, ranges, sizes):
    """Hard and soft evidence on some ground variables, sometimes on a range of individuals."""
    evidence = {}
    for name in graph.variable_names:
        labels = ranges.get(name.partition("(")[0], ["1", "2"])
        if rng.random() < 0.12:
            evidence[name] = rng.choice(labels)
        elif rng.random() < 0.08:
            evidence[name] = {label: rng.choice([0.5, 1, 2]) for label in labels}
    if sizes["A"] > 1 and rng.random() < 0.3:
        evidence = {name: seen for name, seen in evidence.items() if not name.startswith("S(")}
        evidence[f"S(1..{rng.randint(2, sizes['A'])})"] = rng.choice(ranges["S"])
    return evidence


def forced(monkeypatch, rng):
    """Small models are lifted as far as possible, some of them without eliminating first."""
    monkeypatch.setattr(engine, "SHARED", rng.choice([0.0, 0.0, 2.0]))
    monkeypatch.setattr(tables, "PROMISE", rng.choice([0.0, tables.PROMISE]))
    monkeypatch.setattr(telling_apart, "FEW_TUPLES", rng.choice([0, 32]))
    monkeypatch.setattr(telling_apart, "FEW_NAMED", rng.choice([0, 64]))
    if rng.random() < 0.4:
        monkeypatch.setattr(engine, "_eliminate_cheap", lambda problem: None)


def check(seed, monkeypatch, largest=3):
    """Log Z, marginals, a joint question and a best assignment equal those of the ground graph."""
    rng = random.Random(seed)
    spec, ranges = random_model(rng, largest)
    model = read(**spec)
    graph = lifagu.ground(model)
    if math.prod(map(float, graph.sizes)) > 2**22:
        return "large"
    evidence = random_evidence(rng, graph, ranges, spec["domains"])
    seen = expand_evidence(model, evidence, graph)
    forced(monkeypatch, rng)
    try:
        total = lifagu.log_partition(graph, evidence=seen, engine="ground")
    except lifagu.NoAnswerError:
        with pytest.raises((lifagu.NoAnswerError, NotLiftedError)):
            prepare_relational(model, [], evidence).run()
        return "zero"
    try:
        agrees(rng, model, graph, evidence, seen, total)
    except NotLiftedError:
        return "not lifted"
    return "lifted"


def agrees(rng, model, graph, evidence, seen, total):
    assert prepare_relational(model, [], evidence).run().log_partition == pytest.approx(
        total, rel=1e-10, abs=1e-10
    )
    check_best(model, graph, evidence, seen)
    names = rng.sample(list(graph.variable_names), min(2, len(graph.variable_names)))
    mine = prepare_relational(model, [names], evidence).run().answers
    theirs = lifagu.query(graph, *names, evidence=seen, engine="ground")
    np.testing.assert_allclose(mine[0].probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)
    assert mine[0].variables == theirs.variables
    assert mine[0].values == theirs.values
    found = prepare_relational_marginals(model, evidence).run()
    expected = lifagu.marginals(graph, evidence=seen, engine="ground")
    assert list(found) == list(expected)
    assert found.log_partition == pytest.approx(total, rel=1e-10, abs=1e-10)
    for name, distribution in expected.items():
        assert found[name] == pytest.approx(distribution, rel=1e-9, abs=1e-12), name
    assert sum(each.count for each in found.classes) == len(graph.variable_names)
    several = prepare_relational(model, [names, names[:1]], evidence).run().answers
    np.testing.assert_allclose(
        several[0].probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12
    )
    assert dict(zip(several[1].ranges[0], several[1].probabilities, strict=True)) == pytest.approx(
        expected[names[0]]
    )


def check_best(model, graph, evidence, seen):
    best = prepare_relational_best(model, evidence).run()
    expected = lifagu.map_assignment(graph, evidence=seen, engine="ground")
    assert best.log_weight == pytest.approx(expected.log_weight, rel=1e-10, abs=1e-10)
    assert list(best.assignment) == list(expected.assignment)
    weight = 0.0
    for factor in graph.factors:
        place = tuple(
            graph.labels(graph.variable_names.number(v)).index(best.assignment[v])
            for v in factor.arguments
        )
        weight += math.log(factor.table[place])
    for name, observed in seen.items():
        if isinstance(observed, str):
            assert best.assignment[name] == observed
        else:
            weight += math.log(observed[best.assignment[name]])
    assert weight == pytest.approx(best.log_weight, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", mostly_full(range(200), always=range(100)))
def test_cells_are_the_ground_graph(seed, monkeypatch):
    check(seed, monkeypatch)


def test_most_random_models_are_lifted(monkeypatch):
    outcomes = [check(seed, monkeypatch) for seed in range(400, 460)]
    assert outcomes.count("lifted") > 30


@pytest.mark.full
@pytest.mark.parametrize("seed", [*range(200, 400), *range(1000, 4000)])
def test_cells_long(seed, monkeypatch):
    check(seed, monkeypatch, largest=3 if seed < 1000 else 4)


@pytest.mark.parametrize("path", LIFTED, ids=lambda path: path.stem)
def test_closed_forms_at_every_size(path):
    for case in json.loads(path.read_text())["cases"]:
        model = read(**case["model"])
        answer = lifagu.query(model, *case["query"], evidence=case["evidence"])
        expected = np.array(list(map(np.longdouble, case["answer"])))
        found = np.exp(answer.log_probabilities.reshape(-1).astype(np.longdouble))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert answer.log_partition == pytest.approx(case["log_partition"], rel=1e-9)


# ---- sizes, evidence, and what the plan says


FRIENDS = {
    "relations": [
        {"name": "S", "of": ["P"]},
        {"name": "C", "of": ["P"]},
        {"name": "F", "of": ["P", "P"]},
    ],
    "parfactors": [
        {"name": "s", "args": ["S(X)"], "table": [3, 1]},
        {"name": "c", "args": ["S(X)", "C(X)"], "table": [9, 1, 6, 4]},
        {
            "name": "f",
            "args": ["F(X,Y)", "S(X)", "S(Y)"],
            "where": ["X != Y"],
            "table": [1, 1, 1, 1, 2, 1, 1, 2],
        },
    ],
}


def friends(size, **more):
    return read(domains={"P": size}, **{**FRIENDS, **more})


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_domains(size):
    model = friends(size)
    graph = lifagu.ground(model)
    assert lifagu.log_partition(model) == pytest.approx(
        lifagu.log_partition(graph, engine="ground"), rel=1e-12
    )
    expected = lifagu.marginals(graph)
    assert list(lifagu.marginals(model)) == list(expected)
    for name, distribution in lifagu.marginals(model).items():
        assert distribution == pytest.approx(expected[name])
    with pytest.raises(lifagu.ModelError, match="F\\(1,1\\)|not a constant|is empty"):
        lifagu.query(model, "F(1,1)")


def test_counts_beyond_doubles_are_exact():
    """10^15 individuals: more pairs than a double can count, none of which is ever listed."""
    size = 10**15
    model = read(
        domains={"P": size, "Q": size},
        relations=[{"name": "E"}, {"name": "R", "of": ["P", "Q"]}],
        parfactors=[{"name": "g", "args": ["R(X,Y)", "E"], "table": [1, 1, 1, 1]}],
    )
    assert lifagu.log_partition(model) == pytest.approx(size**2 * math.log(2), rel=1e-12)
    one_less = read(
        domains={"P": size},
        relations=[{"name": "E"}, {"name": "R", "of": ["P", "P"]}],
        parfactors=[
            {"name": "g", "args": ["R(X,Y)", "E"], "where": ["X != Y"], "table": [1, 1, 1, 1]}
        ],
    )
    found = lifagu.marginals(one_less)
    assert found.classes[1].count == size * (size - 1)
    assert found.count == size * (size - 1) + 1  # more than len() can say
    assert repr(found) == f"<ClassMarginals: {found.count} variables of 2 kinds>"
    with pytest.raises(lifagu.TooLargeError, match="too many to list"):
        found.expanded()


MANY = [10**5, pytest.param(10**6, marks=pytest.mark.full)]


@pytest.mark.parametrize("people", MANY)
def test_classes(people):
    found = lifagu.marginals(friends(people), evidence={"S(2..5)": "true", "C(7)": "false"})
    assert [each.members for each in found.classes[:4]] == [
        f"S(X), X in 1, 6, 8..{people}",
        "S(X), X in 2..5",
        "S(7)",
        f"C(X), X in 1, 6, 8..{people}",
    ]
    assert [each.count for each in found.classes[:3]] == [people - 5, 4, 1]
    assert found.classes[1].probabilities == {"false": 0.0, "true": 1.0}
    assert found["S(8)"] == found.classes[0].probabilities
    assert "S(9)" in found
    assert "F(1,1)" not in found
    with pytest.raises(lifagu.TooLargeError, match="too many to list"):
        found.expanded()


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"S(1..3)": "true", "S(2)": "false"}, "observes what"),
        ({"F(1,1)": "true"}, "does not exist"),
        ({"S(1..9)": "true"}, "1..9 is not a range"),
        ({"S(x)": "true"}, "not a constant"),
        ({"S(1)": "maybe"}, "maybe"),
    ],
)
def test_wrong_evidence(evidence, message):
    with pytest.raises(lifagu.ModelError, match=message):
        lifagu.query(friends(4), "C(1)", evidence=evidence)


def test_layers_of_evidence():
    model = friends(10**5)
    file = {
        "S(1..9)": "true",
        "F(1..4,1..4)": "false",
        **{f"C({each})": "true" for each in range(1, 10**5)},
    }
    later = {
        "S(3..5)": "false",
        "F(2,3)": "true",
        **{f"C({each})": "false" for each in range(1, 10**5)},
    }
    found = model.layered([file, later, {}])
    assert [name for name in found if name[0] == "S"] == ["S(1..2)", "S(6..9)", "S(3..5)"]
    assert found["C(7)"] == "false"
    pairs = {
        (x, y): "true" if (x, y) == (2, 3) else "false" for x in range(1, 5) for y in range(1, 5)
    }
    only = {name: seen for name, seen in found.items() if name[0] == "F"}
    expanded = expand_evidence(friends(4), only)
    assert expanded == {f"F({x},{y})": seen for (x, y), seen in pairs.items() if x != y}


def test_ranges_skip_what_does_not_exist():
    model = friends(4)
    seen = {"F(1..2,1..2)": "true"}
    graph = lifagu.ground(model)
    assert lifagu.query(model, "S(1)", evidence=seen)["true"] == pytest.approx(
        lifagu.query(graph, "S(1)", evidence={"F(1,2)": "true", "F(2,1)": "true"})["true"]
    )


def test_many_single_observations_are_one_cell():
    evidence = {f"S({person})": "true" if person % 2 else "false" for person in range(1, 301)}
    model = friends(1000)
    found = lifagu.marginals(model, evidence=evidence)
    assert len(found.classes) == 2 * 3 + 9
    whole = {"S(1..300)": "true"}
    assert found["C(1)"] == lifagu.marginals(model, evidence=whole)["C(1)"]


def test_the_plan_says_what_was_counted_and_what_was_listed():
    plan = lifagu.query(friends(100), "C(1)").plan
    assert "count 100 interchangeable variables like S(1) (101 histograms)" in plan
    assert "list" not in plan
    step = {
        "name": "t",
        "args": ["F(X,Y)", "F(Y,Z)"],
        "where": ["X != Y", "Y != Z"],
        "table": [3, 1, 1, 2],
    }
    plan = lifagu.query(friends(3, parfactors=[*FRIENDS["parfactors"], step]), "C(1)").plan
    assert "list 6 variables like F(1,2), which a table ties to each other" in plan
    with pytest.raises(lifagu.TooLargeError, match="which a table ties to each other"):
        lifagu.query(friends(10**5, parfactors=[*FRIENDS["parfactors"], step]), "C(1)")


def test_symmetric_relations_stay_over_cells():
    """F(X,Y) and F(Y,X) are summed out together."""
    both = {"name": "y", "args": ["F(X,Y)", "F(Y,X)"], "where": ["X != Y"], "table": [3, 1, 1, 2]}
    small, large = (friends(size, parfactors=[*FRIENDS["parfactors"], both]) for size in (4, 10**5))
    graph = lifagu.ground(small)
    assert lifagu.query(small, "F(1,2)")["true"] == pytest.approx(
        lifagu.query(graph, "F(1,2)")["true"], rel=1e-10
    )
    check_best(small, graph, {"S(1)": "true"}, {"S(1)": "true"})
    assert "list" not in lifagu.query(large, "F(1,2)").plan


def test_what_cells_cannot_express_is_grounded_with_the_reason():
    listed = [[str(one), str(two)] for one in range(1, 7) for two in range(1, 7)]
    counted = {
        "name": "n",
        "args": ["S(X)", "S(Y)", "#Z[C(Z)]"],
        "where": [{"vars": ["X", "Y"], "in": listed}],
    }
    model = friends(6, parfactors=[{**counted, "table": list(range(1, 29))}])
    prepared = prepare(model, [("S(1)",)])
    assert (
        "the model was grounded: parfactor 'n' counts under an explicit constraint"
        in prepared.notes[0]
    )
    graph = lifagu.ground(model)
    expected = lifagu.query(graph, "S(1)", engine="ground")["true"]
    assert prepared.run().answers[0]["true"] == pytest.approx(expected)
    assert "the model was grounded: parfactor 'n' counts under" in str(prepare_map(model))
    assert "the model was grounded: individuals are listed one by one" in str(
        prepare_marginals(model)
    )


def test_explicit_constraints_are_listed_and_everything_else_stays_over_cells():
    """A ring of individuals: their own variables are listed, the rest is eliminated at once."""
    size = 1000
    ring = [[str(each + 1), str((each + 1) % size + 1)] for each in range(size)]
    model = read(
        domains={"P": size, "D": 50},
        relations=[{"name": "S", "of": ["P"]}, {"name": "T", "of": ["P", "D"]}],
        parfactors=[
            {"name": "t", "args": ["T(X,D)", "S(X)"], "table": [2, 1, 1, 1.01]},
            {
                "name": "r",
                "args": ["S(X)", "S(Y)"],
                "where": [{"vars": ["X", "Y"], "in": ring}],
                "table": [2, 1, 1, 3],
            },
        ],
    )
    answer = lifagu.query(model, "S(7)", evidence={"S(1)": "true"})
    assert "eliminate 50000 variables like T(1,1)" in answer.plan
    assert (
        "list 998 variables like S(2), which stand in factors that name their individuals one by "
        "one" in answer.plan
    )
    graph = lifagu.ground(model)
    assert answer["true"] == pytest.approx(
        lifagu.query(graph, "S(7)", evidence={"S(1)": "true"})["true"], rel=1e-10
    )


def test_one_individual_may_be_unknown():
    own = {"name": "c7", "args": ["S(7)", "C(7)"], "table": None}
    where = [{**FRIENDS["parfactors"][0]}, {**FRIENDS["parfactors"][1], "where": ["X != 7"]}]
    model = friends(10**6, parfactors=where, factors=[own])
    with pytest.raises(lifagu.NoAnswerError, match="c7 is unknown in the same connected part"):
        lifagu.query(model, "C(7)")
    assert lifagu.query(model, "C(8)")["true"] == pytest.approx(7 / 40)
    found = lifagu.marginals(model)
    assert found.log_partition is None
    assert found.left_out == ["S(7)", "C(7)"]
    with pytest.raises(lifagu.NoAnswerError, match="log Z"):
        lifagu.log_partition(model)
    with pytest.raises(lifagu.NoAnswerError, match="the best assignment"):
        lifagu.map_assignment(model)


def test_filled_models_answer_by_class_too(capsys, tmp_path):
    where = [{**FRIENDS["parfactors"][0]}, {**FRIENDS["parfactors"][1], "where": ["X != 7"]}]
    own = {"name": "c7", "args": ["S(7)", "C(7)"], "table": None}
    path = tmp_path / "hole.json"
    text = {
        "format": "lifagu/1",
        "domains": {"P": 9},
        **FRIENDS,
        "parfactors": where,
        "factors": [own],
    }
    path.write_text(json.dumps(text))
    found = json.loads(run_cli(capsys, "marginals", path, "--json", "--evidence", "C(3)=true")[1])
    assert [(each["representative"], each["count"]) for each in found["classes"]] == [
        ("S(1)", 8),
        ("S(3)", 1),
        ("C(1)", 8),
        ("C(3)", 1),
    ]


@pytest.mark.parametrize("people", MANY)
def test_answers_on_the_command_line(capsys, tmp_path, people):
    path = tmp_path / "friends.json"
    text = {
        "format": "lifagu/1",
        "domains": {"P": people},
        **FRIENDS,
        "evidence": {"S(1..9)": "true"},
    }
    path.write_text(json.dumps(text))
    status, out, _ = run_cli(capsys, "marginals", path, "--json", "--evidence", "S(3)=false")
    classes = json.loads(out)["classes"]
    assert status == 0
    assert [each["members"] for each in classes[:3]] == [
        "S(X), X in 1..2, 4..9",
        "S(3)",
        f"S(X), X in 10..{people}",
    ]
    assert set(classes[0]) == {"representative", "members", "count", "probabilities"}
    assert run_cli(capsys, "marginals", path, "--expand")[0] == 4
    small = tmp_path / "small.json"
    small.write_text(json.dumps({**text, "domains": {"P": 3}, "evidence": {}}))
    listed = json.loads(run_cli(capsys, "marginals", small, "--expand", "--json")[1])
    assert list(listed["marginals"])[:4] == ["S(1)", "S(2)", "S(3)", "C(1)"]
    assert run_cli(capsys, "marginals", small, "--out", tmp_path / "m.csv")[0] == 0
    assert (
        (tmp_path / "m.csv")
        .read_text()
        .splitlines()[1]
        .startswith('S(1),"S(X), X in 1..3",3,false,')
    )
    facts = json.loads(run_cli(capsys, "info", path, "--json")[1])
    assert facts["variables"] == facts["factors"] == people**2 + people
    assert facts["classes_of_variables"] == 3
    assert "ask, for instance" in run_cli(capsys, "info", small)[1]
    best = json.loads(run_cli(capsys, "map", small, "--json")[1])
    assert len(best["assignment"]) == 12
    answer = json.loads(run_cli(capsys, "query", path, "C(77)", "--json")[1])
    assert answer["unknown"] == {"total": 0, "transferred": 0, "left": 0}
    assert run_cli(capsys, "map", path)[0] == 4
