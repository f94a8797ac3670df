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


SHEETS = """
import json, sys, warnings
from importlib.util import find_spec
from pathlib import Path
import numpy as np
from raw_tables import Raw, read_cells
from rivals import RIVALS
from scores import clipped_losses
from sheets import sheets
warnings.simplefilter("ignore")

def sheet(folder):
    template = json.loads((folder / "t.json").read_text())
    (found,), unable = sheets(Raw(folder / "data"), (), template, read_cells(folder / "cells.csv"))
    assert not unable
    return found

def loss(sheet, told):
    losses = [clipped_losses(told[each.told.relation], each.told.truth) for each in sheet.targets]
    return float(np.concatenate(losses).mean())
"""
BOOSTED = f"""{SHEETS}
found = sheet(Path(sys.argv[1]))
told = RIVALS["boosting (scikit-learn) + features"].predict(found)
for each in found.targets:
    print(clipped_losses(told[each.told.relation], each.told.truth).mean())
"""


@pytest.mark.full
def test_boosting_tells_nothing_where_only_hidden_cells_would(machines: Path):
    """Both columns of a machine are hidden at once: neither tells the other, nor does the hall."""
    losses = [float(line) for line in beside(BOOSTED, machines).splitlines()]
    assert len(losses) == 2
    assert min(losses) > math.log(2) - 0.05


CODED = f"""{SHEETS}
found = sheet(Path(sys.argv[1]))
print([[each.name, each.size, int((each.values < 0).sum())] for each in found.coded()])
print([each.name for each in found.plain(found.targets[0])])
"""


def test_sheets_code_targets_first_and_no_column_tells_itself(machines: Path):
    coded, plain = beside(CODED, machines).splitlines()
    assert coded == "[['Dark', 2, 24], ['Heat', 2, 24], ['hall', 3, 0]]"
    assert plain == "['hall', 'heat']"


POINTED = """
import numpy as np, pandas as pd
from features import Known
from loading import Pointer
things = pd.DataFrame({"kind": list("aabbcc"), "size": [1, 2, 3, 4, 5, 6]})
kinds = pd.DataFrame({"id": list("abc"), "weight": [1.0, 2.0, 3.0]})
tables = {"things": things, "kinds": kinds}
known = Known(tables, (Pointer(("kind",), "kinds", ("id",)),), tables)
for made in (known.plain, known.features):
    print([each.name for each in made("things", ["size"])])
    print([each.name for each in made("things", ["kind"])])
"""


def test_no_column_is_told_by_what_it_points_to():
    """In training rows that would tell it, and hidden cells point nowhere."""
    assert beside(POINTED).splitlines() == ["['kind', 'kind.weight']", "['size']"] * 2


