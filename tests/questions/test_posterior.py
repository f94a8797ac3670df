"""Answers by posterior, against all cohorts, all tables and all assignments listed one by one."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.errors import ModelError, NoAnswerError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.io import to_json
from lifagu.questions.posterior_model import posterior_model
from support.cohort_models import population
from support.crowds import Oddities, crowd
from support.helpers import mostly_full, run_cli
from support.naive.posterior import Impossible, JointOracle

CLOSE = {"abs": 1e-9, "rel": 1e-9}
SOURCE = Path(lifagu.__file__).parent.parent


def of_few_sorts(moved, many=2):
    """The same by the sorts of cohorts that count most, so that all combinations can be listed."""
    sorts = moved.posterior.cohorts
    weights = sorts.weights[:many] / sorts.weights[:many].sum()
    cohorts = replace(sorts, found=sorts.found[:many], weights=weights)
    return replace(moved, posterior=replace(moved.posterior, cohorts=cohorts))


def filled(graph, by="auto", **settings):
    moved = lifagu.transfer(graph, by=by, combine="average", **settings)
    return of_few_sorts(moved) if isinstance(moved, CohortTransfer) else moved


def evidence_for(graph, rng, hard=0.2, soft=0.15):
    """What was observed of some variables, labels and likelihoods."""
    seen = {}
    for variable in graph.variables:
        if rng.random() < hard:
            seen[variable.name] = str(rng.choice(variable.range))
        elif rng.random() < soft:
            likely = rng.choice([0.0, 0.3, 1.0, 2.5], len(variable.range))
            likely[int(rng.integers(len(likely)))] = 1.0
            seen[variable.name] = dict(zip(variable.range, likely.tolist(), strict=True))
    return seen


def refused(ask):
    """The one line with which a question is refused, or None and what came back."""
    try:
        return None, ask()
    except NoAnswerError as reason:
        said = str(reason)
    assert "\n" not in said
    return said, None


def check(moved, oracle, questions, seen, **how):
    """Every question is answered as the oracle does, or refused for the same reason."""
    for names in questions:
        reason, answer = refused(
            lambda names=names: lifagu.query(moved, *names, evidence=seen, **how)
        )
        try:
            wanted = oracle.answer(names, seen)
        except Impossible:
            assert reason is not None
            assert "probability zero" in reason
            continue
        if wanted is None:
            assert reason is not None
            assert "unknown" in reason
            continue
        assert reason is None, reason
        assert answer.probabilities.reshape(-1) == pytest.approx(wanted, **CLOSE), names


def check_whole(moved, oracle, seen):
    """log Z, a most probable assignment and all marginals, as the oracle has them."""
    reason, log_z = refused(lambda: lifagu.log_partition(moved, evidence=seen))
    unanswered = [piece for piece in oracle.pieces.values() if piece.unknown]
    if unanswered:
        assert "unknown" in reason
        return
    if oracle.log_total(seen) == -np.inf:
        assert "probability zero" in reason
        assert refused(lambda: lifagu.map_assignment(moved, evidence=seen))[0] is not None
        return
    assert log_z == pytest.approx(oracle.log_total(seen), **CLOSE)
    best = lifagu.map_assignment(moved, evidence=seen)
    assert list(best.assignment) == list(moved.original.variable_names)
    assert best.log_weight == pytest.approx(oracle.log_best(seen), **CLOSE)
    # it is really that likely, whatever else is as likely
    soft = {name: each for name, each in seen.items() if not isinstance(each, str)}
    fixed = {name: {value: 1.0} for name, value in best.assignment.items()}
    for name, likely in soft.items():
        fixed[name] = {best.assignment[name]: likely[best.assignment[name]]}
    assert oracle.log_best(fixed) == pytest.approx(best.log_weight, **CLOSE)
    found = lifagu.marginals(moved, evidence=seen)
    assert list(found) == list(moved.original.variable_names)
    for name in list(found)[::3]:
        assert list(found[name].values()) == pytest.approx(oracle.answer([name], seen), **CLOSE)


# ---- every oddity, and many together

CROWDS = {
    "exact tables": Oddities(),
    "three cohorts": Oddities(cohorts=3, people=8),
    "one cohort": Oddities(cohorts=1),
    "many holes": Oddities(hole=0.7, people=8),
    "zeros": Oddities(zeros=True, cohorts=3),
    "two holes in one place": Oddities(twice=True, hole=0.5),
    "arguments in other orders": Oddities(permuted=True, two_shared=True),
    "labels in other orders": Oddities(relabelled=True, permuted=True),
    "nobody declared": Oddities(declared=False),
    "two shared variables": Oddities(two_shared=True),
    "a hole without candidates": Oddities(no_candidate=True),
    "holes between two individuals": Oddities(between=True, people=6),
    "few records": Oddities(estimated=4, people=6),
    "records": Oddities(estimated=40, people=6, cohorts=3),
    "records of given combinations": Oddities(estimated=12, given=True, permuted=True, people=6),
    "records beside exact tables": Oddities(estimated=20, exact_too=True, people=6),
    "records, two holes in one place": Oddities(estimated=20, twice=True, people=5),
    "records, labels in other orders": Oddities(
        estimated=15, given=True, relabelled=True, people=6, two_shared=True
    ),
}


@pytest.mark.parametrize("rule", ["auto"])
@pytest.mark.parametrize("name", CROWDS)
@pytest.mark.parametrize("seed", mostly_full(range(2), always=[0]))
def test_answers_are_sums_over_everything_hidden(seed, name, rule):
    found, rng = crowd(seed, CROWDS[name]), np.random.default_rng(seed)
    moved = filled(found.graph, rule)
    if not isinstance(moved, CohortTransfer):
        assert all(record.unit != "cohort" for record in moved.record)
        return
    oracle = JointOracle(moved)
    joint = [("A.p0", "B.p0"), ("A.p1", "S", "B.p0")]
    for seen in ({}, evidence_for(found.graph, rng)):
        check(moved, oracle, [(each,) for each in found.names] + joint, seen)
        check_whole(moved, oracle, seen)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    rule=st.sampled_from(["auto"]),
    keep_known=st.booleans(),
    odd=st.builds(
        Oddities,
        people=st.integers(4, 6),
        cohorts=st.integers(1, 3),
        hole=st.sampled_from([0.15, 0.4, 0.7]),
        estimated=st.sampled_from([0, 0, 3, 25]),
        given=st.booleans(),
        exact_too=st.booleans(),
        zeros=st.booleans(),
        twice=st.booleans(),
        permuted=st.booleans(),
        relabelled=st.booleans(),
        declared=st.booleans(),
        two_shared=st.booleans(),
        no_candidate=st.booleans(),
        between=st.booleans(),
    ),
)
def test_whatever_is_odd_answers_are_sums(seed, rule, keep_known, odd):
    if not odd.declared:  # links would make one individual of all
        odd = replace(odd, no_candidate=False, between=False)
    found, rng = crowd(seed, odd), np.random.default_rng(seed)
    moved = filled(found.graph, rule, keep_known=keep_known)
    assume(isinstance(moved, CohortTransfer))
    # where one table stands behind several factors, test_steady_places.py asks Bayes' rule
    assume(not any(place.steady for place in moved.posterior.places.places))
    # where there are too many combinations, test_prior_of_tables.py asks for each by itself
    assume(not posterior_model(moved).single)
    assert all(record.reason for record in moved.record)
    oracle = JointOracle(moved)
    seen = evidence_for(found.graph, rng)
    check(moved, oracle, [("A.p0",), ("S",), ("B.p1", "A.p0")], seen)
    check_whole(moved, oracle, seen)


# ---- what is hidden

HOLES = ("fa.p0", "fc.p0", "fd.p0", "fa.p1", "fb.p2", "fc.p2")


@pytest.fixture(scope="module")
def people():
    return population(14, 4, unknown=0.0, holes=HOLES).graph


@pytest.fixture(scope="module")
def moved(people):
    return filled(people)


@pytest.mark.parametrize(
    "seen", [{}, {"B.p0": "mid", "C.p2": "z"}, {"A.p0": {"no": 0.1, "yes": 1}}]
)
def test_cohorts_and_tables_are_as_likely_as_the_oracle_says(moved, seen):
    joint, oracle = posterior_model(moved), JointOracle(moved)
    graph, names = joint.graph, moved.original.factor_names
    nodes = [("cohort", int(each)) for each in joint.cohorts.who]
    nodes += [("table", names[int(each)]) for each in joint.tables.who]
    assert set(nodes) == set(oracle.shares)
    from lifagu.inference.marginals import prepare_marginals

    found = prepare_marginals(graph, seen).run().solution.marginals
    variables = joint.first_variable + np.arange(len(nodes))
    flat = np.exp(found.in_a_row(variables, joint.hidden.offsets))
    for number, node in enumerate(nodes):
        own = flat[joint.hidden.offsets[number] : joint.hidden.offsets[number + 1]]
        assert own == pytest.approx(oracle.probabilities([node], seen), **CLOSE)


def test_a_single_hole_is_as_likely_as_its_share_where_its_owner_is_alone():
    """Tables fit the owner's known ones more or less well, which says nothing about them."""
    builder = lifagu.FactorGraph.build()
    for number in range(8):
        for kind in "XY":
            builder.variable(f"{kind}.{number}", kind=kind, individual=f"i{number}")
        builder.factor(f"u.{number}", [f"X.{number}"], [9, 1])
        table = None if number == 0 else [7, 1, 1, 1] if number % 2 else [1, 3, 3, 3]
        builder.factor(f"t.{number}", [f"X.{number}", f"Y.{number}"], table)
    moved = lifagu.transfer(builder.graph(), by="auto", combine="average")
    shares, tables = moved.joint.tables.shares, _shown_tables(moved.posterior.places.places)
    assert moved.record[0].share == pytest.approx(shares.max())
    # under each table by itself, beside [9, 1], and as often as its share says
    wanted = 0.0
    for share, table in zip(shares, tables, strict=True):
        no, yes = 9 * table[:2].sum(), table[2:].sum()
        wanted += share * no / (no + yes)
    assert lifagu.query(moved, "X.0")["false"] == pytest.approx(wanted, abs=1e-12)
    # a weight of its own would have counted the table that fits more often
    plain = 9 * (shares @ tables[:, :2].sum(axis=1))
    assert abs(plain / (plain + shares @ tables[:, 2:].sum(axis=1)) - wanted) > 1e-3


