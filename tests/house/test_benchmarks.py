"""The benchmarks run, small; tables are whole, and lifagu is right wherever there is a reference.

One run of the report covers every part. Where peers are not installed, cells say so.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.helpers import ROOT
from support.spark_cluster import WHY_NOT

BENCHMARKS = ROOT / "benchmarks"
FAILURE = r"–|nan|inf|memory|crashed|not installed|>\d+ s( to build)?|error: .*"
TIME = r"[\d.e+]+ (µs|ms|s)"
RATIO = r"[\d.,e+-]+×"
Table = list[dict[str, str]]


def run_report(*options: str, folder: Path = BENCHMARKS) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "report.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_beside(code: str, **environment: str) -> str:
    """What a program prints that imports from the benchmarks."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=BENCHMARKS,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SOURCE = ast.parse((BENCHMARKS / "report.py").read_text()).body
PARTS = next(
    ast.literal_eval(line.value) for line in SOURCE if ast.unparse(line).startswith("PARTS =")
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small report on all parts."""
    folder = tmp_path_factory.mktemp("report")
    done = run_report("--small", "--limit", "5", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def section(out: Path, part: str) -> str:
    found = re.search(
        rf"<!-- part: {part} -->\n(.*?)(?=<!-- part|\Z)", (out / "REPORT.md").read_text(), re.DOTALL
    )
    assert found, part
    return found[1]


def tables(out: Path, part: str) -> dict[str, Table]:
    """Each table of a part, row by row, by the first words of the heading above it."""
    found: dict[str, Table] = {}
    for piece in re.split(r"^#+ ", section(out, part), flags=re.MULTILINE)[1:]:
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in piece.splitlines()
            if line[:1] == "|"
        ]
        if rows:
            head, _, *body = rows
            found[re.split("[,:\n]", piece)[0]] = [
                dict(zip(head, row, strict=True)) for row in body
            ]
    return found


@pytest.mark.full
@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_in_the_report_with_a_figure(part, out):
    text = section(out, part)
    assert text.count("**In short:** ") >= 1
    assert re.search(
        r"^Measured: \d{4}-\d\d-\d\d, in \d+ s; load before [\d.]+", text, re.MULTILINE
    )
    assert f"](figures/{part}.svg)" in text
    figure = (out / "figures" / f"{part}.svg").read_text()
    points = [line.split(",") for line in (out / "figures" / "points.csv").read_text().splitlines()]
    assert any(point[0] == part for point in points)
    assert "<dc:date>" not in figure
    assert "</svg>" in figure


@pytest.mark.full
def test_the_report_says_where_it_ran_and_names_nobody(out):
    text = (out / "REPORT.md").read_text()
    for word in (
        "processor",
        "memory",
        "system",
        "Python",
        "kernel of lifagu",
        "versions",
        "settings",
    ):
        assert f"| {word} | " in text
    assert str(ROOT) not in text
    assert str(out) not in text
    assert sys.prefix not in text


@pytest.mark.full
def test_equal_points_give_equal_figures(out, tmp_path):
    shutil.copytree(out, tmp_path / "again")
    again = tmp_path / "again" / "figures"
    for path in again.glob("*.svg"):
        path.unlink()
    subprocess.run([sys.executable, str(BENCHMARKS / "growth.py"), str(again)], check=True)
    for part in PARTS:
        assert (again / f"{part}.svg").read_bytes() == (out / f"figures/{part}.svg").read_bytes()


# ---- the parts


def check_beside_peers(table: Table, exact: bool) -> None:
    """Every cell is a ratio with digits or says what failed; lifagu is right where known."""
    names = [
        "model",
        "lifagu",
        "pyAgrum",
        "pgmpy",
        "opt_einsum",
        "cotengra greedy",
        "cotengra auto",
        "reference",
    ]
    assert len(table) >= 2
    assert not exact or any(row["reference"] == "enumeration" for row in table)
    for row in table:
        assert list(row) == names
        assert re.fullmatch(rf"{TIME}( · \d+)?", row["lifagu"]), row
        assert re.fullmatch(r"enumeration|median of \d|none", row["reference"]), row
        for name in names[2:-1]:
            assert re.fullmatch(rf"{RATIO}( · \d+)?|{FAILURE}", row[name]), row
        if row["reference"] != "none":
            assert int(row["lifagu"].split("·")[1]) >= 9, row


@pytest.mark.full
def test_ground_inference(out):
    found = tables(out, "ground")
    assert list(found) == [
        "Epidemic",
        "Cohorts",
        "Binary grid",
        "Bayesian networks",
        "All marginals",
    ]
    for table in found.values():
        check_beside_peers(table, exact=True)


@pytest.mark.full
def test_lifted_inference(out):
    found = tables(out, "lifted")
    large = found.pop("Large graphs")
    check_closed_forms(found.pop("Families with closed forms"), families=13)
    assert list(found) == ["Competing workshops", "Smokers and friends", "Ring of n"]
    for table in found.values():
        check_beside_peers(table, exact=True)
    assert len(large) == 5
    assert all(float(row["checked"]) < 1e-9 for row in large)


def check_closed_forms(table: Table, families: int) -> None:
    """All that is small is answered, and right."""
    assert len({row["family"] for row in table}) == families
    for row in table:
        answered, asked = row["answered"].split(" of ")
        assert answered == asked, row
        assert re.fullmatch(TIME, row["time"]), row
        assert re.fullmatch(r"–|-?\d+\.\d", row["growth"]), row
        assert float(row["error"]) < 1e-12, row


def test_what_is_refused_stopped_or_wrong_is_shown():
    found = run_beside(
        "import time\nimport numpy as np\nimport checked, lifagu\nfrom ground_families import *\n"
        "def make(size, random):\n    return two_parts(2, random)\n"
        "def fails(asked):\n    raise lifagu.TooLargeError('no room')\n"
        "def sleeps(asked):\n    time.sleep(9)\n"
        "def errs(asked):\n    return np.log([0.25, 0.75]), 0.0\n"
        "checked.LIMIT = 0.3\n"
        "for work in (fails, sleeps, errs):\n"
        "    checked._query = work\n"
        "    for line in checked.lines(checked.Family('a', (1, 2), make, 2)): print(line[2], "
        "line[3], line[5])"
    )
    *failed, wrong, _ = found.splitlines()
    assert failed == ["0 of 2 refused (2) –"] * 2 + [
        "0 of 2 >0.3 s (1), not asked (1) –",
        "0 of 2 not asked (2) –",
    ]
    assert re.fullmatch(rf"2 of 2 {TIME} (\S+)", wrong)
    assert float(wrong.split()[-1]) > 0.4


@pytest.mark.full
def test_imputing(out):
    found = tables(out, "impute")
    sizes, beside = found.values()
    assert [(row["patients"], row["factors"]) for row in sizes] == [
        ("100", "301"),
        ("1,000", "3,001"),
    ]
    for row in sizes:
        for step in ("load", "fill and colour", "and answer", "write"):
            assert re.fullmatch(rf"{TIME} \({TIME}\)", row[step]), row
    far = {row["filled by"]: float(row["mean KL"]) for row in beside}
    assert len(far) == 9
    assert far["profiles of individuals"] < far["the paper to the letter"]


@pytest.mark.full
def test_databases_give_the_same_whatever_their_kind(out):
    (rows,) = tables(out, "databases").values()
    assert [row["database"] for row in rows] == [
        "DuckDB",
        "Parquet files",
        "CSV files",
        "PostgreSQL",
    ] * 2
    measured = [row for row in rows if row["load"] != "not installed"]
    assert len(measured) >= 6
    assert all(row["equal"] == "yes" for row in measured)


@pytest.mark.full
def test_relational_models_are_right_at_every_size(out):
    models, growth, closed_forms = tables(out, "relational").values()
    check_closed_forms(closed_forms, families=31)
    assert len(models) > 15
    assert all(float(row["error"].split()[0]) < 1e-9 for row in models)
    assert any(
        re.fullmatch(rf"HORUS > {RATIO} \(> 8 s\)", row["best peer, earlier"]) for row in models
    )
    assert len(growth) == 8


@pytest.mark.full
def test_own_tables_are_right_at_every_size(out):
    found = tables(out, "own_tables")
    beside, stays = (
        found.pop("Auto beside lifted and ground"),
        found.pop("Stays in intensive care", None),
    )
    assert (stays is None) == ("The data is absent here" in section(out, "own_tables"))
    assert list(found) == ["Made-up stays in hospitals", "Individuals", "Chains"]
    rows = [row for table in (stays or [], *found.values()) for row in table]
    asked = {
        model: {row["asked"] for row in rows if row["model"] == model}
        for model in ("around one", "in wards")
    }
    assert (
        asked["around one"] == asked["in wards"] == {"all marginals", "P(shared)", "P(own)", "best"}
    )
    assert len(rows) == (1 + 4 + 3 + 4 + 2) * 3 + 3 * bool(stays)
    for row in rows:
        assert float(row["error"]) < 1e-12, row
        assert re.fullmatch(rf"{RATIO} \({TIME}\)", row["time"]), row
        assert re.fullmatch(TIME, row["pass"]), row
        assert re.fullmatch(r"–|-?\d+\.\d", row["growth"]), row
        assert re.fullmatch(r"\d+\.\d\d GiB", row["memory"]), row
        assert (row["read"] == "–") == (row["asked"] != "all marginals"), row
    assert len(beside) >= 15
    for row in beside:
        assert re.fullmatch(TIME, row["auto"]), row
        assert float(row["ratio"]) > 0, row


def test_a_wrong_or_slow_answer_with_own_tables_is_shown():
    found = run_beside(
        "import time\nfrom dataclasses import replace\nimport own_models as own\n"
        "from own_tables import *\n"
        "def wrong(size):\n"
        "    known = own.apart_known(size)\n"
        "    return replace(known, marginals={0: known.marginals[0][::-1]}, "
        "log_best=known.log_best + 1)\n"
        "def slow(size):\n    return time.sleep(99 * (size > 1)) or own.apart(size)\n"
        "import own_tables\nown_tables.LIMIT = 3\n"
        "part = Part(True, 1, None, False)\n"
        "for make, known in ((own.apart, wrong), (slow, own.apart_known)):\n"
        "    work = Workload('a', 'A', 'b', (1, 4, 5), make, known, (EVERY, BEST))\n"
        "    for line in measured_lines(part, work): print(line[3], line[-1])"
    )
    wrong, slow = found.splitlines()[:6], found.splitlines()[6:]
    assert all(float(line.split()[1]) > 1e-3 for line in wrong)
    assert slow[2:] == [">3 s –"] * 2 + ["not asked –"] * 2


@pytest.mark.full
def test_learned_tables_stand_beside_peers(out):
    (rows,) = tables(out, "learning").values()
    assert [row["learned by"] for row in rows] == [
        "frequencies",
        "pair tables and hospitals",
        "8 latent classes",
        "gradient boosting",
    ]
    for row in rows[:3]:
        assert 1 < float(row["log loss"]) < 3, row
    for row in rows[1:3]:
        assert re.fullmatch(TIME, row["time"]), row
        assert re.fullmatch(r"[\d,]+ MiB", row["memory"]), row
    if not re.fullmatch(FAILURE, rows[3]["time"]):
        assert float(rows[3]["log loss"]) > 1
        assert all(re.fullmatch(RATIO, row["by boosting"]) for row in rows[1:])


def test_drawn_stays_follow_their_tables():
    found = run_beside(
        "import numpy as np\nimport made_stays\nfrom learned_stays import *\n"
        "cells, seen, hospital = drawn_stays(10_100)\n"
        "print(cells.shape, (seen[:, 13:] == cells[:, 13:]).all())\n"
        "print(0.15 < (seen < 0).mean() < 0.25)\n"
        "print((cells[:10_000] == drawn_stays(10_000)[0]).all())\n"
        "tied = [np.corrcoef(made_stays.tables()[1][c][hospital, 0], cells[:, c] == 0)[0, 1] "
        "for c in range(13)]\n"
        "print(min(tied) > 0.05, len(joint_template()['parfactors']))"
    )
    assert found.splitlines() == ["(10100, 16) True", "True", "True", "True 130"]


def test_stays_are_binned_and_hidden_as_described(tmp_path):
    found = run_beside(
        "import gzip, pathlib, eicu\n"
        f"eicu.FOLDER = pathlib.Path({str(tmp_path)!r})\n"
        "print(eicu.at_hand())\n"
        "names = ('stay', 'hospital', *eicu.COLUMNS)\n"
        "rows = [[i, 'h', ['20', '> 89', ''][i % 3], 'Male', *['a'] * 5, 'often' if i < 30 else "
        "f'rare{i}', i, i, i,"
        " 'a', 'a'] for i in range(40)]\n"
        "def write(name, lines):\n"
        "    with gzip.open(eicu.FOLDER / name, 'wt') as file:\n"
        "        file.writelines(','.join(map(str, line)) + chr(10) for line in lines)\n"
        "write('stay.csv.gz', [names, *rows])\n"
        "write('hospital.csv.gz', [('hospital', *eicu.OF_HOSPITAL), ('h', 'West', '', '1.0')])\n"
        "values, sizes = eicu.stays()\n"
        "print(eicu.at_hand(), sizes)\n"
        "print(values[:3, 0].tolist(), values[[0, 29, 30, 39], 7].tolist(), values[[0, 10, 39], "
        "8].tolist())\n"
        "seen = eicu.observed(100)\n"
        "print(seen.shape, (seen[:40] != seen[40:80]).any(), (seen[:, 13] == 0).all(), (seen[:, "
        "14] == -1).all())\n"
        "print(0.1 < (seen[:, 1] < 0).mean() < 0.3)"
    )
    assert found.splitlines() == [
        "False",
        "True (2, 1, 1, 1, 1, 1, 1, 2, 4, 4, 4, 1, 1, 1, 0, 1)",
        "[0, 1, -1] [0, 0, 1, 1] [0, 1, 3]",
        "(100, 16) True True True",
        "True",
    ]


@pytest.mark.full
def test_colour_passing(out):
    found = tables(out, "colour")
    assert [row["groups"] for row in found["Against sorting"]] == [
        *("4 + 3", "4 + 3", "1 + 1", "2 + 1", "1,000 + 999", "1,000 + 3,333")
    ]
    assert all(
        re.fullmatch(RATIO, row["ratio"]) for row in found["Against sorting"] + found["Growth"]
    )
    assert len(found["What else is compiled"]) == 6
    peers = found["Beside peers"]
    assert [row["graph"] for row in peers] == ["epidemic", "torus", "path", "random triples"]
    cells = [cell for row in peers for cell in list(row.values())[3:]]
    assert all(re.fullmatch(rf"{RATIO} \([\d,]+\)|{FAILURE}", cell) for cell in cells)


@pytest.mark.full
def test_filling_holes(out):
    table, cohorts = tables(out, "transfer").values()
    assert [row["unknown"] for row in table] == ["79", "937"]
    assert [row["factors"] for row in cohorts] == ["1,000", "10,000"]
    cells = [cell for row in (*table, *cohorts) for cell in list(row.values())[3:]]
    assert len(cells) == 16
    assert all(re.fullmatch(rf"{RATIO} \({TIME}\)", cell) for cell in cells)


@pytest.mark.full
def test_lifting(out):
    (table,) = tables(out, "lifting").values()
    assert len(table) == 9
    epidemics = [row["lifted model"] for row in table if row["graph"].startswith("epidemic")]
    assert epidemics == ["2 domains, 4 relations, 3 parfactors"] * 3


@pytest.mark.full
def test_files_are_read_back_equal(out):
    growth, beside = tables(out, "files").values()
    assert [row["kept as"] for row in growth] == ["Parquet"] * 6 + ["JSON"] * 6
    assert all(row["equal"] == "yes" for row in growth)
    assert re.fullmatch(TIME, beside[0]["lifagu reads"])
    assert re.fullmatch(rf"{RATIO}|{FAILURE}", beside[0]["pyAgrum reads"])


@pytest.mark.full
def test_end_to_end(out):
    found = tables(out, "end_to_end")
    stages = found.pop("Stages")
    assert [row["model"] for row in stages] == [
        "epidemic, 100",
        "epidemic, 1,000",
        "cohorts, 100",
        "cohorts, 1,000",
    ]
    assert all(float(row["checked"]) < 1e-9 for row in stages)
    assert list(found) == ["Epidemic completed", "Cohorts completed"]
    for table in found.values():
        check_beside_peers(table, exact=False)


def check_costs(row: dict[str, str], in_memory: bool) -> None:
    """Time by one argsort, seconds of threads and memory for all; start and disk for engines."""
    assert re.fullmatch(rf"{RATIO} \({TIME}\)", row["time"]), row
    assert re.fullmatch(TIME, row["of threads"]), row
    assert re.fullmatch(r"\d+ MiB", row["memory"]), row
    assert [row[name] == "–" for name in ("start", "Java", "disk", "spilled")] == [
        in_memory,
        True,
        *[in_memory] * 2,
    ]


@pytest.mark.full
def test_lifting_where_the_data_is(out):
    (rows,) = tables(out, "scale").values()
    assert [row["on"] for row in rows] == ["memory", "duckdb"] * 4
    for row in rows:
        check_costs(row, row["on"] == "memory")
        assert int(row["groups"]) == (7 if row["model"] == "epidemic" else 32)
        rounds = row["seconds of each"].split(", ")
        assert row["rounds"] == ("–" if row["on"] == "memory" else str(len(rounds)))


@pytest.mark.full
def test_answers_where_the_data_is(out):
    (rows,) = tables(out, "answers_by_sql").values()
    assert [row["asked"] for row in rows] == ["by DuckDB within 4 GiB", "in memory"] * 3
    for row in rows:
        check_costs(row, row["asked"] == "in memory")
        assert float(row["error"]) < 1e-12
    assert [row["rounds"] for row in rows] == ["2", "–", "2", "–", "11", "–"]


@pytest.mark.full
@pytest.mark.full
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")
def test_spark_where_the_data_is(tmp_path):
    found = run_beside(
        "from pathlib import Path\nfrom folders import *\nfrom apart import run_apart\n"
        "import answers_by_sql, scale\n"
        f"folder = Path({str(tmp_path)!r}) / 'model'\n"
        "run_apart(lambda: write_epidemic(folder, 20))\n"
        "lifted = scale.lifted_apart(folder, 'spark', 600)\n"
        "answered = answers_by_sql.answered_apart(folder, answers_by_sql.Way('spark', 1.0), 10)\n"
        "print(lifted.groups, len(lifted.rounds), answered.rounds)\n"
        "print(abs(answered.log_partition / answers_by_sql.epidemic_closed(20)[0] - 1) < 1e-12)\n"
        "for took in (lifted.took, answered.took):\n"
        "    print(took.java > 100 * 2**20, took.busy > 1, took.start > 0, took.disk > 0)"
    )
    assert found.splitlines() == ["7 2 2", "True", *["True True True True"] * 2]


def test_what_spark_lacks_is_named(tmp_path):
    code = (
        "from folders import missing; print([missing(on) for on in ('memory', 'duckdb', 'spark')])"
    )
    found = run_beside(code, PATH=str(tmp_path), JAVA_HOME="")
    assert found in ("['', '', 'Java is not installed']", "['', '', 'pyspark is not installed']")


def test_processes_that_a_run_starts_are_counted():
    child = (
        "import time\nfilled = b'1' * (50 * 2**20)\n"
        "while time.process_time() < 0.3: pass\nprint('ready', flush=True)\ninput()"
    )
    found = run_beside(
        "import subprocess, sys, time\nfrom apart import *\n"
        "assert descendants() == []\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}], stdin=subprocess.PIPE, "
        f"stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(descendants() == [child.pid], memory_peak(child.pid) > 50 * 2**20)\n"
        "own = time.process_time()\n"
        "print(0.2 < processor_seconds() - own)\n"
        "child.communicate(b'over')\n"
        "print(descendants(), memory_peak(child.pid))"
    )
    assert found.splitlines() == ["True True", "True", "[] 0"]


def test_the_disk_is_watched_and_memory_kept_within_a_limit(tmp_path):
    found = run_beside(
        "import numpy as np\nfrom pathlib import Path\nfrom apart import run_apart\n"
        "from folders import *\n"
        f"folder = Path({str(tmp_path)!r}) / 'work'\n"
        "with Watch(folder) as watch:\n"
        "    (folder / 'spilled').mkdir(parents=True)\n"
        "    (folder / 'spilled' / 'a').write_bytes(bytes(2**20))\n"
        "    (folder / 'b').write_bytes(bytes(2**21))\n"
        "print(watch.spilled >> 20, watch.disk >> 20)\n"
        "print(run_apart(lambda: [keep_within(2**30), np.ones(2**28).sum()]))"
    )
    assert found.splitlines() == ["1 3", "memory"]


@pytest.mark.parametrize("name", ["engines", "growth", "report", "scale"])
def test_examples_hold(name):
    assert run_beside(f"import doctest, {name}; print(doctest.testmod({name}))").startswith(
        "TestResults(failed=0, att"
    )


# ---- the driver


def test_parts_are_listed():
    assert run_report("--list").stdout.split() == list(PARTS)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The benchmarks in another folder, where parts can be replaced."""
    shutil.copytree(
        BENCHMARKS,
        tmp_path / "benchmarks",
        ignore=shutil.ignore_patterns("figures", "REPORT.md", "__pyc*"),
    )
    return tmp_path / "benchmarks"


def test_a_failing_part_is_shown_and_the_others_run(copied, tmp_path):
    failing = (
        "from part import begin\nbegin('Broken', ['numpy'], 'Text.').table(['a'], [['1']])\n1 / 0\n"
    )
    (copied / "transfer.py").write_text(failing)
    (copied / "lifting.py").write_text("import a_module_that_nobody_has\n")
    (copied / "files.py").write_text(
        "from part import *\nbegin('Fine', ['numpy'], 'Text.').in_short('all is well.')\n"
    )
    out = tmp_path / "out"
    done = run_report(
        *(
            "--small",
            "--out",
            str(out),
            "--only",
            "transfer",
            "--only",
            "lifting",
            "--only",
            "files",
        ),
        folder=copied,
    )
    assert done.returncode == 1
    assert "2 of 3 parts failed" in done.stderr
    assert "## Broken" in section(out, "transfer")
    assert "| 1 |" in section(out, "transfer")
    assert "**Failed:** ZeroDivisionError: division by zero" in section(out, "transfer")
    assert "**Failed:** ModuleNotFoundError: No module named 'a_module_that_nobody_has'" in section(
        out, "lifting"
    )
    text = (out / "REPORT.md").read_text()
    assert "- [Broken](#broken): failed: ZeroDivisionError" in text
    assert "- [Fine](#fine): all is well." in text


def test_a_part_without_end_is_stopped_with_what_it_has_started(copied, tmp_path):
    started = tmp_path / "started"
    endless = (
        "import os, pathlib, threading\nfrom apart import run_apart\nfrom part import begin\n"
        "begin('Endless', ['numpy'])\n"
        f"def wait():\n    pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\n"
        f"    threading.Event().wait()\n"
        "run_apart(wait)\n"
    )
    (copied / "transfer.py").write_text(endless)
    out = tmp_path / "out"
    done = run_report(
        "--small", "--out", str(out), "--only", "transfer", "--patience", "8", folder=copied
    )
    assert done.returncode == 1
    assert "**Failed:** stopped after 8 s" in section(out, "transfer")
    assert not Path(f"/proc/{started.read_text()}").exists()


def test_one_part_is_renewed_and_the_others_stay(copied, tmp_path):
    for number, part in enumerate(("transfer", "lifting")):
        (copied / f"{part}.py").write_text(
            f"from part import *\npart = begin('Part {number}', ['numpy'])\npart.in_short('old.')\n"
            "part.point('a', 'b', 'c', 1, 0.5)\npart.point('a', 'b', 'c', 2, 'nan')\n"
        )
    both = ("--out", str(tmp_path / "out"), "--small", "--only", "lifting")
    assert run_report(*both, "--only", "transfer", folder=copied).returncode == 0
    (copied / "lifting.py").write_text(
        "from part import *\nbegin('Part 1', ['numpy']).in_short('new.')\n"
    )
    assert run_report(*both, folder=copied).returncode == 0
    assert "**In short:** old." in section(tmp_path / "out", "transfer")
    assert "**In short:** new." in section(tmp_path / "out", "lifting")
    points = (tmp_path / "out/figures/points.csv").read_text().splitlines()
    assert points[1:] == ["transfer,a,b,c,1,0.5,", "transfer,a,b,c,2,,nan"]
    refused = run_report(*both, "--limit", "99", folder=copied)
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "error: REPORT.md is from another machine or other settings (settings: small"
    )


