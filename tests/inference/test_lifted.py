"""The lifted engine against enumeration: every identity forced in turn, on many models."""

import functools
import itertools
import json
import math
import random

import numpy as np
import pytest

import lifagu
from lifagu.inference.lifted import engine
from lifagu.inference.lifted.counting import CountStep
from lifagu.inference.lifted.elimination import EliminateStep
from lifagu.inference.lifted.joining import JoinStep
from lifagu.inference.lifted.pivot import PivotStep
from lifagu.inference.lifted.weighted_counting import WeightedCountStep
from lifagu.questions.planning import prepare
from support.helpers import CASES, graph_of, mostly_full, random_model
from support.naive import graphs as naive
from support.oracle import oracle

FORCED = {
    "as it is": {},
    "always lifted": {"SHARED": 0.0},
    "only what is cheap": {"SHARED": 0.0, "ALWAYS": -1.0},
    "counting first": {"SHARED": 0.0, "ALWAYS": -100.0, "DEAR": 3.0},
    "counting only": {"SHARED": 0.0, "ALWAYS": -100.0, "DEAR": -1.0},
}


@pytest.fixture(params=FORCED.values(), ids=FORCED)
def forced(request, monkeypatch):
    for name, value in request.param.items():
        monkeypatch.setattr(engine, name, value)


@functools.cache
def enumerated(model_and_evidence):
    """What enumeration says, once for all that is forced upon the engine."""
    return naive.enumerate_answers(*json.loads(model_and_evidence))


