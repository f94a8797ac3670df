"""Folders of Parquet tables: read ∘ write = identity, by hand, every mistake, and results."""

import csv
import json
import random
import re
import signal
import subprocess
import sys
from dataclasses import astuple

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings

import lifagu
from lifagu.basics.names import NumberedNames
from lifagu.data.parquet import layout
from lifagu.graph.table_support import TableSupport
from support.helpers import CASES, ROOT, graph_of, run_cli
from support.parquet_folders import TABLES, make_folder
from support.parquet_mistakes import MISTAKES
from support.strategies import graphs, observed_graphs

EPIDEMIC = ROOT / "examples/epidemic.json"


def rows_of(path):
    return duckdb.sql(f"FROM '{path}'").fetchall()


def records_of(path):
    table = duckdb.sql(f"FROM '{path}'")
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


def bytes_of(folder):
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


# ---- there and back


@settings(max_examples=15)
@given(observed_graphs())
def test_read_after_write_is_the_identity(tmp_path_factory, observed):
    graph, evidence = observed
    folder = tmp_path_factory.mktemp("model") / "big"
    lifagu.write(graph, folder, evidence)
    assert lifagu.read(folder) == graph
    assert lifagu.io.read_evidence(folder) == evidence
    first = bytes_of(folder)
    lifagu.write(lifagu.read(folder), folder, lifagu.io.read_evidence(folder))
    assert bytes_of(folder) == first


@settings(max_examples=20)
@given(graphs())
def test_what_is_written_is_what_the_documentation_says(tmp_path_factory, graph):
    """Read with nothing but SQL and dictionaries, and compared with the graph as people see it."""
    folder = tmp_path_factory.mktemp("model") / "big"
    lifagu.write(graph, folder)
    found = {table: duckdb.sql(f"FROM '{folder}/{table}.parquet'") for table in TABLES}
    found = {
        name: [dict(zip(each.columns, row, strict=True)) for row in each.fetchall()]
        for name, each in found.items()
    }
    variables = {row["id"]: row for row in found["variables"]}
    tables = {row["id"]: row["potentials"] for row in found["tables"]}
    for number, variable in enumerate(graph.variables):
        row = variables[number]
        assert row.get("name", f"x{number}") == variable.name
        assert tuple(row.get("range", ["false", "true"])) == variable.range
        assert row.get("kind") == variable.kind
        assert tuple(row.get("individual") or ()) == variable.individuals
    for number, factor in enumerate(graph.factors):
        row = next(each for each in found["factors"] if each["id"] == number)
        scope = sorted(
            (each["position"], each["variable_id"])
            for each in found["arguments"]
            if each["factor_id"] == number
        )
        assert [place for place, _ in scope] == list(range(len(scope)))
        assert tuple(graph.variable_names[variable] for _, variable in scope) == factor.arguments
        assert row["name"] == factor.name
        potentials = None if row["table_id"] is None else tables[row["table_id"]]
        assert potentials == (None if factor.table is None else factor.table.reshape(-1).tolist())
        support = factor.support or TableSupport(())
        for column, said in zip(("support", "given", "prior"), astuple(support), strict=True):
            assert tuple(row.get(column) or ()) == said


