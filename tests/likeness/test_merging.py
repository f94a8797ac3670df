"""Tables almost equal: tolerance, scale, and how far merging can move an answer."""

import json
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.graph.tables import GivenTables
from lifagu.likeness.close_numbers import narrow_groups, ranks
from support.helpers import ROOT, graph_of, groups_by_name, random_model, run_cli
from support.naive import graphs as naive

EPIDEMIC = str(ROOT / "examples/epidemic.json")


def noisy_rows(seed):
    """Rows around a few prototypes, some of them near each other, with zeros."""
    rng = np.random.default_rng(seed)
    prototypes = rng.choice([0, 1, 1.02, 1.05, 2, 7], size=(rng.integers(1, 5), rng.integers(1, 5)))
    rows = prototypes[rng.integers(0, len(prototypes), rng.integers(1, 40))]
    return rows * (1 + rng.uniform(-1, 1, rows.shape) * rng.choice([0.001, 0.01, 0.05]))


@pytest.mark.parametrize("seed", range(150))
def test_groups_are_narrow_whole_and_independent_of_the_order(seed):
    rows, tolerance = noisy_rows(seed), 0.03
    groups = narrow_groups(rows, tolerance)
    for number in range(groups.max() + 1):
        inside = rows[groups == number]
        assert (inside.max(axis=0) <= inside.min(axis=0) * (1 + tolerance)).all()
    order = np.random.default_rng(seed).permutation(len(rows))
    together = groups[:, None] == groups
    shuffled = narrow_groups(rows[order], tolerance)
    assert np.array_equal(shuffled[:, None] == shuffled, together[np.ix_(order, order)])
    steps = np.column_stack([ranks(column, tolerance) for column in rows.T])
    for block in {tuple(each) for each in steps.tolist()}:
        inside = np.flatnonzero((steps == block).all(axis=1))
        if (rows[inside].max(axis=0) <= rows[inside].min(axis=0) * (1 + tolerance)).all():
            assert len(set(groups[inside].tolist())) == 1, (
                "what is narrow with gaps around it stays together"
            )


def test_groups_do_not_chain():
    chain = 1.009 ** np.arange(1000)[:, None]
    groups = narrow_groups(chain, 0.01)
    assert np.bincount(groups).max() == 2
    assert len(set(groups.tolist())) == 500
    assert narrow_groups(np.array([[0.0, 1.0], [1e-300, 1.0]]), 0.9).tolist() == [0, 1]


def noisy(seed, noise, **settings):
    """A small random model of potentials a little off, its evidence, and the random numbers."""
    model, evidence = random_model(seed, variables=5, factors=5 + seed % 4, **settings)
    rng = random.Random(seed)
    for factor in model["factors"]:
        if factor["table"] is not None:
            factor["table"] = [
                value * (1 + rng.uniform(-noise, noise)) for value in factor["table"]
            ]
    return model, evidence, rng


def check_bound(before, after, bound):
    """Answers before and after merging against what was promised."""
    assert abs(before[0] - after[0]) <= bound.log_partition + 1e-12
    for name, old in before[1].items():
        for label, p in old.items():
            q = after[1][name][label]
            assert abs(p - q) <= bound.probability + 1e-12
            if 0 < p < 1 and 0 < q < 1:
                assert abs(math.log(p / (1 - p)) - math.log(q / (1 - q))) <= bound.log_odds + 1e-9


@pytest.mark.parametrize("seed", range(150))
def test_no_answer_is_further_off_than_stated(seed):
    options = [{"tolerance": 0.1}, {"tolerance": 0.3, "up_to_scale": True}][seed % 2]
    model, evidence, _ = noisy(seed, 0.1)
    moved = lifagu.transfer(graph_of(model), **options, commutative=seed % 4 > 1)
    bound = moved.bound(evidence)
    assert bound.largest_change <= options["tolerance"] * (1 + 1e-12)
    assert moved.drift.largest_change == pytest.approx(
        largest_change(model, moved.graph), rel=1e-9, abs=1e-12
    )
    try:
        before = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        return
    merged = json.loads(lifagu.io.to_json(moved.graph))
    check_bound(before, naive.enumerate_answers(merged, evidence), bound)
    answers = lifagu.queries(moved, list(moved.graph.variable_names), evidence=evidence)
    assert all(
        f"P({answer.variables[0]}) is off by at most" in answer.notes[-1] for answer in answers
    )


