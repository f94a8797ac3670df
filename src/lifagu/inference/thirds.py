"""Variables that all know each other, in three groups: two matrix products give all marginals.

Where each table lies within two of the groups A, B and C, the weights of all states are products
f(a, b) f(a, c) f(b, c), and so P(a, b) is f(a, b) times the matrix product of f(a, ·) and f(b, ·),
up to a scale. That takes as many multiplications as there are states, but no table larger than two
groups span: of n states, about n^⅔ entries. Summing out one variable after the other makes tables
of nearly n entries instead, each of which costs more than many multiplications in a matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.cached import cached_property
from lifagu.inference.table import (
    Table,
    contract,
    fits,
    in_order,
    log_sum,
    log_values,
    project,
    settle,
)

FASTER = 16  # multiplications in matrix products that cost as much as an entry of a table
BUILT = 16  # entries that making an entry of the three tables counts as
COPIES = 3  # of the three tables that exist at the same time
PAIRS = ((0, 1), (0, 2), (1, 2))  # of groups; the one that is left out has number 2 - place


class Thirds(NamedTuple):
    """Three groups of variables, their numbers of states, and the entries of the three tables."""

    groups: tuple[tuple[int, ...], ...]
    states: tuple[int, ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """All of them, group by group."""
        return tuple([variable for group in self.groups for variable in group])

    @property
    def entries(self) -> int:
        """Entries of the three tables together."""
        return sum(self.states[one] * self.states[other] for one, other in PAIRS)

    @property
    def largest(self) -> int:
        """Entries of the largest of them."""
        return max(self.states[one] * self.states[other] for one, other in PAIRS)

    @property
    def cost(self) -> int:
        """What two matrix products cost, in entries of tables that are summed one by one."""
        return least_cost(math.prod(self.states)) + BUILT * self.entries

    def __str__(self) -> str:
        sums = " × ".join(map(str, self.states))
        return f"then {len(self.variables)} variables in three groups of {sums} states"


def least_cost(states: int) -> int:
    """What matrix products over so many states cost, however they are divided."""
    return states // FASTER


def divide(sizes: dict[int, int], scopes: Iterable[Collection[int]]) -> Thirds | None:
    """Variables in three groups of about as many states, so that each scope lies within two.

    The largest come first, each to the group with the fewest states that it may join; then single
    ones move as long as the tables get smaller. None where a variable finds no group. Cost: a few
    times the scopes for each variable.
    """
    together: dict[int, list[frozenset[int]]] = {variable: [] for variable in sizes}
    for scope in {frozenset(scope) for scope in scopes if len(scope) > 2}:
        for variable in scope:
            together[variable].append(scope)
    group_of: dict[int, int] = {}

    def may_join(variable: int, group: int) -> bool:
        for scope in together[variable]:
            others = {group_of[each] for each in scope if each in group_of and each != variable}
            if len(others | {group}) > 2:
                return False
        return True

    states = [1, 1, 1]
    by_size = sorted(sizes, key=lambda variable: (-sizes[variable], variable))
    for variable in by_size:
        possible = [group for group in range(3) if may_join(variable, group)]
        if not possible:
            return None
        chosen = min(possible, key=states.__getitem__)
        group_of[variable] = chosen
        states[chosen] *= sizes[variable]
    while _move_one(by_size, sizes, group_of, states, may_join):
        pass
    groups = [tuple([each for each in by_size if group_of[each] == place]) for place in range(3)]
    return Thirds(tuple(groups), tuple(states)) if all(groups) else None


def _move_one(
    variables: Sequence[int],
    sizes: dict[int, int],
    group_of: dict[int, int],
    states: list[int],
    may_join: Callable[[int, int], bool],
) -> bool:
    """Move a variable to another group if that makes the tables smaller; whether there was one."""
    now = _entries(states)
    for variable in variables:
        before, size = group_of[variable], sizes[variable]
        for group in range(3):
            changed = list(states)
            changed[before] //= size
            changed[group] *= size
            if _entries(changed) < now and may_join(variable, group):
                group_of[variable], states[:] = group, changed
                return True
    return False


def _entries(states: Sequence[int]) -> int:
    return sum(states[one] * states[other] for one, other in PAIRS)


class InThirds:
    """Tables on three groups of ranks, summed up: the log of their total, and joint marginals.

    Each table lies within two groups. Joint marginals come up to a scale.
    """

    def __init__(self, tables: Sequence[Table], groups: Sequence[tuple[int, ...]]) -> None:
        self.groups = groups
        self.sizes: dict[int, int] = {}
        for table in tables:
            self.sizes.update(zip(table.ranks, table.values.shape, strict=True))
        self.states = [math.prod([self.sizes[rank] for rank in group]) for group in groups]
        given = [self._product(pair, tables) for pair in PAIRS]
        self.log_scale = math.fsum(scale for _, scale in given)
        self.logs = not fits([table for table, _ in given])
        self.low = math.fsum(table.low for table, _ in given)
        self.given = [
            np.ascontiguousarray(
                (log_values(table) if self.logs else table.values).reshape(
                    [self.states[group] for group in pair]
                )
            )
            for pair, (table, _) in zip(PAIRS, given, strict=True)
        ]
        self._joints: dict[int, Table] = {}

    @cached_property
    def log_total(self) -> float:
        """The log of the sum over all states."""
        joint = self._joint(0)
        total = float(log_sum(joint.values) if self.logs else joint.values.sum())
        if not self.logs:
            total = math.log(total) if total > 0 else -math.inf
        return total + self.log_scale

    def marginal(self, ranks: Collection[int]) -> Table:
        """The weights of some ranks, all of which lie within two groups."""
        place = self._place(ranks)
        return project(self._joint(place), ranks)

    def _place(self, ranks: Collection[int]) -> int:
        """The pair of groups that holds the ranks; one that is known already, if there is."""
        met = {number for number, group in enumerate(self.groups) if set(group) & set(ranks)}
        holding = [place for place, pair in enumerate(PAIRS) if met <= set(pair)]
        return min(holding, key=lambda place: (place not in self._joints, place))

    def _product(self, pair: tuple[int, int], tables: Sequence[Table]) -> tuple[Table, float]:
        """The product of the tables that belong to a pair of groups, and a log scale.

        What lies within one group belongs to the first pair that has it.
        """
        ranks = [rank for group in pair for rank in self.groups[group]]
        before = [
            {rank for group in other for rank in self.groups[group]}
            for other in PAIRS[: PAIRS.index(pair)]
        ]
        own = [
            table
            for table in tables
            if set(table.ranks) <= set(ranks)
            and not any(set(table.ranks) <= earlier for earlier in before)
        ]
        covered = {rank for table in own for rank in table.ranks}
        shape = {rank: self.sizes[rank] for rank in ranks}
        own += [
            Table((rank,), np.ones(shape[rank]), 0.0, 0.0) for rank in ranks if rank not in covered
        ]
        product, scale = contract(own)
        product, more = settle(product)
        return product._replace(ranks=tuple(ranks), values=in_order(product, ranks)), scale + more

    def _joint(self, place: int) -> Table:
        """The weights of all states of a pair of groups."""
        if place not in self._joints:
            first, second = PAIRS[place]
            ranks = (*self.groups[first], *self.groups[second])
            both = self.given[place]
            if self.logs:
                values = both + _log_product(*self._around(place))
                low, high = -math.inf, math.inf
            else:
                left, right = self._around(place)
                values = left @ right
                values *= both
                low, high = self.low, math.log(max(self.states)) + 1.0
            shape = [self.sizes[rank] for rank in ranks]
            self._joints[place] = Table(ranks, values.reshape(shape), low, high, self.logs)
        return self._joints[place]

    def _around(self, place: int) -> tuple[Floats, Floats]:
        """The two other tables, as factors of a matrix product."""
        one, other, last = self.given
        return ((other, last.T), (one, last), (one.T, other))[place]


def _log_product(left: Floats, right: Floats) -> Floats:
    """The logs of a matrix product, given logs; one row after the other, as memory allows."""
    columns = np.ascontiguousarray(right.T)
    return np.stack([log_sum(columns + row, axis=1) for row in left])