def _shown_tables(places):
    """The tables of the place that has a hole."""
    (place,) = (each for each in places if len(each.holes))
    return place.shown.tables


def test_observations_tell_which_table_it_is():
    """What somebody's own result says about the table by hand: Bayes, table by table."""
    builder = lifagu.FactorGraph.build()
    for number in range(12):
        builder.variable(f"X.{number}", ["a", "b"], kind="X", individual=f"i{number}")
        builder.variable(f"Y.{number}", ["c", "d"], kind="Y", individual=f"i{number}")
        table = [8, 1, 1, 2] if number % 2 else [1, 4, 6, 1]
        builder.factor(f"t.{number}", [f"X.{number}", f"Y.{number}"], None if not number else table)
    moved = lifagu.transfer(builder.graph(), by="auto", combine="average")
    tables, shares = _shown_tables(moved.posterior.places.places), moved.joint.tables.shares
    for seen, entries in (("a", (0, 1)), ("b", (2, 3))):
        weights = [share * own[list(entries)] for share, own in zip(shares, tables, strict=True)]
        wanted = sum(each[0] for each in weights) / sum(each.sum() for each in weights)
        found = lifagu.query(moved, "Y.0", evidence={"X.0": seen})["c"]
        assert found == pytest.approx(wanted, abs=1e-12)


