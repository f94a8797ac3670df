"""The steps of the lifted engine, each an identity on the ground model: merge, eliminate, count.

Every step changes the state and leaves a record with which probabilities can walk back through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.errors import listed
from lifagu.infer.lifted.algebra import (
    Table,
    block_product,
    counted_table,
    histograms,
    log_multinomial,
    log_sum,
    symmetric,
    tied_table,
    times,
)
from lifagu.infer.lifted.fine import SMALL, fine_block, fine_log_sum, fine_sum
from lifagu.infer.lifted.rows import Blocks, Counted, Merged, Place, Rows, Sum, Twins
from lifagu.infer.lifted.state import Pool, State
from lifagu.views import counted

MOST_ENTRIES = 2**22  # of a table made by counting


@dataclass(frozen=True, eq=False)
class MergeStep:
    """Rows over the same variables became one: target and order of each old entry, by arity; quiet: order alone."""

    before: Rows
    target: dict[int, Ints]
    order: dict[int, Ints]
    quiet: bool = False

    def __str__(self) -> str:
        looked_at = counted(self.before.count(), "row")
        return "" if self.quiet else f"merge rows over the same variables ({looked_at} looked at)"


@dataclass(frozen=True, eq=False)
class EliminateStep:
    """Independent variables were summed out: for each shape its blocks, their product, and where its rows went."""

    before: Rows
    kept: dict[int, Ints]
    shapes: list[tuple[Blocks, Table, Table, Place]]
    like: str

    def __str__(self) -> str:
        variables = sum(self.before.members(blocks.variables) for blocks, *_ in self.shapes)
        largest = max((product.size for _, product, _, _ in self.shapes), default=0)
        groups = f" in {len(self.shapes)} groups" if len(self.shapes) > 1 else ""
        return f"eliminate {counted(variables, 'variable')} like {self.like}{groups} (largest table {largest} entries)"


@dataclass(frozen=True, eq=False)
class CountStep:
    """A class of interchangeable variables became one variable whose values are histograms.

    entries: what happened to the rows with members, and where they went; like: the name of a member; into: whether that
    variable was there before.
    """

    before: Rows
    kept: dict[int, Ints]
    twins: Twins
    variable: int
    counts: Ints
    entries: list[tuple[Counted, Place]]
    like: str
    into: bool = False

    def __str__(self) -> str:
        what = f"count {counted(self.twins.count, 'interchangeable variable')} like {self.like}"
        return f"{what} into it" if self.into else f"{what} ({len(self.counts)} histograms)"


def merge(state: State) -> MergeStep | None:
    """Rows over the same variables become one; None if there were none."""
    merged = state.rows.merge(len(state.pool.tables))
    if not merged.sums:
        return None
    names = _add_sums(state, merged)
    labels = {arity: names[numbers] for arity, numbers in merged.rows.labels.items()}
    step = MergeStep(state.rows, merged.target, merged.order)
    state.rows = merged.rows.relabelled(labels)
    return step


def _add_sums(state: State, merged: Merged) -> Ints:
    """Add the new tables to the pool; returns the number in the pool of each label."""
    first = len(state.pool.tables)
    uses = merged.rows.uses(first + len(merged.sums))
    names = np.arange(first + len(merged.sums))
    for place, terms in enumerate(merged.sums):
        names[first + place] = add_sum(state.pool, terms, uses[first + place])
    return names


def add_sum(pool: Pool, terms: Sum, many: int) -> int:
    """Add the sum of tables, each with its axes in an order and to a power, which stands on so many rows, to a pool."""
    if all(label in pool.fine for label, _, _ in terms):
        return pool.add_fine(fine_sum([(pool.fine[label][0], order, often) for label, order, often in terms]), many)
    return pool.add(np.asarray(sum(times(pool[label].transpose(order), often) for label, order, often in terms)), many)


def eliminate(state: State, chosen: Ints) -> EliminateStep:
    """Sum out independent variables, alike ones together."""
    shapes = state.rows.blocks(chosen, state.sizes)
    removed: dict[int, list[Ints]] = {}
    made, products = [], []
    for blocks in shapes:
        for arity, sources in blocks.sources:
            removed.setdefault(arity, []).append(sources)
        product, result, label = _summed_out(state, blocks)
        products.append((product, result))
        made.append((blocks.new, label))
    before = state.rows
    left, kept = before.without({arity: np.concatenate(gone) for arity, gone in removed.items()})
    state.rows, places = left.plus(made)
    state.retire(chosen)
    shaped = [(blocks, *pair, place) for blocks, pair, place in zip(shapes, products, places, strict=True)]
    like = listed([state.name(int(blocks.variables[0])) for blocks in shapes], limit=3)
    return EliminateStep(before, kept, shaped, like)


def _summed_out(state: State, blocks: Blocks) -> tuple[Table, Table, int]:
    """The product of a block's tables, what is left when the variables are summed out, and its number in the pool."""
    together = len(blocks.together)
    many = state.rows.members(blocks.variables) // together
    near = state.sizes[list(blocks.near)].tolist()
    sizes = (*[int(state.sizes[blocks.variables[0]])] * together, *near)
    return add_block(state.pool, blocks.parts, sizes, together, many, state.maximise)


