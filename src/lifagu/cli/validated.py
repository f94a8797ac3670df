"""What `lifagu validate` found, as a short table and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifagu.basics.words import counted
from lifagu.cli.output import table

if TYPE_CHECKING:
    from lifagu import Validation

MOST_LINES = 40


def report(found: Validation) -> str:
    """Scores by relation beside the frequencies, and what to make of it."""
    several = len(found.methods) > 1
    told = [f"{f'{name}: ' if several else ''}{found.judgement(name)}" for name in found.methods]
    return "\n\n".join([_cells(found), "\n".join(told)])


def _cells(found: Validation) -> str:
    facts = found.json()
    by_method = facts.get("methods", {facts["method"]: facts})
    several = len(by_method) > 1
    titles = [name if several else "log loss" for name in by_method]
    rows = [["relation", "hidden", "frequencies", *titles, "gain", "accuracy", "calibration"]]
    relations = list(facts["relations"])
    shown = [*relations[:MOST_LINES], *[""] * (len(relations) > 1)]  # all together at the end
    for relation in shown:
        each = [part["relations"][relation] if relation else part for part in by_method.values()]
        first = each[0]
        rows.append(
            [
                relation or "all",
                str(first["hidden"]),
                _number(first["baseline"]["log_loss"]),
                *(_number(part["log_loss"]) for part in each),
                _with_error(first["gain"]["log_loss"], first["gain"]["standard_error"]),
                f"{_number(first['accuracy'])} ({_number(first['baseline']['accuracy'])})",
                _number(first["calibration_error"]),
            ]
        )
    head = f"{counted(found.hidden, 'hidden cell')}, log loss in nats beside that of frequencies"
    lines = [head, table(rows)]
    if len(facts["relations"]) > MOST_LINES:
        left = len(facts["relations"]) - MOST_LINES
        lines.append(f"  … and {left} more relations (all of them with --json)")
    if several:
        lines.append(f"  gain, accuracy and calibration are those of {facts['method']}")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _with_error(value: float | None, error: float | None) -> str:
    return _number(value) if error is None else f"{_number(value)} ± {_number(error)}"
