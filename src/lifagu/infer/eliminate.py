"""Ground elimination in log space: one pass forward for log Z, one walk back for the marginals asked for.

Bucket elimination (Dechter 1999): a table waits in the bucket of its variable that is eliminated first. The walk
back is the adjoint of the forward pass: what flows back to a table is the joint marginal of its arguments, so all
single marginals cost about as much again as log Z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.arrays import Floats, Ints
from lifagu.infer.plan import Plan, make_plan
from lifagu.infer.problem import Part
from lifagu.infer.table import (
    LogTable,
    conditional,
    in_order,
    log_sum,
    on_ranks,
    product,
    project,
    stripped,
    sum_out_first,
)

Question = tuple[int, ...]
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Bucket:
    """One elimination: the product of the tables on a variable, and what was left after summing it out."""

    product: LogTable
    result: LogTable


def plan(part: Part, questions: Sequence[Question], names: Callable[[int], str]) -> Plan:
    """How the part will be eliminated: one question keeps its variables, several share one pass and walk back."""
    scopes = [scope for scope, _ in part.factors]
    if len(questions) <= 1:
        return make_plan(scopes, part.sizes, questions[0] if questions else (), names=names)
    together = [question for question in questions if len(question) > 1]
    return make_plan(scopes + together, part.sizes, keeps_tables=True, names=names)


def run(part: Part, plan: Plan, questions: Sequence[Question], progress: Progress) -> tuple[float, list[Floats]]:
    """log Z of the part and the log marginal of each question (unnormalised, axes in the question's order).

    A part of weight zero has log Z -inf; its marginals mean nothing.
    """
    order = [step.variable for step in plan.steps] + list(plan.kept)
    rank = {variable: place for place, variable in enumerate(order)}
    sizes = np.array([part.sizes[variable] for variable in order], dtype=np.int64)
    tables = [on_ranks(values, [rank[variable] for variable in scope]) for scope, values in part.factors]
    asked = [tuple(rank[variable] for variable in question) for question in questions]
    tables += [product((), tuple(sorted(ranks)), sizes) for ranks in asked if len(ranks) > 1]
    buckets, kept, scales = _forward(tables, sizes, plan, progress)
    if kept.ranks:
        scales.append(float(log_sum(kept.values)))
        return math.fsum(scales), [in_order(kept, ranks) for ranks in asked]
    return math.fsum(scales), _walk_back(buckets, asked)


def _forward(
    tables: Iterable[LogTable], sizes: Ints, plan: Plan, progress: Progress
) -> tuple[list[Bucket], LogTable, list[float]]:
    """Sum out ranks 0, 1, …; returns the buckets, the table on the kept ranks, and the logs of all scales."""
    waiting: list[list[LogTable]] = [[] for _ in range(len(sizes) + 1)]
    scales = []

    def put(table: LogTable) -> None:
        table, scale = stripped(table)
        scales.append(scale)
        waiting[table.ranks[0] if table.ranks else -1].append(table)

    for table in tables:
        put(table)
    buckets = []
    for rank, step in enumerate(plan.steps):
        bucket, waiting[rank] = tuple(waiting[rank]), []
        ranks = tuple(sorted({rank}.union(*(table.ranks for table in bucket))))
        multiplied = product(bucket, ranks, sizes)
        result = sum_out_first(multiplied)
        put(result)
        if plan.keeps_tables:
            buckets.append(Bucket(multiplied, result))
        progress(step.entries)
    left = [table for bucket in waiting[len(plan.steps) : len(sizes)] for table in bucket]
    return buckets, product(left, tuple(range(len(plan.steps), len(sizes))), sizes), scales


def _walk_back(buckets: Sequence[Bucket], asked: Sequence[tuple[int, ...]]) -> list[Floats]:
    """The log marginal of each question, whose ranks lie together in the bucket of the lowest of them.

    Only buckets on the way to a question are visited. joint[r] = P(bucket r's ranks): the product of its tables,
    conditioned on what it left, times what its parent bucket says about that.
    """
    needed = {min(ranks) for ranks in asked}
    for rank in range(len(buckets)):
        if rank in needed and buckets[rank].result.ranks:
            needed.add(buckets[rank].result.ranks[0])
    joint: dict[int, LogTable] = {}
    for rank in sorted(needed, reverse=True):
        product_table, result = buckets[rank].product, buckets[rank].result
        given = conditional(product_table, result)
        if result.ranks:
            above = project(joint[result.ranks[0]], result.ranks)
            given = LogTable(given.ranks, given.values + above.values)
        joint[rank] = given
    return [in_order(project(joint[min(ranks)], tuple(sorted(ranks))), ranks) for ranks in asked]
