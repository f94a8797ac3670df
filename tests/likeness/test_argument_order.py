"""Exchangeable arguments: canonical orders and swappable arguments against all permutations."""

import random
from itertools import permutations, product

import numpy as np
import pytest

import lifagu
from lifagu.graph.tables import turned
from lifagu.likeness import argument_order
from lifagu.likeness.argument_order import (
    canonical_order,
    canonical_orders,
    swappable,
    swappable_axes,
)
from support.helpers import CASES, graph_of, groups_by_name
from support.naive import graphs as naive


def symmetric_table(rng, shape):
    """A table with few values, often made equal under some permutations of its arguments."""
    table = rng.integers(0, rng.choice([2, 3, 9]), shape).astype(float)
    if rng.random() < 0.7:
        order = rng.permutation(len(shape))
        while tuple(np.array(shape)[order]) != tuple(shape):
            order = rng.permutation(len(shape))
        orbit, turn = [table], table.transpose(order)
        while not any(np.array_equal(turn, each) for each in orbit):
            orbit.append(turn)
            turn = turn.transpose(order)
        table = np.maximum.reduce(orbit)
    return table


def orders_of(ranges):
    """All orders of arguments that put these ranges into ascending order."""
    return [
        order
        for order in permutations(range(len(ranges)))
        if sorted(ranges) == [ranges[each] for each in order]
    ]


@pytest.mark.parametrize("seed", range(60))
def test_one_order_for_all_tables_that_are_equal_up_to_order(seed):
    rng = np.random.default_rng(seed)
    ranges = tuple(rng.choice([0, 0, 0, 1], size=rng.integers(1, 7)).tolist())
    table = symmetric_table(rng, tuple(2 + each for each in ranges))
    expected = min(table.transpose(order).reshape(-1).tolist() for order in orders_of(ranges))
    form = table.transpose(canonical_order(table, ranges))
    for _ in range(5):
        order = rng.permutation(len(ranges))
        found = canonical_order(table.transpose(order), tuple(ranges[each] for each in order))
        assert [ranges[order[each]] for each in found] == sorted(ranges)
        assert np.array_equal(table.transpose(order).transpose(found), form)
    assert (
        min(
            form.transpose(order).reshape(-1).tolist() for order in orders_of(tuple(sorted(ranges)))
        )
        == expected
    )


@pytest.mark.parametrize("seed", range(40))
def test_all_tables_at_once(seed):
    """Tables of all arities, also turned: equal canonical forms iff some order makes them so."""
    rng = np.random.default_rng(seed)
    names = {0: [f"A{each}" for each in range(6)], 1: [f"B{each}" for each in range(6)]}
    builder = lifagu.FactorGraph.build().range("three", ["x", "y", "z"])
    builder.variables(names[0]).variables(names[1], "three")
    kept = []
    for number in range(8):
        ranges = rng.choice([0, 0, 1], size=rng.integers(1, 7)).tolist()
        table = symmetric_table(rng, tuple(2 + each for each in ranges)) + 1
        for turn in (range(len(ranges)), rng.permutation(len(ranges)).tolist()):
            own = [ranges[each] for each in turn]
            arguments = [names[each][place] for place, each in enumerate(own)]
            builder.factor(f"f{number}.{len(kept)}", arguments, table.transpose(turn))
            kept.append((own, table.transpose(turn)))
    graph = builder.graph()
    tables = turned(graph.tables, canonical_orders(graph.tables))
    shared = swappable_axes(graph.tables)
    for factor, (ranges, table) in enumerate(kept):
        mine = int(graph.factor_table[factor])
        for other, (their_ranges, their_table) in enumerate(kept[:factor]):
            theirs = int(graph.factor_table[other])
            same = np.array_equal(
                tables.ranges_of(mine), tables.ranges_of(theirs)
            ) and np.array_equal(tables[mine], tables[theirs])
            assert same == equal_up_to_order(ranges, table, their_ranges, their_table)
        first = shared[
            graph.tables.axis_offsets[mine] : graph.tables.axis_offsets[mine + 1]
        ].tolist()
        for one, two in product(range(len(ranges)), repeat=2):
            swaps = ranges[one] == ranges[two] and np.array_equal(
                table, np.swapaxes(table, one, two)
            )
            assert (first[one] == first[two]) == swaps


