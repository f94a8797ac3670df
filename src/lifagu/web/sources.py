"""Where an opened model comes from: a shipped example, the command line, or an upload.

Nothing here takes a path from outside: examples are known by name, uploads are bytes with one of a
few endings.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import lifagu
from lifagu import formats
from lifagu.errors import FormatError, ModelError, TooLargeError
from lifagu.relational.loaded import Loaded
from lifagu.web.limits import Limits, size_text

ENDINGS = tuple(ending + packed for ending in formats.FORMATS for packed in ("", ".gz"))
CHUNK = 2**16


@dataclass(frozen=True)
class Example:
    """A shipped model: its file, what people see of it, and perhaps whom to add, tables unknown."""

    file: str
    title: str
    about: str
    add: tuple[tuple[str, str], ...] = ()


EXAMPLES = {
    "epidemic-eve": Example(
        "epidemic.json",
        "An epidemic, and eve",
        "Figure 1 of the paper; eve is new, and none of her tables is known.",
        (("eve", "alice"),),
    ),
    "wards": Example(
        "wards.json",
        "Two wards",
        "Ten patients on two wards that treat differently; the tables of three are missing.",
    ),
    "figure3": Example(
        "figure3.json", "Two factors alike", "Figure 3 of the paper, to watch colours pass."
    ),
    "epidemic": Example(
        "epidemic.json", "An epidemic", "Figure 1 of the paper: two patients, two medications."
    ),
    "smokers": Example("smokers.json", "Friends and smokers", "A relational model of four people."),
    "clinic": Example("clinic.json", "A clinic", "From CSV files by SQL; two tables are unknown."),
    "workshop": Example(
        "workshop.json", "A workshop", "Who attends; pairs are listed, and one person is observed."
    ),
}


@dataclass(frozen=True)
class ModelSource:
    """A model to read.

    path: chosen by this side, never by a client; own: it came as an upload and is nobody's file.
    opening: what was said on the command line about the database of a template.
    """

    title: str
    path: Path
    own: bool = False
    add: tuple[tuple[str, str], ...] = ()
    opening: Mapping[str, Any] = field(default_factory=dict)


def example_source(name: str) -> ModelSource:
    """The shipped example of this name."""
    if name not in EXAMPLES:
        raise ModelError(f"there is no example '{name}'; there are {', '.join(EXAMPLES)}")
    chosen = EXAMPLES[name]
    with as_file(files("lifagu").joinpath(f"examples/{chosen.file}")) as path:
        return ModelSource(chosen.title, path, add=chosen.add)


def upload_source(folder: Path, identity: str, ending: str) -> ModelSource:
    """A place for an upload, whose ending must be that of a format; identity: made by this side."""
    if ending not in ENDINGS:
        raise FormatError(
            f"the ending {ending[:20]!r} tells no format that can be opened here; known are "
            f"{', '.join(formats.FORMATS)} (each also with .gz); for others there is lifagu convert"
        )
    return ModelSource("upload", folder / f"{identity}{ending}", own=True)


def read_source(source: ModelSource, limits: Limits) -> Loaded:
    """The model and what came with it; uploads are read as text, so nothing leads elsewhere."""
    if not source.own:
        return lifagu.io.load(source.path, memory_limit=limits.memory, **source.opening)
    path = source.path
    if path.suffix == ".gz":
        _check_unpacked(path, limits.upload)
    try:
        return formats.contents(path, memory_limit=limits.memory).loaded()
    except lifagu.LifaguError as error:
        raise error.saying(error.message.replace(str(path), path.name)) from None


def _check_unpacked(path: Path, most: int) -> None:
    """Refuse what unpacks to too much before it is read; nothing is written for that."""
    size = 0
    try:
        with gzip.open(path) as unpacked:
            while piece := unpacked.read(CHUNK):
                size += len(piece)
                if size > most:
                    what = f"the file is more than {size_text(most)} when unpacked"
                    raise TooLargeError(f"{what}; start lifagu serve with a higher --upload-limit")
    except EOFError:
        raise FormatError("the compressed file ends too early; upload it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        what = f"the file is not compressed by gzip as its ending says: {error}"
        raise FormatError(what) from None
