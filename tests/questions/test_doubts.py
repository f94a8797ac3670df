"""Guesses are said wherever answers are given, and records say how competing tables are used."""

import json
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.questions.doubts import weakest_behind
from support.by_sql import cases
from support.helpers import graph_of, random_model, run_cli
from support.same_results import assert_imputed_alike, assert_same_answers

SEEDS = range(40)
TEMPLATE = {
    "format": "lifagu/1",
    "source": "factory.db",
    "domains": {"Machine": {"sql": "SELECT id FROM machine"}},
    "relations": [
        {"name": "Summer"},
        {"name": "Heat", "of": ["Machine"], "range": ["cool", "hot"]},
        {"name": "Fails", "of": ["Machine"]},
        {"name": "Due", "of": ["Machine"]},
    ],
    "parfactors": [
        {"name": "season", "args": ["Summer", "Heat(Machine)"], "table": [2, 1, 1, 2]},
        *(
            {"name": name, "args": args, "rows": {"sql": "SELECT machine FROM all_machines"}}
            | {
                "table": {
                    "learn": True,
                    "records": {"sql": f"SELECT {columns}, machine FROM history"},
                    "by": ["machine"],
                    "min_support": 1,
                    "given": args[:-1],
                }
            }
            for name, columns, args in (
                ("heat", "heat", ["Heat(Machine)"]),
                ("fail", "heat, failed", ["Heat(Machine)", "Fails(Machine)"]),
                ("due", "failed, due", ["Fails(Machine)", "Due(Machine)"]),
            )
        ),
    ],
    "evidence": {
        "Heat": {"sql": "SELECT machine, heat FROM sensor"},
        "Fails": {"sql": "SELECT machine, failed FROM failure"},
    },
}


@pytest.fixture(scope="module")
def factory(tmp_path_factory):
    """Machines with a few records each, which give nearly every one its own tables; 5 are new."""
    folder, draw = tmp_path_factory.mktemp("factory"), np.random.default_rng(7)
    database = sqlite3.connect(folder / "factory.db")
    database.executescript(
        """
        CREATE TABLE machine (id TEXT PRIMARY KEY);
        CREATE VIEW all_machines AS SELECT id AS machine FROM machine;
        CREATE TABLE history (machine TEXT, heat TEXT, failed INTEGER, due INTEGER);
        CREATE TABLE sensor (machine TEXT, heat TEXT);
        CREATE TABLE failure (machine TEXT, failed INTEGER);
        """
    )
    for number in range(1, 41):
        name = f"M-{number:02}"
        database.execute("INSERT INTO machine VALUES (?)", (name,))
        records = 0 if number > 35 else int(draw.integers(20, 60))
        rows = [
            (name, ("cool", "hot")[a], b, c)
            for a, b, c in draw.integers(0, 2, (records, 3)).tolist()
        ]
        database.executemany("INSERT INTO history VALUES (?, ?, ?, ?)", rows)
        if number % 2:
            database.execute("INSERT INTO sensor VALUES (?, 'hot')", (name,))
        if number % 3 == 0:
            database.execute("INSERT INTO failure VALUES (?, 1)", (name,))
    database.commit()
    database.close()
    (folder / "factory.json").write_text(json.dumps(TEMPLATE))
    return folder / "factory.json"


def by_individuals(factory, **settings):
    return lifagu.open(factory).fill(by="extended", **settings)


def test_a_line_for_each_kind_of_guesses(factory, capsys):
    _, _, err = run_cli(capsys, "map", str(factory), "--fill", "extended")
    lines = err.splitlines()
    assert [line.split("(")[0] for line in lines] == [
        "warning: heat",
        "warning: fail",
        "warning: due",
    ]
    case = by_individuals(factory)
    record = case.transfer.record[0]
    weakest = f"for heat(M-36) {record.agreeing} of {record.candidates} agree"
    assert lines[0] == (
        f"warning: heat(Heat): all 5 filled tables are hardly better than a guess ({weakest}); "
        "try --fill auto, or a --theta that leaves it unknown"
    )
    assert case.unfilled().doubts == ()


def test_nobody_guesses_by_default(factory, capsys):
    """Cohorts sum over tables, so that none has to be the right one."""
    case = lifagu.open(factory)
    assert case.transfer.way == "average"
    assert case.doubts == ()
    assert case.ask("Heat(M-36)").warnings == ()
    assert not case.impute().marginals.guesses.any()
    for command in ("check", "map", "marginals"):
        _, _, err = run_cli(capsys, command, str(factory))
        assert "guess" not in err
    _, out, _ = run_cli(capsys, "impute", str(factory))
    assert "15 filled, 0 left unknown (15 by cohorts, summed over)" in out
    assert "guess" not in out


