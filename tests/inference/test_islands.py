"""Islands computed once for all that are equal: the same answers as those of every island."""

import random

import numpy as np
import pytest

import lifagu
from lifagu.inference.over_islands import OverIslands, over_islands
from lifagu.inference.planning import plan_marginals
from lifagu.inference.planning import prepare as ground
from lifagu.inference.prepared import Questions

SIZES = (2, 3, 2)
LIMIT = 2**30


def sea(rng, many):
    """Islands of a few sorts around one or two shared variables, which a factor may tie."""
    builder = lifagu.FactorGraph.build()
    shared = [f"S{each}" for each in range(rng.randint(1, 2))]
    labels = [("a", "b", "c")[:size] for size in SIZES]
    for name in shared:
        builder = builder.variable(name, range=("a", "b"))
    sorts = []
    for _ in range(2):
        scopes = []
        for place in range(len(SIZES)):
            # every variable hangs on one before it or on what is shared
            beside = [rng.choice([*range(place), *shared])]
            scopes.append((place, *beside))
        scopes.append((0, *shared))
        sorts.append([(scope, tables(rng, scope)) for scope in scopes])
    for island in range(many):
        for place in range(len(SIZES)):
            builder = builder.variable(f"v{island}.{place}", range=labels[place])
        for number, (scope, table) in enumerate(sorts[rng.random() < 0.3]):
            names = [each if isinstance(each, str) else f"v{island}.{each}" for each in scope]
            builder = builder.factor(f"f{island}.{number}", names, table)
    builder = builder.factor("shared", shared, tables(rng, tuple(shared)))
    return builder.graph()


def tables(rng, scope):
    sizes = [2 if isinstance(each, str) else SIZES[each] for each in scope]
    return np.array([rng.randint(1, 9) for _ in range(int(np.prod(sizes)))]).reshape(sizes)


def observed(rng, graph):
    """Something of a few variables, now and then likelihoods, or what is shared."""
    seen = {}
    for name in rng.sample(list(graph.variable_names), rng.randint(0, 3)):
        labels = graph.labels(graph.variable_names.number(name))
        soft = {label: rng.choice([0.25, 0.5, 1.0]) for label in labels}
        seen[name] = soft if rng.random() < 0.3 else rng.choice(labels)
    return seen


def planned(graph, evidence, questions, everything=False):
    asked = tuple(tuple(map(graph.variable_names.number, each)) for each in questions)
    posed = Questions(
        graph, graph.evidence(evidence), "auto", asked, tuple(questions), LIMIT, everything
    )
    return over_islands(graph, posed)


def questions_to(rng, graph):
    names = list(graph.variable_names)
    return [
        *[(name,) for name in rng.sample(names, 2)],
        tuple(rng.sample(names, 2)),
        ("S0", *rng.sample(names[2:], 1)),
    ]


@pytest.mark.parametrize("seed", range(10))
def test_answers_are_those_of_all_islands(seed):
    rng = random.Random(seed)
    graph = sea(rng, 60)
    for _ in range(4):
        evidence = observed(rng, graph)
        questions = questions_to(rng, graph)
        wanted = ground(graph, questions, evidence, engine="ground").run()
        found = planned(graph, evidence, questions)
        assert isinstance(found, OverIslands)
        result = found.run()
        assert result.log_partition == pytest.approx(wanted.log_partition, rel=1e-12)
        for one, other in zip(result.answers, wanted.answers, strict=True):
            assert one.variables == other.variables
            assert one.ranges == other.ranges
            np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=0, atol=1e-12)
        whole, _ = plan_marginals(graph, evidence, engine="ground", limit=LIMIT)
        every = planned(graph, evidence, (), everything=True).solve().marginals
        naive = whole.solve().marginals
        for variable in np.flatnonzero(naive.of_variable >= 0).tolist():
            np.testing.assert_allclose(
                np.exp(every[variable].astype(float)),
                np.exp(naive[variable].astype(float)),
                rtol=0,
                atol=1e-12,
            )


@pytest.mark.parametrize("seed", range(10))
def test_what_was_asked_before_makes_no_difference(seed):
    rng = random.Random(seed)
    graph = sea(rng, 60)
    for _ in range(6):
        evidence, questions = observed(rng, graph), questions_to(rng, graph)
        again = lifagu.FactorGraph.from_arrays(**arrays(graph))
        one, other = (planned(each, evidence, questions).run() for each in (graph, again))
        assert one.log_partition == other.log_partition
        for left, right in zip(one.answers, other.answers, strict=True):
            assert np.array_equal(left.probabilities, right.probabilities)


def arrays(graph):
    """What a graph was made of, so that nothing is known of another one like it."""
    return {
        "ranges": graph.ranges.declared,
        "variable_ranges": graph.variable_declared,
        "offsets": graph.offsets,
        "arguments": graph.arguments,
        "tables": [graph.tables[number] for number in range(len(graph.tables))],
        "factor_tables": graph.factor_table,
        "variable_names": list(graph.variable_names),
        "factor_names": list(graph.factor_names),
    }


def test_where_islands_differ_or_are_few_all_are_computed():
    rng = random.Random(1)
    builder = lifagu.FactorGraph.build().variable("S")
    for island in range(30):
        table = [rng.random() for _ in range(4)]
        builder = builder.variable(f"v{island}").factor(f"f{island}", [f"v{island}", "S"], table)
    graph = builder.graph()
    assert planned(graph, {}, [("S",)]) is None
