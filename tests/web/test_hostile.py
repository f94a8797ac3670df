"""A few hundred hostile requests: each gets a clean refusal, and the server goes on."""

import gzip
import json
import random
import socket
from contextlib import suppress

import pytest

from lifagu.web.app import OPERATIONS
from lifagu.web.inputs import CHECKS
from support.helpers import ROOT
from support.web_server import served

EXAMPLES = {path.suffix: path.read_bytes() for path in sorted((ROOT / "examples").glob("*.*"))}
VALUES = (
    *(
        None,
        True,
        -1,
        0,
        1e308,
        10**400,
        "",
        "\0",
        "../../etc/passwd",
        "𝕏" * 50,
        "a" * 5000,
        "{{7*7}}",
    ),
    *(
        "<script>alert(1)</script>",
        "' OR 1=1 --",
        [],
        [[]],
        {},
        {"": ""},
        {"Staffed": {"true": -1, "false": 2}},
    ),
    *([["p11", "p1"]] * 40, {"Staffed": "\ud800"}, ["Staffed"] * 999, {"Severe.p1": {"true": 1}}),
    *("Severe", "p1", [["Severe", "true"]], {"one": {"Staffed": None}}, {"one": {"Nobody": "x"}}),
)


@pytest.fixture(scope="module")
def server():
    with served("--time-limit", "20", "--upload-limit", "2M") as running:
        yield running
        status, written = running.end()
        assert (status, "Traceback" in written) == (0, False), written


@pytest.fixture
def client(server):
    client = server.client().visit()
    client.open("example=wards")
    yield client
    client.connection.close()


def refused(reply) -> None:
    """A clean refusal: its status is of the client's making, and it says why in one line."""
    assert 400 <= reply.status < 500, reply
    if reply.headers.get("content-type") == "application/json":
        assert reply.json["error"]
        assert "\n" not in reply.json["error"]
        assert "Traceback" not in reply.json["error"]


def answered(reply) -> None:
    """Either an answer or a clean refusal."""
    if reply.status not in (200, 204):
        refused(reply)


@pytest.mark.parametrize("ending", [".json", ".blog"])
def test_fuzzed_uploads(client, ending):
    rng = random.Random(f"uploads {ending}")
    for _ in range(40):
        body = bytearray(EXAMPLES[ending])
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(body))
            kind = rng.randrange(4)
            if kind == 0:
                body[place] = rng.randrange(256)
            elif kind == 1:
                del body[place : place + rng.randint(1, 40)]
            elif kind == 2:
                body[place:place] = body[place : place + rng.randint(1, 60)]
            else:
                body[place:place] = rng.choice(
                    [b"1e999", b"\xff\xfe", b"null", b"[[", b"99999999999", b"-0", b'"']
                )
            body = body or bytearray(b"x")
        answered(client.open(f"ending={ending}", bytes(body)))


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"\0" * 1000,
            b"[" * 100_000,
            b"{" * 100_000,
            b'{"a":' * 50_000,
            b"\xff" * 100,
            b"null",
            b"1" * 6000,
        ),
        *(
            b'{"format": "lifagu/1", "domains": {"P": %s}, "relations": []}' % (b"9" * length)
            for length in (9, 5000)
        ),
        b'{"format": "lifagu/1", "variables": [{"name": "A", "range": 5}], "factors": []}',
        b'{"format": "lifagu/1", "variables": [{"name": "A"}], "factors": [{"args": ["A"], '
        b'"table": [1e400, 1]}]}',
    ],
    ids=lambda body: body[:20].decode("latin-1") + str(len(body)),
)
def test_broken_uploads(client, body):
    for ending in (".json", ".uai", ".fg", ".blog"):
        answered(client.open(f"ending={ending}", body))
    refused(client.open("ending=.json.gz", body))


