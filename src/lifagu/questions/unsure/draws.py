"""Combinations drawn by share, and what their answers say: means with errors, ends, quantiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.questions.unsure.choice_weights import impossible

SEED = 0
MOST_DRAWS, FEWEST_DRAWS = 1000, 100
EFFORT = 2_000_000  # factors in all draws up to which there are more than the fewest
INTERVAL = (0.05, 0.95)  # quantiles that bounds are where models are drawn, …
MODELS = 200  # … and how many of them are


def usual_draws(factors: int) -> int:
    """How many combinations are drawn from a model with so many factors.

    >>> usual_draws(100), usual_draws(10_000), usual_draws(10**6)
    (1000, 200, 100)
    """
    return min(MOST_DRAWS, max(FEWEST_DRAWS, EFFORT // max(factors, 1)))


def strata(count: int, rng: np.random.Generator) -> Floats:
    """So many numbers evenly spread over (0, 1), in random order.

    >>> sorted(strata(4, np.random.default_rng(0)).tolist())
    [0.125, 0.375, 0.625, 0.875]
    """
    return (rng.permutation(count) + 0.5) / count


def drawn_places(shares: Floats, number: int, count: int, seed: int) -> Ints:
    """Which alternative a class takes in each of so many draws.

    number: of the class; each has a generator of its own, so that what else is asked for does not
    matter. Alternatives come as often as their shares say, up to one draw.
    """
    spread = strata(count, np.random.default_rng((seed, number)))
    until = np.cumsum(shares[:-1]) / shares.sum()
    return np.searchsorted(until, spread, side="right")


class Estimate(NamedTuple):
    """A mean over weighted draws, its standard error, and how many draws of equal weight count."""

    mean: Floats
    error: Floats
    effective: float


def estimated(answers: Floats, log_weights: Floats) -> Estimate:
    """The weighted mean of answers (draws × numbers), self-normalised, by the delta method.

    Draws in strata are at least as good as independent ones, so the error is rather too large.
    """
    most = log_weights.max(initial=-np.inf)
    if not np.isfinite(most):
        raise impossible()
    weights = np.exp(log_weights - most)
    weights = weights / weights.sum()
    used = weights > 0
    weights, answers = weights[used], answers[used].astype(np.float64)
    mean = weights @ answers
    squares = weights**2
    spread = squares @ (answers - mean) ** 2
    effective = float(1 / squares.sum())
    # of n draws of equal weight the spread has n - 1 degrees of freedom
    error = np.sqrt(spread * effective / max(effective - 1, 1e-9)) if effective > 1 else spread + 1
    return Estimate(mean, np.minimum(error, 1.0), effective)