def largest_change(model, graph):
    """The largest relative change of a potential, table by table."""
    old = graph_of(model)
    pairs = [(old.table(factor), graph.table(factor)) for factor in range(len(old.factor_names))]
    return max(
        (float((np.abs(new - was)[was > 0] / was[was > 0]).max()) for was, new in pairs),
        default=0.0,
    )


def test_the_bound_is_reached():
    """Two potentials that move apart, the only ones: nothing smaller could be promised."""
    builder = lifagu.FactorGraph.build().variables(["A", "B"])
    graph = builder.factor("f", "A", [1, 1.1]).factor("g", "B", [1.1, 1]).graph()
    moved = lifagu.transfer(graph, tolerance=0.1)
    assert lifagu.query(moved, "A")["true"] == 0.5
    assert moved.bound().log_odds == pytest.approx(math.log(1.1)), "the odds were 1.1, and are 1"
    assert moved.bound().probability >= 1.1 / 2.1 - 0.5


def test_only_what_is_connected_counts():
    builder = lifagu.FactorGraph.build().variables(["A", "B", "C", "D"])
    builder.factor("f", ["A", "B"], [1, 2, 3, 4]).factor("g", ["C", "D"], [1, 2, 3, 4.04]).factor(
        "h", ["C"], [5, 1]
    )
    moved = lifagu.transfer(builder.factor("far", ["D"], [1, 3]).graph(), tolerance=0.02)
    near = moved.drift.highest - moved.drift.lowest
    assert moved.bound().log_odds == pytest.approx(max(near[0], near[1]))
    assert moved.bound({"A": "true", "C": "true", "D": "true"}).log_odds == pytest.approx(near[0])
    joint = lifagu.query(moved, "A", "C").notes[-1]
    single = lifagu.query(moved, "A").notes[-1]
    assert float(joint.split()[-1]) > float(single.split()[-1]) > 0


def star(tables):
    """One factor per table, on a leaf and a shared centre."""
    builder = (
        lifagu.FactorGraph.build()
        .variables([f"X{number}" for number in range(len(tables))])
        .variable("Y")
    )
    for number, table in enumerate(tables):
        builder.factor(f"f{number}", [f"X{number}", "Y"], table)
    return builder.graph()


def test_transfer_within_a_tolerance():
    graph = star([[1, 2, 3, 4], [1, 2, 3, 4.02], [1, 2, 3, 4.02], [1, 2, 3, 5], None])
    exact, near = lifagu.transfer(graph), lifagu.transfer(graph, tolerance=0.01)
    assert [each.record[0].agreeing for each in (exact, near)] == [2, 3]
    assert near.record[0].equality == "within 0.01 (largest relative change 0.0034)"
    assert near.graph.factor("f4").table.reshape(-1)[3] == pytest.approx((4 + 2 * 4.02) / 3), (
        "the mean over factors"
    )
    assert exact.bound() is None
    for donor in ([1, 2, 3, 4], [1, 2, 3, 4.02]):
        filled = star([[1, 2, 3, 4], [1, 2, 3, 4.02], [1, 2, 3, 4.02], [1, 2, 3, 5], donor])
        models = [json.loads(lifagu.io.to_json(each)) for each in (filled, near.graph)]
        check_bound(*map(naive.enumerate_answers, models), near.bound())


