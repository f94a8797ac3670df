"""Scenarios: each says what the case says in which this was observed, beside the case as it is."""

import json

import pytest

import lifagu
from lifagu.cli import values
from lifagu.questions.scenarios import AS_IT_IS
from support.helpers import ROOT, run_cli

EPIDEMIC = ROOT / "examples/epidemic.json"
GIVEN = {"back": {"Travel.bob": "true"}, "unsure": {"Sick.alice": {"true": 3, "false": 1}}}


def test_each_scenario_is_the_case_in_which_it_was_observed():
    case = lifagu.open(EPIDEMIC).add("eve", "alice").observe({"Travel.eve": "true"})
    scenarios = case.scenarios(GIVEN)
    one, joint = scenarios.ask_each(["Sick.eve", ("Epid", "Sick.bob")])
    whole = scenarios.ask_all("Sick")
    best = scenarios.ask_all("Sick", top=2, value="true")
    assert list(one) == [AS_IT_IS, *GIVEN]
    for name, other in {AS_IT_IS: case, **{n: case.observe(s) for n, s in GIVEN.items()}}.items():
        assert one[name]["true"] == pytest.approx(other.ask("Sick.eve")["true"])
        pair = other.ask("Epid", "Sick.bob")
        assert joint[name].probabilities == pytest.approx(pair.probabilities)
        assert whole.probabilities(name) == pytest.approx(
            {each: other.ask(each)["false"] for each in ("Sick.alice", "Sick.bob", "Sick.eve")}
        )
        assert list(best[name]) == list(case.ask_all("Sick", top=2, value="true"))
    moved = one.differences("back")
    assert moved["true"] == pytest.approx(100 * (one["back"]["true"] - one[AS_IT_IS]["true"]))
    assert sum(moved.values()) == pytest.approx(0)
    assert len(joint.differences("back")) == 4


def test_wrong_scenarios_say_which_one():
    case = lifagu.open(EPIDEMIC)
    for given, message in {
        "in the scenario 'x'.*Trael": {"x": {"Trael.bob": "true"}},
        "in the scenario 'x'.*no value 'maybe'": {"x": {"Travel.bob": "maybe"}},
        "is no name of a scenario": {AS_IT_IS: {}},
        "scenarios are a mapping": {},
    }.items():
        with pytest.raises(lifagu.ModelError, match=given):
            case.scenarios(message).ask("Epid")


def test_scenarios_are_separated_by_semicolons_outside_of_quotes():
    read = values.scenario
    assert read("A=x; B(c,d)=y")[1] == {"A": "x", "B(c,d)": "y"}
    assert read('Likes("a;b",2)=true;C=d')[1] == {'Likes("a;b",2)': "true", "C": "d"}
    assert read('5"=wide;C=d')[1] == {'5"': "wide", "C": "d"}
    assert read('{"a;b": "x", "C": {"d": 1, "e": 2}}')[1] == {"a;b": "x", "C": {"d": 1, "e": 2}}
    for wrong in ("A", "A=x;", ";A=x", "A=x;A=y", "{}", '{"A"'):
        with pytest.raises(Exception, match=r"is not|says"):
            read(wrong)


def test_the_command_line_shows_them_side_by_side(capsys):
    flags = ["--scenario", "Travel.bob=true", "--scenario", "Travel.bob=true;Travel.alice=true"]
    status, out, _ = run_cli(capsys, "query", EPIDEMIC, "Epid", "Sick", *flags)
    assert status == 0
    assert "as it is  Travel.bob=true  points" in out
    assert "scenario 2: Travel.bob=true;Travel.alice=true" in out
    status, out, _ = run_cli(capsys, "query", EPIDEMIC, "Epid", "Sick", *flags, "--json")
    shown = json.loads(out)["scenarios"]
    case = lifagu.open(EPIDEMIC)
    assert [each["observed"] for each in shown] == [
        {},
        {"Travel.bob": "true"},
        {"Travel.bob": "true", "Travel.alice": "true"},
    ]
    for each in shown:
        (answer,), (relation,) = each["answers"], each["relations"]
        here = case.observe(each["observed"])
        assert answer["probabilities"] == here.ask("Epid").probabilities.tolist()
        found = {one["variable"]: one["probabilities"] for one in relation["individuals"]}
        assert found == here.ask_all("Sick")
        assert ("points" in answer) == bool(each["observed"])
    for wrong in (["--scenario", "a"], [*flags, "--out", "x.csv"], [*flags[:2], *flags[:2]]):
        status, out, err = run_cli(capsys, "query", EPIDEMIC, "Sick", *wrong)
        assert (status, out, err.startswith("error: ")) == (2, "", True)
