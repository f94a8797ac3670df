"""Engines by name: DuckDB on disk, or Spark at any master; each is imported when it is wanted."""

from __future__ import annotations

from lifagu.basics.atomic_files import PathLike
from lifagu.errors import ModelError
from lifagu.scale.engines.engine import Engine


def open_engine(where: str, folder: PathLike, memory_limit: int | None = None) -> Engine:
    """An engine that keeps its tables in a folder.

    Parameters
    ----------
    where : {"duckdb", "spark", "spark=MASTER"}
        Which one.
    folder : path
        Where its tables are kept.
    memory_limit : int, optional
        In bytes; of DuckDB, and of Spark's driver where it runs locally.

    Returns
    -------
    Engine
    """
    kind, _, master = where.partition("=")
    if kind == "duckdb" and not master:
        from lifagu.scale.engines.on_duckdb import DuckEngine

        return DuckEngine(folder, memory_limit)
    if kind == "spark":
        from lifagu.scale.engines.on_spark import SparkEngine

        return SparkEngine(folder, master or "local[*]", memory_limit)
    raise ModelError(f"there is no engine '{where}'; name duckdb, spark or spark=MASTER")
