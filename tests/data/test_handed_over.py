"""Frames and connections as sources: read like files, left as they were, refused in one line."""

import json
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import lifagu
from lifagu.data.databases import opened
from lifagu.data.databases.duckdb_files import EmbeddedDatabase
from lifagu.relational.source import Source
from lifagu.relational.template import Query
from support.naive import templates as naive
from support.small_hospital import SMALL, TABLES, changed, made, written

RESULTS = {"lifagu_one": {"id": np.arange(3), "share": np.array([0.5, np.nan, 1.0])}}
ROWS = [(0, 0.5), (1, None), (2, 1.0)]


def frames():
    """The small hospital as data frames."""
    return {
        name: pd.DataFrame(rows, columns=list(columns)) for name, (columns, rows) in TABLES.items()
    }


class Arrow:
    """Something that is nothing but a stream of Arrow's, as often as it is asked."""

    def __init__(self, relation):
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema=None):
        return self._relation.__arrow_c_stream__(requested_schema)


def texts_of(column):
    """The values of a column."""
    return column.texts()


def rows_of(source, sql):
    """The rows of a query as texts."""
    with opened(Source(source)) as database:
        batches = list(database.batches(Query(sql, "here")))
    return [row for each in batches for row in zip(*map(texts_of, each), strict=True)]


@pytest.fixture
def expected(tmp_path):
    """What the small hospital is when it is read from a file."""
    return lifagu.io.load(written(SMALL, tmp_path), made("duckdb", TABLES, tmp_path, "other")).model


# ---- frames


def test_frames_are_tables(tmp_path, expected):
    path, given = written(SMALL, tmp_path), frames()
    before = {name: frame.copy(deep=True) for name, frame in given.items()}
    assert lifagu.open(path, database=given).model == expected
    assert lifagu.io.load(path, given).model == expected
    assert lifagu.io.read(path, Source(given)) == expected
    for name, frame in given.items():
        pd.testing.assert_frame_equal(frame, before[name])
    columns = {
        name: dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
        for name, (columns, rows) in TABLES.items()
    }
    assert lifagu.io.load(path, columns).model == expected
    with duckdb.connect() as connected:
        naive.fill_duckdb(connected, TABLES)
        streams = {name: Arrow(connected.table(name)) for name in TABLES}
        assert lifagu.io.load(path, streams).model == expected
        assert lifagu.io.load(path, {**given, "history": streams["history"]}).model == expected
    folder = Path(made("csv", TABLES, tmp_path))
    paths = {name: folder / f"{name}.csv" for name in TABLES}
    assert lifagu.io.load(path, paths).model == expected


def test_one_frame_is_a_table_called_data(tmp_path):
    frame = pd.DataFrame({"id": ["b", "a"], "n": [1, 2]})
    assert rows_of(frame, "SELECT id, n FROM data ORDER BY id") == [("a", "2"), ("b", "1")]
    arrays = {"id": np.array(["b", "a"]), "n": [1, None]}
    assert rows_of(arrays, "SELECT id, n FROM data ORDER BY id") == [("a", None), ("b", "1")]
    with opened(Source(frame)) as database:
        (table,) = database.catalogue().tables
    assert (table.name, table.is_view, table.primary_key) == ("data", False, ())
    assert [(each.name, each.kind) for each in table.columns] == [("id", "text"), ("n", "integer")]


def test_values_of_frames():
    frame = pd.DataFrame(
        {
            "share": [0.5, np.nan],
            "Sort ü": pd.Categorical(["x", None]),
            "day": pd.to_datetime(["2024-02-29", None]),
            "whole": pd.array([1, None], dtype="Int64"),
            "truth": [True, False],
            "mixed": np.array([1, "x"], dtype=object),
        }
    )
    arrays = {
        "masked": np.ma.array([1, 2], mask=[False, True]),
        "day": np.array(["2024-02-29", "NaT"], dtype="datetime64[D]"),
        "every other": np.arange(4)[::2],
    }
    source = {"Frame ü": frame, "arrays": arrays}
    with opened(Source(source)) as database:
        found = {each.name: each for each in database.catalogue().tables}
    assert [each.kind for each in found["Frame ü"].columns] == [
        *("number", "text", "time", "integer", "truth", "text")
    ]
    assert [each.kind for each in found["arrays"].columns] == ["integer", "time", "integer"]
    assert rows_of(source, f"SELECT * EXCLUDE day FROM {found['Frame ü'].sql}") == [
        ("0.5", "x", "1", "true", "1"),
        (None, None, None, "false", "x"),
    ]
    assert rows_of(source, 'SELECT masked, "every other" FROM arrays WHERE day IS NULL') == [
        (None, "2")
    ]


