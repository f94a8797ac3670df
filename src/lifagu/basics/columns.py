"""Tables by column, as arrays: from the rooms that compute to those that write large results.

A column is an array (of numbers, truth values, or texts and None as objects), or one of the forms
below, which need no Python object per row. A float that is nan is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, by_first_occurrence, first_places, offsets_of
from lifagu.basics.html import Framed, Shown
from lifagu.basics.names import Names, NumberedNames
from lifagu.basics.words import counted

MOST_BYTES = 63  # of a name, so that PostgreSQL keeps it whole


class Rows(Sequence[Any]):
    """A column that is read as a list of plain values, None for null."""

    def plain(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as plain values."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return iter(self.plain())

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.plain(place)
        row = range(len(self))[place]
        return self.plain(slice(row, row + 1))[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.plain(), dtype=dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'row')}>"


@dataclass(frozen=True, eq=False, repr=False)
class Nullable(Rows):
    """Numbers from 0 on; -1 is null.

    >>> list(Nullable(np.array([3, -1])))
    [3, None]
    """

    numbers: Ints

    def plain(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as plain values."""
        return [None if each < 0 else each for each in self.numbers[rows].tolist()]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, eq=False, repr=False)
class NumberedTexts(Rows):
    """Texts made of a prefix and a number, such as ``x7``."""

    prefix: str
    numbers: Ints

    def plain(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as plain values."""
        return [f"{self.prefix}{each}" for each in self.numbers[rows].tolist()]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, eq=False, repr=False)
class Lists(Rows):
    """Row i holds list of[i] (i without `of`), values[offsets[l]:offsets[l+1]]; empty is null.

    >>> lists = text_lists([["a", "b"], []])
    >>> lists, lists[0], list(lists)
    (<Lists: 2 rows>, ['a', 'b'], [['a', 'b'], None])
    """

    offsets: Ints
    values: NDArray[Any]
    of: Ints | None = None

    def plain(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as plain values."""
        return self.written(list, rows)

    def written(self, how: Callable[[list[Any]], Any], rows: slice = slice(None)) -> list[Any]:
        """Some rows, each list as somebody writes it, None for null; once for all rows of it."""
        of = (np.arange(len(self)) if self.of is None else self.of)[rows]
        met, places = np.unique(of, return_inverse=True)
        pairs = zip(self.offsets[met].tolist(), self.offsets[met + 1].tolist(), strict=True)
        shown = [
            how(plain_values(self.values[start:end])) if end > start else None
            for start, end in pairs
        ]
        return [shown[place] for place in places.reshape(-1).tolist()]

    def as_json(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as texts of JSON, None for null.

        >>> text_lists([["ä"], []]).as_json()
        ['["ä"]', None]
        """
        return self.written(lambda values: json.dumps(values, ensure_ascii=False), rows)

    def __len__(self) -> int:
        return len(self.offsets) - 1 if self.of is None else len(self.of)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.empty(len(self), dtype=object)  # one object for each list, also of equal lengths
        found[:] = self.plain()
        return found


@dataclass(frozen=True, eq=False, repr=False)
class KeyColumn(Rows):
    """Row i holds values[codes[i]], null for -1; sort: what these are in a database, of SORTS."""

    values: NDArray[Any]
    codes: Ints
    sort: str = "text"

    def plain(self, rows: slice = slice(None)) -> list[Any]:
        """Some rows as plain values."""
        met, places = np.unique(self.codes[rows], return_inverse=True)
        values = [None if code < 0 else self.values[code : code + 1].tolist()[0] for code in met]
        return [values[place] for place in places.reshape(-1).tolist()]

    def __len__(self) -> int:
        return len(self.codes)


def plain_values(values: NDArray[Any]) -> list[Any]:
    """An array as plain values, None for what is not a number."""
    plain: list[Any] = values.tolist()
    return [None if each != each else each for each in plain] if values.dtype.kind == "f" else plain


# of values that tables are joined by; text is what has no other sort
SORTS = ("integer", "number", "boolean", "date", "moment", "uuid", "text")
_STORED = {"integer": "int64", "number": "float64", "date": "M8[D]", "moment": "M8[us]"}

Column = NDArray[Any] | Nullable | NumberedTexts | Lists | KeyColumn
Columns = Mapping[str, Column]


class ResultTable(Framed, Shown, Mapping[str, Column]):
    """Columns by name, which data frames are made of."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def tables(self) -> dict[str, Columns]:
        """Itself alone."""
        return {"table": self}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        names = ", ".join(self._columns)
        return f"<{type(self).__name__}: {counted(row_count(self), 'row')} of {names}>"


class Wide(ResultTable):
    """What a long table of probabilities says of one relation, with one row for each individual.

    who: the columns of the long table that say who; labels: for each label the column that has
    its probability. A database can make it of the long table whenever it is read.
    """

    def __init__(
        self, relation: str, who: Sequence[str], labels: Mapping[str, str], columns: Columns
    ) -> None:
        super().__init__(columns)
        self.relation, self.who, self.labels = relation, tuple(who), labels


def row_count(columns: Columns) -> int:
    """Number of rows of a table with at least one column."""
    return len(next(iter(columns.values())))


def taken(column: Column, rows: Ints) -> Column:
    """These rows of a column that is no list.

    >>> taken(KeyColumn(texts(["a", "b"]), np.array([1, -1])), np.array([1, 0])).plain()
    [None, 'b']
    """
    if isinstance(column, KeyColumn):
        return KeyColumn(column.values, column.codes[rows], column.sort)
    if isinstance(column, Nullable):
        return Nullable(column.numbers[rows])
    if isinstance(column, NumberedTexts):
        return NumberedTexts(column.prefix, column.numbers[rows])
    assert not isinstance(column, Lists)
    return column[rows]


def of_sort(words: Sequence[str], sort: str) -> NDArray[Any] | None:
    """Texts as what they stand for; None if one of them is nothing of the kind.

    >>> of_sort(["2024-02-29"], "date"), of_sort(["x"], "integer")
    (array(['2024-02-29'], dtype='datetime64[D]'), None)
    """
    if sort == "boolean":
        known = {"true": True, "false": False}
        return np.array([known[each] for each in words]) if {*words} <= {*known} else None
    try:
        return np.array(words, dtype=_STORED[sort]) if sort in _STORED else texts(words)
    except ValueError:
        return None


_ODD = re.compile(r"\W+")


def plain_name(text: str) -> str:
    """A text as a name that databases take without quotes.

    >>> plain_name("Test Result (new)"), plain_name("Größe"), plain_name("2nd")
    ('test_result_new', 'größe', '_2nd')
    """
    found = _ODD.sub("_", text.lower()).strip("_") or "_"
    return f"_{found}" if found[0].isdigit() else found


class FreeNames:
    """Names of columns or tables, each once, also for those who do not tell upper from lower case.

    >>> free = FreeNames(["value"])
    >>> free.taken("person"), free.taken("Person"), free.taken("value")
    ('person', 'Person_2', 'value_2')
    """

    def __init__(self, taken: Iterable[str] = (), most_bytes: int = MOST_BYTES) -> None:
        self._taken, self._most_bytes = {each.lower() for each in taken}, most_bytes

    def taken(self, wanted: str) -> str:
        """This name if it is free, else with the next number; at most as long as allowed."""
        for number in count(1):
            end = f"_{number}" if number > 1 else ""
            start = wanted.replace("\0", "").encode()[: self._most_bytes - len(end)]
            name = start.decode(errors="ignore") + end
            if name.lower() not in self._taken:
                self._taken.add(name.lower())
                return name
        raise AssertionError("numbers do not end")


def texts(words: Sequence[str], codes: Ints | None = None) -> NDArray[Any]:
    """Texts as objects, one per row: words[codes[i]], None for -1; each word is one object.

    >>> texts(["low", "high"], np.array([1, -1, 1])).tolist()
    ['high', None, 'high']
    """
    objects = np.array([*words, None], dtype=object)
    return objects[:-1] if codes is None else objects[codes]


def text_lists(lists: Sequence[Sequence[str]], of: Ints | None = None) -> Lists:
    """A column of lists of texts; row i holds lists[of[i]].

    >>> text_lists([["a", "b"], ["c"]]).offsets.tolist()
    [0, 2, 3]
    """
    lengths = np.array([len(each) for each in lists], dtype=np.int64)
    return Lists(offsets_of(lengths), texts([word for each in lists for word in each]), of)


def name_column(names: Names, numbers: Ints) -> Column:
    """The names of many nodes, null for -1; numbered ones without an object each.

    >>> name_column(NumberedNames("variable", "x", 9), np.array([4])).prefix
    'x'
    """
    if isinstance(names, NumberedNames) and not (numbers < 0).any():
        return NumberedTexts(names.prefix, numbers)
    return texts(*used_names(names, numbers))


def used_names(names: Names, numbers: Ints) -> tuple[list[str], Ints]:
    """The names of the nodes that occur, once each, and for each number its place there (-1: -1).

    >>> used_names(Names("variable", ["A", "B", "C"]), np.array([2, 0, -1, 2]))
    (['C', 'A'], array([ 0,  1, -1,  0]))
    """
    place = by_first_occurrence(numbers)
    return names.of_nodes(numbers[first_places(place)]), place
