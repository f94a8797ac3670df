"""Questions answered by cohorts: against sums over all completions, and on every way in."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lifagu
from lifagu.errors import NoAnswerError
from lifagu.io import from_json, to_json
from lifagu.questions.posterior_model import posterior_graph
from support.cohort_models import population
from support.counted_clinic import TEMPLATE, clinic
from support.helpers import run_cli
from support.naive.inference import Elimination
from support.small_hospital import made, written

HOLES = ("fa.p0", "fc.p0", "fd.p0", "fa.p1", "fb.p2", "fc.p2")


@pytest.fixture(scope="module")
def people():
    return population(14, 4, unknown=0.0, holes=HOLES)


@pytest.fixture(scope="module")
def moved(people):
    return lifagu.transfer(people.graph, by="auto")


@pytest.fixture(scope="module")
def of_two_sorts(moved):
    """The same by two sorts of cohorts, so that all combinations can be tried."""
    sorts = moved.posterior.cohorts
    weights = sorts.weights[:2] / sorts.weights[:2].sum()
    cohorts = replace(sorts, found=sorts.found[:2], weights=weights)
    return replace(moved, posterior=replace(moved.posterior, cohorts=cohorts))


def model_of(graph, evidence=None):
    """A model as in a file, tables and ranges written out."""
    model = json.loads(to_json(graph))
    named, ranges = model.pop("tables", {}), model.pop("ranges", {})
    for variable in model["variables"]:
        if isinstance(variable.get("range"), str):
            variable["range"] = ranges[variable["range"]]
    for factor in model["factors"]:
        if isinstance(factor["table"], str):
            factor["table"] = named[factor["table"]]
    return {**model, "evidence": evidence or {}}


# ---- impossible evidence


EVIDENCE = {"none": {}, "own": {"B.p0": "mid", "C.p2": "z"}, "of others": {"Epid": "true"}}


@pytest.mark.parametrize("way", ["average", "best"])
def test_impossible_evidence_has_no_answer(way):
    builder = lifagu.FactorGraph.build()
    for number in range(8):
        builder.variable(f"A{number}", kind="A", individual=f"p{number}")
        builder.variable(f"B{number}", kind="B", individual=f"p{number}")
        table = None if number == 0 else [1, 0, number % 2 + 1, 3]
        builder.factor(f"f{number}", [f"A{number}", f"B{number}"], table)
    moved = lifagu.transfer(builder.graph(), by="auto")
    possible = lifagu.query(moved, "A0", evidence={"B0": "true"}, combine=way)
    assert possible.probabilities == pytest.approx([0, 1])
    with pytest.raises(NoAnswerError, match="probability zero"):
        lifagu.query(moved, "B1", evidence={"A0": "false", "B0": "true"}, combine=way)


# ---- odd models


def few(ranges, tables, **more):
    """Individuals with tables over one variable, the last table unknown."""
    builder = lifagu.FactorGraph.build()
    for number, table in enumerate([*tables, None]):
        builder.variable(f"A{number}", ranges, kind="A", individual=f"p{number}")
        known = {} if table is None else more
        builder.factor(f"f{number}", [f"A{number}"], table, **known)
    return builder.graph()


ODD = {
    "ternary": (few(["a", "b", "c"], [[1, 2, 3]] * 3), [1 / 6, 1 / 3, 1 / 2]),
    "one label": (few(["only"], [[3]] * 3), [1.0]),
    "one label, counted": (few(["only"], [[3]] * 3, support=3), [1.0]),
    "zeros": (few(["a", "b", "c"], [[0, 2, 3]] * 4), [0, 0.4, 0.6]),
    "huge": (few(["a", "b"], [[1e308, 1e308], [3e-308, 3e-308]]), [0.5, 0.5]),
    "up to a factor": (few(["a", "b"], [[1, 3], [2, 6], [10, 30]]), [0.25, 0.75]),
    "half and half": (few(["a", "b"], [[1, 3], [1, 1]] * 3), [0.375, 0.625]),
    "all different": (few(["a", "b"], [[1, n] for n in range(1, 13)]), None),
    "no records": (few(["a", "b"], [[1, 3]] * 3, support=0), [0.5, 0.5]),
    "alone": (few(["a", "b"], [[1, 3]]), [0.25, 0.75]),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_models_are_answered(what):
    graph, wanted = ODD[what]
    last = graph.variable_names[len(graph.variable_names) - 1]
    case = lifagu.open(graph).fill(by="auto")
    found = case.ask(last).probabilities
    if wanted is None:  # the mean of what there is
        shares = [np.array([1, n]) / (1 + n) for n in range(1, 13)]
        assert found == pytest.approx(np.mean(shares, axis=0), abs=0.02)
    else:
        assert found == pytest.approx(wanted, abs=1e-6)
    for way in ("average", "best"):
        answer = case.fill(by="auto", combine=way).ask(last).probabilities
        assert answer.sum() == pytest.approx(1)
        assert np.isfinite(answer).all()


# ---- the case


def test_one_who_is_added_is_like_everybody(people):
    case = lifagu.open(people.graph).add("eve", like="p5").fill(by="auto")
    records = {record.factor: record for record in case.transfer.record}
    own = [record for name, record in records.items() if name.endswith("eve")]
    assert len(own) == 4
    for record in own:
        assert record.owner.shown == 0
        assert "Nothing is known of its owner" in record.reason
    graph = case.transfer.averaged()
    known = [graph.factor(f"fa.p{number}").table for number in range(2, 14)]
    pooled = np.mean([each / each.sum() for each in known], axis=0)
    name = next(record.factor for record in own if record.factor.startswith("fa"))
    assert graph.factor(name).table == pytest.approx(pooled, abs=0.05)


# ---- the command line


@pytest.fixture(scope="module")
def path(people, tmp_path_factory):
    file = tmp_path_factory.mktemp("cohorts") / "people.json"
    file.write_text(to_json(people.graph))
    return file


def told(capsys, *arguments):
    status, out, err = run_cli(capsys, *arguments, "--fill", "auto")
    assert status == 0, err
    return out


@pytest.mark.parametrize("way", ["best", "average"])
def test_every_verb_fills_by_cohorts(way, path, moved, capsys, tmp_path):
    graph = moved.graph if way == "best" else posterior_graph(moved)
    own, more = list(moved.original.variable_names), ["--json", "--combine", way]
    oracle = Elimination(model_of(graph))
    wanted = oracle.marginal("A.p0")
    answer = json.loads(told(capsys, "query", path, "A.p0", *more))
    assert answer["answers"][0]["probabilities"] == pytest.approx(wanted)
    assert answer["unknown"] == {"total": 6, "transferred": 6, "left": 0}
    every = json.loads(told(capsys, "marginals", path, *more))
    assert list(every["marginals"]) == own
    assert list(every["marginals"]["A.p0"].values()) == pytest.approx(wanted)
    assert every["left_out"] == []
    weight = json.loads(told(capsys, "logz", path, *more))["log_partition"]
    assert weight == pytest.approx(oracle.log_total)
    best = json.loads(told(capsys, "map", path, *more))
    assert best["log_weight"] == pytest.approx(oracle.log_best)
    assert list(best["assignment"]) == own
    if way == "best":
        assert oracle.weight(best["assignment"]) == pytest.approx(best["log_weight"])
    told(capsys, "impute", path, "--out", tmp_path / "out.csv", *more)
    rows = (tmp_path / "out.csv/marginals.csv").read_text()
    assert "A.p0" in rows
    assert "cohort" in (tmp_path / "out.csv/transfers.csv").read_text()
    told(capsys, "plot", path, "--out", tmp_path / "figure.svg")
    assert "</svg>" in (tmp_path / "figure.svg").read_text()
    assert "unknown factors" in told(capsys, "info", path)


def test_lift_has_the_keys_of_the_contract_and_the_cohort(path, moved, capsys):
    found = json.loads(told(capsys, "lift", path, "--json"))
    assert {"theta", "variable_groups", "factor_groups", "transfers", "model"} <= found.keys()
    assert [each["factor"] for each in found["transfers"]] == [
        record.factor for record in moved.record
    ]
    names = set(moved.original.factor_names)
    posteriors = lifagu.open(path).fill(by="auto").lift().posteriors
    assert [each["posterior"] for each in found["transfers"]] == pytest.approx(posteriors)
    for each, record in zip(found["transfers"], moved.record, strict=True):
        assert 0 < each["posterior"] <= 1
        assert each["status"] == "transferred"
        assert each["donor"] in names
        assert each["candidates"] > 0 < each["agreeing"]
        assert 0 < each["share"] <= 1
        assert sorted(each["alignment"]) == list(range(len(each["alignment"])))
        assert (each["tie"], each["ambiguous_alignment"]) == (False, False)
        assert each["reason"]
        assert each["unit"] == record.unit
        if record.owner is not None:
            assert each["owner"]["cohorts"] == record.owner.cohorts >= 1
            assert 0 < each["owner"]["share"] <= 1
            assert each["owner"]["declared"] is True
    members = sorted(name for group in found["factor_groups"] for name in group)
    assert members == sorted(names)
    lifted = lifagu.ground(from_json(json.dumps(found["model"])))
    assert len(lifted.unknown) == 0
    assert len(lifted.factor_names) == len(names)


def test_theta_and_options_on_the_command_line(path, capsys):
    status, out, err = run_cli(capsys, "query", path, "A.p0", "--fill", "auto", "--theta", "1")
    assert (status, out) == (2, "")
    assert err.startswith("error: auto knows no theta; name the rule")
    status, out, err = run_cli(capsys, "query", path, "A.p0", "--fill", "extended", "--keep-known")
    assert (status, out) == (2, "")
    assert err.startswith("error: extended leaves known tables as they are")
    assert err.count("\n") == 1
    kept = json.loads(told(capsys, "query", path, "A.p0", "--json", "--keep-known"))
    plain = json.loads(told(capsys, "query", path, "A.p0", "--json"))
    assert kept == plain  # nothing here was estimated


# ---- other ways in


def relational():
    """Two sorts of persons under a season; of two persons one table is unknown."""
    factors = []
    for number in range(16):
        sick, test = (([8, 2, 3, 7], [9, 1, 1, 9]), ([2, 8, 6, 4], [1, 1, 1, 1]))[number % 2]
        known = number > 1
        factors.append(
            {
                "name": f"f{number}",
                "args": [f"Sick(p{number})", "Epid"],
                "table": sick if known else None,
            }
        )
        factors.append(
            {"name": f"g{number}", "args": [f"Test(p{number})", f"Sick(p{number})"], "table": test}
        )
    return {
        "format": "lifagu/1",
        "domains": {"Person": [f"p{number}" for number in range(16)]},
        "relations": [
            {"name": "Epid"},
            {"name": "Sick", "of": ["Person"]},
            {"name": "Test", "of": ["Person"]},
        ],
        "parfactors": [{"name": "season", "args": ["Epid"], "table": [3, 1]}],
        "factors": factors,
    }


def test_a_relational_model_with_holes():
    model = relational()
    case = lifagu.open(from_json(json.dumps(model))).fill(by="auto")
    by_name = {record.factor: record for record in case.transfer.record}
    assert set(by_name) == {"f0", "f1"}
    for name, table in ("f0", [8, 2, 3, 7]), ("f1", [2, 8, 6, 4]):
        assert by_name[name].share > 0.9
        assert case.transfer.graph.factor(name).table.reshape(-1).tolist() == table
    for each in model["factors"]:
        if each["table"] is None:
            each["table"] = case.transfer.graph.factor(each["name"]).table.reshape(-1).tolist()
    oracle = Elimination(model)
    for name in ("Sick(p0)", "Sick(p1)", "Epid"):
        assert case.ask(name).probabilities == pytest.approx(oracle.marginal(name), abs=1e-9)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_counted_tables_of_a_database(kind, tmp_path, capsys):
    """Wards are counted; that of a new patient is not known, and comes from the other wards."""
    tables = clinic(5, patients=16)
    columns, rows = tables["patients"]
    rows = [*rows, ("eve", None, None, None)]
    database = made(kind, {**tables, "patients": (columns, rows)}, tmp_path)
    path = written(TEMPLATE, tmp_path)
    case = lifagu.open(path, database=database).fill(by="auto")
    assert len(case.graph.unknown) == 1
    record = case.transfer.record[0]
    assert record.factor.endswith("(eve)")
    assert record.candidates == 16
    averaged = case.transfer.averaged()
    # each patient's table is that of a ward: the mean is between those of the two wards
    known = [
        factor.table
        for factor in case.graph.factors
        if factor.name.startswith("sick") and factor.table is not None
    ]
    shares = np.array([each[1] / each.sum() for each in known])
    table = averaged.factor(record.factor).table
    assert shares.min() - 0.05 < table[1] / table.sum() < shares.max() + 0.05
    assert case.graph.support.estimated.sum() == len(case.graph.factor_names) - 1
    told = run_cli(capsys, "query", path, "Sick(eve)", "--db", database, "--fill", "auto", "--json")
    found = json.loads(told[1])["answers"][0]
    assert found["probabilities"] == pytest.approx(case.ask("Sick(eve)").probabilities)


def test_a_folder_of_parquet_tables_in_memory_and_on_an_engine(people, moved, tmp_path, capsys):
    folder = tmp_path / "people"
    lifagu.write(people.graph, folder)
    arguments = ("query", folder, "A.p0", "--fill", "auto", "--json")
    status, out, _ = run_cli(capsys, *arguments, "--on", "memory")
    assert status == 0
    wanted = lifagu.query(moved, "A.p0").probabilities
    assert json.loads(out)["answers"][0]["probabilities"] == pytest.approx(wanted)
    for on in ("duckdb", "spark"):
        status, out, err = run_cli(capsys, *arguments, "--on", on)
        assert (status, out) == (2, "")
        assert "cohorts" in err
        assert "--on memory" in err
        assert err.count("\n") == 1


def test_supports_in_a_folder_count(tmp_path):
    graph = population(12, 2, records=20).graph
    lifagu.write(graph, tmp_path / "people")
    again = lifagu.read(tmp_path / "people")
    one, other = (lifagu.transfer(each, by="auto").averaged() for each in (graph, again))
    for mine, theirs in zip(one.factors, other.factors, strict=True):
        assert mine.table == pytest.approx(theirs.table, abs=1e-9)


# ---- validation


def test_hidden_cells_are_predicted_by_cohorts(tmp_path, capsys):
    """On the command line as in Python, rules side by side."""
    people = population(16, 6, unknown=0.0, holes=tuple(f"fb.p{n}" for n in range(8)))
    rng = np.random.default_rng(0)
    evidence = {f"B.p{n}": str(rng.choice(["low", "mid", "high"])) for n in range(16)}
    path = tmp_path / "people.json"
    path.write_text(to_json(people.graph, evidence))
    rules = ["extended", "auto"]
    status, out, err = run_cli(
        capsys, "validate", path, "--hide", "0.5", "--seed", "3", "--json", "--fill", *rules
    )
    assert status == 0, err
    facts = json.loads(out)["methods"]
    case = lifagu.open(people.graph).observe(evidence)
    found = case.validate(0.5, seed=3, fill=rules).json()["methods"]
    assert list(facts) == list(found) == rules
    for rule in rules:
        assert facts[rule]["hidden"] == found[rule]["hidden"] > 4
        assert facts[rule]["log_loss"] == pytest.approx(found[rule]["log_loss"])
        assert facts[rule]["unanswered"] == 0
