"""Variables near unknown factors, by SQL: what one would ask about without being told."""

from __future__ import annotations

from lifagu.basics.arrays import Ints
from lifagu.scale.engines.engine import Engine
from lifagu.scale.folder_contents import Given
from lifagu.scale.individuals import owners_of_variables


def find_near(
    engine: Engine, given: Given, unknown: Ints, free: Ints, most: int
) -> tuple[list[int], int]:
    """What one would ask without being told, by the rule of `near_unknown`, and how many these are.

    unknown: types without a table; free: looks that may be asked about. At most so many, to be
    asked before arguments are re-ordered.
    """
    near = _near(engine, given, unknown, free, most)
    return near[0], near[1][0]


def _near(engine: Engine, given: Given, unknown: Ints, free: Ints, most: int) -> list[list[int]]:
    engine.register("unknown_types", {"type": unknown})
    engine.register("free_looks", {"look": free})
    owners = owners_of_variables(engine, given)
    _rank_owners(engine, given, owners)
    engine.create(
        "near",
        f"""
        SELECT o.id, r.factor, r.position
        FROM ranked r
        JOIN {owners} o ON o.owner = r.owner
        JOIN looks l ON l.id = o.id
        JOIN free_looks f ON f.look = l.look
        """,
    )
    first = engine.rows(f"SELECT id FROM near ORDER BY factor, position, id LIMIT {most}")
    return [[int(variable) for (variable,) in first], [engine.count("near")]]


def _rank_owners(engine: Engine, given: Given, owners: str) -> None:
    """Store ranked (owner, factor, position): where each owner is met first, if it is."""
    of_somebody = ""  # who is met at an unknown factor is its owner, if it has one
    if given.has_individuals:
        of_somebody = """
            LEFT JOIN factor_owners w ON w.id = a.factor
            WHERE w.owner IS NULL OR w.owner = o.owner
        """
    engine.create(
        "ranked",
        f"""
        WITH met AS (
            SELECT o.owner, min(a.factor) AS factor
            FROM arguments a
            JOIN typed t ON t.id = a.factor
            JOIN unknown_types u ON u.type = t.type
            JOIN {owners} o ON o.id = a.variable
            {of_somebody}
            GROUP BY o.owner
        )
        SELECT m.owner, m.factor, min(a.position) AS position
        FROM met m
        JOIN arguments a ON a.factor = m.factor
        JOIN {owners} o ON o.id = a.variable AND o.owner = m.owner
        GROUP BY m.owner, m.factor
        """,
    )
