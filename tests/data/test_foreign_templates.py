"""A template that somebody else wrote takes nothing: no variable, no file, no password, no time."""

import json
import pickle
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import duckdb
import psycopg
import pytest

import lifagu
from lifagu.data.databases import opened
from lifagu.data.databases.time_limits import Clock, guard_of_sqlite
from lifagu.relational.source import Source, access_of
from lifagu.relational.template import Query
from support.helpers import mostly_full, run_cli
from support.naive import templates as naive
from support.small_hospital import SMALL, TABLES, changed, made, written

HUSH = "hush-hush-4711"


@contextmanager
def listener(asks_for_password=False):
    """A server that is no database: its port, and what it was sent so far."""
    got, connected = bytearray(), []

    def serve(door):
        while True:
            try:
                other, _ = door.accept()
            except OSError:
                return
            connected.append(other)
            with other:
                other.settimeout(5)
                while part := other.recv(4096):
                    got.extend(part)
                    if part[4:8] == struct.pack("!I", 80877103):  # may this be encrypted?
                        other.sendall(b"N")
                    elif asks_for_password and part[4:6] == b"\x00\x03":
                        other.sendall(b"R" + struct.pack("!II", 8, 3))  # your password, in clear
                    else:
                        break

    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=serve, args=(door,), daemon=True)
        thread.start()
        yield door.getsockname()[1], got, connected
        door.shutdown(socket.SHUT_RDWR)
    thread.join(5)


# ---- variables


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://eve:${AWS_SECRET}@127.0.0.1:PORT/wards",
        "postgresql://${AWS_SECRET}@127.0.0.1:PORT/wards",
        "postgresql://eve@127.0.0.1:PORT/${AWS_SECRET}",
        "postgresql://eve@127.0.0.1:PORT/wards?application_name=${AWS_SECRET}",
    ],
)
def test_a_template_takes_no_variable_by_itself(url, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AWS_SECRET", HUSH)
    with listener() as (port, got, connected):
        path = written(changed(source=url.replace("PORT", str(port))), tmp_path)
        for command in ("check", "impute"):
            status, out, err = run_cli(capsys, command, path)
            assert (status, out) == (2, "")
            assert "names ${AWS_SECRET}, which a template may not take by itself" in err
            assert err.endswith("; allow it with --env AWS_SECRET\n")
            assert len(err.splitlines()) == 1
        with pytest.raises(lifagu.FormatError, match='allow it with env={"AWS_SECRET": "…"}'):
            lifagu.open(path)
        assert not connected
        status, out, err = run_cli(capsys, "check", path, "--env", "AWS_SECRET")
        assert connected
        assert got
        assert (status, out) == (2, "")
        assert HUSH not in err
        with pytest.raises(lifagu.FormatError) as caught:
            lifagu.open(path, env={"AWS_SECRET": HUSH})
        assert HUSH not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://eve@${AWS_SECRET}.localhost:PORT/wards",
        "postgresql://eve@127.0.0.1:${AWS_SECRET}/wards",
        "postgresql://eve@${AWS_SECRET}/wards",
        "postgresql://${AWS_SECRET}",
        "postgresql://eve@/wards?host=${AWS_SECRET}&port=PORT",
        "postgresql://eve@/wards?host=127.0.0.1&hostaddr=${AWS_SECRET}&port=PORT",
        "postgresql://eve@127.0.0.1/wards?${AWS_SECRET}=1",
        "${AWS_SECRET}@127.0.0.1:PORT/wards",
        "${AWS_SECRET}.db",
    ],
)
def test_no_variable_says_where_a_server_is(url, tmp_path, capsys, monkeypatch):
    with listener() as (port, _, connected):
        path = written(changed(source=url.replace("PORT", str(port))), tmp_path)
        for value in (HUSH, f"postgresql://eve:{HUSH}"):
            monkeypatch.setenv("AWS_SECRET", value)
            status, out, err = run_cli(capsys, "check", path, "--env", "AWS_SECRET")
            assert (status, out) == (2, "")
            assert HUSH not in err
            assert f"{path}:3: source: " in err
        assert not connected


