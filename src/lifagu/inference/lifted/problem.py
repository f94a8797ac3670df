"""What the lifted engine works on: rows, tables, variables, and the log Z collected so far.

A problem is a value: a step takes one and returns a smaller one, together with a record of what it
did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, by_first_occurrence, first_places, group_rows, members
from lifagu.basics.cached import cached_property
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.lifted.fifty_digits import total
from lifagu.inference.lifted.matrices import Matrices
from lifagu.inference.lifted.rows import Booleans, ByArity, Classes, Costs, New, RowPlaces, RowSet
from lifagu.inference.lifted.tables import TablePool


@dataclass(frozen=True, eq=False)
class Variables:
    """Variables by number; those that steps make are numbered after the model's.

    open[v]: v is still there and may be taken away now; present[v]: it is still there. original:
    the name of each of the first `originals` variables; listed: where the ground variables of a
    kind begin and stop, and its name.
    """

    sizes: Ints
    open: Booleans
    present: Booleans
    original: Callable[[int], str]
    originals: int
    listed: Mapping[int, tuple[int, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sizes)

    def name(self, variable: int) -> str:
        """The name of a variable, also of those that steps added."""
        if variable < self.originals:
            return self.original(variable)
        for first, (stop, kind) in self.listed.items():
            if first <= variable < stop:
                return f"one like {kind}"
        return f"histogram {variable - self.originals}"

    @cached_property
    def log_sizes(self) -> NDArray[np.float64]:
        """log2 of each variable's range size."""
        return np.log2(self.sizes)

    def plus(
        self, sizes: Sequence[int] | Ints, present: Booleans | None = None, opened: bool = True
    ) -> Variables:
        """These variables and further ones."""
        there = np.ones(len(sizes), dtype=np.bool_) if present is None else present
        return replace(
            self,
            sizes=np.append(self.sizes, np.asarray(sizes, dtype=np.int64)),
            open=np.append(self.open, there & opened),
            present=np.append(self.present, there),
        )

    def without(self, gone: Ints) -> Variables:
        """The variables, some of which are gone."""
        left = np.ones(len(self), dtype=np.bool_)
        left[gone] = False
        return replace(self, open=self.open & left, present=self.present & left)

    def opened(self, variables: Sequence[int]) -> Variables:
        """The variables, some more of which may be taken away."""
        now_open = self.open.copy()
        now_open[list(variables)] = True
        return replace(self, open=now_open)


@dataclass(frozen=True, eq=False)
class Deferred:
    """Rows that single individuals are listed for, put aside until all rows are.

    arguments: for each slot the variable, and an n×k matrix of the places of its individuals in
    their cells.
    """

    arguments: tuple[tuple[int, Ints], ...]
    label: int


@dataclass(frozen=True, eq=False)
class Tie:
    """Variables that are histograms from the start: variable i counts the members of class i.

    Over cells there is one variable; without an individual that is counted (logical -1) it counts
    all of the class's variables that name the same individuals as itself.
    """

    variables: Ints
    classes: Classes


@dataclass(frozen=True, eq=False)
class Problem(Generic[New]):
    """Rows on variables, with tables; kept variables are never taken away.

    collected: log Z so far; maximise: take the best instead of adding up. deferred: rows that are
    put aside while others are still over cells, whose variables are not open until then. ties: of
    histograms to what they count; neither is open until they are counted.
    """

    rows: RowSet[New]
    tables: TablePool
    variables: Variables
    kept: frozenset[int]
    collected: Decimal = Decimal(0)
    maximise: bool = False
    deferred: tuple[Deferred, ...] = ()
    ties: tuple[Tie, ...] = ()

    @property
    def log_constant(self) -> float:
        """The log weight of all that is no longer in rows."""
        return float(self.collected)

    @cached_property
    def costs(self) -> Costs:
        """What eliminating each of the open variables would cost."""
        return self.rows.elimination_costs(self.variables.open, self.variables.log_sizes)

    def after(
        self, rows: RowSet[New], variables: Variables, weights: Iterable[Decimal] = ()
    ) -> Problem[New]:
        """The problem after a step that left these, and collected these log weights."""
        return replace(
            self, rows=rows, variables=variables, collected=total([self.collected, *weights])
        )

    def exchanged(
        self,
        rows: RowSet[New],
        gone: Iterable[RowPlaces],
        new: Sequence[tuple[New, Ints]],
        variables: Variables,
        weights: Iterable[Decimal],
    ) -> tuple[Problem[New], ByArity, list[RowPlaces]]:
        """The problem with new entries (and their labels) in the place of some of its rows.

        rows: as they know the new variables. Second, which rows were left alone, by arity; third,
        where the new ones went.
        """
        removed: dict[int, list[Ints]] = {}
        for arity, entries in gone:
            removed.setdefault(arity, []).append(entries)
        left, kept = rows.without({arity: np.concatenate(own) for arity, own in removed.items()})
        together, places = left.plus(new)
        return self.after(together, variables, weights), kept, places


