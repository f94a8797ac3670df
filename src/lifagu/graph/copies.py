"""Copies of individuals in a graph: their variables and scopes once more, tables unknown.

All are copied from the graph as it came: copies are linked to those who are in it, and not to one
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from lifagu.basics.arrays import Ints, offsets_of, owners
from lifagu.basics.inputs import text
from lifagu.basics.names import CopiedNames, JoinedNames, Names
from lifagu.errors import ModelError
from lifagu.graph.assembly import extended, taken_lists
from lifagu.graph.contents import GraphContents

Pairs = Sequence[tuple[str, str]]  # who is new, and like whom
_Graph = TypeVar("_Graph", bound=GraphContents)


class CopiedNodes(NamedTuple):
    """Who was copied (numbers of individuals), which of these each new one is like, and its nodes.

    Number i has the variables first_variable[i] … first_variable[i+1]-1, and factors likewise.
    """

    models: list[int]
    like: Ints
    first_variable: Ints
    first_factor: Ints


def with_copies(graph: _Graph, pairs: Pairs) -> tuple[_Graph, CopiedNodes]:
    """The graph with new individuals, each like one of the graph, or like a new one before it."""
    numbers = _likes(graph, pairs)
    distinct = list(dict.fromkeys(numbers))
    copies = {other: _Copies.of(graph, other) for other in distinct}
    chosen = [copies[number] for number in numbers]
    first_variable = offsets_of(np.array([len(each.variables) for each in chosen]))
    first_variable += len(graph.variable_names)
    first_factor = offsets_of(np.array([len(each.factors) for each in chosen]))
    first_factor += len(graph.factor_names)
    like = np.array([distinct.index(number) for number in numbers], dtype=np.int64)
    whole = _with_copies(graph, tuple(name for name, _ in pairs), chosen, first_variable)
    return whole, CopiedNodes(distinct, like, first_variable, first_factor)


def _likes(graph: GraphContents, pairs: Pairs) -> list[int]:
    """The individual of the graph that each new one is like."""
    known, numbers = Names("individual", graph.individuals), dict[str, int]()
    for name, like in pairs:
        if text("an individual", name) in numbers or name in known:
            raise ModelError(
                f"individual '{name}' is in the model already; give the new one another name"
            )
        is_new = isinstance(like, str) and like in numbers
        numbers[name] = numbers[like] if is_new else known.number(_called(known, like))
    return list(numbers.values())


def _called(known: Names, like: str) -> str:
    """What an individual is called: ``Person:eve`` where eve is in several domains."""
    if like in known:
        return like
    found = [each for each in known if each.endswith(f":{like}")]
    if len(found) > 1:
        raise ModelError(f"'{like}' is in several domains; say {' or '.join(found)}")
    return found[0] if found else like


@dataclass(frozen=True, eq=False)
class _Copies:
    """What a new individual gets from another one: variables and factors, by number.

    scopes: the arguments of these factors in a row, own variables as -1, -2, … by their place.
    """

    like: str
    number: int
    variables: Ints
    factors: Ints
    scopes: Ints
    ends: Ints
    ids: Ints
    id_ends: Ints

    @classmethod
    def of(cls, graph: GraphContents, other: int) -> _Copies:
        variables = np.unique(owners(graph.individual_offsets)[graph.individual_ids == other])
        new = np.arange(len(graph.variable_names))
        new[variables] = -1 - np.arange(len(variables))
        factors = np.unique(owners(graph.offsets)[new[graph.arguments] < 0])
        scopes, ends = taken_lists(graph.offsets, new[graph.arguments], factors)
        ids, id_ends = taken_lists(graph.individual_offsets, graph.individual_ids, variables)
        return cls(
            graph.individuals[other],
            other,
            variables,
            factors,
            scopes,
            ends - graph.offsets[-1],
            ids,
            id_ends - graph.individual_offsets[-1],
        )


def _with_copies(
    graph: _Graph, names: tuple[str, ...], chosen: list[_Copies], first_variable: Ints
) -> _Graph:
    """The graph with these copies, one for each new individual."""
    variables = np.concatenate([each.variables for each in chosen])
    count = len(graph.individuals)
    renamings = [(each.like, name) for name, each in zip(names, chosen, strict=True)]
    ids = [np.where(c.ids == c.number, count + i, c.ids) for i, c in enumerate(chosen)]
    scopes = [
        np.where(each.scopes < 0, first - 1 - each.scopes, each.scopes)
        for each, first in zip(chosen, first_variable.tolist(), strict=False)
    ]
    factors = sum(len(each.factors) for each in chosen)
    return replace(
        graph,
        variable_names=_with_copied(
            graph.variable_names, renamings, [each.variables for each in chosen]
        ),
        variable_declared=extended(graph.variable_declared, graph.variable_declared[variables]),
        variable_kind=extended(graph.variable_kind, graph.variable_kind[variables]),
        individuals=(*graph.individuals, *names),
        individual_offsets=_continued(graph.individual_offsets, [each.id_ends for each in chosen]),
        individual_ids=extended(graph.individual_ids, np.concatenate(ids)),
        factor_names=_with_copied(graph.factor_names, renamings, [each.factors for each in chosen]),
        factor_table=extended(graph.factor_table, np.full(factors, -1)),
        offsets=_continued(graph.offsets, [each.ends for each in chosen]),
        arguments=extended(graph.arguments, np.concatenate(scopes)),
        support=graph.support and graph.support.followed_by_exact(factors),
    )


def _continued(offsets: Ints, ends: Sequence[Ints]) -> Ints:
    """Where lists begin, followed by where those of several further rows end."""
    lengths = [np.diff(each, prepend=0) for each in ends]
    return extended(offsets, offsets[-1] + np.cumsum(np.concatenate(lengths)))


def _with_copied(
    names: Names, renamings: Sequence[tuple[str, str]], copied: Sequence[Ints]
) -> Names:
    """Names, followed by those of copies, in which a new individual stands for another one."""
    pairs = zip(renamings, copied, strict=True)
    more = [name for (old, new), own in pairs for name in names.copied(own, old, new)]
    seen = {name for name, place in zip(more, names.find_each(more), strict=True) if place >= 0}
    for name in more:
        if name in seen:
            raise ModelError(
                f"{names.sort} '{name}' is declared twice; give each {names.sort} a name of its own"
            )
        seen.add(name)
    nodes = np.concatenate(copied)
    whose = np.repeat(np.arange(len(copied)), [len(own) for own in copied])
    return JoinedNames(names, CopiedNames(names, nodes, more, renamings, whose))
