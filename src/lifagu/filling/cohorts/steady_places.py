"""Steady places: all factors of one individual have one table there, as a lecturer's ratings do.

Such a table is one thing that is known, however many factors have it, and one thing that is hidden
where it is a hole: what was observed at one factor tells about all others.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints

BY_CHANCE = 1e-3  # how likely it may be at most that individuals agree with themselves by chance


def is_steady(owners: Ints, tables: Ints, estimated: bool, with_holes: Ints) -> bool:
    """Whether individuals have one table each in a place, and that is no chance.

    owners, tables: of the known factors there, owners ascending, equal numbers for equal tables;
    estimated: whether records are behind them, which are the same behind one's equal tables.
    with_holes: owners of holes. Who has known factors and holes is told by the ones about the
    others, so that the place is not taken as steady.

    >>> twice = np.repeat(np.arange(8), 2)
    >>> is_steady(twice, twice % 4, False, np.array([8, 8]))
    True
    >>> is_steady(twice, twice % 4, False, np.array([7]))
    False
    """
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    own = np.repeat(tables[first], np.diff(first, append=len(owners)))
    again = len(owners) - len(first)
    if not again or (own != tables).any() or np.isin(with_holes, owners).any():
        return False
    if estimated:
        return True
    often = np.unique(tables[first], return_counts=True)[1]
    equal = float(((often / often.sum()) ** 2).sum())
    return bool(again * np.log(equal) < np.log(BY_CHANCE))
