"""What is typed: options before, between and after questions, help on its own, examples by name."""

import argparse
import contextlib
import json
import re

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


def commands(parser, words=()):
    """The parser of each command, with what is typed to come to it."""
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield list(words), parser
    for each in below:
        for name, one in each.choices.items():
            yield from commands(one, (*words, name))


# two values, of which an option takes the first that fit
TRIED = [("a", "b"), ("100", "200"), ("0.1", "0.2"), ("a=1", "b=2"), ("t.a=b", "t.b=c")]
TRIED.append(("memory", "auto"))


def typed_with(parser, action, values):
    """What is typed so that an option stands there once for each value."""
    words, option = [], action.option_strings[-1]
    for each in parser._actions:
        if each is not action and (each.required or not each.option_strings):
            own = [] if each.nargs == "*" else [next(iter(each.choices or ["x"]))]
            words += [*each.option_strings[-1:], *own]
    for each in values:
        words += [option] if action.nargs == 0 else [option, each]
    return words


def test_options_given_twice_add_or_are_refused(capsys):
    """Each option of each command: nothing that was typed is forgotten."""
    added, refused = set(), set()
    for words, parser in commands(make_parser()):
        for action in parser._actions:
            if not action.option_strings or (
                action.nargs == 0 and action.dest in ("help", "version")
            ):
                continue
            pairs = [tuple(action.choices)[:2]] if action.choices else TRIED
            for pair in pairs:
                with contextlib.suppress(SystemExit):
                    once = [typed_with(parser, action, [each]) for each in pair]
                    taken = [getattr(parser.parse_args(each), action.dest) for each in once]
                    break
            else:
                raise AssertionError(f"{words} {action.option_strings}: none of {pairs} is a value")
            capsys.readouterr()
            try:
                both = parser.parse_args(typed_with(parser, action, pair))
            except SystemExit:
                err = capsys.readouterr().err
                option = action.option_strings[-1]
                assert f"argument {option}: it is given twice; leave out one of them" in err
                assert err.count("\n") == 1
                refused.add(option)
            else:
                assert getattr(both, action.dest) == taken[0] + taken[1], (words, action.dest)
                added.add(action.option_strings[-1])
    assert added >= {"--predict", "--leave-out", "--key", "--only", "--queries", "--evidence"}
    assert refused >= {"--value", "--json", "--out", "--seed", "--engine", "--what", "--damping"}


@pytest.mark.parametrize(
    ("option", "one", "other"), [("--key", "t=a", "t=b"), ("--link", "t.a=b", "t.a=")]
)
def test_options_do_not_say_two_things_of_the_same(capsys, option, one, other):
    with pytest.raises(SystemExit):
        make_parser().parse_args(["init", "x.csv", option, one, option, other])
    err = capsys.readouterr().err
    assert f"argument {option}: it says two things of t" in err
    assert err.count("\n") == 1


def test_errors_tell_the_size_of_enormous_numbers(capsys, tmp_path):
    model = {
        "format": "lifagu/1",
        "domains": {"D": 10**9},
        "relations": [{"name": "R", "of": ["D"] * 7}],
        "parfactors": [{"name": "p", "args": ["R(A,B,C,E,F,G,H)"], "table": [1, 2]}],
    }
    path = tmp_path / "m.json"
    path.write_text(json.dumps(model))
    status, _, err = run_cli(capsys, "logz", path, "--engine", "ground")
    assert status == 4
    assert "the model has about 10^63 variables and factors" in err
    assert not re.search(r"\d{15}", err)
