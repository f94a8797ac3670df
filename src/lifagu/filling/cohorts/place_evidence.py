"""What individuals show in one place: which of a few exact tables, or counts behind estimated ones.

Both are counts over the entries of a table with G given combinations and C entries each: an exact
table counts once, for its own number, over the distinct tables of the place (G = 1). An individual
may show several tables in one place, or none; every table shown is a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.products import crossed, rows_times

Bools = NDArray[np.bool_]
LEAST_SHARE = 1e-12  # of an entry in a table, where it divides


@dataclass(frozen=True, eq=False)
class Owners(Frozen):
    """Who shows what: row r belongs to individual of[r], ascending, one of `count`."""

    of: Ints
    count: int

    @cached_property
    def _starts(self) -> Ints:
        return np.flatnonzero(np.diff(self.of, prepend=-1))

    @property
    def repeat(self) -> bool:
        """Whether somebody has several rows."""
        return len(self._starts) < len(self.of)

    def summed(self, rows: Floats) -> Floats:
        """Sums over the rows of each individual, (count, …) from (rows, …)."""
        total = np.zeros((self.count, *rows.shape[1:]))
        if len(rows):
            sums = np.add.reduceat(rows, self._starts) if self.repeat else rows
            total[self.of[self._starts]] = sums
        return total

    def only(self, kept: Ints) -> Owners:
        """The owners of some rows, ascending."""
        return replace(self, of=self.of[kept])

    def among(self, individuals: Ints) -> tuple[Ints, Owners]:
        """The rows of some individuals, ascending, and their owners numbered anew."""
        number = np.full(self.count, -1, dtype=np.int64)
        number[individuals] = np.arange(len(individuals))
        rows = np.flatnonzero(number[self.of] >= 0)
        return rows, Owners(number[self.of[rows]], len(individuals))


@dataclass(frozen=True, eq=False)
class TableTokens(Frozen):
    """Numbers of exact tables, codes[row] below `size`."""

    codes: Ints
    size: int
    owners: Owners

    @property
    def shape(self) -> tuple[int, int]:
        """Given combinations and entries of a table."""
        return 1, self.size

    def log_likelihood(self, logs: Floats) -> Floats:
        """Of each row under tables with these logarithms (B, 1, size): (rows, B)."""
        return np.asarray(logs[:, 0, self.codes].T)

    def log_likelihood_of_oneself(self, usual: Floats) -> Floats:
        """Of each row if its owner's table is its own."""
        return np.asarray(np.log((1 + 0.5 * usual[0, self.codes]) / 1.5))

    def totals(self, weights: Floats) -> Floats:
        """Counts of all together, row r with weights[r, b]: (B, 1, size)."""
        sums = [np.bincount(self.codes, each, minlength=self.size) for each in weights.T]
        return np.asarray(np.stack(sums)[:, None, :], dtype=np.float64)

    def log_scores(self, tables: Floats) -> Floats:
        """The log probability of each row under tables (rows, 1, size)."""
        shown = tables[np.arange(len(self.codes)), 0, self.codes]
        return np.asarray(np.log(np.maximum(shown, 1e-300)))

    def only(self, kept: Ints) -> TableTokens:
        """Some rows, ascending."""
        return replace(self, codes=self.codes[kept], owners=self.owners.only(kept))

    def among(self, individuals: Ints) -> TableTokens:
        """The rows of some individuals, who are numbered anew."""
        rows, owners = self.owners.among(individuals)
        return replace(self, codes=self.codes[rows], owners=owners)


@dataclass(frozen=True, eq=False)
class Counts(Frozen):
    """Records behind estimated tables, raw[row, G, C].

    spread: how many records an individual's own table is worth when it is drawn around that of its
    cohort (Dirichlet); records beyond that tell ever less about the cohort.
    """

    raw: Floats
    owners: Owners
    spread: float = np.inf

    @property
    def shape(self) -> tuple[int, int]:
        """Given combinations and entries of a table."""
        return self.raw.shape[1], self.raw.shape[2]

    @cached_property
    def effective(self) -> Floats:
        """Counts that tell as much about the cohort as the records do, (rows, G · C)."""
        counts = self.raw
        if np.isfinite(self.spread):
            total = self.raw.sum(axis=-1, keepdims=True)
            counts = counts * ((1 + self.spread) / (total + self.spread))
        return counts.reshape(len(counts), counts.shape[1] * counts.shape[2])

    def log_likelihood(self, logs: Floats) -> Floats:
        """Of each row under tables with these logarithms (B, G, C): (rows, B)."""
        return rows_times(self.effective, logs.reshape(len(logs), -1).T)

    def log_likelihood_of_oneself(self, usual: Floats) -> Floats:
        """Of each row if its owner's table is its own."""
        counts = self.effective.reshape(self.raw.shape)
        tables = counts + 0.5 * usual
        tables = tables / tables.sum(axis=-1, keepdims=True)
        return np.asarray((counts * np.log(tables)).sum(axis=(1, 2)))

    def totals(self, weights: Floats) -> Floats:
        """Counts of all together, row r with weights[r, b]: (B, G, C)."""
        return crossed(weights, self.effective).reshape(-1, *self.shape)

    def log_scores(self, tables: Floats) -> Floats:
        """The log probability of the records of each row under tables (rows, G, C)."""
        return np.asarray((self.raw * np.log(np.maximum(tables, 1e-300))).sum(axis=(1, 2)))

    def only(self, kept: Ints) -> Counts:
        """Some rows, ascending."""
        return replace(self, raw=self.raw[kept], owners=self.owners.only(kept))

    def among(self, individuals: Ints) -> Counts:
        """The rows of some individuals, who are numbered anew."""
        rows, owners = self.owners.among(individuals)
        return replace(self, raw=self.raw[rows], owners=owners)

    def spread_around(self, tables: Floats, weights: Floats) -> Counts:
        """The same with the spread found around tables (B, G, C), by how likely each is (rows, B).

        Pearson's χ² by degrees of freedom exceeds 1 by (N - 1) / (1 + spread) on average; an excess
        within two standard errors is taken for chance.
        """
        groups, entries = self.shape
        freedom = max(entries - 1, 1)
        total = self.raw.sum(axis=-1, keepdims=True)
        squares = np.where(total > 1, self.raw**2 / np.maximum(total, 1), 0.0)
        several, beyond = total[..., 0] > 1, np.where(total > 1, total, 0.0)[..., 0]
        # sums over rows, a line for each table: how many, their records, and χ² and these
        many = crossed(weights, several.astype(np.float64)).sum(axis=1)
        records = crossed(weights, beyond).sum(axis=1)
        shares = np.maximum(tables, LEAST_SHARE).reshape(len(tables), groups * entries)
        found = (crossed(weights, squares.reshape(len(squares), groups * entries)) / shares).sum(
            axis=1
        )
        fitted = 1 - np.minimum(0.5, 1 / np.maximum(many / groups, 2.0))
        excess = float(((found - records) / freedom / fitted - many).sum())
        expected = float((records - many).sum())
        variance = float(many.sum()) * 2 / freedom
        by_chance = excess <= 2 * np.sqrt(variance)
        spread = np.inf if by_chance else max(expected / excess - 1, 0.5)
        return replace(self, spread=float(spread))


PlaceEvidence = TableTokens | Counts
