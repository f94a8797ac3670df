"""DuckDB files, read and written; as a source also CSV and Parquet files, seen as tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, offsets_of
from lifagu.basics.atomic_files import PathLike, replaced_file
from lifagu.basics.columns import Columns
from lifagu.data.databases.addresses import Address
from lifagu.data.databases.bound_parameters import for_duckdb
from lifagu.data.databases.catalogue import Catalogue
from lifagu.data.databases.catalogue.of_duckdb import catalogue_of_duckdb
from lifagu.data.databases.cells import CellColumn, Cells, NumberLists, cells_of
from lifagu.data.databases.layers import lay
from lifagu.data.databases.lent_duckdb import refuse_reaching
from lifagu.data.databases.own_results import MARK, Asked, check_names, drops
from lifagu.data.databases.queries import BATCH, MemoryForRows, failed, not_a_query, plain
from lifagu.data.databases.time_limits import took_too_long
from lifagu.data.databases.wide_views import is_view, result_name, wide_view
from lifagu.data.duck import Duck, literal, quoted
from lifagu.data.parquet.copying import selected
from lifagu.data.snapshots import WAITS, Pinned
from lifagu.errors import BusyError, FormatError
from lifagu.relational.template import Query

_INTEGERS = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT")
_AS_THEY_ARE = (*_INTEGERS, "DOUBLE", "BOOLEAN", "VARCHAR")  # all others are read as texts
PURPOSE = "a database as a source"
LEAST_MEMORY = 256 * 2**20  # bytes that DuckDB may take, as it needs some for small files
CONFLICT = "write-write conflict"  # of two transactions
_SORTS = {"DATE": "date", "TIMESTAMP": "moment", "TIMESTAMP_NS": "moment", "UUID": "uuid"}
_DIGITS = ("DECIMAL", "FLOAT")  # texts of these may end in zeros


class EmbeddedDatabase:
    """Queries answered by DuckDB, read-only; it sees its own file or those that are tables."""

    def __init__(self, address: Address, files: Pinned) -> None:
        self._address, self.room = address, MemoryForRows(address.access.memory_limit, LEAST_MEMORY)
        self._duck = _readable(address, self.room.size)
        try:
            self._open(files)
        except BaseException:
            self._duck.close()
            raise
        try:
            if address.layers:
                lay(address.layers, self.batches, partial(self._duck.run, place=""), self._fill)
        except BaseException:
            self.close()  # a connection that was handed over is as it was
            raise

    def _open(self, files: Pinned) -> None:
        if self._address.held is not None:
            self._refuse_transaction()
            self._duck.run("BEGIN TRANSACTION", self._address.shown)
            return
        allowed = []
        for table, frame in self._address.frames.items():
            self._duck.keep(table, frame, f"the table '{table}'")
        self._duck.show(files)
        for table, path in self._address.files.items():
            if table not in files.files:
                raise FormatError(f"{path}: there is no such file")
            place = literal(files.files[table].source)
            if is_parquet(path):
                # as a path: DuckDB does not find descriptors among those that are allowed
                allowed.append(place)
                self._duck.check_parquet(files.files[table].source, path)
                source = f"read_parquet({place}, hive_partitioning = false)"
                self._duck.run(f"CREATE VIEW {quoted(table)} AS FROM {source}", path)
            else:
                # read once, as each reading would find out the types of columns anew, from all rows
                source = _csv(place, packed=path.name.lower().endswith(".gz"))
                self._duck.run(f"CREATE TABLE {quoted(table)} AS FROM {source}", path)
        self._duck.run(f"SET allowed_paths = [{', '.join(allowed)}]", self._address.shown)
        self._duck.run("SET enable_external_access = false", self._address.shown)
        self._duck.run("SET lock_configuration = true", self._address.shown)
        self._duck.run("BEGIN TRANSACTION", self._address.shown)  # all queries see one state

    def _fill(self, table: str, columns: Sequence[str], rows: Ints) -> None:
        """Put rows of whole numbers into a table."""
        with self._duck.tables({"lifagu_given": dict(zip(columns, rows.T, strict=True))}):
            self._duck.run(f"INSERT INTO {table} FROM lifagu_given", "")

    def _refuse_transaction(self) -> None:
        """To begin within a transaction would break it; only in one do two queries share a number.

        Nor is there a way to go on in one: the first query that fails would end it.
        """
        shown, number = self._address.shown, "SELECT txid_current()"
        if self._duck.rows(number, shown) == self._duck.rows(number, shown):
            raise FormatError(
                f"{shown}: has a transaction open; commit it or roll it back before it is read"
            )

    def close(self) -> None:
        """Forget the connection; one that was handed over is as it was."""
        if self._address.held is not None:
            self._duck.run("ROLLBACK", self._address.shown)
        self._duck.close()

    def columns(self, query: Query) -> list[str]:
        """The names of a query's columns."""
        return list(self._types(query))

    def batches(self, query: Query) -> Iterator[list[CellColumn]]:
        """The rows of a query, some at a time, by column."""
        types = self._types(query)
        asked, values = for_duckdb(plain(query.sql), query.values)
        with failed(query), self._ended_in_time():
            self._duck.run(f"CREATE OR REPLACE TEMP TABLE lifagu_rows AS {asked}", "", values)
            ((first, count),) = self._duck.rows(
                "SELECT coalesce(min(rowid), 0), count(*) FROM lifagu_rows", ""
            )
        # numbers of rows not yet committed do not begin with 0
        for start in range(first, first + count, BATCH):
            page = f"FROM lifagu_rows WHERE rowid >= {start} AND rowid < {start + BATCH}"
            with failed(query):
                yield [self._column(name, kind, page) for name, kind in types.items()]
                self.room.check(query)
        self._duck.run("DROP TABLE IF EXISTS lifagu_rows", self._address.shown)

    def catalogue(self) -> Catalogue:
        """Which tables there are; data files are tables without keys."""
        place = self._address.shown
        return catalogue_of_duckdb(
            lambda sql: self._duck.rows(sql, place),
            lambda sql: self._duck.rows_aside(sql, place),
            self._address.files,
        )

    def _types(self, query: Query) -> dict[str, str]:
        asked, values = for_duckdb(plain(query.sql), query.values)
        with failed(query), self._ended_in_time():
            if not self._duck.is_query(asked, ""):
                raise not_a_query(query)
            if self._address.held is not None and not self._address.access.trust_role:
                refuse_reaching(self._duck, asked, query)
            described = self._duck.rows(f"DESCRIBE {asked}", "", values)
            return {str(row[0]): str(row[1]) for row in described}

    def _ended_in_time(self) -> AbstractContextManager[None]:
        seconds = self._address.access.query_timeout
        return self._duck.ended_after(seconds, lambda: took_too_long(seconds or 0))

    def _column(self, name: str, kind: str, page: str) -> CellColumn:
        if kind.endswith("]"):
            return self._lists(name, page)
        value = quoted(name) if kind in _AS_THEY_ARE else f"CAST({quoted(name)} AS VARCHAR)"
        (found,) = self._duck.columns(f"SELECT {value} {page} ORDER BY rowid", "")
        cells = _cells(found)
        if kind.startswith(_DIGITS):
            return cells_of([None if text is None else Decimal(text) for text in cells.texts()])
        return replace(cells, given=_SORTS.get(kind, ""))

    def _lists(self, name: str, page: str) -> NumberLists:
        """Lists of numbers; a NULL within a list becomes nan, which no table may hold."""
        value = quoted(name)
        (lengths,) = self._duck.columns(
            f"SELECT CAST(coalesce(len({value}), -1) AS BIGINT) {page} ORDER BY rowid", ""
        )
        (found,) = self._duck.columns(
            f"SELECT CAST(unnest({value}) AS DOUBLE) FROM (SELECT {value} {page} ORDER BY rowid)",
            "",
        )
        values = np.where(np.ma.getmaskarray(found), np.nan, np.ma.getdata(found))
        offsets = offsets_of(np.maximum(lengths, 0))
        return NumberLists(offsets, values.astype(np.float64), lengths < 0)


