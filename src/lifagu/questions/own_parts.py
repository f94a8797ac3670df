"""Parts of what individuals have by themselves, and what each sums to under its hidden choices.

An individual's own model has the factors that it owns and a copy of every variable that it shares,
each value weighing one. Its parts hang together by these variables. Parts equal up to renaming
count once, and those that differ in tables alone are summed together: an axis tells them apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    dense,
    distinct,
    first_places,
    group_lists,
    members,
    offsets_of,
    owners,
)
from lifagu.basics.names import NumberedNames
from lifagu.filling.cohorts.joint_model import JointModel
from lifagu.filling.cohorts.posterior import chunks
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.inference.barren_factors import without_barren
from lifagu.inference.connected_part import TablePart
from lifagu.inference.engines import plan_part, run_part
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.table import Table, from_logs, from_potentials

MOST = 2**12  # combinations of a part's choices up to which each is weighed by itself
CLOSE = 1e-9  # how far probabilities of fitted pairs may be off
ROUNDS = 500  # of fitting at most
Logs = tuple[tuple[int, ...], Floats]  # choices by place, and log weights: parts × their values


@dataclass(frozen=True, eq=False)
class AlikeParts:
    """Parts with equal scopes and sizes: some with tables of their own stand for all.

    sizes: of each variable, hidden choices among them. scopes: of each factor, by place.
    tables[i, j]: the number of its table in the i-th that stands for others. nodes[p]: of each
    part what its hidden choices are, -1 for variables; like: which one stands for it.
    """

    joint: JointModel
    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: Ints
    nodes: Ints
    like: Ints

    @property
    def choices(self) -> tuple[int, ...]:
        """The places of what is hidden, if there is a choice."""
        hidden = (self.nodes[0] >= 0).tolist()
        return tuple([k for k, size in enumerate(self.sizes) if hidden[k] and size > 1])

    @property
    def is_fitted(self) -> bool:
        """Whether several tables have too many combinations to weigh each by itself."""
        tables = (self.nodes[0, list(self.choices)] >= len(self.joint.cohorts)).sum()
        return bool(tables > 1) and math.prod([self.sizes[each] for each in self.choices]) > MOST

    def log_weights(self) -> tuple[list[Logs], float] | None:
        """What makes choices as likely as their shares, and how far off; None if too large.

        Weights are scaled to a mean of one, by sums and shares.
        """
        width = math.prod([min(self.sizes[each], MOST) for each in self.choices])
        pieces = []
        for some in chunks(len(self.tables), min(width, MOST) * max(self.sizes)):
            batch = _Batch(self, np.arange(len(self.tables))[some])
            found = batch.fitted() if self.is_fitted else batch.exact()
            if found is None:
                return None
            pieces.append(found)
        scopes = [scope for scope, _ in pieces[0][0]]
        logs = [np.concatenate([each[0][k][1] for each in pieces]) for k in range(len(scopes))]
        return list(zip(scopes, logs, strict=True)), max(gap for _, gap in pieces)


class _Batch:
    """Some of those that stand for others, summed together: their number is a further variable."""

    def __init__(self, alike: AlikeParts, which: Ints) -> None:
        self._alike, self._joint = alike, alike.joint
        self._which = which
        first = first_places(alike.like)
        self._nodes = alike.nodes[first[which]]
        self._who = () if len(which) == 1 else (len(alike.sizes),)
        self._sizes = dict(enumerate(alike.sizes)) | {len(alike.sizes): len(which)}
        self._tables = [
            self._table(scope, alike.tables[which, j]) for j, scope in enumerate(alike.scopes)
        ]

    def _table(self, scope: tuple[int, ...], numbers: Ints) -> Table:
        tables = self._joint.graph.tables
        one = bool((numbers == numbers[0]).all())
        numbers = numbers[:1] if one else numbers
        first, size = tables.offsets[numbers], int(np.diff(tables.offsets)[numbers[0]])
        values = tables.values[first[:, None] + np.arange(size)]
        ranks = tuple([each for each in scope if self._sizes[each] > 1])
        ranks = ranks if one else (*self._who, *ranks)
        some = values[values > 0]
        low, high = (math.log(some.min()), math.log(some.max())) if some.size else (0.0, -math.inf)
        return from_potentials(ranks, values.reshape(self._shape(ranks)), low, high)

    def _shape(self, ranks: tuple[int, ...]) -> list[int]:
        return [self._sizes[each] for each in ranks]

    def _asked(self, question: tuple[int, ...], more: Sequence[Logs] = ()) -> Floats | None:
        """The logs of sums under each value of a question, for each of those; None if too large."""
        added = from_logs(
            [(*self._who, *scope) for scope, _ in more], [self._flat(e) for e in more]
        )
        tables = [each for each in (*self._tables, *added) if each.ranks]
        asked, limit = [(*self._who, *question)], memory_limit_of(None)
        ranks = dict.fromkeys([*asked[0], *(each for table in tables for each in table.ranks)])
        sizes = {each: self._sizes[each] for each in ranks}
        part = TablePart(tuple(ranks), sizes, tables, may_drop=False)
        plan = plan_part(part, asked, str, limit)
        if plan.obstacle(limit):
            return None
        _, (found,) = run_part(part, plan, asked, lambda _: None)
        return np.asarray(found).reshape(len(self._which), *self._shape(question))

    def _flat(self, given: Logs) -> Floats:
        scope, logs = given
        return logs.reshape([*self._shape(self._who), *self._shape(scope)])

    def _shares(self, place: int) -> Floats:
        """The shares of a choice, (·, size)."""
        hidden, size = self._joint.hidden, self._sizes[place]
        entries = hidden.offsets[self._nodes[:, place]][:, None] + np.arange(size)
        return np.asarray(hidden.shares[entries])

    # ---- each combination by itself

    def exact(self) -> tuple[list[Logs], float] | None:
        """The weight of each combination: the mean sum by its sum, none where that is zero."""
        choices = self._alike.choices
        sums = self._asked(choices)
        if sums is None:
            return None
        axes = tuple(range(1, sums.ndim))
        highest = sums.max(axis=axes, keepdims=True)
        sums = sums - np.where(np.isfinite(highest), highest, 0.0)
        mean = np.exp(sums)
        for place in choices:
            mean = np.einsum("ij...,ij->i...", mean, self._shares(place))
        some = np.isfinite(sums)
        total = np.where(mean > 0, mean, 1.0).reshape(highest.shape)
        logs = np.where(some, np.log(total) - np.where(some, sums, 0.0), -np.inf)
        logs[mean == 0] = 0.0  # nothing is possible, as answers will say
        return [(choices, logs)], 0.0

    # ---- pairs fitted

    def fitted(self) -> tuple[list[Logs], float] | None:
        """Weights of pairs (cohort, table) under which each pair is as likely as it should be."""
        pairs, wanted = self._wanted()
        logs = [np.zeros(each.shape) for each in wanted]
        possible = []
        for pair in pairs:
            if (found := self._asked(pair)) is None:
                return None
            possible.append(np.isfinite(found))
        wanted = _possible(pairs, wanted, possible)
        gap = math.inf
        for _ in range(ROUNDS):
            gap = 0.0
            for number, pair in enumerate(pairs):
                found = self._asked(pair, list(zip(pairs, logs, strict=True)))
                if found is None:
                    return None
                axes = tuple(range(1, found.ndim))
                found = np.exp(found - found.max(axis=axes, keepdims=True))
                found /= found.sum(axis=axes, keepdims=True)
                gap = max(gap, float(np.abs(found - wanted[number]).max()))
                some = (found > 0) & (wanted[number] > 0)
                logs[number][some] += np.log(wanted[number][some]) - np.log(found[some])
            if gap <= CLOSE:
                break
        logs = [np.where(each > 0, own, -np.inf) for each, own in zip(wanted, logs, strict=True)]
        return list(zip(pairs, logs, strict=True)), gap

    def _wanted(self) -> tuple[list[tuple[int, ...]], list[Floats]]:
        """Each choice of a table with its owner's cohort, if hidden, and their probabilities."""
        joint, first = self._joint, len(self._joint.cohorts)
        pairs, wanted = list[tuple[int, ...]](), []
        for place in self._alike.choices:
            if self._nodes[0, place] < first:
                continue
            between = joint.between[self._nodes[:, place] - first]
            if between[0] < 0:
                pairs.append((place,))
                wanted.append(self._shares(place))
                continue
            cohort = next(
                scope[0]
                for scope in self._alike.scopes
                if scope[1:] == (place,) and 0 <= self._nodes[0, scope[0]] < first
            )
            pairs.append((cohort, place))
            graph, size = joint.graph, self._sizes[cohort] * self._sizes[place]
            start = graph.tables.offsets[graph.factor_table[between]]
            given = graph.tables.values[start[:, None] + np.arange(size)]
            given = given.reshape(len(start), self._sizes[cohort], self._sizes[place])
            wanted.append(
                self._shares(cohort)[:, :, None] * given / given.sum(axis=2, keepdims=True)
            )
        return pairs, wanted


