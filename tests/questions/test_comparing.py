"""Results compared: what changed, against the answers themselves, from values and from folders."""

import json

import pytest

import lifagu
from support.helpers import ROOT, run_cli

EPIDEMIC = ROOT / "examples/epidemic.json"


def case():
    return lifagu.open(EPIDEMIC).add("eve", like="alice")


def impute(**evidence):
    return case().observe(evidence).impute(list(case().graph.variable_names))


def total_variation(first, second):
    return sum(abs(first[label] - second[label]) for label in first) / 2


def test_changes_are_those_of_the_answers():
    before, after = case().marginals(), case().observe({"Travel.eve": "true"}).marginals()
    found = lifagu.compare(before, after, top=100)
    expected = {name: total_variation(before[name], after[name]) for name in before}
    assert {each.variable: each.distance for each in found.answers} == pytest.approx(
        {name: each for name, each in expected.items() if each > 1e-9}
    )
    assert [each.distance for each in found.answers] == sorted(expected.values(), reverse=True)[
        : found.changed
    ]
    assert found.compared == len(before)
    assert found.mean == pytest.approx(sum(expected.values()) / len(expected))
    assert found.largest == pytest.approx(max(expected.values()))
    tops = [(max(m[n], key=m[n].__getitem__)) for m in (before, after) for n in before]
    flipped = sum(a != b for a, b in zip(tops[: len(before)], tops[len(before) :], strict=True))
    assert found.flipped == flipped


def test_the_same_result_twice_has_no_changes():
    found = lifagu.compare(impute(), impute())
    assert (found.changed, found.flipped, found.largest) == (0, 0, 0.0)
    assert (found.answers, found.transfers, found.evidence, found.run) == ((), (), (), ())
    assert str(found).startswith("13 answers compared: 0 changed")


def test_what_is_new_and_what_is_gone():
    found = lifagu.compare(*map(case().impute, (["Sick.eve", "Epid"], ["Epid", "Sick.bob"])))
    assert (found.compared, found.new, found.gone) == (1, ("Sick.bob",), ("Sick.eve",))


def test_evidence_that_came_went_and_changed():
    found = lifagu.compare(
        impute(**{"Sick.eve": "true", "Epid": "true"}),
        impute(**{"Sick.eve": "false", "Sick.bob": {"true": 1, "false": 3}}),
        top=100,
    )
    said = {each.variable: (each.before, each.after) for each in found.evidence}
    assert said["Epid"] == ("true", None)
    assert said["Sick.eve"] == ("true", "false")
    assert said["Sick.bob"][0] is None
    assert found.evidence_count == 3
    sick = next(each for each in found.answers if each.variable == "Sick.eve")
    assert (sick.observed, sick.flipped) == (True, True)
    assert found.by_evidence == 3


def holes(rates):
    """Individuals of whom the last has a hole, and the others these tables."""
    builder = lifagu.FactorGraph.build()
    for number, rate in enumerate([*rates, None]):
        builder = builder.variable(f"Sick.p{number}", kind="Sick", individual=f"p{number}")
        builder = builder.factor(f"f.p{number}", [f"Sick.p{number}"], rate and [1, rate])
    return lifagu.open(builder.graph()).fill(by="extended")


def test_transfers_that_changed_and_the_answers_behind_them():
    ask = ["Sick.p4", "Sick.p1"]
    found = lifagu.compare(holes([2, 2, 5, 3]).impute(ask), holes([5, 2, 5, 3]).impute(ask), top=5)
    (change,) = found.transfers
    assert (change.factor, change.what) == ("f.p4", "table")
    assert change.before == change.after
    assert found.answers[0].variable == "Sick.p4"
    assert found.answers[0].own_tables == ("f.p4",)
    assert (found.changed, found.by_own_tables) == (1, 1)
    assert [each.what for each in found.run] == ["tables"]


def test_a_table_that_became_known_or_unknown():
    known = holes([2, 2]).model
    filled = lifagu.open(known).fill(by="extended").impute(["Sick.p2"])
    builder = lifagu.FactorGraph.build()
    for number, rate in enumerate([2, 2, 9]):
        builder = builder.variable(f"Sick.p{number}", kind="Sick", individual=f"p{number}")
        builder = builder.factor(f"f.p{number}", [f"Sick.p{number}"], [1, rate])
    given = lifagu.open(builder.graph()).fill(by="extended").impute(["Sick.p2"])
    found = lifagu.compare(filled, given)
    assert found.transfer_counts == {"no longer unknown": 1}
    assert found.transfers[0].after is None
    assert found.by_own_tables == 1
    assert lifagu.compare(given, filled).transfer_counts == {"became unknown": 1}


