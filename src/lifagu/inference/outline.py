"""A graph as the ground engine reads it: tables as lists, and what is only needed if asked for.

An outline knows neither evidence nor questions, so that one serves all questions to a graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.barren import constant_sum, peel
from lifagu.inference.table import Table, from_potentials

MOST_KEPT = 2**14  # factors up to which the outline of a graph is kept with it

NEVER = -2  # in `goes_with`: the variable is not dropped, whatever is asked
ALONE = -1  # in `goes_with`: it is dropped, and no factor with it


@dataclass(frozen=True, eq=False)
class Outline:
    """Each factor's variables with more than one value, and its table on them (None: unknown).

    goes_with[v]: the factor that leaves only a constant when v is summed out, once all that was
    dropped before it is gone; constants[v]: the log of that. core: variables and factors that are
    never dropped. clear: whether nothing else could have been dropped in place of what was.
    """

    sizes: list[int]
    scopes: list[tuple[int, ...]]
    tables: list[Table | None]
    goes_with: list[int]
    constants: list[float]
    core: tuple[list[int], list[int]]
    clear: bool
    log_constant: float

    def needed(self, wanted: Iterable[int]) -> tuple[list[int], list[int], float]:
        """Variables and factors that matter if some are wanted; the log of what others leave.

        In a Bayesian network these are the ancestors. Cost: linear in what matters.
        """
        variables, factors = set(self.core[0]), set(self.core[1])
        waiting = [variable for variable in wanted if variable not in variables]
        variables.update(waiting)
        while waiting:
            factor = self.goes_with[waiting.pop()]
            if factor >= 0:
                factors.add(factor)
                for other in self.scopes[factor]:
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
    scopes: list[tuple[int, ...]] = []
    for factor, number in enumerate(graph.factor_table.tolist()):
        scope = arguments[offsets[factor] : offsets[factor + 1]]
        scopes.append(tuple([each for each in scope if sizes[each] > 1]))
        tables.append(None if number < 0 else Table(scopes[-1], *given[number][1:]))
    goes_with, constants, clear = _dropped(graph, tables, scopes)
    gone = set(goes_with)
    core = (
        [variable for variable, factor in enumerate(goes_with) if factor == NEVER],
        [factor for factor in range(len(tables)) if factor not in gone],
    )
    return Outline(sizes, scopes, tables, goes_with, constants, core, clear, math.fsum(constants))


def _given(graph: FactorGraph) -> list[Table]:
    """The distinct tables without axes of size one; what they are on is not said."""
    values, starts = graph.tables.values, graph.tables.offsets[:-1]
    if not len(starts):
        return []
    with np.errstate(divide="ignore"):
        highest = np.log(np.maximum.reduceat(values, starts)).tolist()
        positive = np.where(values > 0, values, np.inf)
        lowest = np.log(np.minimum.reduceat(positive, starts)).tolist()
    found = []
    for number, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        table = graph.tables[number]
        table = table.reshape([size for size in table.shape if size > 1])
        found.append(from_potentials((), table, low, high))
    return found


def _dropped(
    graph: FactorGraph, tables: list[Table | None], scopes: list[tuple[int, ...]]
) -> tuple[list[int], list[float], bool]:
    """What goes with each variable if nothing is asked, the log it leaves, and if all was clear."""
    known: dict[tuple[int, int], float | None] = {}
    numbers, sizes = graph.factor_table.tolist(), graph.sizes.tolist()

    def constant(factor: int, variable: int) -> float | None:
        table = tables[factor]
        if table is None:
            return None
        key = numbers[factor], table.ranks.index(variable)
        if key not in known:
            known[key] = constant_sum(table, variable)
        return known[key]

    goes_with, constants, clear = [NEVER] * len(sizes), [0.0] * len(sizes), True
    for variable, factor, log in peel(range(len(sizes)), scopes, (), constant):
        if factor is None:
            goes_with[variable], constants[variable] = ALONE, math.log(sizes[variable])
        else:
            goes_with[variable], constants[variable] = factor, log
            others = [constant(factor, other) for other in scopes[factor]]
            clear = clear and sum(each is not None for each in others) == 1
    return goes_with, constants, clear
