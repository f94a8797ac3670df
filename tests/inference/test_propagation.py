"""Belief propagation: exact on trees, a naive one's elsewhere, on groups as on the ground graph."""

import math
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu import Evidence, FactorGraph, ModelError, NoAnswerError
from lifagu.graph.factor_graph import Colouring
from lifagu.inference.propagation import answers, propagate
from support.helpers import CASES, frustrated, graph_of, random_model
from support.oracle import oracle

RANGES = [["false", "true"], ["true", "false"], ["low", "mid", "high"], ["only"]]
LOGS = {"rtol": 1e-9, "atol": 1e-9}


# ---- A naive belief propagation, written from the definition


def naive_messages(graph, evidence, iterations, damping=0.0):
    """Messages by (factor, position), largest 1, and beliefs after rounds; None: contradiction."""
    local = [np.ones(size) for size in graph.sizes]
    for variable, value in zip(evidence.variables, evidence.values, strict=True):
        local[variable] *= np.arange(graph.sizes[variable]) == value
    for variable, likelihood in zip(evidence.soft_variables, evidence.likelihoods, strict=True):
        local[variable] = local[variable] * likelihood
    scopes = [graph.scope(factor) for factor in range(len(graph.factor_names))]
    messages = {
        (f, i): np.ones(graph.sizes[v])
        for f, scope in enumerate(scopes)
        for i, v in enumerate(scope)
    }

    def heard(variable, without=None):
        result = local[variable].copy()
        for (factor, position), message in messages.items():
            if scopes[factor][position] == variable and (factor, position) != without:
                result = result * message
        return result

    for _ in range(iterations):
        new = {}
        for factor, position in messages:
            scope, table = scopes[factor], graph.table(factor)
            arriving = [heard(variable, (factor, place)) for place, variable in enumerate(scope)]
            new[factor, position] = np.zeros(graph.sizes[scope[position]])
            for state in product(*(range(graph.sizes[variable]) for variable in scope)):
                others = [
                    arriving[place][value] for place, value in enumerate(state) if place != position
                ]
                new[factor, position][state[position]] += table[state] * math.prod(others)
        for edge, message in new.items():
            if not message.any():
                return None
            new[edge] = (message / message.max()) ** (1 - damping) * messages[edge] ** damping
            new[edge] = new[edge] / new[edge].max()
        messages = new
    beliefs = [heard(variable) for variable in range(len(local))]
    return (
        (messages, [each / each.sum() for each in beliefs])
        if all(each.any() for each in beliefs)
        else None
    )


# ---- Random models


def random_evidence(rng, graph, share=0.25):
    evidence = {}
    for variable in graph.variables:
        if rng.random() < share:
            soft = {label: rng.choice([0, 1, 2.5]) for label in variable.range}
            hard = rng.choice(variable.range)
            evidence[variable.name] = soft if rng.random() < 0.5 and any(soft.values()) else hard
    return evidence


def random_forest(seed):
    """A factor graph without loops: each factor joins different trees, or has at most one."""
    rng = random.Random(seed)
    builder = FactorGraph.build()
    count = rng.randint(1, 7)
    sizes = {}
    for number in range(count):
        labels = rng.choice(RANGES)
        builder = builder.variable(f"v{number}", labels)
        sizes[f"v{number}"] = len(labels)
    trees = [[name] for name in sizes]
    for number in range(rng.randint(0, 9)):
        joined = rng.sample(range(len(trees)), rng.randint(0, min(3, len(trees))))
        scope = [rng.choice(trees[tree]) for tree in joined]
        span = math.prod(sizes[name] for name in scope)
        table = [
            0.0 if rng.random() < 0.2 else rng.choice([0.1, 1.0, 1.0, 2.0, 7.5])
            for _ in range(span)
        ]
        builder = builder.factor(f"f{number}", scope, table if any(table) else [1.0] * span)
        kept = [tree for place, tree in enumerate(trees) if place not in joined]
        trees = [*kept, [name for tree in joined for name in trees[tree]]] if joined else kept
    graph = builder.graph()
    return graph, random_evidence(rng, graph)


