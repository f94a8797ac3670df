"""Types of factors: those that look alike to transfer and to the first round, one for all of them.

A variable's look is its label order, what was observed of it and, where factors are unknown, its
degree and kind. A factor's type is the looks of its arguments in order, and its table. There are
few of them, and all decisions are taken about types, in memory; which factor is of which type stays
a table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.errors import FormatError, Remedy, TooLargeError
from lifagu.graph.tables import potential_fault
from lifagu.scale.engines.engine import Engine
from lifagu.scale.equal_multisets import group_owners
from lifagu.scale.evidence import DistinctObservations, order_of
from lifagu.scale.folder_contents import Given

WIDEST = 2**62
MOST_TYPES = 1_000_000
MOST_POTENTIALS = 100_000_000
DEGREES = "(SELECT variable, count(*) AS degree FROM arguments GROUP BY variable)"


@dataclass(frozen=True, eq=False)
class Looks:
    """By first variable: label order, kind (-1: none), what was observed (0: nothing), degree.

    size: how many variables have each; the table looks (id, look) says which.
    """

    declared: Ints
    kind: Ints
    seen: Ints
    degree: Ints
    size: Ints


@dataclass(frozen=True, eq=False)
class Types:
    """The different types of factors, by first factor, of which there are size[t].

    table[t]: which of the tables a type has, -1 = unknown; looks[offsets[t]:offsets[t+1]]: of its
    arguments, in the order of the table; positions: where they stand in the table scopes. The table
    typed (id, type) gives for each factor the first of its type.
    """

    first: Ints
    size: Ints
    table: Ints
    offsets: Ints
    looks: Ints
    positions: Ints
    tables: list[Floats]


# ---- looks


def find_looks(
    engine: Engine, given: Given, observations: DistinctObservations, kinds: bool, degrees: bool
) -> Looks:
    """Store the table looks (id, look); kinds, degrees: whether these count."""
    _store_looking(engine, given, observations, kinds, degrees)
    engine.create(
        "looks_found",
        """
        SELECT declared, kind, seen, degree, min(id) AS first, count(*) AS size
        FROM looking
        GROUP BY declared, kind, seen, degree
        """,
    )
    _check_count(engine, "looks_found", "variables")
    declared, kind, seen, degree, size = engine.integers(
        "SELECT declared, kind, seen, degree, size FROM looks_found ORDER BY first"
    )
    columns = {"declared": declared, "kind": kind, "seen": seen, "degree": degree}
    engine.register("looks_coded", {**columns, "look": np.arange(len(size))})
    engine.create(
        "looks",
        """
        SELECT v.id, l.look
        FROM looking v
        JOIN looks_coded l
            ON l.declared = v.declared
            AND l.kind = v.kind
            AND l.seen = v.seen
            AND l.degree = v.degree
        """,
    )
    engine.discard("looking")
    return Looks(declared, kind, seen, degree, size)


def _store_looking(
    engine: Engine, given: Given, observations: DistinctObservations, kinds: bool, degrees: bool
) -> None:
    """Store looking (id, declared, kind, seen, degree): how each variable looks."""
    code, to_code = order_of(given)
    kind, to_kind = "-1", ""
    if kinds and "kind" in given.columns["variables"]:
        kind = "coalesce(k.code, -1)"
        to_kind = "LEFT JOIN kinds_coded k ON k.word = CAST(v.kind AS STRING)"
    seen, to_seen = "0", ""
    if len(observations):
        classes = {"observation": np.arange(len(observations)), "seen": observations.seen}
        engine.register("observation_classes", classes)
        seen = "coalesce(c.seen, 0)"
        to_seen = """
            LEFT JOIN observed o ON o.id = v.number
            LEFT JOIN observation_classes c ON c.observation = o.observation
        """
    degree, to_degree = "0", ""
    if degrees:
        degree = "coalesce(d.degree, 0)"
        to_degree = f"LEFT JOIN {DEGREES} d ON d.variable = v.number"
    engine.create(
        "looking",
        f"""
        SELECT
            v.number AS id,
            CAST({code} AS BIGINT) AS declared,
            CAST({kind} AS BIGINT) AS kind,
            CAST({seen} AS BIGINT) AS seen,
            CAST({degree} AS BIGINT) AS degree
        FROM {given.numbered("variables")} v
        {to_code}
        {to_kind}
        {to_seen}
        {to_degree}
        """,
    )


def looks_of(engine: Engine, variables: Collection[int]) -> dict[int, int]:
    """The looks of a few variables."""
    if not variables:
        return {}
    few = ", ".join(map(str, variables))
    return dict(engine.rows(f"SELECT id, look FROM looks WHERE id IN ({few})"))


# ---- types


def find_types(engine: Engine, given: Given, looks: int) -> Types:
    """Store the table typed (id, type); looks: how many there are."""
    tables, first_of = _given_tables(engine, given)
    _store_factors(engine, given, first_of, _packed(engine, looks))
    engine.create(
        "types",
        """
        SELECT arity, packed, given, min(id) AS first, count(*) AS size
        FROM factors
        GROUP BY arity, packed, given
        """,
    )
    _check_count(engine, "types", "factors")
    engine.create(
        "typed",
        """
        SELECT f.id, t.first AS type
        FROM factors f
        JOIN types t ON t.arity = f.arity AND t.packed = f.packed AND t.given = f.given
        """,
    )
    engine.discard("packed", "factors")
    first, size, table = engine.integers("SELECT first, size, given FROM types ORDER BY first")
    known = np.array(sorted(tables), dtype=np.int64)
    table_of = np.where(table < 0, -1, np.searchsorted(known, table))
    different = [tables[each] for each in known.tolist()]
    return Types(first, size, table_of, *_scopes_of_types(engine, first), different)


def _scopes_of_types(engine: Engine, first: Ints) -> tuple[Ints, Ints, Ints]:
    """Offsets, looks and positions of the arguments of the first factors of types."""
    engine.create(  # kept, as the arguments of filled factors are re-ordered later
        "type_scopes",
        """
        SELECT a.factor, a.position, l.look
        FROM arguments a
        JOIN types t ON t.first = a.factor
        JOIN looks l ON l.id = a.variable
        """,
    )
    owners, looks, positions = engine.integers(
        "SELECT factor, look, position FROM type_scopes ORDER BY factor, position"
    )
    arity = np.bincount(np.searchsorted(first, owners), minlength=len(first))
    return offsets_of(arity), looks, positions


def _store_factors(engine: Engine, given: Given, first_of: str, packed: str) -> None:
    """Store factors (id, arity, packed, given): the looks of arguments, the table or -1."""
    table, to_table = "-1", ""
    if "table_id" in given.columns["factors"]:
        table = "coalesce(t.first, -1)"
        to_table = f"LEFT JOIN {first_of} t ON t.id = CAST(f.table_id AS BIGINT)"
    engine.create(
        "factors",
        f"""
        SELECT
            f.number AS id,
            coalesce(p.arity, 0) AS arity,
            coalesce(p.packed, 0) AS packed,
            CAST({table} AS BIGINT) AS given
        FROM {given.numbered("factors")} f
        LEFT JOIN {packed} p ON p.id = f.number
        {to_table}
        """,
    )


def first_factors(engine: Engine, types: Collection[int], most: int) -> list[int]:
    """The first factors of some types, at most so many."""
    rows = engine.rows(
        f"""
        SELECT id
        FROM typed
        WHERE type IN ({", ".join(map(str, types))})
        ORDER BY id
        LIMIT {most}
        """
    )
    return [number for (number,) in rows]


def arguments_of(engine: Engine, factor: int) -> list[int]:
    """The arguments of a factor, in order."""
    rows = engine.rows(f"SELECT variable FROM arguments WHERE factor = {factor} ORDER BY position")
    return [variable for (variable,) in rows]


def reorder_arguments(engine: Engine, types: Ints, positions: Ints, places: Ints) -> None:
    """Store arguments anew: those of factors of types[i] go from positions[i] to places[i]."""
    if not len(types):
        return
    engine.register("moves", {"type": types, "position": positions, "place": places})
    engine.create(
        "arguments_moved",
        """
        SELECT a.factor, coalesce(m.place, a.position) AS position, a.variable
        FROM arguments a
        JOIN typed t ON t.id = a.factor
        LEFT JOIN moves m ON m.type = t.type AND m.position = a.position
        """,
    )
    engine.create("arguments", "SELECT * FROM arguments_moved")
    engine.discard("arguments_moved")


def has_unknown(engine: Engine, given: Given) -> bool:
    """Whether some factor has no table."""
    if not given.counts["factors"]:
        return False
    return (
        "table_id" not in given.columns["factors"]
        or engine.count("given_factors WHERE table_id IS NULL") > 0
        or "potentials" not in given.columns["tables"]
        or engine.count("given_tables WHERE potentials IS NULL") > 0
    )


def _check_count(engine: Engine, table: str, what: str) -> None:
    count = engine.count(table)
    if count > MOST_TYPES:
        raise TooLargeError(
            f"the {what} are of {count} different types by range, degree, kind, evidence and "
            f"table; these are looked at in memory, and more than {MOST_TYPES} are too many",
            remedy=Remedy.IN_MEMORY,
        )


# ---- tables and scopes


def _given_tables(engine: Engine, given: Given) -> tuple[dict[int, Floats], str]:
    """The different tables by least id, and a table expression (id, first) of all known ones."""
    if "potentials" not in given.columns["tables"]:
        return {}, "(SELECT id, id AS first FROM scopes WHERE id < 0)"
    lists = engine.dialect.lists_of("DOUBLE")
    engine.create(
        "tables_found",
        f"""
        WITH known AS (
            SELECT CAST(potentials AS {lists}) AS potentials, id
            FROM given_tables
            WHERE potentials IS NOT NULL
        )
        SELECT potentials, min(CAST(id AS BIGINT)) AS first
        FROM known
        GROUP BY potentials
        """,
    )
    numbers = engine.value(f"SELECT sum({engine.dialect.length('potentials')}) FROM tables_found")
    if (numbers or 0) > MOST_POTENTIALS:
        raise TooLargeError(
            f"the different tables hold {numbers} potentials, more than the {MOST_POTENTIALS} "
            "that are looked at in memory",
            remedy=Remedy.IN_MEMORY,
        )
    engine.create(
        "tables_first",
        f"""
        SELECT CAST(g.id AS BIGINT) AS id, t.first
        FROM given_tables g
        JOIN tables_found t ON t.potentials = CAST(g.potentials AS {lists})
        """,
    )
    found = engine.rows("SELECT first, potentials FROM tables_found")
    return {int(first): _numbers(given, first, values) for first, values in found}, "tables_first"


def _numbers(given: Given, first: int, values: list[float | None]) -> Floats:
    where = f"{given.file('tables')}: column potentials: the table with id {first} has"
    if any(value is None for value in values):
        raise FormatError(
            f"{where} a null in the list; give numbers, or null for the whole list if unknown"
        )
    numbers = np.array(values, dtype=np.float64) + 0.0
    if fault := potential_fault(numbers):
        raise FormatError(f"{where} {fault}")
    return numbers


def _packed(engine: Engine, looks: int) -> str:
    """A table expression (id, arity, packed): the looks of arguments in order, as one number."""
    longest = engine.value("SELECT coalesce(max(arity), 0) FROM scopes")
    if looks <= 1 or not longest:
        return "(SELECT id, arity, CAST(0 AS BIGINT) AS packed FROM scopes)"
    if looks**longest < WIDEST:
        weights = " ".join(f"WHEN {place} THEN {looks**place}" for place in range(longest))
        engine.create(
            "packed",
            f"""
            SELECT
                a.factor AS id,
                count(*) AS arity,
                CAST(sum(l.look * (CASE a.position {weights} END)) AS BIGINT) AS packed
            FROM arguments a
            JOIN looks l ON l.id = a.variable
            GROUP BY a.factor
            """,
        )
    else:
        _pack_by_groups(engine)
    return "packed"


def _pack_by_groups(engine: Engine) -> None:
    """Store packed (id, arity, packed) where one number cannot hold the looks in order."""
    engine.create("same", "SELECT id, CAST(0 AS BIGINT) AS colour FROM scopes")
    engine.create(
        "ordered",
        """
        SELECT a.factor AS owner, a.position AS place, l.look AS colour, 1 AS times
        FROM arguments a
        JOIN looks l ON l.id = a.variable
        """,
    )
    group_owners(engine, "ordered", "parted", "same")
    engine.create(
        "packed",
        """
        SELECT s.id, s.arity, p.part AS packed
        FROM scopes s
        JOIN parted p ON p.id = s.id
        """,
    )
    engine.discard("same", "ordered", "parted")
