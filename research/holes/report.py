"""The suite on one page: each way over the oracle, and the divergences behind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from research.harness import Line, Outcome, mean, number, percent, table
from research.holes.estimated.runs import DIVERGENCES
from research.holes.estimated.scenarios import NOISY
from research.holes.scenarios import SCENARIOS

NEGLIGIBLE = 1e-4  # divergences below it have no ratio worth looking at; differences count
LEAST = 0.1  # a divergence of 0 would decide a geometric mean alone
ORACLE = ("oracle", "average")
Way = tuple[str, str]
Lines = dict[tuple[str, str, str], Line]
TITLES = {
    "kl": "exact tables, all unobserved marginals",
    "kl_tables": "estimated tables, filled tables",
    "kl_new": "the same, of new individuals with one or two known tables",
    "kl_known": "estimated tables, known tables as estimated or cleaned",
    "kl_marginals": "estimated tables, all marginals",
    "kl_marginals_30": "the same, 30 % of the variables observed",
    "kl_marginals_70": "the same, 70 % of the variables observed",
}
NOTES = """\
## How to read it

- *dropped* leaves unknown factors out; *random donor* takes any known table of the kind, *mean of
  kind* (estimated: *pooled*) the mean of them all. *share* and *profiles* are baselines of ours
  (`baselines.py`); *lifagu* is the paper to the letter, *extended* its extension for individuals,
  *auto* the default. The *oracle* knows how everything was drawn, but not who belongs where.
- *one*: the likeliest table in each hole; *mean*: the weighted mean table; *average*: answers
  averaged over what the holes may be, so that what was observed counts. A factor that a way leaves
  unknown counts as dropped.
- *over the oracle*: the geometric mean over scenarios, ratios counting as a tenth at least.
- *off*: how far the stated confidence is from the share of right tables, over tenths.
- Scenarios of equal seed share their tables: compare them, but they are not independent."""


def summary(outcomes: Sequence[Outcome]) -> list[Line]:
    """One line per scenario and way: means over seeds, the largest of the largest."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            groups.setdefault((outcome.cell.group, row["method"], row["answers"]), []).append(row)
    return [
        dict(zip(("scenario", "method", "answers"), key, strict=True))
        | {
            name: (max if name == "kl_maximum" else mean)(row[name] for row in rows)
            for name in rows[0]
            if name not in ("method", "answers")
        }
        for key, rows in groups.items()
    ]


def page(lines: Sequence[Line], sizes: str) -> str:
    """Everything that was run."""
    parts = ["# Filling holes: every way side by side", f"KL(truth ‖ answer) in nats. {sizes}"]
    exact = _by_way([line for line in lines if line["scenario"] in SCENARIOS])
    noisy = _by_way([line for line in lines if line["scenario"] in NOISY])
    if exact:
        parts += [
            "## Exact tables: over all scenarios",
            table(OVERALL, [_overall(exact, way) for way in _ways(exact)]),
            "## Exact tables: mean divergence in thousandths",
            _table(exact, "kl"),
        ]
    if noisy:
        parts.append("## Estimated tables: over all scenarios, over the oracle's divergence")
        rows = [
            [" ".join(way), *(_beside(noisy, way, name) for name in DIVERGENCES)]
            for way in _ways(noisy)
        ]
        parts.append(table(["way", *(TITLES[name] for name in DIVERGENCES)], rows))
        for name in ("kl_tables", "kl_marginals", "kl_marginals_70"):
            parts += [f"## In thousandths: {TITLES[name]}", _table(noisy, name)]
    summaries = {**SCENARIOS, **NOISY}
    named = dict.fromkeys(line["scenario"] for line in lines)
    parts += [
        NOTES,
        table(["scenario", "what"], [[each, summaries[each].summary] for each in named]),
    ]
    return "\n\n".join(parts) + "\n"


def over_oracle(own: Mapping[str, float], oracle: Mapping[str, float]) -> tuple[str, str]:
    """The geometric mean of divergences over the oracle's, and the worst scenario.

    Where the oracle's vanish, nothing is said.

    >>> over_oracle({"a": 0.2, "b": 0.05, "c": 3e-5}, {"a": 0.1, "b": 0.1, "c": 0.0})
    ('1', '2 (a)')
    """
    ratios = {name: own[name] / oracle[name] for name in own if oracle[name] >= NEGLIGIBLE}
    if not ratios:
        return "–", "–"
    logs = [math.log(max(each, LEAST)) for each in ratios.values()]
    worst = max(ratios, key=ratios.__getitem__)
    return number(math.exp(sum(logs) / len(logs)), 3), f"{number(ratios[worst], 3)} ({worst})"


OVERALL = (
    *("way", "over the oracle", "worst scenario", "mean KL", "largest KL"),
    *("right tables", "right if sure", "off", "left unknown"),
)


def _overall(of: Lines, way: Way) -> list[str]:
    lines = [line for (_, *own), line in of.items() if tuple(own) == way]
    each = {
        name: mean(line[name] for line in lines) for name in ("kl", "right", "right_sure", "off")
    }
    return [
        " ".join(way),
        *over_oracle(_divergences(of, way, "kl"), _divergences(of, ORACLE, "kl")),
        number(each["kl"]),
        number(max(line["kl_maximum"] for line in lines)),
        *(percent(each[name]) for name in ("right", "right_sure", "off")),
        number(mean(line["left"] for line in lines)),
    ]


def _beside(of: Lines, way: Way, name: str) -> str:
    middle, worst = over_oracle(_divergences(of, way, name), _divergences(of, ORACLE, name))
    return f"{middle}; {worst}"


def _divergences(of: Lines, way: Way, name: str) -> dict[str, float]:
    return {scenario: line[name] for (scenario, *own), line in of.items() if tuple(own) == way}


def _by_way(lines: Sequence[Line]) -> Lines:
    return {(line["scenario"], line["method"], line["answers"]): line for line in lines}


def _ways(of: Lines) -> list[Way]:
    return list(dict.fromkeys((method, answers) for _, method, answers in of))


def _table(of: Lines, name: str) -> str:
    ways = _ways(of)
    rows = [
        [scenario, *(number(1000 * of[scenario, *way][name]) for way in ways)]
        for scenario in dict.fromkeys(scenario for scenario, *_ in of)
    ]
    return table(["scenario", *(" ".join(way) for way in ways)], rows)