# ---- Trees


def check_tree(seed, **settings):
    graph, evidence = random_forest(seed)
    told = oracle(graph, evidence)
    expected = told.log_total
    if expected == -math.inf:
        with pytest.raises(NoAnswerError, match="exclude every value"):
            propagate(graph, evidence, None, **settings)
        return
    for colouring in (None, lifagu.colour(graph, evidence)):
        beliefs = propagate(graph, evidence, colouring, **settings)
        assert beliefs.converged
        assert beliefs.log_partition_estimate == pytest.approx(expected, rel=1e-9, abs=1e-9)
        names = list(graph.variable_names)
        for ours in answers(graph, names, evidence, colouring, **settings):
            (name,) = ours.variables
            assert ours.ranges == (graph.variable(name).range,)
            np.testing.assert_allclose(
                ours.probabilities, told.marginal(name), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("seed", range(120))
def test_exact_on_trees(seed):
    check_tree(seed)


@pytest.mark.parametrize("settings", [{"schedule": "sequential"}, {"damping": 0.4}], ids=str)
@pytest.mark.parametrize("seed", range(30))
def test_exact_on_trees_with_other_settings(seed, settings):
    check_tree(seed, tolerance=1e-12, **settings)


@settings(max_examples=60, print_blob=True)
@given(st.integers(0, 10**9))
def test_exact_on_trees_drawn_anew(seed):
    check_tree(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_exact_on_trees_long(seed):
    check_tree(seed)


def test_extreme_potentials_on_a_long_chain():
    count = 400
    builder = FactorGraph.build().variables([f"v{number}" for number in range(count)])
    for number in range(count - 1):
        builder = builder.factor(
            f"f{number}", [f"v{number}", f"v{number + 1}"], [1e300, 1e-300, 1e-300, 1e299]
        )
    graph = builder.graph()
    beliefs = propagate(graph, None, None)
    assert beliefs.log_partition_estimate == pytest.approx(lifagu.log_partition(graph), rel=1e-12)
    for name in ("v0", "v200", "v399"):
        exact = lifagu.query(graph, name).log_probabilities
        np.testing.assert_allclose(
            beliefs.marginal(graph.variable_names.number(name)), exact, rtol=1e-9, atol=1e-12
        )


# ---- Graphs with loops: naive = ground = groups


def check_messages(graph, evidence, iterations, damping=0.0):
    """Message for message and belief for belief, after the same number of rounds."""
    observed = graph.evidence(evidence)
    expected = naive_messages(graph, observed, iterations, damping)
    colouring = lifagu.colour(graph, evidence)
    for given_colouring in (None, colouring):
        limits = {"iterations": iterations, "tolerance": 0.0, "damping": damping}
        try:
            beliefs = propagate(graph, observed, given_colouring, **limits)
        # perhaps already because a factor has no assignment left, which shows one round later
        except NoAnswerError:
            assert naive_messages(graph, observed, iterations + 1, damping) is None
            continue
        assert expected is not None
        messages, marginals = expected
        if beliefs.iterations < iterations:  # nothing changes any more, not even the last bit
            assert beliefs.residual == 0
        for (factor, position), message in messages.items():
            np.testing.assert_allclose(np.exp(beliefs.message(factor, position)), message, **LOGS)
        for variable, marginal in enumerate(marginals):
            np.testing.assert_allclose(np.exp(beliefs.marginal(variable)), marginal, **LOGS)


@pytest.mark.parametrize("seed", range(100))
def test_ground_and_counting_messages_are_the_naive_ones(seed):
    model, evidence = random_model(seed, variables=10, factors=16)
    rng = random.Random(seed)
    graph = graph_of(model)
    if rng.random() < 0.5:
        evidence = random_evidence(rng, graph, 0.1)
    check_messages(graph, evidence, rng.choice([1, 2, 5]), rng.choice([0.0, 0.0, 0.3]))


def repeated(seed, copies):
    """A random model several times, with a hub between the copies, so that counts are large."""
    model, _ = random_model(seed, variables=5, factors=8, zeros=0.1)
    hub = {"name": "hub"}
    variables = [
        {**each, "name": f"{each['name']}/{copy}"}
        for copy in range(copies)
        for each in model["variables"]
    ]
    factors = [
        {
            **each,
            "name": f"{each['name']}/{copy}",
            "args": [f"{name}/{copy}" for name in each["args"]],
        }
        for copy in range(copies)
        for each in model["factors"]
    ]
    states = len(graph_of(model).variables[0].range)
    joined = f"{model['variables'][0]['name']}"
    factors += [
        {
            "name": f"h/{copy}",
            "args": ["hub", f"{joined}/{copy}"],
            "table": [1.0, 2.0, 1.5, 0.5, 1.0, 3.0][: 2 * states],
        }
        for copy in range(copies)
    ]
    return graph_of({**model, "variables": [hub, *variables], "factors": factors})


@pytest.mark.parametrize("seed", range(40))
def test_counting_is_ground_on_repeated_structure(seed):
    copies = 7
    graph = repeated(seed, copies)
    evidence = {"hub": {"false": 1.0, "true": 0.9}}
    colouring = lifagu.colour(graph, evidence)
    limits = {"iterations": 1 + seed % 12, "damping": 0.2 * (seed % 2)}
    try:
        ground = propagate(graph, evidence, None, **limits)
    except NoAnswerError:
        with pytest.raises(NoAnswerError):
            propagate(graph, evidence, colouring, **limits)
        return
    counting = propagate(graph, evidence, colouring, **limits)
    assert len(counting.compressed.factor_place) <= len(graph.factor_names) / copies
    assert counting.iterations == ground.iterations
    assert counting.log_partition_estimate == pytest.approx(
        ground.log_partition_estimate, rel=1e-9, abs=1e-9
    )
    for factor in range(len(graph.factor_names)):
        for position in range(len(graph.scope(factor))):
            np.testing.assert_allclose(
                counting.message(factor, position), ground.message(factor, position), **LOGS
            )
    for variable in range(len(graph.variable_names)):
        np.testing.assert_allclose(counting.marginal(variable), ground.marginal(variable), **LOGS)


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("schedule", ["parallel", "sequential"])
def test_schedules_and_damping_reach_the_same_fixed_point(schedule, damping):
    rng = np.random.default_rng(3)
    builder = FactorGraph.build().variables([f"v{number}" for number in range(6)])
    for number in range(6):
        pair = [f"v{number}", f"v{(number + 1) % 6}"]
        builder = builder.factor(f"f{number}", pair, rng.uniform(0.5, 2, 4)).factor(
            f"u{number}", pair[:1], [1, number + 1]
        )
    graph = builder.graph()
    usual, other = (
        propagate(graph, None, None),
        propagate(graph, None, None, schedule=schedule, damping=damping),
    )
    assert usual.converged
    assert other.converged
    np.testing.assert_allclose(other.marginals(range(6)), usual.marginals(range(6)), atol=1e-8)
    assert other.log_partition_estimate == pytest.approx(usual.log_partition_estimate, abs=1e-8)
    exact = np.array([lifagu.query(graph, name).probabilities for name in graph.variable_names])
    # one loop: close, not exact
    np.testing.assert_allclose(np.exp(usual.marginals(range(6))), exact, atol=0.02)


def test_hexagon_and_triangles_look_the_same():
    graph = graph_of(CASES["11_hexagon_vs_two_triangles"]["model"])
    exact = [lifagu.query(graph, name)["true"] for name in ("h0", "t0")]
    assert exact == pytest.approx([0.8551, 0.8422], abs=1e-4)
    for colouring in (None, lifagu.colour(graph)):
        hexagon, triangle = answers(graph, ["h0", "t0"], None, colouring)
        assert hexagon["true"] == pytest.approx(triangle["true"], abs=1e-12)
        assert abs(triangle["true"] - exact[1]) > 0.005
    assert str(propagate(graph, None, lifagu.colour(graph)).compressed) == (
        "1 variable group, 2 factor groups, 3 messages each way"
    )


# ---- Evidence and zeros


def chain(count=3, table=(1, 0, 0, 1)):
    names = list("ABCDEFGH"[:count])
    scopes = {f"f{number}": names[number : number + 2] for number in range(count - 1)}
    return FactorGraph.build().variables(names).factors(scopes, table).graph()


@pytest.mark.parametrize("table", [(1, 0, 0, 1), (1, 2, 3, 4)])
def test_one_sequential_sweep_carries_news_along_the_order(table):
    graph, evidence = chain(8, table), {"A": "true"}
    swept = propagate(graph, evidence, None, schedule="sequential", iterations=1)
    np.testing.assert_allclose(
        np.exp(swept.marginal(7)), lifagu.query(graph, "H", evidence=evidence).probabilities
    )


@pytest.mark.parametrize("schedule", ["parallel", "sequential"])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_contradictory_evidence_has_no_answer(schedule, damping):
    settings = {"schedule": schedule, "damping": damping}
    assert np.exp(propagate(chain(), {"A": "true"}, None, **settings).marginal(2)).tolist() == [
        0,
        1,
    ]
    evidence = {"A": "true", "C": "false"}
    for colouring in (None, lifagu.colour(chain(), evidence)):
        with pytest.raises(
            NoAnswerError, match="evidence has probability zero: the messages to '.' exclude"
        ):
            propagate(chain(), evidence, colouring, **settings)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_an_early_stop_does_not_hide_a_contradiction_within_a_factor(iterations):
    with pytest.raises(NoAnswerError, match="probability zero: the messages"):
        propagate(chain(4), {"A": "true", "D": "false"}, None, iterations=iterations)


def test_tables_may_contradict_each_other():
    graph = (
        FactorGraph.build()
        .variable("A")
        .factor("f", ["A"], [1, 0])
        .factor("g", ["A"], [0, 1])
        .graph()
    )
    with pytest.raises(
        NoAnswerError, match="every assignment has weight zero: the messages to 'A'"
    ):
        propagate(graph, None, None)


def test_a_contradiction_around_an_odd_loop_is_overlooked():
    unequal = [[0, 1], [1, 0]]
    scopes = {"f": ["A", "B"], "g": ["B", "C"], "h": ["C", "A"]}
    graph = FactorGraph.build().variables(list("ABC")).factors(scopes, unequal).graph()
    with pytest.raises(NoAnswerError):
        lifagu.query(graph, "A")
    assert np.exp(propagate(graph, None, None).marginal(0)).tolist() == [0.5, 0.5]


def test_soft_evidence_is_a_unary_factor():
    builder = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 2, 3, 4])
    soft = propagate(builder.graph(), {"B": {"true": 2, "false": 0}}, None)
    unary = propagate(builder.factor("soft", ["B"], [0, 2]).graph(), None, None)
    np.testing.assert_allclose(soft.marginals([0, 1]), unary.marginals([0, 1]), rtol=1e-12)
    assert soft.log_partition_estimate == pytest.approx(unary.log_partition_estimate, rel=1e-12)
    assert soft.log_partition_estimate == pytest.approx(math.log(12), rel=1e-12)


