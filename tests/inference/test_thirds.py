"""Variables that all know each other, summed out in three groups, against each state by itself."""

import itertools
import math

import numpy as np
import pytest

import lifagu
from lifagu.inference import conditioning, elimination, plan, thirds
from lifagu.inference.connected_part import Part
from lifagu.inference.table import Table
from lifagu.inference.thirds import InThirds, divide
from support.oracle import oracle

RANGES = (1, 2, 2, 3, 4, 5)


@pytest.fixture
def cheap(monkeypatch):
    """Three groups are taken wherever they can be, however few states there are."""
    monkeypatch.setattr(plan, "WIDE", 0)
    monkeypatch.setattr(thirds, "FASTER", 2**40)
    monkeypatch.setattr(thirds, "BUILT", 0)


def random_part(seed, zeros=0.0, spread=1.0, wider=0, tail=0):
    """Pairs of everything with everything; some tables on three; a chain that hangs on the last."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 7))
    variables = tuple(range(20, 20 + count + tail))
    sizes = {each: int(rng.choice(RANGES)) for each in variables}
    scopes = [(each,) for each in variables]
    scopes += [
        tuple(rng.permutation(pair)) for pair in itertools.combinations(variables[:count], 2)
    ]
    scopes += [tuple(rng.choice(variables[:count], 3, replace=False)) for _ in range(wider)]
    scopes += [(variables[count + each - 1], variables[count + each]) for each in range(tail)]
    factors = []
    for scope in scopes:
        logs = rng.normal(scale=spread, size=[sizes[each] for each in scope])
        if len(scope) > 1:
            logs[rng.random(logs.shape) < zeros] = -np.inf
        factors.append((tuple(int(each) for each in scope), logs))
    return Part(variables, sizes, tuple(factors))


def by_hand(part, questions):
    """log Z and the logs of the weights of the questions' values, by a table of all states."""
    whole = np.zeros([part.sizes[each] for each in part.variables])
    for scope, logs in part.factors:
        order = sorted(range(len(scope)), key=lambda axis: scope[axis])
        shape = [part.sizes[each] if each in scope else 1 for each in part.variables]
        whole = whole + np.transpose(logs, order).reshape(shape)
    found = []
    for question in questions:
        axes = tuple(axis for axis, each in enumerate(part.variables) if each not in question)
        table = np.logaddexp.reduce(whole, axis=axes) if axes else whole
        left = [each for each in part.variables if each in question]
        found.append(np.transpose(table, [left.index(each) for each in question]))
    return float(np.logaddexp.reduce(whole, axis=None)), found


def check(part, questions, wanted=True):
    made = elimination.plan(part, questions, str)
    assert bool(made.core) == wanted
    ticks = []
    log_total, tables = elimination.run(part, made, questions, ticks.append)
    assert sum(ticks) == made.total
    expected, weights = by_hand(part, questions)
    assert log_total == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if expected > -math.inf:
        for table, logs in zip(tables, weights, strict=True):
            np.testing.assert_allclose(table, logs - expected, rtol=1e-11, atol=1e-11)


@pytest.mark.filterwarnings("ignore:invalid value encountered in logaddexp")
@pytest.mark.parametrize("zeros", [0, 0.2, 0.5])
@pytest.mark.parametrize("spread", [1, 8, 300])
@pytest.mark.parametrize("seed", range(12))
def test_marginals_and_log_total(seed, zeros, spread, cheap):
    part = random_part(seed, zeros, spread, tail=seed % 3)
    singles = [(each,) for each in part.variables]
    wanted = sum(size > 1 for size in part.sizes.values()) > 2
    for questions in ([], singles[:1], singles, [*singles, part.variables[1::-1]]):
        check(part, questions, wanted)


@pytest.mark.parametrize("seed", range(20))
def test_tables_on_three_and_questions_about_them(seed, cheap):
    part = random_part(seed, 0.1, wider=2)
    questions = [scope for scope, _ in part.factors]
    made = elimination.plan(part, questions, str)
    check(part, questions, bool(made.core))


