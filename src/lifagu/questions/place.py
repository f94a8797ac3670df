"""Where work is done: in memory or on an engine, within which memory, and who is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.choices import PLACES
from lifagu.basics.inputs import path, shown, whole
from lifagu.basics.progress import Progress, Told
from lifagu.errors import ModelError

LIFTING = (
    400  # bytes of memory that an argument takes where a folder is read and everything written
)
ANSWERING = 250  # where it is only asked
WHOLE = 1250  # with the words for all of it, as where a graph is lifted in memory
ASKED = 500  # where a graph in memory is asked; both with the graph itself
HERE = ("auto", "memory")  # places that are, or may be, this process


@dataclass(frozen=True)
class Place:
    """Where the work on a case is done.

    on: "memory", "duckdb", "spark" or "spark=MASTER"; "auto" stays in memory while a folder fits
    there. memory_limit: in bytes, None for three quarters of what is free. temp: a folder for what
    an engine keeps meanwhile. why: this place, if "auto" chose it.
    """

    on: str = "auto"
    memory_limit: int | None = None
    temp: PathLike | None = None
    progress: Progress = field(default_factory=Told)
    why: str = ""

    def __post_init__(self) -> None:
        kind, sign, master = str(self.on).partition("=")
        if self.on not in PLACES and not (kind == "spark" and sign and master):
            raise ModelError(
                f"{shown(self.on)} is no place to work; "
                f"name one of {', '.join(PLACES)}, spark=MASTER"
            )
        if self.memory_limit is not None:
            whole("memory_limit", self.memory_limit, 1, of=" of bytes")
        if self.temp is not None:
            path(self.temp)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "progress": Told()}  # who is told here is nobody elsewhere