@pytest.mark.parametrize(
    ("index", "columns", "row"),
    [
        (pd.RangeIndex(1, 3), ["n"], ("5",)),
        (pd.RangeIndex(1, 3, name="id"), ["id", "n"], ("1", "5")),
        ([7, 8], ["index", "n"], ("7", "5")),
        (pd.Index(["b", "a"], name="id"), ["id", "n"], ("b", "5")),
        (
            pd.MultiIndex.from_tuples([("b", 2), ("a", 1)], names=["id", None]),
            None,
            ("b", "2", "5"),
        ),
        (pd.Index([5, 6], name="n"), ["n"], ("5",)),
        (pd.period_range("2024-02", periods=2, freq="M"), ["index", "n"], ("2024-02", "5")),
        (pd.interval_range(0, 2), ["index", "n"], ("(0, 1]", "5")),
    ],
)
def test_an_index_of_pandas_is_a_column_if_it_says_something(index, columns, row):
    frame = pd.DataFrame({"n": [5, 6]}, index=index)
    before = frame.copy(deep=True)
    for source in (frame, {"data": frame}):
        with opened(Source(source)) as database:
            (table,) = database.catalogue().tables
        assert [each.name for each in table.columns] == (columns or ["id", "level_1", "n"])
        assert rows_of(source, "SELECT * FROM data WHERE n = 5") == [row]
    pd.testing.assert_frame_equal(frame, before)


def test_an_index_of_pandas_is_who_a_draft_speaks_of():
    whose = pd.Index([f"p{n}" for n in range(60)], name="patient")
    frame = pd.DataFrame({"a": [None if n % 5 == 0 else "uv"[n % 2] for n in range(60)]}, whose)
    draft = lifagu.draft({"patients": frame})
    assert draft.found.keys["patients"].columns == ("patient",)
    assert 0 < draft.open().ask("A(p5)")["u"] < 1


def test_a_mixture_that_begins_late():
    late = pd.DataFrame({"a": np.array([1] * 5000 + ["x"], dtype=object)})
    assert rows_of(late, "SELECT count(*) FROM data WHERE a = 'x'") == [("1",)]


def test_names_in_queries_are_no_variables_of_python():
    data, frame = pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})
    with pytest.raises(lifagu.FormatError, match="frame does not exist"):
        rows_of(data, "SELECT a FROM frame")
    assert len(frame) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "7 is no database that can be read; name a path or URL, a frame"),
        ({}, "{} is no database"),
        (pd.Series([1]), "is no database"),
        (pd.DataFrame, "is no database"),
        ({"t": 7}, "the table 't' is 7, which is no frame"),
        ({"t": pd.Series([1]), "u": pd.DataFrame({"a": [1]})}, "the table 't' is .* no frame"),
        ({7: pd.DataFrame({"a": [1]})}, "7 is no name of a table"),
        ({"t": {}}, "the table 't' has no columns"),
        ({"t": pd.DataFrame()}, "the table 't': .*at least one column"),
        ({"t": {"a": [1], "b": [1, 2]}}, "columns of the table 't' have 1 and 2 rows"),
        ({"t": {"a": np.zeros((2, 2))}}, "the column 'a' of the table 't' is no one-dimensional"),
        ({"t": pd.DataFrame({"a": [1]}), "T": pd.DataFrame({"a": [1]})}, "by upper case alone"),
        (
            {"t": pd.DataFrame({"a": [1]}, index=pd.Index([2], name="a"))},
            "the index 'a' of the table 't' is called like a column; rename one",
        ),
        (sqlite3.connect(":memory:"), "is no database that can be read; name a path or URL"),
    ],
)
def test_what_is_no_source(source, message, tmp_path):
    with pytest.raises(lifagu.FormatError, match=message) as caught:
        lifagu.open(written(SMALL, tmp_path), database=source)
    assert "\n" not in str(caught.value)


def test_frames_take_no_results(tmp_path):
    for refused in (
        lifagu.io.check_database,
        lambda database: lifagu.io.write_results(database, RESULTS),
    ):
        with pytest.raises(lifagu.FormatError, match="memory' .* no results can be written"):
            refused(frames())
    with pytest.raises(lifagu.FormatError, match="this model reads no database"):
        lifagu.open(Path(lifagu.__file__).parent / "examples/epidemic.json", database=frames())


def test_learned_templates_keep_the_source_that_has_a_name(tmp_path):
    learned = changed(
        parfactors=[{**SMALL["parfactors"][0], "table": "learn"}],
        evidence={
            "Test": {"sql": "SELECT id, test FROM patients"},
            "Sick": {"sql": "SELECT id, test FROM patients"},
        },
    )
    case = lifagu.open(written(learned, tmp_path), database=frames())
    case.learn().write(tmp_path / "out.json")
    assert '"source": "data.duckdb"' in (tmp_path / "out.json").read_text()


# ---- connections


@pytest.fixture
def lent(tmp_path):
    """An open connection to a small hospital, and a way to run statements on it."""
    with duckdb.connect(made("duckdb", TABLES, tmp_path)) as connected:
        yield connected, lambda sql: connected.execute(sql).fetchall()


