"""Explanations of filled tables: against plain Python on random models, and by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifagu
from lifagu.filling.individuals import factor_owners
from lifagu.filling.nearest import right
from support.helpers import graph_of, random_model

SEEDS = range(60)


def naive_right(alike, tables):
    """Each one tried with the others: the table that most of those alike have, if one leads."""
    found = 0
    for place, (group, table) in enumerate(zip(alike, tables, strict=True)):
        others = [
            other
            for at, (there, other) in enumerate(zip(alike, tables, strict=True))
            if there == group and at != place
        ]
        best = Counter(others).most_common(2)
        leads = bool(best) and (len(best) == 1 or best[0][1] > best[1][1])
        found += leads and best[0][0] == table
    return found


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30))
def test_right_is_each_tried_with_the_others(pairs):
    alike, tables = (np.array(each) for each in zip(*pairs, strict=True))
    assert right(alike, tables) == naive_right(alike.tolist(), tables.tolist())


def drawn(seed):
    model, _ = random_model(
        seed, variables=14, factors=24, unknown=0.3, kinds=seed % 2 == 0, individuals=True
    )
    return graph_of(model)


def role(graph, name):
    variable = graph.variable(name)
    degree = sum(name in factor.arguments for factor in graph.factors)
    return repr((sorted(variable.range), degree, variable.kind))


def place_of(graph, factor):
    return tuple(sorted(role(graph, name) for name in factor.arguments))


def token(graph, factor):
    """Place and table, arguments sorted by role; values in one order of labels."""
    roles = [role(graph, name) for name in factor.arguments]
    order = sorted(range(len(roles)), key=lambda at: roles[at])
    table = factor.table
    for axis, name in enumerate(factor.arguments):
        labels = graph.variable(name).range
        table = np.take(table, np.argsort(labels, kind="stable"), axis=axis)
    return (tuple(sorted(roles)), table.transpose(order).tobytes())


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_nearest_shares_the_most_tables(seed):
    graph = drawn(seed)
    moved, owners = lifagu.transfer(graph, by="share"), factor_owners(graph).tolist()
    by_owner = {}
    for owner, factor in zip(owners, graph.factors, strict=True):
        by_owner.setdefault(owner, []).append(factor)

    def known(owner):
        return Counter(
            token(graph, each) for each in by_owner.get(owner, ()) if each.table is not None
        )

    for record in moved.record:
        told = moved.explain(record.factor)
        factor = graph.factor(record.factor)
        mine = owners[graph.factor_names.number(record.factor)]
        assert told.owner == (None if mine < 0 else graph.individuals[mine])
        if mine < 0:
            assert told.nearest == ()
            continue
        assert told.known == sum(known(mine).values())
        peers = {
            owner
            for owner, factors in by_owner.items()
            if owner not in (-1, mine)
            for each in factors
            if each.table is not None and place_of(graph, each) == place_of(graph, factor)
        }
        shared = {owner: sum((known(mine) & known(owner)).values()) for owner in peers}
        if told.known:
            expected = sorted(shared.values(), reverse=True)[:5]
            assert [len(each.same) for each in told.nearest] == expected
            assert told.as_near == Counter(shared.values())[max(expected, default=0)]
        for each in told.nearest:
            assert not set(each.same) & set(each.differs)
            assert len(each.same) == shared[graph.individuals.index(each.individual)]
            best = token(graph, graph.factor(record.competing[0].donor))
            assert each.agrees == (token(graph, graph.factor(each.factor)) == best)


@pytest.mark.parametrize("seed", SEEDS)
def test_those_who_agree_are_those_that_were_counted(seed):
    graph = drawn(seed)
    for record in (moved := lifagu.transfer(graph)).record:
        told = moved.explain(record.factor)
        if record.unit == "individual":
            assert told.agreeing_count == record.agreeing
        assert len(told.agreeing) == min(told.agreeing_count, 5)
        assert str(told).startswith("agree: ") == bool(record.agreeing and told.agreeing_count)


def workshop():
    """Machines of two sorts: heat tells the sort, the maker's table is everybody's; m9 is new."""
    builder = lifagu.FactorGraph.build()
    tables = {
        "hot": {"heat": [1, 4], "fail": [3, 1, 1, 3]},
        "cool": {"heat": [4, 1], "fail": [9, 1, 5, 5]},
        "new": {"heat": None, "fail": None},
    }
    sorts = ["hot", "cool", "hot", "cool", "hot", "cool", "hot", "hot", "new"]
    for number, sort in enumerate(sorts, start=1):
        name = f"m{number}"
        for what in ("Heat", "Fail"):
            builder.variable(f"{what}.{name}", kind=what, individual=name)
        builder.factor(f"maker.{name}", [f"Fail.{name}"], [1, 2])
        builder.factor(f"heat.{name}", [f"Heat.{name}"], tables[sort]["heat"])
        builder.factor(f"fail.{name}", [f"Heat.{name}", f"Fail.{name}"], tables[sort]["fail"])
    return builder.graph()


def test_a_workshop_by_hand():
    moved = lifagu.transfer(workshop())
    told = moved.explain("fail.m9")
    assert (told.owner, told.known, told.agreeing_count) == ("m9", 1, 5)
    assert told.agreeing == ("m1", "m3", "m5", "m7", "m8")
    assert (told.as_near, told.nearest[0].same, told.nearest[0].agrees) == (8, ("maker.m9",), True)
    settled = told.settled_by
    # without heat, each of the five hot ones is outvoted by nobody: four to three; the others not
    assert (settled.factor, settled.right, settled.before) == ("heat.m9", 8, 5)
    assert str(told).splitlines() == [
        "agree: m1, m3, m5, m7, m8",
        "nearest to m9: m1 (who agrees), m3 (who agrees), m5 (who agrees), m7 (who agrees), "
        "m8 (who agrees): the same maker.m9; 8 are as near",
        "heat.m9, if known, would settle it: asking those alike in it is right for 8 of 8, "
        "asking all for 5",
    ]
    assert told.as_dict()["nearest"][0]["individual"] == "m1"


def test_nothing_else_is_unknown():
    graph = workshop()
    builder = lifagu.FactorGraph.build()
    for variable in graph.variables:
        builder.variable(variable.name, kind=variable.kind, individual=variable.individuals)
    for factor in graph.factors:
        table = [1, 4] if factor.name == "heat.m9" else factor.table
        builder.factor(factor.name, factor.arguments, table)
    told = lifagu.transfer(builder.graph()).explain("fail.m9")
    assert (told.agreeing_count, told.as_near, told.settled_by) == (5, 5, None)
    assert str(told).endswith("no other place of it would tell more")
    assert {len(each.differs) for each in told.nearest} == {0}


def test_what_cannot_be_explained_is_said():
    moved = lifagu.transfer(workshop())
    with pytest.raises(lifagu.ModelError, match="the table of 'fail.m1' is known; name an unknown"):
        moved.explain("fail.m1")
    with pytest.raises(lifagu.ModelError, match="there is no factor 'nobody'"):
        moved.explain("nobody")


@pytest.mark.parametrize("by", ["structure", "published", "steps", "profiles"])
def test_every_rule_is_explained(by):
    moved = lifagu.transfer(workshop(), by=by)
    for record in moved.record:
        told = moved.explain(record.factor)
        assert told.agreeing_count
        assert told.owner == "m9"


def test_nobody_owns_it():
    builder = lifagu.FactorGraph.build().variables(["A", "B", "C"])
    builder = builder.factor("a", ["A"], [1, 2]).factor("b", ["B"], [1, 2])
    told = lifagu.transfer(builder.factor("c", ["C"], None).graph()).explain("c")
    assert (told.owner, told.agreeing, told.nearest) == (None, ("a", "b"), ())
    assert str(told).endswith("it belongs to no individual, so only its place was compared")
