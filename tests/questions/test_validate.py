"""Validation: scores by hand, predictions are answers, and nothing hidden that shows through."""

import csv
import json
import math
import os
import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest

import lifagu
from lifagu.basics.choices import RULES
from lifagu.data.templates import load_template
from lifagu.questions.validating.observed_cells import head_and_inside
from lifagu.questions.validating.scores import CellScores, calibration_error, reliability
from support.counted_clinic import GRADES, TEMPLATE, clinic, with_cells, with_records
from support.helpers import ROOT, mostly_full, run_cli
from support.naive import templates as naive
from support.small_hospital import KINDS, made, written


def wards(people=12, unknown=()):
    """Individuals with their own tables of two sorts, all under one shared variable."""
    tables = {"calm": [8, 2, 3, 7], "wild": [2, 8, 6, 4]}
    builder = lifagu.FactorGraph.build().variable("Epid").factor("season", ["Epid"], [3, 1])
    for number in range(people):
        name, sort = f"p{number}", ("calm", "wild", "calm")[number % 3]
        builder.variable(f"Sick.{name}", kind="Sick", individual=name)
        builder.variable(f"Test({name})", ["neg", "pos"], kind="Test", individual=name)
        table = None if name in unknown else tables[sort]
        builder.factor(f"f.{name}", [f"Sick.{name}", "Epid"], table)
        builder.factor(f"g.{name}", [f"Test({name})", f"Sick.{name}"], [9, 2, 1, 8])
    return builder.graph()


def seen(people=12):
    sick = {f"Sick.p{number}": ("true", "false")[number % 2] for number in range(0, people, 2)}
    return sick | {f"Test(p{number})": ("neg", "pos")[number % 3 == 0] for number in range(people)}


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def by_hand(rows):
    """Log loss, accuracy and calibration error from the rows of a cells file, in plain Python."""
    losses, rights, bins = [], [], {}
    for row in rows:
        given = json.loads(row["distribution"])
        clipped = {label: max(value, 1e-4) for label, value in given.items()}
        losses.append(-math.log(clipped[row["value"]] / sum(clipped.values())))
        best = max(given, key=given.get)
        rights.append(best == row["value"])
        bins.setdefault(min(int(given[best] * 15), 14), []).append((given[best], rights[-1]))
        assert float(row["probability"]) == given[row["value"]]
    off = sum(
        abs(sum(right for _, right in each) - sum(top for top, _ in each)) for each in bins.values()
    )
    return sum(losses) / len(rows), sum(rights) / len(rows), off / len(rows)


# ---- scores


def test_scores_of_three_cells_by_hand():
    given = np.array([[0.7, 0.3, 0.0], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6]])
    scores = CellScores.of(given, np.array([2, 2, 3]), np.array([0, 1, 2]))
    clipped = -math.log(1e-4 / (1 + 1e-4))
    assert scores.losses == pytest.approx([-math.log(0.7), clipped, -math.log(0.6)])
    assert scores.right.tolist() == [True, False, True]
    assert scores.log_loss.value == pytest.approx(sum(scores.losses) / 3)
    deviations = sum((each - scores.log_loss.value) ** 2 for each in scores.losses)
    assert scores.log_loss.error == pytest.approx(math.sqrt(deviations / 2 / 3))
    # bins 10, 14 and 9: alone in each
    assert calibration_error(scores.bins) == pytest.approx((0.3 + 1.0 + 0.4) / 3)


def test_bins_are_fifteen_of_equal_width():
    stated = np.array([0.0, 1 / 15 - 1e-9, 1 / 15 + 1e-9, 0.999, 1.0])
    bins = reliability(stated, np.array([True, False, True, True, False]))
    assert [each.many for each in bins] == [2, 1, 2]
    assert [each.right for each in bins] == [0.5, 1.0, 0.5]


@pytest.mark.parametrize(
    ("name", "parts"),
    {
        "Sick(eve)": ("Sick", "eve"),
        'Sick("a.b,c")': ("Sick", '"a.b,c"'),
        "Treat.eve.m1": ("Treat", "eve.m1"),
        "Epid": ("Epid", ""),
    }.items(),
)
def test_names_tell_relation_and_individual(name, parts):
    assert head_and_inside(name) == parts


# ---- predictions


