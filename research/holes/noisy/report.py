"""The suite of estimated tables on a page: the goals, and the tables behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from research.campaign import Line, Outcome
from research.holes.goals import (
    CONTROL,
    ENOUGH_RECORDS,
    NEGLIGIBLE,
    NOISY_MEAN,
    beside_oracle,
    confidence_goal,
    coverage_goal,
    no_worse_goal,
    ratio_goal,
    verdict,
)
from research.holes.noisy.fillings import NOISY_METHODS
from research.holes.noisy.scenarios import NOISY
from research.holes.noisy.summary import ASKED, ORACLE, NoisyLines, by_way
from research.holes.scores import stating
from research.markdown import number, percent, table
from research.results import Finding

OURS = "cohorts"
DEFAULT = ("auto", "posterior")
TITLES = {
    "kl_tables": "Divergence of filled tables",
    "kl_new": "The same, new individuals with one or two known tables",
    "kl_known": "Divergence of known tables, as they were estimated or cleaned",
    "kl_marginals": "Divergence of all single marginals",
    "kl_marginals_30": "Divergence of single marginals, 30 % of the variables observed",
    "kl_marginals_70": "Divergence of single marginals, 70 % of the variables observed",
}


# ---- goals


def noisy_goals(lines: Sequence[Line], calibration: Sequence[Line]) -> list[Finding]:
    """What cohorts and the default should reach, and whether they do."""
    of = by_way(lines)
    ways = [(OURS, "mean"), (OURS, "mixture"), (OURS, "posterior"), DEFAULT]
    plenty = [name for name in _scenarios(of) if NOISY[name].records >= ENOUGH_RECORDS]
    few = [name for name in _scenarios(of) if name not in plenty]
    least = f"from {ENOUGH_RECORDS} records on"
    stated = {
        name: confidence_goal(line for line in calibration if line["method"] == name)
        for name in (OURS, stating(*DEFAULT))
    }
    return [
        *(_ratios(of, plenty, ways, name, least) for name in ("kl_tables", *ASKED)),
        Finding(
            "estimated tables: posterior as good as the mean of cohorts",
            None,
            {TITLES[name].lower(): _no_worse(of, name) for name in ASKED},
        ),
        Finding(
            f"estimated tables: within {100 * (CONTROL - 1):.0f} % of pooling where there is no "
            "structure",
            None,
            {" ".join(way): _controls(of, way) for way in ways},
        ),
        Finding("estimated tables: stated confidence", None, stated),
        Finding(f"90 % intervals {least}", None, _intervals(of, plenty)),
        Finding("90 % intervals with fewer records", None, _intervals(of, few, enough=False)),
    ]


def _ratios(
    of: NoisyLines, scenarios: Sequence[str], ways: Sequence[tuple[str, str]], name: str, least: str
) -> Finding:
    best = {scenario: of[scenario, *ORACLE][name] for scenario in scenarios}
    found = {}
    for way in ways:
        own = {each: of[each, *way][name] for each in scenarios if (each, *way) in of}
        found[" ".join(way)] = ratio_goal(beside_oracle(own, best), NOISY_MEAN)
    statement = f"{TITLES[name].lower()}: at most {NOISY_MEAN} of the oracle's {least}"
    return Finding(statement, None, found)


def _no_worse(of: NoisyLines, name: str) -> str:
    """Whether the default is as good as the mean of cohorts everywhere."""
    own, other = (
        {scenario: of[scenario, *way][name] for scenario in _scenarios(of)}
        for way in (DEFAULT, (OURS, "mean"))
    )
    return no_worse_goal(own, other)


def _controls(of: NoisyLines, way: tuple[str, str]) -> str:
    found, reached = [], True
    for scenario in _scenarios(of):
        if not NOISY[scenario].control or (scenario, *way) not in of:
            continue
        for name in ("kl_tables", "kl_marginals"):
            own, pool = of[scenario, *way][name], of[scenario, "pooled", "mean"][name]
            reached &= own <= max(CONTROL * pool, pool + (pool < NEGLIGIBLE) * NEGLIGIBLE)
            found.append(f"{scenario} {name.removeprefix('kl_')} {number(own / pool, 3)}")
    return f"{verdict(reached)}: {', '.join(found)}" if found else "–: no control was run"


def _intervals(of: NoisyLines, scenarios: Sequence[str], enough: bool = True) -> dict[str, str]:
    lines = [of[scenario, OURS, "mixture"] for scenario in scenarios]
    return {
        f"of {what}s": coverage_goal(
            [
                (line["scenario"], line[f"{what}_intervals"], line[f"{what}_coverage"] or 0.0)
                for line in lines
            ],
            enough,
        )
        for what in ("table", "marginal")
    }


# ---- the page


def noisy_report(
    lines: Sequence[Line], calibration: Sequence[Line], outcomes: Sequence[Outcome]
) -> str:
    """Tables by scenario and way to fill."""
    of = by_way(lines)
    people = " and ".join(map(str, sorted({each.cell.size for each in outcomes})))
    seeds = len({outcome.cell.seed for outcome in outcomes})
    parts = [
        "# Filling holes among estimated tables",
        f"Populations of {people} individuals and new ones, {seeds} seeds each; seven tables per "
        "individual, each estimated from records. KL(truth ‖ answer) in thousandths of a nat; "
        "means over seeds, in brackets over the oracle's.",
    ]
    for name, title in TITLES.items():
        parts += [f"## {title}", _table(of, partial(_divergence, name))]
    parts += [
        "## 90 % intervals: share of tables' numbers inside / width; of marginals",
        _table(of, _coverage, [way for way in _ways(of) if way[1] == "mixture"]),
        "## Stated confidence in a table, and how often it is the right one",
        table(BINS, [_bin(line) for line in calibration]),
        NOTES,
        table(["scenario", "what it is"], [[name, NOISY[name].summary] for name in _scenarios(of)]),
        table(["way", "what it is"], [[name, way.summary] for name, way in NOISY_METHODS.items()]),
    ]
    return "\n\n".join(parts) + "\n"


BINS = ("way", "stated", "right", "tables", "standard error")
NOTES = """\
### How to read it

