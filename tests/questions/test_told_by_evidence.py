"""How likely tables are once observations count, and which observation told it: by enumeration."""

import csv
import json

import duckdb
import numpy as np
import pytest

import lifagu
from lifagu.io import to_json
from lifagu.questions.posterior_model import posterior_model
from lifagu.questions.table_posteriors import table_posteriors
from lifagu.questions.told_by_evidence import told_table
from support.cohort_models import by_cohorts, population
from support.helpers import run_cli
from support.naive.inference import Elimination

STEADY, SHAKY = [0.9, 0.1, 0.7, 0.3], [0.2, 0.8, 0.1, 0.9]  # P(Test | Sick), and Epid apart
OWN = {"Test.eve": "yes", "Mood.eve": "bad"}
SEEN = OWN | {"Test.p1": "yes", "Test.p2": "yes"}


def clinic(*, open_mood=False):
    """Two sorts of people; whether eve's test is of one or the other, only her mood hints at."""
    builder = lifagu.FactorGraph.build().variable("Epid", kind="Epid")
    builder.factor("season", ["Epid"], [0.7, 0.3])
    for number in range(17):
        who = f"p{number}" if number else "eve"
        first = number % 3 > 0
        for kind, labels in {
            "Sick": ["no", "yes"],
            "Test": ["no", "yes"],
            "Mood": ["ok", "bad"],
        }.items():
            builder.variable(f"{kind}.{who}", labels, kind=kind, individual=who)
        builder.factor(f"falls.{who}", [f"Sick.{who}", "Epid"], [0.9, 0.4, 0.1, 0.6])
        mood = [0.8, 0.2, 0.6, 0.4] if first == (number % 5 > 0) else [0.5, 0.5, 0.1, 0.9]
        given = None if open_mood and not number else mood
        builder.factor(f"mood.{who}", [f"Sick.{who}", f"Mood.{who}"], given)
        test = (STEADY if first else SHAKY) if number else None
        builder.factor(f"test.{who}", [f"Sick.{who}", f"Test.{who}"], test)
    return builder.graph()


def model_of(graph, evidence):
    model = json.loads(to_json(graph))
    named, ranges = model.pop("tables", {}), model.pop("ranges", {})
    for variable in model["variables"]:
        if isinstance(variable.get("range"), str):
            variable["range"] = ranges[variable["range"]]
    for factor in model["factors"]:
        if isinstance(factor["table"], str):
            factor["table"] = named[factor["table"]]
    return {**model, "evidence": evidence}


def with_table(graph, name, table, whose=""):
    """The model as in a file with a table in a hole; only the factors of one, if wanted."""
    model = model_of(graph, {})
    for factor in model["factors"]:
        if factor["name"] == name:
            factor["table"] = list(table)
    if whose:
        model["factors"] = [each for each in model["factors"] if each["name"].endswith(whose)]
    return model


@pytest.fixture(scope="module")
def eve():
    """The model with one hole, filled by cohorts."""
    return lifagu.transfer(clinic(), by="auto")


def tables_and_shares(moved):
    """The tables that compete for eve's hole, and last what stands for one that nobody has."""
    competing = moved.record[0].competing
    found = [(each.share, np.array(each.table) / sum(each.table)) for each in competing]
    known = [moved.original.factor(f"test.p{number}").table.reshape(-1) for number in range(1, 17)]
    rest = 1 - sum(share for share, _ in found)
    assert 0 < rest < 1e-3
    return [*found, (rest, np.mean([each / each.sum() for each in known], axis=0))]


def by_hand(moved, evidence):
    """P(table | evidence) of eve's hole over its tables, in the order of the record's competitors.

    The share of a table counts by how likely it makes the evidence, wherever eve is alone before.
    """
    weights = []
    for share, table in tables_and_shares(moved):
        whole = {**with_table(moved.original, "test.eve", table), "evidence": evidence}
        alone = with_table(moved.original, "test.eve", table, ".eve")
        logs = Elimination(whole).log_total - Elimination(alone).log_total
        weights.append(share * np.exp(logs))
    return np.array(weights) / sum(weights)


# ---- how likely