def test_what_is_hidden_is_not_observed_nor_suggested(moved, people, tmp_path, capsys):
    names = posterior_model(moved).graph.variable_names
    hidden = names[len(people.variable_names)]
    assert hidden == "class of p0"
    table = next(name for name in names if name.startswith("table of "))
    for name in (hidden, table):
        assert lifagu.query(moved, name).probabilities.sum() == pytest.approx(1)
        with pytest.raises(ModelError, match="there is no variable"):
            lifagu.query(moved, "A.p0", evidence={name: "hidden 0"})
    path = tmp_path / "people.json"
    path.write_text(to_json(people))
    status, out, err = run_cli(capsys, "query", path, f"the {table}", "--fill", "auto")
    assert (status, out) == (2, "")
    assert f"'{table}'" not in err


def test_names_of_the_model_that_sound_hidden():
    """Variables, factors and labels that are called like what is hidden stay themselves."""
    builder = lifagu.FactorGraph.build()
    for number in range(8):
        name, labels = f"table of f{number}", ["hidden 1", "hidden 0"]
        builder.variable(name, labels, kind="A", individual=f"i{number}")
        for place, tables in ("f", ([1, 2], [3, 1])), ("hidden ", ([1, 5], [3, 1])):
            table = None if number < 1 else tables[number % 2]
            builder.factor(f"{place}{number}", [name], table)
    moved = filled(builder.graph())
    oracle = JointOracle(moved)
    names = posterior_model(moved).graph.variable_names
    assert len(set(names)) == len(names)
    assert names[8:][-2:] == ["hidden table of f0", "hidden table of hidden 0"]
    assert [names.find(name) for name in names] == list(range(len(names)))
    for seen in ({}, {"table of f0": {"hidden 0": 0.2, "hidden 1": 0.9}}):
        check(moved, oracle, [("table of f0",), ("table of f3",)], seen)
        check_whole(moved, oracle, seen)