def equal_up_to_order(ranges, table, their_ranges, their_table):
    if sorted(ranges) != sorted(their_ranges):
        return False
    return any(
        [ranges[each] for each in order] == their_ranges
        and np.array_equal(table.transpose(order), their_table)
        for order in permutations(range(len(ranges)))
    )


def pairs_table(pairs):
    """A product of the same table over pairs of arguments: m!·2^m symmetries, few of them swaps."""
    table = np.array(1.0)
    for _ in range(pairs):
        table = np.multiply.outer(table, np.array([[2.0, 3.0], [3.0, 7.0]]))
    return table


def ring_table(size):
    """One for each assignment of a ring, by how often 1 is followed by 0, and 0 by 1 two on."""
    states = np.array(list(product(range(2), repeat=size)))
    steps = (states & ~np.roll(states, -1, axis=1) & np.roll(states, -3, axis=1)) & 1
    return (1.0 + steps.sum(axis=1)).reshape((2,) * size)


@pytest.mark.parametrize(
    "table", [pairs_table(6), ring_table(11), np.ones((2,) * 14)], ids=["pairs", "ring", "all"]
)
def test_large_tables_with_many_symmetries(table):
    rng = np.random.default_rng(0)
    ranges = (0,) * table.ndim
    form = table.transpose(canonical_order(table, ranges))
    for _ in range(3):
        other = table.transpose(rng.permutation(table.ndim))
        assert np.array_equal(other.transpose(canonical_order(other, ranges)), form)


def test_giving_up_is_never_wrong(monkeypatch):
    monkeypatch.setattr(argument_order, "MOST_TIED", 1)
    table = ring_table(7)
    order = canonical_order(table, (0, 1, 0, 1, 0, 0, 0))
    assert order == (0, 2, 4, 5, 6, 1, 3)


def test_ranges_of_one_size_do_not_swap():
    builder = lifagu.FactorGraph.build().variable("A").variable("B", ["off", "on"])
    graph = builder.factor("f", ["A", "B"], [1, 2, 2, 5]).graph()
    assert swappable_axes(graph.tables).tolist() == [0, 1]
    assert swappable(graph.tables[0]) == (0, 0)


def wide_model(seed):
    """A small model with factors of up to five arguments, copied in other orders elsewhere."""
    rng = random.Random(seed)
    names = [f"x{number}" for number in range(10)]
    labels = {name: rng.choice([["0", "1"], ["0", "1"], ["a", "b"]]) for name in names}
    tables = {}
    factors = []
    for number in range(6):
        args = rng.sample(names, rng.randint(1, 5))
        kinds = tuple(sorted(tuple(labels[name]) for name in args))
        if kinds not in tables:
            tables[kinds] = naive.random_table(rng, [("0", "1")] * len(args), 0.1)
        order = rng.sample(range(len(args)), len(args))
        if rng.random() < 0.5:
            args.sort(key=labels.__getitem__)
            order = list(range(len(args)))
        turned_table = naive.reorder(tables[kinds], order)
        values = [turned_table[state] for state in product(*[("0", "1")] * len(args))]
        factors.append({"name": f"f{number}", "args": args, "table": values})
    return {
        "variables": [{"name": name, "range": labels[name]} for name in names],
        "factors": factors,
    }


@pytest.mark.parametrize("seed", range(40))
def test_groups_of_wide_factors_equal_naive(seed):
    model = wide_model(seed)
    graph = graph_of(model)
    found = groups_by_name(graph, lifagu.colour(graph, commutative=True))
    assert found == tuple(naive.colour_passing(model, commutative=True))
    finer = groups_by_name(graph, lifagu.colour(graph))
    for mine, coarse in zip(finer, found, strict=True):
        assert all(any(set(group) <= set(each) for each in coarse) for group in mine)


def test_case_20():
    graph = graph_of(CASES["20_commutative_order_missed"]["model"])
    variables, factors = groups_by_name(graph, lifagu.colour(graph, commutative=True))
    assert variables == [["A", "C"], ["B", "D"]]
    assert ["f1", "f2"] in factors
    plain = lifagu.transfer(graph)
    given = lifagu.colour(graph, commutative=True, factor_start=plain.factor_start)
    assert given == lifagu.colour(graph, commutative=True)
