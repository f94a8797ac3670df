"""Who attacks the page: sessions that draw what to send from a seed, and judge what comes back."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import socket
import struct
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lifagu.basics.choices import ENGINES, UNKNOWN
from lifagu.web.app import OPERATIONS
from lifagu.web.inputs import CHECKS
from lifagu.web.sources import ENDINGS, EXAMPLES

HANGS = 10.0  # seconds, after which a request hangs
SHIPPED = Path(__file__).resolve().parents[1] / "src/lifagu/examples"
NAMES = ("Recovers.p1", "Severe.p10", "Staffed", "p1", "p11", "Treated.p4.m1", "nobody")
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**63, -(2**63), 10**400, 0.5, 1e308, -0.0, 5e-324),
    *(float("nan"), float("inf"), "", "\0", "\ud800", "𝕏" * 50, "a" * 5000, "../../etc/passwd"),
    *("<script>", "{{7*7}}", "%00", "1e999", [], [[]], {}, {"": ""}, [None], [[[[]]]]),
    *(["Staffed"] * 1001, [["p11", "p1"]] * 40, {"Staffed": "true"}, {"Staffed": {"true": -1}}),
)
ODD_BODIES = (
    *(b"", b"[", b"{", b"null", b"\xff\xfe", b"[" * 90_000, b'{"a":' * 50_000, b"1" * 6000),
    *(b"{}{}", b"NaN", b'{"offset": 1' + b"0" * 5000 + b"}", b'{"offset": 1e999}', b'"\\ud800"'),
)
PIECES = (b"1e999", b"\xff\xfe", b"null", b"[[", b"9" * 30, b"-0", b'"', b"\0", b"\r\n", b"{}")
PATHS = (
    *("/", "//", "/?token=x", "/static/main.js", "/static/../app.py", "/static/%2e%2e/app.py"),
    *("/static/%00", "/static/..%2f..%2fetc%2fpasswd", "/%ff%fe", "/.git", "/api/start", "*"),
    *("/api/models", "/api/models/x/ask", "/api/models/../start", "/api/jobs/x", "/api/jobs/%2f"),
    *("http://evil.example/", "//evil.example/", "/a" * 4000, "/;x", "/#x", "/?" + "a=b&" * 3000),
)
METHODS_OF_HTTP = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT")
ODD_HEADERS: tuple[tuple[str, str], ...] = (
    *(("Host", each) for each in ("evil.example", "", "127.0.0.1", "a" * 9000, "[::1", "x:y@z")),
    *(("Origin", each) for each in ("null", "http://evil.example", "", "a" * 5000)),
    *(("Cookie", each) for each in ("a=b; " * 2000, "x" * 12_000, "=", ";;;", '"\\000"', "a")),
    *(("Sec-Fetch-Site", "cross-site"), ("Expect", "100-continue"), ("Upgrade", "websocket")),
    *(("Connection", "upgrade, close"), ("Content-Type", "a" * 9000), ("Range", "bytes=0-1,2-")),
    *(("Content-Encoding", "gzip"), ("X-Forwarded-For", "::1"), ("X-" + "a" * 3000, "b")),
    *(("Transfer-Encoding", each) for each in ("chunked", "gzip", "chunked, chunked", "identity")),
    *(("Content-Length", each) for each in ("0", "-1", "1e3", "+5", "9" * 40, "5, 5", "5, 6", "")),
)
CHUNKS = (
    *(b"0\r\n\r\n", b"5\r\n{}\r\n0\r\n\r\n", b"zz\r\n\r\n", b"f" * 40 + b"\r\n", b"-1\r\n\r\n"),
    *(
        b"2\r\n{}\r\n0\r\nA: b\r\n\r\n",
        b"2;" + b"a" * 20_000 + b"\r\n{}",
        b"2\n{}\n0\n\n",
        b"2\r\n{}",
    ),
    b"0\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
)


class Reply(NamedTuple):
    """What came back: a status (0: nothing, hung up), headers with small names, and bytes."""

    status: int
    headers: dict[str, str]
    body: bytes


class Failure(Exception):
    """Something that must never happen."""


class Attacker:
    """One client with a session, who draws what to do next from a seed."""

    def __init__(self, port: int, token: str, seed: str, pid: int) -> None:
        self.port, self.pid, self.entrance = port, pid, f"/?token={token}"
        self.rng = random.Random(seed)
        self.cookie = self.model = self.job = ""
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.last = ""

    def run(self, end: float, failures: list[str]) -> None:
        """Attack until the time is over, or something failed."""
        kinds: list[tuple[Callable[[], None], int]] = [
            *((self.asks, 40), (self.uploads, 12), (self.plays, 25), (self.stops, 12)),
            *((self.sends_chunks, 12), (self.spies, 4), (self.floods, 2), (self.reads_slowly, 2)),
            *((self.uploads_beside, 2), (self.kills, 1), (self.pipelines, 4)),
        ]
        attacks, weights = zip(*kinds, strict=True)
        while time.monotonic() < end and not failures:
            if not self.model or self.rng.random() < 0.02:
                self.enters()
            (attack,) = self.rng.choices(attacks, weights)
            self.done[attack.__name__] += 1
            try:
                attack()
            except Failure as failure:
                failures.append(f"{attack.__name__}: {failure}; last sent: {self.last[:300]}")
            except Exception:
                failures.append(f"{attack.__name__}: {traceback.format_exc()}")

    # ---- one request

    def send(
        self, method: str, path: str, body: bytes = b"", *more: tuple[str, str], own: bool = True
    ) -> Reply:
        """A request that is complete as far as its headers are; the reply must come in time."""
        given = [("Host", f"127.0.0.1:{self.port}"), ("Cookie", self.cookie)] if own else []
        names = {name.lower() for name, _ in more}
        headers = [
            each for each in given if each[0].lower() not in names or self.rng.random() < 0.2
        ]
        if not names & {"content-length", "transfer-encoding"}:
            headers.append(("Content-Length", str(len(body))))
        lines = [f"{method} {path} HTTP/1.1", *(f"{a}: {b}" for a, b in (*headers, *more))]
        return self.raw("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body, method)

    def raw(self, sent: bytes, method: str = "GET") -> Reply:
        """What comes back for these bytes, the first reply alone."""
        self.last = repr(sent[:300])
        start = time.monotonic()
        found = b""
        try:
            with self.line() as line:
                with suppress(ConnectionError):
                    line.sendall(sent)
                while not is_complete(found, method) and (part := line.recv(2**16)):
                    found += part
        except TimeoutError:
            raise Failure(f"no reply, and not hung up within {HANGS:.0f} seconds") from None
        except ConnectionError:
            pass
        if time.monotonic() - start > HANGS:
            raise Failure(f"a reply took more than {HANGS:.0f} seconds")
        reply = checked(parsed(found))
        self.statuses[str(reply.status)] += 1
        return reply

    def line(self) -> socket.socket:
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=HANGS)

    def finished(self, reply: Reply) -> Reply:
        """The reply itself, however many times a job has to be asked about."""
        while reply.status == 202:
            self.job = json.loads(reply.body)["job"]
            if self.rng.random() < 0.1:
                return self.send("DELETE", f"/api/jobs/{self.job}")
            reply = self.send("GET", f"/api/jobs/{self.job}")
        return reply

    # ---- attacks

    def enters(self) -> None:
        """A new session, which opens something."""
        reply = self.send("GET", self.entrance, b"", ("Cookie", ""))
        self.cookie = reply.headers.get("set-cookie", "").partition(";")[0] or self.cookie
        name = self.rng.choice(["wards", *EXAMPLES])
        self.opens(self.send("POST", f"/api/models?example={name}"))

    def opens(self, reply: Reply) -> None:
        """Keep the name of a model that is being opened, and wait for it."""
        self.model = reply.headers.get("x-lifagu-model", self.model)
        self.finished(reply)

    def asks(self) -> None:
        """An operation with fields that may be right or wrong."""
        operation = self.rng.choice(OPERATIONS)
        if self.rng.random() < 0.1:
            body = self.rng.choice(ODD_BODIES)
        else:
            fields = self.rng.sample([*CHECKS, "other"], self.rng.randint(0, 4))
            body = json.dumps({each: self.value(each) for each in fields}).encode()
        self.finished(self.send("POST", f"/api/models/{self.model}/{operation}", body))

    def value(self, name: str) -> Any:
        """A value for a field, as it should be or not."""
        rng = self.rng
        if rng.random() < 0.4:
            return rng.choice(ODD_VALUES)
        good: dict[str, Callable[[], Any]] = {
            "add": lambda: [[f"n{rng.randint(0, 3)}", rng.choice(NAMES)]],
            "evidence": lambda: {
                rng.choice(NAMES): rng.choice(["true", "false", {"true": 2}, None])
            },
            "unknown": lambda: rng.choice(UNKNOWN),
            "engine": lambda: rng.choice(ENGINES),
            "variables": lambda: rng.sample(NAMES, rng.randint(0, 4)),
            "what": lambda: rng.choice(["Recovers", "Severe", "p1", *NAMES]),
            "value": lambda: rng.choice(["", "true", "false"]),
            "unobserved": lambda: rng.random() < 0.5,
            "having": lambda: [["Severe", rng.choice(["true", "false"])]],
            "containing": lambda: rng.choice(["p1", "S", "\x01"]),
            "offset": lambda: rng.choice([0, 1, 50, 10**9]),
            "scenarios": lambda: {"one": {rng.choice(NAMES): "true"}, "other": {}},
        }
        return good.get(name, lambda: 1)()

    def upload(self) -> tuple[str, bytes]:
        """An ending and bytes: a shipped model that was changed, perhaps packed."""
        rng = self.rng
        path = rng.choice(sorted(each for each in SHIPPED.glob("*.*") if each.suffix in ENDINGS))
        body = bytearray(path.read_bytes())
        for _ in range(rng.randint(0, 5)):
            place = rng.randrange(len(body) + 1)
            cut = place + rng.randint(0, 40)
            body[place:cut] = rng.choice([*PIECES, b"", bytes(body[place:cut]) * 2])
        if rng.random() < 0.1:
            body += b" " * rng.choice([2**16, 2**20, 2**21])
        ending = path.suffix if rng.random() < 0.9 else rng.choice(ENDINGS)
        if rng.random() < 0.7:
            return ending, bytes(body)
        cut = rng.randrange(len(body) + 1)
        packed = gzip.compress(bytes(body[:cut])) + gzip.compress(bytes(body[cut:]))
        if rng.random() < 0.3:
            packed = packed[: rng.randrange(len(packed))] + rng.choice([b"", b"\0" * 9, b"more"])
        return ending.removesuffix(".gz") + ".gz", packed

    def uploads(self) -> None:
        """A changed model."""
        ending, body = self.upload()
        self.opens(self.send("POST", f"/api/models?ending={ending}", body))

    def uploads_beside(self) -> None:
        """Several uploads side by side, some of which break off."""
        lines = []
        for _ in range(6):
            ending, body = self.upload()
            head = self.head("POST", f"/api/models?ending={ending}", len(body))
            line = self.line()
            lines.append(line)
            with suppress(OSError):
                line.sendall(head + body[: len(body) // 2])
        for line in lines:
            if self.rng.random() < 0.5:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.close()

    def head(self, method: str, path: str, length: int) -> bytes:
        """The headers of a request that is as it should be."""
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Cookie: {self.cookie}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    def plays(self) -> None:
        """Paths, methods and headers that play tricks."""
        rng = self.rng
        path = rng.choice(PATHS)
        if rng.random() < 0.2:
            path = "".join(chr(rng.randrange(33, 127)) for _ in range(rng.randint(1, 60)))
        more = rng.sample(ODD_HEADERS, rng.randint(0, 3))
        if rng.random() < 0.1:
            more += [(f"X-{number}", "y" * rng.randint(0, 40)) for number in range(2000)]
        body = rng.choice(ODD_BODIES)
        method = rng.choice((*METHODS_OF_HTTP, "FOO", "get", "G E T", "\0"))
        self.send(method, path, body, *more, own=rng.random() < 0.9)

    def stops(self) -> None:
        """A request that ends, or only stops, somewhere in the middle."""
        body = b'{"offset": 0.5' + b" " * self.rng.randrange(2000) + b"}"
        whole = self.head("POST", f"/api/models/{self.model}/ask", len(body)) + body
        cut = self.rng.randrange(len(whole))
        if self.rng.random() < 0.8:
            with suppress(ConnectionError), self.line() as line:
                line.sendall(whole[:cut])
        elif cut < len(whole) - len(body):  # bodies have longer
            self.raw(whole[:cut])

    def sends_chunks(self) -> None:
        """Bodies in parts whose lengths are wrong."""
        path = self.rng.choice(
            ["/", "/nothing", "/api/models?ending=.json", f"/api/models/{self.model}/ask"]
        )
        chunks = b"".join(self.rng.choices(CHUNKS, k=self.rng.randint(1, 3))) + b"0\r\n\r\n"
        more = [("Transfer-Encoding", "chunked")]
        if self.rng.random() < 0.2:
            more.append(("Content-Length", "4"))
        if re.fullmatch(rb"(2\r\n\{\}\r\n)*0\r\n\r\n.*", chunks, re.DOTALL):
            self.finished(self.send("POST", path, chunks, *more))
            return
        # what is not wrong yet may wait for the rest, which has its time
        self.last = repr((path, chunks[:100]))
        with suppress(ConnectionError), self.line() as line:
            line.sendall(self.head("POST", path, 0).replace(b"Content-Length: 0\r\n", b"")[:-2])
            line.sendall(b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
            line.settimeout(2 * HANGS)
            checked(parsed(line.recv(2**16)))

    def pipelines(self) -> None:
        """Many requests at once on one connection."""
        one = self.head("GET", self.rng.choice(["/", "/static/main.js", "/api/start"]), 0)
        self.raw(one * self.rng.randint(2, 200))

    def reads_slowly(self) -> None:
        """Many replies, none of which is read."""
        with suppress(OSError), self.line() as line:
            line.settimeout(1.0)
            for _ in range(100):
                line.sendall(self.head("GET", "/static/main.js", 0) * 10)

    def spies(self) -> None:
        """Models and jobs of others are not to be found."""
        with suppress(OSError):
            model, job = self.model, self.job or "x"
            token = self.entrance.partition("=")[2]
            stranger = Attacker(self.port, token, str(self.rng.random()), self.pid)
            reply = stranger.send("GET", stranger.entrance)
            stranger.cookie = reply.headers.get("set-cookie", "").partition(";")[0]
            for reply in (
                stranger.send("POST", f"/api/models/{model}/open", b"{}"),
                stranger.send("DELETE", f"/api/models/{model}"),
                stranger.send("GET", f"/api/jobs/{job}"),
                stranger.send("DELETE", f"/api/jobs/{job}"),
            ):
                if reply.status not in (0, 401, 404, 503):
                    raise Failure(f"something of another session: {reply.status}")

    def floods(self) -> None:
        """New sessions, and connections that say nothing."""
        for _ in range(self.rng.randint(1, 100)):
            self.send("GET", self.entrance, b"", ("Cookie", ""))
        lines = []
        for _ in range(self.rng.randint(1, 100)):
            with suppress(OSError):
                lines.append(self.line())
        for line in lines:
            line.close()

    def kills(self) -> None:
        """One of the server's helpers, or that from which they begin."""
        if self.rng.random() < 0.3:
            helpers = [each for each in children(self.pid) for _ in children(each)]
        else:
            helpers = [each for one in children(self.pid) for each in children(one)]
        for each in helpers[:1]:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


