"""Which classes of holes have members in which connected parts, and which parts bear witness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, connected_parts, distinct, group_rows, offsets_of
from lifagu.basics.cached import cached_property
from lifagu.filling.result import Transfer
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PartsAndClasses:
    """Connected parts 0, 1, … of a filled graph, cut at what was observed where bounds are asked.

    part_of[v]: of each variable, -1 where it is cut away; factor_part[f]: of each factor, -1 where
    it does not matter; class_of[f]: the open class of each factor, -1 for others; sizes[k]: how
    many alternatives class k has. A factor observed throughout is a part for itself if it is open.
    """

    moved: Transfer
    evidence: Evidence
    cut: bool
    part_of: Ints
    factor_part: Ints
    class_of: Ints
    sizes: Ints

    @classmethod
    def of(cls, moved: Transfer, evidence: Evidence, *, cut: bool) -> PartsAndClasses:
        """Find them; near-linear."""
        graph = moved.graph
        class_of = np.full(len(graph.factor_names), -1, dtype=np.int64)
        for number, each in enumerate(moved.open_classes):
            class_of[each.factors] = number
        class_of[graph.factor_table < 0] = -1  # members that no table fits
        observed = evidence.value_of_each(len(graph.variable_names)) >= 0
        part_of = parts_without(graph, observed & cut)
        factor_part = parts_of_factors(graph, part_of, np.arange(len(class_of)))
        alone = np.flatnonzero((class_of >= 0) & (factor_part < 0) & (np.diff(graph.offsets) > 0))
        factor_part[alone] = int(part_of.max(initial=-1)) + 1 + np.arange(len(alone))
        sizes = np.array([len(each.shares) for each in moved.open_classes], dtype=np.int64)
        return cls(moved, evidence, cut, part_of, factor_part, class_of, sizes)

    @property
    def graph(self) -> FactorGraph:
        """The graph with the winning tables."""
        return self.moved.graph

    @cached_property
    def count(self) -> int:
        """How many parts there are."""
        return max(int(self.part_of.max(initial=-1)), int(self.factor_part.max(initial=-1))) + 1

    # ---- lists by part

    @cached_property
    def _factors(self) -> tuple[Ints, Ints]:
        return _lists(self.factor_part, self.count)

    @cached_property
    def factor_counts(self) -> Ints:
        """How many factors each part has."""
        return np.diff(self._factors[0])

    def factors_in(self, parts: Ints) -> tuple[Ints, Ints]:
        """The known factors of these parts in a row, part after part, and how many each has."""
        offsets, factors = self._factors
        found, _ = taken_lists(offsets, factors, parts)
        known = self.graph.factor_table[found] >= 0
        place = np.repeat(np.arange(len(parts)), self.factor_counts[parts])
        return found[known], np.bincount(place[known], minlength=len(parts))

    @cached_property
    def _variables(self) -> tuple[Ints, Ints]:
        return _lists(self.part_of, self.count)

    def variables_in(self, parts: Ints) -> tuple[Ints, Ints]:
        """The free variables of these parts in a row, and how many each has."""
        found, _ = taken_lists(*self._variables, parts)
        return found, np.diff(self._variables[0])[parts]

    # ---- parts and classes

    @cached_property
    def _pairs(self) -> Ints:
        """Rows of (part, class), ascending, each once."""
        inside = (self.class_of >= 0) & (self.factor_part >= 0)
        most = max(len(self.sizes), 1)
        packed = distinct(self.factor_part[inside] * most + self.class_of[inside])
        return np.column_stack((packed // most, packed % most))

    @cached_property
    def _class_offsets(self) -> Ints:
        return offsets_of(np.bincount(self._pairs[:, 0], minlength=self.count))

    def classes_in(self, part: int) -> Ints:
        """The open classes with members in a part, ascending."""
        return self._pairs[self._class_offsets[part] : self._class_offsets[part + 1], 1]

    @cached_property
    def class_places(self) -> Ints:
        """For each open factor the place of its class among those of its part; -1 for others."""
        most = max(len(self.sizes), 1)
        packed = self._pairs[:, 0] * most + self._pairs[:, 1]
        inside = np.flatnonzero((self.class_of >= 0) & (self.factor_part >= 0))
        places = np.full(len(self.class_of), -1, dtype=np.int64)
        wanted = self.factor_part[inside] * most + self.class_of[inside]
        first = self._class_offsets[self.factor_part[inside]]
        places[inside] = np.searchsorted(packed, wanted) - first
        return places

    @cached_property
    def touched(self) -> Flags:
        """Which parts have members of open classes."""
        return np.diff(self._class_offsets) > 0

    @cached_property
    def combinations(self) -> NDArray[np.float64]:
        """How many combinations of alternatives each part has; inf where they cannot be told."""
        logs = np.zeros(self.count)
        np.add.at(logs, self._pairs[:, 0], np.log(self.sizes[self._pairs[:, 1]]))
        with np.errstate(over="ignore"):
            return np.asarray(np.round(np.exp(logs)), dtype=np.float64)

    # ---- who bears witness

    @cached_property
    def observed(self) -> Flags:
        """Which parts have observations that weigh completions."""
        seen = np.zeros(self.count, dtype=np.bool_)
        if not self.cut:
            seen[self.part_of[self.evidence.about]] = True
        return seen

    @cached_property
    def left(self) -> Flags:
        """Which parts have factors that stay unknown."""
        parts = self.factor_part[self.graph.unknown]
        return np.bincount(parts[parts >= 0], minlength=self.count) > 0

    @cached_property
    def may_forbid(self) -> Flags:
        """Which parts may be impossible under some tables, as some potentials are zero.

        What competes for a hole is only known by size here: it counts if any table has.
        """
        zero = _with_zero(self.graph)
        original = self.moved.original
        sizes = np.diff(original.tables.offsets)[_with_zero(original)]
        spans = np.ones(len(self.class_of), dtype=np.int64)
        lengths = np.diff(self.graph.offsets)
        some = lengths > 0
        spans[some] = np.multiply.reduceat(
            self.graph.sizes[self.graph.arguments], self.graph.offsets[:-1][some]
        )
        numbers = self.graph.factor_table
        holed = (zero[numbers] & (numbers >= 0)) if len(zero) else np.zeros(len(numbers), bool)
        holed |= (self.class_of >= 0) & np.isin(spans, sizes)
        found = np.bincount(self.factor_part[holed & (self.factor_part >= 0)], minlength=self.count)
        pairs = zip(self.evidence.soft_variables, self.evidence.likelihoods, strict=True)
        soft = [int(self.part_of[each]) for each, likelihood in pairs if not likelihood.all()]
        found[[part for part in soft if part >= 0]] += 1
        return found > 0

    @cached_property
    def witness(self) -> Flags:
        """Which parts say something about the choices of classes."""
        return self.touched & (self.observed | (self.may_forbid & ~self.left))

    @cached_property
    def _group_of_class(self) -> Ints:
        """Classes that witnesses link, however many of these there are between."""
        pairs = self._pairs[self.witness[self._pairs[:, 0]]]
        same = pairs[1:, 0] == pairs[:-1, 0]
        return connected_parts(len(self.sizes), pairs[:-1, 1][same], pairs[1:, 1][same])

    @cached_property
    def _witnesses(self) -> tuple[Ints, Ints]:
        """The witnesses of each group of classes, as lists in a flat array."""
        pairs = self._pairs[self.witness[self._pairs[:, 0]]]
        rows = np.column_stack((pairs[:, 0], self._group_of_class[pairs[:, 1]]))
        rows = rows[np.unique(group_rows(rows), return_index=True)[1]] if len(rows) else rows
        order = np.lexsort((rows[:, 0], rows[:, 1]))
        counts = np.bincount(rows[:, 1], minlength=int(self._group_of_class.max(initial=-1)) + 1)
        return offsets_of(counts), rows[order, 0]

    def witnesses_of(self, classes: Ints) -> Ints:
        """The parts that speak about these classes, directly or through other classes."""
        groups = distinct(self._group_of_class[classes])
        return taken_lists(*self._witnesses, groups)[0]

    def classes_of(self, parts: Ints) -> Ints:
        """The classes with members in any of these parts, ascending."""
        found = [self.classes_in(part) for part in parts.tolist()]
        return distinct(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _lists(part_of: Ints, count: int) -> tuple[Ints, Ints]:
    """The elements of each part, ascending, as lists in a flat array."""
    inside = np.flatnonzero(part_of >= 0)
    order = inside[np.argsort(part_of[inside], kind="stable")]
    return offsets_of(np.bincount(part_of[inside], minlength=count)), order


def _with_zero(graph: FactorGraph) -> Flags:
    """Which tables of a graph hold a zero."""
    zeros = offsets_of((graph.tables.values == 0).astype(np.int64))
    offsets = graph.tables.offsets
    return zeros[offsets[1:]] > zeros[offsets[:-1]]