def test_the_password_of_the_environment_goes_to_no_foreign_server(tmp_path, monkeypatch):
    """`PGPASSWORD` is sent by PostgreSQL's own library to whoever asks."""
    monkeypatch.setenv("PGPASSWORD", HUSH)
    with listener(asks_for_password=True) as (port, got, connected):
        path = written(changed(source=f"postgresql://eve@127.0.0.1:{port}/wards"), tmp_path)
        with pytest.raises(lifagu.FormatError, match='allow it with env={"PGPASSWORD": "…"}'):
            lifagu.open(path)
        assert connected
        assert HUSH.encode() not in got
        with pytest.raises(lifagu.FormatError) as caught:
            lifagu.open(path, env={"PGPASSWORD": HUSH})
        assert HUSH.encode() in got
        assert HUSH not in str(caught.value)
        del got[:]
        with pytest.raises(lifagu.FormatError):
            lifagu.open(path, database=f"postgresql://eve@127.0.0.1:{port}/wards")
        assert HUSH.encode() in got  # who names a server oneself means it


def test_nothing_of_ones_own_goes_to_a_server_that_a_template_names(tmp_path, monkeypatch):
    """PostgreSQL's library takes much from the environment and the home folder by itself."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in (home / ".pgpass", tmp_path / "passwords"):
        name.write_text(f"*:*:*:*:{HUSH}\n")
        name.chmod(0o600)
    (home / ".postgresql").mkdir()
    (home / ".postgresql/postgresql.crt").write_text(HUSH)  # which would be read and refused
    sent = {"PGUSER": "me", "PGAPPNAME": "my-tool", "PGOPTIONS": "-cgeqo=off", "PGDATABASE": "mine"}
    sent |= {"PGCLIENTENCODING": "latin1"}
    for name, value in {**sent, "PGSSLCERT": HUSH, "PGREQUIREAUTH": "none"}.items():
        monkeypatch.setenv(name, value)
    for passfile in (None, str(tmp_path / "passwords")):
        if passfile is not None:
            monkeypatch.setenv("PGPASSFILE", passfile)
        with listener(asks_for_password=True) as (port, got, connected):
            url = f"postgresql://eve@127.0.0.1:{port}/"
            path = written(changed(source=url), tmp_path)
            with pytest.raises(lifagu.FormatError, match="no password supplied"):
                lifagu.open(path)
            assert connected
            assert b"user\0eve\0" in got
            assert not [each for each in (HUSH, *sent.values()) if each.encode() in got]
            del got[:]
            monkeypatch.delenv("PGREQUIREAUTH", raising=False)
            monkeypatch.delenv("PGSSLCERT", raising=False)
            (home / ".postgresql/postgresql.crt").unlink(missing_ok=True)
            with pytest.raises(lifagu.FormatError):
                lifagu.open(path, database=url)
            assert all(each.encode() in got for each in (HUSH, "my-tool", "-cgeqo=off", "mine"))


@pytest.mark.parametrize("variable", ["PGSERVICE", "PGTZ", "PGDATESTYLE", "PGGEQO"])
def test_what_is_sent_whatever_one_says_is_refused(variable, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "mine")
    with listener() as (port, _, connected):
        path = written(changed(source=f"postgresql://eve@127.0.0.1:{port}/wards"), tmp_path)
        told = f"{variable} is set, which would be sent .*; unset it; if it is meant so, name"
        with pytest.raises(lifagu.FormatError, match=told):
            lifagu.open(path)
        assert not connected


@pytest.mark.parametrize("url", ["PLACE/wards", "PLACE/wards?user=", ":secret@PLACE/wards"])
def test_a_server_that_a_template_names_is_not_told_who_asks(url, tmp_path):
    with listener() as (port, _, connected):
        place = f"postgresql://{url.replace('PLACE', f'127.0.0.1:{port}')}"
        with pytest.raises(lifagu.FormatError, match="source: the URL names no user, and yours"):
            lifagu.open(written(changed(source=place), tmp_path))
        assert not connected
        with pytest.raises(lifagu.FormatError):
            lifagu.open(written(SMALL, tmp_path), database=f"postgresql://127.0.0.1:{port}/wards")
        assert connected


def test_settings_of_a_url_that_hand_on_files_are_refused(tmp_path, capsys):
    with listener() as (port, _, connected):
        for setting in (
            "passfile=/tmp/mine",
            "service=mine",
            "sslkeylogfile=/tmp/keys",
            "sslcert=/tmp/mine",
            "require_auth=gss",
            "pass%66ile=x",
        ):
            url = f"postgresql://eve@127.0.0.1:{port}/wards?{setting}"
            status, _, err = run_cli(capsys, "check", written(changed(source=url), tmp_path))
            assert status == 2
            assert "the URL has a setting that names your files or what proves who you are" in err
        assert not connected


def test_allowed_variables_are_shown_nowhere(tmp_path, monkeypatch, capsys):
    (tmp_path / HUSH).mkdir()
    made("duckdb", TABLES, tmp_path / HUSH)
    made("csv", TABLES, tmp_path / HUSH)
    monkeypatch.setenv("DATA", HUSH)
    for source in ("${DATA}/data.duckdb", "${DATA}/data-csv"):
        path = written(changed(source=source), tmp_path)
        case = lifagu.open(path, env={"DATA": HUSH})
        assert HUSH not in repr(case) + repr(case.opened) + repr(case.opened.given.source)
        assert pickle.loads(pickle.dumps(case.opened.given.source)) == case.opened.given.source
        for command in (["check"], ["impute", "--json"]):
            status, out, err = run_cli(capsys, *command, path, "--env", "DATA")
            assert status == 0, err
            assert HUSH not in out + err
    for source in ("${DATA}/none.duckdb", "${DATA}/none.csv", "${DATA}/", "${DATA}", "${DATA}.x"):
        path = written(changed(source=source), tmp_path)
        status, _, err = run_cli(capsys, "check", path, "--env", "DATA")
        assert status == 2
        assert str(path) in err
        assert HUSH not in err
    broken = tmp_path / HUSH / "broken.csv"
    broken.write_bytes(b"a,b\n1,\xff\xfe\n")
    path = written(changed(source="${DATA}/broken.csv"), tmp_path)
    status, _, err = run_cli(capsys, "check", path, "--env", "DATA")
    assert status == 2
    assert HUSH not in err
    status, _, err = run_cli(capsys, "check", path, "--env", "NONE_OF_THESE")
    assert status == 2
    assert "--env NONE_OF_THESE: the environment variable is not set" in err


# ---- malformed URLs

MALFORMED = [
    f"postgresql://eve:12/{HUSH}@127.0.0.1:1/wards",
    f"postgresql://eve:{HUSH}@@127.0.0.1:1/wards",
    f"postgresql://eve:{HUSH}#@127.0.0.1:1/wards",
    f"postgresql://eve:12?{HUSH}@127.0.0.1:1/wards",
    f"postgresql://eve:12#{HUSH}@127.0.0.1:1/wards",
    f"postgresql://eve:{HUSH}@[127.0.0.1:1/wards",
    f"postgresql://eve:{HUSH}@127.0.0.1:x/wards",
    f"postgresql://eve:\n{HUSH}@127.0.0.1:1/wards",
    f"postgresql://eve:{HUSH}@127.0.0.1:/wards",
    f"postgresql://eve:{HUSH}]wards[::1]",
    f"postgresql:/eve:{HUSH}@127.0.0.1/wards",
    f"postgresql:eve:{HUSH}@127.0.0.1/wards.db",
    f"eve:{HUSH}@127.0.0.1/wards",
    f"eve:{HUSH}@127.0.0.1/wards.csv",
    f"host=127.0.0.1 user=eve password={HUSH}",
    f"postgresql://eve@127.0.0.1:1/wards;password={HUSH}",
    f"{HUSH}://eve@127.0.0.1/wards",
    f"sqlite://eve:{HUSH}@127.0.0.1/wards",
    f"sqlite:///eve:{HUSH}@127.0.0.1/wards",
    f"postgresql://eve@127.0.0.1:1/wards?{HUSH}={HUSH}",
    f"postgresql://eve@127.0.0.1:1/wards?sslpassword={HUSH}&connect_timeout={HUSH}",
]


@pytest.mark.parametrize("url", mostly_full(MALFORMED, always=MALFORMED[::2]))
def test_malformed_urls_are_not_repeated(url, tmp_path, capsys):
    path = written(changed(source=url), tmp_path)
    (tmp_path / "own").mkdir()
    own = written(SMALL, tmp_path / "own")
    for arguments in (["check", path], ["check", own, "--db", url], ["init", url]):
        status, out, err = run_cli(capsys, *arguments)
        assert (status, out) == (2, ""), err
        assert HUSH not in err, err
        assert len(err.splitlines()) == 1
    for refused in (lambda: lifagu.open(path), lambda: lifagu.io.check_database(url)):
        with pytest.raises(lifagu.FormatError) as caught:
            refused()
        assert HUSH not in str(caught.value) + repr(caught.value)
    told = run_cli(capsys, "check", path)[2]
    assert f"{path}:3: source" in told or "invalid URI query parameter" in told


# ---- files


def test_links_lead_to_data_only(tmp_path):
    """A folder that somebody sent may hold links to whatever you can read."""
    (tmp_path / "sent").mkdir()
    (tmp_path / "id_rsa").write_text("id,ward,test\nhush,w1,true\n")
    (tmp_path / "patients.csv").write_text("id,ward,test\nann,w1,true\n")
    template = changed(
        source="sent.csv",
        tables={"phi": [9, 1, 2, 8]},
        domains={"Patient": {"sql": "SELECT id FROM sent"}},
        parfactors=[{"name": "t", "args": ["Sick(I)", "Test(I)"], "table": "phi"}],
        evidence={},
    )
    link = tmp_path / "sent" / "sent.csv"
    link.symlink_to(tmp_path / "id_rsa")
    path = written(template, tmp_path / "sent")
    for source in ("sent.csv", ".", {"files": {"sent": "sent.csv"}}):
        path = written({**template, "source": source}, tmp_path / "sent")
        with pytest.raises(lifagu.FormatError, match="leads to something else than data"):
            lifagu.open(path)
    assert len(lifagu.open(path, database=str(link)).model.factor_names) == 1
    link.unlink()
    link.symlink_to(tmp_path / "patients.csv")
    assert len(lifagu.open(path).model.factor_names) == 1


REACHING = [
    "SELECT * FROM read_csv('{0}')",
    "SELECT * FROM '{0}'",
    "SELECT column0 AS id FROM read_csv('{0}', header = false)",
    "SELECT content AS id FROM read_text('{0}')",
    "SELECT content AS id FROM read_blob('{0}')",
    "SELECT file AS id FROM glob('{1}/*')",
    "SELECT * FROM sniff_csv('{0}')",
    "SELECT * FROM 'http://127.0.0.1:{2}/x.csv'",
    "SELECT * FROM read_text('http://127.0.0.1:{2}/' || 'hush')",
    "SELECT * FROM query('SELECT * FROM read_text(''{0}'')')",
    "SELECT * FROM query_table(['{0}'])",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = '{1}/logged')",
    "COPY (SELECT 1) TO '{1}/out.csv'",
    "ATTACH '{1}/other.db' AS other",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "SELECT 1; SET enable_external_access = true",
]


@pytest.mark.parametrize("sql", mostly_full(REACHING, always=REACHING[::2]))
def test_queries_reach_no_file_and_no_address(sql, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    secret = own / "secret.csv"
    secret.write_text("id\nhush\n")
    before = sorted(own.iterdir())
    with listener() as (port, _, connected):
        query = Query(sql.format(secret, own, port), "here")
        sources = [made("duckdb", TABLES, tmp_path), made("csv", TABLES, tmp_path)]
        with duckdb.connect() as lent:
            for source in (*sources, made("sqlite", TABLES, tmp_path), lent):
                with (
                    opened(Source(source)) as database,
                    pytest.raises(lifagu.FormatError, match=r"^here: "),
                ):
                    list(database.batches(query))
            assert lent.execute("SELECT current_setting('enable_external_access')").fetchone()[0]
        assert not connected
    assert sorted(own.iterdir()) == before


def test_what_a_lent_duckdb_offers_may_be_read(tmp_path):
    (tmp_path / "x.csv").write_text("id\nann\n")
    with duckdb.connect() as lent:
        lent.execute(f"CREATE VIEW seen AS FROM read_csv('{tmp_path}/x.csv')")
        lent.execute(f"CREATE MACRO seen_by() AS TABLE FROM read_csv('{tmp_path}/x.csv')")
        lent.execute('CREATE SCHEMA "a b"; CREATE TABLE "a b"."x.csv" AS SELECT \'bob\' AS id')
        for sql, found in (
            ("SELECT id FROM seen", "ann"),
            ("WITH w AS (FROM seen_by()) SELECT id FROM w", "ann"),
            ('SELECT id FROM "A B"."x.csv"', "bob"),
            (
                'SELECT id FROM memory."a b"."x.csv" WHERE (SELECT max(n) FROM range(3) r(n)) = 2',
                "bob",
            ),
        ):
            with opened(Source(lent)) as database:
                ((cells,),) = database.batches(Query(sql, "here"))
                assert cells.texts() == [found]
        reading = Query(f"SELECT id FROM '{tmp_path}/x.csv'", "here")
        with (
            opened(Source(lent)) as database,
            pytest.raises(lifagu.FormatError, match="make it a view"),
        ):
            database.columns(reading)
        trusting = Source(lent, access=access_of(None, 300, trust_role=True))
        with opened(trusting) as database:
            assert database.columns(reading) == ["id"]


def test_sqlite_files_are_locked(tmp_path):
    """Neither a query nor a view in the file itself opens another one or writes."""
    address = made("sqlite", TABLES, tmp_path)
    before = sorted(tmp_path.iterdir())
    with opened(Source(address)) as database:
        for sql in (
            f"ATTACH '{tmp_path}/new.db' AS n",
            f"/* SELECT */ ATTACH '{tmp_path}/new.db' AS n",
            f"/* */ VACUUM INTO '{tmp_path}/new.db'",
            "-- \nPRAGMA query_only = 0",
            "SELECT load_extension('x')",
            "SELECT fts3_tokenizer('simple')",
            "/* */ CREATE TEMP TABLE t AS SELECT 1 AS id",
        ):
            with pytest.raises(lifagu.FormatError):
                database.columns(Query(sql, "here"))
            with pytest.raises(lifagu.FormatError):
                list(database.batches(Query(sql, "here")))
    assert sorted(tmp_path.iterdir()) == before


# ---- time

ENDLESS = {
    "duckdb": "SELECT count(*) AS id FROM range(10000000000) a, range(100000) b",
    "sqlite": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) "
    "SELECT count(*) AS id FROM t",
    "postgresql": "SELECT count(*) AS id FROM generate_series(1, 10000000000) a, "
    "generate_series(1, 100000) b",
}


@pytest.fixture(params=["duckdb", "sqlite", "postgresql", "lent duckdb"])
def slow(request, tmp_path):
    """A database of a kind, and a query for it that would take years."""
    lent, kind = request.param.startswith("lent"), request.param.split()[-1]
    if kind == "postgresql":
        address = naive.in_postgresql(TABLES, request.getfixturevalue("new_database")())
    else:
        address = made(kind, TABLES, tmp_path)
    if not lent:
        yield address, ENDLESS[kind]
        return
    with duckdb.connect(address) as connected:
        yield connected, ENDLESS[kind]
        assert connected.execute("SELECT count(*) FROM patients").fetchone() == (4,)


def test_queries_end(slow, tmp_path):
    database, sql = slow
    path = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
    with pytest.raises(lifagu.TooLargeError) as caught:
        lifagu.open(path, database=database, query_timeout=0.2)  # else it would not end
    told = str(caught.value)
    assert told.startswith(f"{path}:5: domains.Patient: the query takes more than 0.2 s; it is: ")
    assert told.endswith("give a larger query_timeout")
    kept = changed()
    lifagu.open(written(kept, tmp_path), database=database, query_timeout=60)


class OnABusyMachine(Clock):
    """A clock that begins late, or a query that begins late after it."""

    late = "clock"

    @contextmanager
    def running(self):
        time.sleep(0.05 if self.late == "clock" else 0)
        with super().running():
            time.sleep(0.05 if self.late == "query" else 0)
            yield


@pytest.mark.parametrize("late", ["clock", "query"])
def test_a_query_that_its_time_has_ended_is_not_called_anything_else(late):
    with closing(sqlite3.connect(":memory:")) as connected:
        guard, clock = guard_of_sqlite(connected), OnABusyMachine(0.01)
        clock.late = late
        with pytest.raises(lifagu.TooLargeError, match="takes more than 0.01 s"), guard(clock):
            connected.execute(ENDLESS["sqlite"])
        with guard(OnABusyMachine(60)):
            assert connected.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("kind", ["duckdb", "csv", "lent duckdb"])
def test_deep_queries_do_not_reach_a_parser_that_takes_gigabytes_for_them(kind, tmp_path):
    with ExitStack() as held:
        source = made(kind.split()[-1], TABLES, tmp_path)
        if kind.startswith("lent"):
            source = held.enter_context(duckdb.connect(source))
        database = held.enter_context(opened(Source(source)))
        for sql in ("WHERE " + "(" * 2000, "`(`" + "[" * 150 + "1" + "]" * 150, "$$)$$ (" * 101):
            with pytest.raises(lifagu.FormatError, match="^here: the query fails: nested too deep"):
                database.columns(Query(f"SELECT id FROM patients {sql}", "here"))
        texts = (
            f"SELECT id AS \"{'(' * 200}\" FROM patients WHERE id <> '{'(' * 200}' -- {'[' * 200}"
        )
        assert database.columns(Query(texts, "here")) == ["(" * 200]
        wide = " OR ".join(["((1) = (1))"] * 200)
        assert database.columns(Query(f"SELECT id FROM patients WHERE {wide}", "here")) == ["id"]


def test_the_time_of_rows_that_come_bit_by_bit_counts_as_well(new_database):
    """The server makes rows only when they are fetched; each fetch alone would be quick."""
    sql = "SELECT n AS id FROM generate_series(1, 400000) n WHERE pg_sleep(0.000001) IS NOT NULL"
    source = Source(new_database(), access=access_of(None, 1, trust_role=False))
    with opened(source) as database, pytest.raises(lifagu.TooLargeError, match="more than 1 s"):
        list(database.batches(Query(sql, "here")))


def test_a_stricter_limit_of_the_server_stays(new_database):
    url = f"{new_database()}?options=-cstatement_timeout%3D1000"
    off = "SELECT set_config('statement_timeout', '0', false) AS id"
    with opened(Source(url)) as database:
        list(database.batches(Query(off, "here")))
        with pytest.raises(lifagu.FormatError, match="statement timeout"):
            list(database.batches(Query(ENDLESS["postgresql"], "here")))


def test_no_limit_by_option(tmp_path, capsys):
    made("duckdb", TABLES, tmp_path)
    path = written(SMALL, tmp_path)
    for text in ("0", "none", "12.5"):
        assert run_cli(capsys, "check", path, "--query-timeout", text)[0] == 0
    for text in ("-1", "soon", "nan", "inf"):
        assert run_cli(capsys, "check", path, "--query-timeout", text)[0] == 2
    for wrong in (-1, "5", True):
        with pytest.raises(lifagu.ModelError, match="query_timeout is a number"):
            lifagu.open(path, query_timeout=wrong)
    made("sqlite", TABLES, tmp_path)
    slow = written(
        changed(source="data.sqlite", domains={"Patient": {"sql": ENDLESS["sqlite"]}}), tmp_path
    )
    status, _, err = run_cli(capsys, "check", slow, "--query-timeout", "0.1")
    assert status == 4
    assert err.endswith("narrow the query, or raise --query-timeout (0: no limit)\n")


# ---- memory

MANY = {
    "duckdb": "SELECT range AS id FROM range(100000000)",
    "sqlite": "WITH RECURSIVE t(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM t LIMIT 200000) "
    "SELECT n AS id FROM t",
}


@pytest.mark.parametrize("kind", MANY)
def test_rows_keep_within_the_memory_limit(kind, tmp_path):
    address = made(kind, TABLES, tmp_path)
    path = written(changed(domains={"Patient": {"sql": MANY[kind]}}), tmp_path)
    with pytest.raises(lifagu.TooLargeError) as caught:
        lifagu.open(path, database=address, memory_limit=2**24)
    told = str(caught.value)
    assert told.startswith(f"{path}:5: domains.Patient: the ")
    assert told.count("domains.Patient") == 1
    assert told.endswith("give a larger memory_limit, or use a machine with more memory")
    lifagu.open(written(changed(), tmp_path), database=address, memory_limit=2**24)


LONG = [
    "SELECT hex(zeroblob(400000000)) AS id",
    "WITH RECURSIVE t(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM t LIMIT 1000) "
    "SELECT hex(zeroblob(4000000)) AS id FROM t",
]


@pytest.mark.parametrize("sql", LONG)
def test_long_values_keep_within_the_memory_limit(sql, tmp_path):
    made("sqlite", TABLES, tmp_path)
    path = written(changed(source="data.sqlite", domains={"Patient": {"sql": sql}}), tmp_path)
    program = (
        "import lifagu, resource, sys\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: lifagu.open(sys.argv[1], memory_limit=2**26)\n"
        "except lifagu.TooLargeError as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    told, within = done.stdout.splitlines()
    assert told.startswith(f"{path}:5: domains.Patient: ")
    assert told.endswith("give a larger memory_limit, or use a machine with more memory")
    assert within == "True"


def test_small_files_of_many_rows_keep_within_the_memory_limit(tmp_path):
    many = tmp_path / "many.parquet"
    with duckdb.connect() as connected:
        connected.execute(f"COPY (SELECT 1 AS id FROM range(100000000)) TO '{many}'")
    assert many.stat().st_size < 2**20
    sql = {"sql": "SELECT id FROM many"}
    path = written(changed(source=many.name, domains={"Patient": sql}), tmp_path)
    with pytest.raises(lifagu.TooLargeError, match="the memory does not suffice"):
        lifagu.open(path, memory_limit=2**24)


@pytest.mark.parametrize("kind", mostly_full(ENDLESS, always=["sqlite"]))
def test_ctrl_c_ends_a_long_query(kind, tmp_path, request):
    if kind == "postgresql":
        address = naive.in_postgresql(TABLES, request.getfixturevalue("new_database")())
    else:
        address = made(kind, TABLES, tmp_path)
    path = written(changed(domains={"Patient": {"sql": ENDLESS[kind]}}), tmp_path)
    program = """
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from lifagu.cli import main
        from lifagu.data.databases import queries
        was = queries.plain
        def plain(sql):
            sys.stderr.write("asking\\n")
            sys.stderr.flush()
            return was(sql)
        from lifagu.data.databases import served, duckdb_files
        served.plain = duckdb_files.plain = plain
        sys.exit(main(["check", sys.argv[1], "--db", sys.argv[2]]))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(path), address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        try:
            for _ in range(2):  # its columns, and its rows
                assert child.stderr.readline() == "asking\n"
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 130, err
    assert err.replace("asking\n", "") == "error: interrupted; nothing was half-written\n"


