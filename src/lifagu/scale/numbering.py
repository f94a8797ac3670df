"""Dense numbers 0, 1, … in the order of ids, without sorting everything in one place."""

from __future__ import annotations

import numpy as np

from lifagu.scale.engines.engine import Engine

BUCKETS = 1024  # stretches of the ids that are sorted apart


def number_ids(engine: Engine, source: str, name: str) -> None:
    """Store (id, number) for the distinct ids of a table expression: number n is the n-th of them.

    Ids are counted in stretches first, and each is numbered from where the one before it ends.
    """
    width = (engine.value(f"SELECT max(id) FROM {source}") or 0) // BUCKETS + 1
    bucket = engine.dialect.quotient("id", width)
    counted = engine.rows(
        f"""
        SELECT {bucket} AS stretch, count(*)
        FROM {source}
        GROUP BY {bucket}
        ORDER BY {bucket}
        """
    )
    sizes = np.array([size for _, size in counted], dtype=np.int64)
    stretches = np.array([stretch for stretch, _ in counted], dtype=np.int64)
    engine.register(f"{name}_starts", {"stretch": stretches, "start": np.cumsum(sizes) - sizes})
    engine.create(
        name,
        f"""
        WITH stretched AS (
            SELECT id, {bucket} AS stretch FROM {source}
        )
        SELECT
            s.id,
            t.start + row_number() OVER (PARTITION BY s.stretch ORDER BY s.id) - 1 AS number
        FROM stretched s
        JOIN {name}_starts t ON t.stretch = s.stretch
        """,
    )
    engine.discard(f"{name}_starts")
