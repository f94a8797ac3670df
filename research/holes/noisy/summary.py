"""The suite of estimated tables in numbers: by scenario, method and way to answer."""

from __future__ import annotations

from collections.abc import Sequence

from research.campaign import Line, Outcome
from research.holes.noisy.scenarios import NOISY

DIVERGENCES = ("kl_tables", "kl_new", "kl_known")
ASKED = ("kl_marginals", "kl_marginals_30", "kl_marginals_70")
OTHERS = ("right", "brier", "miscalibration", "table_width", "marginal_width")
ORACLE = ("oracle", "mixture")
NoisyLines = dict[tuple[str, str, str], Line]


def by_way(lines: Sequence[Line]) -> NoisyLines:
    """The lines by scenario, method and way to answer."""
    return {(line["scenario"], line["method"], line["answers"]): line for line in lines}


def noisy_summary(outcomes: Sequence[Outcome]) -> list[Line]:
    """One line per scenario, method and answer: means over seeds, and ratios to the oracle's."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            groups.setdefault((outcome.cell.group, row["method"], row["answers"]), []).append(row)
    lines = {key: _line(*key, rows) for key, rows in groups.items()}
    for (scenario, _, _), line in lines.items():
        best = lines[scenario, *ORACLE]
        for name in ("kl_tables", *ASKED):
            ratio = line[name] / best[name] if best[name] else None
            line[name.replace("kl", "ratio")] = ratio
    return list(lines.values())


def _line(scenario: str, method: str, answers: str, rows: Sequence[Line]) -> Line:
    return {
        "scenario": scenario,
        "records": NOISY[scenario].records,
        "method": method,
        "answers": answers,
        "populations": len(rows),
        **{name: _mean(rows, name) for name in (*DIVERGENCES, *ASKED, *OTHERS)},
        **_coverage("table", rows),
        **_coverage("marginal", rows),
    }


def _mean(rows: Sequence[Line], name: str) -> float | None:
    there = [row[name] for row in rows if row[name] is not None]
    return sum(there) / len(there) if there else None


def _coverage(what: str, rows: Sequence[Line]) -> Line:
    """All intervals count alike."""
    many = sum(row[f"{what}_intervals"] or 0 for row in rows)
    inside = sum((row[f"{what}_intervals"] or 0) * (row[f"{what}_coverage"] or 0) for row in rows)
    return {f"{what}_intervals": many, f"{what}_coverage": inside / many if many else None}
