"""What changed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lifagu.basics.words import aligned, counted, percent

if TYPE_CHECKING:
    from lifagu.questions.comparing.changes import (
        AnswerChange,
        Changes,
        EvidenceChange,
        LoanState,
        RunChange,
        TransferChange,
    )

NOTHING_IN_BOTH = (
    "no answer is in both; those of classes, whose members change with what was observed, can be "
    "compared where they are listed by name"
)
CONTENTS = {  # digests, which nobody wants to read
    "structure": "the model has other factors, or other arguments",
    "tables": "the model's own tables are others",
}


def changes_in_words(found: Changes) -> str:
    """The summary, what changed most, and why; what there is nothing of is left out."""
    return "\n".join(_lines(found))


def _lines(found: Changes) -> Iterator[str]:
    yield _summary(found)
    if found.new_count and found.gone_count and not found.compared:
        yield NOTHING_IN_BOTH
    yield from _listed(
        "answers that changed most, by total variation",
        aligned(map(_answer, found.answers)),
        found.changed,
    )
    yield from _names("new", found.new, found.new_count)
    yield from _names("gone", found.gone, found.gone_count)
    if found.changed:
        yield "why"
        yield from (f"  {line}" for line in _why(found))
    yield from _listed("what was different about the runs", map(_run, found.run), len(found.run))
    yield from _listed("evidence", map(_evidence, found.evidence), found.evidence_count)
    counts = sum(found.transfer_counts.values())
    yield from _listed(_transfer_title(found), map(_transfer, found.transfers), counts)
    if found.unknown:
        yield f"these results do not tell {' or '.join(found.unknown)}"


def _summary(found: Changes) -> str:
    first = f"{counted(found.compared, 'answer')} compared: {found.changed} changed"
    flipped = f", {found.flipped} with another most probable value" if found.flipped else ""
    sizes = f"; mean change {found.mean:.3g}, largest {found.largest:.3g}" if found.changed else ""
    return f"{first}{flipped}{sizes}"


def _listed(title: str, lines: Iterator[str] | Sequence[str], total: int) -> Iterator[str]:
    shown = list(lines)
    if not shown:
        return
    yield title
    yield from (f"  {line}" for line in shown)
    if total > len(shown):
        yield f"  … and {total - len(shown)} more"


def _names(title: str, names: Sequence[str], total: int) -> Iterator[str]:
    if total:
        more = f", … ({total} in all)" if total > len(names) else ""
        yield f"{title}: {', '.join(names)}{more}" if names else f"{title}: {total}"


def _answer(change: AnswerChange) -> tuple[str, str, str, str]:
    before = change.before.get(change.top_before, 0.0)
    old, new = (
        f"{change.top_before} {percent(before)}",
        f"{change.top_after} {percent(change.after.get(change.top_after, 0.0))}",
    )
    if not change.flipped:
        new = percent(change.after.get(change.top_after, 0.0))
    why = "it was observed otherwise" if change.observed else ""
    if change.own_tables:
        more = f" and {len(change.own_tables) - 1} more" if len(change.own_tables) > 1 else ""
        why = f"table of {change.own_tables[0]}{more}"
    return change.variable, f"{old} → {new}", f"{change.distance:.3f}", why


def _why(found: Changes) -> Iterator[str]:
    if found.by_own_tables:
        yield f"{found.by_own_tables} changed with a lent table of their own"
    if found.by_evidence:
        yield f"{found.by_evidence} as they were observed otherwise"
    if found.by_lent:
        yield f"{found.by_lent} rest on lent tables, and no own one changed"
    rest = found.changed - found.by_own_tables - found.by_evidence - found.by_lent
    if rest:
        yield f"{rest} {_by_others(found)}"


def _by_others(found: Changes) -> str:
    """What may have changed answers that rest on no lent table."""
    if found.evidence_count:
        return "by what was observed of others"
    if any(each.what in CONTENTS for each in found.run):
        return "as the model itself is another one"
    return "rest on no lent table, as far as these results tell"


def _run(change: RunChange) -> str:
    return CONTENTS.get(
        change.what, f"{change.what}: {_value(change.before)} → {_value(change.after)}"
    )


def _value(value: object) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(
            " like ".join(map(str, each)) if isinstance(each, list) else str(each) for each in value
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def _evidence(change: EvidenceChange) -> str:
    if change.before is None:
        return f"came: {change.variable}={change.after}"
    if change.after is None:
        return f"went: {change.variable}={change.before}"
    return f"changed: {change.variable}={change.before} → {change.after}"


def _transfer_title(found: Changes) -> str:
    counts = ", ".join(f"{what} {count}" for what, count in found.transfer_counts.items())
    return f"transfers that changed ({counts})"


def _transfer(change: TransferChange) -> str:
    return f"{change.factor}: {_loan(change.before)} → {_loan(change.after)}"


def _loan(loan: LoanState | None) -> str:
    if loan is None:
        return "not unknown"
    if loan.status != "transferred":
        return "stays unknown"
    share = "" if loan.share is None else f" {percent(loan.share)}"
    now = (
        ""
        if loan.posterior is None or loan.posterior == loan.share
        else f", now {percent(loan.posterior)}"
    )
    return f"{loan.donor}{share}{now}"
