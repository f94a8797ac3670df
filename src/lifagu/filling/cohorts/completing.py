"""A graph completed by cohorts: with the likeliest tables, or with those to be expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.filling.cohorts.draft import GraphDraft
from lifagu.filling.cohorts.joint_model import JointModel, joint_model
from lifagu.filling.cohorts.offering import likeliest_behind, most_probable
from lifagu.filling.cohorts.posterior import CohortPosterior
from lifagu.filling.cohorts.reasons import CohortReasons
from lifagu.filling.donors import TRANSFERRED, best
from lifagu.filling.record import Record
from lifagu.filling.result import Transfer
from lifagu.graph.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False, repr=False)
class CohortTransfer(Transfer):
    """A transfer by cohorts: every hole has a probability for each table.

    The last offers are those of cohorts; others before it are to holes whose candidates all agree.

    Attributes
    ----------
    posterior : CohortPosterior
        Who belongs to which cohort, and what follows for every hole.
    """

    posterior: CohortPosterior

    @property
    def way(self) -> str:
        """How competing tables are used in answers, as in `Filling.combine`."""
        return self.filling.combine

    def way_of(self, unit: str) -> str:
        """The same for holes of which this was compared: where all agree, they have one table.

        Parameters
        ----------
        unit : {"factor", "individual", "cohort"}
            As in records.

        Returns
        -------
        str
        """
        return self.way if unit == "cohort" else "best"

    def draft(self) -> GraphDraft:
        """A graph in the making, in which holes whose candidates all agree have their table."""
        draft = GraphDraft(self.original, self.posterior.places.keys)
        for offers in self.offers[:-1]:
            places, donors = self._loans(offers, best(offers))
            draft.numbers[offers.receivers[places]] = self.original.factor_table[donors]
            self._lend(offers, places, donors, draft.arguments)
        return draft

    @cached_property
    def filled(self) -> tuple[Ints, ...]:
        """The holes of each place that get a table, by their number in the place."""
        return tuple(
            np.flatnonzero(np.isin(holes.place.holes, self.transferred))
            for holes in self.posterior.holes
        )

    @cached_property
    def apart(self) -> tuple[Ints, ...]:
        """Of these the ones whose tables are apart, each hidden by itself in the joint model."""
        places = self.posterior.places.places
        return tuple(
            place.apart(filled)[0] for place, filled in zip(places, self.filled, strict=True)
        )

    @cached_property
    def cleaned(self) -> tuple[Ints, ...]:
        """The known factors of each place that are cleaned, by their number in the place."""
        supports, clean = self.original.support, not self.filling.keep_known
        return tuple(
            np.flatnonzero(supports.estimated[place.known])
            if clean and supports is not None and place.shown.estimated
            else np.zeros(0, dtype=np.int64)
            for place in self.posterior.places.places
        )

    @cached_property
    def graph(self) -> FactorGraph:
        """The graph with the likeliest tables, those behind estimates too."""
        draft = self.draft()
        for number, (holes, filled) in enumerate(
            zip(self.posterior.holes, self.filled, strict=True)
        ):
            self._give_best(draft, number, filled)
            if len(known := self.cleaned[number]):
                factors, of = holes.place.having(known)
                tables = likeliest_behind(self.posterior, number)[known[of]]
                draft.replace_known(holes.place, factors, tables)
        return draft.graph()

    def _give_best(self, draft: GraphDraft, number: int, filled: Ints) -> None:
        """Give holes of a place their most probable table, a donor's own where it is exact."""
        holes = self.posterior.holes[number]
        if not len(filled):
            return
        likeliest = most_probable(self.posterior, number)
        classes, factors = holes.class_of[filled], holes.place.holes[filled]
        lent = likeliest.donor[classes] >= 0
        donors = likeliest.donor[classes[lent]]
        draft.lend(factors[lent], donors)
        if not lent.all():
            first = draft.add(likeliest.tables)
            draft.give(holes.place, factors[~lent], first + likeliest.table[classes[~lent]])

    def averaged(self) -> FactorGraph:
        """The graph in which each hole has its mean table, and estimated tables are cleaned."""
        draft = self.draft()
        for number, (holes, filled) in enumerate(
            zip(self.posterior.holes, self.filled, strict=True)
        ):
            if len(filled):
                first = draft.add(self.posterior.expected(number))
                draft.give(holes.place, holes.place.holes[filled], first + holes.class_of[filled])
            self._clean(draft, number)
        return draft.graph()

    def _clean(self, draft: GraphDraft, number: int) -> None:
        """Give the estimated factors of a place the tables to be expected behind them."""
        if len(known := self.cleaned[number]):
            place = self.posterior.places.places[number]
            factors, of = place.having(known)
            draft.replace_known(place, factors, self.posterior.cleaned(number)[known[of]])

    @cached_property
    def joint(self) -> JointModel:
        """The joint model of cohorts, tables and variables."""
        return joint_model(self.posterior, self.draft(), self.filled, self.cleaned)

    # ---- what competes

    @property
    def by_cohorts(self) -> Ints:
        """The factors that cohorts filled."""
        return self.offers[-1].receivers

    @property
    def is_open(self) -> bool:
        """Whether some hole may take one of several tables, or takes an estimate."""
        return bool((self.shares[self.statuses == TRANSFERRED] < 1).any())

    # ---- reasons

    @cached_property
    def reasons(self) -> CohortReasons:
        """Why holes are filled as they are, in words."""
        return CohortReasons(self.original, self.posterior)

    def _record(self, number: int) -> Record:
        record = super()._record(number)
        if record.unit != "cohort":
            return record
        return self.reasons.added(record, int(self.original.unknown[number]))
