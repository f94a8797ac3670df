"""How many tables were lent to somebody or within a connected part, and how surely, by SQL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.scale.engines.engine import Engine
from lifagu.scale.folder_contents import Given
from lifagu.scale.individuals import owners_of_variables

# by number: how many tables were lent, the smallest share, how many are hardly better than a guess
Tally = dict[int, tuple[int, float, int]]


def find_lent(
    engine: Engine, parts: Ints, types: Ints, shares: Floats, guesses: NDArray[np.bool_]
) -> None:
    """Store lent_factors (id, part, type, share, guess): those that got a table.

    parts: the connected part of each class of factors, -1 if everything around is observed. types:
    which got a table, and what share agreed; guess: 1 where that is hardly better than a guess.
    """
    groups = np.flatnonzero(parts >= 0)
    engine.register("class_parts", {"group_id": groups, "part": parts[groups]})
    columns = {"type": types, "share": shares, "guess": guesses.astype(np.int64)}
    engine.register("lent_types", columns)
    engine.create(
        "lent_factors",
        """
        SELECT t.id, p.part, t.type, n.share, n.guess
        FROM typed t
        JOIN lent_types n ON n.type = t.type
        JOIN factor_groups g ON g.id = t.id
        JOIN class_parts p ON p.group_id = g.group_id
        """,
    )


def lent_to(engine: Engine, given: Given, parts: dict[int, int]) -> Tally:
    """What was lent to the individuals of some variables, or to the factors of nobody's variables.

    parts: the part of each of these variables; only what was lent there counts. Those to whom
    nothing was lent are left out.
    """
    if not parts:
        return {}
    columns = {"id": np.array(list(parts)), "part": np.array(list(parts.values()))}
    engine.register("asked_parts", columns)
    owners = owners_of_variables(engine, given)
    found = engine.rows(
        f"""
        WITH own AS (
            SELECT DISTINCT c.id, q.part, a.factor
            FROM {owners} c
            JOIN asked_parts q ON q.id = c.id
            JOIN {owners} o ON o.owner = c.owner
            JOIN arguments a ON a.variable = o.id
        )
        SELECT own.id, count(*), min(f.share), sum(f.guess)
        FROM own
        JOIN lent_factors f ON f.id = own.factor AND f.part = own.part
        GROUP BY own.id
        """
    )
    engine.drop("asked_parts")
    return _tally(found)


def lent_within(engine: Engine) -> Tally:
    """What was lent within each part; those in which nothing was are left out."""
    return _tally(
        engine.rows(
            """
            SELECT part, count(*), min(share), sum(guess)
            FROM lent_factors
            GROUP BY part
            """
        )
    )


def lent_first(engine: Engine, parts: Sequence[int], most: int) -> list[int]:
    """The factors that got a table within some parts, ascending, at most so many."""
    engine.register("asked", {"part": np.array(parts, dtype=np.int64)})
    (factors,) = engine.integers(
        f"""
        SELECT f.id
        FROM lent_factors f
        JOIN asked q ON q.part = f.part
        ORDER BY f.id
        LIMIT {most}
        """
    )
    engine.drop("asked")
    numbers: list[int] = factors.tolist()
    return numbers


def lent_weakest(engine: Engine, parts: Sequence[int]) -> int:
    """The type of the weakest factor that got a table within some parts, the first if several."""
    engine.register("asked", {"part": np.array(parts, dtype=np.int64)})
    ((weakest,),) = engine.rows(
        """
        SELECT f.type
        FROM lent_factors f
        JOIN asked q ON q.part = f.part
        ORDER BY f.share, f.id
        LIMIT 1
        """
    )
    engine.drop("asked")
    return int(weakest)


def _tally(rows: Sequence[tuple[int, int, float, int]]) -> Tally:
    return {
        int(number): (int(count), float(share), int(guesses))
        for number, count, share, guesses in rows
    }