SUPPORTED = """
    SELECT * FROM (
        VALUES (0, 0, {}), (1, NULL, {}), (2, 1, {})
    ) t(id, table_id, {})
"""


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (("7", "8", "NULL"), "support", TableSupport((7.0,))),
        (("7.5::FLOAT", "NULL", "NULL"), "support", TableSupport((7.5,))),
        (("[3, 4]", "[1]", "[]"), "support", TableSupport((3.0, 4.0), (1,))),
        (("[3, 4], [0]", "[1], [9]", "NULL, NULL"), "support, given", None),
        (("[3, 4], 1", "NULL, 2", "NULL, 3"), "support, prior", None),
    ],
)
def test_supports_by_hand(tmp_path, rows, columns, expected):
    """Numbers or lists; without given the table tells; nothing at unknown factors, or null."""
    arguments = "VALUES (0, 0, 0), (0, 1, 1), (1, 0, 2), (2, 0, 2)"
    tables = "SELECT unnest([0, 1]) AS id, unnest([[1, 5, 6, 2], [1, 2]]) AS potentials"
    folder = make_folder(
        tmp_path / "big",
        factors=SUPPORTED.format(*rows, columns),
        arguments=f"SELECT * FROM ({arguments}) t(factor_id, position, variable_id)",
        tables=tables,
    )
    graph = lifagu.read(folder)
    if expected is None:
        given, prior = ((0,), ()) if "given" in columns else ((1,), (1.0,))
        expected = TableSupport((3.0, 4.0), given, prior)
    assert [each.support for each in graph.factors] == [expected, None, None]
    lifagu.write(graph, tmp_path / "again")
    assert lifagu.read(tmp_path / "again") == graph


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ("-1 AS support", "column support, row 0 .counted from 0.: -1.0; give 0 or more"),
        ("['inf'::DOUBLE] AS support", "column support, row 0 .*: inf; give 0 or more"),
        ("[1, NULL] AS support", "column support, row 0 .*: a null in the list"),
        ("'many' AS support", "column support has the type VARCHAR; give numbers or lists"),
        ("1 AS support, [0.5] AS given", "column given, row 0 .*: 0.5; give positions"),
        ("1 AS support, 0 AS given", "column given has the type INTEGER; give lists of numbers"),
        ("1 AS support, [2] AS given", "factor 'f0' has only 2 arguments"),
        ("[1, 2] AS support", "factor 'f0' has 2 numbers of records as support, .* by given"),
        ("[1, 2, 3] AS support, [1] AS given", "3 numbers of records .* 2 combinations"),
        ("1 AS support, [1, 2] AS prior", "2 numbers as prior, but 4 potentials"),
        ("1 AS support, -1 AS prior", "column prior, row 0 .*: -1.0; give 0 or more"),
    ],
)
def test_mistakes_in_supports(tmp_path, support, message):
    factors = f"SELECT 0 AS id, 0 AS table_id, {support} UNION ALL BY NAME SELECT 1 AS id"
    folder = make_folder(tmp_path / "big", factors=factors)
    with pytest.raises(lifagu.FormatError, match=message) as error:
        lifagu.read(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", range(10))
def test_neither_the_order_of_rows_nor_the_ids_matter(tmp_path, seed):
    """Rows shuffled, ids spread out: the same model, as names tell what is meant."""
    graph = lifagu.read(EPIDEMIC).with_individual("eve", like="alice")
    evidence = {"Travel.eve": "true", "Epid": {"true": 2.0, "false": 1.0}}
    lifagu.write(graph, tmp_path / "straight", evidence)
    lifagu.write(graph, tmp_path / "shuffled", evidence)
    spread = {"id": 7, "table_id": 7, "factor_id": 7, "variable_id": 7}
    for table in (*TABLES, "evidence"):
        source = duckdb.sql(f"FROM '{tmp_path}/straight/{table}.parquet'")
        shown = [
            f"{spread.get(column, 1)} * {column} AS {column}" if column in spread else column
            for column in source.columns
        ]
        duckdb.sql(
            f"COPY (SELECT {', '.join(shown)} FROM source "
            f"ORDER BY hash(row_number() OVER () + {1000 * seed})) "
            f"TO '{tmp_path}/shuffled/{table}.parquet'"
        )
    assert lifagu.read(tmp_path / "shuffled") == graph
    assert lifagu.io.read_evidence(tmp_path / "shuffled") == evidence


def test_a_million_arguments_need_no_object_each(tmp_path):
    count = 333_334
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1", "2"], ["2", "1", "0"]],
        variable_ranges=np.arange(count) % 2,
        offsets=3 * np.arange(count + 1),
        arguments=((np.arange(3 * count) * 7919) % count),
        tables=np.random.default_rng(0).random((50, 27)),
        factor_tables=np.arange(count) % 51 - 1,
        kinds=["even", "odd"],
        variable_kinds=np.arange(count) % 2,
    )
    lifagu.write(graph, tmp_path / "big")
    before = sys.getallocatedblocks()
    back = lifagu.read(tmp_path / "big")
    assert sys.getallocatedblocks() - before < 20_000
    assert back == graph
    assert isinstance(back.variable_names, NumberedNames)
    assert isinstance(back.factor_names, NumberedNames)


