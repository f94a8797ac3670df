"""DuckDB as an engine: tables in one file on disk, spilling beside it, within a memory limit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from lifagu.basics.atomic_files import PathLike, failing
from lifagu.data.duck import ENGINE, Duck, literal, parquet_files
from lifagu.data.snapshots import NOTHING, Pinned
from lifagu.scale.engines.dialects import DUCKDB, Dialect
from lifagu.scale.engines.engine import Engine, Registered

ARRAYS = "given_arrays"


class DuckEngine(Engine):
    """A database in a folder, for one process at a time; earlier ones' tables are there."""

    dialect: Dialect = DUCKDB

    def __init__(self, folder: PathLike, memory_limit: int | None = None) -> None:
        self.folder: PathLike = folder
        with failing(folder, "cannot hold tables"):
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._held = NOTHING
        self._duck = Duck(folder=folder, memory_limit=memory_limit)
        # tables are sets of rows; queries that need an order say so
        self.run("SET preserve_insertion_order = false")

    def register(self, name: str, source: Registered) -> None:
        """Make Parquet files or arrays readable under a name."""
        self.drop(name)
        if not isinstance(source, Mapping):
            self.run(f"CREATE VIEW {name} AS SELECT * FROM {parquet_files(source)}")
            return
        with self._duck.tables({ARRAYS: source}):
            self.create(name, f"SELECT * FROM {ARRAYS}")

    def hold(self, folder: Pinned) -> None:
        """Make the tables of a folder readable as they were pinned."""
        self._held = folder
        self._duck.show(folder)
        for table, file in folder.files.items():
            self._duck.check_parquet(file.source, file.shown)
            self.register(f"given_{table}", file.source)

    def run(self, statement: str) -> None:
        """Run a statement for its effect."""
        with self._held.watched():
            self._duck.run(statement, ENGINE)

    def create(self, name: str, query: str) -> None:
        """Store the rows of a query as a table."""
        if not self._is_view(name):
            self.run(f"CREATE OR REPLACE TABLE {name} AS {query}")
            return
        self.run(f"CREATE OR REPLACE TABLE being_made AS {query}")
        self.drop(name)
        self.run(f"ALTER TABLE being_made RENAME TO {name}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        with self._held.watched():
            return self._duck.rows(query, ENGINE)

    def columns(self, query: str) -> list[NDArray[Any]]:
        """The columns of a result."""
        with self._held.watched():
            return self._duck.columns(query, ENGINE)

    def export(self, query: str, file: PathLike) -> None:
        """Write the rows of a query to one Parquet file, by one thread, for equal bytes."""
        (threads,) = self.rows("SELECT current_setting('threads')")[0]
        self.run("SET threads = 1")
        try:
            with self._held.watched():
                self._duck.copy(query, file, file)
        finally:
            self.run(f"SET threads = {threads}")

    def drop(self, name: str) -> None:
        """Forget a name."""
        self.run(f"DROP {'VIEW' if self._is_view(name) else 'TABLE'} IF EXISTS {name}")

    def names(self) -> set[str]:
        """The tables that are stored."""
        return {name for (name,) in self.rows("SELECT table_name FROM duckdb_tables()")}

    def close(self) -> None:
        """Let go of the database."""
        self._duck.close()
        self._held.close()

    def _is_view(self, name: str) -> bool:
        return bool(self.rows(f"SELECT 1 FROM duckdb_views() WHERE view_name = {literal(name)}"))
