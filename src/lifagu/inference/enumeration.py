"""The oracle: add up the weight of every assignment. Naive on purpose, never to be made faster."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.inference.connected_part import AnyPart

BLOCK = 2**16  # assignments looked at together
MOST = 2**24  # assignments beyond which this is hopeless


@dataclass(frozen=True)
class Enumeration:
    """The plan: how many assignments there are."""

    total: int

    def obstacle(self, limit: int) -> str | None:
        """Why this is not to be tried, None if it is: enumeration runs out of time, not memory."""
        if self.total <= MOST:
            return None
        return f"has 2^{math.log2(self.total):.0f} assignments, too many to enumerate"

    def __str__(self) -> str:
        return f"enumerate {self.total} assignments"


def plan(part: AnyPart) -> Enumeration:
    """Count the assignments."""
    return Enumeration(math.prod(part.sizes.values()))


def run(
    part: AnyPart,
    plan: Enumeration,
    questions: Sequence[tuple[int, ...]],
    progress: Callable[[int], None],
) -> tuple[float, list[Floats]]:
    """log Z and the unnormalised log weights of each question's values, axes in its order."""
    totals = [
        np.full([part.sizes[variable] for variable in question], -np.inf)
        for question in [(), *questions]
    ]
    for start in range(0, plan.total, BLOCK):
        stop = min(start + BLOCK, plan.total)
        states = _states(part, start, stop)
        weights = np.zeros(stop - start)
        for scope, log_potentials in part.factors:
            weights += log_potentials[tuple(states[variable] for variable in scope)]
        for total, question in zip(totals, [(), *questions], strict=True):
            cells = tuple(states[variable] for variable in question) or (
                np.zeros(stop - start, dtype=np.int64),
            )
            np.logaddexp.at(total if question else total.reshape(1), cells, weights)
        progress(stop - start)
    return float(totals[0]), totals[1:]


def _states(part: AnyPart, start: int, stop: int) -> dict[int, Ints]:
    """Assignments start…stop-1, counted like an odometer: each variable's value in all of them."""
    remaining = np.arange(start, stop)
    states = {}
    for variable, size in reversed(part.sizes.items()):
        states[variable] = remaining % size
        remaining = remaining // size
    return states
