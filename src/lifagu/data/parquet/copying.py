"""Columns as arrays into one Parquet file; equal columns give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.columns import (
    Column,
    Columns,
    KeyColumn,
    Lists,
    Nullable,
    NumberedTexts,
    row_count,
)
from lifagu.data.duck import Duck, literal, quoted

SHORT = 16  # items up to which lists are put together from one array per place
DUCKDB_SORTS = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "moment": "TIMESTAMP",
    "uuid": "UUID",
    "text": "VARCHAR",
}
Arrays = dict[str, dict[str, NDArray[Any]]]


def copy_columns(duck: Duck, columns: Columns, file: Path, place: PathLike) -> None:
    """Write a table into a file, called place by the user; one thread gives equal bytes."""
    with selected(duck, columns) as table:
        duck.copy(table, file, place)


@contextmanager
def selected(duck: Duck, columns: Columns) -> Iterator[str]:
    """A query that gives these columns, for the time being."""
    arrays: Arrays = {"rows": {"row": np.arange(row_count(columns))}}
    values = [
        _value(f"c{number}", column, arrays) for number, column in enumerate(columns.values())
    ]
    shown = ", ".join(
        f"{value} AS {quoted(name)}" for value, name in zip(values, columns, strict=True)
    )
    joins = "\n".join(_gathered(name) for name in arrays if name != "rows")
    with duck.tables(
        {f"{name}_items" if name != "rows" else name: each for name, each in arrays.items()}
    ):
        yield f"""
            SELECT {shown}
            FROM rows
            {joins}
            {"ORDER BY rows.row" if joins else ""}
            """


def _value(name: str, column: Column, arrays: Arrays) -> str:
    """A column as SQL over the arrays that are added for it."""
    rows = arrays["rows"]
    if isinstance(column, Lists):
        short = int(np.diff(column.offsets).max(initial=0)) <= SHORT
        return _short_lists(name, column, rows) if short else _long_lists(name, column, arrays)
    if isinstance(column, KeyColumn):
        return _coded(name, column, rows)
    rows[name] = _narrow(column.numbers if isinstance(column, Nullable | NumberedTexts) else column)
    if isinstance(column, Nullable):
        return f"nullif(rows.{name}, -1)"
    if isinstance(column, NumberedTexts):
        return f"{literal(column.prefix)} || rows.{name}"
    return _text(f"rows.{name}", column)


def _coded(name: str, column: KeyColumn, rows: dict[str, NDArray[Any]]) -> str:
    """Values by their codes, as what they are; moments are all that DuckDB takes of numpy's."""
    empty = np.zeros(1, dtype=column.values.dtype)
    values = column.values if len(column.values) else empty
    values = values.astype("M8[us]") if values.dtype.kind == "M" else values
    rows[name] = values[np.maximum(column.codes, 0)]
    value = f"CAST(rows.{name} AS {DUCKDB_SORTS[column.sort]})"
    if (column.codes >= 0).all():
        return value
    rows[f"{name}_there"] = column.codes >= 0
    return f"CASE WHEN rows.{name}_there THEN {value} END"


def _short_lists(name: str, column: Lists, rows: dict[str, NDArray[Any]]) -> str:
    """Lists put together row by row, from an array for their first items, one for the second, …"""
    lengths = np.diff(column.offsets)
    of = np.arange(len(lengths)) if column.of is None else column.of
    last = max(len(column.values) - 1, 0)
    values = _narrow(
        column.values if len(column.values) else np.zeros(1, dtype=column.values.dtype)
    )
    width = int(lengths.max(initial=1))
    for place in range(width):
        rows[f"{name}_{place}"] = values[np.minimum(column.offsets[of] + place, last)]
    items = f"[{', '.join(_text(f'rows.{name}_{place}', values) for place in range(width))}]"
    if (lengths == width).all():
        return items
    rows[f"{name}_length"] = _narrow(lengths[of])
    return f"nullif(list_slice({items}, 1, rows.{name}_length), [])"


def _long_lists(name: str, column: Lists, arrays: Arrays) -> str:
    """Lists gathered from their items, with owners and places."""
    lengths = np.diff(column.offsets)
    arrays["rows"][name] = _narrow(arrays["rows"]["row"] if column.of is None else column.of)
    arrays[name] = {
        "owner": _narrow(np.repeat(np.arange(len(lengths)), lengths)),
        "place": np.arange(len(column.values)),
        "item": _narrow(column.values),
    }
    return f"{name}.items"


def _gathered(name: str) -> str:
    """The join that gives long lists."""
    return f"""
        LEFT JOIN (
            SELECT owner, list(item ORDER BY place) AS items
            FROM {name}_items
            GROUP BY owner
        ) AS {name} ON {name}.owner = rows.{name}
        """


def _text(value: str, array: NDArray[Any]) -> str:
    """A value as SQL; objects are texts."""
    return f"CAST({value} AS VARCHAR)" if array.dtype == object else value


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Integers in 32 bits where they fit: half the memory, for readers too."""
    if values.dtype == np.int64 and int(np.abs(values).max(initial=0)) < 2**31:
        return values.astype(np.int32)
    return values
