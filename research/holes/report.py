"""The suite on one page: what can be said point by point, and the tables behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from research.campaign import Line, Outcome
from research.holes.goals import (
    EXACT_MEAN,
    EXACT_WORST,
    BesideOracle,
    beside_oracle,
    confidence_goal,
    no_worse_goal,
    ratio_goal,
)
from research.holes.methods import METHODS
from research.holes.scenarios import SCENARIOS
from research.holes.scores import stating
from research.markdown import number, percent, table
from research.results import Finding

MethodAnswer = tuple[str, str]
Lines = dict[tuple[str, str, str], Line]
ONE: tuple[MethodAnswer, ...] = (
    *(("all-ones", "one"), ("random-donor", "one"), ("mean-of-kind", "mean")),
    *((name, "one") for name in METHODS),
    ("oracle", "one"),
)
BOUNDS: tuple[MethodAnswer, ...] = tuple(
    (name, "bounds") for name, method in METHODS.items() if "bounds" in method.answers
)
SEVERAL: tuple[MethodAnswer, ...] = (
    *(
        (name, way)
        for name, method in METHODS.items()
        for way in method.answers
        if way not in ("one", "bounds")
    ),
    ("oracle", "mixture"),
)
OURS, DEFAULT = "cohorts", "auto"
POSTERIOR: tuple[MethodAnswer, ...] = ((OURS, "posterior"), (DEFAULT, "posterior"))
BELIEVABLE = 0.1  # confidence this close to the share of right tables can be believed
COVERING = 0.9
MOST = 0.75  # of the scenarios

# ---- statements

# a statement, the method and way to answer that should be better, and those it is compared with
COMPARED = (
    ("dropping the factor is better than the published rule", "all-ones one", "published one"),
    ("aligning roles is better than copying by position", "structure one", "published one"),
    ("kinds are better than structure alone", "kinds one", "structure one"),
    ("individuals are better than kinds", "individuals one", "kinds one"),
    ("looking 4 steps far is better than kinds", "steps-4 one", "kinds one"),
    ("looking 6 steps far is better than 4", "steps-6 one", "steps-4 one"),
    ("the mean table is better than the winning one (kinds)", "kinds mean", "kinds one"),
    ("the mixture is better than the winning table (kinds)", "kinds mixture", "kinds one"),
    ("the mean table is better than the winning one (steps-6)", "steps-6 mean", "steps-6 one"),
    ("the mixture is better than the winning table (steps-6)", "steps-6 mixture", "steps-6 one"),
    ("profiles are better than looking 6 steps far", "profiles one", "steps-6 one"),
    ("the mixture is better than the winning table (profiles)", "profiles mixture", "profiles one"),
    ("cohorts are better than profiles", "cohorts one", "profiles one"),
    ("the mean table is better than the winning one (cohorts)", "cohorts mean", "cohorts one"),
    (
        "the mean of cohorts is better than the mixture of profiles",
        "cohorts mean",
        "profiles mixture",
    ),
    ("summing tables out is better than their mean", "cohorts posterior", "cohorts mean"),
    ("the default is better than the winning table", "auto posterior", "individuals one"),
)


def goals_of(lines: Sequence[Line], calibration: Sequence[Line]) -> list[Finding]:
    """What cohorts and the default should reach, and whether they do."""
    of, scenarios = _by_way(lines)
    ways = [*((OURS, answers) for answers in ("one", "mean", "mixture")), *POSTERIOR]
    found = {
        " ".join(way): ratio_goal(_beside(of, scenarios, way), EXACT_MEAN, EXACT_WORST)
        for way in ways
    }
    statement = f"at most {EXACT_MEAN} of the oracle's divergence, nowhere above {EXACT_WORST}"
    mean = _divergences_of(of, scenarios, (OURS, "mean"))
    as_good = {
        " ".join(way): no_worse_goal(_divergences_of(of, scenarios, way), mean) for way in POSTERIOR
    }
    stated = {
        name: confidence_goal(line for line in calibration if line["method"] == name)
        for name in (OURS, *(stating(*way) for way in POSTERIOR))
    }
    return [
        Finding(f"exact tables: {statement}", None, found),
        Finding("exact tables: posterior as good as the mean of cohorts", None, as_good),
        Finding("exact tables: stated confidence", None, stated),
    ]


def findings_of(lines: Sequence[Line]) -> list[Finding]:
    """What the suite says, point by point."""
    of, scenarios = _by_way(lines)
    believable = {
        stating(*way): _believable(of, scenarios, way)
        for way in (*((name, "one") for name in METHODS), *POSTERIOR)
    }
    covering = {name: _covering(of, scenarios, name) for name, _ in BOUNDS}
    return [
        *(
            Finding(each, None, {"": _compared(of, scenarios, better, worse)})
            for each, better, worse in COMPARED
        ),
        Finding("stated confidence can be believed", None, believable),
        Finding(f"bounds cover {percent(COVERING)} of the marginals", None, covering),
    ]


def _by_way(lines: Sequence[Line]) -> tuple[Lines, list[str]]:
    of = {(line["scenario"], line["method"], line["answers"]): line for line in lines}
    return of, list(dict.fromkeys(line["scenario"] for line in lines))


def _compared(of: Lines, scenarios: Sequence[str], better: str, worse: str) -> str:
    """In how many scenarios one way has the smaller mean divergence, and the median ratio."""
    pairs = list(zip(_means(of, scenarios, better), _means(of, scenarios, worse), strict=True))
    less, more = (sum(sign * (one - other) < -1e-12 for one, other in pairs) for sign in (1, -1))
    equal = len(pairs) - less - more
    verdict = _verdict(less, equal, len(pairs))
    ratios = sorted(one / other for one, other in pairs if other)
    median = f", median ratio {number(ratios[len(ratios) // 2])}" if ratios else ""
    same = f", equal in {equal}" if equal else ""
    return f"{verdict}: in {less} of {len(pairs)} scenarios{same}{median}"


def _means(of: Lines, scenarios: Sequence[str], way: str) -> list[float]:
    method, answers = way.split()
    return [of[scenario, method, answers]["kl_mean"] for scenario in scenarios]


def _verdict(yes: int, equal: int, total: int) -> str:
    if equal >= MOST * total:
        return "makes no difference"
    if yes >= MOST * total:
        return "holds"
    return "does not hold" if yes <= (1 - MOST) * total else "mixed"


def _believable(of: Lines, scenarios: Sequence[str], way: MethodAnswer) -> str:
    off = [of[scenario, *way]["miscalibration"] for scenario in scenarios]
    stated = [each for each in off if each is not None]
    close = sum(each <= BELIEVABLE for each in stated)
    worst = f", at worst {percent(max(stated))} off" if stated else ""
    return f"{_verdict(close, 0, len(off))}: in {close} of {len(off)} scenarios{worst}"


def _covering(of: Lines, scenarios: Sequence[str], method: str) -> str:
    covered = [of[scenario, method, "bounds"]["coverage"] for scenario in scenarios]
    enough = sum(each >= COVERING for each in covered)
    verdict, least = _verdict(enough, 0, len(covered)), percent(min(covered))
    return f"{verdict}: in {enough} of {len(covered)} scenarios, least {least}"


# ---- the page


def page(findings: Sequence[Finding], figures: str, parts: Sequence[str]) -> str:
    """What was found, and the parts; figures: Markdown that shows them, or says there are none."""
    rows = [[each.statement, _found(each)] for each in findings]
    head = ["# Filling holes: every method side by side", "## What was found"]
    return "\n\n".join([*head, table(["statement", "found"], rows), figures, *parts]) + "\n"


def report(lines: Sequence[Line], outcomes: Sequence[Outcome]) -> str:
    """The suite of exact tables."""
    of, scenarios = _by_way(lines)
    sizes = " and ".join(str(size) for size in sorted({outcome.cell.size for outcome in outcomes}))
    seeds = len({outcome.cell.seed for outcome in outcomes})
    bounds = [f"{method} bounds" for method, _ in BOUNDS]
    oracles = [[*way, *_beside(of, scenarios, way).shown()] for way in (*ONE, *SEVERAL)]
    parts = [
        "# Exact tables",
        f"Hospitals of {sizes} individuals, {seeds} seeds each; six hidden cohorts that no single "
        "factor shows but several do. θ = 0. KL(truth ‖ answer) in nats over all unobserved single "
        "marginals; means over seeds.",
        "## Over all scenarios",
        table(OVERALL, [_overall(of, scenarios, way) for way in (*ONE, *SEVERAL)]),
        "## Mean divergence over that of the oracle's mixture",
        table(BESIDE, oracles),
        "## Mean divergence in thousandths, one table each",
        table(["scenario", *_heads(ONE)], _rows(of, scenarios, ONE, _thousandths)),
        "## Mean divergence in thousandths, not committing to one table",
        table(["scenario", *_heads(SEVERAL)], _rows(of, scenarios, SEVERAL, _thousandths)),
        "## Right tables among those that the oracle is sure of",
        table(["scenario", "sure", *_heads(ONE[3:])], _right(of, scenarios, outcomes)),
        "## Bounds: share of marginals inside / mean width / mean distance outside",
        table(["scenario", *bounds], _rows(of, scenarios, BOUNDS, _coverage)),
        NOTES,
        table(["method", "what it is"], [[name, each.summary] for name, each in METHODS.items()]),
        table(["scenario", "what it is"], [[name, SCENARIOS[name].summary] for name in scenarios]),
    ]
    return "\n\n".join(parts)


def _beside(of: Lines, scenarios: Sequence[str], way: MethodAnswer) -> BesideOracle:
    own, best = (_divergences_of(of, scenarios, each) for each in (way, ("oracle", "mixture")))
    return beside_oracle(own, best)


def _divergences_of(of: Lines, scenarios: Sequence[str], way: MethodAnswer) -> dict[str, float]:
    """Mean divergences by scenario."""
    return {scenario: of[scenario, *way]["kl_mean"] for scenario in scenarios}


NOTES = f"""\
## How to read it

