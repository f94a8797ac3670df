"""A lifted model as tables: domains, relations and parfactors, and by array who belongs to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, offsets_of
from lifagu.basics.columns import Columns, Lists, text_lists, texts
from lifagu.basics.names import ChosenNames, Names
from lifagu.data.parquet.supports import support_columns
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.supports import Supports
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.terms import Membership


def lifted_tables(model: ParfactorGraph, graph: FactorGraph) -> dict[str, Columns]:
    """Domains, relations with members, parfactors with substitutions, factors not lifted.

    graph: the one that was lifted, whose variables and factors the model names. Constants go by
    their place in their
    domain, counted from 1: in a domain without a list that is the constant itself.
    """
    domains, relations, parfactors = model.domains, model.relations, model.parfactors
    return {
        "domains": {
            "name": texts([each.name for each in domains]),
            "size": np.array([each.size for each in domains], dtype=np.int64),
            "constants": text_lists([each.constants or () for each in domains]),
        },
        "relations": {
            "name": texts([each.name for each in relations]),
            "domains": text_lists([each.of for each in relations]),
            "range": text_lists([each.range for each in relations]),
        },
        "atoms": _atoms(model, graph.variable_names),
        "parfactors": {
            "name": texts([each.name for each in parfactors]),
            "arguments": text_lists([list(map(str, each.arguments)) for each in parfactors]),
            "constraints": text_lists([list(map(str, each.where)) for each in parfactors]),
            "potentials": _potentials(parfactors),
            **support_columns(Supports.of([each.support for each in model.bound]).or_none),
        },
        "substitutions": _substitutions(model),
        "ground_factors": {
            "factor_id": _numbers(model.ground_part.factor_names, graph.factor_names)
        },
    }


def _atoms(model: ParfactorGraph, names: Names) -> Columns:
    """The constants of each variable of a relation, unless its name says them: ``Sick(eve)``."""
    variables: list[Ints] = []
    rows: list[Ints] = []
    for relation, renamed in zip(model.relations, model.vocabulary.renamed, strict=True):
        if relation.of:
            variables.append(_numbers(ChosenNames(renamed.names, renamed.which), names))
            rows.append(renamed.rows)
        else:
            variables.append(names.find_each([relation.name]))
            rows.append(np.zeros((1, 0), dtype=np.int64))
    relation_of = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    return {
        "variable_id": np.concatenate([np.zeros(0, dtype=np.int64), *variables]),
        "relation": texts([each.name for each in model.relations], relation_of),
        "constants": _places(rows),
    }


def _substitutions(model: ParfactorGraph) -> Columns:
    """The constants listed in constraints, with the parfactor and the constraint's position."""
    owners, positions, rows = [], [], []
    for number, (parfactor, bound) in enumerate(zip(model.parfactors, model.bound, strict=True)):
        listed = [
            place for place, each in enumerate(parfactor.where) if isinstance(each, Membership)
        ]
        for place, (_, constants, _) in zip(listed, bound.memberships, strict=True):
            owners.append(number)
            positions.append(place)
            rows.append(constants)
    counts = [len(each) for each in rows]
    return {
        "parfactor": texts(
            [each.name for each in model.parfactors],
            np.repeat(np.array(owners, dtype=np.int64), counts),
        ),
        "position": np.repeat(np.array(positions, dtype=np.int64), counts),
        "constants": _places(rows),
    }


def _places(rows: Sequence[Ints]) -> Lists:
    """Matrices of constants, one after another, as lists of places from 1."""
    lengths = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(np.full(len(each), each.shape[1]) for each in rows)]
    )
    values = np.concatenate([np.zeros(0, dtype=np.int64), *(each.reshape(-1) for each in rows)])
    return Lists(offsets_of(lengths), values + 1)


def _potentials(parfactors: Sequence[Parfactor]) -> Lists:
    tables = [np.zeros(0) if each.table is None else each.table for each in parfactors]
    return Lists(np.cumsum([0, *map(len, tables)]), np.concatenate([np.zeros(0), *tables]))


def _numbers(names: Names, of: Names) -> Ints:
    """The numbers of some nodes by name; not looked up where the names are the graph's own."""
    if isinstance(names, ChosenNames) and names.names is of:
        return names.numbers
    return of.find_each(list(names))
