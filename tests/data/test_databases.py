"""Databases: reading never changes them, results are written whole or not at all, secrets stay."""

import json
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pytest

import lifagu
from lifagu.basics.columns import Lists, Nullable, NumberedTexts, texts
from lifagu.data.databases import opened
from lifagu.data.duck import Duck
from lifagu.errors import BusyError
from lifagu.relational.source import Source
from lifagu.relational.template import Query
from support.helpers import run_cli
from support.naive import templates as naive
from support.small_hospital import SMALL, TABLES, changed, made, written

RESULTS = {
    "lifagu_one": {
        "id": np.arange(3),
        "share": np.array([0.5, np.nan, 1.0]),
        "tie": np.array([True, False, True]),
        "factor": texts(["it's", "b%s", "line\nand\ttab"]),
        "donor": texts(["a"], np.array([0, -1, 0])),
        "table_id": Nullable(np.array([4, -1, 0])),
        "name": NumberedTexts("x", np.array([7, 8, 9])),
        "potentials": Lists(np.array([0, 2, 2, 3]), np.array([1.5, 2.0, 3.0])),
        "words": Lists(np.array([0, 1, 1, 3]), texts(["a", 'b"', "c,"])),
    },
    "lifagu_two": {"id": np.arange(0)},
}
ROWS = [
    (0, 0.5, True, "it's", "a", 4, "x7", [1.5, 2.0], ["a"]),
    (1, None, False, "b%s", None, None, "x8", None, None),
    (2, 1.0, True, "line\nand\ttab", "a", 0, "x9", [3.0], ['b"', "c,"]),
]


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def database(request, tmp_path):
    """A database with the small hospital, and a table of an earlier result."""
    if request.param == "postgresql":
        address = naive.in_postgresql(TABLES, request.getfixturevalue("new_database")())
    else:
        address = made(request.param, TABLES, tmp_path)
    lifagu.io.write_results(address, {"one": {"old": np.array([7])}})
    run(address, "CREATE TABLE rows (mine INTEGER)", "INSERT INTO rows VALUES (1)")
    return address


def run(address, *statements):
    """Run statements with the driver itself; the rows of the last one."""
    if address.startswith("postgresql:"):
        with psycopg.connect(address) as connected:
            for statement in statements:
                found = connected.execute(statement)
            return found.fetchall() if found.description else []
    connected = duckdb.connect(address) if address.endswith("duckdb") else sqlite3.connect(address)
    try:
        for statement in statements:
            found = connected.execute(statement).fetchall()
        connected.commit() if address.endswith("sqlite") else None
        return found
    finally:
        connected.close()


def tables_in(address):
    """All tables with all their rows."""
    listing = "SELECT name FROM sqlite_master WHERE type = 'table'"
    if not address.endswith("sqlite"):
        listing = (
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema IN ('public', 'main')"
        )
    return {name: run(address, f'SELECT * FROM "{name}"') for (name,) in run(address, listing)}


def test_results_are_written_and_nothing_else(database):
    before = tables_in(database)
    lifagu.io.check_database(database)
    assert tables_in(database) == before
    for _ in range(2):
        lifagu.io.write_results(database, RESULTS)
        after = tables_in(database)
        found = [
            tuple(json.loads(each) if str(each)[:1] == "[" else each for each in row)
            if "sqlite" in database
            else row
            for row in after.pop("lifagu_one")
        ]
        assert found == ROWS
        assert after.pop("lifagu_two") == []
        assert after == {name: rows for name, rows in before.items() if name != "lifagu_one"}


def test_types_of_results(new_database):
    url = new_database()
    lifagu.io.write_results(url, RESULTS)
    listed = run(
        url,
        "SELECT column_name, data_type FROM information_schema.columns "
        "WHERE table_name = 'lifagu_one'",
    )
    assert dict(listed) == {
        **dict.fromkeys(["id", "table_id"], "bigint"),
        **dict.fromkeys(["factor", "donor", "name"], "text"),
        **dict.fromkeys(["potentials", "words"], "ARRAY"),
        "share": "double precision",
        "tie": "boolean",
    }


