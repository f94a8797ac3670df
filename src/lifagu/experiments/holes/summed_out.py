"""Answers by posterior: cohorts and tables summed out, and how likely tables are after evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

import lifagu
from lifagu.basics.arrays import offsets_of, owners
from lifagu.experiments.drafts import Floats
from lifagu.graph.tables import GivenTables
from lifagu.inference.marginals import AllMarginals, prepare_marginals
from lifagu.questions.posterior_model import posterior_graph
from lifagu.questions.table_posteriors import table_posteriors


class SummedOut:
    """A filled graph and what was observed: all marginals, and the tables that follow from it."""

    def __init__(self, moved: lifagu.Transfer, evidence: Mapping[str, str]) -> None:
        self._moved, self._evidence = moved, evidence

    @cached_property
    def _found(self) -> AllMarginals:
        graph = dropped(posterior_graph(self._moved))
        return prepare_marginals(graph, graph.evidence(self._evidence)).run()

    def marginals(self, names: Sequence[str]) -> list[Floats]:
        """P(variable | evidence), values in their declared order."""
        return [np.array(list(self._found[name].values())) for name in names]

    def stated(self) -> Floats:
        """For each unknown factor how likely the table is that it shows, given the evidence.

        That is the likeliest before any evidence, as in the record. nan where it has none.
        """
        return table_posteriors(self._moved, self._evidence)


def dropped(graph: lifagu.FactorGraph) -> lifagu.FactorGraph:
    """The graph in which factors that are unknown still say nothing."""
    if not len(graph.unknown):
        return graph
    of = owners(graph.offsets)
    lengths = np.exp(np.bincount(of, np.log(graph.sizes[graph.arguments])))[graph.unknown]
    lengths = np.rint(lengths).astype(np.int64)
    numbers, tables = graph.factor_table.copy(), graph.tables
    numbers[graph.unknown] = len(tables) + np.arange(len(lengths))
    values = np.concatenate((tables.values, np.ones(int(lengths.sum()))))
    ends = np.concatenate((np.diff(tables.offsets), lengths))
    return graph.refilled(GivenTables(values, offsets_of(ends)), numbers)
