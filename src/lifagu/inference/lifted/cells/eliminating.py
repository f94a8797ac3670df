"""Eliminating a variable that stands for many: where each ground one has rows of its own.

Those that name the same individuals in another order, such as F(X,Y) and F(Y,X), may have rows in
common: they are summed out together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.inference.lifted.cells.pattern import Argument, Entries, Pattern, arrangements
from lifagu.inference.lifted.rows import MOST_AXES, Blocks, Booleans, Costs

MOST_TOGETHER = 6  # ground variables that are summed out together


@dataclass(frozen=True)
class Around:
    """Around one ground variable: those of its kind that go with it, and the rows of all of them.

    together: the individuals in their names, numbered as in the first one's; rows: arity, entry,
    and arguments.
    """

    together: tuple[tuple[int, ...], ...]
    rows: tuple[tuple[int, int, tuple[Argument, ...]], ...]


def around(entries: Entries, variable: int) -> Around | None:
    """The rows around one ground variable and around those of its kind that share a row with it.

    These must name the same individuals in another order, such as F(X,Y) and F(Y,X). None if a row
    names an individual that the variable does not: then a ground variable has many rows.
    """
    together = {tuple(range(len(entries.individuals.cells_of[variable]))): None}
    rows: dict[tuple[int, int, frozenset[Argument]], tuple[Argument, ...]] = {}
    for names in (queue := list(together)):
        for arity, entry, slot in entries.where.get(variable, ()):
            pattern = entries.patterns[arity][entry]
            own = pattern.arguments[slot][1]
            if len(set(own)) < len(pattern.cells) or pattern.fold != len(
                arrangements(pattern.arguments)[1]
            ):
                return None
            put = dict(zip(own, names, strict=True))
            mapped = tuple(
                (other, tuple(put[each] for each in beside)) for other, beside in pattern.arguments
            )
            rows.setdefault((arity, entry, frozenset(mapped)), mapped)
            for other, beside in mapped:
                if other == variable and beside not in together:
                    together[beside] = None
                    queue.append(beside)
        if len(together) > MOST_TOGETHER:
            return None
    return Around(
        tuple(together), tuple((arity, entry, mapped) for (arity, entry, _), mapped in rows.items())
    )


def _neighbours(found: Around, variable: int) -> dict[Argument, int]:
    """The arguments beside those that are summed out, numbered."""
    beside = dict.fromkeys(
        argument for _, _, row in found.rows for argument in row if argument[0] != variable
    )
    return {argument: place for place, argument in enumerate(beside)}


def costs(
    around_each: Mapping[int, Around], wanted: Booleans, log_sizes: NDArray[np.float64]
) -> Costs:
    """Cost of each wanted variable that can be eliminated, given what is around those."""
    variables, new, old = [], [], []
    for variable in np.flatnonzero(wanted).tolist():
        if (found := around_each.get(variable)) is None:
            continue
        neighbours = _neighbours(found, variable)
        if len(neighbours) + len(found.together) <= MOST_AXES:
            variables.append(variable)
            new.append(sum(float(log_sizes[other]) for other, _ in neighbours))
            sizes = [sum(float(log_sizes[other]) for other, _ in row) for _, _, row in found.rows]
            old.append(max(sizes, default=0.0))
    return Costs(
        np.array(variables, dtype=np.int64),
        np.array(new, dtype=np.float64),
        np.array(old, dtype=np.float64),
    )


def block(entries: Entries, variable: int, found: Around) -> Blocks[Pattern]:
    """The rows around one ground variable, which stands for all of them."""
    cells, labels = entries.individuals.cells_of[variable], entries.labels
    neighbours = _neighbours(found, variable)
    axis = {(variable, names): place for place, names in enumerate(found.together)}
    axis |= {argument: len(found.together) + place for argument, place in neighbours.items()}
    axes = [tuple(axis[argument] for argument in row) for _, _, row in found.rows]
    own = np.array([[labels[arity][entry] for arity, entry, _ in found.rows]], dtype=np.int64)
    new = Pattern(cells, tuple(neighbours), len(found.together))
    sources = [(arity, np.array([entry])) for arity, entry, _ in found.rows]
    return Blocks(
        np.array([variable]),
        new,
        new.variables,
        axes,
        sources,
        np.zeros(1, dtype=np.int64),
        own,
        found.together,
    )
