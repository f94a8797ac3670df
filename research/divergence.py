"""The Kullback–Leibler divergence of an answer from the truth."""

from __future__ import annotations

import numpy as np

from research.drafts import Floats


def divergence(truth: Floats, answer: Floats) -> Floats:
    """KL(truth ‖ answer) = Σ p ln(p / q) in nats, over the last axis: p true, q answered.

    0 ln 0 = 0, so a value that is impossible in truth costs nothing; infinite iff the answer rules
    out a value that is possible. As both sum to 1, the sum is taken of p ln(p / q) − p + q instead,
    whose terms are never negative and lose no digits where p and q nearly agree: equal
    distributions have divergence 0, not some rounding error.

    >>> float(divergence(np.array([0.5, 0.5]), np.array([0.5, 0.5])))
    0.0
    >>> round(float(divergence(np.array([1.0, 0.0]), np.array([0.25, 0.75]))), 6)  # ln 4
    1.386294
    >>> float(divergence(np.array([0.25, 0.75]), np.array([1.0, 0.0])))
    inf
    """
    possible = (truth > 0) & (answer > 0)
    p, q = np.where(possible, truth, 1.0), np.where(possible, answer, 1.0)
    near = np.abs(p - q) <= q / 2
    log_ratio = np.where(near, np.log1p(np.where(near, p - q, 0.0) / q), np.log(p) - np.log(q))
    terms = np.where(possible, p * log_ratio - (p - q), answer)
    terms = np.where((truth > 0) & (answer <= 0), np.inf, terms)
    total: Floats = np.maximum(terms.sum(axis=-1), 0.0)
    return total
