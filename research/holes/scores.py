"""How good a filling is: right tables, divergence, calibration, coverage of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.campaign import Line
from research.divergence import divergence
from research.drafts import FilledTables, Floats
from research.holes.hospital import DrawnHospital

BINS = 10
ROUNDING = 1e-9
# how far two noisy versions of a table may be apart; different tables are much further
NOISY = 0.25


def right(hospital: DrawnHospital, filling: FilledTables) -> NDArray[np.bool_]:
    """Whether each unknown factor got its true table, up to a factor (and noise, if noisy)."""
    tolerance = NOISY if hospital.scenario.noise else ROUNDING
    found = []
    for factor in hospital.hidden:
        table, truth = filling[factor], hospital.draft.factors[factor].table
        if table is None:
            found.append(False)
            continue
        ratio = (table / table.sum()) / (truth / truth.sum())
        found.append(bool(np.abs(np.log(ratio)).max() <= tolerance))
    return np.array(found)


def divergences(truth: Floats, answer: Floats) -> dict[str, Any]:
    """Mean and largest divergence, and how many are infinite (left out of the mean)."""
    each = divergence(truth, answer)
    finite = each[np.isfinite(each)]
    return {
        "kl_mean": float(finite.mean()) if len(finite) else None,
        "kl_maximum": float(each.max()),
        "kl_infinite": int(np.isinf(each).sum()),
    }


def right_shares(was_right: NDArray[np.bool_], identifiable: NDArray[np.bool_]) -> dict[str, Any]:
    """Share of right tables, also among those that the oracle is sure of."""
    return {
        "right": float(was_right.mean()),
        "right_identifiable": float(was_right[identifiable].mean()) if identifiable.any() else None,
    }


def calibration(confidence: Floats, was_right: NDArray[np.bool_]) -> dict[str, Any]:
    """Brier score of the stated confidence, its distance from the truth by bins, and the bins.

    bins: for each tenth of confidence how many, the sum of their confidence, and how many were
    right. A factor that stays unknown states no confidence and is left out.
    """
    stated = np.isfinite(confidence)
    sure, correct = confidence[stated], was_right[stated].astype(np.float64)
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    counts, sums, hits = (
        np.bincount(bins, weights, minlength=BINS).astype(np.float64)
        for weights in (np.ones(len(sure)), sure, correct)
    )
    return {
        "brier": float(((sure - correct) ** 2).mean()) if len(sure) else None,
        "miscalibration": miscalibration(counts, sums, hits),
        "bins": [counts.tolist(), sums.tolist(), hits.tolist()],
    }


def taken_bins(rows: Sequence[Line]) -> dict[str, list[list[float]]]:
    """The bins of all rows that have some, taken out of them, by what stated the confidence."""
    found = {}
    for row in rows:
        if bins := row.pop("bins", None):
            found[stating(row["method"], row["answers"])] = bins
    return found


def stating(method: str, answers: str) -> str:
    """What states a confidence: a method before evidence, or its posterior after it."""
    return f"{method} posterior" if answers == "posterior" else method


def miscalibration(counts: Floats, sums: Floats, hits: Floats) -> float | None:
    """Mean distance between confidence and share of right tables (expected calibration error)."""
    return float(np.abs(sums - hits).sum() / counts.sum()) if counts.sum() else None


def covered(truth: Floats, lower: Floats, upper: Floats) -> dict[str, Any]:
    """Share of marginals inside their bounds, their width, and how far outside, on average."""
    beyond = np.maximum(lower - truth, truth - upper).max(axis=1)
    return {
        "coverage": float((beyond <= ROUNDING).mean()),
        "width": float((upper - lower).max(axis=1).mean()),
        "outside": float(np.maximum(beyond, 0).mean()),
    }
