"""Eliminate: independent variables are summed out, those with tables of one shape at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np

from lifagu.basics.arrays import Ints, first_places, group_rows
from lifagu.basics.words import counted
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.logs import Table
from lifagu.inference.lifted.problem import Problem, Variables
from lifagu.inference.lifted.rows import Blocks, Booleans, ByArity, New, RowPlaces
from lifagu.inference.lifted.table_stack import Axes, in_pieces, product, projections
from lifagu.inference.lifted.tables import TablePool

MOST_NAMED = 3  # variables that are named as examples


@dataclass(frozen=True, eq=False)
class SummedOut(Generic[New]):
    """Variables summed out alike: their blocks, the sizes of the products' axes, the new rows.

    results: the table of each kind of blocks; given: log P(variable | neighbours) of each kind,
    along the last axis, None where there are many, so that it is computed again when it is needed.
    """

    blocks: Blocks[New]
    sizes: Axes
    place: RowPlaces
    tables: TablePool
    results: Ints
    given: Table | None

    def conditional(self, kinds: Ints) -> Table:
        """log P(variable | neighbours) of kinds of blocks, up to a constant each; a new array."""
        if self.given is not None:
            return self.given[..., kinds]
        result = self.tables.stack(self.results[kinds]).values
        precision = np.longdouble if result.dtype == np.longdouble else np.float64
        parts = self.tables.parts(self.blocks.axes, self.blocks.labels[kinds])
        whole = product(parts, self.sizes, precision)
        whole -= np.where(np.isneginf(result), 0, result)
        return whole

    def joint(self, after: Adjoints, kinds: Ints, numbers: Ints) -> Table:
        """log P(variable, neighbours), up to a constant, given the joints around each kind."""
        joint = self.conditional(kinds)
        if self.place[0]:
            joint += after.joints.stack(numbers).astype(joint.dtype)
        return joint

    def projected(self, after: Adjoints, kinds: Ints, numbers: Ints, axes: Axes) -> Table:
        """The joint marginals of a row of each of these."""
        precision = self.joint(after, kinds[:1], numbers[:1]).dtype
        found = np.empty((*[self.sizes[axis] for axis in axes], len(kinds)), dtype=precision)

        def piece(start: int, stop: int) -> None:
            joint = self.joint(after, kinds[start:stop], numbers[start:stop])
            found[..., start:stop] = projections(joint, axes)

        in_pieces(len(kinds), int(np.prod(self.sizes, dtype=np.int64)), piece)
        return found

    def best(self, values: tuple[Ints, ...]) -> Ints:
        """The best value of each variable (of those together, as one) given its neighbours'."""
        together = len(self.blocks.together)
        if self.given is not None:
            flat = self.given.reshape(-1, *self.given.shape[together:])
            kind = self.blocks.kind if flat.shape[-1] > 1 else 0
            best: Ints = flat.argmax(axis=0)[(*values, kind)]
            return best
        scores = np.zeros((self.sizes[0], len(self.blocks.variables)), dtype=np.longdouble)
        parts = self.tables.parts(self.blocks.axes, self.blocks.labels[self.blocks.kind])
        every = np.arange(len(self.blocks.variables))
        for part, axes in parts:
            moved = np.moveaxis(part.values, axes.index(0), 0)
            beside: list[Any] = [values[axis - 1] for axis in axes if axis]
            scores += moved[(slice(None), *beside, every)]
        return np.asarray(scores.argmax(axis=0))


