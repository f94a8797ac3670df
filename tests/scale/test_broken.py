"""Lifting where the data is, broken from outside: full disks, lost workers, Ctrl-C, kills."""

import os
import pty
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import lifagu
from lifagu.scale.engines import spark_session
from lifagu.scale.engines.opening import open_engine
from support.by_sql import Told, lifted_by_sql
from support.graphs_for_engines import big_graph
from support.spark_cluster import WHY_NOT, cluster, end

needs_java = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")
COMMAND = (sys.executable, "-m", "lifagu")
PATIENCE = 120  # seconds after which a test fails rather than waits
FULL = "the disk is full; free some of it"


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A folder with 180,000 arguments, and what comes out of it undisturbed."""
    place = tmp_path_factory.mktemp("big")
    lifagu.write(big_graph(20_000), place / "big")
    lifted_by_sql(place / "big", place / "expected")
    return place


def lifted(*arguments, **settings):
    """Status and error lines of `lifagu lift`, which writes to stdout only if it succeeds."""
    done = subprocess.run(
        [*COMMAND, "lift", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        **settings,
    )
    assert bool(done.stdout) == (done.returncode == 0), done.stderr
    return done.returncode, done.stderr.splitlines()


def same_bytes(folder, other):
    files = [
        {each.name: each.read_bytes() for each in Path(place).iterdir()}
        for place in (folder, other)
    ]
    return files[0] == files[1]


@contextmanager
def small_disk(place, size):
    """A file system of some KiB at a new folder, which can be made larger."""
    place.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", place]
    if os.geteuid() != 0 or subprocess.run(made, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system, and not everywhere")

    def grow(more):
        subprocess.run(["mount", "-o", f"remount,size={more}k", place], check=True)

    try:
        yield grow
    finally:
        subprocess.run(["umount", "-l", place], check=True)


# ---- full disks


def test_a_full_disk_of_tables_is_one_line(tmp_path, big):
    """DuckDB's file and what it spills: nothing is left, and with more room the run succeeds."""
    out, size = tmp_path / "out", 1000
    with small_disk(tmp_path / "temp", size) as grow:
        asked = [big / "big", "--on", "duckdb", "--out", out, "--temp", tmp_path / "temp"]
        asked += ["--memory-limit", "40M"]
        status, said = lifted(*asked)
        while status:
            (full,) = said
            assert FULL in full or "No space left on device; free some room" in full
            assert status == 4
            assert [each.name for each in tmp_path.iterdir()] == ["temp"]
            assert not list((tmp_path / "temp").iterdir())
            size *= 3
            grow(size)
            status, said = lifted(*asked)
        assert size > 4000
        assert not list((tmp_path / "temp").iterdir())
    assert same_bytes(out, big / "expected")


def test_a_full_disk_of_results_leaves_nothing_there(tmp_path, big):
    """The old result stays as it was."""
    with small_disk(tmp_path / "results", 250):
        out = tmp_path / "results/out"
        lifagu.write(big_graph(10), out)
        before = sorted(each.name for each in out.iterdir())
        asked = [big / "big", "--on", "duckdb", "--temp", tmp_path / "temp", "--out"]
        status, (said,) = lifted(*asked, out)
        assert status == 4
        assert said.startswith(f"error: {out}/")
        assert said.endswith(f"{FULL}, or write to another one")
        assert [each.name for each in out.parent.iterdir()] == ["out"]
        assert sorted(each.name for each in out.iterdir()) == before


