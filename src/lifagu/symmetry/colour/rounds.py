"""Colour passing as the paper shows it (Figure 3): all factors, then all variables, in rounds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.likeness.roles import argument_places


def colour_rounds(
    graph: FactorGraph, start: Colouring, positions: Ints | None
) -> Iterator[Colouring]:
    """The start colours and those after each round, ending with the first that changes nothing.

    In a round each factor's signature is (own colour, its arguments' colours in order), then each
    variable's is (own colour, multiset of (factor colour, position)). positions[e]: the position
    each argument sends, None for its place in the list; arguments that share one are not told
    apart. O(e) a round.
    """
    sent = (argument_places(graph) if positions is None else positions).tolist()
    offsets = graph.offsets.tolist()
    scopes = [
        list(zip(sent[offsets[factor] : offsets[factor + 1]], graph.scope(factor), strict=True))
        for factor in range(len(graph.factor_names))
    ]
    yield start
    while True:
        following = _one_round(scopes, start)
        yield following
        if following == start:
            return
        start = following


def _one_round(scopes: Sequence[Sequence[tuple[int, int]]], colouring: Colouring) -> Colouring:
    variables: list[int] = colouring.variable_colours.tolist()
    factors = _number(
        [
            (own, tuple(sorted((position, variables[variable]) for position, variable in scope)))
            for own, scope in zip(colouring.factor_colours.tolist(), scopes, strict=True)
        ]
    )
    received: list[list[tuple[int, int]]] = [[] for _ in variables]
    for factor, scope in zip(factors, scopes, strict=True):
        for position, variable in scope:
            received[variable].append((factor, position))
    recoloured = _number(
        [(own, tuple(sorted(inbox))) for own, inbox in zip(variables, received, strict=True)]
    )
    return Colouring(np.array(recoloured, dtype=np.int64), np.array(factors, dtype=np.int64))


def _number(signatures: Sequence[Hashable]) -> list[int]:
    """Equal signatures get equal numbers, by first occurrence."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(signature, len(numbers)) for signature in signatures]
