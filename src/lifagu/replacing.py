"""Files and folders that are replaced whole or not at all: written beside, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from lifagu.errors import FormatError, TooLargeError

PathLike = str | os.PathLike[str]
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_ROOM = "; free some room there, or name another place"


@contextmanager
def replaced_file(path: PathLike) -> Iterator[Path]:
    """A temporary file to write into, which takes the place of the path at the end; readers see the old or the new."""
    path = Path(path)
    with failing(path, "cannot be written here"):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
    temporary = Path(name)
    try:
        with failing(path, "cannot be written"):
            yield temporary
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: PathLike, replaceable: Collection[str]) -> Iterator[Path]:
    """A temporary folder to write into, which takes the place of the path at the end.

    A folder that is there already is replaced if it holds nothing but files with replaceable names.
    """
    check_replaceable(path, replaceable)
    target = Path(path).resolve()
    with failing(path, "cannot be written here"):
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        with failing(path, "cannot be written"):
            yield temporary
            temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o777 & ~_umask())
            check_replaceable(path, replaceable)
            _move_into_place(temporary, target)
    except (FormatError, TooLargeError) as error:
        raise error.saying(error.message.replace(str(temporary), str(path))) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_replaceable(path: PathLike, replaceable: Collection[str]) -> None:
    """Refuse a path that holds something other than a folder with files of these names."""
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise FormatError(f"{path}: this is a file and would be replaced by a folder; name another place")
    held = sorted(target.iterdir()) if target.exists() else []
    foreign = [each.name for each in held if each.name not in replaceable or not each.is_file()]
    if foreign:
        raise FormatError(
            f"{path}: this folder holds '{foreign[0]}', which is not lifagu's to replace; name a new or an empty folder"
        )


def _move_into_place(temporary: Path, target: Path) -> None:
    """Rename a folder; what stood there before is moved aside first, and back again if that fails."""
    if not target.exists():
        temporary.rename(target)
        return
    aside = temporary.with_name(f"{temporary.name}.old")
    try:
        target.rename(aside)
        temporary.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def failing(path: PathLike, how: str) -> Iterator[None]:
    """What the system refuses in here is an error that begins with the path and says how it failed."""
    try:
        yield
    except OSError as error:
        kind = TooLargeError if error.errno in DISK_FULL else FormatError
        raise kind(f"{path}: {how}: {error.strerror or error}{NO_ROOM * (kind is TooLargeError)}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
