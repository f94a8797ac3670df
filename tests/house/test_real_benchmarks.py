"""Databases of other people: prepared as told, hidden cells seen by nobody, scores as defined."""

import csv
import gzip
import json
import math
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.helpers import ROOT

pytest.importorskip("sklearn")
pytest.importorskip("pandas")
REAL = ROOT / "benchmarks" / "real"
FACTS = """professor(ann).
student(bob).
sameperson(ann,ann).
sameperson(bob,bob).
hasposition(ann,faculty).
inphase(bob,pre_quals).
yearsinprogram(bob,year_1).
samecourse(c1,c1).
courselevel(c1,level_300).
sameproject(p1,p1).
taughtby(c1,ann,autumn_0001).
ta(c1,bob,autumn_0001).
projectmember(p1,bob).
publication(t1,ann).
tempadvisedby(bob,ann).
"""


def beside(code: str, *arguments: object) -> str:
    """What a program prints that imports from the folder of these benchmarks."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REAL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def prepare(data: Path, folder: Path, *names: str) -> str:
    command = [sys.executable, REAL / "databases.py", folder, "--data", data, "--only", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_facts_become_tables_with_keys(tmp_path: Path):
    fold = tmp_path / "uwcse" / "fold1"
    fold.mkdir(parents=True)
    (fold / "facts.txt.gz").write_bytes(gzip.compress(FACTS.encode()))
    (fold / "advised_by.txt.gz").write_bytes(gzip.compress(b"advisedby(bob,ann).\n"))
    assert "uwcse.sqlite" in prepare(tmp_path, tmp_path / "made", "uwcse")
    with closing(sqlite3.connect(tmp_path / "made" / "uwcse.sqlite")) as made:
        people = made.execute("SELECT * FROM person ORDER BY id").fetchall()
        advised = made.execute("SELECT * FROM advisedby").fetchall()
        links = made.execute("PRAGMA foreign_key_list(advisedby)").fetchall()
    assert people == [
        ("ann", "area1", "professor", "faculty", None, None),
        ("bob", "area1", "student", None, "pre_quals", "year_1"),
    ]
    assert advised == [("bob", "ann")]
    assert {(row[2], row[3], row[4]) for row in links} == {
        ("person", "student", "id"),
        ("person", "professor", "id"),
    }


def test_what_is_absent_says_so(tmp_path: Path):
    said = prepare(tmp_path, tmp_path / "made", "eicu", "webkb")
    assert "eicu: no CSV files" in said
    assert "webkb: no facts" in said
    assert said.count("skipped") == 2


@pytest.fixture
def machines(tmp_path: Path) -> Path:
    """A folder with machines, a template about them, and hidden cells as validation lists them."""
    rows = [(f"m{n}", f"h{n % 3}", n % 2, 10.0 * (n % 2) + n % 3) for n in range(120)]
    (tmp_path / "data").mkdir()
    with (tmp_path / "data" / "machines.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "hall", "dark", "heat"), *rows])
    relations = [{"name": "Dark", "of": ["M"]}, {"name": "Heat", "of": ["M"]}]
    relations[1]["range"] = {"bins": 2}
    some = "SELECT * FROM machines WHERE hall > '' OR heat IS NULL"
    evidence = {
        "Dark": {"sql": f"SELECT id, dark FROM ({some}) AS t"},
        "Heat": {"sql": "SELECT id, CASE WHEN heat < 90 THEN heat END FROM machines"},
    }
    template = {"relations": relations, "evidence": evidence, "queries": ["Dark", "Heat"]}
    (tmp_path / "t.json").write_text(json.dumps(template))
    with (tmp_path / "cells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("relation", "individual", "value", "probability", "distribution"))
        for name, _, dark, heat in rows[:24]:
            even = json.dumps({"false": 0.5, "true": 0.5})
            writer.writerow(("Dark", name, "true" if dark else "false", 0.5, even))
            bins = json.dumps({"up to 2": 0.5, "over 2": 0.5})
            writer.writerow(("Heat", name, "up to 2" if heat <= 2 else "over 2", 0.5, bins))
    return tmp_path


LOOK = """
import json, sys
from pathlib import Path
from raw_tables import Raw, hide, read_cells, targets
folder = Path(sys.argv[1])
raw = Raw(folder / "data")
template = json.loads((folder / "t.json").read_text())
found = targets(raw, template, read_cells(folder / "cells.csv"))
hidden = hide(raw.tables, found)["machines"]
print(json.dumps([[each.table, each.columns, len(each.rows), each.asked.tolist()]
                  for each in found]))
print(hidden[["dark", "heat"]].head(24).notna().to_numpy().sum(), hidden.isna().to_numpy().sum())
"""


def test_hidden_cells_are_hidden_in_raw_rows(machines: Path):
    """Those that tell the value, and no other columns that a query only has conditions on."""
    found, missing = beside(LOOK, machines).splitlines()
    rows = list(range(24))
    assert json.loads(found) == [["machines", [column], 96, rows] for column in ("dark", "heat")]
    assert missing == "0 48"


@pytest.mark.full
def test_boosting_tells_nothing_where_only_hidden_cells_would(machines: Path):
    """Both columns of a machine are hidden at once: neither tells the other, nor does the hall."""
    arguments = (machines / "t.json", machines / "cells.csv", machines / "data")
    command = [sys.executable, REAL / "boosting.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert float(line.split("boosting ")[1].split(",")[0]) > math.log(2) - 0.05


RATES = """
import numpy as np
from features import folds, rates
groups, rows = np.arange(50), np.arange(50)
values = rows % 2
own, asked = rates(groups, rows, values, 2, folds(50, 0), np.array([0, 1]))
print(np.ptp(own, axis=0).tolist(), asked[:, :2].round(2).tolist())
"""


def test_nobody_sees_the_own_label_in_a_rate():
    """In groups of one, all training rows look alike; asked rows see the group."""
    assert beside(RATES) == "[0.0, 0.0, 0.0] [[0.25, 0.75], [0.75, 0.25]]"


SCORES = """
import numpy as np
from scores import calibration_error, clipped_losses, interval
sure = np.array([[1.0, 0.0], [0.0, 1.0]])
print(clipped_losses(sure, np.array([1, 1])).round(4).tolist())
print(calibration_error(np.array([0.9, 0.9]), np.array([True, False])))
low, high = interval(np.array([1.0, 1.0, 0.0, 0.0]), ["a", "a", "b", "b"])
print(low, high)
"""


def test_scores_are_as_defined():
    losses, error, spread = beside(SCORES).splitlines()
    assert losses == f"[{-math.log(1e-4 / (1 + 1e-4)):.4f}, {math.log(1 + 1e-4):.4f}]"
    assert float(error) == pytest.approx(0.4)
    assert spread == "0.0 1.0"
