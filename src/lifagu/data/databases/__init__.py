"""Databases behind one small protocol: queries in, columns out; and result tables put into one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from lifagu.basics.columns import MOST_BYTES, Columns, Wide
from lifagu.data.databases.addresses import Address
from lifagu.data.databases.catalogue import PREFIX, Catalogue
from lifagu.data.databases.cells import CellColumn
from lifagu.data.databases.duckdb_files import (
    EmbeddedDatabase,
    check_duckdb,
    is_parquet,
    replace_in_duckdb,
)
from lifagu.data.databases.environment import values_unshown
from lifagu.data.databases.handed_over import meant_by
from lifagu.data.databases.queries import MemoryForRows, query_error
from lifagu.data.databases.served import ServedDatabase
from lifagu.data.databases.wide_views import result_name
from lifagu.data.databases.writing_to_served import check_served, replace_in_served
from lifagu.data.snapshots import pin
from lifagu.errors import FormatError, Remedy
from lifagu.relational.source import Source
from lifagu.relational.template import Query

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class Database(Protocol):
    """What templates need of a database. All its queries see one state, and none can change it.

    room: the memory that their rows may take, with what is made of them.
    """

    room: MemoryForRows

    def columns(self, query: Query) -> list[str]:
        """The names of a query's columns."""

    def batches(self, query: Query) -> Iterator[list[CellColumn]]:
        """The rows of a query, some at a time, by column."""

    def catalogue(self) -> Catalogue:
        """Which tables there are, with their columns and keys, of the state that queries see."""

    def close(self) -> None:
        """Let go of the database."""


class NoDatabase:
    """What a template has that names no source: every query is an error."""

    def __init__(self) -> None:
        self.room = MemoryForRows(None)

    def columns(self, query: Query) -> list[str]:
        """Refuse."""
        raise query_error(query, 'there is no database to ask; name one as "source"')

    def batches(self, query: Query) -> Iterator[list[CellColumn]]:
        """Refuse."""
        raise query_error(query, 'there is no database to ask; name one as "source"')

    def catalogue(self) -> Catalogue:
        """Refuse."""
        raise FormatError("there is no database to look into; name one")

    def close(self) -> None:
        """Nothing to let go of."""


@contextmanager
def opened(source: Source | None) -> Iterator[Database]:
    """The database that a source names, to read from."""
    if source is None:
        yield NoDatabase()
        return
    address = replace(meant_by(source), access=source.access, layers=source.layers)
    served = address.kind in ("postgresql", "sqlite")
    # read when they are asked for
    parquet = [table for table, path in address.files.items() if is_parquet(path)]
    with (
        values_unshown(source, _in_paths(address)),
        pin(address.shown, address.files, by_path=parquet) as files,
    ):
        database: Database = ServedDatabase(address) if served else EmbeddedDatabase(address, files)
        try:
            yield database
        finally:
            database.close()


def write_results(source: Source, tables: Mapping[str, Columns]) -> None:
    """Put tables ``lifagu_…`` into a database in one transaction, in place of earlier ones.

    Wide tables are views of the long one, if that is among the tables; those of earlier results
    are gone. Nothing else is touched; if anything fails, or the process is killed, the database is
    as it was.
    """
    address = _writable(source)
    for name, columns in tables.items():
        _check_names(result_name(name), columns)
    with values_unshown(source, _in_paths(address)):
        replace = replace_in_duckdb if address.kind == "duckdb" else replace_in_served
        replace(address, tables)


def check_writable(source: Source) -> None:
    """Refuse now, before long work, a database that `write_results` would refuse."""
    address = _writable(source)
    with values_unshown(source, _in_paths(address)):
        (check_duckdb if address.kind == "duckdb" else check_served)(address)


def _in_paths(address: Address) -> tuple[str, ...]:
    """Values that errors could show in paths; what drivers of servers say is masked already."""
    return () if address.kind in ("postgresql", "sqlite") else address.secrets


def _writable(source: Source) -> Address:
    address = meant_by(source)
    if address.kind in ("files", "frames"):
        what = "are data files" if address.kind == "files" else "is no database"
        raise FormatError(
            f"{source.place}: '{address.shown}' {what}, into which no results can be written",
            remedy=Remedy.WRITE_ELSEWHERE,
        )
    return address


def _check_names(table: str, columns: Columns) -> None:
    """Tables and columns of results have plain names, which need no quoting anywhere.

    Only what wide tables call the probabilities of odd labels does.
    """
    if not table.startswith(PREFIX) or not _is_plain(table):
        raise FormatError(
            f"'{table}' is no name of a result table; those are {PREFIX} and lower-case letters"
        )
    for column in () if isinstance(columns, Wide) else columns:
        if not _is_plain(column):
            raise FormatError(
                f"'{column}' is no name of a column of {table}; write lower-case letters and digits"
            )
    if not columns:
        raise FormatError(f"{table} has no columns")


def _is_plain(name: str) -> bool:
    whole = _IDENTIFIER.fullmatch(name) and len(name.encode()) <= MOST_BYTES
    return bool(whole) and name == name.lower()
