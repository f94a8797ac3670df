"""Imputing on plain models: every number against `transfer` and `query`, and what is written."""

import csv
import json
import re
from collections import Counter
from itertools import product

import duckdb
import numpy as np
import pytest

import lifagu
import lifagu.questions.requested_marginals
from support.helpers import ROOT, graph_of, mostly_full, random_model, run_cli, sampled

SEEDS = mostly_full(range(40), always=range(15))
WAYS = {
    "individuals": {"by": "extended"},
    "auto": {"by": "auto"},
    "published": {"by": "lifagu"},
    "steps": {"by": "extended", "steps": 4},
}


def drawn(seed):
    """A model with holes, kinds and individuals, and some evidence."""
    model, evidence = random_model(
        seed,
        variables=12,
        factors=18,
        unknown=0.4,
        kinds=seed % 2 == 0,
        individuals=seed % 3 != 0,
        zeros=0,
    )
    return graph_of(model), evidence


def settings_of(seed, graph):
    """One of the ways to fill."""
    return list(WAYS.values())[seed % len(WAYS)]


def read_back(folder, table):
    ordered = duckdb.connect().execute(f"SELECT * FROM '{folder}/{table}.parquet'")
    names = [each[0] for each in ordered.description]
    return [dict(zip(names, row, strict=True)) for row in ordered.fetchall()]


# ---- What was lent, and what was left


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_add_up_to_the_records(seed):
    graph, evidence = drawn(seed)
    settings = settings_of(seed, graph)
    settings = WAYS["individuals"] if settings == WAYS["auto"] else settings
    found = lifagu.impute(graph, evidence, [], theta=0.5, **settings)
    moved = lifagu.transfer(graph, 0.5, evidence, **settings)
    filled = [record for record in moved.record if record.status == "transferred"]
    assert (found.unknown, found.filled) == (len(moved.record), len(filled))
    assert sum(line.count for line in found.lent) == len(filled)
    assert sum(line.ties for line in found.lent) == sum(record.tie for record in filled)
    by_factor = {record.factor: record for record in moved.record}
    for line in found.lent:
        record = by_factor[line.first]
        table = graph.factor(record.donor).table
        assert line.unit == record.unit
        assert line.donor in {
            each.donor
            for each in filled
            if graph.factor(each.donor).table.tolist() == table.tolist()
        }
        assert line.lowest_share <= record.share <= line.highest_share
        assert line.potentials == tuple(table.reshape(-1).tolist())
    assert {record.share for record in filled} >= {line.lowest_share for line in found.lent}
    assert Counter(record.status for record in moved.record if record.donor is None) == sum(
        (Counter({line.status: line.count}) for line in found.left), Counter()
    )
    for line in found.left:
        record = by_factor[line.first]
        assert (line.status, line.reason) == (record.status, record.reason)
        assert (
            line.lowest_share is None if record.share is None else line.lowest_share <= record.share
        )


def test_factors_of_different_parfactors_are_told_apart():
    model = lifagu.ground(
        lifagu.io.from_json(
            json.dumps(
                {
                    "format": "lifagu/1",
                    "domains": {"P": ["a", "b"]},
                    "relations": [{"name": "Sick", "of": ["P"]}],
                    "parfactors": [
                        {"name": "f", "args": ["Sick(X)"], "table": None},
                        {"name": "g", "args": ["Sick(X)"], "table": None},
                    ],
                }
            )
        )
    )
    assert [(line.factors, line.count) for line in lifagu.impute(model).left] == [
        ("f(Sick)", 2),
        ("g(Sick)", 2),
    ]


# ---- Answers and what they rest on


def asked(moved, name, evidence, **settings):
    try:
        return lifagu.query(moved, name, evidence=evidence, **settings)
    except lifagu.NoAnswerError:
        return None


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_single_questions(seed, few, monkeypatch):
    monkeypatch.setattr(lifagu.questions.requested_marginals, "FEW", few)
    graph, evidence = drawn(seed)
    names = list(graph.variable_names)
    found = lifagu.impute(graph, evidence, names, **settings_of(seed, graph)).marginals
    moved = lifagu.transfer(graph, 0, evidence, **settings_of(seed, graph))
    answers = {name: asked(moved, name, evidence) for name in names}
    assert list(found.unanswered) == [name for name in names if answers[name] is None]
    for place, name in enumerate(found.names):
        answer = answers[name]
        expected = dict(answer)
        assert found[name] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert found.lent[place] == len(answer.rests_on)
        weakest = found.weakest[place]
        assert (None if np.isnan(weakest) else weakest) == answer.weakest_share


