"""One input read, and whether all that then happens is as promised."""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import lifagu
from lifagu import cli
from mutations import packed
from readers import CONVERT, Reader, UnpreparedError

ROOM, TIMES = 200 * 2**20, 50  # bytes of memory that an input may take, and times its own size
STATUSES = (0, 2, 3, 4)
MOST_SAID = 700  # characters of an error: as long as it may be, with a long path in it
ANSWERED = ("0", "read")  # the shapes of what is no error
STARVED = 0.005  # the share of commands that soon have no more memory
LIMIT = 100 * 2**20  # of memory for an answer: less than reading may take
ASIDE = re.compile(r"'[^']*'|\"[^\"]*\"|\S*/\S*|[\d.]+|\(.*?\)")
TERMINAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


cli.make_parser = cache(cli.make_parser)  # which takes five times as long as most commands


class Verdict(NamedTuple):
    """What was said of an input, without its names and numbers; and what is wrong, if anything.

    seconds and memory: what reading took, of processor time and of bytes.
    """

    shape: str
    wrong: str = ""
    seconds: float = 0.0
    memory: int = 0

    @property
    def read(self) -> bool:
        """Whether there was an answer, rather than a refusal."""
        return self.shape in ANSWERED


def judged(reader: Reader, raw: bytes, rng: random.Random, folder: Path, often: float) -> Verdict:
    """Read an input by a command, or by Python; often: the share of commands."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    pack = bool(reader.file) and rng.random() < 0.02
    given = packed(rng, raw) if pack else raw
    try:
        path = reader.put(folder, given, pack)
    except UnpreparedError:
        return Verdict("")
    by_python = reader.plain and rng.random() > often
    command = "" if by_python else rng.choice(reader.commands)
    try:
        words = reader.words(command, folder, path)
    except UnpreparedError:
        return Verdict("")
    _forget_peak()
    start, memory, said = _seconds(), _memory("VmRSS"), os.fstat(2).st_size
    starved = not by_python and rng.random() < STARVED
    if by_python:
        found = _guarded(lambda: _asked(path, rng))
    else:
        with chdir(folder):
            found = _starved(words, rng) if starved else _guarded(lambda: _run(words))
    command = command or " ".join(words)
    if found.wrong or starved:
        return found
    if command == CONVERT and found.shape == "0":
        found = _guarded(lambda: _the_same_again(folder))
    if (spent := _seconds() - start) > reader.seconds:
        return Verdict("", f"takes {spent:.0f} seconds of processor time: {command}")
    if (taken := _memory("VmHWM") - memory) > ROOM + TIMES * len(given):
        return Verdict("", f"takes {taken >> 20} MiB for {len(given)} bytes: {command}")
    if os.fstat(2).st_size > said:
        return Verdict("", f"something is said beside standard error: {command}")
    hidden = [each.name for each in folder.iterdir() if each.name.startswith(".")]
    if left := [each for each in hidden if each not in words]:  # a command may name such a place
        return Verdict("", f"left behind: {left}: {command}")
    return found._replace(seconds=spent, memory=taken)


def _guarded(work: Callable[[], Verdict]) -> Verdict:
    """Any exception, and any warning, is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return work()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [each for each in frames if "/src/lifagu/" in each.filename] or frames
        place = f"{ours[-1].filename.rpartition('lifagu/')[2]}:{ours[-1].lineno}"
        return Verdict("", f"{type(error).__name__} at {place}: {str(error)[:200]}")


# ---- by Python


def _asked(path: Path, rng: random.Random) -> Verdict:
    try:
        case = lifagu.open(path, memory_limit=LIMIT)
        rng.choice(QUESTIONS)(case)
    except lifagu.LifaguError as error:
        return _told(str(error))
    return Verdict("read")


def _first(case: Any) -> object:
    model = case.model
    names = list(model.variable_names)[:1] if isinstance(model, lifagu.FactorGraph) else []
    return [dict(case.ask(each)) for each in names]


QUESTIONS: tuple[Callable[[Any], object], ...] = (
    lambda case: case.model,
    lambda case: case.model,
    lambda case: (case.model, case.evidence),
    lambda case: case.log_partition(),
    lambda case: repr(case.marginals()),
    lambda case: case.most_probable(),
    lambda case: case.lift(),
    _first,
)


# ---- by commands


def _run(words: list[str]) -> Verdict:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = cli.main([*words, *(["--memory-limit", str(LIMIT)] * (words[0] in LIMITED))])
        except SystemExit as ended:
            status = int(ended.code or 0)
    said, lines = err.getvalue(), err.getvalue().splitlines()
    if status not in STATUSES:
        return Verdict("", f"status {status} of {words[0]}: {said[-300:]}")
    if "Traceback" in said or TERMINAL.search(said + out.getvalue()):
        return Verdict("", f"{words[0]} says {TERMINAL.findall(said + out.getvalue())}: {said!r}")
    if status == 0:
        if "--json" in words:
            json.loads(out.getvalue(), parse_constant=_no_number)
        return Verdict("0")
    if not lines or not lines[-1].startswith("error: ") or len(lines[-1]) > MOST_SAID:
        return Verdict("", f"status {status} of {words[0]}, and it says: {said[-800:]!r}")
    return _told(lines[-1])


def _starved(words: list[str], rng: random.Random) -> Verdict:
    """Run a command in a process that soon has no more memory."""
    more = rng.choice((2**18, 2**20, 2**22, 2**24, 2**26))
    ours, theirs = os.pipe()
    if not (number := os.fork()):
        try:
            limit = _memory("VmSize") + more
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            found = _guarded(lambda: _run(words))
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            os.write(theirs, found.wrong.encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, errors="replace") as pipe:
        wrong = pipe.read()
    _, status = os.waitpid(number, 0)
    if os.WIFSIGNALED(status):
        wrong = f"with {more} bytes {words[0]} ends with signal {os.WTERMSIG(status)}"
    return Verdict("", wrong and f"in little memory: {wrong}")


LIMITED = ("query", "marginals", "logz", "map", "lift", "impute")


def _no_number(text: str) -> None:
    raise ValueError(f"{text} in JSON")


def _the_same_again(folder: Path) -> Verdict:
    """What was written is read, and written again it is the same; so is the total weight."""
    first, second = folder / "out.json", folder / "again.json"
    again = _run(["convert", str(first), str(second)])
    if again.shape != "0" or first.read_bytes() != second.read_bytes():
        return Verdict("", f"what convert wrote is not read as it was written: {again}")
    return Verdict("0")


def _told(message: str) -> Verdict:
    """Judge an error, and tell its shape: the words in it that come from lifagu."""
    if len(message) > MOST_SAID or len(message.splitlines()) != 1 or TERMINAL.search(message):
        return Verdict("", f"an error of {len(message)} characters: {message[:900]!r}")
    return Verdict(" ".join(ASIDE.sub("…", message).split()[:16]))


# ---- what it takes


def _seconds() -> float:
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _memory(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{field}:")[2].split()[0]) * 1024


def quiet(terminal: Path) -> None:
    """What is written past Python goes to a file from now on, so that it is noticed."""
    number = os.open(terminal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for each in (1, 2):
        os.dup2(number, each)
    time.tzset()
    sys.setrecursionlimit(1000)
