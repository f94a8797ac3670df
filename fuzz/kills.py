"""Kill every writer at every step: its old result is there or its new one, whole, and it goes on.

    python fuzz/kills.py --runs 1000 --seed 1

Each run forks from a warm process, runs a real command that replaces an earlier result, and is
ended at its k-th step: a call that changes files, a statement of a database, or any moment. Then a
second process reads what is there, compares it with both results byte by byte, and writes again.
Some runs end otherwise: by SIGTERM, on a full disk, with little memory, under a clock that jumps,
or beside another run that writes the same.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # before numpy: forks follow

import argparse
import errno
import hashlib
import itertools
import json
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from lifagu.basics import atomic_files, exchanging
from lifagu.cli import main as lifagu
from lifagu.data.databases import writing_to_served
from lifagu.data.duck import Duck
from writers import Writer, prepared

STEPS = {
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link"),
    *("shutil.rmtree", "lifagu.exchange", "kills.statement", "sqlite3.connect"),
}
GROWING = ("open", "os.mkdir", "os.rename", "lifagu.exchange")  # what a full disk may refuse
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
RARITY = 4  # how many times as often the others are run as those that take long
PATIENCE = 120  # seconds after which a run counts as hanging
YEARS = 10 * 365 * 86400  # seconds by which clocks jump


class Ending(NamedTuple):
    """How a run is to end: the kind, at which step, and whether folders cannot be exchanged."""

    kind: str = "none"
    step: int = 0
    plain: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.step}{' without exchange' * self.plain}"


NOTHING = Ending()


# ---- in the process that is to end


class Counting:
    """An audit hook: counts steps, and acts at one of them."""

    def __init__(self, ending: Ending) -> None:
        self.ending, self.count = ending, 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See an event; those that only read are no steps."""
        if event in STEPS or (event == "open" and _writes(arguments)):
            self.count += 1
            if self.ending.kind == "full" or self.count == self.ending.step:
                self.act(event)

    def act(self, event: str) -> None:
        """End, or ask to end; or from now on there is no room for anything new."""
        if self.ending.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.ending.kind == "term":
            os.kill(os.getpid(), signal.SIGTERM)
        elif self.count >= self.ending.step and event in GROWING:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    if path == os.devnull:  # nothing is kept there
        return False
    return isinstance(path, str | bytes) and isinstance(flags, int) and bool(flags & WRITING)


def _statements_are_steps() -> None:
    """What databases do is no event of Python's; each statement becomes one, before and after."""
    finished, cursors = Duck._finished, writing_to_served._writing

    def told(self: Duck, work: Callable[[], Any], place: Any) -> Any:
        sys.audit("kills.statement")
        found = finished(self, work, place)
        sys.audit("kills.statement")
        return found

    @contextmanager
    def watched(address: Any) -> Iterator[Any]:
        with cursors(address) as cursor:
            yield _Watched(cursor)

    Duck._finished = told  # type: ignore[method-assign]
    writing_to_served._writing = watched