@pytest.mark.parametrize("rule", RULES)
def test_predictions_are_answers_that_never_saw_the_cells(rule, tmp_path):
    graph, evidence = wards(7, unknown=("p5",)), seen(7)
    case = lifagu.open(graph).observe(evidence).fill(by=rule)
    found = case.validate(0.4, seed=3, fill=[rule])
    found.write_cells(tmp_path / "cells.csv")
    rows = rows_of(tmp_path / "cells.csv")
    name = {"Sick": "Sick.{}", "Test": "Test({})"}
    hidden = [name[row["relation"]].format(row["individual"]) for row in rows]
    left = {each: value for each, value in evidence.items() if each not in hidden}
    blind = lifagu.open(graph).observe(left).fill(by=rule)
    for row, variable in zip(rows, hidden, strict=True):
        answer = blind.ask(variable, engine="ground")
        labels = [label for (label,) in answer.values]
        given = dict(zip(labels, answer.probabilities, strict=True))
        assert json.loads(row["distribution"]) == pytest.approx(given, rel=1e-9)
        assert row["value"] == evidence[variable]
    scores = found.log_loss, found.accuracy, found.calibration_error
    assert scores == pytest.approx(by_hand(rows))


def test_the_baseline_is_what_is_not_hidden():
    evidence = seen()
    pairs = [("Sick", "p0"), ("Test", "p1"), ("Test", "p3")]
    found = lifagu.open(wards()).observe(evidence).validate(hidden=pairs)
    sick = Counter(value for name, value in evidence.items() if name[:4] == "Sick")
    sick[evidence["Sick.p0"]] -= 1
    tests = Counter(value for name, value in evidence.items() if name[:4] == "Test")
    tests.subtract([evidence["Test(p1)"], evidence["Test(p3)"]])
    assert sick == {"true": 5}  # nobody else was observed to be well, which is clipped
    wanted = [
        math.log(1 + 1e-4),
        *(-math.log(tests[evidence[f"Test({who})"]] / tests.total()) for who in ("p1", "p3")),
    ]
    facts = found.json()
    assert facts["baseline"]["log_loss"] == pytest.approx(sum(wanted) / 3)
    assert facts["relations"]["Test"]["baseline"]["log_loss"] == pytest.approx(sum(wanted[1:]) / 2)
    assert {name: each["hidden"] for name, each in facts["relations"].items()} == {
        "Sick": 1,
        "Test": 2,
    }
    assert facts["gain"]["log_loss"] == pytest.approx(
        facts["baseline"]["log_loss"] - facts["log_loss"]
    )


def test_cells_without_an_answer_are_scored_with_the_baseline():
    builder = lifagu.FactorGraph.build().variables(["A.x", "B.x", "A.y", "B.y"])
    graph = builder.factor("f", ["A.x", "B.x"], None).factor("g", ["A.y", "B.y"], [[1, 0], [0, 3]])
    graph = graph.factor("h", ["B.y"], [1, 2]).graph()  # nobody has the place of f
    case = lifagu.open(graph).observe({"A.x": "true", "A.y": "true"})
    found = case.validate(hidden=[("A", "x")])
    assert found.json()["unanswered"] == 1
    assert found.log_loss == found.json()["baseline"]["log_loss"]
    assert "1 cell had no answer" in found.notes[0]


# ---- counted tables


@pytest.mark.parametrize("seed", mostly_full(range(8), always=range(4)))
def test_counted_tables_without_hidden_records_are_those_of_null(seed, tmp_path, new_database):
    """Leaving out the records of hidden cells is as if the database had NULL there."""
    path = written(TEMPLATE, tmp_path)
    tables = clinic(seed)
    hidden = {("Sick", "p1"): None, ("Grade", "p2"): None, ("Effect", "m1,p0"): None}
    expected = lifagu.io.load(
        path, made("duckdb", with_cells(tables, hidden), tmp_path, "null")
    ).model
    numbers = {"Sick": [[1]], "Grade": [[2]], "Effect": [[0, 0]]}
    cells = {relation: np.array(rows) for relation, rows in numbers.items()}
    addresses = [made(kind, tables, tmp_path) for kind in KINDS]
    if seed == 0:
        addresses.append(naive.in_postgresql(tables, new_database()))
    for address in addresses:
        loaded = lifagu.io.load(path, address)
        again = load_template(loaded.template, loaded.source, hidden=cells)
        assert again.model == expected
        assert again.evidence == loaded.evidence


