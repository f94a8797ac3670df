"""What answers should cost: ground plans by steps and entries, lifted steps by likeness.

Rough on purpose: prices only decide which engine answers, never what the answer is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Ints, distinct, group_lists, group_rows, offsets_of
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.outline import outline_of

SHARED = 2  # factors for each table below which hardly any is shared
LISTED = 2**12  # factors up to which a ground plan is made quickly enough to be compared
ROUNDS = 3  # of telling variables apart by what they are next to
FEW_VALUES = 4  # of variables that can be counted
MOST_ENTRIES = 2**32  # of a ground plan, beyond which lifted steps are tried in any case
MANY = 4  # variables that look alike, so that counting them may do away with wide tables

# microseconds, as measured: of each variable and each entry on the ground …
VARIABLE, ENTRY = 12.0, 0.002
# … and of lifted steps: to begin with, for each factor, for each class of variables, and for each
# entry of a table
BEGIN, FACTOR, CLASS, LIFTED_ENTRY = 2000.0, 2.0, 40.0, 0.05


# why the ground engine is taken where hardly any table is shared …
NOT_SHARED = "hardly any table is shared"


def costs_less(entries: int) -> str:
    """… and where its plan costs little."""
    return f"its plan of {entries:,} entries costs less than looking for lifted steps"


class Effort(NamedTuple):
    """How many times as dear as one answer a task is, on the ground and with lifted steps."""

    ground: float
    lifted: float


ONE_ANSWER, ALL_MARGINALS, BEST_ASSIGNMENT = Effort(1, 1), Effort(3, 2), Effort(3, 1)


@dataclass(frozen=True)
class Likeness:
    """How much of a graph looks alike: its factors, variables, classes and numbers of values.

    fewest_neighbours: of any variable, so that every elimination begins with a table on at least
    these.
    """

    factors: int
    variables: int
    classes: int
    most_values: int
    fewest_neighbours: int

    def most_entries(self, variables: int, effort: Effort) -> float:
        """Entries of a ground plan up to which it costs less than lifted steps; below 0: none.

        On lifted steps each entry serves many places, but is computed with more digits; where much
        is interchangeable and has few values, counting may make all of them unnecessary.
        """
        alike = max(self.variables, 1) / max(self.classes, 1)
        counted = alike >= MANY and self.most_values <= FEW_VALUES
        lifted = BEGIN + FACTOR * self.factors + CLASS * self.classes
        entry = effort.ground * ENTRY - (0.0 if counted else effort.lifted * LIFTED_ENTRY / alike)
        if entry <= 0:
            return float(MOST_ENTRIES)
        return (effort.lifted * lifted - effort.ground * VARIABLE * variables) / entry


def worth_planning(
    graph: FactorGraph, evidence: Evidence, effort: Effort, variables: Callable[[], int]
) -> float:
    """Entries up to which a ground plan costs less than lifted steps; 0 where none will.

    0 also where it takes too long to see that. variables: how many there are to be eliminated,
    where that has to be known.
    """
    if len(graph.factor_names) > LISTED:
        return 0.0
    alike = graph.once(likeness_of)
    most = alike.most_entries(len(outline_of(graph).core[0]), effort)
    if most <= 2 ** (alike.fewest_neighbours + 1 - len(evidence.variables)):
        return 0.0
    return max(alike.most_entries(variables(), effort), 0.0)


def hardly_shares(graph: FactorGraph) -> bool:
    """Whether there are few factors, with so many tables that hardly anything is done at once.

    Where there are many factors, places of one shape are done at once even if their tables are not
    shared.
    """
    factors = len(graph.factor_names)
    return factors <= LISTED and factors - len(graph.unknown) < SHARED * len(graph.tables)


def likeness_of(graph: FactorGraph) -> Likeness:
    """How much of a graph looks alike from nearby; tables on one variable do not tell it apart.

    Cost: near-linear.
    """
    colour = np.asarray(graph.variable_range)
    for _ in range(ROUNDS):
        colour = _refined(graph, colour)
    most = int(graph.sizes.max(initial=1))
    classes = int(colour.max(initial=-1)) + 1
    return Likeness(len(graph.factor_names), len(colour), classes, most, _fewest_neighbours(graph))


def _fewest_neighbours(graph: FactorGraph) -> int:
    count = len(graph.variable_names)
    pairs = [np.arange(count) * (count + 1)]  # each with itself
    for _, scopes in graph.scopes:
        pairs.append((scopes[:, :, None] * count + scopes[:, None, :]).reshape(-1))
    return (
        int(np.bincount(distinct(np.concatenate(pairs)) // max(count, 1)).min()) - 1 if count else 0
    )


def _refined(graph: FactorGraph, colour: Ints) -> Ints:
    """Variables told apart by their colour and the bag of tables and colours they are next to."""
    variables, codes, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for factors, scopes in graph.scopes:
        if scopes.shape[1] > 1:
            kinds = group_rows(
                np.column_stack((graph.factor_table[factors], np.sort(colour[scopes], axis=1)))
            )
            variables.append(scopes.reshape(-1))
            codes.append(np.repeat(count + kinds, scopes.shape[1]))
            count += int(kinds.max(initial=-1)) + 1
    variable, code = np.concatenate(variables), np.concatenate(codes)
    order = np.lexsort((code, variable))
    offsets = offsets_of(np.bincount(variable, minlength=len(colour)))
    return group_rows(np.column_stack((colour, group_lists(offsets, code[order]))))
