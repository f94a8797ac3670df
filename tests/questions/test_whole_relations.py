"""Whole relations: every individual as if it were asked alone, ranked, and chosen by conditions."""

import csv
import json
import pickle
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.questions.whole_relations import Wanted, ask_all
from support.helpers import ROOT, run_cli

NAMES = ["m1", "m2", "m10", "Otto's press", 'say "hi"', "Bohrer, groß", "a;b=c", "m3", "m4"]
IN_HALLS = [name for place, name in enumerate(NAMES) if place % 3 < 2]
EXAMPLES = {  # model, who is added, what was observed, a relation
    "epidemic": ("epidemic.json", [("eve", "alice")], {"Travel.eve": "true"}, "Sick"),
    "wards": ("wards.json", [], {"Severe.p2": "true"}, "Recovers"),
    "clinic": ("clinic.json", [], {}, "Sick"),
    "smokers": ("smokers.json", [], {"Smokes(2)": "true"}, "Smokes"),
    "smokers ruth": ("smokers.json", [("ruth", "1")], {"Smokes(2)": "true"}, "Smokes"),
}


def case_of(name):
    model, added, seen, relation = EXAMPLES[name]
    case = lifagu.open(ROOT / "examples" / model)
    for pair in added:
        case = case.add(*pair)
    return case.observe(seen), relation


