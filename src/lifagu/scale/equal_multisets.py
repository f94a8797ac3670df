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
    """Store (id, old, part) for the owners in a table `rows` (owner, place, colour, times),
    distinct but for owners.

    old: a table (id, colour) whose equal colours only may come together; part: the least id of
    those with the same old colour and equal rows.
    """
    for salt in range(TRIES):
        engine.create(
            "summed",
            f"SELECT s.owner AS id, c.colour AS old, s.one, s.two, s.places FROM (SELECT owner, "
            f"{sums(engine.dialect, salt)} FROM {rows} GROUP BY owner) s JOIN {old} c ON c.id = s.owner",
        )
        engine.create(
            "firsts",
            "SELECT old, one, two, places, min(id) AS part FROM summed GROUP BY old, one, two, places",
        )
        engine.create(
            name,
            "SELECT s.id, s.old, f.part FROM summed s JOIN firsts f ON f.old = s.old AND f.one = s.one "
            "AND f.two = s.two AND f.places = s.places",
        )
        if _all_equal(engine, rows, name):
            engine.drop("summed")
            engine.drop("firsts")
            return
    raise LifaguError(
        f"unequal rows had equal sums {TRIES} times in a row, which should not happen; please report it"
    )


def _all_equal(engine: Engine, rows: str, groups: str) -> bool:
    """Whether every row of an owner is one of the first of its group, which has as many."""
    ((unlike,),) = engine.rows(
        f"SELECT count(*) FROM (SELECT g.part, r.place, r.colour, r.times FROM {rows} r JOIN {groups} g "
        f"ON g.id = r.owner WHERE g.id <> g.part) mine LEFT JOIN (SELECT r.* FROM {rows} r JOIN (SELECT DISTINCT part "
        f"FROM {groups}) p ON p.part = r.owner) theirs ON theirs.owner = mine.part AND theirs.place = mine.place "
        "AND theirs.colour = mine.colour AND theirs.times = mine.times WHERE theirs.owner IS NULL"
    )
    return bool(unlike == 0)
