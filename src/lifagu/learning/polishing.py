"""Tables polished by their likelihood, after the composite one has found them.

The derivative of the log likelihood by an entry is how often it occurs given what was observed less
how often it would occur freely; both are told by chains that go on from step to step (Younes, 1988;
Tieleman, 2008). The second half of all steps is averaged, and the mean of that and where it began
is taken: about as likely as the end itself, and answers are better calibrated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.learning.chains import Chain
from lifagu.learning.composite import Composite
from lifagu.learning.parameters import Block, Parameters
from lifagu.learning.scales import ASKED, Heard, family

STEPS, RATES = 120, (0.06, 0.01)
WARM = 5  # sweeps before the first step
LESS = 0.67  # the likelihood counts interactions once, so that less has to hold them back
SMOOTH = 1.0  # records that make first steps careful


def polished(
    parameters: Parameters,
    vector: Floats,
    penalty: Floats,
    random: np.random.Generator,
    heard: Heard | None = None,
) -> Floats:
    """Parameters half-way to the greatest penalised likelihood.

    Interactions with conditions stay as they are: chains do not tell about them.
    """
    task = parameters.task
    values = [each.values for each in task.relations]
    reached = task.asked & {slot.relation for table in task.tables for slot in table.slots}
    every = [np.full(len(v), number in reached) for number, v in enumerate(values)]
    hidden = [flags & (each < 0) for flags, each in zip(every, values, strict=True)]
    step_size, penalty = _step_sizes(parameters, vector, penalty), penalty.copy()
    for block in parameters.blocks:
        if block.kind == "joint":
            penalty[block.start : block.stop] *= LESS
    given = Chain(parameters, values, hidden, random)
    for _ in range(WARM):
        given.sweep(parameters.entries(vector))
    free = Chain(parameters, given.state, every, random)
    start, total = vector, np.zeros_like(vector)
    for step in range(STEPS):
        entries = parameters.entries(vector)
        given.sweep(entries)
        free.sweep(entries)
        slope = parameters.gradient(vector, free.counts() - given.counts()) + penalty * vector
        rate = RATES[0] * (RATES[1] / RATES[0]) ** (step / STEPS)
        vector = vector - rate * step_size * slope
        if step >= STEPS // 2:
            total += vector
        if heard is not None:
            heard(step + 1, float(np.abs(slope).mean()))
    return (start + total / (STEPS - STEPS // 2)) / 2


def _step_sizes(parameters: Parameters, vector: Floats, penalty: Floats) -> Floats:
    """One over how much the loss bends; 0 for what stays as it is, as do groups without data."""
    composite = Composite.of(parameters, [each.values for each in parameters.task.relations])
    bends = composite.curvature(vector)
    found = np.zeros_like(vector)
    for block in parameters.blocks:
        inside = slice(block.start, block.stop)
        if block.kind == "joint":
            if family(parameters, block) != ASKED:
                continue
            bends[inside] /= 2  # the composite likelihood looks from both sides
        found[inside] = 1 / (bends[inside] + penalty[inside] + SMOOTH)
        if block.kind == "level":
            block.of(found)[_silent(parameters, block)] = 0.0
    return found


def _silent(parameters: Parameters, block: Block) -> NDArray[np.bool_]:
    """Groups without a row whose arguments were all observed; they have no deviation."""
    task, groups = parameters.task, block.of_row
    assert groups is not None
    kept = groups >= 0
    for slot in task.tables[block.table].slots:
        kept &= task.relations[slot.relation].values[slot.cells] >= 0
    return np.asarray(np.bincount(groups[kept], minlength=block.shape[0]) == 0)
