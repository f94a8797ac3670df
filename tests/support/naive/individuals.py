"""Answers about individuals around a few shared variables, state by state of each by itself.

A model is a world: variables with labels, tables on them, a few variables that are shared, and
pieces, each of which has variables of its own and touches other pieces only through what is shared.
For each combination of values of what
is shared, a piece is added up by itself: by visiting its states, or, where its variables stand in a
row, by walking along them. Everything is an array of logs, and a probability is the quotient of two
totals, one of them with values fixed. Nothing of lifagu is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Fixed = Mapping[int, int]
Factor = tuple[tuple[int, ...], Floats]


@dataclass(frozen=True)
class World:
    """Variables by number; factors with an axis per argument; hard and soft evidence.

    pieces: the variables of each; those in `rows` have factors only between neighbours.
    """

    labels: list[tuple[str, ...]]
    factors: list[Factor]
    shared: tuple[int, ...]
    pieces: list[tuple[int, ...]]
    rows: frozenset[int] = frozenset()
    hard: dict[int, int] = field(default_factory=dict)
    soft: dict[int, Floats] = field(default_factory=dict)

    def log_weight(self, values: Mapping[int, int]) -> float:
        """The log of the weight of one assignment; minus infinity if the evidence excludes it."""
        if any(values[variable] != value for variable, value in self.hard.items()):
            return -math.inf
        weights = [
            float(table[tuple(values[each] for each in scope)]) for scope, table in self.factors
        ]
        weights += [
            float(likelihood[values[variable]]) for variable, likelihood in self.soft.items()
        ]
        return math.fsum(map(math.log, weights)) if all(weights) else -math.inf


def log_sum(logs: Floats, axes: tuple[int, ...]) -> Floats:
    """The logs of sums over some axes, which stay with length one."""
    largest = np.maximum(logs.max(axes, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(largest + np.log(np.exp(logs - largest).sum(axes, keepdims=True)))


def maximum(logs: Floats, axes: tuple[int, ...]) -> Floats:
    """The largest over some axes, which stay with length one."""
    return np.asarray(logs.max(axes, keepdims=True))


Reduce = Callable[[Floats, tuple[int, ...]], Floats]


class Oracle:
    """What there is to know about a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        with np.errstate(divide="ignore"):
            logs = [(scope, np.log(table)) for scope, table in world.factors]
            logs += [
                ((variable,), np.log(likelihood)) for variable, likelihood in world.soft.items()
            ]
        piece_of = {
            variable: number for number, piece in enumerate(world.pieces) for variable in piece
        }
        self._outside: list[Factor] = []
        self._inside: list[list[Factor]] = [[] for _ in world.pieces]
        for scope, table in logs:
            inside = {piece_of[variable] for variable in scope if variable in piece_of}
            assert len(inside) < 2, "two pieces are tied directly"
            (self._inside[inside.pop()] if inside else self._outside).append((scope, table))
        self._piece_of = piece_of
        self._messages: dict[tuple[int, Reduce, tuple[tuple[int, int], ...]], Floats] = {}

    @cached_property
    def log_total(self) -> float:
        """log Z with the evidence."""
        return self.total(log_sum, {})

    @cached_property
    def log_best(self) -> float:
        """The largest log weight of an assignment."""
        return self.total(maximum, {})

    def joint(self, *variables: int) -> Floats:
        """The joint distribution of some variables, one axis for each."""
        sizes = [len(self.world.labels[variable]) for variable in variables]
        found = np.zeros(sizes)
        for values in itertools.product(*map(range, sizes)):
            fixed = dict(zip(variables, values, strict=True))
            found[values] = math.exp(self.total(log_sum, fixed) - self.log_total)
        return found

    def total(self, reduce: Reduce, fixed: Fixed) -> float:
        """The log of the sum, or of the largest weight, with these values and the evidence."""
        axes = {variable: axis for axis, variable in enumerate(self.world.shared)}
        logs = np.zeros([1] * len(axes))
        for scope, table in self._outside:
            logs = logs + placed(table, scope, axes)
        for variable in self.world.shared:
            logs = logs + placed(self._allowed(variable, fixed), (variable,), axes)
        for number in range(len(self.world.pieces)):
            logs = logs + self._message(number, reduce, fixed)
        return float(reduce(logs, tuple(range(logs.ndim))).reshape(()))

    def _message(self, number: int, reduce: Reduce, fixed: Fixed) -> Floats:
        """For each combination of what is shared, a piece added up."""
        own = tuple(
            sorted(
                (variable, value)
                for variable, value in fixed.items()
                if self._piece_of.get(variable) == number
            )
        )
        if (number, reduce, own) not in self._messages:
            add_up = self._walked if number in self.world.rows else self._visited
            self._messages[number, reduce, own] = add_up(number, reduce, dict(own))
        return self._messages[number, reduce, own]

    def _visited(self, number: int, reduce: Reduce, fixed: Fixed) -> Floats:
        """All states of a piece."""
        piece, shared = self.world.pieces[number], self.world.shared
        axes = {variable: axis for axis, variable in enumerate((*shared, *piece))}
        logs = np.zeros([1] * len(axes))
        for scope, table in self._inside[number]:
            logs = logs + placed(table, scope, axes)
        for variable in piece:
            logs = logs + placed(self._allowed(variable, fixed), (variable,), axes)
        found = reduce(logs, tuple(range(len(shared), len(axes))))
        return found.reshape(found.shape[: len(shared)])

    def _walked(self, number: int, reduce: Reduce, fixed: Fixed) -> Floats:
        """From one end of a row to the other; the last two axes are a place and the next one."""
        piece, shared = self.world.pieces[number], self.world.shared
        place_of = {variable: place for place, variable in enumerate(piece)}
        ending: list[list[Factor]] = [[] for _ in piece]
        for scope, table in self._inside[number]:
            ending[max(place_of.get(variable, 0) for variable in scope)].append((scope, table))
        logs = np.zeros([1] * (len(shared) + 1))
        for place, variable in enumerate(piece):
            before = piece[place - 1] if place else -1
            axes = {each: axis for axis, each in enumerate((*shared, before, variable))}
            logs = logs[..., None] + placed(self._allowed(variable, fixed), (variable,), axes)
            for scope, table in ending[place]:
                logs = logs + placed(table, scope, axes)
            found = reduce(logs, (len(shared),))
            logs = found.reshape(*found.shape[: len(shared)], -1)
        found = reduce(logs, (len(shared),))
        return found.reshape(found.shape[: len(shared)])

    def _allowed(self, variable: int, fixed: Fixed) -> Floats:
        """Zero for values that are not observed or fixed otherwise, minus infinity for others."""
        logs = np.zeros(len(self.world.labels[variable]))
        for values in (self.world.hard, fixed):
            if variable in values:
                logs[np.arange(len(logs)) != values[variable]] = -math.inf
        return logs


def placed(table: Floats, scope: tuple[int, ...], axes: Mapping[int, int]) -> Floats:
    """A table with its arguments' axes where they belong, and axes of length one elsewhere."""
    order = sorted(range(len(scope)), key=lambda place: axes[scope[place]])
    shape = [1] * len(axes)
    for place in order:
        shape[axes[scope[place]]] = table.shape[place]
    return table.transpose(order).reshape(shape)