def _cells(found: NDArray[Any]) -> Cells:
    missing, values = np.ma.getmaskarray(found), np.ma.getdata(found)
    whole = values.dtype.kind in "iu"
    return Cells(
        values.astype(np.int64) if whole else values, missing, textual=values.dtype == object
    )


def is_parquet(path: Path) -> bool:
    """Whether a data file holds a Parquet table."""
    return path.name.lower().endswith(".parquet")


def _csv(place: str, packed: bool) -> str:
    compression = literal("gzip" if packed else "none")
    settings = f"sample_size = -1, hive_partitioning = false, compression = {compression}"
    return f"read_csv({place}, {settings})"


def _readable(address: Address, room: int) -> Duck:
    """The database, or one for files; one that is just being written is waited for, a moment.

    room: bytes that it may take.
    """
    if address.held is not None:
        return Duck.over(address.held)
    if address.kind != "duckdb":
        return Duck(purpose=PURPOSE, memory_limit=room)
    opened = partial(Duck, file=address.target, read_only=True, purpose=PURPOSE, memory_limit=room)
    for wait in WAITS:
        try:
            return opened()
        except BusyError:
            time.sleep(wait)
    return opened()


def replace_in_duckdb(address: Address, tables: Mapping[str, Columns]) -> None:
    """Put tables into a DuckDB file, each in place of one of the same name, all or none."""
    with _writable(address) as duck, _one_of_several(address):
        duck.run("BEGIN TRANSACTION", address.shown)
        for statement in drops("duckdb", address.shown, _rows(duck, address), tables):
            duck.run(statement, address.shown)
        views = {}
        for given, columns in tables.items():
            name = result_name(given)
            place = f"{address.shown}: {name}"
            if is_view(columns, tables):
                views[name] = columns
                continue
            with selected(duck, columns) as statement:
                duck.run(f"CREATE TABLE {quoted(name)} AS {statement}", place)
            duck.run(f"COMMENT ON TABLE {quoted(name)} IS {literal(MARK)}", place)
        for name, wide in views.items():
            place = f"{address.shown}: {name}"
            duck.run(f"CREATE VIEW {quoted(name)} AS {wide_view(wide)}", place)
            duck.run(f"COMMENT ON VIEW {quoted(name)} IS {literal(MARK)}", place)
        duck.run("COMMIT", address.shown)


