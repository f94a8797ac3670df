"""Connected parts by SQL, of variables that are asked about, once those with a value are taken out.

A part is found by contraction: in each round every variable goes over to the one among itself and
its neighbours that comes first in an order drawn anew for the round. That halves a path on average,
and shrinks any other graph by some constant share (Bögeholz, Brand and Todor, 2020), so all rounds
together cost a few passes over the arguments, whether the graph is a star, a chain or a million
small parts. Whatever the order, neighbours stay neighbours or become one: the parts do not depend
on it. When few links are left they are finished in memory, and the way back says who is in the
parts that were asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts, first_places
from lifagu.scale.journal import Journal


def find_parts(journal: Journal, free: Ints, asked: Sequence[int], enough: int) -> dict[int, int]:
    """The connected part of each variable asked about, named by one of the variables in it.

    free: looks that do not cut a part; asked: variables with such looks. Stores who else is in
    these parts, asked_parts (id, part). enough: links that are few enough for memory.
    """
    steps = _contracted(journal, free, enough)
    places = _followed(journal, steps, asked)
    _go_back(journal, steps, sorted(set(places.values())))
    return places


def _contracted(journal: Journal, free: Ints, enough: int) -> list[str]:
    """Tables (id, place) that say where variables go, round by round, until each part is one."""
    _link(journal, free)
    steps: list[str] = []
    links = "links_0"
    while not _is_finished(journal, links, enough):
        number = len(steps) + 1
        steps.append(f"going_{number}")
        _contract(journal, number, links, f"links_{number}")
        links = f"links_{number}"
    journal.drop(links)
    return [*steps, "going_last"]


def _link(journal: Journal, free: Ints) -> None:
    """Store links_0 (one, two): the first free argument of a factor with each of the others."""
    journal.register("free_looks", {"look": free})
    journal.create(
        "free_arguments",
        """
        SELECT a.factor, a.variable
        FROM arguments a
        JOIN looks l ON l.id = a.variable
        JOIN free_looks f ON f.look = l.look
        """,
    )
    journal.create(
        "links_0",
        """
        WITH connected AS (
            SELECT factor, min(variable) AS first
            FROM free_arguments
            GROUP BY factor
            HAVING count(*) > 1
        )
        SELECT DISTINCT c.first AS one, a.variable AS two
        FROM free_arguments a
        JOIN connected c ON c.factor = a.factor
        WHERE a.variable <> c.first
        """,
    )
    journal.drop("free_arguments")


def _is_finished(journal: Journal, links: str, enough: int) -> bool:
    """Finish links that are few enough, in memory; whether they were, when this was asked first."""

    def work() -> bool:
        if journal.count(links) > enough:
            return False
        _finish(journal, links)
        return True

    return journal.once(f"finishing {links}", work)


def _contract(journal: Journal, number: int, links: str, fewer: str) -> None:
    """One round: store going_N (id, place), and the links that are left between places."""
    mixed = journal.engine.dialect.mixed
    other, own = mixed("other", salt=number), mixed("id", salt=number)
    nearest = mixed("nearest", salt=number)
    journal.create(
        f"going_{number}",
        f"""
        WITH pairs AS (
            SELECT one AS id, two AS other FROM {links}
            UNION ALL
            SELECT two AS id, one AS other FROM {links}
        ),
        met AS (
            SELECT id, min_by(other, {other}) AS nearest
            FROM pairs
            GROUP BY id
        )
        SELECT id, CASE WHEN {nearest} < {own} THEN nearest ELSE id END AS place
        FROM met
        """,
    )
    journal.create(
        fewer,
        f"""
        SELECT DISTINCT least(a.place, b.place) AS one, greatest(a.place, b.place) AS two
        FROM {links} l
        JOIN going_{number} a ON a.id = l.one
        JOIN going_{number} b ON b.id = l.two
        WHERE a.place <> b.place
        """,
    )
    journal.drop(links)


def _finish(journal: Journal, links: str) -> None:
    """Store going_last (id, place) for the links that are left, from memory."""
    one, two = journal.integers(f"SELECT one, two FROM {links}")
    ids = np.unique(np.concatenate((one, two)))
    part = connected_parts(len(ids), np.searchsorted(ids, one), np.searchsorted(ids, two))
    place = ids[first_places(part)][part] if len(ids) else ids
    journal.engine.register("going_last", {"id": ids, "place": place})


def _followed(journal: Journal, steps: Sequence[str], asked: Sequence[int]) -> dict[int, int]:
    """Where each variable asked about is in the end."""
    engine, ids = journal.engine, np.unique(np.array(asked, dtype=np.int64))
    engine.register("asked_places", {"id": ids, "place": ids})
    for step in steps:
        engine.create(
            "asked_places",
            f"""
            SELECT a.id, coalesce(g.place, a.place) AS place
            FROM asked_places a
            LEFT JOIN {step} g ON g.id = a.place
            """,
        )
    found = engine.rows("SELECT id, place FROM asked_places")
    engine.drop("asked_places")
    return {int(variable): int(place) for variable, place in found}


def _go_back(journal: Journal, steps: Sequence[str], parts: Sequence[int]) -> None:
    """Store asked_parts (id, part): all variables that came to these places, step by step."""
    engine, ids = journal.engine, np.array(parts, dtype=np.int64)
    engine.register("asked_parts", {"id": ids, "part": ids})
    for step in reversed(steps):
        engine.create(
            "asked_parts",
            f"""
            SELECT g.id, p.part
            FROM asked_parts p
            JOIN {step} g ON g.place = p.id
            UNION ALL
            SELECT p.id, p.part
            FROM asked_parts p
            LEFT JOIN {step} g ON g.id = p.id
            WHERE g.id IS NULL
            """,
        )
