"""What databases hold: the same tables and keys told by every kind, whatever their names."""

import sqlite3
from contextlib import closing

import duckdb
import psycopg
import pytest

import lifagu
from lifagu.data.databases import NoDatabase, opened
from lifagu.data.databases.catalogue import CatalogueColumn, ForeignKey
from lifagu.relational.source import Source
from lifagu.relational.template import Query
from support.small_hospital import TABLES, made

STRANGE = ['a"b', "a b", "select", "Ünï 名", "UPPER", "it's", "a.b", "%s", ":x", "--"]
KINDS = ["duckdb", "sqlite", "postgresql"]


@pytest.fixture
def empty(request, tmp_path):
    """Makes a new database of a kind: its address, and a function that runs statements."""

    def make(kind):
        if kind == "postgresql":
            address = request.getfixturevalue("new_database")()
        else:
            address = str(tmp_path / f"new.{kind}")

        def run(*statements):
            if kind == "postgresql":
                connected = psycopg.connect(address)
            else:
                connected = {"duckdb": duckdb, "sqlite": sqlite3}[kind].connect(address)
            with closing(connected):
                for statement in statements:
                    connected.execute(statement)
                if kind != "duckdb":
                    connected.commit()

        return address, run

    return make


def catalogued(address):
    """The catalogue of a database by name; each table and column can be asked for."""
    with opened(Source(address)) as database:
        found = database.catalogue()
        assert database.catalogue() == found
        names = [each.name for each in found.tables]
        assert names == sorted(set(names))
        for table in found.tables:
            wanted = ", ".join(each.sql for each in table.columns)
            query = Query(f"SELECT {wanted} FROM {table.sql}", "here")
            assert database.columns(query) == [each.name for each in table.columns]
            list(database.batches(query))
    return {each.name: each for each in found.tables}


def kinds(table):
    """The kind of each column by name."""
    return {each.name: each.kind for each in table.columns}


KEYS = [
    "CREATE TABLE wards (house INTEGER, number INTEGER, title TEXT UNIQUE, "
    "PRIMARY KEY (number, house))",
    "CREATE TABLE people (id INTEGER PRIMARY KEY, house INTEGER, ward INTEGER, chief INTEGER, "
    "UNIQUE (ward, chief), "
    "FOREIGN KEY (ward, house) REFERENCES wards (number, house), "
    "FOREIGN KEY (chief) REFERENCES people (id))",
    "CREATE TABLE works (person INTEGER REFERENCES people, other INTEGER REFERENCES people (id), "
    "day DATE)",
    "CREATE UNIQUE INDEX one_day ON works (person, day)",
    "CREATE TABLE lifagu_marginals (id INTEGER)",
    "CREATE VIEW chiefs AS SELECT id, chief FROM people",
]


@pytest.mark.parametrize("kind", KINDS)
def test_keys(kind, empty):
    address, run = empty(kind)
    run(*KEYS)
    found = catalogued(address)
    assert list(found) == ["chiefs", "people", "wards", "works"]
    assert [each for each in found if found[each].is_view] == ["chiefs"]
    assert found["wards"].primary_key == ("number", "house")
    assert found["wards"].unique == (("title",),)
    assert found["people"].unique == (("ward", "chief"),)
    assert found["people"].foreign_keys == (
        ForeignKey(("chief",), "people", ("id",)),
        ForeignKey(("ward", "house"), "wards", ("number", "house")),
    )
    assert found["works"].primary_key == ()
    assert found["works"].unique == (("person", "day"),)
    assert found["works"].foreign_keys == (
        ForeignKey(("other",), "people", ("id",)),
        ForeignKey(("person",), "people", ("id",)),
    )
    view = found["chiefs"]
    assert (view.primary_key, view.unique, view.foreign_keys) == ((), (), ())
    assert [each.name for each in view.columns] == ["id", "chief"]


@pytest.mark.parametrize("kind", KINDS)
def test_strange_names(kind, empty):
    address, run = empty(kind)
    quoted = ['"' + each.replace('"', '""') + '"' for each in STRANGE]
    listed = ", ".join(f"{each} INTEGER" for each in quoted)
    for each in quoted:
        run(
            f"CREATE TABLE {each} ({listed}, PRIMARY KEY ({quoted[0]}, {quoted[1]}))",
            f"INSERT INTO {each} VALUES ({', '.join('1' for _ in quoted)})",
        )
    run(
        f"CREATE TABLE refers ({quoted[2]} INTEGER, x INTEGER, "
        f"FOREIGN KEY ({quoted[2]}, x) REFERENCES {quoted[3]})",
        f'CREATE UNIQUE INDEX "one %s" ON {quoted[5]} ({quoted[6]}, {quoted[0]})',
        f"CREATE VIEW seen AS SELECT {', '.join(quoted)} FROM {quoted[0]}",
    )
    found = catalogued(address)
    assert set(found) == {*STRANGE, "refers", "seen"}
    for name in STRANGE:
        assert [each.name for each in found[name].columns] == STRANGE
        assert found[name].primary_key == tuple(STRANGE[:2])
    assert found["refers"].foreign_keys == (
        ForeignKey((STRANGE[2], "x"), STRANGE[3], tuple(STRANGE[:2])),
    )
    assert found[STRANGE[5]].unique == ((STRANGE[6], STRANGE[0]),)
    assert [each.name for each in found["seen"].columns] == STRANGE


