"""Conditioning where memory is short, against enumeration; parts equal up to renaming."""

import itertools
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.inference import conditioning, elimination
from lifagu.inference.connected_part import Part
from lifagu.questions.planning import prepare
from support.helpers import graph_of, random_model
from support.naive import graphs as naive
from support.oracle import oracle

LIMITS = (240, 400, 1000)  # bytes: tables of 10, 16 and 41 entries
COPIES = 50


def random_part(seed, zeros=0.0):
    """A part with values 2 to 4, factors on up to three variables, and some questions about it."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    variables = tuple(range(10, 10 + rng.randint(5, 8)))
    sizes = {variable: rng.choice([1, 2, 2, 2, 3, 4]) for variable in variables}
    factors = []
    for _ in range(rng.randint(7, 13)):
        scope = tuple(rng.sample(variables, rng.choice([1, 2, 2, 3])))
        potentials = numbers.uniform(0.1, 4, size=[sizes[variable] for variable in scope])
        potentials[numbers.random(potentials.shape) < zeros] = 0
        with np.errstate(divide="ignore"):
            factors.append((scope, np.asarray(np.log(potentials))))
    asked = [
        tuple(rng.sample(variables, rng.choice([1, 1, 2, 3])))
        for _ in range(rng.choice([0, 1, 1, 2, 4]))
    ]
    return Part(variables, sizes, tuple(factors)), list(dict.fromkeys(asked))


def by_hand(part, questions):
    """Total weight and weights of the questions' values, assignment by assignment."""
    total, tables = (
        0.0,
        [np.zeros([part.sizes[each] for each in question]) for question in questions],
    )
    for combination in itertools.product(*(range(part.sizes[each]) for each in part.variables)):
        values = dict(zip(part.variables, combination, strict=True))
        weight = math.exp(
            sum(table[tuple(values[each] for each in scope)] for scope, table in part.factors)
        )
        total += weight
        for table, question in zip(tables, questions, strict=True):
            table[tuple(values[each] for each in question)] += weight
    return total, tables


@pytest.mark.parametrize("zeros", [0, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(40))
def test_runs_add_up(seed, zeros):
    part, questions = random_part(seed, zeros)
    whole = elimination.plan(part, questions, str)
    limit = max(whole.memory // 5, 64)
    if whole.obstacle(limit) is None:
        return  # it fits as it is
    plan = conditioning.plan(part, whole, questions, limit)
    assert plan.obstacle(limit) is None
    assert plan.each.memory <= limit
    assert plan.runs == math.prod(part.sizes[variable] for variable in plan.variables) > 1
    ticks = []
    log_weight, tables = conditioning.run(part, plan, questions, ticks.append)
    total, expected = by_hand(part, questions)
    assert sum(ticks) == plan.total
    assert math.exp(log_weight) == pytest.approx(total, rel=1e-9)
    if total:
        for table, weights in zip(tables, expected, strict=True):
            np.testing.assert_allclose(np.exp(table), weights, rtol=1e-9, atol=0)


@pytest.mark.parametrize("seed", range(60))
def test_answers_with_little_memory(seed):
    model, evidence = random_model(seed + 500, variables=8, factors=14)
    graph = graph_of(model)
    try:
        expected_log, expected = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        for limit in LIMITS:
            with pytest.raises(lifagu.NoAnswerError, match="zero"):
                lifagu.log_partition(graph, evidence=evidence, engine="ground", memory_limit=limit)
        return
    joint = tuple(random.Random(seed).sample(list(expected), 2))
    pair = oracle(graph, evidence).joint(joint)
    for limit, engine in itertools.product(LIMITS, ("auto", "ground")):
        settings = {"evidence": evidence, "engine": engine, "memory_limit": limit}
        assert lifagu.log_partition(graph, **settings) == pytest.approx(expected_log, rel=1e-9)
        together, *singles = lifagu.queries(graph, [joint, *expected], **settings)
        for answer in (together, lifagu.query(graph, *joint, **settings)):
            np.testing.assert_allclose(answer.probabilities, pair, rtol=1e-9, atol=1e-15)
            assert answer.log_partition == pytest.approx(expected_log, rel=1e-9)
        marginals = lifagu.marginals(graph, **settings)
        for answer in (*singles, lifagu.query(graph, joint[0], **settings)):
            name = answer.variables[0]
            for label, probability in expected[name].items():
                assert answer[label] == pytest.approx(probability, rel=1e-9, abs=1e-15)
                assert marginals[name][label] == pytest.approx(probability, rel=1e-9, abs=1e-15)


def grid(side, copies=1, values=2):
    """Copies of one grid with random tables."""
    rng = np.random.default_rng(side)
    cells = np.arange(side * side).reshape(side, side)
    across, down = (cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])
    pairs = np.concatenate(
        [np.column_stack((first.ravel(), second.ravel())) for first, second in (across, down)]
    )
    every = (pairs[None] + side * side * np.arange(copies)[:, None, None]).reshape(-1, 2)
    return lifagu.FactorGraph.from_arrays(
        ranges=[[str(value) for value in range(values)]],
        variable_ranges=np.zeros(side * side * copies, dtype=int),
        offsets=2 * np.arange(len(every) + 1),
        arguments=every.reshape(-1),
        tables=np.exp(rng.normal(size=(len(pairs), values * values))),
        factor_tables=np.tile(np.arange(len(pairs)), copies),
    )


def test_a_grid_with_a_quarter_of_the_memory():
    graph, questions = grid(10), [("x3",), ("x55", "x44"), ("x0", "x99"), ("x98",)]
    full = prepare(graph, questions, engine="ground")
    limit = full.plans[0].memory // 4
    prepared = prepare(graph, questions, engine="ground", memory_limit=limit)
    assert isinstance(prepared.plans[0], conditioning.Conditioned)
    assert full.run().log_partition == pytest.approx(prepared.run().log_partition, rel=1e-12)
    for one, other in zip(full.run().answers, prepared.run().answers, strict=True):
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, rtol=1e-9)


