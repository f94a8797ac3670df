"""Many tables, columns and rows: drafts stay quick and small, and what they write can be used."""

import resource
import subprocess
import sys
from contextlib import closing
from random import Random

import duckdb
import pytest

from support.drafts import Table, made, walked
from support.odd_databases import ID, hole


def cells(r, many):
    return [hole(r, r.choice("uvw")) if n % 2 else hole(r, r.gauss(0, 1)) for n in range(many)]


def kinds(many):
    return {f"c{n}": "TEXT" if n % 2 else "DOUBLE PRECISION" for n in range(many)}


def many_tables(many):
    r, found = Random(1), {}
    for place in range(many):
        link = {f"t{r.randrange(place)}_id": "INTEGER"} if place else {}
        rows = [(n, *(r.randrange(60) for _ in link), *cells(r, 8)) for n in range(60)]
        found[f"t{place}"] = Table({**ID, **link, **kinds(8)}, rows)
    return found


def test_many_tables(tmp_path):
    found = walked(made("sqlite", tmp_path, many_tables(20)), tmp_path, steps=["check"])
    assert not found.error
    assert len(found.asked) == 160


@pytest.mark.full
def test_a_hundred_tables(tmp_path):
    found = walked(made("sqlite", tmp_path, many_tables(100)), tmp_path)
    assert not found.error
    assert len(found.asked) == 800


@pytest.mark.full
def test_a_thousand_columns(tmp_path):
    r = Random(2)
    rows = [(n, *cells(r, 1000)) for n in range(400)]
    tables = {"w": Table({**ID, **kinds(1000)}, rows)}
    found = walked(made("duckdb", tmp_path, tables), tmp_path, steps=["check"])
    assert not found.error
    assert len(found.asked) == 1000


def large(path, rows):
    """A parent of 100,000 rows, and rows that are like theirs; 20 % and 10 % gaps."""
    with closing(duckdb.connect(str(path))) as connected:
        connected.execute(
            "CREATE TABLE parent AS SELECT i AS id, ['u', 'v', 'w'][1 + (hash(i) % 3)::INT] AS k "
            "FROM range(100000) AS t(i)"
        )
        connected.execute(
            "CREATE TABLE child AS SELECT i AS id, hash(i * 3) % 100000 AS parent_id, "
            "CASE WHEN hash(i * 5) % 10 < 2 THEN NULL WHEN hash(i * 11) % 10 < 8 THEN p.k "
            "ELSE 'u' END AS a, ['x', 'y'][1 + (hash(i * 17) % 2)::INT] AS b, "
            "CASE WHEN hash(i * 23) % 10 < 1 THEN NULL ELSE (hash(i * 29) % 10000) / 7.0 END AS y, "
            "DATE '2015-01-01' + (hash(i * 31) % 2000)::INT AS d "
            f"FROM range({rows}) AS t(i) JOIN parent AS p ON p.id = hash(i * 3) % 100000"
        )


@pytest.mark.full
def test_ten_million_rows(tmp_path):
    large(tmp_path / "large.duckdb", 10_000_000)
    words = ["init", str(tmp_path / "large.duckdb"), "--out", str(tmp_path / "t.json"), "--quiet"]
    subprocess.run([sys.executable, "-m", "lifagu", *words], check=True, timeout=300)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used < 2 * 2**20  # kilobytes
    found = walked(str(tmp_path / "large.duckdb"), tmp_path, steps=["validate"])
    assert not found.error
    assert found.validation["relations"]["A"]["gain"]["log_loss"] > 0.3
