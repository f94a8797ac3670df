"""What a usual learner is given of a row: its columns, those it points to, what points to it.

Numbers stay numbers, labels become codes of categories, moments a number, month and weekday. Along
foreign keys come the columns of the rows pointed to, two steps far; of rows that point here come
how many there are, means of their numbers, and shares of their commonest labels, their other
foreign keys followed one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from research.league.loading import Pointer

MOST_CATEGORIES = 200  # of a column whose labels become codes
COMMONEST = 40  # labels of a column of rows that point here
FOLDS = 5  # of training rows: rates of each are counted without it
MOST_GROUPS = 0.9  # of the rows; where there are more, hardly any two share one
STRENGTH = 1.0  # records that the rate of all counts as, in the rate of a group
MOST_RATES = 12  # labels that get a rate each, the commonest
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """A feature: a number for each row, NaN where nothing is known; codes if it is a category."""

    name: str
    values: Floats
    is_category: bool = False

    def at(self, rows: Ints, name: str) -> Column:
        """The same of other rows, that point to these; -1 points nowhere."""
        values = np.where(rows >= 0, np.append(self.values, np.nan)[rows], np.nan)
        return Column(f"{name}.{self.name}", values, self.is_category)


@dataclass(frozen=True, eq=False)
class Known:
    """Tables without hidden cells, what points where, and the tables as they were.

    Of the latter it is only told where a value was missing in the database: a draft may use that,
    and that a cell was hidden afterwards must not look like it.
    """

    tables: Mapping[str, Any]
    pointers: tuple[Pointer, ...]
    whole: Mapping[str, Any]

    def features(self, table: str, without: Iterable[str]) -> list[Column]:
        """All features of a table's rows, without what tells the column to be predicted."""
        left_out = set(without)
        own = [*self._own(table, left_out), *self._missing(table, left_out)]
        above = self._above(table, 2, self._pointers_without(left_out))
        return [*own, *above, *self._below(table)]

    def plain(self, table: str, without: Iterable[str]) -> list[Column]:
        """A table's own columns and those of the rows that foreign keys lead to, as they are."""
        left_out = set(without)
        above = self._above(table, 2, self._pointers_without(left_out), summaries=False)
        return [*self._own(table, left_out), *above]

    def groups(self, table: str, without: Iterable[str]) -> list[Ints]:
        """Codes of columns that many rows may share: foreign keys, and whatever repeats."""
        frame, left_out = self.tables[table], set(without)
        pointing = [p.columns for p in self.pointers if p.is_in(table, frame)]
        several = [each for each in pointing if len(each) > 1]
        single = {each[0] for each in pointing if len(each) == 1}
        found = [_codes(frame, columns) for columns in several if left_out.isdisjoint(columns)]
        for column in frame.columns:
            if column in left_out or not _repeats(frame[column]):
                continue
            codes = _codes(frame, (column,))
            size = int(codes.max(initial=-1)) + 1
            if column in single or 20 < size <= MOST_GROUPS * len(codes):
                found.append(codes)
        return found

    def _missing(self, table: str, without: set[str]) -> list[Column]:
        """Whether each column had a value in the database, where some rows have none."""
        gaps = self.whole[table].isna()
        kept = [each for each in gaps.columns if each not in without and gaps[each].any()]
        return [Column(f"missing {each}", gaps[each].to_numpy(np.float64)) for each in kept]

    def _own(self, table: str, without: set[str], most: int = MOST_CATEGORIES) -> list[Column]:
        """A table's own columns; most: labels of a column that is a category."""
        frame = self.tables[table]
        pointing = {
            column for each in self.pointers if each.is_in(table, frame) for column in each.columns
        }
        kept = [each for each in frame.columns if each not in without]
        return [
            found
            for column in kept
            for found in _features(column, frame[column], column in pointing, most)
        ]

    def _pointers_without(self, columns: set[str]) -> list[Pointer]:
        """Where other columns point to: whatever a column to be predicted points to tells it."""
        return [each for each in self.pointers if columns.isdisjoint(each.columns)]

    def _above(
        self, table: str, steps: int, pointers: Sequence[Pointer], summaries: bool = True
    ) -> list[Column]:
        """Columns of the rows that each row points to; summaries: also of what points to these."""
        frame, found = self.tables[table], []
        for pointer in pointers if steps else ():
            if not pointer.is_in(table, frame):
                continue
            rows, name = self._pointed(frame, pointer), "_".join(pointer.columns)
            there = self._own(pointer.to, set(pointer.there))
            there += self._above(pointer.to, steps - 1, self.pointers, summaries)
            # another table about the same things
            if summaries and len(np.unique(rows)) == len(rows):
                there += self._below(pointer.to, table)
            found += [each.at(rows, name) for each in there]
        return found

    def _pointed(self, frame: Any, pointer: Pointer) -> Ints:
        """The row that each row points to, -1 if there is none."""
        there = self.tables[pointer.to][list(pointer.there)]
        there = there.assign(row=np.arange(len(there))).drop_duplicates(list(pointer.there))
        here = frame[list(pointer.columns)].set_axis(list(pointer.there), axis=1)
        merged = here.merge(there.dropna(), on=list(pointer.there), how="left")
        return merged["row"].fillna(-1).to_numpy(np.int64)

    def _below(self, table: str, without: str = "") -> list[Column]:
        """What the rows say that point to each row, but for those of one table."""
        size, found = len(self.tables[table]), []
        for name, frame in self.tables.items():
            if name == without:
                continue
            for pointer in self.pointers:
                if pointer.to != table or not pointer.is_in(name, frame):
                    continue
                to = self._pointed(frame, pointer)
                said = f"{name}.{'_'.join(pointer.columns)}"
                found.append(Column(f"count {said}", _sums(to, np.ones(len(to)), size)))
                # however many labels a list has, the commonest are counted
                columns = self._own(name, set(pointer.columns), len(frame))
                others = [each for each in self.pointers if each != pointer]
                for each in [*columns, *self._above(name, 1, others)]:
                    found += _summed(each, to, size, said)
        return found


