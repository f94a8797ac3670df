"""Islands: what hangs together apart from a few variables that very many factors have.

A million patients who share nothing but the season are a million islands. Which islands there are,
and which of them have equal factors, is found once for a graph; which were observed alike, once for
evidence, of which a change about some individuals tells only their islands apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Ints,
    distinct,
    first_places,
    group_lists,
    group_rows,
    offsets_of,
    places_within,
)
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without

MANY_FACTORS = 1000  # of a variable that is shared by islands …
SHARE, FEWEST = 256, 8  # … or one of so many of all factors, and so many
MOST_SHARED = 256  # such variables
SOFT = 2**40  # the code of the first likelihoods, above those of all values
MOST_CHANGED = 1000  # islands observed otherwise than before that are told apart one by one

Key = tuple[int, bytes]  # the shape of an island, and what was observed of each of its variables


@dataclass(frozen=True, eq=False)
class StandIns:
    """Islands that stand for all that are equal to them, ascending.

    islands: which; many: for how many each stands, itself among them; of_island: the number of the
    one that stands for each island.
    """

    islands: Ints
    many: Ints
    of_island: Ints


@dataclass(frozen=True, eq=False)
class Islands:
    """The islands of a graph in which no table is unknown.

    shared: the variables that are on none; of_variable: the island of each variable, -1 for those;
    place: of each variable on its island; variables, factors: island after island, starts say where
    each begins; among_shared: factors of no island. shape: islands of one shape have equal factors,
    and variables that are declared alike, in the same order.
    """

    shared: Ints
    of_variable: Ints
    place: Ints
    variables: Ints
    variable_starts: Ints
    factors: Ints
    factor_starts: Ints
    among_shared: Ints
    shape: Ints
    _latest: list[_Observed] = field(default_factory=list)
    _likelihoods: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.shape)

    def stand_ins(self, codes: Ints, apart: Ints) -> StandIns:
        """Who stands for whom if that was observed; islands apart stand for themselves alone.

        codes: as below. The same come out whatever was asked before.
        """
        latest = self._latest[0] if self._latest else None
        changed = None if latest is None else self._changed(latest.codes, codes)
        if latest is None or changed is None:
            latest, changed = _Observed.of(self, codes), np.zeros(0, dtype=np.int64)
            self._latest[:] = [latest]
        return latest.stand_ins(self, codes, changed, apart)

    def codes(self, evidence: Evidence) -> Ints:
        """A number for what was observed of each variable, equal for the same, 0 for nothing."""
        codes = evidence.value_of_each(len(self.of_variable)) + 1
        soft = zip(evidence.soft_variables.tolist(), evidence.likelihoods, strict=True)
        for variable, likelihood in soft:
            key = int(codes[variable]), likelihood.tobytes()
            codes[variable] = SOFT + self._likelihoods.setdefault(key, len(self._likelihoods))
        return codes

    def on(self, variables: Iterable[int]) -> Ints:
        """The islands that some variables are on."""
        found = self.of_variable[np.array([*variables], dtype=np.int64)]
        return np.unique(found[found >= 0])

    def _changed(self, before: Ints, after: Ints) -> Ints | None:
        """The islands observed otherwise; None if they are too many."""
        differs = self.of_variable[np.flatnonzero(before != after)]
        changed = distinct(differs[differs >= 0])
        return changed if len(changed) <= MOST_CHANGED else None

    def key(self, island: int, codes: Ints) -> Key:
        """What equal islands share."""
        start, stop = self.variable_starts[[island, island + 1]].tolist()
        return int(self.shape[island]), codes[self.variables[start:stop]].tobytes()


@dataclass(frozen=True, eq=False)
class _Observed:
    """Which islands are equal once something was observed: their classes.

    codes: what that was; of_island: the class of each island; order: islands class after class,
    ascending in each; starts: where each class begins; number: of the class with a key.
    """

    codes: Ints
    of_island: Ints
    order: Ints
    starts: Ints
    number: dict[Key, int]

    @classmethod
    def of(cls, islands: Islands, codes: Ints) -> _Observed:
        """Cost: linear in the variables."""
        seen = group_lists(islands.variable_starts, codes[islands.variables])
        classes = group_rows(np.column_stack((islands.shape, seen)))
        first = first_places(classes).tolist()
        return cls(
            codes,
            classes,
            np.argsort(classes, kind="stable"),
            offsets_of(np.bincount(classes, minlength=len(first))),
            {islands.key(island, codes): number for number, island in enumerate(first)},
        )

    def stand_ins(self, islands: Islands, codes: Ints, changed: Ints, apart: Ints) -> StandIns:
        """The same after some islands were observed otherwise, and others were told apart."""
        many = np.diff(self.starts)
        first = self.order[self.starts[:-1]]
        gone = np.union1d(changed, apart)
        for number, count in zip(*np.unique(self.of_island[gone], return_counts=True), strict=True):
            many[number] -= count
            first[number] = self._first_left(int(number), gone)
        number_of, new_first, new_many = dict[Key, int](), first.tolist(), many.tolist()
        of_gone = np.empty(len(gone), dtype=np.int64)
        alone = set(apart.tolist())
        for place, island in enumerate(gone.tolist()):
            key = islands.key(island, codes)
            found = None if island in alone else self.number.get(key, number_of.get(key))
            if found is None:
                found = len(new_first)
                new_first.append(island)
                new_many.append(0)
                if island not in alone:
                    number_of[key] = found
            new_first[found] = min(new_first[found], island) if new_many[found] else island
            new_many[found] += 1
            of_gone[place] = found
        return self._ascending(np.array(new_first), np.array(new_many), gone, of_gone)

    def _first_left(self, number: int, gone: Ints) -> int:
        """The first island of a class that is not gone, or any where none is left."""
        members = self.order[self.starts[number] : self.starts[number + 1]]
        some = members[: len(gone) + 1]
        left = some[~np.isin(some, gone)]
        return int(left[0]) if len(left) else -1

    def _ascending(self, first: Ints, many: Ints, gone: Ints, of_gone: Ints) -> StandIns:
        there = np.flatnonzero(many > 0)
        there = there[np.argsort(first[there])]
        rank = np.full(len(many), -1, dtype=np.int64)
        rank[there] = np.arange(len(there))
        of_island = rank[self.of_island]
        of_island[gone] = rank[of_gone]
        return StandIns(first[there], many[there], of_island)


def islands_of(graph: FactorGraph) -> Islands | None:
    """The islands of a graph; None where very many variables are shared. Near-linear."""
    many = max(min(MANY_FACTORS, len(graph.factor_names) // SHARE), FEWEST)
    shared = np.flatnonzero(graph.degrees >= many)
    if len(shared) > MOST_SHARED:
        return None
    count = len(graph.variable_names)
    is_shared = np.zeros(count, dtype=np.bool_)
    is_shared[shared] = True
    of_variable = parts_without(graph, is_shared)
    of_factor = parts_of_factors(graph, of_variable, np.arange(len(graph.factor_names)))
    variables, variable_starts = _by_island(of_variable, int(of_variable.max(initial=-1)) + 1)
    place = np.zeros(count, dtype=np.int64)
    place[variables] = places_within(np.diff(variable_starts))
    factors, factor_starts = _by_island(of_factor, len(variable_starts) - 1)
    place[shared] = np.arange(len(shared))
    code = np.where(is_shared, place, len(shared) + place)
    alike = _alike(graph, factors, factor_starts, code)
    declared = group_lists(variable_starts, graph.variable_declared[variables])
    return Islands(
        shared,
        of_variable,
        place,
        variables,
        variable_starts,
        factors,
        factor_starts,
        np.flatnonzero(of_factor < 0),
        group_rows(np.column_stack((declared, alike))),
    )


def _by_island(of: Ints, count: int) -> tuple[Ints, Ints]:
    """What is on islands, island after island, and where each begins."""
    some = np.flatnonzero(of >= 0)
    return some[np.argsort(of[some], kind="stable")], offsets_of(
        np.bincount(of[some], minlength=count)
    )


def _alike(graph: FactorGraph, factors: Ints, starts: Ints, code: Ints) -> Ints:
    """Islands with equal tables in the same order on the same places, by number."""
    arity = np.diff(graph.offsets)
    heads = graph.offsets[:-1] + 2 * np.arange(len(arity))
    spelt = np.empty(len(graph.arguments) + 2 * len(arity), dtype=np.int64)
    spelt[heads], spelt[heads + 1] = arity, graph.factor_table
    rest: NDArray[np.bool_] = np.ones(len(spelt), dtype=np.bool_)
    rest[heads] = rest[heads + 1] = False
    spelt[rest] = code[graph.arguments]
    offsets = np.append(heads, len(spelt))
    values, _ = taken_lists(offsets, spelt, factors)
    lengths = offsets_of((arity + 2)[factors])
    return group_lists(lengths[starts], values)
