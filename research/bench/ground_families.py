"""Symmetric ground graphs of any size, each with the closed form of an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu import FactorGraph
from research.bench.checked import Asked, drawn
from research.bench.relational_models import Logs, log_choose, log_sum, logs_of

ALIKE, HOUSEHOLD, GROUP = [[2.0, 1.0], [1.0, 2.0]], [[4.0, 1.0], [1.0, 3.0]], 10
Rows = NDArray[np.int64]
Table = NDArray[np.float64]


def tied(count: int, *ties: tuple[Rows, Any]) -> FactorGraph:
    """Binary variables x0, x1, …, and for each of the ties one table on all its rows."""
    arity = np.concatenate([np.full(len(rows), rows.shape[1]) for rows, _ in ties])
    return FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(count, dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(arity)]),
        arguments=np.concatenate([rows.reshape(-1) for rows, _ in ties]),
        tables=[np.ravel(table) for _, table in ties],
        factor_tables=np.repeat(np.arange(len(ties)), [len(rows) for rows, _ in ties]),
    )


def across(first: Rows, second: Rows) -> Rows:
    """Every variable of the first with every one of the second; where both have rows, by row."""
    one, other = np.broadcast_arrays(first[..., :, None], second[..., None, :])
    return np.stack([one.reshape(-1), other.reshape(-1)], 1)


def within(groups: Rows) -> Rows:
    """Every pair of variables that stand in one row."""
    one, other = np.triu_indices(groups.shape[-1], 1)
    return np.stack([groups[..., one].reshape(-1), groups[..., other].reshape(-1)], 1)


def clique(size: int, table: Any) -> Logs:
    """Log weight of so many true ones when every pair is tied by one symmetric table."""
    pair, true = logs_of(table), np.arange(size + 1, dtype=np.longdouble)
    false = size - true
    both = true * (true - 1) / 2 * pair[1, 1] + false * (false - 1) / 2 * pair[0, 0]
    return np.asarray(both + true * false * pair[0, 1])


def symmetric(random: np.random.Generator, strength: float = 1.0) -> Table:
    """A random table on a pair that may be swapped."""
    table = drawn(random, 2, 2, strength=strength)
    return np.sqrt(table * table.T)


# ---- observed, in parts, in households


def all_observed(people: int, random: np.random.Generator, mixed: bool) -> Asked:
    """An epidemic, and who is sick is known of everybody."""
    table = drawn(random, 2, 2, strength=1 / people)
    sick = np.arange(people) % 3 > 0 if mixed else np.ones(people, dtype=bool)
    graph = tied(people + 1, (across(1 + np.arange(people), np.array([0])), table))
    evidence = {
        f"x{person}": "true" if ill else "false" for person, ill in enumerate(sick.tolist(), 1)
    }
    return Asked(
        graph, ("x0",), partial(all_observed_closed, table, int(sick.sum()), people), evidence
    )


def all_observed_closed(table: Table, sick: int, people: int) -> Logs:
    """A product for each value of the epidemic."""
    logs = logs_of(table)
    return np.asarray(sick * logs[1] + (people - sick) * logs[0])


def two_parts(side: int, random: np.random.Generator) -> Asked:
    """A complete bipartite graph with a table that likes equal values."""
    first, second = np.arange(side), side + np.arange(side)
    graph = tied(2 * side, (across(first, second), ALIKE))
    return Asked(graph, ("x0",), partial(parts_closed, side, [ALIKE]))


def three_parts(side: int, random: np.random.Generator, alike: bool) -> Asked:
    """A complete graph on three parts, with one table that likes equal values, or three."""
    tables = [ALIKE] * 3 if alike else [drawn(random, 2, 2, strength=1 / side) for _ in range(3)]
    first, second, third = np.arange(3 * side).reshape(3, side)
    ties = zip(((first, second), (first, third), (second, third)), tables, strict=True)
    graph = tied(3 * side, *((across(*parts), table) for parts, table in ties))
    return Asked(graph, ("x0",), partial(parts_closed, side, tables))


def parts_alike(side: int, random: np.random.Generator, parts: int) -> Asked:
    """Two or three parts, each like the others, with every marginal asked for."""
    one = two_parts(side, random) if parts == 2 else three_parts(side, random, alike=True)
    return replace(
        one,
        question=(),
        closed=lambda: np.tile(parts_closed(side, [ALIKE] * (2 * parts - 3)), (parts * side, 1)),
    )


def parts_closed(side: int, tables: list[Any]) -> Logs:
    """Σ over how many are true in each part, for each value of one in the first part."""
    parts = 2 if len(tables) == 1 else 3
    pairs = [(one, other) for one in range(parts) for other in range(one + 1, parts)]
    weights = []
    for asked in range(2):
        ways = [log_choose(side - 1), *[log_choose(side)] * (parts - 1)]
        true = list(
            np.meshgrid(
                *(np.arange(len(each), dtype=np.longdouble) for each in ways), indexing="ij"
            )
        )
        true[0] = true[0] + asked
        total = sum(np.meshgrid(*ways, indexing="ij"))
        for (one, other), table in zip(pairs, tables, strict=True):
            logs, counts = logs_of(table), [(side - each, each) for each in true]
            total = total + sum(
                counts[one][a] * counts[other][b] * logs[a, b] for a in (0, 1) for b in (0, 1)
            )
        weights.append(log_sum(np.ravel(total)))
    return np.array(weights)


def households(count: int, random: np.random.Generator, size: int = 30) -> Asked:
    """Households whose members are tied pair by pair, and all persons to something common."""
    people, common = (
        1 + np.arange(count * size).reshape(count, size),
        drawn(random, 2, 2, strength=1 / size),
    )
    graph = tied(
        1 + people.size,
        (within(people), HOUSEHOLD),
        (across(people.ravel(), np.array([0])), common),
    )
    return Asked(graph, ("x0",), lambda: count * to_hub(size, HOUSEHOLD, common))


def to_hub(size: int, pair: Any, link: Any) -> Logs:
    """Log weights of a hub's values: Σ over how many of a group, all tied to it, are true."""
    logs, true = logs_of(link), np.arange(size + 1, dtype=np.longdouble)
    group = log_choose(size) + clique(size, pair)
    return np.array(
        [log_sum(group + true * logs[1, hub] + (size - true) * logs[0, hub]) for hub in (0, 1)]
    )