@pytest.mark.parametrize("evidence", [{}, {"Test.eve": "yes"}, OWN, SEEN, {"Test.eve": "no"}])
def test_the_posterior_of_a_table_is_that_of_enumeration(eve, evidence):
    wanted = by_hand(eve, evidence)
    found = table_posteriors(eve, evidence)
    assert found == pytest.approx([wanted[0]], abs=1e-7)
    told = told_table(eve, "test.eve", evidence)
    assert told.table_before.share == eve.record[0].share
    assert told.table_before.donor == eve.record[0].donor
    assert told.table_after.share == pytest.approx(wanted.max(), abs=1e-7)
    has = eve.original.factor(told.table_after.donor).table.reshape(-1)
    assert has == pytest.approx(np.array(eve.record[0].competing[wanted.argmax()].table))


def test_a_test_moves_whom_she_is_like(eve):
    """What it cannot move stays as it was, and what it can is told."""
    before, after = (table_posteriors(eve, seen)[0] for seen in ({}, {"Test.eve": "yes"}))
    assert abs(before - after) > 0.05


@pytest.mark.parametrize("records", [None, 60])
@pytest.mark.parametrize("evidence", [{}, {"B.p0": "mid", "C.p2": "z"}, {"Epid": "true"}])
def test_several_holes_of_one_against_elimination(records, evidence):
    holes = ("fa.p0", "fc.p0", "fd.p0", "fa.p1", "fb.p2", "fc.p2")
    moved = by_cohorts(population(14, 4, unknown=0.0, records=records, holes=holes).graph)
    model = posterior_model(moved)
    found, oracle = table_posteriors(moved, evidence), Elimination(model_of(model.graph, evidence))
    for place, factor in enumerate(moved.unknown.tolist()):
        hole = int(np.flatnonzero(model.tables.who == factor)[0])
        here = slice(*model.tables.offsets[[hole, hole + 1]].tolist())
        shares, choices = model.tables.shares[here], model.tables.choices[here]
        number = moved.reasons.place_of(factor)
        after = oracle.marginal(
            model.graph.variable_names[model.first_variable + len(model.cohorts) + hole]
        )
        if records:  # atoms of the first sort of cohorts, which come first
            first = choices < len(moved.posterior.cohorts.found[0].places[number].atoms)
            shares, after = shares * first / shares[first].sum(), after * first / after[first].sum()
        best = int(shares[:-1].argmax()) if not records else int(shares.argmax())
        wanted = moved.shares[place] * after[best] / shares[best]
        assert found[place] == pytest.approx(wanted, abs=1e-7)
        assert 0 < found[place] <= 1


def test_where_observations_do_not_count_nothing_is_said(eve):
    moved = eve.answering("best")
    assert np.isnan(table_posteriors(moved, OWN)).all()
    assert told_table(moved, "test.eve", OWN) is None
    by_rule = lifagu.open(clinic()).observe(OWN).fill(by="extended").lift()
    assert [each.posterior for each in by_rule.record] == [None]
    assert by_rule.record[0] == by_rule.transfer.record[0]


def test_who_agrees_stays_as_sure_as_before():
    builder = lifagu.FactorGraph.build()
    for number in range(5):
        builder.variable(f"A{number}", kind="A", individual=f"p{number}")
        builder.factor(f"f{number}", [f"A{number}"], [1, 3] if number else None)
    builder.variable("B", kind="B").factor("g", ["B"], None)
    found = lifagu.open(builder.graph()).observe({"A0": "true"}).lift()
    assert [(each.share, each.posterior) for each in found.record] == [(1.0, 1.0), (None, None)]
    assert found.most_told(3) == []
    assert lifagu.open(builder.graph()).told("f0") is None


def test_impossible_evidence_tells_nothing():
    builder = lifagu.FactorGraph.build()
    for number in range(8):
        builder.variable(f"A{number}", kind="A", individual=f"p{number}")
        builder.variable(f"B{number}", kind="B", individual=f"p{number}")
        table = None if number == 0 else [1, 0, number % 2 + 1, 3]
        builder.factor(f"f{number}", [f"A{number}", f"B{number}"], table)
    moved, seen = lifagu.transfer(builder.graph(), by="auto"), {"A0": "false", "B0": "true"}
    assert np.isnan(table_posteriors(moved, seen)).all()
    assert told_table(moved, "f0", seen) is None


# ---- which observation did it


def divergence(true, other):
    return float((true * np.log(true / other)).sum())


