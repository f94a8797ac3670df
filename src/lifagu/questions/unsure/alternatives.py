"""What each hole is under each alternative of its class: a table, its axes as in the winning one's.

A table counts up to scale, which changes no normalised model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    distinct,
    first_places,
    group_rows,
    offsets_of,
    places_within,
)
from lifagu.basics.cached import cached_property
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Tables of some open factors, for all their alternatives.

    With i = place[f] of an open factor f, its alternative a has tables[number[first[i] + a]].
    """

    tables: list[Floats]
    place: Ints
    first: Ints
    number: Ints

    @classmethod
    def of(cls, whole: PartsAndClasses, factors: Ints) -> Alternatives:
        """Complete the graph once for each place among the alternatives, and look at these."""
        lengths = np.diff(whole.graph.offsets)
        sizes = whole.sizes[whole.class_of[factors]]
        first = offsets_of(sizes)
        place = np.full(len(whole.class_of), -1, dtype=np.int64)
        place[factors] = np.arange(len(factors))
        number = np.empty(first[-1], dtype=np.int64)
        known = _Known()
        for alternative in range(int(sizes.max(initial=0))):
            here = np.flatnonzero(sizes > alternative)
            completed = _completed(whole, factors[here], alternative)
            for arity in distinct(lengths[factors[here]]).tolist():
                same = here[lengths[factors[here]] == arity]
                into = first[same] + alternative
                number[into] = known.numbers(completed, whole.graph, factors[same], arity)
        return cls(known.tables, place, first, number)

    @cached_property
    def _repeats(self) -> bool:
        """Whether any factor has the same table under two alternatives."""
        factor = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        same = group_rows(np.column_stack((factor, self.number)))
        return len(same) > int(same.max(initial=-1)) + 1

    def merged(self, factors: Ints) -> Ints:
        """For each alternative of the class of these factors the first that is the same in all."""
        starts = self.first[self.place[factors]]
        many = int(self.first[self.place[factors[0]] + 1] - starts[0])
        if not self._repeats:
            return np.arange(many)
        same = group_rows(self.number[starts[None, :] + np.arange(many)[:, None]])
        return first_places(same)[same]


def _completed(whole: PartsAndClasses, factors: Ints, alternative: int) -> FactorGraph:
    """The graph in which the classes of these factors take the alternative at this place."""
    classes = [whole.moved.open_classes[each] for each in distinct(whole.class_of[factors])]
    return whole.moved.completed((each, int(each.alternatives[alternative])) for each in classes)


@dataclass(frozen=True, eq=False)
class _Known:
    """Tables, equal ones once."""

    tables: list[Floats] = field(default_factory=list)
    _numbers: dict[tuple[tuple[int, ...], bytes], int] = field(default_factory=dict)

    def numbers(
        self, completed: FactorGraph, winning: FactorGraph, factors: Ints, arity: int
    ) -> Ints:
        """The numbers of the tables of some factors of one arity, axes as in the winning graph."""
        slots = winning.offsets[factors, None] + np.arange(arity)
        mine, wanted = completed.arguments[slots], winning.arguments[slots]
        order = (wanted[:, :, None] == mine[:, None, :]).argmax(axis=2)
        kind = group_rows(np.column_stack((completed.factor_table[factors], order)))
        found = [
            self._number(
                completed.tables[int(completed.factor_table[factors[at]])].transpose(order[at])
            )
            for at in first_places(kind).tolist()
        ]
        return np.array(found, dtype=np.int64)[kind]

    def _number(self, table: Floats) -> int:
        scaled = np.ascontiguousarray(table / table.max())
        key = scaled.shape, scaled.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self.tables)
            self.tables.append(scaled)
        return self._numbers[key]


def slots_of(offsets: Ints, factors: Ints) -> tuple[Ints, Ints]:
    """Where the arguments of these factors are, in a row, and how many each has."""
    lengths = np.diff(offsets)[factors]
    return np.repeat(offsets[factors], lengths) + places_within(lengths), lengths
