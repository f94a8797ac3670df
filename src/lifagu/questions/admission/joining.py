"""A model with those who were admitted: its factors, theirs, and those that divide by their sums.

What individuals that are like the same one have is computed once, for an example of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, frozen, offsets_of, owners
from lifagu.basics.names import ChosenNames, JoinedNames, Names
from lifagu.basics.words import amount, counted
from lifagu.errors import Remedy, TooLargeError, listed
from lifagu.graph.admitted import Admitted
from lifagu.graph.assembly import extended, scopes_of, taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Ranges
from lifagu.graph.tables import GivenTables, intern_tables
from lifagu.questions.admission.shares import OwnFactor, TooWide, divided


@dataclass(frozen=True, eq=False)
class _Example:
    """The factors of somebody who is admitted, variables that are its own as -1, -2, …

    own: how many of these are variables of the model, the others being hidden; declared: the label
    order of each hidden one. factors: its own, in order; hidden: those of what is hidden alone;
    dividing: those that divide by what its own sum to.
    """

    own: int
    declared: Ints
    factors: Sequence[OwnFactor]
    hidden: Sequence[OwnFactor]
    dividing: Sequence[OwnFactor]


def joined(
    guests: Admitted, examples: Sequence[Admitted], base: FactorGraph, lent: Sequence[FactorGraph]
) -> FactorGraph:
    """A graph with those who were admitted to it, as distributions of their own variables.

    base: the graph before, with its holes filled, and perhaps hidden variables behind. examples:
    the graph with one of those who are like the same one; lent: the same, filled likewise. Numbers
    of variables and factors are those of `guests.graph`; what is hidden, and what divides, comes
    after.
    """
    found = [_example(*each) for each in zip(examples, lent, strict=True)]
    return _Joining(guests, base, lent, found).graph()


# ---- one of those who are alike


def _example(example: Admitted, lent: FactorGraph) -> _Example:
    first, end = example.first_variable.tolist()
    factors = np.arange(*example.first_factor.tolist())
    hidden, between = _hidden(example, lent, factors)
    code = np.arange(len(lent.variable_names))
    code[first:end] = -1 - np.arange(end - first)
    code[hidden] = -1 - (end - first) - np.arange(len(hidden))
    own = [_piece(lent, factor, code) for factor in factors.tolist()]
    sizes = dict(zip(code.tolist(), lent.sizes.tolist(), strict=True))
    try:
        changed, dividing = divided(own, code[first:end].tolist(), sizes)
    except TooWide as wide:
        raise _too_wide(example, lent, wide, code) from None
    whole = [_piece(lent, factor, code) for factor in between.tolist()]
    return _Example(end - first, lent.variable_declared[hidden], changed, whole, dividing)


def _hidden(example: Admitted, lent: FactorGraph, factors: Ints) -> tuple[Ints, Ints]:
    """What is hidden of somebody with these factors: their tables and cohorts, and its factors."""
    model, known = len(example.graph.variable_names), len(example.graph.factor_names)
    of = owners(lent.offsets)
    tables = np.unique(lent.arguments[np.isin(of, factors)])
    tables = tables[tables >= model]
    behind = of >= known
    about = np.unique(of[behind & np.isin(lent.arguments, tables)])
    hidden = np.unique(np.concatenate((tables, lent.arguments[np.isin(of, about)])))
    single = np.diff(lent.offsets)[of] == 1
    alone = of[behind & single & np.isin(lent.arguments, hidden)]
    return hidden, np.unique(np.concatenate((about, alone)))


def _piece(graph: FactorGraph, factor: int, code: Ints) -> OwnFactor:
    table, axes = int(graph.factor_table[factor]), code[graph.scope(factor)]
    return OwnFactor(tuple(axes.tolist()), None if table < 0 else graph.tables[table])


def _too_wide(example: Admitted, lent: FactorGraph, wide: TooWide, code: Ints) -> TooLargeError:
    variables = np.flatnonzero(np.isin(code, wide.axes))
    names = lent.variable_names.of_nodes(variables)
    hidden = bool((variables >= len(example.graph.variable_names)).any())
    return TooLargeError(
        f"admitting {example.names[0]} without side effects needs a table over "
        f"{counted(len(names), 'variable')} ({listed(names, 3)}) with {amount(wide.entries)} "
        "entries",
        remedy=Remedy.ONE_TABLE_OR_ADD if hidden else Remedy.ADD_INSTEAD,
    )


# ---- everybody


class _RowsOfFactors(NamedTuple):
    """Factors in a row: how many variables each has, these, and its table, -1 if unknown."""

    lengths: Ints
    scopes: Ints
    tables: Ints


class _Joining:
    """A graph in the making; the attributes are those of `joined`."""

    def __init__(
        self,
        guests: Admitted,
        base: FactorGraph,
        lent: Sequence[FactorGraph],
        examples: Sequence[_Example],
    ) -> None:
        self._guests, self._base, self._examples = guests, base, examples
        self._like = guests.like.tolist()
        before = base.ranges.declared
        more = (labels for each in lent for labels in each.ranges.declared)
        labels = {each: number for number, each in enumerate(dict.fromkeys((*before, *more)))}
        self._ranges = Ranges(tuple(labels))
        numbers = [[labels[each] for each in graph.ranges.declared] for graph in lent]
        declared = [
            np.array(own, dtype=np.int64)[each.declared]
            for own, each in zip(numbers, examples, strict=True)
        ]
        self._hidden = [declared[number] for number in self._like]
        behind = len(base.variable_names) - guests.variable_count
        first = offsets_of(np.array([len(each) for each in self._hidden], dtype=np.int64))
        self._first_hidden = first + len(guests.graph.variable_names) + behind
        self._tables = list[Floats]()

    def graph(self) -> FactorGraph:
        """The finished graph."""
        whole, base, known = self._guests.graph, self._base, self._guests.factor_count
        before, after = slice(0, known), slice(known, None)
        rows = [
            self._of_base(before),
            *self._of_guests([each.factors for each in self._examples]),
            self._of_base(after),
            *self._of_guests([(*each.hidden, *each.dividing) for each in self._examples]),
        ]
        lengths, scopes, numbers = map(np.concatenate, zip(*rows, strict=True))
        offsets = offsets_of(lengths)
        declared = np.concatenate(
            (whole.variable_declared, base.variable_declared[self._count :], *self._hidden)
        )
        canonical = first_places(self._ranges.range_of)[self._ranges.range_of[declared]]
        by_arity = [(some, canonical[each]) for some, each in scopes_of(offsets, scopes)]
        tables, factor_table = intern_tables(self._given(), numbers, by_arity, self._ranges)
        more = len(declared) - len(whole.variable_names)
        empty = np.full(more, whole.individual_offsets[-1])
        return replace(
            whole,
            ranges=self._ranges,
            variable_names=self._variable_names(),
            variable_declared=frozen(declared),
            variable_kind=extended(whole.variable_kind, np.full(more, -1)),
            individual_offsets=extended(whole.individual_offsets, empty),
            factor_names=self._factor_names(),
            tables=tables,
            factor_table=frozen(factor_table),
            offsets=frozen(offsets),
            arguments=frozen(scopes),
            support=base.support and base.support.followed_by_exact(len(lengths) - known),
        )

    @property
    def _count(self) -> int:
        return self._guests.variable_count

    # ---- factors

    def _of_base(self, which: slice) -> _RowsOfFactors:
        base = self._base
        factors = np.arange(len(base.factor_names))[which]
        scopes, _ = taken_lists(base.offsets, base.arguments, factors)
        moved = len(self._guests.graph.variable_names) - self._count
        scopes = np.where(scopes < self._count, scopes, scopes + moved)
        return _RowsOfFactors(np.diff(base.offsets)[which], scopes, base.factor_table[which])

    def _of_guests(self, pieces: Sequence[Sequence[OwnFactor]]) -> Iterator[_RowsOfFactors]:
        """A copy of these factors for each who is like their example."""
        listed = list(map(self._listed, pieces))
        for guest, number in enumerate(self._like):
            lengths, axes, tables = listed[number]
            place, own = -1 - axes, self._examples[number].own
            mine = self._guests.first_variable[guest] + place
            hidden = self._first_hidden[guest] + place - own
            yield _RowsOfFactors(
                lengths, np.where(axes >= 0, axes, np.where(place < own, mine, hidden)), tables
            )

    def _listed(self, pieces: Sequence[OwnFactor]) -> _RowsOfFactors:
        tables = []
        for piece in pieces:
            known = piece.table is not None
            tables.append(len(self._base.tables) + len(self._tables) if known else -1)
            self._tables += [] if piece.table is None else [piece.table.reshape(-1)]
        lengths = [len(piece.axes) for piece in pieces]
        axes = [axis for piece in pieces for axis in piece.axes]
        return _RowsOfFactors(*(np.array(each, dtype=np.int64) for each in (lengths, axes, tables)))

    def _given(self) -> GivenTables:
        own = self._base.tables
        lengths = [len(each) for each in self._tables]
        return GivenTables(
            np.concatenate((own.values, *self._tables)),
            offsets_of(np.concatenate((np.diff(own.offsets), np.array(lengths, dtype=np.int64)))),
        )

    # ---- names

    def _variable_names(self) -> Names:
        names = _followed(self._guests.graph.variable_names, self._base.variable_names, self._count)
        new = int(self._first_hidden[-1] - self._first_hidden[0])
        return _free(names, [f"hidden choice {place}" for place in range(new)])

    def _factor_names(self) -> Names:
        known = self._guests.factor_count
        names = _followed(self._guests.graph.factor_names, self._base.factor_names, known)
        return _free(
            names,
            [
                title
                for name, number in zip(self._guests.names, self._like, strict=True)
                for title in _titles(name, self._examples[number])
            ],
        )


def _titles(name: str, example: _Example) -> list[str]:
    """What the factors of somebody are called beside its own."""
    hidden = [f"what is hidden of {name} {place}" for place, _ in enumerate(example.hidden)]
    many = len(example.dividing)
    one = [f"admission of {name}"]
    return [*hidden, *(one if many == 1 else [f"{one[0]} {place + 1}" for place in range(many)])]


def _followed(whole: Names, base: Names, known: int) -> Names:
    """Names with those that come after so many others."""
    return JoinedNames(whole, ChosenNames(base, np.arange(known, len(base))))


def _free(names: Names, more: Sequence[str]) -> Names:
    """Names followed by others, which are marked where any of them is taken."""
    while (names.find_each(more) >= 0).any():
        more = [f"{name}'" for name in more]
    return JoinedNames(names, Names(names.sort, more))