DECLARED = {
    "integer": ["INTEGER", "BIGINT", "SMALLINT", "NUMERIC(9,0)"],
    "number": ["DOUBLE PRECISION", "REAL", "DECIMAL(9,2)", "NUMERIC(4,1)"],
    "truth": ["BOOLEAN"],
    "text": ["TEXT", "VARCHAR(9)", "CHAR(2)", "UUID"],
    "date": ["DATE"],
    "time": ["TIMESTAMP", "TIMESTAMP WITH TIME ZONE"],
    "clock": ["TIME"],
    "other": ["INTERVAL", "JSON"],
}


OWN_TYPES = {
    "duckdb": {
        **{"HUGEINT": "integer", "UTINYINT": "integer", "FLOAT": "number", "BLOB": "other"},
        **{"STRUCT(a INTEGER)": "other", "TIMESTAMP_NS": "time"},
    },
    "sqlite": {
        **{"INT(11)": "integer", "UNSIGNED BIG INT": "integer", "LONGBLOB": "other"},
        **{"DATETIME": "time", "NVARCHAR(100)": "text", "STRING": "text", "DOUBLE": "number"},
        **{"Thing": "unknown", "": "unknown"},
        # words to SQLite, which keeps numbers and texts in such columns
        **{"MONEY": "unknown", "BIT": "unknown", "INTERVAL": "unknown", "JSON": "unknown"},
    },
    "postgresql": {
        **{"whole": "integer", "texts": "text", "name": "text", "timestamptz": "time"},
        **{"numeric": "number", "bytea": "other", "jsonb": "other", "inet": "other"},
        **{"money": "other", "int4range": "other", "bit(3)": "other"},
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, empty):
    address, run = empty(kind)
    declared = [(each, expected) for expected, types in DECLARED.items() for each in types]
    if kind != "sqlite":
        run("CREATE TYPE mood AS ENUM ('low', 'high')")
        declared += [("mood", "text"), ("INTEGER[]", "other"), ("mood[]", "other")]
    if kind == "postgresql":
        run("CREATE DOMAIN whole AS integer", "CREATE DOMAIN texts AS varchar(9)")
    declared += OWN_TYPES[kind].items()
    columns = ", ".join(f"c{number} {each}" for number, (each, _) in enumerate(declared))
    run(f"CREATE TABLE things ({columns})")
    found = kinds(catalogued(address)["things"])
    told = {each: found[f"c{number}"] for number, (each, _) in enumerate(declared)}
    assert told == dict(declared)  # of a type that is named twice, the last is what it is


@pytest.mark.parametrize("kind", KINDS)
def test_generated_columns(kind, empty):
    address, run = empty(kind)
    how = "VIRTUAL" if kind == "duckdb" else "STORED"
    run(f"CREATE TABLE t (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) {how})")
    assert catalogued(address)["t"].columns == (
        CatalogueColumn("a", "integer"),
        CatalogueColumn("b", "integer", is_generated=True),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_there(kind, empty):
    address, run = empty(kind)
    run("CREATE TABLE t (a INTEGER)", "DROP TABLE t")
    assert catalogued(address) == {}
    with pytest.raises(lifagu.FormatError, match="there is no database"):
        NoDatabase().catalogue()


@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
def test_schemas(kind, empty):
    address, run = empty(kind)
    run(
        'CREATE SCHEMA "Ward A"',
        'CREATE TABLE "Ward A"."b eds" (id INTEGER PRIMARY KEY)',
        'CREATE TABLE "Ward A".stays (bed INTEGER REFERENCES "Ward A"."b eds")',
        'CREATE TABLE "Ward A".people (id INTEGER)',
        "CREATE TABLE people (name TEXT)",
        'CREATE VIEW "Ward A".seen AS SELECT id AS x FROM "Ward A".people',
    )
    found = catalogued(address)
    assert list(found) == ["Ward A.b eds", "Ward A.people", "Ward A.seen", "Ward A.stays", "people"]
    assert found["Ward A.b eds"].sql == '"Ward A"."b eds"'
    assert found["people"].sql == '"people"'
    assert kinds(found["people"]) == {"name": "text"}
    assert kinds(found["Ward A.people"]) == {"id": "integer"}
    assert found["Ward A.seen"].is_view
    assert found["Ward A.stays"].foreign_keys == (ForeignKey(("bed",), "Ward A.b eds", ("id",)),)


def test_schemas_on_the_search_path(empty):
    address, run = empty("postgresql")
    run(
        "CREATE SCHEMA ward",
        "CREATE TABLE ward.beds (id INTEGER PRIMARY KEY)",
        "CREATE TABLE ward.people (id INTEGER REFERENCES ward.beds)",
        "CREATE TABLE people (bed INTEGER REFERENCES ward.beds)",
    )
    assert list(catalogued(address)) == ["people", "ward.beds", "ward.people"]
    found = catalogued(f"{address}?options=-csearch_path%3Dward,public")
    assert list(found) == ["beds", "people", "public.people"]
    assert found["public.people"].foreign_keys == (ForeignKey(("bed",), "beds", ("id",)),)


def test_what_may_not_be_read_on_a_server(empty, as_superuser):
    address, run = empty("postgresql")

    def allow(*statements):
        with psycopg.connect(as_superuser(address)) as connected:
            for statement in statements:
                connected.execute(statement)

    run(
        "CREATE TABLE parted (id INTEGER, day DATE) PARTITION BY RANGE (id)",
        "CREATE TABLE part_1 PARTITION OF parted FOR VALUES FROM (0) TO (9)",
        "CREATE MATERIALIZED VIEW kept AS SELECT 1 AS one",
        "CREATE TABLE secret (id INTEGER PRIMARY KEY)",
        "CREATE TABLE refers (id INTEGER REFERENCES secret)",
    )
    allow("CREATE ROLE looker LOGIN PASSWORD 'quiet'", "GRANT SELECT ON refers TO looker")
    found = catalogued(address)
    assert list(found) == ["kept", "parted", "refers", "secret"]
    assert found["kept"].is_view
    try:
        looked = catalogued("postgresql://looker:quiet@" + address.partition("@")[2])
        assert list(looked) == ["refers"]
        assert looked["refers"].foreign_keys == ()
    finally:
        allow("DROP OWNED BY looker", "DROP ROLE looker")


def test_broken_views(empty):
    for kind in ("duckdb", "sqlite"):
        address, run = empty(kind)
        run(
            "CREATE TABLE gone (x INTEGER)",
            "CREATE VIEW broken AS SELECT x FROM gone",
            "CREATE TABLE t (x INTEGER)",
            "CREATE VIEW whole AS SELECT x FROM t",
            "DROP TABLE gone",
        )
        found = catalogued(address)
        assert list(found) == ["t", "whole"]
        assert kinds(found["whole"]) == {"x": "integer"}


def test_what_sqlite_allows(empty):
    address, run = empty("sqlite")
    run(
        "CREATE TABLE Parent (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID",
        "CREATE TABLE child (A REFERENCES nowhere, B REFERENCES PARENT (missing), "
        "c REFERENCES keyless, FOREIGN KEY (A, B) REFERENCES PARENT, "
        "FOREIGN KEY (b, a) REFERENCES parent (B, A))",
        "CREATE TABLE keyless (x)",
        "CREATE UNIQUE INDEX of_some ON child (a) WHERE a > 1",
        "CREATE UNIQUE INDEX of_more ON child (lower(a))",
        "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE VIRTUAL TABLE words USING fts5(x, y)",
        "CREATE TABLE words_of_mine (x)",
        "ANALYZE",
    )
    found = catalogued(address)
    assert list(found) == ["Parent", "child", "counted", "keyless", "words", "words_of_mine"]
    assert found["Parent"].primary_key == ("b", "a")
    assert found["child"].foreign_keys == (
        ForeignKey(("A", "B"), "Parent", ("b", "a")),
        ForeignKey(("B", "A"), "Parent", ("b", "a")),
    )
    assert found["child"].unique == ()
    assert kinds(found["words"]) == {"x": "unknown", "y": "unknown"}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_data_files(kind, tmp_path):
    found = catalogued(made(kind, TABLES, tmp_path))
    assert list(found) == ["history", "patients"]
    assert kinds(found["patients"]) == {"id": "text", "ward": "text", "test": "truth"}
    for table in found.values():
        assert not table.is_view
        assert (table.primary_key, table.unique, table.foreign_keys) == ((), (), ())
    alone = catalogued(f"{tmp_path}/data-{kind}/patients.{kind}")
    assert list(alone) == ["patients"]


@pytest.mark.parametrize("kind", KINDS)
def test_many_tables(kind, empty):
    address, run = empty(kind)
    columns = ", ".join(f"c{number} INTEGER" for number in range(9))
    run(
        "CREATE TABLE t0 (id INTEGER PRIMARY KEY)",
        *(
            f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, {columns}, "
            f"FOREIGN KEY (c1) REFERENCES t{number - 1})"
            for number in range(1, 100)
        ),
    )
    found = catalogued(address)
    assert len(found) == 100
    assert all(
        found[f"t{number}"].foreign_keys == (ForeignKey(("c1",), f"t{number - 1}", ("id",)),)
        for number in range(1, 100)
    )


def test_the_catalogue_is_of_the_state_that_queries_see(empty):
    address, run = empty("postgresql")  # the others lock
    run("CREATE TABLE t (a INTEGER)")
    with opened(Source(address)) as database:
        before = database.catalogue()
        run("CREATE TABLE later (a INTEGER)")
        assert database.catalogue() == before
    assert list(catalogued(address)) == ["later", "t"]
