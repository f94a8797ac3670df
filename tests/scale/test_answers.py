"""Answers to folders on engines: as by enumeration and in memory, by the lifted model."""

import decimal
import json
import math
import random
import re
from decimal import Decimal
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.inference.prepared import Result
from lifagu.questions.by_sql import asking
from lifagu.questions.by_sql.asking import plan_by_sql
from lifagu.questions.place import Place
from lifagu.questions.planning import prepare
from lifagu.scale import lifted_model
from support.by_sql import WAYS, cases
from support.helpers import ROOT, graph_of, mostly_full, random_model, run_cli
from support.naive import graphs as naive
from support.parquet_folders import make_folder
from support.parquet_mistakes import MISTAKES
from support.same_results import assert_same_answers
from support.spark_cluster import WHY_NOT, write_quick_settings
from support.strategies import observed_graphs

LIMIT = 2**30


def plan(folder, questions, evidence=None, limit=LIMIT, filling=None, on="duckdb"):
    return plan_by_sql(folder, questions, evidence or {}, filling, Place(on, limit))


def ask(folder, questions, evidence=None, **settings):
    return plan(folder, questions, evidence, **settings).run()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "big"


@pytest.mark.parametrize("seed", mostly_full(range(10), always=range(5)))
def test_equal_to_enumeration(folder, seed):
    check_model(folder, seed, variables=7)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_equal_to_enumeration_long(folder, seed):
    check_model(folder, seed, variables=9)


def check_model(folder, seed, variables):
    """Random models with zeros, equal scopes, turned labels; evidence in and beside folders."""
    model, evidence = random_model(seed, variables=variables)
    graph, rng = graph_of(model), random.Random(seed)
    inside = {name for name in evidence if rng.random() < 0.5}
    inner = {name: evidence[name] for name in inside}
    outer = {name: evidence[name] for name in evidence if name not in inside}
    lifagu.write(graph, folder, inner)
    try:
        expected_log, expected = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            ask(folder, [[graph.variable_names[0]]], outer)
        return
    assert ask(folder, [], outer).log_partition == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    joint = rng.sample(list(expected), min(3, len(expected)))
    result = ask(folder, [*([name] for name in expected), joint], outer)
    assert result.log_partition == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    *singles, together = result.answers
    for answer in [*singles, *ask(folder, [[joint[0]]], outer).answers]:
        wanted = expected[answer.variables[0]]
        assert dict(answer) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    memory = lifagu.query(graph, *joint, evidence=evidence)
    np.testing.assert_allclose(together.probabilities, memory.probabilities, rtol=1e-9, atol=1e-12)


# ---- many rows that look alike


