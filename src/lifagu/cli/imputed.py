"""What ``lifagu impute`` found, as a report and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifagu.basics.words import counted
from lifagu.cli.output import finite, some, table
from lifagu.cli.remedies import FLAGS, SURER
from lifagu.cli.results import convergence_json, groups_table, how_filled, too_large_json
from lifagu.filling.chance import GUESS

if TYPE_CHECKING:
    from lifagu.questions.findings import Groups, Imputed, Requested

MOST_LINES = 40
MOST_GROUPS = 3


def report(found: Imputed) -> str:
    """The whole report: counts, who lent what, what was left and why, groups, answers."""
    if not found.unknown:  # all tables were given or learned, and nobody lent any
        return marginals_table(found)
    left = found.unknown - found.filled
    unknown = counted(found.unknown, "unknown factor")
    head = f"{unknown}: {found.filled} filled, {left} left unknown{how_filled(found)}"
    head += f"\n{found.merging}" if found.merging else ""
    parts = (head, lent_table(found), left_table(found), groups_part(found), marginals_table(found))
    return "\n\n".join(part for part in parts if part)


def groups_part(found: Imputed) -> str:
    """How many groups look alike once the holes are filled, and the largest of them."""
    groups = found.groups
    variables, factors = (
        f"{counted(count, sort)} in {counted(number, 'group')}"
        for sort, count, number in (
            ("variable", groups.variable_count, groups.variables),
            ("factor", groups.factor_count, groups.factors),
        )
    )
    largest = groups_table(groups, MOST_GROUPS, rest=False)
    return f"what looks alike: {variables}, {factors}; the largest\n{largest}"


def lent_table(found: Imputed) -> str:
    """Who lent what to whom, one line for what is alike."""
    if not found.lent:
        return ""
    one, guessed = found.way == "best", any(each.guesses for each in found.lent)
    what = "the table of" if one else "what"
    rows = [["lent to", "factors", what, "share", "compared", "ties", *["guesses"] * guessed]]
    last = ""
    for each in found.lent[:MOST_LINES]:
        title, last = "" if each.factors == last else each.factors, each.factors
        share = span(each.lowest_share, each.highest_share)
        beside = (share, f"{each.unit}s", str(each.ties or ""), str(each.guesses or ""))
        taken = each.donor if one else each.takes
        rows.append([title, str(each.count), taken, *beside[: len(rows[0]) - 3]])
    lines = [table(rows, indent=""), *_more(len(found.lent), "lines")]
    if guesses := sum(each.guesses for each in found.lent):
        lines.append(f"warning: {guesses} of {found.filled} are {GUESS}; {SURER}")
    return "\n".join(lines)


def left_table(found: Imputed) -> str:
    """What stays unknown, and why."""
    if not found.left:
        return ""
    rows = [("stays unknown", "factors", "share", "why (in the words of the first)")]
    for each in found.left[:MOST_LINES]:
        share = ""
        if each.lowest_share is not None and each.highest_share is not None:
            share = span(each.lowest_share, each.highest_share)
        rows.append((each.factors, str(each.count), share, each.reason))
    return "\n".join([table(rows, indent=""), *_more(len(found.left), "lines")])


def marginals_table(found: Imputed) -> str:
    """The answers, each with how far it rests on tables that were lent."""
    asked, offered = found.marginals, found.offered
    lines = _answers(asked, bool(found.unknown)) if len(asked) else []
    if not found.unknown:
        lines = [f"{counted(len(asked), 'answer')}, from tables that are all known", *lines]
    if offered is not None and offered > len(asked) + len(asked.left_out):
        near = f"{offered} variables near unknown factors"
        lines.append(f"(the first of {near}; name others with --queries)")
    if asked.unanswered:
        first = some(asked.unanswered[:8], 8, len(asked.unanswered))
        lines.append(f"no answer, as factors that stay unknown are connected to them: {first}")
    if asked.too_large:
        wide = [name for part in asked.too_large for name in part.variables]
        part = asked.too_large[0]
        what = f"what is connected to {part.variables[0]} {part.estimate}"
        remedy = f"{FLAGS[part.remedy]}, or ask with --engine bp, which is not exact"
        lines.append(f"left out, as they do not fit: {some(wide[:8], 8, len(wide))}")
        lines.append(f"  {what}; {remedy}")
    return "\n".join(lines)


def _answers(asked: Requested, lent: bool) -> list[str]:
    """The first answers; lent: whether some tables were, so that answers may rest on them."""
    shown = range(min(len(asked), MOST_LINES))
    labels = [_labels(asked.distributions[int(asked.of[place])]) for place in shown]
    width = max(map(len, labels))
    rows = [["answers", *[""] * width, "own tables lent", "of all it rests on"]] if lent else []
    for place, own in zip(shown, labels, strict=True):
        beside = (
            ()
            if not lent
            else (
                _resting(int(asked.own[place]), float(asked.own_weakest[place])),
                _resting(int(asked.lent[place]), float(asked.weakest[place]))
                + (
                    f", {counted(guesses, 'guess')}"
                    if (guesses := int(asked.guesses[place]))
                    else ""
                ),
            )
        )
        rows.append([asked.names[place], *own, *[""] * (width - len(own)), *beside])
    return [table(rows, indent=""), *_more(len(asked), "answers")]


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


def _more(count: int, what: str) -> list[str]:
    left = count - MOST_LINES
    return [f"… and {left} more {what} (all of them with --json)"] if left > 0 else []


def imputed_json(found: Imputed) -> dict[str, Any]:
    """The same for scripts."""
    bound, asked = found.bound, found.marginals
    total, filled = found.unknown, found.filled
    return {
        "fill": found.transfer.filling.by,
        "theta": found.transfer.theta,
        "equality": found.transfer.equality,
        **({"off_by_at_most": bound._asdict()} if bound else {}),
        "unknown": {"total": total, "transferred": filled, "left": total - filled},
        "way": found.way,
        "lent": [
            {**vars(each), "potentials": list(each.potentials), "takes": each.takes}
            for each in found.lent
        ],
        "left": [vars(each) for each in found.left],
        **_groups_json(found.coloured),
        **convergence_json(asked.convergence),
        "marginals": [_marginal_json(asked, place) for place in range(len(asked))],
        "left_out": asked.left_out,
        **too_large_json(asked.too_large),
    }


def _groups_json(groups: Groups | None) -> dict[str, Any]:
    """How many groups look alike, where something was filled; else nobody looked."""
    if groups is None:
        return {}
    return {"groups": {"variables": groups.variables, "factors": groups.factors}}


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
        "own_weakest_share": finite(float(asked.own_weakest[place])),
        "transferred": int(asked.lent[place]),
        "weakest_share": finite(float(asked.weakest[place])),
        "guesses": int(asked.guesses[place]),
    }
