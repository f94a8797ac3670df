"""What a table shows: how many rows, how many values in each column, and a sample of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.data.databases.catalogue import CatalogueTable
from lifagu.data.databases.cells import Cells, distinct_texts
from lifagu.drafting.asking import Asker, aliased, quoted, table_sql
from lifagu.drafting.naming import row_name
from lifagu.graph.bins import number_of

MOST_CELLS = 10_000_000  # of one sample, whatever the number of columns
FEW = 24  # distinct values in a sample; then all values of the table are looked at
AT_ONCE = 60  # columns that are counted by one query
# what programs write where there is no value, in lower case
NOTHING = frozenset(("na", "n/a", "#n/a", "<na>", "nan", "null", "?", "."))
Family = Literal["integer", "number", "truth", "text", "moment", "mixed"]


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """The sampled values of a column: texts[d], distinct, and codes[n], -1 for NULL.

    observed: how many rows of the whole table have a value; rows: how many there are; further: of a
    column with few values those that were not sampled; has_nan: whether some of its numbers are
    none, which counts as missing.
    """

    name: str
    kind: str
    cells: Cells
    rows: int
    observed: int
    further: tuple[str, ...] = ()
    has_nan: bool = False

    @cached_property
    def family(self) -> Family:
        """What sort of values it has; declared types say less, in SQLite nothing."""
        if self.kind in ("date", "time"):
            return "moment"
        values = self.cells.values[~self.cells.missing]
        if values.dtype.kind == "b":
            return "truth"
        if values.dtype.kind != "O":
            finite = values[np.isfinite(values)]
            return "integer" if np.array_equal(finite, np.round(finite)) else "number"
        found = set(map(type, values.tolist()))
        if found <= {str}:
            return "text"
        if found <= {int, float, Decimal}:
            whole = all(each == round(each) for each in values.tolist() if math.isfinite(each))
            return "integer" if whole else "number"
        return "mixed"

    @cached_property
    def _distinct(self) -> tuple[list[str], Ints]:
        texts, codes = distinct_texts(self.cells)
        met = np.bincount(codes[codes >= 0], minlength=len(texts)) > 0
        if not met.all():  # what stands in place of NULL is no value
            codes = np.where(codes >= 0, (np.cumsum(met) - 1)[codes], -1)
            texts = [text for text, one in zip(texts, met.tolist(), strict=True) if one]
        return [*texts, *(each for each in self.further if each not in texts)], codes

    @property
    def texts(self) -> list[str]:
        """The distinct values, as texts; not sampled ones are last."""
        return self._distinct[0]

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The same, to be looked into."""
        return frozenset(self.texts)

    @property
    def codes(self) -> Ints:
        """Which of them each row has."""
        return self._distinct[1]

    @cached_property
    def counts(self) -> Ints:
        """How often each was sampled."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    @cached_property
    def blanks(self) -> tuple[str, ...]:
        """Texts that are no values: empty ones, and words for nothing among numbers or repeated.

        One that comes once among other texts may be a name, as NA is Namibia's.
        """
        if self.cells.values.dtype.kind != "O":
            return ()
        words = {text for text in self.texts if text.strip().lower() in NOTHING}
        if words and any(number_of(text) is None for text in self.distinct - words):
            words &= {text for text, many in zip(self.texts, self.counts, strict=True) if many > 1}
        return tuple(sorted(words | {text for text in self.texts if not text.strip()}))

    @property
    def gaps(self) -> int:
        """Rows of the whole table without a value."""
        return self.rows - self.observed


@dataclass(frozen=True, eq=False)
class SeenTable:
    """A table with what was seen of it."""

    table: CatalogueTable
    rows: int
    columns: Mapping[str, SeenColumn]

    @property
    def name(self) -> str:
        """As the database calls it."""
        return self.table.name

    @property
    def base(self) -> str:
        """What stands after FROM."""
        return table_sql(self.table)

    @property
    def size(self) -> int:
        """Rows that were sampled."""
        return next((len(each.cells) for each in self.columns.values()), 0)

    @property
    def is_sampled(self) -> bool:
        """Whether there are more rows than were looked at."""
        return self.size < self.rows


def in_order_of(table: SeenTable, key: Sequence[str]) -> SeenTable:
    """The same rows by their key, so that nothing depends on how the database keeps them."""
    if not key or not table.size:
        return table
    ranks = []
    for name in key:
        column = table.columns[name]
        rank = np.empty(len(column.texts) + 1, dtype=np.int64)
        rank[sorted(range(len(column.texts)), key=column.texts.__getitem__)] = np.arange(
            len(rank) - 1
        )
        ranks.append(rank[column.codes])
    order = np.lexsort(ranks[::-1])
    columns = {
        name: replace(
            each,
            cells=Cells(each.cells.values[order], each.cells.missing[order], each.cells.textual),
        )
        for name, each in table.columns.items()
    }
    return replace(table, columns=columns)


def see(
    asker: Asker, table: CatalogueTable, most: int, seed: int, without: Collection[str]
) -> SeenTable:
    """Count a table's rows and values, and read its rows, or so many that chance picks.

    without: columns, as ``table.column``, that are not even read.
    """
    names = [
        each.name
        for each in table.columns
        if each.kind != "other" and f"{table.name}.{each.name}" not in without
    ]
    kinds = {each.name: each.kind for each in table.columns}
    (rows,) = asker.numbers(f"SELECT count(*) FROM {table_sql(table)}")
    observed = _observed(asker, table, names)
    most = min(most, MOST_CELLS // max(1, len(names)))
    base = table_sql(table)
    if rows > most:
        row = row_name(each.name for each in table.columns)
        base = asker.sampled(table, row, most / rows, seed)
    listed = ", ".join(map(quoted, names))
    cells = asker.columns(f"SELECT {listed} FROM {aliased(base)}") if names else []
    columns = {
        name: _seen(name, kinds[name], found, rows, observed[name])
        for name, found in zip(names, cells, strict=True)
    }
    if rows > most:
        columns = {name: _all_values(asker, table, each) for name, each in columns.items()}
    return SeenTable(table, rows, columns)


def _seen(name: str, kind: str, cells: Cells, rows: int, observed: int) -> SeenColumn:
    """A column whose values are values: nan is missing, as if it were NULL, and so is a blank."""
    if cells.values.dtype.kind == "O":
        none = np.fromiter((each != each for each in cells.values.tolist()), np.bool_, len(cells))
        if none.any():
            floats = np.array([np.nan if each is None else each for each in cells.values.tolist()])
            if floats.dtype.kind == "f":
                return _seen(name, kind, Cells(floats, cells.missing), rows, observed)
        column = SeenColumn(name, kind, cells, rows, observed)
        blank = np.isin(column.texts, column.blanks)
        share = column.counts[blank].sum() / max(1, int(column.counts.sum()))
        return replace(column, observed=round(observed * (1 - share)))
    if cells.values.dtype.kind != "f":
        return SeenColumn(name, kind, cells, rows, observed)
    none = np.isnan(cells.values) & ~cells.missing
    share = none.sum() / max(1, len(none) - int(cells.missing.sum()))
    known = Cells(cells.values, cells.missing | none)
    return SeenColumn(name, kind, known, rows, round(observed * (1 - share)), (), bool(none.any()))


def _all_values(asker: Asker, table: CatalogueTable, column: SeenColumn) -> SeenColumn:
    """A sampled column that has few values, with all of them."""
    if len(column.texts) > FEW:
        return column
    name = quoted(column.name)
    (cells,) = asker.columns(
        f"SELECT DISTINCT {name} FROM {table_sql(table)} WHERE {name} IS NOT NULL LIMIT {4 * FEW}"
    )
    return replace(column, further=tuple(sorted(distinct_texts(cells)[0])))


def _observed(asker: Asker, table: CatalogueTable, names: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        counts = ", ".join(f"count({quoted(name)})" for name in some)
        found |= zip(some, asker.numbers(f"SELECT {counts} FROM {table_sql(table)}"), strict=True)
    return found