def test_what_told_most_is_what_is_missed_most(eve):
    """Leaving each own observation out in turn, and those of all others together."""
    after = by_hand(eve, SEEN)
    left = {name: {each: SEEN[each] for each in SEEN if each != name} for name in OWN}
    left[None] = OWN
    missed = {name: divergence(after, by_hand(eve, seen)) for name, seen in left.items()}
    most = max(missed, key=missed.get)
    told = told_table(eve, "test.eve", SEEN).told_by
    assert told.variable == most == "Test.eve"
    assert told.value == "yes"
    assert told.nats == pytest.approx(missed[most], abs=1e-6)
    best = int(after.argmax())
    assert told.before == pytest.approx(by_hand(eve, left[most])[best], abs=1e-6)
    assert told.after == pytest.approx(after[best], abs=1e-6)


def test_what_was_observed_of_others_is_left_out_together(eve):
    """Her own test, if all others' say that there is an epidemic, or nothing of her own at all."""
    others = {f"Test.p{number}": "yes" for number in range(1, 17)}
    seen = {"Sick.eve": {"no": 0.5, "yes": 0.6}, "Test.eve": "yes", **others}
    after = by_hand(eve, seen)
    left = {
        name: {each: seen[each] for each in seen if each != name}
        for name in ("Sick.eve", "Test.eve")
    }
    left[None] = {name: seen[name] for name in left}
    missed = {name: divergence(after, by_hand(eve, each)) for name, each in left.items()}
    told = told_table(eve, "test.eve", seen).told_by
    assert told.variable == max(missed, key=missed.get)
    assert told.nats == pytest.approx(max(missed.values()), abs=1e-6)
    assert told_table(eve, "test.eve", others).told_by is None  # without her test they say nothing


def test_unsure_observations_are_left_out_too(eve):
    told = told_table(eve, "test.eve", {"Test.eve": {"no": 0.1, "yes": 0.9}})
    assert str(told.told_by) == "Test.eve=unsure"


def test_the_cohort_by_the_table_alone_is_that_of_bayes_rule(eve):
    """A cohort that is no variable: P(cohort | e) = Σ P(table | e) P(cohort | table)."""
    told = told_table(eve, "test.eve", OWN)
    posterior, reasons = eve.posterior, eve.reasons
    found = posterior.cohorts.found[reasons.sort]
    kind = posterior.kind_of[posterior.places.owners[eve.unknown]]
    own = posterior.belonging[reasons.sort][kind][0]
    assert told.cohort_before.share == pytest.approx(own.max())
    assert told.cohorts == len(found.prior)
    # over all sorts of cohorts, as the evidence tells of tables and by them of cohorts
    first = sum(len(each.prior) for each in posterior.cohorts.found[: reasons.sort])
    shares = posterior.shares(kind)[0]
    number = reasons.place_of(int(eve.unknown[0]))
    given = np.vstack([each.places[number].choices for each in posterior.cohorts.found])
    joint = shares[:, None] * given
    tables = posterior.places.places[number].shown.tables  # the last one is what nobody has
    after = np.zeros(len(tables))
    for (_, table), chance in zip(tables_and_shares(eve), by_hand(eve, OWN), strict=True):
        after[int(np.abs(tables - table).sum(axis=1).argmin())] = chance
    wanted = (joint / joint.sum(axis=0) * after).sum(axis=1)[first : first + len(own)]
    assert told.cohort_after.share == pytest.approx((wanted / wanted.sum()).max(), abs=1e-6)


def test_a_hidden_cohort_is_told_by_all_its_holes():
    moved = lifagu.transfer(clinic(open_mood=True), by="auto")
    model = posterior_model(moved)
    assert len(model.cohorts) == 1
    oracle = Elimination(model_of(model.graph, OWN))
    found = oracle.marginal(model.graph.variable_names[model.first_variable])
    counts = [len(each.prior) for each in moved.posterior.cohorts.found]
    first = sum(counts[: moved.reasons.sort])
    own = (model.cohorts.choices >= first) & (
        model.cohorts.choices < first + counts[moved.reasons.sort]
    )
    for factor in ("test.eve", "mood.eve"):
        told = told_table(moved, factor, OWN)
        assert told.cohort_after.share == pytest.approx(found[own].max() / found[own].sum())


# ---- as it is shown


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("told") / "clinic.json"
    file.write_text(to_json(clinic(open_mood=True)))
    return file


