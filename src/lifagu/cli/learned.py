"""What `lifagu learn` found, as a short table and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifagu.basics.words import counted
from lifagu.cli.output import table

if TYPE_CHECKING:
    from lifagu.questions.learning import Learning

MOST_LINES = 30


def report(found: Learning) -> str:
    """The tables, those that matter most first, and how well hidden cells were told."""
    facts = found.json()
    tables = sorted(facts["tables"], key=lambda each: -(each["loss_without"] or 0.0))
    rows = [["table", "learned by", "records", "groups", "parameters", "lost without it"]]
    rows += [
        [
            each["name"],
            each["method"],
            f"{each['records']:,.0f}" if each["records"] else "",
            str(each["groups"] or ""),
            f"{each['parameters']:.1f}",
            f"{each['loss_without']:.4f}" if each["records"] else "",
        ]
        for each in tables[:MOST_LINES]
    ]
    lines = [f"{counted(len(tables), 'table')} learned", table(rows)]
    if len(tables) > MOST_LINES:
        lines.append(f"  … and {len(tables) - MOST_LINES} more (all of them with --json)")
    if facts["score"] is not None:
        lines.append(
            f"cells that were hidden meanwhile: log loss {facts['score']:.3f}, "
            f"frequencies {facts['baseline']:.3f} (nats a cell)"
        )
    return "\n".join(lines)
