"""The result of a transfer: the completed graph, and the reason for each of its tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, frozen, group_rows, members
from lifagu.basics.cached import cached_property
from lifagu.basics.choices import STATUSES
from lifagu.basics.html import Shown
from lifagu.basics.words import counted
from lifagu.filling.alignment import alignment_of, order_decided
from lifagu.filling.completions import Completions
from lifagu.filling.donors import TRANSFERRED, Offers
from lifagu.filling.record import Competitor, Record
from lifagu.graph.views import View
from lifagu.likeness.roles import factor_signatures

MOST_SHOWN = 20  # competing tables that a record lists
ALMOST = 5e-5  # shares that are no further apart are told once


@dataclass(frozen=True, eq=False, repr=False)
class Transfer(Completions, Shown):
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
        status, way = int(self.statuses[number]), self.way_of(offers.unit)
        competing, settled = self._competing(offers, place), float(self.settled_posteriors[number])
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
            theta=self.theta,
            equality=self.equality,
            members=offers.receiver_count(kind),
            tables=int(offers.alternatives[kind]),
            competing=tuple(self._competitor(*each) for each in competing),
            fallback=offers.unit == "factor" and bool(self.owners[factor] >= 0),
            way=way,
            guess=way == "best" and bool(self.guesses[number]),
            posterior=None if np.isnan(settled) else settled,
        )

    def _competing(self, offers: Offers, place: int) -> list[tuple[int, int, float]]:
        """(donor, agreeing, share) of the first alternatives of a receiver's class, best first."""
        number, slot = int(offers.class_of[place]), int(offers.slot[place])
        total = int(offers.candidates[number])
        stop = min(offers.first[number + 1], offers.first[number] + MOST_SHOWN)
        here = slice(offers.first[number], stop)
        supports, firsts = offers.support[here].tolist(), offers.donor_first[here].tolist()
        shares = [each / total for each in supports]
        if offers.weights is not None:
            shares = offers.weights[here].tolist()
        return [
            (int(offers.donors[first + slot]), support, share)
            for first, support, share in zip(firsts, supports, shares, strict=True)
        ]

    def _competitor(self, donor: int, agreeing: int, share: float) -> Competitor:
        factor = self.original.factors[donor]
        potentials = () if factor.table is None else tuple(factor.table.reshape(-1).tolist())
        return Competitor(factor.name, agreeing, share, potentials)

    def _alignment(self, offers: Offers, receiver: int, donor: int) -> tuple[int, ...]:
        order = alignment_of(
            self.original, offers.keys, receiver, donor, positional=self.filling.to_the_letter
        )
        return tuple(order.tolist())

    def _order_decided(self, offers: Offers, donor: int) -> bool:
        table = self.original.tables[int(self.original.factor_table[donor])]
        keys = offers.keys[self.original.offsets[donor] : self.original.offsets[donor + 1]].tolist()
        return order_decided(table, keys)

    @cached_property
    def _interchangeable(self) -> NDArray[np.bool_]:
        """Unknown factors whose owner has another one in equal roles, as offers tell these."""
        graph, unknown = self.original, self.original.unknown
        result = np.zeros(len(graph.factor_names), dtype=np.bool_)
        for offers in self.offers:
            if offers.unit == "individual":
                own = factor_signatures(graph.offsets, offers.keys)[unknown]
                pair = group_rows(np.column_stack((self.owners[unknown] + 1, own)))
                here = np.isin(unknown, offers.receivers)
                result[unknown[here]] = (np.bincount(pair)[pair] > 1)[here]
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

    # ---- showing

    @property
    def stand_in(self) -> str:
        """What groups, figures and completed models show of holes, where answers use more."""
        if self.way == "best" or not self.is_open:
            return ""
        return (
            "groups and lifted models have the best table of each hole; answers sum over all that "
            "compete"
        )

    def by_class(self) -> list[tuple[Record, Ints]]:
        """What was treated alike: one record for all, and the factors, by the first of them."""
        return [
            (self._record(int(group[0])), self.original.unknown[group])
            for group in members(self.alike)
        ]

    def filled_by_theta(self) -> list[tuple[float, int]]:
        """(θ, unknown factors that would be filled) at 0, 1 and the shares there are, if few."""
        shares = np.unique(self.shares[np.isfinite(self.shares)])
        shares = shares[np.diff(shares, prepend=-1) > ALMOST]
        thetas = (
            sorted({0.0, 1.0, *shares.tolist()})
            if len(shares) <= 8
            else [0.0, 0.25, 0.5, 0.75, 0.9, 1.0]
        )
        return [(theta, int((self.shares >= theta).sum())) for theta in thetas]

    def __repr__(self) -> str:
        left = len(self.original.unknown) - len(self.transferred)
        return f"<Transfer: {counted(len(self.transferred), 'factor')} filled, {left} left unknown>"
