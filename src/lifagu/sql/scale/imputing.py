"""What was lent to whom, by SQL: variables near unknown factors, tables lent to a variable, and everything by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lifagu.arrays import Ints
from lifagu.sql.layout import file_name
from lifagu.sql.scale.intake import Given, name_of
from lifagu.sql.scale.journal import Journal


def find_near(journal: Journal, unknown: Ints, free: Ints, most: int) -> tuple[list[int], int]:
    """The arguments of unknown factors in the order in which they are met, at most so many, and how many there are.

    unknown: types without a table; free: looks that may be asked about. To be asked before arguments are re-ordered.
    """
    found: list[list[int]] = journal.once("near", lambda: _near(journal, unknown, free, most))
    return found[0], found[1][0]


def _near(journal: Journal, unknown: Ints, free: Ints, most: int) -> list[list[int]]:
    journal.register("unknown_types", {"type": unknown})
    journal.register("free_looks", {"look": free})
    journal.create(
        "near",
        "SELECT a.variable, min(a.factor) AS factor FROM arguments a JOIN typed t ON t.id = a.factor "
        "JOIN unknown_types u ON u.type = t.type JOIN looks l ON l.id = a.variable "
        "JOIN free_looks f ON f.look = l.look GROUP BY a.variable",
    )
    ((count,),) = journal.engine.rows("SELECT count(*) FROM near")
    first = journal.engine.rows(
        "SELECT n.variable FROM near n JOIN arguments a ON a.factor = n.factor AND a.variable = n.variable "
        f"ORDER BY n.factor, a.position LIMIT {most}"
    )
    return [[int(variable) for (variable,) in first], [int(count)]]


def lent_to(journal: Journal, variables: Sequence[int]) -> dict[int, tuple[int, float]]:
    """How many tables were lent to the factors of a few variables, and the smallest share; none are left out."""
    if not variables:
        return {}
    few = ", ".join(map(str, variables))
    found = journal.engine.rows(
        "SELECT a.variable, count(*), min(r.share) FROM arguments a JOIN typed t ON t.id = a.factor JOIN records r "
        f"ON r.type = t.type WHERE r.status = 'transferred' AND a.variable IN ({few}) GROUP BY a.variable"
    )
    return {int(variable): (int(count), float(share)) for variable, count, share in found}


def write_imputed(journal: Journal, given: Given, columns: Sequence[str], folder: Path) -> Iterator[str]:
    """Write transfers and tables, one row per unknown or filled factor, and yield the name of each before that.

    columns: of named_records, in their order.
    """
    factors, name = given.numbered("factors"), name_of(given, "factors")
    shown = ", ".join(f"r.{column}" for column in columns)
    yield "transfers"
    journal.engine.export(
        f"SELECT {name} AS factor, {shown} FROM typed t JOIN named_records r ON r.type = t.type "
        f"JOIN {factors} s ON s.number = t.id ORDER BY t.id",
        folder / file_name("transfers"),
    )
    yield "tables"
    journal.engine.export(_tables(journal, given), folder / file_name("tables"))


def _tables(journal: Journal, given: Given) -> str:
    """A query for each filled factor: its name, the names of its arguments in the order of its table, potentials."""
    ((most,),) = journal.engine.rows("SELECT coalesce(max(arity), 0) FROM filled")
    places, dialect = range(most), journal.engine.dialect
    cases = " ".join(f"WHEN {place} THEN c.v{place}" for place in given.places)
    chosen = "".join(f", CASE r.p{place} {cases} END AS a{place}" for place in places)
    variables = f"(SELECT s.number, {name_of(given, 'variables')} AS name FROM {given.numbered('variables')} s)"
    joins = "".join(f" LEFT JOIN {variables} n{place} ON n{place}.number = w.a{place}" for place in places)
    listed = dialect.sliced(dialect.array_of(*(f"n{place}.name" for place in places)), "w.arity")
    arguments = f"CASE WHEN w.arity > 0 THEN {listed} END" if most else "NULL"
    return (
        f"SELECT {name_of(given, 'factors')} AS factor, CAST({arguments} AS {dialect.lists_of('STRING')}) AS "
        "arguments, w.potentials "
        f"FROM (SELECT t.id, r.arity, r.potentials{chosen} FROM filled r JOIN typed t ON t.type = r.type "
        f"LEFT JOIN scopes c ON c.id = t.id) w JOIN {given.numbered('factors')} s ON s.number = w.id{joins} "
        "ORDER BY w.id"
    )