@contextmanager
def _one_of_several(address: Address) -> Iterator[None]:
    """Of several that write within one process the last to commit is refused."""
    try:
        yield
    except FormatError as error:
        if CONFLICT not in error.message:
            raise
        raise BusyError(
            f"{address.shown}: another run is writing results there; wait for it"
        ) from None


def check_duckdb(address: Address) -> None:
    """Refuse a file that cannot be written, or holds what results would replace."""
    with _writable(address) as duck:
        check_names("duckdb", address.shown, _rows(duck, address))


def _rows(duck: Duck, address: Address) -> Asked:
    return lambda query: duck.rows(query, address.shown)


def _writable(address: Address) -> Duck:
    """The database to write into; a connection that was handed over is left alone for another."""
    try:
        if address.held is not None:
            return Duck.beside(address.held, address.shown)
        return Duck(threads=1, file=address.target, purpose="a database as a target")
    except BusyError:
        raise
    except FormatError as error:
        raise FormatError(
            f"{address.shown}: cannot be written: {error.message.partition(': ')[2]}"
        ) from None


def new_database(path: PathLike, tables: Mapping[str, Columns]) -> None:
    """Make a DuckDB file of these tables; a file of that name is replaced in one step."""
    with replaced_file(path) as temporary, Duck(file=temporary, purpose="a database") as duck:
        for name, columns in tables.items():
            with selected(duck, columns) as rows:
                duck.run(f"CREATE TABLE {quoted(name)} AS {rows}", path)


def add_rows(path: PathLike, table: str, columns: Columns) -> None:
    """Insert rows into a table of a DuckDB file; columns are matched by name."""
    with Duck(file=path, purpose="a database") as duck, selected(duck, columns) as rows:
        duck.run(f"INSERT INTO {quoted(table)} BY NAME {rows}", path)
