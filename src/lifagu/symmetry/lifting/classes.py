"""What looks alike, as arrays: classes of variables that may become relations, classes of factors for parfactors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints, first_places, group_rows
from lifagu.model import Colouring, FactorGraph

MOST_CLASSES = 10_000  # classes of factors that are lifted, the largest ones: with more, nobody would read the model
MOST_ARGUMENTS = 30  # arguments that a lifted factor may have


@dataclass(frozen=True, eq=False)
class VariableClasses:
    """Variables of equal colour and declared label order, isolated ones apart, numbered by first occurrence.

    of[n]: the class of each variable; place[n]: its place within the class, in input order.
    """

    of: Ints
    place: Ints
    sizes: Ints
    _order: Ints
    _starts: Ints

    def members(self, number: int) -> Ints:
        """The variables of a class, in input order."""
        return self._order[self._starts[number] : self._starts[number] + self.sizes[number]]


@dataclass(frozen=True, eq=False)
class FactorClass:
    """Factors with one table (-1 = unknown) whose arguments are of equal classes, place by place.

    factors[m]: ascending; arguments[m×k]: their variables; classes[k]: the classes of these; positions[k]: arguments
    with equal positions may be swapped, as far as the table is concerned.
    """

    factors: Ints
    arguments: Ints
    table: int
    classes: tuple[int, ...]
    positions: tuple[int, ...]


def variable_classes(graph: FactorGraph, colouring: Colouring) -> VariableClasses:
    """The classes of variables under a colouring. O(n log n)."""
    of = group_rows(np.column_stack((colouring.variable_colours, graph.variable_declared, graph.degrees == 0)))
    order = np.argsort(of, kind="stable")
    sizes = np.bincount(of)
    starts = np.cumsum(sizes) - sizes
    place = np.empty_like(of)
    place[order] = np.arange(len(of)) - np.repeat(starts, sizes)
    return VariableClasses(of, place, sizes, order, starts)


def factor_classes(
    graph: FactorGraph, colouring: Colouring, variables: VariableClasses, positions: Ints
) -> list[FactorClass]:
    """The classes of at least two factors, by first factor; of very many the largest. Near-linear.

    positions[e]: the position each argument sends, as in `colour`. A single factor is a class if arguments share one.
    """
    found: list[FactorClass] = []
    for factors, arguments in graph.scopes:
        arity = arguments.shape[1]
        if not 0 < arity <= MOST_ARGUMENTS:
            continue
        colours, tables = colouring.factor_colours[factors], graph.factor_table[factors] + 1
        sent = positions[graph.offsets[factors, None] + np.arange(arity)]
        alike = _alike(colours, [tables, *variables.of[arguments].T, *sent.T])
        order, sizes = np.argsort(alike, kind="stable"), np.bincount(alike)
        starts = np.cumsum(sizes) - sizes
        lifts = (sizes > 1) | (sent[order[starts], 1:] == sent[order[starts], :-1]).any(axis=1)
        for number in np.argsort(-sizes * lifts, kind="stable")[: min(int(lifts.sum()), MOST_CLASSES)].tolist():
            rows = order[starts[number] : starts[number] + sizes[number]]
            first = int(rows[0])
            found.append(
                FactorClass(
                    factors[rows],
                    arguments[rows],
                    int(tables[first]) - 1,
                    tuple(variables.of[arguments[first]].tolist()),
                    tuple(sent[first].tolist()),
                )
            )
    found.sort(key=lambda each: -len(each.factors))
    return sorted(found[:MOST_CLASSES], key=lambda each: int(each.factors[0]))


def _alike(colours: Ints, columns: Sequence[Ints]) -> Ints:
    """Number alike what is equal in colour and in all columns; mostly, equal colours mean equal columns already."""
    alike = group_rows(colours[:, None])
    first = first_places(alike)[alike]
    if all(np.array_equal(column, column[first]) for column in columns):
        return alike
    return group_rows(np.column_stack((colours, *columns)))
