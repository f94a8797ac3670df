"""Results in Parquet files, read again by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.atomic_files import PathLike
from lifagu.data.duck import Duck, file_source, quoted
from lifagu.errors import FormatError


def result_columns(
    path: PathLike, wanted: tuple[str, ...], optional: tuple[str, ...] = (), listed: str = ""
) -> dict[str, NDArray[Any]]:
    """Some columns of a file, rows in order; a column that is wanted and missing is an error.

    listed: a column of lists, of which each item gets a row of its own. Nulls are None, or nan.
    """
    if not Path(path).is_file():
        raise FormatError(f"{path}: there is no such file")
    source = file_source(path)
    with Duck(purpose="results in Parquet files") as duck:
        there = {name for name, *_ in duck.rows(f"DESCRIBE SELECT * FROM {source}", path)}
        if missing := [name for name in wanted if name not in there]:
            raise FormatError(f"{path}: this table has no column '{missing[0]}'")
        names = [*wanted, *(name for name in optional if name in there)]
        shown = [f"unnest({quoted(name)})" if name == listed else quoted(name) for name in names]
        statement = f"SELECT {', '.join(shown)} FROM {source} ORDER BY file_row_number"
        columns = duck.columns(statement, path)
    return dict(zip(names, map(_plain, columns), strict=True))


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column without a mask."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    is_object = column.dtype == object
    plain: NDArray[Any] = np.array(column.data, dtype=object if is_object else np.float64)
    plain[np.ma.getmaskarray(column)] = None if is_object else np.nan
    return plain