class Failing(dict):
    """Tables of which the last cannot be had when they are written."""

    asked = 0

    def items(self):
        self.asked += 1
        for number, item in enumerate(super().items()):
            if self.asked == 2 and number == 2:
                raise RuntimeError("no more")
            yield item


def test_a_failure_leaves_all_as_it_was(database):
    before = tables_in(database)
    with pytest.raises(RuntimeError, match="no more"):
        lifagu.io.write_results(database, Failing({**RESULTS, "lifagu_last": {"a": np.arange(2)}}))
    assert tables_in(database) == before


@pytest.mark.parametrize("when", ["killed", "interrupted"])
def test_a_process_that_dies_midway_leaves_all_as_it_was(when, database):
    before = tables_in(database)
    program = textwrap.dedent(
        """
        import os, signal, sys
        import numpy as np
        import lifagu

        class Tables(dict):
            seen = 0
            def items(self):
                self.seen += 1
                for number, item in enumerate(super().items()):
                    # the second time, two tables are written already
                    if self.seen == 2 and number == 2:
                        sys.stderr.write("midway")
                        sys.stderr.flush()
                        os.kill(os.getpid(), int(sys.argv[2]))
                    yield item

        many = {"id": np.arange(50_000), "share": np.random.default_rng(0).random(50_000)}
        tables = Tables(lifagu_one=many, lifagu_new=many, lifagu_last=many)
        lifagu.io.write_results(sys.argv[1], tables)
        """
    )
    how = signal.SIGKILL if when == "killed" else signal.SIGINT
    command = [sys.executable, "-c", program, database, str(int(how))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("midway"), done.stderr
    assert done.returncode not in (0, 2)
    assert tables_in(database) == before
    lifagu.io.write_results(database, RESULTS)
    assert set(tables_in(database)) == {*before, "lifagu_two"}


def test_names_of_results_are_checked(database):
    before = tables_in(database)
    for name in (
        "lifagu_x; DROP TABLE patients",
        'lifagu_"x',
        "lifagu_X",
        "Lifagu_x",
        "lifagu_" + "x" * 70,
    ):
        with pytest.raises(lifagu.FormatError, match="is no name of a result table"):
            lifagu.io.write_results(database, {name: {"a": np.arange(1)}})
    for column in ('a"b', "a b", "", "1a"):
        with pytest.raises(lifagu.FormatError, match="is no name of a column"):
            lifagu.io.write_results(database, {"lifagu_x": {column: np.arange(1)}})
    with pytest.raises(lifagu.FormatError, match="has no columns"):
        lifagu.io.write_results(database, {"lifagu_x": {}})
    assert tables_in(database) == before


WRITING = [
    "DELETE FROM patients",
    "SELECT 1; DELETE FROM patients",
    "WITH gone AS (DELETE FROM patients RETURNING id) SELECT id FROM gone",
    "DELETE FROM patients RETURNING id",
    "SELECT 1 AS id INTO made",
    "CREATE TABLE made AS SELECT 1 AS id",
    "/* SELECT */ DELETE FROM patients RETURNING id",
    "ATTACH 'other.db' AS other",
]


@pytest.mark.parametrize("sql", WRITING)
def test_queries_cannot_write(sql, database, tmp_path):
    before = tables_in(database)
    path = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
    with pytest.raises(
        lifagu.FormatError, match="domains.Patient: (this is not one query|the query fails)"
    ):
        lifagu.io.load(path, database)
    assert tables_in(database) == before
    assert not list(tmp_path.glob("other*"))


def test_reading_leaves_files_byte_for_byte(tmp_path):
    for kind in ("duckdb", "sqlite"):
        address = made(kind, TABLES, tmp_path)
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        lifagu.io.load(written(SMALL, tmp_path), address)
        assert all(path.read_bytes() == content for path, content in before.items())
        assert {path.name for path in tmp_path.iterdir()} == {
            *(path.name for path in before),
            "hospital.json",
        }


def test_sources_of_every_form(tmp_path, monkeypatch, new_database):
    for kind in ("duckdb", "sqlite", "csv", "parquet"):
        made(kind, TABLES, tmp_path)
    url = naive.in_postgresql(TABLES, new_database())
    monkeypatch.setenv("SECRET_URL", url)
    user, password, rest = url.removeprefix("postgresql://").replace("@", ":", 1).split(":", 2)
    monkeypatch.setenv("SECRET", password)
    expected = lifagu.io.load(written(SMALL, tmp_path), str(tmp_path / "data.duckdb")).model
    monkeypatch.chdir(tmp_path)
    for source in (
        "data.duckdb",
        "data.sqlite",
        "data-csv",
        "data-parquet/",
        "duckdb:///data.duckdb",
        f"sqlite:///{tmp_path}/data.sqlite",
        {"files": {"patients": "data-csv/patients.csv", "history": "data-parquet/history.parquet"}},
        f"postgresql://{user}:${{SECRET}}@{rest}",
        "${SECRET_URL}",
        url.replace("postgresql:", "postgres:"),
        url.replace("postgresql:", "postgresql+psycopg:"),
    ):
        path = written(changed(source=source), tmp_path)
        env = {"SECRET": password, "SECRET_URL": url}
        assert lifagu.io.load(path, env=env).model == expected, source
        if isinstance(source, str):
            assert lifagu.io.load(written(SMALL, tmp_path), source).model == expected, source


def test_file_names_are_no_patterns(tmp_path):
    made("csv", TABLES, tmp_path)
    (tmp_path / "data-csv").rename(tmp_path / "it's [1]*")
    (tmp_path / "it's 1x").mkdir()
    files = {name: f"it's [1]*/{name}.csv" for name in ("patients", "history")}
    loaded = lifagu.io.load(written(changed(source={"files": files}), tmp_path))
    assert len(loaded.model.factor_names) == 4


def test_one_file_is_a_table_by_its_name(tmp_path):
    made("csv", TABLES, tmp_path)
    template = changed(
        source="data-csv/patients.csv", parfactors=[{**SMALL["parfactors"][0], "table": "phi"}]
    )
    assert len(lifagu.io.load(written(template, tmp_path)).model.factor_names) == 4


def test_compressed_and_tabbed_files(tmp_path):
    with duckdb.connect() as connected:
        naive.fill_duckdb(connected, TABLES)
        connected.execute(f"COPY patients TO '{tmp_path}/p.csv.gz'")
        connected.execute(f"COPY history TO '{tmp_path}/h.tsv' (DELIMITER '\t')")
    files = {"patients": "p.csv.gz", "history": "h.tsv"}
    loaded = lifagu.io.load(written(changed(source={"files": files}), tmp_path))
    assert (
        loaded.model
        == lifagu.io.load(written(SMALL, tmp_path), made("duckdb", TABLES, tmp_path)).model
    )


def test_data_files_take_no_results(tmp_path):
    address = made("csv", TABLES, tmp_path)
    for refused in (
        lifagu.io.check_database,
        lambda place: lifagu.io.write_results(place, RESULTS),
    ):
        with pytest.raises(
            lifagu.FormatError, match="data files, into which no results can be written"
        ):
            refused(address)


def test_what_cannot_be_written_is_refused(tmp_path, new_database, as_superuser):
    url = naive.in_postgresql(TABLES, new_database())
    run(
        as_superuser(url),
        "CREATE ROLE reader LOGIN PASSWORD 'rather secret'",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    )
    reader = "postgresql://reader:rather%20secret@" + url.partition("@")[2]
    for refused in (
        lifagu.io.check_database,
        lambda place: lifagu.io.write_results(place, RESULTS),
    ):
        with pytest.raises(
            lifagu.FormatError, match=r"^postgresql://reader@127.*: cannot be written: .*"
        ) as caught:
            refused(reader)
        assert "secret" not in str(caught.value)
        with pytest.raises(lifagu.FormatError, match="there is no such file"):
            refused(str(tmp_path / "none.duckdb"))
        (tmp_path / "no.duckdb").write_text("no database")
        with pytest.raises(
            lifagu.FormatError, match=r"no.duckdb: cannot be written: .*not a valid DuckDB"
        ):
            refused(str(tmp_path / "no.duckdb"))
        (tmp_path / "no.sqlite").write_text("no database")
        with pytest.raises(
            lifagu.FormatError, match=r"no.sqlite: cannot be written: .*not a database"
        ):
            refused(str(tmp_path / "no.sqlite"))
    run(as_superuser(url), "DROP ROLE reader")


def test_a_database_that_another_process_writes_is_refused(tmp_path):
    address = made("duckdb", TABLES, tmp_path)
    program = (
        "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); "
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, address]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(
            BusyError, match=rf"is in use by another process \(PID {other.pid}\); wait"
        ):
            lifagu.io.check_database(address)
        with pytest.raises(
            BusyError, match=rf"is in use by another process \(PID {other.pid}\); wait"
        ):
            lifagu.io.load(written(SMALL, tmp_path))
        other.stdin.close()


def test_a_sqlite_file_that_another_process_writes_is_busy(tmp_path, capsys):
    address = made("sqlite", TABLES, tmp_path)
    template = written(SMALL | {"source": str(address)}, tmp_path)
    program = (
        "import sqlite3, sys; held = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "held.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(address)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        status, out, err = run_cli(capsys, "check", str(template))
        other.stdin.close()
    assert (status, out, err.count("\n")) == (BusyError.exit_status, "", 1)
    assert err.endswith(": database is locked; wait for whoever uses it\n")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_full_disk_is_not_told_to_take_another_temp(tmp_path):
    duckdb.connect(tmp_path / "x.duckdb").close()
    program = """
        import resource, sys
        import numpy as np
        import lifagu
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**19, 2**19))
        try:
            columns = {"id": np.random.default_rng(1).random(10**6)}
            lifagu.io.write_results("x.duckdb", {"one": columns})
        except lifagu.TooLargeError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == (
        "x.duckdb: lifagu_one: the disk is full; free some of it, or write to another one\n"
    )


def test_secrets_are_never_told(tmp_path, new_database, monkeypatch, capsys):
    url = naive.in_postgresql(TABLES, new_database())
    user, _, rest = url.removeprefix("postgresql://").replace("@", ":", 1).split(":", 2)
    host = rest.partition("/")[0]
    monkeypatch.setenv("LIFAGU_TEST_PASSWORD", "hush/hush@")
    path = written(SMALL, tmp_path)
    addresses = [
        f"postgresql://{user}:hush%2Fhush%40@{rest}",
        f"postgresql://{user}:${{LIFAGU_TEST_PASSWORD}}@{rest}",
        f"postgresql://{user}:hush%2Fhush%40@127.0.0.1:1/none",
        f"postgresql://{user}@{rest}?password=hush%2Fhush%40",
        f"postgresql://{user}:hush%2Fhush%40@{host}:x/none",
        f"postgresql://{user}:hush%2Fhush%40@{rest}?nonsense=hush%2Fhush%40",
        f"oracle://{user}:hush%2Fhush%40@{rest}",
        f"postgresql://{user}:hush/hush@@{rest}",
    ]
    for address in addresses:
        status, out, err = run_cli(capsys, "query", path, "Sick(eve)", "--db", address)
        assert (status, out) == (2, "")
        assert err.startswith("error: "), err
        assert "hush" not in err, err
        for refused in (
            lifagu.io.check_database,
            lambda place: lifagu.io.write_results(place, RESULTS),
        ):
            with pytest.raises(lifagu.FormatError) as caught:
                refused(address)
            assert "hush" not in str(caught.value) + repr(caught.value.__cause__)


def test_a_failing_query_on_a_server_is_told_with_its_place(tmp_path, new_database):
    url = naive.in_postgresql(TABLES, new_database())
    for sql, message in (
        (
            "SELECT idd FROM patients",
            'the query fails: column "idd" does not exist; the query is: SELECT idd',
        ),
        ("SELECT id FROM patients WHERE id LIKE '%a%' AND nothing", "nothing"),
        ("SELECT 1/0 AS id", "the query fails: division by zero"),
    ):
        path = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
        with pytest.raises(lifagu.FormatError, match=message) as caught:
            lifagu.io.load(path, url)
        assert str(caught.value).startswith(f"{path}:")
    percent = changed(
        domains={
            "Patient": {"sql": "SELECT id FROM patients WHERE id NOT LIKE '%:x%' AND id LIKE '%'"}
        }
    )
    assert len(lifagu.io.load(written(percent, tmp_path), url).model.factor_names) == 4


def test_all_queries_see_one_state(tmp_path, new_database):
    url = naive.in_postgresql(TABLES, new_database())
    query = Query("SELECT id FROM patients", "here")
    with opened(Source(url)) as database:
        before = [column.texts() for (column,) in database.batches(query)]
        run(url, "DELETE FROM patients")
        assert [column.texts() for (column,) in database.batches(query)] == before
    with opened(Source(url)) as database:
        assert list(database.batches(query)) == []
    lite = sqlite3.connect(made("sqlite", TABLES, tmp_path), timeout=0)
    with opened(Source(str(tmp_path / "data.sqlite"))) as database:
        list(database.batches(query))
        with pytest.raises(sqlite3.OperationalError, match="locked"), lite:
            lite.execute("DELETE FROM patients")
    lite.close()


def test_values_of_many_types_are_the_same_texts(tmp_path, new_database):
    sql = """
        SELECT id * 10000000000000001 AS id,
               CAST(day AS DATE) AS day,
               CAST(code AS DECIMAL(9,2)) AS code,
               CAST(share AS DOUBLE PRECISION) AS share
        FROM (
            VALUES (1, '2024-02-29', '7.50', '0.1'), (2, '2023-01-01', '8.00', '2')
        ) AS t(id, day, code, share)
    """
    duck = str(tmp_path / "types.duckdb")
    run(duck, f"CREATE TABLE things AS {sql}")
    url = new_database()
    run(url, f"CREATE TABLE things AS {sql}")
    template = {
        "format": "lifagu/1",
        "source": "types.duckdb",
        "domains": {
            name: {"sql": f"SELECT {name} FROM things"} for name in ("id", "day", "code", "share")
        },
        "relations": [
            {"name": f"R{name}", "of": [name]} for name in ("id", "day", "code", "share")
        ],
        "parfactors": [
            {"name": f"g{name}", "args": [f"R{name}(X)"], "table": [1, 2]}
            for name in ("id", "day", "code", "share")
        ],
    }
    loads = [lifagu.io.load(written(template, tmp_path), address).model for address in (duck, url)]
    assert loads[0] == loads[1]
    assert list(loads[0].variable_names) == [
        *(
            "Rid(10000000000000001)",
            "Rid(20000000000000002)",
            "Rday(2023-01-01)",
            "Rday(2024-02-29)",
        ),
        *("Rcode(7.5)", "Rcode(8)", "Rshare(0.1)", "Rshare(2)"),
    ]


def test_hidden_files_of_a_folder_are_no_tables(tmp_path):
    (tmp_path / "people.csv").write_text("id\nann\n")
    for half_written in (".people.csv", ".seen.csv"):
        (tmp_path / half_written).write_text("id")
    with opened(Source(str(tmp_path))) as database:
        (batch,) = database.batches(Query("SELECT id FROM people", "here"))
    assert [column.texts() for column in batch] == [["ann"]]


def test_an_error_among_rows_is_the_only_line(tmp_path):
    """Rows that were not read to their end are given up without a word."""
    with sqlite3.connect(tmp_path / "d.sqlite") as made:
        made.execute("CREATE TABLE person (id)")
        made.execute("CREATE TABLE friend (one)")
        made.execute("INSERT INTO person VALUES ('ann')")
        made.executemany("INSERT INTO friend VALUES (?)", [("ann",), ("bob",), ("ann",)] * 2000)
    made.close()
    template = {
        "format": "lifagu/1",
        "source": "d.sqlite",
        "domains": {"Person": {"sql": "SELECT id FROM person"}},
        "relations": [{"name": "Sick", "of": ["Person"]}],
        "parfactors": [
            {
                "name": "f",
                "args": ["Sick(P)"],
                "rows": {"sql": "SELECT one AS p FROM friend"},
                "table": [1, 2],
            }
        ],
    }
    (tmp_path / "t.json").write_text(json.dumps(template))
    run = "import sys; from lifagu.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, "check", str(tmp_path / "t.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "'bob' is not a constant of domain Person" in line


def test_sqlite_needs_no_other_driver(tmp_path):
    """Read, and written into, by what comes with Python."""
    address = made("sqlite", TABLES, tmp_path)
    path = written(changed(source=str(address)), tmp_path)
    code = f"""
        import sys
        sys.modules["psycopg"] = sys.modules["duckdb"] = None
        import lifagu
        case = lifagu.open({str(path)!r})
        found = case.impute(write=True)
        print(round(found.marginals["Sick(eve)"]["true"], 6))
        try:
            lifagu.open({str(path)!r}, database="postgresql://nobody@127.0.0.1:1/none")
        except lifagu.MissingExtraError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    share, missing = done.stdout.splitlines()
    assert "pip install 'lifagu[sql]'" in missing
    asked = "SELECT round(p_true, 6) FROM lifagu_wide_sick WHERE patient = 'eve'"
    assert run(address, asked) == [(float(share),)]


def test_what_stands_in_double_quotes_is_a_name(database, tmp_path):
    """SQLite would take a misspelt one for a text, so that the condition held for nobody."""
    expected = lifagu.io.load(written(changed(), tmp_path), database).model
    sql = 'SELECT "id" AS "odd `name` ""1""" FROM "patients" WHERE "id" <> \'the "id"\' -- "'
    quoted = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
    assert lifagu.io.load(quoted, database).model == expected
    for sql in ("SELECT id FROM patients WHERE \"wrad\" <> 'x'", 'SELECT "" FROM patients'):
        wrong = written(changed(domains={"Patient": {"sql": sql}}), tmp_path)
        with pytest.raises(lifagu.FormatError, match="domains.Patient: the query fails"):
            lifagu.io.load(wrong, database)


def test_texts_of_sqlite_in_another_encoding_are_refused(tmp_path):
    address = made("sqlite", TABLES, tmp_path)
    run(address, "UPDATE patients SET id = CAST(x'e96c61' AS TEXT)")
    path = written(SMALL, tmp_path)
    with pytest.raises(lifagu.FormatError, match="query fails: Could not decode to UTF"):
        lifagu.open(path, database=address)


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    address = made("sqlite", {"patients": TABLES["patients"]}, tmp_path)
    run(address, "ALTER TABLE patients RENAME COLUMN ward TO ward_")
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(Path(address).read_bytes().replace(b"ward_", b"war\xe9_"))
    domains = {"Patient": {"sql": "SELECT * FROM patients"}}
    path = written(changed(domains=domains, source=broken.name), tmp_path)
    with pytest.raises(lifagu.FormatError, match="a column has a name that is no text in UTF-8"):
        lifagu.open(path)


def test_memory_that_runs_out_within_the_driver_is_told_as_that():
    def arrays():
        raise SystemError("resize returned a result with an exception set") from MemoryError()

    with Duck() as duck, pytest.raises(MemoryError):
        duck._finished(arrays, "here")
