"""A draft in plain words: what was understood, left out, chosen, and what it would like to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lifagu.basics.words import counted
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.found import FoundOut
from lifagu.drafting.open_questions import Saying, by_reason, left_out, questions

if TYPE_CHECKING:
    from lifagu.questions.validating.result import Validation

MOST_TABLES = 60  # to learn that are listed


def report(found: FoundOut, source: str, validation: Validation | None, saying: Saying) -> str:
    """All of it as Markdown; how good it is only if it was validated. source: as it is called."""
    parts = [
        f"# What lifagu made of {source}",
        _in_short(found, validation),
        _section("What it understood", _understood(found)),
        _section("Keys and links", _keys(found)),
        _section("What is to be predicted, and from what", _relations(found)),
        _section("Which tables are learned", _tables(found)),
        _section("What was left out", by_reason(left_out(found))),
        _section("What it would like to know", questions(found, saying)),
        _quality(validation),
        _next(),
    ]
    return "\n\n".join(each for each in parts if each) + "\n"


def facts(found: FoundOut, saying: Saying) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "tables": {
            name: {"rows": each.rows, "sampled": each.size, "key": list(found.keys[name].columns)}
            for name, each in found.tables.items()
        },
        "links": [
            {
                "table": link.table,
                "columns": list(link.columns),
                "to": link.target,
                "by": list(link.target_columns),
                "how": link.how,
                "dangling": link.dangling,
            }
            for link in found.links
        ],
        "relations": [
            {
                "name": each.name,
                "of": list(each.subject.domains),
                "from": each.origin,
                "gaps": each.gaps,
                "predicted": each in found.asked,
            }
            for each in found.used
        ],
        "parfactors": [
            {"name": each.name, "gain": round(each.gain, 6), "why": each.told}
            for each in found.drafted
        ],
        "left_out": [f"{place}: {why}" for place, why in left_out(found)],
        "questions": list(questions(found, saying)),
        "largest_table": found.width.entries,
        "given_up": [each.name for each in found.width.given_up],
    }


def explained(found: FoundOut) -> Iterator[str]:
    """For each attribute what was chosen, in order, with the gain of each choice."""
    for chosen in found.chosen:
        many = counted(chosen.candidates, "candidate")
        yield f"{chosen.target.name}: {many} weighed on {chosen.rows:,} rows, nats a cell gained"
        for each in chosen.choices:
            yield f"  {each.gain:.4f}  {each.candidate.told}"
        if not chosen.choices:
            yield "  nothing tells more than its frequencies"
    yield from map(str, found.trials)
    if found.width.given_up:
        yield "given up, as answers would be too wide:"
        yield from (f"  {each.name}" for each in found.width.given_up)


# ---- sections


def _section(title: str, lines: Iterator[str]) -> str:
    listed = list(lines)
    return f"## {title}\n\n" + "\n".join(listed) if listed else ""


def _in_short(found: FoundOut, validation: Validation | None) -> str:
    gaps = sum(each.gaps for each in found.asked)
    rows = sum(each.rows for each in found.tables.values())
    text = (
        f"{counted(len(found.tables), 'table')} with {rows:,} rows in all. "
        f"{_predicted(found, gaps)} "
        f"{counted(len(found.drafted), 'table')} will be learned over "
        f"{counted(len(found.used), 'relation')}. Answers are exact, by {found.width} "
        f"(estimated, with a fifth of the cells hidden in addition)."
    )
    for part in found.parts:
        text += f" {part}."
    if sampled := [name for name, each in found.tables.items() if each.is_sampled]:
        text += (
            f" Of {', '.join(sampled)} a sample was looked at "
            f"(about {found.settings.sample:,} rows, seed {found.settings.seed})."
        )
    if validation is not None:
        text += f" {verdict(validation)}"
    return text


def _predicted(found: FoundOut, gaps: int) -> str:
    if gaps:
        return f"{gaps:,} gaps in {counted(len(found.asked), 'column')} are to be predicted."
    return "Nothing is missing; the model can tell about every column of somebody new."


def verdict(validation: Validation) -> str:
    """One sentence about how good the draft is."""
    facts = validation.json()
    usual = facts["baseline"]
    return (
        f"On {facts['hidden']:,} cells that were hidden, its log loss is {facts['log_loss']:.3f} "
        f"(frequencies: {usual['log_loss']:.3f}) and its accuracy {facts['accuracy']:.1%} "
        f"({usual['accuracy']:.1%})."
    )


def _understood(found: FoundOut) -> Iterator[str]:
    for subject in found.understood.subjects.values():
        rows = f"{subject.table.rows:,}"
        if subject.is_numbered:
            yield f"- **{subject.name}**: {rows} rows, told apart by their number alone."
        elif subject.is_single:
            yield f"- **{subject.name}**: {rows} individuals, known by `{subject.key[0]}`."
        else:
            parts = " and ".join(f"`{each}`" for each in subject.key)
            yield f"- **{subject.name}**: {rows} combinations of {parts}."
        for side in subject.sides:
            yield f"  - {side} says more about the same individuals."
    for name in found.understood.lists:
        owners = sorted({link.target for link in found.links if link.table == name})
        rows = f"{found.tables[name].rows:,}"
        yield f"- **{name}**: a list of {rows} rows that say something of {' and '.join(owners)}."
    for name, why in found.skipped.items():
        yield f"- {name} was skipped: {why}."


def _keys(found: FoundOut) -> Iterator[str]:
    for name, key in found.keys.items():
        if key.columns:
            yield f"- {name}: {_columns(key.columns)} ({key.how})"
        else:
            yield f"- {name}: {key.how}"
    for link in found.links:
        nobody = f"; {link.dangling:,} rows point to nobody" if link.dangling else ""
        is_key = link.target_columns == found.keys[link.target].columns
        by = "" if is_key else f" by {_columns(link.target_columns)}"
        yield f"- {link}{by} ({link.how}{nobody})"


def _relations(found: FoundOut) -> Iterator[str]:
    yield "| relation | from | range | gaps |"
    yield "|---|---|---|---|"
    for each in found.used:
        gaps = f"{each.gaps:,}" if each in found.asked else "tells about others"
        yield f"| {each.name} | {each.origin} | {_range(each)} | {gaps} |"


def _range(attribute: Attribute) -> str:
    if attribute.cohorts:
        return f"{attribute.cohorts} hidden sorts"
    if attribute.coarser is not None:
        return f"{attribute.bins} bins within each of {attribute.coarser.name}"
    if attribute.is_number:
        return f"{attribute.bins} bins"
    shown = ", ".join(attribute.labels[:5])
    return shown + (f", … ({attribute.size})" if attribute.size > 5 else "")


def _tables(found: FoundOut) -> Iterator[str]:
    yield "| table | why | gain |"
    yield "|---|---|---|"
    for each in found.drafted[:MOST_TABLES]:
        yield f"| {each.name} | {each.told} | {each.gain:,.1f} |"
    yield ""
    if len(found.drafted) > MOST_TABLES:
        yield f"… and {len(found.drafted) - MOST_TABLES} more."
    yield ("The gain is in nats, over all rows that were weighed, beyond the tables chosen before.")
    for trial in found.trials:
        yield f"{trial}."
    if given_up := found.width.given_up:
        yield (
            f"{counted(len(given_up), 'table')} given up, since answers would be too wide: "
            f"{', '.join(each.name for each in given_up[:8])}"
            f"{', …' if len(given_up) > 8 else ''}."
        )


def _quality(validation: Validation | None) -> str:
    if validation is None:
        return ""
    facts = validation.json()
    lines = [
        "| relation | hidden | log loss | frequencies | accuracy | frequencies |",
        "|---|---|---|---|---|---|",
    ]
    for name, each in {**facts["relations"], "all": facts}.items():
        usual = each["baseline"]
        scores = (each["log_loss"], usual["log_loss"], each["accuracy"], usual["accuracy"])
        lines.append(f"| {name} | {each['hidden']:,} | {' | '.join(f'{x:.3f}' for x in scores)} |")
    told = "\n".join(lines)
    return (
        f"## How good it is\n\n{verdict(validation)} {validation.judgement().capitalize()}.\n\n"
        f"{told}"
    )


def _next() -> str:
    return (
        "## What next\n\n"
        "Read the template: each line is one relation, one table, one query. Drop what should not "
        "be used, add what you know; then validate it again before you trust what it predicts."
    )


def _columns(columns: Sequence[str]) -> str:
    return " and ".join(f"`{each}`" for each in columns)