def check(model, evidence):
    """log Z, every marginal in one pass, and the best assignment."""
    graph = graph_of(model)
    try:
        expected_log, expected = enumerated(json.dumps([model, evidence]))
    except ZeroDivisionError:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            lifagu.marginals(graph, evidence=evidence)
        return None
    found = lifagu.marginals(graph, evidence=evidence)
    assert found.log_partition == pytest.approx(expected_log, rel=1e-9, abs=1e-12)
    assert list(found) == list(graph.variable_names)
    for name, distribution in found.items():
        for label, probability in distribution.items():
            assert probability == pytest.approx(expected[name][label], rel=1e-9, abs=1e-13), str(
                found.plan
            )
    name = graph.variable_names[len(graph.variable_names) // 2]
    single = lifagu.query(graph, name, evidence=evidence)
    for label, probability in expected[name].items():
        assert single[label] == pytest.approx(probability, rel=1e-9, abs=1e-13)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_random_models(seed, forced):
    model, evidence = random_model(seed, factors=seed % 15 + 1)
    check(model, evidence)


def symmetric_model(seed):
    """Interchangeable As (two or three values) and Bs, tuples of As, shuffled, some tables zero."""
    rng = random.Random(seed)
    people, things, size, kind = (
        rng.randint(2, 4),
        rng.randint(1, 3),
        rng.choice([2, 2, 3]),
        rng.randint(0, 5),
    )
    variables = [
        {"name": f"A{i}", "range": [str(value) for value in range(size)]} for i in range(people)
    ]
    variables += [{"name": f"B{i}", "range": ["0", "1"]} for i in range(things)]
    rng.shuffle(variables)
    tables: dict[tuple, list] = {}
    factors = []

    def add(what, arguments):
        span = math.prod(size if name[0] == "A" else 2 for name in arguments)
        if what not in tables:
            tables[what] = [
                rng.choice([0, 1, 1, 2, 3, 0.5]) if rng.random() < 0.3 else 1 + rng.random()
                for _ in range(span)
            ]
            tables[what][0] = tables[what][0] or 1
        factors.append({"name": f"f{len(factors)}", "args": arguments, "table": tables[what]})

    for i in range(people):
        add("unary", [f"A{i}"])
        for j in range(things):
            add("pair", [f"A{i}", f"B{j}"])
        for j in range(people):
            if i != j and kind in (1, 2):
                add("self", [f"A{i}", f"A{j}"])
            if i < j and kind == 5:
                add("one way", [f"A{i}", f"A{j}"])
            if i != j and kind == 3:
                add("beside", [f"A{i}", "B0", f"A{j}"])
            for k in range(people):
                if len({i, j, k}) == 3 and kind == 4:
                    add("triple", [f"A{i}", f"A{j}", f"A{k}"])
    for j in range(things):
        add("thing", [f"B{j}"])
    rng.shuffle(factors)
    evidence = {"A0": "1"} if rng.random() < 0.4 else {}
    return {"variables": variables, "factors": factors}, evidence


@pytest.mark.parametrize("seed", range(60))
def test_symmetric_models(seed, forced):
    check(*symmetric_model(seed))


def pivot_model(seed):
    """A(X), B(Y) for all X ≠ Y beside A(X), B(X); sometimes a C, sometimes F(X, Y) between."""
    rng = random.Random(seed)
    people = rng.choice([3, 3, 4, 5])
    sizes = {
        "A": rng.choice([2, 3]) if people == 3 else 2,
        "B": rng.choice([2, 3]) if people == 3 else 2,
        "C": 2,
        "F": 2,
    }
    between, common, turned = (
        rng.random() < 0.4 and people == 3,
        rng.random() < 0.5,
        rng.random() < 0.5,
    )
    names = [f"{kind}{x}" for kind in "AB" for x in range(people)] + ["C"] * common
    tables: dict[str, list] = {}
    factors = []

    def add(what, arguments):
        span = math.prod(sizes[name[0]] for name in arguments)
        if what not in tables:
            tables[what] = [0 if rng.random() < 0.1 else 0.2 + rng.random() for _ in range(span)]
            tables[what][0] = 1
        factors.append({"name": f"f{len(factors)}", "args": arguments, "table": tables[what]})

    for x in range(people):
        add("a", [f"A{x}"])
        add("own", [f"A{x}", f"B{x}"])
        if common:
            add("c", [f"B{x}", "C"])
        for y in set(range(people)) - {x}:
            if between:
                names.append(f"F{x}.{y}")
                add("f", [f"F{x}.{y}", f"A{x}", f"B{y}"])
            else:
                add("t", [f"B{y}", f"A{x}"] if turned else [f"A{x}", f"B{y}"])
    variables = [
        {"name": name, "range": [str(value) for value in range(sizes[name[0]])]} for name in names
    ]
    rng.shuffle(variables)
    rng.shuffle(factors)
    return {"variables": variables, "factors": factors}, {"A0": "1"} if rng.random() < 0.3 else {}


@pytest.mark.parametrize("seed", mostly_full(range(40), always=range(20)))
def test_pivot_counts(seed, forced):
    check(*pivot_model(seed))


def test_a_pivot_costs_a_histogram_not_its_cube():
    """Asthma and smoking: a joint histogram of 200 pairs would have 1.4 million values."""
    people = range(200)
    builder = (
        lifagu.FactorGraph.build()
        .variables([f"A{x}" for x in people])
        .variables([f"S{x}" for x in people])
    )
    builder.factors({f"own{x}": [f"A{x}", f"S{x}"] for x in people}, [3, 1, 1, 2])
    builder.factors(
        {f"t{x}.{y}": [f"A{x}", f"S{y}"] for x in people for y in people if x != y}, [1, 1, 1, 1.01]
    )
    found = lifagu.marginals(builder.graph())
    assert any(isinstance(step, PivotStep) for step in found.prepared.reduced.steps)
    total = [
        math.log(math.comb(200, k))
        + k * np.logaddexp(math.log(1), math.log(2) + (k - 1) * math.log(1.01))
        + (200 - k) * np.logaddexp(math.log(3), k * math.log(1.01))
        for k in range(201)
    ]
    assert found.log_partition == pytest.approx(float(np.logaddexp.reduce(total)), rel=1e-12)
    assert len(found.classes[1]) <= 4


def unary_model(seed):
    """As interchangeable but for unary tables, beside Bs; sometimes all pairs of As."""
    rng = random.Random(seed)
    people, things, size, pairs = (
        rng.randint(2, 5),
        rng.randint(1, 3),
        rng.choice([2, 2, 3]),
        rng.random() < 0.3,
    )
    variables = [
        {"name": f"A{i}", "range": [str(value) for value in range(size)]} for i in range(people)
    ]
    variables += [{"name": f"B{i}", "range": ["0", "1"]} for i in range(things)]
    unary = [[rng.choice([1, 2, 0.5]) for _ in range(size)] for _ in range(rng.randint(1, 3))]
    unary[0][0] = 0
    beside = [0 if rng.random() < 0.1 else 0.2 + rng.random() for _ in range(2 * size)]
    both = [0.2 + rng.random() for _ in range(size * size)]
    beside[0] = 1
    factors = []
    for i in range(people):
        scopes = [([f"A{i}"], rng.choice(unary))] * (rng.random() < 0.8)
        scopes += [([f"A{i}", f"B{j}"], beside) for j in range(things)]
        scopes += [([f"A{i}", f"A{j}"], both) for j in range(people) if pairs and i != j]
        for place, (scope, table) in enumerate(scopes):
            factors.append({"name": f"f{i}.{place}", "args": scope, "table": table})
    rng.shuffle(variables)
    rng.shuffle(factors)
    return {"variables": variables, "factors": factors}, {"A0": "1"} if rng.random() < 0.2 else {}


@pytest.mark.parametrize("seed", range(40))
def test_counting_with_different_unary_tables(seed, forced):
    check(*unary_model(seed))


def test_soft_evidence_on_everybody_is_one_histogram():
    """A hundred different likelihoods: a Poisson binomial distribution, not a hundred classes."""
    people = range(100)
    builder = lifagu.FactorGraph.build().variables([f"A{x}" for x in people])
    builder.variables([f"B{y}" for y in range(8)])
    builder.factors(
        {f"f{x}.{y}": [f"A{x}", f"B{y}"] for x in people for y in range(8)}, [1, 1.1, 1.2, 0.9]
    )
    soft = {f"A{x}": {"false": 1, "true": 0.5 + x / 100} for x in people}
    found = lifagu.marginals(builder.graph(), evidence=soft, engine="lifted")
    assert any(isinstance(step, WeightedCountStep) for step in found.prepared.reduced.steps)
    logs = []
    for values in itertools.product((0, 1), repeat=8):  # given the Bs, the As are independent
        odds = [math.prod([1, 1.1][b] for b in values), math.prod([1.2, 0.9][b] for b in values)]
        logs.append(math.fsum(math.log(odds[0] + (0.5 + x / 100) * odds[1]) for x in people))
    assert found.log_partition == pytest.approx(float(np.logaddexp.reduce(logs)), rel=1e-12)


def joined_model(seed):
    """As in a pivot, but As meet one another, sometimes a pair a B: only pairs are counted."""
    rng = random.Random(seed)
    people = rng.choice([2, 3, 3, 4])
    sizes = {"A": rng.choice([2, 3]) if people < 4 else 2, "B": 2, "C": 2}
    names = [f"{kind}{x}" for kind in "AB" for x in range(people)] + ["C"] * (rng.random() < 0.5)
    triples = rng.random() < 0.4
    tables: dict[int, list] = {}
    factors = []
    for x in range(people):
        scopes = [[f"A{x}"], [f"A{x}", f"B{x}"], *([[f"B{x}", "C"]] if "C" in names else [])]
        marks = [0, 1, 2][: len(scopes)]
        for y in set(range(people)) - {x}:
            scopes += [
                [f"A{x}", f"B{y}"],
                [f"A{x}", f"A{y}"],
                *([[f"A{x}", f"B{x}", f"B{y}"]] if triples else []),
            ]
            marks += [3, 4, 5] if triples else [3, 4]
        for mark, scope in zip(marks, scopes, strict=True):
            span = math.prod(sizes[name[0]] for name in scope)
            fresh = [1, *(0 if rng.random() < 0.1 else 0.2 + rng.random() for _ in range(span - 1))]
            factors.append(
                {"name": f"f{len(factors)}", "args": scope, "table": tables.setdefault(mark, fresh)}
            )
    variables = [
        {"name": name, "range": [str(value) for value in range(sizes[name[0]])]} for name in names
    ]
    rng.shuffle(variables)
    rng.shuffle(factors)
    return {"variables": variables, "factors": factors}, {"A0": "1"} if rng.random() < 0.2 else {}


@pytest.mark.parametrize("seed", range(40))
def test_joined_pairs_are_counted(seed, forced):
    check(*joined_model(seed))


def test_joining_is_used_where_nothing_else_helps(monkeypatch):
    monkeypatch.setattr(engine, "DEAR", 3.0)
    people = range(12)
    builder = (
        lifagu.FactorGraph.build()
        .variables([f"A{x}" for x in people])
        .variables([f"B{x}" for x in people])
    )
    builder.factors({f"o{x}": [f"A{x}", f"B{x}"] for x in people}, [2, 1, 1, 3])
    builder.factors(
        {f"t{x}.{y}": [f"A{x}", f"B{y}"] for x in people for y in people if x != y},
        [1, 1.1, 1, 0.9],
    )
    builder.factors(
        {f"a{x}.{y}": [f"A{x}", f"A{y}"] for x in people for y in people if x < y}, [1, 1.2, 1.2, 1]
    )
    builder.factors(
        {f"b{x}.{y}": [f"B{x}", f"B{y}"] for x in people for y in people if x < y}, [1, 1.1, 1.1, 1]
    )
    graph = builder.graph()
    found = lifagu.marginals(graph)
    assert any(isinstance(step, JoinStep) for step in found.prepared.reduced.steps)
    ground = lifagu.queries(graph, ["A3", "B7"], engine="ground")
    assert found.log_partition == pytest.approx(ground[0].log_partition, rel=1e-12)
    for answer in ground:
        assert list(found[answer.variables[0]].values()) == pytest.approx(
            answer.probabilities.tolist(), rel=1e-9
        )


@pytest.mark.parametrize(
    "make", [random_model, symmetric_model, pivot_model, unary_model, joined_model]
)
@pytest.mark.parametrize("seed", mostly_full(range(12), always=range(6)))
def test_the_best_assignment(seed, make, forced):
    """Its weight is the largest there is, it has that weight, and it agrees with the evidence."""
    model, evidence = make(seed)
    graph = graph_of(model)
    largest = largest_weight(make, seed)
    if largest is None:
        return
    if largest == 0:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            lifagu.map_assignment(graph, evidence=evidence)
        return
    best = lifagu.map_assignment(graph, evidence=evidence)
    assert best.log_weight == pytest.approx(math.log(largest), abs=1e-9)
    assert weight(graph, best.assignment) == pytest.approx(largest, rel=1e-9)
    assert all(best.assignment[name] == label for name, label in evidence.items())


@functools.cache
def largest_weight(make, seed):
    """By visiting every assignment, once for all that is forced; None if there are too many."""
    model, evidence = make(seed)
    graph = graph_of(model)
    ranges = [
        [evidence[each.name]] if each.name in evidence else each.range for each in graph.variables
    ]
    if math.prod(map(len, ranges)) > 1500:
        return None
    names = list(graph.variable_names)
    assignments = (dict(zip(names, each, strict=True)) for each in itertools.product(*ranges))
    return max(weight(graph, assignment) for assignment in assignments)


def weight(graph, assignment):
    total = 1.0
    for factor in graph.factors:
        labels = [graph.variable(name).range.index(assignment[name]) for name in factor.arguments]
        total *= factor.table[tuple(labels)]
    return total


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_lifted_long(seed, forced):
    check(*symmetric_model(seed))
    check(*random_model(seed, factors=seed % 20 + 1))
    check(*pivot_model(seed))


def test_groups_that_are_not_orbits_do_not_mislead(forced):
    """Hexagon and two triangles share all colours; their marginals differ even so (case 11)."""
    case = CASES["11_hexagon_vs_two_triangles"]
    found = lifagu.marginals(graph_of(case["model"]))
    assert found["h0"]["true"] == pytest.approx(0.8551174961883273)
    assert found["t0"]["true"] == pytest.approx(0.8421906693711968)


def ring(size):
    places = np.arange(size)
    return lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1", "2"]],
        variable_ranges=np.zeros(size, dtype=int),
        offsets=2 * np.arange(size + 1),
        arguments=np.column_stack((places, (places + 1) % size)).reshape(-1),
        tables=[[1, 2, 3, 4, 5, 1, 2, 2, 9]],
        factor_tables=np.zeros(size, dtype=int),
    )


