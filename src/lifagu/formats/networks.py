"""Bayesian-network files, read by pyAgrum in a process of its own that is held to limits."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.memory import readable_size
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.errors import FormatError, MissingExtraError, ModelError, Remedy, TooLargeError
from lifagu.formats.budget import ENTRY, LABEL, Budget
from lifagu.formats.files import NETWORKS, PathLike, ending, read_within
from lifagu.graph.factor_graph import FactorGraph

_ROW_SUM_TOLERANCE = 0.01
_SECONDS, _SECONDS_FOR_EACH = 6, 4 / 2**20  # of processor time: for a small file, for a byte
_PROGRAM = Path(__file__).with_name("network_process.py")
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads map memory each


def read_network(
    path: PathLike, text: str | None = None, budget: Budget | None = None
) -> FactorGraph:
    """Return the Bayesian network in a file (see NETWORKS; also with ``.gz``) as a factor graph.

    pyAgrum reads it, in single precision for most formats; such a number is taken as the shortest
    decimal it stands for, so that 0.4 in the file is 0.4 in the table. Refused are broken files,
    and tables of which a row is missing or does not sum to 1 (within 0.01), which the reader would
    leave as they are. Object-oriented ``.o3prm`` files find what they import next to themselves, so
    not when compressed. text and budget: as `read_within` gives them.

    >>> lines = ["network n {}", "variable A { type discrete[2] { no, yes }; }"]
    >>> lines.append("probability (A) { table 0.4, 0.6; }")
    >>> with temporary_folder("small") as folder:
    ...     path = folder / "small.bif"
    ...     _ = path.write_text(" ".join(lines))
    ...     graph = read_network(path)
    >>> graph.factor("P(A)").table.tolist()
    [0.4, 0.6]
    """
    if find_spec("pyagrum") is None:
        raise MissingExtraError("pyagrum", "read_network")
    kind = ending(path)
    if kind not in NETWORKS:
        raise FormatError(
            f"{path}: not the ending of a network file; {', '.join(NETWORKS)} are read"
        )
    if text is None or budget is None:
        text, budget = read_within(path)
    with temporary_folder("network") as folder:
        place = Path(path).absolute()
        if place.suffix.lower() == ".gz" or kind == ".xmlbif":
            place = folder / f"network{'.bifxml' if kind == '.xmlbif' else kind}"
            place.write_text(text, encoding="utf-8")
        sent = _sent(path, place, len(text), budget)
    try:
        return _graph(path, sent, budget)
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def _sent(path: PathLike, place: Path, size: int, budget: Budget) -> bytes:
    """What the process says of the file at a place; path: as errors call it."""
    seconds = int((_SECONDS + _SECONDS_FOR_EACH * size) * budget.generosity)
    command = [sys.executable, "-P", str(_PROGRAM), str(place), str(budget.limit), str(seconds)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ALONE},
            timeout=20 * seconds,  # of the clock, where the processor is not limited, or is busy
            check=False,
        )
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = -signal.SIGTERM
    if status in (-signal.SIGTERM, -getattr(signal, "SIGXCPU", 0)):
        what = f"reading it takes pyAgrum longer than {seconds} seconds, the most for its size"
        raise TooLargeError(f"{path}: {what}", remedy=Remedy.MORE_INPUT)
    if status or not done.stdout:
        what = (
            "pyAgrum breaks off on reading it: it is broken, or takes more than the "
            f"{readable_size(budget.limit)} of memory that reading this file may take"
        )
        raise TooLargeError(f"{path}: {what}", remedy=Remedy.MORE_INPUT)
    return done.stdout


def _graph(path: PathLike, sent: bytes, budget: Budget) -> FactorGraph:
    """The graph that the process sent; the conditional of a variable X is called P(X)."""
    head, _, numbers = sent.partition(b"\n")
    found: dict[str, Any] = json.loads(head)
    if "error" in found:
        raise FormatError(_complaint(path, found["error"]))
    if "memory" in found:
        what = f"takes more than the {readable_size(budget.limit)} of memory that it may take"
        raise TooLargeError(f"{path}: reading this file {what}", remedy=Remedy.MORE_INPUT)
    sizes = {name: len(labels) for name, labels in found["variables"]}
    budget.take(
        lambda: str(path),
        f"the network has {sum(sizes.values())} values and {len(numbers) // 8} potentials",
        LABEL * sum(sizes.values()) + ENTRY * len(numbers) // 8,
    )
    builder = FactorGraph.build()
    for name, labels in found["variables"]:
        builder.variable(name, labels)
    start, flat = 0, np.frombuffer(numbers, dtype="<f8")
    for (name, _), arguments in zip(found["variables"], found["arguments"], strict=True):
        shape = [sizes[each] for each in arguments]
        end = start + int(np.prod(shape))
        table = flat[start:end].reshape(shape).astype(np.float64)
        builder.factor(f"P({name})", arguments, _as_in_the_file(f"P({name})", table))
        start = end
    return builder.graph()


def _as_in_the_file(name: str, table: Floats) -> Floats:
    """The table of a conditional that was read from a file, its numbers as the file has them."""
    sums = table.sum(axis=0)
    if (np.abs(sums - 1) > _ROW_SUM_TOLERANCE).any():
        wrong = sums.flat[np.argmax(np.abs(sums - 1))]
        raise ModelError(
            f"a row of {name} sums to {wrong:.6g}; give one probability per label, together 1"
        )
    with np.errstate(under="ignore"):
        single = table.astype(np.float32)
    return single.astype(str).astype(np.float64) if np.array_equal(single, table) else table


def _complaint(path: PathLike, text: str) -> str:
    """One line, with its number where there is one, from what a reader says over several lines.

    >>> _complaint("x.bif", "Fatal error: /t/x.bif:23: 45 : error : Syntax error : ; expected")
    'x.bif:23: Syntax error : ; expected'
    """
    if found := re.search(r":(\d+): *\d+ : error : *(.+)", text):
        return f"{path}:{found[1]}: {found[2].strip()}"
    # the readers of XML; line 0 is no line
    if found := re.search(r"^Description: *(.+)", text, re.MULTILINE):
        line = re.search(r"^Line: *([1-9]\d*)", text, re.MULTILINE)
        return f"{path}{f':{line[1]}' if line else ''}: {found[1].strip()}"
    first = next(iter(text.splitlines()), "") or "the reader gives no reason"
    return f"{path}: {first.removeprefix('[pyAgrum] ')}"
