"""Text in files: gzip by ending, errors that name the file, writes that replace a file whole."""

from __future__ import annotations

import zlib
from pathlib import Path

from lifagu.basics.atomic_files import PathLike as PathLike
from lifagu.basics.atomic_files import replaced_file
from lifagu.basics.inputs import path as as_path
from lifagu.errors import FormatError


def ending(path: PathLike) -> str:
    """The ending that tells the format, lower case, without a trailing ``.gz``.

    >>> ending("models/Grid.UAI.gz"), ending("x.uai.evid"), ending("README")
    ('.uai', '.evid', '')
    """
    name = as_path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_text(path: PathLike) -> str:
    """The text of a file, decompressed if its name ends in ``.gz``."""
    try:
        raw = as_path(path).read_bytes()
        return (_unpacked(raw) if _is_gzip(path) else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: this is a folder; name a file in it") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a text in UTF-8 (byte {error.start})") from None
    # a broken gzip file, or a name that cannot be one
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FormatError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def write_text(path: PathLike, text: str) -> None:
    """Replace a file by this text in one step, compressed if its name ends in ``.gz``."""
    raw = text.encode()
    write_bytes(path, _packed(raw) if _is_gzip(path) else raw)


def write_bytes(path: PathLike, raw: bytes) -> None:
    """Replace a file by these bytes in one step: nobody ever sees half of it."""
    with replaced_file(path) as temporary:
        temporary.write_bytes(raw)


def _is_gzip(path: PathLike) -> bool:
    return Path(path).name.lower().endswith(".gz")


def _packed(raw: bytes) -> bytes:
    import gzip

    return gzip.compress(raw, mtime=0)


def _unpacked(raw: bytes) -> bytes:
    import gzip

    return gzip.decompress(raw)
