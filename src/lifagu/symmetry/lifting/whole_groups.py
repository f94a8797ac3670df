"""Where a factor takes a whole group: runs of arguments that its table lets swap, over sets that
never overlap.

Such a run can become a counting formula (Milch, Zettlemoyer, Kersting, Haimes and Kaelbling 2008):
the table depends on how many of the run's variables take each value only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, first_places, group_lists, group_rows, members
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.ground_tables import LARGEST
from lifagu.symmetry.lifting.classes import FactorClass, VariableClasses

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Slot:
    """Neighbouring arguments of a class of factors: one, or a run that takes whole blocks of its
    variables' class.

    block_of[m]: which block each factor takes; blocks[b×length]: the variables of each, in the
    order of the arguments.
    """

    first: int
    length: int
    variables: int
    block_of: Ints | None = None
    blocks: Ints | None = None


def shared_positions(graph: FactorGraph) -> Ints:
    """The position each argument sends if arguments of countable runs are not told apart, the first
    of the run.

    A run is countable if its table lets its arguments swap and if, among all factors with this
    table, its sets of variables are equal or disjoint. It holds at least three variables, or two of
    the same declared kind. Near-linear.
    """
    positions = np.arange(len(graph.arguments)) - np.repeat(
        graph.offsets[:-1], np.diff(graph.offsets)
    )
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
    # of the run among the chosen ones, for each argument in one
    place = np.searchsorted(chosen, run[inside])
    taken = group_lists(np.concatenate(([0], np.cumsum(lengths[chosen]))), graph.arguments[inside])
    met = group_rows(np.column_stack((family[place], graph.arguments[inside])))
    overlapping = taken[place] != taken[place[first_places(met)[met]]]
    whole = ~np.isin(family, family[place[overlapping]])
    shared = np.flatnonzero(inside)[whole[place]]
    positions[shared] = positions[starts[run[shared]]]
    return positions


def _joined(graph: FactorGraph) -> Flags:
    """For each argument whether it may be swapped with the next one of its factor and is of the
    same kind.
    """
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
    """For each axis of each table whether it may be swapped with the next one, tested for like
    tables at once.
    """
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
    first = 0
    while first < len(factors.classes):
        end = first + 1
        while (
            end < len(factors.classes)
            and factors.positions[end] == factors.positions[first]
            and factors.classes[end] == factors.classes[first]
        ):
            end += 1
        slots += _slots(factors, variables, first, end)
        first = end
    return slots


def _slots(factors: FactorClass, variables: VariableClasses, first: int, end: int) -> list[Slot]:
    """One slot for a run that takes whole blocks, one for each argument otherwise."""
    number = factors.classes[first]
    if end - first > 1:
        taken = factors.arguments[:, first:end]
        block_of = group_rows(taken)
        blocks = taken[first_places(block_of)]
        if blocks.size == variables.sizes[number] and len(np.unique(blocks)) == blocks.size:
            return [Slot(first, end - first, number, block_of, blocks)]
    return [Slot(place, 1, number) for place in range(first, end)]