@pytest.mark.parametrize("name", ["result", "result.csv"])
def test_folders_say_what_values_say(tmp_path, name):
    seen = {"Treat.eve.m1": "true", "Sick.bob": {"false": 0.25, "true": 1.0}}
    cases = case(), case().observe(seen).fill(theta=0.5)
    asked = list(case().graph.variable_names)
    values = [each.impute(asked) for each in cases]
    for number, each in enumerate(cases):
        each.impute(asked, out=tmp_path / f"{number}{name}")
    found = lifagu.compare(*[tmp_path / f"{number}{name}" for number in range(2)], top=50)
    same = lifagu.compare(*values, top=50)
    assert found.answers == same.answers
    assert found.evidence == same.evidence
    assert [each.after for each in found.evidence if each.variable == "Sick.bob"] == ["[1.0, 0.25]"]
    assert found.transfers == same.transfers
    assert found.transfer_counts == same.transfer_counts
    assert {each.what for each in same.run} <= {each.what for each in found.run}
    assert {"filling by", "filling theta", "observed"} & {each.what for each in found.run}
    assert found.unknown == ()
    text = (tmp_path / f"0{name}/run.json").read_text()
    cases[0].impute(asked, out=tmp_path / f"0{name}")
    assert (tmp_path / f"0{name}/run.json").read_text() == text


def test_nothing_is_nothing_in_every_form(tmp_path):
    builder = lifagu.FactorGraph.build().range("r", ["a", "b", "c"])
    builder = builder.variable("A", "r").variable("B").factor("f", ["A"], None)
    builder = builder.factor("g", ["B"], [1, 2])
    open_ = lifagu.open(builder.graph())
    given = lifagu.open(builder.factor("h", ["B"], None).graph())
    open_.impute(["B"], out=tmp_path / "one")
    given.impute(["B"], out=tmp_path / "two.csv")
    found = lifagu.compare(tmp_path / "one", tmp_path / "two.csv")
    (change,) = found.transfers
    assert (change.factor, change.what) == ("h", "became unknown")
    assert found.transfer_counts == {"became unknown": 1}
    assert lifagu.compare(tmp_path / "one", open_.impute(["B"])).transfers == ()


def test_odd_names_and_labels_survive(tmp_path):
    builder = lifagu.FactorGraph.build().range("r", ["a, b", '"q"', "ü\n"])
    graph = builder.variable('x, "1"', "r").factor("f", ['x, "1"'], [1, 2, 3]).graph()
    one = lifagu.open(graph)
    for name in ("m.csv", "m"):
        one.impute(['x, "1"'], out=tmp_path / name)
        found = lifagu.compare(tmp_path / name, one.marginals())
        assert (found.compared, found.changed) == (1, 0)


def test_classes_of_relational_models_are_compared_by_name():
    smokers = lifagu.open(ROOT / "examples/smokers.json")
    before, after = smokers.marginals(), smokers.observe({"Smokes(2)": "true"}).marginals()
    found = lifagu.compare(before, after)
    assert found.compared == 0
    assert "listed by name" in str(found)
    found = lifagu.compare(before.expanded(), after.expanded(), top=100)
    assert found.answers[0].variable == "Smokes(2)"
    assert found.compared == len(before.expanded())


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("run.json", "[1]", "no run"),
        ("run.json", "{", "run.json:1: not JSON"),
        ("marginals.csv", "variable,value\nA,true\n", "no column 'probability'"),
        ("marginals.csv", "variable,value,probability\nA,true\n", "marginals.csv:2"),
        ("marginals.csv", "variable,value,probability\nA,true,x\n", "column of numbers"),
        ("marginals.csv", "variable,value,probability\nA,t,inf\n", "has the probability inf"),
        ("marginals.csv", "variable,value,probability\nA,t,-1\n", "has the probability -1"),
        ("marginals.csv", "variable,value,probability\nA,t,\n", "has the probability nan"),
        ("marginals.csv", "variable,value,probability\nA,t,1\nA,t,1\n", "two answers about 'A'"),
        ("marginals.parquet", "x", "marginals.parquet"),
    ],
)
def test_anything_else_is_refused_in_one_line(tmp_path, name, text, error):
    (tmp_path / "marginals.csv").write_text("variable,value,probability\nA,true,1\n")
    (tmp_path / name).write_text(text)
    with pytest.raises(lifagu.LifaguError, match=error) as refused:
        lifagu.compare(tmp_path, tmp_path)
    assert "\n" not in str(refused.value)


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(lifagu.ModelError, match="not int"):
        lifagu.compare(1, 2)
    with pytest.raises(lifagu.ModelError, match="not list"):
        lifagu.compare([], [])
    with pytest.raises(lifagu.FormatError, match="no such folder"):
        lifagu.compare(tmp_path / "none", tmp_path)
    with pytest.raises(lifagu.FormatError, match="no table 'marginals'"):
        lifagu.compare(tmp_path, tmp_path)


def test_changes_are_shown_in_words_in_notebooks_and_as_json():
    found = lifagu.compare(impute(), impute(**{"Epid": "true"}))
    assert repr(found).startswith("<Changes: ")
    assert "<table>" in found._repr_html_()
    values = json.loads(json.dumps(found.json(), allow_nan=False))
    assert values["evidence"] == [{"variable": "Epid", "before": None, "after": "true"}]
    assert str(found) == str(lifagu.compare(impute(), impute(**{"Epid": "true"})))
    assert lifagu.compare(impute(), impute(**{"Epid": "true"}), top=0).answers == ()


def test_a_file_is_refused_on_the_command_line(tmp_path, capsys):
    (tmp_path / "a.json").write_text("{}")
    status, out, err = run_cli(capsys, "compare", tmp_path / "a.json", tmp_path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "a.json: there is no such folder; results are compared that impute wrote" in err
