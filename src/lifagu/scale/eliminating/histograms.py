"""Interchangeable variables become one histogram, where numbers of rows prove that they are.

Arguments that may be swapped without changing a table are put in one order first. Members of a
class are then proposed by the number of their rows in each place. They are interchangeable if every
group of rows that differ only in their m members holds all N(N-1)… tuples of members, or, where the
table is symmetric in them, all sets of two, each once: rows are distinct, so their number decides.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from lifagu.scale.eliminating.rows import MOST_LABELS, ObstacleError, StoredRows, projected
from lifagu.scale.eliminating.work import among, chosen, columns, listed, values

MOST_PLACES = 16  # different places of a variable that is considered
MOST_TRIED = 8  # classes
MOST_MEMBERS = 2  # in one row


@dataclass(frozen=True)
class MemberRows:
    """Rows with a label and members in some slots: how many they become, whether in all orders."""

    label: int
    slots: tuple[int, ...]
    many: int
    ordered: bool


def count_members(rows: StoredRows, kept: Collection[int]) -> int:
    """Count the first interchangeable class of variables; how many these were, 0 for none."""
    _put_in_order(rows)
    profiles = _profiles(rows, kept)
    for members, size, key in _classes(rows, profiles)[:MOST_TRIED]:
        table = rows.work.store("class", f"SELECT v FROM {profiles} WHERE {key}")
        marked = {arity: _marked(rows, arity, table) for arity in rows.tables}
        groups = _proved(rows, marked, members)
        weights = rows.labels.histogram(members, size) if groups is not None else None
        if groups is not None and weights is not None:
            _replace(rows, marked, groups, members, weights)
            return members
        rows.work.drop(table, *marked.values())
    return 0


def _pairs(rows: StoredRows, arity: int) -> list[tuple[int, int, list[int]]]:
    """Pairs of slots that may be swapped (of more the first two), and the labels with them."""
    found: dict[tuple[int, int], list[int]] = {}
    for label in rows.counts[arity]:
        swappable = rows.labels.swappable(label)
        for slot in sorted(set(swappable)):
            others = [other for other in range(slot + 1, arity) if swappable[other] == slot]
            if others:
                found.setdefault((slot, others[0]), []).append(label)
    return [(*pair, labels) for pair, labels in sorted(found.items())]


def _swapped(slot: int, letter: str, pairs: list[tuple[int, int, list[int]]], when: str) -> str:
    """What stands in a slot when pairs are swapped under a condition on {one} and {other}."""
    cases = ""
    for one, other, labels in pairs:
        if slot in (one, other):
            condition = f"{among('label', labels)} AND {when.format(one=one, other=other)}"
            cases += f" WHEN {condition} THEN {letter}{other if slot == one else one}"
    return f"CASE{cases} ELSE {letter}{slot} END" if cases else f"{letter}{slot}"


def _put_in_order(rows: StoredRows) -> None:
    """Swappable arguments stand in the order of their ids, and equal rows are merged everywhere."""
    queries = {}
    for arity, table in rows.tables.items():
        pairs = _pairs(rows, arity)
        slots = listed(
            f"{_swapped(slot, 'v', pairs, 'v{one} > v{other}')} AS v{slot}" for slot in range(arity)
        )
        queries[arity] = [f"SELECT label, {slots} FROM {table}"]
    rows.merged = True
    rows.replaced(queries)
    if not rows.merged:
        raise ObstacleError(f"more than {MOST_LABELS} different tables stand on equal rows")


def _profiles(rows: StoredRows, kept: Collection[int]) -> str:
    """A table of variables with their places p0 … and the number of rows there, c0 …, in order."""
    first = {
        rows.place(label, other): rows.place(label, one)
        for arity in rows.tables
        for one, other, labels in _pairs(rows, arity)
        for label in labels
    }
    shown = ["v", "count(*) AS places"]
    for number in range(MOST_PLACES):
        shown.append(f"coalesce(max(CASE WHEN rank = {number} THEN place END), -1) AS p{number}")
        shown.append(f"coalesce(max(CASE WHEN rank = {number} THEN many END), -1) AS c{number}")
    return rows.work.store(
        "profiles",
        f"""
        WITH entries AS (
            {rows.entries()}
        ),
        first_entries AS (
            SELECT v, {chosen("place", first, "place")} AS place
            FROM entries
            WHERE NOT {among("v", kept)}
        ),
        numbers AS (
            SELECT v, place, count(*) AS many
            FROM first_entries
            GROUP BY v, place
        ),
        ranked AS (
            SELECT v, place, many, row_number() OVER (PARTITION BY v ORDER BY place) - 1 AS rank
            FROM numbers
        )
        SELECT {listed(shown)}
        FROM ranked
        GROUP BY v
        """,
    )


def _classes(rows: StoredRows, profiles: str) -> list[tuple[int, int, str]]:
    """Classes of two or more: how many, the range size, and which; fewest histograms first."""
    names = [*columns(MOST_PLACES, "p"), *columns(MOST_PLACES, "c")]
    found = rows.work.rows(
        f"""
        SELECT count(*), min(v), {listed(names)}
        FROM {profiles}
        WHERE places <= {MOST_PLACES}
        GROUP BY {listed(names)}
        HAVING count(*) > 1
        ORDER BY min(v)
        """
    )
    if len(found) > MOST_LABELS:
        raise ObstacleError(f"there are {len(found)} kinds of variables")
    classes = []
    for members, _, *key in found:
        label, slot = rows.label_slot(key[0])
        same = " AND ".join(f"{name} = {value}" for name, value in zip(names, key, strict=True))
        classes.append((members, rows.labels.shape(label)[slot], same))
    return sorted(classes, key=lambda each: each[0] ** (each[1] - 1))


def _marked(rows: StoredRows, arity: int, members: str) -> str:
    """A table of the rows of one arity, and a mask with a bit for each slot that holds a member.

    Of swappable slots the first one holds a member if one of them does.
    """
    own = listed(
        f"CASE WHEN m{slot}.v IS NULL THEN 0 ELSE 1 END AS t{slot}" for slot in range(arity)
    )
    joins = " ".join(
        f"LEFT JOIN {members} AS m{slot} ON r.v{slot} = m{slot}.v" for slot in range(arity)
    )
    given = listed(f"r.{slot} AS {slot}" for slot in columns(arity))
    pairs, when = _pairs(rows, arity), "t{one} < t{other}"
    slots = listed(f"{_swapped(slot, 'v', pairs, when)} AS v{slot}" for slot in range(arity))
    mask = " + ".join(f"{1 << slot} * {_swapped(slot, 't', pairs, when)}" for slot in range(arity))
    return rows.work.store(
        f"marked_{arity}",
        f"""
        WITH told AS (
            SELECT r.label AS label, {given}, {own}
            FROM {rows.tables[arity]} AS r
            {joins}
        )
        SELECT label, {slots}, {mask} AS mask
        FROM told
        """,
    )


def _slots(mask: int) -> tuple[int, ...]:
    return tuple(slot for slot in range(mask.bit_length()) if mask >> slot & 1)


def _proved(rows: StoredRows, marked: dict[int, str], members: int) -> list[MemberRows] | None:
    """What the rows with members become; None if they are not the same for all members."""
    groups = []
    for arity, table in marked.items():
        masks = rows.work.rows(f"SELECT DISTINCT mask FROM {table} WHERE mask > 0 ORDER BY mask")
        for (mask,) in masks:
            slots = _slots(mask)
            if len(slots) > MOST_MEMBERS:
                return None
            for label, least, most, many, ascending in _numbers(rows, table, arity, mask, slots):
                tuples, sets = math.perm(members, len(slots)), math.comb(members, len(slots))
                ordered = least == most == tuples
                once = least == most == sets and ascending in (0, many * sets)
                if not (ordered or once) or not rows.labels.counts(label, slots, members, ordered):
                    return None
                groups.append(MemberRows(label, slots, many, ordered))
    return groups


def _numbers(
    rows: StoredRows, table: str, arity: int, mask: int, slots: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """For each label: the least and the largest number of rows beside the same others, of how many.

    And in how many rows two members stand in the order of their ids.
    """
    others = "".join(f", v{slot}" for slot in range(arity) if slot not in slots)
    ascending = f"CASE WHEN v{slots[0]} < v{slots[-1]} THEN 1 ELSE 0 END" if len(slots) > 1 else "0"
    return rows.work.rows(
        f"""
        WITH grouped AS (
            SELECT label, count(*) AS many, sum({ascending}) AS ascending
            FROM {table}
            WHERE mask = {mask}
            GROUP BY label{others}
        )
        SELECT label, min(many), max(many), count(*), sum(ascending)
        FROM grouped
        GROUP BY label
        ORDER BY label
        """
    )


def _replace(
    rows: StoredRows, marked: dict[int, str], groups: list[MemberRows], members: int, weights: int
) -> None:
    """Put the histogram in the place of its members."""
    histogram = rows.fresh()
    queries: dict[int, list[str]] = {
        1: [f"SELECT * FROM {values(['label', 'v0'], [(weights, histogram)])} AS weights"]
    }
    for arity, table in marked.items():
        queries.setdefault(arity, []).append(projected(table, "label", range(arity), "mask = 0"))
    arity_of = rows.arity_of()
    for group in groups:
        arity = arity_of[group.label]
        mask = sum(1 << slot for slot in group.slots)
        others = [slot for slot in range(arity) if slot not in group.slots]
        label = rows.labels.counted(group.label, group.slots, members, group.ordered, group.many)
        near = "".join(f", v{slot} AS v{number}" for number, slot in enumerate(others, start=1))
        queries.setdefault(1 + len(others), []).append(
            f"""
            SELECT DISTINCT
                CAST({label} AS BIGINT) AS label,
                CAST({histogram} AS BIGINT) AS v0{near}
            FROM {marked[arity]}
            WHERE mask = {mask} AND label = {group.label}
            """
        )
    rows.replaced(queries)
