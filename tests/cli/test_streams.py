"""Streams that are closed or full, and names that no terminal should obey."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lifagu
from lifagu.errors import ModelError
from support.helpers import ROOT, run_cli

EPIDEMIC = str(ROOT / "examples/epidemic.json")
COMMANDS = (f"query {EPIDEMIC} Epid", "--help", "--version")


def shell(command: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """A command with its streams led elsewhere by a shell."""
    line = f'"{sys.executable}" -m lifagu {command} {redirection}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_lost_output_is_never_a_success(command, redirection):
    done = shell(command, redirection)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the output cannot be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_without_standard_error_there_are_still_answers_and_statuses(redirection):
    done = shell(COMMANDS[0], redirection)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("P(Epid)")
    assert shell("info missing.json", redirection).returncode == 2
    assert shell("nonsense", f">&- {redirection}").returncode == 2


def test_a_reader_that_leaves_is_no_mistake():
    done = shell(f"marginals {EPIDEMIC}", "| head -1; echo ${PIPESTATUS[0]}")
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")


def test_what_cannot_be_read_is_not_called_written(tmp_path, capsys):
    path = tmp_path / "m.json.gz"
    path.write_bytes(gzip.compress(b"{}" * 99)[:-9])
    status, out, err = run_cli(capsys, "info", path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {path}: cannot be read: ")


@pytest.mark.parametrize("option", ["--out", "--evidence-file", "--db"])
def test_an_empty_path_is_refused(option, capsys):
    status, out, err = run_cli(capsys, "marginals", EPIDEMIC, option, "")
    assert (status, out) == (2, "")
    assert f"argument {option}: the name of a file or folder is empty" in err


def test_paths_that_are_no_text_are_read_and_named(tmp_path, capsys):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    Path(path).write_text(Path(EPIDEMIC).read_text())
    assert run_cli(capsys, "query", path, "Epid")[0] == 0
    status, _, err = run_cli(capsys, "info", path.replace(".json", "\n.json"))
    assert (status, err.count("\n")) == (2, 1)
    assert r"/\udcff" in err
    status, _, err = run_cli(capsys, "convert", EPIDEMIC, path.removesuffix(".json"))
    assert (status, err.count("\n")) == (2, 1)
    assert "DuckDB takes no path that is not in UTF-8" in err


@pytest.mark.parametrize(
    "command",
    [
        ("check", "loop.json"),
        ("query", EPIDEMIC, "Epid", "--evidence-file", "loop.json"),
        ("check", str(ROOT / "examples/hospital.json"), "--db", "loop.db"),
        ("check", str(ROOT / "examples/hospital.json"), "--db", "~nobody-at-all/x.db"),
        ("init", "loop.csv"),
        ("lift", EPIDEMIC, "--out", "loop"),
        ("convert", EPIDEMIC, "loop/x.json"),
        ("learn", str(ROOT / "examples/factory.json"), "--out", "loop/x.json"),
        ("compare", "/", "/"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("loop", "loop.json", "loop.db", "loop.csv"):
        Path(name).symlink_to(name)
    status, out, err = run_cli(capsys, *command)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "error: " in err
    assert not list(tmp_path.glob(".*"))


# ---- names

ODD = ["a\nb", "\x1b[2J", "\x07", "x" * 20_000, "\u2028", "\x7f", "\x9b", '"', "<&>"]


def test_odd_names_are_handled_everywhere(tmp_path, capsys):
    build = lifagu.FactorGraph.build().variable("B")
    for name in ODD:
        build.variable(name, ["no", name], individual=name, kind=name)
        build.factor(name, [name, "B"], [1, 2, 3, 4])
    graph, path, figure = build.graph(), tmp_path / "odd.json", tmp_path / "odd.svg"
    lifagu.write(graph, path)
    assert lifagu.read(path) == graph
    calls = [["info"], ["marginals"], ["lift"], ["query", "B"], ["query", ODD[1]]]
    calls += [["plot", "--out", str(figure)], ["query", "?".join(ODD)], ["query", ODD[3] + "?"]]
    for command, *rest in calls:
        status, out, err = run_cli(capsys, command, path, *rest)
        assert status == (2 if "?" in "".join(rest) else 0)
        assert all(each.isprintable() or each == "\n" for each in out + err)
        assert all(len(line) < 500 for line in err.splitlines())
    assert not set("\x1b\x07\x9b") & set(figure.read_text())
    out = run_cli(capsys, "marginals", path, "--json")[1]
    assert list(json.loads(out)["marginals"]) == ["B", *ODD]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_is_no_text_is_refused_where_it_comes_in(name, tmp_path, capsys):
    build = lifagu.FactorGraph.build
    for make in (
        lambda: build().variable(name),
        lambda: build().variable("A", [name, "b"]),
        lambda: build().variable("A", individual=name),
        lambda: build().variable("A").factor(name, ["A"], None),
        lambda: lifagu.open(EPIDEMIC).add(name, "alice").ask("Epid"),
        lambda: lifagu.Domain.of("D", [name]),
    ):
        with pytest.raises(ModelError, match="in no text"):
            make()
    path = tmp_path / "odd.json"
    text = json.dumps({"format": "lifagu/1", "variables": [{"name": name}]})
    path.write_text(text.replace("[", "\n["))
    status, out, err = run_cli(capsys, "info", path)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {path}:2: ")
    path.with_suffix(".uai").write_text("MARKOV\n0\n\0")
    status, _, err = run_cli(capsys, "info", path.with_suffix(".uai"))
    assert (status, f"{path.with_suffix('.uai')}:3: a text has no NUL" in err) == (2, True)
