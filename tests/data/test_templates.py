"""Templates: all kinds of databases against a naive loader, tables by hand, every mistake."""

import json
import math

import duckdb
import jsonschema
import numpy as np
import pytest

import lifagu
from lifagu.graph.table_support import TableSupport
from support.helpers import SCHEMA, mostly_full, run_cli
from support.naive import templates as naive
from support.small_hospital import KINDS, SMALL, TABLES, changed, made, written


def fetcher(tables):
    connected = duckdb.connect()
    naive.fill_duckdb(connected, tables)

    def fetch(sql):
        found = connected.execute(sql)
        return [each[0] for each in found.description], found.fetchall()

    return fetch


def as_plain(loaded):
    """What was loaded, as the naive loader says it."""
    graph = loaded.model
    return {
        "variables": [
            (each.name, list(each.range), each.kind, each.individuals) for each in graph.variables
        ],
        "factors": [
            (
                each.name,
                list(each.arguments),
                None if each.table is None else each.table.reshape(-1).tolist(),
            )
            for each in graph.factors
        ],
        "evidence": dict(loaded.evidence),
        "queries": list(loaded.queries),
    }


def check(loaded, expected):
    found = as_plain(loaded)
    close = pytest.approx
    assert found["variables"] == expected["variables"]
    assert [each[:2] for each in found["factors"]] == [each[:2] for each in expected["factors"]]
    for (name, _, table), (*_, wanted) in zip(found["factors"], expected["factors"], strict=True):
        assert table == (None if wanted is None else close(wanted, rel=1e-12)), name
    assert found["evidence"] == expected["evidence"]
    assert found["queries"] == expected["queries"]


@pytest.mark.parametrize("seed", mostly_full(range(30), always=range(12)))
def test_loading_is_what_plain_python_says(seed, tmp_path):
    template, tables = naive.random_hospital(seed)
    path = written(template, tmp_path)
    expected = naive.naive_load(template, fetcher(tables))
    loads = [lifagu.io.load(path, made(kind, tables, tmp_path)) for kind in KINDS[seed % 2 :: 2]]
    for loaded in loads:
        check(loaded, expected)
        assert loaded.model == loads[0].model
    check_counts(loads[0].model, naive.naive_counts(template, fetcher(tables)))


def check_counts(graph, expected):
    """Counted tables are estimated, and their counts can be had again; all others are exact."""
    known = [each.name for each in graph.factors if each.known and each.name.startswith("stay(")]
    estimated = {each.name for each in graph.factors if each.support is not None}
    assert estimated == set(known)
    if known:
        numbers = np.array([graph.factor_names.number(name) for name in known])
        found = graph.support.counts(graph, numbers)
        np.testing.assert_allclose(found, [expected[name] for name in known], atol=1e-9)


@pytest.mark.parametrize("seed", mostly_full(range(100, 106), always=(100, 101, 105)))
def test_all_databases_give_equal_outputs(seed, tmp_path, capsys, new_database):
    template, tables = naive.random_hospital(seed)
    path = written(template, tmp_path)
    addresses = [made(kind, tables, tmp_path) for kind in KINDS]
    addresses.append(naive.in_postgresql(tables, new_database()))
    loads = [lifagu.io.load(path, address) for address in addresses]
    check(loads[0], naive.naive_load(template, fetcher(tables)))
    for loaded in loads[1:]:
        assert loaded.model == loads[0].model
        assert loaded.evidence == loads[0].evidence
        assert list(loaded.queries) == list(loads[0].queries)
    for command in ("check", "info", "lift", "marginals", "query"):
        outputs = {run_cli(capsys, command, path, "--db", address) for address in addresses}
        assert len(outputs) == 1, command


def test_the_order_of_rows_means_nothing(tmp_path):
    template, tables = naive.random_hospital(7)
    path = written(template, tmp_path)
    first = lifagu.io.load(path, made("duckdb", tables, tmp_path))
    turned = {name: (columns, rows[::-1]) for name, (columns, rows) in tables.items()}
    second = lifagu.io.load(path, made("duckdb", turned, tmp_path, "turned"))
    assert (first.model, first.evidence, list(first.queries)) == (
        second.model,
        second.evidence,
        list(second.queries),
    )


