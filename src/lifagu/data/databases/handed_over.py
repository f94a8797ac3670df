"""Sources that are objects in memory: frames as tables, and an open connection to DuckDB.

No library is imported for that: whoever hands over one of its objects has imported it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.inputs import shown
from lifagu.data.databases.addresses import Address, address_of
from lifagu.errors import FormatError
from lifagu.relational.source import Source

ALONE = "data"  # the table that one frame is
_NOT_READ = ("PeriodIndex", "IntervalIndex")  # by DuckDB, but as texts
_KNOWN = (
    "name a path or URL, a frame such as a DataFrame, a mapping from tables to frames, or an open "
    "connection to DuckDB"
)


def meant_by(source: Source) -> Address:
    """What a source means: a path, a URL and files by their names, all else by what it is."""
    given = source.address
    if isinstance(given, str) or (
        isinstance(given, Mapping)
        and given
        and all(isinstance(each, str | os.PathLike) for each in given.values())
    ):
        return address_of(source)
    if isinstance(given, os.PathLike):
        return address_of(replace(source, address=os.fspath(given)))
    duckdb = sys.modules.get("duckdb")  # whoever hands over a connection has imported it
    if duckdb is not None and isinstance(given, duckdb.DuckDBPyConnection):
        return Address("duckdb", "", "the connection to DuckDB", held=given)
    frames = _frames(given, source)
    what = f"{len(frames)} tables in memory" if len(frames) > 1 else "a table in memory"
    return Address("frames", "", what, frames=frames)


# ---- frames


def _frames(given: Any, source: Source) -> dict[str, Any]:
    """Frames by the name of the table that each is to be."""
    if _is_frame(given):
        return {ALONE: _with_index(ALONE, given, source)}
    if not isinstance(given, Mapping) or not given:
        raise FormatError(
            f"{source.place}: {shown(given)} is no database that can be read; {_KNOWN}"
        )
    if all(_is_column(each) for each in given.values()):
        return {ALONE: _columns(ALONE, given, source)}
    found = {}
    for name, frame in given.items():
        if not isinstance(name, str) or not name:
            raise FormatError(f"{source.place}: {shown(name)} is no name of a table; write a text")
        if isinstance(frame, Mapping):
            found[name] = _columns(name, frame, source)
        elif _is_frame(frame):
            found[name] = _with_index(name, frame, source)
        else:
            raise FormatError(
                f"{source.place}: the table '{name}' is {shown(frame)}, which is no frame; "
                "hand over a DataFrame, an Arrow table, or a mapping from columns to arrays"
            )
    if len({name.lower() for name in found}) < len(found):
        raise FormatError(f"{source.place}: two tables differ by upper case alone; rename one")
    return found


def _is_frame(given: Any) -> bool:
    """Whether DuckDB can read it, any number of times; readers of streams end, once read."""
    if isinstance(given, type) or hasattr(given, "read_next_batch"):
        return False
    is_stream = hasattr(given, "__arrow_c_stream__") and type(given).__name__ != "Series"
    return _is_pandas(given) or is_stream


def _is_pandas(given: Any) -> bool:
    of = type(given).__name__
    return of == "DataFrame" and hasattr(given, "dtypes") and hasattr(given, "iloc")


def _with_index(name: str, frame: Any, source: Source) -> Any:
    """A frame of pandas with its index as columns, unless that merely counts the rows.

    DuckDB would not see it, and it is who a row is about.
    """
    if not _is_pandas(frame):
        return frame
    index = frame.index
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return frame
    if type(index).__name__ in _NOT_READ:
        frame = frame.set_axis(index.astype(str))
    doubled = [each for each in index.names if each is not None and each in frame.columns]
    for each in doubled:
        if not np.array_equal(index.get_level_values(each), frame[each]):
            raise FormatError(
                f"{source.place}: the index {shown(each)} of the table '{name}' is called like a "
                "column; rename one"
            )
    if doubled:
        return _with_index(name, frame.reset_index(doubled, drop=True), source)
    return frame.reset_index()


def _is_column(given: Any) -> bool:
    return isinstance(given, np.ndarray | list | tuple)


def _columns(name: str, given: Mapping[Any, Any], source: Source) -> dict[str, NDArray[Any]]:
    """A table of arrays, as DuckDB takes them; None and what is masked is NULL."""
    if not given:
        raise FormatError(f"{source.place}: the table '{name}' has no columns")
    found = {}
    for column, values in given.items():
        array = _array(values) if _is_column(values) else None
        if not isinstance(column, str) or not column or array is None or array.ndim != 1:
            raise FormatError(
                f"{source.place}: the column {shown(column)} of the table '{name}' is no "
                "one-dimensional array with a name"
            )
        found[column] = array
    lengths = {len(each) for each in found.values()}
    if len(lengths) > 1:
        told = " and ".join(map(str, sorted(lengths)))
        raise FormatError(
            f"{source.place}: columns of the table '{name}' have {told} rows; give all as many"
        )
    return found


def _array(values: Any) -> NDArray[Any]:
    if not isinstance(values, np.ndarray):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if isinstance(values, np.ma.MaskedArray):
        objects: NDArray[Any] = np.ma.getdata(values).astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    if values.dtype.kind == "M":  # DuckDB takes no days
        return values.astype("datetime64[us]")
    return values.astype(object) if values.dtype.kind == "U" else np.ascontiguousarray(values)
