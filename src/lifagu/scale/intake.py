"""A folder of Parquet tables as numbered tables of an engine, checked; nothing is loaded.

Variables and factors are numbered by ascending id, as when they are read into memory. What is wrong
is said with file, column and the ids concerned.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from lifagu.basics.atomic_files import PathLike
from lifagu.data.duck import Duck
from lifagu.data.parquet.layout import MODEL, OPTIONAL, REQUIRED, file_name
from lifagu.data.parquet.reading import pinned_folder
from lifagu.data.parquet.table import EXACT, ParquetTable
from lifagu.data.snapshots import Pinned
from lifagu.errors import FormatError
from lifagu.scale.engines.engine import Engine
from lifagu.scale.folder_contents import WIDEST, Given, names
from lifagu.scale.numbering import number_ids


def take_in(engine: Engine, path: PathLike) -> Given:
    """Check a folder and store its arguments (factor, position, variable), by numbers."""
    folder = pinned_folder(path)
    given = _given(folder)
    engine.hold(folder)
    for table in ("variables", "factors", "tables"):
        count, dense = _ids(engine, given, table)
        given.counts[table], given.dense[table] = count, dense
        if not dense and table != "tables":
            ids = f"(SELECT CAST(id AS BIGINT) AS id FROM given_{table}) g"
            number_ids(engine, ids, f"{table}_numbers")
    _check_references(engine, given)
    factor, to_factor = given.reference("factors", "factor_id")
    variable, to_variable = given.reference("variables", "variable_id")
    engine.create(
        "arguments",
        f"""
        SELECT {factor} AS factor, CAST(g.position AS BIGINT) AS position, {variable} AS variable
        FROM given_arguments g
        {to_factor}
        {to_variable}
        """,
    )
    last = engine.value("SELECT max(position) FROM arguments")
    given.counts["places"] = 0 if last is None else last + 1
    _take_scopes(engine, given)
    _check_scopes(engine, given)
    folder.check_together()
    return given


def _given(folder: Pinned) -> Given:
    """Which columns a folder has, not yet counted; it is let go of where they are wrong."""
    present = [*MODEL, *(["evidence"] if "evidence" in folder.files else [])]
    try:
        with folder.watched(), Duck() as duck:
            tables = {table: ParquetTable(duck, folder, table) for table in present}
    except BaseException:
        folder.close()
        raise
    columns = {
        table: {
            column for column in (*REQUIRED[table], *OPTIONAL.get(table, {})) if found.has(column)
        }
        for table, found in tables.items()
    }
    pairs = [(table, column) for table in tables for column in columns[table]]
    inexact = {(table, column) for table, column in pairs if tables[table].is_inexact(column)}
    lists = {(table, column) for table, column in pairs if tables[table].holds_lists(column)}
    return Given(folder.place, columns, {}, {}, lists, inexact)


# ---- ids


def _ids(engine: Engine, given: Given, table: str) -> list[Any]:
    """How many rows a table has, and whether its ids are 0, 1, …; each is a whole number, once."""
    _check_whole(engine, given, table, "id")
    ((count, highest),) = engine.rows(
        f"SELECT count(*), max(CAST(id AS BIGINT)) FROM given_{table}"
    )
    if count and highest == count - 1:
        different = engine.dialect.different("id", count)
        if engine.value(f"SELECT {different} FROM given_{table}") == count:
            return [count, True]
    _refuse_twice(engine, given, table, "id")
    return [count, count == 0]


def _refuse_twice(engine: Engine, given: Given, table: str, column: str) -> None:
    """Each number may stand in one row only."""
    twice = engine.rows(
        f"""
        SELECT {column}
        FROM given_{table}
        GROUP BY {column}
        HAVING count(*) > 1
        ORDER BY {column}
        LIMIT 1
        """
    )
    for (number,) in twice:
        raise FormatError(
            f"{given.file(table)}: column {column}: {number} stands in several rows; "
            "give each row its own"
        )


def _check_whole(engine: Engine, given: Given, table: str, column: str, null: bool = False) -> None:
    """A column must hold whole numbers from 0 on."""
    if column not in given.columns[table]:  # it holds nothing but nulls
        if null or not engine.count(f"given_{table}"):
            return
        raise FormatError(f"{given.file(table)}: column {column}: null; give a whole number")
    most = EXACT if (table, column) in given.inexact else 2**63 - 1
    wrong = f"{column} < 0 OR {column} <> floor({column}) OR {column} > {most}"
    wrong += "" if null else f" OR {column} IS NULL"
    found = engine.rows(
        f"""
        SELECT {column}
        FROM given_{table}
        WHERE {wrong}
        ORDER BY {column}
        LIMIT 1
        """
    )
    for (value,) in found:
        what = f"{value} is not a whole number from 0 on"
        if value is None:
            what = "null; give a whole number"
        raise FormatError(f"{given.file(table)}: column {column}: {what}")


def _check_references(engine: Engine, given: Given) -> None:
    """Every reference must lead to a row."""
    for column, table, target, null in (
        ("factor_id", "arguments", "factors", False),
        ("position", "arguments", "", False),
        ("variable_id", "arguments", "variables", False),
        ("table_id", "factors", "tables", True),
        ("variable_id", "evidence", "variables", False),
    ):
        if table not in given.columns:
            continue
        _check_whole(engine, given, table, column, null)
        if target and column in given.columns[table]:
            _check_leads(engine, given, table, column, target)
    if "evidence" in given.columns:
        _refuse_twice(engine, given, "evidence", "variable_id")


def _check_leads(engine: Engine, given: Given, table: str, column: str, target: str) -> None:
    if given.dense[target]:
        lost = f"""
            SELECT min({column})
            FROM given_{table}
            WHERE {column} >= {given.counts[target]}
            """
    else:
        lost = f"""
            SELECT min(g.{column})
            FROM given_{table} g
            LEFT JOIN given_{target} t ON CAST(t.id AS BIGINT) = CAST(g.{column} AS BIGINT)
            WHERE t.id IS NULL AND g.{column} IS NOT NULL
            """
    found = engine.value(lost)
    if found is not None:
        raise FormatError(
            f"{given.file(table)}: column {column}: {found} is not an id in {file_name(target)}; "
            "add that row, or refer to another"
        )


# ---- arguments


def _take_scopes(engine: Engine, given: Given) -> None:
    """Store scopes (id, arity, v0, v1, …): arguments side by side, as far as WIDEST goes."""
    side_by_side = "".join(
        f", max(CASE WHEN position = {place} THEN variable END) AS v{place}"
        for place in given.places
    )
    engine.create(
        "scopes",
        f"""
        SELECT factor AS id, count(*) AS arity, max(position) AS highest{side_by_side}
        FROM arguments
        GROUP BY factor
        """,
    )


def _check_scopes(engine: Engine, given: Given) -> None:
    """The arguments of a factor stand at 0, 1, …, each place once, and differ."""
    gaps = [f"arity > {place} AND v{place} IS NULL" for place in given.places]
    factor = _first_wrong(engine, ["highest <> arity - 1", *gaps], "position")
    if factor is not None:
        number = _id(engine, given, "factors", factor)
        raise FormatError(
            f"{given.file('arguments')}: column position: those of factor {number} are not 0, 1, … "
            "with each of them once; number its arguments so"
        )
    same = [f"v{one} = v{two}" for one, two in combinations(given.places, 2)]
    factor = _first_wrong(engine, same or ["1 = 0"], "variable")
    if factor is not None:
        (name,) = names(engine, given, "factors", [factor])
        raise FormatError(
            f"{given.folder}: factor '{name}' has an argument twice; give it once, "
            "with the diagonal of the table"
        )


def _first_wrong(engine: Engine, faults: list[str], column: str) -> int | None:
    """The first factor with a fault or, beyond what scopes hold, the same in a column twice."""
    found = engine.value(f"SELECT min(id) FROM scopes WHERE {' OR '.join(faults)}")
    if found is None:
        found = engine.value(
            f"""
            WITH twice AS (
                SELECT a.factor
                FROM arguments a
                JOIN scopes s ON s.id = a.factor
                WHERE s.arity > {WIDEST}
                GROUP BY a.factor, a.{column}
                HAVING count(*) > 1
            )
            SELECT min(factor) FROM twice
            """
        )
    return None if found is None else int(found)


def _id(engine: Engine, given: Given, table: str, number: int) -> int:
    """The id of a node, given its number."""
    if given.dense[table]:
        return number
    return int(engine.value(f"SELECT id FROM {table}_numbers WHERE number = {number}"))


# ---- names and individuals


def check_names(engine: Engine, given: Given) -> None:
    """Names are not empty and differ."""
    for table, sort in (("variables", "variable"), ("factors", "factor")):
        if "name" not in given.columns[table]:
            continue
        name = "CAST(name AS STRING)"
        missing = engine.value(
            f"SELECT min(id) FROM given_{table} WHERE name IS NULL OR {name} = ''"
        )
        if missing is not None:
            raise FormatError(
                f"{given.file(table)}: column name: the row with id {missing} has none; "
                "names are non-empty texts, or leave the column out"
            )
        twice = engine.value(
            f"""
            WITH repeated AS (
                SELECT {name} AS name
                FROM given_{table}
                GROUP BY {name}
                HAVING count(*) > 1
            )
            SELECT min(name) FROM repeated
            """
        )
        if twice is not None:
            raise FormatError(
                f"{given.file(table)}: column name: {sort} '{twice}' stands in several rows; "
                "give each its own name"
            )


def check_individuals(engine: Engine, given: Given) -> None:
    """Individuals are non-empty texts."""
    if not given.has_individuals:
        return
    dialect = engine.dialect
    wrong = "CAST(individual AS STRING) = ''"
    if given.holds_lists("variables", "individual"):
        words = f"CAST(individual AS {dialect.lists_of('STRING')})"
        wrong = f"array_contains({words}, '') OR {dialect.filled(words)} < {dialect.length(words)}"
    found = engine.value(f"SELECT min(id) FROM given_variables WHERE {wrong}")
    if found is not None:
        raise FormatError(
            f"{given.file('variables')}: column individual: the row with id {found} has an empty "
            "text or a null in its list; give a name, or null for none"
        )