@pytest.mark.parametrize("kind", KINDS)
def test_validating_a_database_is_asking_one_with_null(kind, tmp_path):
    tables = clinic(5)
    path = written(TEMPLATE, tmp_path)
    case = lifagu.open(path, database=made(kind, tables, tmp_path))
    case.validate(0.3, seed=1).write_cells(tmp_path / "cells.csv")
    rows = rows_of(tmp_path / "cells.csv")
    hidden = {(row["relation"], row["individual"]): None for row in rows}
    assert {relation for relation, _ in hidden} == {"Sick", "Grade", "Effect"}
    blind = lifagu.open(path, database=made(kind, with_cells(tables, hidden), tmp_path, "null"))
    for row in rows:
        answer = blind.ask(f"{row['relation']}({row['individual']})")
        assert json.loads(row["distribution"]) == pytest.approx(
            {label: answer[label] for (label,) in answer.values}
        )


@pytest.mark.parametrize("rule", ["extended", "lifagu"])
def test_hidden_values_show_nowhere(rule, tmp_path, capsys):
    """Other values in hidden cells change what is compared, and not a byte of what is predicted."""
    path, tables = written(TEMPLATE, tmp_path), clinic(11, patients=30)
    first = made("sqlite", tables, tmp_path)
    out = tmp_path / "first.csv"
    options = ("validate", path, "--fill", rule, "--hide", "0.3", "--seed", "4", "--quiet")
    assert run_cli(capsys, *options, "--db", first, "--cells", out)[0] == 0
    rows = rows_of(out)
    turned = {"true": False, "false": True} | dict(
        zip(GRADES, GRADES[1:] + GRADES[:1], strict=True)
    )
    other = {(row["relation"], row["individual"]): turned[row["value"]] for row in rows}
    second = made("sqlite", with_cells(tables, other), tmp_path, "second")
    out = tmp_path / "second.csv"
    assert run_cli(capsys, *options, "--db", second, "--cells", out)[0] == 0
    kept = ("relation", "individual", "distribution")
    again = rows_of(out)
    assert [[row[key] for key in kept] for row in rows] == [
        [row[key] for key in kept] for row in again
    ]
    assert all(one["value"] != two["value"] for one, two in zip(rows, again, strict=True))


def test_what_a_table_may_have_seen_is_not_scored(tmp_path, capsys):
    path, tables = written(with_records("sick", "grade", "effect"), tmp_path), clinic(2)
    database = made("duckdb", tables, tmp_path)
    status, out, err = run_cli(capsys, "validate", path, "--db", database)
    assert (status, out) == (2, "")
    assert "Sick cannot be scored, as 'sick' is counted in records of the table that" in err
    path = written(with_records("effect"), tmp_path)
    found = lifagu.open(path, database=database).validate(0.5)
    assert list(found.relations) == ["Grade"]
    assert [note.partition(" cannot")[0] for note in found.notes] == ["Sick, Effect"]


# ---- what is hidden


def test_folds_hide_every_cell_once():
    case = lifagu.open(wards()).observe(seen())
    found = case.validate(folds=4, seed=9)
    assert sorted(found.hidden_cells.tolist()) == list(range(len(seen())))
    whole = case.validate(hide_individuals=1, folds=3)
    assert sorted(whole.hidden_cells.tolist()) == list(range(len(seen())))


def test_whole_individuals_are_hidden_with_all_their_cells():
    case = lifagu.open(wards()).observe(seen())
    found = case.validate(hide_individuals=3, seed=5)
    names = found.cells.individuals(found.hidden_cells)
    assert len(set(names)) == 3
    every = [head_and_inside(name)[1] for name in seen()]
    assert Counter(names) == {name: every.count(name) for name in names}
    only = case.validate(hide_individuals=3, seed=5, only=["Test"])
    assert list(only.relations) == ["Test"]
    shared = np.isin(found.hidden_cells, only.hidden_cells)
    # Sick stays hidden although it is not scored
    assert found.first.probabilities[shared].tolist() == only.first.probabilities.tolist()


