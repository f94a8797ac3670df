"""From a relational model to its factor graph: one ground factor per admitted substitution.

Ground variables come in this order: plain variables, then each relation's, by constants. Ground
factors: those of the ground part, then each parfactor's, by substitution. A ground variable's kind
is its relation; its individuals are its constants (``Person:1`` where another domain has a constant
1 as well).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, by_value, first_places, group_rows, members
from lifagu.errors import ModelError, TooLargeError
from lifagu.graph.evidence import EvidenceLike, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports
from lifagu.relational.bound_parfactors import BoundArgument, BoundParfactor
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.ground_parts import (
    FactorBlock,
    GroundVariables,
    assembled,
    declared_tables,
    factor_names,
)
from lifagu.relational.ground_tables import (
    diagonal,
    expanded_table,
    first_columns,
    lexicographic_codes,
)
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.spans import Span
from lifagu.relational.substitutions import LIMIT, substitutions

NOT_EXPANDED = "expand_evidence takes a ParfactorGraph, its evidence, and its grounding or None"


@dataclass(frozen=True, eq=False)
class _Column:
    """An argument of all ground factors of a parfactor: a plain variable, or rows of constants."""

    relation: int
    variable: int
    rows: Ints


def ground(model: ParfactorGraph | FactorGraph) -> FactorGraph:
    """The factor graph that a relational model stands for; a factor graph stands for itself.

    Cost: near-linear in the number of ground arguments, without a Python object per node.

    Parameters
    ----------
    model : ParfactorGraph or FactorGraph
        The model.

    Returns
    -------
    FactorGraph

    Raises
    ------
    TooLargeError
        If it would have too many factors, or tables that are too large.

    Examples
    --------
    >>> model = (
    ...     ParfactorGraph.build()
    ...     .domain("Person", 100)
    ...     .relation("Smokes", "Person")
    ...     .relation("Friends", "Person", "Person")
    ...     .parfactor("g", ["Friends(X,Y)", "Smokes(X)", "Smokes(Y)"], [1] * 7 + [2], "X != Y")
    ...     .model()
    ... )
    >>> graph = ground(model)
    >>> graph
    <FactorGraph: 10000 variables, 9900 factors, 1 distinct table>
    >>> graph.factor("g(7,8)").arguments
    ('Friends(7,8)', 'Smokes(7)', 'Smokes(8)')
    """
    if not isinstance(model, FactorGraph | ParfactorGraph):
        raise ModelError(
            f"ground takes a ParfactorGraph or a FactorGraph, not {type(model).__name__}"
        )
    return model if isinstance(model, FactorGraph) else ground_rows(model, {})


@dataclass(frozen=True, eq=False)
class TabledRows:
    """The ground factors of a parfactor, listed, each with a table of its own.

    rows[n×k]: the substitutions of its k logical variables, distinct and in lexicographic order;
    tables: flat, in the order of the arguments; table_of[n]: which of them each ground factor has,
    -1 = unknown; support: how many records stand behind each one's, None if all are exact.
    """

    rows: Ints
    tables: Sequence[Floats]
    table_of: Ints
    support: Supports | None = None


def ground_rows(model: ParfactorGraph, listed: Mapping[int, TabledRows]) -> FactorGraph:
    """The grounding of a model; some parfactors, by number, stand for listed factors instead."""
    pieces = ground_pieces(model, listed)
    return assembled(model, pieces.variables, pieces.blocks, factor_names(model, pieces.admitted))


@dataclass(frozen=True, eq=False)
class GroundPieces:
    """A grounding before it is put together.

    blocks: the ground part's factors first, then those of each parfactor; admitted: each
    parfactor's substitutions.
    """

    variables: GroundVariables
    blocks: list[FactorBlock]
    admitted: list[Ints]


def ground_pieces(
    model: ParfactorGraph, listed: Mapping[int, TabledRows] | None = None
) -> GroundPieces:
    """The ground variables and factors of a model in numbers; listed: as for `ground_rows`."""
    given = listed or {}
    admitted = [
        given[number].rows if number in given else substitutions(bound)
        for number, bound in enumerate(model.bound)
    ]
    columns = [_columns(bound, rows) for bound, rows in zip(model.bound, admitted, strict=True)]
    variables = _variables(model, [column for each in columns for column in each])
    blocks, taken = [_part_block(model, variables)], 0
    for number, (bound, rows, slots) in enumerate(zip(model.bound, admitted, columns, strict=True)):
        columns_of = variables.of_column[taken : taken + len(slots)]
        ids = np.column_stack([np.zeros((len(rows), 0), dtype=np.int64), *columns_of])
        blocks.append(
            _listed_block(bound, ids, given[number]) if number in given else _block(bound, ids)
        )
        taken += len(slots)
    return GroundPieces(variables, blocks, admitted)


def expand_evidence(
    model: ParfactorGraph, evidence: EvidenceLike, graph: FactorGraph | None = None
) -> dict[str, Observation]:
    """Evidence by ground names: ranges become all ground variables in them that exist.

    Parameters
    ----------
    model : ParfactorGraph
        The model.
    evidence : mapping, Evidence or None
        What was observed; names may be ranges such as ``Sick(1..3)``.
    graph : FactorGraph, optional
        The grounding of the model, if it is there already.

    Returns
    -------
    dict
        The label or likelihoods of each observed ground variable.

    Raises
    ------
    ModelError
        If a variable is observed twice, with different values.

    Examples
    --------
    >>> model = ParfactorGraph.build().domain("Person", 9).relation("Sick", "Person")
    >>> model = model.parfactor("g", ["Sick(X)"], [4, 1], "X != 2").model()
    >>> expand_evidence(model, {"Sick(1..3)": "true"})
    {'Sick(1)': 'true', 'Sick(3)': 'true'}
    """
    if not isinstance(model, ParfactorGraph) or not isinstance(graph, FactorGraph | None):
        raise ModelError(NOT_EXPANDED)
    whole = ground(model) if graph is None else graph
    names = whole.variable_names
    result: dict[str, Observation] = {}
    for observed in model.observations(evidence):
        if observed.relation < 0 or not observed.is_range:
            covered: Iterable[str] = [names[names.number(observed.name)]]
        else:
            covered = _covered(ground_names(whole), observed.relation, observed.spans)
        for name in covered:
            if result.setdefault(name, observed.observation) != observed.observation:
                raise ModelError(
                    f"'{observed.name}' observes {name} once more, with another value; "
                    "keep one of them"
                )
    return result


def ground_names(graph: FactorGraph) -> GroundNames:
    """The names of a grounding's variables: relation by relation, by constants."""
    names = graph.variable_names
    if not isinstance(names, GroundNames):
        raise ModelError(NOT_EXPANDED)
    return names


