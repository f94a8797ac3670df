"""Results are replaced whole, by one run at a time; what killed runs leave is mended or removed."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import duckdb
import numpy as np
import pytest

import lifagu
from lifagu.basics import exchanging, held_folders, temporary_folders
from lifagu.basics.atomic_files import (
    is_being_replaced,
    replaced_file,
    replaced_files,
    replaced_folder,
    settle,
)
from lifagu.basics.columns import Wide
from lifagu.basics.exchanging import exchanged
from lifagu.basics.held_folders import held
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.basics.terminating import Terminated, terminable, undisturbed
from lifagu.data import databases
from lifagu.errors import BusyError, MissingExtraError
from support.helpers import ROOT

WAYS = ["exchanged", "renamed"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """With the system's exchange of folders, and without."""
    if request.param == "renamed":
        monkeypatch.setattr(exchanging, "exchanged", lambda one, other: False)
    return request.param


def folder(place, text):
    place.mkdir()
    (place / "a").write_text(text)
    return place


def names(place):
    return sorted(each.relative_to(place).as_posix() for each in place.rglob("*"))


def killed_while(work):
    """Run some work in a process that ends at once, as if killed, where the work says so."""
    number = os.fork()
    if not number:
        try:
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(number, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


# ---- files and folders


def test_folders_are_exchanged_where_the_system_can(tmp_path):
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "other", "2")
    assert exchanged(one, other) == (sys.platform in ("linux", "darwin"))
    assert not exchanged(one, tmp_path / "missing")
    assert ((one / "a").read_text(), (other / "a").read_text()) == ("2", "1")


def test_a_folder_is_replaced_and_nothing_is_left(tmp_path, way):
    out = folder(tmp_path / "out", "old")
    out.chmod(0o750)
    with replaced_folder(out, ["a"]) as temporary:
        (temporary / "a").write_text("new")
        assert (out / "a").read_text() == "old"
    assert (names(tmp_path), (out / "a").read_text()) == (["out", "out/a"], "new")
    assert out.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("reads", [True, False])
def test_a_folder_that_stands_aside_comes_back(tmp_path, reads):
    """Without an exchange: killed between two renames, for readers and for the next writer."""
    out = folder(tmp_path / "out", "old")

    def work():
        exchanging.exchanged = lambda one, other: False
        with replaced_folder(out, ["a"]) as temporary:
            (temporary / "a").write_text("new")
            sys.addaudithook(
                lambda event, given: (
                    die() if event == "os.rename" and str(given[1]) == str(out) else None
                )
            )

    killed_while(work)
    assert not out.exists()
    if reads:
        assert not is_being_replaced(out)
        assert (out / "a").read_text() == "old"
    with replaced_folder(out, ["a"]) as temporary:
        assert (out / "a").read_text() == "old"
        (temporary / "a").write_text("newer")
    assert (names(tmp_path), (out / "a").read_text()) == (["out", "out/a"], "newer")


@pytest.mark.parametrize("after", range(5))
def test_files_that_belong_together_come_together(tmp_path, after):
    """Killed before each rename: once the list is there all files count, before that none."""
    (tmp_path / "m").write_text("old")
    (tmp_path / "m.evid").write_text("old")

    def work():
        renamed = []
        with replaced_files(tmp_path / "m", ["m.evid"]) as written:
            for each in written:
                each.write_text("new")

            def hook(event, _):
                if event == "os.rename":
                    renamed.append(event)
                    if len(renamed) > after:
                        die()

            sys.addaudithook(hook)
        die()

    killed_while(work)
    settle(tmp_path / "m")
    found = {(tmp_path / each).read_text() for each in ("m", "m.evid")}
    assert found == {"new" if after else "old"}
    with replaced_file(tmp_path / "m") as temporary:
        temporary.write_text("newer")
    assert names(tmp_path) == ["m", "m.evid"]


def test_a_place_has_one_writer_at_a_time(tmp_path, way):
    out = folder(tmp_path / "out", "old")
    told = "out: is being written by another run; wait for it, or choose another place"
    with replaced_folder(out, ["a"]) as temporary:
        (temporary / "a").write_text("new")
        with pytest.raises(BusyError, match=told), replaced_folder(out, ["a"]):
            pass
    assert (names(tmp_path), (out / "a").read_text()) == (["out", "out/a"], "new")
    assert BusyError("").exit_status == 5


def test_many_writers_at_once_leave_one_result(tmp_path):
    """Threads and what they are told: who was not refused has written, whole."""

    def write(number):
        try:
            with replaced_folder(tmp_path / "out", "abc") as temporary:
                for each in "abc":
                    (temporary / each).write_text(str(number))
        except BusyError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        done = set(pool.map(write, range(40))) - {None}
    (found,) = {(tmp_path / "out" / each).read_text() for each in "abc"}
    assert int(found) in done
    assert names(tmp_path) == ["out", "out/a", "out/b", "out/c"]


