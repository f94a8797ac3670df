"""Variables near unknown factors, and what was lent to whom by name, written by SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lifagu.basics.arrays import Ints
from lifagu.data.parquet.layout import file_name
from lifagu.scale.individuals import find_owners, has_individuals, owners_of_variables
from lifagu.scale.intake import Given, name_of
from lifagu.scale.journal import Journal


def find_near(
    journal: Journal, given: Given, unknown: Ints, free: Ints, most: int
) -> tuple[list[int], int]:
    """What one would ask without being told, by the rule of `near_unknown`, and how many these are.

    unknown: types without a table; free: looks that may be asked about. At most so many, to be
    asked before arguments are re-ordered.
    """
    near = journal.once("near", lambda: _near(journal, given, unknown, free, most))
    return near[0], near[1][0]


def _near(journal: Journal, given: Given, unknown: Ints, free: Ints, most: int) -> list[list[int]]:
    journal.register("unknown_types", {"type": unknown})
    journal.register("free_looks", {"look": free})
    owners, met = owners_of_variables(journal, given), _met(journal, given)
    journal.create(
        "ranked",
        f"""
        SELECT m.owner, m.factor, min(a.position) AS position
        FROM (SELECT owner, min(factor) AS factor FROM {met} GROUP BY owner) m
        JOIN arguments a ON a.factor = m.factor
        JOIN {owners} o ON o.id = a.variable AND o.owner = m.owner
        GROUP BY m.owner, m.factor
        """,
    )
    journal.create(
        "near",
        f"""
        SELECT o.id, r.factor, r.position
        FROM ranked r
        JOIN {owners} o ON o.owner = r.owner
        JOIN looks l ON l.id = o.id
        JOIN free_looks f ON f.look = l.look
        """,
    )
    ((count,),) = journal.engine.rows("SELECT count(*) FROM near")
    first = journal.engine.rows(f"SELECT id FROM near ORDER BY factor, position, id LIMIT {most}")
    return [[int(variable) for (variable,) in first], [int(count)]]


def _met(journal: Journal, given: Given) -> str:
    """A table expression (owner, factor): who is met at an unknown factor, its owner if any."""
    owned = ""
    if has_individuals(given):
        find_owners(journal, given)
        owned = """
            LEFT JOIN factor_owners w ON w.id = a.factor
            WHERE w.owner IS NULL OR w.owner = o.owner
        """
    return f"""(
            SELECT o.owner, a.factor
            FROM arguments a
            JOIN typed t ON t.id = a.factor
            JOIN unknown_types u ON u.type = t.type
            JOIN {owners_of_variables(journal, given)} o ON o.id = a.variable
            {owned}
        ) met"""


def write_imputed(
    journal: Journal, given: Given, columns: Sequence[str], folder: Path
) -> Iterator[str]:
    """Write transfers and tables, a row per unknown or filled factor; yields each name before that.

    columns: of named_records, in their order.
    """
    shown = ", ".join(f"r.{column}" for column in columns)
    yield "transfers"
    journal.engine.export(
        f"""
        SELECT {name_of(given, "factors")} AS factor, {shown}
        FROM typed t
        JOIN named_records r ON r.type = t.type
        JOIN {given.numbered("factors")} s ON s.number = t.id
        ORDER BY t.id
        """,
        folder / file_name("transfers"),
    )
    yield "tables"
    journal.engine.export(_tables(journal, given), folder / file_name("tables"))


def _tables(journal: Journal, given: Given) -> str:
    """A query for each filled factor: its name, those of its arguments in order, potentials."""
    ((most,),) = journal.engine.rows("SELECT coalesce(max(arity), 0) FROM filled")
    places, dialect = range(most), journal.engine.dialect
    cases = " ".join(f"WHEN {place} THEN c.v{place}" for place in given.places)
    chosen = "".join(f", CASE r.p{place} {cases} END AS a{place}" for place in places)
    name, numbered = name_of(given, "variables"), given.numbered("variables")
    variables = f"(SELECT s.number, {name} AS name FROM {numbered} s)"
    joins = "\n".join(
        f"LEFT JOIN {variables} n{place} ON n{place}.number = w.a{place}" for place in places
    )
    listed = dialect.sliced(dialect.array_of(*(f"n{place}.name" for place in places)), "w.arity")
    arguments = f"CASE WHEN w.arity > 0 THEN {listed} END" if most else "NULL"
    return f"""
        SELECT
            {name_of(given, "factors")} AS factor,
            CAST({arguments} AS {dialect.lists_of("STRING")}) AS arguments,
            w.potentials
        FROM (
            SELECT t.id, r.arity, r.potentials{chosen}
            FROM filled r
            JOIN typed t ON t.type = r.type
            LEFT JOIN scopes c ON c.id = t.id
        ) w
        JOIN {given.numbered("factors")} s ON s.number = w.id
        {joins}
        ORDER BY w.id
        """
