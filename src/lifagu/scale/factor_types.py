"""Types of factors: those that look alike to transfer and to the first round, one standing for all
of them.

A variable's look is its label order, what was observed of it and, where factors are unknown, its
degree and kind. A factor's type is the looks of its arguments in order, and its table. There are
few of them, and all decisions are taken about types, in memory; which factor is of which type stays
a table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import FormatError, Remedy, TooLargeError
from lifagu.graph.tables import potential_fault
from lifagu.scale.equal_multisets import group_owners
from lifagu.scale.evidence import Observations, order_of
from lifagu.scale.intake import Given
from lifagu.scale.journal import Journal

WIDEST = 2**62
MOST_TYPES = 1_000_000
MOST_POTENTIALS = 100_000_000


@dataclass(frozen=True, eq=False)
class Looks:
    """The different looks, by first variable: label order, kind (-1 for none), what was observed
    (0: nothing), degree.

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


def find_looks(
    journal: Journal, given: Given, observations: Observations, kinds: bool, degrees: bool
) -> Looks:
    """Store the table looks (id, look); kinds, degrees: whether these count."""
    code, to_code = order_of(given, "v")
    kind, to_kind = "-1", ""
    if kinds and "kind" in given.columns["variables"]:
        kind = "coalesce(k.code, -1)"
        to_kind = " LEFT JOIN kinds_coded k ON k.word = CAST(v.kind AS STRING)"
    seen, to_seen = "0", ""
    if len(observations):
        journal.register(
            "observation_classes",
            {"observation": np.arange(len(observations)), "seen": observations.seen},
        )
        seen = "coalesce(c.seen, 0)"
        to_seen = " LEFT JOIN observed o ON o.id = v.number LEFT JOIN observation_classes c ON c.observation = o.observation"
    degree, to_degree = "0", ""
    if degrees:
        degree = "coalesce(d.degree, 0)"
        counted = "SELECT variable, count(*) AS degree FROM arguments GROUP BY variable"
        to_degree = f" LEFT JOIN ({counted}) d ON d.variable = v.number"
    journal.create(
        "looking",
        f"SELECT v.number AS id, CAST({code} AS BIGINT) AS declared, CAST({kind} AS BIGINT) AS kind, "
        f"CAST({seen} AS BIGINT) AS seen, CAST({degree} AS BIGINT) AS degree "
        f"FROM {given.numbered('variables')} v{to_code}{to_kind}{to_seen}{to_degree}",
    )
    journal.create(
        "looks_found",
        "SELECT declared, kind, seen, degree, min(id) AS first, count(*) AS size FROM looking "
        "GROUP BY declared, kind, seen, degree",
    )
    _check_count(journal, "looks_found", "variables")
    found = journal.engine.columns(
        "SELECT declared, kind, seen, degree, size FROM looks_found ORDER BY first"
    )
    declared, kind_of, seen_of, degree_of, size = (
        np.ma.getdata(each).astype(np.int64) for each in found
    )
    journal.register(
        "looks_coded",
        {
            "declared": declared,
            "kind": kind_of,
            "seen": seen_of,
            "degree": degree_of,
            "look": np.arange(len(size)),
        },
    )
    journal.create(
        "looks",
        "SELECT v.id, l.look FROM looking v JOIN looks_coded l ON l.declared = v.declared AND l.kind = v.kind "
        "AND l.seen = v.seen AND l.degree = v.degree",
    )
    journal.drop("looking")
    return Looks(declared, kind_of, seen_of, degree_of, size)


def find_types(journal: Journal, given: Given, looks: int) -> Types:
    """Store the table typed (id, type); looks: how many there are."""
    tables, first_of = _given_tables(journal, given)
    packed = _packed(journal, looks)
    table, to_table = "-1", ""
    if "table_id" in given.columns["factors"]:
        table, to_table = (
            "coalesce(t.first, -1)",
            f" LEFT JOIN {first_of} t ON t.id = CAST(f.table_id AS BIGINT)",
        )
    journal.create(
        "factors",
        "SELECT f.number AS id, coalesce(p.arity, 0) AS arity, coalesce(p.packed, 0) AS packed, "
        f"CAST({table} AS BIGINT) AS given FROM {given.numbered('factors')} f LEFT JOIN {packed} p ON p.id = f.number"
        f"{to_table}",
    )
    journal.create(
        "types",
        "SELECT arity, packed, given, min(id) AS first, count(*) AS size FROM factors GROUP BY arity, packed, given",
    )
    _check_count(journal, "types", "factors")
    journal.create(
        "typed",
        "SELECT f.id, t.first AS type FROM factors f JOIN types t ON t.arity = f.arity AND t.packed = f.packed "
        "AND t.given = f.given",
    )
    journal.drop("packed", "factors")
    found = journal.engine.columns("SELECT first, size, given FROM types ORDER BY first")
    first, size, given_table = (np.ma.getdata(each).astype(np.int64) for each in found)
    journal.create(  # kept, as the arguments of filled factors are re-ordered later
        "type_scopes",
        "SELECT a.factor, a.position, l.look FROM arguments a JOIN types t ON t.first = a.factor JOIN looks l "
        "ON l.id = a.variable",
    )
    found = journal.engine.columns(
        "SELECT factor, look, position FROM type_scopes ORDER BY factor, position"
    )
    owners, listed, positions = (np.ma.getdata(each).astype(np.int64) for each in found)
    arity = np.bincount(np.searchsorted(first, owners), minlength=len(first))
    known = np.array(sorted(tables), dtype=np.int64)
    return Types(
        first,
        size,
        np.where(given_table < 0, -1, np.searchsorted(known, given_table)),
        np.concatenate(([0], np.cumsum(arity))),
        listed,
        positions,
        [tables[each] for each in known.tolist()],
    )