def test_without_locks_nobody_is_refused(tmp_path, way, monkeypatch):
    monkeypatch.setattr(held_folders, "fcntl", None)
    out = folder(tmp_path / "out", "old")
    with replaced_folder(out, ["a"]) as temporary:
        (temporary / "a").write_text("new")
    assert (names(tmp_path), (out / "a").read_text()) == (["out", "out/a"], "new")


def test_devices_are_not_replaced():
    told = "/dev/null: this is a device or a pipe"
    with pytest.raises(lifagu.FormatError, match=told), replaced_file("/dev/null"):
        pass


# ---- folders for the time being


def test_what_killed_runs_leave_is_removed_and_what_lives_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary_folders.tempfile, "tempdir", str(tmp_path))
    for kept in ("lifagu-results", "lifagu-0123456789abcdef", "lifagu-run-" + "0" * 20):
        folder(tmp_path / kept, "somebody's")
    (tmp_path / ("lifagu-run-" + "1" * 20)).mkdir()

    def work():
        with temporary_folder("run") as place:
            (place / "deep").mkdir()
            (place / "deep/file").write_text("")
            die()

    killed_while(work)
    before = len(list(tmp_path.iterdir()))
    with temporary_folder("run") as first, temporary_folder("run") as second:
        assert first != second
        assert len(list(tmp_path.iterdir())) == before - 1 + 2  # the empty one went before
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "lifagu-0123456789abcdef",
        "lifagu-results",
        "lifagu-run-00000000000000000000",
    ]


def test_a_folder_is_held_by_one(tmp_path):
    with held(tmp_path / "x"), pytest.raises(held_folders.HeldError), held(tmp_path / "x"):
        pass
    assert not (tmp_path / "x").exists()


# ---- signals


@pytest.mark.parametrize("error", [ImportError("broken"), MissingExtraError("duckdb", "it")])
def test_packages_that_are_cut_short_are_not_called_broken(error):
    def imported():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:  # as numpy does
            raise error from None

    with pytest.raises(Terminated), terminable():
        imported()
    with pytest.raises(type(error)), terminable():
        raise error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_wishes_to_end_wait_for_steps_that_must_not_break(number):
    done, before = [], signal.signal(number, signal.SIG_DFL)  # runs under nohup ignore it

    def step():
        with undisturbed():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            done.append("whole")
        done.append("never")

    try:
        with pytest.raises(Terminated) as asked, terminable():
            step()
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert (done, asked.value.exit_status) == (["whole"], 128 + number)


def test_sigterm_ends_a_command_in_one_line(tmp_path):
    """In the middle of a statement of DuckDB: status 143, no file left."""
    lifagu.write(lifagu.read(ROOT / "src/lifagu/examples/wards.json"), tmp_path / "big")
    (tmp_path / "temporary").mkdir()
    program = """
import os, signal, sys, threading
from lifagu.cli import main
from lifagu.data.duck import Duck
finished = Duck._finished

def asked(self, work, place):
    if not hasattr(self, "_connection"):
        return finished(self, work, place)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
    def endless():
        self._connection.execute("SELECT count(*) FROM range(100000000000) a, range(1000) b")
    return finished(self, endless, place)

Duck._finished = asked
sys.exit(main(sys.argv[1:]))
"""
    asked = ["lift", tmp_path / "big", "--on", "duckdb", "--out", tmp_path / "out", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, asked)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
    )
    assert done.stderr == "error: terminated; nothing was half-written\n"
    assert (done.returncode, done.stdout) == (143, "")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["big", "temporary"]
    assert not list((tmp_path / "temporary").iterdir())


# ---- databases


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("new_database")()
    place = tmp_path / f"data.{request.param}"
    connect = sqlite3.connect if request.param == "sqlite" else duckdb.connect
    connect(str(place)).close()
    place.touch()
    return str(place)


def results(number):
    return {"marginals": {"variable": np.array([f"x{number}"], dtype=object)}}


OWN = {"table": "CREATE TABLE {} (mine TEXT)", "view": "CREATE VIEW {} AS SELECT 1 AS mine"}


def run(database, *statements):
    with closing(_connected(database)) as connected:
        for each in statements:
            connected.execute(each)
        if hasattr(connected, "in_transaction") or "://" in database:
            connected.commit()


@pytest.mark.parametrize("sort", OWN)
def test_what_lifagu_has_not_written_is_refused_by_name(database, sort):
    """Before long work and at its end, and nothing else is written then."""
    for name in ("lifagu_marginals", "lifagu_wide_sick"):
        run(database, OWN[sort].format(name))
        told = f"lifagu has not written the {sort} {name} that is there.*; rename it or drop it"
        with pytest.raises(lifagu.FormatError, match=told):
            lifagu.io.check_database(database)
        for tables in ({"tables": results(1)["marginals"], name: results(1)["marginals"]}, WIDE):
            with pytest.raises(lifagu.FormatError, match=told):
                lifagu.io.write_results(database, tables)
        run(database, f"SELECT mine FROM {name}", f"DROP {sort} {name}")
    lifagu.io.check_database(database)
    lifagu.io.write_results(database, results(1))
    with pytest.raises(Exception, match="lifagu_tables"):
        run(database, "SELECT * FROM lifagu_tables")


