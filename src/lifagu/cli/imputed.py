"""What ``lifagu impute`` found, as a report and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lifagu.cli.output import some, table
from lifagu.cli.results import convergence_json, groups_table

if TYPE_CHECKING:
    from lifagu.questions.findings import Imputed, Requested

MOST_LINES = 40
MOST_GROUPS = 3


def report(found: Imputed) -> str:
    """The whole report: counts, who lent what, what was left and why, groups, answers."""
    left = found.unknown - found.filled
    head = (
        f"{_counted(found.unknown, 'unknown factor')}: {found.filled} filled, {left} left unknown"
    )
    head += f" (theta {found.transfer.theta:.4g})"
    head += f"\n{found.merging}" if found.merging else ""
    parts = (head, lent_table(found), left_table(found), groups_part(found), marginals_table(found))
    return "\n\n".join(part for part in parts if part)


def groups_part(found: Imputed) -> str:
    """How many groups look alike once the holes are filled, and the largest of them."""
    groups = found.groups
    sorts = (
        ("variable", groups.variable_count, groups.variables),
        ("factor", groups.factor_count, groups.factors),
    )
    counts = [
        f"{_counted(count, sort)} in {_counted(number, 'group')}" for sort, count, number in sorts
    ]
    return f"what looks alike: {', '.join(counts)}; the largest\n{groups_table(groups, MOST_GROUPS, rest=False)}"


def lent_table(found: Imputed) -> str:
    """Who lent what to whom, one line for what is alike."""
    if not found.lent:
        return ""
    rows = [("lent to", "factors", "the table of", "share", "compared", "ties")]
    last = ""
    for each in found.lent[:MOST_LINES]:
        title, last = "" if each.factors == last else each.factors, each.factors
        share = span(each.lowest_share, each.highest_share)
        rows.append(
            (title, str(each.count), each.donor, share, f"{each.unit}s", str(each.ties or ""))
        )
    return "\n".join([table(rows, indent=""), *_more(len(found.lent), "lines")])


def left_table(found: Imputed) -> str:
    """What stays unknown, and why."""
    if not found.left:
        return ""
    rows = [("stays unknown", "factors", "share", "why (in the words of the first)")]
    for each in found.left[:MOST_LINES]:
        share = (
            ""
            if each.lowest_share is None or each.highest_share is None
            else span(each.lowest_share, each.highest_share)
        )
        rows.append((each.factors, str(each.count), share, each.reason))
    return "\n".join([table(rows, indent=""), *_more(len(found.left), "lines")])


def marginals_table(found: Imputed) -> str:
    """The answers, each with how far it rests on tables that were lent."""
    asked = found.marginals
    rows = [
        (
            asked.names[place],
            _labels(asked.distributions[int(asked.of[place])]),
            _resting(int(asked.own[place]), float(asked.own_weakest[place])),
            _resting(int(asked.lent[place]), float(asked.weakest[place])),
        )
        for place in range(min(len(asked), MOST_LINES))
    ]
    lines = _answers(rows, ("own tables lent", "of all it rests on"), len(asked))
    without = asked.unanswered[:8]
    return "\n".join([*lines, *_unsaid(found.offered, len(asked), without, len(asked.unanswered))])


def _answers(rows: Sequence[tuple[Any, ...]], titles: Sequence[str], count: int) -> list[str]:
    """Lines with a name, its labels, and what is said beside; count: of all answers."""
    if not rows:
        return []
    width = max(len(labels) for _, labels, *_ in rows)
    cells = [
        (name, *labels, *[""] * (width - len(labels)), *beside) for name, labels, *beside in rows
    ]
    return [
        table([["answers", *[""] * width, *titles], *cells], indent=""),
        *_more(count, "answers"),
    ]


def _unsaid(
    offered: int | None, answered: int, without: Sequence[str], unanswered: int
) -> list[str]:
    """What was not asked, and what has no answer; without: the first of these."""
    lines = []
    if offered is not None and offered > answered + unanswered:
        lines.append(
            f"(the first of {offered} variables near unknown factors; name others with --queries)"
        )
    if unanswered:
        first = some(list(without), 8, unanswered)
        lines.append(f"no answer, as factors that stay unknown are connected to them: {first}")
    return lines


def _labels(distribution: dict[str, tuple[float, float | None, float | None]]) -> list[str]:
    return [
        f"{label} {value:.4f}" + ("" if low is None else f" [{low:.4f}, {high:.4f}]")
        for label, (value, low, high) in distribution.items()
    ]


def _resting(count: int, weakest: float) -> str:
    return f"{count}, weakest share {weakest:.3g}" if count else "none"


def span(lowest: float, highest: float) -> str:
    """One share, or from which to which.

    >>> span(0.5, 1.0), span(1.0, 1.0)
    ('0.5–1', '1')
    """
    low, high = f"{lowest:.3g}", f"{highest:.3g}"
    return low if low == high else f"{low}–{high}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _more(count: int, what: str) -> list[str]:
    return (
        [f"… and {count - MOST_LINES} more {what} (all of them with --json)"]
        if count > MOST_LINES
        else []
    )


def imputed_json(found: Imputed) -> dict[str, Any]:
    """The same for scripts."""
    bound, asked = found.bound, found.marginals
    return {
        "theta": found.transfer.theta,
        "equality": found.transfer.equality,
        **({"off_by_at_most": bound._asdict()} if bound else {}),
        "unknown": {
            "total": found.unknown,
            "transferred": found.filled,
            "left": found.unknown - found.filled,
        },
        "lent": [{**vars(each), "potentials": list(each.potentials)} for each in found.lent],
        "left": [vars(each) for each in found.left],
        "groups": {"variables": found.groups.variables, "factors": found.groups.factors},
        **convergence_json(asked.convergence),
        "marginals": [_marginal_json(asked, place) for place in range(len(asked))],
        "left_out": list(asked.unanswered),
    }


def _marginal_json(asked: Requested, place: int) -> dict[str, Any]:
    distribution = asked.distributions[int(asked.of[place])]
    values: dict[str, Any] = {
        "variable": asked.names[place],
        "probabilities": {label: each[0] for label, each in distribution.items()},
    }
    if any(each[1] is not None for each in distribution.values()):
        values["lower"] = {label: each[1] for label, each in distribution.items()}
        values["upper"] = {label: each[2] for label, each in distribution.items()}
    return {
        **values,
        "own_transferred": int(asked.own[place]),
        "own_weakest_share": _number(float(asked.own_weakest[place])),
        "transferred": int(asked.lent[place]),
        "weakest_share": _number(float(asked.weakest[place])),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
