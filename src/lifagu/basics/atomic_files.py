"""Files and folders that are replaced whole or not at all: written beside, then renamed."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from lifagu.errors import FormatError, TooLargeError

PathLike = str | os.PathLike[str]
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ASIDE = ".old"  # ends the names of folders whose successors are just being put into place
NO_ROOM = "; free some room there, or name another place"


@contextmanager
def replaced_file(path: PathLike) -> Iterator[Path]:
    """A temporary file to write into; at the end it takes the place of the path, whole."""
    path = Path(path)
    with failing(path, "cannot be written here"):
        import tempfile

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

    A folder that is there already is replaced if it holds nothing but files with replaceable names,
    in which ``*`` stands for anything.
    """
    check_replaceable(path, replaceable)
    target = Path(path).resolve()
    with failing(path, "cannot be written here"):
        import tempfile

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
        _remove(temporary)


def check_replaceable(path: PathLike, replaceable: Collection[str]) -> None:
    """Refuse a path that holds something other than a folder with files of these names."""
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise FormatError(
            f"{path}: this is a file and would be replaced by a folder; name another place"
        )
    held = sorted(target.iterdir()) if target.exists() else []
    foreign = [
        each.name
        for each in held
        if not (each.is_file() and any(fnmatchcase(each.name, own) for own in replaceable))
    ]
    if foreign:
        raise FormatError(
            f"{path}: this folder holds '{foreign[0]}', which is not lifagu's to replace; "
            "name a new or an empty folder"
        )


def _move_into_place(temporary: Path, target: Path) -> None:
    """Rename a folder; what stood there is moved aside first, and back again if that fails."""
    if not target.exists():
        temporary.rename(target)
        return
    aside = temporary.with_name(f"{temporary.name}{ASIDE}")
    try:
        target.rename(aside)
        temporary.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    _remove(aside)


def is_being_replaced(path: PathLike) -> bool:
    """Whether a folder stands aside just now, for the moment before another takes its place."""
    target = Path(path).resolve()
    return any(
        name.startswith(f".{target.name}.") and name.endswith(ASIDE)
        for name in names_in(target.parent)
    )


def names_in(folder: PathLike) -> list[str]:
    """What a folder holds, in order; nothing where there is none that can be read."""
    try:
        return sorted(each.name for each in Path(folder).iterdir())
    except OSError:
        return []


@contextmanager
def failing(path: PathLike, how: str) -> Iterator[None]:
    """What the system refuses in here becomes an error that begins with the path."""
    try:
        yield
    except OSError as error:
        kind = TooLargeError if error.errno in DISK_FULL else FormatError
        raise kind(
            f"{path}: {how}: {error.strerror or error}{NO_ROOM * (kind is TooLargeError)}"
        ) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
