"""What is typed: options before, between and after questions, help on its own, examples by name."""

import json

import pytest

import lifagu
from lifagu.cli.parser import COMMANDS, make_parser
from lifagu.questions.shipped import SHIPPED
from support.helpers import ROOT, run_cli

FLAGS = ["--evidence", "Epid=true"]


def test_options_may_stand_before_between_and_after_questions(capsys):
    asked = ["epidemic", "Sick.alice", "Sick.bob"]
    expected = run_cli(capsys, "query", *asked, *FLAGS)
    assert expected[0] == 0
    for place in range(len(asked) + 1):
        mixed = [*asked[:place], *FLAGS, *asked[place:]]
        assert run_cli(capsys, "query", *mixed) == expected
    assert run_cli(capsys, "query", *FLAGS, "--", *asked) == expected


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["query"], "arguments are required: MODEL (see"),
        (["query", "epidemic", "Epid", "--foo", "x"], "unrecognized arguments: --foo"),
        (["convert", "a.json"], "arguments are required: OUT"),
        (["demo", "nothing"], "invalid choice: 'nothing'"),
        (["examples", "factry"], "did you mean 'factory'"),
        (["query", "epidmic", "Epid"], "nor an example; did you mean 'epidemic'"),
        (
            ["query", "epidemic", "Sik", "--top", "2"],
            "no relation 'Sik' in the model; did you mean",
        ),
        (["query", "epidemic", "Ill", "--top", "2"], "which has Epid, Travel, Sick, Treat"),
        (["query", "epidemic", "Sick.bob", "--top", "2"], "--top is about a whole relation"),
        (["examples", "--out", "x"], "name the example to copy"),
    ],
)
def test_mistakes_are_told_as_before(capsys, typed, message):
    try:
        status, _, err = run_cli(capsys, *typed)
    except SystemExit as ended:
        status, err = ended.code, capsys.readouterr().err
    assert (status, err.count("\n")) == (2, 1)
    assert message in err


def test_nothing_typed_shows_what_there_is(capsys):
    status, out, err = run_cli(capsys)
    assert (status, err) == (0, "")
    assert all(command in out for command in COMMANDS)
    assert make_parser().parse_args(["demo"]).what == "hospital"


def test_examples_are_known_by_name_unless_something_has_that_name(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, example in SHIPPED.items():
        status, _, err = run_cli(capsys, "check", name)
        assert status == 0, err
        assert all((ROOT / "examples" / each).is_file() for each in example.files)
    assert lifagu.open("epidemic").ask("Epid")["true"] == pytest.approx(0.340698, abs=1e-6)
    with pytest.raises(lifagu.FormatError, match="there is no such file or folder"):
        lifagu.open("epidemik").ask("Epid")
    (tmp_path / "epidemic").mkdir()
    status, _, err = run_cli(capsys, "info", "epidemic")
    assert status == 2
    assert "epidemic: this is a folder without Parquet tables" in err


def test_examples_are_listed_and_copied_with_their_data(capsys, tmp_path):
    listed = json.loads(run_cli(capsys, "examples", "--json")[1])["examples"]
    text = run_cli(capsys, "examples")[1]
    for each in listed:
        assert each["about"] in text
        folder = tmp_path / each["name"]
        told = json.loads(run_cli(capsys, "examples", each["name"], "--out", folder, "--json")[1])
        assert sorted(path.name for path in folder.iterdir()) == sorted(each["files"])
        assert lifagu.open(told["model"]).model == lifagu.open(each["name"]).model
        status, _, err = run_cli(capsys, "examples", each["name"], "--out", folder)
        assert (status, "is there already" in err) == (2, True)
