"""Hostile requests to a running page, made from what it really takes, and what must never happen.

    python fuzz/page.py [--seconds N] [--seed S]

A server is started as a process with small limits and little patience, and some attackers as
threads of this one. Each round is drawn from the seed: requests of every operation with fields of
`lifagu.web.inputs` and values that are wrong in many ways, uploads that are mutated, packed, cut
off or sent side by side, paths, hosts, cookies and headers that play tricks, bodies whose lengths
are wrong, requests that stop in the middle, replies that are not read, jobs of others, and now and
then a process that is killed. It fails on any status of 500 or more but 503, on a traceback on the
server's terminal, on a request that takes more than 10 seconds, on other sessions' answers, and on
a server whose memory or open files keep growing.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from page_attacks import Attacker

FILES = 600  # that the server may have open at once: connections, uploads, ways to processes
GROWTH = 100 * 2**20  # bytes of memory that the server may grow by after its first quarter
SERVER = """
from functools import partial
from lifagu.web import Limits, serve
from lifagu.web.connections import Patience
serve(None, ready=partial(print, flush=True), port=0,
      limits=Limits(seconds=4.0, memory=2**30, upload=2**20),
      patience=Patience(headers=2.0, idle=3.0, reading=2.0, connections=60))
"""


def memory(pid: int) -> int:
    """Bytes of memory that a process itself holds."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGESIZE")


@contextmanager
def served(folder: str) -> Iterator[tuple[int, str, subprocess.Popen[str], Path]]:
    """A server: its port, its token, its process, and the file of its terminal."""
    terminal = Path(folder) / "terminal"
    with terminal.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "TMPDIR": folder},
        )
    try:
        assert process.stdout is not None
        found = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline())
        assert found, "the server did not start"
        yield int(found[1]), found[2], process, terminal
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def campaign(seconds: float, seed: int, attackers: int) -> tuple[list[str], Counter[str], str]:
    """Failures, how often each attack was tried and each status came, and what memory did."""
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        with served(folder) as (port, token, process, terminal):
            everybody = [
                Attacker(port, token, f"{seed} {number}", process.pid)
                for number in range(attackers)
            ]
            start = time.monotonic()
            threads = [
                threading.Thread(target=each.run, args=(start + seconds, failures))
                for each in everybody
            ]
            for thread in threads:
                thread.start()
            sizes = []
            while any(thread.is_alive() for thread in threads):
                time.sleep(min(1.0, seconds / 20))
                if process.poll() is not None:
                    failures.append(f"the server ended with status {process.returncode}")
                    break
                sizes.append(memory(process.pid))
                if (count := len(list(Path(f"/proc/{process.pid}/fd").iterdir()))) > FILES:
                    failures.append(f"the server has {count} files open")
                if "Traceback" in terminal.read_text():
                    failures.append("a traceback on the server's terminal")
            for thread in threads:
                thread.join()
        written = terminal.read_text()
        if "Traceback" in written or process.returncode:
            failures.append(f"status {process.returncode}, on its terminal: {written[-3000:]}")
        if left := list(Path(folder).glob("lifagu-serve-*")):
            failures.append(f"left behind: {left}")
    early, late = max(sizes[: len(sizes) // 4 + 1]), max(sizes[-len(sizes) // 4 :])
    if late - early > GROWTH:
        failures.append(f"memory grew from {early >> 20} to {late >> 20} MiB")
    done: Counter[str] = sum((each.done + each.statuses for each in everybody), Counter())
    return failures, done, f"{sizes[0] >> 20} MiB, then {early >> 20}, at the end {late >> 20}"


def main() -> int:
    """Print what was tried and what failed; the exit status says whether something did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    parser.add_argument("--attackers", type=int, default=6, help="how many at once (default 6)")
    options = parser.parse_args()
    failures, done, sizes = campaign(options.seconds, options.seed, options.attackers)
    tried = ", ".join(f"{name}: {count}" for name, count in sorted(done.items()))
    replies = sum(count for name, count in done.items() if name.isdecimal())
    print(f"seed {options.seed}: {replies} replies in {options.seconds:.0f} seconds")
    print(f"{tried}\nmemory of the server: {sizes}")
    for each in failures[:5]:
        print(f"failed: {each}")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
