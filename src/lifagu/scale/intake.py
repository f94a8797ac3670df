"""A folder of Parquet tables as numbered tables of an engine, checked on the way; nothing is
loaded.

Variables and factors are numbered by ascending id, as when they are read into memory. What is wrong
is said with file, column and the ids concerned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.basics.atomic_files import PathLike
from lifagu.data.duck import Duck
from lifagu.data.parquet.layout import MODEL, OPTIONAL, REQUIRED, file_name
from lifagu.data.parquet.reading import pinned_folder
from lifagu.data.parquet.table import EXACT, ParquetTable
from lifagu.data.snapshots import Pinned
from lifagu.errors import FormatError, ModelError, Remedy, TooLargeError
from lifagu.graph.ranges import BOOLEAN, Labels, check_labels
from lifagu.scale.journal import Journal
from lifagu.scale.numbering import number_ids

PREFIX = {"variables": "x", "factors": "f"}
MOST_WORDS = 1_000_000  # different ranges or kinds, which are looked at in memory
WIDEST = 62  # arguments of a factor that stand side by side in one row


@dataclass(frozen=True)
class Given:
    """What a folder holds: the columns there are of each table, counts, and whether ids are the
    numbers 0, 1, …

    counts: of variables, factors and tables and, as "places", of the places of arguments.
    """

    folder: str
    columns: dict[str, set[str]]
    counts: dict[str, int]
    dense: dict[str, bool]
    listed: bool  # whether the individuals of a variable are lists
    inexact: set[tuple[str, str]]  # tables and columns whose numbers may have fractions

    @property
    def places(self) -> range:
        """Where arguments stand side by side in the table scopes."""
        return range(min(self.counts["places"], WIDEST))

    def file(self, table: str) -> str:
        """A table as the user calls it."""
        return str(Path(self.folder) / file_name(table))

    def numbered(self, table: str) -> str:
        """The variables or factors as they were given, with their numbers, as a table expression."""
        if self.dense[table]:
            return f"(SELECT CAST(id AS BIGINT) AS number, g.* FROM given_{table} g)"
        return f"(SELECT n.number, g.* FROM given_{table} g JOIN {table}_numbers n ON n.id = CAST(g.id AS BIGINT))"

    def reference(self, table: str, column: str) -> tuple[str, str]:
        """The number that a column with ids of a table means, and the join that gives it."""
        if self.dense[table]:
            return f"CAST(g.{column} AS BIGINT)", ""
        joined = f"{table}_for_{column}"
        return (
            f"{joined}.number",
            f" JOIN {table}_numbers {joined} ON {joined}.id = CAST(g.{column} AS BIGINT)",
        )


def take_in(journal: Journal, path: PathLike) -> Given:
    """Check a folder and store its arguments as the table arguments (factor, position, variable),
    by numbers.
    """
    folder = pinned_folder(path)
    tables = _checked_tables(folder)
    journal.engine.hold(folder)
    if journal.once("state", lambda: folder.states) != folder.states:
        raise FormatError(f"{path}: is not what it was when this run began; run again")
    columns = {
        table: {
            column for column in (*REQUIRED[table], *OPTIONAL.get(table, {})) if found.has(column)
        }
        for table, found in tables.items()
    }
    inexact = {
        (table, column)
        for table in tables
        for column in columns[table]
        if tables[table].is_inexact(column)
    }
    given = Given(
        folder.place, columns, {}, {}, tables["variables"].holds_lists("individual"), inexact
    )
    for table in ("variables", "factors", "tables"):
        count, dense = journal.once(f"ids of {table}", partial(_ids, journal, given, table))
        given.counts[table], given.dense[table] = count, dense
        if not dense and table != "tables":
            number_ids(
                journal,
                f"(SELECT CAST(id AS BIGINT) AS id FROM given_{table}) g",
                f"{table}_numbers",
            )
    journal.once("references", lambda: _check_references(journal, given))
    factor, to_factor = given.reference("factors", "factor_id")
    variable, to_variable = given.reference("variables", "variable_id")
    journal.create(
        "arguments",
        f"SELECT {factor} AS factor, CAST(g.position AS BIGINT) AS position, {variable} AS variable "
        f"FROM given_arguments g{to_factor}{to_variable}",
    )
    ((last,),) = journal.engine.rows("SELECT max(position) FROM arguments")
    given.counts["places"] = 0 if last is None else last + 1
    _take_scopes(journal, given)
    journal.once("scopes", lambda: _check_scopes(journal, given))
    folder.check_together()
    return given


def _checked_tables(folder: Pinned) -> dict[str, ParquetTable]:
    """The tables of a folder with their columns; the folder is let go of where they are wrong."""
    present = [*MODEL, *(["evidence"] if "evidence" in folder.files else [])]
    try:
        with folder.watched(), Duck() as duck:
            return {table: ParquetTable(duck, folder, table) for table in present}
    except BaseException:
        folder.close()
        raise


# ---- ids


def _ids(journal: Journal, given: Given, table: str) -> list[Any]:
    """How many rows a table has, and whether its ids are 0, 1, …; each must be a whole number,
    once.
    """
    engine = journal.engine
    _check_whole(journal, given, table, "id")
    ((count, highest),) = engine.rows(
        f"SELECT count(*), max(CAST(id AS BIGINT)) FROM given_{table}"
    )
    if count and highest == count - 1:
        ((different,),) = engine.rows(
            f"SELECT {engine.dialect.different('id', count)} FROM given_{table}"
        )
        if different == count:
            return [count, True]
    _refuse_twice(journal, given, table, "id")
    return [count, count == 0]


def _refuse_twice(journal: Journal, given: Given, table: str, column: str) -> None:
    """Each number may stand in one row only."""
    query = f"SELECT {column} FROM given_{table} GROUP BY {column} HAVING count(*) > 1 ORDER BY {column} LIMIT 1"
    for (number,) in journal.engine.rows(query):
        raise FormatError(
            f"{given.file(table)}: column {column}: {number} stands in several rows; give each row its own"
        )


def _check_whole(
    journal: Journal, given: Given, table: str, column: str, null: bool = False
) -> None:
    """A column must hold whole numbers from 0 on."""
    if column not in given.columns[table]:  # it holds nothing but nulls
        ((count,),) = journal.engine.rows(f"SELECT count(*) FROM given_{table}")
        if null or not count:
            return
        raise FormatError(f"{given.file(table)}: column {column}: null; give a whole number")
    most = EXACT if (table, column) in given.inexact else 2**63 - 1
    wrong = f"{column} < 0 OR {column} <> floor({column}) OR {column} > {most}"
    wrong += "" if null else f" OR {column} IS NULL"
    found = journal.engine.rows(
        f"SELECT {column} FROM given_{table} WHERE {wrong} ORDER BY {column} LIMIT 1"
    )
    if found:
        value = found[0][0]
        what = (
            "null; give a whole number"
            if value is None
            else f"{value} is not a whole number from 0 on"
        )
        raise FormatError(f"{given.file(table)}: column {column}: {what}")


def _check_references(journal: Journal, given: Given) -> None:
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
        _check_whole(journal, given, table, column, null)
        if target and column in given.columns[table]:
            _check_leads(journal, given, table, column, target)
    if "evidence" in given.columns:
        _refuse_twice(journal, given, "evidence", "variable_id")


def _check_leads(journal: Journal, given: Given, table: str, column: str, target: str) -> None:
    if given.dense[target]:
        lost = f"SELECT {column} FROM given_{table} WHERE {column} >= {given.counts[target]}"
    else:
        lost = (
            f"SELECT g.{column} FROM given_{table} g LEFT JOIN given_{target} t ON CAST(t.id AS BIGINT) = "
            f"CAST(g.{column} AS BIGINT) WHERE t.id IS NULL AND g.{column} IS NOT NULL"
        )
    found = journal.engine.rows(f"SELECT min({column}) FROM ({lost}) lost")
    if found[0][0] is not None:
        raise FormatError(
            f"{given.file(table)}: column {column}: {found[0][0]} is not an id in {file_name(target)}; add that row, "
            "or refer to another"
        )


# ---- arguments


def _take_scopes(journal: Journal, given: Given) -> None:
    """Store scopes (id, arity, v0, v1, …): arguments side by side, as far as WIDEST goes."""
    journal.create(
        "scopes",
        "SELECT factor AS id, count(*) AS arity, max(position) AS highest"
        + "".join(
            f", max(CASE WHEN position = {place} THEN variable END) AS v{place}"
            for place in given.places
        )
        + " FROM arguments GROUP BY factor",
    )


def _check_scopes(journal: Journal, given: Given) -> None:
    """The arguments of a factor stand at 0, 1, …, each place once, and differ."""
    gaps = " OR ".join(
        [
            "highest <> arity - 1",
            *(f"arity > {place} AND v{place} IS NULL" for place in given.places),
        ]
    )
    factor = _first_wrong(journal, gaps, "position")
    if factor is not None:
        raise FormatError(
            f"{given.file('arguments')}: column position: those of factor {_id(journal, given, 'factors', factor)} are "
            "not 0, 1, … with each of them once; number its arguments so"
        )
    same = " OR ".join(f"v{one} = v{two}" for one, two in combinations(given.places, 2))
    factor = _first_wrong(journal, same or "1 = 0", "variable")
    if factor is not None:
        raise FormatError(
            f"{given.folder}: factor '{names(journal, given, 'factors', [factor])[0]}' has an argument twice; give it "
            "once, with the diagonal of the table"
        )


def _first_wrong(journal: Journal, wrong: str, column: str) -> int | None:
    """The first factor whose scope is wrong or, if it is not wholly in scopes, has the same twice
    in a column.
    """
    ((found,),) = journal.engine.rows(f"SELECT min(id) FROM scopes WHERE {wrong}")
    if found is None:
        ((found,),) = journal.engine.rows(
            "SELECT min(factor) FROM (SELECT a.factor FROM arguments a JOIN scopes s ON s.id = a.factor "
            f"WHERE s.arity > {WIDEST} GROUP BY a.factor, a.{column} HAVING count(*) > 1) again"
        )
    return None if found is None else int(found)


def _id(journal: Journal, given: Given, table: str, number: int) -> int:
    """The id of a node, given its number."""
    if given.dense[table]:
        return number
    ((found,),) = journal.engine.rows(f"SELECT id FROM {table}_numbers WHERE number = {number}")
    return int(found)


# ---- names


def name_of(given: Given, table: str) -> str:
    """The name of a node as SQL, over the table `numbered` called s."""
    if "name" in given.columns[table]:
        return "CAST(s.name AS STRING)"
    return f"concat('{PREFIX[table]}', CAST(CAST(s.id AS BIGINT) AS STRING))"


def names(journal: Journal, given: Given, table: str, numbers: list[int]) -> list[str]:
    """The names of a few nodes."""
    if "name" not in given.columns[table] and given.dense[table]:
        return [f"{PREFIX[table]}{number}" for number in numbers]
    engine = journal.engine
    engine.register("asked", {"number": np.unique(np.array(numbers, dtype=np.int64))})
    asked = f"FROM {given.numbered(table)} s JOIN asked a ON a.number = s.number"
    found = dict(engine.rows(f"SELECT s.number, {name_of(given, table)} {asked}"))
    engine.drop("asked")
    return [str(found[number]) for number in numbers]


def numbers_of(journal: Journal, given: Given, wanted: Iterable[str]) -> dict[str, int]:
    """The numbers of variables by name, in the order in which they are wanted; one that does not
    exist is an error.
    """
    asked, engine = list(dict.fromkeys(wanted)), journal.engine
    column, keys = "CAST(s.name AS STRING)", np.array(asked, dtype=object)
    called: dict[Any, str] = {name: name for name in asked}
    if "name" not in given.columns["variables"]:
        called = {number: name for name in asked if (number := _id_in(name)) is not None}
        column, keys = "CAST(s.id AS BIGINT)", np.array(list(called), dtype=np.int64)
    found = {}
    if len(keys):
        engine.register("asked", {"wanted": keys})
        source = f"{given.numbered('variables')} s JOIN asked a ON a.wanted = {column}"
        found = {
            called[each]: int(number)
            for each, number in engine.rows(f"SELECT a.wanted, s.number FROM {source}")
        }
        engine.drop("asked")
    for name in asked:
        if name not in found:
            raise ModelError(f"there is no variable '{name}' in the model")
    return {name: found[name] for name in asked}


def _id_in(name: str) -> int | None:
    """The id in a name that was made from it, such as x7."""
    prefix = PREFIX["variables"]
    digits = name.removeprefix(prefix)
    return (
        int(digits)
        if name == f"{prefix}{digits}" and re.fullmatch("0|[1-9][0-9]{0,17}", digits)
        else None
    )


def check_names(journal: Journal, given: Given) -> None:
    """Names are not empty and differ."""
    for table, sort in (("variables", "variable"), ("factors", "factor")):
        if "name" not in given.columns[table]:
            continue
        name, engine = "CAST(name AS STRING)", journal.engine
        ((missing,),) = engine.rows(
            f"SELECT min(id) FROM given_{table} WHERE name IS NULL OR {name} = ''"
        )
        if missing is not None:
            raise FormatError(
                f"{given.file(table)}: column name: the row with id {missing} has none; names are non-empty texts, or "
                "leave the column out"
            )
        twice = engine.rows(
            f"SELECT min(name) FROM (SELECT {name} AS name FROM given_{table} GROUP BY {name} HAVING count(*) > 1) t"
        )[0][0]
        if twice is not None:
            raise FormatError(
                f"{given.file(table)}: column name: {sort} '{twice}' stands in several rows; give each its own name"
            )


def check_individuals(journal: Journal, given: Given) -> None:
    """Individuals are non-empty texts."""
    if "individual" not in given.columns["variables"]:
        return
    dialect = journal.engine.dialect
    wrong = "CAST(individual AS STRING) = ''"
    if given.listed:
        words = f"CAST(individual AS {dialect.lists_of('STRING')})"
        wrong = f"array_contains({words}, '') OR {dialect.filled(words)} < {dialect.length(words)}"
    ((found,),) = journal.engine.rows(f"SELECT min(id) FROM given_variables WHERE {wrong}")
    if found is not None:
        raise FormatError(
            f"{given.file('variables')}: column individual: the row with id {found} has an empty text or a null in its "
            "list; give a name, or null for none"
        )


# ---- words by number


def declared_ranges(journal: Journal, given: Given) -> list[Labels]:
    """The different label orders by first use; stores the table ranges_coded (word, code) if there
    is a column.
    """
    if "range" not in given.columns["variables"]:
        return [BOOLEAN] if given.counts["variables"] else []
    lists = journal.engine.dialect.lists_of("STRING")
    boolean = journal.engine.dialect.array(["false", "true"])
    word = f"coalesce(CAST(range AS {lists}), {boolean})"
    words = _coded(journal, given, word, "ranges")
    journal.create(
        "ranges_filled",
        f"SELECT s.number, c.code FROM (SELECT {word} AS word, number FROM {given.numbered('variables')} v) s "
        "JOIN ranges_coded c ON c.word = s.word",
    )
    found = []
    for word in words:
        if any(label is None for label in word):
            raise FormatError(
                f"{given.file('variables')}: column range: a null in a list; leave it out"
            )
        try:
            found.append(check_labels(word, "a variable"))
        except ModelError as error:
            raise FormatError(f"{given.file('variables')}: column range: {error}") from None
    return found


def declared_kinds(journal: Journal, given: Given) -> list[str]:
    """The different kinds by first use; stores the table kinds_coded (word, code) if there is a
    column.
    """
    if "kind" not in given.columns["variables"]:
        return []
    words = _coded(journal, given, "CAST(kind AS STRING)", "kinds")
    if "" in words:
        raise FormatError(
            f"{given.file('variables')}: column kind: an empty text; give a name, or null for none"
        )
    return words


def _coded(journal: Journal, given: Given, word: str, name: str) -> list[Any]:
    """The different words of a column of the variables by first use, and a table (word, code)."""
    journal.create(
        f"{name}_found",
        f"SELECT word, min(number) AS first FROM (SELECT {word} AS word, number FROM {given.numbered('variables')} s) "
        "t WHERE word IS NOT NULL GROUP BY word",
    )
    found = journal.engine.rows(
        f"SELECT word, first FROM {name}_found ORDER BY first LIMIT {MOST_WORDS + 1}"
    )
    if len(found) > MOST_WORDS:
        raise TooLargeError(
            f"{given.file('variables')}: more than {MOST_WORDS} different {name}, which are looked at in memory",
            remedy=Remedy.IN_MEMORY,
        )
    firsts = np.array([first for _, first in found], dtype=np.int64)
    journal.register(f"{name}_codes", {"first": firsts, "code": np.arange(len(firsts))})
    journal.create(
        f"{name}_coded",
        f"SELECT f.word, c.code FROM {name}_found f JOIN {name}_codes c ON c.first = f.first",
    )
    return [list(word) if not isinstance(word, str) else word for word, _ in found]
