"""Learning as people meet it: factories and schools in databases with gaps, asked end to end."""

import itertools
import json
import math
import random
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.basics import added_rows
from lifagu.basics.kernel import has_kernel
from lifagu.learning import learn
from lifagu.questions.storage import load
from support.naive.templates import in_postgresql
from support.oracle import oracle
from support.small_hospital import KINDS, made

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
    with sqlite3.connect(path) as connected:
        for name, (columns, rows) in tables.items():
            connected.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" for _ in columns)
            connected.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    connected.close()
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
    in_sqlite(tmp_path / "stays.sqlite", s=stays(240 if hospitals == 150 else 120, 5, hospitals))
    path, out = tmp_path / "t.json", tmp_path / "other" / "learned.json"
    path.write_text(json.dumps(all_pairs(5)))
    out.parent.mkdir()
    case = lifagu.open(path)
    found = case.learn()
    found.write(out)
    assert (out.parent / "learned.here.parquet").exists() == (hospitals == 150)
    assert any(each.conditions for each in found.model.tables)
    again = lifagu.open(out)
    names = [f"C{each}({stay})" for stay in range(0, 120, 7) for each in range(3)]
    first, second = case.ask_each(names), again.ask_each(names)
    for one, two in zip(first, second, strict=True):
        assert np.array_equal(one.probabilities, two.probabilities), one
    told = {"C0(3)": "12.5", "C4(3)": "l1"}
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
    told = oracle(case.graph, case.graph_evidence)
    for name in hidden:
        assert case.ask(name).probabilities == pytest.approx(told.marginal(name), abs=1e-12)


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


# ---- hidden relations


def school(students, seed=0):
    """Grades of students of three abilities; who is of which; the frequencies behind it."""
    rng = random.Random(seed)
    shares = [[0.85, 0.1, 0.05], [0.1, 0.8, 0.1], [0.05, 0.1, 0.85]]
    ability = [rng.choices(range(3), [0.5, 0.3, 0.2])[0] for _ in range(students)]
    grades = [
        (student, course, rng.choices("ABC", shares[ability[student]])[0])
        for student in range(students)
        for course in rng.sample(range(10), 6)
    ]
    gaps = [(*row[:2], None) if rng.random() < 0.1 else row for row in grades]
    return ability, gaps, np.array(shares)


def school_template(*parfactors):
    rows = {"sql": "SELECT student AS s, course AS c FROM grade"}
    return {
        "format": "lifagu/1",
        "source": "school.sqlite",
        "domains": {
            "S": {"sql": "SELECT DISTINCT student FROM grade"},
            "C": {"sql": "SELECT DISTINCT course FROM grade"},
        },
        "relations": [
            {"name": "Ability", "of": ["S"], "range": {"cohorts": 3}},
            {"name": "Grade", "of": ["S", "C"], "range": ["A", "B", "C"]},
        ],
        "parfactors": [
            {"rows": rows, **each} if "Grade(S,C)" in each["args"] else each for each in parfactors
        ],
        "evidence": {"Grade": {"sql": "SELECT student, course, grade FROM grade"}},
    }


ABILITY = {"name": "ability", "args": ["Ability(S)"], "table": "learn"}
GRADE = {
    "name": "grade",
    "args": ["Ability(S)", "Grade(S,C)"],
    "table": {"learn": True, "given": ["Ability(S)"]},
}


def at_school(folder, students, seed=0, parfactors=(ABILITY, GRADE)):
    ability, rows, shares = school(students, seed)
    in_sqlite(folder / "school.sqlite", grade=(("student", "course", "grade"), rows))
    path = folder / "school.json"
    path.write_text(json.dumps(school_template(*parfactors)))
    return lifagu.open(path), ability, shares


@pytest.mark.parametrize("parfactors", [(ABILITY, GRADE), ({**GRADE, "table": "learn"},)])
def test_hidden_cohorts_are_found(parfactors, tmp_path):
    """Who belongs together: whatever cohorts are called, nearly all of one are of one ability."""
    case, ability, _ = at_school(tmp_path, 100, parfactors=parfactors)
    names = [f"Ability({student})" for student in range(100)]
    found = [int(each.probabilities.argmax()) for each in case.ask_each(names)]
    best = max(
        sum(order[each] == true for each, true in zip(found, ability, strict=True))
        for order in itertools.permutations(range(3))
    )
    assert best >= 85


def test_cohorts_are_the_same_again_and_called_the_same_by_other_seeds(tmp_path):
    case, _, _ = at_school(tmp_path, 100)
    first, again, other = (case.learn(seed=seed, restarts=6)["grade"] for seed in (0, 0, 5))
    assert np.array_equal(first.stack, again.stack)
    assert first.stack == pytest.approx(other.stack, abs=1e-2)


