"""The sorts of things in a graph: variables of each class, blocks, and places within blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.graph.factor_graph import FactorGraph
from lifagu.symmetry.lifting.classes import FactorClass, VariableClasses
from lifagu.symmetry.lifting.dependent_columns import Column, Map
from lifagu.symmetry.lifting.whole_groups import Slot


class Sorts:
    """Collects sorts while the columns of classes of factors are looked at.

    sizes: of each sort, classes of variables first; met: those of more than one thing that occur;
    maps: from variables to their blocks and to their places in them; owners: the individuals that
    the things of a sort list, as a matrix with one row each, where all of them list equally many.
    """

    def __init__(self, graph: FactorGraph, variables: VariableClasses) -> None:
        self._graph, self._variables = graph, variables
        self.sizes: list[int] = variables.sizes.tolist()
        self.met: list[int] = []
        self._known: set[int] = set()
        self.maps: list[Map] = []
        self.owners: dict[int, Ints] = {}

    def columns(self, factors: FactorClass, slots: Sequence[Slot]) -> list[Column]:
        """One column per slot of several things: places of variables within a class, or blocks."""
        places = self._variables.place[factors.arguments]
        result = []
        for slot in slots:
            self._meet(slot.variables)
            if slot.blocks is None:
                result.append(Column(slot.variables, places[:, slot.first]))
            else:
                sort = self._blocks(slot.variables, slot.blocks.variables)
                result.append(Column(sort, slot.blocks.of))
        return [column for column in result if self.sizes[column.sort] > 1]

    def _meet(self, sort: int) -> None:
        if self.sizes[sort] > 1 and sort not in self._known:
            self._known.add(sort)
            self.met.append(sort)
            lists = listed_individuals(self._graph, self._variables.members(sort))
            self.owners |= {} if lists is None else {sort: lists}

    def _blocks(self, variables: int, blocks: Ints) -> int:
        """New sorts for the blocks of a class of variables and for the places within a block."""
        count, length = blocks.shape
        places = self._variables.place[blocks]
        new = len(self.sizes)
        self.sizes += [count, length]
        for axis, image in enumerate((np.arange(count)[:, None], np.arange(length))):
            # a single thing is no sort that logical variables could range over
            if blocks.shape[axis] > 1:
                by_place = np.empty(blocks.size, dtype=np.int64)
                by_place[places] = np.broadcast_to(image, blocks.shape)
                self.maps.append(Map(variables, new + axis, by_place))
                self.met.append(new + axis)
                if variables in self.owners:
                    self._own(new + axis, np.moveaxis(self.owners[variables][places], axis, 0))
        return new

    def _own(self, sort: int, lists: Ints) -> None:
        """The individuals of a sort: those that all variables of a thing list at one place.

        lists[things × variables of each × individuals]: what these list.
        """
        common = (lists == lists[:, :1]).all(axis=(0, 1))
        self.owners |= {sort: lists[:, 0, common]} if common.any() else {}

    def agree(self, by: Map) -> bool:
        """Whether things and their images list the same individuals first."""
        if by.source not in self.owners or by.target not in self.owners:
            return False
        return np.array_equal(self.owners[by.source][:, 0], self.owners[by.target][by.image, 0])


def listed_individuals(graph: FactorGraph, variables: Ints) -> Ints | None:
    """The n×q individuals of n variables that list q > 0 each; None if they do not."""
    starts = graph.individual_offsets[variables]
    lengths = graph.individual_offsets[variables + 1] - starts
    if not lengths[0] or (lengths != lengths[0]).any():
        return None
    return graph.individual_ids[starts[:, None] + np.arange(lengths[0])]