def relational(rng, people):
    """Persons with a few variables, a hub, all pairs or a ring; zeros; ids in any order."""
    names = [f"{letter}{person}" for letter in "AB" for person in range(people)] + ["H", "Lonely"]
    order = rng.sample(names, len(names))
    ternary = rng.random() < 0.3
    sizes = {name: 3 if ternary and name[0] == "A" else 2 for name in names}
    builder = lifagu.FactorGraph.build()
    for name in order:
        builder.variable(name, [str(value) for value in range(sizes[name])])
    scopes = []

    def alike(some, symmetric=False):
        spans = [sizes[name] for name in some[0]]
        table = np.array(
            [rng.choice([0, 0.5, 1, 1.5, 2, 3]) for _ in range(math.prod(spans))]
        ).reshape(spans)
        table[(1,) * len(spans)] += 1
        table = table + table.T if symmetric else table
        scopes.extend((scope, table) for scope in some)

    persons = [str(person) for person in range(people)]
    pairs = [(x, y) for x in persons for y in persons if x != y]
    alike([(f"A{x}", f"B{x}") for x in persons])
    if rng.random() < 0.7:
        alike([(f"B{x}", "H") for x in persons])
    if rng.random() < 0.5:
        alike([(f"A{x}", f"A{y}") for x, y in pairs])
    elif rng.random() < 0.5:
        alike([(f"A{x}", f"A{y}") for x, y in pairs if x < y], symmetric=True)
    elif rng.random() < 0.7:
        alike([(f"A{x}", f"A{y}") for x, y in zip(persons, persons[1:] + persons[:1], strict=True)])
    else:
        alike([(f"A{x}", f"B{y}") for x, y in pairs])
    if rng.random() < 0.5:
        alike([(f"A{x}",) for x in persons])
    if rng.random() < 0.3:  # the same rows again
        scopes.extend(rng.sample(scopes, len(scopes) // 2))
    if rng.random() < 0.3:
        del scopes[rng.randrange(len(scopes))]
    for number, (scope, table) in enumerate(scopes):
        builder.factor(f"f{number}", scope, table.reshape(-1).tolist())
    return builder.graph()


def evidence_on(rng, graph):
    """Some values, some likelihoods."""
    found = {}
    for name in graph.variable_names:
        labels = graph.variables[graph.variable_names.number(name)].range
        if rng.random() < 0.1:
            found[name] = rng.choice(labels)
        elif rng.random() < 0.05:
            found[name] = {label: rng.choice([0.25, 1, 2]) for label in labels}
    return found


def check_against_memory(folder, seed, people):
    rng = random.Random(seed)
    graph = relational(rng, people)
    evidence = evidence_on(rng, graph) if rng.random() < 0.6 else {}
    inner = {name: evidence[name] for name in evidence if rng.random() < 0.6}
    outer = {name: evidence[name] for name in evidence if name not in inner or rng.random() < 0.3}
    lifagu.write(graph, folder, inner)
    asked = [["H"], rng.sample(list(graph.variable_names), 2), ["Lonely"]]
    questions = rng.choice([[], asked, asked[:1], asked[1:2]])
    try:
        expected = prepare(graph, questions, evidence).run()
    except lifagu.NoAnswerError:
        with pytest.raises(lifagu.NoAnswerError, match="zero"):
            ask(folder, questions, outer)
        return
    found = ask(folder, questions, outer)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.answers, expected.answers, strict=True):
        assert mine.ranges == theirs.ranges
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", mostly_full(range(10), always=range(5)))
def test_equal_to_answers_in_memory(folder, seed):
    check_against_memory(folder, seed, people=5)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 2500))
def test_equal_to_answers_in_memory_long(folder, seed):
    check_against_memory(folder, seed, people=random.Random(seed).randint(2, 10))


def society(rng, people, twisted):
    """A circle of three or four variables around each person, drugs below, a hub above.

    twisted: circles go through two persons in turn, which colours cannot tell.
    """
    builder = lifagu.FactorGraph.build().variable("H", ["lo", "mid", "hi"])
    size, drugs = rng.choice([3, 4]), rng.randint(0, 3)
    tables = [[rng.choice([0.5, 1, 2, 3]) for _ in range(4)] for _ in range(size)]
    below = [rng.choice([1, 2, 5]) for _ in range(4)]
    above = [rng.choice([1, 2, 3]) for _ in range(6)]
    for person in range(people):
        builder.variables([f"V{person}.{place}" for place in range(size)])
    for person in range(people):
        for place, table in enumerate(tables):
            other = person ^ 1 if twisted and place == size - 1 and person ^ 1 < people else person
            scope = [f"V{person}.{place}", f"V{other}.{(place + 1) % size}"]
            builder.factor(f"f{person}.{place}", scope, table)
        for twin in range(1 + (drugs == 2)):
            builder.factor(f"g{person}.{twin}", [f"V{person}.0", "H"], above)
        for drug in range(drugs):
            builder.variable(f"D{person}.{drug}")
            builder.factor(f"d{person}.{drug}", [f"D{person}.{drug}", f"V{person}.1"], below)
    return builder.graph()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("twisted", [False, True])
def test_circles_of_alike_variables(folder, seed, twisted, monkeypatch):
    """Where ways around circles end is compared for everybody; nothing is taken from colours."""
    rng = random.Random(seed)
    graph = society(rng, 6, twisted)
    lifagu.write(graph, folder)
    placed, agree = [], lifted_model._Placing._agree
    monkeypatch.setattr(
        lifted_model._Placing,
        "_agree",
        lambda self, part: (placed.append(agree(self, part)), placed[-1])[1],
    )
    questions = [["H"], ["V3.0"], ["V0.1", "V1.2"]]
    for asked in ([], questions[:1], questions):
        placed.clear()
        found, expected = ask(folder, asked), prepare(graph, asked).run()
        assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9)
        for mine, theirs in zip(found.answers, expected.answers, strict=True):
            np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9)
        assert len(asked) > 1 or placed == [not twisted]


