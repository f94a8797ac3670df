"""Families that can be counted are counted, at sizes refused otherwise, as closed forms say."""

import itertools
import json
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.relational.grounding import expand_evidence
from support.helpers import run_cli
from support.oracle import oracle


def read(**parts):
    return lifagu.io.from_json(json.dumps({"format": "lifagu/1", **parts}))


def listed(count, *tables):
    """A ground graph of binary variables x0, x1, … by tables and the scopes they stand on."""
    scopes = [scope for _, own in tables for scope in own]
    return lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1"]],
        variable_ranges=np.zeros(count, dtype=int),
        offsets=np.concatenate(([0], np.cumsum([len(scope) for scope in scopes]))),
        arguments=np.array([each for scope in scopes for each in scope]),
        tables=[table for table, _ in tables],
        factor_tables=np.repeat(np.arange(len(tables)), [len(own) for _, own in tables]),
    )


def log_sum(values):
    return float(np.logaddexp.reduce(values))


def choose(count, some):
    return math.lgamma(count + 1) - math.lgamma(some + 1) - math.lgamma(count - some + 1)


# ---- counting formulas


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside A(X), A(Y)"])
@pytest.mark.parametrize("size", [25, 1000])
def test_a_counting_formula_is_counted_even_if_nothing_else_is(size, beside):
    rng = random.Random(size)
    table = [0.5 + rng.random() for _ in range(2 * size + 2)]
    pair = {"name": "p", "args": ["A(X)", "A(Y)"], "where": ["X != Y"], "table": [1, 1, 1, 1.0001]}
    model = read(
        domains={"P": size},
        relations=[{"name": "A", "of": ["P"]}, {"name": "E"}],
        parfactors=[
            {"name": "g", "args": ["#X[A(X)]", "E"], "table": table},
            *([pair] if beside else []),
        ],
    )
    answer = lifagu.query(model, "E")
    logs = np.array(
        [
            [
                choose(size, true)
                + math.log(table[2 * (size - true) + e])
                + beside * true * (true - 1) * math.log(1.0001)
                for e in (0, 1)
            ]
            for true in range(size + 1)
        ]
    )
    assert answer.log_partition == pytest.approx(log_sum(logs.reshape(-1)), rel=1e-12)
    assert answer["true"] == pytest.approx(
        math.exp(log_sum(logs[:, 1]) - answer.log_partition), rel=1e-9
    )
    marginal = lifagu.marginals(model)[f"A({size})"]["true"]
    shares = [log_sum(logs[true]) + math.log(true / size) for true in range(1, size + 1)]
    assert marginal == pytest.approx(math.exp(log_sum(shares) - answer.log_partition), rel=1e-9)


@pytest.mark.parametrize("domains", ["PP", "PQ"])
def test_exactly_one_of_a_thousand(domains):
    one = [0.0] * 1001
    one[999] = 1.0  # 999 false, one true
    model = read(
        domains={"P": 1000, "Q": 1000},
        relations=[{"name": "F", "of": list(domains)}],
        parfactors=[{"name": "g", "args": ["#Y[F(X,Y)]"], "table": one}],
    )
    answer = lifagu.query(model, "F(3,4)")
    assert answer["true"] == pytest.approx(0.001, rel=1e-12)
    assert answer.log_partition == pytest.approx(1000 * math.log(1000), rel=1e-12)


def test_all_but_one_who_is_not_in_the_formula():
    """The others' histogram is everybody's less one's own value."""
    size, rng = 300, random.Random(5)
    table = [0.5 + rng.random() for _ in range(2 * size)]
    model = read(
        domains={"P": size},
        relations=[{"name": "A", "of": ["P"]}, {"name": "S", "of": ["P"]}],
        parfactors=[
            {"name": "g", "args": ["#Y[A(Y)]", "S(X)"], "where": ["Y != X"], "table": table}
        ],
    )
    # by how many of the others are false
    rest = np.log(np.array(table).reshape(size, 2).sum(axis=1))
    logs = []
    for true in range(size + 1):
        false = size - true
        own = (true * rest[false] if true else 0) + (false * rest[false - 1] if false else 0)
        logs.append(choose(size, true) + own)
    assert lifagu.query(model, "S(1)").log_partition == pytest.approx(log_sum(logs), rel=1e-12)


