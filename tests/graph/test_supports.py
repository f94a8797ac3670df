"""How many records stand behind tables: counts had again, kept by every way a graph can change."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.graph.supports import Supports
from lifagu.graph.table_support import TableSupport
from lifagu.graph.tables import GivenTables
from support.strategies import graphs

LABELS = {"A": ["a", "b", "c"], "B": ["x", "y"], "C": ["p", "q", "r", "s"]}


def estimated(counts, given, prior):
    """The table that counts and a prior make, and the records for each combination of given."""
    weights = counts + prior
    others = tuple(axis for axis in range(counts.ndim) if axis not in given)
    return weights / weights.sum(axis=others, keepdims=True), counts.sum(axis=others).reshape(-1)


@st.composite
def counted(draw):
    """A graph with one estimated factor over shuffled label orders, and its counts by label."""
    names = draw(st.permutations(list(LABELS)))[: draw(st.integers(1, 3))]
    orders = {name: draw(st.permutations(LABELS[name])) for name in names}
    shape = [len(LABELS[name]) for name in names]
    numbers = draw(st.lists(st.integers(0, 20), min_size=24, max_size=24))
    counts = np.array(numbers[: int(np.prod(shape))], dtype=float).reshape(shape)
    given = [axis for axis in range(len(shape) - 1) if draw(st.booleans())]
    prior = draw(st.sampled_from([0.5, 1.0, None]))
    if prior is None:
        more = draw(st.lists(st.floats(0.1, 3), min_size=counts.size, max_size=counts.size))
        prior = np.array(more).reshape(shape)
    table, records = estimated(counts, given, prior)
    builder = lifagu.FactorGraph.build()
    for name, labels in LABELS.items():
        builder.variable(f"{name}0", labels)  # so that other orders are not canonical
    for name in names:
        builder.variable(name, orders[name])
    named = [names[axis] for axis in given]
    builder.factor("other", ["A0"], [1, 2, 3])
    builder.factor("f", names, table, support=records, given=named, prior=prior)
    by_label = {
        key: float(counts[place])
        for place in np.ndindex(*shape)
        for key in [tuple(orders[n][v] for n, v in zip(names, place, strict=True))]
    }
    return builder.graph(), names, by_label


def counts_by_label(graph, factor="f"):
    """The counts of a factor by the labels of its arguments, ordered by the arguments' names."""
    number = graph.factor_names.number(factor)
    scope = graph.scope(number)
    names = [graph.variable_names[each] for each in scope]
    labels = [graph.ranges.canonical[graph.variable_range[each]] for each in scope]
    found = graph.support.counts(graph, np.array([number]))[0]
    pairs = zip(itertools.product(*labels), found.tolist(), strict=True)
    return names, dict(pairs)


@settings(max_examples=150)
@given(counted(), st.randoms())
def test_counts_come_back_whatever_the_orders(case, random):
    graph, names, by_label = case
    scope, found = counts_by_label(graph)
    assert scope == list(names)
    assert found == pytest.approx(by_label, abs=1e-9)
    total = graph.support.total(np.array([0, 1]))
    assert total.tolist() == pytest.approx([np.inf, sum(by_label.values())])
    assert not graph.support.estimated[0]
    # the same factor with its arguments in another order
    order = random.sample(range(len(names)), len(names))
    arguments = graph.arguments.copy()
    arguments[1:] = arguments[1:][order]
    tables = GivenTables.of([graph.table(0), graph.table(1).transpose(order)])
    turned = graph.refilled(tables, np.array([0, 1]), arguments)
    scope, found = counts_by_label(turned)
    expected = {tuple(key[axis] for axis in order): count for key, count in by_label.items()}
    assert scope == [names[axis] for axis in order]
    assert found == pytest.approx(expected, abs=1e-9)
    back = turned.refilled(
        GivenTables(graph.tables.values, graph.tables.offsets), graph.factor_table, graph.arguments
    )
    assert back == graph


