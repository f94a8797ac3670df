"""Small files that announce much, in every format: refused in one line, in little memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import lifagu
from lifagu.basics.memory import LEAST
from lifagu.errors import FormatError, LifaguError, TooLargeError
from lifagu.formats.budget import LABEL, ROOM, Budget
from lifagu.relational.parameters import named_in
from lifagu.relational.parsing import parse_argument
from support.helpers import ROOT, run_cli

MANY = 100_000
MAD = {  # what a file says, the place that the error names, and the number that it finds there
    "range.uai": ("MARKOV\n1\n999999999\n0\n", "range.uai:3", "999999999 values"),
    "ranges.fg": ("1\n\n2\n0 1\n4294967296 4294967296\n1\n0 1\n", "ranges.fg:5", str(2**64)),
    "single.fg": ("1\n\n1\n7\n3000000\n1\n0 1\n", "single.fg", "3000000 values"),
    "objects.blog": ("type P;\nguaranteed P p[99999999];", "objects.blog:2", "99999999 objects"),
}


@pytest.mark.parametrize("name", MAD)
def test_mad_numbers_are_refused_with_place_number_limit_and_remedy(name, tmp_path, capsys):
    text, place, found = MAD[name]
    path = tmp_path / name
    path.write_text(text)
    status, out, err = run_cli(capsys, "info", str(path))
    assert (status, out, err.count("\n")) == (4, "", 1)
    assert f"{tmp_path / place}: " in err
    assert found in err
    assert "128 MiB" in err
    assert err.endswith("; name a --memory-limit within which it fits\n")


def test_more_is_read_where_more_is_allowed(tmp_path):
    path = tmp_path / "wide.uai"
    path.write_text("MARKOV\n1\n200000\n0\n")
    with pytest.raises(TooLargeError, match="200000 values"):
        lifagu.open(path, memory_limit=LABEL * 200_000)
    assert lifagu.io.read(path, memory_limit=LABEL * 200_000 + 999).sizes.tolist() == [200_000]


def test_no_room_is_made_for_what_might_be_read(tmp_path):
    for name in ("m.json", "m.json.gz"):
        path = tmp_path / name
        lifagu.write(lifagu.read(ROOT / "examples/epidemic.json"), path)
        assert lifagu.io.load(path, memory_limit=10**30).model == lifagu.read(path)


def test_everything_that_is_announced_counts_together(tmp_path):
    path = tmp_path / "many.uai"
    path.write_text("MARKOV\n10\n" + " ".join(str(100_000 + each) for each in range(10)) + "\n0\n")
    with pytest.raises(TooLargeError, match="variable x8 has 100008 values"):
        lifagu.read(path)


def test_what_a_file_may_announce_is_the_limit_or_what_its_size_makes_plausible():
    assert Budget(0, memory_limit=100 * 2**20).announced == 100 * 2**20
    assert Budget(0, memory_limit=10).limit == LEAST
    assert Budget(0).announced <= ROOM


def test_entries_that_a_text_lists_are_paid_once():
    budget = Budget(0, memory_limit=LEAST)
    assert budget.table(lambda: "m.fg:4", "f0", [2, 2], 4) == 4
    assert budget.announced == LEAST
    budget.table(lambda: "m.fg:9", "f1", [2**18], 0)
    with pytest.raises(TooLargeError, match=r"the table of f2 has 262144 .* about 20 MiB"):
        budget.table(lambda: "m.fg:14", "f2", [2**18], 0)


def test_seventy_arguments_are_refused(tmp_path):
    path = tmp_path / "wide.fg"
    sizes = " ".join(["1"] * 70)
    path.write_text(f"1\n\n70\n{' '.join(map(str, range(70)))}\n{sizes}\n1\n0 1\n")
    with pytest.raises(FormatError, match=r"wide\.fg:5: factor f0 has 70 arguments, more than"):
        lifagu.read(path)


def test_what_unpacks_to_much_is_not_unpacked(tmp_path):
    path = tmp_path / "blanks.uai.gz"
    path.write_bytes(gzip.compress(b" " * 2**20) * 200)  # 200 KiB for 200 MiB
    program = (
        "import resource, sys, lifagu\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "try: lifagu.read(sys.argv[1])\n"
        "except lifagu.TooLargeError as error: print(error)\n"
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    message, most = done.stdout.splitlines()
    assert "but the limit is" in message
    assert int(most) * 2**10 < 50 * path.stat().st_size + 300 * 2**20


NESTED = ['{"format": "lifagu/1",\n"factors": ' + "[" * 500, "[" * MANY, '{"a":' * MANY]


@pytest.mark.parametrize("text", [*(each + "1" for each in NESTED[:1]), *NESTED])
def test_deep_nesting_is_refused_with_its_line(text, tmp_path):
    if not text.endswith("1"):
        closing = {"[": "]", "{": "}"}
        text += "1" + "".join(closing[each] for each in reversed(text) if each in closing)
    path = tmp_path / "deep.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"deep\.json:\d+: (nested too deeply|not JSON)"):
        lifagu.read(path)


@pytest.mark.parametrize("text", ["null", "5", '"x"', "[]", "[[1]]"])
def test_values_that_are_no_model_are_refused(text, tmp_path):
    path = tmp_path / "value.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"value\.json:1: an object \{…\} is expected"):
        lifagu.read(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("open.json", '{"format": "lifagu/1", "variables": ["' + "x" * 10**6),
        ("list.blog", "parfactor MultiArrayPotential[[" + "1," * 10**6 + "x]](A);"),
    ],
)
def test_patterns_take_no_memory_for_each_sign(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    tracemalloc.start()
    with pytest.raises(FormatError):
        lifagu.read(path)
    assert tracemalloc.get_traced_memory()[1] < 40 * len(text)
    tracemalloc.stop()


def test_patterns_look_at_each_sign_a_few_times():
    begun = time.process_time()
    assert str(parse_argument(" " * MANY + "x")) == "x"
    assert named_in("SELECT :a, " + " ".join(f"$a{each}$" for each in range(MANY))) == ["a"]
    assert named_in("SELECT :a " + "/* :b " * MANY) == ["a"]
    assert time.process_time() - begun < 8  # squares took minutes


def test_a_hundred_thousand_labels_are_no_square(tmp_path):
    labels = [f"v{each}" for each in range(MANY)]
    model = {
        "format": "lifagu/1",
        "ranges": {"r": labels},
        "variables": [{"name": f"A{each}", "range": "r"} for each in range(1000)],
        "factors": [{"name": "f", "args": ["A0"], "table": [1] * MANY}],
        "evidence": {f"A{each}": labels[-1] for each in range(1, 1000)}
        | {"A0": dict.fromkeys(labels, 1)},
    }
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(model))
    begun = time.process_time()
    case = lifagu.open(path)
    assert "v4/…/v99999 (100000)" in next(iter(case.describe()["ranges"]))
    assert case.ask("A0")["v7"] == pytest.approx(1e-5)
    assert time.process_time() - begun < 8  # squares took minutes


def test_bins_are_not_as_many_as_a_number_says(tmp_path):
    relation = {"name": "S", "of": ["P"], "range": {"bins": 10**9}}
    template = {"format": "lifagu/1", "domains": {"P": 2}, "relations": [relation]}
    path = tmp_path / "bins.json"
    path.write_text(json.dumps(template))
    with pytest.raises(FormatError, match=r"bins\.json:1: relations\[0\]\.range: bins is how many"):
        lifagu.read(path)


def test_a_network_of_too_many_values_is_refused(tmp_path):
    pytest.importorskip("pyagrum")
    labels = ", ".join(f"v{each}" for each in range(8_000))
    lines = [
        f"variable x{each} {{ type discrete[8000] {{ {labels} }}; }}\n"
        f"probability (x{each}) {{ table 0.4, 0.6; }}"
        for each in range(14)
    ]
    path = tmp_path / "wide.bif"
    path.write_text("\n".join(["network n {}", *lines]))
    told = r"wide\.bif: the network has 112000 values .*; name a memory_limit within which it fits$"
    with pytest.raises(TooLargeError, match=told):
        lifagu.open(path, memory_limit=2**20)


@pytest.mark.parametrize("kind", ["bifxml", "xdsl", "net", "dsl"])
def test_broken_networks_end(kind, tmp_path):
    pytest.importorskip("pyagrum")
    path = tmp_path / f"broken.{kind}"
    path.write_text('<?xml version="1.0"?><a>' + "<b>" * 300 + "net { node {" * 20)
    with pytest.raises(LifaguError, match=path.name):
        lifagu.open(path)


def test_what_is_no_file_is_refused_at_once(tmp_path, monkeypatch):
    import os

    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.json")
    Path("folder.json").mkdir()
    for name, why in {
        "pipe.json": "pipe.json: this is a pipe or a device",
        "missing.json": "missing.json: there is no such file",
        "": "a path is empty; name a file or a folder",
        "x" * 5000 + ".json": "File name too long",
    }.items():
        with pytest.raises(FormatError, match=why) as caught:
            lifagu.open(name)
        assert len(str(caught.value)) <= 400
    with pytest.raises(FormatError, match="which no file replaces"):
        lifagu.write(lifagu.FactorGraph.build().variable("A").graph(), "pipe.json")


def test_lines_end_as_on_any_system(tmp_path):
    text = (ROOT / "examples/smokers.blog").read_text()
    for end in ("\r", "\r\n"):  # a comment is over with its line
        (tmp_path / "smokers.blog").write_text(text, newline=end)
        assert lifagu.read(tmp_path / "smokers.blog") == lifagu.read(ROOT / "examples/smokers.blog")
