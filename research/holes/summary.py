"""The suite in numbers: by scenario, method and way to answer, and each method's calibration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from research.campaign import Line, Outcome
from research.drafts import Floats
from research.holes.scores import BINS

MEANS = (
    *("right", "right_identifiable", "kl_mean", "brier", "miscalibration"),
    *("coverage", "width", "outside", "log10_completions"),
)


def summarised(outcomes: Sequence[Outcome]) -> list[Line]:
    """One line per scenario, method and answer: means over seeds, the largest of the largest."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            groups.setdefault((outcome.cell.group, row["method"], row["answers"]), []).append(row)
    return [_line(*key, rows) for key, rows in groups.items()]


def _line(scenario: str, method: str, answers: str, rows: Sequence[Line]) -> Line:
    largest = [row["kl_maximum"] for row in rows if row["kl_maximum"] is not None]
    return {
        "scenario": scenario,
        "method": method,
        "answers": answers,
        "hospitals": len(rows),
        **{name: _mean([row[name] for row in rows]) for name in MEANS},
        "kl_maximum": max(largest, default=None),
        "kl_infinite": sum(row["kl_infinite"] or 0 for row in rows),
        "left": sum(row["left"] or 0 for row in rows),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def calibrations(outcomes: Sequence[Outcome]) -> list[Line]:
    """One line per method and tenth of stated confidence that occurs, over all scenarios.

    error: the standard error of the share of right tables, if the confidence is what it should be.
    """
    return [
        {
            "method": method,
            "from": bin / BINS,
            "to": (bin + 1) / BINS,
            "factors": int(counts[bin]),
            "confidence": stated,
            "right": float(hits[bin] / counts[bin]),
            "error": float(np.sqrt(stated * (1 - stated) / counts[bin])),
        }
        for method, (counts, sums, hits) in _bins(outcomes).items()
        for bin in range(BINS)
        if counts[bin]
        for stated in [float(sums[bin] / counts[bin])]
    ]


def _bins(outcomes: Sequence[Outcome]) -> dict[str, Floats]:
    """For each method the bins of its calibration added up: counts, confidence, right × bins."""
    total: dict[str, Floats] = {}
    for outcome in outcomes:
        for method, bins in outcome.facts["bins"].items():
            total[method] = total.get(method, np.zeros((3, BINS))) + np.array(bins)
    return total
