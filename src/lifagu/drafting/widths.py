"""How wide answers are: the largest table that summing over gaps makes, and tables given up for it.

Gaps that tables join have to be summed over together. So each connected part of gaps is eliminated
on paper, with a fifth of the observed cells hidden in addition, as validation does. Where that
makes a table too large, the table to learn is given up that adds least for each part it widens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.tables import DraftedTable
from lifagu.inference.elimination_orders import min_weight

LARGEST = 2.0**24  # entries of one table
WORK = 2.0**33  # entries of all tables of all parts
HIDDEN = 0.2
MOST_GAPS = 200_000  # that are looked at
AT_ONCE = 20  # blamed tables of which one is given up at a time
MOST_PARTS = 200  # different connected parts with most states that are looked at …
RANDOM_PARTS = 100  # … and others, which stand for all when work is estimated


@dataclass(frozen=True)
class Width:
    """The entries of the largest table, gaps in the largest connected part, and given-up tables."""

    entries: float
    gaps: int
    given_up: tuple[DraftedTable, ...] = ()

    def __str__(self) -> str:
        return f"tables of up to 2^{math.log2(max(1.0, self.entries)):.1f} entries"


@dataclass(eq=False)
class _GapsTogether:
    """Gaps that hang together: sizes[n], joins: pairs of them by table, times: it occurs.

    entries: of the largest table that eliminating it makes; clique: the gaps that one is over.
    """

    sizes: list[int]
    joins: list[tuple[int, int, int]]
    times: float = 1
    entries: float = 0.0
    clique: set[int] = field(default_factory=set)

    def eliminate(self, gone: set[int], limit: float = math.inf) -> None:
        """Sum out all gaps on paper, without the tables that were given up.

        It ends at a table of more entries than the limit, as then one must be given up anyway.
        """
        near: dict[int, set[int]] = {place: set() for place in range(len(self.sizes))}
        for one, other, table in self.joins:
            if table not in gone:
                near[one].add(other)
                near[other].add(one)
        self.entries, self.clique = 0.0, set()
        for variable, joined in min_weight(near, dict(enumerate(self.sizes)), ()):
            entries = float(self.sizes[variable]) * math.prod(
                [float(self.sizes[each]) for each in joined]
            )
            if entries > self.entries:
                self.entries, self.clique = entries, {variable, *joined}
                if entries > limit:
                    return

    def widened_by(self, gone: set[int]) -> set[int]:
        """The tables that join gaps of the largest table."""
        every = {each for each in self.joins if each[2] not in gone}
        within = {each[2] for each in every if {each[0], each[1]} <= self.clique}
        return within or {each[2] for each in every}


def within_limits(
    tables: Sequence[DraftedTable], asked: Sequence[Attribute], seed: int
) -> tuple[list[DraftedTable], Width]:
    """Tables without those that make answers too wide, and how wide they are then."""
    parts = list(_parts(tables, asked, seed))
    gone: set[int] = set()
    limit = LARGEST
    for part in parts:
        part.eliminate(gone, limit)
    while True:
        _narrow([each for each in parts if each.entries > limit], tables, limit, gone)
        work = sum(each.times * each.entries for each in parts)
        if work <= WORK or limit <= 2.0**10:
            break
        limit /= 4
    widest = max(
        [each.entries for each in parts], default=float(max([1, *(a.size for a in asked)]))
    )
    most = max([len(each.sizes) for each in parts], default=1)
    kept = [each for number, each in enumerate(tables) if number not in gone]
    return kept, Width(widest, most, tuple(tables[number] for number in sorted(gone)))


def _narrow(
    wide: list[_GapsTogether], tables: Sequence[DraftedTable], limit: float, gone: set[int]
) -> None:
    """Give up tables one by one until no part is too wide."""
    while wide:
        blamed: dict[int, float] = {}
        for part in wide:
            for number in part.widened_by(gone):
                blamed[number] = blamed.get(number, 0.0) + part.times
        if not blamed:
            return
        order = sorted(blamed, key=lambda number: (tables[number].gain / blamed[number], -number))
        worst = set(order[: 1 + len(order) // AT_ONCE])
        gone |= worst
        for part in wide:
            if any(table in worst for _, _, table in part.joins):
                part.eliminate(gone, limit)
        wide = [part for part in wide if part.entries > limit]


def _parts(
    tables: Sequence[DraftedTable], asked: Sequence[Attribute], seed: int
) -> Iterator[_GapsTogether]:
    """Connected parts of gaps; those that look the same stand for one another."""
    number, kinds = _numbered_gaps(asked, seed)
    edges = [_edges(each, number) for each in tables]
    joined = np.vstack([np.zeros((0, 2), dtype=np.int64), *edges])
    if not len(joined):
        return
    label = np.repeat(np.arange(len(tables)), [len(each) for each in edges])
    part = connected_parts(len(kinds), joined[:, 0], joined[:, 1])[joined[:, 0]]
    order = np.argsort(part, kind="stable")
    starts = np.flatnonzero(np.diff(part[order])) + 1
    found: dict[tuple[tuple[int, ...], ...], _GapsTogether] = {}
    for piece in np.split(order, starts):
        places, local = np.unique(joined[piece], return_inverse=True)
        mine = kinds[places].tolist()
        local = local.reshape(-1, 2)
        look = (tuple(mine), tuple(label[piece].tolist()), tuple(local.ravel().tolist()))
        if look in found:
            found[look].times += 1
        else:
            pairs = zip(local[:, 0].tolist(), local[:, 1].tolist(), look[1], strict=True)
            found[look] = _GapsTogether([asked[kind].size for kind in mine], list(pairs))
    by_states = sorted(found.values(), key=lambda each: -sum(map(math.log, each.sizes)))
    widest, others = by_states[:MOST_PARTS], by_states[MOST_PARTS:]
    some = np.random.default_rng(seed).permutation(len(others))[:RANDOM_PARTS].tolist()
    weight = len(others) / max(1, len(some))
    chosen = [replace(others[place], times=others[place].times * weight) for place in some]
    yield from (*widest, *chosen)


def _numbered_gaps(asked: Sequence[Attribute], seed: int) -> tuple[dict[int, Ints], Ints]:
    """For each attribute the number of each gap, -1 where there is none; and whose each gap is."""
    rng = np.random.default_rng(seed)
    expected = sum(float(each.there.mean()) * len(each.codes) for each in asked)
    share = min(1.0, MOST_GAPS / max(1.0, expected))
    number, kinds = {}, [np.zeros(0, dtype=np.int64)]
    many = 0
    for place, each in enumerate(asked):
        gap = ((each.codes < 0) | (rng.random(len(each.codes)) < HIDDEN)) & each.there
        gap[round(share * len(gap)) :] = False
        found = np.full(len(gap), -1, dtype=np.int64)
        found[gap] = many + np.arange(int(gap.sum()))
        many += int(gap.sum())
        number[id(each)] = found
        kinds.append(np.full(int(gap.sum()), place, dtype=np.int64))
    return number, np.concatenate(kinds)


def _edges(table: DraftedTable, number: dict[int, Ints]) -> Ints:
    """Pairs of gaps that a table joins."""
    found = [np.zeros((0, 2), dtype=np.int64)]
    for one, other in combinations(table.attributes, 2):
        if id(one) in number and id(other) in number:
            first, second = number[id(one)], number[id(other)]
            if table.path is not None:
                first, second = first[table.path.rows], second[table.path.others]
            pairs = np.column_stack([first, second])
            found.append(pairs[(pairs >= 0).all(axis=1)])
    return np.vstack(found)