# ---- replies


def is_complete(found: bytes, method: str) -> bool:
    """Whether a whole reply is there."""
    head, _, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    if b"\r\n\r\n" not in found or found.startswith(b"HTTP/1.1 1"):
        return False
    if method == "HEAD" or found.startswith(b"HTTP/1.1 204"):
        return True
    return length is not None and len(body) >= int(length[1])


def parsed(found: bytes) -> Reply:
    """The first reply in these bytes."""
    while found.startswith(b"HTTP/1.1 1"):
        found = found.partition(b"\r\n\r\n")[2]
    head, _, body = found.partition(b"\r\n\r\n")
    if not head:
        return Reply(0, {}, b"")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    length = int(headers.get("content-length", len(body)))
    return Reply(int(first.split()[1]), headers, body[:length])


def checked(reply: Reply) -> Reply:
    """The reply, if it is one that may be."""
    if reply.status >= 500 and reply.status != 503:
        raise Failure(f"status {reply.status}: {reply.body[:200]!r}")
    if b"Traceback (most" in reply.body:
        raise Failure("a traceback was sent")
    return reply


# ---- processes


def children(pid: int) -> list[int]:
    """Processes that a process has begun and that have not ended."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            rest = each.read_text().rpartition(")")[2].split()
            if int(rest[1]) == pid and rest[0] != "Z":
                found.append(int(each.parent.name))
    return found