@pytest.mark.parametrize("by", ["extended", "auto"])
@pytest.mark.parametrize("seed", SEEDS)
def test_own_tables_are_those_of_the_same_individual_that_the_answer_rests_on(seed, by):
    graph, evidence = drawn(seed)
    found = lifagu.impute(graph, evidence, list(graph.variable_names), by=by).marginals
    moved = lifagu.transfer(graph, 0, evidence, by=by)
    shares = {each.factor: each.share for each in moved.record}

    def owner(name):
        individuals = graph.variable(name).individuals
        return individuals[0] if individuals else ("alone", name)

    for place, name in enumerate(found.names):
        mine, behind = owner(name), lifagu.query(moved, name, evidence=evidence).rests_on
        own = [shares[each] for each in behind if mine in map(owner, graph.factor(each).arguments)]
        assert found.own[place] == len(own) <= found.lent[place] == len(behind)
        assert (
            np.isnan(found.own_weakest[place]) if not own else found.own_weakest[place] == min(own)
        )
        guesses = [each for each in moved.record if each.guess and each.factor in behind]
        assert found.guesses[place] == len(guesses)


def test_what_was_observed_cuts_off_own_tables():
    """Machine M-2 has five holes; once its heat is observed, its answers rest on fewer of them."""
    builder = lifagu.FactorGraph.build()
    for machine in ("m1", "m2"):
        for what in ("Heat", "Noise", "Fail"):
            builder.variable(f"{what}.{machine}", kind=what, individual=machine)
        table = [1, 2] if machine == "m1" else None
        for what in ("Heat", "Noise", "Fail"):
            builder.factor(f"{what.lower()}.{machine}", [f"{what}.{machine}"], table)
        for what in ("Noise", "Fail"):
            arguments = [f"Heat.{machine}", f"{what}.{machine}"]
            builder.factor(f"h{what.lower()}.{machine}", arguments, table and [1, 2, 3, 4])
    graph = builder.graph()
    free = lifagu.impute(graph, None, ["Fail.m2"]).marginals
    assert (free.own[0], free.lent[0]) == (5, 5)
    cut = lifagu.impute(graph, {"Heat.m2": "true"}, ["Fail.m2", "Heat.m2"]).marginals
    assert (cut.own.tolist(), cut.lent.tolist()) == ([2, 0], [2, 0])


def test_without_questions_those_near_unknown_factors_are_asked():
    graph = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    found = lifagu.impute(graph, {"Travel.eve": "true"})
    names = list(found.marginals.names)
    assert names == ["Sick.eve", "Treat.eve.m1", "Treat.eve.m2"]
    assert found.offered == 3


def test_only_what_was_asked_can_be_looked_up():
    graph = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    found = lifagu.impute(graph, None, ["Sick.eve"], theta=1, by="lifagu").marginals
    with pytest.raises(lifagu.NoAnswerError, match="factors that stay unknown are connected"):
        found["Sick.eve"]
    with pytest.raises(lifagu.ModelError, match="nobody asked about 'Epid'"):
        found["Epid"]
    with pytest.raises(lifagu.ModelError, match="impute takes a FactorGraph, not ParfactorGraph"):
        lifagu.impute(lifagu.read(ROOT / "examples/smokers.json"))
    with pytest.raises(lifagu.ModelError, match="combine is 'all'; choose one of average, best"):
        lifagu.impute(graph, combine="all")


def test_they_are_not_too_many():
    builder = lifagu.FactorGraph.build().variables([f"A{number}" for number in range(200)])
    builder.factor("known", ["A0"], [1, 2])
    graph = builder.factors(
        {f"f{number}": [f"A{number}"] for number in range(1, 200)}, None
    ).graph()
    found = lifagu.impute(graph)
    assert (len(found.marginals), found.offered) == (100, 199)


# ---- What is written


@pytest.mark.parametrize(("seed", "by"), sampled(product(range(10), ["extended", "auto"]), step=2))
def test_tables_say_what_the_completed_graph_holds(seed, by, tmp_path):
    graph, evidence = drawn(seed)
    found = lifagu.impute(graph, evidence, by=by, combine="best")
    lifagu.io.write_imputed(tmp_path / "result", found.tables())
    moved = lifagu.transfer(graph, 0, evidence, by=by, combine="best")
    completed = moved.graph
    filled = read_back(tmp_path / "result", "tables")
    assert [row["factor"] for row in filled] == [
        graph.factor_names[each] for each in moved.transferred
    ]
    for row in filled:
        factor = completed.factor(row["factor"])
        assert tuple(row["arguments"]) == factor.arguments
        assert row["potentials"] == factor.table.reshape(-1).tolist()
    for row, record in zip(read_back(tmp_path / "result", "transfers"), moved.record, strict=True):
        same = {
            "status",
            "donor",
            "candidates",
            "agreeing",
            "share",
            "tie",
            "unit",
            "steps",
            "reason",
            "fallback",
            "way",
            "guess",
        }
        expected = record.as_dict()
        assert {key: row[key] for key in same} == {key: expected[key] for key in same}
        assert row["factor"] == record.factor
        assert row["alignment"] == expected["alignment"]
    answered = {
        (row["variable"], row["value"]): row["probability"]
        for row in read_back(tmp_path / "result", "marginals")
    }
    names = list(found.marginals.names)
    assert answered == {
        (name, label): value for name in names for label, value in found.marginals[name].items()
    }


