"""Imputers beside cohorts: two of scikit-learn on tables as numbers, and latent classes on counts.

An imputer is a function from a population with estimated tables to the tables of all individuals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from research.holes.noisy.population import EstimatedPopulation, normalised

Array = np.ndarray[Any, np.dtype[np.float64]]
Imputer = Callable[[EstimatedPopulation], list[Array]]
NEIGHBOURS = 10
CLASSES = (1, 2, 3, 4, 5, 6, 8, 10, 12)
RESTARTS, ROUNDS = 3, 100
SMALLEST = 1e-4  # probability that an imputed number stands for at least


def nearest_neighbours(subject: EstimatedPopulation) -> list[Array]:
    """The mean of the tables of those whose known tables are nearest."""
    from sklearn.impute import KNNImputer

    return _imputed(subject, KNNImputer(n_neighbors=NEIGHBOURS, weights="distance"))


def iterative(subject: EstimatedPopulation) -> list[Array]:
    """Each number of a table by regression on all the others, in turns."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return _imputed(subject, IterativeImputer(max_iter=20, random_state=0, tol=1e-2))


def _imputed(subject: EstimatedPopulation, imputer: Any) -> list[Array]:
    # the last number of a distribution follows from the others, and would give its gap away
    flat = [
        np.where(subject.known[:, place, None], each[..., :-1].reshape(len(each), -1), np.nan)
        for place, each in enumerate(subject.given)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        found = imputer.fit_transform(np.hstack(flat))
    ends = np.cumsum([each.shape[1] for each in flat])[:-1]
    return [
        _whole(own.reshape(*truth.shape[:2], -1))
        for own, truth in zip(np.split(found, ends, axis=1), subject.truth, strict=True)
    ]


def _whole(numbers: Array) -> Array:
    """Distributions from all but the last of their numbers."""
    last = 1 - numbers.sum(axis=-1, keepdims=True)
    return normalised(np.maximum(np.concatenate([numbers, last], axis=-1), SMALLEST))


def latent_classes(subject: EstimatedPopulation) -> list[Array]:
    """Latent class analysis by EM on the counts, as many classes as BIC prefers; holes filled."""
    counts = [
        each * subject.known[:, place, None, None] for place, each in enumerate(subject.counts)
    ]
    rng = np.random.default_rng(0)
    tries = [_fitted(counts, number, rng) for number in CLASSES for _ in range(RESTARTS)]
    _, posterior, tables = min(tries, key=lambda each: each[0])
    return [
        np.where(subject.known[:, place, None, None], own, np.tensordot(posterior, table, (1, 0)))
        for place, (own, table) in enumerate(zip(subject.given, tables, strict=True))
    ]


def _fitted(
    counts: Sequence[Array], number: int, rng: np.random.Generator
) -> tuple[float, Array, list[Array]]:
    """BIC, who belongs where, and the tables of each class."""
    people = len(counts[0])
    posterior = rng.dirichlet(np.ones(number) / 2, people)
    for _ in range(ROUNDS):
        shares = (posterior.sum(axis=0) + 1) / (people + number)
        tables = [normalised(np.tensordot(posterior, each, (0, 0)) + 0.5) for each in counts]
        logs = np.log(shares) + sum(
            np.tensordot(each, np.log(table), ((1, 2), (1, 2)))
            for each, table in zip(counts, tables, strict=True)
        )
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        posterior = weights / weights.sum(axis=1, keepdims=True)
    likelihood = float((top[:, 0] + np.log(weights.sum(axis=1))).sum())
    free = sum(table[0].shape[0] * (table[0].shape[1] - 1) for table in tables)
    return (number * (free + 1) - 1) * np.log(people) - 2 * likelihood, posterior, tables


IMPUTERS: dict[str, Imputer] = {
    "nearest neighbours": nearest_neighbours,
    "iterative": iterative,
    "latent classes": latent_classes,
}
