"""The door to DuckDB: a private database in memory or on disk, without network or settings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.atomic_files import PathLike
from lifagu.data.snapshots import DESCRIPTORS, Pinned
from lifagu.errors import (
    BusyError,
    FormatError,
    LifaguError,
    MissingExtraError,
    Remedy,
    TooLargeError,
)

MOST_THREADS = 8
ENGINE = "duckdb"  # the place of what is kept in --temp, where no file is named
MOST_NESTED = 100  # brackets, as DuckDB's parser takes gigabytes for thousands that stay open
DISK_FULL = (
    "No space left on device",
    "max_temp_directory_size",
    "not enough space",
    "File too large",
    "quota exceeded",
)
# what DuckDB says of a CSV file, below the number of the line and perhaps the line
_IN_CSV = re.compile(r"CSV Error on Line: (\d+)\n(?:Original Line:.*\n)?(.+)")
# of a file that another process writes; it is called by its number, where DuckDB knows it
_LOCKED = re.compile(r"Could not set lock(?:.*(\(PID \d+\)))?", re.DOTALL)
_NO_TABLE = "Error when sniffing file"  # of a CSV file whose rows are not alike
_NO_UTF8 = "std::bad_cast"  # of a text that is handed over, such as a path
_OWN_PATH = re.compile(rf"{DESCRIPTORS}/\d+")
Result = TypeVar("Result")


class Duck:
    """A DuckDB, in memory if no file is named; every failure is one line that names the place.

    folder: where a database of ours is kept, and where it spills to. memory_limit: in bytes.
    """

    def __init__(
        self,
        threads: int | None = None,
        file: PathLike | None = None,
        read_only: bool = False,
        purpose: str = "reading or writing Parquet",
        folder: PathLike | None = None,
        memory_limit: int | None = None,
    ) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("duckdb", purpose) from None
        self._errors = duckdb
        self._shown: dict[str, str] = {}
        self._seconds: float | None = None
        self._thread = one_thread()
        self._is_own = True
        self._connection = self._connected(threads, file, read_only, folder, memory_limit)
        # it would show one in notebooks
        self._connection.execute("SET enable_progress_bar = false")

    def _connected(
        self,
        threads: int | None,
        file: PathLike | None,
        read_only: bool,
        folder: PathLike | None,
        memory_limit: int | None,
    ) -> Any:
        settings = {
            "threads": str(threads or min(_processors(), MOST_THREADS)),
            # never the current folder
            "temp_directory": "" if folder is None else str(Path(folder) / "spilled"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # names in statements are tables, never Python variables
            "python_enable_replacements": "false",
        }
        if memory_limit is not None:
            settings["memory_limit"] = f"{memory_limit}B"
        kept = file if folder is None else Path(folder) / "tables.duckdb"
        database = ":memory:" if kept is None else os.fspath(kept)
        opened = partial(self._errors.connect, database, read_only=read_only, config=settings)
        return opened() if kept is None else self._finished(opened, kept)

    @classmethod
    def over(cls, connection: Any) -> Duck:
        """The same over somebody else's connection, which is not set up and never closed."""
        import duckdb

        made = cls.__new__(cls)
        made._errors, made._shown, made._thread = duckdb, {}, one_thread()
        made._seconds = None
        made._connection, made._is_own = connection, False
        return made

    @classmethod
    def beside(cls, connection: Any, place: PathLike) -> Duck:
        """Another connection to the database of somebody else's, in the same schema."""
        with cls.over(connection) as theirs:
            ((database, schema),) = theirs.rows(
                "SELECT current_database(), current_schema()", place
            )
            made = cls.over(theirs._finished(connection.cursor, place))
        made._is_own = True
        made.run(f"USE {quoted(database)}.{quoted(schema)}", place)
        return made

    def __enter__(self) -> Duck:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def show(self, files: Pinned) -> None:
        """Speak of these files as the user does, however they are read."""
        self._shown |= {file.source: file.shown for file in files.files.values()}

    def close(self) -> None:
        """Let go of the database; what was not committed is undone."""
        with suppress(RuntimeError):  # where it was closed before
            self._settle()
        self._thread.shutdown()
        if self._is_own:
            self._connection.close()

    @contextmanager
    def ended_after(
        self, seconds: float | None, error: Callable[[], LifaguError]
    ) -> Iterator[None]:
        """Whatever is run meanwhile ends after so many seconds each, with this error."""
        self._seconds, self._too_long = seconds, error
        try:
            yield
        finally:
            self._seconds = None

    def is_query(self, statement: str, place: PathLike) -> bool:
        """Whether a text is one statement that only reads; none that is nested without end."""
        if self._finished(lambda: self._nesting(statement), place) > MOST_NESTED:
            raise FormatError(
                f"{place}: nested too deeply, {MOST_NESTED} brackets within one another at the most"
            )
        found = self._finished(lambda: self._connection.extract_statements(statement), place)
        return len(found) == 1 and found[0].type == self._errors.StatementType.SELECT

    def _nesting(self, statement: str) -> int:
        """How many brackets stand within one another at the most, as DuckDB divides a text."""
        signs, depth, deepest = statement.encode(), 0, 0
        for start, _ in self._errors.tokenize(statement):
            sign = signs[start : start + 1]
            depth = max(0, depth + (sign in b"([{") - (sign in b")]}"))
            deepest = max(deepest, depth)
        return deepest

    def run(
        self, statement: str, place: PathLike, values: Mapping[str, object] | None = None
    ) -> None:
        """Run a statement for its effect; values: of the parameters in it."""
        self._finished(lambda: self._connection.execute(statement, values), place)

    def copy(self, query: str, file: PathLike, place: PathLike) -> None:
        """Write the rows of a query to a file; by one thread, equal rows give equal bytes."""
        target = f"{literal(str(file))} (FORMAT parquet, COMPRESSION zstd)"
        self.run(f"COPY ({query}) TO {target}", place)

    def rows(
        self, statement: str, place: PathLike, values: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """The rows of a small result; values: of the parameters in the statement."""
        return self._finished(
            lambda: list(self._connection.execute(statement, values).fetchall()), place
        )

    def rows_aside(self, statement: str, place: PathLike) -> list[tuple[Any, ...]]:
        """The same outside the transaction, which a statement that fails would end."""

        def work() -> list[tuple[Any, ...]]:
            with self._connection.cursor() as aside:
                return list(aside.execute(statement).fetchall())

        return self._finished(work, place)

    def columns(self, statement: str, place: PathLike) -> list[NDArray[Any]]:
        """The columns of a result as arrays, in the order of its rows; masked where nulls are."""
        return self._finished(
            lambda: list(self._connection.execute(statement).fetchnumpy().values()), place
        )

    def table(self, name: str) -> Any:
        """A table as DuckDB itself hands it out, for other libraries to read."""
        return self._finished(lambda: self._connection.table(name), name)

    def keep(self, name: str, frame: Any, place: PathLike) -> None:
        """Copy something in memory, such as a DataFrame, into a table."""

        def work() -> None:
            self._connection.register("lifagu_frame", frame)
            try:
                self._connection.execute(f"CREATE TABLE {quoted(name)} AS FROM lifagu_frame")
            finally:
                self._connection.unregister("lifagu_frame")

        self._finished(work, place)

    def check_parquet(self, path: PathLike, place: PathLike) -> None:
        """Refuse a Parquet file, or files of a folder, whose footer contradicts itself.

        DuckDB relies on what it says, and such a file may end the process.
        """
        files, types = literal(parquet_pattern(path)), dict[str, list[str]]()
        leaves = f"SELECT file_name, type FROM parquet_schema({files}) WHERE type IS NOT NULL"
        for file, leaf in self.rows(leaves, place):
            types.setdefault(file, []).append(leaf)
        parts = f"""
            SELECT DISTINCT file_name, column_id, type, num_values < row_group_num_rows
            FROM parquet_metadata({files})
            """
        for file, column, leaf, is_short in self.rows(parts, place):
            if is_short or types.get(file, [])[column : column + 1] != [leaf]:
                raise FormatError(
                    f"{place}: its footer contradicts itself about column {column} (counted from "
                    "0); write the file anew"
                )

    @contextmanager
    def tables(self, tables: Mapping[str, Mapping[str, NDArray[Any]]]) -> Iterator[None]:
        """Arrays that statements can read as tables for the time being."""
        for name, columns in tables.items():
            self._connection.register(
                name, {key: np.ascontiguousarray(column) for key, column in columns.items()}
            )
        try:
            yield
        finally:
            for name in tables:
                with suppress(self._errors.Error):  # within a transaction that has failed
                    self._connection.unregister(name)

    def _finished(self, work: Callable[[], Result], place: PathLike) -> Result:
        """The result of some work, done in another thread, where Ctrl-C ends it at once."""
        try:
            found = self._thread.submit(work)
            if not wait([found], timeout=self._seconds).done:
                self._settle()
                raise self._too_long()
            return found.result()
        except KeyboardInterrupt:
            self._settle()
            raise
        except SystemError as error:  # DuckDB hands on so what numpy raises where it makes arrays
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
        except RuntimeError as error:
            if str(error) == _NO_UTF8:
                what = "DuckDB takes no path that is not in UTF-8; choose another one"
                raise FormatError(f"{place}: {what}") from None
            raise
        except self._errors.Error as error:
            memory = isinstance(error, self._errors.OutOfMemoryException)
            text = _OWN_PATH.sub(
                lambda found: self._shown.get(found[0], found[0]), str(error).strip()
            )
            raise self._refusal(text, memory, place) from None

    def _settle(self) -> None:
        """End what is still running; said again, as it may come before a statement begins."""
        all_done = self._thread.submit(lambda: None)
        while not wait([all_done], timeout=0.1).done:
            if hasattr(self, "_connection"):  # else it is still being opened
                self._connection.interrupt()

    @staticmethod
    def _refusal(text: str, memory: bool, place: PathLike) -> LifaguError:
        """What DuckDB says as one line of ours."""
        if any(sign in text for sign in DISK_FULL):
            if place != ENGINE:
                return TooLargeError(
                    f"{place}: the disk is full; free some of it, or write to another one"
                )
            return TooLargeError(f"{place}: the disk is full", remedy=Remedy.OTHER_TEMP)
        if memory:
            return TooLargeError(f"{place}: the memory does not suffice", remedy=Remedy.MORE_MEMORY)
        if found := _LOCKED.search(text):
            who = f"another process {found[1]}" if found[1] else "another process"
            return BusyError(f"{place}: is in use by {who}; wait for it")
        if found := _IN_CSV.search(text):
            if "Invalid unicode" not in text:
                return FormatError(f"{place}: line {found[1]}: {found[2]}")
            return FormatError(
                f"{place}: line {found[1]} is not in UTF-8; save the file as UTF-8, as "
                "spreadsheets offer, or as `iconv -f LATIN1 -t UTF-8` does if it is in Latin-1"
            )
        if _NO_TABLE in text:
            return FormatError(
                f"{place}: its rows do not have equally many columns, or signs such as quotes and "
                "line ends stand alone in texts; write it anew, with texts in double quotes"
            )
        return FormatError(f"{place}: {text.partition(chr(10))[0]}")


def one_thread() -> ThreadPoolExecutor:
    """A pool of one thread that has begun, so that no later interruption meets it beginning.

    A thread that had begun unknown to its pool would keep the process from ending.
    """
    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(lambda: None).result()
    except BaseException:
        pool.shutdown(wait=False)  # which also ends a thread that the pool does not know of
        raise
    return pool


def file_source(path: PathLike) -> str:
    """A Parquet file as a table expression with row numbers; a ``*`` in its name is no pattern.

    >>> file_source("it's[1].parquet")
    "read_parquet('it''s[[]1[]].parquet', hive_partitioning = false, file_row_number = true)"
    """
    return (
        f"read_parquet({literal(_plain(path))}, hive_partitioning = false, file_row_number = true)"
    )


def parquet_files(path: PathLike) -> str:
    """A Parquet file, or all of a folder in the order of their names, as a table expression.

    >>> parquet_files("big.parquet")
    "read_parquet('big.parquet', hive_partitioning = false)"
    """
    return f"read_parquet({literal(parquet_pattern(path))}, hive_partitioning = false)"


def parquet_pattern(path: PathLike) -> str:
    """What DuckDB calls a Parquet file, or all of a folder."""
    return f"{_plain(path)}/*.parquet" if Path(path).is_dir() else _plain(path)


def _plain(path: PathLike) -> str:
    """A path in which no character means a pattern."""
    return re.sub(r"[\[\]*?]", lambda found: f"[{found[0]}]", str(path))


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """The name of a column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
