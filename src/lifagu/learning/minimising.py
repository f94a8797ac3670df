"""Minimising a smooth function by L-BFGS (Liu and Nocedal, 1989), the same steps every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats

Function = Callable[[Floats], tuple[float, Floats]]  # from a point to the value and the gradient

DECREASE, CURVATURE = 1e-4, 0.9  # the Wolfe conditions, as is usual for quasi-Newton steps
MOST_TRIALS = 25  # of one line search


@dataclass(frozen=True, eq=False)
class Minimum:
    """The best point that was found, its value and gradient, and after how many steps."""

    point: Floats
    value: float
    gradient: Floats
    iterations: int


def minimise(
    function: Function,
    start: Floats,
    *,
    scale: Floats | float = 1.0,
    corrections: int = 20,
    iterations: int = 100,
    tolerance: float = 1e-9,
    progress: Callable[[int, float], None] | None = None,
) -> Minimum:
    """The minimum of a smooth function; it never returns a point above the start.

    scale: the square root of an estimate of the diagonal of the Hessian; steps are taken in
    coordinates point · scale. tolerance: ends where a step gains less than this share of the value.
    progress(step, value) is called after each step.
    """

    def scaled(point: Floats) -> tuple[float, Floats]:
        value, gradient = function(point / scale)
        return value, gradient / scale

    point = np.asarray(start * scale, dtype=np.float64)
    value, gradient = scaled(point)
    moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=corrections)
    for step in range(iterations):
        direction = _direction(gradient, moves)
        slope = dot(direction, gradient)
        if not slope < 0:
            break
        first = 1.0 if moves else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        found = _along(scaled, point, direction, value, slope, first)
        if found is None:
            break
        new_point, new_value, new_gradient = found
        turned = new_gradient - gradient
        if (curved := dot(turned, moved := new_point - point)) > 1e-14 * dot(moved, moved):
            moves.append((moved, turned, 1.0 / curved))
        gained = value - new_value
        point, value, gradient = found
        if progress is not None:
            progress(step + 1, value)
        if gained <= tolerance * max(abs(value), 1.0):
            return Minimum(point / scale, value, gradient * scale, step + 1)
    else:
        return Minimum(point / scale, value, gradient * scale, iterations)
    return Minimum(point / scale, value, gradient * scale, step)


def dot(first: Floats, second: Floats) -> float:
    """The scalar product, added up in the same order however many threads there are."""
    return float((first * second).sum())


def _direction(gradient: Floats, moves: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Downhill, as earlier steps tell how the function bends."""
    direction = -gradient
    kept = []
    for moved, turned, inverse in reversed(moves):
        share = inverse * dot(moved, direction)
        direction = direction - share * turned
        kept.append(share)
    if moves:
        _, turned, inverse = moves[-1]
        direction = direction / (inverse * dot(turned, turned))
    for (moved, turned, inverse), share in zip(moves, reversed(kept), strict=True):
        direction = direction + (share - inverse * dot(turned, direction)) * moved
    return direction


def _along(
    function: Function, point: Floats, direction: Floats, value: float, slope: float, first: float
) -> tuple[Floats, float, Floats] | None:
    """A step along a direction that meets the Wolfe conditions, found by halving and doubling.

    None where no step gains anything: the numbers are used up.
    """
    low, high, length = 0.0, np.inf, first
    best: tuple[Floats, float, Floats] | None = None
    for _ in range(MOST_TRIALS):
        there = point + length * direction
        found, gradient = function(there)
        if not np.isfinite(found) or found > value + DECREASE * length * slope:
            high = length
        else:
            if best is None or found < best[1]:
                best = (there, found, gradient)
            if dot(gradient, direction) >= CURVATURE * slope:
                return there, found, gradient
            low = length
        length = 2 * length if np.isinf(high) else (low + high) / 2
    return best
