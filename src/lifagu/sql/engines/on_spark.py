"""Spark as an engine: any master; tables are Parquet files in a folder that all its machines see.

Every stored table is read back from its files, so that nothing is computed twice, no chain of earlier rounds is kept,
and a lost executor costs only what it was working on. Results travel through the folder as well, by columns.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from lifagu.errors import FormatError, LifaguError, MissingExtraError, ModelError, TooLargeError
from lifagu.replacing import PathLike
from lifagu.sql.duck import Duck, literal, parquet_files
from lifagu.sql.engines import Source
from lifagu.sql.engines.dialects import SPARK, Dialect

PLACE = "spark"
MASTERS = ("local", "spark://", "yarn", "k8s://")  # how the address of a master begins
LOOPBACK = ("local", "spark://127.", "spark://localhost")
LEAST_MEMORY = 512 * 2**20  # the driver does not start with less
SESSION = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
Result = TypeVar("Result")


class SparkEngine:
    """A session at a master, and a folder ``tables`` with one folder of Parquet files for each stored table."""

    dialect: Dialect = SPARK

    def __init__(self, folder: PathLike, master: str = "local[*]", memory_limit: int | None = None) -> None:
        self.folder: PathLike = folder
        self._tables = Path(folder).resolve() / "tables"
        self._tables.mkdir(parents=True, exist_ok=True)
        self._spark, self._own = _session(Path(folder).resolve(), master, memory_limit)
        for name in self.names():
            self._read(name, self._tables / name)

    def register(self, name: str, source: Source) -> None:
        """Make Parquet files or arrays readable under a name."""
        self.drop(name)
        if not isinstance(source, Mapping):
            self._read(name, Path(source).resolve())
            return
        temporary = self._fresh(name)
        temporary.mkdir()
        with Duck(threads=1) as duck, duck.tables({"given_arrays": source}):
            file = temporary / "part-0.parquet"
            duck.run(f"COPY (SELECT * FROM given_arrays) TO {literal(str(file))} (FORMAT parquet)", PLACE)
        (temporary / "_SUCCESS").touch()
        self._take(name, temporary)

    def run(self, statement: str) -> None:
        """Run a statement for its effect."""
        self._done(lambda: self._spark.sql(statement))

    def create(self, name: str, query: str) -> None:
        """Store the rows of a query as a table, read back from its files: so lineage ends here."""
        temporary = self._fresh(name)

        def work() -> Any:
            frame = self._spark.sql(query)
            frame.write.parquet(str(temporary))
            return frame.schema

        self._take(name, temporary, self._done(work))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        return [tuple(row) for row in self._done(lambda: self._spark.sql(query).collect())]

    def columns(self, query: str) -> list[NDArray[Any]]:
        """The columns of a result, handed over as files."""
        with self._handed_over(query) as files, Duck() as duck:
            return duck.columns(f"SELECT * FROM {parquet_files(files)}", PLACE)

    def export(self, query: str, file: PathLike) -> None:
        """Write the rows of a query to one Parquet file, put together here from the parts."""
        with self._handed_over(query) as files, Duck(threads=1) as duck:
            rows = f"SELECT * FROM {parquet_files(files)}"
            duck.run(f"COPY ({rows}) TO {literal(str(file))} (FORMAT parquet, COMPRESSION zstd)", file)

    def drop(self, name: str) -> None:
        """Forget a name."""
        self._done(lambda: self._spark.catalog.dropTempView(name))
        shutil.rmtree(self._tables / name, ignore_errors=True)

    def checkpoint(self, name: str) -> None:
        """Store what a name means now; stored tables are on disk already."""
        if name not in self.names():
            self.create(name, f"SELECT * FROM {name}")

    def names(self) -> set[str]:
        """The tables that are stored, whole."""
        return {each.parent.name for each in self._tables.glob("[!.]*/_SUCCESS")}

    def close(self) -> None:
        """End the session, and Java with it, if it was opened here."""
        if self._own:
            try:
                self._done(self._spark.stop)
            finally:
                _end_java()

    def _fresh(self, name: str) -> Path:
        """A place for files that do not count yet."""
        temporary = self._tables / f".{name}"
        shutil.rmtree(temporary, ignore_errors=True)
        return temporary

    def _take(self, name: str, temporary: Path, schema: Any = None) -> None:
        """Files become the table of this name."""
        target = self._tables / name
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)
        self._read(name, target, schema)

    def _read(self, name: str, path: Path, schema: Any = None) -> None:
        """Files under a name; with a schema they are not opened to find it."""

        def view() -> None:
            reader = self._spark.read.option("__globPaths__", "false")
            reader = reader if schema is None else reader.schema(schema)
            reader.parquet(str(path)).createOrReplaceTempView(name)

        self._done(view)

    @contextmanager
    def _handed_over(self, query: str) -> Iterator[Path]:
        """The rows of a query as files, in the order of the query by the names of the files."""
        temporary = self._fresh("handed_over")
        try:
            self._done(lambda: self._spark.sql(query).write.parquet(str(temporary)))
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _done(self, work: Callable[[], Result]) -> Result:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            return work()
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise _refusal(str(error)) from None


def _refusal(text: str) -> LifaguError:
    """What Spark says, often over many lines, as one of ours."""
    if "No space left on device" in text:
        return TooLargeError("spark: a disk is full; free some of it, or name another folder with --temp")
    if "OutOfMemory" in text or "Java heap space" in text:
        return TooLargeError("spark: the memory does not suffice; raise --memory-limit, or that of the executors")
    if "ExecutorLostFailure" in text or "SparkContext was shut down" in text or "stopped SparkContext" in text:
        return LifaguError("spark: the cluster was lost; see that its workers run, and go on with --resume")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next((line for line in lines if "Exception" in line or line.startswith("[")), lines[0] if lines else "")
    return FormatError(f"spark: {said.removeprefix(': ') or 'the session ended unexpectedly'}")


def _session(folder: Path, master: str, memory_limit: int | None) -> tuple[Any, bool]:
    """A session at the master, and whether it was started here and not by the caller."""
    if not master.startswith(MASTERS):
        raise ModelError(f"'{master}' is no master of Spark; name one such as spark://host:7077, yarn or local[4]")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "--on spark", "spark") from None
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master != master:
            raise ModelError(f"a Spark session at {active.sparkContext.master} is active; end it, or use its master")
        session = active.newSession()
    else:
        if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            raise LifaguError("Spark needs Java; install it (as default-jre-headless on Debian) or set JAVA_HOME")
        session = _started(SparkSession.builder, folder, master, memory_limit)
    for key, value in SESSION.items():
        session.conf.set(key, value)
    context = session.sparkContext
    if master.startswith("local") and not context.getConf().contains("spark.sql.shuffle.partitions"):
        session.conf.set("spark.sql.shuffle.partitions", str(4 * context.defaultParallelism))
    return session, active is None


def _started(builder: Any, folder: Path, master: str, memory_limit: int | None) -> Any:
    """A new session whose files and words stay in the folder, not in the current one."""
    settings = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.local.dir": str(folder / "spilled"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith(LOOPBACK):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if memory_limit is not None and master.startswith("local"):
        settings["spark.driver.memory"] = f"{max(memory_limit, LEAST_MEMORY) // 2**20}m"
    builder = builder.master(master).appName("lifagu")
    for key, value in settings.items():
        builder = builder.config(key, value)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with _words_into(folder / "spark.log"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            session = builder.getOrCreate()
            session.sparkContext.setLogLevel("OFF")
            return session
    except (PySparkException, Py4JError, ConnectionError, RuntimeError) as error:
        _end_java()
        raise LifaguError(f"Spark at {master} cannot be started: {_refusal(str(error))}") from None


def _end_java() -> None:
    """End the Java process that pyspark would keep for the next session, which may want another amount of memory."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        SparkContext._gateway = SparkContext._jvm = None
        gateway.shutdown()
        gateway.proc.stdin.close()  # upon which it ends
        gateway.proc.wait()


@contextmanager
def _words_into(file: Path) -> Iterator[None]:
    """What Java says when it starts, and later, goes to a file: it inherits where errors go."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with file.open("ab") as log:
            os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
