"""Eliminating a variable that stands for many: possible where each of its ground variables has rows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints
from lifagu.infer.lifted.cells.pattern import Argument, Individuals, Pattern
from lifagu.infer.lifted.rows import Blocks, Booleans, Costs

Where = Sequence[tuple[int, int, int]]  # arity, entry and slot of each place of a variable
Near = tuple[Argument, ...]


def near(patterns: Mapping[int, Sequence[Pattern]], variable: int, where: Where) -> list[Near] | None:
    """For each row of one ground variable its other arguments, whose individuals are numbered as the variable's own.

    None if a row holds two of the variable's ground variables, or names an individual that the variable does not: then
    a ground variable has many rows.
    """
    found = []
    for arity, entry, slot in where:
        pattern = patterns[arity][entry]
        own = pattern.arguments[slot][1]
        if pattern.variables.count(variable) > 1 or len(own) < len(pattern.cells) or pattern.fold > 1:
            return None
        number = {individual: place for place, individual in enumerate(own)}
        found.append(
            tuple(
                (other, tuple(number[each] for each in individuals))
                for place, (other, individuals) in enumerate(pattern.arguments)
                if place != slot
            )
        )
    return found


def costs(
    patterns: Mapping[int, Sequence[Pattern]],
    where: Mapping[int, Where],
    wanted: Booleans,
    log_sizes: NDArray[np.float64],
) -> Costs:
    """Cost of each wanted variable that can be eliminated."""
    variables, new, old = [], [], []
    for variable in np.flatnonzero(wanted).tolist():
        beside = near(patterns, variable, where.get(variable, ()))
        if beside is not None:
            variables.append(variable)
            neighbours = dict.fromkeys(argument for row in beside for argument in row)
            new.append(sum(float(log_sizes[other]) for other, _ in neighbours))
            sizes = [float(log_sizes[variable]) + sum(float(log_sizes[other]) for other, _ in row) for row in beside]
            old.append(max(sizes, default=0.0))
    return Costs(np.array(variables, dtype=np.int64), np.array(new), np.array(old))


def block(
    patterns: Mapping[int, Sequence[Pattern]],
    labels: Mapping[int, Ints],
    individuals: Individuals,
    variable: int,
    where: Where,
) -> Blocks:
    """The rows around one ground variable, which stands for all of them."""
    beside = near(patterns, variable, where)
    assert beside is not None, "only variables with a cost are eliminated"
    neighbours = {
        argument: place for place, argument in enumerate(dict.fromkeys(each for row in beside for each in row))
    }
    parts = [
        (int(labels[arity][entry]), slot, tuple(neighbours[argument] for argument in row))
        for (arity, entry, slot), row in zip(where, beside, strict=True)
    ]
    new = Pattern(individuals.cells_of[variable], tuple(neighbours))
    sources = [(arity, np.array([entry])) for arity, entry, _ in where]
    return Blocks(np.array([variable]), new, new.variables, parts, sources)
