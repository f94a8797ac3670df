"""A graph completed by cohorts: the likeliest tables, their mean, one cohort's, or drawn ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows, members
from lifagu.filling.alignment import aligned_rows, lend
from lifagu.filling.cohorts.offering import most_probable
from lifagu.filling.cohorts.places import CohortPlace
from lifagu.filling.cohorts.posterior import LIKELY, CohortPosterior
from lifagu.filling.cohorts.reasons import CohortReasons
from lifagu.filling.completions import OpenClass
from lifagu.filling.record import Record
from lifagu.filling.result import Transfer
from lifagu.graph.factor_graph import FactorGraph


class _Draft:
    """A graph in the making: numbers of tables, the arguments, and tables to be added."""

    def __init__(self, moved: CohortTransfer) -> None:
        self._moved, graph = moved, moved.original
        self.numbers, self.arguments = graph.factor_table.copy(), graph.arguments.copy()
        self._count, self._more = len(graph.tables), list[Floats]()

    def add(self, rows: Floats) -> int:
        """Add tables, (k, size); the number of the first of them."""
        first = self._count
        self._count += len(rows)
        self._more += list(rows)
        return first

    def give(self, place: CohortPlace, holes: Ints, numbers: Ints) -> None:
        """Give holes of a place tables whose axes are in the place's order."""
        self.numbers[holes] = numbers
        lend(
            self._moved.original,
            self._moved.posterior.places.keys,
            holes,
            np.full(len(holes), place.first),
            self.arguments,
        )

    def graph(self) -> FactorGraph:
        """The completed graph."""
        given = self._moved._given(self._more)
        return self._moved.original.refilled(given, self.numbers, self.arguments)


@dataclass(frozen=True, eq=False, repr=False)
class CohortTransfer(Transfer):
    """A transfer by cohorts: every hole has a probability for each table.

    Attributes
    ----------
    posterior : CohortPosterior
        Who belongs to which cohort, and what follows for every hole.
    """

    posterior: CohortPosterior

    @cached_property
    def _filled(self) -> tuple[Ints, ...]:
        """The holes of each place that get a table, by their number in the place."""
        return tuple(
            np.flatnonzero(np.isin(holes.place.holes, self.transferred))
            for holes in self.posterior.holes
        )

    def completed(self, choices: Iterable[tuple[OpenClass, int]]) -> FactorGraph:
        """The graph with the likeliest tables, but for some individuals with those of a cohort.

        Parameters
        ----------
        choices : iterable of (OpenClass, int)
            Individuals with holes, and the cohort of each.

        Returns
        -------
        FactorGraph
        """
        chosen = {individual.number: cohort for individual, cohort in choices}
        cohort_of = np.full(self.posterior.places.count, -1, dtype=np.int64)
        cohort_of[list(chosen)] = list(chosen.values())
        draft = _Draft(self)
        for number, (holes, filled) in enumerate(
            zip(self.posterior.holes, self._filled, strict=True)
        ):
            cohort = cohort_of[holes.place.owner_of_hole[filled]]
            some = cohort >= 0
            if some.any():
                tables, row = self.posterior.in_cohorts(number, filled[some], cohort[some])
                first = draft.add(tables)
                draft.give(holes.place, holes.place.holes[filled[some]], first + row)
            self._give_best(draft, number, filled[~some])
            if self.way == "mixture":
                self._clean(draft, number)
        return draft.graph()

    def _give_best(self, draft: _Draft, number: int, filled: Ints) -> None:
        """Give holes of a place their most probable table, a donor's own where it is exact."""
        holes = self.posterior.holes[number]
        if not len(filled):
            return
        best = most_probable(self.posterior, number)
        classes, factors = holes.class_of[filled], holes.place.holes[filled]
        lent = best.donor[classes] >= 0
        donors = best.donor[classes[lent]]
        draft.numbers[factors[lent]] = self.original.factor_table[donors]
        lend(self.original, self.posterior.places.keys, factors[lent], donors, draft.arguments)
        if not lent.all():
            first = draft.add(best.tables)
            draft.give(holes.place, factors[~lent], first + best.table[classes[~lent]])

    def averaged(self) -> FactorGraph:
        """The graph in which each hole has its mean table, and estimated tables are cleaned."""
        draft = _Draft(self)
        for number, (holes, filled) in enumerate(
            zip(self.posterior.holes, self._filled, strict=True)
        ):
            if len(filled):
                first = draft.add(self.posterior.expected(number))
                draft.give(holes.place, holes.place.holes[filled], first + holes.class_of[filled])
            self._clean(draft, number)
        return draft.graph()

    def _clean(self, draft: _Draft, number: int) -> None:
        """Give the estimated factors of a place the tables to be expected behind them."""
        place = self.posterior.holes[number].place
        if place.shown.estimated and not self.filling.keep_known:
            self._replace_known(draft, place, self.posterior.cleaned(number))

    def drawn(self, rng: np.random.Generator) -> FactorGraph:
        """A completed graph, everything that is not sure drawn from what is known about it.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        FactorGraph
        """
        draft = _Draft(self)
        clean = not self.filling.keep_known
        drawn = self.posterior.drawn(rng, clean)
        for holes, filled, (own, known) in zip(
            self.posterior.holes, self._filled, drawn, strict=True
        ):
            if len(filled):
                first = draft.add(own[filled])
                numbers = first + np.arange(len(filled))
                draft.give(holes.place, holes.place.holes[filled], numbers)
            if holes.place.shown.estimated and clean:
                self._replace_known(draft, holes.place, known)
        return draft.graph()

    def _replace_known(self, draft: _Draft, place: CohortPlace, rows: Floats) -> None:
        """Give the estimated factors of a place other tables, rows in the place's axis order."""
        supports = self.original.support
        if supports is None:
            return
        which = np.flatnonzero(supports.estimated[place.known])
        factors = place.known[which]
        keys = self.posterior.places.keys
        own = aligned_rows(self.original, keys, factors, place.first, rows[which], back=True)
        first = draft.add(own)
        draft.numbers[factors] = first + np.arange(len(factors))

    # ---- what competes

    @cached_property
    def open_classes(self) -> list[OpenClass]:
        """Individuals with holes that may belong to several cohorts, and how likely each is."""
        owners, holes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for each, filled in zip(self.posterior.holes, self._filled, strict=True):
            owners.append(each.place.owner_of_hole[filled])
            holes.append(each.place.holes[filled])
        owner, hole = np.concatenate(owners), np.concatenate(holes)
        return list(self._open(owner, hole))

    def _open(self, owner: Ints, hole: Ints) -> Iterator[OpenClass]:
        if not len(owner):
            return
        for group in members(group_rows(owner[:, None])):
            individual = int(owner[group[0]])
            shares = self.posterior.shares(int(self.posterior.kind_of[individual]))
            order = np.argsort(-shares, kind="stable")
            likely = order[: int(np.searchsorted(np.cumsum(shares[order]), 1 - LIKELY)) + 1]
            if len(likely) > 1:
                kept = shares[likely] / shares[likely].sum()
                yield OpenClass(0, individual, np.sort(hole[group]), likely, kept)

    # ---- reasons

    @cached_property
    def reasons(self) -> CohortReasons:
        """Why holes are filled as they are, in words."""
        return CohortReasons(self.original, self.posterior)

    def _record(self, number: int) -> Record:
        return self.reasons.added(super()._record(number), int(self.original.unknown[number]))
