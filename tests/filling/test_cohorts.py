"""Cohorts on whole graphs: who is found, what is filled, and what must not matter."""

import json
import os
import pickle
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import lifagu
from lifagu.errors import ModelError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.io import from_json, to_json
from support.cohort_models import MAP, PLACES, by_cohorts, filled, population, tables_of
from support.helpers import ROOT
from support.naive.inference import Elimination
from support.transfers import check_columns

EXACT = {
    "plain": {},
    "arguments in any order": {"permuted": True},
    "tables up to a factor": {"scaled": True},
    "three per cent of noise": {"noise": 0.03},
    "places missing": {"absent": 0.1},
    "several factors in one place": {"twice": True},
    "no kinds": {"kinds": False},
    "no individuals": {"individuals": False},
    "neither": {"kinds": False, "individuals": False},
}
ESTIMATED = {"counts": {"records": 60}, "counts in any order": {"records": 60, "permuted": True}}
TABLES = tables_of(3)


@cache
def found(people=30, seed=3, **settings):
    """A population and its transfer, made once."""
    people = population(people, seed, **settings)
    return people, by_cohorts(people.graph)


def distance(first, second):
    """Half the sum of differences: 0 for the same distribution, 1 for disjoint ones."""
    return float(np.abs(first - second).sum() / 2)


def holes_of(graph):
    return [graph.factor_names[each] for each in graph.unknown]


def means(moved):
    """Every hole's mean table, arguments as in PLACES."""
    graph = moved.averaged()
    return {name: filled(graph, name) for name in holes_of(moved.original)}


# ---- recovery


@pytest.mark.parametrize("what", EXACT)
def test_cohorts_of_exact_tables_are_found(what):
    settings = EXACT[what]
    people, moved = found(**settings)
    assert isinstance(moved, CohortTransfer)
    assert len(people.truth) >= 5
    close = 0.03 if settings.get("noise") else 1e-9
    best = [distance(filled(moved.graph, name), true) for name, true in people.truth.items()]
    assert max(best) < close
    mean = [distance(table, people.truth[name]) for name, table in means(moved).items()]
    assert np.mean(mean) < (0.06 if settings.get("absent") else 0.02)
    # those of one cohort are told together, and who is not of it apart
    posterior = moved.posterior
    cohort = posterior.belonging[0].argmax(axis=1)[posterior.kind_of]
    who = {
        moved.original.factor_names[factor].split(".")[1]: cohort[owner]
        for factor, owner in enumerate(posterior.places.owners)
        if "." in moved.original.factor_names[factor]
    }
    for one in people.cohort:
        for other in people.cohort:
            if people.cohort[one] != people.cohort[other] and not settings.get("absent"):
                assert who[one] != who[other]


@pytest.mark.parametrize("what", ESTIMATED)
def test_cohorts_of_estimated_tables_are_found(what):
    people, moved = found(**ESTIMATED[what])
    pooled = {place: pooled_table(moved.original, place) for place in PLACES}
    mean = [distance(table, people.truth[name]) for name, table in means(moved).items()]
    usual = [distance(pooled[n.split(".")[0]], true) for n, true in people.truth.items()]
    assert np.mean(mean) < 0.05 < 0.25 < np.mean(usual)
    best = [distance(filled(moved.graph, name), true) for name, true in people.truth.items()]
    assert np.mean(best) < 0.05
    # what is known is cleaned: nearer to the truth than the records themselves
    graph, before, after = moved.averaged(), [], []
    for name in set(moved.original.factor_names) - {"season"} - set(people.truth):
        place, who = name.split(".")
        true = TABLES[place][MAP[place][people.cohort[who]]]
        before.append(distance(filled(moved.original, name), true / true.sum()))
        after.append(distance(filled(graph, name), true / true.sum()))
    assert np.mean(after) < 0.6 * np.mean(before)


def pooled_table(graph, place):
    known = [
        filled(graph, name)
        for name in graph.factor_names
        if name.startswith(place + ".") and graph.factor(name).table is not None
    ]
    return np.mean(known, axis=0)


