"""Reasons for answers: what an observation told is what changes when nobody makes it."""

import json

import pytest

import lifagu
from support.helpers import ROOT, run_cli

FACTORY = ROOT / "examples" / "factory.json"
SMALL = {
    "format": "lifagu/1",
    "variables": [{"name": name} for name in "ABCD"],
    "factors": [
        {"name": "ab", "args": ["A", "B"], "table": [[3, 1], [1, 3]]},
        {"name": "bc", "args": ["B", "C"], "table": [[4, 1], [1, 2]]},
        {"name": "cd", "args": ["C", "D"], "table": [[2, 1], [1, 5]]},
    ],
    "evidence": {"A": "true", "D": "true"},
}


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    return lifagu.open(path)


def test_what_an_observation_told_is_what_changes_without_it(small):
    """Those beside the variable, and beside what is unknown beside it."""
    found = small.why("B")
    assert found.probability == pytest.approx(float(small.ask("B").probabilities.max()))
    top = list(small.ask("B").probabilities).index(found.probability)
    without = {
        "A": small.forget().observe({"D": "true"}).ask("B").probabilities[top],
        "D": small.forget().observe({"A": "true"}).ask("B").probabilities[top],
    }
    assert {each.variable: each.without for each in found.observations} == pytest.approx(without)
    first = found.observations[0]
    assert abs(first.without - found.probability) == max(
        abs(value - found.probability) for value in without.values()
    )


def test_reasons_name_groups_and_records():
    case = lifagu.open(FACTORY)
    found = case.why("Vibration(m150)")
    told = {each.table: each for each in found.tables}
    assert set(told) == {"wear", "failure", "floor"}
    assert told["floor"].group.startswith("hall ")
    assert 0 < told["floor"].records < told["wear"].records
    assert [each.records for each in found.tables] == sorted(each.records for each in found.tables)


def test_what_was_observed_needs_no_reasons(small):
    assert small.why("A").observations == ()


def test_conditions_are_left_out_as_well(tmp_path):
    """A relation that only tells about others is observed or not."""
    template = json.loads(FACTORY.read_text())
    template["source"]["files"]["machines"] = str(ROOT / "examples" / "factory_machines.csv")
    template["queries"] = ["Failed"]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(template))
    case = lifagu.open(path).observe({"Vibration(m150)": 5.2})
    told = {each.variable: each for each in case.why("Failed(m150)").observations}
    seen = {name: value for name, value in case.evidence.items() if name != "Age(m150)"}
    without = case.forget().observe(seen).ask("Failed(m150)").probabilities
    top = case.ask("Failed(m150)").probabilities.argmax()
    assert told["Age(m150)"].without == pytest.approx(float(without[top]))
    assert told["Age(m150)"].without != pytest.approx(case.why("Failed(m150)").probability)


def test_names_that_are_none_are_said(small):
    with pytest.raises(lifagu.ModelError, match="no variable 'E'"):
        small.why("E")
    with pytest.raises(lifagu.ModelError, match="names are non-empty texts"):
        small.why(5)


def test_the_command_line_tells_reasons(capsys):
    status, out, err = run_cli(capsys, "query", str(FACTORY), "Failed(m150)", "--explain")
    assert status == 0
    assert "why Failed(m150) is" in err
    assert "why" not in out
    status, out, _ = run_cli(
        capsys, "query", str(FACTORY), "Failed(m150)", "--explain", "--json", "--quiet"
    )
    (why,) = json.loads(out)["why"]
    assert why["variable"] == "Failed(m150)"
    assert {each["table"] for each in why["tables"]} >= {"failure", "age"}


def test_of_many_answers_the_first_are_explained(capsys):
    names = [f"Failed(m{number})" for number in range(140, 150)]
    status, out, _ = run_cli(
        capsys, "query", str(FACTORY), *names, "--explain", "--json", "--quiet"
    )
    assert status == 0
    assert [each["variable"] for each in json.loads(out)["why"]] == names[:3]


def test_strangers_behind_a_hub_are_not_near():
    """Nobody's reasons are what was observed of somebody else of the same epidemic."""
    build = lifagu.FactorGraph.build().variable("Epid")
    for each in range(60):
        build = build.variables([f"Sick.{each}", f"Age.{each}"])
    risks = {f"r.{each}": [f"Sick.{each}", f"Age.{each}", "Epid"] for each in range(60)}
    case = lifagu.open(build.factors(risks, [4, 1, 1, 3, 2, 5, 1, 1]).graph())
    case = case.observe({f"Age.{each}": "true" for each in range(60)})
    assert [each.variable for each in case.why("Sick.7").observations] == ["Age.7"]
