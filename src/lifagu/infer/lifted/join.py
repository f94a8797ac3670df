"""Joining A(X) and B(X) into one variable whose values are pairs, so that the pairs can be counted.

Where neither As nor Bs are interchangeable by themselves, because each A has a B of its own, the pairs often are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints, first_places, group_rows
from lifagu.infer.lifted.algebra import Table, log_sum
from lifagu.infer.lifted.rows import Place, Rows
from lifagu.infer.lifted.state import State

OTHER, FIRST, SECOND, OWN_FIRST, OWN_SECOND = range(5)  # what a slot holds; "own": its partner is in the row, too


@dataclass(frozen=True)
class Makeup:
    """How a table's slots became those of the joined one: what they held, and the sizes of the pair."""

    held: tuple[int, ...]
    sizes: tuple[int, int]

    @property
    def order(self) -> list[int]:
        """The old slots, the second of a pair right after its first."""
        slots = [slot for slot, kind in enumerate(self.held) if kind != OWN_SECOND]
        if OWN_FIRST in self.held:
            slots.insert(slots.index(self.held.index(OWN_FIRST)) + 1, self.held.index(OWN_SECOND))
        return slots

    @property
    def columns(self) -> list[int]:
        """The old slots that stay slots."""
        return [slot for slot in self.order if self.held[slot] != OWN_SECOND]

    def joined(self, table: Table) -> Table:
        """The table over the joined variables: it does not depend on the half that it does not know."""
        kinds = [self.held[slot] for slot in self.columns]
        shape = [table.shape[slot] * (self.sizes[1] if self.held[slot] == OWN_FIRST else 1) for slot in self.columns]
        result = table.transpose(self.order).reshape(shape)
        for axis, kind in enumerate(kinds):
            if kind == FIRST:
                result = np.repeat(result, self.sizes[1], axis=axis)
            elif kind == SECOND:
                result = np.concatenate([result] * self.sizes[0], axis=axis)
        return result

    def parted(self, joint: Table) -> Table:
        """The joint marginal of the old slots from that of the joined ones."""
        for axis, slot in enumerate(self.columns):
            kind = self.held[slot]
            if kind in (FIRST, SECOND):
                halves = joint.reshape(*joint.shape[:axis], *self.sizes, *joint.shape[axis + 1 :])
                joint = log_sum(halves, axis=axis + 1 if kind == FIRST else axis)
        shape = []
        for axis, slot in enumerate(self.columns):
            shape += list(self.sizes) if self.held[slot] == OWN_FIRST else [joint.shape[axis]]
        return joint.reshape(shape).transpose(np.argsort(self.order))


@dataclass(frozen=True, eq=False)
class JoinStep:
    """first[i] and second[i] became joined[i]; shapes: old rows, how their table changed, new rows."""

    before: Rows
    first: Ints
    second: Ints
    joined: Ints
    sizes: tuple[int, int]
    shapes: list[tuple[Place, Makeup, Place]]

    def __str__(self) -> str:
        return f"join {len(self.first)} pairs of variables ({self.sizes[0]} × {self.sizes[1]} values each)"


def matchings(state: State) -> list[tuple[Ints, Ints]]:
    """Pairs of variable sets that one table of two arguments matches one to one."""
    found = []
    for rows in state.rows.by_label(2):
        pairs = state.rows.matrix[2][rows]
        if len(pairs) > 1 and state.open[pairs].all() and len(np.unique(pairs)) == pairs.size:
            order = np.argsort(pairs[:, 0])
            found.append((pairs[order, 0], pairs[order, 1]))
    return found


def join(state: State, first: Ints, second: Ints) -> JoinStep | None:
    """Replace first[i] and second[i] by one variable for their pair of values, everywhere.

    None if some row holds two whole pairs; the state is then as it was.
    """
    count = len(state.sizes)
    joined = count + np.arange(len(first))
    kind = np.zeros(count, dtype=np.int64)
    kind[first], kind[second] = FIRST, SECOND
    stands_for = np.arange(count)
    stands_for[first], stands_for[second] = joined, joined
    sizes = int(state.sizes[first[0]]), int(state.sizes[second[0]])
    before, made, shapes = state.rows, [], []
    for arity in before.arities():
        matrix, labels = before.matrix[arity], before.labels[arity]
        mapped = stands_for[matrix]
        own = (mapped[:, :, None] == mapped[:, None, :]).sum(axis=2) > 1
        if (own.sum(axis=1) > 2).any():
            return None
        held = kind[matrix] + np.where(own, OWN_FIRST - FIRST, 0)
        same = group_rows(np.column_stack((labels, held)))
        for number, example in enumerate(first_places(same).tolist()):
            makeup = Makeup(tuple(held[example].tolist()), sizes)
            places = np.flatnonzero(same == number)
            made.append((mapped[places][:, makeup.columns], int(labels[example]), makeup))
            shapes.append(((arity, places), makeup))
    for _ in joined:
        state.add_variable(sizes[0] * sizes[1])
    pool = [(rows, state.pool.add(makeup.joined(state.pool[label]), len(rows))) for rows, label, makeup in made]
    state.rows, new = Rows({}, {}).plus(pool)
    state.retire(np.concatenate((first, second)))
    placed = [(old, makeup, place) for (old, makeup), place in zip(shapes, new, strict=True)]
    return JoinStep(before, first, second, joined, sizes, placed)
