"""What was lent to whom, by SQL: variables near unknown factors, tables lent to a variable, and everything by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lifagu.arrays import Ints
from lifagu.sql.layout import file_name
from lifagu.sql.scale.homes import find_owners
from lifagu.sql.scale.intake import Given, name_of
from lifagu.sql.scale.journal import Journal


def find_near(journal: Journal, given: Given, unknown: Ints, free: Ints, most: int) -> tuple[list[int], int]:
    """What one would ask without being told: variables of individuals with unknown factors, or arguments of these.

    In the order in which individuals are met, at most so many, and beside them how many there are. unknown: types
    without a table; free: looks that may be asked about. To be asked before arguments are re-ordered.
    """
    found: list[list[int]] = journal.once("near", lambda: _near(journal, given, unknown, free, most))
    return found[0], found[1][0]


def _near(journal: Journal, given: Given, unknown: Ints, free: Ints, most: int) -> list[list[int]]:
    owner, own = _owners(journal, given)
    journal.register("unknown_types", {"type": unknown})
    journal.register("free_looks", {"look": free})
    journal.create(
        "met",
        f"SELECT o.owner, min(a.factor) AS factor FROM arguments a JOIN typed t ON t.id = a.factor "
        f"JOIN unknown_types u ON u.type = t.type JOIN {owner} o ON o.id = a.variable{own} GROUP BY o.owner",
    )
    journal.create(
        "ranked",
        f"SELECT m.owner, m.factor, min(a.position) AS position FROM met m JOIN arguments a ON a.factor = m.factor "
        f"JOIN {owner} o ON o.id = a.variable AND o.owner = m.owner GROUP BY m.owner, m.factor",
    )
    journal.create(
        "near",
        f"SELECT o.id, r.factor, r.position FROM ranked r JOIN {owner} o ON o.owner = r.owner "
        "JOIN looks l ON l.id = o.id JOIN free_looks f ON f.look = l.look",
    )
    ((count,),) = journal.engine.rows("SELECT count(*) FROM near")
    first = journal.engine.rows(f"SELECT id FROM near ORDER BY factor, position, id LIMIT {most}")
    return [[int(variable) for (variable,) in first], [int(count)]]


def _owners(journal: Journal, given: Given) -> tuple[str, str]:
    """Whose each variable is as a table expression (id, owner), its own where it is nobody's; and what counts as met.

    Of a factor that belongs to an individual, only that one is met.
    """
    if "individual" not in given.columns["variables"]:
        return "(SELECT id, id AS owner FROM looks)", ""
    find_owners(journal, given)
    owner = "(SELECT l.id, coalesce(v.owner, l.id) AS owner FROM looks l LEFT JOIN variable_owners v ON v.id = l.id)"
    return owner, " LEFT JOIN factor_owners w ON w.id = a.factor WHERE w.owner IS NULL OR w.owner = o.owner"


def lent_to(journal: Journal, given: Given, variables: Sequence[int]) -> dict[int, tuple[int, float]]:
    """How many tables were lent to the individuals of a few variables, and the smallest share; none are left out.

    To the factors of a variable that belongs to nobody.
    """
    if not variables:
        return {}
    owner, _ = _owners(journal, given)
    few = ", ".join(map(str, variables))
    found = journal.engine.rows(
        f"SELECT c.id, count(DISTINCT a.factor), min(r.share) FROM {owner} c JOIN {owner} o ON o.owner = c.owner "
        "JOIN arguments a ON a.variable = o.id JOIN typed t ON t.id = a.factor JOIN records r ON r.type = t.type "
        f"WHERE r.status = 'transferred' AND c.id IN ({few}) GROUP BY c.id"
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
