"""Putting a grounding together: blocks of ground factors, ground variables with kinds and individuals, their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Floats, Ints
from lifagu.assembly import taken_lists
from lifagu.errors import ModelError
from lifagu.ground_names import JoinedNames, RowNames
from lifagu.model import FactorGraph
from lifagu.names import Names
from lifagu.relational import ParfactorGraph
from lifagu.tables import GivenTables


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive ground factors: their arguments one after another, how many each has, tables and table numbers."""

    arguments: Ints
    lengths: Ints
    tables: list[Floats]
    table_of: Ints


@dataclass(frozen=True, eq=False)
class GroundVariables:
    """The ground variables: plain ones first, then each relation's.

    plain: those of the ground part that are plain; existing: for each relation the rows of constants that exist, in
    lexicographic order; of_part: the number of each variable of the ground part; of_column: for each column of
    arguments the numbers of its variables.
    """

    plain: Ints
    existing: list[Ints]
    of_part: Ints
    of_column: list[Ints]


def factor_names(model: ParfactorGraph, admitted: Sequence[Ints]) -> Names:
    """Names of the ground factors: ``g(7,8)`` from the parfactor's name and its substitution."""
    lists = [
        RowNames(bound.name, bound.domains[: bound.free], rows)
        for bound, rows in zip(model.bound, admitted, strict=True)
    ]
    by_prefix = {each.prefix: each for each in lists}
    given = [*model.ground_part.factor_names, *(each.prefix for each in lists if not each.domains)]
    for name in given if lists else []:
        starts = [name[:place] for place, letter in enumerate(name) if letter == "("]
        if any(start in by_prefix and by_prefix[start].find(name) is not None for start in starts):
            raise ModelError(f"factor '{name}' has the name of a ground factor of a parfactor; rename one of them")
    twice = [each.prefix for each in lists if not each.domains and each.prefix in model.ground_part.factor_names]
    if twice:
        raise ModelError(f"factor '{twice[0]}' has the name of a parfactor; rename one of them")
    return JoinedNames("factor", [model.ground_part.factor_names, *lists])


def variable_names(model: ParfactorGraph, variables: GroundVariables) -> Names:
    """Names of the ground variables."""
    words, part = model.vocabulary, model.ground_part
    names: Names = part.variable_names
    if len(variables.plain) < len(names):
        names = Names("variable", [names[each] for each in variables.plain.tolist()])
    lists = [
        RowNames(relation.name, tuple(words.domains[each] for each in of), rows, renamed)
        for relation, of, rows, renamed in zip(
            words.relations, words.domains_of, variables.existing, words.renamed, strict=True
        )
    ]

    def missing(name: str) -> str | None:
        if words.find(name) is not None:
            return f"'{name}' does not exist in the model: no ground factor has it as an argument"
        return words.why_not(name)

    return JoinedNames("variable", [names, *lists], missing)


def assembled(
    model: ParfactorGraph, variables: GroundVariables, blocks: Sequence[Block], factors: Names
) -> FactorGraph:
    """The ground graph from its variables and blocks of factors."""
    part, words = model.ground_part, model.vocabulary
    counts = [len(rows) for rows in variables.existing]
    own = np.arange(len(words.relations))
    kinds = list(dict.fromkeys([*part.kinds, *words.relation_names]))
    relation_kinds = np.array([kinds.index(each) for each in words.relation_names], dtype=np.int64)
    tables = [table for block in blocks for table in block.tables]
    starts = np.cumsum([0, *(len(block.tables) for block in blocks)])
    table_of = np.concatenate(
        [np.where(each.table_of < 0, -1, each.table_of + start) for each, start in zip(blocks, starts, strict=False)]
    )
    zero = np.array([not table.any() for table in tables], dtype=np.bool_)
    individuals, individual_offsets, individual_ids = _individuals(model, variables)
    graph = FactorGraph.from_arrays(
        ranges=[*part.ranges.declared, *(relation.range for relation in words.relations)],
        variable_ranges=np.concatenate(
            (part.variable_declared[variables.plain], np.repeat(len(part.ranges.declared) + own, counts))
        ),
        offsets=np.concatenate(([0], np.cumsum(np.concatenate([block.lengths for block in blocks])))),
        arguments=np.concatenate([block.arguments for block in blocks]),
        tables=[np.ones_like(table) if is_zero else table for table, is_zero in zip(tables, zero, strict=True)],
        factor_tables=table_of,
        variable_names=variable_names(model, variables),
        factor_names=factors,
        kinds=kinds,
        variable_kinds=np.concatenate((part.variable_kind[variables.plain], np.repeat(relation_kinds, counts))),
        individuals=individuals,
        individual_offsets=individual_offsets,
        variable_individuals=individual_ids,
    )
    return _with_zeros(graph, np.flatnonzero(np.append(zero, False)[table_of])) if zero.any() else graph


def _with_zeros(graph: FactorGraph, factors: Ints) -> FactorGraph:
    """The graph with all potentials of some factors zero, which only a diagonal can make: then nothing is possible."""
    lengths = np.diff(graph.tables.offsets)
    zero_of = graph.factor_table[factors]
    given = GivenTables(
        np.concatenate((graph.tables.values, np.zeros(len(graph.tables.values)))),
        np.concatenate(([0], np.cumsum(np.concatenate((lengths, lengths))))),
    )
    factor_given = graph.factor_table.copy()
    factor_given[factors] = len(lengths) + zero_of
    return graph.refilled(given, factor_given)


def _individuals(model: ParfactorGraph, variables: GroundVariables) -> tuple[list[str], Ints, Ints]:
    """Individuals, and for each ground variable which it lists: its constants, each once, in order."""
    part, words = model.ground_part, model.vocabulary
    known = {name: number for number, name in enumerate(part.individuals)}
    values, ends = taken_lists(part.individual_offsets, part.individual_ids, variables.plain)
    lengths = [np.diff(np.concatenate(([part.individual_offsets[-1]], ends)))]
    lists = [values]
    for rows, of in zip(variables.existing, words.domains_of, strict=True):
        ids = np.empty_like(rows)
        for column, domain in enumerate(of):
            used, place = np.unique(rows[:, column], return_inverse=True)
            texts = [words.individual(domain, each) for each in used.tolist()]
            numbers = [known.setdefault(text, len(known)) for text in texts]
            ids[:, column] = np.array(numbers, dtype=np.int64)[place.reshape(-1)]
        new = np.ones(ids.shape, dtype=np.bool_)
        for column in range(1, ids.shape[1]):
            new[:, column] = (ids[:, :column] != ids[:, [column]]).all(axis=1)
        lists.append(ids[new])
        lengths.append(new.sum(axis=1))
    return list(known), np.concatenate(([0], np.cumsum(np.concatenate(lengths)))), np.concatenate(lists)
