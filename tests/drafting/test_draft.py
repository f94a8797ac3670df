"""Drafts of planted databases: what is there is found, what is not there is not, and it runs."""

import csv
import json
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

import lifagu
from support.helpers import run_cli

ROWS = 400


def holes(values, rng, share=0.15):
    return [None if rng.random() < share else value for value in values]


@pytest.fixture(scope="module")
def shop():
    """Customers in towns, with orders: rows by table. Planted: age with size, taste with the town
    and with the kind of what was ordered, paid with taste.
    """
    rng = np.random.default_rng(5)
    warm = rng.random(12) < 0.5
    towns = [(f"t{n}", "south" if warm[n] else "north") for n in range(12)]
    town = rng.integers(0, 12, ROWS)
    age = rng.normal(40, 12, ROWS)
    size = np.where(age + rng.normal(0, 6, ROWS) > 40, "big", "small")
    sweet = rng.random(ROWS) < np.where(warm[town], 0.85, 0.15)
    paid = np.where(rng.random(ROWS) < np.where(sweet, 0.85, 0.2), "cash", "card")
    noise = rng.choice(["x", "y", "z"], ROWS)
    taste = np.where(sweet, "sweet", "sour")
    columns = [
        holes(each, rng)
        for each in (
            age.round(1).tolist(),
            size.tolist(),
            taste.tolist(),
            paid.tolist(),
            noise.tolist(),
        )
    ]
    customers = [
        (n, f"t{town[n]}", *cells) for n, *cells in zip(range(ROWS), *columns, strict=True)
    ]
    orders = [
        (place, n, "cake" if sweet[n] == (rng.random() < 0.9) else "herring")
        for place, n in enumerate(rng.integers(0, ROWS, 900).tolist())
    ]
    return {
        "town": (["name", "climate"], towns),
        "customer": (["id", "town", "age", "size", "taste", "paid", "noise"], customers),
        "orders": (["number", "customer", "what"], orders),
    }


TYPES = {"id": "INTEGER", "number": "INTEGER", "customer": "INTEGER", "age": "DOUBLE PRECISION"}
KEYS = {
    "town": "PRIMARY KEY (name)",
    "customer": "PRIMARY KEY (id), FOREIGN KEY (town) REFERENCES town (name)",
    "orders": "PRIMARY KEY (number), FOREIGN KEY (customer) REFERENCES customer (id)",
}


def fill(connection, tables, declared, sign="?"):
    for name, (columns, rows) in tables.items():
        listed = ", ".join(f"{column} {TYPES.get(column, 'VARCHAR')}" for column in columns)
        connection.execute(f"CREATE TABLE {name} ({listed}{f', {KEYS[name]}' if declared else ''})")
        values = ", ".join([sign] * len(columns))
        with closing(connection.cursor()) as cursor:
            cursor.executemany(f"INSERT INTO {name} VALUES ({values})", rows)


@pytest.fixture
def source(shop, tmp_path, request):
    """Makes the shop as a source of some kind."""

    def make(kind, declared=True):
        if kind == "csv":
            for name, (columns, rows) in shop.items():
                with (tmp_path / f"{name}.csv").open("w", newline="") as file:
                    csv.writer(file).writerows([columns, *rows])
            return str(tmp_path)
        if kind == "postgresql":
            import psycopg

            address = request.getfixturevalue("new_database")()
            with psycopg.connect(address) as connection:
                fill(connection, shop, declared, "%s")
            return address
        path = tmp_path / f"shop.{kind}"
        connect = {"sqlite": sqlite3, "duckdb": duckdb}[kind].connect
        with closing(connect(path)) as connection:
            fill(connection, shop, declared)
            connection.commit()
        return str(path)

    return make


def pairs(draft):
    return {frozenset(each.name for each in table.attributes) for table in draft.found.drafted}


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql", "csv"])
def test_what_was_planted_is_found_in_every_kind_of_database(source, kind):
    draft = lifagu.draft(source(kind))
    assert [each.name for each in draft.found.asked] == ["Age", "Size", "Taste", "Paid", "Noise"]
    assert {frozenset({"Age", "Size"}), frozenset({"Taste", "Paid"})} <= pairs(draft)
    assert any("orders" in name for pair in pairs(draft) if "Taste" in pair for name in pair)
    told = [table for table in draft.found.drafted if table.one.name == "Taste"]
    assert any(
        table.by == ("town",) or "Climate" in {a.name for a in table.attributes} for table in told
    )
    assert {link.target for link in draft.found.links} == {"town", "customer"}


def test_noise_is_told_by_nothing(source):
    draft = lifagu.draft(source("sqlite"))
    (noise,) = [each for each in draft.found.chosen if each.target.name == "Noise"]
    assert not noise.choices
    assert "nothing tells more than its frequencies" in "\n".join(
        line for line in draft_lines(draft)
    )


def draft_lines(draft):
    from lifagu.drafting.report import explained

    return explained(draft.found)


def test_keys_and_links_are_found_out_where_nobody_declares_them(source):
    declared, found = lifagu.draft(source("sqlite")), lifagu.draft(source("duckdb", declared=False))
    for draft in (declared, found):
        assert {name: key.columns for name, key in draft.found.keys.items()} == {
            "customer": ("id",),
            "orders": ("number",),
            "town": ("name",),
        }
    assert {link.how for link in declared.found.links} == {"declared"}
    assert {link.how for link in found.found.links} == {"its name and its values say so"}
    assert "Are these links right?" in found.report()
    assert "Are these links right?" not in declared.report()


