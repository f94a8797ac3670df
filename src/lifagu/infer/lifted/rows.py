"""Rows: which variables a shared table stands on, and the few questions the lifted engine asks about them.

A table's rows are all the argument tuples it stands on. Tables are known to rows by their number (their *label*) alone
and never looked into; every answer that makes new rows tells which old rows they came from. There are two kinds of row
sets: `matrices` lists rows as integers and answers by sorting; `patterns` describes them over cells of interchangeable
individuals, so that one entry stands for all rows of a shape and one variable for all variables of a kind. The engine
does not know which it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints

Place = tuple[int, Ints]  # arity, and entries of that arity
New = Any  # entries to be added, as the kind of row set wants them
Booleans = NDArray[np.bool_]
SlotClasses = Callable[[int, Ints], Ints]  # (arity, labels) -> labels × arity: which slots of a table may be swapped
Sum = tuple[tuple[int, tuple[int, ...], Fraction], ...]  # tables: label, order in which to take its axes, how often


@dataclass(frozen=True, eq=False)
class Merged:
    """Rows after those over the same variables have become one.

    sums[i] makes up the new label first_label + i. For each arity, target[k]: the new entry of each old one, and
    order[k]: for each old entry the order in which to take its axes.
    """

    rows: Rows
    sums: list[Sum]
    target: dict[int, Ints]
    order: dict[int, Ints]


@dataclass(frozen=True, eq=False)
class Costs:
    """What eliminating each variable would make, as log2 of the entries, and how large its largest table is now."""

    variables: Ints
    new: NDArray[np.float64]
    old: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Variables to be eliminated alike: the same tables in the same slots, neighbours coinciding in the same way.

    new: the entries on the neighbours; near: one example of neighbours; together: the individuals in the names of those
    that are summed out together, one in general; parts: for each row of a block its label and what stands in its slots,
    first counting those summed out, then the neighbours; sources[j]: the arity and, for each variable, the entry of
    part j.
    """

    variables: Ints
    new: New
    near: tuple[int, ...]
    parts: list[tuple[int, tuple[int, ...]]]
    sources: list[Place]
    together: tuple[tuple[int, ...], ...] = ((),)


@dataclass(frozen=True, eq=False)
class Twins:
    """Variables that may be interchangeable: their numbers, and how many ground variables one histogram counts.

    logical: which of the individuals of a variable's name is counted, where variables stand for many.
    """

    variables: Ints
    count: int
    logical: int = -1


@dataclass(frozen=True, eq=False)
class Counted:
    """Entries in which interchangeable variables were replaced by one that counts them, which comes first.

    slots: of the members in the old table; tie: the slot that held the counting variable already, -1 if none did;
    groups: for each old entry the new one.
    """

    label: int
    slots: tuple[int, ...]
    tie: int
    new: New
    old: Place
    groups: Ints


@dataclass(frozen=True, eq=False)
class Apart:
    """Rows A(X), B(Y) for all X ≠ Y: their variables, how many there are of each, and how to pair A(X) with B(X).

    paired(h) gives the entries on (A(X), B(X), h); groups: for each old entry the new one.
    """

    first: Ints
    second: Twins
    paired: Callable[[int], New]
    groups: Ints


OTHER, FIRST, SECOND, OWN_FIRST, OWN_SECOND = range(5)  # what a slot holds; "own": its partner is in the row, too
Held = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Joined:
    """Entries in which two variables became one: what the old slots held, and the slots that stay."""

    label: int
    held: Held
    new: New
    old: Place


class Rows(Protocol):
    """What the engine asks."""

    @property
    def labels(self) -> dict[int, Ints]:
        """The table of each entry, by arity."""

    def count(self) -> int:
        """Number of rows with arguments."""

    def weight(self, new: New) -> int:
        """Number of rows that new entries stand for."""

    def members(self, variables: Ints) -> int:
        """Number of ground variables that these stand for."""

    def example(self, new: New) -> tuple[int, ...]:
        """The variables of one of the new entries."""

    def alone(self, variable: int) -> New:
        """Entries on nothing but this variable."""

    def arities(self) -> list[int]:
        """Arities with rows, ascending, without 0."""

    def pairings(self) -> list[Ints]:
        """Sets of entries of arity 2 that share a table and may pair two sorts of variables."""

    def at(self, place: Place, slot: int) -> Ints:
        """The variable in one slot of each of these entries."""

    def without(self, removed: dict[int, Ints]) -> tuple[Rows, dict[int, Ints]]:
        """The entries that are left, and for each arity which old ones they are."""

    def plus(self, more: Sequence[tuple[New, int]]) -> tuple[Rows, list[Place]]:
        """The entries with further ones (new, label) at the end, and where each of them went."""

    def relabelled(self, labels: dict[int, Ints]) -> Rows:
        """The same entries with other tables."""

    def reordered(self, orders: dict[int, Ints]) -> Rows:
        """The same entries, each with its slots taken in the given order."""

    def merge(self, first_label: int) -> Merged:
        """Bring rows over the same variables together; a table that is alone keeps its label and its order."""

    def uses(self, labels: int) -> list[int]:
        """For each of so many labels the number of rows with it."""

    def elimination_costs(self, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
        """Cost of each wanted variable that can be eliminated."""

    def independent(self, chosen: Ints, cost: NDArray[np.float64], count: int) -> Ints:
        """Those of the chosen, cheapest first and then in id order, that share no row with one taken before."""

    def blocks(self, chosen: Ints, sizes: Ints) -> list[Blocks]:
        """The rows around each of the chosen (independent) variables, grouped by shape."""

    def twins(self, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> list[Twins]:
        """Sets of wanted variables that stand in the same tables beside the same others: proposals only."""

    def members_first(self, twins: Twins, count: int, slot_classes: SlotClasses) -> dict[int, Ints]:
        """For each entry the order of its slots in which, of swappable ones, members of a class come first."""

    def quotient(self, twins: Twins, variable: int, count: int) -> list[Counted] | None:
        """Replace members by one variable that counts them; None if the rows are not the same for all of them.

        Whether tables are symmetric in the members' slots is for the caller to check.
        """

    def wide(self) -> Rows:
        """The rows with more than one argument."""

    def unary(self, count: int) -> tuple[Ints, Ints]:
        """For each of `count` variables the label and the entry of its row of arity 1, -1 if there is none."""

    def apart(self, old: Ints, turned: bool) -> Apart | None:
        """Whether these entries of arity 2 pair all A(X) with all B(Y), X ≠ Y; turned: A stands in the second slot."""

    def matchings(self, wanted: Booleans) -> list[tuple[Ints, Ints]]:
        """Pairs of variables (first[i], second[i]) that one table of two arguments matches one to one."""

    def join(self, first: Ints, second: Ints, joined: Ints) -> list[Joined] | None:
        """Replace first[i] and second[i] by joined[i], everywhere; None if some row holds two whole pairs."""


def join_columns(held: Held) -> tuple[list[int], list[int]]:
    """How slots come together when pairs are joined: the old ones in order, partners side by side; those that stay."""
    slots = [slot for slot, kind in enumerate(held) if kind != OWN_SECOND]
    if OWN_FIRST in held:
        slots.insert(slots.index(held.index(OWN_FIRST)) + 1, held.index(OWN_SECOND))
    return slots, [slot for slot in slots if held[slot] != OWN_SECOND]