def _possible(
    pairs: Sequence[tuple[int, ...]], wanted: Sequence[Floats], possible: Sequence[Floats]
) -> list[Floats]:
    """How likely pairs should be without those that cannot be, which are left out."""
    kept = [np.where(some, each, 0.0) for some, each in zip(possible, wanted, strict=True)]
    left = [
        each.sum(axis=-1) / np.maximum(whole.sum(axis=-1), 1e-300)
        for each, whole in zip(kept, wanted, strict=True)
    ]  # of each cohort
    by_cohort = [each for each, pair in zip(left, pairs, strict=True) if len(pair) == 2]
    for number, pair in enumerate(pairs):
        if len(pair) == 2:
            own = np.where(left[number] > 0, 1 / np.maximum(left[number], 1e-300), 0.0)
            kept[number] = kept[number] * (reduce(np.multiply, by_cohort) * own)[..., None]
        axes = tuple(range(1, kept[number].ndim))
        kept[number] = kept[number] / kept[number].sum(axis=axes, keepdims=True)
    return kept


# ---- which parts there are


def own_parts(joint: JointModel) -> Iterator[AlikeParts]:
    """The parts of individuals' own models that have hidden choices and no unknown factor.

    Tables that are conditional say nothing of what is hidden, and are left out first.
    """
    graph, count = _apart(joint)
    part_of = parts_without(graph, np.arange(len(graph.variable_names)) < count)
    own = parts_of_factors(graph, part_of, np.arange(len(graph.factor_names)))
    choice = graph.sizes > 1
    choice[count:] = False
    of, chosen = own[owners(graph.offsets)], choice[graph.arguments]
    good = np.zeros(int(part_of.max(initial=-1)) + 1, dtype=np.bool_)
    good[of[chosen & (of >= 0)]] = True
    good[own[(graph.factor_table < 0) & (own >= 0)]] = False
    rows = np.flatnonzero((own >= 0) & good[own])
    arguments, _ = taken_lists(graph.offsets, graph.arguments, rows)
    lengths = np.diff(graph.offsets)[rows]
    listed = [(own[rows], graph.factor_table[rows], lengths, arguments)]
    pairs = distinct((of * count + graph.arguments)[chosen & (of >= 0)])
    listed += _shares(joint, pairs[good[pairs // max(count, 1)]], graph.sizes)
    parts, numbers, lengths, arguments = map(np.concatenate, zip(*listed, strict=True))
    if len(parts):
        order = np.argsort(parts, kind="stable")
        arguments, _ = taken_lists(offsets_of(lengths), arguments, order)
        rows_of = _Rows(dense(parts[order]), numbers[order], lengths[order], arguments)
        yield from _alike(joint, rows_of, graph.sizes, count)


def _apart(joint: JointModel) -> tuple[FactorGraph, int]:
    """What is hidden, and behind it the variables of each individual, with factors that matter."""
    graph, first, count = joint.graph, joint.first_variable, len(joint.hidden)
    some = np.zeros(int(joint.owners.max(initial=-1)) + 1, dtype=np.bool_)
    some[joint.owners[joint.first_factor + np.arange(count)]] = True
    factors = np.flatnonzero(some[joint.owners[: joint.first_factor]])
    arguments, ends = taken_lists(graph.offsets, graph.arguments, factors)
    whose = np.repeat(joint.owners[factors], np.diff(graph.offsets)[factors])
    behind = arguments >= first
    copies, number = np.unique((whose * first + arguments)[~behind], return_inverse=True)
    nodes = arguments - first
    nodes[~behind] = count + number
    variables = np.concatenate((first + np.arange(count), copies % max(first, 1)))
    apart = replace(
        graph,
        variable_names=NumberedNames("variable", "x", len(variables)),
        variable_declared=graph.variable_declared[variables],
        variable_kind=np.full(len(variables), -1, dtype=np.int64),
        individuals=(),
        individual_offsets=np.zeros(len(variables) + 1, dtype=np.int64),
        individual_ids=np.zeros(0, dtype=np.int64),
        factor_names=NumberedNames("factor", "f", len(factors)),
        factor_table=graph.factor_table[factors],
        offsets=np.concatenate(([0], ends - graph.offsets[-1])),
        arguments=nodes,
    )
    return without_barren(apart, np.arange(count)), count


class _Rows(NamedTuple):
    """Factors by part: its number, the table, how many arguments, and these in a row."""

    parts: Ints
    tables: Ints
    lengths: Ints
    arguments: Ints


def _shares(joint: JointModel, pairs: Ints, sizes: Ints) -> Iterator[_Rows]:
    """For parts with too many combinations the factors that say how likely choices are.

    pairs: part times choices plus choice.
    """
    count, cohorts = len(joint.hidden), len(joint.cohorts)
    part, choice = np.divmod(pairs, max(count, 1))
    entries = np.bincount(part, np.log(sizes[choice]))
    many = (entries > math.log(MOST) + CLOSE) & (np.bincount(part, choice >= cohorts) > 1)
    tables = many[part] & (choice >= cohorts)
    part, choice = part[tables], choice[tables]
    graph, factor = joint.graph, joint.between[choice - cohorts]
    some = factor >= 0
    arguments = graph.arguments[graph.offsets[factor[some]][:, None] + np.arange(2)]
    arguments -= joint.first_variable
    two = np.full(len(arguments), 2)
    yield _Rows(part[some], graph.factor_table[factor[some]], two, arguments.reshape(-1))
    whole = np.concatenate((part[some] * count + arguments[:, 0], (part * count + choice)[~some]))
    part, choice = np.divmod(distinct(whole), max(count, 1))
    yield _Rows(part, graph.factor_table[joint.first_factor + choice], np.ones_like(part), choice)


def _alike(joint: JointModel, rows: _Rows, sizes: Ints, count: int) -> Iterator[AlikeParts]:
    """The parts that these factors make, those with equal scopes and sizes together."""
    of = np.repeat(rows.parts, rows.lengths)
    number = by_first_occurrence(dense(of * len(sizes) + rows.arguments))
    met = first_places(number)
    node, start = rows.arguments[met], np.searchsorted(of[met], np.arange(rows.parts[-1] + 2))
    place = number - start[of]
    ends = np.searchsorted(rows.parts, np.arange(rows.parts[-1] + 2))
    begin = offsets_of(rows.lengths)
    code = (place * (int(sizes.max()) + 1) + sizes[rows.arguments]) * 2 + (rows.arguments < count)
    lists = begin[ends] + ends  # each factor begins with a number of its own
    hidden = joint.hidden  # shares say how weights are scaled
    shares = np.zeros(len(sizes), dtype=np.int64)
    shares[:count] = group_lists(hidden.offsets, hidden.shares.view(np.int64))
    own = code * (count + 1) + shares[rows.arguments]
    equal = group_lists(lists, np.insert(own, begin[:-1], rows.tables))
    shape = group_lists(lists, np.insert(code, begin[:-1], rows.lengths))
    first = first_places(equal)
    for kinds in members(shape[first]):
        one, many = int(first[kinds[0]]), len(kinds)
        some = np.flatnonzero(shape == shape[one])
        scopes = np.split(
            place[begin[ends[one]] : begin[ends[one + 1]]],
            np.cumsum(rows.lengths[ends[one] : ends[one + 1]])[:-1],
        )
        width = int(start[one + 1] - start[one])
        nodes = node[start[some][:, None] + np.arange(width)]
        like = np.empty(len(first), dtype=np.int64)
        like[kinds] = np.arange(many)
        yield AlikeParts(
            joint,
            tuple(sizes[nodes[0]].tolist()),
            tuple([tuple(scope.tolist()) for scope in scopes]),
            rows.tables[ends[first[kinds]][:, None] + np.arange(ends[one + 1] - ends[one])],
            np.where(nodes < count, nodes, -1),
            like[equal[some]],
        )
