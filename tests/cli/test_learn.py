"""`lifagu learn` as people and scripts meet it: bad input, interruption, the same bytes twice."""

import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys

import pytest

from support.helpers import ROOT, run_cli

COLUMNS = ("id", "a", "b", "c", "ward")
TEMPLATE = {
    "format": "lifagu/1",
    "source": "data.sqlite",
    "domains": {"P": {"sql": "SELECT id FROM p"}},
    "relations": [
        {"name": "A", "of": ["P"], "range": {"bins": 3}},
        {"name": "B", "of": ["P"], "range": {"sql": "SELECT DISTINCT b FROM p"}},
        {"name": "C", "of": ["P"], "range": ["no", "yes"]},
    ],
    "parfactors": [
        {"name": "ab", "args": ["A(P)", "B(P)"], "table": "learn"},
        {"name": "bc", "args": ["B(P)", "C(P)"], "table": "learn"},
        {
            "name": "here",
            "args": ["C(P)"],
            "rows": {"sql": "SELECT id AS p, ward FROM p"},
            "table": {"learn": True, "by": ["ward"]},
        },
    ],
    "evidence": {name: {"sql": f"SELECT id, {name.lower()} FROM p"} for name in "ABC"},
}
LOOP = {"name": "ac", "args": ["A(P)", "C(P)"], "table": "learn"}


def people(count=40, **columns):
    """Rows of people; columns: what stands in some of them instead, by the number of the row."""
    rng = random.Random(0)
    rows = []
    for number in range(count):
        row = {
            "id": number,
            "a": rng.gauss(0, 1),
            "b": rng.choice("uvw"),
            "c": rng.choice(["no", "yes", "yes", None]),
            "ward": rng.choice("gh"),
        }
        row |= {name: made(number) for name, made in columns.items()}
        rows.append(tuple(row[name] for name in COLUMNS))
    return rows


def put(folder, rows, template=TEMPLATE):
    """The path of a template beside its database."""
    file = folder / "data.sqlite"
    file.unlink(missing_ok=True)
    with sqlite3.connect(file) as made:
        made.execute(f"CREATE TABLE p ({', '.join(COLUMNS)})")
        made.executemany(f"INSERT INTO p VALUES ({', '.join('?' for _ in COLUMNS)})", rows)
    made.close()
    path = folder / "t.json"
    path.write_text(json.dumps(template))
    return path


def changed(**sections):
    return {**json.loads(json.dumps(TEMPLATE)), **sections}


ODD = ["it's", 'a"b', "ü ñ", "new\nline", " sp ", "a,b", "(x)", "a=b", "%s", "\\"]
HANDLED = {
    "constant label": people(b=lambda _: "u"),
    "constant number": people(a=lambda _: 5),
    "constant target": people(c=lambda _: "yes"),
    "seen once": people(b=lambda number: "u" if number else "rare"),
    "groups of one": people(ward=lambda number: f"w{number}"),
    "no groups": people(ward=lambda _: None),
    "target never seen": people(c=lambda _: None),
    "infinite": people(a=lambda number: [float("inf"), -float("inf"), 1][number % 3]),
    "huge": people(a=lambda number: [1e308, -1e308, 10**18, 5e-324][number % 4]),
    "texts that are numbers": people(a=lambda number: f"{number}.5"),
    "one row": people(1),
    "two rows": people(2),
    "odd labels": people(b=lambda number: ODD[number % 10]),
    "odd individuals": people(id=lambda number: f"{ODD[number % 10]}{number}"),
    "odd groups": people(ward=lambda number: [*ODD, ""][number % 11]),
}


@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
@pytest.mark.parametrize("what", HANDLED)
def test_what_is_odd_is_handled(what, loop, tmp_path, capsys):
    """Learned, written, and the same answers from what was written."""
    template = changed(parfactors=[*TEMPLATE["parfactors"], *([LOOP] if loop else [])])
    path, out = put(tmp_path, HANDLED[what], template), tmp_path / "out" / "learned.json"
    out.parent.mkdir()
    status, _, err = run_cli(capsys, "learn", path, "--out", out)
    assert (status, "error" in err) == (0, False), err
    answers = [run_cli(capsys, "marginals", each, "--json") for each in (path, out)]
    assert [status for status, _, _ in answers] == [0, 0], answers
    assert json.loads(answers[0][1])["marginals"] == json.loads(answers[1][1])["marginals"]


