"""Answers where the data is: equal to enumeration and to answers in memory, whatever SQL does with the rows."""

import math
import random

import numpy as np
import pytest

import lifagu
import naive
from helpers import graph_of, random_model
from lifagu.answers_by_sql import prepare_on
from lifagu.sql.engines import open_engine

LIMIT = 2**30
NOBODY = lambda text: None  # noqa: E731


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = open_engine("duckdb", tmp_path_factory.mktemp("duckdb"), LIMIT)
    yield opened
    opened.close()


def ask(engine, folder, questions, evidence=None, enough=0, limit=LIMIT, say=NOBODY):
    return prepare_on(engine, folder, questions, evidence or {}, limit, enough, say).run()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "big"


@pytest.mark.parametrize("seed", range(60))
def test_equal_to_enumeration(engine, folder, seed):
    check_model(engine, folder, seed, variables=7)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_equal_to_enumeration_long(engine, folder, seed):
    check_model(engine, folder, seed, variables=9)


def check_model(engine, folder, seed, variables):
    """Random models with zeros, repeated scopes, other label orders; evidence in the folder, beside it, and both."""
    model, evidence = random_model(seed, variables=variables)
    graph, rng = graph_of(model), random.Random(seed)
    inside = {name for name in evidence if rng.random() < 0.5}
    inner = {name: evidence[name] for name in inside}
    outer = {name: evidence[name] for name in evidence if name not in inside}
    lifagu.write(graph, folder, inner)
    try:
        expected_log, expected = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            ask(engine, folder, [[graph.variable_names[0]]], outer)
        return
    assert ask(engine, folder, [], outer).log_partition == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    joint = rng.sample(list(expected), min(3, len(expected)))
    result = ask(engine, folder, [*([name] for name in expected), joint], outer)
    assert result.log_partition == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    *singles, together = result.answers
    for answer in [*singles, *ask(engine, folder, [[joint[0]]], outer).answers]:
        wanted = expected[answer.variables[0]]
        assert {labels[0]: p for labels, p in answer.items()} == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    memory = lifagu.query(graph, *joint, evidence=evidence)
    np.testing.assert_allclose(together.probabilities, memory.probabilities, rtol=1e-9, atol=1e-12)
    assert not engine.names()
