"""Work where the data is: SQL for transfer, colour passing and answers, on DuckDB's disk or Spark.

A case opened with ``on="duckdb"`` or ``on="spark"`` uses all of this by itself. The engines are
here for those who want to run statements of their own beside it.
"""

from lifagu.scale.engines.engine import Engine
from lifagu.scale.engines.opening import open_engine

__all__ = ["Engine", "open_engine"]