@dataclass(frozen=True, eq=False)
class EliminateStep(Generic[New]):
    """Independent variables were summed out. labels, kept: rows before, and those left alone."""

    labels: ByArity
    kept: ByArity
    shapes: list[SummedOut[New]]
    variables: int
    like: str

    def __str__(self) -> str:
        largest = max((int(np.prod(shape.sizes, dtype=object)) for shape in self.shapes), default=0)
        kinds = sum(len(shape.blocks.labels) for shape in self.shapes)
        own = f" in {kinds} groups" if kinds < self.variables else ", each with tables of its own"
        groups = own if kinds > 1 else ""
        what = f"eliminate {counted(self.variables, 'variable')} like {self.like}{groups}"
        return f"{what} (largest table {largest} entries)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """P(variable, neighbours) = P(variable | neighbours) · P(neighbours), by class."""
        before = after.before(self.labels, self.kept)
        for shape in self.shapes:
            blocks, (arity, places) = shape.blocks, shape.place
            numbers = np.zeros_like(blocks.kind)
            if arity:
                numbers = after.joints.looked_at(after.of_row[arity][places])
            own = len(blocks.labels) == len(blocks.variables)  # no two are of a kind
            group = blocks.kind if own else group_rows(np.column_stack((blocks.kind, numbers)))
            first = first_places(group)
            classes = blocks.kind[first], numbers[first]
            after.marginals.add(blocks.variables, group, shape.projected(after, *classes, (0,)))
            for axes, (size, rows) in zip(blocks.axes, blocks.sources, strict=True):
                compute = partial(shape.projected, after, *classes, axes)
                sizes = tuple(shape.sizes[axis] for axis in axes)
                before[size][rows] = after.joints.later(compute, sizes, len(first))[group]
        return before

    def looked_at(self, before: Mapping[int, Booleans] | None) -> dict[int, Booleans]:
        """The rows looked at on the way back: those of before (None: none) and all new ones."""
        after = {
            arity: [np.zeros(len(rows), dtype=np.bool_) if before is None else before[arity][rows]]
            for arity, rows in self.kept.items()
        }
        for shape in self.shapes:
            arity, places = shape.place
            after.setdefault(arity, []).append(np.ones(len(places), dtype=np.bool_))
        return {arity: np.concatenate(each) for arity, each in after.items()}

    def trace_back(self, values: Assignment[New]) -> None:
        """Given its neighbours, a variable has its best value."""
        for shape in self.shapes:
            together = shape.sizes[: len(shape.blocks.together)]
            best = shape.best(values.at(shape.blocks.new))
            values.give_together(shape.blocks, np.unravel_index(best, together))


def eliminate(
    problem: Problem[New], chosen: Ints, found: list[Blocks[New]] | None = None
) -> tuple[Problem[New], EliminateStep[New]]:
    """Sum out independent variables, alike ones together; found: the rows around, if known."""
    variables, before, tables = problem.variables, problem.rows, problem.tables
    found = before.blocks(chosen, variables.sizes) if found is None else found
    made, summed, weights = [], [], []
    for blocks in found:
        together = len(blocks.together)
        near = variables.sizes[list(blocks.near)].tolist()
        sizes = (*[int(variables.sizes[blocks.variables[0]])] * together, *near)
        each = before.members(blocks.variables[:1]) // together
        many = np.bincount(blocks.kind).astype(np.int64 if each == 1 else object) * each
        results, weight, given = tables.add_blocks(
            blocks.axes, blocks.labels, sizes, together, many, problem.maximise
        )
        weights.append(weight)
        made.append((blocks.new, results[blocks.kind]))
        summed.append((blocks, sizes, results, given))
    gone = [source for blocks in found for source in blocks.sources]
    smaller, kept, places = problem.exchanged(
        before, gone, made, variables.without(chosen), weights
    )
    shapes = [
        SummedOut(blocks, sizes, place, tables, results, given)
        for (blocks, sizes, results, given), place in zip(summed, places, strict=True)
    ]
    like = _listed(variables, _examples(found, len(chosen)))
    return smaller, EliminateStep(before.labels, kept, shapes, before.members(chosen), like)


def _examples(found: list[Blocks[New]], many: int) -> Ints:
    """A variable of each kind where so many variables share tables, else one of each shape."""
    shared = sum(len(blocks.labels) for blocks in found) < many
    some = [
        blocks.variables[first_places(blocks.kind)] if shared else blocks.variables[:1]
        for blocks in found
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *some])


def _listed(variables: Variables, some: Ints) -> str:
    """The names of the first few."""
    more = len(some) - MOST_NAMED
    names = ", ".join([variables.name(each) for each in some[:MOST_NAMED].tolist()])
    return f"{names} and {more} more" if more > 0 else names
