"""Text in files: formats by ending, gzip, errors that name the file, writes that replace it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from lifagu.basics.atomic_files import PathLike as PathLike
from lifagu.basics.atomic_files import replaced_file, settle
from lifagu.basics.inputs import path as as_path
from lifagu.basics.memory import default_memory_limit
from lifagu.errors import FormatError
from lifagu.formats.budget import Budget

FORMATS = {
    ".json": "lifagu's own format, the only one with unknown factors, kinds and individuals",
    ".uai": "UAI competition files, with evidence in .evid files",
    ".fg": "libDAI factor graphs",
    ".blog": "BLOG with parfactors, with evidence and questions",
}
NETWORKS = {
    ".bif": "Bayesian networks in BIF",
    ".bifxml": "Bayesian networks in XMLBIF",
    ".xmlbif": "Bayesian networks in XMLBIF",
    ".net": "Bayesian networks in Hugin's format",
    ".dsl": "Bayesian networks in Genie's text format",
    ".xdsl": "Bayesian networks in Genie's XML format",
    ".o3prm": "Bayesian networks in O3PRM",
}
PIECE = 2**20  # bytes that are read at a time


def ending(path: PathLike) -> str:
    """The ending that tells the format, lower case, without a trailing ``.gz``.

    >>> ending("models/Grid.UAI.gz"), ending("x.uai.evid"), ending("README")
    ('.uai', '.evid', '')
    """
    return Path(as_path(path).name.lower().removesuffix(".gz")).suffix


def read_text(path: PathLike) -> str:
    """The text of a file of any size that memory holds, decompressed if its name ends in .gz."""
    return read_within(path, default_memory_limit())[0]


def read_within(path: PathLike, memory_limit: int | None = None) -> tuple[str, Budget]:
    """The text of a file, and what is left of the memory that reading it may take."""
    place = as_path(path)
    settle(place)
    try:
        refuse_no_file(place)
        size = place.stat().st_size
        budget = Budget(size, memory_limit)
        if not _is_gzip(place):
            budget.unpack(str(path), size)
        raw = _bytes_of(place, budget.longest + 1)
        budget.unpack(str(path), len(raw))
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        del raw
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a text in UTF-8 (byte {error.start})") from None
    # a broken gzip file, or a name that cannot be one
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FormatError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise FormatError(f"{path}:{line}: a text has no NUL character; this is no text file")
    budget.text(str(path), text, ending(path))
    return text, budget


def refuse_no_file(path: Path) -> None:
    """Refuse what is no file: it might wait forever, or never end."""
    if path.is_dir():
        raise FormatError(f"{path}: this is a folder; name a file in it")
    if not path.exists():
        raise FormatError(f"{path}: there is no such file")
    if not path.is_file():
        raise FormatError(f"{path}: this is a pipe or a device; write what comes into a file")


def _bytes_of(path: Path, most: int) -> bytearray:
    """What a file holds, unpacked, but not more than some bytes."""
    if not _is_gzip(path):
        with path.open("rb") as file:
            return _at_most(most, file.read)
    import gzip

    with gzip.open(path) as packed:
        return _at_most(most, packed.read)


def _at_most(most: int, read: Callable[[int], bytes]) -> bytearray:
    """Bytes up to a number of them, for which no room is made beforehand."""
    found = bytearray()
    while part := read(min(PIECE, most - len(found))):
        found += part
    return found


def write_text(path: PathLike, text: str) -> None:
    """Replace a file by this text in one step, compressed if its name ends in ``.gz``."""
    write_bytes(path, as_bytes(path, text))


def as_bytes(path: PathLike, text: str) -> bytes:
    """A text as a file of this name holds it, compressed if the name ends in ``.gz``."""
    raw = text.encode()
    if _is_gzip(path):
        import gzip

        raw = gzip.compress(raw, mtime=0)  # equal text, equal bytes
    return raw


def write_bytes(path: PathLike, raw: bytes) -> None:
    """Replace a file by these bytes in one step: nobody ever sees half of it."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(raw)


def _is_gzip(path: PathLike) -> bool:
    return Path(path).name.lower().endswith(".gz")


def number_text(value: float) -> str:
    """A number as the shortest text that reads back as the same, whole ones without a point.

    >>> number_text(3.0), number_text(0.1), number_text(1e300)
    ('3', '0.1', '1e+300')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
