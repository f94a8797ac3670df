"""Every engine, every kind of question, random models: all equal to a naive enumeration."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from support.helpers import graph_of, mostly_full, random_model
from support.naive import graphs as naive

ENGINES = ("auto", "lifted", "ground")
SEEDS = mostly_full(range(150), always=range(75))


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_with_enumeration(seed):
    model, evidence = random_model(seed)
    check_all_engines(model, evidence)


@settings(max_examples=50, print_blob=True)
@given(st.integers(0, 10**9))
def test_engines_agree_on_models_drawn_anew(seed):
    model, evidence = random_model(seed)
    check_all_engines(model, evidence)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_engines_agree_long(seed):
    model, evidence = random_model(seed, variables=9)
    check_all_engines(model, evidence)


def check_all_engines(model, evidence):
    graph = graph_of(model)
    try:
        expected_log, expected = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        for engine in ENGINES:
            with pytest.raises(lifagu.NoAnswerError, match="zero"):
                lifagu.query(graph, graph.variable_names[0], evidence=evidence, engine=engine)
        return
    rng = random.Random(len(expected))
    joint = rng.sample(list(expected), min(3, len(expected)))
    questions = [*expected, tuple(joint), tuple(reversed(joint))]
    joints = []
    for engine in ENGINES:
        assert lifagu.log_partition(graph, evidence=evidence, engine=engine) == pytest.approx(
            expected_log, rel=1e-9
        )
        *singles, together, backwards = lifagu.queries(
            graph, questions, evidence=evidence, engine=engine
        )
        for answer in singles:
            check_marginal(answer, expected[answer.variables[0]], expected_log)
        for name in joint:
            check_marginal(
                lifagu.query(graph, name, evidence=evidence, engine=engine),
                expected[name],
                expected_log,
            )
        alone = lifagu.query(graph, *joint, evidence=evidence, engine=engine)
        np.testing.assert_allclose(
            together.probabilities, alone.probabilities, rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            together.probabilities, backwards.probabilities.transpose(), rtol=1e-9, atol=1e-12
        )
        joints.append(alone.probabilities)
    for other in joints[1:]:
        np.testing.assert_allclose(joints[0], other, rtol=1e-9, atol=1e-12)
    for axis, name in enumerate(joint):
        others = tuple(each for each in range(len(joint)) if each != axis)
        labels = graph.variable(name).range
        np.testing.assert_allclose(
            joints[0].sum(axis=others), [expected[name][label] for label in labels], atol=1e-9
        )


def check_marginal(answer, expected, expected_log):
    assert answer.log_partition == pytest.approx(expected_log, rel=1e-9)
    assert answer.probabilities.sum() == pytest.approx(1, abs=1e-12)
    for label, probability in expected.items():
        assert answer[label] == pytest.approx(probability, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("engine", ENGINES)
def test_unknown_factors_elsewhere_do_not_matter(engine):
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B", "C", "D"])
        .factor("f", ["A", "B"], [1, 2, 3, 4])
        .factor("u", ["C", "D"], None)
        .graph()
    )
    answer = lifagu.query(graph, "A", engine=engine)
    assert answer["true"] == pytest.approx(0.7)
    assert answer.log_partition is None
    with pytest.raises(lifagu.NoAnswerError, match=r"P\(C\).*u is unknown"):
        lifagu.query(graph, "C", engine=engine)
    with pytest.raises(lifagu.NoAnswerError, match="log Z.*u is unknown"):
        lifagu.log_partition(graph, engine=engine)
    observed = {"C": "true", "D": "false"}
    with pytest.raises(lifagu.NoAnswerError, match="log Z.*u is unknown"):
        lifagu.log_partition(graph, evidence=observed, engine=engine)
    assert lifagu.query(graph, "C", "A", evidence=observed, engine=engine)[
        "true", "true"
    ] == pytest.approx(0.7)


@pytest.mark.parametrize("engine", ENGINES)
def test_observing_cuts_the_graph(engine):
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B", "C"])
        .factor("f", ["A", "B"], [1, 2, 3, 4])
        .factor("u", ["B", "C"], None)
        .graph()
    )
    assert lifagu.query(graph, "A", evidence={"B": "true"}, engine=engine)["true"] == pytest.approx(
        4 / 6
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_soft_evidence_is_a_unary_factor(engine):
    builder = lifagu.FactorGraph.build().variables(["A", "B"]).factor("f", ["A", "B"], [1, 2, 3, 4])
    plain = builder.graph()
    with_factor = builder.factor("soft", ["B"], [0.5, 2]).graph()
    soft = {"B": {"true": 2, "false": 0.5}}
    assert lifagu.query(plain, "A", evidence=soft, engine=engine)["true"] == pytest.approx(
        lifagu.query(with_factor, "A", engine=engine)["true"], rel=1e-12
    )
    assert lifagu.log_partition(plain, evidence=soft, engine=engine) == pytest.approx(
        lifagu.log_partition(with_factor, engine=engine), rel=1e-12
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_and_tiny_graphs(engine):
    empty = lifagu.FactorGraph.build().graph()
    assert lifagu.log_partition(empty, engine=engine) == 0
    lonely = (
        lifagu.FactorGraph.build().variable("A", ["a", "b", "c"]).variable("B", ["only"]).graph()
    )
    assert lifagu.log_partition(lonely, engine=engine) == pytest.approx(math.log(3))
    assert lifagu.query(lonely, "B", engine=engine)["only"] == 1
    constant = lifagu.FactorGraph.build().factor("c", [], [2.5]).graph()
    assert lifagu.log_partition(constant, engine=engine) == pytest.approx(math.log(2.5))
