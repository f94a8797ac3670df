"""Weights of histograms of several groups together, convolved in logs: FFTs ruin the tails.

Weights are log arrays with one axis per value but the last, as the last count follows from the
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.inference.lifted.logs import Table, log_sum


def as_array(counts: Ints, values: Table) -> Table:
    """Values of histograms, one axis per value but the last; -inf where there is no histogram."""
    members_of, size = int(counts[0].sum()), counts.shape[1]
    found = np.full((members_of + 1,) * (size - 1), -np.inf, dtype=np.longdouble)
    found[places(counts)] = values
    return found


def places(counts: Ints) -> tuple[Ints, ...]:
    """Where the histograms stand in such an array."""
    return tuple(counts[:, :-1].T)


@dataclass(frozen=True, eq=False)
class Convolution:
    """The weights of histograms of several groups together, as a tree of halves."""

    weights: Table
    left: Convolution | None = None
    right: Convolution | None = None

    def leaves_given(self, outside: Table) -> list[Table]:
        """The log weights that each group's histograms get from all others and from `outside`.

        outside: log weights of the histograms of all groups together. Each half is seen from
        outside through all ways in which the other can add to it. Cost: that of building the tree.
        """
        if self.left is None or self.right is None:
            return [outside]
        of_left = _correlated(outside, self.right.weights, self.left.weights.shape)
        of_right = _correlated(outside, self.left.weights, self.right.weights.shape)
        return self.left.leaves_given(of_left) + self.right.leaves_given(of_right)


def convolution(weights: Sequence[Table], maximise: bool = False) -> Convolution:
    """The weights of the histograms of groups together, given those of each."""
    if len(weights) == 1:
        return Convolution(weights[0])
    half = len(weights) // 2
    left, right = convolution(weights[:half], maximise), convolution(weights[half:], maximise)
    return Convolution(convolved(left.weights, right.weights, maximise), left, right)


def convolved(one: Table, other: Table, maximise: bool) -> Table:
    """log Σ (or max) over a + b = h of the product of two arrays of weights."""
    small, large = sorted((one, other), key=lambda each: each.size)
    wider: Table = np.full(
        [a + b - 1 for a, b in zip(small.shape, large.shape, strict=True)], -np.inf, np.longdouble
    )
    for place in np.argwhere(np.isfinite(small)).tolist():
        window = _window(place, large.shape)
        moved = large + small[tuple(place)]
        wider[window] = (
            np.maximum(wider[window], moved) if maximise else np.logaddexp(wider[window], moved)
        )
    return wider


def _correlated(outside: Table, other: Table, shape: tuple[int, ...]) -> Table:
    """log Σ_b outside[a + b] · other[b], for all a of an array of this shape."""
    if other.size <= int(np.prod(shape)):
        total: Table = np.full(shape, -np.inf, dtype=np.longdouble)
        for place in np.argwhere(np.isfinite(other)).tolist():
            seen = outside[_window(place, shape)]
            total = np.logaddexp(total, seen + other[tuple(place)])
        return total
    found: Table = np.empty(shape, dtype=np.longdouble)
    for at in np.ndindex(*shape):
        found[at] = log_sum(outside[_window(at, other.shape)] + other)
    return found


def _window(place: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """The part of an array that has this shape and begins at a place."""
    return tuple(slice(start, start + size) for start, size in zip(place, shape, strict=True))
