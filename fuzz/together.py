"""Threads and forks beside a writer: as if each were alone, round after round.

    python fuzz/together.py --seconds 600 --seed 1

Each round draws two models with holes, and takes down what there is to say of each. Then a writer
replaces one by the other, again and again, at a place where eight threads open it and ask; some of
them ask a case that all share, and some fork a process that asks. Whatever is said must be said of
one of the two models, all of it of the same one; only a folder may be refused, in one line, where
it was replaced while it was read. Forked processes open no folders: DuckDB reads them, which
breaks where a process is forked while another thread uses it.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # before numpy: forks follow

import argparse
import json
import random
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import lifagu
from lifagu.errors import LifaguError
from support.graphs_for_engines import hospital

THREADS, TURNS = 8, 6
PATIENCE = 60  # seconds after which a forked process counts as hanging
WAYS = ("opened", "opened", "shared", "forked and shared", "forked")
ENDINGS = (".json", ".json.gz", "")  # nothing: a folder of tables


def said(case: lifagu.Case) -> str:
    """What there is to say of a case, as text that can be compared."""
    lift = case.fill(by="extended").lift()
    names = list(case.graph.variable_names)[:2]
    try:
        shares = [repr(case.fill(by="extended").ask(name)) for name in names]
    except lifagu.NoAnswerError as error:
        shares = [str(error)]
    return json.dumps([repr(lift.lent), repr(lift.groups.variables), shares])


def in_a_fork(work: Callable[[], str]) -> str:
    """What some work says in a process that was forked beside threads."""
    ours, theirs = os.pipe()
    if not (number := os.fork()):
        try:
            found = work()
        except BaseException:
            found = traceback.format_exc()
        with os.fdopen(theirs, "w") as pipe:
            pipe.write(found)
        os._exit(0)
    os.close(theirs)
    parts: list[bytes] = []
    while select.select([ours], [], [], PATIENCE)[0] and (part := os.read(ours, 2**16)):
        parts.append(part)
    os.close(ours)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return b"".join(parts).decode() or "a fork hangs"


class Round:
    """Two models, what there is to say of each, and everybody at once."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng, self.counts, self.wrong = rng, Counter[str](), list[str]()
        self.place = folder / f"model{rng.choice(ENDINGS)}"
        self.models = [hospital(random.Random(rng.randrange(10**9)))[0] for _ in range(2)]
        self.expected = []
        for model in self.models:
            lifagu.write(model, self.place)
            self.expected.append(said(lifagu.open(self.place)))
        self.shared = lifagu.open(self.models[0])
        self.over = threading.Event()

    def run(self) -> None:
        """Eight threads, and the writer beside them."""
        writer = threading.Thread(target=self._write)
        writer.start()
        try:
            with ThreadPoolExecutor(THREADS) as pool:
                seeds = [self.rng.randrange(10**9) for _ in range(THREADS)]
                list(pool.map(self._ask, seeds))
        finally:
            self.over.set()
            writer.join()

    def _write(self) -> None:
        number = 0
        while not self.over.wait(0.002):
            lifagu.write(self.models[number % 2], self.place)
            number += 1
        self.counts["replaced"] += number

    def _ask(self, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(TURNS):
            way = rng.choice(WAYS if self.place.suffix else WAYS[:-1])
            work = self._shared if "shared" in way else self._opened
            try:
                found = in_a_fork(work) if "forked" in way else work()
            except Exception:
                found = traceback.format_exc()
            self.counts[way] += 1
            right = self.expected[:1] if "shared" in way else self.expected
            refused = not self.place.suffix and "replaced while it was read" in found
            if found not in right and not (refused and "Traceback" not in found):
                self.wrong.append(f"{way} {self.place.name}: {found[-1500:]}")

    def _shared(self) -> str:
        return said(self.shared)

    def _opened(self) -> str:
        try:
            return said(lifagu.open(self.place))
        except LifaguError as error:
            return str(error)


def campaign(seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """How often what was done, and what went wrong."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        with tempfile.TemporaryDirectory() as folder:
            one: Any = Round(random.Random(f"{seed} {number}"), Path(folder))
            one.run()
            left = [each.name for each in Path(folder).iterdir() if each != one.place]
        counts += one.counts + Counter(rounds=1)
        failures += [f"round '{seed} {number}': {each}" for each in one.wrong]
        failures += [f"round '{seed} {number}': left behind: {left}"] * bool(left)
        number += 1
    return counts, failures


def main() -> int:
    """Print what was done and what failed; the exit status says whether something did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    options = parser.parse_args()
    counts, failures = campaign(options.seconds, options.seed)
    tried = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"seed {options.seed}: {tried}")
    for each in failures[:5]:
        print(f"failed: {each}")
    print(f"{len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