def test_without_structure_it_is_pooling():
    """Tables by chance: nobody tells anything about anybody."""
    rng = np.random.default_rng(0)
    builder = lifagu.FactorGraph.build()
    tables, shown = [[9, 1], [2, 8]], {"f": [], "g": []}
    for number in range(60):
        for place in "fg":
            builder.variable(f"{place.upper()}.p{number}", kind=place, individual=f"p{number}")
            chosen = int(rng.random() < 0.3)
            table = None if number < 4 and place == "f" else tables[chosen]
            shown[place] += [] if table is None else [chosen]
            builder.factor(f"{place}.p{number}", [f"{place.upper()}.p{number}"], table)
    graph = by_cohorts(builder.graph()).averaged()
    share = np.mean(shown["f"])
    wanted = share * np.array([0.2, 0.8]) + (1 - share) * np.array([0.9, 0.1])
    for number in range(4):
        assert graph.factor(f"f.p{number}").table == pytest.approx(wanted, abs=0.05)


def test_individuals_that_nobody_declared_are_said_to_be_what_hangs_together():
    for settings, declared in ({}, True), ({"individuals": False}, False):
        _, moved = found(**settings)
        places = moved.posterior.places
        assert places.declared is declared
        assert places.count == 31  # and the season
        for record in moved.record:
            assert record.owner.declared is declared
            assert ("Individuals are what hangs together" in record.reason) is not declared
        names = moved.original.factor_names
        owner = {names[factor]: int(number) for factor, number in enumerate(places.owners.tolist())}
        for name, number in owner.items():
            if name != "season":
                assert number == owner[f"fa.{name.split('.')[1]}"]
        assert list(owner.values()).count(owner["season"]) == 1


# ---- what is filled


@pytest.mark.parametrize("what", ["plain", "arguments in any order", "neither"])
def test_a_hole_takes_tables_of_its_own_place_only(what):
    _, moved = found(**EXACT[what])
    for name, table in means(moved).items():
        # within what the tables of the place span
        here = np.array([each / each.sum() for each in TABLES[name.split(".")[0]]])
        assert (table >= here.min(axis=0) - 1e-9).all()
        assert (table <= here.max(axis=0) + 1e-9).all()
    for record in moved.record:
        assert record.donor.split(".")[0] == record.factor.split(".")[0]
        donor, own = (filled(moved.graph, each) for each in (record.donor, record.factor))
        assert own == pytest.approx(donor)
        assert record.status == "transferred"


def test_mean_tables_sum_to_one():
    for settings in ({}, ESTIMATED["counts"]):
        _, moved = found(**settings)
        graph = moved.averaged()
        for name in holes_of(moved.original):
            assert graph.factor(name).table.sum() == pytest.approx(1)
    # conditional ones for each combination of what is given
    _, moved = given_graph()
    table = moved.averaged().factor("f.p0").table
    assert table.sum(axis=1) == pytest.approx(1)


@cache
def given_graph(turned=False):
    """Tables of B given A, two sorts of people; turned: half of them list B first."""
    rng = np.random.default_rng(0)
    tables = np.array([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]], [[0.1, 0.1, 0.8], [0.1, 0.1, 0.8]]])
    builder = lifagu.FactorGraph.build()
    for number in range(24):
        name, sort = f"p{number}", number % 2
        builder.variable(f"A.{name}", kind="A", individual=name)
        builder.variable(f"B.{name}", ["x", "y", "z"], kind="B", individual=name)
        counts = np.array([rng.multinomial(30, each) for each in tables[sort]])
        prior = np.array([rng.multinomial(50, [0.9 - 0.8 * sort, 0.1 + 0.8 * sort])])
        builder.factor(f"g.{name}", [f"A.{name}"], prior[0] + 0.5, support=50, prior=0.5)
        arguments = [f"A.{name}", f"B.{name}"]
        table = counts + 1.0
        table /= table.sum(axis=1, keepdims=True)
        if turned and number % 3 == 0:
            arguments, table = arguments[::-1], table.T
        known = {"support": [30, 30], "given": [f"A.{name}"], "prior": 1.0}
        hole = number < 2
        builder.factor(f"f.{name}", arguments, None if hole else table, **({} if hole else known))
    graph = builder.graph()
    return graph, by_cohorts(graph)


