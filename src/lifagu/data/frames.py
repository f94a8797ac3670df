"""Tables by column for other libraries: as a stream of Arrow's by DuckDB, or by pandas."""

from __future__ import annotations

import warnings
from typing import Any

from lifagu.basics.columns import Columns, Lists, texts
from lifagu.data.duck import Duck
from lifagu.data.parquet.copying import selected
from lifagu.errors import MissingExtraError

PURPOSE = "marginals as a data frame"


def streamed(columns: Columns, requested_schema: object = None) -> Any:
    """A capsule with a stream of Arrow's, which any library reads that knows its C interface."""
    return _relation(columns).__arrow_c_stream__(requested_schema)


def exchanged(columns: Columns) -> Any:
    """The same by the interchange protocol of data frames, which pandas serves; lists as JSON."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtraError("pandas", PURPOSE, "frames") from None
    plain = {
        name: texts(column.as_json()) if isinstance(column, Lists) else column
        for name, column in columns.items()
    }
    frame = _relation(plain).df()
    with warnings.catch_warnings():  # pandas is about to leave this protocol for that of Arrow
        warnings.simplefilter("ignore")
        return frame.__dataframe__()


def _relation(columns: Columns) -> Any:
    """A table of DuckDB's own, which lives as long as somebody reads from it."""
    duck = Duck(threads=1, purpose=PURPOSE)
    with selected(duck, columns) as rows:
        duck.run(f"CREATE TABLE shown AS {rows}", PURPOSE)
    return duck.table("shown")
