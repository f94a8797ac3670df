"""Completions: a graph with holes, who could fill them, and every way to complete it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, frozen
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.alignment import alignments, lend
from lifagu.filling.donors import TRANSFERRED, Offers, best, verdicts
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables
from lifagu.likeness.merging import equal_up_to_scale
from lifagu.likeness.tolerance_bound import Bound, Drift


@dataclass(frozen=True, eq=False, repr=False)
class Completions(Frozen):
    """A graph, who could lend to its unknown factors, and the graphs that come of it.

    The attributes are those of `Transfer`, which adds the reasons.
    """

    original: FactorGraph
    filling: Filling
    offers: tuple[Offers, ...]
    signatures: Ints
    owners: Ints
    equality: str
    merging: Drift | None

    @property
    def theta(self) -> float:
        """The share of candidates that had to agree."""
        return float(self.filling.theta or 0.0)

    @property
    def way(self) -> str:
        """How competing tables are used in answers: without cohorts each hole has its best one."""
        return "best"

    def way_of(self, unit: str) -> str:
        """The same for holes of which this was compared.

        Parameters
        ----------
        unit : {"factor", "individual", "cohort"}
            As in records.

        Returns
        -------
        str
        """
        return self.way

    def answering(self, way: str) -> Self:
        """The same for answers that use competing tables in another way; reasons say so.

        Parameters
        ----------
        way : {"average", "best"}
            As in `Filling.combine`.

        Returns
        -------
        Transfer
        """
        if way == self.filling.combine:
            return self
        return replace(self, filling=replace(self.filling, combine=way))

    # ---- completing

    @property
    def shown(self) -> FactorGraph:
        """The completed graph with its holes, as figures and groups show it."""
        return self.original

    @cached_property
    def graph(self) -> FactorGraph:
        """The graph with the winning tables filled in."""
        numbers, arguments = self.original.factor_table.copy(), self.original.arguments.copy()
        for offers in self.offers:
            places, donors = self._loans(offers, best(offers))
            numbers[offers.receivers[places]] = self.original.factor_table[donors]
            self._lend(offers, places, donors, arguments)
        tables = self.original.tables
        given = GivenTables(tables.values, tables.offsets)
        return self.original.refilled(given, numbers, arguments)

    def _loans(self, offers: Offers, choice: Ints) -> tuple[Ints, Ints]:
        """Receivers (places in the offers) that get a table by these choices, and their donors."""
        places = np.flatnonzero((verdicts(offers, self.theta) == TRANSFERRED)[offers.class_of])
        return places, offers.donors_of(places, choice)

    def _lend(self, offers: Offers, places: Ints, donors: Ints, arguments: Ints) -> None:
        receivers, positional = offers.receivers[places], self.filling.to_the_letter
        lend(self.original, offers.keys, receivers, donors, arguments, positional=positional)

    # ---- how far merging can move answers

    @cached_property
    def drift(self) -> Drift | None:
        """How far each factor of the completed graph moved by merging; None without merging.

        Filled factors are compared to any table that became their donor's.
        """
        if self.merging is None:
            return None
        lowest, highest = self.merging.lowest.copy(), self.merging.highest.copy()
        numbers = self.original.factor_table
        known = np.flatnonzero(numbers >= 0)
        low, high = np.zeros(len(self.original.tables)), np.zeros(len(self.original.tables))
        np.minimum.at(low, numbers[known], lowest[known])
        np.maximum.at(high, numbers[known], highest[known])
        for offers in self.offers:
            places, donors = self._loans(offers, best(offers))
            lowest[offers.receivers[places]] = low[numbers[donors]]
            highest[offers.receivers[places]] = high[numbers[donors]]
        return Drift(frozen(lowest), frozen(highest))

    def bound(self, evidence: EvidenceLike = None) -> Bound | None:
        """How far answers about the completed graph can be off by merging.

        Parameters
        ----------
        evidence : mapping or Evidence, optional
            What was observed.

        Returns
        -------
        Bound or None
            None where tables were not merged.
        """
        return None if self.drift is None else self.drift.bound(self.original, evidence)

    # ---- what competes

    @property
    def is_open(self) -> bool:
        """Whether several tables compete for something that is filled."""
        return any(
            bool(((verdicts(each, self.theta) == TRANSFERRED) & (each.alternatives > 1)).any())
            for each in self.offers
        )

    # ---- what came of it

    @cached_property
    def statuses(self) -> Ints:
        """For each unknown factor in input order its status, as a place in STATUSES."""
        status = np.full(len(self.original.factor_names), -1, dtype=np.int64)
        for offers in self.offers:
            status[offers.receivers] = verdicts(offers, self.theta)[offers.class_of]
        return frozen(status[self.original.unknown])

    @cached_property
    def shares(self) -> Floats:
        """For each unknown factor the share of candidates that agree; nan without candidates."""
        shares = np.full(len(self.original.factor_names), np.nan)
        for offers in self.offers:
            shares[offers.receivers] = offers.share[offers.class_of]
        return frozen(shares[self.original.unknown])

    @cached_property
    def settled_posteriors(self) -> Floats:
        """For each unknown factor how likely its table is whatever is observed, as its share says.

        So it is where candidates all agree and answers sum over tables elsewhere; nan otherwise.
        """
        known = np.full(len(self.original.factor_names), np.nan)
        if self.filling.combine == "average":
            for offers in self.offers:
                if offers.unit != "cohort":
                    known[offers.receivers] = offers.share[offers.class_of]
        filled = self.statuses == TRANSFERRED
        return frozen(np.where(filled, known[self.original.unknown], np.nan))

    @cached_property
    def guesses(self) -> NDArray[np.bool_]:
        """Which unknown factors got a table, but the best one is hardly better than a guess."""
        found = np.zeros(len(self.original.factor_names), dtype=np.bool_)
        for offers in self.offers:
            found[offers.receivers] = offers.guess[offers.class_of]
        return frozen(found[self.original.unknown] & (self.statuses == TRANSFERRED))

    def agreement(self, place: int) -> tuple[int, int]:
        """How many agree on the best table, and of how many candidates.

        Parameters
        ----------
        place : int
            Of the unknown factor among all of these.

        Returns
        -------
        tuple of int
        """
        factor = self.original.unknown[place]
        for offers in self.offers:
            if len(found := np.flatnonzero(offers.receivers == factor)):
                kind = offers.class_of[found[0]]
                return int(offers.best_support[kind]), int(offers.candidates[kind])
        return 0, 0

    @property
    def unknown(self) -> Ints:
        """The factors that came without a table, ascending."""
        return self.original.unknown

    @property
    def transferred(self) -> Ints:
        """The factors that got a table, ascending."""
        factors: Ints = self.original.unknown[self.statuses == TRANSFERRED]
        return factors

    @property
    def by_cohorts(self) -> Ints:
        """The factors that cohorts filled."""
        return np.zeros(0, dtype=np.int64)

    @property
    def counts(self) -> tuple[int, int]:
        """How many factors came without a table, and how many of them got one."""
        return len(self.unknown), len(self.transferred)

    def loans(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Per arity and way of lending: receivers, donors, and where each donor position is."""
        for offers in self.offers:
            places, donors = self._loans(offers, best(offers))
            receivers = offers.receivers[places]
            for chosen, alignment in alignments(
                self.original, offers.keys, receivers, donors, positional=self.filling.to_the_letter
            ):
                yield receivers[chosen], donors[chosen], alignment

    # ---- where colour passing starts

    @cached_property
    def factor_start(self) -> Ints:
        """Start colours on the completed graph: its tables, and classes for what stays unknown."""
        numbers, tables = self.graph.factor_table, self.graph.tables
        equal = equal_up_to_scale(tables) if self.filling.up_to_scale else np.arange(len(tables))
        known = equal[numbers] if len(tables) else numbers
        return frozen(np.where(numbers >= 0, known, len(tables) + self.signatures))

    @property
    def start(self) -> dict[str, Any]:
        """How colour passing starts on the completed graph, as settings of `colour`."""
        scale, commutes = self.filling.up_to_scale, self.filling.commutative
        return {"factor_start": self.factor_start, "commutative": commutes, "up_to_scale": scale}
