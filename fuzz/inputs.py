"""Read what nobody should have written: mutated inputs of every reader, judged one by one.

    python fuzz/inputs.py --inputs 1000000 --seed 1

Inputs are made from those in `corpus/`, and from those of this run that were answered as none was
before. Each is read by a command or by Python in a process that has read many others, and must end
with an answer or with one line, in ten seconds of processor time, with no more memory than 50
times its size and 200 MB; what is written is read again. What fails is made as small as it goes;
with --keep it is added to `corpus/`, where tests read it from then on, and so is what is new.
Ctrl-C or SIGTERM ends the reading, and what was read until then is told.
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
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from judging import Verdict, judged, quiet
from mutations import mutated
from readers import PARQUET, READERS, Reader, parquet, sqlite

CORPUS = Path(__file__).parent / "corpus"
PATIENCE = 90  # seconds without a word after which a process counts as hanging
STALLED = 10  # seconds without a look at them, after which it is the machine that hangs
ROUND = 50_000  # inputs of a process before a fresh one takes over
LARGEST, MOST = 4_000, 400  # bytes of an input that is made further ones of, and how many such
WELCOME = 0.8  # the share of inputs made from one that was read, rather than refused
AGAIN = 0.05  # the share of inputs read, as others before, that are made further ones of
MOST_KEPT, SHORT = 40, 500  # answered otherwise: of each reader in the corpus, and their bytes
COMMANDS = 0.3  # the share of inputs that a command reads where Python could


class Found(NamedTuple):
    """An input that was answered as none before, or wrongly."""

    reader: str
    raw: bytes
    verdict: Verdict
    seed: str


class Parents(NamedTuple):
    """Inputs that others are made from: those that were read, and those that were refused."""

    read: list[bytes]
    refused: list[bytes]

    @property
    def all(self) -> list[bytes]:
        """Both."""
        return self.read + self.refused

    def draw(self, rng: random.Random) -> list[bytes]:
        """Those to begin with: mostly what was read, as what comes of it gets further."""
        return self.read if self.read and rng.random() < WELCOME else self.refused or self.read

    def add(self, rng: random.Random, raw: bytes, verdict: Verdict, new: bool) -> None:
        """Begin with an input, too: one answered as none before, or now and then one read."""
        if len(raw) > LARGEST:
            return
        if verdict.read and (new or rng.random() < AGAIN):
            self.read.append(raw)
            if len(self.read) > MOST:
                del self.read[rng.randrange(MOST)]
        elif new and len(self.refused) < MOST:
            self.refused.append(raw)


# ---- the corpus


def text_of(raw: bytes) -> str:
    """Bytes as a text that JSON can hold."""
    return raw.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    """The bytes that a text stands for."""
    return text.encode(errors="surrogateescape")


def texts(name: str) -> dict[str, list[str]]:
    """The texts that the corpus holds for a reader: those that are read, and those refused."""
    path = CORPUS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"read": [], "refused": []}


def kept(reader: Reader) -> Parents:
    """The inputs in the corpus; those that are no texts are made."""
    found = Parents(*(list(map(bytes_of, texts(reader.name)[kind])) for kind in Parents._fields))
    if reader.name == "sqlite":
        found.read.append(sqlite())
    if (table := reader.name.partition(" ")[2]) in PARQUET:
        found.read.append(parquet()[table])
    return found


def keep(found: list[Found], most: int) -> None:
    """Add inputs to the corpus, as long as a reader has fewer than so many of their kind."""
    for each in found:
        there = texts(each.reader)
        kind = there["read" if each.verdict.read else "refused"]
        if len(kind) < most and text_of(each.raw) not in kind:
            kind.append(text_of(each.raw))
            (CORPUS / f"{each.reader}.json").write_text(json.dumps(there, indent=0) + "\n")


# ---- in a process that reads


def read_many(names: list[str], seed: str, count: int, scratch: Path, pipe: int) -> None:
    """Read mutated inputs one by one; what is new and what is wrong is told on the pipe."""
    quiet(scratch / "terminal")
    readers = [each for each in READERS if each.name in names]
    parents = {each.name: kept(each) for each in readers}
    seen: set[tuple[str, str]] = set()
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        reader = rng.choices(readers, [each.weight for each in readers])[0]
        raw = mutated(rng, parents[reader.name].draw(rng), reader.rows)
        (scratch / "current").write_bytes(raw)
        (scratch / "seed").write_text(f"{reader.name}\n{seed} {number}")
        draw = f"{seed} {number} read"
        verdict = judged(reader, raw, random.Random(draw), scratch / "work", COMMANDS)
        _tell(pipe, [reader.name, verdict.read, verdict.seconds, verdict.memory])
        new = bool(verdict.shape) and (reader.name, verdict.shape) not in seen
        seen.add((reader.name, verdict.shape))
        if not verdict.wrong:
            parents[reader.name].add(rng, raw, verdict, new)
        if verdict.wrong or new:
            _tell(pipe, {"reader": reader.name, "raw": text_of(raw), "of": verdict, "draw": draw})


def _tell(pipe: int, what: Any) -> None:
    left = json.dumps(what).encode() + b"\n"
    while left:
        left = left[os.write(pipe, left) :]


def forked(work: Any) -> tuple[int, int]:
    """Begin some work, told a pipe, in a process of its own: its number, and the pipe's end."""
    ours, theirs = os.pipe()
    if number := os.fork():
        os.close(theirs)
        return number, ours
    status = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work(theirs)
        status = 0
    except BaseException:
        import traceback

        _tell(theirs, {"broken": traceback.format_exc()})
    finally:
        os._exit(status)


