"""The command line as people and scripts meet it: outputs, exit statuses, errors of one line."""

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lifagu
from lifagu.basics.choices import EXACT_ENGINES
from lifagu.cli import main
from support.helpers import ROOT, frustrated, run_cli

EPIDEMIC = str(ROOT / "examples/epidemic.json")
FIGURE3 = str(ROOT / "examples/figure3.json")


@pytest.fixture
def holes(tmp_path):
    """A model with an unknown factor between C and D that nobody can fill, and with evidence."""
    model = {
        "format": "lifagu/1",
        "variables": [
            *({"name": name, "range": ["true", "false"]} for name in ("A", "B", "C", "a=b")),
            {"name": "D", "range": ["low", "mid", "high"]},
        ],
        "factors": [
            {"name": "f", "args": ["A", "B"], "table": [1, 2, 3, 4]},
            {"name": "u", "args": ["C", "D"], "table": None},
            {"name": "z", "args": ["a=b"], "table": [0, 1]},
        ],
        "evidence": {"B": "true"},
    }
    path = tmp_path / "holes.json"
    path.write_text(json.dumps(model))
    return str(path)


def test_query_as_json(capsys, holes):
    status, out, err = run_cli(capsys, "query", holes, "A", "B", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["engine"] == "ground"
    assert result["log_partition"] is None
    assert result["unknown"] == {"total": 1, "transferred": 0, "left": 1}
    first, second = result["answers"]
    assert first["query"] == ["A"]
    assert first["values"] == [["true"], ["false"]]
    assert first["probabilities"] == pytest.approx([0.25, 0.75])
    assert second["probabilities"] == [1, 0]
    assert second["log_probabilities"] == [0, None]


def test_of_much_evidence_what_the_question_says_is_shown(capsys):
    told = "--evidence", "Vibration(m150)=5.2"
    _, out, _ = run_cli(capsys, "query", "factory", "Failed(m150)", "Failed(m149)", *told)
    titles = [line for line in out.splitlines() if line.startswith("P(")]
    assert titles == [
        f"P(Failed({each}) | Vibration(m150)=over 3.9, 520 more observed)"
        for each in ("m150", "m149")
    ]
    _, out, _ = run_cli(capsys, "query", "factory", "Age(m001)")
    assert out.startswith("P(Age(m001) | Age(m001)=up to 5, 519 more observed)")
    _, out, _ = run_cli(capsys, "query", "factory", "Oil(m149)", "--scenario", "Age(m149)=9")
    assert out.startswith("P(Oil(m149) | 520 observed)")


def test_joint_query_lists_tuples_row_major(capsys):
    status, out, _ = run_cli(capsys, "query", FIGURE3, "C", "A", "--joint", "--json")
    answer = json.loads(out)["answers"][0]
    assert status == 0
    assert answer["values"] == [
        ["false", "false"],
        ["false", "true"],
        ["true", "false"],
        ["true", "true"],
    ]
    joint = lifagu.query(lifagu.read(FIGURE3), "C", "A")
    assert answer["probabilities"] == joint.probabilities.reshape(-1).tolist()


def test_query_for_people(capsys, holes):
    status, out, _ = run_cli(capsys, "query", EPIDEMIC, "Epid", "--evidence", "Sick.alice=true")
    assert status == 0
    assert out.splitlines()[0] == "P(Epid | Sick.alice=true)"
    assert out.splitlines()[1].split()[0] == "true"
    assert out.splitlines()[-1].startswith("log Z = ")


def test_evidence_is_overridden_name_by_name(capsys, holes, tmp_path):
    more = tmp_path / "more.json"
    more.write_text('{"B": "false", "A": "true"}')
    _, out, _ = run_cli(
        capsys, "query", holes, "B", "A", "--json", "--evidence-file", more, "--evidence", "A=false"
    )
    b, a = (answer["probabilities"] for answer in json.loads(out)["answers"])
    assert (b, a) == ([0, 1], [0, 1])
    _, out, _ = run_cli(capsys, "query", holes, "a=b", "--json", "--evidence", "a=b=false")
    assert json.loads(out)["answers"][0]["probabilities"] == [0, 1]


@pytest.mark.parametrize("engine", EXACT_ENGINES)
def test_logz(capsys, engine):
    status, out, _ = run_cli(capsys, "logz", FIGURE3, "--json", "--engine", engine)
    assert status == 0
    assert json.loads(out)["log_partition"] == pytest.approx(3.9512437185814275)
    _, plain, _ = run_cli(capsys, "logz", FIGURE3, "--engine", engine)
    assert float(plain) == pytest.approx(3.9512437185814275, rel=1e-12)


def test_marginals(capsys, tmp_path, holes):
    _, out, _ = run_cli(capsys, "marginals", holes, "--json")
    result = json.loads(out)
    assert list(result) == ["engine", "log_partition", "marginals", "left_out"]
    assert result["marginals"]["A"] == pytest.approx({"true": 0.25, "false": 0.75})
    assert result["marginals"]["B"] == {"true": 1, "false": 0}
    assert result["left_out"] == ["C", "D"]
    target = tmp_path / "all.csv"
    assert run_cli(capsys, "marginals", EPIDEMIC, "--out", target) == (0, "", "")
    lines = target.read_text().splitlines()
    assert lines[0] == "variable,kind,individual,value,probability"
    assert len(lines) == 1 + 2 * 9
    _, out, _ = run_cli(capsys, "marginals", holes)
    assert "left out, as unknown factors are connected to them: C, D" in out
    _, out, _ = run_cli(capsys, "marginals", EPIDEMIC, "--engine", "bp", "--json", "--quiet")
    assert json.loads(out)["engine"] == "bp"


def test_progress_on_a_terminal(monkeypatch, tmp_path):
    """What is being done, taken away at the end; nothing with --quiet or without a terminal."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for more, shown in (
        ([], ["reading", "filling", "passing", "lifting", "writing"]),
        (["--quiet"], [""]),
    ):
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(["lift", EPIDEMIC, "--out", str(tmp_path / "m.json"), *more]) == 0
        said = sys.stderr.getvalue()
        assert [
            part.strip().partition(" ")[0] for part in said.split("\r")[bool(said) :][: len(shown)]
        ] == shown
        assert said == "" or said.endswith(" \r")


def test_map(capsys):
    _, out, _ = run_cli(capsys, "map", FIGURE3, "--evidence", "B=false", "--json")
    result = json.loads(out)
    assert result["assignment"] == {"A": "true", "B": "false", "C": "true"}
    assert result["log_weight"] == pytest.approx(2 * math.log(3))
    _, out, _ = run_cli(capsys, "map", FIGURE3)
    assert out.endswith("log weight = 2.772588722\n")


def test_belief_propagation_says_what_it_is(capsys):
    status, out, err = run_cli(capsys, "query", EPIDEMIC, "Epid", "--engine", "bp", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["log_partition"], found["converged"]) == (None, True)
    assert err.startswith(
        f"note: belief propagation converged after {found['iterations']} iterations (residual "
    )
    status, out, err = run_cli(
        capsys, "query", EPIDEMIC, "Epid", "--engine", "bp", "--json", "--quiet"
    )
    assert (status, json.loads(out), err) == (0, found, "")
    _, out, _ = run_cli(capsys, "query", EPIDEMIC, "Epid", "--json")
    assert not {"converged", "iterations", "residual"} & set(json.loads(out))


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.parametrize(
    "command", [["query", "v0", "v1"], ["marginals"], ["marginals", "--out", "all.csv"]]
)
def test_belief_propagation_that_did_not_converge_is_never_silent(
    capsys, tmp_path, monkeypatch, command, quiet
):
    """Everyone wants to differ from everyone, and all turn at once; damping tames that."""
    monkeypatch.chdir(tmp_path)
    lifagu.write(frustrated(), "model.json")
    name, *more = command
    asked = [name, "model.json", *more, "--engine", "bp", *quiet]
    warning = (
        r"warning: belief propagation did NOT converge within 300 iterations \(residual "
        r"0\.68\);.*may be far off.*"
    )
    status, _, err = run_cli(capsys, *asked, "--iterations", "300")
    assert status == 0
    assert re.fullmatch(f"{warning}\n", err)
    _, out, err = run_cli(capsys, *asked, "--iterations", "300", "--json")
    found = json.loads(out)
    assert (found["converged"], found["iterations"]) == (False, 300)
    assert found["residual"] == pytest.approx(0.68, abs=0.01)
    assert re.fullmatch(f"{warning}\n", err)
    _, out, err = run_cli(capsys, *asked, "--damping", "0.5", "--json")
    found = json.loads(out)
    assert found["converged"]
    assert found["residual"] <= 1e-10
    assert err.startswith("" if quiet else "note: ")
    assert bool(err) != bool(quiet)


def test_a_value_that_was_only_just_excluded_leaves_no_number(capsys, tmp_path):
    """The last change is then infinite, and JSON has null for that."""
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B"])
        .factor("f", ["A", "B"], [1, 0, 0, 2])
        .factor("g", ["A"], [0, 1])
    )
    lifagu.write(graph.graph(), tmp_path / "model.json")
    options = ["--engine", "bp", "--iterations", "1", "--json", "--quiet"]
    _, out, err = run_cli(capsys, "query", tmp_path / "model.json", "A", *options)
    assert (json.loads(out)["converged"], json.loads(out)["residual"]) == (False, None)
    assert "(residual inf)" in err


def test_lift(capsys):
    _, out, _ = run_cli(capsys, "lift", FIGURE3, "--json")
    result = json.loads(out)
    assert list(result) == [
        "fill",
        "theta",
        "equality",
        "variable_groups",
        "factor_groups",
        "transfers",
        "model",
    ]
    assert (result["fill"], result["theta"], result["transfers"]) == ("auto", 0, [])
    assert (result["variable_groups"], result["factor_groups"]) == (
        [["A", "C"], ["B"]],
        [["phi1", "phi2"]],
    )
    assert lifagu.io.from_json(json.dumps(result["model"])) == lifagu.lift(lifagu.read(FIGURE3))
    _, out, _ = run_cli(capsys, "lift", FIGURE3, "--evidence", "A=true", "--json")
    assert json.loads(out)["variable_groups"] == [["A"], ["B"], ["C"]]
    _, out, _ = run_cli(capsys, "lift", FIGURE3, "--rounds")
    assert out.count("round") == 2


def test_eve_is_added_filled_and_explained(capsys, tmp_path):
    completed = tmp_path / "completed.json"
    _, out, _ = run_cli(
        capsys, "lift", EPIDEMIC, "--add", "eve=alice", "--json", "--out", completed
    )
    result = json.loads(out)
    assert [(each["factor"], each["donor"]) for each in result["transfers"]] == [
        ("f1.eve", "f1.alice"),
        ("f2.eve.m1", "f2.alice.m1"),
        ("f2.eve.m2", "f2.alice.m2"),
    ]
    keys = {
        "factor",
        "status",
        "donor",
        "candidates",
        "agreeing",
        "share",
        "tie",
        "alignment",
        "reason",
    }
    assert keys <= result["transfers"][0].keys()
    assert not len(lifagu.read(completed).unknown)
    assert lifagu.lift(lifagu.read(completed)) == lifagu.io.from_json(json.dumps(result["model"]))
    _, out, _ = run_cli(
        capsys, "lift", EPIDEMIC, "--add", "eve=alice", "--fill", "lifagu", "--theta", "1"
    )
    assert "0 of 3 unknown factors filled, 3 left (theta 1)" in out
    assert (
        "Only 4 of 6 known factors in such a place agree (0.667), less than the 1 asked for" in out
    )


@pytest.mark.parametrize(
    ("options", "probability"),
    [
        ([], 0.6447154982781942),
        (["--fill", "lifagu"], 0.7942346082872677),
        (["--fill", "lifagu", "--theta", "0.6666666666666666"], 0.7942346082872677),
        (["--fill", "extended", "--steps", "4"], 0.6447154982781942),
    ],
)
def test_query_fills_first(capsys, options, probability):
    _, out, _ = run_cli(
        capsys, "query", EPIDEMIC, "Sick.eve", "--add", "eve=alice", "--json", *options
    )
    result = json.loads(out)
    answer = result["answers"][0]
    assert answer["probabilities"][0] == pytest.approx(probability, abs=1e-6)
    assert answer["rests_on"] == ["f1.eve", "f2.eve.m1", "f2.eve.m2"]
    assert result["unknown"] == {"total": 3, "transferred": 3, "left": 0}


def test_how_tables_are_compared_is_stated(capsys):
    _, out, err = run_cli(capsys, "logz", EPIDEMIC, "--tolerance", "0.1", "--json")
    assert json.loads(out)["log_partition"] == pytest.approx(
        lifagu.log_partition(lifagu.read(EPIDEMIC))
    )
    assert err.startswith("note: tables were compared within 0.1 (largest relative change 0): no")
    assert err.endswith(": no marginal is off by more than 0, log Z by at most 0\n")
    _, out, _ = run_cli(capsys, "lift", EPIDEMIC, "--add", "eve=bob", "--up-to-scale")
    assert "tables were compared up to a factor\n" in out


def test_check_and_info(capsys, holes):
    status, out, _ = run_cli(capsys, "check", holes)
    assert status == 0
    assert out.endswith(
        "holes.json: ok, 5 variables, 3 factors (1 unknown), 2 distinct tables, 1 observed\n"
    )
    status, out, _ = run_cli(capsys, "info", holes, "--json")
    facts = json.loads(out)
    assert facts["unknown_examples"] == ["u"]
    assert facts["answerable_variables"] == 3
    status, out, _ = run_cli(capsys, "info", holes)
    assert f"ask, for instance: lifagu query {holes} A" in out
    status, out, _ = run_cli(
        capsys, "info", EPIDEMIC, "--add", "eve=bob", "--fill", "lifagu", "--json"
    )
    filled = json.loads(out)["filled_by_theta"]
    assert filled == [
        {"theta": 0, "filled": 3},
        {"theta": 2 / 3, "filled": 3},
        {"theta": 1, "filled": 0},
    ]
    status, out, _ = run_cli(capsys, "check", "--schema")
    assert json.loads(out)["properties"]["format"] == {"const": "lifagu/1"}


def test_convert(capsys, tmp_path, holes):
    target = tmp_path / "figure3.uai.gz"
    assert run_cli(capsys, "convert", FIGURE3, target) == (0, "", "")
    assert lifagu.log_partition(lifagu.read(target)) == pytest.approx(
        lifagu.log_partition(lifagu.read(FIGURE3))
    )
    copy = tmp_path / "copy.json"
    run_cli(capsys, "convert", holes, copy)
    assert lifagu.read(copy) == lifagu.read(holes)
    assert lifagu.io.read_evidence(copy) == {"B": "true"}


def test_explain_goes_to_stderr(capsys):
    status, out, err = run_cli(capsys, "query", EPIDEMIC, "Epid", "--explain", "--json")
    assert status == 0
    assert err.startswith(
        "ground engine, 1 connected part, because its plan of 56 entries costs less than looking "
        "for lifted steps\n"
    )
    json.loads(out)
    _, _, err = run_cli(
        capsys, "query", EPIDEMIC, "Epid", "--explain", "--json", "--engine", "lifted"
    )
    assert err.startswith(
        "lifted engine, 2 lifted steps:\n"
        "  eliminate 6 variables like Travel.alice, Treat.alice.m1 in 2 groups"
    )


@pytest.mark.parametrize("command", ["marginals", "map", "logz"])
def test_every_question_is_planned_before_it_runs(capsys, command):
    _, _, err = run_cli(capsys, command, EPIDEMIC, "--explain", "--json", "--engine", "lifted")
    assert "eliminate 6 variables like Travel.alice, Treat.alice.m1 in 2 groups" in err
    _, _, err = run_cli(capsys, command, EPIDEMIC, "--tolerance", "0.01", "--json")
    assert err.startswith("note: tables were compared within 0.01")


def test_version(capsys):
    assert run_cli(capsys, "--version")[1].startswith(f"lifagu {lifagu.__version__}\nkernel: ")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["query", "{holes}", "C"], 3, r"P\(C\) has no answer: u is unknown"),
        (
            ["query", "{holes}", "A", "--evidence", "a=b=true"],
            3,
            "the evidence has probability zero",
        ),
        (["logz", "{holes}"], 3, "log Z has no answer: u is unknown"),
        (["query", "{holes}", "X"], 2, "there is no variable 'X'"),
        (["query", "{holes}", "A", "--evidence", "A=perhaps"], 2, "'A' has no value 'perhaps'"),
        (["query", "{holes}", "A", "--evidence", "A"], 2, "'A' is not of the form NAME=VALUE"),
        (["query", "{holes}", "A", "--memory-limit", "lots"], 2, "'lots' is not a size"),
        (["query", "{holes}", "A", "--engine", "magic"], 2, "invalid choice: 'magic'"),
        (
            ["query", "{holes}", "A", "--evidence-file", "nothing.json"],
            2,
            "nothing.json: there is no such file",
        ),
        (["query", "{holes}"], 2, "name the variables to ask about"),
        (["query", "nothing.json", "A"], 2, "nothing.json: there is no such file"),
        (["convert", "{holes}", "out.uai"], 2, "u are unknown; write .json"),
        (
            ["logz", "{epidemic}", "--memory-limit", "10", "--engine", "ground"],
            4,
            r"observe some variables \(--evidence\), raise --memory-limit, or",
        ),
        (["query", "{epidemic}", "Epid", "--theta", "2"], 2, "'2' is not a number between 0 and 1"),
        (["query", "{epidemic}", "Epid", "--steps", "3"], 2, "steps must be 2, 4, 6"),
        (["query", "{epidemic}", "Epid", "--steps", "4"], 2, "auto knows no steps; name the rule"),
        (["query", "{epidemic}", "Epid", "--add", "eve=zoe"], 2, "no individual 'zoe'"),
        (["query", "{epidemic}", "Epid", "--add", "eve"], 2, "'eve' is not of the form"),
        (["query", "{epidemic}", "Epid", "--combine", "guess"], 2, "invalid choice: 'guess'"),
        (["lift", "{epidemic}", "--out", "model.txt"], 2, "tells no known format"),
        (["logz", "{epidemic}", "--engine", "bp"], 3, "belief propagation only estimates log Z"),
        (["query", "{epidemic}", "Epid", "--engine", "bp", "--damping", "2"], 2, "damping is 2.0"),
        (["map", "{holes}"], 3, "the best assignment has no answer: u is unknown"),
        (["map", "{epidemic}", "--engine", "enumerate"], 2, "invalid choice: 'enumerate'"),
        (["marginals", "{epidemic}", "--out", "all.txt"], 2, "marginals are written as .csv"),
        (["lift", "{epidemic}", "--rounds", "--json"], 2, "leave out --rounds or --json"),
        (
            ["query", "{epidemic}", "Epid", "--evidence-file", "model.uai"],
            2,
            "evidence is read from .json or .evid",
        ),
        (
            ["query", "{epidemic}", "Epid", "--evidence", "Epid=true", "--evidence", "Epid=false"],
            2,
            "leave out one of them",
        ),
        (
            [
                "query",
                "{epidemic}",
                "Sick.eve",
                "--add",
                "eve=bob",
                "--theta",
                "1",
                "--fill",
                "lifagu",
                "--engine",
                "bp",
            ],
            3,
            "every table",
        ),
        (["check"], 2, "name the model file"),
        (["frobnicate"], 2, "invalid choice: 'frobnicate'"),
    ],
)
def test_exit_statuses_and_one_line_errors(
    capsys, holes, arguments, status, message, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    arguments = [each.format(holes=holes, epidemic=EPIDEMIC) for each in arguments]
    got, out, err = run_cli(capsys, *arguments)
    assert got == status
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert re.search(message, err), err
    assert [path.name for path in tmp_path.iterdir()] == ["holes.json"]


def run_process(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "lifagu", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **settings,
    )


def test_output_does_not_depend_on_the_hash_seed():
    outputs = {
        run_process("lift", EPIDEMIC, "--json", env=os.environ | {"PYTHONHASHSEED": seed}).stdout
        + run_process(
            "query",
            EPIDEMIC,
            "Epid",
            "Sick.bob",
            "--json",
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1


def test_a_reader_that_leaves_is_no_error():
    command = f"{sys.executable} -m lifagu lift {EPIDEMIC} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_output_that_cannot_be_written_or_shown(tmp_path):
    model = tmp_path / "odd.json"
    model.write_text('{"format": "lifagu/1", "variables": [{"name": "Grüße"}], "factors": []}')
    shown = run_process("marginals", str(model), env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Gr\\xfc\\xdfe" in shown.stdout
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "lifagu", "marginals", str(model)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the output cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_interrupted(capsys, monkeypatch):
    def stop(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("lifagu.formats.read_within", stop)
    status, _, err = run_cli(capsys, "logz", FIGURE3)
    assert status == 130
    assert err == "error: interrupted; nothing was half-written\n"


def test_demo(capsys):
    status, out, _ = run_cli(capsys, "demo", "paper")
    assert status == 0
    for shown in (
        "So A and C look alike",
        "unknown: f1.eve",
        "from f1.alice",
        "4 of 6 known factors",
        "test result",
    ):
        assert shown in out
    for answer in ("0.644715", "0.794235", "0.664494"):
        assert out.count(f"{answer}     {answer}") == 1, "elimination beside enumeration"
