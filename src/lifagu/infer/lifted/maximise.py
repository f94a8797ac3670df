"""A most probable assignment: the steps' own tables say what each variable that was taken away should be."""

from __future__ import annotations

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted.assignment import Assignment, CellValues, GroundValues
from lifagu.infer.lifted.cells import Patterns
from lifagu.infer.lifted.step_kinds import CountStep, EliminateStep, ExpandStep, JoinStep, Step, UnaryCountStep
from lifagu.infer.lifted.unary import best_split


def trace_back(steps: tuple[Step, ...], values: Ints) -> Assignment:
    """The values of all variables that the (maximising) steps took away; ties go to the lowest value.

    values[v]: canonical value of each variable that was left.
    """
    found: Assignment = GroundValues(values)
    for step in reversed(steps):
        if isinstance(step, ExpandStep):
            assert isinstance(step.before, Patterns)
            found = CellValues(step.before.individuals, step, values)
        elif isinstance(step, EliminateStep):
            for blocks, product, _, _ in step.shapes:
                flat = product.reshape(-1, *product.shape[len(blocks.together) :])
                best = flat.argmax(axis=0)[found.at(blocks.new)]
                found.give_together(blocks, np.unravel_index(best, product.shape[: len(blocks.together)]))
        elif isinstance(step, CountStep):
            counts = step.counts[found.of(np.array([step.variable]))]
            found.spread(step.twins.variables, step.twins.logical, counts)
        elif isinstance(step, UnaryCountStep):
            split = best_split(step, step.counts[int(found.of(np.array([step.variable])).reshape(-1)[0])])
            for group, counts in zip(step.groups.variables, split, strict=True):
                found.spread(group, 0, counts)
        elif isinstance(step, JoinStep):
            first, second = np.divmod(found.of(step.joined), step.sizes[1])
            found.give(step.first, first)
            found.give(step.second, second)
    return found
