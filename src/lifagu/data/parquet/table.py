"""One Parquet table, column by column, checked: errors name the file, the column and the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.data.duck import Duck, file_source, quoted
from lifagu.data.parquet.layout import OPTIONAL, REQUIRED, Sort, file_name
from lifagu.data.snapshots import Pinned
from lifagu.errors import FormatError, did_you_mean

PANDAS = "__index_level_"  # columns in which pandas keeps the index of a data frame
EXACT = 2**53  # floats beyond it do not tell neighbouring whole numbers apart


@dataclass(frozen=True, eq=False)
class Coded:
    """Texts or lists of texts: row rows[i] has words[codes[i]], at places[i] of a list.

    first[w]: the first row that has word w. Words and rows come in any order; rows with null do not
    come.
    """

    words: list[Any]
    first: list[int]
    rows: Ints
    places: Ints
    codes: Ints


class ParquetTable:
    """A table of a folder. Its rows are counted from 0, in the order of the file."""

    def __init__(self, duck: Duck, folder: Pinned, table: str) -> None:
        self.duck = duck
        self.table = table
        self.file = str(Path(folder.place) / file_name(table))
        if table not in folder.files:
            raise FormatError(f"{self.file}: there is no such file; {_wanted(table)}")
        duck.show(folder)
        source = folder.files[table].source
        duck.check_parquet(source, f"{self.file}: cannot be read as Parquet")
        self._source = file_source(source)
        self._types = self._checked_types()

    def _checked_types(self) -> dict[str, str]:
        """The type of each column that is there and not null throughout."""
        statement = f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {self._source}"
        described = self.duck.rows(statement, f"{self.file}: cannot be read as Parquet")
        types = {str(row[0]): str(row[1]) for row in described}
        required, optional = REQUIRED[self.table], OPTIONAL.get(self.table, {})
        known = required | optional
        for column in types:
            if column not in known and not column.startswith(PANDAS):
                raise FormatError(
                    f"{self.file}: the column '{column}' means nothing here"
                    f"{did_you_mean(column, known)}; leave it out, as {_wanted(self.table)}"
                )
        for column in required:
            if column not in types:
                raise FormatError(
                    f"{self.file}: there is no column {column}; {_wanted(self.table)}"
                )
        return {
            column: types[column]
            for column in known
            if column in types and self._admitted(column, types[column])
        }

    def _admitted(self, column: str, given: str) -> bool:
        """Whether a column can be read; one of nothing but nulls passes for missing."""
        sort = _sort(self.table, column)
        if sort.admits(given):
            return True
        (filled,) = self.duck.rows(
            f"SELECT count({quoted(column)}) FROM {self._source}", self.file
        )[0]
        if filled:
            raise FormatError(
                f"{self.file}: the column {column} has the type {given}; give {sort.words}"
            )
        return False

    def has(self, column: str) -> bool:
        """Whether there is anything in a column."""
        return column in self._types

    def count(self) -> int:
        """The number of rows."""
        return int(self.duck.rows(f"SELECT count(*) FROM {self._source}", self.file)[0][0])

    def is_inexact(self, column: str) -> bool:
        """Whether the numbers in a column may have fractions."""
        return self._types.get(column, "").partition("(")[0] in ("FLOAT", "DOUBLE", "DECIMAL")

    def holds_lists(self, column: str) -> bool:
        """Whether a column holds lists."""
        return self._types.get(column, "").endswith("[]")

    def fault(self, column: str, row: int, what: str) -> FormatError:
        """The error about one row."""
        return FormatError(f"{self.file}: column {column}, row {row} (counted from 0): {what}")

    # ---- columns

    def integers(self, column: str, null: bool = False) -> Ints:
        """Whole numbers from 0 on, in the order of the rows; null, if allowed, is -1."""
        value = quoted(column) if self.has(column) else "CAST(NULL AS BIGINT)"
        (found,) = self.duck.columns(f"SELECT {value} FROM {self._source}", self.file)
        missing, values = np.ma.getmaskarray(found), np.ma.getdata(found)
        if not null and missing.any():
            raise self.fault(column, int(np.argmax(missing)), "null; give a whole number")
        wrong = ~missing & ~_is_whole(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.fault(column, row, f"{values[row]} is not a whole number from 0 on")
        numbers = np.where(missing, 0, values).astype(np.int64)
        numbers[missing] = -1
        return numbers

    def texts(self, column: str) -> NDArray[Any]:
        """Texts as objects, in the order of the rows; null is an error."""
        (found,) = self.duck.columns(f"SELECT {self._cast(column)} FROM {self._source}", self.file)
        missing = np.ma.getmaskarray(found)
        if missing.any():
            row = int(np.argmax(missing))
            raise self.fault(column, row, "null; give every row a text, or leave the column out")
        return np.ma.getdata(found)

    def coded(self, column: str) -> Coded:
        """The texts of a column, or its lists of texts, by number; near-linear, by grouping."""
        return self._coded(column, self._cast(column), "0")

    def coded_items(self, column: str) -> Coded:
        """The members of a column's lists (texts that stand alone are lists of one) by number."""
        if not self.holds_lists(column):
            return self.coded(column)
        lists = quoted(column)
        word, place = f"CAST(unnest({lists}) AS VARCHAR)", f"generate_subscripts({lists}, 1) - 1"
        return self._coded(column, word, place)

    def _coded(self, column: str, word: str, place: str) -> Coded:
        filled = f"""
            SELECT file_row_number AS row, {word} AS word, {place} AS place
            FROM {self._source}
            WHERE {quoted(column)} IS NOT NULL
            """
        self.duck.run(
            f"""
            CREATE OR REPLACE TEMP TABLE words AS
            SELECT word, min(row) AS first, row_number() OVER () - 1 AS code
            FROM ({filled})
            GROUP BY word
            """,
            self.file,
        )
        found = self.duck.rows("SELECT word, first FROM words ORDER BY code", self.file)
        holed = [
            row for word, row in found if word is None or (isinstance(word, list) and None in word)
        ]
        if holed:
            raise self.fault(column, min(holed), "a null in the list; leave it out")
        joined = f"SELECT row, place, code FROM ({filled}) JOIN words USING (word)"
        words, first = [word for word, _ in found], [row for _, row in found]
        return Coded(words, first, *self.duck.columns(joined, self.file))

    def number_lists(self, column: str) -> tuple[Ints, Floats]:
        """Lists of numbers: the length of each row's (-1 for null), and all their numbers.

        Numbers that stand alone are lists of one.
        """
        if not self.has(column):
            return self.integers(column, null=True), np.zeros(0)
        lists = quoted(column)
        if not self.holds_lists(column):
            lists = f"CASE WHEN {lists} IS NOT NULL THEN [{lists}] END"
        lengths = f"SELECT CAST(coalesce(len({lists}), -1) AS BIGINT) FROM {self._source}"
        numbers = f"SELECT CAST(unnest({lists}) AS DOUBLE) FROM {self._source}"
        (length,) = self.duck.columns(lengths, self.file)
        (found,) = self.duck.columns(numbers, self.file)
        missing = np.ma.getmaskarray(found)
        if missing.any():
            ends = np.cumsum(np.maximum(length, 0))
            row = int(np.searchsorted(ends, int(np.argmax(missing)), side="right"))
            what = "a null in the list; give numbers, or null for the whole list if unknown"
            raise self.fault(column, row, what)
        return length, np.ma.getdata(found)

    def records(self, columns: Sequence[str], rows: Ints | None = None) -> list[tuple[Any, ...]]:
        """Some columns as plain values (None for null), of some rows as asked for, or all."""
        values = ", ".join(self._cast(column) if self.has(column) else "NULL" for column in columns)
        if rows is None:
            return self.duck.rows(f"SELECT {values} FROM {self._source}", self.file)
        with self.duck.tables({"wanted": {"row": rows, "place": np.arange(len(rows))}}):
            return self.duck.rows(
                f"""
                SELECT {values}
                FROM {self._source}
                JOIN wanted ON file_row_number = wanted.row
                ORDER BY wanted.place
                """,
                self.file,
            )

    def _cast(self, column: str) -> str:
        return f"CAST({quoted(column)} AS {_sort(self.table, column).read_as})"


def _sort(table: str, column: str) -> Sort:
    return (REQUIRED[table] | OPTIONAL.get(table, {}))[column]


def _is_whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are whole numbers from 0 on that an id can hold."""
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            return np.asarray((values >= 0) & (values <= EXACT) & (values == np.floor(values)))
    return np.asarray((values >= 0) & (values <= np.iinfo(np.int64).max))


def _wanted(table: str) -> str:
    """The columns of a table, for an error."""
    optional = ", ".join(OPTIONAL.get(table, {}))
    return f"{file_name(table)} has the columns {', '.join(REQUIRED[table])}" + (
        f" and optionally {optional}" if optional else ""
    )
