"""Learning as people meet it: factories and schools in databases with gaps, asked end to end."""

import itertools
import json
import math
import random
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.learning import learn
from lifagu.questions.storage import load

MACHINES = ("id", "hall", "age", "vibration", "failed")
JOINT = {"name": "fv", "args": ["Failed(M)", "Vibration(M)"], "table": "learn"}
GIVEN = {
    "name": "fa",
    "args": ["Age(M)", "Failed(M)"],
    "table": {"learn": True, "given": ["Age(M)"]},
}
AGE_VIBRATION = {"name": "av", "args": ["Age(M)", "Vibration(M)"], "table": "learn"}
HALLS = {
    "name": "hall",
    "args": ["Failed(M)"],
    "rows": {"sql": "SELECT id AS m, hall FROM machine"},
    "table": {"learn": True, "by": ["hall"]},
}


def machines(count, seed=0, gaps=0.1, only_failed=False):
    """Old machines fail and then shake; about a quarter of them."""
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        age = rng.uniform(0, 30)
        failed = rng.random() < 0.8 / (1 + math.exp((22 - age) / 3))
        vibration = rng.gauss(2.2 if failed else 1, 1)
        cells = [age, vibration, "yes" if failed else "no"]
        hidden = [rng.random() < gaps and (place == 2 or not only_failed) for place in range(3)]
        known = [None if gap else cell for gap, cell in zip(hidden, cells, strict=True)]
        rows.append((number, f"h{number % 5}", *known))
    return rows