def test_csv_holds_the_same_as_parquet(tmp_path):
    graph, evidence = drawn(6)
    tables = lifagu.impute(graph, evidence).tables()
    lifagu.io.write_imputed(tmp_path / "result", tables)
    lifagu.io.write_imputed(tmp_path / "result.csv", tables)
    for name in ("transfers", "tables", "marginals"):
        rows = read_back(tmp_path / "result", name)
        with (tmp_path / f"result.csv/{name}.csv").open() as file:
            found = list(csv.DictReader(file))
        assert len(rows) == len(found)
        for row, texts in zip(rows, found, strict=True):
            for key, value in row.items():
                plain = (
                    json.dumps(value)
                    if isinstance(value, list | bool)
                    else ""
                    if value is None
                    else str(value)
                )
                assert texts[key] == plain


@pytest.mark.parametrize("target", ["result", "result.csv"])
def test_a_folder_with_anything_else_in_it_is_refused(target, tmp_path, capsys):
    (tmp_path / target).mkdir()
    (tmp_path / target / "variables.parquet").write_text("mine")
    model = ROOT / "examples/epidemic.json"
    status, _, err = run_cli(
        capsys, "impute", model, "--add", "eve=bob", "--out", tmp_path / target
    )
    assert status == 2
    assert "not lifagu's to replace" in err
    assert (tmp_path / target / "variables.parquet").read_text() == "mine"


def test_equal_runs_write_equal_bytes(tmp_path):
    graph, evidence = drawn(3)
    for name in ("one", "two"):
        lifagu.io.write_imputed(tmp_path / name, lifagu.impute(graph, evidence).tables())
    for table in ("transfers", "tables", "marginals"):
        assert (tmp_path / f"one/{table}.parquet").read_bytes() == (
            tmp_path / f"two/{table}.parquet"
        ).read_bytes()


# ---- The command

EVE = ["impute", ROOT / "examples/epidemic.json", "--add", "eve=alice"]


def test_the_report_says_everything(capsys):
    status, out, _ = run_cli(capsys, *EVE, "--fill", "lifagu", "--queries", "Sick.eve")
    assert status == 0
    assert "3 unknown factors: 3 filled, 0 left unknown" in out
    assert re.search(r"f2\.alice\.m1 +0\.667 +factors", out)
    assert "Sick.eve  true 0.7942" in out
    assert "3, weakest share 0.667" in out


def test_what_stays_unknown_is_said_with_the_reason(capsys):
    status, out, _ = run_cli(capsys, *EVE, "--fill", "lifagu", "--theta", "0.9")
    assert status == 0
    assert "less than the 0.9 asked for" in out
    assert "no answer, as factors that stay unknown are connected to them: Travel.eve" in out


def test_json_agrees_with_query(capsys):
    _, out, _ = run_cli(capsys, *EVE, "--json", "--queries", "Epid", "Sick.eve")
    found = json.loads(out)
    _, out, _ = run_cli(capsys, "query", EVE[1], "Epid", "Sick.eve", *EVE[2:], "--json")
    answers = json.loads(out)["answers"]
    assert found["unknown"] == {"total": 3, "transferred": 3, "left": 0}
    for mine, theirs in zip(found["marginals"], answers, strict=True):
        assert list(mine["probabilities"].values()) == pytest.approx(theirs["probabilities"])
        assert mine["transferred"] == len(theirs["rests_on"])
    assert sum(line["count"] for line in found["lent"]) == 3


def test_mistakes_are_one_line(capsys, tmp_path):
    for arguments, message in (
        (
            ["--queries", "Sick.ev"],
            "there is no variable 'Sick.ev' in the model; did you mean 'Sick.eve'?",
        ),
        (["--out", tmp_path / "x.json"], "results go to a folder"),
        (["--out", tmp_path / "x", "--write"], "not allowed with argument"),
    ):
        status, _, err = run_cli(capsys, *EVE, *arguments)
        assert (status, err.count("\n")) == (2, 1)
        assert message in err
