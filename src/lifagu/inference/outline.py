"""A graph as the ground engine reads it: tables on variables as lists, and what nobody needs who
does not ask for it.

An outline knows neither evidence nor questions, so that one serves all questions to a graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.barren import TOLERANCE
from lifagu.inference.table import SAFE, Table, constant_sum, log_values

MOST_KEPT = 2**14  # factors up to which the outline of a graph is kept with it

NEVER = -2  # in `goes_with`: the variable is not dropped, whatever is asked
ALONE = -1  # in `goes_with`: it is dropped, and no factor with it


@dataclass(frozen=True, eq=False)
class Outline:
    """The table of each factor (None if it is unknown) on its variables with more than one value.

    goes_with[v]: the factor that leaves only a constant when v is summed out, once all that was
    dropped before it is gone; constants[v]: the log of that. core: variables and factors that are
    never dropped. clear: whether nothing else could have been dropped in place of what was.
    """

    sizes: list[int]
    tables: list[Table | None]
    goes_with: list[int]
    constants: list[float]
    core: tuple[list[int], list[int]]
    clear: bool
    log_constant: float

    def needed(self, wanted: Iterable[int]) -> tuple[list[int], list[int], float]:
        """The variables and factors that matter if some variables are wanted, and the log of what
        the others leave.

        In a Bayesian network these are the ancestors. Cost: linear in what matters.
        """
        variables, factors = set(self.core[0]), set(self.core[1])
        waiting = [variable for variable in wanted if variable not in variables]
        variables.update(waiting)
        while waiting:
            factor = self.goes_with[waiting.pop()]
            if factor >= 0:
                factors.add(factor)
                for other in _on(self.tables[factor]):
                    if other not in variables:
                        variables.add(other)
                        waiting.append(other)
        kept = math.fsum([self.constants[variable] for variable in variables])
        return sorted(variables), sorted(factors), self.log_constant - kept


def outline_of(graph: FactorGraph) -> Outline:
    """The outline of a graph, which is kept with it unless it is large."""
    return graph.once(make_outline) if len(graph.factor_names) <= MOST_KEPT else make_outline(graph)


def make_outline(graph: FactorGraph) -> Outline:
    """List a graph. Cost: linear in arguments and potentials."""
    sizes: list[int] = graph.sizes.tolist()
    given = _given(graph)
    arguments, offsets = graph.arguments.tolist(), graph.offsets.tolist()
    tables: list[Table | None] = []
    holders: list[list[int]] = [[] for _ in sizes]
    for factor, number in enumerate(graph.factor_table.tolist()):
        scope = tuple(
            [each for each in arguments[offsets[factor] : offsets[factor + 1]] if sizes[each] > 1]
        )
        tables.append(None if number < 0 else Table(scope, *given[number]))
        for variable in scope:
            holders[variable].append(factor)
    goes_with, constants, clear = _dropped(graph, tables, holders)
    gone = set(goes_with)
    core = (
        [variable for variable, factor in enumerate(goes_with) if factor == NEVER],
        [factor for factor in range(len(tables)) if factor not in gone],
    )
    return Outline(sizes, tables, goes_with, constants, core, clear, math.fsum(constants))


def _on(table: Table | None) -> tuple[int, ...]:
    return table.ranks if table is not None else ()


def _given(graph: FactorGraph) -> list[tuple[np.ndarray, float, float, bool]]:
    """The distinct tables without axes of size one, bounds on their logs, and whether they hold
    logs themselves.
    """
    values, offsets = graph.tables.values, graph.tables.offsets
    if not len(offsets) - 1:
        return []
    with np.errstate(divide="ignore"):
        highest = np.log(np.maximum.reduceat(values, offsets[:-1])).tolist()
        lowest = np.log(
            np.minimum.reduceat(np.where(values > 0, values, np.inf), offsets[:-1])
        ).tolist()
    found = []
    for number, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        table = graph.tables[number]
        table = table.reshape([size for size in table.shape if size > 1])
        if high == -math.inf:
            found.append((table, 0.0, 0.0, False))
        elif low >= -SAFE and high <= SAFE:
            found.append((table, low, high, False))
        else:
            found.append((log_values(Table((), table, low, high)), -math.inf, math.inf, True))
    return found


def _dropped(
    graph: FactorGraph, tables: list[Table | None], holders: list[list[int]]
) -> tuple[list[int], list[float], bool]:
    """What goes with each variable if nothing is asked, the log it leaves, and whether there was no
    choice.
    """
    known: dict[tuple[int, int], float | None] = {}
    numbers, sizes = graph.factor_table.tolist(), graph.sizes.tolist()
    left = [set(each) for each in holders]
    goes_with, constants, clear = [NEVER] * len(left), [0.0] * len(left), True

    def constant(factor: int, axis: int) -> float | None:
        key, table = (numbers[factor], axis), tables[factor]
        if key not in known:
            known[key] = (
                None if table is None else constant_sum(table, table.ranks[axis], TOLERANCE)
            )
        return known[key]

    waiting = [variable for variable in reversed(range(len(left))) if len(left[variable]) <= 1]
    while waiting:
        variable = waiting.pop()
        if goes_with[variable] != NEVER or len(left[variable]) > 1:
            continue
        if not left[variable]:
            goes_with[variable], constants[variable] = ALONE, math.log(sizes[variable])
            continue
        (factor,) = left[variable]
        scope = _on(tables[factor])
        logs = [constant(factor, axis) for axis in range(len(scope))]
        if scope and (log := logs[scope.index(variable)]) is not None:
            goes_with[variable], constants[variable] = factor, log
            clear = clear and sum(each is not None for each in logs) == 1
            for other in scope:
                left[other].discard(factor)
                if len(left[other]) <= 1 and other != variable:
                    waiting.append(other)
    return goes_with, constants, clear
