"""A graph with holes to which individuals were admitted: filled in two steps, and why.

The graph is filled as if nobody had been admitted, so that nobody else gets another table. Then one
of those who are like the same individual is added, and its holes are filled; all of them have the
tables that it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, dense, frozen
from lifagu.basics.cached import cached_property
from lifagu.filling.record import Record
from lifagu.filling.result import Transfer
from lifagu.graph.admitted import Admitted
from lifagu.graph.assembly import extended
from lifagu.graph.factor_graph import FactorGraph
from lifagu.likeness.merging import equal_up_to_scale
from lifagu.likeness.tolerance_bound import Drift
from lifagu.questions.admission.joining import joined


@dataclass(frozen=True, eq=False, repr=False)
class AdmittedTransfer(Transfer):
    """A transfer to those who are in a graph, and one to those who are admitted.

    Attributes
    ----------
    guests : Admitted
        The graph with those who are admitted.
    examples : tuple of Admitted
        The graph with one of those who are like the same individual, for each such individual.
    base : Transfer
        The graph before, filled.
    lent : tuple of Transfer
        The graphs with these examples, filled.
    """

    guests: Admitted
    examples: tuple[Admitted, ...]
    base: Transfer
    lent: tuple[Transfer, ...]

    @classmethod
    def of(
        cls,
        guests: Admitted,
        examples: tuple[Admitted, ...],
        base: Transfer,
        lent: tuple[Transfer, ...],
    ) -> AdmittedTransfer:
        """From both transfers.

        Parameters
        ----------
        guests, examples : Admitted
            As above.
        base, lent : Transfer
            As above.

        Returns
        -------
        AdmittedTransfer
        """
        given = {each.name: getattr(base, each.name) for each in fields(Transfer)}
        own, known = base.original, guests.factor_count
        count = len(guests.graph.factor_names) - known
        original = replace(
            guests.graph,
            ranges=own.ranges,
            tables=own.tables,
            factor_table=extended(own.factor_table, np.full(count, -1)),
            arguments=extended(own.arguments, guests.graph.arguments[len(own.arguments) :]),
        )
        signatures, first = [base.signatures], int(base.signatures.max(initial=-1)) + 1
        for like in guests.like.tolist():
            signatures.append(first + lent[like].signatures[known:] + like * len(own.factor_names))
        given |= {
            "original": original,
            "signatures": np.concatenate(signatures),
            "owners": np.concatenate((base.owners, np.full(count, -1))),
        }
        return cls(**given, guests=guests, examples=examples, base=base, lent=lent)

    @property
    def way(self) -> str:
        """How competing tables are used in answers, as in `Filling.combine`."""
        ways = [self.base.way, *(each.way for each in self.lent)]
        return next((way for way in ways if way == self.filling.combine), ways[0])

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
        return self.way if unit == "cohort" else self.base.way_of(unit)

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
        lent = tuple(each.answering(way) for each in self.lent)
        filling = replace(self.filling, combine=way)
        return replace(self, filling=filling, base=self.base.answering(way), lent=lent)

    # ---- completing

    @cached_property
    def shown(self) -> FactorGraph:
        """The completed graph with its holes, as figures and groups show it."""
        numbers = self.graph.factor_table.copy()
        numbers[self.unknown] = -1
        return replace(self.graph, factor_table=frozen(numbers))

    @cached_property
    def graph(self) -> FactorGraph:
        """The graph with the winning tables, those of who was admitted divided by their sums."""
        return self.joined(self.base.graph, [each.graph for each in self.lent])

    def joined(self, base: FactorGraph, lent: Sequence[FactorGraph]) -> FactorGraph:
        """Graphs that these transfers complete, as one.

        Parameters
        ----------
        base : FactorGraph
            What came of the transfer to those who were there, perhaps with hidden variables.
        lent : sequence of FactorGraph
            The same of those with examples.

        Returns
        -------
        FactorGraph
        """
        return joined(self.guests, self.examples, base, lent)

    @cached_property
    def factor_start(self) -> Ints:
        """Start colours on the completed graph: its tables, and classes for what stays unknown."""
        numbers, tables = self.graph.factor_table, self.graph.tables
        equal = equal_up_to_scale(tables) if self.filling.up_to_scale else np.arange(len(tables))
        more = len(numbers) - len(self.signatures)
        first = int(self.signatures.max(initial=-1)) + 1
        signatures = np.concatenate((self.signatures, first + np.arange(more)))
        known = equal[numbers] if len(tables) else numbers
        return frozen(np.where(numbers >= 0, known, len(tables) + signatures))

    @cached_property
    def drift(self) -> Drift | None:
        """How far each factor of the completed graph moved by merging; None without merging.

        What somebody's factors sum to moves as far as they do together, the other way at worst.
        """
        if self.base.drift is None:
            return None
        spread = [
            np.zeros(0) if drift is None else (drift.highest - drift.lowest)[self._known :]
            for drift in (each.drift for each in self.lent)
        ]
        theirs = [spread[like] for like in self.guests.like.tolist()]
        low, high = self.base.drift.lowest, self.base.drift.highest
        return Drift(
            frozen(np.concatenate((low, *(-each for each in theirs)))),
            frozen(np.concatenate((high, *theirs))),
        )

    @property
    def _known(self) -> int:
        return self.guests.factor_count

    # ---- what came of it

    @cached_property
    def _behind(self) -> list[Ints]:
        """For each example the places of its factors among those that came without a table."""
        return [np.flatnonzero(each.unknown >= self._known) for each in self.lent]

    def _both(self, of: Callable[[Transfer], NDArray[Any]]) -> NDArray[Any]:
        """What these transfers say of each unknown factor."""
        said = [of(each)[own] for each, own in zip(self.lent, self._behind, strict=True)]
        return frozen(np.concatenate((of(self.base), *(said[k] for k in self.guests.like))))

    @cached_property
    def statuses(self) -> Ints:
        """For each unknown factor in input order its status, as a place in STATUSES."""
        return self._both(lambda moved: moved.statuses)

    @cached_property
    def shares(self) -> Floats:
        """For each unknown factor the share of candidates that agree; nan without candidates."""
        return self._both(lambda moved: moved.shares)

    @cached_property
    def settled_posteriors(self) -> Floats:
        """For each unknown factor how likely its table is whatever is observed, as its share."""
        return self._both(lambda moved: moved.settled_posteriors)

    @cached_property
    def guesses(self) -> NDArray[np.bool_]:
        """Which unknown factors got a table, but the best one is hardly better than a guess."""
        return self._both(lambda moved: moved.guesses)

    @cached_property
    def alike(self) -> Ints:
        """Unknown factors numbered alike where records differ in name and alignment alone."""
        found, first = [self.base.alike], int(self.base.alike.max(initial=-1)) + 1
        numbers = []
        for each, own in zip(self.lent, self._behind, strict=True):
            numbers.append(first + dense(each.alike[own]))
            first = int(numbers[-1].max(initial=first - 1)) + 1
        return frozen(np.concatenate((*found, *(numbers[k] for k in self.guests.like))))

    @property
    def by_cohorts(self) -> Ints:
        """The factors that cohorts filled."""
        marks = self._marked(lambda moved: moved.by_cohorts)
        return np.concatenate((self.base.by_cohorts, self._known + np.flatnonzero(marks)))

    def _marked(self, of: Callable[[Transfer], Ints]) -> NDArray[np.bool_]:
        """Which factors of those who were admitted are among some of their example's."""
        marks = []
        for each in self.lent:
            own = np.arange(self._known, len(each.original.factor_names))
            marks.append(np.isin(own, of(each)))
        return np.concatenate([marks[like] for like in self.guests.like])

    @property
    def is_open(self) -> bool:
        """Whether several tables compete for something that is filled."""
        return self.base.is_open or any(each.is_open for each in self.lent)

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
        moved, own = self._whose(place)
        return moved.agreement(own)

    def _whose(self, place: int) -> tuple[Transfer, int]:
        """The transfer that speaks of an unknown factor, and its place there."""
        if place < len(self.base.unknown):
            return self.base, place
        factor = int(self.unknown[place])
        guest = int(np.searchsorted(self.guests.first_factor, factor, side="right")) - 1
        like = int(self.guests.like[guest])
        own = factor - int(self.guests.first_factor[guest])
        return self.lent[like], int(self._behind[like][own])

    def speaking_of(self, individual: str) -> tuple[Transfer, str]:
        """The transfer by which somebody's tables came, and what they are called there.

        Parameters
        ----------
        individual : str
            Somebody who was there, or who is admitted: their example stands for them.

        Returns
        -------
        (Transfer, str)
        """
        if individual not in self.guests.names:
            return self.base, individual
        like = int(self.guests.like[self.guests.names.index(individual)])
        return self.lent[like], self.examples[like].names[0]

    def _record(self, number: int) -> Record:
        moved, own = self._whose(number)
        name = self.original.factor_names[int(self.unknown[number])]
        return replace(moved.record[own], factor=name)

    def loans(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Per arity and way of lending: receivers, donors, and where each donor position is."""
        yield from self.base.loans()
        for guest, like in enumerate(self.guests.like.tolist()):
            moved = int(self.guests.first_factor[guest]) - self._known
            for receivers, donors, alignment in self.lent[like].loans():
                own = receivers >= self._known
                yield receivers[own] + moved, donors[own], alignment[own]