def test_batches_do_not_show(tmp_path, monkeypatch, new_database):
    template, tables = naive.random_hospital(3)
    path = written(template, tmp_path)
    addresses = [made("duckdb", tables, tmp_path), naive.in_postgresql(tables, new_database())]
    whole = [lifagu.io.load(path, address) for address in addresses]
    monkeypatch.setattr("lifagu.data.databases.duckdb_files.BATCH", 2)
    monkeypatch.setattr("lifagu.data.databases.served.BATCH", 2)
    for address, before in zip(addresses, whole, strict=True):
        loaded = lifagu.io.load(path, address)
        assert loaded.model == before.model
        assert loaded.evidence == before.evidence


# ---- a small hospital, for what is told by hand


def parfactor(**settings):
    return [{**SMALL["parfactors"][0], **settings}]


def learned(**settings):
    """The parfactor with other settings of its table; None leaves one out."""
    table = {**SMALL["parfactors"][0]["table"], **settings}
    return parfactor(table={key: value for key, value in table.items() if value is not None})


@pytest.fixture
def small(tmp_path):
    """Loads a template on the small hospital."""
    made("duckdb", TABLES, tmp_path)
    return lambda template=SMALL: lifagu.io.load(written(template, tmp_path))


def table_of(loaded, name):
    table = loaded.model.factor(name).table
    return None if table is None else table.reshape(-1).tolist()


def test_learned_tables_by_hand(small):
    loaded = small()
    assert table_of(loaded, "test(al)") == pytest.approx([5 / 6, 1 / 6, 3 / 10, 7 / 10])
    assert [table_of(loaded, f"test({each})") for each in ("bo", "eve", "fay")] == [None] * 3


def test_records_are_rows_where_no_query_gives_them(small):
    """Counted in what was observed of the patients: two of w1, of whom one was not sick."""
    sql = "SELECT * FROM (VALUES ('al', true), ('bo', true), ('eve', false), ('fay', true))"
    evidence = {"Sick": {"sql": sql}, "Test": SMALL["evidence"]["Test"]}
    rows = {"sql": "SELECT id, CASE WHEN id < 'f' THEN id > 'c' END AS late FROM patients"}
    (item,) = learned(records=None, by=["late"], min_support=2, prior=0.5, given=["Sick(Id)"])
    template = changed(parfactors=[{**item, "rows": rows}], evidence=evidence)
    SCHEMA.validate(template)
    loaded = small(template)
    for name in ("al", "bo"):  # two records, both sick
        assert table_of(loaded, f"test({name})") == pytest.approx([0.5, 0.5, 0.5, 0.5])
        support = loaded.model.factor(f"test({name})").support
        assert support == TableSupport((0.0, 2.0), (0,), (0.5,))
    assert table_of(loaded, "test(eve)") is None  # her test is not known
    assert table_of(loaded, "test(fay)") is None  # she is in no group
    template["parfactors"][0]["table"]["min_support"] = 3
    assert len(small(template).model.unknown) == 4


def test_counted_tables_are_known_when_the_template_is_read(small, tmp_path):
    small()
    with pytest.raises(lifagu.ModelError, match="min_support are counted when it is read"):
        lifagu.open(tmp_path / "hospital.json").learn()


def test_what_is_counted_among_tables_is_told_anew(small):
    """The words of the error are the same table."""
    by_hand = {
        "sql": ["SELECT ward, test, sick", "FROM history"],
        "columns": ["sick", "test"],
        "given": ["sick"],
    }
    for old in (
        {"by": ["ward"], "min_support": 5, "key": []},
        {"by": ["ward"], "pool": True, "prior": 2},
        {"sql": "SELECT *, 1 FROM history;", "by": ["ward"]},
        {},
    ):
        item = {**SMALL["parfactors"][0], "table": "t"}
        template = changed(tables={"t": {**by_hand, **old}}, parfactors=[item])
        with pytest.raises(lifagu.FormatError, match="tables.t: counted tables stand") as caught:
            small(template)
        told = str(caught.value)
        assert "\n" not in told
        table = json.loads(told.partition("in parfactor 'test' write \"table\": ")[2])
        assert table["given"] == ["Sick(Id)"]
        found = small(changed(parfactors=[{**item, "table": table}])).model.factor("test(al)")
        assert ("min_support" in table) == ("by" in old and "pool" not in old)
        if not old or "pool" in old:  # two groups of which one has a single record look alike
            assert found.support.records == (4.0, 9.0)
        else:
            assert found.table.reshape(-1).tolist() == pytest.approx([5 / 6, 1 / 6, 0.3, 0.7])