def test_conditional_tables_in_another_order_are_the_same():
    one, other = (moved.averaged() for _, moved in (given_graph(), given_graph(turned=True)))
    for name in one.factor_names:
        first, second = one.factor(name), other.factor(name)
        order = [second.arguments.index(each) for each in first.arguments]
        assert second.table.transpose(order) == pytest.approx(first.table)


def test_records_decide_between_the_pooled_table_and_ones_own():
    """Three who show the same elsewhere: a hole, no records, and very many of one's own."""
    people = population(16, 5, unknown=0.0, records=40)
    model = json.loads(to_json(people.graph))
    factors = {each["name"]: each for each in model["factors"]}
    for place in PLACES:
        for other in ("p1", "p2"):
            for key in ("table", "support", "prior"):
                factors[f"{place}.{other}"][key] = factors[f"{place}.p0"][key]
    own = np.array([0.35, 0.65])
    factors["fa.p0"] = {"name": "fa.p0", "args": factors["fa.p0"]["args"], "table": None}
    factors["fa.p1"] |= {"table": own.tolist(), "support": 0}
    factors["fa.p2"] |= {"table": own.tolist(), "support": 1e7}
    del factors["fa.p1"]["prior"], factors["fa.p2"]["prior"]
    model["factors"] = list(factors.values())
    graph = from_json(json.dumps(model))
    averaged = by_cohorts(graph).averaged()
    assert averaged.factor("fa.p1").table == pytest.approx(averaged.factor("fa.p0").table)
    assert averaged.factor("fa.p2").table == pytest.approx(own, abs=0.02)


def test_known_tables_are_cleaned_unless_kept():
    people, moved = found(**ESTIMATED["counts"])
    same = by_cohorts(people.graph, keep_known=True)
    assert (same.graph.factor("fa.p0").table == people.graph.factor("fa.p0").table).all()
    # what is shown has the likeliest table behind each, which are few
    assert len(moved.graph.tables) < 20 < len(same.graph.tables)
    graph, cleaned = same.averaged(), moved.averaged()
    changed = 0
    for name in set(graph.factor_names) - set(people.truth):
        original = people.graph.factor(name).table
        assert (graph.factor(name).table == original).all()
        changed += not np.allclose(cleaned.factor(name).table, original / original.sum())
    assert changed > 50
    assert (cleaned.factor("season").table == people.graph.factor("season").table).all()
    for name in people.truth:  # holes do not depend on it
        assert graph.factor(name).table == pytest.approx(cleaned.factor(name).table)


def test_exact_tables_are_left_alone():
    people, moved = found()
    graph = moved.averaged()
    for factor in people.graph.factors:
        if factor.table is not None:
            assert (graph.factor(factor.name).table == factor.table).all()


# ---- thresholds, and what stays unknown


def test_holes_without_candidates_stay_unknown():
    builder = lifagu.FactorGraph.build().variables(["A", "B", "C"])
    builder.factor("f", ["A", "B"], [1, 2, 3, 4]).factor("g", ["A", "B", "C"], None)
    moved = by_cohorts(builder.graph())
    record = moved.record[0]
    assert (record.status, record.donor, record.share, record.owner) == (
        "no_candidate",
        None,
        None,
        None,
    )
    assert moved.graph.factor("g").table is None
    check_columns(moved)


@pytest.mark.parametrize("holes", [0, 1, 3])
def test_a_graph_in_which_nothing_is_known_stays_as_it_is(holes):
    builder = lifagu.FactorGraph.build().variables(["A", "B"])
    for number in range(holes):
        builder.factor(f"f{number}", ["A", "B"], None)
    moved = by_cohorts(builder.graph())
    assert [record.status for record in moved.record] == ["no_candidate"] * holes
    assert len(moved.graph.unknown) == holes
    assert not moved.is_open


def test_a_graph_without_holes_stays_as_it_is():
    people = population(12, 0, unknown=0.0)
    moved = by_cohorts(people.graph)
    assert len(moved.record) == 0
    assert moved.graph == people.graph


