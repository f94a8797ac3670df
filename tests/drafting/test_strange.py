"""Strange databases: each ends in predictions for exactly its gaps, or in one line that helps."""

import json
import sqlite3
from contextlib import closing

import duckdb
import psycopg
import pytest

from lifagu.data.databases import opened
from lifagu.drafting.asking import Asker
from lifagu.relational.source import Source
from support.drafts import Table, gaps_of, made, said, walked
from support.odd_databases import ID, ODD, family

KINDS = {  # those where kinds of databases may differ
    "duckdb": [
        "names_that_mean_something",
        "numbers_of_rows",
        "infinite_numbers",
        "moments",
        "moments_from_utc",
        "lists_of_numbers_as_texts",
    ],
    "postgresql": [
        "names_that_mean_something",
        "numbers_of_rows",
        "infinite_numbers",
        "moments",
        "moments_from_utc",
        "quoted_names",
        "truths",
        "composite_keys",
        "large_keys",
    ],
    "csv": ["odd_numbers", "constants_and_empty_columns", "truths", "empty_text_in_key"],
    "parquet": ["large_numbers", "moments", "dangling"],
}


def ends_well(address, folder, tables):
    found = walked(address, folder)
    assert not found.error, f"{found.failed}: {found.error}"
    for relation, (predicted, missing) in gaps_of(found, tables).items():
        assert len(predicted) == len(missing), relation
        if all("," not in each for each in missing):
            assert predicted == missing, relation
    for name, shares in found.answers.items():
        assert sum(shares.values()) == pytest.approx(1), name
    return found


@pytest.mark.parametrize("name", ODD)
def test_predictions_are_for_exactly_the_gaps(name, tmp_path):
    tables = ODD[name]()
    ends_well(made("sqlite", tmp_path, tables), tmp_path, tables)


@pytest.mark.parametrize(("kind", "name"), [(k, name) for k in KINDS for name in KINDS[k]])
def test_so_they_are_in_other_databases(kind, name, tmp_path, request):
    url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
    tables = ODD[name]()
    ends_well(made(kind, tmp_path, tables, url), tmp_path, tables)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["duckdb", "postgresql", "csv", "parquet"])
@pytest.mark.parametrize("name", ODD)
def test_so_they_are_everywhere(kind, name, tmp_path, request):
    if kind in ("csv", "parquet") and name == "quoted_names":
        pytest.skip("a file of that name is none of ours")
    url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
    tables = ODD[name]()
    ends_well(made(kind, tmp_path, tables, url), tmp_path, tables)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "csv", "parquet", "postgresql"])
@pytest.mark.parametrize("column", ["short", "plain", "long", "any"])
def test_hours_are_those_of_utc(kind, column, tmp_path, request):
    url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
    table = ODD["moments_from_utc"]()["p"]
    kept = [place for place, name in enumerate(table.columns) if name in ("id", column, "a")]
    columns = {name: table.columns[name] for name in ("id", column, "a")}
    rows = [[row[place] for place in kept] for row in table.rows]
    address = made(kind, tmp_path, {"p": Table(columns, rows)}, url)
    found = walked(address, tmp_path, steps=["validate"])
    assert not found.error
    assert found.validation["accuracy"] > 0.9


def test_commas_in_numbers_are_points_or_mark_thousands(tmp_path):
    table = ODD["numbers_with_commas"]()["p"]
    declared = {"p": Table({**table.columns, "price": "MONEY", "much": "BIT"}, table.rows)}
    found = walked(made("sqlite", tmp_path, declared), tmp_path)
    assert not found.error
    assert {"name": "Price", "of": ["P"], "range": {"bins": 3}} in found.template["relations"]
    assert (
        found.template["evidence"]["Price"]["sql"] == "SELECT id, REPLACE(price, ',', '.') FROM p"
    )
    report = (tmp_path / "draft.md").read_text(encoding="utf-8")
    assert "comma as a decimal point in p.price?" in report
    assert "comma as a mark of thousands in p.much?" in report


def test_what_tells_nothing_is_said_whatever_its_sort(tmp_path):
    rows = [(n, "uv"[n % 2], f"2020-0{n % 9 + 1}-11", f"g{n % 40}") for n in range(200)]
    rows[3] = (3, None, *rows[3][2:])
    columns = {**ID, "a": "TEXT", "day": "DATE", "team": "TEXT"}
    found = walked(made("sqlite", tmp_path, {"p": Table(columns, rows)}), tmp_path, steps=[])
    used = json.dumps(found.template["parfactors"])
    report = (tmp_path / "draft.md").read_text(encoding="utf-8")
    for column in ("day", "team"):
        assert (column in used.lower()) != (f"p.{column}" in report.partition("left out")[2])


