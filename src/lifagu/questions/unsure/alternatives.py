"""What each hole is under each alternative of its class: a table, and an order of arguments."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    distinct,
    first_places,
    group_lists,
    group_rows,
    offsets_of,
    places_within,
)
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.tables import Tables
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Tables and orders of the open factors of some parts, for all their alternatives.

    tables: all of the winning graph, then those of alternatives. With i = place[f] of an open
    factor f and a an alternative: entry first[i] + a says which `number` its table has, which one
    `up_to_scale`, and orders[order_first[entry] + s] where its argument s is in the winning graph.
    """

    tables: Tables
    place: Ints
    first: Ints
    number: Ints
    up_to_scale: Ints
    order_first: Ints
    orders: Ints

    @classmethod
    def of(cls, whole: PartsAndClasses, factors: Ints) -> Alternatives:
        """Complete the graph once for each place among the alternatives, and look at these."""
        graph, lengths = whole.graph, np.diff(whole.graph.offsets)
        sizes = whole.sizes[whole.class_of[factors]]
        first = offsets_of(sizes)
        order_first = offsets_of(np.repeat(lengths[factors], sizes))
        orders = np.empty(order_first[-1], dtype=np.int64)
        store = _Store(graph.tables)
        number, up_to_scale = np.empty((2, first[-1]), dtype=np.int64)
        place = np.full(len(graph.factor_names), -1, dtype=np.int64)
        place[factors] = np.arange(len(factors))
        for alternative in range(int(sizes.max(initial=0))):
            here = np.flatnonzero(sizes > alternative)
            completed = _completed(whole, factors[here], alternative)
            entries = first[here] + alternative
            number[entries], up_to_scale[entries] = store.numbers(completed, factors[here])
            for arity in distinct(lengths[factors[here]]).tolist():
                same = here[lengths[factors[here]] == arity]
                slots = graph.offsets[factors[same], None] + np.arange(arity)
                mine, other = completed.arguments[slots], graph.arguments[slots]
                order = (mine[:, :, None] == other[:, None, :]).argmax(axis=2)
                into = order_first[first[same] + alternative]
                orders[into[:, None] + np.arange(arity)] = order
        return cls(store.tables(), place, first, number, up_to_scale, order_first, orders)

    @cached_property
    def look(self) -> Ints:
        """Entries of one factor are numbered alike where they mean the same, up to scale."""
        orders = group_lists(self.order_first, self.orders)
        factor = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        return group_rows(np.column_stack((factor, self.up_to_scale, orders)))

    @cached_property
    def repeats(self) -> bool:
        """Whether any factor has two alternatives that mean the same."""
        return len(self.look) > int(self.look.max(initial=-1)) + 1

    def merged(self, factors: Ints) -> Ints:
        """For each alternative of the class of these factors the first that is the same in all."""
        starts = self.first[self.place[factors]]
        many = int(self.first[self.place[factors[0]] + 1] - starts[0])
        if not self.repeats:
            return np.arange(many)
        same = group_rows(self.look[starts[None, :] + np.arange(many)[:, None]])
        return first_places(same)[same]


def _completed(whole: PartsAndClasses, factors: Ints, alternative: int) -> FactorGraph:
    """The graph in which the classes of these factors take the alternative at this place."""
    classes = [whole.moved.open_classes[each] for each in distinct(whole.class_of[factors])]
    return whole.moved.completed((each, int(each.alternatives[alternative])) for each in classes)


class _Store:
    """Tables of several graphs in a row, equal ones once; and numbers for those equal to scale."""

    def __init__(self, tables: Tables) -> None:
        self._base = tables
        self._numbers: dict[Hashable, tuple[int, int]] = {}
        self._more: list[tuple[Ints, Floats]] = []
        self._scaled: dict[Hashable, int] = {}

    def numbers(self, graph: FactorGraph, factors: Ints) -> tuple[Ints, Ints]:
        """The numbers here of the tables of some factors, and their numbers up to scale."""
        own, place = np.unique(graph.factor_table[factors], return_inverse=True)
        known = np.array([self._number(graph.tables, table) for table in own.tolist()])
        return known[place, 0], known[place, 1]

    def _number(self, tables: Tables, table: int) -> tuple[int, int]:
        axes, values = tables.ranges_of(table), tables[table].reshape(-1)
        key = axes.tobytes(), values.tobytes()
        if key not in self._numbers:
            scaled = key[0], (values / values.max()).tobytes()
            number = len(self._base) + len(self._more), len(self._scaled)
            self._numbers[key] = number[0], self._scaled.setdefault(scaled, number[1])
            self._more.append((axes, values))
        return self._numbers[key]

    def tables(self) -> Tables:
        """All of them."""
        base, axes, values = self._base, [], []
        for each, numbers in self._more:
            axes.append(each)
            values.append(numbers)
        return replace(
            base,
            values=np.concatenate((base.values, *values)),
            offsets=_longer(base.offsets, list(map(len, values))),
            axes=np.concatenate((base.axes, *axes)),
            axis_offsets=_longer(base.axis_offsets, list(map(len, axes))),
        )


def _longer(offsets: Ints, lengths: list[int]) -> Ints:
    return np.concatenate((offsets, offsets[-1] + np.cumsum(np.array(lengths, dtype=np.int64))))


def slots_of(offsets: Ints, factors: Ints) -> tuple[Ints, Ints]:
    """Where the arguments of these factors are, in a row, and how many each has."""
    lengths = np.diff(offsets)[factors]
    return np.repeat(offsets[factors], lengths) + places_within(lengths), lengths
