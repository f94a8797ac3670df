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


def register_lent(
    engine: Engine, groups: Ints, parts: Ints, shares: Floats, guesses: NDArray[np.bool_]
) -> None:
    """Store lent_classes (group_id, part, share, guess): classes of factors that got a table.

    guess: 1 where that is hardly better than a guess, else 0.
    """
    columns = {"group_id": groups, "part": parts, "share": shares}
    engine.register("lent_classes", {**columns, "guess": guesses.astype(np.int64)})


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
        SELECT own.id, count(*), min(l.share), sum(l.guess)
        FROM own
        JOIN factor_groups g ON g.id = own.factor
        JOIN lent_classes l ON l.group_id = g.group_id AND l.part = own.part
        GROUP BY own.id
        """
    )
    engine.drop("asked_parts")
    return {
        int(number): (int(count), float(share), int(guesses))
        for number, count, share, guesses in found
    }


def lent_first(engine: Engine, parts: Sequence[int], most: int) -> tuple[list[int], int]:
    """The first factors that got a table within some parts, and the type of the weakest one."""
    engine.register("asked", {"part": np.array(parts, dtype=np.int64)})
    lent = """
        FROM lent_classes l
        JOIN asked q ON q.part = l.part
        JOIN factor_groups g ON g.group_id = l.group_id
        """
    (factors,) = engine.integers(f"SELECT g.id {lent} ORDER BY g.id LIMIT {most}")
    weakest = engine.value(
        f"""
        SELECT t.type {lent}
        JOIN typed t ON t.id = g.id
        ORDER BY l.share, g.id
        LIMIT 1
        """
    )
    engine.drop("asked")
    numbers: list[int] = factors.tolist()
    return numbers, int(weakest)
