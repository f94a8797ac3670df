"""What a draft left out, and what somebody who knows the data could tell it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.words import counted
from lifagu.drafting.asking import quoted
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.columns import SERIAL
from lifagu.drafting.found import FoundOut, is_nearly_empty
from lifagu.drafting.keys import SAID, Link, names_of

FEW_RECORDS = 100  # values of a column below which it is said
MANY_DANGLING = 0.01
MOST_NAMES = 8
FEW_ROWS, MOSTLY_KNOWN = 20, 0.5  # of a label where a column is always empty, and gaps elsewhere


@dataclass(frozen=True)
class Saying:
    """How to tell a draft what it cannot know; by default in the words for Python callers.

    key: that columns tell rows of a table apart; link: that a place, table.column, names rows of a
    target; no_link: that it names none; between: columns.
    """

    key: str = '`keys={{"{table}": ["{columns}"]}}`'
    link: str = '`links={{"{place}": "{target}"}}`'
    no_link: str = '`links={{"{place}": None}}`'
    between: str = '", "'

    def of_key(self, table: str, columns: Sequence[str]) -> str:
        """That these columns tell rows of a table apart."""
        return self.key.format(table=table, columns=self.between.join(columns))


PYTHON = Saying()


def left_out(found: FoundOut) -> Iterator[tuple[str, str]]:
    """Columns that are no relations, and why; relations that tell nothing."""
    who = {
        (table, name)
        for table, key in found.keys.items()
        for name in names_of(table, key.columns, found.links)
    }
    for table, sorts in found.sorts.items():
        for column, sort in sorts.items():
            if sort.kind == "left out" and (table, column) not in who:
                yield f"{table}.{column}", sort.why
            gaps = found.tables[table].columns[column].gaps
            if sort.kind == "group" and gaps and (table, column) not in who:
                place = f"{table}.{column}, {counted(gaps, 'gap')}"
                yield place, f"{sort.why}; its gaps are not predicted"
    for seen in found.tables.values():
        for each in seen.table.columns:
            if each.kind == "other":
                yield f"{seen.name}.{each.name}", "values of its type are not compared"
    empty = [each for each in found.attributes if each.gaps and is_nearly_empty(each)]
    for rare in empty:
        if not any(rare is other for other in found.asked):
            yield rare.origin, "it is nearly always empty; name it to have it predicted"
    for origin in found.flat:
        yield origin, "nearly all of its numbers are the same"
    used = {id(each) for each in found.used}
    idle = [each.name for each in found.attributes if id(each) not in used and each.column]
    for place in (*idle, *_idle_columns(found, who)):
        yield place, "it tells nothing about what is to be predicted"


def by_reason(left: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines of a report: each reason once, with all that it holds for."""
    places: dict[str, list[str]] = {}
    for place, why in left:
        places.setdefault(why, []).append(place)
    for why, every in places.items():
        several = f" ({len(every)} times)" if len(every) > 1 else ""
        yield f"- {why}{several}: {', '.join(every)}" if several else f"- {every[0]}: {why}"


def _idle_columns(found: FoundOut, who: Collection[tuple[str, str]]) -> Iterator[str]:
    """Moments, and columns without gaps that say who belongs together, of which nothing is made."""
    queries = [table.sql for table in found.drafted if table.by]
    queries += [each.evidence for each in found.used]
    used = {each.origin for each in found.used}
    for table, sorts in found.sorts.items():
        for column, sort in sorts.items():
            parts = [f"{column} {part} of {table}" for part in sort.parts]
            groups = sort.kind == "group" and not found.tables[table].columns[column].gaps
            idle = groups and not any(quoted(column) in query for query in queries)
            if (table, column) not in who and (idle or (parts and used.isdisjoint(parts))):
                yield f"{table}.{column}"


def questions(found: FoundOut, saying: Saying = PYTHON) -> Iterator[str]:
    """What somebody who knows the data could tell, and how."""
    nameless = [
        name
        for name, key in found.keys.items()
        if not key.columns and name in found.understood.subjects
    ]
    if nameless:
        yield (
            f"- What tells rows apart in {some_names(nameless)}? They are known by their number "
            f"alone; {saying.of_key(nameless[0], ['COLUMN'])} says better."
        )
    guessed = [
        f"{name} ({', '.join(key.columns)})"
        for name, key in found.keys.items()
        if key.columns and key.how not in ("declared", SAID)
    ]
    if guessed:
        otherwise = saying.of_key("TABLE", ["COLUMN"])
        yield f"- Are these keys right? {some_names(guessed)}. {otherwise} says otherwise."
    links = [each for each in found.links if each.how not in ("declared", SAID)]
    if links:
        shown = some_names([str(each) for each in links])
        first = f"{links[0].table}.{links[0].columns[0]}"
        none = saying.no_link.format(place=first)
        yield f"- Are these links right? {shown}. {none} says that one is none."
    if lost := list(_not_followed(found)):
        yield (
            "- Are these foreign keys as they should be? They are not followed, as several rows "
            f"there have the same values: {some_names(lost)}."
        )
    if found.schema.offered:
        shown = some_names([str(each) for each in found.schema.offered])
        yield (
            "- Do these name rows, though no foreign key says so? They are called so, and have "
            f"the values: {shown}. {_said(found.schema.offered[0], saying)} says so."
        )
    dangling = [
        each
        for each in found.links
        if each.dangling > MANY_DANGLING * found.tables[each.table].rows
    ]
    if dangling:
        shown = some_names([f"{each} ({counted(each.dangling, 'row')})" for each in dangling])
        yield f"- Why do rows name somebody who is not there? {shown}."
    if maybe := list(_maybe_links(found)):
        shown = some_names([f"{each.table}.{each.columns[0]}" for each in maybe])
        yield (
            f"- Do these name rows of their own table, as all of their values are keys there? "
            f"{shown}. {_said(maybe[0], saying)} says so."
        )
    yield from _about_columns(found)