# ---- many alike groups of ten, of two kinds


def hubs_in_a_ring(count: int, random: np.random.Generator) -> Asked:
    """Groups of two kinds by turns, as many of each; each has a hub, and the hubs are a ring."""
    pairs, links = (
        [symmetric(random, 0.1) for _ in range(2)],
        [drawn(random, 2, 2, strength=0.1) for _ in range(2)],
    )
    ring = drawn(random, 2, 2)
    hubs, members = _groups(count)
    graph = tied(
        len(hubs) * (GROUP + 1),
        *_group_ties(hubs, members, pairs, links),
        (np.stack([hubs, np.roll(hubs, -1)], 1), ring),
    )
    kinds = list(zip(pairs, links, strict=True))
    return Asked(
        graph, ("x0",), lambda: ring_closed(count, [to_hub(GROUP, *each) for each in kinds], ring)
    )


def hubs_with_one(count: int, random: np.random.Generator) -> Asked:
    """Groups of two kinds by turns, as many of each, with hubs tied to one common variable."""
    pairs, links = (
        [symmetric(random, 0.1) for _ in range(2)],
        [drawn(random, 2, 2, strength=0.1) for _ in range(2)],
    )
    common = drawn(random, 2, 2, strength=0.1)
    hubs, members = _groups(count)
    middle = len(hubs) * (GROUP + 1)
    graph = tied(
        middle + 1,
        *_group_ties(hubs, members, pairs, links),
        (across(hubs, np.array([middle])), common),
    )
    return Asked(graph, (f"x{middle}",), partial(with_one_closed, count, pairs, links, common))


def with_one_closed(count: int, pairs: list[Table], links: list[Table], common: Table) -> Logs:
    """Each hub summed out; to the power of how many groups of its kind there are."""
    hubs = [
        to_hub(GROUP, *each)[:, None] + logs_of(common) for each in zip(pairs, links, strict=True)
    ]
    return np.asarray(count * sum(np.logaddexp(each[0], each[1]) for each in hubs))


