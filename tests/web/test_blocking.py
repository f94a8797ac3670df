"""Clients that would block, fill or misuse the page's server: slow, many, broken off, killed."""

import gzip
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import lifagu
from lifagu.web.limits import Limits
from lifagu.web.sources import read_source, upload_source
from support.helpers import ROOT
from support.web_server import Tap, served

SECONDS = 30  # after which a test gives up


def eventually(holds) -> bool:
    end = time.monotonic() + SECONDS
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(found)


def line_to(server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)


def is_hung_up(line) -> bool:
    """Whether the other side closes a connection, after whatever it still says."""
    with suppress(ConnectionError):
        while line.recv(2**16):
            pass
    return True


def head(server, method: str, path: str, **headers) -> bytes:
    given = {"Host": f"127.0.0.1:{server.port}", **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {each}" for name, each in given.items())]
    return "\r\n".join([*lines, "", ""]).encode()


# ---- bytes


def stored(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("upload*") if each.is_file())


def test_uploads_are_counted_together_and_given_back(tmp_path):
    size, most = 900_000, 8 * 2**20
    body = b" " * size
    with served("--upload-limit", "1M", folder=str(tmp_path)) as server:

        def upload(_):
            client = server.client().visit()
            return client, client.open("ending=.uai", body)

        with ThreadPoolExecutor(8) as threads:
            done = list(threads.map(upload, range(12)))
        assert most - size < stored(tmp_path) <= most
        refused = [reply for _, reply in done if "too many uploaded" in reply.json["error"]]
        assert len(refused) == 12 - most // size
        kept = [client for client, reply in done if reply not in refused]
        # whoever breaks off leaves nothing behind
        assert kept[0].send("DELETE", f"/api/models/{kept[0].model}").status == 204
        asked = head(server, "POST", "/api/models?ending=.uai", **{"Content-Length": size}).replace(
            b"\r\n\r\n", b"\r\nCookie: " + kept[0].cookie.encode() + b"\r\n\r\n"
        )
        with line_to(server) as line:
            line.sendall(asked + body[:-1])
            assert eventually(lambda: stored(tmp_path) > most - size)
            again = kept[1].open("ending=.uai", body)  # the half that is there counts
            assert "too many uploaded" in again.json["error"]
        assert eventually(lambda: stored(tmp_path) <= most - size)
        assert "too many uploaded" not in kept[0].open("ending=.uai", body).json["error"]
        # what packed files hold is not written
        before = stored(tmp_path)
        kept[0].send("DELETE", f"/api/models/{kept[0].model}")
        packed = gzip.compress(b"MARKOV\n" + b"1 " * 400_000)
        kept[0].open("ending=.uai.gz", packed)
        assert stored(tmp_path) == before - size + len(packed)


def test_packed_uploads_of_several_parts_are_read_as_on_the_command_line(tmp_path):
    text = (ROOT / "examples/figure3.json").read_bytes()
    parts = [gzip.compress(text[start : start + 100]) for start in range(0, len(text), 100)]
    source = upload_source(tmp_path, "upload", ".json.gz")
    for body in (b"".join(parts), b"".join(parts) + b"\0" * 500):
        source.path.write_bytes(body)
        found = read_source(source, Limits()).model
        assert found == lifagu.read(source.path) == lifagu.read(ROOT / "examples/figure3.json")
        with pytest.raises(lifagu.TooLargeError, match="when unpacked"):
            read_source(source, Limits(upload=len(text) - 1))
    for body, message in [
        (b"".join(parts)[:-3], "ends too early"),
        (b"".join(parts) + b"more", "not compressed by gzip"),
        (b"".join(parts[:-1]), "^upload.json.gz"),
    ]:
        source.path.write_bytes(body)
        with pytest.raises(lifagu.LifaguError, match=message):
            read_source(source, Limits())
        with pytest.raises(lifagu.LifaguError):
            lifagu.read(source.path)


# ---- connections


@pytest.fixture(scope="module")
def impatient():
    with served(patience="headers=0.4, idle=0.8, reading=0.4, connections=40") as server:
        yield server
        status, written = server.end()
        assert (status, written) == (0, "")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123",
    ],
)
def test_whoever_lets_it_wait_is_hung_up_on(impatient, sent):
    with line_to(impatient) as line:
        line.sendall(sent)
        assert is_hung_up(line)


def test_headers_that_come_byte_by_byte_have_the_same_time(impatient):
    with line_to(impatient) as line, suppress(ConnectionError):
        for _ in range(1000):
            line.sendall(b"G")
            time.sleep(0.02)
        pytest.fail("nobody hung up")


def test_whoever_reads_nothing_is_hung_up_on(impatient):
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(SECONDS)
        line.connect(("127.0.0.1", impatient.port))
        asked = head(impatient, "GET", "/static/main.js")
        line.settimeout(0.1)

        def is_reset() -> bool:
            try:
                while line.send(asked):
                    pass
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        assert eventually(is_reset)


