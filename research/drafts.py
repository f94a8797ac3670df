"""Drafts: ground truths as plain lists, for graphs with some tables removed or replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import lifagu
from research.harness import Floats

FilledTables = Mapping[int, Floats | None]
BOOLEAN = ("false", "true")


class DraftVariable(NamedTuple):
    """A variable and the background knowledge about it."""

    name: str
    labels: tuple[str, ...] = BOOLEAN
    kind: str | None = None
    individual: str | None = None


class DraftFactor(NamedTuple):
    """A factor with its table, one axis per argument."""

    name: str
    arguments: tuple[str, ...]
    table: Floats


@dataclass(frozen=True, eq=False)
class TruthDraft:
    """A graph whose tables are all known, as lists of variables and factors."""

    variables: tuple[DraftVariable, ...]
    factors: tuple[DraftFactor, ...]

    def graph(
        self, tables: FilledTables | None = None, *, individuals: bool = True
    ) -> lifagu.FactorGraph:
        """The graph, with other tables (None: unknown) for some factors, by place.

        >>> factors = (DraftFactor("f", ("A",), np.array([1.0, 3.0])),)
        >>> draft = TruthDraft((DraftVariable("A"),), factors)
        >>> draft.graph({0: None})
        <FactorGraph: 1 variable, 1 factor (1 unknown), 0 distinct tables>
        """
        tables = {} if tables is None else tables
        builder = lifagu.FactorGraph.build()
        for name, labels, kind, individual in self.variables:
            owners = (individual,) if individual is not None and individuals else ()
            builder.variable(name, labels, kind=kind, individual=owners)
        for place, (name, arguments, table) in enumerate(self.factors):
            builder.factor(name, arguments, tables.get(place, table))
        return builder.graph()

    def without(self, hidden: Iterable[int], *, individuals: bool = True) -> lifagu.FactorGraph:
        """The graph in which the tables of these factors are unknown."""
        return self.graph(dict.fromkeys(hidden), individuals=individuals)

    def signatures(self) -> list[tuple[tuple[tuple[str, ...], int], ...]]:
        """The paper's symmetric 2-step neighbourhoods: sorted (range, degree) of the arguments.

        Two factors, one of which is unknown, are possibly identical iff theirs are equal (no
        evidence).
        """
        degrees = Counter(argument for factor in self.factors for argument in factor.arguments)
        labels = {variable.name: tuple(sorted(variable.labels)) for variable in self.variables}
        return [
            tuple(sorted((labels[each], degrees[each]) for each in factor.arguments))
            for factor in self.factors
        ]
