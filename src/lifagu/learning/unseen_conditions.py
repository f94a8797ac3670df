"""What it tells that a condition was not observed, where it hardly ever was missing.

A label that nobody has seen would say nothing at all, while all the others together say how things
usually are; an individual of whom less is known would then be told wrongly. So some of the observed
conditions are hidden, and what that tells is learned from these, all else staying as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.learning.choosing import at_most
from lifagu.learning.composite import Composite
from lifagu.learning.minimising import dot, minimise
from lifagu.learning.parameters import Parameters
from lifagu.learning.scales import DAMPING
from lifagu.relational.learning_task import LearningSettings

SELDOM = 0.05  # the share of missing cells under which they do not tell enough themselves
HIDDEN = 0.5  # the share of cells that are hidden instead
STEPS = 40


def with_unseen(
    parameters: Parameters, vector: Floats, penalty: Floats, settings: LearningSettings
) -> Floats:
    """The same parameters, but for those of conditions that are seldom missing.

    The last label of a condition stands for not having been observed.
    """
    task, random = parameters.task, settings.random("conditions")
    values = [each.values for each in task.relations]
    seldom = set[int]()
    for number in sorted(task.conditions):
        missing = values[number] == len(task.relations[number].labels) - 1
        if missing.mean() < SELDOM:
            seldom.add(number)
            hidden = missing | (random.random(len(missing)) < HIDDEN)
            last = len(task.relations[number].labels) - 1
            values[number] = np.where(hidden, last, values[number])
    free = _of_last_labels(parameters, seldom)
    if not free.any():
        return vector
    told = [at_most(each.values, settings.sample, random) for each in task.relations]
    composite = Composite.of(parameters, values, told)

    def whole(some: Floats) -> Floats:
        found = vector.copy()
        found[free] = some
        return found

    def penalised(some: Floats) -> tuple[float, Floats]:
        loss, gradient = composite.value_and_gradient(whole(some))
        return loss + dot(penalty[free], some * some) / 2, gradient[free] + penalty[free] * some

    scale = np.sqrt(composite.curvature(vector)[free] + penalty[free] + DAMPING)
    return whole(minimise(penalised, vector[free], scale=scale, iterations=STEPS).point)


def _of_last_labels(parameters: Parameters, relations: set[int]) -> NDArray[np.bool_]:
    """Which parameters belong to the last label of one of these relations."""
    found = np.zeros(parameters.size, dtype=np.bool_)
    for block in parameters.blocks:
        mine = found[block.start : block.stop].reshape(block.shape)
        slots = parameters.task.tables[block.table].slots
        for place, axis in enumerate(block.axes):
            if slots[axis].relation in relations:
                np.moveaxis(mine, 1 + place, 0)[-1] = True
    return found
