"""Answers about whole relations, and answers side by side: as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.words import counted
from lifagu.cli.output import some, table
from lifagu.cli.remedies import SURER
from lifagu.cli.results import MOST_ROWS, answer_json, asked_given

if TYPE_CHECKING:
    from lifagu.questions.relation_answer import RelationAnswer
    from lifagu.questions.scenarios import SideBySide

FEW_ROWS = 200  # up to which all individuals are shown; of more the first ones
MOST_LABELS = 6  # columns of labels; of more the most probable label is shown
LONGEST_TITLE = 28  # of a column; what is longer stands below the table


def relation_table(found: RelationAnswer) -> str:
    """The marginals of a relation, a row for each individual or class, and what they rest on."""
    first = found.taken(np.arange(len(found) if len(found) <= FEW_ROWS else MOST_ROWS))
    lines = [relation_title(found)]
    if len(first):
        lines.append(table([_header(found), *_rows(first)]))
    if (more := len(found) - len(first)) > 0:
        lines.append(
            f"  … and {more} more (all with --out FILE.csv, the most probable with --top 20)"
        )
    return "\n".join([*lines, *_remarks(found)])


def relation_title(found: RelationAnswer) -> str:
    """What was asked, how many individuals there are, and how many of them were observed."""
    sort = "individual" if not found.classes else "class"
    counts = counted(len(found), sort)
    if found.classes:
        counts += f", {counted(found.count, 'individual')}"
    each = [one.count for one in found.classes] if found.classes else 1
    observed = int((found.observed * np.array(each)).sum())
    seen = f", {observed} of them observed" if observed else ""
    if found.value:
        counts = f"the first {len(found)} of {found.total} by P({found.value})"
    return f"P({found.relation}): {counts}{seen}"


def _header(found: RelationAnswer) -> list[str]:
    labels = list(found.labels) if len(found.labels) <= MOST_LABELS else ["most probable", ""]
    if len(found.labels) > MOST_LABELS and found.value:
        labels = [found.value]
    ends = ["", *labels, *(["individuals"] if found.classes else []), ""]
    return ends


def _rows(found: RelationAnswer) -> list[list[str]]:
    """A row for each individual; all of its labels while they are few."""
    rows = []
    for place, name in enumerate(found):
        shares = found.requested.distributions[int(found.requested.of[place])]
        if len(found.labels) <= MOST_LABELS:
            cells = [_share(shares.get(label)) for label in found.labels]
        elif found.value:
            cells = [_share(shares[found.value])]
        else:
            best = max(shares, key=lambda label: shares[label][0])
            cells = [best, _share(shares[best])]
        cells += [str(found.classes[place].count)] if found.classes else []
        rows.append([name, *cells, "observed" if found.observed[place] else ""])
    return rows


def _share(limited: tuple[float, float | None, float | None] | None) -> str:
    """A probability, and its limits if there are."""
    if limited is None:
        return ""
    share, low, high = limited
    limits = "" if low is None or high is None else f" [{low:.6g}, {high:.6g}]"
    return f"{share:.6g}{limits}"


def _remarks(found: RelationAnswer) -> list[str]:
    """What answers rest on, and what has none."""
    told = found.requested
    lines, resting = [], np.flatnonzero(told.lent > 0)
    if len(resting):
        weakest = float(np.nanmin(told.weakest[resting]))
        most = f"up to {counted(int(told.lent.max()), 'transferred table')}"
        lines.append(f"  {len(resting)} of them rest on {most}, weakest share {weakest:.3g}")
    if guesses := int((told.guesses > 0).sum()):
        lines.append(
            f"  warning: {guesses} of them rest on tables that are hardly better than a guess; "
            f"{SURER}"
        )
    if len(told.unanswered):
        first = told.unanswered[:8]
        left = some(first, 8, len(told.unanswered))
        lines.append(f"left out, as unknown factors are connected to them: {left}")
    if told.convergence is not None and not told.convergence.converged:
        lines.append("  warning: belief propagation did not converge; answers may be far off")
    for part in told.too_large:
        lines.append(f"left out: {some(part.variables, 4)} {part.estimate}")
    return lines


def relation_json(found: RelationAnswer) -> dict[str, Any]:
    """The same as plain values: every individual or class in order."""
    told, shown = found.requested, []
    for place, name in enumerate(found):
        shares = told.distributions[int(told.of[place])]
        one: dict[str, Any] = {"variable": name}
        if found.classes:
            of = found.classes[place]
            one = {"representative": of.representative, "members": name, "count": of.count}
        one["probabilities"] = {label: share for label, (share, _, _) in shares.items()}
        if all(low is not None for _, low, _ in shares.values()):
            one["lower"] = {label: low for label, (_, low, _) in shares.items()}
            one["upper"] = {label: high for label, (_, _, high) in shares.items()}
        lent = int(told.lent[place])
        one |= {"observed": bool(found.observed[place]), "rests_on": lent}
        shown.append(one | {"weakest_share": float(told.weakest[place]) if lent else None})
    ranked = {"value": found.value} if found.value else {}
    return {
        "relation": found.relation,
        "total": found.total,
        **ranked,
        "classes" if found.classes else "individuals": shown,
        "left_out": found.left_out,
    }


# ---- side by side


def scenarios_table(
    found: SideBySide, evidence: Mapping[str, Any], said: Iterable[str] = ()
) -> str:
    """One question in each scenario, with the difference from as it is in percentage points.

    evidence, said: as for `asked_given`.
    """
    names = list(found)
    short = [
        name if len(name) <= LONGEST_TITLE else f"scenario {n}" for n, name in enumerate(names)
    ]
    header = ["", short[0], *(each for title in short[1:] for each in (title, "points"))]
    if found.value:
        header[0] = f"P({found.value})"
    shares = [found.probabilities(name) for name in names]
    moved = [found.differences(name) for name in names[1:]]
    keys = list(shares[0])
    shown = keys if len(keys) <= FEW_ROWS else keys[:MOST_ROWS]
    rows = []
    for key in shown:
        row = [key if isinstance(key, str) else "  ".join(key), f"{shares[0][key]:.6g}"]
        for own, points in zip(shares[1:], moved, strict=True):
            row += [f"{own[key]:.6g}", _points(points[key])] if key in own else ["", ""]
        rows.append(row)
    lines = [_asked_title(found, evidence, said), table([header, *rows])]
    if len(keys) > len(shown):
        lines.append(f"  … and {len(keys) - len(shown)} more (the most probable with --top 20)")
    pairs = zip(short, names, strict=True)
    return "\n".join([*lines, *(f"  {title}: {name}" for title, name in pairs if title != name)])


def _points(points: float) -> str:
    """Percentage points with their sign; those too few to show have none."""
    return f"{points:+.2f}" if abs(points) >= 0.005 else "0"


def _asked_title(found: SideBySide, evidence: Mapping[str, Any], said: Iterable[str]) -> str:
    from lifagu.questions.relation_answer import RelationAnswer

    first = next(iter(found.answers.values()))
    if isinstance(first, RelationAnswer):
        return relation_title(first)
    return asked_given(first.variables, evidence, said)


def scenarios_json(
    found: Sequence[SideBySide], observed: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A list of scenarios, each with its answers; the first is as it is."""
    from lifagu.questions.scenarios import AS_IT_IS

    shown = []
    for scenario in (AS_IT_IS, *observed):
        one: dict[str, Any] = {"scenario": scenario, "observed": dict(observed.get(scenario, {}))}
        sides = [_side_json(each, scenario, scenario != AS_IT_IS) for each in found]
        one["answers"] = [each for each in sides if "query" in each]
        one["relations"] = [each for each in sides if "query" not in each]
        shown.append(one)
    return {"scenarios": shown}


def _side_json(found: SideBySide, scenario: str, moved: bool) -> dict[str, Any]:
    """One answer in one scenario, with the differences from as it is if it is another one."""
    from lifagu.questions.relation_answer import RelationAnswer

    answer, points = found[scenario], found.differences(scenario)
    if not isinstance(answer, RelationAnswer):
        return answer_json(answer) | ({"points": list(points.values())} if moved else {})
    told = relation_json(answer) | {"value": found.value}
    if moved:
        for one in told["individuals"]:
            one["points"] = points[one["variable"]]
    return told
