"""Variables that cannot matter: summed out of their one table, they leave a constant.

In a Bayesian network these are the barren nodes (Shachter 1986), found here without knowing that it
is one: one after the other in lists (`find_barren`, and `peel` for outlines), which is quick for
parts; and round by round in arrays (`peel_rows`), which is quick for graphs before lifting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.inference.connected_part import AnyPart
from lifagu.inference.table import Table

Booleans = NDArray[np.bool_]

# relative difference of sums that are taken for equal: what adding up to a thousand numbers rounds
TOLERANCE = 1e-14
ROUNDS = 2000  # after so many rounds the rest of a long chain is left to elimination


class Barren(NamedTuple):
    """Variables and factors (by place in the part) to leave out, and the log of what they leave."""

    variables: tuple[int, ...]
    factors: frozenset[int]
    log_constant: float


def find_barren(part: AnyPart, asked: Collection[int]) -> Barren:
    """Peel variables that are not asked for as long as what each of them leaves is a constant.

    Variables with one value never matter. Cost: linear in the tables that are looked at.
    """
    stays = {variable for variable in asked if part.sizes[variable] > 1}
    tables = part.tables
    found = peel(
        part.variables,
        [table.ranks for table in tables],
        stays,
        lambda place, variable: constant_sum(tables[place], variable),
    )
    variables, factors, logs = [], set(), []
    for variable, place, log in found:
        variables.append(variable)
        if place is None:
            logs.append(math.log(part.sizes[variable]))
        else:
            factors.add(place)
            logs.append(log)
    return Barren(tuple(sorted(variables)), frozenset(factors), math.fsum(logs))


def peel(
    variables: Sequence[int],
    scopes: Sequence[Sequence[int]],
    stays: Collection[int],
    constant: Callable[[int, int], float | None],
) -> Iterator[tuple[int, int | None, float]]:
    """Variables that can go in turn, each with the place of the scope that goes with it, and a log.

    constant(place, variable): the log of the constant that summing out leaves, None if it is none.
    The place is None, and the log 0, for a variable that is in no scope.
    """
    holders: dict[int, set[int]] = {variable: set() for variable in variables}
    for place, scope in enumerate(scopes):
        for variable in scope:
            holders[variable].add(place)
    waiting = [variable for variable in reversed(variables) if len(holders[variable]) <= 1]
    while waiting:
        variable = waiting.pop()
        if variable not in holders or variable in stays or len(holders[variable]) > 1:
            continue
        if not holders[variable]:
            yield variable, None, 0.0
        else:
            (place,) = holders[variable]
            log = constant(place, variable)
            if log is None:
                continue
            yield variable, place, log
            for other in scopes[place]:
                holders[other].discard(place)
                if len(holders[other]) <= 1 and other != variable:
                    waiting.append(other)
        del holders[variable]


def constant_sum(table: Table, rank: int) -> float | None:
    """The log of the sum over one rank where it is the same for all values of others, else None."""
    if table.logs:
        return None
    sums = table.values.sum(axis=table.ranks.index(rank))
    highest, lowest = float(sums.max()), float(sums.min())
    return math.log(highest) if lowest > 0 and highest - lowest <= TOLERANCE * highest else None


class Peeled(NamedTuple):
    """dropped[b][i]: row i of block b is gone; gone[v]: v was summed out; the log it leaves."""

    dropped: tuple[Booleans, ...]
    gone: Booleans
    log_constant: float


def peel_rows(
    blocks: Sequence[tuple[Ints, Ints]], fixed: Booleans, constants: Callable[[Ints, int], Floats]
) -> Peeled:
    """Drop rows, round by round, in which a variable of no other row sums out to a constant.

    A row is a factor's arguments; rows with the same label share a table. blocks: pairs of an n×k
    matrix of variables and n labels. fixed[v]: variable v is observed or asked for.
    constants(labels, slot): for tables the log of the sum over one slot where it is the same for
    all values of the others, else nan. Variables that end up in no row, but not gone, are free:
    each of their values weighs 1. Cost: linear in the rows that are dropped and in the rounds.

    >>> blocks = [(np.array([[0, 1], [1, 2]]), np.array([7, 7]))]
    >>> fixed = np.array([True, False, False])
    >>> last = lambda labels, slot: np.full(len(labels), 0.0 if slot else np.nan)
    >>> peel_rows(blocks, fixed, last).gone.tolist()
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
    """All rows in one: degree[v] counts the rows left on v, place[v] sums up where v is in them."""

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
