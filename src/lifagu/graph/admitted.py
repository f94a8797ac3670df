"""A graph with individuals that were admitted to it, and whose nodes are whose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.frozen import Frozen
from lifagu.graph.copies import Pairs, with_copies
from lifagu.graph.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class Admitted(Frozen):
    """A graph with those who were admitted, whose nodes come after all others.

    names: who was admitted. models: the different ones of the graph that they are like; like: which
    of these each of them is like.
    Number i has the variables first_variable[i] … first_variable[i+1]-1, and factors likewise, in
    the order of those they were copied from.
    """

    graph: FactorGraph
    names: tuple[str, ...]
    models: tuple[str, ...]
    like: Ints
    first_variable: Ints
    first_factor: Ints

    def __len__(self) -> int:
        return len(self.names)

    @property
    def variable_count(self) -> int:
        """How many variables there were before."""
        return int(self.first_variable[0])

    @property
    def factor_count(self) -> int:
        """How many factors there were before."""
        return int(self.first_factor[0])

    @property
    def examples(self) -> list[tuple[str, str]]:
        """The first of those who are like the same one, and whom they are like."""
        firsts = np.unique(self.like, return_index=True)[1].tolist()
        return [
            (self.names[first], model) for first, model in zip(firsts, self.models, strict=True)
        ]

    def owner_of(self, variables: Ints) -> Ints:
        """Whose some variables are, -1 for those that were there before."""
        return np.asarray(np.searchsorted(self.first_variable, variables, side="right") - 1)


def admitted(graph: FactorGraph, pairs: Pairs) -> Admitted:
    """A graph with new individuals, each like one of the graph, or like a new one before it.

    Parameters
    ----------
    graph : FactorGraph
        The graph.
    pairs : sequence of (str, str)
        Who is new, and whom they are like.

    Returns
    -------
    Admitted
    """
    whole, copied = with_copies(graph, pairs)
    names = tuple(name for name, _ in pairs)
    models = tuple(graph.individuals[number] for number in copied.models)
    return Admitted(whole, names, models, *copied[1:])