def test_counts_by_hand():
    """(7 + 1, 1 + 1) of 10 and (0 + 1, 2 + 1) of 4, and a joint table of 8 records."""
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B"])
        .factor("f", ["A", "B"], [0.8, 0.2, 0.25, 0.75], support=[8, 2], prior=1)
        .factor("g", ["A", "B"], [3, 1, 0, 4], support=8)
        .factor("h", ["B", "A"], [0.5, 0.25, 0.5, 0.75], support=[10, 20], given="A")
        .factor("even", ["A", "B"], [0.8, 0.2, 0.25, 0.75], support=8, given=["A"])
        .graph()
    )
    found = graph.support.counts(graph, np.arange(4))
    expected = [[7, 1, 0, 2], [3, 1, 0, 4], [5, 5, 5, 15], [3.2, 0.8, 1, 3]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert graph.factor("h").support == TableSupport((10.0, 20.0), (1,))


def test_given_arguments_are_found_from_the_table():
    build = lifagu.FactorGraph.build().variable("A", ["a", "b", "c"]).variables(["B", "C"])
    conditional = np.full((3, 2, 2), 0.5)
    conditional[:, :, 0], conditional[:, :, 1] = 0.25, 0.75
    graph = (
        build.factor("leading", ["A", "B", "C"], np.ones((3, 2, 2)), support=[1, 2])
        .factor("pair", ["A", "B", "C"], conditional, support=[float(each) for each in range(6)])
        .factor("last", ["C", "B", "A"], conditional.transpose(2, 1, 0), support=[1, 2, 3])
        .graph()
    )
    assert [each.support.given for each in graph.factors] == [(1,), (0, 1), (2,)]
    with pytest.raises(lifagu.ModelError, match="2 numbers of records.*name those by given"):
        build.factor("none", ["B", "C"], [1, 2, 3, 5], support=[1, 2])
    offsets = np.array([0, 2])
    unnamed = Supports(offsets, np.ones(2), np.array([-1]), np.zeros(2, dtype=int), np.zeros(0))
    settings = {"ranges": [["f", "t"]], "variable_ranges": [0, 0], "arguments": [0, 1]}
    settings |= {"offsets": offsets, "factor_tables": [0], "support": unnamed}
    found = lifagu.FactorGraph.from_arrays(tables=[[0.1, 0.5, 0.9, 0.5]], **settings)
    assert found.factor("f0").support.given == (1,)
    with pytest.raises(lifagu.ModelError, match="factor 'f0' has 2 numbers of records"):
        lifagu.FactorGraph.from_arrays(tables=[[0.1, 0.5, 0.8, 0.5]], **settings)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"support": -1}, "factor 'f' has the support -1.0; numbers of records are finite and 0"),
        ({"support": float("nan")}, "the support nan"),
        ({"support": "many"}, "a support that is no number and no list"),
        ({"support": True}, "no number"),
        ({"support": [1, 2, 3], "given": "A"}, "3 numbers of records .* 2 combinations; give 2"),
        ({"support": 3, "given": ["C"]}, r"'C' in given, which is not among its arguments \(A, B"),
        ({"support": 3, "given": ["A", "A"]}, "twice in given"),
        ({"support": 3, "prior": [1, 2]}, "2 numbers as prior, but 4 potentials"),
        ({"support": 3, "prior": -1}, "the prior -1.0"),
        ({"prior": 1}, "prior but no support"),
        ({"given": ["A"]}, "given but no support"),
    ],
)
def test_mistakes(said, message):
    builder = lifagu.FactorGraph.build().variables(["A", "B"])
    with pytest.raises(lifagu.ModelError, match=message) as error:
        builder.factor("f", ["A", "B"], [1, 2, 3, 4], **said)
    assert "\n" not in str(error.value)


def test_mistakes_in_arrays():
    settings = {"ranges": [["f", "t"]], "variable_ranges": [0], "arguments": [0, 0]}
    settings |= {"offsets": [0, 1, 2], "tables": [[1, 2]], "factor_tables": [0, -1]}
    make = lifagu.FactorGraph.from_arrays
    assert make(**settings, support=[3, 4]).factor("f1").support is None
    assert make(**settings, support=[np.nan, 4]).support is None
    assert make(**settings, support=[np.nan, 4]) == make(**settings)
    assert make(**settings, support=[3, np.nan]) != make(**settings, support=[4, np.nan])
    for wrong, message in [
        ([1.0], "support has 1 entries for 2 factors"),
        ([-2.0, 1.0], "factor 'f0' has the support -2.0"),
        (["many", "few"], "support is a Supports"),
    ]:
        with pytest.raises(lifagu.ModelError, match=message):
            make(**settings, support=wrong)
    beyond = Supports.of([TableSupport((1.0,), (3,)), None])
    with pytest.raises(lifagu.ModelError, match="only 1 arguments"):
        make(**settings, support=beyond)


@settings(max_examples=100)
@given(graphs())
def test_supports_travel(graph):
    assert pickle.loads(pickle.dumps(graph)) == graph
    supports = [each.support for each in graph.factors]
    assert (graph.support is None) == (not any(supports))
    for factor, support in zip(graph.factors, supports, strict=True):
        assert factor.known or support is None
    again = lifagu.FactorGraph.from_arrays(
        ranges=graph.ranges.declared,
        variable_ranges=graph.variable_declared,
        offsets=graph.offsets,
        arguments=graph.arguments,
        tables=[np.ones(1) if each.table is None else each.table for each in graph.factors],
        factor_tables=np.where(graph.factor_table < 0, -1, np.arange(len(supports))),
        variable_names=graph.variable_names,
        factor_names=graph.factor_names,
        support=Supports.of(supports),
    )
    assert [each.support for each in again.factors] == supports


def test_what_is_added_lent_or_hidden_has_none():
    graph = (
        lifagu.FactorGraph.build()
        .variable("Epid")
        .variable("Sick.bob", kind="Sick", individual="bob")
        .factor("f.bob", ["Sick.bob", "Epid"], [0.9, 0.2, 0.1, 0.8], support=[5, 7])
        .graph()
    )
    larger = graph.with_individual("eve", like="bob")
    filled = lifagu.transfer(larger).graph
    for each in (larger, filled):
        assert each.factor("f.bob").support == graph.factor("f.bob").support
        assert each.factor("f.eve").support is None
    assert filled.factor("f.eve").known
    hidden = graph.refilled(GivenTables.of([]), np.array([-1]))
    assert hidden.support is None
