"""Results are joined with the tables that a template reads, by keys as these have them."""

import datetime
import json
import sqlite3

import duckdb
import numpy as np
import psycopg
import pytest

import lifagu
from lifagu.basics.columns import FreeNames, KeyColumn, plain_name
from lifagu.data.databases import opened as opened_database
from lifagu.relational.source import Source
from support.helpers import run_cli

TABLES = """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, born DATE);
    CREATE TABLE meeting (one INTEGER, other INTEGER, day DATE);
    INSERT INTO person VALUES (10, 'Ann', '1990-01-31'), (7, 'Bo''s', NULL), (30, 'Cy', NULL);
    INSERT INTO meeting VALUES (10, 7, '2024-02-29'), (7, 30, '2024-03-01');
"""
TEMPLATE = {
    "format": "lifagu/1",
    "source": "data.duckdb",
    "domains": {
        "Person": {"sql": "SELECT id FROM person"},
        "Value": {"sql": "SELECT DISTINCT day FROM meeting"},
        "Odd Name": ["it's", "b c"],
    },
    "ranges": {"mood": ["< 5", "5 to 9", "it's"]},
    "relations": [
        {"name": "Epid"},
        {"name": "Sick", "of": ["Person"]},
        {"name": "Met", "of": ["Person", "Person"]},
        {"name": "Rainy", "of": ["Value"]},
        {"name": "Mood", "of": ["Person", "Odd Name"], "range": "mood"},
    ],
    "parfactors": [
        {
            "name": "met",
            "args": ["Sick(X)", "Sick(Y)", "Met(X,Y)"],
            "rows": {"sql": "SELECT one AS x, other AS y FROM meeting"},
            "table": [4, 1, 1, 2, 1, 2, 1, 6],
        },
        {"name": "rain", "args": ["Rainy(D)"], "table": [1, 3]},
        {"name": "mood", "args": ["Sick(X)", "Mood(X,O)"], "table": [5, 2, 1, 2, 2, 2]},
        {"name": "epid", "args": ["Epid"], "table": None},
    ],
    "queries": ["Sick", "Met", "Rainy", "Mood"],
}


def run(address, sql):
    """All rows of the last statement, by the driver of its own."""
    if address.startswith("postgresql:"):
        with psycopg.connect(address) as connected:
            found = connected.execute(sql)
            return found.fetchall() if found.description else []
    if address.endswith("duckdb"):
        with duckdb.connect(address) as connected:
            return connected.execute(sql).fetchall()
    connected = sqlite3.connect(address)
    try:
        if ";" in sql:
            connected.executescript(sql)
            return []
        return connected.execute(sql).fetchall()
    finally:
        connected.commit()
        connected.close()


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "postgresql":
        found = request.getfixturevalue("new_database")()
    else:
        found = str(tmp_path / f"data.{request.param}")
    run(found, TABLES)
    return found


def opened(address, tmp_path, **changes):
    path = tmp_path / "template.json"
    path.write_text(json.dumps({**TEMPLATE, **changes}))
    return lifagu.open(path, database=address)


def test_results_join_with_the_tables_they_are_about(address, tmp_path):
    case = opened(address, tmp_path)
    for _ in range(2):  # the second time in place of the first
        found = case.impute(write=True)
    rows = run(
        address,
        """
        SELECT p.name, m.value, m.probability
        FROM person p
        JOIN lifagu_marginals m ON m.person = p.id
        WHERE m.relation = 'Sick'
        ORDER BY p.id, m.value
        """,
    )
    expected = [
        (name, label, found.marginals[f"Sick({number})"][label])
        for number, name in ((7, "Bo's"), (10, "Ann"), (30, "Cy"))
        for label in ("false", "true")
    ]
    assert rows == expected
    rows = run(
        address,
        """
        SELECT a.name, b.name, w.p_true, w.most_probable, w.probability
        FROM lifagu_wide_met w
        JOIN person a ON a.id = w.person
        JOIN person b ON b.id = w.person_2
        ORDER BY 1
        """,
    )
    both = [("Ann", "Bo's", "Met(10,7)"), ("Bo's", "Cy", "Met(7,30)")]
    assert [row[:2] for row in rows] == [each[:2] for each in both]
    for row, (*_, name) in zip(rows, both, strict=True):
        shares = found.marginals[name]
        assert row[2] == shares["true"]
        assert row[3:] == (max(shares, key=shares.get), max(shares.values()))
    days = run(
        address,
        "SELECT m.day, w.p_true FROM meeting m JOIN lifagu_wide_rainy w ON w.value_2 = m.day "
        "ORDER BY 1",
    )
    assert [str(day) for day, _ in days] == ["2024-02-29", "2024-03-01"]
    assert [share for _, share in days] == pytest.approx([0.75, 0.75])