def _said(link: Link, saying: Saying) -> str:
    """How to say that a link is one."""
    return saying.link.format(place=f"{link.table}.{link.columns[0]}", target=link.target)


def _not_followed(found: FoundOut) -> Iterator[str]:
    """Foreign keys between what was read that are no links, though nobody said so."""
    for name, seen in found.tables.items():
        followed = {each for link in found.links if link.table == name for each in link.columns}
        for key in seen.table.foreign_keys:
            target = found.tables.get(key.table)
            if target is None or f"{name}.{key.columns[0]}" in found.settings.links:
                continue
            are_read = {*key.columns} <= {*seen.columns} and {*key.target} <= {*target.columns}
            if are_read and not {*key.columns} <= followed:
                yield f"{name}.{', '.join(key.columns)} → {key.table} by {', '.join(key.target)}"


def _maybe_links(found: FoundOut) -> Iterator[Link]:
    """Columns that may name other rows of their own table, as a manager does.

    Numbers such as ages are keys of rows that merely count as well, so they must be called like
    identifiers; texts that are keys are so hardly by chance.
    """
    for name, seen in found.tables.items():
        key = found.keys[name].columns
        if len(key) != 1 or seen.is_sampled:
            continue
        there, who = seen.columns[key[0]], names_of(name, key, found.links)
        for column in seen.columns.values():
            is_told = column.name in who or f"{name}.{column.name}" in found.settings.links
            named = column.family == "text" or SERIAL.search(column.name)
            many = len(column.texts) >= max(FEW_ROWS, 0.05 * len(there.texts))
            if is_told or not named or not many or column.family != there.family:
                continue
            if column.distinct <= there.distinct and column.cells.texts() != there.cells.texts():
                yield Link(name, (column.name,), name, key, "")


def _about_columns(found: FoundOut) -> Iterator[str]:
    read: dict[str, list[str]] = {}
    nothing: list[str] = []
    commas: dict[str, list[str]] = {}
    for table, sorts in found.sorts.items():
        for column, sort in sorts.items():
            if "if nothing means no" in sort.why:
                nothing.append(f"{table}.{column}")
            words = dict.fromkeys(text for text in sort.blanks if text.strip())
            if sort.comma is not None:
                sign = "a decimal point" if sort.comma else "a mark of thousands"
                commas.setdefault(sign, []).append(f"{table}.{column}")
            if odd := {**words, **sort.odd}:
                shown = ", ".join(
                    f"'{text}' as {'nothing' if number is None else number}"
                    for text, number in list(odd.items())[:3]
                )
                read.setdefault(shown, []).append(f"{table}.{column}")
    if nothing:
        yield f"- Does NULL in {some_names(nothing)} mean no? Then write a value for it."
    for shown, places in read.items():
        yield f"- Is it right to read {shown} in {some_names(places)}?"
    for sign, places in commas.items():
        yield f"- Is it right to read the comma as {sign} in {some_names(places)}?"
    where: dict[str, list[str]] = {}
    for each in found.asked:
        for other, label in _empty_where(each, found.attributes):
            where.setdefault(f"{other.name} is {label}", []).append(each.name)
    for condition, names in where.items():
        what = some_names(names)
        yield (
            f"- Always empty where {condition}: {what}. What has no meaning there is predicted all "
            "the same; do not use it."
        )
    many = [(each.name, int((each.codes >= 0).sum())) for each in found.asked]
    if few := [f"{name} ({known})" for name, known in many if known < FEW_RECORDS]:
        yield f"- More values would help where there are few: {some_names(few)}."


def some_names(names: Sequence[str]) -> str:
    """Names in a sentence, not too many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _empty_where(
    attribute: Attribute, attributes: Sequence[Attribute]
) -> Iterator[tuple[Attribute, str]]:
    """Labels of a complete column where an attribute is never known, though it mostly is elsewhere.

    At most one column is named, that with the most such rows.
    """
    gap = attribute.codes < 0
    best: tuple[int, Attribute | None, str] = (0, None, "")
    for other in attributes:
        if other.subject is not attribute.subject or other.column is None or other.is_number:
            continue
        if other is attribute or (other.codes < 0).any():
            continue
        many = np.bincount(other.codes, minlength=other.size)
        gaps = np.bincount(other.codes, gap, minlength=other.size)
        for place in np.flatnonzero((gaps == many) & (many >= FEW_ROWS)).tolist():
            elsewhere = (gap.sum() - many[place]) / max(1, len(gap) - many[place])
            if elsewhere < MOSTLY_KNOWN:
                best = max(best, (int(many[place]), other, other.labels[place]), key=lambda x: x[0])
    if best[1] is not None:
        yield best[1], best[2]