# ---- what must not matter


def written_out(graph):
    """A model as in a file, each table in its factor and each range in its variable."""
    model = json.loads(to_json(graph))
    named, ranges = model.pop("tables", {}), model.pop("ranges", {})
    for variable in model["variables"]:
        if isinstance(variable.get("range"), str):
            variable["range"] = ranges[variable["range"]]
    for factor in model["factors"]:
        if isinstance(factor["table"], str):
            factor["table"] = named[factor["table"]]
    return model


def turned(graph, rng, order=None, names=None):
    """The same model: arguments in other orders, factors and variables in another, renamed."""
    model = written_out(graph)
    for factor in model["factors"]:
        places = rng.permutation(len(factor["args"]))
        if factor["table"] is not None:
            table = graph.factor(factor["name"]).table
            factor["table"] = table.transpose(places).reshape(-1).tolist()
        factor["args"] = [factor["args"][place] for place in places]
    if order is not None:
        for part in ("variables", "factors"):
            shuffled = order.permutation(len(model[part]))
            model[part] = [model[part][place] for place in shuffled]
    text = json.dumps(model)
    for old, new in (names or {}).items():
        text = text.replace(old, new)
    return from_json(text)


def test_arguments_in_another_order_change_no_answer():
    people, moved = found()
    other = by_cohorts(turned(people.graph, np.random.default_rng(0)))
    assert any(
        people.graph.factor(name).arguments != other.original.factor(name).arguments
        for name in holes_of(people.graph)
    )
    whole = [Elimination(written_out(each.averaged())) for each in (moved, other)]
    for name in holes_of(people.graph)[:6]:
        variable = people.graph.factor(name).arguments[0]
        first, second = (each.marginal(variable) for each in whole)
        assert first == pytest.approx(second, abs=1e-9)


def test_names_change_nothing():
    people, moved = found()
    letters = {".p": ".somebody-", '"p': '"somebody-', "fa.": "zz.", "fb.": "aa."}
    renamed = turned(people.graph, Still(), names=letters)
    other = by_cohorts(renamed)
    assert [each.share for each in other.record] == [each.share for each in moved.record]
    for one, two in zip(moved.averaged().factors, other.averaged().factors, strict=True):
        assert (one.table == two.table).all()


class Still:
    """Leaves everything in its order."""

    def permutation(self, count):
        return np.arange(count)


def test_the_order_of_individuals_hardly_matters():
    """It decides where cohorts begin to look, and no more."""
    people, moved = found()
    rng = np.random.default_rng(5)
    other = by_cohorts(turned(people.graph, Still(), order=rng))
    assert holes_of(people.graph) != holes_of(other.original)
    assert set(holes_of(people.graph)) == set(holes_of(other.original))
    again = means(other)
    for name, table in means(moved).items():
        assert table == pytest.approx(again[name], abs=0.02)


PROGRAM = """
import hashlib, sys
import numpy as np
import lifagu
from support.cohort_models import by_cohorts, population
told = hashlib.sha256()
for settings in ({"permuted": True}, {"records": 20}):
    moved = by_cohorts(population(12, 1, **settings).graph)
    for graph in (moved.graph, moved.averaged()):
        told.update(graph.tables.values.tobytes())
    for record in moved.record:
        told.update(repr(record).encode() + record.reason.encode())
print(told.hexdigest())
"""