@pytest.mark.parametrize("size", [33, 65])
@pytest.mark.parametrize("how", ["ring", "ground factors"])
def test_histograms_of_individuals_who_are_told_apart(size, how):
    rng = random.Random(size)
    table = [1 + 0.01 * rng.random() for _ in range(2 * size + 2)]
    parts = {
        "domains": {"P": size},
        "relations": [{"name": "A", "of": ["P"]}, {"name": "E"}],
        "parfactors": [{"name": "c", "args": ["#X[A(X)]", "E"], "table": table}],
    }
    odds = [1 + 0.1 * (each % 7) for each in range(size)]
    if how == "ring":
        pairs = [[str(each + 1), str((each + 1) % size + 1)] for each in range(size)]
        ring = {
            "name": "r",
            "args": ["A(X)", "A(Y)"],
            "where": [{"vars": ["X", "Y"], "in": pairs}],
            "table": [2, 1, 1, 3],
        }
        parts["parfactors"].append(ring)
        weights = ring_by_count(size)
    else:
        parts["factors"] = [
            {"name": f"h{each}", "args": [f"A({each + 1})"], "table": [1, odds[each]]}
            for each in range(size)
        ]
        weights = np.ones(1)
        for each in odds:
            weights = np.convolve(weights, [1, each])
    answer = lifagu.query(read(**parts), "E")
    by_false = np.array(table).reshape(size + 1, 2)[::-1]  # by how many are true
    expected = (weights[:, None] * by_false).sum(axis=0)
    assert answer["true"] == pytest.approx(expected[1] / expected.sum(), rel=1e-10)
    assert answer.log_partition == pytest.approx(math.log(expected.sum()), rel=1e-12)


def ring_by_count(size):
    """The weight of a ring of tables [2, 1, 1, 3] by how many are true: a matrix of polynomials."""
    total = np.zeros(size + 1)
    for first in (0, 1):
        state = {first: np.eye(1, size + 1, first)[0]}
        for _ in range(size - 1):
            state = {
                value: sum(
                    [[2, 1], [1, 3]][before][value] * (np.roll(own, 1) if value else own)
                    for before, own in state.items()
                )
                for value in (0, 1)
            }
        total += sum(own * [[2, 1], [1, 3]][value][first] for value, own in state.items())
    return total


@pytest.mark.parametrize(
    "evidence", [{"A(1..3)": "true"}, {"A(1)": "true", "A(2)": "false", "A(3)": "true"}]
)
def test_a_counting_formula_of_observed_individuals_is_a_number(evidence):
    model = read(
        domains={"P": 3},
        relations=[{"name": "A", "of": ["P"]}],
        parfactors=[{"name": "g", "args": ["#X[A(X)]"], "table": [1, 5, 7, 2]}],
    )
    expected = math.log(1 if len(evidence) == 1 else 5)  # by how many are false
    assert lifagu.log_partition(model, evidence=evidence) == pytest.approx(expected, abs=1e-12)
    assert set(lifagu.marginals(model, evidence=evidence)["A(1)"].values()) == {0.0, 1.0}


# ---- sums that are symmetric up to rounding


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("which", ["triples", "with T", "two ways"])
def test_sums_that_are_symmetric_up_to_rounding_are_counted(which, seed):
    rng = random.Random(seed)
    apart = ["X != Y", "X != Z", "Y != Z"]
    table = [0.5 + rng.random() for _ in range(16)]
    relations = [
        {"name": "S", "of": ["P"]},
        {"name": "T", "of": ["P", "P", "P"]},
        {"name": "R", "of": ["P", "P"]},
    ]
    parfactors = {
        "triples": [
            {"name": "g", "args": ["S(X)", "S(Y)", "S(Z)"], "where": apart, "table": table[:8]}
        ],
        "with T": [
            {
                "name": "g",
                "args": ["T(X,Y,Z)", "S(X)", "S(Y)", "S(Z)"],
                "where": apart,
                "table": table,
            }
        ],
        "two ways": [
            {"name": "g", "args": ["S(X)", "R(X,Y)"], "where": ["X != Y"], "table": table[:4]},
            {"name": "h", "args": ["R(X,Y)", "R(Y,X)"], "where": ["X != Y"], "table": table[4:8]},
        ],
    }[which]
    used = [
        each
        for each in relations
        if any(arg.startswith(each["name"]) for own in parfactors for arg in own["args"])
    ]
    answer = lifagu.query(read(domains={"P": 120}, relations=used, parfactors=parfactors), "S(1)")
    small = read(domains={"P": 4}, relations=used, parfactors=parfactors)
    assert "count 120 interchangeable variables like S(1)" in answer.plan
    if which != "with T":
        assert lifagu.query(small, "S(1)")["true"] == pytest.approx(
            lifagu.query(lifagu.ground(small), "S(1)", engine="ground")["true"], rel=1e-9
        )