WIDE = {
    "marginals": {
        "variable": np.array(["Sick(ann)"], dtype=object),
        "relation": np.array(["Sick"], dtype=object),
        "person": np.array(["ann"], dtype=object),
        "value": np.array(["yes"], dtype=object),
        "probability": np.array([0.5]),
    },
    "wide_sick": Wide("Sick", ["person"], {"yes": "p_yes"}, {"person": np.array(["ann"])}),
}


def test_results_of_earlier_runs_are_replaced_unless_somebody_put_own_ones_there(database):
    for _ in range(2):
        lifagu.io.check_database(database)
        lifagu.io.write_results(database, WIDE)
    run(database, "SELECT p_yes FROM lifagu_wide_sick", "DROP VIEW lifagu_wide_sick")
    run(database, "DROP TABLE lifagu_marginals", OWN["table"].format("lifagu_marginals"))
    told = "lifagu has not written the table lifagu_marginals"
    with pytest.raises(lifagu.FormatError, match=told):
        lifagu.io.check_database(database)
    with pytest.raises(lifagu.FormatError, match=told):
        lifagu.io.write_results(database, WIDE)
    run(database, "SELECT mine FROM lifagu_marginals", "DROP TABLE lifagu_marginals")
    lifagu.io.write_results(database, WIDE)
    copied = "CREATE TABLE kept AS SELECT * FROM lifagu_marginals"
    run(database, copied, "DROP VIEW lifagu_wide_sick", "DROP TABLE lifagu_marginals")
    run(database, "ALTER TABLE kept RENAME TO lifagu_marginals")
    with pytest.raises(lifagu.FormatError, match=told):
        lifagu.io.write_results(database, WIDE)


def test_views_of_earlier_results_go_and_own_ones_stay(database):
    lifagu.io.write_results(database, WIDE)
    run(database, OWN["view"].format("lifagu_wide_mine"))
    lifagu.io.write_results(database, results(1))
    run(database, "SELECT mine FROM lifagu_wide_mine")
    with pytest.raises(Exception, match="lifagu_wide_sick"):
        run(database, "SELECT * FROM lifagu_wide_sick")


@pytest.mark.parametrize("database", ["sqlite", "duckdb"], indirect=True)
def test_names_are_compared_as_the_database_does(database):
    run(database, OWN["table"].format("LIFAGU_Marginals"))
    with pytest.raises(lifagu.FormatError, match="the table lifagu_marginals that is there"):
        lifagu.io.write_results(database, results(1))


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_tables_of_other_schemas_stay(database):
    run(database, OWN["table"].format("lifagu_marginals"), "CREATE SCHEMA results")
    lifagu.io.write_results(f"{database}?options=-csearch_path%3Dresults,public", results(1))
    run(database, "SELECT mine FROM lifagu_marginals", "SELECT * FROM results.lifagu_marginals")


def test_of_two_that_write_at_the_same_time_one_waits_or_is_refused(database):
    """The second begins while the first is between its tables."""
    told = []

    def other():
        try:
            lifagu.io.write_results(database, results(2))
            told.append("written")
        except BusyError as error:
            told.append(str(error))

    thread = threading.Thread(target=other)

    class Slow(dict):
        """Tables of which the second comes late."""

        def items(self):
            yield from super().items()
            thread.start()
            thread.join(0.5 if ".sqlite" in database else None)  # which waits some seconds

    address = databases.meant_by(lifagu.io.Source(database))
    in_file = address.kind == "duckdb"
    (databases.replace_in_duckdb if in_file else databases.replace_in_served)(
        address, Slow(results(1))
    )
    thread.join()
    (said,) = told
    waits = ".sqlite" in database
    assert said == "written" if waits else "another run" in said
    with closing(_connected(database)) as connected:
        rows = connected.execute("SELECT variable FROM lifagu_marginals").fetchall()
    assert [tuple(row) for row in rows] == [("x2" if waits else "x1",)]


def _connected(database):
    if "://" in database:
        import psycopg

        return psycopg.connect(database)
    return (sqlite3 if database.endswith("sqlite") else duckdb).connect(database)


# ---- kills at every step


@pytest.mark.parametrize(
    ("runs", "writers"),
    [(30, ["json", "uai and evidence", "sqlite"]), pytest.param(300, [], marks=pytest.mark.full)],
)
def test_nothing_is_lost_by_kills(runs, writers):
    """The campaign of fuzz/kills.py, short."""
    asked = [ROOT / "fuzz/kills.py", "--runs", runs, *(["--writers", *writers] if writers else [])]
    kinds = ["--kinds", "kill", "term", "full"] if writers else []
    done = subprocess.run(
        [sys.executable, *map(str, asked), *kinds],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert f"{runs} kills at steps, 0 wrong" in done.stdout, done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (0, "")
