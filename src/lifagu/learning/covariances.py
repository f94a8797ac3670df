"""How the labels' deviations go together from group to group, told by all groups.

A generous student gives more fives and fewer ones: deviations of labels are correlated, and a group
with few records is told better by whoever knows that. Deviations of a level are normal around 0
with one covariance Σ for all of its groups, of any form. Σ is what makes the groups most probable,
each taken to be normal around its most probable deviation, by steps that cannot make them less so
(Zhou, Hu, Zhou and Lange, 2019). One more group, whose labels are independent, is believed in, so
that Σ is near a multiple of the identity where little is known.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats, Ints

GROUPS = 2000  # at most so many are looked at
STEPS = 20
EIGENVALUES = 0.002, 10.0  # of a covariance


def telling(counts: Floats) -> Ints:
    """Groups that tell how labels go together: none if these are small, or few.

    Groups have to have as many records as labels on average, and there have to be as many groups:
    what is not known of smaller ones is far from normal, and would be taken for a covariance.
    """
    records, labels = counts.sum(axis=1), counts.shape[1]
    found = np.flatnonzero(records > 0)
    if len(found) < labels or records[found].mean() < labels - 0.5:
        return found[:0]
    return found[:: -(-len(found) // GROUPS)]


def covariance(deviations: Floats, counts: Floats, slopes: Floats, before: Floats) -> Floats:
    """The covariance of deviations, labels × labels, found from the one before.

    deviations: groups × labels; counts: how often each label is then expected in each group;
    slopes: and how much more often than it was seen. The most probable deviations are a Newton step
    of each group away, so that those given need not be.
    """
    found, size, one = before, len(before), np.eye(len(before))
    bends = _bends(counts)
    pulls = np.einsum("gij,gj->gi", bends, deviations) - slopes
    for _ in range(STEPS):
        precision, usual = _inverse(found), np.exp(np.linalg.slogdet(found)[1] / size)
        left = np.linalg.inv(bends + precision)
        likely = np.einsum("gij,gj->gi", left, pulls)
        decided = len(counts) * precision - precision @ left.sum(axis=0) @ precision
        squares = np.einsum("gi,gj->ij", likely, likely)
        found = _between(decided + one / usual, squares + one * usual)
    return found


def square_root(matrix: Floats) -> Floats:
    """The symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _between(decided: Floats, squares: Floats) -> Floats:
    """The covariance Σ with Σ · decided · Σ = squares, its eigenvalues within bounds."""
    root = square_root(decided)
    back = _inverse(root)
    values, vectors = np.linalg.eigh(back @ square_root(root @ squares @ root) @ back)
    return np.asarray((vectors * np.clip(values, *EIGENVALUES)) @ vectors.T)


def _bends(counts: Floats) -> Floats:
    """How the loss bends in each group: as if its records were told alike."""
    outer = counts[:, :, None] * counts[:, None, :] / counts.sum(axis=1)[:, None, None]
    return np.asarray(counts[:, :, None] * np.eye(counts.shape[1]) - outer)


def _inverse(matrix: Floats) -> Floats:
    found = np.linalg.inv(matrix)
    return np.asarray((found + found.T) / 2)
