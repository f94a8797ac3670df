"""One table per set of variables, for peers that cannot hold two factors on the same scope."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import ModelError, listed
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import potential_fault

_Scaled = tuple[Floats, Ints]  # mantissas from 0.5 to 1 (or 0), and powers of two


def one_table_per_scope(graph: FactorGraph, what: str) -> list[tuple[tuple[str, ...], Floats]]:
    """Arguments and table for each set of variables; together the product of all factors.

    Tables have one axis per argument, labels in declared order. A variable in no factor gets a
    table of ones; factors without arguments are multiplied into the first table. what: who asks,
    for the errors on unknown factors and on products that are zero everywhere, or that plain
    numbers do not hold. Cost: linear in the potentials.

    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> tables = one_table_per_scope(build.factors({"f": ["A"], "g": ["A"]}, [1, 3]).graph(), "it")
    >>> [(arguments, table.tolist()) for arguments, table in tables]
    [(('A',), [1.0, 9.0]), (('B',), [1.0, 1.0])]
    """
    if not isinstance(graph, FactorGraph):
        raise ModelError(f"{what} takes a lifagu FactorGraph, not {type(graph).__name__}")
    if len(graph.unknown):
        names = listed(f"'{graph.factor_names[factor]}'" for factor in graph.unknown)
        raise ModelError(f"{what} needs a table for every factor; give or impute those of {names}")
    merged: dict[frozenset[str], tuple[tuple[str, ...], _Scaled]] = {}
    for arguments, table in _arguments_and_tables(graph):
        order, product = merged.setdefault(
            frozenset(arguments), (arguments, _scaled(np.ones(table.shape)))
        )
        axes = [arguments.index(argument) for argument in order]
        merged[frozenset(order)] = (order, _product(product, _scaled(table.transpose(axes))))
    _, scale = merged.pop(frozenset(), ((), _scaled(np.ones(()))))
    tables = list(merged.values())
    tables[:1] = [(order, _product(product, scale)) for order, product in tables[:1]]
    return [
        (order, _plain(product, f"{what} multiplies the factors on ({', '.join(order)})"))
        for order, product in tables
    ]


def _scaled(table: Floats) -> _Scaled:
    mantissas, exponents = np.frexp(table)
    return mantissas, exponents.astype(np.int64)


def _product(one: _Scaled, other: _Scaled) -> _Scaled:
    """The product of two tables; nothing is too large or too small on the way."""
    mantissas, exponents = _scaled(one[0] * other[0])
    return mantissas, exponents + one[1] + other[1]


def _plain(product: _Scaled, what: str) -> Floats:
    """A product in plain numbers, where these hold all of it."""
    mantissas, exponents = product
    with np.errstate(over="ignore", under="ignore"):
        table = np.ldexp(mantissas, np.clip(exponents, -5000, 5000).astype(np.int32))
    if not np.array_equal(np.frexp(table)[0], mantissas):
        raise ModelError(
            f"{what}, and their product is too large or too small for plain numbers; "
            "rescale the tables"
        )
    if fault := potential_fault(table.reshape(-1)):
        raise ModelError(f"{what}, and the product has {fault}")
    return table


def _arguments_and_tables(graph: FactorGraph) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """The known factors, and a table of ones for each variable in none."""
    for factor in graph.factors:
        if factor.table is not None:
            yield factor.arguments, factor.table
    for variable in np.flatnonzero(graph.degrees == 0).tolist():
        yield (graph.variable_names[variable],), np.ones(graph.sizes[variable])
