"""How many tables were lent to somebody or within a connected part, and how surely, by SQL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.scale.folder_contents import Given
from lifagu.scale.individuals import owners_of_variables
from lifagu.scale.journal import Journal

# by number: how many tables were lent, the smallest share, how many are hardly better than a guess
Tally = dict[int, tuple[int, float, int]]


def register_lent(
    journal: Journal, types: Ints, shares: Floats, guesses: NDArray[np.bool_]
) -> None:
    """Store lent_types (type, share, guess): which got a table, and what share agreed.

    guess: 1 where that is hardly better than a guess, else 0.
    """
    columns = {"type": types, "share": shares, "guess": guesses.astype(np.int64)}
    journal.register("lent_types", columns)


def lent_to(journal: Journal, given: Given, variables: Sequence[int]) -> Tally:
    """What was lent to the individuals of some variables, or to the factors of nobody's variables.

    Only what answers about these variables rest on: what `find_lent` found in their own parts.
    Those to whom nothing was lent are left out.
    """
    if not variables:
        return {}
    journal.engine.register("asked", {"id": np.array(variables, dtype=np.int64)})
    owners = owners_of_variables(journal, given)
    found = journal.engine.rows(
        f"""
        WITH own AS (
            SELECT DISTINCT c.id, a.factor
            FROM {owners} c
            JOIN asked q ON q.id = c.id
            JOIN {owners} o ON o.owner = c.owner
            JOIN arguments a ON a.variable = o.id
        )
        SELECT own.id, count(*), min(f.share), sum(f.guess)
        FROM own
        JOIN asked_parts p ON p.id = own.id
        JOIN lent_factors f ON f.id = own.factor AND f.part = p.part
        GROUP BY own.id
        """
    )
    journal.engine.drop("asked")
    return _tally(found)


def find_lent(journal: Journal) -> None:
    """Store lent_factors (id, part, type, share, guess): those that got a table in these parts."""
    journal.engine.create(
        "lent_factors",
        """
        SELECT
            a.factor AS id,
            min(p.part) AS part,
            min(n.type) AS type,
            min(n.share) AS share,
            min(n.guess) AS guess
        FROM arguments a
        JOIN typed t ON t.id = a.factor
        JOIN lent_types n ON n.type = t.type
        JOIN asked_parts p ON p.id = a.variable
        GROUP BY a.factor
        """,
    )


def lent_within(journal: Journal) -> Tally:
    """What was lent within each part; those in which nothing was are left out."""
    return _tally(
        journal.engine.rows(
            """
            SELECT part, count(*), min(share), sum(guess)
            FROM lent_factors
            GROUP BY part
            """
        )
    )


def lent_first(journal: Journal, parts: Sequence[int], most: int) -> list[int]:
    """The factors that got a table within some parts, ascending, at most so many."""
    journal.engine.register("asked", {"part": np.array(parts, dtype=np.int64)})
    (factors,) = journal.integers(
        f"""
        SELECT f.id
        FROM lent_factors f
        JOIN asked q ON q.part = f.part
        ORDER BY f.id
        LIMIT {most}
        """
    )
    journal.engine.drop("asked")
    numbers: list[int] = factors.tolist()
    return numbers


def lent_weakest(journal: Journal, parts: Sequence[int]) -> int:
    """The type of the weakest factor that got a table within some parts, the first if several."""
    journal.engine.register("asked", {"part": np.array(parts, dtype=np.int64)})
    ((weakest,),) = journal.engine.rows(
        """
        SELECT f.type
        FROM lent_factors f
        JOIN asked q ON q.part = f.part
        ORDER BY f.share, f.id
        LIMIT 1
        """
    )
    journal.engine.drop("asked")
    return int(weakest)


def _tally(rows: Sequence[tuple[int, int, float, int]]) -> Tally:
    return {
        int(number): (int(count), float(share), int(guesses))
        for number, count, share, guesses in rows
    }