def test_more_records_come_closer_to_the_truth_and_are_likelier_than_it(tmp_path):
    errors = []
    for students in (40, 640):
        off = []
        for seed in range(3):
            case, _, shares = at_school(tmp_path, students, seed)
            stack = case.learn()["grade"].stack[0].reshape(3, 3)
            orders = itertools.permutations(range(3))
            off.append(min(np.abs(stack[list(order)] - shares).mean() for order in orders))
            true = {"ability": [0.5, 0.3, 0.2], "grade": shares.reshape(-1).tolist()}
            template = school_template(
                *({**each, "table": true[each["name"]]} for each in (ABILITY, GRADE))
            )
            given = tmp_path / "true.json"
            given.write_text(json.dumps(template))
            assert case.log_partition() > lifagu.open(given).log_partition()
        errors.append(np.mean(off))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.02


# ---- validation hides what it says


def leaky(*parfactors):
    relations = [("A", "xyz"), ("Copy", "xyz"), ("Noise", "pqrs")]
    return {
        "format": "lifagu/1",
        "source": "leak.sqlite",
        "domains": {"P": {"sql": "SELECT id FROM p"}},
        "relations": [{"name": name, "of": ["P"], "range": [*of]} for name, of in relations],
        "parfactors": list(parfactors),
        "evidence": {name: {"sql": f"SELECT id, {name.lower()} FROM p"} for name, _ in relations},
    }


def pair(one, two, **settings):
    return {
        "name": f"{one}{two}",
        "args": [f"{one}(P)", f"{two}(P)"],
        "table": {"learn": True, **settings},
    }


OWN = {
    "name": "own",
    "args": ["Noise(P)"],
    "rows": {"sql": "SELECT id AS p, id AS me FROM p"},
    "table": {"learn": True, "by": ["me"]},
}


TREE = (pair("A", "Copy"), pair("A", "Noise"))


@pytest.mark.parametrize(
    ("tables", "composite"),
    [(TREE, False), (TREE, True), ((*TREE, pair("Copy", "Noise"), OWN), True)],
    ids=["tree, counted", "tree", "loop and groups of one"],
)
def test_hidden_cells_are_not_seen_while_learning(tables, composite, tmp_path, monkeypatch):
    """A copy is told by what it copies; noise is not told better than by its entropy."""
    if composite:
        monkeypatch.setattr(learn, "directed", lambda task: None)
        monkeypatch.setattr(learn, "is_tractable", lambda *_: False)
    rng = random.Random(3)
    rows = [(each, *(2 * [rng.choice("xyz")]), rng.choice("pqrs")) for each in range(200)]
    in_sqlite(tmp_path / "leak.sqlite", p=(("id", "a", "copy", "noise"), rows))
    path = tmp_path / "leak.json"
    path.write_text(json.dumps(leaky(*tables)))
    case = lifagu.open(path)
    told = case.validate(only=["Copy"], hide=0.3).json()["relations"]["Copy"]
    assert told["accuracy"] == 1
    assert told["log_loss"] < 0.1
    noise = case.validate(only=["Noise"], folds=2).json()
    assert noise["hidden"] == 200
    assert noise["log_loss"] > math.log(4) - 0.005
    new = case.validate(hide_individuals=20).json()
    assert new["relations"]["Copy"]["log_loss"] > math.log(3) - 0.05


def test_databases_of_every_kind_teach_the_same(written, tmp_path, new_database):
    words = {"no": "whole", "yes": "broken", None: None}  # a CSV file's yes and no are truth values
    rows = [(*row[:4], words[row[4]]) for row in machines(80)]
    kinds = {"id": "INTEGER", "hall": "VARCHAR", "age": "FLOAT8", "vibration": "FLOAT8"}
    tables = {"machine": ({**kinds, "failed": "VARCHAR"}, rows)}
    template = factory(JOINT, GIVEN, HALLS)
    template["relations"][2]["range"] = ["whole", "broken"]
    path = written(template)
    addresses = [made(kind, tables, tmp_path) for kind in KINDS]
    addresses.append(in_postgresql(tables, new_database()))
    learned = [lifagu.open(path, database=each).learn().model.tables for each in addresses]
    for other in learned[1:]:
        for one, two in zip(learned[0], other, strict=True):
            assert np.array_equal(one.stack, two.stack)


@pytest.mark.skipif(not has_kernel(), reason="there is no compiled kernel")
def test_with_and_without_compiled_kernel(written, monkeypatch, by_composite):
    path = written(factory(JOINT, GIVEN, AGE_VIBRATION, HALLS), machines(150))
    compiled = lifagu.open(path).learn().model.tables
    monkeypatch.setattr(added_rows, "loaded", lambda: None)
    for one, two in zip(compiled, lifagu.open(path).learn().model.tables, strict=True):
        assert one.stack == pytest.approx(two.stack, rel=1e-6)