def test_evidence_bound_to_numbers_may_be_hard_and_soft_at_once():
    both = Evidence(np.array([0]), np.array([1]), np.array([0]), (np.array([0.5, 4.0]),))
    graph = FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 2, 3, 4]).graph()
    assert propagate(graph, both, None).log_partition_estimate == pytest.approx(math.log(4 * 7))


# ---- Small graphs, limits, errors


@pytest.mark.parametrize("schedule", ["parallel", "sequential"])
def test_empty_isolated_constant_and_unary(schedule):
    empty = propagate(FactorGraph.build().graph(), None, None, schedule=schedule)
    assert (empty.converged, empty.log_partition_estimate) == (True, 0.0)
    graph = (
        FactorGraph.build()
        .variable("A", ["a", "b", "c"])
        .variable("B", ["only"])
        .variables(["C", "D"])
        .factor("c1", [], [2.5])
        .factor("c2", [], [2.5])
        .factor("u1", ["C"], [1, 3])
        .factor("u2", ["C"], [1, 3])
        .graph()
    )
    for colouring in (None, lifagu.colour(graph)):
        beliefs = propagate(graph, None, colouring, schedule=schedule)
        assert beliefs.log_partition_estimate == pytest.approx(math.log(3 * 2 * 10 * 2.5**2))
        np.testing.assert_allclose(np.exp(beliefs.marginal(0)), [1 / 3] * 3)
        assert np.exp(beliefs.marginal(1)).tolist() == [1]
        np.testing.assert_allclose(np.exp(beliefs.marginal(2)), [0.1, 0.9])
        assert beliefs.iterations == 2


