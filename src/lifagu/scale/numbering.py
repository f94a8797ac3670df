"""Dense numbers 0, 1, … in the order of ids, without sorting everything in one place."""

from __future__ import annotations

import numpy as np

from lifagu.scale.journal import Journal

BUCKETS = 1024  # stretches of the ids that are sorted apart


def number_ids(journal: Journal, source: str, name: str) -> None:
    """Store a table (id, number) of the distinct ids in a table expression: number n is the n-th of
    them.

    Ids are counted in stretches first; then each stretch is numbered from where the one before it
    ends.
    """
    journal.once(f"numbers {name}", lambda: _number(journal, source, name))


def _number(journal: Journal, source: str, name: str) -> None:
    engine = journal.engine
    ((highest,),) = engine.rows(f"SELECT max(id) FROM {source}")
    width = (highest or 0) // BUCKETS + 1
    bucket = engine.dialect.quotient("id", width)
    counted = engine.rows(
        f"SELECT {bucket} AS stretch, count(*) FROM {source} GROUP BY {bucket} ORDER BY {bucket}"
    )
    sizes = np.array([size for _, size in counted], dtype=np.int64)
    stretches = np.array([stretch for stretch, _ in counted], dtype=np.int64)
    journal.register(f"{name}_starts", {"stretch": stretches, "start": np.cumsum(sizes) - sizes})
    journal.create(
        name,
        f"SELECT s.id, t.start + row_number() OVER (PARTITION BY s.stretch ORDER BY s.id) - 1 AS number "
        f"FROM (SELECT id, {bucket} AS stretch FROM {source}) s JOIN {name}_starts t ON t.stretch = s.stretch",
    )
    journal.drop(f"{name}_starts")