def _features(name: str, column: Any, is_pointer: bool, most: int) -> list[Column]:
    kind = column.dtype.kind
    if kind == "M":
        day = column.dt.dayofweek, column.dt.month
        whole = column.astype("int64").where(column.notna()).to_numpy(np.float64)
        parts = [each.to_numpy(np.float64, na_value=np.nan) for each in day]
        return [Column(name, whole), *(Column(f"part of {name}", each, True) for each in parts)]
    if kind in "iufb" and not is_pointer:
        return [Column(name, column.to_numpy(np.float64, na_value=np.nan))]
    codes = pd.factorize(column)[0]
    if not 1 < int(codes.max(initial=-1)) + 1 <= min(most, len(codes) / 2):
        return []
    return [Column(name, np.where(codes < 0, np.nan, codes), True)]


def _summed(column: Column, to: Ints, size: int, name: str) -> list[Column]:
    """Means of a number, or shares of the commonest labels, over the rows that point to each."""
    known = ~np.isnan(column.values)
    counts = _sums(to, known.astype(np.float64), size)
    if not column.is_category:
        means = _sums(to, np.where(known, column.values, 0.0), size) / np.where(counts, counts, 1)
        return [Column(f"mean {name}.{column.name}", np.where(counts, means, np.nan))]
    often = np.bincount(column.values[known].astype(np.int64)).argsort()[::-1][:COMMONEST]
    return [
        Column(
            f"share {name}.{column.name}={code}",
            np.where(
                counts, _sums(to, column.values == code, size) / np.where(counts, counts, 1), np.nan
            ),
        )
        for code in often
    ]


def _sums(to: Ints, weights: NDArray[Any], size: int) -> Floats:
    there = to >= 0
    return np.bincount(to[there], weights[there].astype(np.float64), size)


def _repeats(column: Any) -> bool:
    """Whether values may be names of groups: no numbers but whole ones."""
    return column.dtype.kind != "f" or bool((column.dropna() % 1 == 0).all())


def _codes(frame: Any, columns: Sequence[str]) -> Ints:
    """A number for each combination of values, -1 where one is missing."""
    codes = frame.groupby(list(columns), dropna=True, sort=False).ngroup()
    return codes.fillna(-1).to_numpy(np.int64)


# ---- rates of groups


def folds(count: int, seed: int) -> Ints:
    """The fold of each training row, by chance."""
    found: Ints = np.random.default_rng(seed).permutation(count) % FOLDS
    return found


def rates(
    groups: Ints, rows: Ints, values: Ints, labels: int, fold: Ints, asked: Ints
) -> tuple[Floats, Floats]:
    """How often each label is in each row's group, smoothed: of training rows, and of asked ones.

    Those of a training row are counted without its fold, so that nobody sees its own label.
    """
    kept = np.bincount(values, minlength=labels).argsort()[::-1][: min(MOST_RATES, labels)]
    size = int(groups.max(initial=-1)) + 2  # the last one: in no group
    counts = np.zeros((FOLDS, size, labels))
    np.add.at(counts, (fold, groups[rows], values), 1)
    counts[:, -1] = 0
    whole = counts.sum(0)
    own = whole[groups[rows]] - counts[fold, groups[rows]]
    common = np.bincount(values, minlength=labels) / len(values)
    return _smoothed(own, common, kept), _smoothed(whole[groups[asked]], common, kept)


def _smoothed(counts: Floats, common: Floats, kept: Ints) -> Floats:
    total = counts.sum(1, keepdims=True)
    return np.hstack(((counts + STRENGTH * common)[:, kept] / (total + STRENGTH), total))