def in_sqlite(path, **tables):
    """A database of some tables, each (columns, rows)."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as made:
        for name, (columns, rows) in tables.items():
            made.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            made.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    made.close()
    return str(path)


def factory(*parfactors, **sections):
    """The template of a factory with these tables."""
    names = {"Age": "age", "Vibration": "vibration", "Failed": "failed"}
    return {
        "format": "lifagu/1",
        "source": "factory.sqlite",
        "domains": {"M": {"sql": "SELECT id FROM machine"}},
        "relations": [
            {"name": "Age", "of": ["M"], "range": {"bins": 4}},
            {"name": "Vibration", "of": ["M"], "range": {"bins": 3}},
            {"name": "Failed", "of": ["M"], "range": ["no", "yes"]},
        ],
        "parfactors": list(parfactors),
        "evidence": {
            name: {"sql": f"SELECT id, {column} FROM machine"} for name, column in names.items()
        },
        **sections,
    }


@pytest.fixture
def written(tmp_path):
    """Writes a template, and the machines of its factory, into one folder."""
    numbers = itertools.count()

    def writing(template, rows=None):
        if rows is not None:
            in_sqlite(tmp_path / "factory.sqlite", machine=(MACHINES, rows))
        path = tmp_path / f"template{next(numbers)}.json"
        path.write_text(json.dumps(template))
        return path

    return writing


@pytest.fixture
def by_composite(monkeypatch):
    """Nothing is small enough for exact sums."""
    monkeypatch.setattr(learn, "is_tractable", lambda *_: False)


def probability(case, name, label=-1):
    return float(case.ask(name).probabilities.reshape(-1)[label])


def share(rows, column=4, label="yes"):
    seen = [row[column] for row in rows if row[column] is not None]
    return seen.count(label) / len(seen)


# ---- nothing is counted twice

WAYS = {
    "joint and conditional": (JOINT, GIVEN),
    "three pairs": (JOINT, {**GIVEN, "table": "learn"}, AGE_VIBRATION),
    "and halls": (JOINT, GIVEN, HALLS),
}


@pytest.mark.parametrize("only_failed", [False, True], ids=["gaps everywhere", "gaps in Failed"])
@pytest.mark.parametrize("way", WAYS)
def test_tables_learned_together_count_nothing_twice(way, only_failed, written, tmp_path):
    """A machine of which nothing is known fails as often as machines do."""
    rows = machines(1000, only_failed=only_failed)
    path, out = written(factory(*WAYS[way]), rows), tmp_path / "learned.json"
    lifagu.open(path).learn().write(out)
    unknown = [("x", "elsewhere", None, None, None), ("old", None, 29.0, None, None)]
    new = in_sqlite(tmp_path / "new.sqlite", machine=(MACHINES, unknown))
    case = lifagu.open(out, database=new)
    assert probability(case, "Failed(x)") == pytest.approx(share(rows), abs=0.02)
    old = [row for row in rows if row[2] is not None and row[2] > 22.7]
    assert probability(case, "Failed(old)") == pytest.approx(share(old), abs=0.06)


@pytest.mark.parametrize("way", WAYS)
def test_conditions_that_were_never_missing_may_be_missing_later(
    way, written, tmp_path, by_composite
):
    rows = machines(1000, only_failed=True)
    path, out = written(factory(*WAYS[way]), rows), tmp_path / "learned.json"
    found = lifagu.open(path).learn()
    assert {each.method for each in found.model.tables} == {"composite likelihood"}
    assert any(each.conditions for each in found.model.tables)
    found.write(out)
    unknown = [("x", "elsewhere", None, None, None), ("old", None, 29.0, None, None)]
    new = in_sqlite(tmp_path / "new.sqlite", machine=(MACHINES, unknown))
    case = lifagu.open(out, database=new)
    assert probability(case, "Failed(x)") == pytest.approx(share(rows), abs=0.03)
    old = [row for row in rows if row[2] > 22.7]
    assert probability(case, "Failed(old)") == pytest.approx(share(old), abs=0.07)


# ---- groups

COUNTED = (HALLS,)
HIDDEN = (HALLS, {**JOINT, "table": {"learn": True, "given": ["Failed(M)"]}})


@pytest.mark.parametrize("tables", [COUNTED, HIDDEN, (*WAYS["and halls"], AGE_VIBRATION)])
@pytest.mark.parametrize("composite", [False, True])
def test_a_group_without_data_has_the_pooled_table_exactly(
    tables, composite, written, tmp_path, monkeypatch
):
    if composite:
        monkeypatch.setattr(learn, "directed", lambda task: None)
        monkeypatch.setattr(learn, "is_tractable", lambda *_: False)
    rows = [(*row[:4], "yes") if row[1] == "h1" else row for row in machines(300)]
    rows += [(1000 + number, "silent", None, None, None) for number in range(5)]
    rows += [(2000, None, None, None, None)]
    path, out = written(factory(*tables), rows), tmp_path / "learned.json"
    found = lifagu.open(path).learn()
    graph = found.loaded.model
    common = graph.factor("hall(2000)").table
    assert np.array_equal(graph.factor("hall(1003)").table, common)
    assert not np.array_equal(graph.factor("hall(1)").table, common)
    found.write(out)
    new = in_sqlite(tmp_path / "n.sqlite", machine=(MACHINES, [(7, "new", 1.0, None, None)]))
    assert np.array_equal(load(out, new).model.factor("hall(7)").table, common)


def test_rows_without_groups_have_a_table_to_learn(written):
    rows = {"sql": "SELECT id AS m FROM machine WHERE id < 100"}
    path = written(factory({**JOINT, "rows": rows}), machines(200))
    found = lifagu.open(path).learn()
    assert len(found.loaded.task.tables[0]) == 100


# ---- what is written says the same


def all_pairs(count):
    """All pairs of so many relations, in hospitals and wards, two of them not asked about."""
    relations = [{"name": "C0", "of": ["S"], "range": {"bins": 3}}]
    relations += [
        {"name": f"C{each}", "of": ["S"], "range": {"sql": f"SELECT DISTINCT c{each} FROM s"}}
        for each in range(1, count)
    ]
    pairs = [
        {"name": f"p{one}_{two}", "args": [f"C{one}(S)", f"C{two}(S)"], "table": "learn"}
        for one, two in itertools.combinations(range(count), 2)
    ]
    here = {
        "name": "here",
        "args": ["C1(S)"],
        "rows": {"sql": "SELECT id AS s, hospital, ward FROM s"},
        "table": {"learn": True, "by": ["hospital", "ward"]},
    }
    return {
        "format": "lifagu/1",
        "source": "stays.sqlite",
        "domains": {"S": {"sql": "SELECT id FROM s"}},
        "relations": relations,
        "parfactors": [*pairs, here],
        "evidence": {f"C{each}": {"sql": f"SELECT id, c{each} FROM s"} for each in range(count)},
        "queries": [f"C{each}" for each in range(count - 2)],
    }


def stays(number, count, hospitals, seed=0):
    rng = random.Random(seed)
    columns = ("id", "hospital", "ward", *(f"c{each}" for each in range(count)))
    rows = []
    for stay in range(number):
        kind = rng.randrange(3)
        cells = [
            None if rng.random() < 0.15 and each != count - 1
            else kind * 10 + rng.random() if each == 0
            else f"l{kind if rng.random() < 0.6 else rng.randrange(3)}"
            for each in range(count)
        ]  # fmt: skip
        ward = rng.choice(["a", "b", None])
        rows.append((stay, f"h{rng.randrange(hospitals)}", ward, *cells))
    return columns, rows


@pytest.mark.parametrize(("hospitals", "composite"), [(4, False), (4, True), (150, True)])
def test_learned_files_answer_as_learning_on_the_fly_does(
    hospitals, composite, tmp_path, monkeypatch
):
    """Bit by bit: bins, ranges by SQL, nested groups, in Parquet where many, conditions."""
    if composite:
        monkeypatch.setattr(learn, "is_tractable", lambda *_: False)
    in_sqlite(tmp_path / "stays.sqlite", s=stays(200, 6, hospitals))
    path, out = tmp_path / "t.json", tmp_path / "other" / "learned.json"
    path.write_text(json.dumps(all_pairs(6)))
    out.parent.mkdir()
    case = lifagu.open(path)
    found = case.learn()
    found.write(out)
    assert (out.parent / "learned.here.parquet").exists() == (hospitals == 150)
    assert any(each.conditions for each in found.model.tables) == composite
    again = lifagu.open(out)
    names = [f"C{each}({stay})" for stay in range(0, 200, 7) for each in range(4)]
    first, second = case.ask_each(names), again.ask_each(names)
    for one, two in zip(first, second, strict=True):
        assert np.array_equal(one.probabilities, two.probabilities), one
    told = {"C0(3)": "12.5", "C5(3)": "l1"}
    asked = lifagu.open(path).observe(told).ask("C1(3)").probabilities
    assert np.array_equal(asked, again.observe(told).ask("C1(3)").probabilities)


def test_answers_on_learned_tables_are_exact(written):
    rows = machines(12, gaps=0.4)
    case = lifagu.open(written(factory(JOINT, GIVEN, AGE_VIBRATION, HALLS), rows))
    hidden = [
        f"{name}({row[0]})"
        for row in rows
        for name, cell in zip(("Age", "Vibration", "Failed"), row[2:], strict=True)
        if cell is None
    ]
    for name in hidden:
        usual, oracle = (case.ask(name, engine=each) for each in ("auto", "enumerate"))
        assert usual.probabilities == pytest.approx(oracle.probabilities, abs=1e-12)


def test_a_number_as_evidence_is_its_bin(written):
    path = written(factory(JOINT, GIVEN), [*machines(200), (900, "h1", None, None, None)])
    plain = lifagu.open(path)
    young, old = (
        probability(plain.observe({"Age(900)": age}), "Failed(900)") for age in (2, "29.5")
    )
    assert young < probability(plain, "Failed(900)") < old
    for wrong in ("soon", "nan"):
        with pytest.raises(lifagu.LifaguError, match="Age"):
            plain.observe({"Age(900)": wrong}).ask("Failed(900)")
