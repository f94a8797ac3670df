"""Rows: the variables that a shared table stands on, and the questions the engine asks.

A table's rows are all the argument tuples it stands on. Tables are known to rows by their number
(their *label*) alone and never looked into; every answer that makes new rows tells which old rows
they came from. There are two kinds of row sets: `matrices` lists rows as integers and answers by
sorting; `cells` describes them over cells of interchangeable individuals, so that one entry stands
for all rows of a shape and one variable for all variables of a kind. The engine does not know which
it has; `New` is what entries to be added look like: an n×k matrix of variables, or a pattern.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.inference.lifted.table_stack import Sums

MOST_AXES = 60  # of one table: numpy's arrays have 64 at most
New = TypeVar("New")
RowPlaces = tuple[int, Ints]  # arity, and entries of that arity
ByArity = dict[int, Ints]  # for each arity something about its entries
Booleans = NDArray[np.bool_]
# (arity, labels) -> labels × arity: which slots of a table may be swapped
SlotClasses = Callable[[int, Ints], Ints]


@dataclass(frozen=True, eq=False)
class MergedRows(Generic[New]):
    """Rows after those over the same variables have become one.

    sums: by arity, what makes up the new labels, which are numbered on from the first one. For each
    arity, target[k]: the new entry of each old one, and order[k]: for each old entry the order in
    which to take its axes.
    """

    rows: RowSet[New]
    sums: dict[int, Sums]
    target: ByArity
    order: ByArity


@dataclass(frozen=True, eq=False)
class Costs:
    """Eliminating a variable: log2 of the entries it makes, and of its largest table now."""

    variables: Ints
    new: NDArray[np.float64]
    old: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks(Generic[New]):
    """Variables to be eliminated alike: tables of one shape, neighbours coinciding in the same way.

    new: the entries on the neighbours; near: one example of neighbours; together: the individuals
    in the names of those that are summed out together, one in general; axes: for each row of a
    block what stands in its slots, first counting those summed out, then the neighbours;
    sources[j]: the arity and, for each variable, the entry of row j. Where the tables are the same,
    too, blocks are of one kind: kind of each variable, labels of the tables of each kind.
    """

    variables: Ints
    new: New
    near: tuple[int, ...]
    axes: list[tuple[int, ...]]
    sources: list[RowPlaces]
    kind: Ints
    labels: Ints
    together: tuple[tuple[int, ...], ...] = ((),)


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of variables that may be interchangeable, to be counted at the same time.

    variables: the members, class after class; starts: where those of each class begin, and their
    number; counts[c]: how many ground variables a histogram of class c counts; logical: which of
    the individuals in a variable's name is counted, where variables stand for many.
    """

    variables: Ints
    starts: Ints
    counts: tuple[int, ...]
    logical: int = -1

    def __len__(self) -> int:
        return len(self.counts)

    def members(self, number: int) -> Ints:
        """The variables of one class."""
        return self.variables[self.starts[number] : self.starts[number + 1]]

    @property
    def firsts(self) -> Ints:
        """The first member of each class."""
        return self.variables[self.starts[:-1]]

    @property
    def owner(self) -> Ints:
        """The class of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def some(self, chosen: Sequence[int]) -> Classes:
        """Some of the classes."""
        return classes_of(
            [self.members(each) for each in chosen],
            [self.counts[each] for each in chosen],
            self.logical,
        )


def classes_of(members: Sequence[Ints], counts: Sequence[int], logical: int = -1) -> Classes:
    """Classes by their members."""
    starts = np.concatenate(([0], np.cumsum([len(each) for each in members]))).astype(np.int64)
    together = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    return Classes(together, starts, tuple(counts), logical)


@dataclass(frozen=True, eq=False)
class CountedRows(Generic[New]):
    """Entries in which variables that count the members of classes replaced them, and come first.

    slots: of the members in the table; tie: the slot that held the counting variable already, -1 if
    none did; classes: of each new entry; old, order: the old entries, and for each the order in
    which its arguments fill these slots; groups: for each old entry the new one.
    """

    label: int
    slots: tuple[int, ...]
    tie: int
    new: New
    classes: Ints
    old: RowPlaces
    order: Ints
    groups: Ints


@dataclass(frozen=True, eq=False)
class Apart(Generic[New]):
    """Rows A(X), B(Y) for all X ≠ Y: their variables, and how to pair A(X) with B(X).

    paired(h) gives the entries on (A(X), B(X), h); groups: for each old entry the new one.
    """

    first: Ints
    second: Classes
    paired: Callable[[int], New]
    groups: Ints


# what a slot holds; "own": its partner is in the row, too
OTHER, FIRST, SECOND, OWN_FIRST, OWN_SECOND = range(5)
Held = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Joined(Generic[New]):
    """Entries in which two variables became one, and what the old slots held."""

    label: int
    held: Held
    new: New
    old: RowPlaces


class ByLabel(ABC):
    """What row sets of both kinds know from scopes and labels alone."""

    labels: ByArity

    @abstractmethod
    def scopes(self, arity: int) -> Ints:
        """The variables of all entries of an arity: an n×k matrix."""

    def arities(self) -> list[int]:
        """Arities with rows, ascending, without 0."""
        return sorted(arity for arity, labels in self.labels.items() if arity and len(labels))

    def unary(self, count: int) -> tuple[Ints, Ints]:
        """The label and the entry of each variable's row of arity 1, -1 if there is none."""
        label, entry = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        variables = self.scopes(1)[:, 0]
        label[variables] = self.labels.get(1, variables)
        entry[variables] = np.arange(len(variables))
        return label, entry

    def _left(self, removed: ByArity) -> ByArity:
        """The entries that stay, by arity."""
        left = {}
        for arity, labels in self.labels.items():
            stays = np.ones(len(labels), dtype=np.bool_)
            stays[removed.get(arity, [])] = False
            left[arity] = np.flatnonzero(stays)
        return left


