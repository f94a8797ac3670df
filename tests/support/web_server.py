"""The page's server as users meet it: a process on a free port, and clients with cookies."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.helpers import ROOT

PATIENCE = 120  # seconds after which a test fails rather than waits
IMPATIENT = """
import sys
from functools import partial
from lifagu.web import serve
from lifagu.web.connections import Patience
serve(None, ready=partial(print, flush=True), port=0, patience=eval(f"Patience({sys.argv[1]})"))
"""


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


class Tap:
    """A template that is read at once, or, once it is shut, takes years until it is opened."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.template = folder, folder / "tap.json"
        patients = {"sql": "SELECT id FROM patients"}
        self.template.write_text(
            json.dumps(
                {
                    "format": "lifagu/1",
                    "source": "sqlite:///tap.db",
                    "domains": {"Patient": patients},
                    "relations": [{"name": "Sick", "of": ["Patient"]}],
                    "parfactors": [{"name": "f", "args": ["Sick(P)"], "table": [1, 3]}],
                }
            )
        )
        self.open()

    def shut(self) -> None:
        """From now on it takes years."""
        self._be(f"CREATE VIEW patients(id) AS {ENDLESS}")

    def open(self) -> None:
        """From now on it is read at once."""
        self._be("CREATE TABLE patients AS SELECT 'ann' AS id")

    def _be(self, statement: str) -> None:
        made = self._folder / "made.db"
        with closing(sqlite3.connect(made)) as connected, connected:
            connected.execute(statement)
        made.replace(self._folder / "tap.db")


@dataclass
class Answer:
    """Status, headers (names in lower case) and body of a reply."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """A browser's side without a browser: requests with the cookie that the first visit gave."""

    port: int
    entrance: str
    cookie: str = ""
    model: str = ""
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def send(
        self, method: str, path: str, body: bytes | str | None = None, **headers: str
    ) -> Answer:
        """One request; a header content_type becomes content-type."""
        given = {"cookie": self.cookie} if self.cookie else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self.connection.request(method, path, body, given)
            reply = self.connection.getresponse()
        # closed meanwhile: once more on a new connection
        except (ConnectionError, http.client.HTTPException):
            self.connection.close()
            self.connection.request(method, path, body, given)
            reply = self.connection.getresponse()
        found = Answer(
            reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        )
        if "set-cookie" in found.headers:
            self.cookie = found.headers["set-cookie"].partition(";")[0]
        return found

    def visit(self) -> Client:
        """Open the address that was printed."""
        self.send("GET", self.entrance)
        return self

    def finished(self, found: Answer) -> Answer:
        """The reply itself, however long its job takes."""
        while found.status == 202:
            found = self.send("GET", f"/api/jobs/{found.json['job']}")
        return found

    def open(self, query: str, body: bytes | None = None) -> Answer:
        """Open a model."""
        found = self.send("POST", f"/api/models?{query}", body)
        self.model = found.headers.get("x-lifagu-model", self.model)
        return self.finished(found)

    def ask(self, operation: str, **request: Any) -> Answer:
        """Ask about the open model."""
        return self.finished(
            self.send("POST", f"/api/models/{self.model}/{operation}", json.dumps(request))
        )


@dataclass
class Served:
    """A server that runs: its address and its process."""

    address: str
    port: int
    process: subprocess.Popen[str]
    clients: list[Client] = field(default_factory=list)

    def client(self, cookie: str = "") -> Client:
        entrance = self.address[self.address.rindex("/") :]
        self.clients.append(Client(self.port, entrance, cookie))
        return self.clients[-1]

    def end(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Its exit status and what it wrote to stderr."""
        self.process.send_signal(how)
        _, written = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, written


@contextmanager
def served(
    *arguments: str, folder: str | None = None, patience: str | None = None
) -> Iterator[Served]:
    """``lifagu serve`` on a free port; folder: where it may put temporary files.

    patience: with how little patience for slow clients, as arguments of `Patience`.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    environment |= {"TMPDIR": folder} if folder else {}
    command = [sys.executable, "-m", "lifagu", "serve", "--port", "0", *arguments]
    if patience is not None:
        command[1:] = ["-c", IMPATIENT, patience]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://(.+):(\d+)/\S*", line)
        assert found, line + (process.stderr.read() if process.stderr else "")
        running = Served(found[0], int(found[2]), process)
        try:
            yield running
        finally:
            for client in running.clients:
                client.connection.close()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
