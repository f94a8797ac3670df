"""The tables of a folder under names of their own, with whole numbers as such, and checked where that costs little."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lifagu.errors import FormatError, ModelError
from lifagu.replacing import PathLike
from lifagu.sql.duck import Duck
from lifagu.sql.layout import ID, LABELS, MODEL, NUMBERS, OPTIONAL, REQUIRED, file_name
from lifagu.sql.reading import checked_folder
from lifagu.sql.scale.eliminating.work import Work, among
from lifagu.sql.source import EXACT, ParquetTable

PREFIX = {"variables": "x", "factors": "f"}  # of names where there is no such column
MOST = 2**63 - 1
IDS = {"variables": ["id"], "factors": ["id"], "tables": ["id"], "evidence": ["variable_id"]}
IDS["arguments"] = ["factor_id", "position", "variable_id"]


@dataclass(frozen=True)
class Sources:
    """For each table of a folder the name of a view, and the columns in which there is anything.

    dense: whether the ids of variables are 0, 1, … without gaps; variables: how many there are; next_id: beyond all.
    """

    folder: str
    names: dict[str, str]
    columns: dict[str, frozenset[str]]
    dense: bool
    variables: int
    next_id: int

    def __getitem__(self, table: str) -> str:
        return self.names[table]

    def fault(self, table: str, what: str) -> FormatError:
        """An error about a table."""
        return FormatError(f"{Path(self.folder) / file_name(table)}: {what}")


def open_sources(work: Work, folder: PathLike) -> Sources:
    """The tables of a folder; missing ones, unknown columns, wrong types and ids that are none are errors."""
    place = checked_folder(folder)
    tables = [*MODEL, *(["evidence"] if (Path(place) / file_name("evidence")).exists() else [])]
    names, columns = {}, {}
    with Duck() as duck:
        for table in tables:
            checked = ParquetTable(duck, place, table)
            known = REQUIRED[table] | OPTIONAL.get(table, {})
            columns[table] = frozenset(column for column in known if checked.has(column))
            raw = work.register(f"{table}_file", Path(checked.file).absolute())
            _check_numbers(work, raw, checked, columns[table])
            names[table] = work.view(table, f"SELECT {_shown(work, table, columns[table])} FROM {raw} AS raw")
    (many, different, least, most) = work.rows(
        f"SELECT count(*), count(DISTINCT id), min(id), max(id) FROM {names['variables']}"
    )[0]
    sources = Sources(place, names, columns, bool(many) and least == 0 and most == many - 1, many, (most or 0) + 1)
    if different < many:
        _refuse_twice(work, sources, "variables", "id")
    if "evidence" in names:
        _refuse_twice(work, sources, "evidence", "variable_id")
    return sources


def _shown(work: Work, table: str, present: frozenset[str]) -> str:
    """The columns of a table in the types that statements want; those that are missing are null."""
    shown = []
    for column, sort in (REQUIRED[table] | OPTIONAL.get(table, {})).items():
        dialect = work.engine.dialect
        lists = {LABELS: dialect.lists_of("STRING"), NUMBERS: dialect.lists_of("DOUBLE")}
        kind = "BIGINT" if sort == ID else lists.get(sort, "STRING")
        if column not in ("kind", "individual"):
            shown.append(f"CAST({f'raw.{column}' if column in present else 'NULL'} AS {kind}) AS {column}")
    return ", ".join(shown)


def _check_numbers(work: Work, raw: str, table: ParquetTable, present: frozenset[str]) -> None:
    """Ids and positions are whole numbers from 0 on, and only the table of a factor may be null."""
    wrong = {column: _wrong(table, column, column in present) for column in IDS[table.table]}
    if "table_id" in present:
        wrong["table_id"] = _wrong(table, "table_id", True, null=True)
    tests = ", ".join(f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)" for test in wrong.values())
    ((*counts,),) = work.rows(f"SELECT {tests} FROM {raw}")
    for (column, test), count in zip(wrong.items(), counts, strict=True):
        if count:
            ((value,),) = work.rows(f"SELECT min({column}) FROM {raw} WHERE {test}")
            shown = "null" if value is None else value
            raise FormatError(f"{table.file}: column {column} holds {shown}; give whole numbers from 0 on")


def _wrong(table: ParquetTable, column: str, present: bool, null: bool = False) -> str:
    """Whether a column holds no whole number from 0 on, as SQL; one that is null throughout never does."""
    if not present:
        return "1 = 1"
    inexact = table.is_inexact(column)
    fraction = f" OR {column} <> floor({column})" if inexact else ""
    return f"{column} < 0 OR {column} > {EXACT if inexact else MOST}{fraction}" + (
        "" if null else f" OR {column} IS NULL"
    )


def _refuse_twice(work: Work, sources: Sources, table: str, column: str) -> None:
    query = f"SELECT {column} FROM {sources[table]} GROUP BY {column} HAVING count(*) > 1 ORDER BY {column} LIMIT 1"
    for (number,) in work.rows(query):
        raise sources.fault(table, f"column {column}: {number} stands in two rows; give each row its own")


def find_variables(work: Work, sources: Sources, names: Iterable[str]) -> dict[str, int]:
    """The ids of variables by name; one that is not there, or there twice, is an error."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    if "name" not in sources.columns["variables"]:
        numbers = {name: int(name[1:]) for name in wanted if name[:1] == "x" and name[1:].isdecimal()}
        numbers = {name: each for name, each in numbers.items() if name == f"x{each}" and each < 2**63}
        found = work.rows(f"SELECT id FROM {sources['variables']} WHERE {among('id', numbers.values())}")
        ids = {f"x{each}": each for (each,) in found}
    else:
        asked = work.register("asked", {"name": np.array(wanted, dtype=object)})
        rows = work.rows(
            f"SELECT v.name, min(v.id), count(*) FROM {sources['variables']} AS v JOIN {asked} AS a ON v.name = a.name "
            "GROUP BY v.name"
        )
        work.drop(asked)
        for name, _, many in rows:
            if many > 1:
                raise sources.fault("variables", f"column name: '{name}' stands in {many} rows; give each its own name")
        ids = {name: number for name, number, _ in rows}
    for name in wanted:
        if name not in ids:
            raise ModelError(f"there is no variable '{name}' in the model")
    return ids


def names_of(work: Work, sources: Sources, table: str, numbers: Iterable[int]) -> dict[int, str]:
    """The names of a few variables or factors, by id."""
    wanted = list(numbers)
    if "name" not in sources.columns[table]:
        return {number: f"{PREFIX[table]}{number}" for number in wanted}
    found = work.rows(f"SELECT id, name FROM {sources[table]} WHERE {among('id', wanted)}")
    return dict(found)