def all_pairs(rng, people):
    """All pairs of people, maybe with a hub, in all orders or once each; often with a blemish."""
    builder = lifagu.FactorGraph.build().variables(
        ["H", *(f"S{person}" for person in range(people))]
    )
    hub, ordered = ["H"] * rng.randint(0, 1), rng.random() < 0.5
    table = np.array([rng.choice([0, 0.5, 1, 1, 2]) for _ in range(4 * 2 ** len(hub))]).reshape(
        (2, 2, *[2] * len(hub))
    )
    table[1, 1] += 1
    table = table if ordered else table + np.swapaxes(table, 0, 1)
    pairs = (permutations if ordered else combinations)(
        [f"S{person}" for person in range(people)], 2
    )
    scopes = [([*(pair if ordered else rng.sample(pair, 2)), *hub], table) for pair in pairs]
    scopes += (
        [([f"S{person}"], np.array([1, 3])) for person in range(people)]
        if rng.random() < 0.5
        else []
    )
    blemish = rng.choice(["none", "missing", "twice", "other", "squared", "matching", "matching"])
    place, matching = (
        rng.randrange(len(scopes)),
        [{f"S{one}", f"S{one + 1}"} for one in range(0, people - 1, 2)],
    )
    scope, own = scopes[place]
    if blemish == "missing":
        del scopes[place]
    elif blemish == "matching":  # all have as many rows as before, and yet they are not alike
        scopes = [each for each in scopes if set(each[0]) - {"H"} not in matching]
    elif blemish != "none":
        scopes.append((scope, {"twice": own, "other": own + 1, "squared": own**2}[blemish]))
    for number, (scope, own) in enumerate(scopes):
        builder.factor(f"f{number}", scope, own.reshape(-1).tolist())
    return builder.graph()


@pytest.mark.parametrize("seed", mostly_full(range(30), always=range(6)))
def test_pairs_are_listed_where_they_are_few(folder, seed):
    rng = random.Random(seed)
    graph = all_pairs(rng, people=6)
    questions = rng.choice([[], [["H"]], [["S0"]], [["S1"], ["H", "S2"]]])
    evidence = {"S3": "true"} if rng.random() < 0.3 else {}
    lifagu.write(graph, folder)
    expected = prepare(graph, questions, evidence).run()
    found = ask(folder, questions, evidence)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.answers, expected.answers, strict=True):
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observed_graphs())
def test_any_names_any_labels(tmp_path_factory, observed):
    """Graphs drawn anew: names in all letters, label orders, factors empty or unknown."""
    graph, evidence = observed
    folder = tmp_path_factory.mktemp("model") / "big"
    lifagu.write(graph, folder, evidence)
    for questions in ([[name] for name in graph.variable_names][:2], []):
        try:
            expected = prepare(graph, questions, evidence).run()
        except lifagu.NoAnswerError as error:
            with pytest.raises(
                lifagu.NoAnswerError, match="zero" if "zero" in str(error) else "unknown"
            ):
                ask(folder, questions)
            continue
        found = ask(folder, questions)
        # with unknown factors elsewhere
        assert (found.log_partition is None) == (expected.log_partition is None)
        if expected.log_partition is not None:
            assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)
        for mine, theirs in zip(found.answers, expected.answers, strict=True):
            assert (mine.variables, mine.ranges) == (theirs.variables, theirs.ranges)
            np.testing.assert_allclose(
                mine.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12
            )


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observed_graphs(), st.sampled_from(WAYS))
def test_filled_on_the_way(tmp_path_factory, observed, ways):
    """Unknown factors are filled as in memory, in all ways SQL knows."""
    graph, evidence = observed
    folder = tmp_path_factory.mktemp("model") / "big"
    lifagu.write(graph, folder, evidence)
    filling = lifagu.Filling(combine="best", **ways)
    memory = lifagu.open(folder, on="memory").fill(filling)
    names = list(graph.variable_names)
    for questions in ([[name] for name in names][:2], [names[:2]] if names else [], []):
        try:
            expected = memory.plan(questions).run()
        except lifagu.NoAnswerError as error:
            with pytest.raises(
                lifagu.NoAnswerError, match="zero" if "zero" in str(error) else "unknown"
            ):
                ask(folder, questions, filling=filling)
            continue
        planned = plan(folder, questions, filling=filling)
        moved = memory.transfer
        assert (planned.unknown, planned.transferred) == (
            len(moved.unknown),
            len(moved.transferred),
        )
        assert_same_answers(planned.run(), expected)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observed_graphs(), st.sampled_from(WAYS), st.data())