def test_the_plan_says_what_is_conditioned_on():
    prepared = prepare(grid(8), [("x0",)], memory_limit=2**11)
    plan = prepared.plans[0]
    first, second, *_ = str(plan).splitlines()
    names = ", ".join(f"x{variable}" for variable in plan.variables)
    assert first.startswith(
        f"condition on {names}: {plan.runs} runs, {plan.total} entries in all, instead of "
    )
    assert first.endswith("; each run:")
    assert second.startswith(
        f"eliminate {64 - len(plan.variables) - ('x0' not in names.split(', '))} variables in "
    )
    assert str(plan) in str(prepared)
    seen = []
    answer = prepared.run(lambda done, total: seen.append((done, total))).answers[0]
    assert seen[-1] == (plan.total, plan.total)
    assert answer["1"] == pytest.approx(lifagu.query(grid(8), "x0")["1"], rel=1e-12)
    assert answer.plan == str(prepared)


def test_a_question_about_everything_that_is_fixed():
    part, _ = random_part(3)
    whole = elimination.plan(part, [part.variables[:4]], str)
    # only tables of one entry fit
    plan = conditioning.plan(part, whole, [part.variables[:4]], 8 * 3)
    assert set(plan.variables) == {
        variable for variable, size in part.sizes.items() if size > 1
    } - set(whole.dropped)
    log_weight, (table,) = conditioning.run(part, plan, [part.variables[:4]], lambda _: None)
    total, (expected,) = by_hand(part, [part.variables[:4]])
    assert math.exp(log_weight) == pytest.approx(total, rel=1e-9)
    np.testing.assert_allclose(np.exp(table), expected, rtol=1e-9)


def test_weights_far_apart_neither_overflow_nor_underflow():
    potentials = [[1e-300, 1e300], [1e300, 1e-250]]
    names = [f"v{place}" for place in range(6)]
    builder = lifagu.FactorGraph.build().variables(names)
    for pair in itertools.combinations(names, 2):
        builder.factor("-".join(pair), pair, potentials)
    graph = builder.graph()
    for limit in (2**30, 24 * 4):
        answer = lifagu.query(graph, "v0", engine="ground", memory_limit=limit)
        exact = oracle(graph)
        logs = exact.eliminated(("v0",), np.logaddexp.reduce) - exact.log_total
        np.testing.assert_allclose(answer.log_probabilities, logs, rtol=1e-9, atol=1e-12)
        assert answer.log_partition == pytest.approx(exact.log_total, rel=1e-12)


def test_combinations_of_weight_zero_are_skipped(monkeypatch):
    names = [f"v{place}" for place in range(7)]
    builder = lifagu.FactorGraph.build().variables(names)
    for pair in itertools.combinations(names, 2):
        builder.factor("-".join(pair), pair, [0, 1, 0, 2])  # the second is true
    builder.factor("first", ["v0"], [1, 3])
    calls = counted_runs(monkeypatch)
    prepared = prepare(
        builder.graph(), [("v0",), ("v1", "v6")], engine="ground", memory_limit=24 * 12
    )
    assert prepared.plans[0].runs > 2
    single, pair = prepared.run().answers
    assert len(calls) < prepared.plans[0].runs
    assert single["true"] == pytest.approx(3 * 2**6 / (1 + 3 * 2**6))
    assert pair["true", "true"] == 1


def counted_runs(monkeypatch):
    calls, run = [], elimination.run

    def counting(part, *others):
        calls.append(part)
        return run(part, *others)

    monkeypatch.setattr(elimination, "run", counting)
    return calls


def test_too_much_even_so_is_refused_before_anything_is_computed(monkeypatch):
    calls = counted_runs(monkeypatch)
    refusal = (
        r"log Z needs a table of .* entries .*limit is .*; conditioning would take .* runs "
        r"or more .*; observe"
    )
    with pytest.raises(lifagu.TooLargeError, match=refusal):
        lifagu.log_partition(grid(40))
    with pytest.raises(
        lifagu.TooLargeError, match=r"P\(x0\) needs.* but the most are 4096 runs and 2\^36 entries"
    ):
        lifagu.query(grid(40), "x0")
    with pytest.raises(
        lifagu.TooLargeError,
        match=r"conditioning on x.* runs and .* and still need .*, but the most",
    ):
        lifagu.log_partition(grid(12), memory_limit=2**10)
    assert not calls


