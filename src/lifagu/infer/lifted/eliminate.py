"""Eliminate: independent variables are summed out, all those that look alike by one operation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic

import numpy as np

from lifagu.arrays import Ints
from lifagu.errors import listed
from lifagu.infer.lifted.adjoints import Adjoints
from lifagu.infer.lifted.assignment import Assignment
from lifagu.infer.lifted.logs import Table, project
from lifagu.infer.lifted.problem import Problem
from lifagu.infer.lifted.rows import Blocks, ByArity, New, Place
from lifagu.views import counted


@dataclass(frozen=True, eq=False)
class SummedOut(Generic[New]):
    """Variables that were summed out alike: their blocks, log P(variable | neighbours), and where its rows went."""

    blocks: Blocks[New]
    conditional: Table
    place: Place


@dataclass(frozen=True, eq=False)
class EliminateStep(Generic[New]):
    """Independent variables were summed out, in some shapes. labels, kept: the rows before, and those left alone."""

    labels: ByArity
    kept: ByArity
    shapes: list[SummedOut[New]]
    variables: int
    like: str

    def __str__(self) -> str:
        largest = max((shape.conditional.size for shape in self.shapes), default=0)
        groups = f" in {len(self.shapes)} groups" if len(self.shapes) > 1 else ""
        what = f"eliminate {counted(self.variables, 'variable')} like {self.like}{groups}"
        return f"{what} (largest table {largest} entries)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """P(variable, neighbours) = P(variable | neighbours) · P(neighbours), for each class of blocks."""
        before = after.before(self.labels, self.kept)
        for shape in self.shapes:
            blocks, (arity, places) = shape.blocks, shape.place
            alike = after.joints.classes(after.of_row[arity][places]) if arity else [(np.arange(len(places)), -1)]
            for same, number in alike:
                joint = shape.conditional + after.joints[number] if arity else shape.conditional
                after.marginals.add(blocks.variables[same], project(joint, (0,)))
                for (_, axes), (size, rows) in zip(blocks.parts, blocks.sources, strict=True):
                    before[size][rows[same]] = after.joints.later(partial(project, joint, axes))
        return before

    def trace_back(self, values: Assignment[New]) -> None:
        """Given its neighbours, a variable has its best value."""
        for shape in self.shapes:
            together = shape.conditional.shape[: len(shape.blocks.together)]
            flat = shape.conditional.reshape(-1, *shape.conditional.shape[len(together) :])
            best = flat.argmax(axis=0)[values.at(shape.blocks.new)]
            values.give_together(shape.blocks, np.unravel_index(best, together))


def eliminate(problem: Problem[New], chosen: Ints) -> tuple[Problem[New], EliminateStep[New]]:
    """Sum out independent variables, alike ones together."""
    variables, before = problem.variables, problem.rows
    removed: dict[int, list[Ints]] = {}
    made, found, weights = [], [], []
    for blocks in before.blocks(chosen, variables.sizes):
        for arity, sources in blocks.sources:
            removed.setdefault(arity, []).append(sources)
        together = len(blocks.together)
        many = before.members(blocks.variables) // together
        near = variables.sizes[list(blocks.near)].tolist()
        sizes = (*[int(variables.sizes[blocks.variables[0]])] * together, *near)
        result, conditional = problem.tables.block(blocks.parts, sizes, together, many, problem.maximise)
        label, weight = problem.tables.add(result, many)
        weights.append(weight)
        made.append((blocks.new, np.full(len(blocks.variables), label)))
        found.append((blocks, conditional))
    left, kept = before.without({arity: np.concatenate(gone) for arity, gone in removed.items()})
    rows, places = left.plus(made)
    shapes = [SummedOut(blocks, conditional, place) for (blocks, conditional), place in zip(found, places, strict=True)]
    like = listed([variables.name(int(shape.blocks.variables[0])) for shape in shapes], limit=3)
    step = EliminateStep(before.labels, kept, shapes, before.members(chosen), like)
    return problem.after(rows, variables.without(chosen), weights), step
