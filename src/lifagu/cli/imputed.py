"""What ``lifagu impute`` found, as a report and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.output import some, table
from lifagu.cli.results import convergence_json, folder_groups_table, groups_table

if TYPE_CHECKING:
    from lifagu import FolderImputed, Imputed

MOST_LINES = 40
MOST_GROUPS = 3


def report(found: Imputed | FolderImputed) -> str:
    """The whole report: counts, who lent what, what was left and why, groups, answers."""
    moved = found.transfer
    left = found.unknown - found.filled
    head = f"{_counted(found.unknown, 'unknown factor')}: {found.filled} filled, {left} left unknown"
    head += f" (theta {moved.theta:.4g})"
    if moved.equality != "exactly":
        head += f"\ntables were compared {moved.equality}" + (f": {bound}" if (bound := _bound(found)) else "")
    if isinstance(found, lifagu.FolderImputed):
        parts = [_folder_groups_part(found), _folder_marginals_table(found)]
    else:
        parts = [groups_part(found), marginals_table(found)]
    return "\n\n".join(part for part in (head, lent_table(found), left_table(found), *parts) if part)


def _bound(found: Imputed | FolderImputed) -> Any:
    """How far merging tables can move answers; on an engine none are merged."""
    return None if isinstance(found, lifagu.FolderImputed) else found.bound


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


def _folder_groups_part(found: FolderImputed) -> str:
    """The same of a folder."""
    counts = [_counted(found.groups.variables, "group"), _counted(found.groups.factors, "group")]
    return (
        f"what looks alike: variables in {counts[0]}, factors in {counts[1]}; the largest\n"
        f"{folder_groups_table(found.groups, MOST_GROUPS, rest=False)}"
    )


def lent_table(found: Imputed | FolderImputed) -> str:
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


def left_table(found: Imputed | FolderImputed) -> str:
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
    rows = [
        (
            names[int(asked.variables[place])],
            _labels(asked.distributions[int(asked.of[place])]),
            _resting(int(asked.own[place]), float(asked.own_weakest[place])),
            _resting(int(asked.lent[place]), float(asked.weakest[place])),
        )
        for place in range(min(len(asked), MOST_LINES))
    ]
    without = [names[each] for each in asked.unanswered[:8].tolist()]
    lines = _answers(rows, ("own tables lent", "of all it rests on"), len(asked))
    return "\n".join([*lines, *_unsaid(found.offered, len(asked), without, len(asked.unanswered))])


def _folder_marginals_table(found: FolderImputed) -> str:
    """The same of a folder; what all else rests on would take another pass over everything."""
    asked = found.marginals
    rows = [
        (
            each.variable,
            _labels({label: (value, None, None) for label, value in each.probabilities.items()}),
            _resting(each.own_transferred, each.own_weakest_share or 0.0),
        )
        for each in asked[:MOST_LINES]
    ]
    lines = _answers(rows, ("own tables lent",), len(asked))
    return "\n".join([*lines, *_unsaid(found.offered, len(asked), found.unanswered[:8], len(found.unanswered))])


def _answers(rows: Sequence[tuple[Any, ...]], titles: Sequence[str], count: int) -> list[str]:
    """Lines with a name, its labels, and what is said beside; count: of all answers."""
    if not rows:
        return []
    width = max(len(labels) for _, labels, *_ in rows)
    cells = [(name, *labels, *[""] * (width - len(labels)), *beside) for name, labels, *beside in rows]
    return [table([["answers", *[""] * width, *titles], *cells], indent=""), *_more(count, "answers")]


def _unsaid(offered: int | None, answered: int, without: Sequence[str], unanswered: int) -> list[str]:
    """What was not asked, and what has no answer; without: the first of these."""
    lines = []
    if offered is not None and offered > answered + unanswered:
        lines.append(f"(the first of {offered} variables near unknown factors; name others with --queries)")
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
    return [f"… and {count - MOST_LINES} more {what} (all of them with --json)"] if count > MOST_LINES else []


def imputed_json(found: Imputed | FolderImputed) -> dict[str, Any]:
    """The same for scripts."""
    bound = _bound(found)
    if isinstance(found, lifagu.FolderImputed):
        groups = {"variables": found.groups.variables, "factors": found.groups.factors}
        marginals = [{**vars(each), "transferred": None, "weakest_share": None} for each in found.marginals]
        left_out, came = list(found.unanswered), None
    else:
        names, colouring = found.transfer.original.variable_names, found.colouring
        colours = {"variables": colouring.variable_colours, "factors": colouring.factor_colours}
        groups = {sort: int(each.max(initial=-1)) + 1 for sort, each in colours.items()}
        marginals = [_marginal_json(found, place) for place in range(len(found.marginals))]
        left_out, came = [names[each] for each in found.marginals.unanswered.tolist()], found.marginals.convergence
    return {
        "theta": found.transfer.theta,
        "equality": found.transfer.equality,
        **({"off_by_at_most": bound._asdict()} if bound else {}),
        "unknown": {"total": found.unknown, "transferred": found.filled, "left": found.unknown - found.filled},
        "lent": [{**vars(each), "potentials": list(each.potentials)} for each in found.lent],
        "left": [vars(each) for each in found.left],
        "groups": groups,
        **convergence_json(came),
        "marginals": marginals,
        "left_out": left_out,
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
