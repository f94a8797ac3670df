"""A few tables as various as those of individuals, where these vary around what cohorts have.

On average a hole has the table of its cohort. But where one hidden table stands behind several
observations (`steady_places`), it matters how far tables vary: the first ones tell about the others
what the cohort does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.found import PlaceCohorts
from lifagu.filling.cohorts.place_evidence import Counts

ENOUGH = 64  # tables that stand for all, in all sorts of cohorts together


@dataclass(frozen=True, eq=False)
class VariedTables(Frozen):
    """tables (V, G, C): number v is one of those that vary around atom origin[v], as a share."""

    tables: Floats
    origin: Ints
    shares: Floats

    @classmethod
    def exactly(cls, atoms: Floats) -> VariedTables:
        """Tables that do not vary."""
        return cls(atoms, np.arange(len(atoms)), np.ones(len(atoms)))

    def told_apart(self, which: Floats) -> Floats:
        """How likely each table is where atoms are so likely, (·, B) → (·, V)."""
        return np.asarray(which[:, self.origin] * self.shares)


def varied_tables(
    here: PlaceCohorts, evidence: Counts, belonging: Floats, weight: float
) -> VariedTables:
    """The tables of individuals, those alike taken together; belonging (n, K).

    weight: how much this sort of cohorts counts, and so how large a share of tables it gets.
    """
    if not np.isfinite(here.spread):
        return VariedTables.exactly(here.atoms)
    which = here.which_known(evidence, belonging)
    origin, around = which.argmax(axis=1), here.mean_of(which)
    records = evidence.raw.sum(axis=-1, keepdims=True)
    own = evidence.raw / np.maximum(records, 1.0)
    # estimates vary more than what is behind them, and the tables to be expected behind them less
    tables = around + np.sqrt(records / (records + here.spread)) * (own - around)
    groups = _groups(tables.reshape(len(tables), -1), origin, ceil(ENOUGH * weight))
    shares = np.array([len(group) for group in groups], dtype=np.float64)
    rows = [tables[group].mean(axis=0) for group in groups]
    of = np.array([origin[group[0]] for group in groups])
    nobody = np.setdiff1d(np.arange(len(here.atoms)), of)  # atoms that nobody has most likely
    shares /= np.bincount(of, shares)[of]
    return VariedTables(
        np.concatenate((np.stack(rows), here.atoms[nobody])),
        np.concatenate((of, nobody)),
        np.concatenate((shares, np.ones(len(nobody)))),
    )


def _groups(rows: Floats, start: Ints, most: int) -> list[Ints]:
    """Rows that are alike, split where they differ most; start: what is apart anyway."""
    groups = [np.flatnonzero(start == each) for each in np.unique(start)]
    apart = [_scatter(rows[group]) for group in groups]
    while len(groups) < most and max(map(np.sum, apart)) > 0:
        worst = int(np.argmax([each.sum() for each in apart]))
        group, entry = groups[worst], int(np.argmax(apart[worst]))
        above = rows[group, entry] > rows[group, entry].mean()
        if not above.any():  # they differ by rounding alone
            break
        groups[worst : worst + 1] = [group[~above], group[above]]
        apart[worst : worst + 1] = [_scatter(rows[each]) for each in groups[worst : worst + 2]]
    return groups


def _scatter(rows: Floats) -> Floats:
    """The sum of squared differences from the mean, for each entry."""
    return np.asarray(((rows - rows.mean(axis=0)) ** 2).sum(axis=0))
