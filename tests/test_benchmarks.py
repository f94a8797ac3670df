"""The benchmark runs, its tables are whole, and lifagu is right wherever there is something to compare with."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GROUND = Path(__file__).parent.parent / "benchmarks" / "ground.py"
FAMILIES = ["Epidemic", "Cohorts", "Binary grid", "Bayesian networks", "All marginals"]
COLUMNS = ["model", "lifagu", "pyAgrum", "pgmpy", "opt_einsum", "cotengra greedy", "cotengra auto", "reference"]
FAILURE = r"–|nan|inf|memory|crashed|not installed|>\d+ s( to build)?|error: .*"


@pytest.fixture(scope="module")
def tables() -> dict[str, list[list[str]]]:
    """The rows of each table of a small run, headings first, by the first words of its title."""
    command = [sys.executable, str(GROUND), "--small", "--limit", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[str]]] = {}
    for section in done.stdout.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        found[re.split("[,:]", title)[0]] = [rows[0], *rows[2:]]
    return found


def test_every_family_has_a_table(tables: dict[str, list[list[str]]]) -> None:
    assert list(tables) == FAMILIES
    for heading, *rows in tables.values():
        assert heading == COLUMNS
        assert len(rows) >= 2
        assert all(len(row) == len(COLUMNS) for row in rows)


def test_every_cell_is_a_ratio_with_digits_or_says_what_failed(tables: dict[str, list[list[str]]]) -> None:
    for _, *rows in tables.values():
        for row in rows:
            assert re.fullmatch(r"[\d.e+]+ ms( · \d+)?", row[1]), row
            for cell in row[2:-1]:
                assert re.fullmatch(rf"[\d.e+-]+×( · \d+)?|{FAILURE}", cell), row
            assert re.fullmatch(r"enumeration|median of \d|none", row[-1]), row


def test_lifagu_is_right_wherever_there_is_a_reference(tables: dict[str, list[list[str]]]) -> None:
    for title, (_, *rows) in tables.items():
        compared = [row for row in rows if row[-1] != "none"]
        assert any(row[-1] == "enumeration" for row in compared), title
        for row in compared:
            assert int(row[1].split("·")[1]) >= 9, row


def test_relational_models_are_right_at_every_size() -> None:
    command = [sys.executable, str(GROUND.with_name("relational.py")), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ") and "model" not in line]
    assert len(rows) > 15
    for row in rows:
        assert float(row[4].split()[0]) < 1e-9, row


def test_filling_holes_is_measured() -> None:
    command = [sys.executable, str(GROUND.with_name("transfer.py")), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all(row.count("×)") == 5 for row in rows[1:])


def test_lifted_inference_is_measured_and_right() -> None:
    command = [sys.executable, str(GROUND.with_name("lifted.py")), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line[:2] == "| "
    ]
    assert len(rows) == 6
    assert all(float(row[-1]) < 1e-9 for row in rows[1:])


def test_lifting_is_measured() -> None:
    command = [sys.executable, str(GROUND.with_name("lifting.py")), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 7
    assert all("4 relations, 3 parfactors" in row for row in rows[1:4])


def test_colour_passing_is_measured_and_right() -> None:
    command = [sys.executable, str(GROUND.with_name("colour.py")), "--small", "--limit", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line[:2] == "| "
    ]
    groups = {row[0]: row[2] for row in rows if len(row) == 8}
    assert groups["epidemic, in order"] == groups["epidemic, shuffled"] == "4 + 3"
    assert (groups["torus 33 × 33"], groups["star"]) == ("1 + 1", "2 + 1")
    assert (groups["path of 1000"], groups["random triples"]) == ("1,000 + 999", "1,000 + 3,333")
    assert all(re.fullmatch(r"[\d.]+×", row[5]) for row in rows[1:7])
    peers = rows[-4:]
    assert [row[0] for row in peers] == ["epidemic", "torus", "path", "random triples"]
    assert all(re.fullmatch(rf"[\d.e+]+× \([\d,]+\)|{FAILURE}", cell) for row in peers for cell in row[3:])


def test_files_are_measured_and_read_back_equal() -> None:
    command = [sys.executable, str(GROUND.with_name("files.py")), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line[:2] == "| "
    ]
    assert [row[2] for row in rows[1:]] == ["Parquet"] * 3 + ["JSON"] * 3
    assert all(row[-1] == "yes" for row in rows[1:])


def users_at_work(*options: str) -> None:
    command = [sys.executable, str(GROUND.with_name("web.py")), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 failed.") == 2
    assert done.stdout.count("| open |") == 2


def test_the_page_answers_several_users() -> None:
    users_at_work("--small")


@pytest.mark.full
def test_the_page_answers_fifty_users_for_a_minute() -> None:
    users_at_work()
