"""Engines that run SQL where the data is: one small protocol, DuckDB on disk and Spark behind it.

Statements are plain SQL, the same for every engine; the few words in which dialects differ come
from `dialects.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.atomic_files import PathLike
from lifagu.data.snapshots import Pinned
from lifagu.scale.engines.dialects import Dialect

Registered = PathLike | Mapping[str, NDArray[Any]]


class Engine(Protocol):
    """A place where tables are kept, outside of this process's memory, and where statements run.

    Names of tables and columns are plain lower-case words. Every failure is one line: a
    LifaguError. dialect: the words in which its SQL differs from others'; folder: where it keeps
    its tables; files put there can be registered.
    """

    dialect: Dialect
    folder: PathLike

    def register(self, name: str, source: Registered) -> None:
        """Make Parquet files or arrays readable under a name.

        Parameters
        ----------
        name : str
            How statements call it.
        source : path or mapping
            A Parquet file, a folder of them, or arrays by column.
        """

    def hold(self, folder: Pinned) -> None:
        """Make the tables of a folder readable as ``given_…``, as pinned, until `close`.

        A statement that cannot read this state any more is an error.

        Parameters
        ----------
        folder : Pinned
            The files, opened before any is read.
        """

    def run(self, statement: str) -> None:
        """Run a statement for its effect, such as ``CREATE OR REPLACE TEMP VIEW …``.

        Parameters
        ----------
        statement : str
            In SQL.
        """

    def create(self, name: str, query: str) -> None:
        """Store the rows of a query as a table.

        Parameters
        ----------
        name : str
            Of the table; the query may read what has this name.
        query : str
            In SQL.
        """

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result.

        Parameters
        ----------
        query : str
            In SQL.

        Returns
        -------
        list of tuple
        """

    def columns(self, query: str) -> list[NDArray[Any]]:
        """The columns of a result that fits in memory, in order; those with nulls masked.

        Parameters
        ----------
        query : str
            In SQL.

        Returns
        -------
        list of array
        """

    def export(self, query: str, file: PathLike) -> None:
        """Write the rows of a query, in order, to a Parquet file; equal rows, equal bytes.

        Parameters
        ----------
        query : str
            In SQL.
        file : path
            What to write.
        """

    def drop(self, name: str) -> None:
        """Forget a name, and remove its rows if they were stored.

        Parameters
        ----------
        name : str
            Of a table, or of what was registered.
        """

    def names(self) -> set[str]:
        """The tables that are stored."""

    def close(self) -> None:
        """Let go of everything; what was stored stays in the folder."""

    def discard(self, *names: str) -> None:
        """Remove tables that no later step needs, where they are stored.

        Parameters
        ----------
        *names : str
            Of tables.
        """
        stored = self.names()
        for name in names:
            if name in stored:
                self.drop(name)

    def value(self, query: str) -> Any:
        """The only value of a query that gives one.

        Parameters
        ----------
        query : str
            In SQL.
        """
        ((found,),) = self.rows(query)
        return found

    def count(self, table: str) -> int:
        """How many rows a table has, or what else may follow FROM.

        Parameters
        ----------
        table : str
            What follows FROM.
        """
        return int(self.value(f"SELECT count(*) FROM {table}"))

    def integers(self, query: str) -> list[Ints]:
        """The columns of a result that fits in memory, where all are whole numbers.

        Parameters
        ----------
        query : str
            In SQL.
        """
        return [np.ma.getdata(each).astype(np.int64) for each in self.columns(query)]
