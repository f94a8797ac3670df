"""What looks as if it was not meant so: planted mistakes are found, and nothing else."""

import json
import re
from pathlib import Path

import pytest

import lifagu
from support.helpers import run_cli

ROWS = {"sql": "SELECT id FROM m"}
COUNTED = {
    "joint": {"learn": True, "records": {"sql": "SELECT oil, failed FROM m"}},
    "given": {"learn": True, "records": {"sql": "SELECT oil, failed FROM m"}, "given": ["Oil(Id)"]},
    "failed": {
        "learn": True,
        "records": {"sql": "SELECT failed, oil FROM m"},
        "given": ["Oil(Id)"],
    },
    "prior": {"learn": True, "records": {"sql": "SELECT oil FROM m"}},
}
OIL, BOTH = ["Oil(Id)"], ["Oil(Id)", "Failed(Id)"]


def template(folder, *parfactors, labels=("low", "ok"), evidence=("Oil",)):
    """A template over sixty machines with these parfactors: name, arguments, table."""
    lines = [f"{n},{'low' if n % 3 else 'ok'},{str(n % 4 == 0).lower()}" for n in range(60)]
    (folder / "m.csv").write_text("id,oil,failed\n" + "\n".join(lines))
    whole = {
        "format": "lifagu/1",
        "source": {"files": {"m": "m.csv"}},
        "domains": {"Machine": {"sql": "SELECT id FROM m"}},
        "relations": [
            {"name": "Oil", "of": ["Machine"], "range": list(labels)},
            {"name": "Failed", "of": ["Machine"]},
            {"name": "Spare", "of": ["Machine"], "range": ["low", "ok"]},
        ],
        "parfactors": [
            {"name": name, "args": args, "table": COUNTED.get(str(table), table)}
            | ({"rows": ROWS} if table != "learn" else {})
            for name, args, table in parfactors
        ],
        "evidence": {
            each: {"sql": f"SELECT id, {'failed' if each == 'Failed' else 'oil'} FROM m"}
            for each in evidence
        },
    }
    path = folder / "t.json"
    path.write_text(json.dumps(whole))
    return path


def said(path):
    return lifagu.open(path, learn=False).suspicions


@pytest.mark.parametrize(
    ("parfactors", "words"),
    [
        ([("a", BOTH, "joint"), ("b", BOTH, "given")], ["'a'.*'b'.*how often Failed"]),
        ([("p", OIL, "prior"), ("b", BOTH, "joint")], ["'p'.*'b'.*how often Oil"]),
        ([("p", OIL, "prior"), ("b", BOTH, "given")], []),
        ([("p", OIL, [1, 3]), ("b", BOTH, "given")], []),
        (
            [("p", OIL, [1, 3]), ("b", BOTH, "joint")],
            [r"'p' \(parfactors\[0\]\) is a prior of Oil, and 'b' \(.*\[1\]\)"],
        ),
        (
            [("p", ["Failed(Id)"], [9, 1]), ("b", BOTH, "given")],
            ["'p'.* is a prior of Failed.*'b'"],
        ),
        ([("p", OIL, [2, 2]), ("b", BOTH, "joint")], []),
        ([("p", OIL, None), ("b", BOTH, "joint")], []),
        ([("a", BOTH, "learn"), ("b", OIL, "learn")], []),
        ([("b", BOTH, "given"), ("c", BOTH, "given")], ["how often Failed", "same table"]),
        (
            [("b", BOTH, "given"), ("c", BOTH[::-1], "failed")],
            ["how often Failed", r"'b\(0\)' and 'c\(0\)' have the same table"],
        ),
        ([("b", BOTH, [1, 2, 3, 4]), ("c", BOTH[::-1], [1, 3, 2, 4])], ["same table"]),
        ([("b", BOTH, [1, 2, 3, 4]), ("c", BOTH[::-1], [1, 2, 3, 4])], []),
    ],
)
def test_tables_of_templates(tmp_path, parfactors, words):
    found = said(template(tmp_path, *parfactors))
    assert len(found) == len(words)
    for line, pattern in zip(found, words, strict=True):
        assert re.search(pattern, line)
        assert "\n" not in line


def test_observed_for_nothing_and_labels_never_seen(tmp_path):
    path = template(tmp_path, ("b", BOTH, "given"), evidence=("Oil", "Spare"))
    (line,) = said(path)
    assert re.match(r"Spare is observed \(.*evidence.Spare\), but no factor is about it", line)
    learned = template(
        tmp_path, ("b", BOTH, "learn"), labels=("low", "ok", "Low"), evidence=("Oil", "Failed")
    )
    (line,) = said(learned)
    assert line.startswith("Oil is never Low in 60 cells")


def test_labels_in_no_record_and_relations_that_were_hardly_observed(tmp_path):
    three = ("low", "ok", "Low")
    (line,) = said(template(tmp_path, ("p", OIL, "prior"), labels=three))
    assert re.match(r"Oil is never Low in the 60 records that 'p' \(.*parfactors\[0\]\)", line)
    path = template(tmp_path, ("b", BOTH, "learn"), evidence=("Failed",))
    whole = json.loads(path.read_text())
    whole["evidence"]["Oil"] = {"sql": "SELECT id, oil FROM m WHERE id < 3"}
    path.write_text(json.dumps(whole))
    (line,) = said(path)
    assert line.startswith("Oil was observed 3 times only, so that 'b' (")


