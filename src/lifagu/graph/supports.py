"""Support: how many records stand behind an estimated table; a table without it is exact.

Of a joint table one number is known. Of a table that is conditional on some of its arguments, which
are given, there may be a number for each combination of their values. The prior is what was added
to the count of each state before frequencies were made of it; with it, counts can be had again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Floats,
    Ints,
    first_places,
    frozen,
    group_rows,
    members,
    offsets_of,
    owners,
)
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.graph.assembly import taken_lists
from lifagu.graph.ranges import Ranges
from lifagu.graph.table_support import TO_BE_FOUND, TableSupport, given_places
from lifagu.graph.tables import Tables, turned_places

Scopes = Iterable[tuple[Ints, Ints]]


class Tabled(Protocol):
    """What `Supports.counts` has to know of a graph."""

    @property
    def tables(self) -> Tables:
        """The distinct tables."""

    @property
    def factor_table(self) -> Ints:
        """Number of each factor's table, -1 = unknown."""

    @property
    def offsets(self) -> Ints:
        """Where the arguments of each factor begin."""

    @property
    def arguments(self) -> Ints:
        """Numbers of variables."""

    @property
    def sizes(self) -> Ints:
        """Range size of each variable."""


@dataclass(frozen=True, eq=False)
class Supports(Frozen):
    """The supports of m factors; in a graph, labels are in canonical order, as in its tables.

    Parameters
    ----------
    offsets : ndarray of int, shape (m + 1,)
        Factor f has the numbers ``records[offsets[f]:offsets[f+1]]``: none if its table is exact,
        one behind the whole table, or one for each combination of its given arguments.
    records : ndarray of float
        Numbers of records.
    given : ndarray of int, shape (m,)
        Bit i is set where argument i is given; 0 for a joint table.
    prior_offsets : ndarray of int, shape (m + 1,)
        The same for priors: nothing, one number for all potentials, or one for each.
    priors : ndarray of float
        What was added to every count before the table was normalised.

    Examples
    --------
    >>> supports = Supports.of([TableSupport((20.0, 30.0), (0,), (1.0,)), None])
    >>> supports.total(np.array([0, 1])).tolist(), supports.estimated.tolist()
    ([50.0, inf], [True, False])
    """

    offsets: Ints
    records: Floats
    given: Ints
    prior_offsets: Ints
    priors: Floats

    @classmethod
    def of(cls, each: Sequence[TableSupport | None]) -> Supports:
        """From the support of each factor, None where a table is exact.

        Parameters
        ----------
        each : sequence of TableSupport or None
            One for each factor.

        Returns
        -------
        Supports
        """
        found = [one or _EXACT for one in each]
        return cls(
            _ends(len(one.records) for one in found),
            _flat(one.records for one in found),
            frozen(np.array([one.mask for one in found], dtype=np.int64)),
            _ends(len(one.prior) for one in found),
            _flat(one.prior for one in found),
        )

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, factor: int) -> TableSupport | None:
        """The support of one factor, None if its table is exact."""
        records = self.records[self.offsets[factor] : self.offsets[factor + 1]]
        prior = self.priors[self.prior_offsets[factor] : self.prior_offsets[factor + 1]]
        given = int(self.given[factor])
        places = None if given == TO_BE_FOUND else given_places(given)
        return (
            TableSupport(tuple(records.tolist()), places, tuple(prior.tolist()))
            if len(records)
            else None
        )

    @cached_property
    def estimated(self) -> NDArray[np.bool_]:
        """Which factors have a support."""
        return frozen(np.diff(self.offsets) > 0)

    @property
    def or_none(self) -> Supports | None:
        """None if all tables are exact, else these."""
        return self if len(self.records) else None

    # ---- what they say

    def total(self, factors: Ints) -> Floats:
        """How many records stand behind each table.

        Parameters
        ----------
        factors : ndarray of int, shape (k,)
            Numbers of factors.

        Returns
        -------
        ndarray of float, shape (k,)
            Infinitely many where a table is exact.
        """
        return self._totals[factors]

    @cached_property
    def _totals(self) -> Floats:
        totals = np.bincount(owners(self.offsets), self.records, minlength=len(self))
        return np.where(self.estimated, totals, np.inf)

    def counts(self, graph: Tabled, factors: Ints) -> Floats:
        """The counts that estimated tables were made of, their priors taken out again.

        A table is scaled to sum 1, for each combination of its given arguments, multiplied by the
        records and the prior's mass there, and the prior is subtracted; never below 0. A single
        number of records behind a conditional table is taken to be spread evenly.

        Parameters
        ----------
        graph : FactorGraph
            The graph of these factors.
        factors : ndarray of int, shape (k,)
            Factors with the same number of arguments and of potentials.

        Returns
        -------
        ndarray of float, shape (k, size)
            Row-major in each factor's own argument order, labels in canonical order; nan where a
            table is exact.
        """
        arity = int(np.diff(graph.offsets)[factors[:1]].sum())
        numbers = graph.factor_table[factors]
        known = np.flatnonzero((numbers >= 0) & self.estimated[factors])
        size = int(np.diff(graph.tables.offsets)[numbers[known[:1]]].sum())
        result = np.full((len(factors), size), np.nan)
        chosen, numbers = factors[known], numbers[known]
        sizes = graph.sizes[graph.arguments[graph.offsets[chosen, None] + np.arange(arity)]]
        for alike in members(group_rows(np.column_stack((sizes, self.form(chosen))))):
            rows = graph.tables.values[graph.tables.offsets[numbers[alike], None] + np.arange(size)]
            result[known[alike]] = self._counts_alike(
                chosen[alike], rows, tuple(sizes[alike[0]].tolist())
            )
        return result

    def alike(self, factors: Ints) -> bool:
        """Whether some factors all have the same support, or none."""
        mine = self.taken(factors)
        forms = mine.form(np.arange(len(mine)))
        if (forms != forms[:1]).any():
            return False
        lists = mine.records, mine.priors
        return all(
            (each.reshape(len(mine), -1) == each[: len(each) // len(mine)]).all() for each in lists
        )

    def form(self, factors: Ints) -> Ints:
        """What tells apart how supports are to be read: given, and how many numbers there are."""
        lengths = np.diff(self.offsets)[factors], np.diff(self.prior_offsets)[factors]
        return np.column_stack((self.given[factors], *lengths))

    def _counts_alike(self, factors: Ints, rows: Floats, shape: tuple[int, ...]) -> Floats:
        """The counts of factors with tables of one shape and supports of one form."""
        given = given_places(int(self.given[factors[0]]))
        others = tuple(axis for axis in range(len(shape)) if axis not in given)
        places = turned_places(shape, (*given, *others))
        combinations = int(np.prod([shape[axis] for axis in given]))
        split = (len(rows), combinations, -1)
        tables = rows[:, places].reshape(split)
        tables = tables / np.maximum(tables.max(axis=2, keepdims=True), np.finfo(float).tiny)
        sums = tables.sum(axis=2, keepdims=True)
        shares = tables / np.where(sums > 0, sums, 1.0)
        records = _lists(self.offsets, self.records, factors)
        if records.shape[1] == 1:
            records = np.repeat(records / combinations, combinations, axis=1)
        prior = np.broadcast_to(_lists(self.prior_offsets, self.priors, factors, 0.0), rows.shape)
        prior = prior[:, places].reshape(split)
        mass = prior.sum(axis=2, keepdims=True)
        counts = np.empty_like(rows)
        counts[:, places] = (shares * (records[:, :, None] + mass) - prior).reshape(rows.shape)
        return np.maximum(counts, 0.0)

    # ---- other factors, other orders

    def taken(self, factors: Ints) -> Supports:
        """The supports of some factors, in order; a factor may come several times."""
        records, ends = taken_lists(self.offsets, self.records, factors)
        priors, prior_ends = taken_lists(self.prior_offsets, self.priors, factors)
        return Supports(
            _from_zero(self.offsets, ends),
            frozen(records),
            frozen(self.given[factors]),
            _from_zero(self.prior_offsets, prior_ends),
            frozen(priors),
        )

    def only(self, kept: NDArray[np.bool_]) -> Supports:
        """The supports of some factors, all others being exact."""
        if not (self.estimated & ~kept).any():
            return self
        return joined([self, exact(1)]).taken(np.where(kept, np.arange(len(self)), len(self)))

    def followed_by_exact(self, count: int) -> Supports:
        """The supports with so many further factors whose tables are exact or unknown."""
        return joined([self, exact(count)])

    def following(self, graph: Tabled, factor_given: Ints, arguments: Ints) -> Supports | None:
        """The supports once a graph has other tables, perhaps with arguments in another order.

        factor_given[m]: -1 where a factor is unknown then; only who had a table keeps a support.
        """
        kept = self.only((factor_given >= 0) & (graph.factor_table >= 0))
        return kept.turned(graph.sizes, graph.offsets, graph.arguments, arguments).or_none

    def turned(self, sizes: Ints, offsets: Ints, before: Ints, after: Ints) -> Supports:
        """The supports once the arguments of factors come in another order.

        sizes: of each variable's range; before, after: the arguments, in the layout of offsets.
        """
        changed = np.unique(np.repeat(np.arange(len(self)), np.diff(offsets))[before != after])
        changed = changed[self.estimated[changed]]
        given, moves = self.given.copy(), []
        arities = np.diff(offsets)[changed]
        for arity in np.flatnonzero(np.bincount(arities)).tolist():
            factors = changed[arities == arity]
            places = offsets[factors, None] + np.arange(arity)
            old, new = before[places], after[places]
            orders = np.empty_like(old)
            np.put_along_axis(orders, new.argsort(axis=1), old.argsort(axis=1), axis=1)
            bits = (self.given[factors, None] >> orders) & 1
            given[factors] = (bits << np.arange(arity)).sum(axis=1)
            keys = np.column_stack((sizes[old], orders, self.given[factors]))
            for alike in members(group_rows(keys)):
                shape = tuple(sizes[old[alike[0]]].tolist())
                order = tuple(orders[alike[0]].tolist())
                axes = given_places(int(self.given[factors[alike[0]]]))
                kept = [axes.index(axis) for axis in order if axis in axes]
                listed = turned_places(tuple(shape[axis] for axis in axes), tuple(kept))
                moves.append((factors[alike], listed, turned_places(shape, order)))
        return replace(self._moved(moves), given=frozen(given))

    def in_label_orders(self, ranges: Ranges, declared: Scopes, canonical: bool) -> Supports:
        """The supports with labels in canonical orders instead of declared ones, or the other way.

        declared: per arity the factors and the matrix of their arguments' declared ranges.
        """
        order_of = ranges.to_canonical if canonical else ranges.to_declared
        first = first_places(ranges.range_of)[ranges.range_of]
        moves = []
        for factors, orders in declared:
            other = np.flatnonzero((orders != first[orders]).any(axis=1) & self.estimated[factors])
            factors, orders = factors[other], orders[other]
            for alike in members(group_rows(np.column_stack((orders, self.given[factors])))):
                axes = [order_of(int(each)) for each in orders[alike[0]]]
                given = given_places(int(self.given[factors[alike[0]]]))
                listed = _picked([axes[axis] for axis in given])
                moves.append((factors[alike], listed, _picked(axes)))
        return self._moved(moves)

    def _moved(self, moves: Sequence[tuple[Ints, Ints, Ints]]) -> Supports:
        """The supports with lists in other orders: factors, and where records and priors are."""
        if not moves:
            return self
        records, priors = self.records.copy(), self.priors.copy()
        for factors, of_record, of_prior in moves:
            _move(self.offsets, records, factors, of_record)
            _move(self.prior_offsets, priors, factors, of_prior)
        return replace(self, records=frozen(records), priors=frozen(priors))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Supports):
            return NotImplemented
        return all(map(np.array_equal, self._arrays, other._arrays))

    __hash__ = None  # type: ignore[assignment]

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.offsets, self.records, self.given, self.prior_offsets, self.priors

    def __repr__(self) -> str:
        return f"<Supports: {int(self.estimated.sum())} of {len(self)} tables are estimated>"


_EXACT = TableSupport(())


def exact(count: int) -> Supports:
    """The supports of factors whose tables are all exact."""
    zeros = frozen(np.zeros(count + 1, dtype=np.int64))
    none = frozen(np.zeros(0))
    return Supports(zeros, none, frozen(np.zeros(count, dtype=np.int64)), zeros, none)


def joined(parts: Sequence[Supports]) -> Supports:
    """The supports of all factors of some parts, one after the other."""
    lengths = [np.concatenate([np.diff(part.offsets) for part in parts])]
    lengths.append(np.concatenate([np.diff(part.prior_offsets) for part in parts]))
    offsets, prior_offsets = (frozen(offsets_of(each)) for each in lengths)
    records = frozen(np.concatenate([part.records for part in parts]))
    given = frozen(np.concatenate([part.given for part in parts]))
    priors = frozen(np.concatenate([part.priors for part in parts]))
    return Supports(offsets, records, given, prior_offsets, priors)


def _picked(axes: Sequence[Ints]) -> Ints:
    """Where the items of a list, row-major over some axes, are once labels come in other orders."""
    shape = tuple(map(len, axes))
    return np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*axes)].reshape(-1)


def _move(offsets: Ints, values: Floats, factors: Ints, places: Ints) -> None:
    """Lists of some factors in another order, in place; a single number stands for all."""
    several = factors[np.diff(offsets)[factors] > 1]
    starts = offsets[several, None]
    values[starts + np.arange(len(places))] = values[starts + places]


def _lists(offsets: Ints, values: Floats, factors: Ints, missing: float | None = None) -> Floats:
    """The lists of factors, all of one length, as rows; missing: the item if they are empty."""
    length = int(offsets[factors[0] + 1] - offsets[factors[0]])
    if not length and missing is not None:
        return np.full((len(factors), 1), missing)
    return np.asarray(values[offsets[factors, None] + np.arange(length)])


def _from_zero(offsets: Ints, ends: Ints) -> Ints:
    """The offsets of lists that `taken_lists` put after all others, on their own."""
    return frozen(np.concatenate(([0], ends - offsets[-1])))


def _ends(lengths: Iterable[int]) -> Ints:
    return frozen(offsets_of(np.fromiter(lengths, dtype=np.int64)))


def _flat(lists: Iterable[Sequence[float]]) -> Floats:
    return frozen(np.array([item for each in lists for item in each], dtype=np.float64))