class RowSet(Protocol[New]):
    """What the engine asks."""

    @property
    def labels(self) -> ByArity:
        """The table of each entry, by arity."""

    def count(self) -> int:
        """Number of rows with arguments."""

    def weight(self, new: New) -> int:
        """Number of rows that new entries stand for."""

    def members(self, variables: Ints) -> int:
        """Number of ground variables that these stand for."""

    def alone(self, variables: Ints) -> New:
        """Entries on nothing but one of these variables (over cells: a single one)."""

    def naming(self, variables: Ints, like: int, logical: int) -> RowSet[New]:
        """The same rows, which know new variables, named like one (-1: none) but for `logical`."""

    def arities(self) -> list[int]:
        """Arities with rows, ascending, without 0."""

    def pairings(self) -> list[Ints]:
        """Sets of entries of arity 2 that share a table and may pair two sorts of variables."""

    def scopes(self, arity: int) -> Ints:
        """The variables of all entries of an arity: an n×k matrix."""

    def without(self, removed: ByArity) -> tuple[RowSet[New], ByArity]:
        """The entries that are left, and for each arity which old ones they are."""

    def plus(self, more: Sequence[tuple[New, Ints]]) -> tuple[RowSet[New], list[RowPlaces]]:
        """The entries with further ones (new, labels) at the end, and where each of them went."""

    def relabelled(self, labels: ByArity) -> RowSet[New]:
        """The same entries with other tables."""

    def merge(self, first_label: int) -> MergedRows[New]:
        """Bring rows over the same variables together; one that is alone stays as it is."""

    def uses(self, labels: int) -> NDArray[Any]:
        """For each of so many labels the number of rows with it."""

    def elimination_costs(self, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
        """Cost of each wanted variable that can be eliminated."""

    def in_small_groups(self, chosen: Ints, count: int, most: int) -> Booleans:
        """Which of `count` variables are chosen and hang together with at most so many such."""

    def states_around(self, log_sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each variable log2 of the number of states of the connected part that it is in."""

    def independent(
        self, chosen: Ints, cost: NDArray[np.float64], count: int, lowest: bool = False
    ) -> Ints:
        """Those of the chosen, cheapest first, then by id, that share no row with one before.

        lowest: only those near which nothing is cheaper.
        """

    def blocks(self, chosen: Ints, sizes: Ints) -> list[Blocks[New]]:
        """The rows around each of the chosen (independent) variables, grouped by shape."""

    def twins(self, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> list[Classes]:
        """Classes of variables in the same tables beside the same others: proposals only."""

    def interchangeable(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[int]:
        """Those of the classes whose members may be swapped without changing the rows.

        variables: those that will count them, which may stand in rows with members already. Whether
        tables are symmetric in the members' slots is for the caller to check.
        """

    def apart_from_each_other(self, classes: Classes) -> list[int]:
        """Those of the classes, earlier ones first, that share no row with one taken before."""

    def quotient(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[CountedRows[New]]:
        """Replace members of classes, which share no row, by variables that count them."""

    def wide(self) -> RowSet[New]:
        """The rows with more than one argument."""

    def unary(self, count: int) -> tuple[Ints, Ints]:
        """The label and the entry of each variable's row of arity 1, -1 if there is none."""

    def apart(self, old: Ints, turned: bool) -> Apart[New] | None:
        """Whether these entries are A(X), B(Y), X ≠ Y; turned: A is in the second slot."""

    def matchings(self, wanted: Booleans) -> list[tuple[Ints, Ints]]:
        """Pairs of variables (first[i], second[i]) that the rows of one table match one to one."""

    def join(self, first: Ints, second: Ints, joined: Ints) -> list[Joined[New]] | None:
        """Replace first[i], second[i] by joined[i], everywhere; None if a row holds two pairs."""


def join_columns(held: Held) -> tuple[list[int], list[int]]:
    """How slots are joined: the old ones in order, partners side by side; those that stay."""
    slots = [slot for slot, kind in enumerate(held) if kind != OWN_SECOND]
    if OWN_FIRST in held:
        slots.insert(slots.index(held.index(OWN_FIRST)) + 1, held.index(OWN_SECOND))
    return slots, [slot for slot in slots if held[slot] != OWN_SECOND]


def members_first(matrix: Ints, inside: Booleans, classes: Ints) -> Ints:
    """For each row an order of slots: of swappable ones, members first, then others by number.

    inside: whether each argument is a member; classes: rows × arity, which slots may be swapped.
    """
    key = np.where(inside, 0, matrix + 1)
    by_class = np.argsort(classes, axis=1, kind="stable")
    by_key = np.argsort(key, axis=1, kind="stable")
    wanted = np.take_along_axis(
        by_key, np.argsort(np.take_along_axis(classes, by_key, axis=1), axis=1, kind="stable"), 1
    )
    order = np.empty_like(wanted)
    np.put_along_axis(order, by_class, wanted, axis=1)
    return order