def test_a_case_is_asked_as_in_memory(tmp_path_factory, observed, ways, data):
    """The verbs of a case, one variable or several, evidence of the folder and beside it."""
    graph, evidence = observed
    folder = tmp_path_factory.mktemp("model") / "big"
    lifagu.write(graph, folder, evidence)
    names = list(graph.variable_names)
    seen = data.draw(st.lists(st.sampled_from(names), max_size=2)) if names else []
    beside = {name: graph.variables[graph.variable_names.number(name)].range[0] for name in seen}
    memory, engine = cases(folder, beside, ways)
    for verb, asked in (("ask", names[:1]), ("ask", names[-2:]), ("log_partition", [])):
        try:
            expected = getattr(memory, verb)(*asked)
        except lifagu.LifaguError as error:
            with pytest.raises(type(error), match="zero" if "zero" in str(error) else None):
                getattr(engine, verb)(*asked)
            continue
        found = getattr(engine, verb)(*asked)
        if verb == "ask":
            assert_same_answers(Result([found], None, ()), Result([expected], None, ()))
        else:
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_names_that_do_not_fit(folder, monkeypatch):
    """What an answer rests on is counted, and the first factors are named, as many as fit."""
    builder = lifagu.FactorGraph.build().variable("H").factor("g", ["H"], [1, 2])
    for number in range(30):
        builder.variable(f"A{number}").factor(
            f"f{number}", [f"A{number}", "H"], None if number else [1, 2, 3, 4]
        )
    lifagu.write(builder.graph(), folder)
    (whole,) = ask(folder, [["H"]], filling=lifagu.Filling()).answers
    assert whole.rests_on == tuple(f"f{number}" for number in range(1, 30))
    monkeypatch.setattr(asking, "NAME", int(asking.BESIDE * LIMIT) // 5)
    (cut,) = ask(folder, [["H"]], filling=lifagu.Filling()).answers
    assert (cut.rests_on, cut.weakest_share) == (whole.rests_on[:5], whole.weakest_share)
    assert cut.notes == ("rests on 29 transferred factors, of which the first 5 are named",)


# ---- what has no answer, and what is wrong


def test_unknown_factors(folder):
    """Only questions about their own part are refused, as in memory; evidence divides parts."""
    builder = lifagu.FactorGraph.build().variables(["A", "B", "C", "D", "E"])
    builder.factor("f", ["A", "B"], [1, 2, 3, 4]).factor("g", ["B", "C"], None).factor(
        "h", ["D"], [1, 4]
    )
    lifagu.write(builder.graph(), folder)
    for name in "ABC":
        with pytest.raises(lifagu.NoAnswerError, match=rf"P\({name}\) has no answer: g is unknown"):
            ask(folder, [[name]])
    with pytest.raises(
        lifagu.NoAnswerError, match="log Z has no answer: g is unknown; give a table"
    ):
        ask(folder, [])
    result = ask(folder, [["D"], ["E"]])
    assert [answer["true"] for answer in result.answers] == pytest.approx([0.8, 0.5])
    assert result.log_partition is None
    assert ask(folder, [["A"]], {"B": "true"}).answers[0]["true"] == pytest.approx(4 / 6)
    with pytest.raises(lifagu.NoAnswerError, match=r"P\(C\)"):
        ask(folder, [["C"]], {"B": "true"})


def test_many_unknown_factors(folder):
    builder = lifagu.FactorGraph.build().variable("A")
    for number in range(9):
        builder.factor(f"f{number}", ["A"], None)
    lifagu.write(builder.graph(), folder)
    with pytest.raises(
        lifagu.NoAnswerError,
        match=r"P\(A\) has no answer: f0, f1, f2, f3, f4 and 4 more are unknown",
    ):
        ask(folder, [["A"]])


def test_rings_are_refused_where_they_are_many(folder, capsys, monkeypatch):
    """All variables of a ring look alike, and one does not answer for all."""
    size = 200
    builder = lifagu.FactorGraph.build().variables([f"V{number}" for number in range(size)])
    for number in range(size):
        builder.factor(f"f{number}", [f"V{number}", f"V{(number + 1) % size}"], [1, 2, 3, 5])
    graph = builder.graph()
    lifagu.write(graph, folder)
    assert ask(folder, []).log_partition == pytest.approx(lifagu.log_partition(graph), rel=1e-12)
    monkeypatch.setattr(lifted_model, "MOST_LISTED", 500)
    status, _, err = run_cli(capsys, "logz", str(folder), "--on", "duckdb")
    assert (status, err) == (
        4,
        "error: the lifted model is too large: what looks alike there hangs together in rings or "
        "pairs, with 600 arguments to be listed, and 500 may be; where it fits in memory, take "
        "--on memory\n",
    )


def test_everything_observed(folder):
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B"])
        .factor("f", ["A", "B"], [1, 2, 3, 0])
        .graph()
    )
    lifagu.write(graph, folder, {"A": "true"})
    found = ask(folder, [["A", "B"]], {"B": "false"})
    assert found.log_partition == pytest.approx(math.log(3))
    assert found.answers[0].probabilities.tolist() == [[0, 0], [1, 0]]
    with pytest.raises(lifagu.NoAnswerError, match="the evidence has probability zero"):
        ask(folder, [["A"]], {"B": "true"})
    assert ask(folder, [], {"A": "false"}).log_partition == pytest.approx(math.log(3))


