"""What every rival is given: a table with columns to be predicted, hidden cells gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifagu.graph.bins import BinLabels, quantile_edges
from research.league.features import Column, Floats, Ints, Known
from research.league.loading import Pointer
from research.league.raw_tables import Raw, Target, Told, hide, targets

MOST_LABELS = 30  # of a category, the commonest; all others become one more
BINS = 5  # of a number


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as numbers of labels, for all rows, -1 where nothing is known; size: how many."""

    name: str
    size: int
    values: Ints


@dataclass(frozen=True, eq=False)
class Sheet:
    """One table with columns to be predicted, as every rival gets it: hidden cells are gone."""

    table: str
    targets: tuple[Target, ...]
    known: Known

    def plain(self, target: Target) -> list[Column]:
        """The row's own columns, but for the target's, and those that foreign keys lead to."""
        return self.known.plain(self.table, target.columns)

    def made(self, target: Target) -> list[Column]:
        """All features made by hand: plain columns, what was missing, summaries of rows below."""
        return self.known.features(self.table, target.columns)

    def groups(self, target: Target) -> list[Ints]:
        """Codes of columns, but for the target's, that many rows may share."""
        return self.known.groups(self.table, target.columns)

    def coded(self) -> list[Coded]:
        """Every column as labels: first the targets in order, then all other plain ones.

        Other columns with a single label are left out.
        """
        rows = len(self.known.tables[self.table])
        asked = {column for target in self.targets for column in target.columns}
        others = map(_coded, self.known.plain(self.table, asked))
        return [
            *(_coded_target(each, rows) for each in self.targets),
            *(each for each in others if each.size > 1),
        ]


def sheets(
    raw: Raw, pointers: Sequence[Pointer], template: Mapping[str, Any], cells: Sequence[Told]
) -> tuple[list[Sheet], list[str]]:
    """A sheet for each table with hidden cells, and in words what cannot be compared."""
    found = targets(raw, template, cells)
    able = [each for each in found if isinstance(each, Target)]
    known = Known(hide(raw.tables, able), tuple(pointers), raw.tables)
    made = [
        Sheet(table, tuple(each for each in able if each.table == table), known)
        for table in dict.fromkeys(each.table for each in able)
    ]
    return made, [each for each in found if isinstance(each, str)]


def _coded_target(target: Target, rows: int) -> Coded:
    values = np.full(rows, -1)
    values[target.rows] = target.values
    return Coded(target.told.relation, len(target.told.labels), values)


def _coded(column: Column) -> Coded:
    known = np.isfinite(column.values)
    kept = column.values[known]
    codes = _commonest(kept) if column.is_category else _binned(kept)
    values = np.full(len(known), -1)
    values[known] = codes
    return Coded(column.name, int(codes.max(initial=-1)) + 1, values)


def _commonest(labels: Floats) -> Ints:
    """Numbers of labels, the commonest first; all rare ones share the last."""
    _, number, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    found: Ints = np.minimum(rank[number], MOST_LABELS)
    return found


def _binned(numbers: Floats) -> Ints:
    return BinLabels.of(quantile_edges(numbers, BINS)).places(numbers)
