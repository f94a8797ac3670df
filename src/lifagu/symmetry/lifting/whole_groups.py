"""Where a factor takes a whole group: arguments that may be swapped, over disjoint sets.

Such a run can become a counting formula (Milch, Zettlemoyer, Kersting, Haimes and Kaelbling 2008):
the table depends on how many of the run's variables take each value only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, first_places, group_lists, group_rows, members, offsets_of
from lifagu.graph.factor_graph import FactorGraph
from lifagu.likeness.roles import argument_places
from lifagu.relational.ground_tables import LARGEST
from lifagu.symmetry.lifting.classes import FactorClass, VariableClasses

Flags = NDArray[np.bool_]


class ArgumentBlocks(NamedTuple):
    """Sets of variables that never overlap. of[m]: which of them each factor takes.

    variables[b×length]: the variables of each, in the order of the arguments.
    """

    of: Ints
    variables: Ints


@dataclass(frozen=True, eq=False)
class Slot:
    """Neighbouring arguments of a class of factors: one, or a run that takes whole blocks."""

    first: int
    length: int
    variables: int
    blocks: ArgumentBlocks | None = None


def shared_positions(graph: FactorGraph) -> Ints:
    """The position each argument sends, that of its run's first one where a run is countable.

    A run is countable if its table lets its arguments swap and if, among all factors with this
    table, its sets of variables are equal or disjoint. It holds at least three variables, or two of
    the same declared kind. Near-linear.
    """
    positions = argument_places(graph)
    joined = _joined(graph)
    if not joined.any():
        return positions
    run = np.cumsum(~np.concatenate(([False], joined[:-1]))) - 1
    lengths = np.bincount(run)
    starts = np.cumsum(lengths) - lengths
    kind = graph.variable_kind[graph.arguments[starts]]
    chosen = np.flatnonzero((lengths > 2) | ((lengths == 2) & (kind >= 0)))
    if not len(chosen):
        return positions
    owner = np.repeat(np.arange(len(graph.factor_names)), np.diff(graph.offsets))[starts[chosen]]
    family = group_rows(
        np.column_stack((graph.factor_table[owner], positions[starts[chosen]], lengths[chosen]))
    )
    inside = np.isin(run, chosen)
    place = np.searchsorted(chosen, run[inside])  # of its run among the chosen ones
    taken = group_lists(offsets_of(lengths[chosen]), graph.arguments[inside])
    met = group_rows(np.column_stack((family[place], graph.arguments[inside])))
    overlapping = taken[place] != taken[place[first_places(met)[met]]]
    whole = ~np.isin(family, family[place[overlapping]])
    shared = np.flatnonzero(inside)[whole[place]]
    positions[shared] = positions[starts[run[shared]]]
    return positions


def _joined(graph: FactorGraph) -> Flags:
    """Whether each argument may be swapped with the next of its factor, and is of its kind."""
    swaps = _swaps(graph)
    joined = np.zeros(len(graph.arguments), dtype=np.bool_)
    if not swaps.any():
        return joined
    tables = graph.tables
    for factors, arguments in graph.scopes:
        known = graph.factor_table[factors] >= 0
        factors, places = factors[known], np.arange(arguments.shape[1])
        mine = swaps[tables.axis_offsets[graph.factor_table[factors], None] + places]
        kinds = graph.variable_kind[arguments[known]]
        mine[:, :-1] &= kinds[:, :-1] == kinds[:, 1:]
        joined[graph.offsets[factors, None] + places] = mine
    return joined


def _swaps(graph: FactorGraph) -> Flags:
    """Whether each axis of each table may be swapped with the next, like tables at once."""
    tables = graph.tables
    swaps = np.zeros(len(tables.axes), dtype=np.bool_)
    for alike in members(group_lists(tables.axis_offsets, tables.axes)):
        axes = tables.ranges_of(int(alike[0]))
        shape = tables.sizes[axes]
        if np.prod(shape, dtype=np.float64) > LARGEST:
            continue  # counted, it could not be grounded again
        places = np.arange(int(np.prod(shape)))
        for axis in np.flatnonzero(axes[1:] == axes[:-1]).tolist():
            swapped = np.swapaxes(places.reshape(shape), axis, axis + 1).reshape(-1)
            first = tables.offsets[alike, None]
            same = (tables.values[first + places] == tables.values[first + swapped]).all(axis=1)
            swaps[tables.axis_offsets[alike] + axis] = same
    return swaps


def slots_of(factors: FactorClass, variables: VariableClasses) -> list[Slot]:
    """The arguments of a class of factors, runs that take whole blocks together."""
    slots: list[Slot] = []
    sorts = zip(factors.positions, factors.classes, strict=True)
    for _, run in groupby(enumerate(sorts), key=lambda each: each[1]):
        places = [place for place, _ in run]
        slots += _slots(factors, variables, places[0], places[-1] + 1)
    return slots


def _slots(factors: FactorClass, variables: VariableClasses, first: int, end: int) -> list[Slot]:
    """One slot for a run that takes whole blocks, one for each argument otherwise."""
    number = factors.classes[first]
    if end - first > 1:
        taken = factors.arguments[:, first:end]
        of = group_rows(taken)
        blocks = taken[first_places(of)]
        if blocks.size == variables.sizes[number] and len(np.unique(blocks)) == blocks.size:
            return [Slot(first, end - first, number, ArgumentBlocks(of, blocks))]
    return [Slot(place, 1, number) for place in range(first, end)]
