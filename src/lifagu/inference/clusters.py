"""Steps of a plan taken together, where one larger product is cheaper than several tiny ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from lifagu.inference.plan import Plan

FIXED = 4000  # what a product costs apart from its size, in entries times tables


class Cluster(NamedTuple):
    """Ranks summed out at once, and the entries of the plan's steps that this stands for."""

    drop: tuple[int, ...]
    entries: int


def make_clusters(
    plan: Plan, sizes: Sequence[int], lowest: Sequence[int]
) -> tuple[list[Cluster | None], list[int]]:
    """For each rank its cluster (None if it joined another), and the rank where it is found now.

    sizes: range size of each rank, kept ones last; lowest: the lowest rank of each table. The kept
    ranks, or those of the core, share one last cluster, which sums out nothing. A step joins the
    one that takes its result if the product of both costs less than the two. Cost: linear in the
    plan.
    """
    count = len(plan.steps)
    rank = {step.variable: place for place, step in enumerate(plan.steps)}
    around = [[rank.get(each, count) for each in step.neighbours] for step in plan.steps]
    parents = [min(each, default=-1) for each in around]
    ticks = [step.entries for step in plan.steps] + [0]
    last = math.prod(plan.core.states) if plan.core else plan.kept_entries
    entries = [*ticks[:-1], last]
    tables = [0] * (count + 1)
    for place in [*lowest, *parents]:
        if place >= 0:
            tables[min(place, count)] += 1
    drop = [[place] for place in range(count)] + [[]]
    found = list(range(count + 1))
    for place, parent in enumerate(parents):
        if parent < 0:
            continue
        union = entries[parent] * math.prod([sizes[each] for each in drop[place]])
        together = tables[place] + tables[parent] - 1
        apart = FIXED + entries[place] * tables[place] + entries[parent] * tables[parent]
        if union * together > apart:
            continue
        entries[parent], tables[parent], found[place] = union, together, parent
        drop[parent] = drop[place] + drop[parent]
        ticks[parent] += ticks[place]
    for place in reversed(range(count)):
        found[place] = found[found[place]]
    clusters = [
        Cluster(tuple(drop[place]), ticks[place]) if found[place] == place else None
        for place in range(count + 1)
    ]
    return clusters, found + [count] * (len(sizes) - count - 1)