def test_relational_models_are_grounded(tmp_path):
    text = {
        "format": "lifagu/1",
        "domains": {"P": 3},
        "relations": [{"name": "E"}, {"name": "S", "of": ["P"]}],
        "parfactors": [{"name": "g", "args": ["S(X)", "E"], "table": [1, 2, 3, 4]}],
    }
    model = lifagu.io.from_json(json.dumps(text))
    lifagu.write(model, tmp_path / "big", {"S(1..2)": "true"})
    assert lifagu.read(tmp_path / "big") == lifagu.ground(model)
    assert lifagu.io.read_evidence(tmp_path / "big") == {"S(1)": "true", "S(2)": "true"}


def test_long_lists(tmp_path):
    """Lists beyond the width up to which they are put together row by row."""
    labels = [f"v{number}" for number in range(20)]
    builder = (
        lifagu.FactorGraph.build().variable("A", labels).variable("B", labels[::-1]).variable("C")
    )
    builder.factor("f", ["A", "C", "B"], np.arange(800)).factor("g", ["B"], np.arange(20)).factor(
        "h", ["C"], [1, 2]
    )
    graph = builder.graph()
    lifagu.write(graph, tmp_path / "big", {"B": dict.fromkeys(labels, 1.0)})
    assert lifagu.read(tmp_path / "big") == graph
    assert lifagu.io.read_evidence(tmp_path / "big")["B"] == dict.fromkeys(labels, 1.0)


def test_odd_names_of_folders(tmp_path):
    graph = lifagu.read(EPIDEMIC)
    for name in ("it's", "a*", "a[b]", "ab", "year=3", "~", "ä ö", 'quo"te', "model.json"):
        folder = tmp_path / name
        folder.mkdir()
        lifagu.write(graph, folder)
        assert lifagu.read(folder) == graph


# ---- by hand


def test_the_documented_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big").mkdir()
    connection = duckdb.connect()
    connection.execute(
        re.search(r"```sql\n(.*?)```", (ROOT / "docs/formats.md").read_text(), re.DOTALL)[1]
    )
    graph = lifagu.read("big/")
    assert [each.name for each in graph.variables[:3]] == ["Sick.alice", "Test.alice", "Sick.bob"]
    assert graph.variable("Test.eve").individuals == ("eve",)
    assert graph.factor("f.bob").arguments == ("Sick.bob", "Test.bob")
    assert not graph.factor("f.eve").known
    assert lifagu.io.read_evidence("big") == {"Test.alice": "true"}
    assert lifagu.transfer(graph).record[0].status == "transferred"
    status, out, _ = run_cli(
        capsys, "query", "big/", "Sick.eve", "--evidence", "Test.eve=true", "--json"
    )
    assert status == 0
    assert json.loads(out)["answers"][0]["probabilities"] == pytest.approx([1 / 9, 8 / 9])


def test_the_smallest_folder(tmp_path):
    """Only what is required, nulls of any type, ids as floats, labels as numbers and truths."""
    make_folder(
        tmp_path,
        variables="""
            SELECT unnest([4.0, 9]) AS id,
                   unnest([[0, 1], NULL]) AS range,
                   NULL AS kind,
                   NULL AS individual
        """,
        factors="""
            SELECT 5::UTINYINT AS id, 3::DOUBLE AS table_id
            UNION ALL SELECT 7, NULL
            UNION ALL SELECT 8, 1
        """,
        arguments="SELECT 5 AS factor_id, 1 AS position, 4 AS variable_id UNION ALL SELECT 5, 0, 9",
        tables="SELECT 3 AS id, [1::DECIMAL(4,1), 2, 3, 4] AS potentials UNION ALL SELECT 1, NULL",
        evidence="SELECT 9 AS variable_id, true AS value",
    )
    graph = lifagu.read(tmp_path)
    assert list(graph.variable_names) == ["x4", "x9"]
    assert list(graph.factor_names) == ["f5", "f7", "f8"]
    assert graph.variable("x4").range == ("0", "1")
    assert graph.variable("x9").range == ("false", "true")
    assert graph.factor("f5").arguments == ("x9", "x4")
    assert graph.factor("f5").table.tolist() == [[1, 2], [3, 4]]
    assert not graph.factor("f8").known
    assert lifagu.io.read_evidence(tmp_path) == {"x9": "true"}


