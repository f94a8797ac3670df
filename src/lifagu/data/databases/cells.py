"""Columns of query results as arrays, and their values as texts, as constants and labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import repeat
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, offsets_of

_TEXTUAL = (date, UUID)  # a moment is a date as well; these read the same from every database


@dataclass(frozen=True, eq=False)
class Cells:
    """One column of some rows: values[n] of any sort, and missing[n]: where NULL is.

    Values are integers, floats, truth values or objects. textual: whether it is known that all that
    are not missing are texts. given: the sort they had before they were read as texts.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    textual: bool = False
    given: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether the values are integers."""
        return self.values.dtype.kind == "i"

    @property
    def sort(self) -> str:
        """What the values are, of `basics.columns.SORTS`."""
        of_arrays = {"i": "integer", "f": "number", "b": "boolean"}
        if self.given or self.values.dtype.kind in of_arrays:
            return self.given or of_arrays[self.values.dtype.kind]
        met = () if self.textual else map(_sort_of, self.values[~self.missing].tolist())
        found = set(met) or {"text"}
        return found.pop() if len(found) == 1 else "text"

    def texts(self) -> list[str | None]:
        """The values as texts, None for NULL; what has none, such as a list, is in brackets."""
        values = self.values.tolist()
        texts: list[str | None] = values if self.textual else list(map(text_of, values))
        for row in np.flatnonzero(self.missing).tolist():
            texts[row] = None
        return texts

    def text(self, row: int) -> str:
        """One value as people read it."""
        return "NULL" if self.missing[row] else text_of(self.values[row : row + 1].tolist()[0])


@dataclass(frozen=True, eq=False)
class NumberLists:
    """Lists of numbers: row i holds values[offsets[i]:offsets[i+1]]; missing[n]: where NULL is."""

    offsets: Ints
    values: Floats
    missing: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.missing)

    def text(self, row: int) -> str:
        """One list as people read it."""
        if self.missing[row]:
            return "NULL"
        numbers = self.values[self.offsets[row] : self.offsets[row + 1]].tolist()
        return f"[{', '.join(map(text_of, numbers))}]"


CellColumn = Cells | NumberLists


def text_of(value: Any) -> str:
    """A value as the text of a constant or a label, the same whatever database it comes from.

    >>> [text_of(each) for each in (True, 7, 7.0, Decimal("7.50"), "low")]
    ['true', '7', '7', '7.5', 'low']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        return str(int(value)) if number.is_integer() else repr(number)
    return str(value) if isinstance(value, _TEXTUAL) else f"({value!r})"


def _sort_of(value: Any) -> str:
    """What a value is; a moment in a time zone is a text."""
    if isinstance(value, datetime):
        return "moment" if value.tzinfo is None else "text"
    sorts = ((date, "date"), (UUID, "uuid"), (bool, "boolean"), (int, "integer"))
    more = (*sorts, (float, "number"), (Decimal, "number"))
    return next((sort for kind, sort in more if isinstance(value, kind)), "text")


def cells_of(values: Sequence[Any]) -> CellColumn:
    """A column from plain values with None for NULL, as drivers give them."""
    kinds = set(map(type, values))
    missing = np.zeros(len(values), dtype=np.bool_)
    if type(None) in kinds:
        missing = np.fromiter((each is None for each in values), dtype=np.bool_, count=len(values))
        kinds.discard(type(None))
    if kinds == {list}:
        return _lists(values, missing)
    if kinds in ({int}, {bool}):
        filled = [False if each is None else each for each in values] if missing.any() else values
        with suppress(OverflowError):
            return Cells(np.array(filled, dtype=np.int64 if kinds == {int} else np.bool_), missing)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return Cells(objects, missing, textual=kinds <= {str})


def _lists(values: Sequence[Any], missing: NDArray[np.bool_]) -> CellColumn:
    """Lists of numbers; an item that is none becomes nan, which no table may hold."""
    lengths = np.fromiter(
        (0 if each is None else len(each) for each in values), dtype=np.int64, count=len(values)
    )
    items = (item for each in values if each is not None for item in each)
    numbers = np.fromiter(map(_number, items), dtype=np.float64, count=int(lengths.sum()))
    return NumberLists(offsets_of(lengths), numbers, missing)


def _number(item: Any) -> float:
    return float(item) if isinstance(item, int | float | Decimal) else float("nan")


def joined(parts: Sequence[Cells]) -> Cells:
    """The same column of several batches, one after another; as texts where sorts differ."""
    if len(parts) == 1:
        return parts[0]
    missing = np.concatenate([each.missing for each in parts])
    if len({each.values.dtype for each in parts}) == 1:
        textual = all(each.textual for each in parts)
        sorts = {each.given for each in parts}
        given = sorts.pop() if len(sorts) == 1 else "text"
        return Cells(np.concatenate([each.values for each in parts]), missing, textual, given)
    objects = np.empty(len(missing), dtype=object)
    objects[:] = [text for each in parts for text in each.texts()]
    return Cells(objects, missing, textual=True)


def distinct_texts(cells: Cells) -> tuple[list[str], Ints]:
    """The distinct values as texts, and for each row which it has, -1 for NULL."""
    if cells.values.dtype.kind in "ib":
        values, places = np.unique(cells.values, return_inverse=True)
        texts, places = list(map(text_of, values.tolist())), places.reshape(-1).astype(np.int64)
    else:
        codes: dict[str, int] = {}
        found = (
            0 if text is None else codes.setdefault(text, len(codes)) for text in cells.texts()
        )
        places = np.fromiter(found, dtype=np.int64, count=len(cells))
        texts = list(codes)
    places[cells.missing] = -1
    return texts, places


def codes_of(cells: Cells, number: Mapping[str, int]) -> Ints:
    """The number of each value by its text, -1 for a text that has none and for NULL."""
    if cells.textual:
        found = np.fromiter(
            map(number.get, cells.values.tolist(), repeat(-1)), dtype=np.int64, count=len(cells)
        )
        found[cells.missing] = -1
        return found
    texts, places = distinct_texts(cells)
    return np.array([*(number.get(text, -1) for text in texts), -1], dtype=np.int64)[places]
