"""Answers by posterior: cohorts and tables summed out, and how likely tables are after evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import lifagu
from lifagu.basics.arrays import Ints, offsets_of, owners
from lifagu.experiments.drafts import Floats
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.offering import certainty
from lifagu.filling.cohorts.place_evidence import TableTokens
from lifagu.graph.tables import GivenTables
from lifagu.inference.marginals import AllMarginals, prepare_marginals
from lifagu.questions.posterior_model import posterior_graph, posterior_model


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
        moved = self._moved
        stated = np.where(np.isin(moved.unknown, moved.transferred), moved.shares, np.nan)
        if isinstance(moved, CohortTransfer):
            for factors, likely in self._by_place(moved):
                stated[np.searchsorted(moved.unknown, factors)] = likely
        return stated

    def _by_place(self, moved: CohortTransfer) -> Iterator[tuple[Ints, Floats]]:
        """Some unknown factors, and how likely the table is that each shows."""
        joint = posterior_model(moved)
        first, tables = joint.first_variable + len(joint.cohorts), joint.tables
        marginals = self._found.solution.marginals
        likely = np.exp(marginals.in_a_row(first + np.arange(len(tables)), tables.offsets))
        start = 0
        for number, filled in enumerate(moved.apart):
            end = start + len(filled)
            if len(filled):
                here = slice(int(tables.offsets[start]), int(tables.offsets[end]))
                of = tables.owners[here] - start
                competing, certain = _competing(moved, number, tables.choices[here])
                shown = _largest(of, np.where(competing, tables.shares[here], -1.0))
                whole = np.bincount(of, np.where(competing, likely[here], 0.0))
                if _exact(moved, number):
                    whole = np.ones_like(whole)
                yield tables.who[start:end], certain * likely[here][shown] / whole
            start = end


def _exact(moved: CohortTransfer, number: int) -> bool:
    return isinstance(moved.posterior.places.places[number].shown.evidence, TableTokens)


def _competing(
    moved: CohortTransfer, number: int, choices: Ints
) -> tuple[NDArray[np.bool_], float]:
    """Which choices of a place are tables that holes show, and how sure it is that they are one.

    Exact tables that occur once stand for others of that sort; estimated ones are told apart within
    the cohorts that count most.
    """
    shown = moved.posterior.places.places[number].shown
    if isinstance(shown.evidence, TableTokens):
        return choices < shown.evidence.size - (len(shown.donors) > 1), 1.0
    here = moved.posterior.cohorts.found[0].places[number]
    return choices < len(here.atoms), certainty(here)


def _largest(groups: Ints, values: Floats) -> Ints:
    """The place of the first largest value of each group, groups in ascending order."""
    order = np.lexsort((-values, groups))
    return order[np.flatnonzero(np.diff(groups[order], prepend=-1))]


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