def test_a_package_that_a_new_part_brings_leaves_the_other_parts(copied, tmp_path):
    """Versions that the report names must be the same; one that it does not name joins it."""
    for part in ("transfer", "lifting"):
        (copied / f"{part}.py").write_text(
            f"from part import *\nbegin('{part}', ['numpy']).in_short('all is well.')\n"
        )
    page = tmp_path / "out" / "REPORT.md"
    one = ("--out", str(page.parent), "--small", "--only")
    assert run_report(*one, "transfer", folder=copied).returncode == 0
    whole = page.read_text()
    page.write_text(re.sub(r", pyspark [^|]*", " ", whole))
    assert "pyspark" not in page.read_text()
    assert run_report(*one, "lifting", folder=copied).returncode == 0
    assert page.read_text().startswith(whole.partition("Written by")[0])
    assert re.findall(r"<!-- part: (\w+) -->", page.read_text()) == ["transfer", "lifting"]
    page.write_text(re.sub(r"numpy [\d.]+", "numpy 0.1", whole))
    refused = run_report(*one, "lifting", folder=copied)
    assert refused.returncode == 2
    assert "(numpy: 0.1, here " in refused.stderr


# ---- what is committed


def test_the_committed_report_has_every_part_and_its_links_lead_somewhere():
    text = (BENCHMARKS / "REPORT.md").read_text()
    assert re.findall(r"<!-- part: (\w+) -->", text) == list(PARTS)
    for target in re.findall(r"\]\((?!https?:|#)([^)]+)", text):
        assert (BENCHMARKS / target).exists(), target
    assert {path.stem for path in (BENCHMARKS / "figures").glob("*.svg")} == set(
        re.findall(r"figures/(\w+)\.svg", text)
    )


@pytest.mark.parametrize("part", PARTS)
def test_the_docs_say_how_to_repeat_each_part(part):
    assert f'make bench BENCH="--only {part}"' in (ROOT / "docs" / "benchmarks.md").read_text()


def test_what_is_imported_from_the_package_is_there():
    """Also inside functions, which no short test may reach."""
    for folder in ("benchmarks", "fuzz", "docs", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("lifagu."):
                    exec(ast.unparse(node), {})