def test_a_broken_ring_needs_few_steps():
    """Evidence breaks the ring's symmetry, not its local likeness: rounds halve it."""
    found = lifagu.marginals(ring(4096), evidence={"x0": "1"})
    steps = found.prepared.reduced.steps
    assert sum(isinstance(step, EliminateStep) for step in steps) < 20
    assert sum(len(step.shapes) for step in steps if isinstance(step, EliminateStep)) < 60
    ground = lifagu.queries(ring(4096), ["x1", "x2000"], evidence={"x0": "1"}, engine="ground")
    assert found.log_partition == pytest.approx(ground[0].log_partition, rel=1e-12)
    for answer in ground:
        assert list(found[answer.variables[0]].values()) == pytest.approx(
            answer.probabilities.tolist(), rel=1e-9
        )


def all_pairs(people, with_self=False):
    """Smokers and friends: S(x), S(y), F(x,y) for all ordered pairs."""
    pairs = [(x, y) for x in range(people) for y in range(people) if with_self or x != y]
    builder = lifagu.FactorGraph.build().variables([f"S{x}" for x in range(people)])
    builder.variables([f"F{x}.{y}" for x, y in pairs])
    builder.factors({f"u{x}": [f"S{x}"] for x in range(people)}, [3, 1])
    builder.factors(
        {f"g{x}.{y}": [f"F{x}.{y}", f"S{x}", f"S{y}"] for x, y in pairs if x != y},
        [1, 1, 1, 1, 1, 1, 1, 2],
    )
    builder.factors(
        {f"d{x}": [f"F{x}.{x}", f"S{x}"] for x in range(people) if with_self}, [1, 1, 1, 2]
    )
    return builder.graph()


