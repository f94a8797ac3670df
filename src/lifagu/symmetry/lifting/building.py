"""From drafts to a relational model: parfactors in terms of relations, and a ground part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, frozen
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.domains import ConstantRows, Domain
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    Constraint,
    CountingFormula,
    Logical,
    Membership,
    Term,
)
from lifagu.symmetry.lifting.constraints import Condition, Unequal
from lifagu.symmetry.lifting.drafts import DraftArgument, DraftParfactor, Frame
from lifagu.symmetry.lifting.ground_part import ground_part
from lifagu.symmetry.lifting.naming import letters
from lifagu.symmetry.lifting.relations import LiftedVocabulary, vocabulary_for

MOST_SINGLE = 1000  # single factors on lifted propositions that become parfactors as well
FEW = 3  # constants that are excluded one by one


@dataclass(frozen=True, eq=False)
class Built:
    """A lifted model; of each parfactor the draft it came from, -1 for a single factor."""

    model: ParfactorGraph
    drafts: Ints


def build(graph: FactorGraph, frame: Frame, drafts: Sequence[DraftParfactor]) -> Built:
    """The relational model of some drafts; what they do not cover is its ground part."""
    words = vocabulary_for(graph, frame, drafts)
    covered = np.zeros(len(graph.factor_names), dtype=np.bool_)
    for draft in drafts:
        covered[draft.factors] = True
    singles = _single_factors(graph, frame, words, covered)
    covered[singles] = True
    part = ground_part(graph, frame, words, np.flatnonzero(~covered))
    made = [(int(draft.factors[0]), number) for number, draft in enumerate(drafts)]
    made += [(factor, -1) for factor in singles.tolist()]
    names = _parfactor_names(part)
    parfactors: list[Parfactor] = []
    owners: list[int] = []
    for factor, number in sorted(made):
        if number < 0:
            own = [_single(graph, factor, next(names))]
        else:
            own = _parfactors(graph, frame, words, drafts[number], names)
        parfactors += own
        owners += [number] * len(own)
    domains, relations = tuple(words.domains.values()), tuple(words.relations.values())
    model = ParfactorGraph(domains, relations, tuple(parfactors), part)
    return Built(model, np.array(owners, dtype=np.int64))


def _single_factors(
    graph: FactorGraph, frame: Frame, words: LiftedVocabulary, covered: NDArray[np.bool_]
) -> Ints:
    """Factors on lifted propositions alone, like f0(Epid); none if they are very many."""
    proposition = np.zeros(len(frame.variables.sizes), dtype=np.bool_)
    proposition[list(words.relations)] = True
    proposition &= frame.variables.sizes == 1
    left = np.flatnonzero(~covered & (np.diff(graph.offsets) > 0))
    arguments, _ = taken_lists(graph.offsets, graph.arguments, left)
    owner = np.repeat(np.arange(len(left)), np.diff(graph.offsets)[left])
    others = np.bincount(owner[~proposition[frame.variables.of[arguments]]], minlength=len(left))
    chosen: Ints = left[others == 0]
    if len(chosen) > MOST_SINGLE:
        return chosen[:0]
    tables = map(graph.table, chosen.tolist())
    kept = [table is None or bool(table.any()) for table in tables]
    return chosen[np.array(kept, dtype=np.bool_)]


def _parfactor_names(part: FactorGraph) -> Iterator[str]:
    """g0, g1, …, without those that a ground factor has, or seems to be made of."""
    given = part.factor_names
    heads = given.heads()
    return (name for name in map("g{}".format, count()) if name not in given and name not in heads)


def _single(graph: FactorGraph, factor: int, name: str) -> Parfactor:
    given = graph.factors[factor]
    table = None if given.table is None else frozen(given.table.reshape(-1).copy())
    return Parfactor(name, tuple(map(Atom, given.arguments)), table, (), given.support)


def _parfactors(
    graph: FactorGraph,
    frame: Frame,
    words: LiftedVocabulary,
    draft: DraftParfactor,
    names: Iterator[str],
) -> list[Parfactor]:
    """The parfactors of a draft, one for each copy."""
    fresh = {domain: letters(words.families[domain]) for domain in draft.domains}
    logicals = [Logical(next(fresh[domain])) for domain in draft.domains]
    arguments = tuple(_argument(graph, frame, words, each, logicals) for each in draft.arguments)
    of = [words.domains[domain] for domain in draft.domains]
    table = None if draft.table is None else frozen(draft.table.copy())
    result = []
    for conditions in draft.copies:
        where = tuple(one for each in conditions for one in _constraints(each, logicals, of))
        result.append(Parfactor(next(names), arguments, table, where, draft.support))
    return result


def _argument(
    graph: FactorGraph,
    frame: Frame,
    words: LiftedVocabulary,
    argument: DraftArgument,
    logicals: Sequence[Logical],
) -> Argument:
    if argument.variables not in words.relations:
        return Atom(graph.variable_names[int(frame.variables.members(argument.variables)[0])])
    terms: list[Term] = [
        logicals[code] if code >= 0 else words.domains[each.domain].constant(~code)
        for code, each in zip(argument.codes, frame.of(argument.variables), strict=True)
    ]
    atom = Atom(words.relations[argument.variables].name, tuple(terms))
    return atom if argument.counted < 0 else CountingFormula(logicals[argument.counted], atom)


def _constraints(
    condition: Condition, logicals: Sequence[Logical], domains: Sequence[Domain]
) -> list[Constraint]:
    if isinstance(condition, Unequal):
        return [Comparison(logicals[condition.one], logicals[condition.two])]
    own = tuple(domains[each] for each in condition.variables)
    rows = condition.rows
    if len(own) == 1 and not condition.inside and len(rows) <= FEW:
        return [
            Comparison(logicals[condition.variables[0]], own[0].constant(each))
            for each in rows[:, 0].tolist()
        ]
    variables = tuple(logicals[each] for each in condition.variables)
    return [Membership(variables, ConstantRows(own, rows), condition.inside)]