# ---- engines


@pytest.mark.parametrize("engine", ["auto", "lifted", "ground"])
@pytest.mark.parametrize("name", ["exact tables", "zeros", "records", "two holes in one place"])
def test_every_engine_agrees(name, engine):
    found = crowd(4, replace(CROWDS[name], people=6, hole=0.25))
    moved = of_few_sorts(filled(found.graph), 1)
    oracle = JointOracle(moved)
    # one individual at a time, so that everything can be enumerated
    seen = {"S": "true", "B.p1": "high"}
    check(moved, oracle, [("A.p0",), ("B.p0",), ("A.p1",)], seen, engine=engine)
    check(moved, oracle, [("S",), ("A.p0", "A.p1")], {"B.p0": "high"}, engine=engine)
    assert lifagu.marginals(moved, evidence=seen, engine=engine)["A.p0"] == pytest.approx(
        dict(zip(["no", "yes"], oracle.answer(["A.p0"], seen), strict=True)), **CLOSE
    )


def test_belief_propagation_on_a_tree():
    """One hole for each owner leaves a tree a tree; there messages are exact."""
    builder = lifagu.FactorGraph.build().variable("E", kind="E").factor("season", ["E"], [3, 1])
    for number in range(10):
        builder.variable(f"X.{number}", kind="X", individual=f"i{number}")
        table = [4, 1, 1, 4] if number % 2 else [1, 5, 2, 1]
        builder.factor(f"t.{number}", ["E", f"X.{number}"], None if number < 2 else table)
    moved = lifagu.transfer(builder.graph(), by="auto", combine="average")
    oracle = JointOracle(moved)
    for seen in ({}, {"X.0": "true", "X.5": "false"}):
        for name in ("E", "X.0", "X.1"):
            answer = lifagu.query(moved, name, evidence=seen, engine="bp")
            assert answer.probabilities == pytest.approx(oracle.answer([name], seen), abs=1e-6)


# ---- holes without candidates, evidence that cannot be


def with_a_lonely_hole():
    """A hole that nobody can fill, connected to the first individual."""
    model = json.loads(to_json(population(14, 4, unknown=0.0, holes=HOLES).graph))
    model["variables"].append({"name": "Z", "kind": "Z", "individual": "p0"})
    model["factors"].append({"name": "lonely", "args": ["A.p0", "Z"], "table": None})
    return json.dumps(model)