def test_the_index_of_a_data_frame_is_ignored(tmp_path):
    make_folder(
        tmp_path, variables="SELECT unnest([0, 1, 2]) AS id, unnest([7, 8, 9]) AS __index_level_0__"
    )
    assert list(lifagu.read(tmp_path).variable_names) == ["x0", "x1", "x2"]


def test_individuals_as_texts_and_as_lists(tmp_path):
    make_folder(
        tmp_path / "one",
        variables="SELECT unnest([0, 1, 2]) AS id, unnest(['eve', NULL, 'al']) AS individual",
    )
    make_folder(
        tmp_path / "two",
        variables="SELECT unnest([0, 1, 2]) AS id, unnest([['eve'], [], ['al']]) AS individual",
    )
    make_folder(
        tmp_path / "many",
        variables="SELECT unnest([2, 1, 0]) AS id, "
        "unnest([['m', 'al'], NULL, ['al', 'm']]) AS individual",
    )
    one, two, many = (lifagu.read(tmp_path / name) for name in ("one", "two", "many"))
    assert one == two
    assert [each.individuals for each in one.variables] == [("eve",), (), ("al",)]
    assert [each.individuals for each in many.variables] == [("al", "m"), (), ("m", "al")]
    assert many.individuals == ("al", "m")


# ---- mistakes


