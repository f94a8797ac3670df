"""What hidden variables are called: ``class of eve`` for her cohort, ``table of f1.eve``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import overload

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.names import JoinedNames, Names
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices
from lifagu.filling.cohorts.places import PlacesOfIndividuals
from lifagu.filling.individuals import factor_owners
from lifagu.graph.factor_graph import FactorGraph


class HiddenNames(Names):
    """Names of hidden variables, made on demand.

    factors: the names of factors. cohorts: whose each cohort is, None for an individual that was
    not declared. one: for each cohort the first factor of that individual, then for each table its
    factor. before: what each name begins with.
    """

    def __init__(
        self, factors: Names, cohorts: Sequence[str | None], one: Ints, before: str
    ) -> None:
        self.sort = "variable"
        self._factors, self._cohorts, self._one, self._before = factors, cohorts, one, before

    def __len__(self) -> int:
        return len(self._one)

    @overload
    def __getitem__(self, node: int) -> str: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[str]: ...
    def __getitem__(self, node: int | slice) -> str | Sequence[str]:
        number = range(len(self))[node]
        return self._name(number) if isinstance(number, int) else list(map(self._name, number))

    def _name(self, number: int) -> str:
        factor = self._factors[int(self._one[number])]
        if number >= len(self._cohorts):
            return f"{self._before}table of {factor}"
        return f"{self._before}class of {self._cohorts[number] or f'the owner of {factor}'}"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self)}

    def find(self, name: str) -> int | None:
        """Return the number of the node with this name, or None."""
        return self._numbers.get(name)

    def find_each(self, names: Sequence[str]) -> Ints:
        """The numbers of the nodes with these names, -1 where there is none."""
        found = (self.find(name) for name in names)
        return np.array([-1 if each is None else each for each in found], dtype=np.int64)

    def with_parentheses(self) -> Sequence[int]:
        """No numbers: a parenthesis here is not that of a relation."""
        return ()

    def heads(self) -> Counter[str]:
        """Nothing, for the same reason."""
        return Counter()


def with_hidden_names(
    graph: FactorGraph, places: PlacesOfIndividuals, hidden: Sequence[HiddenChoices]
) -> Names:
    """The names of a graph's variables, then those of cohorts, the first in hidden, and tables."""
    first = np.full(places.count, -1, dtype=np.int64)
    first[places.owners[::-1]] = np.arange(len(places.owners))[::-1]
    own = first[hidden[0].who]
    declared = factor_owners(graph)[own] if places.declared else np.full(len(own), -1)
    cohorts = [graph.individuals[each] if each >= 0 else None for each in declared.tolist()]
    one = np.concatenate((own, *(each.who for each in hidden[1:])))
    before = ""
    while True:
        names = HiddenNames(graph.factor_names, cohorts, one, before)
        if (graph.variable_names.find_each(names[:]) < 0).all():
            return JoinedNames(graph.variable_names, names)
        before += "hidden "