def test_odd_labels_and_domains(address, tmp_path):
    case = opened(address, tmp_path)
    found = case.impute(write=True)
    lifagu.io.write_results(address, found.tables())  # the same by hand
    rows = run(
        address,
        'SELECT odd_name, "p_< 5", "p_5 to 9", "p_it\'s", most_probable FROM lifagu_wide_mood '
        "WHERE person = 7 ORDER BY 1",
    )
    shares = [found.marginals[f'Mood(7,"{each}")'] for each in ("b c", "it's")]
    assert rows == [
        (each, *by_label.values(), max(by_label, key=by_label.get))
        for each, by_label in zip(("b c", "it's"), shares, strict=True)
    ]


def test_equally_likely_labels_and_views_of_earlier_results(address, tmp_path):
    parts = [each for each in TEMPLATE["parfactors"] if each["name"] != "rain"]
    even = {"name": "rain", "args": ["Rainy(D)"], "table": [2, 2]}
    opened(address, tmp_path, parfactors=[*parts, even], queries=["Rainy"]).impute(write=True)
    rows = run(address, "SELECT most_probable, probability FROM lifagu_wide_rainy")
    assert rows == [("false", 0.5)] * 2
    opened(address, tmp_path, queries=["Sick"]).impute(write=True)
    with pytest.raises(Exception, match="lifagu_wide_rainy"):
        run(address, "SELECT * FROM lifagu_wide_rainy")
    lifagu.io.write_results(address, {"lifagu_other": {"a": np.arange(1)}})
    assert len(run(address, "SELECT * FROM lifagu_wide_sick")) == 3
    with opened_database(Source(address)) as database:  # results are no data
        assert {each.name for each in database.catalogue().tables} == {"person", "meeting"}