def test_records_of_the_model_itself_are_what_was_observed(small):
    counts = {"sql": "SELECT id, test FROM patients", "columns": ["test"], "key": ["id"]}
    item = {**SMALL["parfactors"][0], "args": ["Test(Id)"], "table": "t"}
    with pytest.raises(lifagu.FormatError, match="tables.t: counted tables stand") as caught:
        small(changed(tables={"t": counts}, parfactors=[item]))
    table = json.loads(str(caught.value).partition('"table": ')[2])
    assert table == {"learn": True, "min_support": 1}
    found = small(changed(parfactors=[{**item, "table": table}])).model.factor("test(eve)")
    assert found.table.tolist() == [0.5, 0.5]
    assert found.support.records == (2.0,)


def test_learned_joint_tables_by_hand(small):
    loaded = small(changed(parfactors=learned(given=[], by=[], prior=0)))
    assert table_of(loaded, "test(eve)") == pytest.approx([4 / 13, 0, 2 / 13, 7 / 13])


def test_a_prior_by_state_and_no_support_needed(small):
    loaded = small(changed(parfactors=learned(prior=[[1, 3], [2, 2]], min_support=0)))
    assert table_of(loaded, "test(eve)") == pytest.approx([0.25, 0.75, 0.5, 0.5])
    assert table_of(loaded, "test(bo)") == pytest.approx([0.25, 0.75, 0.4, 0.6])
    assert table_of(loaded, "test(fay)") is None


def test_a_condition_that_was_never_met_leaves_the_table_unknown(small):
    loaded = small(changed(parfactors=learned(prior=0, min_support=1)))
    assert table_of(loaded, "test(bo)") is None
    assert table_of(loaded, "test(al)") == pytest.approx([1, 0, 0.25, 0.75])


def test_counted_tables_bring_their_support(small):
    """Ward w1: 4 records of those not sick, 8 of the sick; w2 has one record, and is unknown."""
    graph = small().model
    assert graph.factor("test(al)").support == TableSupport((4.0, 8.0), (0,), (1.0,))
    assert [graph.factor(f"test({each})").support for each in ("bo", "eve", "fay")] == [None] * 3
    whole = small(changed(parfactors=learned(given=[], by=[], prior=0, min_support=None))).model
    assert {each.support for each in whole.factors} == {TableSupport((13.0,))}
    imagined = small(changed(parfactors=learned(min_support=0))).model
    assert imagined.factor("test(eve)").support == TableSupport((0.0, 0.0), (0,), (1.0,))
    with_states = small(changed(parfactors=learned(given=["Test(Id)"], prior=[[1, 3], [2, 2]])))
    behind = TableSupport((6.0, 6.0), (1,), (1.0, 3.0, 2.0, 2.0))
    assert with_states.model.factor("test(al)").support == behind


OWN = "CASE id WHEN 'al' THEN '[0.9, 0.1, 0.4, 0.6]' WHEN 'bo' THEN '[1, 2, 3, 4]' END AS t"
BEHIND = "CASE id WHEN 'al' THEN {} WHEN 'eve' THEN {} END AS n"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("one", "other"), [("7", "8"), ("7.5", "NULL"), ("'[3, 4]'", "NULL")])
def test_rows_may_bring_the_support_of_their_tables(kind, one, other, tmp_path):
    sql = f"SELECT id, {OWN}, {BEHIND.format(one, other)} FROM patients"
    said = {"table": {"column": "t"}, "rows": {"sql": sql}, "support": "n", "prior": 0.5}
    path = written(changed(parfactors=parfactor(**said)), tmp_path)
    SCHEMA.validate(json.loads(path.read_text()))
    graph = lifagu.io.load(path, made(kind, TABLES, tmp_path)).model
    records = tuple(map(float, json.loads(f"[{one.strip(chr(39)).strip('[]')}]")))
    found = graph.factor("test(al)").support
    assert found == TableSupport(records, (0,) if len(records) > 1 else (), (0.5,))
    assert [graph.factor(f"test({each})").support for each in ("bo", "eve", "fay")] == [None] * 3


