"""The result of a transfer: the completed graph, why, and every other way to complete it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, first_places, frozen, group_rows, members
from lifagu.basics.choices import STATUSES
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.words import counted
from lifagu.filling.alignment import align_axes, alignments, lend, order_decided
from lifagu.filling.donors import Offers
from lifagu.filling.record import Competitor, Record
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import GivenTables
from lifagu.graph.views import View
from lifagu.likeness.merging import equal_up_to_scale
from lifagu.likeness.tolerance_bound import Bound, Drift

MOST_SHOWN = 20  # competing tables that a record lists
TRANSFERRED, BELOW, NO_CANDIDATE, ILL_TYPED = range(4)


class OpenClass(NamedTuple):
    """A class of unknown factors for which several tables compete, and the shares of these."""

    offers: int
    number: int
    factors: Ints
    alternatives: Ints
    shares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Transfer(Frozen, Shown):
    """A graph, and for each of its unknown factors what it takes from whom.

    Attributes
    ----------
    graph : FactorGraph
        The completed graph.
    record : sequence of Record
        Why, for each unknown factor in input order.
    original : FactorGraph
        The graph as it came, its tables merged if that was asked for.
    filling : Filling
        By which rules.
    offers : tuple of Offers
        Who could lend to whom.
    signatures : array of shape (factors,)
        The role signature of each factor.
    owners : array of shape (factors,)
        The individual that owns it; -1 for none, or where individuals were not considered.
    equality : str
        How tables were compared, in words.
    merging : Drift or None
        How far merging moved them.
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
        return float(self.filling.theta)

    # ---- completing

    @cached_property
    def graph(self) -> FactorGraph:
        """The graph with the winning tables filled in."""
        return self.completed(())

    def completed(self, choices: Iterable[tuple[OpenClass, int]]) -> FactorGraph:
        """The graph with the winning tables, but for some classes with another competing one.

        Parameters
        ----------
        choices : iterable of (OpenClass, int)
            Classes in which several tables compete, and which of these each takes.

        Returns
        -------
        FactorGraph
        """
        chosen = [_best(each) for each in self.offers]
        for open_class, alternative in choices:
            chosen[open_class.offers][open_class.number] = alternative
        numbers, arguments = self.original.factor_table.copy(), self.original.arguments.copy()
        for offers, choice in zip(self.offers, chosen, strict=True):
            places, donors = self._loans(offers, choice)
            numbers[offers.receivers[places]] = self.original.factor_table[donors]
            self._lend(offers, places, donors, arguments)
        return self.original.refilled(self._given(), numbers, arguments)

    def averaged(self) -> FactorGraph:
        """The graph in which each class has the share-weighted mean of its competing tables."""
        numbers, arguments = self.original.factor_table.copy(), self.original.arguments.copy()
        means: list[Floats] = []
        for offers in self.offers:
            places, donors = self._loans(offers, _best(offers))
            alike = group_rows(np.column_stack((offers.class_of[places], offers.slot[places])))
            numbers[offers.receivers[places]] = len(self.original.tables) + len(means) + alike
            means += [
                self._mean(offers, int(places[first])) for first in first_places(alike).tolist()
            ]
            self._lend(offers, places, donors, arguments)
        return self.original.refilled(self._given(means), numbers, arguments)

    def _loans(self, offers: Offers, choice: Ints) -> tuple[Ints, Ints]:
        """Receivers (places in the offers) that get a table by these choices, and their donors."""
        places = np.flatnonzero((_verdicts(offers, self.theta) == TRANSFERRED)[offers.class_of])
        donors = offers.donors_of(places, choice)
        fits = self._fits(offers.receivers[places], donors)
        return places[fits], donors[fits]

    def _fits(self, receivers: Ints, donors: Ints) -> NDArray[np.bool_]:
        """Whether a table may be copied: by position only onto equal ranges, aligned always."""
        fits = np.ones(len(receivers), dtype=np.bool_)
        if self.filling.published:
            ranges, offsets = (
                self.original.variable_range[self.original.arguments],
                self.original.offsets,
            )
            for places, alignment in alignments(
                self.original, self.offers[0].keys, receivers, donors
            ):
                slots = np.arange(alignment.shape[1])
                mine, theirs = (
                    ranges[offsets[each[places], None] + slots] for each in (receivers, donors)
                )
                fits[places] = (mine == theirs).all(axis=1)
        return fits

    def _lend(self, offers: Offers, places: Ints, donors: Ints, arguments: Ints) -> None:
        if not self.filling.published:
            lend(self.original, offers.keys, offers.receivers[places], donors, arguments)

    def _given(self, more: Sequence[Floats] = ()) -> GivenTables:
        tables = self.original.tables
        extra = GivenTables.of(more)
        return GivenTables(
            np.concatenate((tables.values, extra.values)),
            np.concatenate((tables.offsets, tables.offsets[-1] + extra.offsets[1:])),
        )

    def _mean(self, offers: Offers, place: int) -> Floats:
        """The mean table of a receiver's class at its slot, axes as in the best donor's table."""
        graph, number = self.original, int(offers.class_of[place])
        alternatives = offers.first[number] + self._fitting(offers, number)
        donors = offers.donors[offers.donor_first[alternatives] + offers.slot[place]].tolist()
        shares = offers.support[alternatives] / offers.support[alternatives].sum()
        total = 0.0
        for donor, share in zip(donors, shares, strict=True):
            table = graph.tables[int(graph.factor_table[donor])]
            aligned = (
                table
                if self.filling.published
                else align_axes(graph, offers.keys, table, donor, donors[0])
            )
            scaled = aligned / aligned.max()  # the sum of large numbers may be too large
            total = total + share * (scaled / scaled.sum())
        return np.asarray(total)

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
            places, donors = self._loans(offers, _best(offers))
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

    @cached_property
    def open_classes(self) -> list[OpenClass]:
        """Classes that are filled and for which several tables compete."""
        found = []
        for place, offers in enumerate(self.offers):
            wanted = (_verdicts(offers, self.theta) == TRANSFERRED) & (offers.alternatives > 1)
            for number in np.flatnonzero(wanted).tolist():
                fitting = self._fitting(offers, number)
                if len(fitting) > 1:
                    support = offers.support[offers.first[number] + fitting]
                    shares = support / offers.candidates[number]
                    found.append(OpenClass(place, number, offers.members[number], fitting, shares))
        return found

    def _fitting(self, offers: Offers, number: int) -> Ints:
        """The alternatives of a class that fit all its members which the winning one fits."""
        alternatives = np.arange(offers.first[number + 1] - offers.first[number])
        if not self.filling.published:
            return alternatives
        best = int(offers.donors[offers.donor_first[offers.first[number]]])
        filled = offers.members[number]
        filled = filled[self._fits(filled, np.full(len(filled), best))]
        fits = []
        for alternative in alternatives:
            donor = int(offers.donors[offers.donor_first[offers.first[number] + alternative]])
            fits.append(bool(self._fits(filled, np.full(len(filled), donor)).all()))
        return alternatives[fits]

    # ---- the record

    @cached_property
    def statuses(self) -> Ints:
        """For each unknown factor in input order its status, as a place in STATUSES."""
        status = np.full(len(self.original.factor_names), -1, dtype=np.int64)
        for offers in self.offers:
            status[offers.receivers] = _verdicts(offers, self.theta)[offers.class_of]
            filled = np.flatnonzero(status[offers.receivers] == TRANSFERRED)
            donors = offers.donors_of(filled, _best(offers))
            ill = ~self._fits(offers.receivers[filled], donors)
            status[offers.receivers[filled[ill]]] = ILL_TYPED
        return frozen(status[self.original.unknown])

    @cached_property
    def shares(self) -> Floats:
        """For each unknown factor the share of candidates that agree; nan without candidates."""
        shares = np.full(len(self.original.factor_names), np.nan)
        for offers in self.offers:
            shares[offers.receivers] = offers.share[offers.class_of]
        return frozen(shares[self.original.unknown])

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
    def counts(self) -> tuple[int, int]:
        """How many factors came without a table, and how many of them got one."""
        return len(self.unknown), len(self.transferred)

    @property
    def record(self) -> View[Record]:
        """One record per unknown factor, in input order, made when asked for."""
        return View(len(self.original.unknown), self._record)

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """For each unknown factor in input order: which offers it is in, and at which place."""
        which = np.full(len(self.original.factor_names), -1, dtype=np.int64)
        where = which.copy()
        for number, offers in enumerate(self.offers):
            which[offers.receivers] = number
            where[offers.receivers] = np.arange(len(offers.receivers))
        return which[self.original.unknown], where[self.original.unknown]

    def _record(self, number: int) -> Record:
        graph = self.original
        offers = self.offers[int(self._places[0][number])]
        place = int(self._places[1][number])
        factor, kind = int(graph.unknown[number]), int(offers.class_of[place])
        status = int(self.statuses[number])
        competing = self._competing(offers, place)
        donor = competing[0][0] if competing and status == TRANSFERRED else None
        return Record(
            factor=graph.factor_names[factor],
            status=STATUSES[status],
            donor=None if donor is None else graph.factor_names[donor],
            candidates=int(offers.candidates[kind]),
            agreeing=int(offers.best_support[kind]),
            share=None if not competing else float(offers.share[kind]),
            tie=bool(offers.tie[kind]),
            alignment=None if donor is None else self._alignment(offers, factor, donor),
            ambiguous_alignment=donor is not None and self._order_decided(offers, donor),
            ambiguous_assignment=donor is not None
            and offers.unit == "individual"
            and bool(self._interchangeable[factor]),
            unit=offers.unit,
            steps=offers.steps,
            agreed=None if offers.agreed is None else int(offers.agreed[kind]),
            theta=self.theta,
            equality=self.equality,
            members=offers.receiver_count(kind),
            tables=int(offers.alternatives[kind]),
            competing=tuple(self._competitor(*each) for each in competing),
            fallback=offers.unit == "factor" and bool(self.owners[factor] >= 0),
        )

    def _competing(self, offers: Offers, place: int) -> list[tuple[int, int, float]]:
        """(donor, agreeing, share) of the first alternatives of a receiver's class, best first."""
        number, slot = int(offers.class_of[place]), int(offers.slot[place])
        total = int(offers.candidates[number])
        stop = min(offers.first[number + 1], offers.first[number] + MOST_SHOWN)
        supports = offers.support[offers.first[number] : stop].tolist()
        firsts = offers.donor_first[offers.first[number] : stop].tolist()
        return [
            (int(offers.donors[first + slot]), support, support / total)
            for first, support in zip(firsts, supports, strict=True)
        ]

    def _competitor(self, donor: int, agreeing: int, share: float) -> Competitor:
        factor = self.original.factors[donor]
        potentials = () if factor.table is None else tuple(factor.table.reshape(-1).tolist())
        return Competitor(factor.name, agreeing, share, potentials)

    def _alignment(self, offers: Offers, receiver: int, donor: int) -> tuple[int, ...]:
        if self.filling.published:
            return tuple(range(len(self.original.scope(donor))))
        (_, alignment), *_ = alignments(
            self.original, offers.keys, np.array([receiver]), np.array([donor])
        )
        return tuple(alignment[0].tolist())

    def _order_decided(self, offers: Offers, donor: int) -> bool:
        table = self.original.tables[int(self.original.factor_table[donor])]
        keys = offers.keys[self.original.offsets[donor] : self.original.offsets[donor + 1]].tolist()
        return order_decided(table, keys)

    @cached_property
    def _interchangeable(self) -> NDArray[np.bool_]:
        """Unknown factors whose owner has another unknown factor of equal signature."""
        graph, unknown = self.original, self.original.unknown
        pair = group_rows(np.column_stack((self.owners[unknown] + 1, self.signatures[unknown])))
        result = np.zeros(len(graph.factor_names), dtype=np.bool_)
        result[unknown] = np.bincount(pair)[pair] > 1
        return result

    @cached_property
    def alike(self) -> Ints:
        """Unknown factors numbered alike where records differ in name and alignment alone."""
        unknown, (which, where) = self.original.unknown, self._places
        columns = np.zeros((2, len(unknown)), dtype=np.int64)
        for number, offers in enumerate(self.offers):
            here = which == number
            columns[:, here] = offers.class_of[where[here]], offers.slot[where[here]]
        whole = np.array([offers.unit == "individual" for offers in self.offers], dtype=np.bool_)[
            which
        ]
        told_apart = np.where(whole, self._interchangeable[unknown], self.owners[unknown] >= 0)
        return frozen(group_rows(np.column_stack((which, *columns, self.statuses, told_apart))))

    def loans(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Per arity and way of lending: receivers, donors, and where each donor position is."""
        for offers in self.offers:
            places, donors = self._loans(offers, _best(offers))
            receivers = offers.receivers[places]
            for chosen, alignment in alignments(self.original, offers.keys, receivers, donors):
                if self.filling.published:
                    alignment = np.broadcast_to(np.arange(alignment.shape[1]), alignment.shape)
                yield receivers[chosen], donors[chosen], alignment

    # ---- showing

    def by_class(self) -> list[tuple[Record, Ints]]:
        """What was treated alike: one record for all, and the factors, by the first of them."""
        return [
            (self._record(int(group[0])), self.original.unknown[group])
            for group in members(self.alike)
        ]

    def filled_by_theta(self) -> list[tuple[float, int]]:
        """(θ, unknown factors that would be filled) at 0, 1 and the shares there are, if few."""
        shares = np.unique(self.shares[np.isfinite(self.shares)])
        thetas = (
            sorted({0.0, 1.0, *shares.tolist()})
            if len(shares) <= 8
            else [0.0, 0.25, 0.5, 0.75, 0.9, 1.0]
        )
        return [(theta, int((self.shares >= theta).sum())) for theta in thetas]

    def __repr__(self) -> str:
        left = len(self.original.unknown) - len(self.transferred)
        return f"<Transfer: {counted(len(self.transferred), 'factor')} filled, {left} left unknown>"


def _verdicts(offers: Offers, theta: float) -> Ints:
    """Status of each class, before positional copying is checked."""
    verdicts = np.full(len(offers.first) - 1, NO_CANDIDATE, dtype=np.int64)
    some = offers.candidates > 0
    verdicts[some] = np.where(offers.share[some] >= theta, TRANSFERRED, BELOW)
    return verdicts


def _best(offers: Offers) -> Ints:
    """Every class takes its best alternative."""
    return np.zeros(len(offers.first) - 1, dtype=np.int64)
