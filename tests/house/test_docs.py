"""Documentation cannot go stale: what it shows is run."""

import argparse
import csv
import doctest
import enum
import inspect
import io
import re
import shlex

import duckdb
import pytest

import lifagu
from lifagu.cli.parser import make_parser
from support.helpers import ROOT, run_cli

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PARSER = make_parser()
COMMANDS = next(
    action for action in PARSER._actions if isinstance(action, argparse._SubParsersAction)
).choices


def text_of(name):
    return (ROOT / name).read_text()


def shown_commands(page):
    """(command, expected output) of every ``$ lifagu …`` and ``$ duckdb …`` in the console blocks
    of a page.
    """
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith(("lifagu ", "duckdb ")):
                yield command, output


def duckdb_says(*arguments):
    """What DuckDB's own command line would print: ``duckdb -csv FILE STATEMENT``, or nothing
    without ``-csv``.
    """
    *options, file, statement = arguments
    with duckdb.connect(file) as database:
        found = database.execute(statement)
        out = io.StringIO()
        if options == ["-csv"]:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerows([[each[0] for each in found.description], *found.fetchall()])
        return out.getvalue()


SHOWING = [page for page in PAGES if any(shown_commands(page))]
# learns anew for each fold, and what follows does not need it
LEFT_OUT = "lifagu validate hospital/hospital_learned.json "


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_shown_outputs_are_real(page, capsys, monkeypatch, tmp_path):
    """The commands of a page run one after another in one folder."""
    check_shown(page, capsys, monkeypatch, tmp_path, left_out=LEFT_OUT)


@pytest.mark.full
def test_all_shown_outputs_about_the_hospital_are_real(capsys, monkeypatch, tmp_path):
    (page,) = (page for page in SHOWING if LEFT_OUT in page.read_text())
    check_shown(page, capsys, monkeypatch, tmp_path)


def check_shown(page, capsys, monkeypatch, tmp_path, left_out=None):
    for name in ("examples", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    for command, output in shown_commands(page):
        if left_out and command.startswith(left_out):
            continue
        program, *arguments = shlex.split(command)
        if program == "lifagu":
            _, out, err = run_cli(capsys, *arguments)
        else:
            out, err = duckdb_says(*arguments), ""
        assert (err + out).rstrip() == output.rstrip(), command


def test_the_readme_shows_something_on_the_first_screen():
    first_screen = "\n".join(text_of("README.md").splitlines()[:45])
    assert "$ lifagu " in first_screen
    assert "make demo" in first_screen
    assert "make test" in first_screen


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, monkeypatch, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # what pages write is left there
    failures, _ = doctest.testfile(str(page), module_relative=False, globs={"lifagu": lifagu})
    assert failures == 0


def actions_of(parser):
    """What a command takes, and what the commands below it take."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from actions_of(below)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_documented(command):
    assert re.search(rf"^## `lifagu {command}\b", text_of("docs/command-line.md"), re.MULTILINE)
    for action in actions_of(COMMANDS[command]):
        assert action.help, f"{command}: {action.dest} has no help"


MODULES = (lifagu, lifagu.io, lifagu.drawing, lifagu.scale)
NAMES = {name: getattr(module, name) for module in MODULES for name in module.__all__}


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_docstrings(name):
    assert NAMES[name].__doc__


def public_callables():
    """(name, function) of all that `lifagu` offers, methods of public classes included."""
    for name in lifagu.__all__:
        value = getattr(lifagu, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, Exception | enum.Enum):
            for title, member in inspect.getmembers(value):
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and not title.startswith("_"):
                    yield f"{name}.{title}", function


@pytest.mark.parametrize(("name", "function"), list(public_callables()))
def test_parameters_are_documented_for_every_tool(name, function):
    """Docstrings of public functions list the parameters there are, as numpydoc wants it."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    wanted = [
        stars.get(each.kind, "") + each.name
        for each in inspect.signature(function).parameters.values()
        if each.name not in ("self", "cls")
    ]
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n---|\Z)", text, re.M | re.S)
    listed = re.findall(r"^(\S.*?)(?: : .*)?$", section[1] if section else "", re.M)
    assert [name for line in listed for name in line.split(", ")] == wanted


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_changelog_knows_this_version():
    assert f"## {lifagu.__version__}" in text_of("CHANGELOG.md")