def add_block(
    pool: Pool,
    parts: Sequence[tuple[int, tuple[int, ...]]],
    sizes: tuple[int, ...],
    together: int,
    many: int,
    maximise: bool = False,
) -> tuple[Table, Table, int]:
    """The product of tables, what is left when its first axes are summed out, and the number of that in a pool.

    parts: labels, and which axis of the whole each slot is; together: how many axes are summed out; many: the rows that
    the result stands on.
    """
    product = block_product([(pool[label], axes) for label, axes in parts], np.zeros(sizes, dtype=np.longdouble))
    summed = tuple(range(together))
    result = product.max(axis=summed) if maximise else log_sum(product, axis=summed)
    fine = [(pool.fine[label][0], axes) for label, axes in parts if label in pool.fine]
    if parts and len(fine) == len(parts) and product.size <= SMALL and not maximise:
        whole = fine_block(fine, sizes).reshape(-1, *sizes[together:])
        return product, result, pool.add_fine(fine_log_sum(whole), many)
    return product, result, pool.add(result, many)


def bring_forward(state: State, twins: Twins) -> MergeStep:
    """Take swappable slots of rows in such an order that members of a class come first."""
    orders = state.rows.members_first(twins, len(state.sizes), state.pool.slot_classes)
    step = MergeStep(state.rows, {arity: np.arange(len(order)) for arity, order in orders.items()}, orders, quiet=True)
    state.rows = state.rows.reordered(orders)
    return step


def count(state: State, twins: Twins, into: int | None = None) -> CountStep | None:
    """Count a class of interchangeable variables; None if they are not, or if the tables would be too large.

    into: a variable that is their histogram already and still lacks its weights.
    """
    size = int(state.sizes[twins.variables[0]])
    values = number_of_histograms(twins.count, size)
    if values > MOST_ENTRIES:
        return None
    quotient = state.rows.quotient(twins, len(state.sizes) if into is None else into, len(state.sizes))
    if quotient is None or not all(_fits(state, entry, values) for entry in quotient):
        return None
    counts = histograms(twins.count, size)
    variable = state.add_variable(values) if into is None else into
    weights = np.zeros(len(counts), dtype=np.longdouble) if state.maximise else log_multinomial(counts)
    before, kept, entries = replace_members(state, twins.variables, quotient, variable, counts, weights, [])
    like = state.name(int(twins.variables[0]))
    return CountStep(before, kept, twins, variable, counts, entries, like, into is not None)


def _fits(state: State, entry: Counted, values: int) -> bool:
    """Whether counting an entry's members is exact and its new table not too large."""
    if entry.tie >= 0 and len(entry.slots) > 1:
        return False
    others = int(np.prod(state.sizes[list(state.rows.example(entry.new)[1:])], dtype=object))
    return values * others <= MOST_ENTRIES and symmetric(state.pool[entry.label], entry.slots)


def replace_members(
    state: State,
    members: Ints,
    quotient: Sequence[Counted],
    variable: int,
    counts: Ints,
    weights: Table,
    unary_rows: Sequence[Ints],
) -> tuple[Rows, dict[int, Ints], list[tuple[Counted, Place]]]:
    """Put one variable with these weights in the place of a class of members; unary_rows go, too.

    Returns the rows before, which of them were kept, and where the others went.
    """
    before = state.rows
    alone = before.alone(variable)
    made = [(alone, state.pool.add(weights, before.weight(alone)))]
    removed: dict[int, list[Ints]] = {1: list(unary_rows)} if unary_rows else {}
    for entry in quotient:
        parts = state.pool.parts(entry.label)
        if entry.tie < 0:
            table = counted_table(parts, entry.slots, counts)
        else:
            table = np.asarray(sum(tied_table(part, entry.slots[0], entry.tie, counts) for part in parts))
        made.append((entry.new, state.pool.add(table, before.weight(entry.new))))
        removed.setdefault(entry.old[0], []).append(entry.old[1])
    left, kept = before.without({arity: np.concatenate(gone) for arity, gone in removed.items()})
    state.rows, places = left.plus(made)
    state.retire(members)
    return before, kept, list(zip(quotient, places[1:], strict=True))


def number_of_histograms(members: int, size: int) -> int:
    """How many ways there are to spread members over a range."""
    result = 1
    for step in range(1, size):
        result = result * (members + step) // step
    return result
