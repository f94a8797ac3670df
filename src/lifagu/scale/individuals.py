"""Types of factors told apart by whose they are, where individuals are filled from others.

An individual owns factors (whose what is says `filling.individuals`): in order by signature, then
by number. Individuals with the same types in the same order are alike, and a factor is then of one
type with those in its place at individuals that are alike. Of these the first is kept apart: it is
the one that lends, so its factors must be called by their own names. Where an owner has several
factors in equal roles, types are told apart by companions as well: whom arguments list beside the
owner.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Ints, group_rows
from lifagu.basics.arrays import owners as owners_of
from lifagu.errors import Remedy, TooLargeError
from lifagu.graph.assembly import taken_lists
from lifagu.scale.engines.engine import Engine
from lifagu.scale.equal_multisets import group_owners
from lifagu.scale.factor_types import MOST_TYPES, Types
from lifagu.scale.folder_contents import Given

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
    engine: Engine, given: Given, types: Types, signatures: Ints
) -> tuple[Types, Ints, Ints]:
    """Types with one place at one sort of individuals each, and which sort that is, -1 for none.

    signatures[t]: of each type. Third come the companions of each argument as numbers, 0 for
    nobody. The table typed (id, type) is replaced. A few passes over what individuals own.
    """
    find_owners(engine, given)
    types, signatures, companions = _by_company(engine, given, types, signatures)
    engine.register("type_signatures", {"type": types.first, "signature": signatures})
    _group_individuals(engine)
    engine.create(
        "types_by_owner",
        """
        SELECT type, part, alone, place, min(id) AS first, count(*) AS size
        FROM factors_by_owner
        GROUP BY type, part, alone, place
        """,
    )
    _check_count(engine, "types_by_owner")
    typed = """
        SELECT f.id, t.first AS type
        FROM factors_by_owner f
        JOIN types_by_owner t
            ON t.type = f.type AND t.part = f.part AND t.alone = f.alone AND t.place = f.place
        """
    engine.create("typed", typed)
    engine.discard("factors_by_owner")
    first, size, old, part, alone = engine.integers(
        "SELECT first, size, type, part, alone FROM types_by_owner ORDER BY first"
    )
    owners = np.where(part < 0, -1, group_rows(np.column_stack((part + 1, alone))))
    chosen = np.searchsorted(types.first, old)
    companions, _ = taken_lists(types.offsets, companions, chosen)
    return _taken(types, chosen, first, size), owners, companions


def _by_company(
    engine: Engine, given: Given, types: Types, signatures: Ints
) -> tuple[Types, Ints, Ints]:
    """Types with one company each, their signatures, and the companions of their arguments.

    Only companions of individuals with unknown factors are told apart from one another.
    """
    nobody = np.zeros_like(types.looks)
    if not given.holds_lists("variables", "individual"):
        return types, signatures, nobody
    count = _find_companions(engine, given, types, signatures)
    if not count:
        return types, signatures, nobody
    engine.create(
        "company",
        f"""
        SELECT
            a.factor AS owner,
            a.position AS place,
            CAST(coalesce(k.code, {count + 1}) AS BIGINT) AS colour,
            1 AS times
        FROM crowded_arguments a
        LEFT JOIN companions_coded k ON k.others = a.others
        """,
    )
    engine.create(
        "in_company", "SELECT DISTINCT owner AS id, CAST(0 AS BIGINT) AS colour FROM company"
    )
    group_owners(engine, "company", "company_groups", "in_company")
    engine.create(
        "typed_by_company",
        """
        SELECT t.id, t.type, coalesce(g.part, -1) AS part
        FROM typed t
        LEFT JOIN company_groups g ON g.id = t.id
        """,
    )
    engine.create(
        "types_by_company",
        """
        SELECT type, part, min(id) AS first, count(*) AS size
        FROM typed_by_company
        GROUP BY type, part
        """,
    )
    _check_count(engine, "types_by_company")
    typed = """
        SELECT c.id, t.first AS type
        FROM typed_by_company c
        JOIN types_by_company t ON t.type = c.type AND t.part = c.part
        """
    engine.create("typed", typed)
    engine.discard(
        "crowded", "crowded_arguments", "in_company", "company_groups", "typed_by_company"
    )
    first, size, old = engine.integers(
        "SELECT first, size, type FROM types_by_company ORDER BY first"
    )
    chosen = np.searchsorted(types.first, old)
    found = _taken(types, chosen, first, size)
    return found, signatures[chosen], _companions_of(engine, found)


def _find_companions(engine: Engine, given: Given, types: Types, signatures: Ints) -> int:
    """Store crowded_arguments and companions_coded (others, code); how many codes there are.

    Crowded are factors whose owner has several of their signature; coded is whom such factors of
    individuals with unknown ones list beside the owner, numbered from 1.
    """
    dialect = engine.dialect
    holes = (types.table < 0).astype(np.int64)
    columns = {"type": types.first, "signature": signatures, "hole": holes}
    engine.register("type_roles", columns)
    engine.create(
        "crowded",
        """
        WITH counted AS (
            SELECT
                f.id,
                f.owner,
                count(*) OVER (PARTITION BY f.owner, r.signature) AS many,
                max(r.hole) OVER (PARTITION BY f.owner) AS hole
            FROM factor_owners f
            JOIN typed t ON t.id = f.id
            JOIN type_roles r ON r.type = t.type
        )
        SELECT id, hole FROM counted WHERE many > 1
        """,
    )
    words = f"CAST(v.individual AS {dialect.lists_of('STRING')})"
    engine.create(
        "crowded_arguments",
        f"""
        WITH companions AS (
            SELECT v.number AS id, {dialect.rest(words)} AS others
            FROM {given.numbered("variables")} v
            WHERE {dialect.length("v.individual")} > 1
        )
        SELECT a.factor, a.position, a.variable, c.others, o.hole
        FROM arguments a
        JOIN crowded o ON o.id = a.factor
        JOIN companions c ON c.id = a.variable
        """,
    )
    engine.create(
        "companions_coded",
        """
        SELECT others, row_number() OVER (ORDER BY min(variable)) AS code
        FROM crowded_arguments
        WHERE hole = 1
        GROUP BY others
        """,
    )
    return engine.count("companions_coded")


def _companions_of(engine: Engine, types: Types) -> Ints:
    """The companions of each argument of types, as numbers, 0 for nobody."""
    factor, place, code = engine.integers(
        """
        SELECT c.owner, c.place, c.colour
        FROM company c
        JOIN types_by_company t ON t.first = c.owner
        """
    )
    wide = int(types.positions.max(initial=0)) + 1
    mine = owners_of(types.offsets) * wide + types.positions
    order = np.argsort(mine)
    found = np.zeros_like(types.looks)
    theirs = np.searchsorted(types.first, factor) * wide + place
    found[order[np.searchsorted(mine, theirs, sorter=order)]] = code
    return found


def find_owners(engine: Engine, given: Given) -> None:
    """Store variable_owners and factor_owners (id, owner), by the rule of `filling.individuals`.

    An individual is called by its first variable; what belongs to nobody is left out.
    """
    dialect = engine.dialect
    word = "CAST(individual AS STRING)"
    if given.holds_lists("variables", "individual"):
        word = dialect.first(f"CAST(individual AS {dialect.lists_of('STRING')})")
    engine.create(
        "owned", f"SELECT number AS id, {word} AS word FROM {given.numbered('variables')} v"
    )
    engine.create(
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
    engine.create(
        "factor_owners",
        """
        SELECT a.factor AS id, min(o.owner) AS owner
        FROM arguments a
        JOIN variable_owners o ON o.id = a.variable
        GROUP BY a.factor
        HAVING min(o.owner) = max(o.owner)
        """,
    )
    engine.discard("owned")


def owners_of_variables(engine: Engine, given: Given) -> str:
    """Whose each variable is, as a table expression (id, owner): its own where it is nobody's."""
    if not given.has_individuals:
        return "(SELECT id, id AS owner FROM looks)"
    find_owners(engine, given)
    return """(
            SELECT l.id, coalesce(v.owner, l.id) AS owner
            FROM looks l
            LEFT JOIN variable_owners v ON v.id = l.id
        )"""


def _group_individuals(engine: Engine) -> None:
    """Store factors_by_owner (id, type, part, alone, place).

    An individual is called by its least factor; part: the first one alike, -1 for a factor of
    nobody; alone: whether this is it; place: of the factor among those of its owner.
    """
    engine.create("owned_factors", OWNED_FACTORS)
    engine.create(
        "all_owners", "SELECT DISTINCT owner AS id, CAST(0 AS BIGINT) AS colour FROM owned_factors"
    )
    group_owners(engine, "owned_factors", "owner_groups", "all_owners")
    engine.create(
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
    engine.discard("owned_factors", "all_owners", "owner_groups")


def _check_count(engine: Engine, table: str) -> None:
    count = engine.count(table)
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
