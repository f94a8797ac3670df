"""What does not lift: the ground part of a lifted model, named as in the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, first_places
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import taken
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.relations import Vocabulary
from lifagu.symmetry.lifting.drafts import Frame
from lifagu.symmetry.lifting.relations import LiftedVocabulary


def ground_part(
    graph: FactorGraph, frame: Frame, words: LiftedVocabulary, factors: Ints
) -> FactorGraph:
    """The factors that are not lifted, and the variables that are not of relations, in input order.

    Variables of relations that these factors name come after the others, by first mention, as they
    do in files; their kinds are their relations and their individuals are their constants.
    """
    relation_of = np.full(len(frame.variables.sizes), -1, dtype=np.int64)
    relation_of[list(words.relations)] = np.arange(len(words.relations))
    relation = relation_of[frame.variables.of]
    named = _mentioned(graph, relation >= 0, factors)
    plain = np.flatnonzero(relation < 0)
    part, _ = taken(graph, np.concatenate((plain, named)), factors)
    tables, table_of = declared_tables(part)
    if any(not table.any() for table in tables):
        return part  # only a grounding makes tables of zeros, and none may be handed in
    kinds = {kind: number for number, kind in enumerate(part.kinds)}
    own = [kinds.setdefault(each.name, len(kinds)) for each in words.relations.values()]
    kind_of = np.array(own, dtype=np.int64)
    known = {name: number for number, name in enumerate(part.individuals)}
    lists = [
        [known.setdefault(each, len(known)) for each in row]
        for row in _constants(frame, words, named)
    ]
    kept = part.individual_ids[: part.individual_offsets[len(plain)]]
    ends = len(kept) + np.cumsum([len(row) for row in lists], dtype=np.int64)
    new = np.array([each for row in lists for each in row], dtype=np.int64)
    return FactorGraph.from_arrays(
        ranges=part.ranges.declared,
        variable_ranges=part.variable_declared,
        offsets=part.offsets,
        arguments=part.arguments,
        tables=tables,
        factor_tables=table_of,
        variable_names=part.variable_names,
        factor_names=part.factor_names,
        kinds=list(kinds),
        variable_kinds=np.concatenate((part.variable_kind[: len(plain)], kind_of[relation[named]])),
        individuals=list(known),
        individual_offsets=np.concatenate((part.individual_offsets[: len(plain) + 1], ends)),
        variable_individuals=np.concatenate((kept, new)),
        support=part.declared_support,
    )


def _mentioned(graph: FactorGraph, chosen: NDArray[np.bool_], factors: Ints) -> Ints:
    """The chosen variables among the arguments of some factors, by first mention."""
    named, _ = taken_lists(graph.offsets, graph.arguments, factors)
    named = named[chosen[named]]
    first = first_places(named)
    return named[np.sort(first[first < len(named)])]


def _constants(frame: Frame, words: LiftedVocabulary, variables: Ints) -> list[list[str]]:
    """The constants of variables of relations, as individuals, each once."""
    if not len(variables):
        return []
    vocabulary = Vocabulary(tuple(words.domains.values()), tuple(words.relations.values()))
    domains = {each: number for number, each in enumerate(words.domains)}
    result = []
    for variable in variables.tolist():
        number, place = int(frame.variables.of[variable]), int(frame.variables.place[variable])
        own = (
            vocabulary.individual(domains[each.domain], int(each.values[place]))
            for each in frame.of(number)
        )
        result.append(list(dict.fromkeys(own)))
    return result
