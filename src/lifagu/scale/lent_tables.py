"""How many tables were lent to somebody or within a connected part, and how surely, by SQL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.scale.folder_contents import Given
from lifagu.scale.individuals import owners_of_variables
from lifagu.scale.journal import Journal

Tally = dict[int, tuple[int, float]]  # by number: how many tables were lent, the smallest share


def register_lent(journal: Journal, types: Ints, shares: Floats) -> None:
    """Store lent_types (type, share): which got a table, and what share of candidates agreed."""
    journal.register("lent_types", {"type": types, "share": shares})


def lent_to(journal: Journal, given: Given, variables: Sequence[int]) -> Tally:
    """What was lent to the individuals of some variables, or to the factors of nobody's variables.

    Those to whom nothing was lent are left out.
    """
    if not variables:
        return {}
    journal.engine.register("asked", {"id": np.array(variables, dtype=np.int64)})
    owners = owners_of_variables(journal, given)
    found = journal.engine.rows(
        f"""
        SELECT c.id, count(DISTINCT a.factor), min(n.share)
        FROM {owners} c
        JOIN asked q ON q.id = c.id
        JOIN {owners} o ON o.owner = c.owner
        JOIN arguments a ON a.variable = o.id
        JOIN typed t ON t.id = a.factor
        JOIN lent_types n ON n.type = t.type
        GROUP BY c.id
        """
    )
    journal.engine.drop("asked")
    return _tally(found)


def find_lent(journal: Journal) -> None:
    """Store lent_factors (id, part, share): those that got a table in the parts asked about."""
    journal.engine.create(
        "lent_factors",
        """
        SELECT a.factor AS id, min(p.part) AS part, min(n.share) AS share
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
        journal.engine.rows("SELECT part, count(*), min(share) FROM lent_factors GROUP BY part")
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


def _tally(rows: Sequence[tuple[int, int, float]]) -> Tally:
    return {int(number): (int(count), float(share)) for number, count, share in rows}
