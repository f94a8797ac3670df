"""Joining A(X) and B(X) into one variable whose values are pairs, so that the pairs can be counted.

Where neither As nor Bs are interchangeable by themselves, because each A has a B of its own, the pairs often are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Ints
from lifagu.infer.lifted.algebra import Table, log_sum
from lifagu.infer.lifted.rows import FIRST, OWN_FIRST, SECOND, Held, Place, Rows, join_columns
from lifagu.infer.lifted.state import State


@dataclass(frozen=True)
class Makeup:
    """How a table's slots became those of the joined one: what they held, and the sizes of the pair."""

    held: Held
    sizes: tuple[int, int]

    def joined(self, table: Table) -> Table:
        """The table over the joined variables: it does not depend on the half that it does not know."""
        order, columns = join_columns(self.held)
        shape = [table.shape[slot] * (self.sizes[1] if self.held[slot] == OWN_FIRST else 1) for slot in columns]
        result = table.transpose(order).reshape(shape)
        for axis, slot in enumerate(columns):
            if self.held[slot] == FIRST:
                result = np.repeat(result, self.sizes[1], axis=axis)
            elif self.held[slot] == SECOND:
                result = np.concatenate([result] * self.sizes[0], axis=axis)
        return result

    def parted(self, joint: Table) -> Table:
        """The joint marginal of the old slots from that of the joined ones."""
        order, columns = join_columns(self.held)
        for axis, slot in enumerate(columns):
            kind = self.held[slot]
            if kind in (FIRST, SECOND):
                halves = joint.reshape(*joint.shape[:axis], *self.sizes, *joint.shape[axis + 1 :])
                joint = log_sum(halves, axis=axis + 1 if kind == FIRST else axis)
        shape = []
        for axis, slot in enumerate(columns):
            shape += list(self.sizes) if self.held[slot] == OWN_FIRST else [joint.shape[axis]]
        return joint.reshape(shape).transpose(np.argsort(order))


@dataclass(frozen=True, eq=False)
class JoinStep:
    """first[i] and second[i] became joined[i]; shapes: old entries, how their table changed, new entries."""

    before: Rows
    first: Ints
    second: Ints
    joined: Ints
    sizes: tuple[int, int]
    shapes: list[tuple[Place, Makeup, Place]]
    like: str

    def __str__(self) -> str:
        pairs = self.before.members(self.first)
        return f"join {pairs} pairs of variables like {self.like} ({self.sizes[0]} × {self.sizes[1]} values each)"


def join(state: State, first: Ints, second: Ints) -> JoinStep | None:
    """Replace first[i] and second[i] by one variable for their pair of values, everywhere.

    None if some row holds two whole pairs; the state is then as it was.
    """
    joined = len(state.sizes) + np.arange(len(first))
    sizes = int(state.sizes[first[0]]), int(state.sizes[second[0]])
    before, made, shapes = state.rows, [], []
    entries = before.join(first, second, joined)
    if entries is None:
        return None
    for _ in joined:
        state.add_variable(sizes[0] * sizes[1])
    for entry in entries:
        makeup = Makeup(entry.held, sizes)
        made.append((entry.new, state.pool.add(makeup.joined(state.pool[entry.label]), before.weight(entry.new))))
        shapes.append((entry.old, makeup))
    everything = {arity: np.arange(len(labels)) for arity, labels in before.labels.items()}
    state.rows, new = before.without(everything)[0].plus(made)
    state.retire(np.concatenate((first, second)))
    placed = [(old, makeup, place) for (old, makeup), place in zip(shapes, new, strict=True)]
    like = f"{state.name(int(first[0]))}, {state.name(int(second[0]))}"
    return JoinStep(before, first, second, joined, sizes, placed, like)