def test_a_hole_without_candidates_is_named_and_others_are_answered(tmp_path, capsys):
    path = tmp_path / "lonely.json"
    path.write_text(with_a_lonely_hole())
    case = lifagu.open(path)
    oracle = JointOracle(of_few_sorts(case.transfer))
    everything = {"A.p0": "no", "Epid": "true"}
    assert oracle.answer(["B.p0"], everything) is not None
    for name in ("Epid", "B.p0", "Z"):
        with pytest.raises(NoAnswerError, match="lonely is unknown"):
            case.ask(name)
    assert case.observe({"A.p0": "no"}).ask("B.p0").rests_on == HOLES
    # through her cohort everything of p0 is connected, but others are not once Epid is known
    for name in ("A.p1", "C.p2"):
        assert case.observe({"Epid": "true"}).ask(name)
    with pytest.raises(NoAnswerError, match="lonely is unknown"):
        case.observe({"Epid": "true"}).ask("C.p0")
    found = case.observe({"Epid": "true"}).impute(["C.p0", "A.p1", "Epid"])
    assert list(found.marginals.names) == ["A.p1", "Epid"]
    assert list(found.marginals.unanswered) == ["C.p0"]
    status, out, err = run_cli(capsys, "impute", path, "--evidence", "Epid=true", "--json")
    assert status == 0, err
    assert {"A.p0", "B.p0", "C.p0", "Z"} <= set(json.loads(out)["left_out"])
    for verb in ("map", "logz"):
        status, out, err = run_cli(capsys, verb, path)
        assert (status, out) == (3, "")
        assert "lonely is unknown" in err
        assert err.count("\n") == 1


def test_cohorts_connect_what_an_answer_rests_on():
    """Two holes of one owner in parts of their own tell of each other through the cohort."""
    builder = lifagu.FactorGraph.build()
    for number in range(10):
        for kind, tables in ("X", ([7, 1], [1, 7])), ("Y", ([1, 9], [9, 1])):
            builder.variable(f"{kind}.{number}", kind=kind, individual=f"i{number}")
            table = None if number == 0 else tables[number % 2]
            builder.factor(f"{kind.lower()}.{number}", [f"{kind}.{number}"], table)
    case = lifagu.open(builder.graph())
    alone, told = case.ask("X.0"), case.observe({"Y.0": "true"}).ask("X.0")
    assert alone.rests_on == told.rests_on == ("x.0", "y.0")
    assert told["true"] < 0.3 < 0.45 < alone["true"] < 0.55
    assert case.observe({"Y.0": "true"}).impute(["X.0"]).marginals["X.0"]["true"] == told["true"]


def test_evidence_that_cannot_be(tmp_path, capsys):
    """Zeros that every table has make it impossible, in one line; zeros of some tell the others."""
    builder = lifagu.FactorGraph.build()
    for number in range(10):
        for kind in "XY":
            builder.variable(f"{kind}.{number}", kind=kind, individual=f"i{number}")
        table = [4, 0, 1, 0] if number % 2 else [2, 3, 1, 0]
        names = [f"X.{number}", f"Y.{number}"]
        builder.factor(f"t.{number}", names, None if number == 0 else table)
    path = tmp_path / "zeros.json"
    path.write_text(to_json(builder.graph()))
    case = lifagu.open(path)
    assert isinstance(case.transfer, CohortTransfer)
    possible = case.observe({"Y.0": "true"})
    assert possible.ask("X.0")["false"] == 1.0
    tables = posterior_model(case.transfer)
    assert len(tables.tables) == 1
    ask = ["--evidence", "X.0=true", "--evidence", "Y.0=true"]
    for verb in (["query", path, "X.0"], ["map", path], ["logz", path], ["marginals", path]):
        status, out, err = run_cli(capsys, *verb, *ask)
        assert (status, out) == (3, "")
        assert err.startswith("error: ")
        assert "probability zero" in err
        assert err.count("\n") == 1


# ---- every way in


