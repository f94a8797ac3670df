"""What a draft left out, and what somebody who knows the data could tell it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.words import counted
from lifagu.drafting.asking import quoted
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.found import FoundOut, is_nearly_empty
from lifagu.drafting.keys import SAID, Link

FEW_RECORDS = 100  # values of a column below which it is said
MANY_DANGLING = 0.01
SPREAD = 0.8  # of the keys of a table, over which numbers are that may name its rows
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


def left_out(found: FoundOut) -> Iterator[str]:
    """Columns that are no relations, and why; relations that tell nothing."""
    who = {(link.table, name) for link in found.links for name in link.columns}
    who |= {(name, column) for name, key in found.keys.items() for column in key.columns}
    for table, sorts in found.sorts.items():
        for column, sort in sorts.items():
            if sort.kind == "left out" and (table, column) not in who:
                yield f"- {table}.{column}: {sort.why}"
            gaps = found.tables[table].columns[column].gaps
            if sort.kind == "group" and gaps and (table, column) not in who:
                why = f"{sort.why}; its gaps are not predicted"
                yield f"- {table}.{column}, {counted(gaps, 'gap')}: {why}"
    for seen in found.tables.values():
        for each in seen.table.columns:
            if each.kind == "other":
                yield f"- {seen.name}.{each.name}: values of its type are not compared"
    empty = [each for each in found.attributes if each.gaps and is_nearly_empty(each)]
    for rare in empty:
        if not any(rare is other for other in found.asked):
            yield f"- {rare.origin} is nearly always empty; name it to have it predicted"
    for origin in found.flat:
        yield f"- {origin}: nearly all of its numbers are the same"
    used = {id(each) for each in found.used}
    idle = [each.name for each in found.attributes if id(each) not in used and each.column]
    idle += _idle_columns(found, who)
    if idle:
        yield f"- tells nothing about what is to be predicted: {', '.join(idle)}"


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
    for name, seen in found.tables.items():
        followed = {link.columns for link in found.links if link.table == name}
        for key in seen.table.foreign_keys:
            if not set(key.columns) <= {each for columns in followed for each in columns}:
                yield (
                    f"- {name}.{', '.join(key.columns)} names {key.table} by "
                    f"{', '.join(key.target)}, which is not the key that was taken; "
                    f"{saying.of_key(key.table, key.target)} follows it."
                )
    for link in found.links:
        if link.dangling > MANY_DANGLING * found.tables[link.table].rows:
            yield _dangling(link)
    for name, column in _maybe_links(found):
        yield (
            f"- All values of {name}.{column} are keys of {name}. Does it name rows there? "
            f"{saying.link.format(place=f'{name}.{column}', target=name)} says so."
        )
    yield from _about_columns(found)


def _maybe_links(found: FoundOut) -> Iterator[tuple[str, str]]:
    """Numbers that may name rows of their own table, as a manager does, though no name says so.

    Those of rows that merely count have all small numbers among them, also weights and ages; so
    numbers have to be spread over the keys.
    """
    for name, seen in found.tables.items():
        key = found.keys[name].columns
        if len(key) != 1 or seen.is_sampled or seen.columns[key[0]].family != "integer":
            continue
        known = seen.columns[key[0]].distinct
        width = _spread_of(known)
        for column in seen.columns.values():
            sort = found.sorts[name][column.name]
            many = len(column.texts) >= max(FEW_ROWS, 0.05 * len(known))
            if (
                sort.kind == "number"
                and many
                and (column.name,) != key
                and known >= column.distinct
                and _spread_of(column.distinct) > SPREAD * width
            ):
                yield name, column.name


def _spread_of(texts: Collection[str]) -> float:
    """How far whole numbers are apart at most."""
    numbers = [float(each) for each in texts]
    return max(numbers) - min(numbers)


def _about_columns(found: FoundOut) -> Iterator[str]:
    read: dict[str, list[str]] = {}
    commas: dict[str, list[str]] = {}
    for table, sorts in found.sorts.items():
        for column, sort in sorts.items():
            if "if nothing means no" in sort.why:
                yield f"- Does NULL in {table}.{column} mean no? Then write a value for it."
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
    for each in found.asked:
        known = int((each.codes >= 0).sum())
        if known < FEW_RECORDS:
            yield f"- {each.name} has only {known} values; more of them would help."


def some_names(names: Sequence[str]) -> str:
    """GivenNames in a sentence, not too many."""
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


def _dangling(link: Link) -> str:
    return (
        f"- Why do {link.dangling:,} rows of {link.table} name somebody in {link.columns[0]} "
        f"who is not in {link.target}?"
    )