def test_lists_of_records_by_row(small):
    rows = {"sql": "SELECT id, [3.0, 4.0] AS n FROM patients"}
    said = {"table": "phi", "rows": rows, "support": "n", "given": ["Test(Id)"]}
    graph = small(changed(parfactors=parfactor(**said))).model
    assert {each.support for each in graph.factors} == {TableSupport((3.0, 4.0), (1,))}


def test_all_rows_may_have_one_support(small):
    for said in ({"table": "phi"}, {"table": {"column": "t"}}):
        rows = {"sql": "SELECT id, 'phi' AS t FROM patients"}
        graph = small(changed(parfactors=parfactor(**said, rows=rows, support=[5, 6]))).model
        assert {each.support for each in graph.factors} == {TableSupport((5.0, 6.0), (0,))}


def test_a_learned_table_without_groups_needs_no_rows(small):
    (whole,) = learned(by=[], given=["Sick(X)"])
    del whole["rows"]
    loaded = small(changed(parfactors=[{**whole, "args": ["Sick(X)", "Test(X)"]}]))
    assert len(loaded.model.factor_names) == 4
    assert table_of(loaded, "test(fay)") == pytest.approx([5 / 6, 1 / 6, 3 / 11, 8 / 11])


def test_kinds_and_individuals_come_from_the_schema(small):
    graph = small().model
    assert graph.variable("Test(eve)").kind == "Test"
    assert graph.variable("Test(eve)").individuals == ("eve",)
    moved = lifagu.transfer(graph)
    assert {record.donor for record in moved.record} == {"test(al)"}


def test_a_new_row_changes_only_what_it_concerns(small, tmp_path):
    before = as_plain(small())
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connected:
        connected.execute("INSERT INTO patients VALUES ('zoe', 'w1', true)")
    after = as_plain(small())
    for section in ("variables", "factors", "queries"):
        assert [each for each in after[section] if "zoe" not in str(each)] == before[section]
    assert after["evidence"] == {**before["evidence"], "Test(zoe)": "true"}


def test_literal_evidence_overrides_queries(small):
    evidence = {
        "Test": SMALL["evidence"]["Test"],
        "Test(al)": "false",
        "Sick(eve)": {"false": 1, "true": 3},
    }
    loaded = small(changed(evidence=evidence))
    assert dict(loaded.evidence) == {
        "Test(al)": "false",
        "Test(bo)": "false",
        "Sick(eve)": {"false": 1, "true": 3},
    }


def test_evidence_on_what_no_factor_has_is_left_out(small):
    few = parfactor(rows={"sql": "SELECT id, ward FROM patients WHERE id <> 'bo'"})
    assert dict(small(changed(parfactors=few)).evidence) == {"Test(al)": "true"}


def test_labels_in_another_order(small):
    relations = [
        {"name": "Sick", "of": ["Patient"]},
        {"name": "Test", "of": ["Patient"], "range": ["true", "false"]},
    ]
    loaded = small(changed(relations=relations))
    assert table_of(loaded, "test(al)") == pytest.approx([1 / 6, 5 / 6, 7 / 10, 3 / 10])
    assert loaded.evidence["Test(al)"] == "true"


def test_arguments_that_fall_together_have_the_diagonal(small):
    pairs = {
        "name": "pair",
        "args": ["Sick(One)", "Sick(Two)"],
        "rows": {"sql": "SELECT 'al' AS one, 'al' AS two UNION ALL SELECT 'al', 'bo'"},
        "table": "phi",
    }
    graph = small(changed(parfactors=[*SMALL["parfactors"], pairs])).model
    assert graph.factor("pair(al,al)").table.tolist() == [9, 8]
    assert graph.factor("pair(al,bo)").table.tolist() == [[9, 1], [2, 8]]


def test_relations_and_parfactors_without_logical_variables(small):
    template = changed(
        relations=[*SMALL["relations"], {"name": "Flu"}],
        parfactors=[
            *SMALL["parfactors"],
            {
                "name": "flu",
                "args": ["Flu"],
                "rows": {"sql": "SELECT [3.0, 1.0] AS t"},
                "table": {"column": "t"},
            },
            {"name": "twice", "args": ["Flu"], "table": [1, 2]},
        ],
        evidence={"Flu": {"sql": "SELECT true"}},
        queries=["Flu", {"relation": "Flu", "sql": "SELECT 1 WHERE false"}],
    )
    with pytest.raises(lifagu.FormatError, match="the columns 1, but 0 are expected"):
        small(template)
    template["queries"] = ["Flu"]
    loaded = small(template)
    assert table_of(loaded, "flu") == [3, 1]
    assert loaded.evidence == {"Flu": "true"}
    template["evidence"]["Flu"]["sql"] = "SELECT true UNION ALL SELECT true"
    with pytest.raises(lifagu.FormatError, match="rows 1 and 2: Flu is observed twice"):
        small(template)


