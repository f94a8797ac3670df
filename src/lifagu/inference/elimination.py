"""Ground elimination: one pass forward for log Z, one walk back for the marginals asked for.

Bucket elimination (Dechter 1999): a table waits in the bucket of its variable that is eliminated
first. The walk back is the adjoint of the forward pass: what flows back to a table is the joint
marginal of its arguments, so all single marginals cost about as much again as log Z, and so do
those of all factors. Between the passes only what each bucket left is kept, not its product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.inference.barren import find_barren
from lifagu.inference.clusters import Cluster, make_clusters
from lifagu.inference.connected_part import AnyPart
from lifagu.inference.plan import Plan, make_plan, with_core
from lifagu.inference.question_checks import Question
from lifagu.inference.table import (
    Table,
    contract,
    in_order,
    log_sum,
    log_values,
    ones,
    project,
    ratio,
    settled_if_wide,
    sums_of_each,
)
from lifagu.inference.thirds import InThirds

Stepped = Callable[[int], None]
Weights = tuple[Floats, bool]  # numbers, and whether they are logs


class Bucket(NamedTuple):
    """One elimination: its place in the plan, the tables multiplied, and what summing out left.

    core: the same tables in three groups, if that is how they were summed.
    """

    place: int
    tables: list[Table]
    result: Table
    core: InThirds | None = None


def plan(
    part: AnyPart,
    questions: Sequence[Question],
    names: Callable[[int], str],
    most: float = math.inf,
) -> Plan:
    """How the part will be eliminated.

    One question keeps its variables, several share one pass and walk back. More than `most` entries
    are a `TooDearError`.
    """
    if not part.may_drop:
        return _plan([table.ranks for table in part.tables], part.sizes, questions, names, most)
    barren = find_barren(part, {variable for question in questions for variable in question})
    gone = set(barren.variables)
    sizes = {variable: size for variable, size in part.sizes.items() if variable not in gone}
    scopes = [table.ranks for place, table in enumerate(part.tables) if place not in barren.factors]
    asked = [
        tuple(variable for variable in question if variable in sizes) for question in questions
    ]
    found = _plan(scopes, sizes, asked, names, most)
    return replace(
        found,
        dropped=barren.variables,
        dropped_factors=barren.factors,
        log_constant=barren.log_constant,
    )


def _plan(
    scopes: list[tuple[int, ...]],
    sizes: dict[int, int],
    asked: Sequence[Question],
    names: Callable[[int], str],
    most: float,
) -> Plan:
    together = scopes + [question for question in asked if len(question) > 1]
    if len(asked) <= 1:
        found = make_plan(scopes, sizes, asked[0] if asked else (), names=names, most=most)
    else:
        found = make_plan(together, sizes, keeps_tables=True, names=names, most=most)
    return with_core(found, together, sizes)


def run(
    part: AnyPart, plan: Plan, questions: Sequence[Question], progress: Stepped
) -> tuple[float, list[Floats]]:
    """log Z of the part and the log marginal of each question, axes in the question's order.

    A part of weight zero has log Z -inf; its marginals mean nothing.
    """
    layout = _lay_out(part, plan, questions)
    buckets, kept, logs = _forward(layout, plan, progress)
    if len(questions) == 1 and not plan.core:
        kept, scale = settled_if_wide(kept)
        tables, totals = _log_probabilities([(in_order(kept, layout.asked[0]), kept.logs)])
        logs += [scale, *totals]
    else:
        tables, _ = _log_probabilities(_walk_back(buckets, layout) if questions else [])
    for number, question in enumerate(questions):
        if tables[number].ndim != len(question):  # variables with one value have an axis, too
            shape = [part.sizes[variable] for variable in question]
            tables[number] = tables[number].reshape(shape)
    return math.fsum([plan.log_constant, *logs]), tables


class Layout(NamedTuple):
    """A part along a plan: variables as ranks (kept ones last), and clusters of steps.

    core: the three groups of ranks that are summed out together at the end, if there are any.
    """

    tables: list[Table]
    asked: list[tuple[int, ...]]
    clusters: list[Cluster | None]
    found: list[int]
    core: tuple[tuple[int, ...], ...]


def _lay_out(part: AnyPart, plan: Plan, questions: Sequence[Question]) -> Layout:
    """Variables asked for together that no factor is about meet in a table that says nothing."""
    core = plan.core.groups if plan.core else ()
    order = [step.variable for step in plan.steps]
    order += plan.core.variables if plan.core else plan.kept
    rank = {variable: place for place, variable in enumerate(order)}
    sizes = [part.sizes[variable] for variable in order]
    tables = [
        Table(tuple([rank[variable] for variable in ranks]), values, low, high, logs)
        for place, (ranks, values, low, high, logs) in enumerate(part.tables)
        if place not in plan.dropped_factors
    ]
    asked = [
        tuple(rank[variable] for variable in question if variable in rank) for question in questions
    ]
    together = [ranks for ranks in asked if len(ranks) > 1]
    if together:
        met = {frozenset(table.ranks) for table in tables}
        met.add(frozenset(range(len(plan.steps), len(order))))
        for ranks in {frozenset(ranks): None for ranks in together}:
            if ranks not in met:
                tables.append(ones(tuple(sorted(ranks)), sizes))
    covered = set().union(*[table.ranks for table in tables])
    if len(covered) < len(order):
        tables += [ones((place,), sizes) for place in range(len(order)) if place not in covered]
    clusters, found = make_clusters(
        plan, sizes, [min(table.ranks) for table in tables if table.ranks]
    )
    groups = tuple([tuple([rank[variable] for variable in group]) for group in core])
    return Layout(tables, asked, clusters, found, groups)


def _forward(
    layout: Layout, plan: Plan, progress: Stepped
) -> tuple[list[Bucket], Table, list[float]]:
    """Sum out cluster by cluster: buckets, the table on the kept ranks, the logs of all scales."""
    waiting: list[list[Table]] = [[] for _ in layout.clusters]
    logs = []

    def put(table: Table) -> None:
        if table.ranks:
            waiting[layout.found[min(table.ranks)]].append(table)
        else:
            logs.append(float(log_values(table)))

    for table in layout.tables:
        put(table)
    buckets = []
    for place, cluster in enumerate(layout.clusters[:-1]):
        if cluster:
            result, scale = contract(waiting[place], cluster.drop)
            logs.append(scale)
            put(result)
            progress(cluster.entries)
            if plan.keeps_tables:
                buckets.append(Bucket(place, waiting[place], result))
            waiting[place] = []
    last = layout.clusters[-1]
    if plan.core:
        core = InThirds(waiting[-1], layout.core)
        buckets.append(Bucket(len(layout.clusters) - 1, [], ones((), ()), core))
        logs.append(core.log_total)
        progress(plan.core.cost)
        return buckets, ones((), ()), logs
    if last and waiting[-1]:
        kept, scale = contract(waiting[-1], last.drop)
        progress(last.entries)
        return buckets, kept, [*logs, scale]
    return buckets, ones((), ()), logs


def _walk_back(buckets: list[Bucket], layout: Layout) -> list[Weights]:
    """The weights of each question, whose ranks lie together in the bucket of the lowest of them.

    joint = P(ranks of a bucket that somebody asks for): the product of its tables, divided by what
    it left, times what the bucket that took this says about it. Only buckets on the way to a
    question are visited; all are used up.
    """
    asked: dict[int, list[int]] = {}  # bucket → numbers of questions
    for number, ranks in enumerate(layout.asked):
        if ranks:
            asked.setdefault(layout.found[min(ranks)], []).append(number)
    # bucket → those on the way to a question that put their results into it
    below: dict[int, list[Bucket]] = {}
    needed = set(asked)
    for bucket in buckets:
        if bucket.place in needed and bucket.result.ranks:
            above = layout.found[min(bucket.result.ranks)]
            needed.add(above)
            below.setdefault(above, []).append(bucket)
    answers: list[Weights] = [(np.ones(()), False)] * len(layout.asked)
    messages: dict[int, Table] = {}
    while buckets:
        bucket = buckets.pop()
        if bucket.place in needed:
            message = [messages.pop(bucket.place)] if bucket.result.ranks else []
            numbers, children = asked.get(bucket.place, []), below.get(bucket.place, [])
            questions = [layout.asked[number] for number in numbers]
            known = _joints(bucket, message, [child.result.ranks for child in children], questions)
            for child in children:
                messages[child.place] = ratio(known[frozenset(child.result.ranks)], child.result)
            found = _read_off(known, questions)
            for number, answer in zip(numbers, found, strict=True):
                answers[number] = answer
    return answers


def _joints(
    bucket: Bucket,
    message: Sequence[Table],
    below: Sequence[tuple[int, ...]],
    questions: Sequence[tuple[int, ...]],
) -> dict[frozenset[int], Table]:
    """Joint marginals of the ranks that those below take, and one or more that hold the questions.

    The first one has all ranks of each question, unless each question has one of its own.
    """
    if bucket.core:
        return {
            ranks: bucket.core.marginal(ranks) for ranks in map(frozenset, [*below, *questions])
        }
    tables = [*bucket.tables, *message]
    wanted = {rank for ranks in (*below, *questions) for rank in ranks}
    joint, _ = contract(tables, {rank for table in tables for rank in table.ranks} - wanted)
    known = {frozenset(joint.ranks): joint}
    for shared in map(frozenset, below):
        if shared not in known:
            known[shared] = project(joint, shared)
    return known


def _read_off(
    known: dict[frozenset[int], Table], questions: Sequence[tuple[int, ...]]
) -> Iterator[Weights]:
    """The weights of questions from known ones, the first of which has all ranks, or all do."""
    joint = next(iter(known.values()))
    whole = len(questions) > 1 and all(set(joint.ranks).issuperset(ranks) for ranks in questions)
    singles = sums_of_each(joint) if whole else None
    for ranks in questions:
        if singles and len(ranks) == 1:
            yield singles[ranks[0]], False
        else:
            holders = [table for on, table in known.items() if on.issuperset(ranks)]
            smallest = min(holders, key=lambda table: table.values.size)
            table, _ = settled_if_wide(project(smallest, ranks))
            yield in_order(table, ranks), table.logs


def _log_probabilities(weights: Sequence[Weights]) -> tuple[list[Floats], list[float]]:
    """The logs of weights divided by their sum, and the log of it; many at once if none holds logs.

    Where the sum is zero, the logs of the weights mean nothing.
    """
    if len(weights) < 2 or any(logs for _, logs in weights):
        found = [_log_shares(*each) for each in weights]
        return [logs for logs, _ in found], [total for _, total in found]
    flat = np.concatenate([values.reshape(-1) for values, _ in weights])
    sizes = [values.size for values, _ in weights]
    stops = list(accumulate(sizes))
    sums = np.add.reduceat(flat, [0, *stops[:-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        np.log(flat / np.repeat(sums, sizes), out=flat)
        totals = np.log(sums).tolist()
    shares = [
        flat[stop - values.size : stop].reshape(values.shape)
        for (values, _), stop in zip(weights, stops, strict=True)
    ]
    return shares, totals


def _log_shares(values: Floats, logs: bool) -> tuple[Floats, float]:
    total = float(log_sum(values) if logs else values.sum())
    if total == (-math.inf if logs else 0.0):
        return np.full(values.shape, -np.inf), -math.inf
    if logs:
        return values - total, total
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values / total)), math.log(total)
