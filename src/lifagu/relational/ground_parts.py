"""Putting a grounding together: blocks of factors, variables, kinds, individuals and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_value, frozen, group_rows, members, offsets_of
from lifagu.basics.names import ChosenNames, Names
from lifagu.errors import ModelError
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports, exact, joined
from lifagu.graph.tables import GivenTables
from lifagu.relational.ground_names import GroundNames, RowNames
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.relations import Vocabulary


@dataclass(frozen=True, eq=False)
class FactorBlock:
    """Consecutive ground factors: arguments in a row, how many each has, tables, table numbers.

    support: how many records stand behind these, None if all are exact.
    """

    arguments: Ints
    lengths: Ints
    tables: list[Floats]
    table_of: Ints
    support: Supports | None = None


@dataclass(frozen=True, eq=False)
class GroundVariables:
    """The ground variables: plain ones first, then each relation's.

    plain: those of the ground part that are plain; existing: for each relation the rows of
    constants that exist, in lexicographic order; of_part: the number of each variable of the ground
    part; of_column: for each column of arguments the numbers of its variables.
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
    given = model.ground_part.factor_names
    without = [each.prefix for each in lists if not each.domains]
    for name in [*map(given.__getitem__, given.with_parentheses()), *without] if lists else []:
        starts = [name[:place] for place, letter in enumerate(name) if letter == "("]
        if any(start in by_prefix and by_prefix[start].find(name) is not None for start in starts):
            raise ModelError(
                f"factor '{name}' has the name of a ground factor of a parfactor; "
                "rename one of them"
            )
    for name in without:
        if name in given:
            raise ModelError(f"factor '{name}' has the name of a parfactor; rename one of them")
    return GroundNames("factor", given, lists)


def variable_names(model: ParfactorGraph, variables: GroundVariables) -> Names:
    """Names of the ground variables."""
    words, names = model.vocabulary, model.ground_part.variable_names
    if len(variables.plain) < len(names):
        names = ChosenNames(names, variables.plain)
    lists = []
    for number, (relation, rows) in enumerate(
        zip(words.relations, variables.existing, strict=True)
    ):
        of = tuple(words.domains[each] for each in words.domains_of[number])
        new = words.renamed[number]
        lists.append(RowNames(relation.name, of, rows, new.names, new.which_of(rows)))
    return GroundNames("variable", names, lists, words)


def assembled(
    model: ParfactorGraph, variables: GroundVariables, blocks: Sequence[FactorBlock], factors: Names
) -> FactorGraph:
    """The ground graph from its variables and blocks of factors."""
    part, words = model.ground_part, model.vocabulary
    counts = [len(rows) for rows in variables.existing]
    own = np.arange(len(words.relations))
    kinds: dict[str, int] = {}
    for kind in (*part.kinds, *words.relation_names):
        kinds.setdefault(kind, len(kinds))
    relation_kinds = np.array([kinds[each] for each in words.relation_names], dtype=np.int64)
    tables, table_of = _all_tables(blocks)
    zero = np.array([not table.any() for table in tables], dtype=np.bool_)
    individuals, individual_offsets, individual_ids = _individuals(model, variables)
    relation_ranges = np.repeat(len(part.ranges.declared) + own, counts)
    graph = FactorGraph.from_arrays(
        ranges=[*part.ranges.declared, *(relation.range for relation in words.relations)],
        variable_ranges=np.concatenate((part.variable_declared[variables.plain], relation_ranges)),
        offsets=frozen(_all_offsets(blocks)),
        arguments=frozen(np.concatenate([block.arguments for block in blocks])),
        tables=[
            np.ones_like(table) if is_zero else table
            for table, is_zero in zip(tables, zero, strict=True)
        ],
        factor_tables=frozen(table_of),
        variable_names=variable_names(model, variables),
        factor_names=factors,
        kinds=list(kinds),
        variable_kinds=np.concatenate(
            (part.variable_kind[variables.plain], np.repeat(relation_kinds, counts))
        ),
        individuals=individuals,
        individual_offsets=individual_offsets,
        variable_individuals=individual_ids,
        support=_all_supports(blocks),
    )
    if not zero.any():
        return graph
    return _with_zeros(graph, np.flatnonzero(np.append(zero, False)[table_of]))