def test_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr(conditioning, "MOST_WORK", 2**15)
    with pytest.raises(
        lifagu.TooLargeError,
        match=r"conditioning on x.* would take \d+ runs and \d+ entries in all, but",
    ):
        lifagu.log_partition(grid(10), memory_limit=2**12)


def test_plans_are_deterministic():
    first, second = (str(prepare(grid(9), [("x4",)], memory_limit=2**12)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("limit", [None, 2**10])
def test_equal_parts_cost_one_run(monkeypatch, limit):
    many, one = grid(6, COPIES), grid(6)
    names = [(f"x{36 * copy + 7}",) for copy in range(COPIES)] + [
        ("x0", "x36"),
        ("x3", "x38", "x1"),
    ]
    expected, single = lifagu.log_partition(one), lifagu.query(one, "x7")
    ends = [
        lifagu.query(one, *question).probabilities for question in (["x0"], ["x2"], ["x3", "x1"])
    ]
    calls = counted_runs(monkeypatch)
    prepared = prepare(many, [], engine="ground", memory_limit=limit)
    assert f"for each of {COPIES} equal parts: " in str(prepared)
    assert prepared.run().log_partition == pytest.approx(COPIES * expected, rel=1e-12)
    assert len(calls) == (1 if limit is None else prepared.plans[0].runs)
    prepared = prepare(many, names, engine="ground", memory_limit=limit)
    assert len(prepared.plans) == 3  # the first two are asked more
    *singles, apart, mixed = prepared.run().answers
    for answer in singles:
        np.testing.assert_allclose(answer.probabilities, single.probabilities, rtol=1e-12)
    np.testing.assert_allclose(apart.probabilities, np.outer(ends[0], ends[0]), rtol=1e-9)
    np.testing.assert_allclose(
        mixed.probabilities, np.einsum("ac,b->abc", ends[2], ends[1]), rtol=1e-9
    )


def test_all_marginals_of_equal_parts(monkeypatch):
    many, expected = grid(6, COPIES), lifagu.marginals(grid(6))
    calls = counted_runs(monkeypatch)
    found = lifagu.marginals(many, engine="ground")
    assert len(calls) == 1
    lifted = lifagu.marginals(many)
    assert found.log_partition == pytest.approx(COPIES * expected.log_partition, rel=1e-12)
    for place in range(0, 36 * COPIES, 35):
        for answers in (found, lifted):
            assert answers[f"x{place}"]["1"] == pytest.approx(
                expected[f"x{place % 36}"]["1"], rel=1e-9
            )


def test_parts_that_differ_in_a_table_or_in_evidence_are_not_equal():
    many, one = grid(6, 3), grid(6)
    evidence = {"x40": "1", "x80": {"0": 1, "1": 3}}
    answers = lifagu.queries(many, ["x7", "x43", "x79"], evidence=evidence, engine="ground")
    alone = [None, {"x4": "1"}, {"x8": {"0": 1, "1": 3}}]
    for answer, observed in zip(answers, alone, strict=True):
        assert answer["1"] == pytest.approx(
            lifagu.query(one, "x7", evidence=observed)["1"], rel=1e-12
        )
    assert len(prepare(many, [], evidence, engine="ground").plans) == 3


def test_equal_parts_that_do_not_fit_cost_only_log_z():
    builder = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3])
    names = [f"v{place}" for place in range(60)]
    builder.variables(names)
    for start in (0, 30):
        for pair in itertools.combinations(names[start : start + 30], 2):
            builder.factor("-".join(pair), pair, [1, 2, 3, 4 + 1e-6 * (int(pair[0][1:]) % 30)])
    answer = lifagu.query(builder.graph(), "A", engine="ground", memory_limit=2**10)
    assert answer["true"] == 0.75
    assert answer.log_partition is None
    assert len(answer.notes) == 1
    assert answer.notes[0].startswith(
        "log Z is left out: the part of v0 (and 1 like it) needs a table of"
    )


def test_parts_of_weight_zero():
    builder = lifagu.FactorGraph.build()
    for number in range(3):
        names = [f"a{number}", f"b{number}"]
        builder.variables(names).factor(f"f{number}", names, [0, 1, 1, 0]).factor(
            f"g{number}", names, [1, 0, 0, 1]
        )
    with pytest.raises(lifagu.NoAnswerError, match="every assignment has weight zero"):
        lifagu.log_partition(builder.graph(), engine="ground")
    for engine in ("auto", "lifted", "ground"):
        with pytest.raises(lifagu.NoAnswerError, match="every assignment has weight zero"):
            lifagu.marginals(builder.graph(), engine=engine)