@pytest.mark.parametrize("seed", range(60))
def test_filled_factors_are_within_the_bound_too(seed):
    """The same loans from tables before merging give answers no further off than stated."""
    model, evidence, _ = noisy(seed, 0.05, unknown=0.3)
    graph = graph_of(model)
    moved = lifagu.transfer(graph, tolerance=0.2)
    if len(moved.graph.unknown):
        return
    numbers = graph.factor_table.copy()
    for record in moved.record:
        donor = graph.factor_names.number(record.donor)
        numbers[graph.factor_names.number(record.factor)] = numbers[donor]
    given = GivenTables(graph.tables.values, graph.tables.offsets)
    before = graph.refilled(given, numbers, moved.graph.arguments.copy())
    models = [json.loads(lifagu.io.to_json(each)) for each in (before, moved.graph)]
    try:
        check_bound(
            *(naive.enumerate_answers(each, evidence) for each in models), moved.bound(evidence)
        )
    except ZeroDivisionError:
        return


@pytest.mark.parametrize("seed", range(40))
def test_up_to_scale_changes_no_answer(seed):
    model, evidence, rng = noisy(seed, 0)
    for factor in model["factors"]:
        scale = rng.choice([1, 0.1, 3, 7e5, 1 / 3])
        factor["table"] = [value * scale for value in factor["table"]]
    try:
        total, expected = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        return
    moved = lifagu.transfer(graph_of(model), up_to_scale=True)
    assert moved.graph == graph_of(model)
    assert moved.equality == "up to a factor"
    found = lifagu.marginals(moved, evidence=evidence)
    assert found.log_partition == pytest.approx(total, rel=1e-9, abs=1e-9)
    for name, probabilities in expected.items():
        assert found[name] == pytest.approx(probabilities, rel=1e-9, abs=1e-12)


def disguised(model, seed, scale):
    """The same model, tables multiplied by a number, arguments of known factors turned."""
    rng, graph = random.Random(seed), naive.parse(model)
    factors = []
    for entry, factor in zip(model["factors"], graph.factors, strict=True):
        order = rng.sample(range(len(factor.args)), len(factor.args))
        turned = naive.reorder(factor.table, order)
        args = [factor.args[place] for place in order]
        states = naive.product(*(graph.variables[name].labels for name in args))
        factors.append(
            {**entry, "args": args, "table": [turned[state] * scale(rng) for state in states]}
        )
    return {**model, "factors": factors}


@pytest.mark.parametrize("seed", range(60))
def test_groups_do_not_depend_on_scale_and_argument_order(seed):
    model, evidence = random_model(seed, variables=6, factors=4 + seed % 9)
    graph = graph_of(model)
    plain = lifagu.transfer(graph, up_to_scale=True)
    first = lifagu.colour(
        graph, evidence, factor_start=plain.factor_start, commutative=True, up_to_scale=True
    )
    constants = iter(random.Random(seed).choices([1, 0.1, 3, 7e5, 1 / 3], k=len(model["factors"])))
    scaled = {
        **model,
        "factors": [
            {**each, "table": [value * constant for value in each["table"]]}
            for each, constant in zip(model["factors"], constants, strict=True)
        ],
    }
    other = graph_of(disguised(scaled, seed, lambda rng: 1))
    moved = lifagu.transfer(other, up_to_scale=True)
    for start in ({}, {"factor_start": moved.factor_start}):
        second = lifagu.colour(other, evidence, commutative=True, up_to_scale=True, **start)
        assert groups_by_name(other, second) == groups_by_name(graph, first)
    assert lifagu.colour(graph, evidence, factor_start=plain.factor_start) == lifagu.colour(
        graph, evidence, up_to_scale=True
    )


@pytest.mark.parametrize("seed", range(80))
def test_noise_and_argument_order_are_seen_through_together(seed):
    """Well separated values, a little noise, any order: no group is new, and none is lost.

    Only where a table has symmetries of its own may noise tell apart what they made alike.
    """
    model, evidence = random_model(seed, variables=6, factors=4 + seed % 9)
    graph = graph_of(model)
    expected = groups_by_name(graph, lifagu.colour(graph, evidence, commutative=True))
    other = graph_of(disguised(model, seed, lambda rng: 1 + rng.uniform(-1e-4, 1e-4)))
    moved = lifagu.transfer(other, tolerance=1e-3, commutative=True)
    found = lifagu.colour(moved.graph, evidence, factor_start=moved.factor_start, commutative=True)
    for mine, whole in zip(groups_by_name(other, found), expected, strict=True):
        assert all(any(set(group) <= set(each) for each in whole) for group in mine)
    if not any(symmetric(factor.table) for factor in naive.parse(model).factors):
        assert groups_by_name(other, found) == expected