def _covered(names: GroundNames, relation: int, spans: Sequence[Span]) -> Iterable[str]:
    """The ground variables of a relation whose constants lie within spans."""
    rows = names.rows[relation]
    low, high = np.array(spans).T
    inside = ((rows.rows >= low) & (rows.rows <= high)).all(axis=1)
    return map(rows.__getitem__, np.flatnonzero(inside).tolist())


# ---- variables


def _columns(bound: BoundParfactor, rows: Ints) -> list[_Column]:
    """The arguments of a parfactor's ground factors; a counting formula has one per member."""
    columns = []
    arity = sum(_members(bound, argument) for argument in bound.arguments)
    if arity * len(rows) > LIMIT * 4:
        raise TooLargeError(
            f"grounding parfactor '{bound.name}' would give {len(rows)} factors with {arity} "
            "arguments each; make the domains smaller, or ask without grounding"
        )
    for argument in bound.arguments:
        counted = argument.counted >= 0
        for member in _counted(bound, argument.counted, rows).T if counted else [None]:
            constants = _constants(argument, rows, member)
            columns.append(_Column(argument.relation, argument.variable, constants))
    return columns


def _members(bound: BoundParfactor, argument: BoundArgument) -> int:
    """How many ground variables an argument stands for."""
    counted = argument.counted
    return 1 if counted < 0 else len(bound.candidates(counted)) - len(bound.partners(counted))


def _counted(bound: BoundParfactor, variable: int, rows: Ints) -> Ints:
    """For each substitution the constants that are counted: a matrix of substitutions × members."""
    candidates, partners = bound.candidates(variable), bound.partners(variable)
    kept = np.ones((len(rows), len(candidates)), dtype=np.bool_)
    for partner in partners:
        kept &= candidates != rows[:, [partner]]
    return np.broadcast_to(candidates, kept.shape)[kept].reshape(
        len(rows), len(candidates) - len(partners)
    )


def _constants(argument: BoundArgument, rows: Ints, member: Ints | None) -> Ints:
    """The constants of one argument in every ground factor: substitutions × terms."""
    if member is None and list(argument.codes) == list(range(rows.shape[1])):
        return rows
    result = np.empty((len(rows), len(argument.codes)), dtype=np.int64)
    for place, code in enumerate(argument.codes):
        if code < 0:
            result[:, place] = ~code
        elif member is not None and code == argument.counted:
            result[:, place] = member
        else:
            result[:, place] = rows[:, code]
    return result