def test_no_factors_at_all(folder):
    graph = lifagu.FactorGraph.build().variable("A").variable("B", ["x", "y", "z"]).graph()
    lifagu.write(graph, folder)
    found = ask(folder, [["B"]])
    assert found.log_partition == pytest.approx(math.log(6))
    assert found.answers[0]["z"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_in_folders(tmp_path, mistake):
    """What is refused in memory is refused here, in the same file."""
    tables, message = MISTAKES[mistake]
    make_folder(tmp_path, **tables)
    with pytest.raises(lifagu.LifaguError) as found:
        ask(tmp_path, [])
    assert found.value.exit_status == 2, found.value
    assert "\n" not in str(found.value)
    file = re.match(r"\w+\.parquet", message)
    assert (file[0] if file else message.partition("(")[0].partition("the argument")[0]) in str(
        found.value
    )


def test_floats_that_do_not_tell_ids_apart(tmp_path):
    """Neighbouring numbers beyond 2^53 are one as floats; such ids are refused as in memory."""
    high = 2**53 + 2
    make_folder(
        tmp_path,
        variables=f"SELECT CAST({high} AS DOUBLE) AS id",
        factors="SELECT 0 AS id, 0 AS table_id",
        arguments=f"SELECT 0 AS factor_id, 0 AS position, CAST({high} AS DOUBLE) AS variable_id",
        tables="SELECT 0 AS id, [1.0, 2.0] AS potentials",
    )
    for refuse in (lambda: lifagu.read(tmp_path), lambda: ask(tmp_path, [])):
        with pytest.raises(lifagu.FormatError, match=r"variables\.parquet: column id"):
            refuse()


def test_questions_that_make_no_sense(folder):
    lifagu.write(
        lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph(), folder
    )
    for questions, evidence, message in [
        ([["B"]], {}, "there is no variable 'B' in the model"),
        ([["A", "A"]], {}, "the question names 'A' twice"),
        ([["A"]], {"B": "true"}, "there is no variable 'B' in the model"),
        ([["A"]], {"A": "maybe"}, "variable 'A' has no value 'maybe'; its range is false, true"),
        ([["A"]], {"A": {"true": 1.0}}, "soft evidence for 'A' lacks a likelihood for false"),
        ([["A"]], {"A": {"true": 0.0, "false": 0.0}}, "soft evidence for 'A' has"),
    ]:
        with pytest.raises(lifagu.ModelError, match=message):
            ask(folder, questions, evidence)


# ---- sizes, limits, the command line


def closed_form(people):
    """log Σ over Epid of f0 · (Σ over Sick of (Σ f1) (Σ f2)²)^people, and Epid's log odds."""
    f0, f1, f2 = np.array([1, 3]), *(np.array(each).reshape(2, 2, 2) for each in TABLES)
    person = (f1.sum(axis=0) * f2.sum(axis=0) ** 2).sum(axis=0)
    with decimal.localcontext(prec=50):
        logs = [
            Decimal(int(own)).ln() + people * Decimal(int(each)).ln()
            for own, each in zip(f0, person, strict=True)
        ]
        odds = logs[1] - logs[0]
        return float(logs[0] + (1 + odds.exp()).ln()), float(odds)


TABLES = [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2]


def make_epidemic(folder, people):
    """The epidemic of the benchmarks, written by DuckDB row by row."""
    of_person = "1 + 4 * (range // 9) + [0, 2, 3][1 + (range // 3) % 3]"
    variable = f"CASE range % 3 WHEN 2 THEN 0 WHEN 1 THEN 2 + 4 * (range // 9) ELSE {of_person} END"
    return make_folder(
        folder,
        variables=f"SELECT range AS id FROM range({4 * people + 1})",
        factors=f"""
            SELECT range AS id,
                   CASE WHEN range = 0 THEN 0 WHEN range % 3 = 1 THEN 1 ELSE 2 END AS table_id
            FROM range({3 * people + 1})
        """,
        arguments=f"""
            SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id
            UNION ALL
            SELECT 1 + range // 3, range % 3, {variable}
            FROM range({9 * people})
        """,
        tables=f"""
            SELECT * FROM (
                VALUES (0, [1, 3]), (1, {TABLES[0]}), (2, {TABLES[1]})
            ) t(id, potentials)
        """,
        evidence=None,
    )


def test_a_million_arguments_under_a_memory_limit(folder, tmp_path):
    """Nine million bytes per column and more, in a tenth of what the graph needs in memory."""
    people = 115_000
    make_epidemic(folder, people)
    found = ask(folder, [["x0"]], limit=200 * 2**20)
    log_partition, odds = closed_form(people)
    assert found.log_partition == pytest.approx(log_partition, rel=1e-14)
    assert found.answers[0].log_probabilities[1] - found.answers[0].log_probabilities[
        0
    ] == pytest.approx(odds, rel=1e-12)


def test_a_lifted_model_that_is_too_large_is_refused(folder):
    """A clique of different tables: nothing is alike."""
    names = [f"V{number}" for number in range(300)]
    builder = lifagu.FactorGraph.build().variables(names)
    for number, (one, other) in enumerate(combinations(names, 2)):
        builder.factor(f"f{number}", [one, other], [1, 2, 3, 4 + number])
    lifagu.write(builder.graph(), folder)
    with pytest.raises(
        lifagu.TooLargeError,
        match=r"^the lifted model is too large: 90000 arguments do not look alike, and \d+ fit",
    ):
        ask(folder, [["V0"]], limit=200 * 2**20)


def test_the_command_line(folder, capsys):
    make_epidemic(folder, 50)
    log_partition, _ = closed_form(50)
    status, out, _ = run_cli(capsys, "logz", str(folder), "--on", "duckdb")
    assert (status, float(out)) == (0, pytest.approx(log_partition, rel=1e-14))
    probabilities = []
    for where in ("memory", "duckdb", "auto"):
        asked = ["query", str(folder), "x0", "x7", "--evidence", "x2=true", "--on", where, "--json"]
        status, out, err = run_cli(capsys, *asked)
        found = json.loads(out)
        why = "note: memory was chosen: 451 arguments need about 110 KiB, within the limit of "
        assert status == 0
        assert err.startswith(why) if where == "auto" else err == ""
        assert found["unknown"] == {"total": 0, "transferred": 0, "left": 0}
        probabilities.append([answer["probabilities"] for answer in found["answers"]])
    assert probabilities[2] == probabilities[0]
    np.testing.assert_allclose(probabilities[1], probabilities[0], rtol=1e-9)


def test_filled_and_asked_on_the_command_line(folder, tmp_path, capsys):
    """A hole is filled from its likes on the way or by itself; answers are as in memory."""
    builder = lifagu.FactorGraph.build().variable("H")
    for person in range(5):
        builder.variables([f"A{person}", f"B{person}"])
        builder.factor(f"f{person}", [f"A{person}", f"B{person}"], [1, 2, 3, 4] if person else None)
        builder.factor(f"g{person}", [f"B{person}", "H"], [1, 5, 2, 3])
    lifagu.write(builder.graph(), folder, {"B1": "true"})
    assert (
        run_cli(capsys, "lift", str(folder), "--on", "duckdb", "--out", str(tmp_path / "full"))[0]
        == 0
    )
    found = []
    for asked, where in ((folder, "duckdb"), (folder, "memory"), (tmp_path / "full", "duckdb")):
        _, out, err = run_cli(capsys, "query", str(asked), "H", "A0", "--on", where, "--json")
        assert err == ""
        found.append(json.loads(out))
        assert found[-1]["unknown"]["total"] == (asked is folder)
        assert [each["rests_on"] for each in found[-1]["answers"]] == [
            ["f0"] * (asked is folder)
        ] * 2
        np.testing.assert_allclose(
            *([a["probabilities"] for a in each["answers"]] for each in (found[0], found[-1]))
        )
    told = ["--evidence", "A0=true", "--fill", "lifagu"]
    status, _, err = run_cli(capsys, "query", str(folder), "H", "--on", "duckdb", *told)
    assert (status, err) == (
        3,
        "error: P(H) has no answer: f0 is unknown in the same connected part; give a table, "
        "or ask elsewhere\n",
    )


def test_auto_says_why_it_goes_elsewhere(folder, capsys):
    make_epidemic(folder, 40_000)
    status, out, err = run_cli(capsys, "logz", str(folder), "--memory-limit", "80M", "--explain")
    assert (status, float(out)) == (0, pytest.approx(closed_form(40_000)[0], rel=1e-14))
    assert err.startswith(
        "note: duckdb was chosen: 360001 arguments need about 85.8 MiB, beyond the limit "
        "of 80 MiB\n"
    )
    assert "lifted by duckdb: 160001 variables in 4 classes, 120001 factors in 3" in err


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (
            ["--on", "duckdb", "--engine", "bp"],
            2,
            "engine bp works in memory only, not on duckdb; leave it out, or take --on memory",
        ),
        (
            ["--on", "nowhere"],
            2,
            "'nowhere' is none of auto, memory, duckdb, spark and spark=MASTER",
        ),
        (["--on", "duckdb", "--evidence", "x1=no"], 2, "variable 'x1' has no value 'no'"),
    ],
)
def test_mistakes_on_the_command_line(folder, capsys, options, status, message):
    make_epidemic(folder, 2)
    found, _, err = run_cli(capsys, "query", str(folder), "x0", *options)
    assert found == status
    assert err.startswith("error: ")
    assert message in err


