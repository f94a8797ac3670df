"""Values while a best assignment is traced back: of ground variables, or of all of a kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.inference.lifted.cells import Individuals, Pattern
from lifagu.inference.lifted.rows import Blocks, Booleans, New


class Assignment(Protocol[New]):
    """What tracing back asks of values."""

    def at(self, new: New) -> tuple[Ints, ...]:
        """The values in each slot of some entries."""

    def of(self, variables: Ints) -> Ints:
        """The values of variables (over cells: of a single one)."""

    def give(self, variables: Ints, values: Ints) -> None:
        """These variables have these values."""

    def give_together(self, blocks: Blocks[New], values: Sequence[Ints]) -> None:
        """The variables of blocks have these values: an array for each of those together."""

    def spread(self, variables: Ints, logical: int, counts: NDArray[Any]) -> None:
        """So many members take each value, the lowest first. counts: … × range size."""


class GroundValues:
    """values[v] of each ground variable."""

    def __init__(self, values: Ints) -> None:
        self.values = values

    def at(self, new: Ints) -> tuple[Ints, ...]:
        """The values in each slot of some rows."""
        return tuple(self.values[new].T)

    def of(self, variables: Ints) -> Ints:
        """The values of variables."""
        return self.values[variables]

    def give(self, variables: Ints, values: Ints) -> None:
        """These variables have these values."""
        self.values[variables] = values

    def give_together(self, blocks: Blocks[Ints], values: Sequence[Ints]) -> None:
        """The variables of blocks have these values; each was summed out alone."""
        self.values[blocks.variables] = values[0]

    def spread(self, variables: Ints, logical: int, counts: NDArray[Any]) -> None:
        """So many of the members take each value, the lowest values first."""
        flat = counts.reshape(-1, counts.shape[-1])
        self.values[variables] = np.repeat(
            np.tile(np.arange(flat.shape[1]), len(flat)), flat.reshape(-1)
        )


class CellValues:
    """For each variable an array, one axis per individual (anything where these coincide)."""

    def __init__(self, individuals: Individuals, values: Mapping[int, Ints]) -> None:
        self.individuals = individuals
        self.values: dict[int, Ints] = dict(values)

    def at(self, new: Pattern) -> tuple[Ints, ...]:
        """The values in each slot, with one axis per individual of the pattern."""
        shape = tuple(self.individuals.sizes[cell] for cell in new.cells)
        grid = np.indices(shape, sparse=True)
        found = [
            self.values[variable][tuple(grid[each] for each in own)]
            for variable, own in new.arguments
        ]
        return tuple(np.broadcast_to(each, shape) for each in found)

    def of(self, variables: Ints) -> Ints:
        """The values of one variable, with one axis per individual."""
        return self.values[int(variables[0])]

    def give(self, variables: Ints, values: Ints) -> None:
        """All variables of a kind have these values, with one axis per individual."""
        variable = int(variables[0])
        self.values[variable] = np.broadcast_to(values, self.individuals.shape(variable))

    def give_together(self, blocks: Blocks[Pattern], values: Sequence[Ints]) -> None:
        """Variables summed out together have these values, each set once: where it is in order."""
        if len(blocks.together) == 1:
            return self.give(blocks.variables, values[0])
        variable = int(blocks.variables[0])
        shape = self.individuals.shape(variable)
        grid = np.indices(shape)
        once = np.ones(shape, dtype=np.bool_)
        for order in blocks.together:
            once &= _not_after(grid, grid[list(order)])
        found = np.zeros(shape, dtype=np.int64)
        for order, own in zip(blocks.together, values, strict=True):
            places = tuple(axis[once] for axis in grid[list(order)])
            found[places] = np.broadcast_to(own, shape)[once]
        self.values[variable] = found

    def spread(self, variables: Ints, logical: int, counts: NDArray[Any]) -> None:
        """So many members take each value, the lowest first, for each choice of the others."""
        bounds, start = np.cumsum(counts, axis=-1), 0
        for variable in variables.tolist():
            cells = self.individuals.cells_of[variable]
            counted = bool(cells) and logical >= 0
            rank = (_rank(self.individuals, cells, logical) if counted else 0) + np.array(start)
            around = np.expand_dims(bounds, logical) if counted else bounds
            self.values[variable] = np.minimum(
                (rank[..., None] >= around).sum(axis=-1), counts.shape[-1] - 1
            )
            start += self.individuals.sizes[cells[logical]] if counted else 1


def _not_after(one: Ints, other: Ints) -> Booleans:
    """Where the first of two stacks of numbers is not lexicographically after the second."""
    result = np.ones(one.shape[1:], dtype=np.bool_)
    for left, right in zip(one[::-1], other[::-1], strict=True):
        result = (left < right) | ((left == right) & result)
    return result


def _rank(individuals: Individuals, cells: Sequence[int], logical: int) -> Ints:
    """The place of one individual among those of its cell that differ from the others."""
    shape = tuple(individuals.sizes[cell] for cell in cells)
    grid = np.indices(shape, sparse=True)
    rank = np.broadcast_to(grid[logical], shape).copy()
    for other in range(len(cells)):
        if other != logical and cells[other] == cells[logical]:
            rank -= grid[other] < grid[logical]
    return rank
