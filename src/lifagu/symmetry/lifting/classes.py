"""What looks alike, as arrays: classes of variables for relations, of factors for parfactors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, first_places, group_rows
from lifagu.graph.factor_graph import Colouring, FactorGraph

# classes of factors that are lifted, the largest ones, since each costs a millisecond or two
MOST_CLASSES = 1_000
LARGE = 100  # factors in a class that is always lifted
MOST_ARGUMENTS = 30  # arguments that a lifted factor may have


@dataclass(frozen=True, eq=False)
class VariableClasses:
    """Variables of equal colour and declared label order, isolated ones apart.

    Classes are numbered by first occurrence.

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

    factors[m]: ascending; arguments[m×k]: their variables; classes[k]: the classes of these;
    positions[k]: arguments with equal positions may be swapped, as far as the table is concerned.
    """

    factors: Ints
    arguments: Ints
    classes: tuple[int, ...]
    positions: tuple[int, ...]


def variable_classes(graph: FactorGraph, colouring: Colouring) -> VariableClasses:
    """The classes of variables under a colouring. O(n log n)."""
    of = group_rows(
        np.column_stack((colouring.variable_colours, graph.variable_declared, graph.degrees == 0))
    )
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

    positions[e]: the position each argument sends, as in `colour`. A single factor is a class if
    arguments share one.
    """
    found: list[FactorClass] = []
    for factors, arguments in graph.scopes:
        arity = arguments.shape[1]
        if 0 < arity <= MOST_ARGUMENTS:
            sent = positions[graph.offsets[factors, None] + np.arange(arity)]
            classes = variables.of[arguments]
            rows = np.column_stack((graph.factor_table[factors] + 1, classes, sent))
            alike = _alike(colouring.factor_colours[factors], rows)
            shared = (sent[:, 1:] == sent[:, :-1]).any(axis=1)
            for own in _worth_lifting(alike, shared):
                first = tuple(classes[own[0]].tolist()), tuple(sent[own[0]].tolist())
                found.append(FactorClass(factors[own], arguments[own], *first))
    found.sort(key=lambda each: -len(each.factors))
    more = [each for each in found[MOST_CLASSES:] if len(each.factors) >= LARGE]
    return sorted(found[:MOST_CLASSES] + more, key=lambda each: int(each.factors[0]))


def _alike(colours: Ints, rows: Ints) -> Ints:
    """Number alike what is equal in colour and row; mostly, equal colours mean equal rows."""
    alike = group_rows(colours[:, None])
    first = first_places(alike)
    if all(np.array_equal(column, column[first][alike]) for column in rows.T):
        return alike
    return group_rows(np.column_stack((colours, rows)))


def _worth_lifting(alike: Ints, alone: NDArray[np.bool_]) -> Iterator[Ints]:
    """The members of each class of two or more, or that may be alone; of very many the largest."""
    order, sizes = np.argsort(alike, kind="stable"), np.bincount(alike)
    ends = np.cumsum(sizes)
    lifts = (sizes > 1) | alone[order[ends - 1]]
    chosen = np.argsort(-sizes * lifts, kind="stable")[: int(lifts.sum())]
    chosen = chosen[(np.arange(len(chosen)) < MOST_CLASSES) | (sizes[chosen] >= LARGE)]
    return (order[ends[each] - sizes[each] : ends[each]] for each in chosen.tolist())
