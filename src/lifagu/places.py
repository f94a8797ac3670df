"""Where work is done: in memory or on an engine, within which memory, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from lifagu.errors import ModelError
from lifagu.given import callback, flag, path, shown, whole
from lifagu.replacing import PathLike

LIFTING = 400  # bytes of memory that an argument takes where a folder is read and everything written
ANSWERING = 250  # where it is only asked
HERE = ("auto", "memory")  # places that are, or may be, this process
PLACES = ("auto", "memory", "duckdb", "spark", "spark=MASTER")


@runtime_checkable
class Progress(Protocol):
    """Who is told what is being done and how far."""

    def stage(self, text: str) -> None:
        """Something new begins."""

    def __call__(self, done: int, total: int) -> None:
        """So much of it is done."""


class Told:
    """Somebody who only wants to know how far it is, or nobody."""

    _tell: Callable[[int, int], None] | None = None

    def __init__(self, tell: Callable[[int, int], None] | None = None) -> None:
        self._tell = tell

    def stage(self, text: str) -> None:
        """What begins is not told."""

    def __call__(self, done: int, total: int) -> None:
        """So much of it is done."""
        if self._tell is not None:
            self._tell(done, total)


def listener(given: Progress | Callable[[int, int], None] | None) -> Progress:
    """Who is told: somebody with `stage`, a function of (done, total), or nobody.

    >>> listener(print)(1, 2)
    1 2
    """
    callback("progress", given)
    return given if isinstance(given, Progress) else Told(given)


@dataclass(frozen=True)
class Place:
    """Where the work on a case is done.

    on: "memory", "duckdb", "spark" or "spark=MASTER"; "auto" stays in memory while a folder fits there. memory_limit:
    in bytes, None for three quarters of what is free. temp: a folder for what an engine keeps meanwhile; resume: go on
    with what an interrupted run has left there. rounds: of colour passing on an engine before it gives up.
    """

    on: str = "auto"
    memory_limit: int | None = None
    temp: PathLike | None = None
    resume: bool = False
    rounds: int = 1000
    progress: Progress = field(default_factory=Told)

    def __post_init__(self) -> None:
        kind, sign, master = str(self.on).partition("=")
        if self.on not in PLACES[:-1] and not (kind == "spark" and sign and master):
            raise ModelError(f"{shown(self.on)} is no place to work; name one of {', '.join(PLACES)}")
        if self.memory_limit is not None:
            whole("memory_limit", self.memory_limit, 1, of=" of bytes")
        if self.temp is not None:
            path(self.temp)
        whole("rounds", self.rounds, 1)
        flag("resume", self.resume)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "progress": Told()}  # who is told here is nobody elsewhere
