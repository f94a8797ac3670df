"""The page under load: many users at once on a shipped example, each with a session of their own.

    python benchmarks/web.py [--users N] [--seconds S] [--slow N] [--small]

A server is started as a process on a free port of the loopback interface, and users run as threads
of this one, so both share the machine. Each user opens the example, then goes on asking for what a
page asks for: holes for another θ, colours, the lifted model, answers for other evidence. Latency
is from the request to its last byte, jobs included. The first table is with a pause of a second
between requests, as people at their fastest; the second without any, which shows what the server
can do at the most. Whatever is not answered with 200 counts as failed. With --slow there is the
first table alone, while so many others of `slow_clients.py` let the server wait all the time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from machine import machine

Latencies = dict[str, list[float]]
PATIENTS = [f"Recovers.p{number}" for number in range(1, 11)]


class User:
    """One user with a connection, a cookie, and what was measured."""

    def __init__(self, port: int, number: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie = ""
        self.chance = random.Random(number)
        self.seconds: Latencies = defaultdict(list)
        self.failed: list[str] = []

    def run(self, end: float, pause: float) -> None:
        """Open the example and ask until the time is over."""
        time.sleep(self.chance.random() * min(pause, 1.0))
        try:
            self.timed("page", "GET", "/")
            model = self.timed("open", "POST", "/api/models?example=wards")
            while time.monotonic() < end:
                operation = self.chance.choice(
                    ["transfers", "transfers", "ask", "ask", "colours", "lifted", "graph"]
                )
                self.timed(operation, "POST", f"/api/models/{model}/{operation}", self.request())
                time.sleep(pause * (0.5 + self.chance.random()))
        except OSError as error:
            self.failed.append(repr(error))
        finally:
            self.connection.close()

    def request(self) -> str:
        """Another θ and other evidence than before."""
        seen = {
            self.chance.choice(PATIENTS): self.chance.choice(["true", "false"]) for _ in range(2)
        }
        return json.dumps(
            {"theta": self.chance.choice([0.0, 0.3, 0.6, 0.7, 1.0]), "method": "share"}
            | {"evidence": seen}
        )

    def timed(self, name: str, method: str, path: str, body: str | None = None) -> str:
        """One request with all that follows from it; the name of the model, if it opens one."""
        start = time.perf_counter()
        status, headers, content = self.send(method, path, body)
        model = headers.get("x-lifagu-model", "")
        while status == 202:
            status, _, content = self.send("GET", f"/api/jobs/{json.loads(content)['job']}", None)
        self.seconds[name].append(time.perf_counter() - start)
        if status != 200:
            self.failed.append(f"{name}: {status} {content[:200]!r}")
        return model

    def send(self, method: str, path: str, body: str | None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one reply."""
        self.connection.request(method, path, body, {"cookie": self.cookie})
        reply = self.connection.getresponse()
        headers = {name.lower(): value for name, value in reply.getheaders()}
        self.cookie = headers.get("set-cookie", self.cookie).partition(";")[0]
        return reply.status, headers, reply.read()


@contextmanager
def served() -> Iterator[int]:
    """The port of a server that runs."""
    command = [sys.executable, "-m", "lifagu", "serve", "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found, "the server did not start"
        yield int(found[1])
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


@contextmanager
def slow_clients(port: int, count: int, seconds: float) -> Iterator[None]:
    """So many clients that let the server wait, until they say how often they came."""
    if not count:
        yield
        return
    program = Path(__file__).with_name("slow_clients.py")
    options = ["--clients", str(count), "--seconds", str(seconds)]
    with subprocess.Popen([sys.executable, program, str(port), *options]) as process:
        yield
    assert process.returncode == 0


def measured(
    users: int, seconds: float, pause: float, slow: int = 0
) -> tuple[Latencies, list[str], float]:
    """Latencies by operation, failures, and how long it took."""
    with served() as port, slow_clients(port, slow, seconds):
        # the first process of all takes a moment, which is nobody's latency
        User(port, -1).run(0.0, 0.0)
        everybody = [User(port, number) for number in range(users)]
        start = time.monotonic()
        threads = [
            threading.Thread(target=user.run, args=(start + seconds, pause)) for user in everybody
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.monotonic() - start
    latencies: Latencies = defaultdict(list)
    for user in everybody:
        for name, each in user.seconds.items():
            latencies[name] += each
    return latencies, [each for user in everybody for each in user.failed], taken


def table(latencies: Latencies, failed: list[str], taken: float) -> str:
    """One row per operation, all of them together last."""
    rows = {
        **dict(sorted(latencies.items())),
        "all": [each for values in latencies.values() for each in values],
    }
    lines = ["| request | number | median | 95 % | 99 % | largest |", "|---" * 6 + "|"]
    for name, values in rows.items():
        cuts = (
            statistics.quantiles(values, n=100, method="inclusive")
            if len(values) > 1
            else values * 99
        )
        shown = [f"{1000 * value:.0f} ms" for value in (cuts[49], cuts[94], cuts[98], max(values))]
        lines.append(f"| {name} | {len(values)} | {' | '.join(shown)} |")
    total = len(rows["all"])
    return "\n".join([*lines, "", f"{total / taken:.0f} requests a second, {len(failed)} failed."])


def main() -> int:
    """Print both tables; the exit status says whether something failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=50, help="how many at once (default 50)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long, for the first table (default 60)"
    )
    parser.add_argument(
        "--slow", type=int, default=0, help="how many others let the server wait (default 0)"
    )
    parser.add_argument(
        "--small", action="store_true", help="a few users for a moment, to see that it works"
    )
    options = parser.parse_args()
    users, seconds = (5, 1.5) if options.small else (options.users, options.seconds)
    print(f"# The page under load\n\n{machine(['lifagu', 'starlette', 'uvicorn'])}")
    failures = []
    tables = [("a second between requests", 1.0, seconds), ("no pause", 0.0, seconds / 3)]
    for title, pause, length in tables[:1] if options.slow else tables:
        latencies, failed, taken = measured(users, length, pause, options.slow)
        print(
            f"\n## {users} users, {taken:.0f} seconds, {title}\n",
            table(latencies, failed, taken),
            sep="\n",
            flush=True,
        )
        failures += failed
    for each in failures[:10]:
        print(f"failed: {each}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
