"""Donors: for each class of unknown factors the tables it could take, from whom, how many agree.

All arrays, so that a million factors need no Python loop. A class is what must be treated alike; an
alternative is one way to fill it; a slot says which of the alternative's donors lends to which
receiver (one slot for plain classes, one per unknown factor where a whole individual is filled from
another).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    first_places,
    group_rows,
    members,
    offsets_of,
)
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.chance import is_guess

TRANSFERRED, BELOW, NO_CANDIDATE = range(3)  # places in STATUSES


@dataclass(frozen=True, eq=False)
class Offers(Frozen):
    """Who could lend to whom, for u receivers in c classes with a alternatives.

    receivers[u]: unknown factors; class_of[u]; slot[u];
    alternatives of class k: first[k] … first[k+1]-1, best first (more supporters, then declared
    first);
    support[a]: how many candidates agree on an alternative;
    donor of alternative i at slot s: donors[donor_first[i] + s].
    keys[e]: what each argument of the graph looks like, to align receiver with donor;
    sizes[m]: how many factors each factor of the graph stands for, None for one each;
    agreed[k]: in how many other places the candidates' owners agree with the receivers', where
    profiles were compared;
    weights[a]: how likely each alternative is, where that is more than its share of supporters.
    """

    receivers: Ints
    class_of: Ints
    slot: Ints
    first: Ints
    support: Ints
    donor_first: Ints
    donors: Ints
    keys: Ints
    unit: str = "factor"
    steps: int | None = None
    sizes: Ints | None = None
    weights: Floats | None = None

    @cached_property
    def candidates(self) -> Ints:
        """Number of candidates of each class."""
        total = offsets_of(self.support)
        return total[self.first[1:]] - total[self.first[:-1]]

    @cached_property
    def alternatives(self) -> Ints:
        """Number of alternatives of each class."""
        return np.diff(self.first)

    @cached_property
    def best_support(self) -> Ints:
        """Supporters of each class's best alternative, 0 where there is none."""
        best = np.zeros(len(self.first) - 1, dtype=np.int64)
        some = self.alternatives > 0
        best[some] = self.support[self.first[:-1][some]]
        return best

    @cached_property
    def share(self) -> Floats:
        """Share of each class's candidates that agree on its best alternative; nan without any.

        Where alternatives have weights: that of the best one.
        """
        if self.weights is not None:
            share = np.full(len(self.first) - 1, np.nan)
            some = self.alternatives > 0
            share[some] = self.weights[self.first[:-1][some]]
            return share
        with np.errstate(invalid="ignore"):
            return np.asarray(self.best_support / self.candidates)

    @cached_property
    def tie(self) -> NDArray[np.bool_]:
        """Whether a class has two alternatives with as many supporters."""
        tie = np.zeros(len(self.first) - 1, dtype=np.bool_)
        several = self.alternatives > 1
        at = self.first[:-1][several]
        tie[several] = self.support[at] == self.support[at + 1]
        return tie

    @cached_property
    def guess(self) -> NDArray[np.bool_]:
        """Whether the best alternative of each class is hardly better than a guess."""
        counted = self.candidates if self.weights is None else None
        return is_guess(np.nan_to_num(self.share), self.alternatives, counted)

    @cached_property
    def members(self) -> list[Ints]:
        """The receivers of each class."""
        return [self.receivers[places] for places in members(self.class_of)]

    def receiver_count(self, number: int) -> int:
        """How many factors the receivers of a class stand for."""
        receivers = self.members[number]
        return len(receivers) if self.sizes is None else int(self.sizes[receivers].sum())

    def donors_of(self, places: Ints, choice: Ints) -> Ints:
        """Donors of the receivers at these places if class k takes alternative choice[k]."""
        classes = self.class_of[places]
        donors: Ints = self.donors[
            self.donor_first[self.first[classes] + choice[classes]] + self.slot[places]
        ]
        return donors

    def only(self, wanted: NDArray[np.bool_]) -> Offers:
        """The offers of the wanted classes alone."""
        kept = wanted[self.class_of]
        classes = np.flatnonzero(wanted)
        number = np.cumsum(wanted) - 1
        alternative = np.repeat(wanted, self.alternatives)
        lengths = self.alternatives[classes]
        return Offers(
            self.receivers[kept],
            number[self.class_of[kept]],
            self.slot[kept],
            offsets_of(lengths),
            self.support[alternative],
            self.donor_first[alternative],
            self.donors,
            self.keys,
            self.unit,
            self.steps,
            self.sizes,
        )


def offers_by_signature(
    receivers: Ints,
    known: Ints,
    signatures: Ints,
    tables: Ints,
    keys: Ints,
    steps: int | None = None,
    sizes: Ints | None = None,
) -> Offers:
    """The plain classes: unknown factors of equal signature; known ones with it are candidates.

    receivers, known: factors; signatures[m]; tables[m]: number of each known factor's table, equal
    numbers agreeing.
    sizes[m]: how many factors each stands for, None for one each.
    """
    class_of = by_first_occurrence(signatures[receivers])
    of_signature = np.full(int(signatures.max(initial=-1)) + 1, -1, dtype=np.int64)
    of_signature[signatures[receivers]] = class_of
    known = known[of_signature[signatures[known]] >= 0]
    return offers_from_candidates(
        receivers,
        class_of,
        of_signature[signatures[known]],
        known,
        tables,
        keys,
        steps=steps,
        sizes=sizes,
    )


def offers_from_candidates(
    receivers: Ints,
    class_of: Ints,
    asked_by: Ints,
    candidates: Ints,
    tables: Ints,
    keys: Ints,
    *,
    steps: int | None = None,
    sizes: Ints | None = None,
) -> Offers:
    """Offers where class asked_by[i] may take the table of factor candidates[i].

    The candidates of a class are in input order, so that of those that agree the first is the one
    declared first.
    """
    pair = group_rows(np.column_stack((asked_by, tables[candidates])))
    place = first_places(pair)
    weights = None if sizes is None else sizes[candidates]
    support = np.bincount(pair, weights, minlength=len(place)).astype(np.int64)
    order = np.lexsort((place, -support, asked_by[place]))
    per_class = np.bincount(asked_by[place], minlength=int(class_of.max(initial=-1)) + 1)
    return Offers(
        receivers,
        class_of,
        np.zeros(len(receivers), dtype=np.int64),
        offsets_of(per_class),
        support[order],
        np.arange(len(order)),
        candidates[place[order]],
        keys,
        steps=steps,
        sizes=sizes,
    )


# ---- who wins


def verdicts(offers: Offers, theta: float) -> Ints:
    """Status of each class."""
    verdicts = np.full(len(offers.first) - 1, NO_CANDIDATE, dtype=np.int64)
    some = offers.candidates > 0
    verdicts[some] = np.where(offers.share[some] >= theta, TRANSFERRED, BELOW)
    return verdicts


def best(offers: Offers) -> Ints:
    """Every class takes its best alternative."""
    return np.zeros(len(offers.first) - 1, dtype=np.int64)
