"""What is around some variables: the graph two steps wide, only a part of what hubs lead to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints, owners
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import taken

MOST_CENTRES = 12  # variables in the middle
MOST_BESIDE = 6  # factors of one variable, unless it is opened
MOST_OPENED = 40  # of one that is


@dataclass(frozen=True, eq=False)
class Near:
    """A part of a graph.

    variables: their numbers in the whole graph, ascending; hidden: how many factors of each are
    left out; central: whether each is in the middle.
    """

    part: FactorGraph
    variables: Ints
    hidden: Ints
    central: list[bool]


def surroundings(graph: FactorGraph, centres: Ints, opened: Ints) -> Near:
    """The factors of the variables in the middle and of opened ones, and all their arguments."""
    centres = centres[:MOST_CENTRES]
    factors = _beside(graph, centres, opened)
    arguments = graph.arguments[np.isin(owners(graph.offsets), factors)]
    variables = np.unique(np.concatenate((centres, opened, arguments)))
    part, _ = taken(graph, variables, factors)
    shown = np.bincount(part.arguments, minlength=len(variables))
    hidden = graph.degrees[variables] - shown
    return Near(part, variables, hidden, np.isin(variables, centres).tolist())


def _beside(graph: FactorGraph, centres: Ints, opened: Ints) -> Ints:
    """The factors of these variables, only the first ones of each that has many."""
    every = np.unique(np.concatenate((centres, opened)))
    entries = np.flatnonzero(np.isin(graph.arguments, every))
    factors, variables = owners(graph.offsets)[entries], graph.arguments[entries]
    kept = [
        factors[variables == each][: MOST_OPENED if each in opened else MOST_BESIDE]
        for each in every.tolist()
    ]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))
