"""What cohorts mean, by sums over every cohort and every table, one product after the other.

A cohort k has a share prior[k]; in a place it chooses table b by choices[k][b]; the table lists
for each given combination the probability of each entry; records (G lists of counts) are drawn
from it. Nothing of lifagu is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, prod

import numpy as np

Counted = Sequence[Sequence[float]]  # for each given combination the count of each entry
Table = Sequence[Sequence[float]]


def urn_log_evidence(counts: Sequence[int], prior: Sequence[float]) -> float:
    """Log probability of a sequence with these counts, one draw after the other (Pólya's urn)."""
    urn, total = list(prior), 0.0
    for entry, many in enumerate(counts):
        for _ in range(many):
            total += log(urn[entry] / sum(urn))
            urn[entry] += 1
    return total


def likelihood(counted: Counted, table: Table) -> float:
    """Of records, in one order, under a table."""
    return prod(
        share**many
        for counts, shares in zip(counted, table, strict=True)
        for many, share in zip(counts, shares, strict=True)
    )


def discounted(counted: Counted, spread: float) -> list[list[float]]:
    """Counts that tell as much about a cohort as records of individuals who vary around it."""
    return [[many * (1 + spread) / (sum(counts) + spread) for many in counts] for counts in counted]


def under_cohort(counted: Counted, choices: Sequence[float], tables: Sequence[Table]) -> float:
    """Of records if somebody belongs to a cohort that chooses tables like this."""
    return sum(
        choice * likelihood(counted, table) for choice, table in zip(choices, tables, strict=True)
    )


def belonging(prior: Sequence[float], likelihoods: Sequence[Sequence[float]]) -> list[float]:
    """How likely each cohort is; likelihoods: of everything somebody shows, under each cohort."""
    weights = [
        share * prod(each[cohort] for each in likelihoods) for cohort, share in enumerate(prior)
    ]
    return [weight / sum(weights) for weight in weights]


def table_of_hole(cohorts: Sequence[float], choices: Sequence[Sequence[float]]) -> list[float]:
    """How likely each table is where nothing was shown."""
    return [
        sum(cohort * own[table] for cohort, own in zip(cohorts, choices, strict=True))
        for table in range(len(choices[0]))
    ]


def table_behind(
    prior: Sequence[float],
    others: Sequence[Sequence[float]],
    counted: Counted,
    choices: Sequence[Sequence[float]],
    tables: Sequence[Table],
) -> list[float]:
    """How likely each table is behind records; others: likelihoods of all else that is shown."""
    weights = [
        sum(
            share * prod(each[cohort] for each in others) * choices[cohort][number]
            for cohort, share in enumerate(prior)
        )
        * likelihood(counted, table)
        for number, table in enumerate(tables)
    ]
    return [weight / sum(weights) for weight in weights]


def varied(
    raw: Counted, which: Sequence[float], tables: Sequence[Table], spread: float
) -> np.ndarray:
    """The expected table behind records that vary around one of these tables."""
    around = sum(share * np.array(table) for share, table in zip(which, tables, strict=True))
    rows = np.array(raw) + spread * around
    return rows / rows.sum(axis=1, keepdims=True)
