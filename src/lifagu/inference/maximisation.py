"""The best assignment of a part: elimination with maxima in place of sums, and the way back.

Everything is done in log space, where products are sums and nothing is rounded away.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lifagu.inference.connected_part import AnyPart
from lifagu.inference.plan import Plan, make_plan
from lifagu.inference.table import LogTable, max_out

# ranks, and for each of their values the best value
Choices = tuple[tuple[int, ...], NDArray[np.unsignedinteger]]


def plan(part: AnyPart, names: Callable[[int], str] = str, most: float = math.inf) -> Plan:
    """How the part will be eliminated: every variable with more than one value, none dropped.

    More than `most` entries are a `TooDearError`.
    """
    sizes = {variable: size for variable, size in part.sizes.items() if size > 1}
    return make_plan(
        [table.ranks for table in part.tables], sizes, keeps_tables=True, names=names, most=most
    )


def map_part(
    part: AnyPart, plan: Plan, progress: Callable[[int], None]
) -> tuple[float, dict[int, int]]:
    """The largest log weight of an assignment of a part, and one assignment that has it.

    Values are canonical. Of equally good values the lowest is taken, for the variables of the plan
    from the last to the first, so the answer is the same every time. If every assignment has weight
    zero, the log weight is -inf and the assignment means nothing. Cost: as for log Z, in log space.
    """
    rank = {step.variable: place for place, step in enumerate(plan.steps)}
    waiting: list[list[LogTable]] = [[] for _ in plan.steps]
    logs: list[float] = []

    def put(table: LogTable) -> None:
        if table[0]:
            waiting[min(table[0])].append(table)
        else:
            logs.append(float(table[1]))

    for scope, values in part.factors:
        free = [variable for variable in scope if variable in rank]
        shape = [part.sizes[variable] for variable in free]
        put((tuple([rank[variable] for variable in free]), values.reshape(shape)))
    choices: list[Choices] = []
    for place, step in enumerate(plan.steps):
        result, choice = max_out(waiting[place], place, part.sizes[step.variable])
        waiting[place] = []
        put(result)
        choices.append((result[0], choice))
        progress(step.entries)
    values_of = dict.fromkeys(part.variables, 0)
    for step, (ranks, choice) in zip(reversed(plan.steps), reversed(choices), strict=True):
        found = tuple(values_of[plan.steps[each].variable] for each in ranks)
        values_of[step.variable] = int(choice[found])
    return math.fsum(logs), values_of