def test_more_connections_than_may_be_open_do_not_keep_others_out(impatient):
    client = impatient.client().visit()
    client.open("example=figure3")
    with ExitStack() as opened:
        lines = [opened.enter_context(line_to(impatient)) for _ in range(120)]
        for line in lines[::2]:
            line.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(5):
            assert client.ask("ask").status == 200
            assert impatient.client().visit().cookie
        assert is_hung_up(lines[0])


@pytest.mark.parametrize(
    "sent",
    [
        b"5\r\n12345\r\n0\r\n\r\n",
        b"zz\r\n",
        b"ffffffffffffffffffff\r\n",
        b"5\r\n1234567890\r\n0\r\n\r\n",
        b"1;" + b"a" * 40_000,
        b"0\r\n" + b"A: b\r\n" * 10_000,
    ],
)
def test_bodies_with_wrong_lengths_break_nothing(impatient, sent):
    for method, path in [("POST", "/"), ("HEAD", "/"), ("POST", "/api/models?ending=.json")]:
        for pause in (0.0, 0.05):
            with line_to(impatient) as line, suppress(ConnectionError):
                line.sendall(head(impatient, method, path, **{"Transfer-Encoding": "chunked"}))
                time.sleep(pause)
                line.sendall(sent)
                reply = line.recv(100)
                assert not reply or reply.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200"))


def test_a_length_that_is_told_twice_ends_the_connection(impatient):
    with line_to(impatient) as line:
        two = {"Content-Length": 4, "Transfer-Encoding": "chunked"}
        line.sendall(head(impatient, "POST", "/", **two) + b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        found = b""
        with suppress(ConnectionError):
            while part := line.recv(2**16):
                found += part
    assert found.startswith(b"HTTP/1.1 400")
    assert found.count(b"HTTP/1.1") == 1


# ---- processes that are killed


def children_of(pid: int) -> dict[int, str]:
    """Commands of the processes that a process has started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    rows = (line.split(None, 1) for line in listed.stdout.splitlines())
    return {int(number): command for number, command in rows}


def test_processes_that_are_killed_are_replaced(tmp_path):
    tap = Tap(tmp_path)
    with served("--quiet", str(tap.template)) as server:
        tap.shut()
        (forks,) = (
            number
            for number, command in children_of(server.process.pid).items()
            if "forkserver" in command
        )
        client = server.client().visit()
        client.open("example=figure3")
        (idle,) = children_of(forks)
        os.kill(idle, signal.SIGKILL)
        assert client.ask("ask").status in (200, 422)  # noticed before or while it was asked
        assert client.ask("ask").status == 200
        # while something is computed
        others = set(children_of(forks))
        job = client.send("POST", "/api/models?given=yes")
        assert job.status == 202
        assert eventually(lambda: set(children_of(forks)) - others)
        (busy,) = set(children_of(forks)) - others
        os.kill(busy, signal.SIGKILL)
        broken = client.finished(job)
        assert broken.status == 422
        assert broken.json["error"].startswith("the computation broke off")
        # the one from which they begin, with what it has begun
        os.kill(forks, signal.SIGKILL)
        assert client.open("example=wards").status == 200
        assert client.ask("ask").status == 200
        status, written = server.end()
        assert status == 0
        assert "Traceback" not in written


# ---- tokens, and connections that are reset


@pytest.mark.parametrize("host", [[], ["--host", "0.0.0.0"]])
def test_nothing_is_answered_without_the_token(host):
    with served(*host) as server:
        stranger = server.client()
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FOO"):
            for path in (
                *("/", "/static/main.js", "/static/x", "/api/start", "/api/models?example=wards"),
                *("/api/models/x/ask", "/api/jobs/x", "/nothing", "//", "*", "/?x", "/api/../"),
            ):
                reply = stranger.send(method, path)
                assert reply.status == 401, (method, path)
                assert "set-cookie" not in reply.headers
                assert "allow" not in reply.headers
        for odd in ("x/#", "x/?", "x\\", "[::1", "x/%23"):
            found = stranger.send("GET", "/static/main.js", host=odd)
            assert found.status == (401 if host else 421)
        client = server.client().visit()
        assert client.send("GET", "/static/main.js").status == 200
        assert client.send("POST", "/static/main.js").status == 405


def test_a_reset_connection_is_no_news():
    with served("--quiet") as server:
        for sent in (b"", b"GET /", head(server, "GET", "/"), head(server, "GET", "/api/start")):
            with line_to(server) as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                line.sendall(sent)
        assert server.client().visit().cookie
        assert server.end() == (0, "")


# ---- longer


def done(*command) -> str:
    command = [sys.executable, *map(str, command)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2])
def test_campaigns_of_hostile_requests(seed):
    assert "\n0 failures" in done(ROOT / "fuzz/page.py", "--seconds", 40, "--seed", seed)