def symmetric(table):
    """Whether some other order of arguments leaves a table as it is."""
    _, *others = naive.permutations(range(len(next(iter(table)))))
    return any(naive.reorder(table, order) == table for order in others)


def test_options_are_recorded(capsys):
    _, out, err = run_cli(capsys, "query", EPIDEMIC, "Epid", "--tolerance", "0.05", "--json")
    result = json.loads(out)
    assert result["equality"] == "within 0.05 (largest relative change 0)"
    assert result["off_by_at_most"] == {
        "largest_change": 0,
        "log_odds": 0,
        "probability": 0,
        "log_partition": 0,
    }
    assert err.startswith("note: tables were compared within 0.05")
    unbounded = {"off_by_at_most": None}
    for options, recorded in (([], {}), (["--engine", "bp", "--tolerance", "0.001"], unbounded)):
        _, out, _ = run_cli(capsys, "marginals", EPIDEMIC, "--json", *options)
        result = json.loads(out)
        assert {key: result[key] for key in ("off_by_at_most",) if key in result} == recorded
    _, out, _ = run_cli(capsys, "lift", EPIDEMIC, "--json", "--commutative", "--up-to-scale")
    result = json.loads(out)
    assert (result["commutative"], result["equality"], result["off_by_at_most"]) == (
        True,
        "up to a factor",
        None,
    )


def test_joint_answers_about_several_parts_have_a_bound_of_their_own(capsys, tmp_path):
    builder = lifagu.FactorGraph.build().variables(["A", "B"])
    path = tmp_path / "two.json"
    lifagu.write(builder.factor("f", ["A"], [1, 1.1]).factor("g", ["B"], [1.1, 1]).graph(), path)
    _, _, err = run_cli(capsys, "query", path, "A", "B", "--joint", "--tolerance", "0.1")
    assert "no marginal is off by more than 0.024" in err
    assert "P(A, B) is off by at most 0.048" in err


@pytest.mark.parametrize("command", [["marginals"], ["logz"], ["query", "Sick.eve"], ["map"]])
def test_commutative_changes_no_answer(capsys, command):
    name, *asked = command
    arguments = [name, EPIDEMIC, *asked, "--add", "eve=alice", "--json"]
    assert run_cli(capsys, *arguments)[1] == run_cli(capsys, *arguments, "--commutative")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 1.0}, "the tolerance must lie between 0 and 1, not 1.0"),
        ({"tolerance": -0.1}, "the tolerance must lie between 0 and 1"),
        ({"tolerance": math.nan}, "tolerance is a number, not nan"),
    ],
)
def test_mistakes_are_named(capsys, options, message):
    with pytest.raises(lifagu.ModelError, match=message):
        lifagu.transfer(star([[1, 2, 3, 4]]), **options)
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    status, _, err = run_cli(capsys, "logz", EPIDEMIC, *given)
    assert status == 2
    assert err.startswith("error: ")


def test_extreme_potentials():
    """Largest and smallest doubles are merged, or kept, without overflow or new zeros."""
    graph = star(
        [
            [1e308, 1e-308, 1, 0],
            [1.01e308, 1.01e-308, 1.01, 0],
            [1e-320, 1e300, 1, 0],
            [1e-320, 1e300, 1, 0],
        ]
    )
    for options in (
        {"tolerance": 0.02},
        {"tolerance": 0.02, "up_to_scale": True},
        {"tolerance": 0.0},
    ):
        moved = lifagu.transfer(graph, **options)
        zeros = [table.reshape(-1) == 0 for table in moved.graph.tables]
        assert all(each.tolist() == [False, False, False, True] for each in zeros)
        assert np.isfinite(list(moved.bound())).all()


def test_an_empty_graph():
    moved = lifagu.transfer(
        lifagu.FactorGraph.build().variable("A").graph(), tolerance=0.1, commutative=True
    )
    assert moved.bound() == (0, 0, 0, 0)
