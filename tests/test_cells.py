"""Answers over cells of interchangeable individuals: those of the ground graph, and closed forms at any size."""

import itertools
import json
import math
import random

import numpy as np
import pytest

import lifagu
from helpers import ROOT
from lifagu.infer.lifted import engine
from lifagu.infer.relational import NotLiftedError, prepare_relational, prepare_relational_marginals
from lifagu.infer.relational.best import prepare_relational_best

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
    return lifagu.from_json(json.dumps({"format": "lifagu/1", **parts}))


def random_model(rng, largest=3):
    """A random model with self-joins, constants, constraints, counting formulas, zeros and ground factors."""
    sizes = {"A": rng.randint(0, largest), "B": rng.randint(1, 2)}
    ranges = {**RANGES, "F": ["n", "y"], "R": rng.choice([["x", "y"], ["x", "y", "z"]])}
    relations = [{"name": name, "of": of, "range": ranges[name]} for name, of in OF.items()]
    atoms = ["P", "Q", "R(X)", "R(Y)", "S(X)", "S(Y)", "F(X,Y)", "F(Y,X)", "F(X,X)", "T(U)", "T(V)", "W(X,U)", "W(Y,U)"]
    atoms += [f"R({sizes['A']})", f"F(X,{sizes['A']})"] if sizes["A"] else []
    parfactors = []
    for number in range(rng.randint(1, 5)):
        args = rng.sample(atoms, rng.randint(1, 3))
        used = [each for each in "XYUV" if any(each in arg.partition("(")[2] for arg in args)]
        where = [f"{one} != {two}" for one, two in (("X", "Y"), ("U", "V")) if {one, two} <= set(used)]
        where = [each for each in where if rng.random() < 0.6]
        spans = [len(ranges[arg[0]]) for arg in args]
        for each in used:
            if rng.random() < 0.1 and each in "XY" and sizes["A"]:
                where.append(f"{each} {rng.choice(['=', '!='])} {rng.randint(1, sizes['A'])}")
        if {"X", "Y"} <= set(used) and rng.random() < 0.1 and sizes["A"]:
            rows = [list(map(str, row)) for row in itertools.product(range(1, sizes["A"] + 1), repeat=2)]
            where.append(
                {"vars": ["X", "Y"], rng.choice(["in", "not_in"]): rng.sample(rows, rng.randint(0, len(rows)))}
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
    if rng.random() < 0.4:
        monkeypatch.setattr(engine, "_eliminate_cheap", lambda state, always: None)


def check(seed, monkeypatch, largest=3):
    """Log Z, all marginals, a joint question and a best assignment over cells equal those of the ground graph."""
    rng = random.Random(seed)
    spec, ranges = random_model(rng, largest)
    model = read(**spec)
    graph = lifagu.ground(model)
    if math.prod(map(float, graph.sizes)) > 2**22:
        return "large"
    evidence = random_evidence(rng, graph, ranges, spec["domains"])
    seen = lifagu.expand_evidence(model, evidence, graph)
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
    assert prepare_relational(model, [], evidence).run().log_partition == pytest.approx(total, rel=1e-10, abs=1e-10)
    found = prepare_relational_marginals(model, evidence).run()
    expected = lifagu.marginals(graph, evidence=seen, engine="ground")
    assert list(found) == list(expected)
    assert found.log_partition == pytest.approx(total, rel=1e-10, abs=1e-10)
    for name, distribution in expected.items():
        assert found[name] == pytest.approx(distribution, rel=1e-9, abs=1e-12), name
    assert sum(each.count for each in found.classes) == len(graph.variable_names)
    names = rng.sample(list(graph.variable_names), min(2, len(graph.variable_names)))
    mine = prepare_relational(model, [names, names[:1]], evidence).run().answers
    theirs = lifagu.query(graph, *names, evidence=seen, engine="ground")
    np.testing.assert_allclose(mine[0].probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)
    assert mine[0].variables == theirs.variables
    assert mine[0].values == theirs.values
    check_best(model, graph, evidence, seen)


def check_best(model, graph, evidence, seen):
    best = prepare_relational_best(model, evidence).run()
    expected = lifagu.map_assignment(graph, evidence=seen, engine="ground")
    assert best.log_weight == pytest.approx(expected.log_weight, rel=1e-10, abs=1e-10)
    assert list(best.assignment) == list(expected.assignment)
    weight = 0.0
    for factor in graph.factors:
        place = tuple(graph.labels(graph.variable_names.number(v)).index(best.assignment[v]) for v in factor.arguments)
        weight += math.log(factor.table[place])
    for name, observed in seen.items():
        if isinstance(observed, str):
            assert best.assignment[name] == observed
        else:
            weight += math.log(observed[best.assignment[name]])
    assert weight == pytest.approx(best.log_weight, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(400))
def test_cells_are_the_ground_graph(seed, monkeypatch):
    check(seed, monkeypatch)


def test_most_random_models_are_lifted(monkeypatch):
    outcomes = [check(seed, monkeypatch) for seed in range(400, 460)]
    assert outcomes.count("lifted") > 30


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_cells_long(seed, monkeypatch):
    check(seed, monkeypatch, largest=4)


@pytest.mark.parametrize("path", LIFTED, ids=lambda path: path.stem)
def test_closed_forms_at_every_size(path):
    for case in json.loads(path.read_text())["cases"]:
        model = read(**case["model"])
        answer = lifagu.query(model, *case["query"], evidence=case["evidence"])
        expected = np.array(list(map(np.longdouble, case["answer"])))
        found = np.exp(answer.log_probabilities.reshape(-1).astype(np.longdouble))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert answer.log_partition == pytest.approx(case["log_partition"], rel=1e-9)
