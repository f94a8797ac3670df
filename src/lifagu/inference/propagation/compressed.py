"""The graph on which messages travel: groups of variables and factors with counts, flat.

Without a colouring every node is a group of its own and every count is 1, so ground and counting
belief propagation are the same code. Edges are stored per range size, factors per table shape, both
with the long axis last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, distinct, first_places, group_rows, members
from lifagu.basics.words import counted
from lifagu.errors import ModelError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.likeness.roles import observations

# table entries per pass: a megabyte, so that the passes over them stay in the cache
ENTRIES_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Pool:
    """The g variable groups whose ranges have r values, and the e edges that end in them.

    groups[g]: their numbers; weights[g]: how many variables each stands for; evidence[r×g]: log
    likelihoods;
    edge_group[e]: place of the edge's group in this pool; edge_count[e]: how many ground edges of
    this edge each variable of the group has.
    """

    groups: Ints
    weights: Floats
    evidence: Floats
    edge_group: Ints
    edge_count: Floats


@dataclass(frozen=True, eq=False)
class MessageBlock:
    """The n factor groups whose tables have one shape s1×…×sk.

    groups[n]: their numbers; weights[n]: how many factors each stands for; logs[s1×…×sk×d]: the d
    distinct log tables; table[n]: which of them each group has; starts[k]: the edges of position j
    are the n edges of the pool of size sj from starts[j] on. live: how many of them, which come
    first, have two arguments or more that were not observed; what others say to these never changes
    once it was said.
    """

    groups: Ints
    weights: Floats
    logs: Floats
    table: Ints
    starts: tuple[int, ...]
    live: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Range sizes of the arguments."""
        return self.logs.shape[:-1]

    def passes(self, live: bool = False) -> Iterator[slice]:
        """The n (or the live) factor groups in slices whose tables fit into the cache together."""
        width = max(1, ENTRIES_AT_ONCE // max(1, int(np.prod(self.shape))))
        count = self.live if live else len(self.groups)
        for start in range(0, count, width):
            yield slice(start, min(start + width, count))

    def edges(self, position: int, columns: slice) -> slice:
        """The edges at a position of some of the factor groups, in the pool of their range size."""
        return slice(self.starts[position] + columns.start, self.starts[position] + columns.stop)

    def tables(self, columns: slice) -> Floats:
        """Log tables of some factor groups, s1×…×sk×(how many), or ×1 if all share one."""
        if self.logs.shape[-1] == 1:
            return self.logs
        return np.take(self.logs, self.table[columns], axis=-1)


@dataclass(frozen=True, eq=False)
class Compressed:
    """Groups, pools by range size, blocks by table shape.

    variable_group[n], factor_group[m]: group of each node; group_place: place of each variable
    group in its pool;
    factor_place: (block, column) of each factor group.
    """

    variable_group: Ints
    factor_group: Ints
    group_size: Ints
    group_place: Ints
    factor_place: Ints
    pools: dict[int, Pool]
    blocks: tuple[MessageBlock, ...]

    def __str__(self) -> str:
        edges = sum(len(pool.edge_group) for pool in self.pools.values())
        variables = counted(len(self.group_size), "variable group")
        factors = counted(len(self.factor_place), "factor group")
        return f"{variables}, {factors}, {counted(edges, 'message')} each way"


def compress(graph: FactorGraph, evidence: Evidence, colouring: Colouring | None) -> Compressed:
    """One node per group of the colouring, or every node its own. Near-linear in the graph.

    A factor group stands for c factors, a variable group for g variables; since the colouring is
    stable, each of these has c/g edges to the factor group at each position (Kersting, Ahmadi and
    Natarajan 2009). This is checked. No factor may be unknown.

    >>> builder = FactorGraph.build().variables(list("ABC"))
    >>> graph = builder.factors({"f": ["A", "B"], "g": ["C", "B"]}, [1, 2, 3, 4]).graph()
    >>> alike = Colouring(np.array([0, 1, 0]), np.array([0, 0]))
    >>> compress(graph, Evidence(), alike).pools[2].edge_count.tolist()
    [1.0, 2.0]
    """
    variables, factors = np.arange(len(graph.variable_names)), np.arange(len(graph.factor_names))
    if colouring is not None:
        variables, factors = colouring.variable_colours, colouring.factor_colours
        _check_colouring(graph, evidence, variables, factors)
    first, weights = first_places(variables), np.bincount(variables).astype(np.float64)
    group_size = graph.sizes[first]
    group_place = np.empty(len(group_size), dtype=np.int64)
    ends: dict[int, list[tuple[Ints, Floats]]] = {int(size): [] for size in distinct(group_size)}
    for size in ends:
        alike = np.flatnonzero(group_size == size)
        group_place[alike] = np.arange(len(alike))
    free = evidence.value_of_each(len(graph.variable_names)) < 0
    blocks = tuple(_blocks(graph, variables, factors, weights, free, ends))
    factor_place = np.empty((int(factors.max(initial=-1)) + 1, 2), dtype=np.int64)
    for number, block in enumerate(blocks):
        factor_place[block.groups, 0] = number
        factor_place[block.groups, 1] = np.arange(len(block.groups))
    pools = {}
    for size, likelihoods in _likelihoods(graph, evidence, first, group_size, group_place).items():
        groups = np.flatnonzero(group_size == size)
        ended = np.concatenate([np.zeros(0, dtype=np.int64), *(group for group, _ in ends[size])])
        counts = np.concatenate([np.zeros(0), *(count for _, count in ends[size])])
        pools[size] = Pool(groups, weights[groups], likelihoods, group_place[ended], counts)
    return Compressed(variables, factors, group_size, group_place, factor_place, pools, blocks)


def _blocks(
    graph: FactorGraph,
    variables: Ints,
    factors: Ints,
    weights: Floats,
    free: NDArray[np.bool_],
    ends: dict[int, list[tuple[Ints, Floats]]],
) -> Iterator[MessageBlock]:
    """Blocks of factor groups; group and count of each edge are appended to `ends` of its size."""
    first = first_places(factors)
    factor_weights = np.bincount(factors).astype(np.float64)
    for same_arity, matrix in graph.scopes:
        leading = first[factors[same_arity]] == same_arity
        leaders, scopes = same_arity[leading], matrix[leading]
        live = free[scopes].sum(axis=1) > 1
        for alike in members(group_rows(graph.sizes[scopes])):
            alike = alike[np.argsort(~live[alike], kind="stable")]
            groups = factors[leaders[alike]]
            starts = []
            for column in scopes[alike].T:
                edges = ends[int(graph.sizes[column[0]])]
                starts.append(sum(len(group) for group, _ in edges))
                edges.append(
                    (variables[column], factor_weights[groups] / weights[variables[column]])
                )
            logs, table = _log_tables(graph, leaders[alike])
            count = int(live[alike].sum())
            yield MessageBlock(groups, factor_weights[groups], logs, table, tuple(starts), count)


def _log_tables(graph: FactorGraph, factors: Ints) -> tuple[Floats, Ints]:
    """Distinct log tables of factors of one shape, their number last, and each factor's."""
    distinct, table = np.unique(graph.factor_table[factors], return_inverse=True)
    shape = graph.tables[int(distinct[0])].shape
    span = np.arange(int(np.prod(shape)))
    with np.errstate(divide="ignore"):
        logs = np.log(graph.tables.values[graph.tables.offsets[distinct] + span[:, None]])
    return logs.reshape(*shape, len(distinct)), table.reshape(-1)


def _likelihoods(
    graph: FactorGraph, evidence: Evidence, first: Ints, size_of: Ints, place: Ints
) -> dict[int, Floats]:
    """Log likelihoods of the variable groups (first members), values × groups, per range size."""
    likelihoods: dict[int, Floats] = {}
    value = evidence.value_of_each(len(graph.variable_names))[first]
    for size in distinct(size_of).tolist():
        observed = value[size_of == size]
        others = np.arange(size)[:, None] != observed
        likelihoods[size] = np.where((observed >= 0) & others, -np.inf, 0.0)
    group_of = np.full(len(graph.variable_names), -1, dtype=np.int64)
    group_of[first] = np.arange(len(first))
    for number in evidence.unsure.tolist():
        group = group_of[evidence.soft_variables[number]]
        if group < 0:
            continue
        with np.errstate(divide="ignore"):
            likelihoods[int(size_of[group])][:, place[group]] += np.log(
                evidence.likelihoods[number]
            )
    return likelihoods


def _check_colouring(
    graph: FactorGraph, evidence: Evidence, variables: Ints, factors: Ints
) -> None:
    """Refuse a colouring of another graph or other evidence, or an unstable one. O(e log e)."""
    if len(variables) != len(graph.variable_names) or len(factors) != len(graph.factor_names):
        raise ModelError(
            f"the colouring has {len(variables)} variables and {len(factors)} factors, "
            f"the graph has {len(graph.variable_names)} and {len(graph.factor_names)}; "
            "colour the graph itself"
        )
    leader, factor_leader = first_places(variables)[variables], first_places(factors)[factors]
    seen = np.column_stack((graph.variable_range, observations(graph, evidence)))
    arity = np.diff(graph.offsets)
    # a table has an arity, so equal tables make the next line legal
    fits = np.array_equal(seen, seen[leader]) and np.array_equal(
        graph.factor_table, graph.factor_table[factor_leader]
    )
    if fits:
        within = np.arange(len(graph.arguments)) - np.repeat(graph.offsets[:-1], arity)
        # its like in the group's first factor
        edge = np.repeat(graph.offsets[factor_leader], arity) + within
        fits = np.array_equal(variables[graph.arguments], variables[graph.arguments[edge]])
        pairs, ground = np.unique(graph.arguments * len(graph.arguments) + edge, return_counts=True)
        edge = pairs % max(1, len(graph.arguments))
        group = variables[graph.arguments[edge]]
        weight = np.bincount(factors)[np.repeat(factors, arity)[edge]]
        fits = fits and np.array_equal(ground * np.bincount(variables)[group], weight)
    if not fits:
        raise ModelError(
            "the colouring does not fit: variables or factors of one colour differ in range, "
            "evidence, table or neighbours; colour this graph with this evidence"
        )