# ---- ground graphs whose groups look alike


def pairs_in(groups):
    return [pair for group in groups for pair in itertools.combinations(group, 2)]


@pytest.mark.parametrize("parts", [2, 3])
def test_complete_graphs_in_several_parts(parts):
    size = 40
    groups = np.arange(parts * size).reshape(parts, size)
    scopes = [
        (a, b) for one, two in itertools.combinations(groups.tolist(), 2) for a in one for b in two
    ]
    found = lifagu.marginals(listed(parts * size, ([2, 1, 1, 2], scopes)))
    logs = []
    for trues in itertools.product(range(size + 1), repeat=parts):
        equal = sum(a * b + (size - a) * (size - b) for a, b in itertools.combinations(trues, 2))
        logs.append(sum(choose(size, each) for each in trues) + equal * math.log(2))
    assert found.log_partition == pytest.approx(log_sum(logs), rel=1e-12)
    assert found["x7"]["1"] == pytest.approx(0.5, rel=1e-9)


def test_households_with_something_in_common():
    size, households = 30, 10
    groups = np.arange(size * households).reshape(households, size).tolist()
    common = size * households
    graph = listed(
        common + 1,
        ([1, 1.01, 1.01, 1.02], pairs_in(groups)),
        ([1, 2, 2.5, 1], [(each, common) for group in groups for each in group]),
    )
    answer = lifagu.query(graph, f"x{common}")
    logs = [
        households
        * log_sum(
            [
                choose(size, true)
                + true * (size - true) * math.log(1.01)
                + true * (true - 1) / 2 * math.log(1.02)
                + true * math.log(one)
                + (size - true) * math.log(zero)
                for true in range(size + 1)
            ]
        )
        for zero, one in ((1, 2.5), (2, 1))
    ]
    assert answer.log_partition == pytest.approx(log_sum(logs), rel=1e-12)
    assert answer["1"] == pytest.approx(math.exp(logs[1] - log_sum(logs)), rel=1e-9)


def test_alike_groups_are_counted_in_one_step():
    """Three hundred groups of ten around hubs in a ring: as many steps and lines as for thirty."""
    lengths = []
    for groups in (30, 300):
        scopes = [list(range(11 * each + 1, 11 * each + 11)) for each in range(groups)]
        hubs = [11 * each for each in range(groups)]
        graph = listed(
            11 * groups,
            ([3, 1, 1, 2], pairs_in(scopes)),
            (
                [1, 2, 2, 1],
                [(each, hub) for hub, group in zip(hubs, scopes, strict=True) for each in group],
            ),
            ([2, 1, 1, 2.2], list(zip(hubs, hubs[1:] + hubs[:1], strict=True))),
        )
        answer = lifagu.query(graph, "x0", engine="lifted")
        assert (
            f"count 10 interchangeable variables like x1 each in {groups} groups"
            in answer.plan.replace("x12", "x1")
        )
        lengths.append(len(answer.plan.splitlines()))
        inner = [
            [
                log_sum(
                    [
                        choose(10, true)
                        + math.comb(true, 2) * math.log(2)
                        + math.comb(10 - true, 2) * math.log(3)
                        + (
                            true * math.log([1, 2][hub == 0])
                            + (10 - true) * math.log([1, 2][hub == 1])
                        )
                        for true in range(11)
                    ]
                )
                for hub in (0, 1)
            ]
        ]
        step = np.array([[2, 1], [1, 2.2]]) * np.exp(np.array(inner) - max(inner[0]))
        expected = math.log(np.trace(np.linalg.matrix_power(step, groups))) + groups * max(inner[0])
        assert answer.log_partition == pytest.approx(expected, rel=1e-12)
    assert max(lengths) <= 40
    assert lengths[1] - lengths[0] <= 12


