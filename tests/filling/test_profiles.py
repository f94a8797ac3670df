"""Filling from individuals that agree on other tables: against a naive one, and on cohorts."""

import math
import random
from collections import Counter
from itertools import product

import pytest

import lifagu
from support.helpers import graph_of
from support.naive import graphs as naive
from support.transfers import assert_same_factors, check_columns

KINDS = {"Age": 3, "Travel": 2, "Sick": 2, "Stay": 3}
FACTORS = {
    "fa": ["Age"],
    "ft": ["Travel", "Age"],
    "fs": ["Sick", "Travel"],
    "fe": ["Sick", "Epid"],
    "fy": ["Stay", "Sick"],
}


def hospital(seed, persons, unknown, noise=0.0):
    """Persons of three cohorts that decide tables but for noise; arguments in any order."""
    rng = random.Random(seed)
    sizes = {**KINDS, "Epid": 2}
    states = {name: math.prod(sizes[kind] for kind in scope) for name, scope in FACTORS.items()}
    tables = {
        name: [[rng.randint(1, 9) for _ in range(states[name])] for _ in range(3)]
        for name in FACTORS
    }
    shown = {name: [rng.randrange(3) for _ in range(3)] for name in FACTORS}  # cohort -> table
    variables = [{"name": "Epid", "kind": "Epid", "range": labels(2)}]
    factors = []
    for person in range(persons):
        cohort = rng.randrange(3)
        variables += [
            {
                "name": f"{kind}.{person}",
                "kind": kind,
                "individual": f"p{person}",
                "range": labels(size),
            }
            for kind, size in KINDS.items()
        ]
        for name, scope in FACTORS.items():
            for copy in range(rng.choice([0, 1, 1, 1, 1, 1, 2]) if name == "fy" else 1):
                number = rng.randrange(3) if rng.random() < noise else shown[name][cohort]
                args = ["Epid" if kind == "Epid" else f"{kind}.{person}" for kind in scope]
                entry = turned(args, tables[name][number], [sizes[kind] for kind in scope], rng)
                factors.append({"name": f"{name}.{person}.{copy}", **entry})
    rng.shuffle(factors)
    model = {"format": "lifagu/1", "variables": variables, "factors": factors}
    truth = {each["name"]: each["table"] for each in factors}
    holes = [{**each, "table": None} if rng.random() < unknown else each for each in factors]
    return {**model, "factors": holes}, truth


def labels(size):
    return [f"v{value}" for value in range(size)]


def turned(args, table, sizes, rng):
    """The same factor with its arguments listed in a random order."""
    order = rng.sample(range(len(args)), len(args))
    entries = dict(zip(product(*map(range, sizes)), table, strict=True))
    states = product(*(range(sizes[place]) for place in order))
    back = [order.index(place) for place in range(len(args))]
    return {
        "args": [args[place] for place in order],
        "table": [entries[tuple(s[i] for i in back)] for s in states],
    }


def naive_profiles(model, theta):
    """One record per unknown factor, and the completed factors: by the definition, in pairs."""
    graph = naive.parse(model)
    roles = naive.all_roles(graph, {}, structure_only=False, evidence_in_roles=False)
    keys = {f.name: tuple(roles[name] for name in f.args) for f in graph.factors}
    found = [from_profiles(graph, f, theta, keys) for f in graph.factors if f.table is None]
    return [record for record, _ in found], {filled.name: filled for _, filled in found}


def from_profiles(graph, receiver, theta, keys):
    place, person = naive.bag(keys[receiver.name]), naive.owner(graph, receiver)
    alike = [f for f in graph.factors if f.table is not None and naive.bag(keys[f.name]) == place]
    candidates, agreed = alike, 0
    if person is not None:
        donors = [f for f in alike if naive.owner(graph, f) is not None]
        columns = telling(graph, place, donors, keys)
        for width in range(len(columns), 0, -1):
            mine = {each: has(graph, person, each, keys) for each in columns[:width]}
            mine = {each: tables for each, tables in mine.items() if tables is not None}
            agreeing = [
                f
                for f in donors
                if all(has(graph, naive.owner(graph, f), each, keys) == mine[each] for each in mine)
            ]
            if mine and agreeing:
                candidates, agreed = agreeing, len(mine)
                break
    best, tie = naive.largest_agreeing(
        candidates, lambda f, g: naive.possibly_identical(f, g, keys)
    )
    record = naive.verdict(receiver, len(candidates), len(best), tie, theta)
    if record["status"] == "transferred":
        receiver = naive.give(record, best[0], receiver, keys)
    return {**record, "agreed": agreed}, receiver


def has(graph, person, place, keys):
    """The tables an individual has in a place: None if one of them is unknown."""
    own = [
        f
        for f in graph.factors
        if naive.owner(graph, f) == person and naive.bag(keys[f.name]) == place
    ]
    return None if any(f.table is None for f in own) else naive.bag(aligned(f, keys) for f in own)


def aligned(factor, keys):
    order = sorted(range(len(factor.args)), key=keys[factor.name].__getitem__)
    return naive.frozen(naive.reorder(factor.table, order))


