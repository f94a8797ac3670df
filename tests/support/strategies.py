"""Random graphs for Hypothesis."""

import numpy as np
from hypothesis import strategies as st

import lifagu

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
labels = st.lists(st.text(characters, min_size=1, max_size=3), min_size=1, max_size=3, unique=True)
potentials = st.one_of(st.integers(0, 10), st.floats(0, 1e308, allow_subnormal=True))


@st.composite
def graphs(draw, unknown=True, plain=False, estimated=True):
    """Any small graph; plain ones have only what every format can hold."""
    builder = lifagu.FactorGraph.build()
    names = draw(st.lists(st.text(characters, min_size=1, max_size=4), max_size=5, unique=True))
    names = [f"x{place}" for place in range(len(names))] if plain else names
    sizes = {}
    orders = draw(st.lists(labels, min_size=1, max_size=3))
    for name in names:
        order = draw(st.sampled_from(orders + [order[::-1] for order in orders]))
        order = [str(value) for value in range(len(order))] if plain else order
        kind = None if plain else draw(st.sampled_from([None, "Kind", "Ärt"]))
        individuals = (
            []
            if plain
            else draw(st.lists(st.sampled_from(["eve", "bob"]), max_size=2, unique=True))
        )
        builder.variable(name, order, kind=kind, individual=individuals)
        sizes[name] = len(order)
    for number in range(draw(st.integers(0, 5))):
        scope = draw(st.permutations(names))[: draw(st.integers(0, 3))]
        span = int(np.prod([sizes[name] for name in scope], dtype=int))
        table = draw(st.lists(potentials, min_size=span, max_size=span))
        table[0] = table[0] or 1
        hidden = unknown and draw(st.booleans())
        behind = draw(supports(scope, sizes, span)) if estimated and not plain else {}
        builder.factor(f"f{number}", scope, None if hidden else table, **behind)
    return builder.graph()


@st.composite
def supports(draw, scope, sizes, span):
    """The support of a factor over these variables, as the builder takes it; often none."""
    if draw(st.booleans()):
        return {}
    given = draw(st.lists(st.sampled_from(scope), unique=True)) if scope else []
    combinations = int(np.prod([sizes[name] for name in given], dtype=int))
    many = draw(st.sampled_from([1, combinations]))
    records = st.one_of(st.integers(0, 99), st.floats(0, 1e6))
    said = {"support": draw(st.lists(records, min_size=many, max_size=many)), "given": given}
    for length in draw(st.sampled_from([[], [1], [span]])):
        said["prior"] = draw(st.lists(st.floats(0, 9), min_size=length, max_size=length))
    return said


@st.composite
def observed_graphs(draw):
    """A graph and evidence for it, hard and soft."""
    graph = draw(graphs())
    evidence = {}
    for variable in graph.variables:
        likelihoods = st.lists(
            st.floats(0.1, 9), min_size=len(variable.range), max_size=len(variable.range)
        )
        soft = likelihoods.map(
            lambda values, labels=variable.range: dict(zip(labels, values, strict=True))
        )
        seen = draw(st.one_of(st.none(), st.sampled_from(variable.range), soft))
        if seen is not None:
            evidence[variable.name] = seen
    return graph, evidence