@pytest.fixture(scope="module")
def factory(tmp_path_factory):
    """A template over machines with odd names and gaps in SQLite."""
    folder = tmp_path_factory.mktemp("factory")
    database = sqlite3.connect(folder / "factory.sqlite")
    database.execute("CREATE TABLE machine (id TEXT PRIMARY KEY, hall TEXT, failed TEXT)")
    database.execute("CREATE TABLE sensor (id INTEGER PRIMARY KEY, machine TEXT, hot TEXT)")
    for place, name in enumerate(NAMES):
        hall, failed = ("A", "B", None)[place % 3], ("yes", "no", None)[place // 3]
        database.execute("INSERT INTO machine VALUES (?, ?, ?)", (name, hall, failed))
        hot = ("true", "false", None)[place % 3]
        database.execute("INSERT INTO sensor VALUES (?, ?, ?)", (place, name, hot))
    database.commit()
    database.close()
    template = {
        "format": "lifagu/1",
        "source": "factory.sqlite",
        "domains": {
            "Machine": {"sql": "SELECT id FROM machine ORDER BY id;"},
            "Sensor": {"sql": "SELECT id FROM sensor WHERE id > -1 UNION SELECT 0"},
            "Place": ["here"],
        },
        "relations": [
            {"name": "Season"},
            {"name": "Failed", "of": ["Machine"], "range": ["no", "yes"]},
            {"name": "Hot", "of": ["Sensor"]},
            {"name": "Dusty", "of": ["Place"]},
        ],
        "parfactors": [
            {"name": "f", "args": ["Failed(M)", "Season"], "table": [6, 3, 1, 2]},
            {"name": "d", "args": ["Dusty(P)", "Season"], "table": [6, 3, 1, 2]},
            {
                "name": "h",
                "args": ["Failed(M)", "Hot(S)"],
                "table": [3, 1, 1, 4],
                "rows": {"sql": "SELECT machine AS m, id AS s FROM sensor"},
            },
        ],
        "evidence": {
            "Failed": {"sql": "SELECT id, failed FROM machine"},
            "Hot": {"sql": "SELECT id, hot FROM sensor"},
        },
        "queries": ["Failed"],
    }
    path = folder / "factory.json"
    path.write_text(json.dumps(template))
    return path


@pytest.mark.parametrize("combine", ["average", "best"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_individual_is_answered_as_if_it_were_asked_alone(name, combine):
    case, relation = case_of(name)
    case = case.fill(combine=combine)
    found = ask_all(case, relation, Wanted(by_name=True))
    graph = case.graph
    kind = graph.kinds.index(relation)
    asked = [graph.variable_names[number] for number in np.flatnonzero(graph.variable_kind == kind)]
    assert list(found) == asked
    for place, variable in enumerate(asked):
        answer = case.ask(variable)
        own = [found[variable][label] for label in answer.ranges[0]]
        assert own == pytest.approx(answer.probabilities.tolist(), rel=1e-9)
        assert found.observed[place] == (variable in case.graph_evidence)


def test_many_individuals_are_answered_in_one_pass_as_few_are():
    builder = lifagu.FactorGraph.build().variable("Epid")
    for person in range(100):
        builder = builder.variable(f"Sick.{person}", kind="Sick", individual=str(person))
        table = [5, 2, 1 + person % 3, 4]
        builder = builder.factor(f"f{person}", [f"Sick.{person}", "Epid"], table)
    case = lifagu.open(builder.graph()).observe({"Sick.7": "true"})
    found = case.ask_all("Sick")
    for person in (0, 1, 2, 7, 99):
        alone = case.ask(f"Sick.{person}")["true"]
        assert found[f"Sick.{person}"]["true"] == pytest.approx(alone)
    best = case.ask_all("Sick", top=5)
    assert list(best) == ["Sick.7", "Sick.2", "Sick.5", "Sick.8", "Sick.11"]  # ties: as declared
    last = case.ask_all("Sick", top=2, value="false")
    assert list(last) == ["Sick.0", "Sick.3"]
    assert (last.value, last.total, len(last)) == ("false", 100, 2)
    assert pickle.loads(pickle.dumps(best)) == best


def test_individuals_without_names_answer_by_class_and_those_with_names_by_name():
    million = json.loads((ROOT / "examples/smokers.json").read_text())
    million["domains"]["Person"] = 10**6
    case = lifagu.open(lifagu.io.from_json(json.dumps(million))).observe({"Smokes(1..3)": "true"})
    found = case.ask_all("Smokes")
    assert [each.count for each in found.classes] == [3, 10**6 - 3]
    assert (found.count, found.observed.tolist()) == (10**6, [True, False])
    assert next(iter(found.values()))["true"] == 1
    with pytest.raises(lifagu.TooLargeError, match="ask about it with case.ask"):
        case.scenarios({"one more": {"Smokes(9)": "true"}}).ask_all("Smokes")
    named = json.loads((ROOT / "examples/smokers.json").read_text())
    named["domains"]["Person"] = ["al", "bo", "cy", "di"]
    for parfactor in named["parfactors"]:
        parfactor["where"] = [each for each in parfactor.get("where", []) if "!=" in str(each)]
    found = lifagu.open(lifagu.io.from_json(json.dumps(named))).ask_all("Smokes")
    assert list(found) == ["Smokes(al)", "Smokes(bo)", "Smokes(cy)", "Smokes(di)"]


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("hall = 'A'", ["m1", "Otto's press", "a;b=c"]),
        ("hall = 'A' OR hall = 'B' -- with a remark", IN_HALLS),
        ("hall IS NULL", ["m10", "Bohrer, groß", "m4"]),
        ("id IN (SELECT machine FROM sensor WHERE hot = 'true')", ["m1", "Otto's press", "a;b=c"]),
        ("id = 'Otto''s press' /* ; */", ["Otto's press"]),
        ("id = 'nobody'", []),
    ],
)
def test_conditions_choose_individuals_by_their_rows(factory, condition, names):
    case = lifagu.open(factory)
    every, found = case.ask_all("Failed"), case.ask_all("Failed", where=condition)
    assert len(every) == len(NAMES)
    graph = case.graph
    owners = {name: graph.variable(name).individuals[0] for name in every}
    assert sorted(owners[name] for name in found) == sorted(names)
    assert all(found[name] == pytest.approx(every[name]) for name in found)
    assert found.labels == every.labels


def test_domains_of_several_tables_know_conditions_about_their_own_columns(factory):
    case = lifagu.open(factory)
    assert len(case.ask_all("Hot", where="id < 3")) == 3
    added = case.add("new one", "m1")
    assert len(added.ask_all("Failed")) == len(NAMES) + 1
    assert len(added.ask_all("Failed", where="1 = 1")) == len(NAMES)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("hal = 'A'", "where hal = 'A': the query fails: no such column: hal"),
        ("1 = 1; DROP TABLE machine", "this is not one condition"),
        ("1 = 1) OR (1 = 1", "this is not one condition"),
        ("hall = 'A", "a quote is not closed"),
        ("(hall = 'A'", "a parenthesis is not closed"),
        (" -- nothing", "where needs a condition in SQL"),
        (7, "where is a condition in SQL, not 7"),
    ],
)
def test_wrong_conditions_are_refused_in_a_line_that_names_them(factory, condition, message):
    with pytest.raises(lifagu.LifaguError, match="(?s)" + message.replace("(", r"\(")) as error:
        lifagu.open(factory).ask_all("Failed", where=condition)
    assert "\n" not in str(error.value)


def test_what_cannot_be_asked_says_what_can(factory):
    case = lifagu.open(factory)
    refused = {
        "no relation 'Faild'": lambda: case.ask_all("Faild"),
        "'Season' is a single variable": lambda: case.ask_all("Season"),
        "case.ask_all": lambda: case.ask("Failed"),
        "not a label of Failed": lambda: case.ask_all("Failed", value="maybe"),
        "top is a whole number": lambda: case.ask_all("Failed", top=0),
        "listed in the file": lambda: case.ask_all("Dusty", where="1 = 1"),
    }
    for message, ask in refused.items():
        with pytest.raises(lifagu.ModelError, match=message):
            ask()
    assert case.ask("Season")["true"] > 0
    with pytest.raises(lifagu.NoAnswerError, match=r"P\(Sick\) has no answer"):
        lifagu.open(ROOT / "examples/epidemic.json").add("eve", "bob").unfilled().ask_all("Sick")