def closed_form(people):
    """log Z of the pairs X ≠ Y: adding up over the number of smokers."""
    terms = [
        math.log(math.comb(people, k))
        + (people - k) * math.log(3)
        + k * (k - 1) * math.log(3)
        + (people * (people - 1) - k * (k - 1)) * math.log(2)
        for k in range(people + 1)
    ]
    return max(terms) + math.log(math.fsum(math.exp(term - max(terms)) for term in terms))


def test_self_joins_are_counted():
    found = lifagu.marginals(all_pairs(40))
    assert any(isinstance(step, CountStep) for step in found.prepared.reduced.steps)
    assert found.log_partition == pytest.approx(closed_form(40), rel=1e-12)
    assert len(found.classes[1]) <= 3
    small = lifagu.marginals(all_pairs(4, with_self=True))
    told = oracle(all_pairs(4, with_self=True))
    for name in small:
        assert list(small[name].values()) == pytest.approx(told.marginal(name).tolist(), rel=1e-9)


def test_products_of_two_sets_are_counted():
    names = [f"A{x}" for x in range(60)], [f"B{y}" for y in range(50)]
    builder = lifagu.FactorGraph.build().variables(names[0]).variables(names[1])
    builder.factors({f"{a}{b}": [a, b] for a in names[0] for b in names[1]}, [1, 2, 3, 1.5])
    found = lifagu.marginals(builder.graph(), evidence={"A0": "true"})
    log = math.log
    terms = [
        log(math.comb(59, k))
        + 50
        * np.logaddexp((k + 1) * log(3) + (59 - k) * log(1), (k + 1) * log(1.5) + (59 - k) * log(2))
        for k in range(60)
    ]
    assert found.log_partition == pytest.approx(float(np.logaddexp.reduce(terms)), rel=1e-12)


def test_unknown_factors_are_left_out():
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B", "C", "D"])
        .factor("f", ["A", "B"], [1, 2, 3, 4])
        .factor("u", ["C", "D"], None)
        .graph()
    )
    found = lifagu.marginals(graph)
    assert list(found) == ["A", "B"]
    assert found.left_out == ["C", "D"]
    assert found.log_partition is None
    with pytest.raises(
        lifagu.NoAnswerError, match="unknown factors are in the same connected part"
    ):
        found["C"]
    with pytest.raises(lifagu.ModelError, match="no variable 'E'"):
        found["E"]
    assert "A" in found
    assert "C" not in found
    assert "E" not in found


def test_plans_are_deterministic():
    model, evidence = symmetric_model(5)
    first, second = (str(prepare(graph_of(model), [("B0",)], evidence)) for _ in range(2))
    assert first == second