@pytest.mark.parametrize(("tables", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_line_that_says_where(tmp_path, capsys, tables, message):
    folder = make_folder(tmp_path / "big", **tables)
    status, out, err = run_cli(capsys, "check", f"{folder}/")
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {folder}")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"not Parquet at all, but long enough", b"PAR1"])
def test_files_that_are_not_parquet(tmp_path, content):
    folder = make_folder(tmp_path / "big")
    (folder / "tables.parquet").write_bytes(content)
    with pytest.raises(lifagu.FormatError, match=r"tables.parquet: cannot be read as Parquet"):
        lifagu.read(folder)


def test_a_footer_that_contradicts_itself(tmp_path):
    """The names are texts by the schema and truth values by their column: DuckDB trusts both."""
    lifagu.write(lifagu.read(EPIDEMIC), tmp_path / "big")
    variables = tmp_path / "big/variables.parquet"
    raw, changed = re.subn(rb"\x15\x0c(?=\x19.{1,6}\x04name)", b"\x15\0", variables.read_bytes())
    assert changed == 1
    variables.write_bytes(raw)
    for read in (lifagu.read, lambda folder: lifagu.open(folder, on="duckdb").groups()):
        with pytest.raises(lifagu.FormatError, match=r"variables.parquet: .*contradicts itself"):
            read(tmp_path / "big")
    template = {"format": "lifagu/1", "source": "big", "domains": {"V": {"sql": "FROM variables"}}}
    (tmp_path / "t.json").write_text(json.dumps(template))
    with pytest.raises(lifagu.FormatError, match=r"variables.parquet: .*contradicts itself"):
        lifagu.open(tmp_path / "t.json")


def test_broken_bytes_are_an_error_or_another_model(tmp_path):
    """Parquet has no checksums here, so not all damage shows; what shows is one clean error."""
    lifagu.write(lifagu.read(EPIDEMIC), tmp_path / "big", {"Epid": "true"})
    whole, rng, failed = bytes_of(tmp_path / "big"), random.Random(0), 0
    for _ in range(60):
        name = rng.choice(sorted(whole))
        raw = bytearray(whole[name])
        for _ in range(rng.choice([1, 3, 30])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        (tmp_path / "big" / name).write_bytes(
            raw[: rng.choice([len(raw), rng.randrange(len(raw))])]
        )
        complaint = complaint_about(tmp_path / "big")
        assert complaint.startswith(str(tmp_path / "big") * bool(complaint))
        failed += bool(complaint)
        (tmp_path / "big" / name).write_bytes(whole[name])
    assert failed > 30


def complaint_about(folder):
    """What is wrong with a folder, nothing if it can be read."""
    try:
        lifagu.read(folder)
        lifagu.io.read_evidence(folder)
    except lifagu.FormatError as error:
        return str(error)
    return ""


def test_what_is_not_a_folder(tmp_path):
    graph = lifagu.FactorGraph.build().graph()
    for missing in (tmp_path / "none", f"{tmp_path}/none/"):
        with pytest.raises(lifagu.FormatError, match="there is no such file or folder"):
            lifagu.read(missing)
    with pytest.raises(lifagu.FormatError, match="this is a folder without Parquet tables"):
        lifagu.read(tmp_path)
    with pytest.raises(
        lifagu.FormatError, match="a model is a folder of Parquet tables, not one of them"
    ):
        lifagu.write(graph, tmp_path / "model.parquet")
    with pytest.raises(lifagu.FormatError, match="cannot be written here"):
        lifagu.write(graph, tmp_path / "no/such/place/")


def test_without_duckdb(tmp_path, monkeypatch):
    make_folder(tmp_path / "big")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(lifagu.MissingExtraError, match=r"pip install 'lifagu\[duckdb\]'"):
        lifagu.read(tmp_path / "big")


# ---- replaced whole or not at all


@pytest.mark.parametrize("foreign", ["notes.txt", "variables.csv", ".hidden"])
def test_a_folder_with_other_things_is_left_alone(tmp_path, foreign, capsys):
    folder = make_folder(tmp_path / "big")
    (folder / foreign).write_text("mine")
    before = bytes_of(folder)
    for command in (["convert", EPIDEMIC, f"{folder}/"], ["lift", EPIDEMIC, "--out", f"{folder}/"]):
        status, out, err = run_cli(capsys, *command)
        assert (status, out) == (2, "")
        assert f"this folder holds '{foreign}', which is not lifagu's to replace" in err
    assert bytes_of(folder) == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(
        lifagu.FormatError, match="this is a file and would be replaced by a folder"
    ):
        lifagu.write(lifagu.read(EPIDEMIC), f"{tmp_path}/file/")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["big", "file"]


def test_folders_are_replaced(tmp_path):
    graph = lifagu.read(EPIDEMIC)
    folder = make_folder(tmp_path / "big")
    folder.chmod(0o750)
    lifagu.write(graph, folder)
    assert lifagu.read(folder) == graph
    assert lifagu.io.read_evidence(folder) == {}
    assert folder.stat().st_mode & 0o777 == 0o750
    (tmp_path / "link").symlink_to(folder)
    lifagu.write(graph, tmp_path / "link", {"Epid": "true"})
    assert lifagu.io.read_evidence(folder) == {"Epid": "true"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["big", "link"]


@pytest.mark.parametrize("there", [False, True])
def test_an_interrupted_write_changes_nothing(tmp_path, there):
    folder = tmp_path / "big"
    before = bytes_of(make_folder(folder)) if there else None
    moved = lifagu.transfer(lifagu.read(EPIDEMIC))

    def interrupt(done, total):
        if 2 * done > total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lifagu.io.write_lift(f"{folder}/", moved, lifagu.colour(moved.graph), progress=interrupt)
    assert [each.name for each in tmp_path.iterdir()] == ["big"] * there
    assert not there or bytes_of(folder) == before


def test_a_signal_while_duckdb_works():
    """Ctrl-C in the midst of a long statement ends it, and is what the caller sees."""
    program = """
import os, signal, threading
from lifagu.data.duck import Duck
duck, finished = Duck(), Duck._finished
def asked(*given):
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    return finished(*given)
Duck._finished = asked
duck.rows("SELECT sum(hash(range)) FROM range(100000000000)", "here")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == -signal.SIGINT
    assert "in rows" in done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_a_signal_while_a_thread_begins():
    """Its pool does not know of it yet, and the process ends nevertheless."""
    program = """
import threading
from lifagu.data.duck import Duck
start = threading.Thread.start
def interrupted(thread):
    start(thread)
    raise KeyboardInterrupt
threading.Thread.start = interrupted
try:
    Duck()
except KeyboardInterrupt as error:
    kept = error
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ---- results


def test_lift_writes_groups_and_transfers(tmp_path, capsys):
    arguments = [EPIDEMIC, "--add", "eve=alice", "--theta", "0.5", "--evidence", "Travel.eve=true"]
    _, out, _ = run_cli(capsys, "lift", *arguments, "--json")
    expected = json.loads(out)
    status, shown, err = run_cli(capsys, "lift", *arguments, "--out", f"{tmp_path}/result/")
    assert (status, err) == (0, "")
    assert "3 of 3 unknown factors filled" in shown
    graph = lifagu.read(tmp_path / "result")
    assert (
        graph
        == lifagu.transfer(
            lifagu.read(EPIDEMIC).with_individual("eve", like="alice"), theta=0.5
        ).graph
    )
    assert rows_of(tmp_path / "result/parfactors.parquet") == [
        (each["name"], each["args"], None, each["table"])
        for each in expected["model"]["parfactors"]
    ]
    assert lifagu.io.read_evidence(tmp_path / "result") == {"Travel.eve": "true"}
    for sort, names in (("variable", graph.variable_names), ("factor", graph.factor_names)):
        groups = {}
        for number, group in rows_of(tmp_path / f"result/{sort}_groups.parquet"):
            groups.setdefault(group, []).append(names[number])
        assert [groups[number] for number in range(len(groups))] == expected[f"{sort}_groups"]
    table = duckdb.sql(f"FROM '{tmp_path}/result/transfers.parquet'")
    for row, record in zip(table.fetchall(), expected["transfers"], strict=True):
        found = dict(zip(table.columns, row, strict=True))
        assert graph.factor_names[found.pop("factor_id")] == record["factor"]
        assert graph.factor_names[found.pop("donor_id")] == record["donor"]
        assert found == {key: record[key] for key in found}
    # what is a list, and what the reason says in words
    left_out = {"factor", "donor", "competing", "owner", "takes"}
    assert {*table.columns} == {*expected["transfers"][0]} - left_out | {"factor_id", "donor_id"}


@pytest.mark.parametrize("case", CASES)
def test_the_lifted_model_is_in_the_tables(tmp_path, case):
    """Put together again from the tables, it is the same."""
    moved = lifagu.transfer(graph_of(CASES[case]["model"]))
    lifted = lifagu.lift(moved)
    lifagu.io.write_lift(tmp_path / "result", moved, lifagu.colour(moved.graph), lifted=lifted)
    found = {name: records_of(tmp_path / f"result/{name}.parquet") for name in layout.LIFTED}
    model = {
        **json.loads(lifagu.io.to_json(lifted)),
        **relational_part(found, moved.graph.variable_names, lifted),
    }
    assert lifagu.io.from_json(json.dumps(model)) == lifted
    ground = [moved.graph.factor_names[each["factor_id"]] for each in found["ground_factors"]]
    assert ground == list(lifted.ground_part.factor_names)


def relational_part(found, variable_names, lifted):
    """Domains, relations and parfactors of a model file, from tables and the model's domains."""
    domains = {each["name"]: each["constants"] or each["size"] for each in found["domains"]}

    def constants(places, of):
        known = [(place, domains[name]) for place, name in zip(places, of, strict=True)]
        return [place if isinstance(domain, int) else domain[place - 1] for place, domain in known]

    relations = []
    for each in found["relations"]:
        of = each["domains"] or []
        atoms = [atom for atom in found["atoms"] if atom["relation"] == each["name"]]
        names = [
            [*constants(atom["constants"] or [], of), variable_names[atom["variable_id"]]]
            for atom in atoms
        ]
        assert of or names == [[each["name"]]]
        relations.append(
            {"name": each["name"], "of": of, "range": each["range"], "names": names if of else []}
        )
    parfactors = []
    for each, parfactor in zip(found["parfactors"], lifted.parfactors, strict=True):
        where = each["constraints"] or []
        for place, text in enumerate(where):
            if "tuples" in text:
                variables, sign, _ = re.fullmatch(
                    r"\((.*)\) (in|not in) (\d+) tuples", text
                ).groups()
                of = [domain.name for domain in parfactor.where[place].rows.domains]
                rows = [row for row in found["substitutions"] if row["parfactor"] == each["name"]]
                rows = [constants(row["constants"], of) for row in rows if row["position"] == place]
                where[place] = {"vars": variables.split(", "), sign.replace(" ", "_"): rows}
        arguments = each["arguments"] or []
        parfactors.append(
            {"name": each["name"], "args": arguments, "where": where, "table": each["potentials"]}
        )
    return {"domains": domains, "relations": relations, "parfactors": parfactors}


def test_lift_without_unknown_factors(tmp_path, capsys):
    assert run_cli(capsys, "lift", EPIDEMIC, "--out", f"{tmp_path}/result/")[0] == 0
    assert rows_of(tmp_path / "result/transfers.parquet") == []
    assert run_cli(capsys, "lift", f"{tmp_path}/result", "--out", f"{tmp_path}/result")[0] == 0
    assert lifagu.read(tmp_path / "result") == lifagu.read(EPIDEMIC)


@pytest.mark.parametrize("options", [[], ["--engine", "bp"]], ids=["exact", "bp"])
def test_marginals_as_parquet(tmp_path, capsys, options):
    lifagu.write(lifagu.read(EPIDEMIC), tmp_path / "big", {"Epid": "true"})
    for target in ("all.csv", "all.parquet"):
        assert (
            run_cli(
                capsys,
                "marginals",
                tmp_path / "big",
                *options,
                "--out",
                tmp_path / target,
                "--quiet",
            )[0]
            == 0
        )
    with (tmp_path / "all.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header[0] == "variable"
    assert header[-2:] == ["value", "probability"]
    expected = [(*(each or None for each in row[:-1]), float(row[-1])) for row in rows]
    assert rows_of(tmp_path / "all.parquet") == expected
    assert len(expected) == 18


def test_marginals_by_class(tmp_path, capsys):
    model = tmp_path / "model.json"
    relations = [{"name": "E"}, {"name": "S", "of": ["P"]}]
    parfactor = {"name": "g", "args": ["S(X)", "E"], "table": [1, 2, 3, 4]}
    text = {
        "format": "lifagu/1",
        "domains": {"P": 30},
        "relations": relations,
        "parfactors": [parfactor],
    }
    model.write_text(json.dumps(text))
    for target in ("all.csv", "all.parquet"):
        assert (
            run_cli(
                capsys, "marginals", model, "--evidence", "S(3)=true", "--out", tmp_path / target
            )[0]
            == 0
        )
    with (tmp_path / "all.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["representative", "members", "count", "value", "probability"]
    assert rows_of(tmp_path / "all.parquet") == [
        (*row[:2], int(row[2]), row[3], float(row[4])) for row in rows
    ]
    assert len(rows) == 6


def test_marginals_of_unnamed_variables(tmp_path):
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["a", "b"], ["p", "q", "r"]],
        variable_ranges=[1, 0, 1, 0],
        offsets=[0, 2, 4, 5],
        arguments=[0, 1, 2, 1, 3],
        tables=[[1, 2, 3, 4, 5, 6]],
        factor_tables=[0, 0, -1],
    )
    found = lifagu.marginals(graph)
    assert found.left_out == ["x3"]
    lifagu.io.write_marginals(tmp_path / "all.parquet", found)
    expected = [(name, label, value) for name in found for label, value in found[name].items()]
    assert rows_of(tmp_path / "all.parquet") == expected


def test_every_command_takes_a_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_cli(capsys, "convert", EPIDEMIC, "big/") == (0, "", "")
    for command, *more in (["info"], ["lift"], ["query", "Epid"], ["marginals"], ["map"], ["logz"]):
        from_file, from_folder = (
            run_cli(capsys, command, EPIDEMIC, *more),
            run_cli(capsys, command, "big/", *more),
        )
        assert from_folder[0] == 0
        assert from_folder[1].replace("big/", str(EPIDEMIC)) == from_file[1]
    assert run_cli(capsys, "check", "big") == (
        0,
        "big: ok, 9 variables, 7 factors, 3 distinct tables, 0 observed\n",
        "",
    )
    assert run_cli(capsys, "convert", "big", "back.json") == (0, "", "")
    assert lifagu.read("back.json") == lifagu.read(EPIDEMIC)