def start(
    graph: FactorGraph,
    evidence: Evidence,
    included: Booleans,
    keep: Iterable[int],
    maximise: bool = False,
) -> Problem[Ints]:
    """The graph's included variables, evidence fixed; rows of one table observed alike together.

    included[v]: whether v, and so the factors on it, takes part; observed variables take no part of
    their own.
    """
    observed = evidence.value_of_each(len(graph.variable_names))
    tables = TablePool()
    found = [*_factors(graph, observed, included, tables)]
    found += _soft(evidence, observed, included, tables)
    rows, _ = Matrices({}, {}).plus([(matrix, labels) for matrix, labels, _ in found])
    present, kept = included & (observed < 0), frozenset(keep)
    open_now = present.copy()
    open_now[list(kept)] = False
    names = graph.variable_names
    variables = Variables(graph.sizes.copy(), open_now, present, names.__getitem__, len(names))
    return Problem(rows, tables, variables, kept, total(weight for *_, weight in found), maximise)


def _factors(
    graph: FactorGraph, observed: Ints, included: Booleans, tables: TablePool
) -> Iterable[tuple[Ints, Ints, Decimal]]:
    """Rows without the observed variables, labels and log weight: factors observed alike together.

    Those with the same table and the same observed values share a label.
    """
    seen, missing = observed >= 0, ~included & (observed < 0)
    for every, scopes in graph.scopes:
        known = graph.factor_table[every] >= 0
        takes_part = known & ~missing[scopes].any(axis=1) if missing.any() else known
        factors, matrix = (
            (every, scopes) if takes_part.all() else (every[takes_part], scopes[takes_part])
        )
        fixed = seen[matrix]
        numbers = graph.factor_table[factors]
        kinds = by_first_occurrence(numbers)
        if fixed.any():
            kinds = group_rows(np.column_stack((kinds, np.where(fixed, observed[matrix] + 1, 0))))
        examples, many = first_places(kinds), np.bincount(kinds)
        shapes = group_rows(np.column_stack((fixed[examples], graph.sizes[matrix[examples]])))
        label = np.empty(len(examples), dtype=np.int64)
        for same in members(shapes):
            first = examples[same]
            entries, shape = _entries(matrix[first], fixed[first[0]], observed, graph.sizes)
            places = (graph.tables.offsets[numbers[first], None] + entries).T
            label[same], weight = tables.add_given(
                graph.tables.values[places].reshape(*shape, -1), many[same]
            )
            rows = np.flatnonzero(shapes[kinds] == shapes[same[0]])
            yield matrix[rows][:, ~fixed[first[0]]], label[kinds[rows]], weight


def _entries(
    scopes: Ints, fixed: Booleans, observed: Ints, sizes: Ints
) -> tuple[Ints, tuple[int, ...]]:
    """Where the entries with the observed values stand in tables of one shape, and their shape."""
    shape = sizes[scopes[0]]
    if not fixed.any():
        whole = tuple(shape.tolist())
        return np.broadcast_to(np.arange(math.prod(whole)), (len(scopes), math.prod(whole))), whole
    strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)[: len(shape)].astype(np.int64)
    start = (np.where(fixed, observed[scopes], 0) * strides).sum(axis=1)
    left = tuple(shape[~fixed].tolist())
    inner = (np.indices(left).reshape(len(left), math.prod(left)).T * strides[~fixed]).sum(axis=1)
    return start[:, None] + inner, left


def _soft(
    evidence: Evidence, observed: Ints, included: Booleans, tables: TablePool
) -> Iterable[tuple[Ints, Ints, Decimal]]:
    """Soft evidence as unary rows, labels and log weight; what is observed has weight alone."""
    soft = list(zip(evidence.soft_variables.tolist(), evidence.likelihoods, strict=True))
    for size in sorted({len(likelihood) for _, likelihood in soft}):
        alike = [
            (variable, own) for variable, own in soft if len(own) == size and included[variable]
        ]
        free = [(variable, own) for variable, own in alike if observed[variable] < 0]
        if free:
            many = np.ones(len(free), dtype=np.int64)
            labels, weight = tables.add_given(np.stack([own for _, own in free], axis=-1), many)
            yield np.array([[variable] for variable, _ in free]), labels, weight
    certain = [own[observed[variable]] for variable, own in soft if observed[variable] >= 0]
    if certain:
        labels, weight = tables.add_given(np.array(certain), np.ones(len(certain), dtype=np.int64))
        yield np.zeros((len(certain), 0), dtype=np.int64), labels, weight