class _Watched:
    """A cursor of which every call is a step."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __getattr__(self, name: str) -> Any:
        sys.audit("kills.statement")
        return getattr(self._cursor, name)


def _under(ending: Ending, writer: Writer) -> Counting:
    """Set the stage in a forked process."""
    counting = Counting(ending)
    _statements_are_steps()
    if ending.plain:
        exchanging.exchanged = lambda one, other: False
    if ending.kind == "limit":  # a disk that is full within a file
        resource.setrlimit(resource.RLIMIT_FSIZE, (ending.step, ending.step))
    if ending.kind == "memory":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ending.step, used + ending.step))
    if ending.kind == "clock":
        real, jump = time.time, ending.step
        time.time = lambda: real() + jump  # type: ignore[assignment]
        for each in writer.results.rglob("*"):
            os.utime(each, (real() - jump, real() - jump))
    sys.addaudithook(counting)
    return counting


# ---- processes


class Ended(NamedTuple):
    """How a process ended: its status as waitpid has it, what it said, and its answer."""

    status: int
    said: str
    answer: Any

    @property
    def code(self) -> int:
        """Its exit status, negative for a signal."""
        return os.waitstatus_to_exitcode(self.status)


def forked(writer: Writer, work: Callable[[], tuple[int, Any]]) -> tuple[int, int, Path]:
    """Begin some work in a process of its own: its number, the pipe for its answer, its words."""
    said = writer.base / f"said-{random.randrange(10**9)}"
    ours, theirs = os.pipe()
    number = os.fork()
    if number:
        os.close(theirs)
        return number, ours, said
    status = 99
    try:
        words = os.open(said, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(words, 1)
        os.dup2(words, 2)
        os.chdir(writer.base)
        tempfile.tempdir = str(writer.base / "tmp")
        status, answer = work()
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(theirs, json.dumps(answer).encode())
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def awaited(begun: tuple[int, int, Path], kill_after: float | None = None) -> Ended:
    """Wait for the end of a process; it is killed after some seconds, at the latest."""
    number, pipe, words = begun
    patience = PATIENCE if kill_after is None else kill_after
    parts: list[bytes] = []
    until = time.monotonic() + patience
    while True:
        if not select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
            os.kill(number, signal.SIGKILL)
            until = time.monotonic() + PATIENCE
            continue
        part = os.read(pipe, 65536)
        if not part:
            break
        parts.append(part)
    os.close(pipe)
    _, status = os.waitpid(number, 0)
    said = words.read_text(errors="replace") if words.exists() else ""
    words.unlink(missing_ok=True)
    answer = b"".join(parts)
    return Ended(status, said, json.loads(answer) if answer else None)


def run(writer: Writer, mark: int, ending: Ending = NOTHING) -> tuple[int, int, Path]:
    """Begin to write a result, to be ended; its answer is how many steps there were."""

    def work() -> tuple[int, Any]:
        counting = _under(ending, writer)
        return lifagu(writer.command(mark)), counting.count

    return forked(writer, work)


# ---- what is there


def tree(folder: Path, hidden: bool) -> dict[str, str]:
    """The files and empty folders in a folder, with digests of what they hold."""
    found = {}
    for each in sorted(folder.rglob("*")):
        name = each.relative_to(folder).as_posix()
        if hidden or not any(part.startswith(".") for part in name.split("/")):
            if each.is_file():
                found[name] = hashlib.sha256(each.read_bytes()).hexdigest()
            elif not any(each.iterdir()):
                found[f"{name}/"] = ""
    return found


def rubbish(writer: Writer) -> list[str]:
    """What no run should leave behind."""
    left = [name for name in tree(writer.results, hidden=True) if name.split("/")[-1][:1] == "."]
    left += [name for name in tree(writer.results, hidden=True) if ".lifagu/" in name]
    return left + [
        f"{part}/{each}"
        for part in ("tmp", "work")
        for each in tree(writer.base / part, hidden=True)
    ]


def found_in(writer: Writer) -> Any:
    """The result that is there, as somebody sees who reads it."""
    atomic_files.settle(writer.target)
    return writer.dumped() if writer.dumped else tree(writer.results, hidden=False)


def looked(writer: Writer, mark: int, again: bool = True) -> Ended:
    """What is there now, and, written once more, what then is there and what is left over."""

    def work() -> tuple[int, Any]:
        before, left = found_in(writer), rubbish(writer)
        if not again:
            return 0, [before, left, 0, None, []]
        status = lifagu(writer.command(mark))
        return 0, [before, left, status, found_in(writer), rubbish(writer)]

    return awaited(forked(writer, work))


# ---- the campaign


class Campaign:
    """All writers, their two results, and what went wrong."""

    def __init__(self, writers: list[Writer], chance: random.Random) -> None:
        self.writers, self.chance = writers, chance
        self.results: dict[str, list[Any]] = {}
        self.steps: dict[tuple[str, bool], int] = {}
        self.seconds: dict[str, float] = {}
        self.now: dict[str, int] = {}
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.wrong: list[str] = []

    def begin(self) -> None:
        """Write both results of each writer once, unharmed, and see how many steps that takes."""
        for writer in self.writers:
            self.results[writer.name] = [None, None]
            for mark in (0, 1, 0, 1, 0):
                plain = mark == 1
                self._reset(writer)
                start = time.monotonic()
                done = awaited(run(writer, mark, Ending(plain=plain)))
                self.seconds[writer.name] = time.monotonic() - start
                if done.code:
                    raise SystemExit(f"{writer.name} does not work: {done.said}")
                seen = looked(writer, mark, again=False)
                if seen.code or seen.answer[1]:
                    raise SystemExit(f"{writer.name}: {seen.said} {seen.answer}")
                earlier = self.results[writer.name][mark]
                if earlier not in (None, seen.answer[0]):
                    raise SystemExit(f"{writer.name} writes other bytes each time")
                self.results[writer.name][mark] = seen.answer[0]
                self.steps[writer.name, plain] = done.answer
            self.now[writer.name] = 0
            if not writer.fresh and self.results[writer.name][0] == self.results[writer.name][1]:
                raise SystemExit(f"{writer.name}: both results are the same")

    def _reset(self, writer: Writer) -> None:
        if writer.fresh:
            shutil.rmtree(writer.results)
            writer.results.mkdir()

    def endings(self, runs: int) -> list[tuple[Writer, Ending]]:
        """So many kills at steps, each step of each writer in turn; and some of all other kinds."""
        turns = []
        for writer in self.writers:
            steps = [
                Ending("kill", step, plain)
                for plain in (False, True)
                for step in range(1, self.steps[writer.name, plain] + 1)
            ]
            self.chance.shuffle(steps)
            endless = zip(itertools.repeat(writer), itertools.cycle(steps))
            turns += [endless] * (1 if writer.rare else RARITY)
        planned = [next(turns[number % len(turns)]) for number in range(runs)]
        for kind, share in {
            "moment": 10,
            "term": 5,
            "full": 8,
            "limit": 20,
            "memory": 20,
            "clock": 40,
            "beside": 10,
        }.items():
            for _ in range(runs // share):
                often = [each for each in self.writers if not each.rare]
                writer = self.chance.choice([*self.writers, *often * (RARITY - 1)])
                if kind == "beside" and writer.fresh:
                    continue
                most = {"limit": 20_000, "memory": 2**28, "clock": 2 * YEARS}.get(
                    kind, self.steps[writer.name, False]
                )
                step = self.chance.randint(1, most) - YEARS * (kind == "clock")
                planned.append((writer, Ending(kind, step)))
        self.chance.shuffle(planned)
        return planned

    def one(self, writer: Writer, ending: Ending) -> None:
        """One run that is to end, and what comes after it."""
        self._reset(writer)
        old = self.now[writer.name]
        new = old if writer.fresh else 1 - old
        before = {} if writer.fresh else self.results[writer.name][old]
        after = self.results[writer.name][new]
        if ending.kind == "beside":
            self._beside(writer, ending)
            return
        late = self.chance.random() * self.seconds[writer.name] if ending.kind == "moment" else None
        done = awaited(run(writer, new, ending), late)
        self._judge_end(writer, ending, done)
        seen = looked(writer, new)
        if seen.code or seen.answer is None:
            self._fail(writer, ending, f"what follows fails: {seen.code} {seen.said}")
            self._repair(writer)
            return
        found, left, status, then, at_last = seen.answer
        which = "new" if found == after else "old" if found == before else "LOST"
        if which == "LOST" or (done.code == 0 and which != "new"):
            self._fail(writer, ending, f"{which}: {_differences(found, before, after)} {done.said}")
        left = [each for each in left if not each.startswith("work/")]  # which --temp keeps
        if not os.WIFSIGNALED(done.status) and left:
            self._fail(writer, ending, f"left behind at once: {left} {done.said}")
        if status and not (writer.fresh and which == "new"):
            self._fail(writer, ending, f"a following run ends with {status}: {seen.said}")
        elif then != after:
            self._fail(writer, ending, f"a following run gives something else: {seen.said}")
        if at_last:
            self._fail(writer, ending, f"left behind by a following run: {at_last}")
        how = "in time" if done.code == 0 else which
        self.counts[writer.name, ending.kind, how] += 1
        self.now[writer.name] = new

    def _judge_end(self, writer: Writer, ending: Ending, done: Ended) -> None:
        """A run that was not killed ends with a status of its own and one line at most."""
        lines = [each for each in done.said.splitlines() if each.startswith("error")]
        expected = {"term": (0, 143), "full": (0, 2, 4), "limit": (0, 2, 4), "clock": (0,)}
        if ending.kind in expected and done.code not in expected[ending.kind]:
            self._fail(writer, ending, f"status {done.code}: {done.said[-1500:]}")
        if len(lines) > 1 or ("Traceback" in done.said and ending.kind != "memory"):
            self._fail(writer, ending, f"says too much: {done.said[-1500:]}")

    def _beside(self, writer: Writer, ending: Ending) -> None:
        """Two runs at the same time: one result is there, whole, and who lost was told."""
        both = [run(writer, mark) for mark in (0, 1)]
        done = [awaited(each) for each in both]
        codes = [each.code for each in done]
        seen = looked(writer, 0, again=False)
        found, left = seen.answer[:2] if seen.answer else (None, [seen.said])
        left = [each for each in left if not each.startswith("work/")]
        winners = [m for m in (0, 1) if found == self.results[writer.name][m]]
        if not set(codes) <= {0, 5} or 0 not in codes or not winners or codes[winners[0]] or left:
            said = " ".join(each.said for each in done)
            self._fail(writer, ending, f"{codes}, there is {winners}, left {left}: {said}")
            self._repair(writer)
            return
        self.now[writer.name] = winners[0]
        self.counts[writer.name, "beside", "one refused" if 5 in codes else "in turn"] += 1

    def _repair(self, writer: Writer) -> None:
        """After something went wrong, the campaign goes on from a clean state."""
        for part in ("results", "tmp", "work"):
            if part != "results" or writer.dumped is None:
                shutil.rmtree(writer.base / part)
                (writer.base / part).mkdir()
        awaited(run(writer, 0))
        self.now[writer.name] = 0

    def _fail(self, writer: Writer, ending: Ending, what: str) -> None:
        self.wrong.append(f"{writer.name}, {ending}: {what}")
        sys.stderr.write(f"WRONG {self.wrong[-1]}\n")


def _differences(found: Any, before: Any, after: Any) -> str:
    if not isinstance(found, dict):
        return f"{str(found)[:300]}"
    return ", ".join(
        f"{name} {'old' if found.get(name) == before.get(name) else ''}"
        f"{'new' if found.get(name) == after.get(name) else ''}"
        for name in sorted({*found, *before, *after})
    )


def warm(writers: list[Writer]) -> None:
    """Import here what the writers import, so that forks need not."""

    def work(writer: Writer) -> tuple[int, Any]:
        status = lifagu(writer.command(0))
        return status, [name for name in sys.modules if name != "__main__"]

    for writer in writers:
        done = awaited(forked(writer, lambda writer=writer: work(writer)))
        for name in done.answer or ():
            with suppress(Exception):
                import_module(name)


def report(campaign: Campaign, seconds: float) -> str:
    """Counts by writer and kind, as Markdown."""
    kinds = sorted({kind for _, kind, _ in campaign.counts}, key=lambda kind: kind != "kill")
    head = ["writer", "steps", *kinds, "old result", "new result"]
    rows = [head, ["---"] * len(head)]
    names = [each.name for each in campaign.writers]
    for name in [*names, "all"]:
        of = {key: many for key, many in campaign.counts.items() if name in (key[0], "all")}
        steps = sum(
            n for (who, plain), n in campaign.steps.items() if not plain and name in (who, "all")
        )
        told = [str(sum(many for key, many in of.items() if key[1] == kind)) for kind in kinds]
        ends = [
            sum(n for key, n in of.items() if key[2] == how and key[1] == "kill")
            for how in ("old", "new")
        ]
        rows.append([name, str(steps), *told, *map(str, ends)])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    missed = sum(n for key, n in campaign.counts.items() if key[1:] == ("kill", "in time"))
    many = sum(n for key, n in campaign.counts.items() if key[1] == "kill") - missed
    return (
        f"{table}\n\n{many} kills at steps, {len(campaign.wrong)} wrong, "
        f"{missed} ended before their step; {seconds:.0f} s\n"
    )


def main() -> int:
    """Run a campaign; the status is 1 if anything was lost, half-written or left behind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="kills at steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", nargs="+", help="only these")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many")
    parser.add_argument("--progress", action="store_true", help="show how many runs there were")
    parser.add_argument("--kinds", nargs="+", help="only these, such as kill term full")
    options = parser.parse_args()
    start = time.monotonic()
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        writers = prepared(base, stack, options.writers)
        warm(writers)
        campaign = Campaign(writers, random.Random(options.seed))
        campaign.begin()
        for writer, ending in campaign.endings(options.runs):
            if time.monotonic() - start > options.seconds:
                break
            if not options.kinds or ending.kind in options.kinds:
                campaign.one(writer, ending)
                if options.progress:
                    many, spent = sum(campaign.counts.values()), time.monotonic() - start
                    sys.stderr.write(f"\r{many} runs, {spent:.0f} s ")
        sys.stdout.write(report(campaign, time.monotonic() - start))
    return bool(campaign.wrong)


if __name__ == "__main__":
    sys.exit(main())