# ---- roles


def test_no_template_runs_as_a_superuser(tmp_path, new_database, as_superuser, capsys):
    url = naive.in_postgresql(TABLES, new_database())
    path, own = written(SMALL, tmp_path), as_superuser(url)
    expected = lifagu.open(path, database=url).model
    status, out, err = run_cli(capsys, "check", path, "--db", own)
    assert (status, out) == (2, "")
    assert "the role 'lifagu' is a superuser" in err
    assert "CREATE ROLE reader LOGIN IN ROLE pg_read_all_data" in err
    assert "--trust-role" in err
    assert own.split(":")[2].partition("@")[0] not in err
    assert run_cli(capsys, "check", path, "--db", own, "--trust-role")[0] == 0
    with pytest.raises(lifagu.FormatError, match="is a superuser"):  # a query could go back
        lifagu.open(path, database=f"{own}?options=-crole%3Dordinary")
    assert lifagu.open(path, database=own, trust_role=True).model == expected
    with pytest.raises(lifagu.ModelError, match="no column is left"):
        lifagu.draft(own)  # whose queries are its own


def test_no_template_runs_as_who_reads_files_of_the_server(tmp_path, new_database, as_superuser):
    url = naive.in_postgresql(TABLES, new_database())
    path = written(SMALL, tmp_path)
    with psycopg.connect(as_superuser(url), autocommit=True) as connected:
        for power in ("pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"):
            connected.execute(f"GRANT {power} TO ordinary")
            with pytest.raises(lifagu.FormatError, match=f"is a member of {power}"):
                lifagu.open(path, database=url)
            connected.execute(f"REVOKE {power} FROM ordinary")
        lifagu.open(path, database=url)
        connected.execute("CREATE EXTENSION dblink")
        with pytest.raises(lifagu.FormatError, match="may call dblink"):
            lifagu.open(path, database=url)
        lifagu.open(path, database=url, trust_role=True)


def test_reading_a_server_cannot_be_made_writing(new_database):
    url = naive.in_postgresql(TABLES, new_database())
    for sql in (
        "SELECT set_config('transaction_read_only', 'off', true) AS id",
        "SELECT lo_import('/etc/passwd') AS id",
        "SELECT pg_read_file('/etc/passwd') AS id",
        "SELECT query_to_xml('DELETE FROM patients', true, true, '') AS id",
    ):
        with opened(Source(url)) as database, pytest.raises(lifagu.FormatError, match="^here: "):
            list(database.batches(Query(sql, "here")))
    with psycopg.connect(url) as connected:
        assert connected.execute("SELECT count(*) FROM patients").fetchone() == (4,)


def test_results_are_written_by_a_role_that_is_not_trusted_to_read(
    tmp_path, new_database, as_superuser
):
    own = as_superuser(naive.in_postgresql(TABLES, new_database()))
    path = written(changed(source=own), tmp_path)
    case = lifagu.open(path, trust_role=True)
    case.impute(write=True)
    with psycopg.connect(own) as connected:
        assert connected.execute("SELECT count(*) FROM lifagu_marginals").fetchone()[0] > 0
    assert json.loads(path.read_text())["source"] == own