def test_the_same_bytes_whatever_the_hash_seed_and_the_threads():
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    told = set()
    for seed, threads in (("0", "1"), ("7", "2")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        told.add(run.stdout)
    assert len(told) == 1


def test_a_seed_says_where_to_begin():
    people, moved = found()
    again = by_cohorts(people.graph, seed=0)
    assert again.averaged() == moved.averaged()
    assert again.graph == moved.graph
    other = means(by_cohorts(people.graph, seed=11))
    for name, table in means(moved).items():
        assert table == pytest.approx(other[name], abs=0.03)
    with pytest.raises(ModelError, match="seed"):
        by_cohorts(people.graph, seed=-1)


def test_pickling_keeps_everything():
    _, moved = found(**ESTIMATED["counts"])
    again = pickle.loads(pickle.dumps(moved))
    assert again.averaged() == moved.averaged()
    assert again.graph == moved.graph
    assert [each.reason for each in again.record] == [each.reason for each in moved.record]


# ---- what competes


def pairs_that_differ():
    """Everybody has two tables in one place, never the same one twice; of some, one is unknown."""
    rng = np.random.default_rng(0)
    builder = lifagu.FactorGraph.build()
    for number in range(30):
        for copy, chosen in enumerate(rng.permutation(2)):
            builder.variable(f"A{number}.{copy}", kind="A", individual=f"p{number}")
            hole = number < 4 and copy == 1
            table = None if hole else ([9, 1], [2, 8])[chosen]
            builder.factor(f"f{number}.{copy}", [f"A{number}.{copy}"], table)
    return builder.graph()


def test_other_tables_in_the_same_place_count_in_both_ways_to_answer():
    graph = pairs_that_differ()
    moved = by_cohorts(graph)
    mean = moved.averaged()
    for number in (0, 3):  # one who has either table
        name = f"f{number}.1"
        first = graph.factor(f"f{number}.0").table
        other = np.array([0.2, 0.8] if first[0] == 9 else [0.9, 0.1])
        assert mean.factor(name).table == pytest.approx(other, abs=0.04)
        for combine in ("average", "best"):
            answer = lifagu.query(moved, f"A{number}.1", combine=combine)
            assert answer.probabilities == pytest.approx(mean.factor(name).table, abs=0.03)


# ---- reasons


def two_sorts(people):
    """Two sorts of people whose two tables go together; of the last person one is unknown."""
    builder = lifagu.FactorGraph.build()
    for number in range(people + 1):
        name, sort = f"p{number}", number % 2
        builder.variable(f"A.{name}", kind="A", individual=name)
        builder.variable(f"B.{name}", kind="B", individual=name)
        table = None if number == people else ([4, 3, 2, 1], [1, 2, 3, 4])[sort]
        builder.factor(f"f.{name}", [f"A.{name}", f"B.{name}"], table)
        builder.factor(f"g.{name}", [f"B.{name}"], ([5, 1], [1, 5])[sort])
    return by_cohorts(builder.graph()).record[0]


@pytest.mark.parametrize("people", range(2, 15))
def test_reasons_fit_what_is_filled(people):
    record = two_sorts(people)
    pooled = max(people // 2, people - people // 2) / people
    if "No cohorts can be told apart" in record.reason:
        assert record.share < pooled + 0.15
    if record.owner.like:
        assert record.owner.like == ("g",)
        assert "g speaks for it" in record.reason
    if people >= 12:
        assert record.share > 0.9
        assert record.owner.like == ("g",)
        assert f"like {record.owner.members} others (cohort" in record.reason
        assert record.owner.members == (people + 1 - people % 2) // 2


def test_very_many_places_are_told_by_those_in_which_most_is_shown(monkeypatch):
    from lifagu.filling.cohorts import choosing

    monkeypatch.setattr(choosing, "MOST_PLACES", 2)
    build = lifagu.FactorGraph.build()
    for number in range(12):  # "c" stands with few, so "a" and "b" alone tell the cohorts
        for kind in "abc" if number < 9 else "ab":
            build = build.variable(f"{kind}.{number}", kind=kind, individual=f"p{number}")
            table = [1, 4] if (number % 2 if kind != "c" else number % 3) else [4, 1]
            unknown = (kind, number) in (("a", 0), ("c", 0), ("c", 1))
            build = build.factor(
                f"f{kind}.{number}", [f"{kind}.{number}"], None if unknown else table
            )
    moved = by_cohorts(build.graph())
    mean = moved.averaged()
    even = mean.factor("fa.0").table  # like the others with an even number; pooling gives 0.47
    assert even[0] / even.sum() > 0.7
    # of the seven that are known in place c, two have [4, 1] and five [1, 4], whoever one is
    for name in ("fc.0", "fc.1"):
        table = mean.factor(name).table
        assert table[0] / table.sum() == pytest.approx((2 * 0.8 + 5 * 0.2) / 7, abs=1e-3)