def test_functions_case_and_command_line_say_the_same(people, tmp_path, capsys):
    path, seen = tmp_path / "people.json", {"B.p0": "mid", "C.p2": "z"}
    path.write_text(to_json(people))
    observed = [word for name in seen for word in ("--evidence", f"{name}={seen[name]}")]
    case = lifagu.open(path).observe(seen)
    assert case.filling.by == "auto"
    moved = case.transfer
    assert isinstance(moved, CohortTransfer)
    names = ["Epid", "A.p0", "C.p0"]
    wanted = [case.ask(name).probabilities.tolist() for name in names]
    again = lifagu.queries(moved, names, evidence=seen)
    together = [each.probabilities.tolist() for each in case.ask_each(names)]
    assert [each.probabilities.tolist() for each in again] == together
    for mine, theirs in zip(together, wanted, strict=True):
        assert mine == pytest.approx(theirs, **CLOSE)
    marginals = lifagu.marginals(moved, evidence=seen)
    assert [list(marginals[name].values()) for name in names] == [
        pytest.approx(each, **CLOSE) for each in wanted
    ]
    imputed = lifagu.impute(people, seen, names)
    assert imputed.way == "average"
    for name, each in zip(names, wanted, strict=True):
        assert list(imputed.marginals[name].values()) == pytest.approx(each, **CLOSE)
    status, out, err = run_cli(capsys, "query", path, *names, "--json", *observed)
    assert status == 0, err
    facts = json.loads(out)
    assert [each["probabilities"] for each in facts["answers"]] == together
    assert facts["log_partition"] == pytest.approx(lifagu.log_partition(moved, evidence=seen))
    assert facts["unknown"] == {"total": 6, "transferred": 6, "left": 0}
    joint = lifagu.query(moved, "A.p0", "C.p0", evidence=seen)
    status, out, _ = run_cli(capsys, "query", path, "A.p0", "C.p0", "--joint", "--json", *observed)
    assert (
        json.loads(out)["answers"][0]["probabilities"] == joint.probabilities.reshape(-1).tolist()
    )
    best = lifagu.map_assignment(moved, evidence=seen)
    status, out, _ = run_cli(capsys, "map", path, "--json", *observed)
    assert json.loads(out)["assignment"] == best.assignment
    assert json.loads(out)["log_weight"] == pytest.approx(best.log_weight)
    status, out, _ = run_cli(capsys, "logz", path, "--json", *observed)
    assert json.loads(out)["log_partition"] == pytest.approx(facts["log_partition"])
    status, out, _ = run_cli(capsys, "marginals", path, "--json", *observed)
    assert list(json.loads(out)["marginals"]) == list(people.variable_names)
    for name in names:
        assert json.loads(out)["marginals"][name] == pytest.approx(marginals[name])


def test_plans_and_refusals_name_what_is_hidden_in_words(tmp_path, capsys):
    graph = population(20, 5, unknown=0.4).graph
    path = tmp_path / "people.json"
    path.write_text(to_json(graph))
    told = run_cli(capsys, "query", path, "A.p0", "--explain", "--fill", "auto")
    assert told[0] == 0
    assert "hidden 0" not in told[1] + told[2]
    assert "class of p" in told[1] + told[2]
    status, _, err = run_cli(
        capsys, "map", path, "--memory-limit", "100", "--fill", "auto", "--engine", "ground"
    )
    assert status == 4
    assert "summing out " in err
    assert err.count("\n") == 1


def test_nobody_declared_the_owner_of_a_cohort():
    graph = population(12, 4, unknown=0.4, individuals=False).graph
    moved = lifagu.transfer(graph, by="auto", combine="average")
    names = list(posterior_model(moved).graph.variable_names)[len(graph.variable_names) :]
    assert any(name.startswith("class of the owner of f") for name in names)
    assert len(set(names)) == len(names)


# ---- nothing known, one of everything


