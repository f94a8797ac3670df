"""Spark as an engine: any master; tables are Parquet files in a folder that all its machines see.

Every stored table is read back from its files, so that nothing is computed twice, no chain of
earlier rounds is kept, and a lost executor costs only what it was working on. Results travel
through the folder as well, by columns.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from lifagu.basics.atomic_files import PathLike, failing
from lifagu.basics.inputs import real_path
from lifagu.data.duck import Duck, literal, parquet_files
from lifagu.data.snapshots import NOTHING, Pinned
from lifagu.scale.engines.dialects import SPARK, Dialect
from lifagu.scale.engines.engine import Engine, Registered
from lifagu.scale.engines.spark_session import open_session
from lifagu.scale.engines.spark_watch import Watched

PLACE = "spark"
SUCCESS = "_SUCCESS"  # the file that Spark adds to a whole table
REPLACED = ".replaced"  # ends the names of folders whose successors are just being put into place

Result = TypeVar("Result")


class SparkEngine(Engine):
    """A session at a master, and a folder ``tables`` with a folder for each stored table."""

    dialect: Dialect = SPARK

    def __init__(
        self, folder: PathLike, master: str = "local[*]", memory_limit: int | None = None
    ) -> None:
        self.folder: PathLike = folder
        self._held = NOTHING
        self._tables = real_path(folder) / "tables"
        with failing(folder, "cannot hold tables"):
            self._tables.mkdir(parents=True, exist_ok=True)
            self._tidy()
        self._spark, own = open_session(real_path(folder), master, memory_limit)
        self._work = Watched(self._spark, own, real_path(folder))
        try:
            for name in self.names():
                self._read(name, self._tables / name)
        except BaseException:
            self.close()
            raise

    def register(self, name: str, source: Registered) -> None:
        """Make Parquet files or arrays readable under a name."""
        self.drop(name)
        if not isinstance(source, Mapping):
            self._read(name, real_path(source))
            return
        with self._fresh() as temporary:
            with failing(self.folder, "cannot hold tables"):
                temporary.mkdir()
                (temporary / SUCCESS).touch()
            with Duck(threads=1) as duck, duck.tables({"given_arrays": source}):
                file = temporary / "part-0.parquet"
                duck.run(
                    f"COPY (SELECT * FROM given_arrays) TO {literal(str(file))} (FORMAT parquet)",
                    PLACE,
                )
            self._take(name, temporary)

    def hold(self, folder: Pinned) -> None:
        """Make the tables of a folder readable; workers open them by path, so they must stay."""
        self._held = folder
        for table, file in folder.files.items():
            self.register(f"given_{table}", file.path)

    def run(self, statement: str) -> None:
        """Run a statement for its effect."""
        self._done(lambda: self._spark.sql(statement))

    def create(self, name: str, query: str) -> None:
        """Store the rows of a query as a table, read back from its files: so lineage ends here."""

        def work() -> Any:
            frame = self._spark.sql(query)
            frame.write.parquet(str(temporary))
            return frame.schema

        with self._fresh() as temporary:
            self._take(name, temporary, self._done(work))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        return [tuple(row) for row in self._done(lambda: self._spark.sql(query).collect())]

    def columns(self, query: str) -> list[NDArray[Any]]:
        """The columns of a result, taken from files."""
        with self._written(query) as files, Duck() as duck:
            return duck.columns(f"SELECT * FROM {parquet_files(files)}", PLACE)

    def export(self, query: str, file: PathLike) -> None:
        """Write the rows of a query to one Parquet file, put together here from the parts."""
        with self._written(query) as files, Duck(threads=1) as duck:
            duck.copy(f"SELECT * FROM {parquet_files(files)}", file, file)

    def drop(self, name: str) -> None:
        """Forget a name."""
        self._done(lambda: self._spark.catalog.dropTempView(name))
        target = self._tables / name
        if target.exists():
            with self._fresh() as aside:
                target.rename(aside)

    def names(self) -> set[str]:
        """The tables that are stored, whole."""
        return {each.parent.name for each in self._tables.glob(f"[!.]*/{SUCCESS}")}

    def close(self) -> None:
        """End the session, and Java with it, if it was opened here."""
        self._work.close()
        self._held.close()

    def _done(self, work: Callable[[], Result]) -> Result:
        """Work of the session, over the files that are held."""
        with self._held.watched(by_path=True):
            return self._work.done(work)

    def _tidy(self) -> None:
        """After a killed run: tables being replaced are there again, half-made ones are gone."""
        for aside in self._tables.glob(f".*{REPLACED}"):
            target = self._tables / aside.name[1:].removesuffix(REPLACED)
            if not target.exists():
                aside.rename(target)
        for left in self._tables.glob(".*"):
            shutil.rmtree(left, ignore_errors=True)

    @contextmanager
    def _fresh(self) -> Iterator[Path]:
        """A place for files that do not count yet, not even written by a killed run's executors."""
        temporary = self._tables / f".{uuid.uuid4().hex}"
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _take(self, name: str, temporary: Path, schema: Any = None) -> None:
        """Files become the table of this name."""
        target, aside = self._tables / name, self._tables / f".{name}{REPLACED}"
        with failing(self.folder, "cannot hold tables"):
            if target.exists():
                target.rename(aside)
            temporary.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
        self._read(name, target, schema)

    def _read(self, name: str, path: Path, schema: Any = None) -> None:
        """Files under a name; with a schema they are not opened to find it."""

        def view() -> None:
            reader = self._spark.read.option("__globPaths__", "false")
            reader = reader if schema is None else reader.schema(schema)
            reader.parquet(str(path)).createOrReplaceTempView(name)

        self._done(view)

    @contextmanager
    def _written(self, query: str) -> Iterator[Path]:
        """The rows of a query as files, in the order of the query by the names of the files."""
        with self._fresh() as temporary:
            self._done(lambda: self._spark.sql(query).write.parquet(str(temporary)))
            yield temporary
