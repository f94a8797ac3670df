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


@pytest.mark.parametrize("seed", range(15))
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


# ---- many rows that look alike


def relational(rng, people):
    """Persons with a few variables each, a hub, all pairs or a ring; tables with zeros; ids in any order."""
    names = [f"{letter}{person}" for letter in "AB" for person in range(people)] + ["H", "Lonely"]
    order = rng.sample(names, len(names))
    ternary = rng.random() < 0.3
    sizes = {name: 3 if ternary and name[0] == "A" else 2 for name in names}
    builder = lifagu.FactorGraph.build()
    for name in order:
        builder.variable(name, [str(value) for value in range(sizes[name])])
    scopes = []

    def alike(some, symmetric=False):
        spans = [sizes[name] for name in some[0]]
        table = np.array([rng.choice([0, 0.5, 1, 1.5, 2, 3]) for _ in range(math.prod(spans))]).reshape(spans)
        table[(1,) * len(spans)] += 1
        table = table + table.T if symmetric else table
        scopes.extend((scope, table) for scope in some)

    persons = [str(person) for person in range(people)]
    pairs = [(x, y) for x in persons for y in persons if x != y]
    alike([(f"A{x}", f"B{x}") for x in persons])
    if rng.random() < 0.7:
        alike([(f"B{x}", "H") for x in persons])
    if rng.random() < 0.5:
        alike([(f"A{x}", f"A{y}") for x, y in pairs])
    elif rng.random() < 0.5:
        alike([(f"A{x}", f"A{y}") for x, y in pairs if x < y], symmetric=True)
    elif rng.random() < 0.7:
        alike([(f"A{x}", f"A{y}") for x, y in zip(persons, persons[1:] + persons[:1], strict=True)])
    else:
        alike([(f"A{x}", f"B{y}") for x, y in pairs])
    if rng.random() < 0.5:
        alike([(f"A{x}",) for x in persons])
    if rng.random() < 0.3:  # the same rows again
        scopes.extend(rng.sample(scopes, len(scopes) // 2))
    if rng.random() < 0.3:
        del scopes[rng.randrange(len(scopes))]
    for number, (scope, table) in enumerate(scopes):
        builder.factor(f"f{number}", scope, table.reshape(-1).tolist())
    return builder.graph()


def evidence_on(rng, graph):
    """Some values, some likelihoods."""
    found = {}
    for name in graph.variable_names:
        labels = graph.variables[graph.variable_names.number(name)].range
        if rng.random() < 0.1:
            found[name] = rng.choice(labels)
        elif rng.random() < 0.05:
            found[name] = {label: rng.choice([0.25, 1, 2]) for label in labels}
    return found


def check_against_memory(engine, folder, seed, people):
    rng = random.Random(seed)
    graph = relational(rng, people)
    evidence = evidence_on(rng, graph) if rng.random() < 0.6 else {}
    inner = {name: evidence[name] for name in evidence if rng.random() < 0.6}
    outer = {name: evidence[name] for name in evidence if name not in inner or rng.random() < 0.3}
    lifagu.write(graph, folder, inner)
    asked = [["H"], rng.sample(list(graph.variable_names), 2), ["Lonely"]]
    questions = rng.choice([[], asked, asked[:1], asked[1:2]])
    try:
        expected = lifagu.prepare(graph, questions, evidence).run()
    except lifagu.NoAnswerError:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            ask(engine, folder, questions, outer)
        return
    found = ask(engine, folder, questions, outer)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.answers, expected.answers, strict=True):
        assert mine.ranges == theirs.ranges
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_equal_to_answers_in_memory(engine, folder, seed):
    check_against_memory(engine, folder, seed, people=5)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 2500))
def test_equal_to_answers_in_memory_long(engine, folder, seed):
    check_against_memory(engine, folder, seed, people=random.Random(seed).randint(2, 10))
