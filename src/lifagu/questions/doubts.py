"""Which filled tables are hardly better than a guess: a line for each kind of factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import by_first_occurrence, members
from lifagu.filling.chance import GUESS
from lifagu.filling.individuals import factor_owners, variable_owners
from lifagu.filling.record import Record
from lifagu.filling.result import Transfer
from lifagu.questions.transfer_summary import factor_sorts

MOST_TRIED = 100  # filled factors that are looked at, to find some with different reasons


@dataclass(frozen=True)
class Doubt:
    """Factors of one kind that took a table which is hardly better than a guess.

    factors: the kind, such as ``fail(Fails)``; count: how many of all that were filled of this
    kind; first: the one for which the smallest share agrees, and of how many candidates how many.
    """

    factors: str
    count: int
    filled: int
    first: str
    agreeing: int
    candidates: int

    def __str__(self) -> str:
        if self.filled == 1:
            return f"{self.first}: {self.agreeing} of {self.candidates} agree: {GUESS}"
        some = (
            f"all {self.count}" if self.count == self.filled else f"{self.count} of {self.filled}"
        )
        verb = "is" if self.count == 1 else "are"
        weakest = f"for {self.first} {self.agreeing} of {self.candidates} agree"
        return f"{self.factors}: {some} filled tables {verb} {GUESS} ({weakest})"


def doubts(moved: Transfer) -> tuple[Doubt, ...]:
    """What is to be doubted in a transfer whose winning tables are used; else nothing.

    >>> from lifagu.filling.transfer import transfer
    >>> from lifagu.graph.factor_graph import FactorGraph
    >>> builder = FactorGraph.build().variables(list("ABCDEF")).factor("fF", ["F"], None)
    >>> for number, each in enumerate("ABCDE"):
    ...     builder = builder.factor(f"f{each}", [each], [1, number])
    >>> print(*doubts(transfer(builder.graph())))
    fF: 1 of 5 agree: hardly better than a guess
    """
    if moved.way != "best" or not moved.guesses.any():
        return ()
    places = np.searchsorted(moved.unknown, moved.transferred)
    sorts, titles = factor_sorts(moved.original, moved.transferred)
    filled, names = np.bincount(sorts), moved.original.factor_names
    guessed = np.flatnonzero(moved.guesses[places])
    found = []
    for group in members(by_first_occurrence(sorts[guessed])):
        here = guessed[group]
        kind = int(sorts[here[0]])
        weakest = int(places[here[np.argmin(moved.shares[places[here]])]])
        first = names[int(moved.unknown[weakest])]
        counts = moved.agreement(weakest)
        found.append(Doubt(titles[kind], len(here), int(filled[kind]), first, *counts))
    return tuple(found)


def weakest_behind(
    moved: Transfer, variables: Sequence[str], factors: Sequence[str], most: int
) -> list[Record]:
    """The records of the weakest of some filled factors, each reason once, at most so many.

    Factors of the individuals that variables are about come first; where all agree, there is
    nothing to tell.
    """
    graph = moved.original
    numbers = np.unique([graph.factor_names.number(name) for name in factors]).astype(np.int64)
    asked = np.array([graph.variable_names.number(name) for name in variables], dtype=np.int64)
    owners = variable_owners(graph)[asked]
    own = np.isin(factor_owners(graph)[numbers], owners[owners >= 0])
    places = np.searchsorted(moved.unknown, numbers)
    order = places[np.lexsort((moved.shares[places], ~own))]
    told: dict[str, Record] = {}
    for place in order[moved.shares[order] < 1][:MOST_TRIED].tolist():
        record = moved.record[place]
        told.setdefault(record.reason, record)
    return list(told.values())[:most]
