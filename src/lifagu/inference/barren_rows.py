"""Variables that cannot matter, found for many rows at once: `barren` on arrays, where rows share
tables.

A row is a factor's arguments; rows with the same label share a table. Meant for graphs before
lifting: what is peeled here needs neither steps nor tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, distinct

Booleans = NDArray[np.bool_]
ROUNDS = 2000  # after so many rounds the rest of a long chain is left to elimination


@dataclass(frozen=True, eq=False)
class Peeled:
    """dropped[b][i]: row i of block b is gone; gone[v]: variable v was summed out; and the log of
    what that left.
    """

    dropped: tuple[Booleans, ...]
    gone: Booleans
    log_constant: float


def peel_rows(
    blocks: Sequence[tuple[Ints, Ints]], fixed: Booleans, constants: Callable[[Ints, int], Floats]
) -> Peeled:
    """Drop rows, round by round, in which a variable that is in no other row sums out to a
    constant.

    blocks: pairs of an n×k matrix of variables and n labels. fixed[v]: variable v is observed or
    asked for. constants(labels, slot): for tables the log of the sum over one slot where it is the
    same for all values of the others, else nan. Variables that end up in no row, but not gone, are
    free: each of their values weighs 1. Cost: linear in the rows that are dropped and in the
    rounds.

    >>> blocks = [(np.array([[0, 1], [1, 2]]), np.array([7, 7]))]
    >>> fixed = np.array([True, False, False])
    >>> peel_rows(blocks, fixed, lambda labels, slot: np.full(len(labels), 0.0 if slot else np.nan)).gone.tolist()
    [False, True, True]
    """
    rows = _Rows(blocks, len(fixed))
    gone = np.zeros(len(fixed), dtype=np.bool_)
    logs: list[float] = []
    waiting = np.flatnonzero(~fixed & (rows.degree == 1))
    for _ in range(ROUNDS):
        _, first = np.unique(rows.row[rows.place[waiting]], return_index=True)
        waiting = waiting[first]
        places = rows.place[waiting]
        found = np.full(len(waiting), np.nan)
        for slot in distinct(rows.slot[places]).tolist():
            there = np.flatnonzero(rows.slot[places] == slot)
            labels, kind = np.unique(rows.label[rows.row[places[there]]], return_inverse=True)
            found[there] = constants(labels, slot)[kind.reshape(-1)]
        peeled = ~np.isnan(found)
        logs.append(math.fsum(found[peeled]))
        gone[waiting[peeled]] = True
        touched = rows.drop(rows.row[places[peeled]])
        waiting = touched[~fixed[touched] & ~gone[touched] & (rows.degree[touched] == 1)]
        if not len(waiting):
            break
    stops = np.cumsum([len(labels) for _, labels in blocks])[:-1]
    return Peeled(tuple(np.split(rows.dropped, stops)[: len(blocks)]), gone, math.fsum(logs))


class _Rows:
    """Rows of all blocks in one: degree[v] counts the rows that are left on v, place[v] sums up
    where v is in them.
    """

    def __init__(self, blocks: Sequence[tuple[Ints, Ints]], count: int) -> None:
        empty = np.zeros(0, dtype=np.int64)
        arity = np.concatenate(
            [empty, *(np.full(len(labels), matrix.shape[1]) for matrix, labels in blocks)]
        )
        self.variable = np.concatenate([empty, *(matrix.reshape(-1) for matrix, _ in blocks)])
        self.label = np.concatenate([empty, *(labels for _, labels in blocks)])
        self.start = np.concatenate([[0], np.cumsum(arity)])
        self.row = np.repeat(np.arange(len(arity)), arity)
        self.slot = np.arange(len(self.variable)) - self.start[self.row]
        self.dropped = np.zeros(len(arity), dtype=np.bool_)
        self.degree = np.bincount(self.variable, minlength=count)
        self.place = np.zeros(count, dtype=np.int64)
        np.add.at(self.place, self.variable, np.arange(len(self.variable)))

    def drop(self, rows: Ints) -> Ints:
        """Take rows out; returns the variables that were in them."""
        self.dropped[rows] = True
        arity = self.start[rows + 1] - self.start[rows]
        places = np.repeat(self.start[rows] - np.cumsum(arity) + arity, arity) + np.arange(
            int(arity.sum())
        )
        variables = self.variable[places]
        np.subtract.at(self.degree, variables, 1)
        np.subtract.at(self.place, variables, places)
        return distinct(variables)