def _all_tables(blocks: Sequence[FactorBlock]) -> tuple[list[Floats], Ints]:
    """The tables of all blocks, and the number of each factor's."""
    tables: list[Floats] = []
    number = np.empty(sum(len(block.table_of) for block in blocks), dtype=np.int64)
    start = 0
    for block in blocks:
        mine = number[start : start + len(block.table_of)]
        mine[:] = block.table_of
        mine[mine >= 0] += len(tables)
        tables += block.tables
        start += len(mine)
    return tables, number


def _all_offsets(blocks: Sequence[FactorBlock]) -> Ints:
    """Where the arguments of each factor begin, and where the last one's end."""
    offsets = np.zeros(1 + sum(len(block.lengths) for block in blocks), dtype=np.int64)
    start = 1
    for block in blocks:
        offsets[start : start + len(block.lengths)] = block.lengths
        start += len(block.lengths)
    return np.cumsum(offsets, out=offsets)


def _all_supports(blocks: Sequence[FactorBlock]) -> Supports | None:
    """The supports of the factors of all blocks."""
    if all(block.support is None for block in blocks):
        return None
    return joined([block.support or exact(len(block.lengths)) for block in blocks])


def _with_zeros(graph: FactorGraph, factors: Ints) -> FactorGraph:
    """The graph with all potentials of some factors zero; only a diagonal can make them so."""
    lengths = np.diff(graph.tables.offsets)
    values = np.concatenate((graph.tables.values, np.zeros(len(graph.tables.values))))
    given = GivenTables(values, offsets_of(np.tile(lengths, 2)))
    factor_given = graph.factor_table.copy()
    factor_given[factors] += len(lengths)
    return graph.refilled(given, factor_given)


def _individuals(model: ParfactorGraph, variables: GroundVariables) -> tuple[list[str], Ints, Ints]:
    """Individuals, and those each ground variable lists: its constants, each once, in order."""
    part, words = model.ground_part, model.vocabulary
    known = {name: number for number, name in enumerate(part.individuals)}
    values, ends = taken_lists(part.individual_offsets, part.individual_ids, variables.plain)
    lengths = [np.diff(np.concatenate(([part.individual_offsets[-1]], ends)))]
    lists = [values]
    number_of = [
        _constants_met(words, domain, variables, known) for domain in range(len(words.domains))
    ]
    for rows, of in zip(variables.existing, words.domains_of, strict=True):
        ids = np.empty_like(rows)
        for column, domain in enumerate(of):
            ids[:, column] = number_of[domain][rows[:, column]]
        new = np.ones(ids.shape, dtype=np.bool_)
        for column in range(1, ids.shape[1]):
            new[:, column] = (ids[:, :column] != ids[:, [column]]).all(axis=1)
        lists.append(ids[new])
        lengths.append(new.sum(axis=1))
    return list(known), offsets_of(np.concatenate(lengths)), np.concatenate(lists)


def _constants_met(
    words: Vocabulary, domain: int, variables: GroundVariables, known: dict[str, int]
) -> Ints:
    """For each constant of a domain its number as an individual, if a ground variable has it."""
    met = np.zeros(0, dtype=np.bool_)
    for rows, of in zip(variables.existing, words.domains_of, strict=True):
        for column in (place for place, each in enumerate(of) if each == domain):
            most = int(rows[:, column].max(initial=-1)) + 1
            met = np.append(met, np.zeros(max(most - len(met), 0), dtype=np.bool_))
            met[rows[:, column]] = True
    result = np.full(len(met), -1, dtype=np.int64)
    texts = words.individuals(domain, np.flatnonzero(met).tolist())
    result[met] = [known.setdefault(text, len(known)) for text in texts]
    return result


def declared_tables(graph: FactorGraph) -> tuple[list[Floats], Ints]:
    """The distinct tables, flat, in the declared orders of the arguments, and each factor's number.

    -1 is unknown. Near-linear: axes are permuted for all tables over the same label orders at once.
    """
    tables: list[Floats] = []
    table_of = np.full(len(graph.factor_names), -1, dtype=np.int64)
    for factors, scopes in graph.scopes:
        known = graph.factor_table[factors] >= 0
        factors, orders = factors[known], graph.variable_declared[scopes[known]]
        for alike in members(group_rows(orders)):
            used = graph.factor_table[factors[alike]]
            first, place = by_value(used)
            axes = [graph.ranges.to_declared(int(declared)) for declared in orders[alike[0]]]
            shape = [len(axis) for axis in axes]
            places = np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*axes)].reshape(-1)
            table_of[factors[alike]] = len(tables) + place
            tables += list(graph.tables.values[graph.tables.offsets[used[first], None] + places])
    return tables, table_of
