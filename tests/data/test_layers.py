"""Layers over a database: hidden values are NULL for every query, and nothing is written to it."""

from contextlib import closing
from dataclasses import replace

import duckdb
import pandas as pd
import pytest

from lifagu.data.databases import opened
from lifagu.data.databases.layers import NoLayerError
from lifagu.relational.source import LayeredTable, Source
from lifagu.relational.template import Query
from support.drafts import KINDS, Table, made

TABLES = {
    "patient": Table(
        {"id": "INTEGER PRIMARY KEY", "age": "INTEGER", "sort": "VARCHAR(9)"},
        [(1, 30, "a"), (2, 40, "b"), (3, 50, "a"), (4, None, "b")],
    ),
    "visit": Table({"who": "INTEGER", "cost": "DOUBLE PRECISION"}, [(1, 1.5), (1, 2.5), (2, 3.5)]),
}
LAYERS = (
    LayeredTable(
        "patient",
        "(SELECT row_number() OVER (ORDER BY id) AS nr, t.* FROM patient AS t)",
        "nr",
        ("id", "age", "sort"),
        ("id",),
        {"age": frozenset({("1",), ("3",)}), "sort": frozenset({("3",)})},
    ),
    LayeredTable(
        "visit",
        "(SELECT row_number() OVER (ORDER BY who, cost) AS nr, t.* FROM visit AS t)",
        "nr",
        ("who", "cost"),
        (),
        {"cost": frozenset({("2",)})},
        ("of_one", "who = 1"),
    ),
)
DERIVED = """
    SELECT p.id, p.age, p.sort, CASE WHEN p.age IS NULL THEN 0 ELSE 1 END,
        CASE WHEN p.age > 35 THEN 1 ELSE 0 END,
        (SELECT count(v.cost) FROM visit AS v WHERE v.who = p.id)
    FROM patient AS p ORDER BY p.id
"""
SEEN = [
    [1, None, "a", 0, 0, 1],
    [2, 40, "b", 1, 1, 1],
    [3, None, None, 0, 0, 0],
    [4, None, "b", 0, 0, 0],
]


def asked(source, sql):
    with opened(source) as database:
        (batch,) = database.batches(Query(sql, "here"))
        texts = zip(*(each.texts() for each in batch), strict=True)
        return [[None if each is None else each for each in row] for row in texts]


def as_texts(rows):
    return [[None if each is None else str(each) for each in row] for row in rows]


def check(source, inserted=0):
    """Derived columns, counts and whether a value is known see what the layer shows.

    inserted: visits of patient 4.
    """
    layered = replace(source, layers=LAYERS)
    assert asked(layered, DERIVED) == as_texts([*SEEN[:3], [*SEEN[3][:-1], inserted]])
    assert asked(layered, "SELECT count(age), count(*) FROM patient") == [["1", "4"]]
    assert asked(layered, "SELECT sum(of_one) FROM visit") == [["2"]]
    plain = asked(source, "SELECT count(age), count(sort) FROM patient")
    assert plain == [["3", "4"]], "the layer outlived its reading"


@pytest.fixture(params=KINDS)
def address(request, tmp_path):
    url = request.getfixturevalue("new_database")() if request.param == "postgresql" else ""
    return made(request.param, tmp_path, TABLES, url)


def test_hidden_values_are_null_for_every_query(address):
    check(Source(address))


def test_hidden_values_are_null_in_frames():
    check(
        Source(
            {
                name: pd.DataFrame([*table.rows], columns=[*table.columns])
                for name, table in TABLES.items()
            }
        )
    )


def test_a_connection_to_duckdb_is_as_it_was(tmp_path):
    with closing(duckdb.connect(made("duckdb", tmp_path, TABLES))) as lent:
        check(Source(lent))
        left = "SELECT count(*) FROM duckdb_tables() WHERE temporary"
        assert lent.execute(left).fetchall() == [(0,)]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "duckdb"])
def test_queries_over_a_layer_cannot_write(kind, request, tmp_path):
    """Nor can they while there is one."""
    url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
    source = Source(made(kind, tmp_path, TABLES, url), layers=LAYERS)
    for sql in ("DELETE FROM visit", "WITH a AS (SELECT 1) DELETE FROM visit"):
        with opened(source) as database, pytest.raises(Exception, match="here: "):
            list(database.batches(Query(sql, "here")))
    assert asked(replace(source, layers=()), "SELECT count(*) FROM visit") == [["3"]]


def test_where_no_table_can_be_made_that_is_said(tmp_path):
    """A temporary table of that name is somebody else's."""
    with closing(duckdb.connect(made("duckdb", tmp_path, TABLES))) as lent:
        lent.execute("CREATE TEMPORARY TABLE lifagu_layer (a INTEGER)")
        with pytest.raises(NoLayerError, match="no layer can be laid"):
            asked(Source(lent, layers=LAYERS), "SELECT 1")
        left = "SELECT table_name FROM duckdb_tables() WHERE temporary"
        assert lent.execute(left).fetchall() == [("lifagu_layer",)]
