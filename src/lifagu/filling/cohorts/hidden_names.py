"""What hidden variables are called in plans and refusals: whose cohort, which factor's table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import overload

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.names import Names
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices
from lifagu.filling.cohorts.places import PlacesOfIndividuals
from lifagu.filling.individuals import factor_owners
from lifagu.graph.factor_graph import FactorGraph


class HiddenNames(Names):
    """Names of hidden variables, made on demand; nobody can ask for or observe them by these.

    owners: for each cohort whose it is, None for an individual that was not declared. one: for each
    cohort the first factor of that individual, then for each table its factor; factors: their
    names.
    """

    def __init__(self, factors: Names, owners: Sequence[str | None], one: Ints) -> None:
        self.sort = "variable"
        self._factors, self._owners, self._one = factors, owners, one

    @classmethod
    def of(
        cls, graph: FactorGraph, places: PlacesOfIndividuals, hidden: Sequence[HiddenChoices]
    ) -> HiddenNames:
        """The names of cohorts, which come first in hidden, and of tables."""
        cohorts = hidden[0].who
        first = np.full(places.count, -1, dtype=np.int64)
        first[places.owners[::-1]] = np.arange(len(places.owners))[::-1]
        own = first[cohorts]
        declared = factor_owners(graph)[own] if places.declared else np.full(len(own), -1)
        owners = [graph.individuals[each] if each >= 0 else None for each in declared.tolist()]
        return cls(graph.factor_names, owners, np.concatenate((own, *(h.who for h in hidden[1:]))))

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
        if number >= len(self._owners):
            return f"the table of {factor}"
        return f"the cohort of {self._owners[number] or f'the owner of {factor}'}"

    def find(self, name: str) -> int | None:
        """None, whatever the name."""
        return None

    def find_each(self, names: Sequence[str]) -> Ints:
        """No numbers, -1 for each name."""
        return np.full(len(names), -1, dtype=np.int64)

    def with_parentheses(self) -> Sequence[int]:
        """No numbers: a parenthesis here is not that of a relation."""
        return ()

    def heads(self) -> Counter[str]:
        """Nothing, for the same reason."""
        return Counter()