# ---- the process that watches


@dataclass
class Reading:
    """A process that reads: where it does so, and what it was heard to say."""

    number: int
    folder: Path
    left: int  # inputs that it has not told of
    heard: float  # when it last said something
    begun: bytes = b""  # a line that has not ended

    def end(self, pipe: int) -> int:
        """End the process, and those that it began, if it has not ended; its status."""
        with suppress(ProcessLookupError):
            os.killpg(self.number, signal.SIGKILL)
        os.close(pipe)
        return os.waitpid(self.number, 0)[1]


class Campaign:
    """So many inputs, read by some processes at a time; what was found."""

    def __init__(self, names: list[str], seed: int, scratch: Path) -> None:
        self.names, self.seed, self.scratch = names, seed, scratch
        self.counts: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.largest: dict[str, int] = {}
        self.shapes: dict[tuple[str, str], Found] = {}
        self.wrong: dict[tuple[str, str], Found] = {}
        self.running: dict[int, Reading] = {}  # by pipe
        self.begun = 0
        self.is_over = False

    def end(self, *_: Any) -> None:
        """Read nothing more."""
        self.is_over = True

    def run(self, inputs: int, until: float, processes: int, progress: bool) -> None:
        """Read all inputs, or until a time."""
        left = inputs
        said = looked = time.monotonic()
        while (self.running or left) and time.monotonic() < until and not self.is_over:
            while left and len(self.running) < processes:
                count = min(ROUND, -(-inputs // processes), left)
                self._begin(count)
                left -= count
            for pipe in select.select(list(self.running), [], [], 1.0)[0]:
                left += self._heard(pipe)
            if time.monotonic() > looked + STALLED:  # others did not get on, either
                for one in self.running.values():
                    one.heard = time.monotonic()
            looked = time.monotonic()
            for one in self.running.values():
                if looked - one.heard > PATIENCE:
                    os.killpg(one.number, signal.SIGKILL)
                    one.heard = time.monotonic()
            if progress and time.monotonic() > said + 1:
                said = time.monotonic()
                sys.stderr.write(f"\r{self.counts.total()} inputs, {len(self.wrong)} failures ")
        for pipe, one in self.running.items():
            one.end(pipe)

    def _begin(self, count: int) -> None:
        folder = self.scratch / str(self.begun)
        folder.mkdir()
        seed = f"{self.seed} {self.begun}"
        self.begun += 1
        number, pipe = forked(lambda pipe: read_many(self.names, seed, count, folder, pipe))
        self.running[pipe] = Reading(number, folder, count, time.monotonic())

    def _heard(self, pipe: int) -> int:
        """Take down what a process says; if it has ended, how many inputs it did not read."""
        one = self.running[pipe]
        part = os.read(pipe, 2**16)
        one.heard = time.monotonic()
        *lines, one.begun = (one.begun + part).split(b"\n")
        for line in lines:
            one.left -= self._take(json.loads(line))
        if part:
            return 0
        del self.running[pipe]
        status = one.end(pipe)
        if os.WIFSIGNALED(status) and (one.folder / "seed").exists():  # it had begun to read
            name, draw = (one.folder / "seed").read_text().split("\n")
            what = Verdict("", f"ends with signal {os.WTERMSIG(status)}, or takes {PATIENCE} s")
            self._add(Found(name, (one.folder / "current").read_bytes(), what, f"{draw} read"))
            one.left -= self._take([name, False, 0.0, 0])
        return one.left

    def _take(self, told: Any) -> int:
        """Take down one line; whether it tells that an input was read."""
        if isinstance(told, list):
            self._count(*told)
            return 1
        if "broken" in told:
            raise RuntimeError(told["broken"])
        raw, verdict = bytes_of(told["raw"]), Verdict(*told["of"])
        self._add(Found(told["reader"], raw, verdict, told["draw"]))
        return 0

    def _count(self, name: str, answered: bool, seconds: float, memory: int) -> None:
        self.counts[name] += 1
        self.answered[name] += answered
        self.slowest[name] = max(self.slowest.get(name, 0.0), seconds)
        self.largest[name] = max(self.largest.get(name, 0), memory)

    def table(self) -> str:
        """What was read by each reader, and what that took at most."""
        head = ("reader", "inputs", "read", "ways", "seconds", "MiB")
        lines = [f"  {head[0]:18}" + "".join(map("{:>9}".format, head[1:]))]
        for name, count in self.counts.most_common():
            ways = sum(each == name for each, _ in self.shapes)
            read = f"{self.answered[name] / count:.0%}"
            took = f"{self.slowest[name]:>9.1f}{self.largest[name] >> 20:>9}"
            lines.append(f"  {name:18}{count:>9}{read:>9}{ways:>9}{took}")
        return "\n".join(lines) + "\n"

    def short(self) -> list[Found]:
        """What was answered as none before, where that is short."""
        return [each for each in self.shapes.values() if len(each.raw) <= SHORT]

    def _add(self, found: Found) -> None:
        kinds = self.wrong if found.verdict.wrong else self.shapes
        if found.verdict.wrong and (found.reader, kind_of(found.verdict)) not in kinds:
            sys.stderr.write(f"\n{_failure(found)}")
        known = kinds.setdefault((found.reader, kind_of(found.verdict)), found)
        if len(found.raw) < len(known.raw):
            kinds[found.reader, kind_of(found.verdict)] = found


def kind_of(verdict: Verdict) -> str:
    """What makes a verdict another one: numbers and names do not."""
    if not verdict.wrong:
        return verdict.shape
    return "".join(each for each in verdict.wrong.partition(": ")[0] if not each.isdigit())


# ---- made small


def smallest(found: Found, scratch: Path, seconds: float = 20) -> Found:
    """The same, with as much left out as goes without another verdict."""
    raw, until, size = found.raw, time.monotonic() + seconds, max(1, len(found.raw) // 2)
    while size and time.monotonic() < until:
        start = 0
        while start < len(raw) and time.monotonic() < until:
            less = raw[:start] + raw[start + size :]
            verdict = alone(found._replace(raw=less), scratch)
            if kind_of(verdict) == kind_of(found.verdict):
                raw = less
            else:
                start += size
        size = min(size // 2, max(1, len(raw) // 2)) if size > 1 else 0
    return found._replace(raw=raw)


def alone(found: Found, scratch: Path) -> Verdict:
    """The verdict on an input in a process of its own."""
    reader = next(each for each in READERS if each.name == found.reader)
    folder = scratch / "alone"
    folder.mkdir(exist_ok=True)

    def work(pipe: int) -> None:
        quiet(folder / "terminal")
        rng = random.Random(found.seed)
        _tell(pipe, judged(reader, found.raw, rng, folder / "work", COMMANDS))

    number, pipe = forked(work)
    parts = []
    while select.select([pipe], [], [], PATIENCE)[0] and (part := os.read(pipe, 2**16)):
        parts.append(part)
    with suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)
    os.close(pipe)
    _, status = os.waitpid(number, 0)
    if not parts:
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return Verdict("", f"ends with signal {signalled}, or takes {PATIENCE} s")
    answer = json.loads(b"".join(parts))
    return Verdict(*answer) if isinstance(answer, list) else Verdict("", answer["broken"])


# ---- the whole


def read_corpus(names: list[str], scratch: Path) -> list[Found]:
    """Read every kept input by each of its commands, and by Python; what is wrong."""
    quiet(scratch / "terminal")
    found = []
    for reader in READERS:
        for raw in kept(reader).all if reader.name in names else []:
            for turn in range(len(reader.commands)):
                draw = f"kept {turn}"
                verdict = judged(reader, raw, random.Random(draw), scratch / "work", turn % 2)
                if verdict.wrong:
                    found.append(Found(reader.name, raw, verdict, draw))
    return found


def main() -> int:
    """Print what was read and what failed; the exit status says whether something did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="how many (default 10000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most so long")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at a time")
    parser.add_argument("--only", nargs="+", metavar="READER", help="these readers alone")
    parser.add_argument("--keep", action="store_true", help="add what is new to the corpus")
    parser.add_argument("--corpus", action="store_true", help="read what is kept, nothing else")
    parser.add_argument("--progress", action="store_true", help="say how far it is")
    options = parser.parse_args()
    names = options.only or [each.name for each in READERS]
    with tempfile.TemporaryDirectory(dir=_room()) as folder:
        scratch = Path(folder)
        if options.corpus:
            out = os.fdopen(os.dup(1), "w")
            found = read_corpus(names, scratch)
            total = sum(len(kept(each).all) for each in READERS if each.name in names)
            with out:
                out.write(f"{total} kept inputs\n{_failures(found)}")
            return bool(found)
        campaign = Campaign(names, options.seed, scratch)
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, campaign.end)
        start = time.monotonic()
        campaign.run(options.inputs, start + options.seconds, options.processes, options.progress)
        wrong = [smallest(each, scratch) for each in campaign.wrong.values()]
        spent = time.monotonic() - start
        sys.stdout.write(f"seed {options.seed}: {campaign.counts.total()} inputs, {spent:.0f} s\n")
        sys.stdout.write(campaign.table())
        sys.stdout.write(_failures(wrong))
        if options.keep:
            keep(wrong, sys.maxsize)
            keep(campaign.short(), MOST_KEPT)
    return bool(wrong)


def _room() -> str | None:
    """Where small files are quick."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _failures(found: list[Found]) -> str:
    return f"{''.join(map(_failure, found))}{len(found)} failures\n"


def _failure(found: Found) -> str:
    place = f"by {found.seed!r} on {found.raw[:300]!r}"
    return f"failed: {found.reader}: {found.verdict.wrong}\n  {place}\n"


if __name__ == "__main__":
    sys.exit(main())