def test_read_and_read_evidence_give_the_same(small, tmp_path):
    loaded = small()
    assert lifagu.read(tmp_path / "hospital.json") == loaded.model
    assert lifagu.io.read_evidence(tmp_path / "hospital.json") == dict(loaded.evidence)
    assert loaded.query_numbers().tolist() == [0, 1, 2, 3]


def test_other_models_load_as_well(tmp_path):
    loaded = lifagu.io.load("examples/smokers.blog")
    assert "Smokes(p1)" in loaded.queries
    assert loaded.evidence["Smokes(p2)"] == "true"
    graph = lifagu.read("examples/figure3.json")
    lifagu.write(graph, tmp_path / "big", {"B": "true"})
    assert lifagu.io.load(tmp_path / "big").evidence == {"B": "true"}
    with pytest.raises(lifagu.FormatError, match="reads no database"):
        lifagu.io.load(tmp_path / "big", "x.duckdb")
    with pytest.raises(lifagu.FormatError, match="reads no database"):
        lifagu.read("examples/figure3.json", "x.duckdb")


def test_a_template_is_not_a_text():
    with pytest.raises(lifagu.FormatError, match="source: this is part of a template"):
        lifagu.io.from_json(json.dumps(SMALL))


def test_commands_take_templates(small, tmp_path, capsys):
    loaded, path = small(), tmp_path / "hospital.json"
    status, out, _ = run_cli(capsys, "query", path, "--json")
    assert status == 0
    assert [each["query"] for each in json.loads(out)["answers"]] == [
        ["Sick(al)"],
        ["Sick(bo)"],
        ["Sick(eve)"],
        ["Sick(fay)"],
    ]
    moved = lifagu.transfer(loaded.model, by="auto")
    expected = lifagu.query(moved, "Sick(eve)", evidence={"Test(eve)": "true", **loaded.evidence})
    _, out, _ = run_cli(
        capsys, "query", path, "Sick(eve)", "--evidence", "Test(eve)=true", "--json"
    )
    assert json.loads(out)["answers"][0]["probabilities"] == pytest.approx(
        [expected["false"], expected["true"]]
    )
    for command in (
        ["lift", path, "--json"],
        ["map", path],
        ["logz", path],
        ["marginals", path],
        ["info", path],
    ):
        status, out, err = run_cli(capsys, *command)
        assert (status, err) == (0, ""), command
        assert out
    for target in ("out.json", "out.uai"):
        assert run_cli(capsys, "convert", path, tmp_path / target)[0] == (
            0 if target == "out.json" else 2
        )
    assert lifagu.read(tmp_path / "out.json") == loaded.model
    assert lifagu.io.read_evidence(tmp_path / "out.json") == dict(loaded.evidence)


def test_new_individuals_can_be_added_to_templates(small, tmp_path, capsys):
    small()
    status, out, _ = run_cli(
        capsys, "query", tmp_path / "hospital.json", "Sick(new)", "--add", "new=al"
    )
    assert status == 0
    assert "rests on 1 transferred table" in out


def test_the_schema_knows_templates():
    SCHEMA.validate(SMALL)
    for seed in range(10):
        SCHEMA.validate(naive.random_hospital(seed)[0])
    for wrong in (
        changed(source=7),
        changed(domains={"Patient": {"sql": 7}}),
        changed(parfactors=parfactor(table={"colum": "x"})),
        changed(queries=[7]),
    ):
        with pytest.raises(jsonschema.ValidationError):
            SCHEMA.validate(wrong)


# ---- mistakes