def test_uploads_that_are_too_large(server, client):
    refused(client.open("ending=.json", b" " * (2 * 2**20 + 1)))
    bomb = gzip.compress(gzip.compress(b"\0" * 50_000_000))
    refused(client.open("ending=.json.gz", gzip.compress(b" " * 30_000_000)))
    refused(client.open("ending=.json.gz", bomb))
    # a length that is announced is believed before a byte is read
    fresh = server.client(client.cookie)
    fresh.connection.putrequest("POST", "/api/models?ending=.json")
    fresh.connection.putheader("Cookie", client.cookie)
    fresh.connection.putheader("Content-Length", str(10**15))
    fresh.connection.endheaders()
    assert fresh.connection.getresponse().status == 413
    chunked = server.client(client.cookie)  # one that is not announced is counted

    def endless():
        for _ in range(40):
            yield b" " * 2**17

    with suppress(ConnectionError, TimeoutError):  # refused while it was still being sent
        assert chunked.send("POST", "/api/models?ending=.json", endless()).status == 413


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/static/../app.py",
            "/static/..%2fapp.py",
            "/static/%2e%2e/app.py",
            "/static//etc/passwd",
            "/static/",
        ),
        *(
            "/static/%00",
            "/../../etc/passwd",
            "/etc/passwd",
            "/api",
            "/api/models/../start/x",
            "//",
            "/%ff%fe",
            "/.git",
        ),
        *(
            "/static/main.js/",
            "/static/" + "a" * 5000,
            "/api/jobs/" + "..%2f" * 50,
            "/api/models/%00/ask",
            "/docs",
        ),
    ],
)
def test_paths_lead_nowhere(client, path):
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"):
        refused(client.send(method, path))


@pytest.mark.parametrize(
    "query",
    [
        *(
            "",
            "example=",
            "example=../wards",
            "example=wards&given=yes",
            "given=yes",
            "ending=",
            "path=/etc/passwd",
        ),
        *("ending=.json&ending=.uai", "example=%00", "ending=.o3prm"),
    ],
)
def test_models_that_there_are_not(client, query):
    refused(client.open(query, b"{}"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_fuzzed_requests(client, operation):
    rng = random.Random(f"requests {operation}")
    fields = (*CHECKS, "other")
    for _ in range(30):
        wanted = {rng.choice(fields): rng.choice(VALUES) for _ in range(rng.randint(1, 3))}
        if operation in ("card", "around"):
            wanted.setdefault("what", "p1")
        if operation in ("ranked", "list"):
            wanted.setdefault("what", "Severe")
        body = json.dumps(wanted)
        answered(
            client.finished(client.send("POST", f"/api/models/{client.model}/{operation}", body))
        )
    for body in (
        b"",
        b"[",
        b"\xff",
        b"[" * 90_000,
        b"null",
        b'"x"',
        b"{}{}",
        b"NaN",
        b'{"offset": 1' + b"0" * 5000 + b"}",
    ):
        answered(
            client.finished(client.send("POST", f"/api/models/{client.model}/{operation}", body))
        )
    refused(
        client.send("POST", f"/api/models/{client.model}/{operation}", b"[" + b" " * 2**20 + b"]")
    )


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.2", "127.0.0.1:1", "localhost.evil.example", "", "a" * 9000, "::1"],
)
def test_other_names_are_not_answered_to(server, client, host):
    assert client.send("GET", "/", host=host).status in (400, 421)
    refused(client.send("POST", "/api/models?example=wards", host=f"{host}:{server.port}"))


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "", "file://"],
)
def test_other_pages_cannot_ask(server, client, origin):
    assert client.send("POST", "/api/models?example=wards", origin=origin).status == 403
    assert client.send("DELETE", f"/api/models/{client.model}", origin=origin).status == 403
    assert (
        client.send("POST", "/api/models?example=wards", sec_fetch_site="cross-site").status == 403
    )
    assert (
        client.send(
            "OPTIONS", "/api/models", origin=origin, access_control_request_method="POST"
        ).status
        == 403
    )
    assert "access-control-allow-origin" not in client.send("GET", "/", origin=origin).headers


@pytest.mark.parametrize(
    "cookie",
    ["x", "x" * 5000, "a=b; " * 100, "lifagu-{}=", "lifagu-{}=../../x", 'lifagu-{}="\\000"'],
)
def test_cookies_are_not_guessed(server, client, cookie):
    stranger = server.client()
    refused(
        stranger.send(
            "POST", f"/api/models/{client.model}/ask", b"{}", cookie=cookie.format(server.port)
        )
    )


@pytest.mark.parametrize(
    "raw",
    [
        *(
            b"\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        ),
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /api/models HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/models HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nz\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    ],
    ids=map(str, range(10)),
)
def test_broken_http(server, raw):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
        reply = b""
        try:
            line.sendall(raw)
            line.shutdown(socket.SHUT_WR)
            while part := line.recv(2**16):
                reply += part
        except OSError:  # hung up on: what was sent is not read to its end
            reply = reply or b""
    assert not reply or reply.startswith(b"HTTP/1.1 4"), reply[:100]


def test_the_server_still_answers(client):
    assert client.ask("ask", variables=["Recovers.p9"]).status == 200