def test_a_clique_of_different_unary_tables_takes_about_a_square():
    """All marginals of 150 variables: before, 80 took ten seconds."""
    size = 150
    odds = [0.5 + each / size for each in range(size)]
    graph = listed(
        size,
        ([1, 1, 1, 1.01], pairs_in([range(size)])),
        *(([1, odd], [(each,)]) for each, odd in enumerate(odds)),
    )
    found = lifagu.marginals(graph)
    weights = np.ones(1, dtype=np.longdouble)
    for odd in odds:
        weights = np.convolve(weights, np.array([1, odd], dtype=np.longdouble))
    trues = np.arange(size + 1)
    own = np.longdouble(1.01) ** (trues * (trues - 1) // 2)
    assert found.log_partition == pytest.approx(float(np.log((weights * own).sum())), rel=1e-12)
    without = np.ones(1, dtype=np.longdouble)
    for odd in odds[:-1]:
        without = np.convolve(without, np.array([1, odd], dtype=np.longdouble))
    expected = float((without * odds[-1] * own[1:]).sum() / (weights * own).sum())
    assert found[f"x{size - 1}"]["1"] == pytest.approx(expected, rel=1e-9)


# ---- evidence tells classes apart, not individuals


@pytest.mark.parametrize("different", [False, True])
def test_one_observed_member_in_each_of_a_hundred_households(different):
    members, households = 12, 100
    model = read(
        domains={"H": households, "X": members},
        relations=[{"name": "M", "of": ["H", "X"]}],
        parfactors=[
            {
                "name": "g",
                "args": ["M(H,X)", "M(H,Y)"],
                "where": ["X != Y"],
                "table": [1.1, 1, 1, 1.2],
            }
        ],
    )
    seen = {house: house % members + 1 if different else 1 for house in range(1, households + 1)}
    evidence = {f"M({house},{member})": "true" for house, member in seen.items()}
    answer = lifagu.query(model, "M(5,9)", evidence=evidence)
    left = members - 1
    logs = [
        choose(left, true)
        + (true + 1) * true * math.log(1.2)
        + (left - true) * (left - true - 1) * math.log(1.1)
        for true in range(left + 1)
    ]
    assert answer.log_partition == pytest.approx(households * log_sum(logs), rel=1e-12)
    shares = [log + math.log(true / left) for true, log in enumerate(logs) if true]
    assert answer["true"] == pytest.approx(math.exp(log_sum(shares) - log_sum(logs)), rel=1e-9)


@pytest.mark.parametrize("square", [False, True])
def test_rank_one_evidence_on_pairs_listed_singly_keeps_few_cells(square):
    size = 40
    one = range(1, 21)
    two = one if square else range(11, 31)
    evidence = {f"F({x},{y})": "true" for x in one for y in two if x != y}
    parfactor = {"name": "g", "args": ["S(X)", "F(X,Y)", "S(Y)"], "where": ["X != Y"]}
    model = read(
        domains={"P": size},
        relations=[{"name": "S", "of": ["P"]}, {"name": "F", "of": ["P", "P"]}],
        parfactors=[{**parfactor, "table": [1.2, 1, 1, 1.5, 1, 1.1, 1.2, 1]}],
    )
    found = lifagu.marginals(model, evidence=evidence)
    assert sum(each.members.startswith("S(") for each in found.classes) == (2 if square else 4)
    ground = lifagu.ground(model)
    seen = expand_evidence(model, evidence, ground)
    for name in ("S(1)", "S(15)", "S(25)", "S(40)"):
        assert found[name]["true"] == pytest.approx(
            lifagu.query(ground, name, evidence=seen)["true"], rel=1e-9
        )


def test_ranges_that_meet_where_nothing_is_do_not_contradict():
    model = read(
        domains={"P": 2},
        relations=[{"name": "b", "of": ["P", "P"]}],
        parfactors=[{"name": "g", "args": ["b(X,Y)"], "where": ["X != Y"], "table": [1, 3]}],
    )
    evidence = {"b(1..2,2)": "true", "b(2,1..2)": "false"}
    assert lifagu.query(model, "b(1,2)", evidence=evidence)["true"] == 1.0
    assert lifagu.log_partition(model, evidence=evidence) == pytest.approx(math.log(3))
    with pytest.raises(
        lifagu.ModelError,
        match=r"'b\(1,1\.\.2\)' observes what 'b\(1\.\.2,2\)' does, but otherwise",
    ):
        lifagu.query(model, "b(1,2)", evidence={"b(1..2,2)": "true", "b(1,1..2)": "false"})


# ---- several variables of one individual


@pytest.mark.parametrize("grounded", [False, True])
def test_three_relations_that_cross_are_joined(grounded):
    size, rng = 20, random.Random(3)
    draw = lambda count: [0.95 + 0.1 * rng.random() for _ in range(count)]  # noqa: E731
    crossing = {pair: draw(4) for pair in ("AB", "BC", "AC")}
    own = draw(8)
    model = read(
        domains={"P": size},
        relations=[{"name": name, "of": ["P"]} for name in "ABC"],
        parfactors=[
            *(
                {
                    "name": f"g{a}{b}",
                    "args": [f"{a}(X)", f"{b}(Y)"],
                    "where": ["X != Y"],
                    "table": table,
                }
                for (a, b), table in crossing.items()
            ),
            {"name": "d", "args": ["A(X)", "B(X)", "C(X)"], "table": own},
        ],
    )
    answer = lifagu.query(lifagu.ground(model) if grounded else model, "A(1)")
    small = read(**{**json.loads(lifagu.io.to_json(model)), "domains": {"P": 3}})
    assert lifagu.query(small, "A(1)")["true"] == pytest.approx(
        oracle(small).marginal("A(1)")[1], rel=1e-10
    )
    assert "join 20 pairs" in answer.plan


# ---- crashes of before


def test_a_ground_factor_without_arguments_counts_once(tmp_path, capsys):
    path = tmp_path / "model.json"
    path.write_text(
        json.dumps(
            {
                "format": "lifagu/1",
                "domains": {"P": 3},
                "relations": [{"name": "A", "of": ["P"]}],
                "parfactors": [{"name": "g", "args": ["A(X)"], "table": [1, 3]}],
                "factors": [
                    {"name": "c", "args": [], "table": [5]},
                    {"name": "d", "args": [], "table": [5]},
                ],
            }
        )
    )
    status, out, _ = run_cli(capsys, "logz", str(path), "--json")
    assert status == 0
    assert json.loads(out)["log_partition"] == pytest.approx(math.log(25 * 64))


def test_best_assignments_over_pairs():
    """Weights of the best assignments are those of the ground graph."""
    apart = ["X != Y", "X != Z", "Y != Z"]
    first = {"name": "f", "args": ["F(X,Y)", "F(X,Z)"], "where": apart, "table": [1, 1, 1, 2]}
    second = {"name": "g", "args": ["F(X,Y)", "G(X,Y)"], "where": ["X != Y"], "table": [2, 1, 1, 1]}
    counted = {"name": "f", "args": ["#Z[F(Z,X)]", "p"], "table": list(range(1, 11))}
    relations = [{"name": name, "of": ["P", "P"]} for name in "FG"]
    for model in (
        read(domains={"P": 4}, relations=relations, parfactors=[first, second]),
        read(
            domains={"P": 4},
            relations=[*relations, {"name": "p"}],
            parfactors=[counted, {**second, "where": []}],
        ),
    ):
        best = lifagu.map_assignment(model)
        graph = lifagu.ground(model)
        ground = lifagu.map_assignment(graph, engine="ground")
        assert best.log_weight == pytest.approx(ground.log_weight, rel=1e-12)
        evidence = lifagu.log_partition(graph, evidence=best.assignment)
        assert evidence == pytest.approx(best.log_weight, rel=1e-12)


def test_pairs_are_joined_beside_one_that_is_asked_for():
    """A joint question keeps one pair; the others are still joined and counted."""
    size = 24
    first, second = range(size), range(size, 2 * size)
    apart = [(a, size + b) for a in first for b in first if a != b]
    graph = listed(
        2 * size,
        ([3, 1, 1, 2], list(zip(first, second, strict=True))),
        ([1, 1.01, 1, 0.99], apart),
        ([1, 1.02, 1.02, 1], pairs_in([first])),
        ([1, 1.01, 1.01, 1], pairs_in([second])),
    )
    joint = lifagu.query(graph, "x23", "x47")
    assert "join 23 pairs" in joint.plan
    single = lifagu.marginals(graph)["x23"]
    assert joint.probabilities.sum(axis=1) == pytest.approx([single["0"], single["1"]], rel=1e-9)