- *all-ones* drops the unknown factors, *random-donor* takes any known table of the kind,
  *mean-of-kind* the mean of them all; *oracle* knows how the hospital was drawn, but not the
  cohorts. A factor that a method leaves unknown counts as dropped.
- *one*: the winning table; *mean*: the share-weighted mean table; *mixture*: the average of the
  answers over competing tables. Mixtures and bounds are over all combinations where these are
  few, otherwise over some drawn by share, which are not weighted by evidence, and make bounds
  somewhat too narrow.
- *posterior*: cohorts and tables are hidden variables and are summed out, so that what was observed
  of an individual tells which tables it has. *auto posterior* is what everybody gets by default.
  The confidence of *posterior* is how likely the table is after the evidence; what other methods
  state, they state before it.
- Bounds are judged on the marginals of individuals with holes; a marginal lies inside if all its
  values do.
- Scenarios of equal seed share their tables, so they can be compared with one another but are
  not independent.
- A statement *holds* in three quarters of the scenarios or more and *does not hold* in a quarter
  or less. Confidence can be believed if it is at most {percent(BELIEVABLE)} off (expected
  calibration error over tenths)."""
BESIDE = ("method", "answers", "geometric mean", "worst scenario", "difference where it is ≈ 0")
OVERALL = (
    *("method", "answers", "mean KL", "largest KL", "infinite"),
    *("right tables", "right if sure", "Brier", "off", "left unknown"),
)


def _found(finding: Finding) -> str:
    found = finding.found.items()
    return "<br>".join(f"{name}: {text}" if name else text for name, text in found)


def _heads(ways: Sequence[MethodAnswer]) -> list[str]:
    return [f"{method} {answers}" if answers != "one" else method for method, answers in ways]


def _rows(
    of: Lines, scenarios: Sequence[str], ways: Sequence[MethodAnswer], shown: Callable[[Line], str]
) -> list[list[str]]:
    return [[scenario, *(shown(of[scenario, *way]) for way in ways)] for scenario in scenarios]


def _overall(of: Lines, scenarios: Sequence[str], way: MethodAnswer) -> list[str]:
    """One row over all scenarios, each counting alike."""
    lines = [of[scenario, *way] for scenario in scenarios]
    means = {}
    for name in ("kl_mean", "right", "right_identifiable", "brier", "miscalibration"):
        values = [line[name] for line in lines if line[name] is not None]
        means[name] = sum(values) / len(values) if values else None
    return [
        *way,
        number(means["kl_mean"]),
        number(max(line["kl_maximum"] for line in lines)),
        str(sum(line["kl_infinite"] for line in lines)),
        percent(means["right"]),
        percent(means["right_identifiable"]),
        number(means["brier"]),
        percent(means["miscalibration"]),
        str(sum(line["left"] for line in lines)),
    ]


def _thousandths(line: Line) -> str:
    value = number(None if line["kl_mean"] is None else 1000 * line["kl_mean"])
    return f"{value} (∞ {line['kl_infinite']})" if line["kl_infinite"] else value


def _coverage(line: Line) -> str:
    return f"{percent(line['coverage'])} / {number(line['width'])} / {number(line['outside'])}"


def _right(of: Lines, scenarios: Sequence[str], outcomes: Sequence[Outcome]) -> list[list[str]]:
    rows = []
    for scenario in scenarios:
        own = [outcome.facts for outcome in outcomes if outcome.cell.group == scenario]
        sure = sum(facts["identifiable"] for facts in own) / sum(facts["unknown"] for facts in own)
        cells = [percent(of[scenario, *way]["right_identifiable"]) for way in ONE[3:]]
        rows.append([scenario, percent(sure), *cells])
    return rows