@pytest.mark.parametrize("more", ["failure", "status"])  # before and after machine
def test_where_a_table_says_more_about_individuals_links_go_to_the_one_they_are_of(tmp_path, more):
    rng, machines = np.random.default_rng(3), [f"M-{number}" for number in range(60)]
    broken = rng.random(60) < 0.4
    state = ["high" if each else "low" for each in rng.random(120) < 0.1 + 0.8 * broken.repeat(2)]
    twice = [(each, kind) for each in machines for kind in ("heat", "noise")]
    tables = {
        "machine": [("id", "oil"), *zip(machines, rng.choice(["a", "b"], 60), strict=True)],
        more: [("machine", "broken"), *zip(machines, holes(broken * 1, rng), strict=True)],
        "sensor": [
            ("machine", "kind", "state"),
            *((*who, each) for who, each in zip(twice, holes(state, rng), strict=True)),
        ],
    }
    for name, rows in tables.items():
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    draft = lifagu.draft(str(tmp_path))
    links = {str(link) for link in draft.found.links}
    assert links == {f"{more}.machine → machine", "sensor.machine → machine"}
    assert any("Broken" in pair and len(pair) == 2 for pair in pairs(draft))


def test_three_commands_lead_to_predictions_for_exactly_the_gaps(source, shop, tmp_path, capsys):
    path, template, report = source("sqlite"), tmp_path / "t.json", tmp_path / "draft.md"
    status, out, err = run_cli(capsys, "init", path, "--out", template, "--report", report)
    assert (status, err) == (0, "")
    assert "now: lifagu validate" in out
    status, out, _ = run_cli(capsys, "validate", template, "--json")
    scores = json.loads(out)
    assert status == 0
    assert scores["log_loss"] < scores["baseline"]["log_loss"] - 0.1
    assert set(scores["relations"]) == {"Age", "Size", "Taste", "Paid", "Noise"}
    assert run_cli(capsys, "impute", template, "--write")[0] == 0
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT DISTINCT variable FROM lifagu_marginals").fetchall()
    columns, customers = shop["customer"]
    gaps = {
        f"{columns[place].capitalize()}({row[0]})"
        for row in customers
        for place in range(2, 7)
        if row[place] is None
    }
    assert {name for (name,) in rows} == gaps
    text = report.read_text()
    for heading in ("What it understood", "Keys and links", "What next"):
        assert f"## {heading}" in text


def test_what_the_user_says_counts(source):
    path = source("sqlite")
    alone = lifagu.draft(path, links={"customer.town": None, "orders.customer": None})
    assert not alone.found.links
    some = lifagu.draft(path, predict=["paid"], leave_out=["customer.taste", "orders"], bins=4)
    assert [each.name for each in some.found.asked] == ["Paid"]
    template = json.loads(some.text())
    assert template.pop("drafted")["settings"]["leave_out"] == ["customer.taste", "orders"]
    assert "taste" not in json.dumps(template)
    assert some.found.skipped == {"orders": "you said so"}
    by_pair = lifagu.draft(path, keys={"customer": ["id", "town"]})
    assert by_pair.found.understood.subjects["customer"].key == ("id", "town")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": {"customer": ["town"]}}, "town cannot be the key of customer"),
        ({"keys": {"customer": ["taste"]}}, "taste has gaps"),
        ({"keys": {"costumer": ["id"]}}, "there is no table 'costumer'; did you mean"),
        ({"links": {"customer.town": "towns"}}, "there is no table 'towns'"),
        ({"links": {"customer.paid": "town"}}, "customer.paid names no row of town"),
        ({"leave_out": ["nobody"]}, "there is no table 'nobody'"),
        ({"predict": ["ages"]}, "there is no column or relation 'ages' to predict"),
        ({"bins": 1}, "bins is a whole number"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(source, settings, message):
    with pytest.raises(lifagu.LifaguError, match=message) as refused:
        lifagu.draft(source("sqlite"), **settings)
    assert "\n" not in str(refused.value)


def test_drafts_are_the_same_whatever_the_order_of_rows(shop, tmp_path):
    def written(name, turned):
        path = tmp_path / f"{name}.sqlite"
        tables = {
            table: (columns, rows[::-1] if turned else rows)
            for table, (columns, rows) in shop.items()
        }
        with closing(sqlite3.connect(path)) as connection:
            fill(connection, tables, True)
            connection.commit()
        return lifagu.draft(path).text().replace(f"{name}.sqlite", "shop.sqlite")

    assert written("one", False) == written("two", True)


def test_data_in_memory_is_drafted_and_asked(shop, source):
    frames = {
        name: {
            column: np.array(
                [np.nan if v is None and column == "age" else v for v in values],
                dtype=None if column in TYPES else object,
            )
            for column, values in zip(columns, zip(*rows, strict=True), strict=True)
        }
        for name, (columns, rows) in shop.items()
    }
    draft = lifagu.draft(frames)
    assert '"source"' not in draft.text()
    assert draft.validate(only=["Paid"]).log_loss < 0.68
    path = source("duckdb")
    with closing(duckdb.connect(path)) as connection:
        same = pairs(lifagu.draft(connection))
    assert same == pairs(lifagu.draft(path))


def test_where_nothing_is_missing_somebody_new_may_be_in_any_table(tmp_path):
    """Pupils point to schools, and have a key of their own; links between tables have none."""
    rng = np.random.default_rng(1)
    folder = tmp_path / "schools"
    folder.mkdir()
    kind = rng.random(20) < 0.5
    school = rng.integers(0, 20, 400)
    good = rng.random(400) < np.where(kind[school], 0.8, 0.3)
    tables = {
        "schools": [("school", "kind"), *((n, "old" if kind[n] else "new") for n in range(20))],
        "pupils": [("pupil", "school", "good"), *zip(range(400), school, good, strict=True)],
    }
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    relations = {each["name"] for each in json.loads(lifagu.draft(folder).text())["relations"]}
    assert {"Good", "Kind"} <= relations