def test_notebooks_show_what_is_asked_what_is_compared_and_what_was_observed():
    case, relation = case_of("epidemic")
    shown = case.ask_all("Travel", top=3)._repr_html_()
    assert "Travel, 3 by P(false)" in shown
    for each in ("<th>P(true)</th>", "<th>P(false)</th>", "<td>observed</td>"):
        assert shown.count(each) == 1
    moved = case.scenarios({"back": {"Travel.bob": True}}).ask_all(relation, value=True)
    assert "<tr><th>P(true)</th><th>as it is</th><th>back</th><th>points</th></tr>" in (
        moved._repr_html_()
    )
    found = case.impute()
    assert found.marginals._repr_html_() in found._repr_html_()
    assert "lent to" in found._repr_html_()
    assert "lent to" not in lifagu.open("figure3").impute(["A"])._repr_html_()


def test_impute_asks_about_whole_relations(factory, capsys):
    case = lifagu.open(factory)
    every = case.ask_all("Failed")
    found = case.impute(["Season", "Failed", f"{next(iter(every))}"]).marginals
    assert list(found) == ["Season", *every]
    assert {name: found[name] for name in every} == dict(every)
    status, out, _ = run_cli(capsys, "impute", factory, "--queries", "Failed", "--json")
    assert (status, len(json.loads(out)["marginals"])) == (0, len(every))


def test_labels_are_taken_as_in_evidence():
    case, relation = case_of("epidemic")
    for value in (True, np.True_, "true"):
        found = case.ask_all(relation, top=2, value=value)
        assert found.value == "true"
        assert found.probabilities(value).tolist() == found.probabilities("true").tolist()
    with pytest.raises(lifagu.ModelError, match=r"^7 is not a label of Sick \(true, false\)$"):
        case.ask_all(relation, value=7)
    assert found.get("nobody") is None
    assert "nobody" not in found


def test_a_relation_in_the_place_of_a_variable_is_named_as_one(factory, capsys):
    case = lifagu.open(factory)
    for seen in ({"Failed": "yes"}, {"Hot": True}):
        message = (
            rf"'{next(iter(seen))}' is a whole relation; name one of its variables: \w+\(\w+\)"
        )
        with pytest.raises(lifagu.ModelError, match=message):
            case.observe(seen).ask("Season")
    _, _, err = run_cli(capsys, "query", factory, "Faild")
    assert err.strip().endswith("did you mean 'Failed'?")


def test_a_variable_with_the_name_of_its_kind_stays_a_variable():
    builder = lifagu.FactorGraph.build().variable("Epid", kind="Epid")
    case = lifagu.open(builder.factor("f", ["Epid"], [1, 3]).graph())
    assert case.ask("Epid")["true"] == 0.75


def test_the_command_line_shows_ranks_and_writes(factory, capsys, tmp_path):
    case = lifagu.open(factory)
    status, out, _ = run_cli(capsys, "query", factory, "Failed", "Season", "--json")
    told = json.loads(out)
    assert status == 0
    assert [each["query"] for each in told["answers"]] == [["Season"]]
    (relation,) = told["relations"]
    found = case.ask_all("Failed")
    assert {each["variable"]: each["probabilities"] for each in relation["individuals"]} == found
    status, out, _ = run_cli(capsys, "query", factory, "--top", "2", "--where", "failed IS NULL")
    assert "P(Failed): the first 2 of 3 by P(yes)" in out
    _, unobserved, _ = run_cli(capsys, "query", factory, "--top", "2", "--unobserved")
    assert unobserved == out
    for ending in ("csv", "csv.gz", "parquet"):
        path = tmp_path / f"found.{ending}"
        status, out, _ = run_cli(capsys, "query", factory, "Failed", "--out", path)
        assert (status, path.exists()) == (0, True)
    with (tmp_path / "found.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["variable"] for row in rows][::2] == list(found)
    refused = {
        "--top": ["Season", "--top", "2"],
        "--out": ["Failed", "Hot", "--out", "both.csv"],
        ".txt": ["Failed", "--out", "found.txt"],
        "--value": ["Failed", "--value", "yes"],
        "(no, yes)": ["Failed", "--top", "1", "--value", "maybe"],
        "--joint": ["Failed", "Hot", "--joint"],
    }
    for message, flags in refused.items():
        status, out, err = run_cli(capsys, "query", factory, *flags)
        assert (status, out, message in err) == (2, "", True), err
