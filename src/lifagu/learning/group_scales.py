"""How far groups may differ from the level above, told by hidden cells.

Scales that are found from the fit itself take what is not known of a group to be normal around its
most probable table. Of groups with one or two records that is far from so, and they are believed to
be more alike than they are (Breslow and Lin, 1995). So the penalty of each level of each table is
multiplied by what tells hidden cells best. Where deviations would be with another penalty is told
by a Newton step of each group along its deviation: nothing need be fitted anew for that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.learning.composite import Composite
from lifagu.learning.parameters import Block

MULTIPLES = (0.1, 0.3, 3.0)


def group_multiples(test: Composite, vector: Floats, penalty: Floats, bends: Floats) -> Floats:
    """By block what to multiply its penalty by: 1 but for levels that tell hidden cells better.

    test: hidden cells, of which the vector has seen nothing; bends: how much the loss of those that
    it was fitted to bends along each parameter. What is gained has to be more than its error.
    """
    parameters, vector = test.parameters, vector.copy()
    found = np.ones(len(parameters.blocks))
    for number, block in enumerate(parameters.blocks):
        slots = parameters.task.tables[block.table].slots
        near = [each for each in test.told if any(s.relation == each.relation for s in slots)]
        if block.kind != "level" or not near:
            continue
        told, best, most = replace(test, told=tuple(near)), vector, 0.0
        before = np.concatenate(told.losses(vector))
        for by in MULTIPLES:
            moved = vector.copy()
            block.of(moved)[:] *= _longer(block, vector, penalty, bends, by)
            gains = before - np.concatenate(told.losses(moved))
            gain, error = float(gains.sum()), float(np.sqrt((gains * gains).sum()))
            if gain > max(error, most):
                found[number], best, most = by, moved, gain
        vector = best
    return found


def _longer(block: Block, vector: Floats, penalty: Floats, bends: Floats, by: float) -> Floats:
    """By how much the deviation of each group grows with a multiple of the penalty."""
    axes = tuple(range(1, len(block.shape)))
    squares = block.of(vector) ** 2
    held = (block.of(penalty) * squares).sum(axis=axes, keepdims=True)
    told = (block.of(bends) * squares).sum(axis=axes, keepdims=True)
    found: Floats = (told + held) / np.maximum(told + by * held, 1e-300)
    return np.where(held > 0, found, 1.0)