def test_one_table_that_counts_many_times(tmp_path):
    path = template(tmp_path, ("b", BOTH, "joint"))
    whole = json.loads(path.read_text())
    by_hall = {"sql": "SELECT id, id // 20 AS hall FROM m"}
    whole["domains"]["Hall"] = {"sql": "SELECT DISTINCT id // 20 FROM m"}
    whole["relations"].append({"name": "Cold", "of": ["Hall"], "range": ["low", "ok"]})
    whole["parfactors"] = [
        {
            "name": "c",
            "args": ["Cold(Hall)", "Failed(Id)"],
            "rows": by_hall,
            "table": COUNTED["joint"],
        }
    ]
    whole["evidence"] = {}
    path.write_text(json.dumps(whole))
    (line,) = said(path)
    assert re.match(r"'c' \(.*\) says how often Cold .* up to 20 factors about one Cold", line)
    assert 'conditional on that ("given")' in line
    whole["parfactors"][0]["table"]["given"] = ["Cold(Hall)"]
    path.write_text(json.dumps(whole))
    assert said(path) == ()


def test_columns_of_rows_may_be_called_as_anybody(tmp_path):
    path = template(tmp_path, ("b", ["Oil(K)", "Failed(K)"], [1, 2, 3, 4]))
    whole = json.loads(path.read_text())
    whole["domains"]["Machine"] = ["K", "L"]
    whole["parfactors"][0]["rows"] = {"sql": "SELECT 'L' AS k"}
    whole["evidence"] = {}
    path.write_text(json.dumps(whole))
    assert said(path) == ()
    del whole["parfactors"][0]["rows"]
    path.write_text(json.dumps(whole))
    (line,) = said(path)
    assert line.startswith("'b' (parfactors[0]): K in Oil(K) begins with a capital letter")


def test_parfactors_that_are_the_same_under_other_names():
    builder = lifagu.ParfactorGraph.build().domain("P", ["eve", "bob"])
    builder.relation("Ill", "P").relation("Old", "P", range=["no", "some", "very"])
    builder.parfactor("f", ["Ill(X)", "Old(Y)"], [1, 2, 3, 4, 5, 6], where=["X != Y"])
    builder.parfactor("g", ["Old(A)", "Ill(B)"], [2, 8, 4, 10, 6, 12], where=["A != B"])
    builder.parfactor("h", ["Old(A)", "Ill(B)"], [2, 8, 4, 10, 6, 12])
    builder.parfactor("k", ["Old(A)", "Ill(A)"], [2, 8, 4, 10, 6, 12])
    (line,) = lifagu.open(builder.model()).suspicions
    assert line.startswith("'f' and 'g' have the same table over Old(A), Ill(B)")


def test_what_is_observed_of_somebody_new_is_not_suspected(tmp_path, capsys):
    path = template(tmp_path, ("b", BOTH, "given"))
    for option in ("--add", "--admit"):
        told = "--evidence", "Oil(new)=low", "--queries", "Failed(new)"
        status, out, err = run_cli(capsys, "impute", path, option, "new=7", *told)
        assert (status, "Failed(new)" in out, "warning: " in err) == (0, True, False)


def test_capital_letters_repetitions_and_evidence_of_relational_models(tmp_path, capsys):
    model = {
        "format": "lifagu/1",
        "domains": {"P": ["eve", "bob", "x", "A"]},
        "relations": [{"name": "Smokes", "of": ["P"]}, {"name": "Ill", "of": ["P"]}],
        "parfactors": [
            {"name": "f", "args": ["Smokes(Eve)"], "table": [1, 4]},
            {"name": "g", "args": ["Smokes(Eve)"], "table": [2, 8]},
            {"name": "h", "args": ["Smokes(X)"], "table": [1, 2]},
            {"name": "k", "args": ["Smokes(A)"], "table": [1, 3]},
        ],
        "evidence": {"Ill(eve)": "true"},
    }
    (tmp_path / "m.json").write_text(json.dumps(model))
    twice, capital, letter, unused = said(tmp_path / "m.json")
    assert "'f' and 'g' have the same table over Smokes(Eve)" in twice
    assert "if eve alone is meant, write eve" in capital
    assert 'if A alone is meant, write "A"' in letter
    assert unused.startswith("Ill is observed")
    status, out, err = run_cli(capsys, "check", str(tmp_path / "m.json"))
    assert (status, "ok" in out, err.count("warning: ")) == (0, True, 4)


def test_what_examples_and_ground_models_say_twice():
    for path in sorted(Path("examples").glob("*.json")):
        if not path.name.startswith("hospital"):  # whose database is made elsewhere
            assert said(path) == ()
    builder = lifagu.FactorGraph.build().variables(["A", "B"])
    builder.factor("f", ["A", "B"], [1, 2, 3, 4]).factor("g", ["A", "B"], [2, 4, 6, 8])
    builder.factor("h", ["B"], [1, 1]).factor("k", ["B"], [1, 1]).factor("m", ["A"], [1, 2])
    (line,) = lifagu.open(builder.graph()).suspicions
    assert line.startswith("'f' and 'g' have the same table over A, B")