def test_a_limit_on_files_is_a_full_disk_too(tmp_path, big):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))

    status, (said,) = lifted(
        big / "big", "--on", "duckdb", "--out", tmp_path / "out", preexec_fn=limit
    )
    assert (status, FULL in said) == (4, True)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A cluster whose drivers soon say that nobody works for them."""
    with cluster(tmp_path_factory.mktemp("cluster"), more="spark.lifagu.wait 15\n") as running:
        yield running


# ---- Ctrl-C


class Terminal:
    """A command at a terminal of its own, in a session of its own, and what it shows."""

    def __init__(self, process, screen, mark):
        self.process, self.screen, self.mark = process, screen, mark
        self.shown = b""

    def read(self, seconds):
        """Read for some time at most; False at the end."""
        if not select.select([self.screen], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.screen, 4096)
        except OSError:  # everybody who could write is gone
            more = b""
        self.shown += more
        return bool(more)

    def read_until(self, text):
        while text.encode() not in self.shown:
            assert self.read(PATIENCE), self.shown

    def read_until_file(self, folder, pattern):
        while not list(folder.glob(pattern)):
            assert self.read(0.02), self.shown

    def interrupt(self):
        """Ctrl-C, which goes to the whole session; the error shown last, and the status."""
        os.killpg(self.process.pid, signal.SIGINT)
        self.read_all()
        return self.shown.decode().splitlines()[-1].partition("error: ")[2], self.process.wait(
            PATIENCE
        )

    def read_all(self):
        """Read until nobody writes any more; what hangs is seen afterwards."""
        end = time.monotonic() + PATIENCE
        while (left := end - time.monotonic()) > 0 and self.read(left):
            pass

    def gone(self):
        """Whether all that it started is gone, after a moment at most."""
        for each in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() not in (each / "environ").read_bytes():
                    continue
                watched = os.pidfd_open(int(each.name))
            except OSError:  # it has just ended
                continue
            ended = select.select([watched], [], [], 20)[0]
            os.close(watched)
            if not ended:
                return False
        return True


@contextmanager
def at_a_terminal(*arguments, **added):
    screen, other = pty.openpty()
    mark = f"MARK={uuid.uuid4().hex}"
    environment = os.environ | added | dict([mark.split("=")])
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True
    ) as process:
        os.close(other)
        try:
            running = Terminal(process, screen, mark)
            yield running
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert running.gone()
            os.close(screen)


@pytest.mark.parametrize(
    "kind", ["duckdb", pytest.param("spark=local[2]", marks=[needs_java, pytest.mark.full])]
)
def test_ctrl_c_ends_everything(tmp_path, kind):
    """In the middle of a statement: one line, and neither Java nor files are left."""
    lifagu.write(big_graph(20_000), tmp_path / "big")
    (tmp_path / "temporary").mkdir()
    asked = ("lift", tmp_path / "big", "--on", kind, "--out", tmp_path / "out")
    with at_a_terminal(*asked, TMPDIR=str(tmp_path / "temporary")) as running:
        running.read_until("checking")
        assert running.interrupt() == ("interrupted; nothing was half-written", 130)
        assert running.gone()
    assert not list((tmp_path / "temporary").iterdir())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["big", "temporary"]


@needs_java
@pytest.mark.full
def test_ctrl_c_while_spark_starts(tmp_path):
    lifagu.write(big_graph(10), tmp_path / "big")
    with at_a_terminal(
        "lift", tmp_path / "big", "--on", "spark=local[2]", TMPDIR=str(tmp_path)
    ) as running:
        running.read_until_file(tmp_path, "lifagu-*/spark.log")
        assert running.interrupt() == ("interrupted; nothing was half-written", 130)
        assert running.gone()
    assert [each.name for each in tmp_path.iterdir()] == ["big"]


# ---- masters and workers


@pytest.mark.parametrize(
    ("master", "kind", "message"),
    [
        (
            "spark://127.0.0.1:{port}",
            lifagu.LifaguError,
            "cannot be reached: Connection refused; see that a master",
        ),
        (
            "spark://no.such.host.invalid:7077",
            lifagu.LifaguError,
            "invalid:7077 cannot be reached: ",
        ),
        ("spark://127.0.0.1", lifagu.ModelError, "name host and port, as in spark://host:7077"),
        (
            "spark://127.0.0.1:seven",
            lifagu.ModelError,
            "name host and port, as in spark://host:7077",
        ),
    ],
)
def test_nobody_at_the_master(tmp_path, master, kind, message):
    """Said at once, before Java is started."""
    lifagu.write(big_graph(1), tmp_path / "big")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        on = f"spark={master.format(port=taken.getsockname()[1])}"
        with pytest.raises(kind, match=message) as caught:
            lifted_by_sql(tmp_path / "big", None, on=on)
    assert caught.value.exit_status == 2
    assert "\n" not in str(caught.value)


def test_one_of_several_masters_answers():
    with socket.create_server(("127.0.0.1", 0)) as one, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (taken, one)]
        spark_session.check_answers(f"spark://127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}")


@needs_java
@pytest.mark.full
def test_somebody_else_at_the_master(tmp_path):
    """A port where something listens that is no master: Spark tries for a minute."""
    lifagu.write(big_graph(1), tmp_path / "big")
    with socket.create_server(("127.0.0.1", 0)) as other:
        master = f"spark://127.0.0.1:{other.getsockname()[1]}"
        status, (said,) = lifted(
            tmp_path / "big", "--on", f"spark={master}", "--temp", tmp_path / "temp"
        )
    assert status == 2
    assert said == (
        f"error: Spark at {master} cannot be started: no master answers; see that one runs there, "
        "and its port"
    )


@needs_java
@pytest.mark.full
@pytest.mark.parametrize("workers", [0, 1])
def test_nobody_works(tmp_path, workers):
    """No workers, or workers that are too small for an executor: said after a stated time."""
    lifagu.write(big_graph(1), tmp_path / "big")
    more = "spark.lifagu.wait 2\nspark.executor.memory 30g\n"
    with cluster(tmp_path / "cluster", workers, more) as running:
        asked = (
            "lift",
            tmp_path / "big",
            "--on",
            f"spark={running.master}",
            "--temp",
            tmp_path / "temp",
        )
        with at_a_terminal(*asked) as terminal:
            terminal.read_all()
            assert terminal.process.wait(PATIENCE) == 2
    assert terminal.shown.decode().splitlines()[-1] == (
        f"error: spark: no executor at {running.master} for 2 seconds; see that workers run there "
        "with 30g of memory free (spark.executor.memory), or set spark.lifagu.wait to more seconds"
    )


# ---- Spark's disk and memory


@needs_java
def test_disk_and_memory_of_spark(tmp_path):
    """A killed run's rest is put in order; a full disk and too little memory are one line."""
    with small_disk(tmp_path / "disk", 3000) as grow:
        tables = tmp_path / "disk/tables"
        for name in (".kept.replaced", ".0123456789abcdef", ".older.replaced", "older"):
            (tables / name).mkdir(parents=True)
            (tables / name / "_SUCCESS").touch()
            lifagu.write(big_graph(1), tmp_path / "one")
            (tables / name / "part-0.parquet").write_bytes(
                (tmp_path / "one/factors.parquet").read_bytes()
            )
        opened = open_engine("spark=local[2]", tmp_path / "disk", 2**29)
        try:
            assert opened.names() == {"kept", "older"} == {each.name for each in tables.iterdir()}
            with pytest.raises(lifagu.FormatError, match="^spark: .*nowhere"):
                opened.rows("SELECT * FROM nowhere")
            assert opened.rows("SELECT count(*) FROM kept") == [(4,)]
            with pytest.raises(
                lifagu.TooLargeError, match=r"^.*/disk: .*disk is full|^spark: the disk is full"
            ):
                opened.register(
                    "arrays", {"id": np.random.default_rng(1).integers(0, 2**60, 10**6)}
                )
            with pytest.raises(
                lifagu.TooLargeError, match="^spark: a disk is full; free some of it"
            ):
                opened.create("kept", "SELECT id, uuid() AS text FROM range(1000000)")
            assert opened.names() == {"kept", "older"} == {each.name for each in tables.iterdir()}
            grow(500_000)
            with pytest.raises(
                lifagu.TooLargeError,
                match="^spark: the memory does not suffice; give a larger memory_limit",
            ):
                opened.rows(
                    "SELECT collect_list(concat(repeat('x', 100000), id)) FROM range(30000)"
                )
        finally:
            opened.close()
        assert spark_session.java_status() is None


@needs_java
@pytest.mark.full
def test_too_little_memory_for_executors(tmp_path, spark):
    """Executors end one after the other, until Spark gives up."""
    opened = open_engine(f"spark={spark.master}", tmp_path)
    try:
        with pytest.raises(
            lifagu.TooLargeError,
            match="^spark: the memory does not suffice; .*spark.executor.memory",
        ):
            opened.rows(
                "SELECT size(collect_list(concat(repeat('x', 100000), id))) FROM range(30000)"
            )
    finally:
        opened.close()


@needs_java
@pytest.mark.full
def test_all_workers_lost(tmp_path, spark):
    """After the first round: said after a stated time."""
    lifagu.write(big_graph(10), tmp_path / "big")

    def told(line):
        if line.startswith("round 1"):
            for each in spark.workers:
                end(each)

    place = {"on": f"spark={spark.master}", "temp": tmp_path / "temp"}
    with pytest.raises(
        lifagu.LifaguError,
        match="^spark: no executor at spark://.* for 15 seconds; see that workers",
    ):
        lifted_by_sql(tmp_path / "big", None, progress=Told(told), **place)
    assert not list((tmp_path / "temp").iterdir())
