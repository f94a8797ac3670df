"""Rows over cells of interchangeable individuals: a million individuals cost as much as two.

An entry is a pattern, and a variable stands for all ground variables of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.inference.lifted.cells import eliminating, merging, pairs, twins
from lifagu.inference.lifted.cells.pattern import Entries
from lifagu.inference.lifted.cells.pattern import Individuals as Individuals
from lifagu.inference.lifted.cells.pattern import Pattern as Pattern
from lifagu.inference.lifted.rows import (
    Apart,
    Blocks,
    Booleans,
    ByArity,
    Classes,
    Costs,
    CountedRows,
    Joined,
    MergedRows,
    RowPlaces,
    SlotClasses,
)
from lifagu.inference.lifted.table_stack import Sum


class Patterns(Entries):
    """All rows, by arity: patterns and the numbers of their tables."""

    def count(self) -> int:
        """Number of rows with arguments."""
        return sum(self.weight(pattern) for *_, pattern in self.each())

    def weight(self, new: Pattern) -> int:
        """Number of rows that a pattern stands for."""
        return self.individuals.weight(new)

    def members(self, variables: Ints) -> int:
        """Number of ground variables that these stand for."""
        return sum(map(self.individuals.members, variables.tolist()))

    def alone(self, variables: Ints) -> Pattern:
        """A pattern on nothing but this one variable."""
        (variable,) = variables.tolist()
        cells = self.individuals.cells_of[variable]
        return Pattern(cells, ((variable, tuple(range(len(cells)))),))

    def naming(self, variables: Ints, like: int, logical: int) -> Patterns:
        """The same rows, which know new variables, named like another but for one individual."""
        cells = self.individuals.cells_of[like] if like >= 0 else ()
        left = tuple(cell for place, cell in enumerate(cells) if place != logical)
        known = self.individuals.cells_of | dict.fromkeys(variables.tolist(), left)
        return Patterns(Individuals(self.individuals.sizes, known), self.patterns, self.labels)

    def pairings(self) -> list[Ints]:
        """Sets of patterns of arity 2 that may pair two variables: each by itself."""
        return [np.array([entry]) for entry in range(len(self.patterns.get(2, ())))]

    def without(self, removed: ByArity) -> tuple[Patterns, ByArity]:
        """The patterns that are left, and for each arity which old ones they are."""
        left = self._left(removed)
        patterns = {
            arity: [self.patterns[arity][entry] for entry in kept.tolist()]
            for arity, kept in left.items()
        }
        labels = {arity: self.labels[arity][kept] for arity, kept in left.items()}
        return Patterns(self.individuals, patterns, labels), left

    def plus(self, more: Sequence[tuple[Pattern, Ints]]) -> tuple[Patterns, list[RowPlaces]]:
        """The patterns with further ones (pattern, label) at the end, and where each went."""
        patterns = {arity: list(each) for arity, each in self.patterns.items()}
        labels = {arity: each.tolist() for arity, each in self.labels.items()}
        places = []
        for pattern, label in more:
            arity = len(pattern.arguments)
            places.append((arity, np.array([len(patterns.setdefault(arity, []))])))
            patterns[arity].append(pattern)
            labels.setdefault(arity, []).extend(label.tolist())
        return Patterns(self.individuals, patterns, _arrays(labels)), places

    def relabelled(self, labels: ByArity) -> Patterns:
        """The same patterns with other tables."""
        return Patterns(self.individuals, self.patterns, labels)

    def uses(self, labels: int) -> NDArray[np.object_]:
        """For each of so many labels the number of rows with it."""
        counts = np.zeros(labels, dtype=object)
        for arity, each in self.patterns.items():
            for pattern, label in zip(each, self.labels[arity].tolist(), strict=True):
                counts[label] += self.weight(pattern)
        return counts

    def merge(self, first_label: int) -> MergedRows[Pattern]:
        """Bring rows over the same variables together; one that is alone stays as it is."""
        sums = {}
        patterns, labels, target, order = {}, {}, {}, {}
        for arity in self.arities():
            own: dict[Sum, int] = {}
            patterns[arity], labels[arity], target[arity], order[arity] = merging.merge(
                self.patterns[arity], self.labels[arity], self.individuals, first_label, own
            )
            if own:
                sums[arity] = merging.listed(list(own), arity)
            first_label += len(own)
        return MergedRows(
            Patterns(self.individuals, patterns, _arrays(labels)), sums, target, order
        )

    @cached_property
    def _around(self) -> dict[int, eliminating.Around]:
        """What is around each variable that can be eliminated."""
        found = {
            variable: eliminating.around(self, variable) for variable in self.individuals.cells_of
        }
        return {variable: around for variable, around in found.items() if around is not None}

    def elimination_costs(self, wanted: Booleans, log_sizes: NDArray[np.float64]) -> Costs:
        """Cost of each wanted variable that can be eliminated."""
        return eliminating.costs(self._around, wanted, log_sizes)

    def in_small_groups(self, chosen: Ints, count: int, most: int) -> Booleans:
        """No variable: one that stands for many is in groups as large as its cells."""
        return np.zeros(count, dtype=np.bool_)

    def states_around(self, log_sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """More than can be told: a variable stands for many."""
        return np.full(len(log_sizes), np.inf)

    def independent(
        self, chosen: Ints, cost: NDArray[np.float64], count: int, lowest: bool = False
    ) -> Ints:
        """Those of the chosen, cheapest first, then by id, that share no row with one before."""
        taken: list[int] = []
        blocked: set[int] = set()
        price = dict(zip(chosen.tolist(), cost.tolist(), strict=True))
        for place in np.lexsort((chosen, cost)).tolist():
            variable = int(chosen[place])
            where = self.where.get(variable, ())
            near = {
                other
                for arity, entry, _ in where
                for other in self.patterns[arity][entry].variables
            }
            cheapest = min(
                (price[other] for other in near if other in price), default=price[variable]
            )
            if variable not in blocked and not (lowest and cheapest < price[variable]):
                taken.append(variable)
                blocked |= near
        return np.sort(np.array(taken, dtype=np.int64))

    def blocks(self, chosen: Ints, sizes: Ints) -> list[Blocks[Pattern]]:
        """The rows around each of the chosen (independent) variables."""
        return [eliminating.block(self, each, self._around[each]) for each in chosen.tolist()]

    def twins(self, wanted: Booleans, sizes: Ints, slot_classes: SlotClasses) -> list[Classes]:
        """Classes, one at a time, whose ground variables may be interchangeable: proposals."""
        open_variables = np.flatnonzero(wanted).tolist()
        return twins.proposed(self, open_variables, sizes, slot_classes)

    def interchangeable(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[int]:
        """The one class, if swapping its ground variables leaves the rows as they are."""
        return twins.interchangeable(self, classes, int(variables[0]), slot_classes)

    def apart_from_each_other(self, classes: Classes) -> list[int]:
        """The one class."""
        return list(range(len(classes)))

    def quotient(
        self, classes: Classes, variables: Ints, slot_classes: SlotClasses
    ) -> list[CountedRows[Pattern]]:
        """Replace the members of the one class by a variable that counts them."""
        return twins.quotient(self, classes, int(variables[0]), slot_classes)

    def wide(self) -> Patterns:
        """The rows with more than one argument."""
        return Patterns(
            self.individuals,
            {arity: each for arity, each in self.patterns.items() if arity != 1},
            {arity: each for arity, each in self.labels.items() if arity != 1},
        )

    def apart(self, old: Ints, turned: bool) -> Apart[Pattern] | None:
        """Whether these patterns are A(X), B(Y), X ≠ Y; turned: A is in the second slot."""
        return pairs.apart(self.patterns[2][int(old[0])], self.individuals, turned)

    def matchings(self, wanted: Booleans) -> list[tuple[Ints, Ints]]:
        """Pairs of variables that the rows of one table match one to one."""
        found = dict.fromkeys(
            pair for *_, pattern in self.each() for pair in pairs.matchings(pattern)
        )
        return [
            (np.array([pair[0]]), np.array([pair[1]])) for pair in found if wanted[list(pair)].all()
        ]

    def join(self, first: Ints, second: Ints, joined: Ints) -> list[Joined[Pattern]] | None:
        """Replace a pair of variables by one, everywhere; None if a row holds two pairs."""
        pair = int(first[0]), int(second[0])
        return pairs.join(self, pair, int(joined[0]))


def _arrays(labels: Mapping[int, Sequence[int]]) -> ByArity:
    return {arity: np.array(each, dtype=np.int64) for arity, each in labels.items()}
