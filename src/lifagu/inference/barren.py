"""Variables that cannot matter: summing them out of the one table they are in leaves the same
number everywhere.

In a Bayesian network these are the barren nodes (Shachter 1986), found here without knowing that it
is one.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from lifagu.inference.part import AnyPart
from lifagu.inference.table import constant_sum

# relative difference of sums that are taken for equal: what adding up to a thousand numbers rounds
TOLERANCE = 1e-14


@dataclass(frozen=True)
class Barren:
    """Variables and factors (positions in the part) to leave out, and the log of the constant they
    amount to.
    """

    variables: tuple[int, ...]
    factors: frozenset[int]
    log_constant: float


def find_barren(part: AnyPart, asked: Collection[int]) -> Barren:
    """Peel variables that are not asked for, one after the other, as long as what they leave is a
    constant.

    Variables with one value never matter. Cost: linear in the tables that are looked at.
    """
    holders: dict[int, set[int]] = {variable: set() for variable in part.variables}
    for place, table in enumerate(part.tables):
        for variable in table.ranks:
            holders[variable].add(place)
    variables, factors, logs = [], set(), []
    waiting = [variable for variable in reversed(part.variables) if len(holders[variable]) <= 1]
    while waiting:
        variable = waiting.pop()
        single = part.sizes[variable] == 1
        if (
            variable not in holders
            or (variable in asked and not single)
            or len(holders[variable]) > 1
        ):
            continue
        if not holders[variable]:
            logs.append(math.log(part.sizes[variable]))
        else:
            (place,) = holders[variable]
            table = part.tables[place]
            constant = constant_sum(table, variable, TOLERANCE)
            if constant is None:
                continue
            logs.append(constant)
            factors.add(place)
            for other in table.ranks:
                holders[other].discard(place)
                if len(holders[other]) <= 1 and other != variable:
                    waiting.append(other)
        variables.append(variable)
        del holders[variable]
    return Barren(tuple(sorted(variables)), frozenset(factors), math.fsum(logs))