def test_a_share_of_some_relations():
    found = lifagu.open(wards()).observe(seen()).validate(0.5, only=["Sick"])
    assert (found.hidden, list(found.relations)) == (3, ["Sick"])
    other = lifagu.open(wards()).observe(seen()).validate(0.5, only=["Sick"], seed=1)
    assert other.hidden_cells.tolist() != found.hidden_cells.tolist()


def test_cells_of_a_file(tmp_path):
    file = tmp_path / "hidden.csv"
    file.write_text("individual,relation,why\np1,Test,x\np0,Sick,\np1,Sick,not observed\n")
    case = lifagu.open(wards()).observe(seen())
    found = case.validate(hidden=file)
    assert found.cells.titles(found.hidden_cells) == ["Sick(p0)", "Test(p1)"]
    assert "1 cell of those to be hidden, such as Sick(p1), nobody observed" in found.notes[0]
    pairs = case.validate(hidden=[("Sick", "p0"), ("Test", "p1")])
    assert pairs.json() | {"notes": []} == found.json() | {"notes": []}


def test_relational_models_and_those_who_were_added(tmp_path):
    case = lifagu.open(ROOT / "examples/smokers.json").observe({"Smokes(1..3)": "true"})
    found = case.validate(hidden=[("Smokes", "2")])
    blind = lifagu.open(ROOT / "examples/smokers.json")
    blind = blind.observe({"Smokes(1)": "true", "Smokes(3)": "true"})
    assert found.first.probabilities[0] == pytest.approx(
        [blind.ask("Smokes(2)")[label] for label in ("false", "true")]
    )
    path = written(TEMPLATE, tmp_path)
    case = lifagu.open(path, database=made("duckdb", clinic(5), tmp_path)).add("new", "p0")
    case = case.observe({"Grade(new)": "high"})
    found = case.validate(hidden=[("Grade", "new")])
    assert found.cells.titles(found.hidden_cells) == ["Grade(new)"]


# ---- files, the command line, mistakes


def test_several_ways_side_by_side(tmp_path, capsys):
    case = lifagu.open(wards(30, unknown=("p4",))).observe(seen(30))
    model = tmp_path / "wards.json"
    case.write(model)
    options = ("--fill", "extended", "lifagu", "--cells", tmp_path / "cells.csv")
    status, text, err = run_cli(capsys, "validate", model, *options)
    assert (status, err) == (0, "")
    assert text.splitlines()[1].split() == [
        "relation",
        "hidden",
        "frequencies",
        "extended",
        "lifagu",
        "gain",
        "accuracy",
        "calibration",
    ]
    status, text, _ = run_cli(capsys, "validate", model, *options, "--json")
    facts = json.loads(text)
    assert list(facts["methods"]) == ["extended", "lifagu"]
    shared = [key for key in facts["methods"]["extended"] if key != "methods"]
    assert {key: facts[key] for key in shared} == facts["methods"]["extended"]
    assert Counter(row["method"] for row in rows_of(tmp_path / "cells.csv")) == {
        "extended": facts["hidden"],
        "lifagu": facts["hidden"],
    }


def test_interrupted_work_leaves_nothing(tmp_path, capsys, monkeypatch):
    def stopped(*_):
        yield ["Sick", "alice", "true", 1, "{}"]
        raise KeyboardInterrupt

    monkeypatch.setattr("lifagu.questions.validating.written_cells._cell_rows", stopped)
    (tmp_path / "cells.csv").write_text("kept")
    options = ("--evidence", "Sick.alice=true", "--hide", "0.5", "--cells", tmp_path / "cells.csv")
    status, out, err = run_cli(capsys, "validate", MODEL, *options)
    assert (status, out) == (130, "")
    assert "nothing was half-written" in err
    assert list(tmp_path.rglob("*")) == [tmp_path / "cells.csv"]
    assert (tmp_path / "cells.csv").read_text() == "kept"


