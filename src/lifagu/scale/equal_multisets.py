"""Owners of equal multisets of rows, by SQL: a hash finds, comparing decides.

A list per owner would be the plain way, but lists of a group cannot leave memory in DuckDB, and one
hub has as many rows as the graph. So each owner gets two 64-bit sums over its rows, which take no
room, owners with equal sums are grouped, and then the rows of each owner are compared with those of
the first of its group. If they ever differ, other sums are taken.
"""

from __future__ import annotations

from lifagu.errors import LifaguError
from lifagu.scale.engines.dialects import Dialect
from lifagu.scale.engines.engine import Engine

TRIES = 5


def sums(dialect: Dialect, salt: int) -> str:
    """Two sums and the number over an owner's distinct rows (place, colour, times)."""
    one, two = (
        dialect.mixed("place", "colour", "times", salt=2 * salt + which) for which in (0, 1)
    )
    return f"bit_xor({one}) AS one, bit_xor({two}) AS two, count(*) AS places"


def group_owners(engine: Engine, rows: str, name: str, old: str) -> None:
    """Store (id, old, part) for the owners in a table `rows` (owner, place, colour, times).

    Rows are distinct but for their owners. old: a table (id, colour) whose equal colours only may
    come together; part: the least id of those with the same old colour and equal rows.
    """
    for salt in range(TRIES):
        _group_by_sums(engine, rows, name, old, salt)
        if _all_equal(engine, rows, name):
            engine.drop("summed")
            engine.drop("firsts")
            return
    raise LifaguError(
        f"unequal rows had equal sums {TRIES} times in a row, which should not happen; "
        "please report it"
    )


def _group_by_sums(engine: Engine, rows: str, name: str, old: str, salt: int) -> None:
    engine.create(
        "summed",
        f"""
        WITH owners AS (
            SELECT owner, {sums(engine.dialect, salt)}
            FROM {rows}
            GROUP BY owner
        )
        SELECT o.owner AS id, c.colour AS old, o.one, o.two, o.places
        FROM owners o
        JOIN {old} c ON c.id = o.owner
        """,
    )
    engine.create(
        "firsts",
        """
        SELECT old, one, two, places, min(id) AS part
        FROM summed
        GROUP BY old, one, two, places
        """,
    )
    engine.create(
        name,
        """
        SELECT s.id, s.old, f.part
        FROM summed s
        JOIN firsts f
            ON f.old = s.old AND f.one = s.one AND f.two = s.two AND f.places = s.places
        """,
    )


def _all_equal(engine: Engine, rows: str, groups: str) -> bool:
    """Whether every row of an owner is one of the first of its group, which has as many."""
    ((unlike,),) = engine.rows(
        f"""
        WITH mine AS (
            SELECT g.part, r.place, r.colour, r.times
            FROM {rows} r
            JOIN {groups} g ON g.id = r.owner
            WHERE g.id <> g.part
        ),
        parts AS (
            SELECT DISTINCT part FROM {groups}
        ),
        theirs AS (
            SELECT r.*
            FROM {rows} r
            JOIN parts p ON p.part = r.owner
        )
        SELECT count(*)
        FROM mine m
        LEFT JOIN theirs t
            ON t.owner = m.part AND t.place = m.place AND t.colour = m.colour AND t.times = m.times
        WHERE t.owner IS NULL
        """
    )
    return bool(unlike == 0)