def test_files_stay_in_memory(capsys):
    model = str(ROOT / "examples/epidemic.json")
    status, _, err = run_cli(capsys, "query", model, "Epid", "--on", "duckdb")
    assert status == 2
    assert (
        "duckdb takes a folder of Parquet tables; make one with: lifagu convert MODEL big/" in err
    )
    assert run_cli(capsys, "logz", model, "--on", "auto")[0] == 0


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")
def test_spark(tmp_path, monkeypatch):
    """The same statements on Spark: all sorts of evidence, a range of three, an unknown factor."""
    builder = lifagu.FactorGraph.build().variable("H", ["lo", "mid", "hi"]).variables(["U", "W"])
    builder.factor("u", ["U"], None)
    for person in range(3):
        builder.variables([f"A{person}", f"B{person}"])
        builder.factor(f"f{person}", [f"A{person}", f"B{person}"], [1, 2, 3, 4])
        builder.factor(f"g{person}", [f"B{person}", "H"], [1, 5, 2, 3, 1, 1])
    graph = builder.graph()
    monkeypatch.setenv("SPARK_CONF_DIR", str(write_quick_settings(tmp_path / "conf")))
    lifagu.write(graph, tmp_path / "big", {"A0": "true"})
    found = ask(
        tmp_path / "big", [["H"], ["B1"]], {"B2": {"false": 1.0, "true": 3.0}}, on="spark=local[2]"
    )
    expected = lifagu.queries(
        graph, ["H", "B1"], evidence={"A0": "true", "B2": {"false": 1.0, "true": 3.0}}
    )
    for mine, theirs in zip(found.answers, expected, strict=True):
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9)
    assert found.log_partition is None