def test_the_same_bytes_whatever_the_hash_seed(tmp_path):
    path = written(TEMPLATE, tmp_path)
    database = made("duckdb", clinic(3, patients=20), tmp_path)
    command = [sys.executable, "-m", "lifagu", "validate", str(path), "--db", database]
    found = set()
    for seed in ("1", "2"):
        ran = subprocess.run(
            [*command, "--json", "--cells", str(tmp_path / "cells.csv")],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        found.add((ran.stdout, (tmp_path / "cells.csv").read_bytes()))
    assert len(found) == 1


def test_folders_are_validated_in_memory_if_they_fit(tmp_path, capsys):
    folder = tmp_path / "big"
    lifagu.open(wards()).observe(seen()).write(folder)
    expected = lifagu.open(wards()).observe(seen()).validate().json()
    status, out, _ = run_cli(capsys, "validate", folder, "--on", "duckdb", "--json")
    assert status == 0
    assert json.loads(out) == expected
    status, out, err = run_cli(capsys, "validate", folder, "--memory-limit", "1k")
    assert (status, out) == (4, "")
    assert "hidden and predicted in memory" in err
    assert "raise --memory-limit" in err


MODEL = ROOT / "examples/epidemic.json"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing was observed, so that no cell can be hidden; observe something"),
        (["--hide", "1.5"], "'1.5' is not a share between 0 and 1"),
        (["--fill", "magic"], "invalid choice: 'magic'"),
        (["--fill", "auto", "--steps", "4"], "auto knows no steps; name the rule"),
        (["--evidence", "Epid=true", "--only", "Epd"], "did you mean 'Epid'"),
        (["--evidence", "Epid=true", "--folds", "2"], "there are 2 folds, but 1 cell to hide"),
        (
            ["--evidence", "Sick.alice=true", "--hide-individuals", "4"],
            "4 individuals are to be hidden, but 1 individual can be",
        ),
        (["--hide", "0.1", "--hidden", "x.csv"], "not allowed with"),
        (["--hidden", "no.csv"], "no.csv: there is no such file"),
        (["--cells", "nowhere/cells.csv"], "nowhere/cells.csv: there is no folder nowhere"),
        (["--cells", "cells.txt"], "cells.txt: hidden cells are written as .csv"),
        (["--on", "duckdb"], "takes a folder of Parquet tables"),
    ],
)
def test_mistakes_are_one_line(options, said, capsys):
    status, out, err = run_cli(capsys, "validate", MODEL, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("relation;individual\n", "has the columns relation and individual"),
        ("", "but this one has none"),
        ("relation,individual\nSik,alice\n", "a relation 'Sik', which is unknown; did you mean"),
        ("relation,individual\nSick,zoe\n", "none of the cells to be hidden was observed"),
    ],
)
def test_mistakes_in_files_of_cells(text, said, tmp_path, capsys):
    file = tmp_path / "hidden.csv"
    file.write_text(text)
    status, _, err = run_cli(
        capsys, "validate", MODEL, "--evidence", "Sick.alice=true", "--hidden", file
    )
    assert status == 2
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize(
    "settings",
    [
        {"hide": 0},
        {"hide": "much"},
        {"seed": -1},
        {"folds": 0},
        {"hide_individuals": 0},
        {"hidden": [("Sick",)]},
        {"hidden": 7},
        {"hidden": [("Sick", "p0")], "folds": 2},
        {"only": "Sick"},
        {"fill": "lifagu"},
        {"fill": ["magic"]},
        {"combine": "maybe"},
    ],
)
def test_wrong_values_are_refused(settings):
    with pytest.raises(lifagu.LifaguError) as error:
        lifagu.open(wards()).observe(seen()).validate(**settings)
    assert "\n" not in str(error.value)


def test_judgements_say_what_to_trust():
    """Test follows Sick closely; Coin follows nothing."""
    rng = np.random.default_rng(0)
    builder = lifagu.FactorGraph.build()
    evidence = {}
    for number, (sick, coin) in enumerate(product((0, 1), range(100))):
        for kind in ("Sick", "Test", "Coin"):
            builder.variable(f"{kind}(p{number})", kind=kind)
        builder.factor(f"f{number}", [f"Sick(p{number})", f"Test(p{number})"], [9, 1, 1, 9])
        builder.factor(f"g{number}", [f"Coin(p{number})"], [1, 1])
        labels = ("false", "true")
        evidence |= {
            f"Sick(p{number})": labels[sick],
            f"Test(p{number})": labels[sick ^ int(rng.random() < 0.1)],
            f"Coin(p{number})": labels[coin % 2],
        }
    found = lifagu.open(builder.graph()).observe(evidence).validate(folds=2)
    assert found.judgement() == "trust Sick and Test; Coin is a guess"
    assert found.json()["judgement"] == found.judgement()