def test_columns_are_typed_in_python_and_in_files(address, tmp_path):
    found = opened(address, tmp_path).impute(out=tmp_path / "result")
    tables = found.tables()
    columns = tables["marginals"]
    assert list(columns)[:7] == [
        *("variable", "relation", "person", "person_2", "value_2", "odd_name", "value")
    ]
    assert columns["person"].sort == "integer"
    assert set(columns["person"].plain()) == {7, 10, 30, None}
    day = "text" if address.endswith("sqlite") else "date"
    assert columns["value_2"].sort == day
    file = tmp_path / "result" / "marginals.parquet"
    types = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE '{file}')").fetchall())
    assert types["person"] == "BIGINT"
    assert types["value_2"] == ("DATE" if day == "date" else "VARCHAR")
    days = duckdb.sql(f"SELECT DISTINCT value_2 FROM '{file}' WHERE relation = 'Rainy' ORDER BY 1")
    expected = [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
    assert [str(each) for (each,) in days.fetchall()] == list(map(str, expected))
    wide = duckdb.sql(f"FROM '{tmp_path}/result/wide_sick.parquet'")
    assert wide.columns == [
        *("variable", "person", "p_false", "p_true", "most_probable", "probability")
    ]
    lifagu.io.write_imputed(tmp_path / "result", tables)  # replaces what it has written itself
    lifagu.io.write_imputed(tmp_path / "result.csv", tables)
    text = (tmp_path / "result.csv" / "wide_met.csv").read_text().splitlines()
    assert text[0].startswith("variable,person,person_2,p_false")
    assert text[1].startswith('"Met(7,30)",7,30,0.')


def test_factors_are_known_by_parfactor_and_constants(tmp_path):
    address = str(tmp_path / "data.duckdb")
    run(address, TABLES)
    parts = [*TEMPLATE["parfactors"]]
    parts[0] = {**parts[0], "table": None}
    found = opened(address, tmp_path, parfactors=parts, queries=["Rainy"]).impute()
    transfers = found.tables()["transfers"]
    assert list(transfers)[:4] == ["factor", "parfactor", "person", "person_2"]
    about = [transfers[each].plain() for each in ("parfactor", "person", "person_2")]
    assert set(zip(*about, strict=True)) == {("epid", None, None), ("met", 7, 30), ("met", 10, 7)}


def test_whoever_is_added_has_a_key_where_it_can_be_one(tmp_path):
    address = str(tmp_path / "data.duckdb")
    run(address, TABLES)
    case = opened(address, tmp_path)
    names = ["Sick(7)", "Sick(99)", "Sick(eve)", "Sick(98)"]
    case = case.add("99", like="7").add("eve", like="7").add("98", like="99")
    columns = case.fill(by="extended").impute(names).marginals.columns()
    assert columns["person"].plain()[::2] == [7, 99, None, 98]
    assert set(columns["relation"].plain()) == {"Sick"}


def test_all_marginals_have_the_same_columns(tmp_path, capsys):
    address = str(tmp_path / "data.duckdb")
    run(address, TABLES)
    case = opened(address, tmp_path)
    for engine in ("auto", "bp"):
        parts = [each for each in TEMPLATE["parfactors"] if each["name"] != "epid"]
        whole = opened(address, tmp_path, parfactors=parts)
        found = whole.marginals(engine=engine)
        tables = found.tables()
        assert list(tables) == ["marginals", "wide_sick", "wide_met", "wide_rainy", "wide_mood"]
        lifagu.io.write_results(tmp_path / "data.duckdb", tables)
        rows = run(
            address,
            "SELECT p.id, w.p_true FROM person p JOIN lifagu_wide_sick w ON p.id = w.person",
        )
        assert {f"Sick({number})": share for number, share in rows} == {
            name: found[name]["true"] for name in ("Sick(7)", "Sick(10)", "Sick(30)")
        }
    lifagu.io.write_marginals(tmp_path / "all.csv", case.marginals())
    assert (
        (tmp_path / "all.csv")
        .read_text()
        .startswith("variable,relation,person,person_2,value_2,odd_name,value,probability\n")
    )


def test_relational_models_without_a_database(tmp_path, capsys):
    builder = lifagu.ParfactorGraph.build().domain("Person", 4).domain("Drug", ["m1", "m2"])
    builder = (
        builder.relation("Sick", "Person").relation("Takes", "Person", "Drug").relation("Epid")
    )
    model = builder.parfactor("p", ["Sick(X)", "Takes(X,D)", "Epid"], range(1, 9)).model()
    found = lifagu.open(model).observe({"Sick(2)": "true"}).marginals()
    tables = found.tables()
    columns = tables["marginals"]
    assert columns["variable"].tolist()[::2] == list(found)
    assert columns["person"].plain()[:8] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert columns["relation"].plain()[-3:] == ["Takes", "Epid", "Epid"]
    takes = tables["wide_takes"]
    named = dict(zip(takes["variable"].tolist(), takes["p_true"], strict=True))
    assert named == {name: found[name]["true"] for name in found if name.startswith("Takes")}
    path = tmp_path / "model.json"
    lifagu.write(model, path)
    run_cli(capsys, "marginals", path, "--expand", "--out", tmp_path / "all.csv")
    rows = (tmp_path / "all.csv").read_text().splitlines()
    assert rows[0] == "variable,relation,person,drug,value,probability"
    assert rows[-3].startswith('"Takes(4,m2)",Takes,4,m2,true,')


def test_models_without_relations_have_kinds_and_individuals():
    builder = lifagu.FactorGraph.build().variable("A", individual=["eve", "bo"], kind="Sick")
    graph = builder.variable("B").factor("f", ["A", "B"], [1, 2, 3, 4]).graph()
    columns = lifagu.marginals(graph).tables()["marginals"]
    assert list(columns) == [
        *("variable", "kind", "individual", "individual_2", "value", "probability")
    ]
    assert columns["individual_2"].tolist() == ["bo", "bo", None, None]
    plain = lifagu.FactorGraph.build().variable("B").factor("f", ["B"], [1, 2]).graph()
    assert list(lifagu.marginals(plain).tables()) == ["marginals"]
    assert list(lifagu.marginals(plain).tables()["marginals"]) == [
        "variable",
        "value",
        "probability",
    ]


def test_names_are_free_and_short():
    free = FreeNames()
    long = "ü" * 40
    assert len(free.taken(long).encode()) == 62
    assert free.taken(long).endswith("_2")
    assert plain_name("") == "_"
    column = KeyColumn(np.array([5]), np.array([0, -1]), "integer")
    assert column.plain() == [5, None]