NOTHING = {
    "no table": {},
    "no row": {"e": Table({**ID, "a": "TEXT"}, [])},
    "one row": {"p": Table({**ID, "a": "TEXT"}, [(1, None)])},
    "keys alone": {"p": Table(ID, [(n,) for n in range(50)])},
    "gaps alone": {"p": Table({**ID, "a": "TEXT"}, [(n, None) for n in range(50)])},
    "one value": {"p": Table({**ID, "a": "TEXT"}, [(n, "x") for n in range(50)])},
}


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_where_nothing_can_be_predicted_one_line_says_so(kind, name, tmp_path):
    address = made(kind, tmp_path, NOTHING[name])
    found = walked(address, tmp_path)
    assert found.failed == "init"
    assert found.error.startswith(f"error: {address}: ")
    assert "\n" not in found.error
    assert not (tmp_path / "draft.json").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--leave-out", "nope"], "nope"),
        (["--key", "ch=par_id"], "par_id"),
        (["--key", "ch=a"], "'a'"),
        (["--key", "ch=nope"], "nope"),
        (["--link", "ch.par_id=nope"], "nope"),
        (["--predict", "nope"], "nope"),
        (["--predict", "id"], "'id'"),
    ],
)
def test_what_a_user_says_wrongly_is_named(options, words, tmp_path):
    import random

    address = made("sqlite", tmp_path, family(random.Random(1)))
    told = said("init", address, "--out", tmp_path / "t.json", "--quiet", *options)
    assert told.status == 2
    assert words.strip("'") in told.err
    assert told.err.count("\n") == 1


def test_files_that_are_none_are_named(tmp_path):
    for name, content in {
        "a.sqlite": b"no database",
        "b.duckdb": b"no database",
        "c.parquet": b"no table",
        "d.csv": b"",
        "e.csv": "a,b\né,u\n".encode("latin1") * 30,
    }.items():
        (tmp_path / name).write_bytes(content)
        told = said("init", tmp_path / name, "--quiet")
        assert told.status == 2
        assert name in told.err
        assert told.err.count("\n") == 1
    assert said("init", "", "--quiet").status == 2


def test_files_in_other_encodings_are_told_to_be_saved_as_utf_8(tmp_path):
    table = "size;größe\n" + "1;é\n" * 30
    for line, encoding in ((1, "latin1"), (1, "utf-16"), (2, "latin1")):
        text = table if line == 1 else table.replace("öß", "oss")
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        told = said("init", tmp_path / "t.csv", "--quiet")
        assert told.err.startswith(
            f"error: {tmp_path / 't.csv'}: line {line} is not in UTF-8; save"
        )
        assert told.err.count("\n") == 1


def test_files_whose_rows_are_not_alike_are_told_to_be_written_anew(tmp_path):
    rows = ["id,a,b", *(f"{n},u,v" for n in range(30_000))]
    (tmp_path / "t.csv").write_text("\n".join([*rows, "1,u,v,w", *rows[1:]]))
    told = said("init", tmp_path / "t.csv", "--quiet")
    assert told.err.startswith(f"error: {tmp_path / 't.csv'}: its rows do not have equally many")
    assert told.err.count("\n") == 1


def test_a_line_that_is_too_long_is_named(tmp_path):
    (tmp_path / "t.csv").write_text(f"id,v\na,{'x' * 3_000_000}\n")
    told = said("init", tmp_path / "t.csv", "--quiet")
    assert told.err.startswith(f"error: {tmp_path / 't.csv'}: line 1: Maximum line size of 2000000")
    assert told.err.count("\n") == 1


VIEWS = {  # without a table beside them, and without a key
    "sqlite": "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 300) "
    "SELECT {} FROM s",
    "duckdb": "SELECT {} FROM range(1, 301) s(n)",
    "postgresql": "SELECT {} FROM generate_series(1, 300) s(n)",
}


@pytest.mark.parametrize("kind", VIEWS)
def test_rows_of_views_alone_are_told_apart_by_their_number(kind, tmp_path, request):
    url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
    address = made(kind, tmp_path, {}, url)
    values = "CASE WHEN n % 5 = 0 THEN NULL ELSE n % 3 END AS a, n % 3 AS t"
    connect = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect, "postgresql": psycopg.connect}
    with closing(connect[kind](address)) as connected:
        connected.execute(f"CREATE VIEW v AS {VIEWS[kind].format(values)}")
        connected.commit()
    found = walked(address, tmp_path, steps=["validate"])
    assert not found.error
    assert found.validation["hidden"] > 0
    assert found.validation["accuracy"] == 1


def test_every_query_numbers_rows_of_a_view_alike(tmp_path):
    """In whatever order a view happens to give them."""
    with closing(duckdb.connect(tmp_path / "v.duckdb")) as connected:
        connected.execute("CREATE VIEW v AS SELECT n FROM range(300) s(n) ORDER BY random()")
    with opened(Source(str(tmp_path / "v.duckdb"))) as database:
        (view,) = database.catalogue().tables
        asker = Asker(database, "duckdb", "here")
        listed = f"SELECT n FROM {asker.numbered(view, 'row_number')} AS t ORDER BY row_number"
        (once,), (again,) = asker.columns(listed), asker.columns(listed)
    assert once.texts() == again.texts()


def test_rows_of_partitions_are_told_apart(new_database):
    address = new_database()
    with psycopg.connect(address) as connected:
        connected.execute("CREATE TABLE p (a INTEGER, t INTEGER) PARTITION BY LIST (t)")
        for t in range(3):
            connected.execute(f"CREATE TABLE p{t} PARTITION OF p FOR VALUES IN ({t})")
        connected.execute("INSERT INTO p SELECT n, n % 3 FROM generate_series(1, 300) s(n)")
    with opened(Source(address)) as database:
        (table,) = database.catalogue().tables
        asker = Asker(database, "postgresql", "here")
        base = asker.numbered(table, "row_number")
        apart = asker.columns(f"SELECT t FROM {base} AS x ORDER BY row_number")[0].texts()
    assert apart == sorted(apart)
