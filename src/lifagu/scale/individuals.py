"""Types of factors told apart by the home they stand in, where whole individuals are filled from
others.

A home is what an individual owns (whose what is says `symmetry.transfer.individuals`): its factors
by signature, then by number. Homes with the same types in the same order are
alike, and a factor is then of one type with those in its place in homes that are alike. Of these
the first home is kept
apart: it is the one that lends, so its factors must be called by their own names.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, group_rows
from lifagu.errors import Remedy, TooLargeError
from lifagu.graph.assembly import taken_lists
from lifagu.scale.equal_multisets import group_owners
from lifagu.scale.factor_types import MOST_TYPES, Types
from lifagu.scale.intake import Given
from lifagu.scale.journal import Journal


def split_by_home(
    journal: Journal, given: Given, types: Types, signatures: Ints
) -> tuple[Types, Ints]:
    """Types that stand in one place of one sort of home each, and for each of them which sort that
    is, -1 for none.

    signatures[t]: of each type. The table typed (id, type) is replaced. A few passes over what
    individuals own.
    """
    find_owners(journal, given)
    journal.register("type_signatures", {"type": types.first, "signature": signatures})
    _group_homes(journal)
    journal.create(
        "types_by_home",
        "SELECT type, part, alone, place, min(id) AS first, count(*) AS size FROM factors_by_home "
        "GROUP BY type, part, alone, place",
    )
    _check_count(journal, given)
    journal.once(
        "typed by home",
        lambda: journal.engine.create(
            "typed",
            "SELECT f.id, t.first AS type FROM factors_by_home f JOIN types_by_home t ON t.type = f.type "
            "AND t.part = f.part AND t.alone = f.alone AND t.place = f.place",
        ),
    )
    journal.drop("factors_by_home")
    found = journal.engine.columns(
        "SELECT first, size, type, part, alone FROM types_by_home ORDER BY first"
    )
    first, size, old, part, alone = (np.ma.getdata(each).astype(np.int64) for each in found)
    owners = np.where(part < 0, -1, group_rows(np.column_stack((part + 1, alone))))
    return _taken(types, np.searchsorted(types.first, old), first, size), owners


def has_individuals(given: Given) -> bool:
    """Whether variables may belong to individuals."""
    return "individual" in given.columns["variables"]


def find_owners(journal: Journal, given: Given) -> None:
    """Store variable_owners and factor_owners (id, owner), by the rule of
    `symmetry.transfer.individuals`.

    An individual is called by its first variable; what belongs to nobody is left out.
    """
    dialect = journal.engine.dialect
    word = "CAST(individual AS STRING)"
    if given.listed:
        word = dialect.first(f"CAST(individual AS {dialect.lists_of('STRING')})")
    journal.create(
        "owned", f"SELECT number AS id, {word} AS word FROM {given.numbered('variables')} v"
    )
    journal.create(
        "variable_owners",
        """
        SELECT o.id, f.owner
        FROM owned o
        JOIN (
            SELECT word, min(id) AS owner FROM owned WHERE word IS NOT NULL GROUP BY word
        ) f ON f.word = o.word
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
    if not has_individuals(given):
        return "(SELECT id, id AS owner FROM looks)"
    find_owners(journal, given)
    return """(
            SELECT l.id, coalesce(v.owner, l.id) AS owner
            FROM looks l
            LEFT JOIN variable_owners v ON v.id = l.id
        )"""


def _group_homes(journal: Journal) -> None:
    """Store factors_by_home (id, type, part, alone, place).

    A home is called by its least factor; part: the first home alike, -1 for a factor without a
    home; alone: whether this is it; place: of the factor in its home.
    """
    journal.create(
        "homes",
        "SELECT f.id, min(f.id) OVER (PARTITION BY f.owner) AS owner, CAST(row_number() OVER (PARTITION BY f.owner "
        "ORDER BY s.signature, f.id) AS BIGINT) AS place, t.type AS colour, 1 AS times FROM factor_owners f "
        "JOIN typed t ON t.id = f.id JOIN type_signatures s ON s.type = t.type",
    )
    journal.create(
        "homes_alike", "SELECT DISTINCT owner AS id, CAST(0 AS BIGINT) AS colour FROM homes"
    )
    journal.once(
        "homes", lambda: group_owners(journal.engine, "homes", "home_groups", "homes_alike")
    )
    journal.create(
        "factors_by_home",
        "SELECT t.id, t.type, coalesce(g.part, -1) AS part, CASE WHEN g.part = g.id THEN 1 ELSE 0 END AS alone, "
        "coalesce(h.place, 0) AS place FROM typed t LEFT JOIN homes h ON h.id = t.id LEFT JOIN home_groups g "
        "ON g.id = h.owner",
    )
    journal.drop("homes", "homes_alike", "home_groups")


def _check_count(journal: Journal, given: Given) -> None:
    ((count,),) = journal.engine.rows("SELECT count(*) FROM types_by_home")
    if count > MOST_TYPES:
        raise TooLargeError(
            f"the factors are of {count} different types by table, place and what their individuals have besides; "
            f"these are looked at in memory, and more than {MOST_TYPES} are too many",
            remedy=Remedy.FEWER_TYPES,
        )


def _taken(types: Types, chosen: Ints, first: Ints, size: Ints) -> Types:
    """The chosen types, which stand for other factors than before."""
    looks, ends = taken_lists(types.offsets, types.looks, chosen)
    positions, _ = taken_lists(types.offsets, types.positions, chosen)
    offsets = np.concatenate(([0], ends - types.offsets[-1]))
    return replace(
        types,
        first=first,
        size=size,
        table=types.table[chosen],
        offsets=offsets,
        looks=looks,
        positions=positions,
    )
