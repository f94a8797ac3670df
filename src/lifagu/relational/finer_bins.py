"""Numbers in bins of two sorts: those that answers have, and finer ones that learned tables have.

A cell in finer bins lies within the cell that is asked about: a factor between both says so, and
whatever is observed, hidden or left out of one of them is so of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import ModelError
from lifagu.graph.bins import BinLabels, number_of
from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.grounding import TabledRows, ground_names
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.substitutions import substitutions


def within_coarse(
    model: ParfactorGraph, number: int, listed: Mapping[int, TabledRows], others: Sequence[int]
) -> TabledRows:
    """The factors that say in which bin each finer one lies, of all cells in finer bins.

    number: of the parfactor; its arguments are the cell that is asked about, and the finer one.
    listed: the ground factors of other parfactors that are listed; others: which to look at.
    """
    bound = model.bound[number]
    coarse, fine = (model.relations[each.relation] for each in bound.arguments)
    rows = [np.zeros((0, bound.free), dtype=np.int64)]
    for other in others:
        one, relation = model.bound[other], bound.arguments[1].relation
        there = [each for each in one.arguments if each.relation == relation]
        if any(each.counted >= 0 for each in there):
            rows = [substitutions(bound)]
            break
        if there:
            of = listed[other].rows if other in listed else substitutions(one)
            rows += [_constants(of, each.codes) for each in there]
    every = np.unique(np.vstack(rows), axis=0)
    return TabledRows(every, [_lies_in(coarse.range, fine.range, bound)], np.zeros(len(every), int))


def _constants(rows: Ints, codes: Sequence[int]) -> Ints:
    """The constants of an argument in each substitution."""
    columns = [rows[:, code] if code >= 0 else np.full(len(rows), ~code) for code in codes]
    return np.column_stack([np.zeros((len(rows), 0), dtype=np.int64), *columns])


def _lies_in(coarse: Sequence[str], fine: Sequence[str], bound: BoundParfactor) -> Floats:
    """1 where a finer bin lies in one that is asked about."""
    if not isinstance(coarse, BinLabels) or not isinstance(fine, BinLabels):
        raise ModelError(f"'{bound.name}': both have bins of numbers")
    if missing := set(coarse.edges) - set(fine.edges):
        raise ModelError(
            f"'{bound.name}': the finer bins lack the edge {min(missing):g}; "
            "each of them has to lie within one bin"
        )
    inside = coarse.places(np.array([*fine.edges, np.inf]))
    return np.asarray(inside == np.arange(len(coarse))[:, None], dtype=np.float64).reshape(-1)


def same_numbers(graph: FactorGraph, finer: Mapping[str, str], variables: Ints) -> Ints:
    """Some variables and those that are the same numbers in other bins, ascending, each once.

    finer: by relation in finer bins the one whose numbers it has.
    """
    found = [variables, *(each[each >= 0] for each in _others(graph, finer, variables))]
    return np.unique(np.concatenate(found))


def _others(graph: FactorGraph, finer: Mapping[str, str], variables: Ints) -> list[Ints]:
    """The same numbers in other bins, relation by relation, -1 where there are none."""
    if not finer:
        return []
    names, found = ground_names(graph), list[Ints]()
    place = {rows.prefix: number for number, rows in enumerate(names.rows)}
    mine = variables[variables < len(names)]
    origin = names.origins(mine) - 1
    for one, other in [*finer.items(), *((coarse, fine) for fine, coarse in finer.items())]:
        own = np.where(origin == place[one], mine - names.start(1 + place[one]), -1)
        there = names.rows[place[other]].places(names.rows[place[one]].rows[own[own >= 0]])
        result = np.full(len(variables), -1)
        result[np.flatnonzero(own >= 0)] = np.where(
            there < 0, -1, there + names.start(1 + place[other])
        )
        found.append(result)
    return found


def followed(
    graph: FactorGraph, finer: Mapping[str, str], layer: Mapping[str, Observation]
) -> Mapping[str, Observation]:
    """Observations by name, and what they say of the same numbers in other bins.

    A number falls into bins of both sorts; a label, or likelihoods, leave open what the other is,
    whatever was observed of it before.
    """
    if not finer or isinstance(layer, NamedEvidence):
        return layer
    known = [name for name in layer if graph.variable_names.find(name) is not None]
    numbers = np.array([graph.variable_names.number(name) for name in known], dtype=np.int64)
    more: dict[str, Observation] = {}
    for others in _others(graph, finer, numbers):
        for name, other in zip(known, others.tolist(), strict=True):
            if other < 0 or (told := graph.variable_names[other]) in layer:
                continue
            seen = layer[name]
            labels = graph.labels(graph.variable_names.number(name))
            is_number = isinstance(seen, str) and seen not in labels and number_of(seen) is not None
            more[told] = seen if is_number else dict.fromkeys(graph.labels(other), 1.0)
    return {**layer, **more}