def _variables(model: ParfactorGraph, columns: Sequence[_Column]) -> GroundVariables:
    """Number the ground variables that exist."""
    in_part = np.full(len(model.ground_part.variable_names), -1, dtype=np.int64)
    plain = np.delete(np.arange(len(in_part)), list(model.places))
    in_part[plain] = np.arange(len(plain))
    numbers = [
        np.broadcast_to(
            in_part[column.variable] if column.variable >= 0 else np.int64(-1), len(column.rows)
        )
        for column in columns
    ]
    mine = _by_relation((column.relation, place) for place, column in enumerate(columns))
    named = _by_relation((relation, number) for number, (relation, _) in model.places.items())
    existing: list[Ints] = []
    start = len(plain)
    for relation, of in enumerate(model.vocabulary.domains_of):
        given, slots = named.get(relation, []), mine.get(relation, [])
        constants = [model.places[each][1] for each in given]
        # columns of other parfactors over the same rows are the same
        rows = {id(columns[place].rows): columns[place].rows for place in slots}
        stacked = [
            np.array(constants, dtype=np.int64).reshape(len(given), len(of)),
            *rows.values(),
            # a relation without domains always exists
            np.zeros((0 if of else 1, len(of)), dtype=np.int64),
        ]
        met = np.vstack(stacked)
        first, ids = by_value(lexicographic_codes(met))
        existing.append(met[first])
        pieces = np.split(start + ids, np.cumsum([len(each) for each in stacked]))
        in_part[given] = pieces[0]
        piece_of = dict(zip(rows, pieces[1:], strict=False))
        for place in slots:
            numbers[place] = piece_of[id(columns[place].rows)]
        start += len(first)
    return GroundVariables(plain, existing, in_part, numbers)


def _by_relation(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """What belongs to each relation, in order."""
    result: dict[int, list[int]] = {}
    for relation, each in pairs:
        result.setdefault(relation, []).append(each)
    return result


# ---- factors


def _block(bound: BoundParfactor, ids: Ints) -> FactorBlock:
    """The ground factors of a parfactor; ids[substitutions × arguments]: ground variables."""
    many = [_members(bound, argument) for argument in bound.arguments]
    table = expanded_table(bound, many)
    first = first_columns(ids)
    kept = first == np.arange(ids.shape[1])
    if table is None:
        return FactorBlock(*_distinct(ids, kept), [], np.broadcast_to(np.int64(-1), len(ids)))
    sizes = [
        argument.size
        for argument, count in zip(bound.arguments, many, strict=True)
        for _ in range(count)
    ]
    pattern = group_rows(first)
    tables = [diagonal(table, sizes, first[rows[0]]) for rows in members(pattern)]
    support = None
    if bound.support is not None:
        of_each = np.zeros(len(ids), dtype=np.int64)
        support = Supports.of([bound.support]).taken(of_each).only(kept.all(axis=1))
    return FactorBlock(*_distinct(ids, kept), tables, pattern, support)


def _distinct(ids: Ints, kept: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Arguments in a row without those that were there before, and how many are left of each."""
    if kept.all():
        return ids.reshape(-1), np.broadcast_to(np.int64(ids.shape[1]), len(ids))
    return ids[kept], kept.sum(axis=1)


def _listed_block(bound: BoundParfactor, ids: Ints, listed: TabledRows) -> FactorBlock:
    """The same with a table for each ground factor; the diagonal of a table is taken once.

    The diagonal of an estimated table is no estimated table itself, and has no support.
    """
    first = first_columns(ids)
    kept = first == np.arange(ids.shape[1])
    sizes = [argument.size for argument in bound.arguments]
    known = np.flatnonzero(listed.table_of >= 0)
    support = listed.support and listed.support.only(kept.all(axis=1))
    if not len(known):
        unknown = np.broadcast_to(np.int64(-1), len(ids))
        return FactorBlock(*_distinct(ids, kept), [], unknown, support)
    pattern = group_rows(np.column_stack((listed.table_of[known], first[known])))
    examples = known[first_places(pattern)]
    tables = [
        diagonal(listed.tables[listed.table_of[each]], sizes, first[each])
        for each in examples.tolist()
    ]
    table_of = np.full(len(ids), -1, dtype=np.int64)
    table_of[known] = pattern
    return FactorBlock(*_distinct(ids, kept), tables, table_of, support)


def _part_block(model: ParfactorGraph, variables: GroundVariables) -> FactorBlock:
    """The factors of the ground part; tables in the declared orders of their arguments."""
    part = model.ground_part
    arguments = variables.of_part[part.arguments]
    tables, table_of = declared_tables(part)
    return FactorBlock(arguments, np.diff(part.offsets), tables, table_of, part.declared_support)