ROWS = "SELECT id, ward FROM patients"
MISTAKES = [
    ({"source": 7}, "source: a source is a path, a URL, or an object with files, not a number"),
    ({"source": {"files": {}}}, "source: files names for each table"),
    ({"source": {"files": {"t": "none.csv"}}}, "source: there is no such file: .*none.csv"),
    ({"source": {"files": {"t": "n" * 3000 + ".csv"}}}, "source: there is no such file: .*nnn"),
    ({"source": "n" * 3000 + ".duckdb"}, "source: there is no such file: .*nnn"),
    ({"source": "none.duckdb"}, "source: there is no such file: .*none.duckdb"),
    ({"source": "data.xlsx"}, "source: 'data.xlsx' is no database that can be read"),
    ({"source": "mysql://x/y"}, "source: the scheme of the URL tells no known database"),
    ({"source": "${LIFAGU_NOWHERE}"}, "source: the source names ..LIFAGU_NOWHERE., which a"),
    ({"soruce": 1}, "soruce: there is no such section; did you mean 'source'"),
    ({"domains": {"Patient": {"sql": 7}}}, "domains.Patient: sql is a text, or a list of lines"),
    ({"domains": {"Patient": {"sql": " "}}}, "domains.Patient: sql is a text"),
    (
        {"domains": {"Patient": {"query": "x"}}},
        "domains.Patient: a query has no 'query'; it has sql",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT idd FROM patients"}}},
        "Patient: the query fails: .*idd.*; the query is: SELECT idd",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT id, ward FROM patients"}}},
        "the columns id, ward, but 1 are expected: the constant",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT ward FROM patients"}}},
        r"row 4 \(NULL\): NULL is no constant of domain Patient",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT 'x' FROM patients"}}},
        "rows 1 and 2: 'x' is a constant of domain Patient twice",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT 7 FROM patients"}}},
        "rows 1 and 2: '7' is a constant of domain Patient twice",
    ),
    ({"domains": {"Patient": {"sql": "SELECT '' AS id"}}}, "row 1: an empty text is no constant"),
    (
        {"domains": {"Patient": {"sql": "SELECT id FROM patients WHERE false"}}},
        "the query gives no row; domain Patient",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT [1.0] AS id"}}},
        "the column 'id' holds lists; give single values",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT 'al' AS id"}}},
        r"parfactors\[0\].rows: row 2 \(bo, w2\): 'bo' is not a constant of domain Patient",
    ),
    (
        {"domains": {"Patient": {"sql": "DELETE FROM patients"}}},
        "this is not one query that only reads",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT 1; DROP TABLE patients"}}},
        "this is not one query that only reads",
    ),
    (
        {"domains": {"Patient": {"sql": "SELECT * FROM read_csv('/etc/hosts')"}}},
        "Patient: the query fails: .*disabled",
    ),
    (
        {"parfactors": learned(records={"sql": "SELECT sick FROM history"}, by=[])},
        r"parfactors\[0\].table.records: the query has the columns sick, but there are 2 arguments",
    ),
    (
        {"parfactors": learned(given=["Sick(Id)", "Test(Id)"])},
        r"parfactors\[0\].table: given has all arguments",
    ),
    (
        {"parfactors": learned(min_support=-1)},
        r"parfactors\[0\].table: min_support is a whole number",
    ),
    ({"parfactors": learned(prior=-1)}, r"parfactors\[0\].table: prior is a number of imagined"),
    (
        {"parfactors": learned(prior=[1, 2])},
        r"parfactors\[0\].table: prior has 2 numbers, but the arguments span 4 states",
    ),
    (
        {"parfactors": learned(prior=1, records=None, min_support=None)},
        r"parfactors\[0\].table: prior is for tables that are counted, with records or min_support",
    ),
    (
        {"parfactors": learned(records={"sql": "SELECT sick, ward FROM history"}, by=[])},
        "'ward' has the value 'w1', which is not among false, true, the labels of argument 2; .* "
        "SELECT sick, ward FROM history",
    ),
    (
        {"parfactors": learned(records={"sql": "SELECT sick, test FROM history"})},
        "a table by ward needs a column 'ward', which is not among sick, test",
    ),
    (
        {"parfactors": learned(by=["clinic"])},
        "parfactor 'test' needs a column 'clinic', which is not among id, ward",
    ),
    (
        {"parfactors": learned(records="SELECT")},
        r"parfactors\[0\].table.records: a query is an object",
    ),
    ({"parfactors": learned(key=[])}, r"parfactors\[0\].table: a table to be learned has no 'key'"),
    ({"parfactors": parfactor(rows=ROWS)}, r"parfactors\[0\].rows: a query is an object"),
    ({"parfactors": parfactor(where=["Id != al"])}, "a parfactor has rows or where"),
    ({"parfactors": parfactor(args=["#Id[Sick(Id)]", "Test(Id)"])}, "counting formulas stand only"),
    (
        {"parfactors": parfactor(args=["Sick(P)", "Test(P)"], table="phi")},
        "parfactor 'test' needs a column 'P', which is not among id, ward",
    ),
    (
        {"parfactors": parfactor(rows={"sql": "SELECT NULL AS id, ward FROM patients"})},
        r"row 1 \(NULL, w1\): 'id' is NULL; it must be a constant",
    ),
    (
        {"parfactors": parfactor(rows={"sql": f"{ROWS} UNION ALL {ROWS}"})},
        r"rows 1 and 5: \(al\) stands twice",
    ),
    (
        {"parfactors": parfactor(rows={"sql": f"{ROWS} WHERE false"})},
        "the query gives no row; parfactor 'test' needs one",
    ),
    ({"parfactors": parfactor(table={"column": "phi"})}, "parfactor 'test' needs a column 'phi'"),
    (
        {"parfactors": parfactor(table={"colum": "phi"})},
        r"parfactors\[0\].table: a table by row has no 'colum'",
    ),
    (
        {"parfactors": parfactor(table={"column": "ward"})},
        r"row 1 \(al, w1\): there is no table 'w1' among",
    ),
    ({"parfactors": parfactor(table="tset")}, "has the table 'tset', which is not declared"),
    ({"parfactors": parfactor(table=[1, 2])}, "factor 'test' has 2 potentials but its arguments"),
    (
        {
            "parfactors": parfactor(
                table={"column": "t"}, rows={"sql": "SELECT 'al' AS id, [1.0, 2.0] AS t"}
            )
        },
        "row 1 .*: the table has 2 potentials, but the arguments span 4",
    ),
    (
        {
            "parfactors": parfactor(
                table={"column": "t"}, rows={"sql": "SELECT 'al' AS id, [1.0, 2.0, NULL, 1.0] AS t"}
            )
        },
        "row 1 .*: the table has the potential nan at place 2; write NULL",
    ),
    (
        {
            "parfactors": parfactor(
                table={"column": "t"}, rows={"sql": "SELECT 'al' AS id, '[1, 2, 3, -4]' AS t"}
            )
        },
        "row 1 .*: the table has the potential -4.0 at place 3",
    ),
    (
        {
            "parfactors": parfactor(
                table={"column": "t"}, rows={"sql": "SELECT 'al' AS id, '[1, x]' AS t"}
            )
        },
        "row 1 .*: '.1, x.' is no list of numbers",
    ),
    (
        {"parfactors": [{**learned(given=[])[0], "args": ["Sick(X)", "Test(X)"], "rows": None}]},
        r"parfactors\[0\].rows: a query is an object",
    ),
    (
        {"parfactors": [{"name": "g", "args": ["Sick(X)", "Test(X)"], "table": {"column": "t"}}]},
        "the parfactor has no rows",
    ),
    (
        {"parfactors": parfactor(support=3)},
        r"parfactors\[0\].support: parfactor 'test' is learned, and brings its own support; leave",
    ),
    (
        {"parfactors": [{"name": "g", "args": ["Sick(X)"], "table": [1, 2], "support": "n"}]},
        r"parfactors\[0\].support: .*the parfactor has no rows",
    ),
    (
        {"parfactors": parfactor(table="phi", support="n")},
        "parfactor 'test' needs a column 'n', which is not among id, ward",
    ),
    (
        {"parfactors": parfactor(table="phi", support="ward")},
        r"row 1 \(al, w1\): 'w1' is no number of records",
    ),
    (
        {"parfactors": parfactor(table="phi", support="n", rows={"sql": "SELECT 'al' id, -1 n"})},
        r"row 1 \(al, -1\): 'n' is no number of records, 0 or more",
    ),
    (
        {
            "parfactors": parfactor(
                table="phi", support="n", rows={"sql": "SELECT 'al' AS id, [1, 2, 3] AS n"}
            )
        },
        r"factor 'test\(al\)' has 3 numbers of records",
    ),
    (
        {"factors": [{"name": "f", "args": ["Sick(al)", "Test(al)"], "table": "learn"}]},
        r"factors\[0\].table: learned tables are for parfactors",
    ),
    (
        {"evidence": {"Tset": {"sql": "SELECT 1"}}},
        "evidence.Tset: there is no relation 'Tset'; did you mean 'Test'",
    ),
    (
        {"evidence": {"Test": {"sql": "SELECT id FROM patients"}}},
        "the columns id, but 2 are expected: Patient, the value",
    ),
    (
        {"evidence": {"Test": {"sql": "SELECT id, 'maybe' FROM patients"}}},
        r"row 1 \(al, maybe\): 'maybe' is not a label of relation 'Test' \(false, true\)",
    ),
    (
        {"evidence": {"Test": {"sql": "SELECT 'zoe', true"}}},
        r"row 1 \(zoe, true\): 'zoe' is not a constant of domain Patient",
    ),
    (
        {"evidence": {"Test": {"sql": "SELECT 'al', true UNION ALL SELECT 'al', false"}}},
        r"rows 1 and 2: Test\(al\) is observed twice",
    ),
    ({"evidence": {"Sick(al)": "maybe"}}, "variable 'Sick.al.' has no value 'maybe'"),
    ({"evidence": {"Sick(zoe)": "true"}}, "'zoe' is not a constant of domain Patient"),
    (
        {"tables": {**SMALL["tables"], "phi": [1, "x"]}},
        "tables.phi: the table holds something that is not a number",
    ),
    (
        {"factors": [{"name": "test(al)", "args": ["Sick(al)"], "table": [1, 2]}]},
        "has the name of a ground factor",
    ),
    ({"queries": ["Sikc"]}, r"queries\[0\]: there is no variable 'Sikc'"),
    (
        {"queries": [{"relation": "Sikc", "sql": "SELECT 1"}]},
        r"queries\[0\]: there is no relation 'Sikc'; did you mean 'Sick'",
    ),
    ({"queries": [7]}, r"queries\[0\]: queries names variables or relations"),
    (
        {"queries": [{"relation": "Sick", "sql": "SELECT 'zoe' AS id"}]},
        r"queries\[0\]: row 1 \(zoe\): 'zoe' is not a constant",
    ),
]