- *uniform* fills with uniform tables, *pooled* with the frequencies of all records of the place;
  both leave known tables as they were estimated. The *oracle* knows cohorts, tables and variation,
  but not who belongs where; its *mean* has its posterior mean tables in one model, its *mixture*
  averages over cohorts and tables exactly, which is what others are compared with.
- *cohorts-kept*: the same with known tables as they were estimated (`keep_known`).
- *mixture* of cohorts averages over drawn completions, which observations then weigh.
- *posterior* sums cohorts and tables out in the engine, so that observations weigh them exactly;
  *auto posterior* is what everybody gets by default, here the same. Its tables are those of the
  mean; its confidence in a table is that with 70 % of the variables observed.
- A table is right if the true table nearest to it is the individual's. Where there is one table
  per place, or a continuum of them, nothing is counted.
- Intervals go from the 5 % to the 95 % quantile of drawn tables, and of the marginals with these.
  The oracle's may cover more than 90 %: where it knows the tables, few numbers are possible."""


def _scenarios(of: NoisyLines) -> list[str]:
    return list(dict.fromkeys(scenario for scenario, _, _ in of))


def _ways(of: NoisyLines) -> list[tuple[str, str]]:
    return list(dict.fromkeys((method, answers) for _, method, answers in of))


def _table(
    of: NoisyLines, shown: Callable[[Line], str], ways: Sequence[tuple[str, str]] | None = None
) -> str:
    ways = _ways(of) if ways is None else ways
    rows = [
        [scenario, *(shown(of[key]) if (key := (scenario, *way)) in of else "–" for way in ways)]
        for scenario in _scenarios(of)
    ]
    return table(["scenario", *(" ".join(way) for way in ways)], rows)


def _divergence(name: str, line: Line) -> str:
    ratio = line.get(name.replace("kl", "ratio"))
    beside = f" ({number(ratio, 3)})" if ratio is not None and ratio < 1000 else ""
    return number(1000 * line[name], 3) + beside


def _coverage(line: Line) -> str:
    return "; ".join(
        f"{percent(line[f'{what}_coverage'])} / {number(line[f'{what}_width'])}"
        for what in ("table", "marginal")
    )


def _bin(line: Line) -> list[str]:
    return [
        line["method"],
        number(line["confidence"], 3),
        number(line["right"], 3),
        str(line["factors"]),
        number(line["error"]),
    ]
