"""The paper's experiment in numbers: one line per generator and d."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from research.campaign import Line, Outcome
from research.drafts import Floats

ROUNDING = 1e-15


def summarised(outcomes: Sequence[Outcome]) -> list[Line]:
    """One line per generator and d, in the order of the outcomes."""
    groups: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.cell.group, outcome.cell.size), []).append(outcome)
    return [_line(generator, d, group) for (generator, d), group in groups.items()]


def _line(generator: str, d: int, outcomes: Sequence[Outcome]) -> Line:
    rows = [row for outcome in outcomes for row in outcome.rows]
    divergences = column(rows, "kl")
    touched = [row for row in rows if row["touched"]]
    unknown = int(total(outcomes, "unknown"))
    return {
        "generator": generator,
        "d": d,
        "ground_truths": len(outcomes),
        "queries": len(rows),
        "kl_mean": mean(divergences),
        "kl_deviation": deviation(divergences),
        "kl_maximum": float(divergences.max()),
        "kl_infinite": int(np.isinf(divergences).sum()),
        "kl_mean_touched": mean(column(touched, "kl")),
        "kl_mean_random_donor": mean(column(rows, "kl_random_donor")),
        "kl_mean_ones": mean(column(rows, "kl_ones")),
        "unknown": unknown,
        "right_share": total(outcomes, "right") / unknown if unknown else None,
        "variable_groups": total(outcomes, "variable_groups") / len(outcomes),
        "factor_groups": total(outcomes, "factor_groups") / len(outcomes),
        "largest_group": max(outcome.facts["largest_group"] for outcome in outcomes),
        "seconds_ground": mean(column(rows, "seconds_ground")),
        "seconds_lifted": mean(column(rows, "seconds_lifted")),
        "seconds_transfer": total(outcomes, "seconds_transfer") / len(outcomes),
        "seconds_lift": total(outcomes, "seconds_lift") / len(outcomes),
    }


def column(rows: Sequence[Line], name: str) -> Floats:
    """The numbers of a column, those that are missing left out."""
    return np.array([row[name] for row in rows if row[name] is not None], dtype=np.float64)


def mean(values: Floats) -> float | None:
    """The mean of the finite values, None without any."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None


def deviation(values: Floats) -> float | None:
    """The standard deviation of the finite values, None without any."""
    finite = values[np.isfinite(values)]
    return float(finite.std()) if len(finite) else None


def total(outcomes: Sequence[Outcome], fact: str) -> float:
    """The sum of a fact over cells."""
    return float(sum(outcome.facts[fact] for outcome in outcomes))


def trend(outcomes: Sequence[Outcome], measure: str) -> float:
    """How a ground truth's mean divergence or deviation moves with log d: slope over its error.

    Beyond about 2 in size it is not chance. 0 where there is nothing to see: one d alone, or no
    variation at all.
    """
    of = {"mean": mean, "deviation": deviation}[measure]
    pairs = [(np.log2(each.cell.size), of(column(each.rows, "kl"))) for each in outcomes]
    there = [pair for pair in pairs if pair[1] is not None]
    x, y = np.array(there, dtype=np.float64).reshape(-1, 2).T
    if len(y) < 3 or not np.ptp(x) or np.ptp(y) < ROUNDING:
        return 0.0
    x = x - x.mean()
    slope = (x @ y) / (x @ x)
    left = y - y.mean() - slope * x
    error = np.sqrt((left @ left) / (len(y) - 2) / (x @ x))
    return float(slope / error) if error else float(np.sign(slope)) * np.inf


def exponent(lines: Sequence[Line], name: str) -> float | None:
    """The slope of log seconds over log d in the upper half (1: linear); None for one d alone."""
    upper = lines[len(lines) // 2 :] if len(lines) > 3 else lines
    if len(upper) < 2:
        return None
    x, y = (
        np.log(np.array([line[each] for line in upper], dtype=np.float64)) for each in ("d", name)
    )
    return float(np.polyfit(x, y, 1)[0])


def faster_from(lines: Sequence[Line]) -> int | None:
    """The smallest d from which lifted inference is faster for all larger d, None if none."""
    found = None
    for line in reversed(lines):
        if line["seconds_lifted"] >= line["seconds_ground"]:
            break
        found = line["d"]
    return found