def has_unknown(journal: Journal, given: Given) -> bool:
    """Whether some factor has no table."""
    if not given.counts["factors"]:
        return False
    if "table_id" not in given.columns["factors"]:
        return True
    ((without,),) = journal.engine.rows("SELECT count(*) FROM given_factors WHERE table_id IS NULL")
    if without or "potentials" not in given.columns["tables"]:
        return True
    ((empty,),) = journal.engine.rows("SELECT count(*) FROM given_tables WHERE potentials IS NULL")
    return bool(empty)


def _check_count(journal: Journal, table: str, what: str) -> None:
    ((count,),) = journal.engine.rows(f"SELECT count(*) FROM {table}")
    if count > MOST_TYPES:
        raise TooLargeError(
            f"the {what} are of {count} different types by range, degree, kind, evidence and table; these are looked "
            f"at in memory, and more than {MOST_TYPES} are too many",
            remedy=Remedy.IN_MEMORY,
        )


def _given_tables(journal: Journal, given: Given) -> tuple[dict[int, Floats], str]:
    """The different tables by the least id with each, and a table expression (id, first) of all
    that are known.
    """
    engine = journal.engine
    if "potentials" not in given.columns["tables"]:
        return {}, "(SELECT id, id AS first FROM scopes WHERE id < 0)"
    lists = engine.dialect.lists_of("DOUBLE")
    journal.create(
        "tables_found",
        f"SELECT potentials, min(CAST(id AS BIGINT)) AS first FROM (SELECT CAST(potentials AS {lists}) AS potentials, "
        "id FROM given_tables WHERE potentials IS NOT NULL) t GROUP BY potentials",
    )
    ((numbers,),) = engine.rows(
        f"SELECT sum({engine.dialect.length('potentials')}) FROM tables_found"
    )
    if (numbers or 0) > MOST_POTENTIALS:
        raise TooLargeError(
            f"the different tables hold {numbers} potentials, more than the {MOST_POTENTIALS} that are looked at in "
            "memory",
            remedy=Remedy.IN_MEMORY,
        )
    journal.create(
        "tables_first",
        "SELECT CAST(g.id AS BIGINT) AS id, t.first FROM given_tables g JOIN tables_found t "
        f"ON t.potentials = CAST(g.potentials AS {lists})",
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


def _packed(journal: Journal, looks: int) -> str:
    """A table expression (id, arity, packed): the looks of a factor's arguments in order, as one
    number.
    """
    engine = journal.engine
    ((longest,),) = engine.rows("SELECT coalesce(max(arity), 0) FROM scopes")
    if looks <= 1 or not longest:
        return "(SELECT id, arity, CAST(0 AS BIGINT) AS packed FROM scopes)"
    if looks**longest < WIDEST:
        weights = " ".join(f"WHEN {place} THEN {looks**place}" for place in range(longest))
        journal.create(
            "packed",
            f"SELECT a.factor AS id, count(*) AS arity, CAST(sum(l.look * (CASE a.position {weights} END)) AS BIGINT) "
            "AS packed FROM arguments a JOIN looks l ON l.id = a.variable GROUP BY a.factor",
        )
    else:
        journal.create("same", "SELECT id, CAST(0 AS BIGINT) AS colour FROM scopes")
        journal.create(
            "ordered",
            "SELECT a.factor AS owner, a.position AS place, l.look AS colour, 1 AS times FROM arguments a "
            "JOIN looks l ON l.id = a.variable",
        )
        journal.once("packing", lambda: group_owners(engine, "ordered", "parted", "same"))
        journal.create(
            "packed",
            "SELECT s.id, s.arity, p.part AS packed FROM scopes s JOIN parted p ON p.id = s.id",
        )
        journal.drop("same", "ordered", "parted")
    return "packed"
