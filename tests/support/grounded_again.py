"""Lifted models, held against the graph that they came from."""

import json
from collections import Counter

import lifagu
from lifagu.relational.parfactor_graph import Proof
from support.helpers import SCHEMA


def factors_of(graph):
    """The factors as a multiset of (arguments by name, potentials), to be compared."""
    return Counter(
        (each.arguments, None if each.table is None else tuple(each.table.reshape(-1).tolist()))
        for each in graph.factors
    )


def assert_means(model, graph):
    """The grounding of a model is the graph: ranges by name, factors as a multiset."""
    back = lifagu.ground(model)
    assert factors_of(back) == factors_of(graph)
    assert {each.name: each.range for each in back.variables} == {
        each.name: each.range for each in graph.variables
    }


def checked_lift(graph, **settings):
    """Lift, compare naively, write and read; every name is found where it stands."""
    lifted = lifagu.lift(graph, **settings)
    assert_means(lifted, graph)
    assert isinstance(lifted.proof, Proof)
    assert (lifted.proof.variables, lifted.proof.factors) == (
        len(graph.variable_names),
        len(graph.factor_names),
    )
    text = lifagu.io.to_json(lifted)
    SCHEMA.validate(json.loads(text))
    again = lifagu.io.from_json(text)
    assert again == lifted
    assert lifagu.io.to_json(again) == text
    words = lifted.vocabulary
    for name in graph.variable_names:
        place = words.find(name)
        assert (
            name in lifted.ground_part.variable_names
            if place is None
            else words.ground_name(*place) == name
        )
    return lifted
