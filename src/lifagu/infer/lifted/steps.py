"""The steps of the lifted engine, each an identity on the ground model: merge, eliminate, count.

Every step changes the state and leaves a record with which probabilities can walk back through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted import rows as row_sets
from lifagu.infer.lifted.algebra import (
    Table,
    block_product,
    counted_table,
    histograms,
    log_multinomial,
    log_sum,
    symmetric,
    times,
)
from lifagu.infer.lifted.rows import Blocks, Place, Rows
from lifagu.infer.lifted.state import State
from lifagu.views import counted

MOST_ENTRIES = 2**22  # of a table made by counting
Entry = tuple[int, tuple[int, ...], Place, Ints, Place]  # label, slots of members, old rows, their groups, new rows


@dataclass(frozen=True, eq=False)
class MergeStep:
    """Rows over the same variables became one: target and order of each old row, by arity."""

    before: Rows
    target: dict[int, Ints]
    order: dict[int, Ints]

    def __str__(self) -> str:
        count = sum(map(len, self.target.values()))
        return f"merge rows over the same variables ({counted(count, 'row')} looked at)"


@dataclass(frozen=True, eq=False)
class EliminateStep:
    """Independent variables were summed out: for each shape its blocks, their product, and where its rows went."""

    before: Rows
    kept: dict[int, Ints]
    shapes: list[tuple[Blocks, Table, Table, Place]]

    def __str__(self) -> str:
        variables = sum(len(blocks.variables) for blocks, *_ in self.shapes)
        largest = max((product.size for _, product, _, _ in self.shapes), default=0)
        groups = counted(len(self.shapes), "group")
        return f"eliminate {counted(variables, 'variable')} in {groups} (largest table {largest} entries)"


@dataclass(frozen=True, eq=False)
class CountStep:
    """A class of interchangeable variables became one variable whose values are histograms."""

    before: Rows
    kept: dict[int, Ints]
    members: Ints
    variable: int
    counts: Ints
    entries: list[Entry]

    def __str__(self) -> str:
        return f"count {len(self.members)} interchangeable variables ({len(self.counts)} histograms)"


def merge(state: State) -> MergeStep | None:
    """Rows over the same variables become one; None if there were none."""
    merged = row_sets.merge(state.rows, len(state.pool.tables))
    if not merged.sums:
        return None
    names = _add_sums(state, merged)
    labels = {arity: names[numbers] for arity, numbers in merged.rows.labels.items()}
    step = MergeStep(state.rows, merged.target, merged.order)
    state.rows = Rows(merged.rows.matrix, labels)
    return step


def _add_sums(state: State, merged: row_sets.Merged) -> Ints:
    """Add the new tables to the pool; returns the number in the pool of each label."""
    first = len(state.pool.tables)
    uses = np.zeros(first + len(merged.sums), dtype=np.int64)
    for numbers in merged.rows.labels.values():
        uses += np.bincount(numbers, minlength=len(uses))
    names = np.arange(first + len(merged.sums))
    for place, terms in enumerate(merged.sums):
        table = sum(times(state.pool[label].transpose(order), often) for label, order, often in terms)
        names[first + place] = state.pool.add(np.asarray(table), int(uses[first + place]))
    return names


def eliminate(state: State, chosen: Ints) -> EliminateStep:
    """Sum out independent variables, alike ones together."""
    shapes = row_sets.blocks(state.rows, chosen, state.sizes)
    removed: dict[int, list[Ints]] = {}
    made, products = [], []
    for blocks in shapes:
        for arity, sources in blocks.sources:
            removed.setdefault(arity, []).append(sources)
        sizes = (int(state.sizes[blocks.variables[0]]), *state.sizes[blocks.neighbours[0]].tolist())
        parts = [(state.pool[label], slot, near) for label, slot, near in blocks.parts]
        product = block_product(parts, sizes)
        result = product.max(axis=0) if state.maximise else log_sum(product, axis=0)
        products.append((product, result))
        made.append((blocks.neighbours, state.pool.add(result, len(blocks.variables))))
    before = state.rows
    left, kept = before.without({arity: np.concatenate(gone) for arity, gone in removed.items()})
    state.rows, places = left.plus(made)
    state.retire(chosen)
    shaped = [(blocks, *pair, place) for blocks, pair, place in zip(shapes, products, places, strict=True)]
    return EliminateStep(before, kept, shaped)


def bring_forward(state: State, members: Ints) -> MergeStep:
    """Take swappable slots of rows in such an order that members of a class come first."""
    orders = row_sets.members_first(state.rows, members, len(state.sizes), state.pool.slot_classes)
    step = MergeStep(state.rows, {arity: np.arange(len(order)) for arity, order in orders.items()}, orders)
    matrix = {arity: np.take_along_axis(state.rows.matrix[arity], order, axis=1) for arity, order in orders.items()}
    state.rows = Rows(matrix, {arity: state.rows.labels[arity] for arity in orders})
    return step


def count(state: State, members: Ints) -> CountStep | None:
    """Count a class of interchangeable variables; None if they are not, or if the tables would be too large."""
    size = int(state.sizes[members[0]])
    values = number_of_histograms(len(members), size)
    if values > MOST_ENTRIES:
        return None
    quotient = row_sets.quotient(state.rows, members, len(state.sizes), len(state.sizes))
    if quotient is None:
        return None
    for label, slots, new, _, _ in quotient.entries:
        others = int(np.prod(state.sizes[new[0, 1:]])) if len(new) else 1
        if values * others > MOST_ENTRIES or not symmetric(state.pool[label], slots):
            return None
    counts = histograms(len(members), size)
    variable = state.add_variable(values)
    weights = np.zeros(len(counts), dtype=np.longdouble) if state.maximise else log_multinomial(counts)
    before, kept, entries = replace_members(state, members, quotient, variable, counts, weights, [])
    return CountStep(before, kept, members, variable, counts, entries)


def replace_members(
    state: State,
    members: Ints,
    quotient: row_sets.Quotient,
    variable: int,
    counts: Ints,
    weights: Table,
    unary_rows: Sequence[Ints],
) -> tuple[Rows, dict[int, Ints], list[Entry]]:
    """Put one variable with these weights in the place of a class of members; unary_rows go, too.

    Returns the rows before, which of them were kept, and where the others went.
    """
    made = [(np.array([[variable]]), state.pool.add(weights, 1))]
    removed: dict[int, list[Ints]] = {1: list(unary_rows)} if unary_rows else {}
    for label, slots, new, (arity, gone), _ in quotient.entries:
        made.append((new, state.pool.add(counted_table(state.pool[label], slots, counts), len(new))))
        removed.setdefault(arity, []).append(gone)
    before = state.rows
    left, kept = before.without({arity: np.concatenate(gone) for arity, gone in removed.items()})
    state.rows, places = left.plus(made)
    state.retire(members)
    entries = [
        (label, slots, old, groups, place)
        for (label, slots, _, old, groups), place in zip(quotient.entries, places[1:], strict=True)
    ]
    return before, kept, entries


def number_of_histograms(members: int, size: int) -> int:
    """How many ways there are to spread members over a range."""
    result = 1
    for step in range(1, size):
        result = result * (members + step) // step
    return result