B_LISTED = {"name": "B", "of": ["P"], "range": ["u", "v", "w"]}
NOTHING = {name: (lambda _: None) for name in "abc"}
TWICE = {"sql": "SELECT id, 'yes' FROM p UNION ALL SELECT id, 'no' FROM p"}
REFUSED = {
    "dates": (people(a=lambda _: "2024-01-05"), {}, "'2024-01-05' is no number"),
    "nan": (people(a=lambda _: "nan"), {}, "'nan' is no number"),
    "mixed numbers": (people(a=lambda number: number or "abc"), {}, "'abc' is no number"),
    "mixed labels": (people(c=lambda number: "yes" if number else 1), {}, "'1' is not a label"),
    "no rows": ([], {}, "the query gives no row"),
    "no labels": (people(b=lambda _: None), {}, "the query gives no value"),
    "empty label": (people(b=lambda number: "" if number else "u"), {}, "an empty text is no"),
    "twice": (people(3) + people(3), {}, "twice"),
    "no key": ([(None, 1, "u", "yes", "g"), *people(3)], {}, "NULL is no constant"),
    "contradiction": (
        people(),
        {"evidence": {**TEMPLATE["evidence"], "C": TWICE}},
        "C(0) is observed twice",
    ),
    "nothing seen": (
        people(**NOTHING),
        {"relations": [TEMPLATE["relations"][0], B_LISTED, TEMPLATE["relations"][2]]},
        "there is nothing to learn from",
    ),
    "no such column": (
        people(),
        {"evidence": {"A": {"sql": "SELECT id, age FROM p"}}},
        "the query fails",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_is_named_in_one_line_and_nothing_is_written(what, tmp_path, capsys):
    rows, sections, words = REFUSED[what]
    path, out = put(tmp_path, rows, changed(**sections)), tmp_path / "learned.json"
    out.write_text("old")
    before = sorted(tmp_path.iterdir())
    for command in ("learn", "query", "impute", "validate"):
        more = ("--out", out) if command == "learn" else ()
        status, told, err = run_cli(capsys, command, path, *more)
        assert (status, told) == (2, ""), (command, err)
        assert err.startswith("error: ")
        assert words in err
        assert err.count("\n") == 1
        assert "Traceback" not in err
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


def test_tables_with_too_many_potentials_are_refused(tmp_path, capsys):
    relations = changed()["relations"]
    relations[0]["range"] = {"sql": "SELECT DISTINCT a FROM p"}
    rows = people(10_000, b=lambda number: f"b{number}")
    path = put(tmp_path, rows, changed(relations=relations))
    status, out, err = run_cli(capsys, "learn", path)
    assert (status, out) == (4, "")
    assert "parfactor 'ab' would have 100,000,000 potentials" in err
    assert err.count("\n") == 1


def test_a_template_without_anything_to_learn(capsys):
    status, _, err = run_cli(capsys, "learn", ROOT / "examples/figure3.json")
    assert status == 2
    assert "no table to learn" in err


# ---- the same bytes, whatever happens


def many_pairs(folder, number=300, count=7):
    """A template that is learned by composite likelihood, in a second or two."""
    rng = random.Random(1)
    columns = ("id", "hospital", *(f"c{each}" for each in range(count)))
    rows = []
    for stay in range(number):
        kind = rng.randrange(4)
        cells = [
            None if rng.random() < 0.15 else kind if rng.random() < 0.5 else rng.randrange(4)
            for _ in range(count)
        ]
        rows.append((stay, f"h{rng.randrange(2000)}", *cells))
    with sqlite3.connect(folder / "stays.sqlite") as made:
        made.execute(f"CREATE TABLE s ({', '.join(columns)})")
        made.executemany(f"INSERT INTO s VALUES ({', '.join('?' for _ in columns)})", rows)
    made.close()
    here = {
        "name": "here",
        "args": ["C0(S)"],
        "rows": {"sql": "SELECT id AS s, hospital FROM s"},
        "table": {"learn": True, "by": ["hospital"]},
    }
    pairs = [
        {"name": f"p{one}_{two}", "args": [f"C{one}(S)", f"C{two}(S)"], "table": "learn"}
        for one, two in itertools.combinations(range(count), 2)
    ]
    labels = ["0", "1", "2", "3"]
    template = {
        "format": "lifagu/1",
        "source": "stays.sqlite",
        "domains": {"S": {"sql": "SELECT id FROM s"}},
        "relations": [{"name": f"C{each}", "of": ["S"], "range": labels} for each in range(count)],
        "parfactors": [*pairs, here],
        "evidence": {f"C{each}": {"sql": f"SELECT id, c{each} FROM s"} for each in range(count)},
    }
    path = folder / "stays.json"
    path.write_text(json.dumps(template))
    return path


COMMAND = "import sys; from lifagu.cli import main; sys.exit(main())"
INTERRUPTED = f"""
import os, signal
from lifagu.questions.learning_journal import KeptInFolder
once = KeptInFolder.once
def kept(*given):
    found = once(*given)
    os.kill(os.getpid(), signal.SIGINT)
    return found
KeptInFolder.once = kept
{COMMAND}
"""


def started(*arguments, code=COMMAND, **environment):
    """A command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def bytes_of(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


def test_the_same_bytes_twice(tmp_path):
    """Other hashes, other threads: nothing of that is seen."""
    path = many_pairs(tmp_path)
    folders = [tmp_path / name for name in ("first", "second")]
    ways = [{"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"}, {"PYTHONHASHSEED": "2"}]
    for folder, way in zip(folders, ways, strict=True):
        folder.mkdir()
        done = started("learn", path, "--out", folder / "learned.json", **way)
        _, err = done.communicate()
        assert done.returncode == 0, err
    first, second = map(bytes_of, folders)
    assert list(first) == ["learned.here.parquet", "learned.json"]
    assert first == second