@pytest.mark.parametrize("seed", range(20))
def test_conditioning_around_three_groups(seed, cheap):
    part = random_part(seed, 0.1)
    questions = [(each,) for each in part.variables]
    whole = elimination.plan(part, questions, str)
    limit = max(whole.memory // 2, 64)
    if whole.obstacle(limit) is None:
        return
    made = conditioning.plan(part, whole, questions, limit)
    if made.obstacle(limit):
        return
    log_total, tables = conditioning.run(part, made, questions, lambda _: None)
    expected, weights = by_hand(part, questions)
    assert log_total == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for table, logs in zip(tables, weights, strict=True):
        np.testing.assert_allclose(table, logs, rtol=1e-11, atol=1e-11)


def test_groups_have_about_as_many_states_and_hold_each_scope_in_two():
    sizes = dict(enumerate([25, 15, 13, 13, 8, 6, 5, 4, 4, 4, 4, 2, 2]))
    made = divide(sizes, itertools.combinations(sizes, 2))
    assert sorted(made.variables) == sorted(sizes)
    assert math.prod(made.states) == math.prod(sizes.values())
    assert max(made.states) <= 1.5 * min(made.states)
    scopes = [(0, 1, 2), (2, 3, 4), (4, 5, 6), (0, 6, 7)]
    made = divide(sizes, scopes)
    for scope in scopes:
        assert sum(bool(set(scope) & set(group)) for group in made.groups) <= 2


def test_what_nobody_can_divide_is_not_divided():
    sizes = dict.fromkeys(range(4), 3)
    assert divide(sizes, [(0, 1, 2, 3)]) is None
    assert divide(sizes, itertools.combinations(sizes, 3)) is None


def test_tables_further_apart_than_floats():
    rng = np.random.default_rng(3)
    logs = {
        pair: rng.normal(scale=2000, size=(3, 3)) for pair in itertools.combinations(range(3), 2)
    }
    tables = [Table(pair, each, -math.inf, math.inf, True) for pair, each in logs.items()]
    summed = InThirds(tables, [(0,), (1,), (2,)])
    whole = logs[0, 1][:, :, None] + logs[0, 2][:, None] + logs[1, 2]
    assert summed.log_total == pytest.approx(np.logaddexp.reduce(whole, axis=None), rel=1e-13)


def test_a_wide_part_needs_little_memory():
    """Nine variables of up to 25 values, each pair of them tied: 2^26 states in 64 MiB."""
    rng = np.random.default_rng(0)
    sizes = [25, 15, 13, 13, 8, 6, 5, 4, 2]
    builder = lifagu.FactorGraph.build()
    for number, size in enumerate(sizes):
        builder = builder.variable(f"v{number}", range=[str(value) for value in range(size)])
    for one, other in itertools.combinations(range(len(sizes)), 2):
        table = rng.gamma(1.0, size=(sizes[one], sizes[other]))
        builder = builder.factor(f"f{one}.{other}", [f"v{one}", f"v{other}"], table)
    graph = builder.graph()
    found = lifagu.marginals(graph, memory_limit=64 * 2**20)
    assert "three groups" in found.plan
    observed = {f"v{number}": "0" for number in range(4)}
    # the same with some fixed is small enough for the oracle; the rule of products ties them
    few = lifagu.marginals(graph, evidence=observed, memory_limit=64 * 2**20)
    exact = oracle(graph, observed).marginal("v8").tolist()
    assert list(few["v8"].values()) == pytest.approx(exact, rel=1e-12)
    each = [
        lifagu.query(graph, "v8", evidence={"v0": str(value)}, memory_limit=64 * 2**20)
        for value in range(sizes[0])
    ]
    mixed = sum(answer.probabilities * found["v0"][str(value)] for value, answer in enumerate(each))
    assert list(found["v8"].values()) == pytest.approx(mixed.tolist(), rel=1e-10)
