"""A most probable assignment: the steps' own tables say what each variable that was taken away should be."""

from __future__ import annotations

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted.step_kinds import CountStep, EliminateStep, JoinStep, Step, TiedCountStep, UnaryCountStep
from lifagu.infer.lifted.unary import best_split


def trace_back(steps: tuple[Step, ...], values: Ints) -> None:
    """Fill in the values of all variables that the (maximising) steps took away, in place; ties go to the lowest value.

    values[v]: canonical value of each variable that was left.
    """
    for step in reversed(steps):
        if isinstance(step, EliminateStep):
            for blocks, product, _, _ in step.shapes:
                best = product.argmax(axis=0)
                values[blocks.variables] = best[tuple(values[blocks.neighbours].T)]
        elif isinstance(step, CountStep | TiedCountStep):
            counts = step.counts[values[step.variable]]
            values[step.members] = np.repeat(np.arange(len(counts)), counts)
        elif isinstance(step, UnaryCountStep):
            split = best_split(step, step.counts[values[step.variable]])
            for group, counts in zip(step.groups, split, strict=True):
                values[group] = np.repeat(np.arange(len(counts)), counts)
        elif isinstance(step, JoinStep):
            values[step.first], values[step.second] = np.divmod(values[step.joined], step.sizes[1])
