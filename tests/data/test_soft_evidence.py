"""Evidence from SQL that is not certain: a column of likelihoods for each label."""

import json
import sqlite3

import duckdb
import psycopg
import pytest

import lifagu

ROWS = [("al", 0.9, 0.3, 0.0), ("bo", None, None, None), ("cy", 0, 1, 0), ("o'x", 2, 2, 4)]


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def address(request, tmp_path):
    """A database with likelihoods of how ill people are."""
    make = 'CREATE TABLE person (id TEXT, "no" REAL, "a bit" REAL, "very, very" REAL)'
    if request.param == "postgresql":
        url = request.getfixturevalue("new_database")()
        with psycopg.connect(url) as connection:
            connection.execute(make)
            for row in ROWS:
                connection.execute("INSERT INTO person VALUES (%s, %s, %s, %s)", row)
        return url
    path = str(tmp_path / f"data.{request.param}")
    module = duckdb if request.param == "duckdb" else sqlite3
    connection = module.connect(path)
    connection.execute(make)
    connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?)", ROWS)
    connection.commit()
    connection.close()
    return path


def opened(tmp_path, address, sql, labels=("no", "a bit", "very, very"), table=(5, 1, 2, 2, 1, 4)):
    model = {
        "format": "lifagu/1",
        "source": address,
        "domains": {"P": {"sql": "SELECT id FROM person ORDER BY id"}},
        "relations": [{"name": "Ill", "of": ["P"], "range": list(labels)}, {"name": "Wave"}],
        "parfactors": [{"name": "g", "args": ["Ill(X)", "Wave"], "table": list(table)}],
        "evidence": {"Ill": {"sql": sql}},
    }
    path = tmp_path / "t.json"
    path.write_text(json.dumps(model))
    return lifagu.open(path)


def test_likelihoods_are_those_that_are_named_in_any_order(tmp_path, address):
    """NULL everywhere is not observed; columns go by their names."""
    case = opened(tmp_path, address, 'SELECT id, "very, very", "no", "a bit" FROM person')
    said = {"al": (0.9, 0.3, 0.0), "cy": (0, 1, 0), "o'x": (2, 2, 4)}
    bare, labels = lifagu.open(case.model), ("no", "a bit", "very, very")
    names = {who: next(n for n in case.graph.variable_names if who in n) for who in said}
    named = bare.observe(
        {names[who]: dict(zip(labels, row, strict=True)) for who, row in said.items()}
    )
    for name in case.graph.variable_names:
        found, expected = case.ask(name), named.ask(name)
        assert found.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
        assert found.log_partition == pytest.approx(expected.log_partition, abs=1e-6)


def test_labels_may_be_false_and_true(tmp_path, address):
    """Within another query SQLite calls such columns otherwise."""
    sql = 'SELECT id, "no" AS "true", "a bit" AS "false" FROM person WHERE "no" IS NOT NULL'
    case = opened(tmp_path, address, sql, ("false", "true"), (3, 1, 1, 1))
    assert case.evidence["Ill(al)"] == pytest.approx({"false": 0.3, "true": 0.9}, abs=1e-6)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ('"no", "a bit", "no" AS "very"', "the likelihoods of no, a bit, very, very"),
        ('-1 AS "no", 1 AS "a bit", 0 AS "very, very"', "negative or infinite (no -1"),
        ('0 AS "no", 0 AS "a bit", 0 AS "very, very"', "all 0"),
        ('NULL AS "no", 1 AS "a bit", 0 AS "very, very"', "NULL in part"),
        ('\'x\' AS "no", 1 AS "a bit", 0 AS "very, very"', "'x' is no likelihood of no"),
    ],
)
def test_what_is_no_likelihood_is_refused_in_one_line(tmp_path, address, columns, message):
    with pytest.raises(lifagu.LifaguError, match="Ill") as error:
        opened(tmp_path, address, f"SELECT id, {columns} FROM person").ask("Wave")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