def ring_of_cliques(count: int, random: np.random.Generator) -> Asked:
    """Cliques of two kinds by turns, as many of each, each tied to the next by one variable."""
    pairs, ring = [symmetric(random, 0.2) for _ in range(2)], drawn(random, 2, 2)
    members = np.arange(2 * count * GROUP).reshape(2 * count, GROUP)
    gates = members[:, 0]
    ties = [(within(members[kind::2]), pairs[kind]) for kind in (0, 1)]
    graph = tied(members.size, *ties, (np.stack([gates, np.roll(gates, -1)], 1), ring))
    return Asked(
        graph,
        ("x0",),
        lambda: ring_closed(count, [one_of_clique(GROUP, pair) for pair in pairs], ring),
    )


def one_of_clique(size: int, pair: Any) -> Logs:
    """Log weights of the values of one variable in a clique."""
    total, ways = clique(size, pair), log_choose(size - 1)
    return np.array([log_sum(ways + total[:-1]), log_sum(ways + total[1:])])


def ring_closed(count: int, kinds: list[Logs], ring: Table) -> Logs:
    """The diagonal of a product of matrices, two for each turn, kept from overflowing."""
    turn, scale = np.eye(2, dtype=np.longdouble), np.longdouble(0)
    for each in kinds * count:
        turn = (turn * np.exp(each - each.max())) @ np.asarray(ring, dtype=np.longdouble)
        scale += each.max() + np.log(turn.max())
        turn = turn / turn.max()
    return np.asarray(np.log(np.diag(turn)) + scale)


def with_own_hub(count: int, random: np.random.Generator) -> Asked:
    """Households whose members are tied pair by pair, to their hub, and to something common."""
    pair, common = symmetric(random, 0.1), drawn(random, 2, 2, strength=0.1)
    link = drawn(random, 2, 2, strength=0.1)
    people = 1 + count + np.arange(count * GROUP).reshape(count, GROUP)
    own = across(people, 1 + np.arange(count)[:, None])
    graph = tied(
        1 + count + people.size,
        (within(people), pair),
        (own, link),
        (across(people.ravel(), np.array([0])), common),
    )
    return Asked(graph, ("x0",), partial(own_hub_closed, count, pair, link, common))


def own_hub_closed(count: int, pair: Table, link: Table, common: Table) -> Logs:
    """A household with its hub for each value of what is common, to the power of their number."""
    each = [log_sum(to_hub(GROUP, pair, link * common[:, value : value + 1])) for value in (0, 1)]
    return count * np.array(each)


def _groups(count: int) -> tuple[Rows, Rows]:
    """Hubs and members of 2 · count groups."""
    variables = np.arange(2 * count * (GROUP + 1)).reshape(2 * count, GROUP + 1)
    return variables[:, 0], variables[:, 1:]


def _group_ties(
    hubs: Rows, members: Rows, pairs: list[Table], links: list[Table]
) -> list[tuple[Rows, Table]]:
    """Members pair by pair, and each with its hub; kinds by turns."""
    inner = [(within(members[kind::2]), pairs[kind]) for kind in (0, 1)]
    return inner + [(across(members[kind::2], hubs[kind::2, None]), links[kind]) for kind in (0, 1)]


# ---- all marginals of a clique


def all_different(size: int, random: np.random.Generator) -> Asked:
    """A clique with one table on pairs, and a table for each variable; all marginals asked for."""
    pair, own = symmetric(random, 1 / size), drawn(random, size, 2)
    unary = [(np.array([[variable]]), own[variable]) for variable in range(size)]
    graph = tied(size, (within(np.arange(size)), pair), *unary)
    return Asked(graph, (), partial(all_different_closed, size, pair, own))


def all_different_closed(size: int, pair: Table, own: Table) -> Logs:
    """Σ over how many others are true, from products of all tables before and after each."""
    total, tables = clique(size, pair), np.asarray(own, dtype=np.longdouble)
    before, after = _products(tables), _products(tables[::-1])[::-1]
    weights = []
    for variable in range(size):
        others = np.log(np.convolve(before[variable], after[variable + 1]))
        ones = logs_of(tables[variable])
        weights.append(
            [log_sum(others + total[:-1]) + ones[0], log_sum(others + total[1:]) + ones[1]]
        )
    return np.array(weights)


def _products(tables: NDArray[np.longdouble]) -> list[NDArray[np.longdouble]]:
    """Weights of how many are true among the first 0, 1, … variables."""
    found = [np.ones(1, dtype=np.longdouble)]
    for table in tables:
        found.append(np.convolve(found[-1], table))
    return found