def test_answers_say_that_they_rest_on_guesses(factory, capsys):
    case, named = by_individuals(factory), [str(factory), "Heat(M-36)", "--fill", "extended"]
    record = case.transfer.record[0]
    agree = f"{record.agreeing} of {record.candidates} agree"
    assert record.candidates == 35
    assert f"{agree}: hardly better than a guess" in record.reason.replace(
        " other individuals with matching factors", ""
    )
    # the heat of M-36 is not observed, whether it fails is
    answer = case.ask("Heat(M-36)")
    _, out, _ = run_cli(capsys, "query", *named)
    assert f"  warning: {answer.warnings[0]}; try --fill auto" in out
    assert agree in answer.warnings[0]
    _, out, _ = run_cli(capsys, "query", *named, "--json")
    assert json.loads(out)["answers"][0]["warnings"] == list(answer.warnings)
    _, out, err = run_cli(capsys, "query", *named, "--explain", "--quiet")
    assert f"{record.factor}: {record.reason}" in err
    for command in ("marginals", "map"):
        _, out, err = run_cli(capsys, command, str(factory), "--fill", "extended", "--json")
        assert len(json.loads(out)["warnings"]) == 3 == err.count("hardly better than a guess")
    assert "hardly better than a guess" in answer._repr_html_()


def test_imputing_says_it_and_own_tables_are_among_all(factory, capsys):
    found = by_individuals(factory).impute()
    asked = found.marginals
    assert (asked.own <= asked.lent).all()
    assert (asked.guesses == asked.lent).all()
    cut = list(asked.names).index("Due(M-36)")  # M-36 failed, so only this table matters
    assert (asked.own[cut], asked.lent[cut]) == (1, 1)
    _, out, _ = run_cli(capsys, "impute", str(factory), "--fill", "extended")
    assert "warning: 15 of 15 are hardly better than a guess; try --fill auto" in out
    assert "1, weakest share" in out
    assert ", 1 guess" in out
    assert "guesses" in found.tables()["marginals"]
    assert found.tables()["transfers"]["guess"].all()
    assert ": hardly better than a guess" in found._repr_html_()


@pytest.mark.parametrize("seed", SEEDS)
def test_warnings_count_the_guesses_an_answer_rests_on(seed):
    model, evidence = random_model(seed, variables=10, factors=22, unknown=0.3, zeros=0)
    moved = lifagu.transfer(graph_of(model), 0, evidence)
    records = {each.factor: each for each in moved.record}
    for name in moved.original.variable_names:
        try:
            answer = lifagu.query(moved, name, evidence=evidence)
        except lifagu.NoAnswerError:
            continue
        behind = [records[each] for each in answer.rests_on]
        guesses = [each for each in behind if each.guess]
        assert len(answer.warnings) == bool(guesses)
        if guesses:
            weakest = min(behind, key=lambda each: each.share)
            assert answer.warnings[0].endswith(f" {weakest.agreeing} of {weakest.candidates} agree")
            some = f"{len(guesses)} of the {len(behind)} tables"
            every = f"all {len(behind)} tables" if len(behind) > 1 else "the table it rests on"
            assert answer.warnings[0].startswith(every if len(guesses) == len(behind) else some)


def test_the_weakest_reasons_are_told_once_those_of_whom_was_asked_about_first(factory):
    moved = by_individuals(factory).transfer
    every = [record.factor for record in moved.record]
    told = weakest_behind(moved, ["Heat(M-38)"], every, 3)
    assert [each.factor for each in told] == ["heat(M-38)", "fail(M-38)", "due(M-38)"]
    told = weakest_behind(moved, ["Summer"], every, 2)
    assert [each.factor for each in told] == ["heat(M-36)", "fail(M-36)"]
    assert len(weakest_behind(moved, ["Summer"], every, 99)) == 3


def test_records_say_how_tables_are_used():
    builder = lifagu.FactorGraph.build().variables(list("ABCDE"))
    for name, table in zip("ABCD", ([1, 2], [1, 2], [1, 2], [2, 1]), strict=True):
        builder = builder.factor(f"f{name}", [name], table)
    graph = builder.factor("fE", ["E"], None).graph()
    (record,) = lifagu.transfer(graph).record
    words = (
        "3 of 4 known factors in such a place agree, so it takes the table of fA; 2 different "
        "tables compete."
    )
    assert (record.reason, record.way) == (words, "best")
    assert record.takes == record.as_dict()["takes"] == "the table of fA"
    (line,) = lifagu.impute(graph, by="extended").lent
    assert (line.takes, line.way) == (record.takes, "best")
    assert line.potentials == pytest.approx([1, 2])


def test_an_engine_says_the_same(factory, tmp_path):
    lifagu.open(factory).write(tmp_path / "big")
    memory, engine = cases(tmp_path / "big", None, {"by": "extended"})
    questions = ["Heat(M-36)", "Due(M-36)", "Fails(M-38)"]
    expected = memory.plan(questions).run()
    assert all(answer.warnings for answer in expected.answers)
    assert_same_answers(engine.plan(questions).run(), expected)
    found = assert_imputed_alike(tmp_path, by="extended")
    assert found.marginals.guesses.all()
    assert (found.marginals.own <= found.marginals.lent).all()
