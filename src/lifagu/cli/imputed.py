"""What ``lifagu impute`` found, as a report and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lifagu.cli.output import some, table
from lifagu.cli.results import groups_table

if TYPE_CHECKING:
    from lifagu import Imputed

MOST_LINES = 40
MOST_GROUPS = 3


def report(found: Imputed) -> str:
    """The whole report: counts, who lent what, what was left and why, groups, answers."""
    moved = found.transfer
    left = found.unknown - found.filled
    head = f"{_counted(found.unknown, 'unknown factor')}: {found.filled} filled, {left} left unknown"
    head += f" (theta {moved.theta:.4g})"
    if moved.equality != "exactly":
        head += f"\ntables were compared {moved.equality}" + (f": {found.bound}" if found.bound else "")
    parts = [head, lent_table(found), left_table(found)]
    parts.append(groups_part(found))
    parts.append(marginals_table(found))
    return "\n\n".join(part for part in parts if part)


def groups_part(found: Imputed) -> str:
    """How many groups look alike once the holes are filled, and the largest of them."""
    graph, colouring = found.transfer.original, found.colouring
    sorts = (
        ("variable", graph.variable_names, colouring.variable_colours),
        ("factor", graph.factor_names, colouring.factor_colours),
    )
    counts = [
        f"{_counted(len(names), sort)} in {_counted(int(colours.max(initial=-1)) + 1, 'group')}"
        for sort, names, colours in sorts
    ]
    return (
        f"what looks alike: {', '.join(counts)}; the largest\n{groups_table(graph, colouring, MOST_GROUPS, rest=False)}"
    )


def lent_table(found: Imputed) -> str:
    """Who lent what to whom, one line for what is alike."""
    if not found.lent:
        return ""
    rows = [("lent to", "factors", "the table of", "share", "compared", "ties")]
    last = ""
    for each in found.lent[:MOST_LINES]:
        title, last = "" if each.factors == last else each.factors, each.factors
        share = span(each.lowest_share, each.highest_share)
        rows.append((title, str(each.count), each.donor, share, f"{each.unit}s", str(each.ties or "")))
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
    asked, names = found.marginals, found.transfer.original.variable_names
    lines = []
    if len(asked):
        shown = range(min(len(asked), MOST_LINES))
        cells = [_labels(asked.distributions[int(asked.of[place])]) for place in shown]
        width = max(map(len, cells))
        head = ["answers", *[""] * width, "own tables lent", "of all it rests on"]
        rows = [
            [
                names[int(asked.variables[place])],
                *cells[place],
                *[""] * (width - len(cells[place])),
                _resting(int(asked.own[place]), float(asked.own_weakest[place])),
                _resting(int(asked.lent[place]), float(asked.weakest[place])),
            ]
            for place in shown
        ]
        lines = [table([head, *rows], indent=""), *_more(len(asked), "answers")]
    if found.offered is not None and found.offered > len(asked) + len(asked.unanswered):
        lines.append(f"(the first of {found.offered} variables near unknown factors; name others with --queries)")
    if len(asked.unanswered):
        first = [names[each] for each in asked.unanswered[:8].tolist()]
        unknown = some(first, 8, len(asked.unanswered))
        lines.append(f"no answer, as factors that stay unknown are connected to them: {unknown}")
    return "\n".join(lines)


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
    return [f"… and {count - MOST_LINES} more {what} (all of them with --json)"] if count > MOST_LINES else []


def imputed_json(found: Imputed) -> dict[str, Any]:
    """The same for scripts."""
    asked, names = found.marginals, found.transfer.original.variable_names
    return {
        "theta": found.transfer.theta,
        "equality": found.transfer.equality,
        **({"off_by_at_most": found.bound._asdict()} if found.bound else {}),
        "unknown": {"total": found.unknown, "transferred": found.filled, "left": found.unknown - found.filled},
        "lent": [{**vars(each), "potentials": list(each.potentials)} for each in found.lent],
        "left": [vars(each) for each in found.left],
        "groups": {
            "variables": int(found.colouring.variable_colours.max(initial=-1)) + 1,
            "factors": int(found.colouring.factor_colours.max(initial=-1)) + 1,
        },
        "marginals": [_marginal_json(found, place) for place in range(len(asked))],
        "left_out": [names[each] for each in asked.unanswered.tolist()],
    }


def _marginal_json(found: Imputed, place: int) -> dict[str, Any]:
    asked = found.marginals
    distribution = asked.distributions[int(asked.of[place])]
    values: dict[str, Any] = {
        "variable": found.transfer.original.variable_names[int(asked.variables[place])],
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