def test_nothing_is_known_of_anybody():
    builder = lifagu.FactorGraph.build()
    for kind in "AB":
        builder.variable(f"{kind}.eve", kind=kind, individual="eve")
    graph = builder.factor("f", ["A.eve"], None).factor("g", ["A.eve", "B.eve"], None).graph()
    for by in ("auto",):
        case = lifagu.open(graph).fill(by=by)
        with pytest.raises(NoAnswerError, match="f, g are unknown"):
            case.ask("A.eve")
        with pytest.raises(NoAnswerError, match="f, g are unknown"):
            case.log_partition()
        assert len(case.marginals()) == 0
        assert [record.status for record in case.transfer.record] == ["no_candidate"] * 2


def test_an_individual_with_thirty_holes():
    """Too many combinations for the joint law: each table by itself is as likely as its share."""
    rng = np.random.default_rng(0)
    tables = rng.integers(1, 9, (30, 2, 4))
    builder = lifagu.FactorGraph.build()
    for number in range(9):
        builder.variable(f"A.{number}", kind="A", individual=f"i{number}")
        for place in range(30):
            builder.variable(f"P{place}.{number}", kind=f"P{place}", individual=f"i{number}")
            table = None if number == 0 else tables[place, number % 2].tolist()
            builder.factor(f"f{place}.{number}", [f"A.{number}", f"P{place}.{number}"], table)
    moved = filled(builder.graph())
    assert len(moved.joint.tables) == 30
    joint = posterior_model(moved)
    assert (len(joint.single), joint.gap <= 1e-9) == (31, True)
    answer = lifagu.query(moved, "A.0")
    assert answer.notes == (
        "class of i0, table of f0.0, table of f1.0 and 28 more have more than 4096 combinations: "
        "before anything is observed, each table is as likely as its share by itself, to 1e-09, "
        "and not jointly",
    )
    for number, record in enumerate(moved.record):
        found = lifagu.query(moved, f"table of f{number}.0").probabilities
        shares = joint.tables.shares[slice(*joint.tables.offsets[[number, number + 1]].tolist())]
        assert found == pytest.approx(shares, abs=1e-8)
        assert record.share == pytest.approx(shares.max())


def test_many_different_tables_in_a_place_are_summed_with_the_mean_of_the_rare_ones():
    """More tables than a hole tells apart: nothing is lost, and answers barely move."""
    rng = np.random.default_rng(3)
    tables = rng.integers(1, 1000, (40, 4))
    builder = lifagu.FactorGraph.build()
    for number in range(120):
        for kind in "XY":
            builder.variable(f"{kind}.{number}", kind=kind, individual=f"i{number}")
        table = None if number < 2 else tables[number % 40].tolist()
        builder.factor(f"t.{number}", [f"X.{number}", f"Y.{number}"], table)
    moved = filled(builder.graph())
    oracle = JointOracle(moved)
    for seen in ({}, {"X.0": "true"}, {"X.0": {"false": 0.1, "true": 2}, "Y.1": "true"}):
        for name in ("X.0", "Y.0", "X.1"):
            found = lifagu.query(moved, name, evidence=seen).probabilities
            assert found == pytest.approx(oracle.answer([name], seen), abs=2e-5)
    assert moved.joint.tables.shares.sum() == pytest.approx(2)


# ---- the same bytes


SCRIPT = """
import json, sys
import lifagu
case = lifagu.open(sys.argv[1]).observe({"B.p0": "mid", "C.p2": {"w": 1, "x": 2, "y": 0, "z": 1}})
for by in ("auto",):
    asked = case.fill(by=by)
    print(json.dumps(dict(asked.marginals())), asked.log_partition())
    print(asked.most_probable().assignment, [repr(each) for each in asked.transfer.record])
    print([each.probabilities.tolist() for each in asked.ask_each(["Epid", ("A.p0", "C.p0")])])
"""


def test_the_same_bytes_for_every_hash_seed_and_number_of_threads(tmp_path):
    graph = population(16, 4, unknown=0.3, records=25, twice=True).graph
    (tmp_path / "people.json").write_text(to_json(graph))
    told = set()
    for seed, threads in ("0", "1"), ("1", "2"), ("12345", "2"):
        more = {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "people.json")],
            env={**os.environ, **more, "PYTHONPATH": str(SOURCE)},
            capture_output=True,
            check=True,
        )
        told.add(ran.stdout)
    assert len(told) == 1