@pytest.mark.parametrize(
    ("sections", "message"), MISTAKES, ids=[message[:60] for _, message in MISTAKES]
)
def test_mistakes_are_told_with_their_place(sections, message, small, tmp_path):
    with pytest.raises(lifagu.LifaguError, match=message) as caught:
        small(changed(**sections))
    told = str(caught.value)
    assert "\n" not in told
    assert told.startswith(f"{tmp_path / 'hospital.json'}:")


def test_a_question_about_what_no_factor_has(small):
    few = parfactor(rows={"sql": f"{ROWS} WHERE id = 'al'"})
    asked = [{"relation": "Sick", "sql": "SELECT id FROM patients"}]
    with pytest.raises(
        lifagu.FormatError, match=r"queries\[0\]: row 2: 'Sick\(bo\)' does not exist"
    ):
        small(changed(parfactors=few, queries=asked))


def test_a_column_that_is_there_twice(tmp_path, new_database):
    url = naive.in_postgresql(TABLES, new_database())
    path = written(
        changed(parfactors=parfactor(rows={"sql": "SELECT id, ward, id FROM patients"})), tmp_path
    )
    with pytest.raises(
        lifagu.FormatError, match="needs a column 'Id', which is twice among id, ward, id"
    ):
        lifagu.io.load(path, url)


def test_long_queries_are_shown_in_part(small):
    sql = f"SELECT nothing FROM patients WHERE id IN ({', '.join(['1'] * 500)})"
    with pytest.raises(lifagu.FormatError, match="…$"):
        small(changed(domains={"Patient": {"sql": sql}}))


def test_progress_tells_what_is_read(small, tmp_path):
    small()
    told = []
    lifagu.io.load(tmp_path / "hospital.json", progress=told.append)
    assert any("domains.Patient: 4 rows" in each for each in told)


def test_evidence_bound_by_a_template_is_not_bound_again(small):
    loaded = small()
    bound = loaded.model.evidence(loaded.evidence)
    assert bound is loaded.model.evidence(loaded.evidence)
    assert np.array_equal(bound.variables, loaded.model.evidence(dict(loaded.evidence)).variables)
    assert math.isclose(
        lifagu.query(lifagu.transfer(loaded.model), "Sick(al)", evidence=loaded.evidence)["true"],
        lifagu.query(lifagu.transfer(loaded.model), "Sick(al)", evidence=dict(loaded.evidence))[
            "true"
        ],
    )