SAID = [part for name, value in OWN.items() for part in ("--evidence", f"{name}={value}")]


def test_results_in_json_and_files_have_it(path, capsys, tmp_path):
    case = lifagu.open(path).observe(OWN)
    wanted = table_posteriors(case.transfer, OWN)
    status, out, _ = run_cli(capsys, "lift", path, "--json", "--explain", *SAID)
    found = json.loads(out)
    assert status == 0
    assert [each["posterior"] for each in found["transfers"]] == pytest.approx(wanted)
    assert found["told"] == [each.as_dict() for each in case.lift().most_told(3)]
    (told,) = found["told"]  # one of the two holes of eve
    assert told["owner"] == "eve"
    assert set(told["told_by"]) == {"variable", "value", "before", "after", "nats"}
    assert set(told["table"]) == set(told["cohort"]) == {"before", "after"}
    assert told["table"]["after"]["share"] >= told["told_by"]["after"] - 1e-9
    assert run_cli(capsys, "impute", path, "--out", tmp_path / "out.csv", *SAID)[0] == 0
    with (tmp_path / "out.csv/transfers.csv").open(newline="") as file:
        rows = [float(row["posterior"]) for row in csv.DictReader(file)]
    assert rows == pytest.approx(wanted)
    case.lift(tmp_path / "folder")
    rows = duckdb.sql(f"SELECT posterior FROM '{tmp_path}/folder/transfers.parquet'").fetchall()
    assert [each for (each,) in rows] == pytest.approx(wanted)


def test_a_named_rule_has_null(path, capsys):
    _, out, _ = run_cli(capsys, "lift", path, "--json", "--fill", "extended", *SAID)
    assert [each["posterior"] for each in json.loads(out)["transfers"]] == [None, None]
    _, out, _ = run_cli(capsys, "lift", path, "--json", "--explain", "--theta", "0", *SAID)
    assert json.loads(out)["told"] == []


def test_words_name_the_observation(path, capsys):
    told = lifagu.open(path).observe(OWN).told("test.eve")
    assert "eve was most like" in str(told)
    assert f"{told.told_by} told most: without it" in str(told)
    _, _, err = run_cli(capsys, "query", path, "Sick.eve", "--explain", *SAID)
    assert f"{told.told_by} told most" in err
    _, out, _ = run_cli(capsys, "lift", path, "--explain", *SAID)
    assert "what observations tell about holes, where it is most:" in out
    nothing = lifagu.open(path).told("test.eve")
    assert str(nothing) == "nothing that was observed tells more about it"


# ---- which way holes were filled


def test_answers_and_plans_say_which_way_holes_were_filled(path, capsys):
    status, out, err = run_cli(capsys, "query", path, "Sick.eve", "--explain")
    assert status == 0
    assert "2 tables: 2 by cohorts, summed over" in err
    assert "rests on 2 transferred tables (2 by cohorts, summed over), weakest share" in out
    case = lifagu.open(path)
    assert case.ask("Sick.eve").by_cohorts == 2
    assert "2 by cohorts, the likeliest each" in case.fill(combine="best").filled_by
    assert case.fill(by="extended").filled_by == ""
    assert case.fill(by="extended").ask("Sick.eve").by_cohorts == 0
    for verb in ("marginals", "map", "logz"):
        _, _, err = run_cli(capsys, verb, path, "--explain")
        assert "2 tables: 2 by cohorts, summed over" in err


def test_who_agrees_is_counted_beside_cohorts():
    graph = clinic(open_mood=True)
    builder = lifagu.FactorGraph.build()
    for number in range(4):
        builder.variable(f"X{number}", kind="X").factor(
            f"x{number}", [f"X{number}"], None if number == 0 else [1, 2]
        )
    both = json.loads(to_json(graph))
    more = json.loads(to_json(builder.graph()))
    tables = {f"more {name}": each for name, each in more.get("tables", {}).items()}
    for factor in more["factors"]:
        if isinstance(factor["table"], str):
            factor["table"] = f"more {factor['table']}"
    both["variables"] += more["variables"]
    both["factors"] += more["factors"]
    both["tables"] = both.get("tables", {}) | tables
    case = lifagu.open(lifagu.io.from_json(json.dumps(both)))
    assert case.filled_by == "3 tables: 1 all agree, 2 by cohorts, summed over"
