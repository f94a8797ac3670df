"""Types of factors told apart by whose they are, where individuals are filled from others.

An individual owns factors (whose what is says `filling.individuals`): in order by signature, then
by number. Individuals with the same types in the same order are alike, and a factor is then of one
type with those in its place at individuals that are alike. Of these the first is kept apart: it is
the one that lends, so its factors must be called by their own names.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, group_rows
from lifagu.errors import Remedy, TooLargeError
from lifagu.graph.assembly import taken_lists
from lifagu.scale.equal_multisets import group_owners
from lifagu.scale.factor_types import MOST_TYPES, Types
from lifagu.scale.folder_contents import Given
from lifagu.scale.journal import Journal

# for each factor of somebody its owner, its place there and its type
OWNED_FACTORS = """
    SELECT
        f.id,
        min(f.id) OVER (PARTITION BY f.owner) AS owner,
        CAST(
            row_number() OVER (PARTITION BY f.owner ORDER BY s.signature, f.id) AS BIGINT
        ) AS place,
        t.type AS colour,
        1 AS times
    FROM factor_owners f
    JOIN typed t ON t.id = f.id
    JOIN type_signatures s ON s.type = t.type
    """


def split_by_owner(
    journal: Journal, given: Given, types: Types, signatures: Ints
) -> tuple[Types, Ints]:
    """Types with one place at one sort of individuals each, and which sort that is, -1 for none.

    signatures[t]: of each type. The table typed (id, type) is replaced. A few passes over what
    individuals own.
    """
    find_owners(journal, given)
    journal.register("type_signatures", {"type": types.first, "signature": signatures})
    _group_individuals(journal)
    journal.create(
        "types_by_owner",
        """
        SELECT type, part, alone, place, min(id) AS first, count(*) AS size
        FROM factors_by_owner
        GROUP BY type, part, alone, place
        """,
    )
    _check_count(journal)
    typed = """
        SELECT f.id, t.first AS type
        FROM factors_by_owner f
        JOIN types_by_owner t
            ON t.type = f.type AND t.part = f.part AND t.alone = f.alone AND t.place = f.place
        """
    journal.once("typed by owner", lambda: journal.engine.create("typed", typed))
    journal.drop("factors_by_owner")
    first, size, old, part, alone = journal.integers(
        "SELECT first, size, type, part, alone FROM types_by_owner ORDER BY first"
    )
    owners = np.where(part < 0, -1, group_rows(np.column_stack((part + 1, alone))))
    return _taken(types, np.searchsorted(types.first, old), first, size), owners


def find_owners(journal: Journal, given: Given) -> None:
    """Store variable_owners and factor_owners (id, owner), by the rule of `filling.individuals`.

    An individual is called by its first variable; what belongs to nobody is left out.
    """
    dialect = journal.engine.dialect
    word = "CAST(individual AS STRING)"
    if given.holds_lists("variables", "individual"):
        word = dialect.first(f"CAST(individual AS {dialect.lists_of('STRING')})")
    journal.create(
        "owned", f"SELECT number AS id, {word} AS word FROM {given.numbered('variables')} v"
    )
    journal.create(
        "variable_owners",
        """
        WITH firsts AS (
            SELECT word, min(id) AS owner
            FROM owned
            WHERE word IS NOT NULL
            GROUP BY word
        )
        SELECT o.id, f.owner
        FROM owned o
        JOIN firsts f ON f.word = o.word
        """,
    )
    journal.create(
        "factor_owners",
        """
        SELECT a.factor AS id, min(o.owner) AS owner
        FROM arguments a
        JOIN variable_owners o ON o.id = a.variable
        GROUP BY a.factor
        HAVING min(o.owner) = max(o.owner)
        """,
    )
    journal.drop("owned")


def owners_of_variables(journal: Journal, given: Given) -> str:
    """Whose each variable is, as a table expression (id, owner): its own where it is nobody's."""
    if not given.has_individuals:
        return "(SELECT id, id AS owner FROM looks)"
    find_owners(journal, given)
    return """(
            SELECT l.id, coalesce(v.owner, l.id) AS owner
            FROM looks l
            LEFT JOIN variable_owners v ON v.id = l.id
        )"""


def _group_individuals(journal: Journal) -> None:
    """Store factors_by_owner (id, type, part, alone, place).

    An individual is called by its least factor; part: the first one alike, -1 for a factor of
    nobody; alone: whether this is it; place: of the factor among those of its owner.
    """
    journal.create("owned_factors", OWNED_FACTORS)
    journal.create(
        "all_owners", "SELECT DISTINCT owner AS id, CAST(0 AS BIGINT) AS colour FROM owned_factors"
    )
    journal.once(
        "owners alike",
        lambda: group_owners(journal.engine, "owned_factors", "owner_groups", "all_owners"),
    )
    journal.create(
        "factors_by_owner",
        """
        SELECT
            t.id,
            t.type,
            coalesce(g.part, -1) AS part,
            CASE WHEN g.part = g.id THEN 1 ELSE 0 END AS alone,
            coalesce(o.place, 0) AS place
        FROM typed t
        LEFT JOIN owned_factors o ON o.id = t.id
        LEFT JOIN owner_groups g ON g.id = o.owner
        """,
    )
    journal.drop("owned_factors", "all_owners", "owner_groups")


def _check_count(journal: Journal) -> None:
    count = journal.count("types_by_owner")
    if count > MOST_TYPES:
        raise TooLargeError(
            f"the factors are of {count} different types by table, place and what their "
            "individuals have besides; these are looked at in memory, and more than "
            f"{MOST_TYPES} are too many",
            remedy=Remedy.FEWER_TYPES,
        )


def _taken(types: Types, chosen: Ints, first: Ints, size: Ints) -> Types:
    """The chosen types, which stand for other factors than before."""
    looks, ends = taken_lists(types.offsets, types.looks, chosen)
    positions, _ = taken_lists(types.offsets, types.positions, chosen)
    return replace(
        types,
        first=first,
        size=size,
        table=types.table[chosen],
        offsets=np.concatenate(([0], ends - types.offsets[-1])),
        looks=looks,
        positions=positions,
    )