# ---- relational models, results elsewhere


def persons(holes):
    """Two sorts of persons under a season, as a relational model; holes: names of factors."""
    factors = []
    for number in range(12):
        sick, test = (([8, 2, 3, 7], [9, 1, 1, 9]), ([2, 8, 6, 4], [1, 2, 3, 1]))[number % 2]
        for name, other, table in (f"f{number}", "Epid", sick), (f"g{number}", "Test", test):
            other = other if other == "Epid" else f"Test(p{number})"
            known = None if name in holes else table
            factors.append({"name": name, "args": [f"Sick(p{number})", other], "table": known})
    model = {
        "format": "lifagu/1",
        "domains": {"Person": [f"p{number}" for number in range(12)]},
        "relations": [{"name": "Epid"}]
        + [{"name": name, "of": ["Person"]} for name in ("Sick", "Test")],
        "parfactors": [{"name": "season", "args": ["Epid"], "table": [3, 1]}],
        "factors": factors,
    }
    return json.dumps(model)


def test_a_relational_model_answers_by_class_where_all_agree_and_by_name_else(tmp_path, capsys):
    for holes, key in (("f0",), "classes"), (("f0", "g0"), "marginals"):
        path = tmp_path / "persons.json"
        path.write_text(persons(holes))
        status, out, err = run_cli(capsys, "marginals", path, "--json")
        assert status == 0, err
        assert key in json.loads(out)
        case = lifagu.open(path)
        assert isinstance(case.transfer, CohortTransfer) == (key == "marginals")
        if key == "marginals":
            oracle, found = JointOracle(case.transfer), json.loads(out)["marginals"]
            assert list(found) == list(case.graph.variable_names)
            for name in ("Sick(p0)", "Test(p0)", "Sick(p3)", "Epid"):
                wanted = oracle.answer([name], {})
                assert list(found[name].values()) == pytest.approx(wanted, **CLOSE)


def test_who_is_added_is_summed_over_and_told_by_her_own_result(tmp_path):
    path = tmp_path / "persons.json"
    path.write_text(persons(()))
    case = lifagu.open(path).add("eve", like="p3")
    assert {record.unit for record in case.transfer.record} == {"cohort"}
    oracle = JointOracle(case.transfer)
    for seen in ({}, {"Test(eve)": "true"}):
        answer = case.observe(seen).ask("Sick(eve)")
        assert answer.probabilities == pytest.approx(oracle.answer(["Sick(eve)"], seen), **CLOSE)


@pytest.mark.parametrize("options", [{"up_to_scale": True}, {"tolerance": 0.1}])
def test_other_settings_beside_the_default(options, tmp_path):
    path = tmp_path / "persons.json"
    path.write_text(persons(("f0", "g0")))
    seen = {"Test(p0)": "true", "Sick(p5)": "false"}
    case = lifagu.open(path).fill(**options).observe(seen)
    oracle = JointOracle(case.transfer)
    for name in ("Sick(p0)", "Epid"):
        assert case.ask(name).probabilities == pytest.approx(oracle.answer([name], seen), **CLOSE)


def test_results_in_a_folder(people, moved, tmp_path, capsys):
    (tmp_path / "people.json").write_text(to_json(people))
    seen, names = {"B.p0": "mid"}, ["A.p0", "Epid"]
    out = tmp_path / "results"
    status, _, err = run_cli(
        capsys, "impute", tmp_path / "people.json", "--queries", *names, "--out", out,
        "--evidence", "B.p0=mid",
    )  # fmt: skip
    assert status == 0, err
    import duckdb

    rows = duckdb.sql(f"SELECT * FROM '{out}/marginals.parquet'").fetchall()
    wanted = [
        probability
        for name in names
        for probability in lifagu.open(people).observe(seen).ask(name).probabilities.tolist()
    ]
    found = sorted(value for row in rows for value in row if isinstance(value, float))
    for probability in wanted:
        assert any(value == pytest.approx(probability, **CLOSE) for value in found)