def test_the_iteration_limit_is_reported():
    (answer,) = answers(frustrated(), [("v0",)], None, None, iterations=300)
    assert answer.notes[0].startswith(
        "belief propagation did NOT converge within 300 iterations (residual "
    )
    assert answer.notes[0].endswith("more iterations or damping may help")
    assert answer.probabilities.sum() == pytest.approx(1)
    assert (answer.convergence.converged, answer.convergence.iterations) == (False, 300)
    assert answer.convergence.residual > 0.5
    seen = []
    beliefs = propagate(
        frustrated(),
        None,
        None,
        iterations=3,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert (beliefs.converged, beliefs.iterations) == (False, 3)
    assert beliefs.residual > 1e-10


def test_damping_and_order_tame_oscillation():
    damped = propagate(frustrated(), None, None, damping=0.5)
    sequential = propagate(frustrated(), None, None, damping=0.5, schedule="sequential")
    assert damped.converged
    assert sequential.converged
    np.testing.assert_allclose(
        damped.marginals(range(8)), sequential.marginals(range(8)), atol=1e-8
    )


def test_answers_carry_how_far_it_came():
    answer = lifagu.query(frustrated(), "v0", engine="bp")
    assert (
        answer.convergence == propagate(frustrated(), None, lifagu.colour(frustrated())).convergence
    )
    assert answer.convergence.iterations == 1000
    assert lifagu.query(frustrated(), "v0").convergence is None
    for engine, converged in ("bp", False), ("auto", None):
        came = lifagu.impute(frustrated(), None, ["v0", "v1"], engine=engine).marginals.convergence
        assert (came and came.converged) == converged
    assert lifagu.impute(frustrated(), None, [], engine="bp").marginals.convergence is None


def test_answers_say_what_they_are():
    graph = lifagu.read("examples/epidemic.json")
    evidence = {"Travel.alice": "true"}
    colouring = lifagu.colour(graph, evidence)
    questions = [("Sick.bob",), "Epid", ("Travel.alice",)]
    found = answers(graph, questions, evidence, colouring, damping=0.1)
    assert [answer.variables[0] for answer in found] == ["Sick.bob", "Epid", "Travel.alice"]
    for answer in found:
        assert (answer.engine, answer.log_partition) == ("bp", None)
        assert "converged after" in answer.notes[0]
        assert answer.convergence.converged
        assert "log Z estimate" in answer.notes[0]
        assert "parallel schedule" in answer.plan
    assert found[2]["true"] == 1
    assert found[0]["true"] == pytest.approx(
        lifagu.query(graph, "Sick.bob", evidence=evidence)["true"], abs=0.05
    )


def test_same_input_same_bits():
    graph = repeated(4, 5)
    first, second = propagate(graph, None, None), propagate(graph, None, None)
    assert all(
        np.array_equal(first.messages[size], second.messages[size]) for size in first.messages
    )
    assert first.log_partition_estimate == second.log_partition_estimate
    with pytest.raises(ValueError, match="read-only"):
        first.log_marginals[2][0] = 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "random"}, "schedule is 'random'; choose one of parallel, sequential"),
        ({"damping": 1.0}, "damping is 1.0"),
        ({"tolerance": math.nan}, "tolerance is a number, not nan"),
        ({"iterations": 0}, "iterations is a whole number, 1 or more, not 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ModelError, match=message):
        propagate(chain(), None, None, **settings)


def test_what_is_refused():
    graph = chain()
    with pytest.raises(
        ModelError, match="single marginals, not joint ones; ask with an exact engine"
    ):
        answers(graph, [("A", "B")], None, None)
    with pytest.raises(ModelError, match="at least one variable"):
        answers(graph, [()], None, None)
    unknown = FactorGraph.build().variable("A").factor("u", ["A"], None).graph()
    with pytest.raises(ModelError, match="needs every table; unknown: u"):
        propagate(unknown, None, None)
    mixed = FactorGraph.build().variable("A").variable("B", ["a", "b", "c"]).graph()
    with pytest.raises(ModelError, match="one size"):
        propagate(mixed, None, None).marginals([0, 1])


@pytest.mark.parametrize(
    ("variables", "factors", "evidence"),
    [
        ([0, 1, 0], [0, 0], {}),  # f and g have their arguments the other way round
        ([0, 0, 0], [0, 0], {}),  # arguments agree, but A has one edge and B two
        ([0, 1, 2], [0, 1], None),  # the finest colouring always fits
        ([0, 1], [0, 1], {}),  # another graph's
        ([0, 0, 0], [0, 1], {"A": "true"}),  # coloured without the evidence
    ],
)
def test_a_colouring_must_fit(variables, factors, evidence):
    colouring = Colouring(np.array(variables), np.array(factors))
    if evidence is None:
        assert propagate(chain(), None, colouring).converged
    else:
        with pytest.raises(ModelError, match="colouring"):
            propagate(chain(), evidence, colouring)


@pytest.mark.parametrize("seed", range(60))
def test_coarser_colourings_are_refused(seed):
    """Two colours of a coarsest stable partition, merged, never give one that is stable."""
    model, evidence = random_model(seed)
    graph, rng = graph_of(model), random.Random(seed)
    colouring = lifagu.colour(graph, evidence)
    groups = len(colouring.variable_groups)
    if groups > 1:
        one, other = sorted(rng.sample(range(groups), 2))
        merged = np.where(colouring.variable_colours == other, one, colouring.variable_colours)
        merged = np.where(merged > other, merged - 1, merged)
        with pytest.raises(ModelError, match="does not fit"):
            propagate(graph, evidence, Colouring(merged, colouring.factor_colours))


# ---- Scale


def test_an_epidemic_of_a_hundred_thousand_persons():
    persons = 100_000
    sick, travel = 1 + np.arange(persons), 1 + persons + np.arange(persons)
    rows = np.column_stack((travel, sick, np.zeros(persons, dtype=np.int64))).reshape(-1)
    graph = FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(2 * persons + 1, dtype=np.int64),
        offsets=np.concatenate([[0], 1 + 3 * np.arange(persons + 1)]),
        arguments=np.concatenate([[0], rows]),
        tables=[[1, 3], [3, 1, 2, 2, 1, 2, 4, 1]],
        factor_tables=np.minimum(np.arange(persons + 1), 1),
    )
    alike = Colouring(np.repeat([0, 1, 2], [1, persons, persons]), np.repeat([0, 1], [1, persons]))
    ground, counting = propagate(graph, None, None), propagate(graph, None, alike)
    assert ground.converged  # it is a tree
    assert counting.log_partition_estimate == pytest.approx(ground.log_partition_estimate, rel=1e-9)
    exact = np.logaddexp(math.log(1) + persons * math.log(10), math.log(3) + persons * math.log(6))
    assert counting.log_partition_estimate == pytest.approx(exact, rel=1e-9)
    everyone = np.arange(2 * persons + 1)
    np.testing.assert_allclose(
        np.exp(counting.marginals(everyone)), np.exp(ground.marginals(everyone)), atol=1e-9
    )
