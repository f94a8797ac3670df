"""Elimination orders: greedy ones, and the order of the input.

Each takes neighbours (changed on the way), range sizes and variables to keep, and yields the other
variables one by one, with the neighbours each has when its turn comes. Ties go to the lower
variable.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator

Neighbours = dict[int, set[int]]
Eliminations = Iterator[tuple[int, set[int]]]  # a variable, and what its elimination joins


def min_weight(near: Neighbours, sizes: dict[int, int], keep: Collection[int]) -> Eliminations:
    """The variable that leaves the smallest table first. Cost: O(n log n + Σ width²)."""
    log = _fixed_point_logs(sizes)
    weight = {variable: sum([log[other] for other in around]) for variable, around in near.items()}
    heap = [(weight[variable], variable) for variable in near if variable not in keep]
    heapq.heapify(heap)
    while heap:
        known, variable = heapq.heappop(heap)
        if variable not in near or known != weight[variable]:
            continue
        joined = near.pop(variable)
        yield variable, joined
        for other in joined:
            around = near[other]
            added = joined - around
            added.discard(other)
            around |= added
            around.discard(variable)
            weight[other] += sum([log[each] for each in added]) - log[variable]
            if other not in keep:
                heapq.heappush(heap, (weight[other], other))


def min_fill(near: Neighbours, sizes: dict[int, int], keep: Collection[int]) -> Eliminations:
    """The variable whose elimination joins the fewest pairs first, then smaller tables.

    The numbers of pairs are kept up to date edge by edge. Cost: O(n log n + pairs joined · width).
    """
    return _min_fill(near, sizes, keep, dict.fromkeys(near, 1))


def weighted_min_fill(
    near: Neighbours, sizes: dict[int, int], keep: Collection[int]
) -> Eliminations:
    """The same, where a pair of variables weighs as much as the logs of their sizes multiplied."""
    return _min_fill(near, sizes, keep, _fixed_point_logs(sizes))


def input_order(near: Neighbours, sizes: dict[int, int], keep: Collection[int]) -> Eliminations:
    """As the variables are numbered, which often follows a sensible layout."""
    return _in_order(near, sorted(near), keep)


def backward_order(near: Neighbours, sizes: dict[int, int], keep: Collection[int]) -> Eliminations:
    """The order of the input, last variable first."""
    return _in_order(near, sorted(near, reverse=True), keep)


def _in_order(near: Neighbours, order: list[int], keep: Collection[int]) -> Eliminations:
    for variable in order:
        if variable in keep:
            continue
        joined = near.pop(variable)
        yield variable, joined
        for other in joined:
            near[other] |= joined
            near[other] -= {variable, other}


def _min_fill(
    near: Neighbours, sizes: dict[int, int], keep: Collection[int], weight: dict[int, int]
) -> Eliminations:
    log = _fixed_point_logs(sizes)
    fill = {variable: _missing_pairs(near, variable, weight) for variable in near}

    def entry(variable: int) -> tuple[int, int, int]:
        return fill[variable], sum([log[other] for other in near[variable]]), variable

    current = {variable: entry(variable) for variable in near if variable not in keep}
    heap = list(current.values())
    heapq.heapify(heap)
    while heap:
        known = heapq.heappop(heap)
        variable = known[2]
        if current.get(variable) != known:
            continue
        del current[variable]
        joined = near[variable]
        touched = _join(near, fill, variable, weight) if known[0] else set()
        yield variable, joined
        del near[variable]
        # its pairs with the variable that were not joined are no longer missing
        for other in joined:
            near[other].discard(variable)
            if apart := near[other] - joined:
                fill[other] -= weight[variable] * sum([weight[each] for each in apart])
        for other in touched | joined:
            if other in current and (new := entry(other)) != current[other]:
                current[other] = new
                heapq.heappush(heap, new)


def _missing_pairs(near: Neighbours, variable: int, weight: dict[int, int]) -> int:
    """The weight of all pairs of neighbours that are not joined."""
    around = near[variable]
    twice = 0
    for other in around:
        if len(apart := around - near[other]) > 1:
            twice += weight[other] * (sum([weight[each] for each in apart]) - weight[other])
    return twice // 2


def _join(
    near: Neighbours, fill: dict[int, int], variable: int, weight: dict[int, int]
) -> set[int]:
    """Join the neighbours of a variable, pair by pair; the variables whose fill changed."""
    touched: set[int] = set()
    joined = near[variable]
    for first in joined:
        around = near[first]
        for second in joined - around:
            if second == first:
                continue
            other = near[second]
            common = around & other
            for each in common:
                fill[each] -= weight[first] * weight[second]
            fill[first] += weight[second] * sum([weight[each] for each in around - common])
            fill[second] += weight[first] * sum([weight[each] for each in other - common])
            around.add(second)
            other.add(first)
            touched |= common
    return touched


def _fixed_point_logs(sizes: dict[int, int]) -> dict[int, int]:
    """Logs in fixed point, so that adding and taking away is exact."""
    known = {size: round(math.log2(size) * 2**20) for size in set(sizes.values())}
    return {variable: known[size] for variable, size in sizes.items()}