def test_connections_are_read_and_stay_open(lent, tmp_path, expected):
    connected, run = lent
    path = written(SMALL, tmp_path)
    for _ in range(2):
        assert lifagu.io.load(path, connected).model == expected
        with opened(Source(connected)) as database:
            assert [each.name for each in database.catalogue().tables] == ["history", "patients"]
        assert run("SELECT count(*) FROM patients") == [(4,)]
    run("DELETE FROM patients WHERE id = 'al'")
    assert run("SELECT count(*) FROM patients") == [(3,)]


WRITING = [
    "WITH gone AS (SELECT 1) DELETE FROM patients",
    "/* SELECT */ DELETE FROM patients RETURNING id",
    "SELECT 1 AS id INTO made",
    "SELECT id, nothing FROM patients",
]


@pytest.mark.parametrize("sql", WRITING)
def test_queries_cannot_write_and_failures_leave_no_trace(sql, lent, tmp_path):
    connected, run = lent
    path = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
    for _ in range(2):
        with pytest.raises(lifagu.FormatError, match="domains.Patient: "):
            lifagu.io.load(path, connected)
    run("CREATE TABLE mine (a INTEGER)")
    run("INSERT INTO mine VALUES (1)")
    assert run("SELECT count(*) FROM patients") == [(4,)]


def test_open_transactions_stay_open(lent, tmp_path):
    connected, run = lent
    run("BEGIN")
    run("DELETE FROM patients WHERE id = 'al'")
    with pytest.raises(lifagu.FormatError, match="DuckDB: has a transaction open; commit it"):
        lifagu.io.load(written(SMALL, tmp_path), connected)
    lifagu.io.write_results(connected, RESULTS)  # beside it
    assert run("SELECT count(*) FROM patients") == [(3,)]
    run("ROLLBACK")
    assert rows_of(connected, "SELECT count(*) FROM patients") == [("4",)]


def test_parfactors_over_the_same_rows_ask_for_them_once(tmp_path, monkeypatch):
    rows = {"sql": "SELECT id AS m FROM machine"}
    template = {
        "format": "lifagu/1",
        "source": "elsewhere.sqlite",
        "domains": {"Machine": {"sql": "SELECT id FROM machine"}},
        "relations": [{"name": name, "of": ["Machine"]} for name in "ABC"],
        "parfactors": [
            {"name": f"{one}{other}", "args": [f"{one}(M)", f"{other}(M)"], "rows": rows, **table}
            for one, other, table in (
                ("A", "B", {"table": [1, 2, 3, 4]}),
                ("B", "C", {"table": [5, 6, 7, 8]}),
            )
        ],
    }
    (tmp_path / "t.json").write_text(json.dumps(template))
    asked, batches = [], EmbeddedDatabase.batches
    monkeypatch.setattr(
        EmbeddedDatabase,
        "batches",
        lambda self, query: asked.append(query.sql) or batches(self, query),
    )
    machines = pd.DataFrame({"id": [3, 1, 2]})
    graph = lifagu.io.load(tmp_path / "t.json", database={"machine": machines}).model
    assert [len(graph.variables), len(graph.factors)] == [9, 6]
    assert sum("AS m" in each for each in asked) == 1, asked


def test_what_a_duckdb_connection_has_for_itself():
    frame = pd.DataFrame({"a": [1, 2]})
    with duckdb.connect() as connected:
        connected.register("frame", frame)
        connected.execute("CREATE TEMP TABLE short AS SELECT 1 AS b")
        connected.execute("CREATE TABLE SHORT (c TEXT PRIMARY KEY, UNIQUE (c))")
        connected.execute("CREATE TABLE long (c TEXT)")
        connected.execute("CREATE VIEW seen AS SELECT c FROM main.long")
        assert rows_of(connected, "SELECT sum(a) FROM frame") == [("3",)]
        with opened(Source(connected)) as database:
            found = {each.name: each for each in database.catalogue().tables}
            assert list(found) == ["frame", "long", "seen", "short"]
            for table in found.values():
                shown = [each.name for each in table.columns]
                assert database.columns(Query(f"FROM {table.sql}", "here")) == shown
        assert connected.execute("SELECT count(*) FROM frame").fetchall() == [(2,)]


def test_results_go_into_connections(lent):
    connected, run = lent
    for _ in range(2):
        lifagu.io.check_database(connected)
        lifagu.io.write_results(connected, RESULTS)
        assert run("SELECT * FROM lifagu_one ORDER BY id") == ROWS

    class Failing(dict):
        asked = 0

        def items(self):
            self.asked += 1
            for number, item in enumerate(super().items()):
                if self.asked == 2 and number == 1:
                    raise RuntimeError("no more")
                yield item

    with pytest.raises(RuntimeError, match="no more"):
        lifagu.io.write_results(
            connected, Failing(lifagu_one={"a": np.arange(1)}, lifagu_two={"a": np.arange(1)})
        )
    assert run("SELECT * FROM lifagu_one ORDER BY id") == ROWS
    assert run("SELECT count(*) FROM patients") == [(4,)]


def test_closed_connections(tmp_path):
    duck = duckdb.connect()
    duck.close()
    with pytest.raises(lifagu.FormatError, match="^the connection to .*: .*closed"):
        lifagu.io.load(written(SMALL, tmp_path), duck)