def telling(graph, place, donors, keys):
    """Other places that tell something about the tables here, the most telling first."""
    homes = {naive.owner(graph, f) for f in graph.factors if naive.bag(keys[f.name]) == place} - {
        None
    }
    places = dict.fromkeys(naive.bag(keys[f.name]) for f in graph.factors)
    counts = Counter(
        other
        for home in homes
        for other in {
            naive.bag(keys[f.name]) for f in graph.factors if naive.owner(graph, f) == home
        }
        if other != place
    )
    common = sorted((each for each in places if counts[each]), key=lambda each: -counts[each])[:24]
    scores = {}
    for other in (each for each in places if each in common):
        pairs = [(has(graph, naive.owner(graph, f), other, keys), aligned(f, keys)) for f in donors]
        scores[other] = round(information([pair for pair in pairs if pair[0] is not None]), 6)
    return sorted((each for each in scores if scores[each] > 0), key=lambda each: -scores[each])[:6]


def information(pairs):
    """Wilks's G of a contingency table less its degrees of freedom; 0 where it may be chance."""
    counts = [Counter(pair[side] for pair in pairs) for side in (0, 1)]
    pairs = [
        pair
        for pair in pairs
        if all(count[value] > 1 for count, value in zip(counts, pair, strict=True))
    ]
    rows, columns = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    statistic = 2 * sum(
        count * math.log(count * len(pairs) / (rows[row] * columns[column]))
        for (row, column), count in Counter(pairs).items()
    )
    freedom = (len(rows) - 1) * (len(columns) - 1)
    return max(statistic - freedom, 0) if statistic > freedom + 3 * math.sqrt(2 * freedom) else 0


@pytest.mark.parametrize("seed", range(24))
def test_profiles_equal_their_definition(seed):
    rng = random.Random(seed)
    model, _ = hospital(
        seed, rng.choice([4, 12, 20]), rng.choice([0.1, 0.3, 0.6]), rng.choice([0, 0.1, 0.5])
    )
    theta = rng.choice([0, 0.5, 1])
    moved = lifagu.transfer(graph_of(model), theta, profiles=True)
    records, filled = naive_profiles(model, theta)
    for mine, theirs in zip(moved.record, records, strict=True):
        known = mine.as_dict()
        assert {key: known[key] for key in theirs} == theirs
    check_columns(moved)
    completed = [
        {**each, "args": filled[each["name"]].args, "table": listed(model, filled[each["name"]])}
        if each["name"] in filled
        else each
        for each in model["factors"]
    ]
    assert_same_factors(moved.graph, graph_of({**model, "factors": completed}))


def listed(model, factor):
    ranges = {each["name"]: each["range"] for each in model["variables"]}
    return factor.table and [
        factor.table[state] for state in product(*(ranges[name] for name in factor.args))
    ]


@pytest.mark.parametrize("seed", range(3))
def test_tables_that_several_others_decide_are_found(seed):
    """Cohorts of one table each: whoever has a known informative table finds the right one."""
    model, truth = hospital(seed, 150, 0.15)
    moved = lifagu.transfer(graph_of(model), profiles=True)
    sure = [record for record in moved.record if record.agreed and record.share == 1]
    assert len(sure) > 0.4 * len(moved.record)
    right = sum(matches(moved.graph, model, truth, record.factor) for record in sure)
    assert right > 0.97 * len(sure)


def matches(graph, model, truth, name):
    """Whether a filled factor is the true one, whose arguments may be listed otherwise."""
    given = next(each for each in model["factors"] if each["name"] == name)
    true = naive.parse({**model, "factors": [{**given, "table": truth[name]}]}).factors[0].table
    filled = graph.factor(name)
    order = [given["args"].index(each) for each in filled.arguments]
    ranges = {each["name"]: each["range"] for each in model["variables"]}
    states = product(*(ranges[each] for each in filled.arguments))
    return filled.table.reshape(-1).tolist() == [
        naive.reorder(true, order)[state] for state in states
    ]


def test_a_table_that_everybody_has_differently_does_not_stand_in_the_way():
    model, _ = hospital(5, 60, 0.1)
    own = [
        {"name": f"own.{person}", "args": [f"Stay.{person}"], "table": [1, 2, 3 + person / 7]}
        for person in range(60)
    ]
    moved = lifagu.transfer(graph_of({**model, "factors": model["factors"] + own}), profiles=True)
    assert sum(bool(record.agreed) for record in moved.record) > len(moved.record) / 2
    assert not any(record.unit == "individual" for record in moved.record)


def test_the_reason_says_who_was_counted():
    model, _ = hospital(1, 60, 0.1)
    reasons = [record.reason for record in lifagu.transfer(graph_of(model), profiles=True).record]
    assert any(
        "whose owners have the same tables as its own in 2 other places agree" in each
        for each in reasons
    )


@pytest.mark.parametrize("other", [{"published": True}, {"structure_only": True}, {"steps": 4}])
def test_profiles_stand_alone(other):
    model, _ = hospital(0, 4, 0.3)
    with pytest.raises(lifagu.ModelError, match="profiles cannot be combined"):
        lifagu.transfer(graph_of(model), profiles=True, **other)


def test_profiles_need_individuals():
    graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], None).graph()
    with pytest.raises(lifagu.ModelError, match="no variable declares one; leave out profiles"):
        lifagu.transfer(graph, profiles=True)