def planted(folder: Path, turned: int) -> Path:
    """Halls tell the colour, the colour tells the shape but for every eighth; hidden ones turned.

    turned: by how many labels the hidden shapes and colours differ from what was planted.
    """
    labels = {"Colour": ("red", "green", "blue"), "Shape": ("round", "square", "long")}
    hidden = {"Colour": range(1, 300, 6), "Shape": range(0, 300, 6)}
    numbers = {"Colour": [], "Shape": []}
    for n in range(300):
        colour = n % 25 % 3
        numbers["Colour"].append(colour)
        numbers["Shape"].append((colour + (n % 8 == 0)) % 3)
    for name, places in hidden.items():
        for place in places:
            numbers[name][place] = (numbers[name][place] + turned) % 3
    texts = {name: [labels[name][each] for each in numbers[name]] for name in labels}
    (folder / "data").mkdir(parents=True)
    with (folder / "data" / "things.csv").open("w", newline="") as file:
        rows = [(f"t{n}", f"h{n % 25}", texts["Colour"][n], texts["Shape"][n]) for n in range(300)]
        csv.writer(file).writerows([("id", "hall", "colour", "shape"), *rows])
    evidence = {name: {"sql": f"SELECT id, {name.lower()} FROM things"} for name in labels}
    relations = [{"name": name, "of": ["T"], "range": list(labels[name])} for name in labels]
    template = {"relations": relations, "evidence": evidence, "queries": list(labels)}
    (folder / "t.json").write_text(json.dumps(template))
    with (folder / "cells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("relation", "individual", "value", "distribution"))
        for name, places in hidden.items():
            even = json.dumps(dict.fromkeys(labels[name], 1 / 3))
            writer.writerows((name, f"t{n}", texts[name][n], even) for n in places)
    return folder


PREDICTED = f"""{SHEETS}
found, turned = (sheet(Path(each)) for each in sys.argv[1:])
installed = [each for each in RIVALS.values() if not each.package or find_spec(each.package)]
for rival in installed:
    told, again = rival.predict(found), rival.predict(turned)
    for each in found.targets:
        one = told[each.told.relation]
        assert one.shape == (len(each.asked), 3), rival.name
        assert (one >= 0).all() and np.allclose(one.sum(1), 1), rival.name
        assert np.array_equal(one, again[each.told.relation]), rival.name
    print(f"{{rival.name}}={{loss(found, told)}}")
"""


@pytest.mark.full
def test_rivals_find_what_is_planted_and_never_see_hidden_cells(tmp_path: Path):
    """Distributions, better than frequencies, and the same whatever the hidden cells were."""
    folders = planted(tmp_path / "planted", 0), planted(tmp_path / "turned", 1)
    lines = [line.rsplit("=", 1) for line in beside(PREDICTED, *folders).splitlines()]
    losses = {name: float(loss) for name, loss in lines}
    usual = losses.pop("frequencies")
    assert {"group pooling", "random forest", "KNNImputer"} <= set(losses)
    assert {name: loss for name, loss in losses.items() if loss > usual - 0.2} == {}


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


# ---- the league


HOLES = """
import json, sys
from pathlib import Path
import numpy as np
from holes import observed, write_hidden, write_holed
from raw_tables import Raw
from tasks import TASKS, Task
folder = Path(sys.argv[1])
template = json.loads((folder / "t.json").read_text())
raw = Raw(folder / "data")
seen = observed(raw, template)
for kind in ("autocomplete", "as it really is", "new individuals", "learning curve"):
    task = next(each for each in TASKS if each.kind == kind)
    holes = task.hide(seen, raw.tables, np.random.default_rng(0))
    again = task.hide(seen, raw.tables, np.random.default_rng(0))
    assert all((holes.cells[name] == again.cells[name]).all() for name in holes.cells)
    to = folder / kind / "data"
    to.parent.mkdir()
    write_holed(folder / "data", to, seen, holes, (), False)
    frame = Raw(to).tables["machines"]
    gone = sum(len(rows) for rows in holes.cells.values())
    left = len(frame) + sum(len(rows) for rows in holes.rows.values())
    write_hidden(folder / "hidden.csv", seen, holes)
    listed = len((folder / "hidden.csv").read_text().splitlines()) - 1
    print(kind, gone == listed == int(frame[["dark", "heat"]].isna().sum().sum()), left)
"""


def test_what_a_task_hides_is_gone_from_the_database(machines: Path):
    told = beside(HOLES, machines).splitlines()
    assert told == [
        f"{kind} True 120"
        for kind in ("autocomplete", "as it really is", "new individuals", "learning curve")
    ]


def department(folder: Path) -> None:
    """Five areas of made people, as the facts of UW-CSE have them: phases go with years."""
    for area in range(5):
        facts, advised = [], []
        for person in range(40 * area, 40 * area + 40):
            phase = ("pre_quals", "post_quals", "post_generals")[person % 3]
            facts += [f"student(person{person}).", f"sameperson(person{person},person{person})."]
            facts += [f"inphase(person{person},{phase})."] if person % 7 else []
            facts += [f"yearsinprogram(person{person},year_{1 + person % 3 * 2 + person % 2})."]
            facts += [f"publication(t{person}{n},person{person})." for n in range(person % 3)]
            facts += [f"professor(prof{person}).", f"sameperson(prof{person},prof{person})."]
            facts += [f"hasposition(prof{person},faculty{'_adjunct' if person % 4 == 0 else ''})."]
            facts += [f"taughtby(c{person},prof{person},autumn_1)."] if person % 4 else []
            facts += [f"samecourse(c{person},c{person}).", f"courselevel(c{person},level_400)."]
            facts += [f"projectmember(p{area},person{person})."]
            facts += [f"tempadvisedby(person{person},prof{person})."] if person % 3 == 0 else []
            advised += [f"advisedby(person{person},prof{person})."] if person % 3 else []
        facts += [f"sameproject(p{area},p{area}).", f"ta(c{40 * area},person{40 * area},autumn_1)."]
        fold = folder / "uwcse" / f"fold{area + 1}"
        fold.mkdir(parents=True)
        (fold / "facts.txt.gz").write_bytes(gzip.compress("\n".join(facts).encode()))
        (fold / "advised_by.txt.gz").write_bytes(gzip.compress("\n".join(advised).encode()))


@pytest.mark.parametrize("seeds", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_small_league_is_played_and_reported(tmp_path: Path, seeds: int):
    """Data that are absent are said; what was played is kept, and reported again from there."""
    department(tmp_path / "data")
    page = tmp_path / "REPORT.md"
    ways = ["lifagu", "lifagu by hand", "frequencies", "group pooling", "random forest"]
    ways = ways if seeds > 1 else ways[:-1]
    command = [sys.executable, REAL / "league.py", "--small", "--out", page]
    command += ["--data", tmp_path / "data", "--folder", tmp_path / "kept", "--only", "uwcse"]
    done = subprocess.run(
        [*command, "eicu", "--seeds", str(seeds), "--ways", *ways],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "eicu: no CSV files" in done.stderr
    text = page.read_text()
    row = next(line for line in text.splitlines() if line.startswith("| autocomplete: uwcse"))
    usual, best, ours = (float(cell.split()[0]) for cell in row.split("|")[3:6])
    assert ours < usual
    assert best <= usual
    assert f"{seeds} seed{'s' * (seeds > 1)} a task" in text
    assert "why Phase(person138) is" in text
    assert (tmp_path / "figures" / "league_reliability.svg").exists()
    before = sorted(path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.npz"))
    again = subprocess.run([*command, "--report-only"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert before == sorted(path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.npz"))
